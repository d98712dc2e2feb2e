// The Ethernet, IP and UDP headers around a RoCEv2 datagram that an ordinary socket carries: read off a frame that is
// to be sent, and written before a datagram that was received.
//
// What an attacker could feed: nothing that a length here depends on; frames to send are ours, and read with every
// length checked.
#pragma once

#include <dissect/base/bytes.hpp>

#include <array>
#include <optional>

namespace qps::transport::live {

// IPv4 addresses are the last four bytes.
struct SocketAddress {
    std::array<std::byte, 16> bytes{};
    std::uint16_t port = 0;
    [[nodiscard]] bool operator==(const SocketAddress&) const = default;
};

// A MAC address made of the last 32 bits of an IP address; locally administered.
[[nodiscard]] constexpr std::uint64_t mac_for(const SocketAddress& address) {
    return 0x0200'0000'0000 | dissect::read_be<std::uint32_t>(address.bytes, 12);
}

// Of a datagram and what its IP header says besides.
struct SocketEnds {
    bool ipv6 = false;
    SocketAddress source;
    SocketAddress destination;
    std::uint8_t traffic_class = 0;  // with ECN
    std::uint8_t hops = 0;
};

inline constexpr std::size_t kUdpHeader = 8;
[[nodiscard]] constexpr std::size_t ip_header(bool ipv6) { return ipv6 ? 40 : 20; }
[[nodiscard]] constexpr std::size_t headers_before_payload(bool ipv6) { return 14 + ip_header(ipv6) + kUdpHeader; }

struct CarriedDatagram {
    SocketEnds ends;
    std::size_t ip = 0;       // where the IP header begins in the frame
    std::size_t payload = 0;  // where what UDP carries begins
    std::size_t end = 0;      // where it ends; Ethernet padding may follow
};

// The datagram in a frame: Ethernet, VLAN tags or none, IP without options or fragments, UDP. Nothing where it is
// anything else.
[[nodiscard]] std::optional<CarriedDatagram> datagram_in(dissect::Bytes frame);

// Writes Ethernet, IP and UDP header over the first headers_before_payload() bytes of a frame whose payload stands
// behind them. IPv4: "don't fragment", identification 0, the header checksum 0: seal_ipv4_header() sets it. The UDP
// checksum is 0, "none" of IPv4, and of IPv6 what a tunnel may send (RFC 6935).
void write_headers(const SocketEnds& ends, dissect::MutableBytes frame);

}  // namespace qps::transport::live
