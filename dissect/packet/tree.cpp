// The field tree of a packet, from the layers that decode() found and the tables of their fields.
#include <dissect/packet/render_value.hpp>
#include <dissect/packet/tree.hpp>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace qps::dissect {

namespace {

constexpr std::size_t kIndent = 4;
constexpr std::size_t kLabelWidth = 44;  // column where values start; longer labels push theirs on

// Reserved bits are worth a line only where somebody set them.
bool worth_showing(const Field& field, const Value& value) {
    if (!field.name.empty()) return true;
    if (value.bytes.empty()) return value.number != 0;
    return std::ranges::any_of(value.bytes, [](std::byte byte) { return byte != std::byte{0}; });
}

// A header that is cut off whole starts beyond the frame: where there are no bytes there is no place either.
FrameSpan span_of(const Layer& layer) {
    if (layer.length == 0) return {};
    return {.offset = layer.offset, .length = layer.length};
}

// A field that has a value lies within the captured bytes of its layer: value_of() looked.
FrameSpan span_of(const Layer& layer, const Field& field) {
    if (field.computed()) return {};
    const std::uint32_t first = field.bit / 8U;
    if (field.width == kToEnd) return {.offset = layer.offset + first, .length = layer.length - first};
    const std::uint32_t end = (std::uint32_t{field.bit} + field.width + 7) / 8;
    const bool whole = field.bit % 8 == 0 && field.width % 8 == 0;
    // Bits are marked as they stand in the frame: of a little-endian field within one byte, from the other end.
    const std::uint32_t first_bit = field.little ? (end - first) * 8 - (field.bit % 8 + field.width) : field.bit % 8U;
    return {.offset = layer.offset + first,
            .length = end - first,
            .first_bit = static_cast<std::uint8_t>(first_bit),
            .bit_width = whole ? std::uint16_t{0} : field.width};
}

// Whether `a` tells more of a byte that both cover.
bool closer(const TreeLine& a, const TreeLine& b) {
    if (a.heading() != b.heading()) return b.heading();
    if (a.span.length != b.span.length) return a.span.length < b.span.length;
    return a.depth > b.depth;
}

}  // namespace

std::vector<TreeLine> tree(const Packet& packet) {
    std::vector<TreeLine> lines;
    for (std::uint8_t i = 0; i < packet.layer_count; ++i) {
        const Layer& layer = packet.layer_storage[i];
        lines.push_back({.kind = layer.kind, .layer = i, .span = span_of(layer)});
        if (layer.fault != Fault::none)
            lines.push_back({.kind = layer.kind, .layer = i, .depth = 1, .fault = layer.fault, .span = span_of(layer)});
        for (const Field& field : header(layer.kind).fields)
            if (const auto value = value_of(packet, layer, field); value && worth_showing(field, *value))
                lines.push_back({.kind = layer.kind,
                                 .layer = i,
                                 .depth = static_cast<std::uint8_t>(field.is_part ? 2 : 1),
                                 .field = &field,
                                 .value = *value,
                                 .span = span_of(layer, field)});
    }
    return lines;
}

std::optional<std::size_t> line_at(std::span<const TreeLine> lines, std::size_t byte) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].fault != Fault::none || !lines[i].span.covers(byte)) continue;
        if (!best || closer(lines[i], lines[*best])) best = i;
    }
    return best;
}

std::string_view label(const TreeLine& line) {
    if (line.field != nullptr) return label(*line.field);
    return line.fault != Fault::none ? "!" : header(line.kind).title;
}

void append_value(std::string& out, const TreeLine& line) {
    if (line.field != nullptr) append_words(out, *line.field, line.value);
    else if (line.fault != Fault::none) out += info(line.fault).sentence;
    else if (line.span.length > 0)
        fmt::format_to(std::back_inserter(out), "{} bytes at {}", line.span.length, line.span.offset);
}

void append_text(std::string& out, const TreeLine& line) {
    const std::size_t indent = line.depth * kIndent;
    const std::size_t width = line.field != nullptr ? kLabelWidth - indent : 0;
    fmt::format_to(std::back_inserter(out), "{:{}}{:<{}}", "", indent, label(line), width);
    if (!line.heading()) out += ' ';
    else if (line.span.length > 0) out += ", ";
    append_value(out, line);
}

}  // namespace qps::dissect
