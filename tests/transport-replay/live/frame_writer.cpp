// The quick writer of frames against the builder: the same bytes for every opcode over every network.
#include <dissect/base/opcode.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>
#include <transport-replay/live/frame_writer.hpp>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

using namespace qps::transport;
using namespace qps::dissect;
using qps::tests::Decoded;

namespace {

constexpr std::array kRoceNetworks{Network::roce_v2_ipv4, Network::roce_v2_ipv6, Network::roce_v1};
constexpr std::size_t kRoom = 70'000;

// A packet with every member set, each to another value: what its opcode has no header for is left out on the wire.
TransportPacket full_packet(Opcode opcode, Bytes payload) {
    TransportPacket packet;
    packet.opcode = opcode;
    packet.dest_qp = Qpn{0xabcdef};
    packet.psn = Psn(0x123456);
    packet.ack_request = true;
    packet.solicited = true;
    packet.pkey = Pkey{0x8765};
    packet.access = RemoteAccess{0x7f01'0203'0405'0607, Rkey{0xcafe'babe}, 0x8070'6050};
    packet.atomic = AtomicOperands{0x1122'3344'5566'7788, 0x99aa'bbcc'ddee'ff00};
    packet.acknowledgment = Acknowledgment{0x1f, Msn{0x765432}};
    packet.atomic_result = 0x0f1e'2d3c'4b5a'6978;
    packet.immediate = 0xdead'beef;
    packet.invalidate = Rkey{0x5566'7788};
    packet.datagram = Datagram{Qkey{0x8001'0000}, Qpn{0xfedcba}};
    packet.flush = Flush{kGlobalVisibility | kPersistence, FlushSelectivity::memory_region};
    packet.srq = Srqn{0x9a8b7c};
    packet.payload = payload;
    return packet;
}

Route route_over(Network network) {
    Route route;
    route.network = network;
    route.source = {{0x2001'0db8'0001'0203, 0x0000'ffff'c000'0205}, AddressSpace::roce_v2};
    route.destination = {{0x2001'0db8'0405'0607, 0x0000'ffff'c633'6407}, AddressSpace::roce_v2};
    route.source_mac = 0x0200'1122'3344;
    route.destination_mac = 0x0255'6677'8899;
    route.udp_source_port = 0xd0c1;
    route.identification = 0xa5a5;
    route.hops = 17;
    route.ecn = Ecn::capable_1;
    route.dscp = 26;
    route.flow_label = 0xbcdef;
    return route;
}

std::vector<std::byte> counting_bytes(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 3);
    return bytes;
}

std::vector<std::byte> written(const TransportPacket& packet, const Route& route) {
    std::vector<std::byte> room(kRoom, std::byte{0xee});  // a frame must not show what its memory held before
    const std::size_t length = live::write_frame(packet, route, room);
    CHECK(std::all_of(room.begin() + static_cast<std::ptrdiff_t>(length), room.end(),
                      [](std::byte b) { return b == std::byte{0xee}; }));
    room.resize(length);
    return room;
}

void check_same(const TransportPacket& packet, const Route& route) {
    const std::vector<std::byte> wanted = to_frame(packet, route);
    const std::vector<std::byte> got = written(packet, route);
    REQUIRE(got.size() == wanted.size());
    CHECK(live::frame_length(packet, route) == wanted.size());
    const auto [at, other] = std::ranges::mismatch(got, wanted);
    INFO("first difference at byte " << at - got.begin());
    CHECK(at == got.end());
}

}  // namespace

TEST_CASE("frames are written as they are built: every opcode, every network, with and without a VLAN tag") {
    for (std::size_t code = 0; code < kOpcodes.size(); ++code) {
        const auto opcode = static_cast<Opcode>(code);
        for (const Network network : kNetworks) {
            for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{37}}) {
                INFO(info(opcode).name() << " network " << static_cast<int>(network) << " payload " << size);
                const auto payload = counting_bytes(info(opcode).carries_payload ? size : 0);
                const TransportPacket packet = full_packet(opcode, payload);
                Route route = route_over(network);
                check_same(packet, route);
                route.vlan = 0x6a5c;
                check_same(packet, route);
            }
        }
    }
}

