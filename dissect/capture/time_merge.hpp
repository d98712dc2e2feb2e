// TimeMerge makes one sequence of the frames of several captures, in the order of their times; the clock of each
// capture is moved by an offset.
//
// The frames of one capture stay in its order, also where its clock runs backwards. Of frames that have the same time,
// that of the first capture comes first. A frame without a time comes right behind the one before it. A capture whose
// first time is known is not read before that time, and its buffer is given back at its end, so that pieces of a long
// recording take the memory of those that overlap.
//
// Two recordings of one link by one clock, such as rings that overlap, have the same bytes at the same times: a packet
// that both have comes once. Other taps have other times, and the analysis finds their copies. So a capture is taken
// for such a recording as long as the others have three in four of the packets that they could have, at the same time.
//
// What an attacker could feed: times at the ends of their range: sums saturate. Any number of packets at one time: so
// many are compared as a bound below says.
#pragma once

#include <dissect/capture/capture_file.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace qps::dissect {

class TimeMerge {
public:
    static constexpr std::size_t kMostSources = 64;   // open at once, each with a batch
    static constexpr std::size_t kMostFrames = 4096;  // of a batch
    static constexpr std::size_t kMostCompared = 64;  // packets of the same time
    struct Source {
        std::function<bool(Batch& batch)> read;  // the next frames; false at the end
        bool outlive = false;                    // frames outlive their batch: they borrow a file
        Duration offset{};                       // added to every time
        std::optional<Instant> first{};          // of its times, with the offset; nothing: it is read at once
    };

    // At most kMostSources whose first time is not known; of the others as many as overlap.
    explicit TimeMerge(std::vector<Source> sources);

    // Fills `batch` with the next frames, at least one, and `from` with the source of each; false at the end.
    [[nodiscard]] bool read(Batch& batch, std::vector<std::uint16_t>& from);
    // Packets that came once because another capture had them at the same time, so far.
    [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
    // An interface of a source, and the one of another source that recorded the same packets, so far.
    struct Recorder {
        std::uint16_t source = 0;
        InterfaceId interface{};
        [[nodiscard]] bool operator==(const Recorder&) const = default;
    };
    [[nodiscard]] std::optional<Recorder> twin_of(const Recorder& recorder) const;

private:
    struct Waiting {
        Source source;
        Batch batch{};
        std::size_t next = 0;
        Instant due{};                  // of the next frame: never before that of the one before it
        std::uint16_t number = 0;       // among all sources
        std::uint64_t there = 0;        // packets that another source had at the same time
        std::uint64_t alone = 0;        // and that none had, though one was being read
        std::optional<Instant> last{};  // that it gave
    };
    // A packet of the present time.
    struct Given {
        Recorder from;
        std::uint32_t wire_length = 0;
        std::vector<std::byte> bytes{};
        std::vector<std::uint16_t> also{};  // sources that had it, too
    };
    [[nodiscard]] bool fill(Waiting& waiting);
    [[nodiscard]] bool is_there(Waiting& waiting, const Frame& frame);
    [[nodiscard]] Waiting* earliest();

    std::vector<Waiting> waiting_;  // being read, by number
    std::vector<Waiting> later_;    // by their first times, the earliest at the end
    std::vector<Given> given_;      // the first `compared_` are in use
    std::size_t compared_ = 0;
    Instant given_at_{};
    std::vector<std::pair<Recorder, Recorder>> twins_;
    std::uint64_t dropped_ = 0;
};

// Saturates at the ends of the range.
[[nodiscard]] Instant moved(Instant time, Duration by);

}  // namespace qps::dissect
