// Several capture files as one, in the order of their times (--by-time, and files that overlap), each with its own
// offset (--offset).
#pragma once

#include <dissect/capture/capture_file.hpp>
#include <dissect/capture/time_merge.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace qps::cli {

class MergedFiles {
public:
    struct Clock {
        dissect::Duration offset{};
        std::optional<dissect::Instant> first{};  // as TimeMerge::Source has it
    };
    // At least one, as many as TimeMerge takes; `clocks` as many.
    MergedFiles(std::vector<dissect::CaptureFile> files, const std::vector<Clock>& clocks);
    MergedFiles(const MergedFiles&) = delete;  // the merge reads from the files where they are
    MergedFiles& operator=(const MergedFiles&) = delete;

    // Frames are numbered in their new order; Frame::file says where each is from. Interfaces of different files are
    // different ones, unless they recorded the same packets at the same times, of which each comes once.
    [[nodiscard]] bool read(dissect::Batch& batch);

    [[nodiscard]] std::uint64_t dropped() const { return merge_.dropped(); }  // of those the others

    [[nodiscard]] std::span<const dissect::CaptureFile> files() const { return files_; }
    [[nodiscard]] std::span<const dissect::Interface> interfaces() const {
        return interfaces_;
    }  // of the frames so far
    [[nodiscard]] std::string name() const;  // "a.pcap and 1 more"
    [[nodiscard]] bool shrank() const;
    [[nodiscard]] std::size_t still_there(std::span<const dissect::Frame> frames) const;  // as of a file
    [[nodiscard]] dissect::Drops drops() const;
    [[nodiscard]] std::uint64_t bytes_read() const;
    [[nodiscard]] std::optional<std::uint64_t> size() const;

private:
    [[nodiscard]] dissect::InterfaceId number_of(const dissect::Frame& frame);

    std::vector<dissect::CaptureFile> files_;
    dissect::TimeMerge merge_;
    std::vector<std::uint16_t> from_;
    std::optional<dissect::Instant> start_;
    std::uint64_t frames_ = 0;
    std::vector<dissect::Interface> interfaces_;
    std::vector<std::vector<std::optional<dissect::InterfaceId>>> numbers_;  // by file and number there
};

}  // namespace qps::cli
