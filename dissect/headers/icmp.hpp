// Field tables of ICMP (RFC 792, 1191, 4884), ICMPv6 (RFC 4443), neighbour discovery (RFC 4861) and reports of
// multicast listeners (RFC 2710, 3810), and of the datagram that an error quotes.
//
// What is quoted is no packet of the traffic: its headers are kinds of their own, named "rdma.quoted." and what they
// are called in a packet, so that nobody who looks for IP, UDP or InfiniBand finds them by mistake.
#pragma once

#include <dissect/headers/icmp_types.hpp>
#include <dissect/headers/infiniband.hpp>
#include <dissect/headers/internet.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind icmp = kind_in(LayerFamily::icmp, 0);  // of types that have no row of their own
inline constexpr LayerKind icmp_echo = kind_in(LayerFamily::icmp, 1);
inline constexpr LayerKind icmp_unreachable = kind_in(LayerFamily::icmp, 2);
inline constexpr LayerKind icmp_redirect = kind_in(LayerFamily::icmp, 3);
inline constexpr LayerKind icmp_time_exceeded = kind_in(LayerFamily::icmp, 4);
inline constexpr LayerKind icmp_parameter = kind_in(LayerFamily::icmp, 5);
inline constexpr LayerKind icmpv6 = kind_in(LayerFamily::icmp, 6);  // likewise
inline constexpr LayerKind icmpv6_echo = kind_in(LayerFamily::icmp, 7);
inline constexpr LayerKind icmpv6_unreachable = kind_in(LayerFamily::icmp, 8);
inline constexpr LayerKind icmpv6_too_big = kind_in(LayerFamily::icmp, 9);
inline constexpr LayerKind icmpv6_time_exceeded = kind_in(LayerFamily::icmp, 10);
inline constexpr LayerKind icmpv6_parameter = kind_in(LayerFamily::icmp, 11);
inline constexpr LayerKind nd_router_solicitation = kind_in(LayerFamily::icmp, 12);
inline constexpr LayerKind nd_router_advertisement = kind_in(LayerFamily::icmp, 13);
inline constexpr LayerKind nd_solicitation = kind_in(LayerFamily::icmp, 14);
inline constexpr LayerKind nd_advertisement = kind_in(LayerFamily::icmp, 15);
inline constexpr LayerKind nd_redirect = kind_in(LayerFamily::icmp, 16);
inline constexpr LayerKind mld = kind_in(LayerFamily::icmp, 17);
inline constexpr LayerKind mld_report = kind_in(LayerFamily::icmp, 18);
inline constexpr LayerKind mld_record = kind_in(LayerFamily::icmp, 19);
inline constexpr LayerKind nd_option = kind_in(LayerFamily::icmp, 20);  // of types that have no row of their own
inline constexpr LayerKind nd_link_address = kind_in(LayerFamily::icmp, 21);
inline constexpr LayerKind nd_prefix = kind_in(LayerFamily::icmp, 22);
inline constexpr LayerKind nd_mtu = kind_in(LayerFamily::icmp, 23);
inline constexpr LayerKind nd_redirected = kind_in(LayerFamily::icmp, 24);
inline constexpr LayerKind nd_nonce = kind_in(LayerFamily::icmp, 25);
inline constexpr LayerKind quoted_ipv4 = kind_in(LayerFamily::icmp, 26);
inline constexpr LayerKind quoted_ipv6 = kind_in(LayerFamily::icmp, 27);
inline constexpr LayerKind quoted_udp = kind_in(LayerFamily::icmp, 28);
inline constexpr LayerKind quoted_bth = kind_in(LayerFamily::icmp, 29);
}  // namespace kind

