#include <dissect/capture/reading_order.hpp>
#include <dissect/capture/time_merge.hpp>
#include <transport-replay/analysis/continuation.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/index/indexed_files.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace qps::transport {

using namespace dissect;

namespace {

RecordedTimes times_of(const std::string& file, const Stop& stop) {
    if (!is_there_again(file)) return {};
    auto capture = CaptureFile::open(file);
    return capture ? recorded_times(*capture, stop) : RecordedTimes{};
}

bool goes_on(const std::string& file, Duration offset, const ShardedAnalysis& analysis) {
    if (!is_there_again(file)) return true;
    auto ahead = CaptureFile::open(file);
    const auto read = [&](Batch& batch) {
        if (!ahead->read(batch)) return false;
        move_times(batch, offset);
        return true;
    };
    return !ahead || continues(analysis, read);
}

}  // namespace

bool is_there_again(const std::string& file) {
    std::error_code error;
    return file != "-" && std::filesystem::is_regular_file(file, error);
}

std::optional<std::uint64_t> size_of(const std::vector<std::string>& files) {
    std::uint64_t sum = 0;
    for (const std::string& file : files) {
        std::error_code error;
        if (!std::filesystem::is_regular_file(file, error)) return std::nullopt;
        const std::uintmax_t size = std::filesystem::file_size(file, error);
        if (!error) sum += size;
    }
    return sum;
}

Duration offset_of(const Indexing& indexing, std::size_t file) {
    return file < indexing.offsets.size() ? indexing.offsets[file] : Duration{};
}

void move_times(Batch& batch, Duration by) {
    if (by == Duration{}) return;
    for (Frame& frame : batch.frames)
        if (frame.has_time) frame.time = moved(frame.time, by);
}

std::expected<std::vector<ReadTogether>, InputProblem> groups_of(const Indexing& indexing, const Stop& stop) {
    const std::size_t count = indexing.files.size();
    const auto refused = [&](std::size_t file, std::string sentence) {
        return std::unexpected(
            InputProblem{InputProblemKind::unreadable, indexing.files[file], 0, std::move(sentence)});
    };
    std::vector<ReadTogether> groups;
    if (indexing.by_time && count > 1) {
        if (count > kMostFilesByTime)
            return refused(kMostFilesByTime,
                           "is one file too many: at most " + std::to_string(kMostFilesByTime) + " are merged by time");
        groups.emplace_back();
        for (std::size_t file = 0; file < count; ++file) groups.back().files.push_back(file);
        groups.back().first.resize(count);
        return groups;
    }
    std::vector<RecordedTimes> times(count);
    for (std::size_t file = 0; count > 1 && file < count && !(stop && stop()); ++file)
        times[file] = times_of(indexing.files[file], stop).moved(offset_of(indexing, file));
    const auto order = reading_order(times);
    if (!order) return refused(0, order.error());
    for (const FileGroup& group : *order) {
        groups.push_back({group, {}});
        for (const std::size_t file : group) groups.back().first.push_back(times[file].first);
    }
    return groups;
}

bool goes_on(const Indexing& indexing, const ReadTogether& group, const ShardedAnalysis& analysis) {
    if (!analysis.last()) return true;
    return std::ranges::any_of(group.files, [&](std::size_t file) {
        return goes_on(indexing.files[file], offset_of(indexing, file), analysis);
    });
}

}  // namespace qps::transport
