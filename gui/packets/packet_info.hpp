// What a row of the packet list says of a packet, and the heading of a layer in its tree: the message first, then what
// carried it.
//
// The words are those of the one-line notation; only their order is another. What an attacker could feed: everything in
// the fields; callers make the text printable.
#pragma once

#include <dissect/base/packet.hpp>
#include <dissect/packet/tree.hpp>

#include <string>
#include <string_view>

namespace qps::gui {

// "CM", "SMP", "NVMe", "NFS", "CNP" where it is one; else as dissect::protocol() says.
[[nodiscard]] std::string_view shownProtocol(const dissect::Packet& packet);
// A display filter of packets that carry the same; empty: the fields of the packet have one.
[[nodiscard]] std::string protocolFilter(const dissect::Packet& packet);

// "REQ comm=0x1 service=..." of CM, "nvme=Read cid=5 ..." of NVMe, "NAK PSN sequence error, PSN 7, QP 54, MSN 3"; of
// others the line of the notation. Before it stands in brackets what is not to be overlooked: "[retransmission]",
// "[duplicate]", "[mirror copy]", "[PSN gap, 3 missing]", "[ICRC wrong]".
void appendInfo(std::string& out, const dissect::Packet& packet);

// What a layer says in short: "RC SEND_ONLY, QP 17, PSN 512". Empty: there is nothing to say but its place.
[[nodiscard]] std::string layerSummary(const dissect::Packet& packet, const dissect::Layer& layer);

// The value of a queue pair or a key in the other base: "0x000011", "4660"; empty for other fields.
[[nodiscard]] std::string otherBase(const dissect::TreeLine& line);

}  // namespace qps::gui