// IANA, "ICMP Type Numbers" and their codes.
inline constexpr std::array kIcmpTypes{
    ValueName{0, "Echo reply"},           ValueName{3, "Destination unreachable"},
    ValueName{4, "Source quench"},        ValueName{5, "Redirect"},
    ValueName{8, "Echo request"},         ValueName{9, "Router advertisement"},
    ValueName{10, "Router solicitation"}, ValueName{11, "Time exceeded"},
    ValueName{12, "Parameter problem"},   ValueName{13, "Timestamp request"},
    ValueName{14, "Timestamp reply"},     ValueName{42, "Extended echo request"},
    ValueName{43, "Extended echo reply"},
};
inline constexpr std::array kIcmpUnreachableCodes{
    ValueName{0, "Network unreachable"},
    ValueName{1, "Host unreachable"},
    ValueName{2, "Protocol unreachable"},
    ValueName{3, "Port unreachable"},
    ValueName{4, "Fragmentation needed"},
    ValueName{5, "Source route failed"},
    ValueName{6, "Network unknown"},
    ValueName{7, "Host unknown"},
    ValueName{8, "Source host isolated"},
    ValueName{9, "Network administratively prohibited"},
    ValueName{10, "Host administratively prohibited"},
    ValueName{11, "Network unreachable for type of service"},
    ValueName{12, "Host unreachable for type of service"},
    ValueName{13, "Communication administratively prohibited"},
    ValueName{14, "Host precedence violation"},
    ValueName{15, "Precedence cutoff in effect"},
};
inline constexpr std::array kIcmpRedirectCodes{
    ValueName{0, "For the network"},
    ValueName{1, "For the host"},
    ValueName{2, "For the type of service and network"},
    ValueName{3, "For the type of service and host"},
};
inline constexpr std::array kTimeExceededCodes{
    ValueName{0, "In transit"},
    ValueName{1, "Fragment reassembly"},
};
// IANA, "ICMPv6 type Numbers" and their codes.
inline constexpr std::array kIcmpv6Types{
    ValueName{1, "Destination unreachable"},
    ValueName{2, "Packet too big"},
    ValueName{3, "Time exceeded"},
    ValueName{4, "Parameter problem"},
    ValueName{128, "Echo request"},
    ValueName{129, "Echo reply"},
    ValueName{130, "Multicast listener query"},
    ValueName{131, "Multicast listener report"},
    ValueName{132, "Multicast listener done"},
    ValueName{133, "Router solicitation"},
    ValueName{134, "Router advertisement"},
    ValueName{135, "Neighbor solicitation"},
    ValueName{136, "Neighbor advertisement"},
    ValueName{137, "Redirect"},
    ValueName{143, "Multicast listener report v2"},
};
inline constexpr std::array kIcmpv6UnreachableCodes{
    ValueName{0, "No route"},
    ValueName{1, "Administratively prohibited"},
    ValueName{2, "Beyond scope of source address"},
    ValueName{3, "Address unreachable"},
    ValueName{4, "Port unreachable"},
    ValueName{5, "Source address failed policy"},
    ValueName{6, "Reject route"},
};
inline constexpr std::array kIcmpv6ParameterCodes{
    ValueName{0, "Erroneous header field"},
    ValueName{1, "Unrecognized next header"},
    ValueName{2, "Unrecognized option"},
};

// What every message begins with; the names of its codes depend on its type.
[[nodiscard]] consteval std::array<Field, 3> icmp_start(std::span<const ValueName> codes = {}) {
    return {row::decimal("icmp.type", "Type", at(0), 8).named(kIcmpTypes),
            row::decimal("icmp.code", "Code", at(1), 8).named(codes), row::hex("icmp.checksum", "Checksum", at(2), 16)};
}
[[nodiscard]] consteval std::array<Field, 3> icmpv6_start(std::span<const ValueName> codes = {}) {
    return {row::decimal("icmpv6.type", "Type", at(0), 8).named(kIcmpv6Types),
            row::decimal("icmpv6.code", "Code", at(1), 8).named(codes),
            row::hex("icmpv6.checksum", "Checksum", at(2), 16)};
}

