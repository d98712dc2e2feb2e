// Packets become frames and packets again, with all that a route says.
#include <tests/support/catch.hpp>
#include <tests/support/peers.hpp>

#include <algorithm>

using namespace qps::tests;
using namespace qps::transport;
using namespace qps::dissect;

namespace {

struct Framed {
    std::vector<std::byte> bytes;
    Packet packet;
};

void decode_frame(Framed& framed, LinkType link) {
    Frame frame;
    frame.bytes = framed.bytes;
    frame.wire_length = static_cast<std::uint32_t>(framed.bytes.size());
    frame.link = link;
    decode(frame, framed.packet);
}

// A packet at least, and no more than half of all PSNs, whatever a request claims.
static_assert(packets_of(0, PathMtu::bytes_256) == 1 && packets_of(256, PathMtu::bytes_256) == 1 &&
              packets_of(257, 256U) == 2);
static_assert(packets_of(1U << 31, PathMtu::bytes_256) == 1U << 23 && packets_of(0xffff'ffff, 256U) == 1U << 23);

}  // namespace

TEST_CASE("transport packet: through a frame and back, over every network") {
    const std::vector<std::byte> payload = some_bytes(8);
    TransportPacket atomic_write;
    atomic_write.opcode = Opcode{0x1d};
    atomic_write.pkey = Pkey{0x8123};
    atomic_write.dest_qp = Qpn{0x42};
    atomic_write.psn = Psn{0xfffffe};
    atomic_write.ack_request = true;
    atomic_write.access = RemoteAccess{0x1122334455667788, Rkey{0x99}, 8};
    atomic_write.payload = payload;
    TransportPacket flush;
    flush.opcode = Opcode{0x1c};
    flush.access = RemoteAccess{16, Rkey{1}, 4096};
    flush.flush = Flush{kPersistence, FlushSelectivity::memory_region};
    TransportPacket extended;
    extended.opcode = Opcode{0xa4};  // XRC SEND only
    extended.srq = Srqn{0xfedcba};
    for (Network network : kNetworks)
        for (const TransportPacket& sent : {atomic_write, flush, extended}) {
            const bool native = network == Network::native_local || network == Network::native_global;
            Route route;
            route.network = network;
            Framed framed{to_frame(sent, route), {}};
            decode_frame(framed, native ? LinkType::infiniband : LinkType::ethernet);
            const auto got = from_packet(framed.packet);
            REQUIRE(got);
            CHECK(got->opcode == sent.opcode);
            CHECK(got->pkey == sent.pkey);
            CHECK(got->dest_qp == sent.dest_qp);
            CHECK(got->psn == sent.psn);
            CHECK(got->ack_request == sent.ack_request);
            CHECK(got->access == sent.access);
            CHECK(got->srq == sent.srq);
            CHECK(got->flush == sent.flush);
            CHECK(std::ranges::equal(got->payload, sent.payload));
            if (!got->payload.empty()) CHECK(got->payload.data() >= framed.bytes.data());  // borrowed
            const std::size_t header = network == Network::roce_v2_ipv4   ? 20
                                       : network == Network::native_local ? 0
                                                                          : 40;
            CHECK(got->network_header.size() == header);
        }
}

TEST_CASE("transport packet: a route may have a tag, a class of traffic and a flow label") {
    TransportPacket packet;
    packet.opcode = Opcode{0x04};
    for (Network network : {Network::roce_v2_ipv4, Network::roce_v2_ipv6, Network::roce_v1}) {
        Route route;
        route.network = network;
        route.vlan = 0xb064;  // priority 5, DEI, VLAN 100
        route.dscp = 26;
        route.flow_label = 0xabcde;
        Framed framed{to_frame(packet, route), {}};
        decode_frame(framed, LinkType::ethernet);
        REQUIRE(from_packet(framed.packet));
        CHECK(read_be<std::uint16_t>(framed.bytes, 12) == 0x8100);
        CHECK(read_be<std::uint16_t>(framed.bytes, 14) == 0xb064);
        Observation seen;
        observe(framed.packet, seen);
        CHECK(seen.pcp == 5);
        CHECK(seen.dscp == 26);
        CHECK_FALSE(seen.congestion_experienced);
        if (network != Network::roce_v2_ipv4) CHECK((read_be<std::uint32_t>(framed.bytes, 18) & 0xfffff) == 0xabcde);
        route.vlan.reset();
        const Framed plain{to_frame(packet, route), {}};
        CHECK(read_be<std::uint16_t>(plain.bytes, 12) != 0x8100);
    }
}
