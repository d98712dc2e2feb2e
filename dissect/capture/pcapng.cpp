// The pcapng format.
#include <dissect/capture/options.hpp>
#include <dissect/capture/pcapng.hpp>
#include <dissect/capture/pcapng_format.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace qps::dissect {

namespace {

// Sizes in bytes.
constexpr std::size_t kBlockStart = kPcapngBlockStart;  // type, total length
constexpr std::size_t kTrailer = 4;                     // total length again
constexpr std::size_t kPacketStart = 28;
constexpr std::size_t kSimplePacketStart = 12;

constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();

__extension__ using Wide = unsigned __int128;

// The smallest length a block of that type can have.
std::size_t smallest(std::uint32_t type) {
    switch (type) {
        case kSectionHeaderBlock: return 28;
        case kInterfaceBlock: return 20;
        case kStatisticsBlock: return 24;
        case kPacketBlock:
        case kEnhancedPacketBlock: return kPacketStart + kTrailer;
        case kSimplePacketBlock: return kSimplePacketStart + kTrailer;
        default: return kBlockStart + kTrailer;
    }
}

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) return b > 0 ? kLatest : kEarliest;
    return sum;
}

std::uint64_t power_of_ten(std::uint32_t exponent) {
    std::uint64_t power = 1;
    for (std::uint32_t i = 0; i < exponent; ++i) power *= 10;
    return power;
}

WalkResult damaged(std::string sentence) { return {WalkEnd::damaged, 0, std::move(sentence)}; }

// The block at window.used is not whole: `wanted` bytes of it are needed.
WalkResult cut_block(const Window& window, std::size_t wanted) {
    const std::size_t left = window.bytes.size() - window.used;
    if (!window.last) return {WalkEnd::starved, wanted, {}};
    if (left == 0) return {WalkEnd::ended, 0, {}};
    return damaged(fmt::format("truncated {}: {} of {} bytes", left < kBlockStart + kTrailer ? "block header" : "block",
                               left, wanted));
}

FrameOrigin origin_of(const Interface& interface) {
    FrameOrigin origin{.link = interface.link, .speed = interface.speed, .snap_length = interface.snap_length};
    const std::uint32_t exponent = interface.resolution & 0x7fU;
    if ((interface.resolution & 0x80U) != 0) {
        origin.multiply = kNanosecondsPerSecond;
        origin.shift = exponent;
    } else if (exponent <= 9) {
        origin.multiply = power_of_ten(9 - exponent);
    } else {
        // 10^19 is the largest power in 64 bits; 2^64 ticks of less than 10^-28 s are less than a nanosecond anyway.
        origin.multiply = exponent - 9 <= 19 ? 1 : 0;
        origin.divide = exponent - 9 <= 19 ? power_of_ten(exponent - 9) : 1;
    }
    if (__builtin_mul_overflow(interface.time_offset, kNanosecondsPerSecond, &origin.offset))
        origin.offset = interface.time_offset < 0 ? kEarliest : kLatest;
    return origin;
}

std::int64_t time_of(const FrameOrigin& origin, std::uint64_t ticks) {
    const Wide product = Wide{ticks} * origin.multiply >> origin.shift;
    if (product > std::numeric_limits<std::uint64_t>::max()) return saturating_add(kLatest, origin.offset);
    std::uint64_t time = static_cast<std::uint64_t>(product);
    if (origin.divide != 1) time /= origin.divide;
    return saturating_add(static_cast<std::int64_t>(std::min<std::uint64_t>(time, kLatest)), origin.offset);
}