TEST_CASE("a written frame decodes to what was written") {
    for (std::size_t code = 0; code < kOpcodes.size(); ++code) {
        const auto opcode = static_cast<Opcode>(code);
        if (!info(opcode).defined) continue;
        for (const Network network : kRoceNetworks) {
            INFO(info(opcode).name() << " network " << static_cast<int>(network));
            const auto payload = counting_bytes(info(opcode).carries_payload ? 1024 : 0);
            Route route = route_over(network);
            route.vlan = 0x6a5c;  // priority 3, VLAN 0xa5c
            const Decoded decoded(written(full_packet(opcode, payload), route), LinkType::ethernet);
            CHECK(decoded.packet.opcode == opcode);
            CHECK(decoded.packet.dest_qp == Qpn{0xabcdef});
            CHECK(decoded.packet.psn == Psn(0x123456));
            CHECK(decoded.packet.icrc.status == CrcStatus::good);
            CHECK(decoded.number("vlan.priority") == 3);
            CHECK(decoded.number("vlan.id") == 0xa5c);
            CHECK(decoded.number("infiniband.bth.p_key") == 0x8765);
            CHECK(std::ranges::equal(decoded.packet.payload_bytes(), payload));
            for (const Layer& layer : decoded.packet.layers()) CHECK(layer.fault == Fault::none);
            const auto again = from_packet(decoded.packet);
            REQUIRE(again);
            CHECK(again->pkey == Pkey{0x8765});
            CHECK(again->ack_request);
            if (network != Network::roce_v1)
                CHECK(decoded.number(network == Network::roce_v2_ipv4 ? "ip.dsfield.dscp" : "ipv6.tclass.dscp") == 26);
        }
    }
}

TEST_CASE("a frame that does not fit is not written at all") {
    const auto payload = counting_bytes(100);
    const TransportPacket packet = full_packet(Opcode{0x04}, payload);
    for (const Network network : kNetworks) {
        const Route route = route_over(network);
        const std::size_t length = live::frame_length(packet, route);
        REQUIRE(length > 100);
        std::vector<std::byte> room(length, std::byte{0xee});
        for (std::size_t size = 0; size < length; ++size) {
            REQUIRE(live::write_frame(packet, route, MutableBytes(room).first(size)) == 0);
            REQUIRE(std::ranges::count(room, std::byte{0xee}) == static_cast<std::ptrdiff_t>(length));
        }
        CHECK(live::write_frame(packet, route, room) == length);
    }
    const TransportPacket acknowledge = full_packet(Opcode::rc_acknowledge, {});
    std::vector<std::byte> short_room(
        59);  // its own 62 bytes are more; a RoCEv1 SEND of nothing is padded, here it is not
    CHECK(live::write_frame(acknowledge, route_over(Network::roce_v2_ipv4), short_room) == 0);
}

TEST_CASE("a payload that the length fields cannot tell is refused") {
    const auto payload = counting_bytes(66'000);
    for (const Network network : kRoceNetworks) {
        const Route route = route_over(network);
        std::vector<std::byte> room(kRoom);
        // BTH and ICRC are 16 bytes, UDP 8, IPv4 20; the pad fills up to four.
        const std::size_t longest = (network == Network::roce_v2_ipv4   ? 65'535 - 44
                                     : network == Network::roce_v2_ipv6 ? 65'535 - 24
                                                                        : 65'535 - 16) /
                                    4 * 4;
        CHECK(live::write_frame(full_packet(Opcode{0x01}, Bytes(payload).first(longest)), route, room) > longest);
        CHECK(live::write_frame(full_packet(Opcode{0x01}, Bytes(payload).first(longest + 1)), route, room) == 0);
        CHECK(live::frame_length(full_packet(Opcode{0x01}, Bytes(payload).first(longest + 1)), route) == 0);
    }
}

TEST_CASE("the time to write a frame", "[.time]") {
    for (const std::size_t size : {std::size_t{8}, std::size_t{1024}, std::size_t{4096}}) {
        const auto payload = counting_bytes(size);
        TransportPacket packet = full_packet(Opcode{0x0a}, payload);
        const Route route = route_over(Network::roce_v2_ipv4);
        std::vector<std::byte> room(8192);
        constexpr std::uint32_t kTimes = 2'000'000;
        std::size_t bytes = 0;
        const auto begin = std::chrono::steady_clock::now();
        for (std::uint32_t i = 0; i < kTimes; ++i) {
            packet.psn = packet.psn + 1;
            bytes += live::write_frame(packet, route, room);
        }
        const auto took = std::chrono::steady_clock::now() - begin;
        WARN(fmt::format("{} bytes of payload: {:.0f} ns a frame", size,
                         static_cast<double>(std::chrono::nanoseconds(took).count()) / kTimes));
        CHECK(bytes > kTimes * size);
    }
}
