// The field tree of a packet as values: a line for each layer, each thing that is wrong and each field, with the bytes
// and bits of the frame it stands for. What prints a tree, shows one in a window or marks its bytes goes through here.
//
// Everything on the wire may be a lie: a line's bytes are always those that were captured.
#pragma once

#include <dissect/base/packet.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace qps::dissect {

// Bytes of the frame, and the bits in them where they are not all of them.
struct FrameSpan {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;     // 0: no bytes (computed fields, layers that hold conclusions or are cut off whole)
    std::uint8_t first_bit = 0;   // in the first byte, counted from its most significant bit
    std::uint16_t bit_width = 0;  // 0: whole bytes

    [[nodiscard]] bool covers(std::size_t byte) const { return byte >= offset && byte - offset < length; }
    [[nodiscard]] bool operator==(const FrameSpan&) const = default;
};

// Borrows the frame's bytes through its value.
struct TreeLine {
    LayerKind kind = LayerKind::data;
    std::uint8_t layer = 0;        // index in Packet::layers()
    std::uint8_t depth = 0;        // 0: heading of a layer; 1: a fault or a field; 2: part of the field before it
    Fault fault = Fault::none;     // of a line that says what is wrong with its layer
    const Field* field = nullptr;  // nullptr: a heading or a fault
    Value value{};                 // of the field
    FrameSpan span{};              // headings and faults: the layer

    [[nodiscard]] bool heading() const { return depth == 0; }
};

// The lines in the order of the packet, each layer under its heading. Reserved bits have one only where somebody set
// them. At most kMaxLayers headings and faults, and the fields of their tables.
[[nodiscard]] std::vector<TreeLine> tree(const Packet& packet);

// The line of the smallest thing that covers a byte of the frame (a field before its layer, a part before its field),
// as an index; nothing where no layer covers it.
[[nodiscard]] std::optional<std::size_t> line_at(std::span<const TreeLine> lines, std::size_t byte);

// What a line says, in two columns: "Packet sequence number" and "4711"; a heading "Base Transport Header" and "12
// bytes at 42".
[[nodiscard]] std::string_view label(const TreeLine& line);
void append_value(std::string& out, const TreeLine& line);

// The line as append_tree() prints it, indented, without its end.
void append_text(std::string& out, const TreeLine& line);

}  // namespace qps::dissect