// Fills what the block says of its frame; what is wrong with it, as a sentence that "frame N" begins, or nothing.
template <ByteOrder order>
std::string read_full_packet(std::uint32_t type, Bytes block, std::span<const FrameOrigin> origins, std::size_t first,
                             Frame& frame) {
    // The obsolete block has 16 bits of interface and then 16 of a drop count.
    const std::size_t id = type == kPacketBlock ? read_ordered<std::uint16_t, order>(block, 8)
                                                : read_ordered<std::uint32_t, order>(block, 8);
    if (id >= origins.size()) return fmt::format("is from interface {}, which the section does not describe", id);
    const std::size_t captured = read_ordered<std::uint32_t, order>(block, 20);
    const std::size_t room = block.size() - kPacketStart - kTrailer;
    if (captured > room) return fmt::format("claims {} captured bytes, but its block has room for {}", captured, room);
    const FrameOrigin& origin = origins[id];
    const std::uint64_t ticks = std::uint64_t{read_ordered<std::uint32_t, order>(block, 12)} << 32 |
                                read_ordered<std::uint32_t, order>(block, 16);
    const std::size_t padded = (captured + 3) / 4 * 4;
    frame.bytes = block.subspan(kPacketStart, captured);
    // Some recorders write less than they captured: the wire had at least that.
    frame.wire_length = std::max(read_ordered<std::uint32_t, order>(block, 24), static_cast<std::uint32_t>(captured));
    frame.link = origin.link;
    frame.time = Instant{time_of(origin, ticks)};
    frame.interface = InterfaceId{static_cast<std::uint32_t>(first + id)};
    frame.link_speed = origin.speed;
    frame.options = block.subspan(kPacketStart + padded, room - padded);
    frame.options_order = order;
    return {};
}

// The same of a frame of the section's first interface, without a time.
template <ByteOrder order>
std::string read_simple_packet(Bytes block, std::span<const FrameOrigin> origins, std::size_t first, Frame& frame) {
    if (origins.empty()) return "is from interface 0, which the section does not describe";
    const FrameOrigin& origin = origins[0];
    const auto length = read_ordered<std::uint32_t, order>(block, 8);
    const std::size_t captured = origin.snap_length == 0 ? length : std::min(length, origin.snap_length);
    const std::size_t room = block.size() - kSimplePacketStart - kTrailer;
    if (captured > room) return fmt::format("claims {} captured bytes, but its block has room for {}", captured, room);
    frame.bytes = block.subspan(kSimplePacketStart, captured);
    frame.wire_length = length;
    frame.link = origin.link;
    frame.has_time = false;
    frame.interface = InterfaceId{static_cast<std::uint32_t>(first)};
    frame.link_speed = origin.speed;
    frame.options_order = order;
    return {};
}

template <ByteOrder order>
std::string read_packet(std::uint32_t type, Bytes block, std::span<const FrameOrigin> origins, std::size_t first,
                        Frame& frame) {
    return type == kSimplePacketBlock ? read_simple_packet<order>(block, origins, first, frame)
                                      : read_full_packet<order>(type, block, origins, first, frame);
}

}  // namespace

bool is_pcapng(Bytes bytes) {
    if (read_le<std::uint32_t>(bytes, 0) != kSectionHeaderBlock) return false;
    return read_le<std::uint32_t>(bytes, 8) == kByteOrderMagic || read_be<std::uint32_t>(bytes, 8) == kByteOrderMagic;
}

std::optional<std::size_t> pcapng_block_length(Bytes start, ByteOrder order) {
    if (start.size() < kBlockStart) return std::nullopt;
    const bool little = order == ByteOrder::little;
    const auto type = little ? read_le<std::uint32_t>(start, 0) : read_be<std::uint32_t>(start, 0);
    const std::size_t length = little ? read_le<std::uint32_t>(start, 4) : read_be<std::uint32_t>(start, 4);
    return length <= kMaxRecord && length >= smallest(type) && length % 4 == 0 ? std::optional(length) : std::nullopt;
}

std::optional<Frame> pcapng_frame(Bytes block, const PcapngSection& section, std::span<const FrameOrigin> origins) {
    if (pcapng_block_length(block, section.order) != block.size()) return std::nullopt;
    const bool little = section.order == ByteOrder::little;
    const std::size_t end = block.size() - kTrailer;
    const auto repeated = little ? read_le<std::uint32_t>(block, end) : read_be<std::uint32_t>(block, end);
    const auto type = little ? read_le<std::uint32_t>(block, 0) : read_be<std::uint32_t>(block, 0);
    const bool packet = type == kPacketBlock || type == kSimplePacketBlock || type == kEnhancedPacketBlock;
    if (!packet || repeated != block.size()) return std::nullopt;
    Frame frame;
    const std::string problem =
        little ? read_packet<ByteOrder::little>(type, block, origins, section.first_interface, frame)
               : read_packet<ByteOrder::big>(type, block, origins, section.first_interface, frame);
    return problem.empty() ? std::optional(frame) : std::nullopt;
}

