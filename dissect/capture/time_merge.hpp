// TimeMerge: the frames of several captures as one sequence in the order of their times, each capture's clock moved by
// an offset.
//
// The frames of one capture stay in its order, also where its clock runs backwards; of frames of the same time that of
// the first capture comes first. A frame without a time comes right behind the one before it.
//
// What an attacker could feed: times at the ends of their range: sums saturate.
#pragma once

#include <dissect/capture/capture_file.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace qps::dissect {

class TimeMerge {
public:
    static constexpr std::size_t kMostSources = 64;   // open at once, each with a batch
    static constexpr std::size_t kMostFrames = 4096;  // of a batch
    struct Source {
        std::function<bool(Batch& batch)> read;  // the next frames; false at the end
        bool outlive = false;                    // frames outlive their batch: they borrow a file
        Duration offset{};                       // added to every time
    };

    // At most kMostSources.
    explicit TimeMerge(std::vector<Source> sources);

    // Fills `batch` with the next frames, at least one, and `from` with the source of each; false at the end.
    [[nodiscard]] bool read(Batch& batch, std::vector<std::uint16_t>& from);

private:
    struct Waiting {
        Source source;
        Batch batch{};
        std::size_t next = 0;
        Instant due{};  // of the next frame: never before that of the one before it
        bool ended = false;
    };
    [[nodiscard]] bool fill(Waiting& waiting);

    std::vector<Waiting> waiting_;
};

// Saturates at the ends of the range.
[[nodiscard]] Instant moved(Instant time, Duration by);

}  // namespace qps::dissect
