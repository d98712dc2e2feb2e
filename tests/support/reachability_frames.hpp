// ARP, neighbour discovery and ICMP made to order, as bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace qps::tests {

using FrameOctets = std::vector<std::uint8_t>;

inline void add_number(FrameOctets& frame, std::uint64_t value, unsigned octets) {
    for (unsigned i = octets; i-- > 0;) frame.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
inline void add_ethernet(FrameOctets& frame, std::uint64_t to, std::uint64_t from, std::uint64_t type) {
    add_number(frame, to, 6);
    add_number(frame, from, 6);
    add_number(frame, type, 2);
}

// Of IPv4 addresses as numbers; operation 1 asks, 2 answers.
[[nodiscard]] inline FrameOctets arp_frame(unsigned operation, std::uint64_t sender, std::uint64_t target) {
    constexpr std::uint64_t kMacs = 0x020000000000, kEverybody = 0xffffffffffff;
    FrameOctets frame;
    add_ethernet(frame, operation == 1 ? kEverybody : kMacs | (target & 0xff), kMacs | (sender & 0xff), 0x0806);
    add_number(frame, 0x0001'0800'0604, 6);
    add_number(frame, operation, 2);
    add_number(frame, kMacs | (sender & 0xff), 6);
    add_number(frame, sender, 4);
    add_number(frame, operation == 1 ? 0 : kMacs | (target & 0xff), 6);
    add_number(frame, target, 4);
    frame.resize(60);
    return frame;
}

inline void add_ipv4(FrameOctets& frame, std::uint64_t from, std::uint64_t to, unsigned protocol, unsigned length) {
    add_number(frame, 0x4500, 2);
    add_number(frame, length, 2);
    add_number(frame, 0, 4);
    add_number(frame, 64, 1);
    add_number(frame, protocol, 1);
    add_number(frame, 0, 2);
    add_number(frame, from, 4);
    add_number(frame, to, 4);
}

struct IcmpQuote {
    std::uint64_t reporter = 0, source = 0, destination = 0;
    unsigned code = 0, mtu = 0, port = 4791;
    unsigned length = 4156;  // of the IP packet that is quoted
};
// Destination unreachable, with the beginning of the datagram that it is about.
[[nodiscard]] inline FrameOctets icmp_frame(const IcmpQuote& quote) {
    FrameOctets frame;
    add_ethernet(frame, 0x020000000000 | (quote.source & 0xff), 0x020000000000 | (quote.reporter & 0xff), 0x0800);
    add_ipv4(frame, quote.reporter, quote.source, 1, 56);
    add_number(frame, 3, 1);
    add_number(frame, quote.code, 1);
    add_number(frame, 0, 4);
    add_number(frame, quote.mtu, 2);
    add_ipv4(frame, quote.source, quote.destination, 17, quote.length);
    add_number(frame, 49152, 2);
    add_number(frame, quote.port, 2);
    add_number(frame, quote.length - 20, 2);
    add_number(frame, 0, 2);
    return frame;
}

inline void add_ipv6(FrameOctets& frame, std::uint64_t from, std::uint64_t to, unsigned length) {
    constexpr std::uint64_t kNet = 0x20010db8'00000000;
    add_number(frame, 0x60000000, 4);
    add_number(frame, length, 2);
    add_number(frame, 58, 1);
    add_number(frame, 255, 1);
    add_number(frame, from == 0 ? 0 : kNet, 8);
    add_number(frame, from, 8);
    add_number(frame, kNet, 8);
    add_number(frame, to, 8);
}
// 135 asks, 136 answers; hosts are 2001:db8::N, 0 is nobody.
[[nodiscard]] inline FrameOctets discovery_frame(unsigned type, std::uint64_t from, std::uint64_t to,
                                                 std::uint64_t target) {
    FrameOctets frame;
    add_ethernet(frame, type == 135 ? 0x333300000001 : 0x020000000000 | (to & 0xff), 0x020000000000 | (from & 0xff),
                 0x86dd);
    add_ipv6(frame, from, to, 32);
    add_number(frame, type, 1);
    add_number(frame, 0, 7);
    add_number(frame, 0x20010db8'00000000, 8);
    add_number(frame, target, 8);
    add_number(frame, type == 135 ? 0x0101 : 0x0201, 2);  // its own link-layer address
    add_number(frame, 0x020000000000 | (from & 0xff), 6);
    return frame;
}
// Packet too big, or unreachable (type 1), about a datagram of 4176 bytes to port 4791.
[[nodiscard]] inline FrameOctets icmp6_frame(unsigned type, unsigned code, unsigned mtu, std::uint64_t reporter,
                                             std::uint64_t source, std::uint64_t destination) {
    FrameOctets frame;
    add_ethernet(frame, 0x020000000000 | source, 0x020000000000 | reporter, 0x86dd);
    add_ipv6(frame, reporter, source, 56);
    add_number(frame, type, 1);
    add_number(frame, code, 1);
    add_number(frame, 0, 2);
    add_number(frame, mtu, 4);
    add_ipv6(frame, source, destination, 4136);
    frame[frame.size() - 34] = 17;  // UDP
    add_number(frame, 49152, 2);
    add_number(frame, 4791, 2);
    add_number(frame, 4136, 2);
    add_number(frame, 0, 2);
    return frame;
}

}  // namespace qps::tests