WalkResult PcapngWalk::walk(Window& window, FrameClock& timeline, std::vector<Frame>& frames) {
    const std::size_t byte_limit = window.used + kBatchBytes;
    for (;;) {
        // walk_section() comes back without a reason where the byte order changes.
        WalkResult result = order_ == ByteOrder::little ? walk_section<ByteOrder::little>(window, timeline, frames)
                                                        : walk_section<ByteOrder::big>(window, timeline, frames);
        if (result.end != WalkEnd::full || frames.size() >= kBatchFrames || window.used >= byte_limit) return result;
    }
}

template <ByteOrder order>
WalkResult PcapngWalk::walk_section(Window& window, FrameClock& timeline, std::vector<Frame>& frames) {
    const std::size_t byte_limit = window.used + kBatchBytes;
    while (frames.size() < kBatchFrames && window.used < byte_limit) {
        const Bytes rest = window.bytes.subspan(window.used);
        if (rest.size() < kBlockStart + kTrailer) return cut_block(window, kBlockStart + kTrailer);
        const auto type = read_ordered<std::uint32_t, order>(rest, 0);
        if (type == kSectionHeaderBlock && read_ordered<std::uint32_t, order>(rest, 8) != kByteOrderMagic) {
            constexpr ByteOrder other = order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;
            if (read_ordered<std::uint32_t, other>(rest, 8) != kByteOrderMagic)
                return damaged("invalid section header: no byte-order magic");
            order_ = other;
            return {};
        }
        const std::size_t length = read_ordered<std::uint32_t, order>(rest, 4);
        if (length > kMaxRecord)
            return damaged(
                fmt::format("invalid block of type {:#x}: {} bytes, at most {} allowed", type, length, kMaxRecord));
        if (length < smallest(type) || length % 4 != 0)
            return damaged(fmt::format("invalid block of type {:#x}: {} bytes, {}", type, length,
                                       length % 4 != 0 ? "not a multiple of 4" : "too short for it"));
        if (length > rest.size()) return cut_block(window, length);
        const auto repeated = read_ordered<std::uint32_t, order>(rest, length - kTrailer);
        if (repeated != length)
            return damaged(fmt::format("invalid block of type {:#x}: length {} at its start, {} at its end", type,
                                       length, repeated));
        std::string sentence =
            take_block<order>(type, rest.first(length), window.offset + window.used, timeline, frames);
        if (!sentence.empty()) return damaged(std::move(sentence));
        window.used += length;
    }
    return {};
}

// What is wrong with the block, or nothing.
template <ByteOrder order>
std::string PcapngWalk::take_block(std::uint32_t type, Bytes block, std::uint64_t offset, FrameClock& timeline,
                                   std::vector<Frame>& frames) {
    switch (type) {
        case kPacketBlock:
        case kSimplePacketBlock:
        case kEnhancedPacketBlock: return take_packet<order>(type, block, offset, timeline, frames);
        case kSectionHeaderBlock: return take_section_header<order>(block, offset);
        case kInterfaceBlock: return take_interface<order>(block);
        case kStatisticsBlock: take_statistics<order>(block); return {};
        default: skip(type); return {};
    }
}

template <ByteOrder order> std::string PcapngWalk::take_section_header(Bytes block, std::uint64_t offset) {
    constexpr std::uint16_t kMajorVersion = 1;
    const auto major = read_ordered<std::uint16_t, order>(block, 12);
    if (major != kMajorVersion) return fmt::format("unsupported section version {}: expected 1", major);
    constexpr std::size_t kFixed = 24;
    OptionReader options(slice(block, kFixed, block.size() - kFixed - kTrailer), order);
    for (Option option; options.next(option);)
        is_slice_ =
            is_slice_ || (option.code == kOptionComment &&
                          std::string_view(reinterpret_cast<const char*>(option.value.data()), option.value.size())
                              .starts_with(kSliceComment));
    first_of_section_ = interfaces_.size();
    if (sections_.size() < kMaxSections)
        sections_.push_back({offset, order, static_cast<std::uint32_t>(first_of_section_)});
    else if (!first_lost_section_) first_lost_section_ = offset;
    return {};
}

