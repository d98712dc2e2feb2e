#include <cli/merged_files.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;

namespace {

std::vector<TimeMerge::Source> sources_of(std::vector<CaptureFile>& files,
                                          const std::vector<MergedFiles::Clock>& clocks) {
    std::vector<TimeMerge::Source> sources;
    for (std::size_t i = 0; i < files.size(); ++i)
        sources.push_back({.read = [file = &files[i]](Batch& batch) { return file->read(batch); },
                           .outlive = files[i].mapped(),
                           .offset = clocks[i].offset,
                           .first = clocks[i].first});
    return sources;
}

}  // namespace

MergedFiles::MergedFiles(std::vector<CaptureFile> files, const std::vector<Clock>& clocks)
    : files_(std::move(files)), merge_(sources_of(files_, clocks)), numbers_(files_.size()) {}

InterfaceId MergedFiles::number_of(const Frame& frame) {
    auto& numbers = numbers_[frame.file];
    const auto own = std::to_underlying(frame.interface);
    if (own >= numbers.size()) numbers.resize(own + std::size_t{1});
    const auto twin = numbers[own] ? std::nullopt : merge_.twin_of({frame.file, frame.interface});
    if (twin) {  // the same link, recorded twice
        const auto& others = numbers_[twin->source];
        const auto place = std::to_underlying(twin->interface);
        if (place < others.size()) numbers[own] = others[place];
    }
    if (!numbers[own]) {
        const auto known = files_[frame.file].interfaces();
        numbers[own] = InterfaceId{static_cast<std::uint32_t>(interfaces_.size())};
        interfaces_.push_back(own < known.size() ? known[own] : Interface{});
    }
    return *numbers[own];
}

bool MergedFiles::read(Batch& batch) {
    if (!merge_.read(batch, from_)) return false;
    for (std::size_t i = 0; i < batch.frames.size(); ++i) {
        Frame& frame = batch.frames[i];
        frame.file = from_[i];
        frame.interface = number_of(frame);
        frame.index = FrameIndex{++frames_};
        if (!frame.has_time) continue;
        if (!start_) start_ = frame.time;
        frame.elapsed = frame.time - *start_;
    }
    return true;
}

std::string MergedFiles::name() const {
    return files_.size() == 1 ? files_.front().name()
                              : fmt::format("{} and {} more", files_.front().name(), files_.size() - 1);
}

bool MergedFiles::shrank() const { return std::ranges::any_of(files_, &CaptureFile::shrank); }

std::size_t MergedFiles::still_there(std::span<const Frame> frames) const {
    if (!shrank()) return frames.size();
    const auto gone = [&](const Frame& frame) { return files_[frame.file].still_there({&frame, 1}) == 0; };
    return static_cast<std::size_t>(std::ranges::find_if(frames, gone) - frames.begin());
}

Drops MergedFiles::drops() const {
    Drops sum;
    for (const CaptureFile& file : files_) sum += file.drops();
    return sum;
}

std::uint64_t MergedFiles::bytes_read() const {
    std::uint64_t sum = 0;
    for (const CaptureFile& file : files_) sum += file.bytes_read();
    return sum;
}

std::optional<std::uint64_t> MergedFiles::size() const {
    std::uint64_t sum = 0;
    for (const CaptureFile& file : files_) {
        const auto size = file.size();
        if (!size) return std::nullopt;
        sum += *size;
    }
    return sum;
}

}  // namespace qps::cli
