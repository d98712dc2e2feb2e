// A line of a packet's tree -> the display filter that selects the packets that are alike in it: what a window offers
// for the line that somebody points at. What it gives always compiles, and always matches the packet the line is from.
#pragma once

#include <dissect/packet/tree.hpp>

#include <string>

namespace qps::dissect {

// Fields: "infiniband.bth.psn == 4711", names where the value has one of its own, texts in quotes, bytes as 0a:0b:0c;
// the presence of the field where its value is long. Headings: the presence of the header. Faults: rdma.frame.fault,
// for the first one of a packet. Appends nothing where the language has no word for it (reserved bits, later faults, a
// cut header that shares its name with a field).
void append_filter(std::string& out, const Packet& packet, const TreeLine& line);

}  // namespace qps::dissect