template <ByteOrder order> std::string PcapngWalk::take_interface(Bytes block) {
    if (interfaces_.size() >= kMaxInterfaces) return fmt::format("more than {} interfaces", kMaxInterfaces);
    Interface interface;
    interface.link = link_type_of(read_ordered<std::uint16_t, order>(block, 8));
    interface.snap_length = read_ordered<std::uint32_t, order>(block, 12);
    OptionReader options(slice(block, 16, block.size() - 16 - kTrailer), order);
    std::optional<std::uint8_t> resolution;
    std::optional<std::int64_t> time_offset;
    for (Option option; options.next(option);) {
        if (option.code == kInterfaceName) {
            const Bytes name = slice(option.value, 0, kMaxInterfaceName);
            interface.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
        } else if (option.code == kInterfaceSpeed && option.value.size() >= 8) {
            interface.speed = BitsPerSecond{read_ordered<std::uint64_t, order>(option.value, 0)};
        } else if (option.code == kTimeResolution && !option.value.empty()) {
            // Each may come once: of two that differ nothing tells which the times follow, and a guess is wrong by
            // years.
            const auto exponent = static_cast<std::uint8_t>(option.value[0]);
            if (resolution.value_or(exponent) != exponent)
                return "an interface has two if_tsresol options that differ: expected one";
            interface.resolution = *(resolution = exponent);
        } else if (option.code == kTimeOffset && option.value.size() >= 8) {
            const auto offset_by = static_cast<std::int64_t>(read_ordered<std::uint64_t, order>(option.value, 0));
            if (time_offset.value_or(offset_by) != offset_by)
                return "an interface has two if_tsoffset options that differ: expected one";
            interface.time_offset = *(time_offset = offset_by);
        }
    }
    origins_.push_back(origin_of(interface));
    interfaces_.push_back(std::move(interface));
    return {};
}

// Statistics may come again and again, each counting from the start of the capture: the last one stands.
template <ByteOrder order> void PcapngWalk::take_statistics(Bytes block) {
    const std::size_t id = read_ordered<std::uint32_t, order>(block, 8);
    if (id >= interfaces_.size() - first_of_section_) {
        ++skipped_.unknown;
        return;
    }
    Interface& interface = interfaces_[first_of_section_ + id];
    interface.has_statistics = true;
    OptionReader options(slice(block, 20, block.size() - 20 - kTrailer), order);
    for (Option option; options.next(option);) {
        if (option.value.size() < 8) continue;
        const auto value = read_ordered<std::uint64_t, order>(option.value, 0);
        if (option.code == kReceived) interface.received = value;
        if (option.code == kDropped) interface.dropped = value;
        if (option.code == kDroppedBySystem) interface.dropped_by_system = value;
    }
}

template <ByteOrder order>
std::string PcapngWalk::take_packet(std::uint32_t type, Bytes block, std::uint64_t offset, FrameClock& timeline,
                                    std::vector<Frame>& frames) {
    Frame& frame = frames.emplace_back();
    const auto origins = std::span<const FrameOrigin>(origins_).subspan(first_of_section_);
    if (const std::string sentence = read_packet<order>(type, block, origins, first_of_section_, frame);
        !sentence.empty()) {
        frames.pop_back();
        return fmt::format("frame {} {}", timeline.frames + 1, sentence);
    }
    frame.index = FrameIndex{++timeline.frames};
    frame.file_offset = offset;
    if (!frame.has_time) return {};
    const std::int64_t time = std::to_underlying(frame.time);
    if (!timeline.started) {
        timeline.started = true;
        timeline.first = time;
    }
    frame.elapsed = elapsed_between(timeline.first, time);
    return {};
}

void PcapngWalk::skip(std::uint32_t type) {
    switch (type) {
        case kNameBlock: ++skipped_.names; break;
        case kSecretsBlock: ++skipped_.secrets; break;
        case kCustomBlock:
        case kCustomBlockNoCopy: ++skipped_.custom; break;
        default: ++skipped_.unknown; break;
    }
}

}  // namespace qps::dissect
