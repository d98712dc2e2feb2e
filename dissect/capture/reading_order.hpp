// Puts several files in the order in which they are read as one capture: that of their first packets, because a shell
// sorts the names of pieces otherwise. Files that overlap in time are merged by the times of their packets: read one
// behind the other, their times would go back, and packets would come twice.
//
// What an attacker could feed: files that all overlap. How many are open at the same time has a bound, and what is past
// it is refused.
#pragma once

#include <dissect/capture/capture_file.hpp>

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace qps::dissect {

// When the packets of a file were recorded, as far as they have times.
struct RecordedTimes {
    std::optional<Instant> first;
    std::optional<Instant> last;
    // The same, by a clock that is moved.
    [[nodiscard]] RecordedTimes moved(Duration by) const;
};

// Reads the file for it; of one that is mapped its beginning and its end alone. `stop` ends that.
[[nodiscard]] RecordedTimes recorded_times(CaptureFile& capture, const Stop& stop = {});

// Files that are read as one, by their places among those given, in the order of their first packets. They are more
// than one where each overlaps with another, or begins at the time at which another ends: both may have that packet.
using FileGroup = std::vector<std::size_t>;
// Whether one of them begins before another one ends.
[[nodiscard]] bool overlap(std::span<const RecordedTimes> files, const FileGroup& group);

// Files whose times are unknown stay behind the one before them. Fails with a sentence where more than
// TimeMerge::kMostSources overlap at the same moment.
[[nodiscard]] std::expected<std::vector<FileGroup>, std::string> reading_order(std::span<const RecordedTimes> files);

}  // namespace qps::dissect