// How much of the datagram is quoted, in words (RFC 4884 4.1); 0: up to the end.
inline constexpr Field kIcmpQuotedLength =
    row::decimal("icmp.length", "Length of the quoted datagram in units of 4 bytes", at(5), 8);

inline constexpr std::size_t kIcmpHeader = 8;
inline constexpr auto kIcmpOtherFields =
    joined(icmp_start(), std::array{row::bytes("rdma.icmp.rest", "Rest of the header", at(4), 32)});
static_assert(tiles(kIcmpOtherFields, kIcmpHeader));
inline constexpr auto kIcmpEchoFields =
    joined(icmp_start(), std::array{row::decimal("icmp.ident", "Identifier", at(4), 16),
                                    row::decimal("icmp.seq", "Sequence number", at(6), 16)});
static_assert(tiles(kIcmpEchoFields, kIcmpHeader));
// RFC 1191 4: the MTU is there where fragmentation would have been needed.
inline constexpr auto kIcmpUnreachableFields =
    joined(icmp_start(kIcmpUnreachableCodes),
           std::array{row::reserved(at(4), 8), kIcmpQuotedLength, row::reserved(at(6), 16),
                      row::decimal("icmp.mtu", "MTU of the next hop", at(6), 16).only_if(at(1), 8, 4).part()});
static_assert(tiles(kIcmpUnreachableFields, kIcmpHeader));
inline constexpr auto kIcmpRedirectFields =
    joined(icmp_start(kIcmpRedirectCodes), std::array{row::ipv4("icmp.redir_gw", "Gateway address", at(4))});
static_assert(tiles(kIcmpRedirectFields, kIcmpHeader));
inline constexpr auto kIcmpTimeExceededFields = joined(
    icmp_start(kTimeExceededCodes), std::array{row::reserved(at(4), 8), kIcmpQuotedLength, row::reserved(at(6), 16)});
static_assert(tiles(kIcmpTimeExceededFields, kIcmpHeader));
inline constexpr auto kIcmpParameterFields =
    joined(icmp_start(), std::array{row::decimal("icmp.pointer", "Pointer to the byte that is wrong", at(4), 8),
                                    kIcmpQuotedLength, row::reserved(at(6), 16)});
static_assert(tiles(kIcmpParameterFields, kIcmpHeader));

inline constexpr std::size_t kIcmpv6Header = 8;  // of messages without addresses
inline constexpr std::size_t kNdTargetLength = 24, kNdRedirectLength = 40, kRouterAdvertisementLength = 16;
inline constexpr std::size_t kMldLength = 24, kMldRecordLength = 20;
inline constexpr Field kIcmpv6Reserved = row::bytes("icmpv6.reserved", "Reserved", at(4), 32);
inline constexpr auto kIcmpv6OtherFields =
    joined(icmpv6_start(), std::array{row::bytes("icmpv6.data", "Body", at(4), kToEnd)});
static_assert(tiles(kIcmpv6OtherFields, 4));
inline constexpr auto kIcmpv6EchoFields =
    joined(icmpv6_start(), std::array{row::hex("icmpv6.echo.identifier", "Identifier", at(4), 16),
                                      row::decimal("icmpv6.echo.sequence_number", "Sequence number", at(6), 16)});
static_assert(tiles(kIcmpv6EchoFields, kIcmpv6Header));
inline constexpr auto kIcmpv6UnreachableFields =
    joined(icmpv6_start(kIcmpv6UnreachableCodes), std::array{kIcmpv6Reserved});
static_assert(tiles(kIcmpv6UnreachableFields, kIcmpv6Header));
inline constexpr auto kIcmpv6TooBigFields =
    joined(icmpv6_start(), std::array{row::decimal("icmpv6.mtu", "MTU of the next hop", at(4), 32)});
