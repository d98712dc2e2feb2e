// Hosts on a wire of the test's own, under a virtual clock.
#pragma once

#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>
#include <transport-replay/live/frame_writer.hpp>
#include <transport-replay/live/host/host.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace qps::tests::lan {

using namespace transport;
using namespace transport::live;
using namespace dissect;

inline constexpr Mac kMacA{0x0200'0000'00aa};
inline constexpr Mac kMacB{0x0200'0000'00bb};
inline constexpr Mac kStranger{0x0266'6666'6666};
inline constexpr Address kA = ipv4_address(0xc0000201);
inline constexpr Address kB = ipv4_address(0xc0000202);
inline constexpr Address kA6 = ipv6_address(0x2001'0db8'0000'0000, 0xa);
inline constexpr Address kB6 = ipv6_address(0x2001'0db8'0000'0000, 0xb);
inline constexpr Address kGroup = ipv4_address(0xef01'0203);
inline constexpr Address kGroup6 = ipv6_address(0xff0e'0000'0000'0000, 0x1234'5678);

inline HostSettings settings_of(Mac mac, const Address& ipv4, const Address& ipv6) {
    HostSettings settings;
    settings.mac = mac;
    settings.addresses = {{ipv4, 24}, {ipv6, 64}};
    return settings;
}

using Frames = std::vector<std::vector<std::byte>>;

inline Frames sent_by(Host& host, Instant now) {
    Frames frames;
    std::array<std::byte, 2048> room{};
    while (const std::size_t length = host.poll(now, room))
        frames.emplace_back(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(length));
    return frames;
}

// A cable between two hosts, and a clock.
struct Lan {
    Instant now{1'700'000'000'000'000'000};
    Host a;
    Host b;
    explicit Lan(const HostSettings& first, const HostSettings& second) : a(first, now), b(second, now) {}
    Lan() : Lan(settings_of(kMacA, kA, kA6), settings_of(kMacB, kB, kB6)) {}

    void pump() {
        for (bool quiet = false; !quiet;) {
            quiet = true;
            for (const auto& frame : sent_by(a, now)) {
                quiet = false;
                b.process(frame, now);
            }
            for (const auto& frame : sent_by(b, now)) {
                quiet = false;
                a.process(frame, now);
            }
        }
    }
    void pass(std::int64_t milliseconds) {
        for (std::int64_t i = 0; i < milliseconds; i += 50) {
            now = now + microseconds(50'000);
            pump();
        }
    }
    void settle() { pass(6000); }
};

inline Route route_over(Network network, const Address& destination) {
    Route route;
    route.network = network;
    route.source = {};
    route.destination = destination;
    route.source_mac = route.destination_mac = 0;
    return route;
}

// A SEND from one to the other; what the other says of it.
inline HostArrival send(Lan& lan, Host& from, Host& to, Route route) {
    REQUIRE(from.complete(route, 0, lan.now) == Reach::ready);
    TransportPacket packet;
    packet.opcode = Opcode{0x04};
    packet.dest_qp = Qpn{17};
    std::vector<std::byte> frame(300);
    frame.resize(write_frame(packet, route, frame));
    REQUIRE_FALSE(frame.empty());
    const HostArrival arrived = to.process(frame, lan.now);
    if (arrived.packet != nullptr) CHECK(from_packet(*arrived.packet));
    return {arrived.disposition, nullptr,     arrived.source, arrived.destination,
            arrived.source_mac,  arrived.ecn, arrived.hops};
}

inline std::vector<std::byte> frame_from_stranger(const PacketSpec& spec) {
    auto bytes = build(spec);
    bytes.resize(std::max<std::size_t>(bytes.size(), 60));
    return bytes;
}

inline PacketSpec roce_to_a(Network network) {
    PacketSpec spec = transport_packet(Opcode{0x04}, network);
    set(spec, "eth.dst", std::to_underlying(kMacA));
    set(spec, "eth.src", std::to_underlying(kMacB));
    if (network == Network::roce_v2_ipv4) {
        set(spec, "ip.src", ipv4_bits(kB));
        set(spec, "ip.dst", ipv4_bits(kA));
    }
    return spec;
}

}  // namespace qps::tests::lan
