// Ring: what is captured, in files: FILE alone, or one after the other, FILE_00001 and so on, of which the last ones
// stay.
//
// Each file is a capture by itself, with the drops that happened during it.
//
// What an attacker could feed: files and links that lie where ours shall be. Files are made anew or not at all, and
// only what this capture has written is removed.
#pragma once

#include <dissect/capture/writer.hpp>
#include <gui/recorder/order.hpp>

#include <chrono>
#include <deque>
#include <expected>
#include <functional>
#include <optional>
#include <string>

namespace qps::recorder {

class Ring {
public:
    using Clock = std::chrono::steady_clock;
    using Drops = std::function<dissect::InterfaceStatistics()>;  // since the capture began

    // With its first file; `files.path` is not empty.
    [[nodiscard]] static std::expected<Ring, dissect::OutputProblem> begin(const Files& files, std::string interface,
                                                                           dissect::LinkType link, Drops drops);

    // Into the next file where this one has its size, or its time since its first packet.
    [[nodiscard]] std::expected<void, dissect::OutputProblem> write(const dissect::Frame& frame, Clock::time_point now);
    [[nodiscard]] std::expected<void, dissect::OutputProblem> flush() { return writer_->flush(); }
    [[nodiscard]] std::expected<void, dissect::OutputProblem> close();

private:
    Ring(Files files, std::string interface, dissect::LinkType link, Drops drops);
    [[nodiscard]] bool is_full(Clock::time_point now) const;
    [[nodiscard]] std::expected<void, dissect::OutputProblem> open_next();

    Files files_;
    std::string interface_;
    dissect::LinkType link_;
    Drops drops_;
    dissect::InterfaceStatistics before_{};  // what the files before have told
    std::optional<dissect::CaptureWriter> writer_;
    std::deque<std::string> written_;  // as many as stay
    std::uint64_t number_ = 0;
    std::uint64_t bytes_ = 0;    // of the file
    Clock::time_point began_{};  // its first packet
};

}  // namespace qps::recorder
