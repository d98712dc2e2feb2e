// Captures in memory, to be changed: fields of packets that a display filter matches, with the ICRC right or left;
// packets dropped, doubled, moved in time. For checks that must notice.
#pragma once

#include <dissect/base/field.hpp>
#include <dissect/capture/capture_file.hpp>
#include <dissect/filter/filter.hpp>
#include <tests/support/catch.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::tests {

struct RecordedFrame {
    std::vector<std::byte> bytes;
    dissect::LinkType link{};
    std::int64_t time = 0;          // nanoseconds
    std::uint32_t wire_length = 0;  // 0: as long as its bytes

    [[nodiscard]] dissect::Frame frame(std::uint64_t index) const {
        dissect::Frame frame;
        frame.bytes = bytes;
        frame.wire_length = wire_length == 0 ? static_cast<std::uint32_t>(bytes.size()) : wire_length;
        frame.link = link;
        frame.index = dissect::FrameIndex{index};
        frame.time = dissect::Instant{time};
        return frame;
    }
};

struct RecordedCapture {
    std::vector<RecordedFrame> frames;
    dissect::Drops drops;
};

[[nodiscard]] inline RecordedCapture recorded_in(const std::string& path) {
    auto file = dissect::CaptureFile::open(path);
    REQUIRE(file.has_value());
    RecordedCapture capture;
    dissect::Batch batch;
    while (file->read(batch))
        for (const dissect::Frame& frame : batch.frames)
            capture.frames.push_back({{frame.bytes.begin(), frame.bytes.end()},
                                      frame.link,
                                      std::to_underlying(frame.time),
                                      frame.wire_length});
    return capture;
}
[[nodiscard]] inline RecordedCapture sample(std::string_view name) {
    return recorded_in(std::string(QPSCOPE_SOURCE_DIR) + "/captures/" + std::string(name) + "/capture.pcap");
}

// The ICRC that fits the bytes, where it can be computed.
inline void seal_icrc(RecordedFrame& recorded) {
    dissect::Packet packet;
    dissect::decode(recorded.frame(1), packet);
    const dissect::Layer* layer = find(packet, dissect::LayerKind::icrc);
    if (layer == nullptr || packet.icrc.status != dissect::CrcStatus::bad) return;
    for (std::size_t i = 0; i < 4; ++i)
        recorded.bytes[layer->offset + i] = static_cast<std::byte>(packet.icrc.expected >> (24 - 8 * i));
}

// The first field of that name; false where the packet has none.
inline bool set_field(RecordedFrame& recorded, std::string_view name, std::uint64_t value, bool seal = true) {
    dissect::Packet packet;
    dissect::decode(recorded.frame(1), packet);
    for (const dissect::Layer& layer : packet.layers())
        for (const dissect::Field& field : dissect::header(layer.kind).fields) {
            if (field.name != name || field.computed() || field.width > 64) continue;
            for (std::size_t i = 0; i < field.width; ++i) {
                const std::size_t at = std::size_t{field.bit} + field.width - 1 - i;
                std::byte& byte = recorded.bytes[layer.offset + at / 8];
                const auto mask = static_cast<std::byte>(0x80U >> at % 8);
                byte = (value >> i & 1) != 0 ? byte | mask : byte & ~mask;
            }
            if (seal) seal_icrc(recorded);
            return true;
        }
    return false;
}

[[nodiscard]] inline std::uint64_t field_of(const RecordedFrame& recorded, std::string_view name) {
    dissect::Packet packet;
    dissect::decode(recorded.frame(1), packet);
    for (const dissect::Layer& layer : packet.layers())
        for (const dissect::Field& field : dissect::header(layer.kind).fields)
            if (field.name == name)
                if (const auto value = value_of(packet, layer, field)) return value->number;
    return 0;
}

// Places of the packets that the filter matches, in their order.
[[nodiscard]] inline std::vector<std::size_t> matching(const RecordedCapture& capture, std::string_view text) {
    const auto filter = dissect::Filter::compile(text);
    REQUIRE(filter.has_value());
    std::vector<std::size_t> places;
    dissect::Packet packet;
    for (std::size_t i = 0; i < capture.frames.size(); ++i) {
        dissect::decode(capture.frames[i].frame(i + 1), packet);
        if (filter->matches(packet)) places.push_back(i);
    }
    return places;
}

// Sets a field in all of them; how many there were.
inline std::size_t rewrite(RecordedCapture& capture, std::string_view filter, std::string_view field,
                           std::uint64_t value, bool seal = true) {
    std::size_t changed = 0;
    for (const std::size_t place : matching(capture, filter))
        if (set_field(capture.frames[place], field, value, seal)) ++changed;
    return changed;
}

// In the order of their times again, after some were moved.
inline void sort_by_time(RecordedCapture& capture) {
    std::ranges::stable_sort(capture.frames, {}, &RecordedFrame::time);
}

// Everything takes so many times as long.
inline void stretch(RecordedCapture& capture, std::int64_t factor) {
    if (capture.frames.empty()) return;
    const std::int64_t first = capture.frames.front().time;
    for (RecordedFrame& frame : capture.frames) frame.time = first + (frame.time - first) * factor;
}

// A copy of a packet, so much later than the original.
inline void add_copy(RecordedCapture& capture, std::size_t place, std::int64_t later) {
    RecordedFrame copy = capture.frames[place];
    copy.time += later;
    capture.frames.push_back(std::move(copy));
    sort_by_time(capture);
}

}  // namespace qps::tests
