#include <dissect/capture/reading_order.hpp>
#include <dissect/capture/time_merge.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace qps::dissect {

namespace {

constexpr std::size_t kLookedAt = std::size_t{1} << 20;  // bytes at the end of a mapped file
constexpr std::uint64_t kStatistics = 4096;              // behind the last packet, where a recorder writes them

void take(RecordedTimes& times, const Batch& batch) {
    for (const Frame& frame : batch.frames) {
        if (!frame.has_time) continue;
        if (!times.first) times.first = frame.time;
        times.last = times.last ? std::max(*times.last, frame.time) : frame.time;
    }
}

// The end of a file, where its records can be told from there: the last stretch begins where the one before it ended.
bool take_end(RecordedTimes& times, CaptureFile& capture) {
    Batch before, last;
    bool any = false;
    while (capture.reach(last, kLookedAt)) {
        std::swap(before, last);
        any = true;
    }
    std::swap(before, last);  // the last one; the one before it
    if (!any || last.stretch.end != capture.size()) return false;
    if (before.stretch.view) {
        capture.walk(before);
        if (before.stretch.stopped != last.stretch.start) return false;
        take(times, before);
    }
    capture.walk(last);
    take(times, last);
    return !last.frames.empty() && last.stretch.end - last.stretch.stopped <= kStatistics;
}

// The most that are there at the same moment.
std::size_t most_at_once(std::span<const RecordedTimes> files, const FileGroup& group) {
    std::vector<Instant> ends;  // a heap, the earliest on top
    std::size_t most = 0;
    for (const std::size_t file : group) {
        while (!ends.empty() && ends.front() < *files[file].first) {
            std::ranges::pop_heap(ends, std::greater{});
            ends.pop_back();
        }
        ends.push_back(*files[file].last);
        std::ranges::push_heap(ends, std::greater{});
        most = std::max(most, ends.size());
    }
    return most;
}

}  // namespace

RecordedTimes RecordedTimes::moved(Duration by) const {
    RecordedTimes times = *this;
    if (times.first) times.first = dissect::moved(*times.first, by);
    if (times.last) times.last = dissect::moved(*times.last, by);
    return times;
}

bool overlap(std::span<const RecordedTimes> files, const FileGroup& group) {
    std::optional<Instant> until;
    for (const std::size_t file : group) {
        if (until && *files[file].first < *until) return true;
        until = until ? std::max(*until, *files[file].last) : files[file].last;
    }
    return false;
}

RecordedTimes recorded_times(CaptureFile& capture, const Stop& stop) {
    RecordedTimes times;
    Batch batch;
    while (!times.first && capture.read(batch)) take(times, batch);
    if (!times.first || take_end(times, capture)) return times;
    while (!(stop && stop()) && capture.read(batch)) take(times, batch);
    return times;
}

std::expected<std::vector<FileGroup>, std::string> reading_order(std::span<const RecordedTimes> files) {
    std::vector<std::size_t> order(files.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<Instant> begins;
    for (const RecordedTimes& file : files)
        begins.push_back(file.first       ? *file.first
                         : begins.empty() ? Instant{std::numeric_limits<std::int64_t>::min()}
                                          : begins.back());
    std::ranges::stable_sort(order, {}, [&](std::size_t file) { return begins[file]; });

    std::vector<FileGroup> groups, behind;  // the second: without times, for behind the group that is being made
    std::optional<Instant> until;
    for (const std::size_t file : order) {
        const RecordedTimes& times = files[file];
        if (!times.first || !times.last) {
            (until ? behind : groups).push_back({file});
            continue;
        }
        const bool overlaps = until && *times.first <= *until;
        if (!overlaps) {
            std::ranges::move(std::exchange(behind, {}), std::back_inserter(groups));
            groups.emplace_back();
        }
        groups.back().push_back(file);
        until = overlaps ? std::max(*until, *times.last) : *times.last;
    }
    std::ranges::move(behind, std::back_inserter(groups));
    for (const FileGroup& group : groups)
        if (const std::size_t most = group.size() == 1 ? 1 : most_at_once(files, group); most > TimeMerge::kMostSources)
            return std::unexpected(fmt::format("{} files overlap in time: at most {} can be read side by side", most,
                                               TimeMerge::kMostSources));
    return groups;
}

}  // namespace qps::dissect
