// The pcap format. The walk is the hot path of every reading of a large capture: byte order and record size are fixed
// outside of its loop.
#include <dissect/capture/pcap.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::dissect {

namespace {

constexpr std::size_t kRecordHeader = kPcapRecordStart;
constexpr std::size_t kModifiedRecordHeader = 24;

// The record at window.used is not whole.
WalkResult cut_record(const Window& window, const FrameClock& timeline, std::size_t header, std::size_t record) {
    const std::size_t left = window.bytes.size() - window.used;
    if (!window.last) return {WalkEnd::starved, left < header ? header : record, {}};
    if (left == 0) return {WalkEnd::ended, 0, {}};
    if (left < header)
        return {WalkEnd::damaged, 0,
                fmt::format("truncated record header of frame {}: {} of {} bytes", timeline.frames + 1, left, header)};
    return {WalkEnd::damaged, 0,
            fmt::format("truncated record of frame {}: {} of {} captured bytes", timeline.frames + 1, left - header,
                        record - header)};
}

template <ByteOrder order, std::size_t record_header>
WalkResult walk(const PcapHeader& header, Window& window, FrameClock& timeline, std::vector<Frame>& frames) {
    const Bytes bytes = window.bytes;
    const std::int64_t fraction_unit = header.nanoseconds ? 1 : 1000;
    const std::size_t byte_limit = window.byte_limit();
    while (frames.size() < window.most && window.used < byte_limit) {
        const std::size_t left = bytes.size() - window.used;
        if (left < record_header) return cut_record(window, timeline, record_header, 0);
        const Bytes record = bytes.subspan(window.used, record_header);
        const std::size_t captured = read_ordered<std::uint32_t, order>(record, 8);
        if (captured > kMaxRecord)
            return {WalkEnd::damaged, 0,
                    fmt::format("invalid record of frame {}: {} captured bytes, at most {} allowed",
                                timeline.frames + 1, captured, kMaxRecord)};
        // Records of one capture are often alike in length: ask for the header that is probably the twelfth from here.
        if (const std::size_t ahead = 12 * (record_header + captured); ahead < left)
            __builtin_prefetch(record.data() + ahead);
        if (left - record_header < captured)
            return cut_record(window, timeline, record_header, record_header + captured);

        // 2^32 seconds are less than half the range of int64_t in nanoseconds: nothing here overflows.
        const std::int64_t time = read_ordered<std::uint32_t, order>(record, 0) * kNanosecondsPerSecond +
                                  read_ordered<std::uint32_t, order>(record, 4) * fraction_unit;
        if (!timeline.started) {
            timeline.started = true;
            timeline.first = time;
        }
        frames.push_back({.bytes = bytes.subspan(window.used + record_header, captured),
                          // Some recorders write less than they captured: the wire had at least that.
                          .wire_length = std::max(read_ordered<std::uint32_t, order>(record, 12),
                                                  static_cast<std::uint32_t>(captured)),
                          .link = header.link,
                          .index = FrameIndex{++timeline.frames},
                          .time = Instant{time},
                          .has_time = true,
                          .elapsed = Duration{time - timeline.first},
                          .interface = {},
                          .link_speed = {},
                          .file_offset = window.offset + window.used,
                          .options = {},
                          .options_order = order});
        window.used += record_header + captured;
    }
    return {WalkEnd::full, 0, {}};
}

}  // namespace

std::optional<PcapHeader> read_pcap_header(Bytes bytes) {
    if (bytes.size() < kPcapHeader) return std::nullopt;
    PcapHeader header;
    std::uint32_t magic = read_le<std::uint32_t>(bytes, 0);
    if (magic != kPcapMagic && magic != kPcapNanosecondMagic && magic != kPcapModifiedMagic) {
        header.order = ByteOrder::big;
        magic = read_be<std::uint32_t>(bytes, 0);
    }
    if (magic != kPcapMagic && magic != kPcapNanosecondMagic && magic != kPcapModifiedMagic) return std::nullopt;
    header.nanoseconds = magic == kPcapNanosecondMagic;
    header.modified = magic == kPcapModifiedMagic;
    const bool little = header.order == ByteOrder::little;
    header.snap_length = little ? read_le<std::uint32_t>(bytes, 16) : read_be<std::uint32_t>(bytes, 16);
    // The upper half may hold the length of the FCS.
    header.link =
        link_type_of((little ? read_le<std::uint32_t>(bytes, 20) : read_be<std::uint32_t>(bytes, 20)) & 0xffffU);
    return header;
}

std::optional<std::size_t> pcap_record_length(const PcapHeader& header, Bytes start) {
    if (start.size() < kPcapRecordStart) return std::nullopt;
    const std::size_t captured =
        header.order == ByteOrder::little ? read_le<std::uint32_t>(start, 8) : read_be<std::uint32_t>(start, 8);
    if (captured > kMaxRecord) return std::nullopt;
    return (header.modified ? kModifiedRecordHeader : kRecordHeader) + captured;
}

WalkResult walk_pcap(const PcapHeader& header, Window& window, FrameClock& timeline, std::vector<Frame>& frames) {
    const bool little = header.order == ByteOrder::little;
    if (header.modified)
        return little ? walk<ByteOrder::little, kModifiedRecordHeader>(header, window, timeline, frames)
                      : walk<ByteOrder::big, kModifiedRecordHeader>(header, window, timeline, frames);
    return little ? walk<ByteOrder::little, kRecordHeader>(header, window, timeline, frames)
                  : walk<ByteOrder::big, kRecordHeader>(header, window, timeline, frames);
}

}  // namespace qps::dissect