static_assert(tiles(kIcmpv6TooBigFields, kIcmpv6Header));
inline constexpr auto kIcmpv6TimeExceededFields = joined(icmpv6_start(kTimeExceededCodes), std::array{kIcmpv6Reserved});
static_assert(tiles(kIcmpv6TimeExceededFields, kIcmpv6Header));
inline constexpr auto kIcmpv6ParameterFields =
    joined(icmpv6_start(kIcmpv6ParameterCodes),
           std::array{row::decimal("icmpv6.pointer", "Pointer to the byte that is wrong", at(4), 32)});
static_assert(tiles(kIcmpv6ParameterFields, kIcmpv6Header));

inline constexpr auto kRouterSolicitationFields = joined(icmpv6_start(), std::array{kIcmpv6Reserved});
static_assert(tiles(kRouterSolicitationFields, kIcmpv6Header));
inline constexpr auto kRouterAdvertisementFields =
    joined(icmpv6_start(), std::array{
                               row::decimal("icmpv6.nd.ra.cur_hop_limit", "Hop limit that hosts are to use", at(4), 8),
                               row::hex("icmpv6.nd.ra.flag", "Flags", at(5), 8),
                               row::flag("icmpv6.nd.ra.flag.m", "Managed address configuration", at(5)).part(),
                               row::flag("icmpv6.nd.ra.flag.o", "Other configuration", at(5, 1)).part(),
                               row::flag("icmpv6.nd.ra.flag.h", "Home agent", at(5, 2)).part(),
                               row::decimal("icmpv6.nd.ra.flag.prf", "Default router preference", at(5, 3), 2).part(),
                               row::flag("icmpv6.nd.ra.flag.p", "Proxy", at(5, 5)).part(),
                               row::decimal("icmpv6.nd.ra.flag.rsv", "Reserved", at(5, 6), 2).part(),
                               row::decimal("icmpv6.nd.ra.router_lifetime", "Router lifetime", at(6), 16).in("s"),
                               row::decimal("icmpv6.nd.ra.reachable_time", "Reachable time", at(8), 32).in("ms"),
                               row::decimal("icmpv6.nd.ra.retrans_timer", "Retransmission timer", at(12), 32).in("ms"),
                           });
static_assert(tiles(kRouterAdvertisementFields, kRouterAdvertisementLength));
inline constexpr auto kNdSolicitationFields =
    joined(icmpv6_start(),
           std::array{kIcmpv6Reserved, row::ipv6("icmpv6.nd.ns.target_address", "Address that is asked for", at(8))});
static_assert(tiles(kNdSolicitationFields, kNdTargetLength));
inline constexpr auto kNdAdvertisementFields =
    joined(icmpv6_start(), std::array{
                               row::hex("icmpv6.nd.na.flag", "Flags", at(4), 32),
                               row::flag("icmpv6.nd.na.flag.r", "Router", at(4)).part(),
                               row::flag("icmpv6.nd.na.flag.s", "Solicited", at(4, 1)).part(),
                               row::flag("icmpv6.nd.na.flag.o", "Override", at(4, 2)).part(),
                               row::decimal("icmpv6.nd.na.flag.rsv", "Reserved", at(4, 3), 29).part(),
                               row::ipv6("icmpv6.nd.na.target_address", "Address that is told of", at(8)),
                           });
static_assert(tiles(kNdAdvertisementFields, kNdTargetLength));
inline constexpr auto kNdRedirectFields =
    joined(icmpv6_start(),
           std::array{kIcmpv6Reserved, row::ipv6("icmpv6.nd.rd.target_address", "Better first hop", at(8)),
                      row::ipv6("icmpv6.rd.na.destination_address", "Destination that is redirected", at(24))});
static_assert(tiles(kNdRedirectFields, kNdRedirectLength));

// RFC 2710 3: queries, reports and ends of version 1.
inline constexpr auto kMldFields =
    joined(icmpv6_start(),
           std::array{row::decimal("icmpv6.mld.maximum_response_delay", "Maximum response delay", at(4), 16).in("ms"),
                      row::bytes("icmpv6.reserved", "Reserved", at(6), 16),
                      row::ipv6("icmpv6.mld.multicast_address", "Multicast address", at(8))});
