// The walk over ICMP, ICMPv6 and neighbour discovery, and over the beginning of the datagram that an error quotes, as
// far as it goes.
//
// A message that is too short for the header of its type is data. What a quoted header lacks is what the sender of the
// error left out, no fault. From an attacker: options without a length and records without an end, which are data from
// there on.
#include <dissect/base/walk.hpp>
#include <dissect/headers/icmp.hpp>
#include <dissect/headers/roce_ports.hpp>

#include <algorithm>

namespace qps::dissect {

namespace {

struct Form {
    LayerKind kind;
    std::size_t length;
    bool quotes = false;   // a datagram follows
    bool options = false;  // options of neighbour discovery follow
};

Form icmp_form(IcmpType type) {
    switch (type) {
        case IcmpType::echo_reply:
        case IcmpType::echo_request: return {kind::icmp_echo, kIcmpHeader};
        case IcmpType::unreachable: return {kind::icmp_unreachable, kIcmpHeader, true};
        case IcmpType::redirect: return {kind::icmp_redirect, kIcmpHeader, true};
        case IcmpType::time_exceeded: return {kind::icmp_time_exceeded, kIcmpHeader, true};
        case IcmpType::parameter: return {kind::icmp_parameter, kIcmpHeader, true};
        case IcmpType::source_quench: return {kind::icmp, kIcmpHeader, true};
    }
    return {kind::icmp, kIcmpHeader};
}

Form icmpv6_form(Icmpv6Type type, std::size_t left) {
    switch (type) {
        case Icmpv6Type::unreachable: return {kind::icmpv6_unreachable, kIcmpv6Header, true};
        case Icmpv6Type::too_big: return {kind::icmpv6_too_big, kIcmpv6Header, true};
        case Icmpv6Type::time_exceeded: return {kind::icmpv6_time_exceeded, kIcmpv6Header, true};
        case Icmpv6Type::parameter: return {kind::icmpv6_parameter, kIcmpv6Header, true};
        case Icmpv6Type::echo_request:
        case Icmpv6Type::echo_reply: return {kind::icmpv6_echo, kIcmpv6Header};
        case Icmpv6Type::mld_query:
            if (left != kMldLength) break;  // of version 2, RFC 3810 8.1
            return {kind::mld, kMldLength};
        case Icmpv6Type::mld_report:
        case Icmpv6Type::mld_done: return {kind::mld, kMldLength};
        case Icmpv6Type::router_solicitation: return {kind::nd_router_solicitation, kIcmpv6Header, false, true};
        case Icmpv6Type::router_advertisement:
            return {kind::nd_router_advertisement, kRouterAdvertisementLength, false, true};
        case Icmpv6Type::neighbour_solicitation: return {kind::nd_solicitation, kNdTargetLength, false, true};
        case Icmpv6Type::neighbour_advertisement: return {kind::nd_advertisement, kNdTargetLength, false, true};
        case Icmpv6Type::redirect: return {kind::nd_redirect, kNdRedirectLength, false, true};
        case Icmpv6Type::mld2_report: return {kind::mld_report, kIcmpv6Header};
    }
    return {kind::icmpv6, std::max<std::size_t>(left, 4)};
}

// Steps over a header of a quoted datagram; empty where it is not quoted whole.
Bytes enter_quoted(Walk& walk, LayerKind kind, std::size_t length) {
    return walk.left() < length ? Bytes{} : enter(walk, kind, length);
}

// The IP header of a quoted datagram; whether UDP follows it.
bool enter_quoted_ip(Walk& walk) {
    constexpr std::size_t kIpv4 = 20, kIpv6 = 40;
    constexpr std::uint16_t kFragmentOffset = 0x1fff;
    const Bytes bytes = walk.header();
    const auto first = read_be<std::uint8_t>(bytes, 0);
    if (first >> 4U == 6) {
        const Bytes ip = enter_quoted(walk, kind::quoted_ipv6, kIpv6);
        return !ip.empty() && IpProtocol{read_be<std::uint8_t>(ip, 6)} == IpProtocol::udp;
    }
    const std::size_t length = std::size_t{4} * (first & 15U);
    if (first >> 4U != 4 || length < kIpv4) return false;
    const Bytes ip = enter_quoted(walk, kind::quoted_ipv4, length);
    if (ip.empty() || (read_be<std::uint16_t>(ip, 6) & kFragmentOffset) != 0) return false;
    return IpProtocol{read_be<std::uint8_t>(ip, 9)} == IpProtocol::udp;
}

void walk_quoted(Walk& walk) {
    constexpr std::size_t kUdp = 8, kBth = 12;
    if (enter_quoted_ip(walk)) {
        const Bytes udp = enter_quoted(walk, kind::quoted_udp, kUdp);
        const auto port = read_be<std::uint16_t>(udp, 2);
        if (!udp.empty() && (port == kRocePort || is_roce_port(port)))
            static_cast<void>(enter_quoted(walk, kind::quoted_bth, kBth));
    }
    if (walk.packet.layers().back().fault == Fault::none) add_data(walk);
}

LayerKind option_kind(NdOption type, std::size_t length) {
    switch (type) {
        case NdOption::source:
        case NdOption::target: return length == kNdOptionUnit ? kind::nd_link_address : kind::nd_option;
        case NdOption::prefix: return length == kNdPrefixLength ? kind::nd_prefix : kind::nd_option;
        case NdOption::mtu: return length == kNdOptionUnit ? kind::nd_mtu : kind::nd_option;
        case NdOption::redirected: return kind::nd_redirected;
        case NdOption::nonce: return kind::nd_nonce;
    }
    return kind::nd_option;
}

void walk_options(Walk& walk) {
    while (walk.left() > 0) {
        const Bytes bytes = walk.header();
        const std::size_t length = kNdOptionUnit * read_be<std::uint8_t>(bytes, 1);
        if (length == 0 || length > walk.left()) {
            add_data(walk);
            return mark(walk.packet, Fault::bad_length);
        }
        const LayerKind kind = option_kind(NdOption{read_be<std::uint8_t>(bytes, 0)}, length);
        if (enter(walk, kind, kind == kind::nd_redirected ? kNdOptionUnit : length).empty()) return;
        if (kind != kind::nd_redirected) continue;
        Walk quoted = walk;
        quoted.end = walk.offset + length - kNdOptionUnit;
        walk_quoted(quoted);
        if (walk.packet.layers().back().fault != Fault::none) return;
        walk.offset = quoted.end;
    }
}

void walk_records(Walk& walk, unsigned records) {
    for (; records > 0 && walk.left() >= kMldRecordLength; --records) {
        const Bytes bytes = walk.header();
        const std::size_t length = kMldRecordLength + std::size_t{16} * read_be<std::uint16_t>(bytes, 2) +
                                   std::size_t{4} * read_be<std::uint8_t>(bytes, 1);
        if (length > walk.left()) break;
        if (enter(walk, kind::mld_record, length).empty()) return;
    }
    add_data(walk);
    if (records > 0) mark(walk.packet, Fault::bad_length);
}

// The header of a message; empty where nothing of it can be read behind.
Bytes enter_message(Walk& walk, const Form& form) {
    if (walk.left() >= form.length) return enter(walk, form.kind, form.length);
    add_data(walk);
    return {};
}

}  // namespace

void walk_icmp(Walk& walk) {
    const Form form = icmp_form(IcmpType{read_be<std::uint8_t>(walk.header(), 0)});
    if (enter_message(walk, form).empty()) return;
    if (form.quotes) walk_quoted(walk);
    else add_data(walk);
}

void walk_icmpv6(Walk& walk) {
    const Form form = icmpv6_form(Icmpv6Type{read_be<std::uint8_t>(walk.header(), 0)}, walk.left());
    const Bytes header = enter_message(walk, form);
    if (header.empty()) return;
    if (form.quotes) walk_quoted(walk);
    else if (form.options) walk_options(walk);
    else if (form.kind == kind::mld_report) walk_records(walk, read_be<std::uint16_t>(header, 6));
    else add_data(walk);
}

}  // namespace qps::dissect
