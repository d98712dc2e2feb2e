// A packet in full, by walking the field tables: the tree that people read, the JSON that programs read, and the bytes.
#pragma once

#include <dissect/base/packet.hpp>

#include <string>

namespace qps::dissect {

// A heading a layer, a line a field with its value; faults under their layer.
void append_tree(std::string& out, const Packet& packet);

// One object, without a line end: {"frame": 1, "line": "...", "layers": [{"layer": ..., "offset": ..., "length": ...,
// "fields": {...}}]}. Names are those of `qpscope fields`; a name that occurs twice in a layer has an array.
void append_json(std::string& out, const Packet& packet);

// Offsets, hex and printable ASCII, 16 bytes a line.
void append_hex_dump(std::string& out, Bytes bytes);

}  // namespace qps::dissect