static_assert(tiles(kMldFields, kMldLength));
// RFC 3810 5.2: reports of version 2, with their records.
inline constexpr auto kMldReportFields =
    joined(icmpv6_start(),
           std::array{row::bytes("icmpv6.reserved", "Reserved", at(4), 16),
                      row::decimal("icmpv6.mldr.nb_mcast_records", "Number of multicast address records", at(6), 16)});
static_assert(tiles(kMldReportFields, kIcmpv6Header));
inline constexpr std::array kMldRecordTypes{
    ValueName{1, "Mode is include"},        ValueName{2, "Mode is exclude"},   ValueName{3, "Change to include mode"},
    ValueName{4, "Change to exclude mode"}, ValueName{5, "Allow new sources"}, ValueName{6, "Block old sources"},
};
inline constexpr unsigned kShownSources = 16;  // as fields; records have a few
inline constexpr std::array kMldRecordHead{
    row::decimal("icmpv6.mldr.mar.record_type", "Type of the record", at(0), 8).named(kMldRecordTypes),
    row::decimal("icmpv6.mldr.mar.aux_data_len", "Length of the auxiliary data in units of 4 bytes", at(1), 8),
    row::decimal("icmpv6.mldr.mar.nb_sources", "Number of sources", at(2), 16),
    row::ipv6("icmpv6.mldr.mar.multicast_address", "Multicast address", at(4)),
    row::bytes("rdma.icmpv6.mldr.mar.rest", "Sources and auxiliary data", at(20), kToEnd),
};
inline constexpr std::array kMldSources = [] {
    std::array<Field, kShownSources> fields{};
    for (unsigned i = 0; i < kShownSources; ++i)
        fields[i] = row::ipv6("icmpv6.mldr.mar.source_address", "Source", at(20 + 16 * i)).part();
    return fields;
}();

// Options of neighbour discovery (RFC 4861 4.6, 3971 5.3.2): lengths count 8 bytes.
inline constexpr std::size_t kNdOptionUnit = 8;
enum class NdOption : std::uint8_t { source = 1, target = 2, prefix = 3, redirected = 4, mtu = 5, nonce = 14 };
inline constexpr std::array kNdOptionTypes{
    ValueName{1, "Source link-layer address"},
    ValueName{2, "Target link-layer address"},
    ValueName{3, "Prefix information"},
    ValueName{4, "Redirected header"},
    ValueName{5, "MTU"},
    ValueName{14, "Nonce"},
    ValueName{24, "Route information"},
    ValueName{25, "Recursive DNS server"},
    ValueName{31, "DNS search list"},
};
inline constexpr std::array kNdOptionStart{
    row::decimal("icmpv6.opt.type", "Type of the option", at(0), 8).named(kNdOptionTypes),
    row::decimal("icmpv6.opt.length", "Length of the option in units of 8 bytes", at(1), 8),
};
inline constexpr auto kNdOptionFields =
    joined(kNdOptionStart, std::array{row::bytes("icmpv6.data", "Body", at(2), kToEnd)});
static_assert(tiles(kNdOptionFields, 2));
inline constexpr auto kNdLinkAddressFields = joined(
    kNdOptionStart,
    std::array{row::mac("icmpv6.opt.linkaddr", "Link-layer address", at(2)),
               row::mac("icmpv6.opt.src_linkaddr", "Source link-layer address", at(2)).only_if(at(0), 8, 1).part(),
               row::mac("icmpv6.opt.target_linkaddr", "Target link-layer address", at(2)).only_if(at(0), 8, 2).part()});
