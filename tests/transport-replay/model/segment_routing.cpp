// SRv6: who talks to whom is said by the ends of a path, wherever on it a packet is.
#include <dissect/headers/segment_routing.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>
#include <transport-replay/model/observation.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

constexpr std::string_view kEnd = "fd000000000000000000000000000012", kNext = "fc000000000000030000000000000000";

FlowKey flow_of(std::uint64_t left, std::string_view next_hop, std::uint64_t type = 4) {
    PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv6);
    HeaderSpec routing{kind::segment_routing};
    set(routing, "ipv6.routing.type", type);
    set(routing, "ipv6.routing.segleft", left);
    set(routing, "ipv6.routing.srh.last_entry", 1);
    routing.tail = hex(std::string(kEnd) + std::string(kNext));
    insert_before(spec, LayerKind::udp, {routing});
    const auto destination = hex(next_hop);
    set(spec, "ipv6.dst", Bytes(destination));
    const Decoded decoded(spec);
    Observation observation;
    observe(decoded.packet, observation);
    return observation.flow;
}

}  // namespace

TEST_CASE("SRv6: a flow has the same ends on all of its path") {
    const FlowKey last = flow_of(0, kEnd);
    CHECK(flow_of(1, kNext).destination == last.destination);
    CHECK(flow_of(1, kNext).source == last.source);
    CHECK_FALSE(flow_of(1, kNext, 0).destination == last.destination);  // another type: its segments are not known
}
