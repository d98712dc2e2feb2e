#include <dissect/capture/pcapng_format.hpp>
#include <dissect/capture/stretch.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace qps::dissect {

namespace {

// What looks like a record is one where so many more follow it, or the end of the file.
constexpr std::size_t kInARow = 4;
// Longest captured packet that a guess takes for one, in bytes: the default snap length of tcpdump and dumpcap.
constexpr std::size_t kLongestGuessed = 262'144;
// How long before or after the first packet another one can be.
constexpr std::int64_t kSecondsAround = 90LL * 24 * 3600;

// Turns bytes of the file into numbers.
struct Reader {
    Bytes file;
    bool little = true;
    [[nodiscard]] std::uint32_t at(std::size_t offset) const {
        return little ? read_le<std::uint32_t>(file, offset) : read_be<std::uint32_t>(file, offset);
    }
};

// The length of the record that may begin at `at`, or 0 where none does.
std::size_t length_at(Bytes file, std::size_t at, const PcapHeader& header, std::int64_t first_time) {
    if (file.size() - at < kPcapRecordStart) return 0;
    const Reader number{file, header.order == ByteOrder::little};
    const std::uint32_t captured = number.at(at + 8), on_wire = number.at(at + 12);
    if (captured == 0 || captured > kLongestGuessed || on_wire < captured || on_wire > kMaxRecord) return 0;
    if (number.at(at + 4) >= (header.nanoseconds ? 1'000'000'000U : 1'000'000U)) return 0;
    if (std::abs(std::int64_t{number.at(at)} - first_time / kNanosecondsPerSecond) > kSecondsAround) return 0;
    const std::size_t length = kPcapRecordStart + captured;
    return file.size() - at < length ? 0 : length;
}

std::size_t length_at(Bytes file, std::size_t at, const KnownSection& known, std::int64_t /*first_time*/) {
    if (file.size() - at < kPcapngBlockStart) return 0;
    const Reader number{file, known.section.order == ByteOrder::little};
    if (number.at(at) != kEnhancedPacketBlock) return 0;
    const auto length = pcapng_block_length(file.subspan(at), known.section.order);
    if (!length || *length > kLongestGuessed + kPcapngHeader || file.size() - at < *length) return 0;
    return number.at(at + *length - 4) == *length ? *length : 0;
}

template <class Format> bool begins(Bytes file, std::size_t at, const Format& format, std::int64_t first_time) {
    for (std::size_t i = 0; i <= kInARow; ++i) {
        const std::size_t length = length_at(file, at, format, first_time);
        if (length == 0) return false;
        at += length;
        if (at == file.size()) return true;
    }
    return true;
}

template <class Format>
std::optional<std::size_t> guess(Bytes file, std::size_t from, const Format& format, std::int64_t first_time) {
    const std::size_t until = std::min(file.size(), from + kMostGuessed);
    for (std::size_t at = from; at < until; ++at)
        if (begins(file, at, format, first_time)) return at;
    return std::nullopt;
}

void walk_records(Bytes file, const PcapHeader& header, std::int64_t first_time, Stretch& stretch,
                  std::vector<Frame>& frames) {
    Window window{.bytes = file,
                  .offset = 0,
                  .used = static_cast<std::size_t>(stretch.start),
                  .last = true,
                  .limit = static_cast<std::size_t>(stretch.end),
                  .most = SIZE_MAX};
    FrameClock clock{.frames = 0, .started = true, .first = first_time};
    while (window.used < window.limit && walk_pcap(header, window, clock, frames).end == WalkEnd::full) {
    }
    stretch.stopped = window.used;
}

void walk_records(Bytes file, const KnownSection& known, std::int64_t first_time, Stretch& stretch,
                  std::vector<Frame>& frames) {
    std::size_t at = static_cast<std::size_t>(stretch.start);
    while (at < stretch.end) {
        const auto length = pcapng_block_length(file.subspan(at), known.section.order);
        if (!length || *length > file.size() - at) break;
        auto frame = pcapng_frame(file.subspan(at, *length), known.section, known.origins);
        if (!frame) break;
        frame->index = FrameIndex{frames.size() + 1};
        frame->file_offset = at;
        if (frame->has_time) frame->elapsed = elapsed_between(first_time, std::to_underlying(frame->time));
        frames.push_back(*frame);
        at += *length;
    }
    stretch.stopped = at;
}

}  // namespace

std::optional<std::size_t> guess_record(Bytes file, std::size_t from, const RecordView& view) {
    return std::visit([&](const auto& format) { return guess(file, from, format, view.first_time); }, view.format);
}

void walk_stretch(Bytes file, Stretch& stretch, std::vector<Frame>& frames) {
    frames.clear();
    std::visit([&](const auto& format) { walk_records(file, format, stretch.view->first_time, stretch, frames); },
               stretch.view->format);
}

}  // namespace qps::dissect