static_assert(tiles(kNdLinkAddressFields, kNdOptionUnit));
inline constexpr std::size_t kNdPrefixLength = 32;
inline constexpr auto kNdPrefixFields = joined(
    kNdOptionStart, std::array{
                        row::decimal("icmpv6.opt.prefix.length", "Prefix length", at(2), 8),
                        row::hex("icmpv6.opt.prefix.flag", "Flags", at(3), 8),
                        row::flag("icmpv6.opt.prefix.flag.l", "On-link", at(3)).part(),
                        row::flag("icmpv6.opt.prefix.flag.a", "Autonomous address configuration", at(3, 1)).part(),
                        row::flag("icmpv6.opt.prefix.flag.r", "Router address", at(3, 2)).part(),
                        row::decimal("icmpv6.opt.prefix.flag.reserved", "Reserved", at(3, 3), 5).part(),
                        row::decimal("icmpv6.opt.prefix.valid_lifetime", "Valid lifetime", at(4), 32).in("s"),
                        row::decimal("icmpv6.opt.prefix.preferred_lifetime", "Preferred lifetime", at(8), 32).in("s"),
                        row::reserved(at(12), 32),
                        row::ipv6("icmpv6.opt.prefix", "Prefix", at(16)),
                    });
static_assert(tiles(kNdPrefixFields, kNdPrefixLength));
inline constexpr auto kNdMtuFields = joined(
    kNdOptionStart, std::array{row::reserved(at(2), 16), row::decimal("icmpv6.opt.mtu", "MTU of the link", at(4), 32)});
static_assert(tiles(kNdMtuFields, kNdOptionUnit));
inline constexpr auto kNdRedirectedFields = joined(kNdOptionStart, std::array{row::reserved(at(2), 48)});
static_assert(tiles(kNdRedirectedFields, kNdOptionUnit));
inline constexpr auto kNdNonceFields =
    joined(kNdOptionStart, std::array{row::bytes("icmpv6.opt.nonce", "Nonce", at(2), kToEnd)});
static_assert(tiles(kNdNonceFields, 2));

// The rows of a header as those of one that is quoted. A name that has no room is no constant, and does not compile.
inline constexpr std::string_view kQuoted = "rdma.quoted.";
inline constexpr std::size_t kLongestQuotedName = 64;
template <const auto& Rows>
inline constexpr auto kQuotedNames = [] {
    std::array<std::array<char, kLongestQuotedName>, Rows.size()> names{};
    for (std::size_t i = 0; i < Rows.size(); ++i) {
        std::string_view name = Rows[i].name;
        if (name.starts_with("rdma.")) name.remove_prefix(5);
        for (std::size_t c = 0; c < kQuoted.size(); ++c) names[i][c] = kQuoted[c];
        for (std::size_t c = 0; c < name.size(); ++c) names[i][kQuoted.size() + c] = name[c];
    }
    return names;
}();
template <const auto& Rows>
inline constexpr auto kQuotedFields = [] {
    std::array<Field, Rows.size()> fields{};
    for (std::size_t i = 0; i < Rows.size(); ++i) {
        fields[i] = Rows[i];
        if (fields[i].name.empty()) continue;
        const auto& letters = kQuotedNames<Rows>[i];
        std::size_t length = 0;
        while (length < letters.size() && letters[length] != '\0') ++length;
        fields[i].name = {letters.data(), length};
    }
    return fields;
}();
static_assert(named(kQuotedFields<kBthFields>, "rdma.quoted.infiniband.bth.psn").bit == at(9));

inline constexpr auto kMldRecordFields = joined(kMldRecordHead, kMldSources);
static_assert(tiles(kMldRecordFields, kMldRecordLength));

