// A rule of rewriting, and the text in which people say it:
//
//   mac 02:00:00:00:00:01=02:00:00:00:00:11   wherever that address stands; src-mac and dst-mac: only there; *: any
//   address ip 10.0.0.1=10.77.0.11                    IPv4, IPv6 and GIDs, in headers, ARP and connection management;
//   src-ip, dst-ip ip 10.0.0.0/24=10.77.0.0/24               the network of an address, the rest of it stays vlan 5=7,
//   vlan none=7, vlan *=none        the tag's number; a tag put on; taken off qpn 0x11=0x42 at 10.0.0.1 a queue pair
//   number, in BTH, DETH and connection management; "at": of that host alone psn 0x11+1000 at 10.0.0.1 PSNs of packets
//   to that queue pair, by that much, and where its set-up says how they begin pkey 0xffff=0x8001, rkey *=0x1234
//   partition keys, remote keys
//
// Of queue pairs * leaves out 0, 1 and 0xffffff, which everybody has. Everything in a rule is about the packet as it
// was recorded, so that rules do not act on what others wrote. Of several that fit, the first counts.
//
// What an attacker could feed: nothing; it is the user's own text. Numbers are bounded by the width of their field.
#pragma once

#include <dissect/base/types.hpp>

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace qps::transport::live {

enum class Subject : std::uint8_t { mac, ip, vlan, qpn, psn, pkey, rkey };
enum class Side : std::uint8_t { source, destination, neither };

// Up to 128 bits: an IPv6 address, an IPv4 address mapped into one, or a number in the low half.
struct Wide {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    [[nodiscard]] constexpr bool operator==(const Wide&) const = default;
    [[nodiscard]] constexpr Wide operator&(const Wide& other) const { return {high & other.high, low & other.low}; }
    [[nodiscard]] constexpr Wide operator|(const Wide& other) const { return {high | other.high, low | other.low}; }
    [[nodiscard]] constexpr Wide operator~() const { return {~high, ~low}; }
};

inline constexpr std::uint64_t kMappedPrefix = 0xffff'0000'0000;  // of the low half: ::ffff:0:0/96 (RFC 4291)
inline constexpr std::uint64_t kNoTag = 0x1'0000;                 // as a number of a VLAN: there is no tag

struct RewriteRule {
    Subject subject = Subject::ip;
    Side only = Side::neither;  // where on one side alone
    Wide from;
    Wide compared;  // bits of it that are compared; none: everything fits
    Wide to;
    Wide written;                  // bits of it that are written, the others stay
    std::uint32_t psn_offset = 0;  // 24 bits, of psn; `from` is the queue pair
    std::optional<Wide> at{};      // the address of the host whose number it is
    bool only_ipv4 = false;        // of ip with *: only addresses of the kind that is written
    [[nodiscard]] bool operator==(const RewriteRule&) const = default;

    [[nodiscard]] constexpr bool fits(const Wide& value) const { return (value & compared) == (from & compared); }
    [[nodiscard]] constexpr Wide applied(const Wide& value) const { return (value & ~written) | (to & written); }
};

// The rule, or a sentence that names what is wrong with which part.
[[nodiscard]] std::expected<RewriteRule, std::string> parse_rewrite(std::string_view text);

}  // namespace qps::transport::live
