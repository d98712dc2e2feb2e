// What faults need to know of a frame: which packet of the transport it is, and which of its bytes the ICRC covers.
//
// What an attacker could feed: any frame; decode() bounds every offset, and what is no packet has no identity and no
// coverage.
#pragma once

#include <dissect/base/packet.hpp>
#include <transport-replay/live/faults.hpp>

#include <algorithm>

namespace qps::transport::live {

struct PacketFacts {
    std::optional<PacketIdentity> identity{};
    std::size_t covered_from =
        0;  // where corruption may begin and end: covered by the ICRC and not masked, ICRC included
    std::size_t covered_to = 0;
};

[[nodiscard]] inline PacketFacts facts_of(dissect::Bytes frame) {
    constexpr std::size_t kMasked = 5;  // bytes of the BTH up to its masked one
    constexpr std::size_t kIcrc = 4;
    dissect::Packet packet;
    dissect::Frame whole;
    whole.bytes = frame;
    whole.wire_length = static_cast<std::uint32_t>(frame.size());
    dissect::decode(whole, packet);
    if (!packet.has_transport()) return {};
    PacketFacts facts;
    facts.identity = PacketIdentity{packet.psn, packet.dest_qp,
                                    packet.opcode == dissect::Opcode::cnp || !dissect::info(packet.opcode).request};
    facts.covered_from = packet.layers()[packet.bth_layer].offset + kMasked;
    const std::size_t payload_end = std::size_t{packet.payload.offset} + packet.payload.length + packet.payload.pad;
    facts.covered_to = std::min(std::max(payload_end, facts.covered_from) + kIcrc, frame.size());
    facts.covered_from = std::min(facts.covered_from, facts.covered_to);
    return facts;
}

}  // namespace qps::transport::live