inline constexpr std::array kIcmpHeaders{
    Header{kind::icmp, "icmp", "Internet Control Message Protocol", kIcmpHeader, kIcmpOtherFields},
    Header{kind::icmp_echo, "icmp", "ICMP echo", kIcmpHeader, kIcmpEchoFields},
    Header{kind::icmp_unreachable, "icmp", "ICMP destination unreachable", kIcmpHeader, kIcmpUnreachableFields},
    Header{kind::icmp_redirect, "icmp", "ICMP redirect", kIcmpHeader, kIcmpRedirectFields},
    Header{kind::icmp_time_exceeded, "icmp", "ICMP time exceeded", kIcmpHeader, kIcmpTimeExceededFields},
    Header{kind::icmp_parameter, "icmp", "ICMP parameter problem", kIcmpHeader, kIcmpParameterFields},
    Header{kind::icmpv6, "icmpv6", "Internet Control Message Protocol version 6", 4, kIcmpv6OtherFields},
    Header{kind::icmpv6_echo, "icmpv6", "ICMPv6 echo", kIcmpv6Header, kIcmpv6EchoFields},
    Header{kind::icmpv6_unreachable, "icmpv6", "ICMPv6 destination unreachable", kIcmpv6Header,
           kIcmpv6UnreachableFields},
    Header{kind::icmpv6_too_big, "icmpv6", "ICMPv6 packet too big", kIcmpv6Header, kIcmpv6TooBigFields},
    Header{kind::icmpv6_time_exceeded, "icmpv6", "ICMPv6 time exceeded", kIcmpv6Header, kIcmpv6TimeExceededFields},
    Header{kind::icmpv6_parameter, "icmpv6", "ICMPv6 parameter problem", kIcmpv6Header, kIcmpv6ParameterFields},
    Header{kind::nd_router_solicitation, "icmpv6", "Router solicitation", kIcmpv6Header, kRouterSolicitationFields},
    Header{kind::nd_router_advertisement, "icmpv6", "Router advertisement", kRouterAdvertisementLength,
           kRouterAdvertisementFields},
    Header{kind::nd_solicitation, "icmpv6", "Neighbour solicitation", kNdTargetLength, kNdSolicitationFields},
    Header{kind::nd_advertisement, "icmpv6", "Neighbour advertisement", kNdTargetLength, kNdAdvertisementFields},
    Header{kind::nd_redirect, "icmpv6", "Redirect of neighbour discovery", kNdRedirectLength, kNdRedirectFields},
    Header{kind::mld, "icmpv6", "Multicast listener discovery", kMldLength, kMldFields},
    Header{kind::mld_report, "icmpv6", "Multicast listener report version 2", kIcmpv6Header, kMldReportFields},
    Header{kind::mld_record, "icmpv6.mldr.mar", "Multicast address record", kMldRecordLength, kMldRecordFields},
    Header{kind::nd_option, "icmpv6.opt", "Option of neighbour discovery", 2, kNdOptionFields},
    Header{kind::nd_link_address, "icmpv6.opt", "Link-layer address option", kNdOptionUnit, kNdLinkAddressFields},
    Header{kind::nd_prefix, "icmpv6.opt", "Prefix information option", kNdPrefixLength, kNdPrefixFields},
    Header{kind::nd_mtu, "icmpv6.opt", "MTU option", kNdOptionUnit, kNdMtuFields},
    Header{kind::nd_redirected, "icmpv6.opt", "Redirected header option", kNdOptionUnit, kNdRedirectedFields},
    Header{kind::nd_nonce, "icmpv6.opt", "Nonce option", 2, kNdNonceFields},
    Header{kind::quoted_ipv4, "rdma.quoted.ip", "Quoted Internet Protocol version 4", 20, kQuotedFields<kIpv4Fields>},
    Header{kind::quoted_ipv6, "rdma.quoted.ipv6", "Quoted Internet Protocol version 6", 40, kQuotedFields<kIpv6Fields>},
    Header{kind::quoted_udp, "rdma.quoted.udp", "Quoted User Datagram Protocol", 8, kQuotedFields<kUdpFields>},
    Header{kind::quoted_bth, "rdma.quoted.infiniband.bth", "Quoted Base Transport Header", 12,
           kQuotedFields<kBthFields>},
};

}  // namespace qps::dissect
