// Field tables of what a host says besides RDMA: ICMP echo (RFC 792), ICMPv6 and neighbour discovery (RFC 4443, 4861),
// IGMP (RFC 2236, 3376) and MLD (RFC 2710, 3810): as much as the host must write and understand.
#pragma once

#include <dissect/base/field.hpp>
#include <dissect/headers/icmp_types.hpp>

namespace qps::transport::live {

using dissect::IcmpType;
using dissect::Icmpv6Type;

enum class IgmpType : std::uint8_t { query = 0x11, report_2 = 0x16, leave_2 = 0x17, report_3 = 0x22 };

// What a report of version 3 (MLD: 2) says of a group (RFC 3376, 4.2.12).
enum class GroupRecord : std::uint8_t { is_exclude = 2, to_include = 3, to_exclude = 4 };

inline constexpr std::uint8_t kIgmpProtocol = 2;
inline constexpr std::uint8_t kIcmpProtocol = 1;

// The first four bytes of ICMP, ICMPv6 and both reports.
inline constexpr std::array kIcmpFields{
    dissect::row::decimal("icmp.type", "Type", dissect::at(0), 8),
    dissect::row::decimal("icmp.code", "Code", dissect::at(1), 8),
    dissect::row::hex("icmp.checksum", "Checksum", dissect::at(2), 16),
};
inline constexpr std::size_t kIcmpLength = 4;
static_assert(dissect::tiles(kIcmpFields, kIcmpLength));

// Solicitation and advertisement alike, after the first four bytes too; the flags are the advertisement's.
inline constexpr std::array kNeighbourFields{
    dissect::row::decimal("icmpv6.type", "Type", dissect::at(0), 8),
    dissect::row::decimal("icmpv6.code", "Code", dissect::at(1), 8),
    dissect::row::hex("icmpv6.checksum", "Checksum", dissect::at(2), 16),
    dissect::row::flag("icmpv6.nd.na.flag.r", "The sender is a router", dissect::at(4, 0)),
    dissect::row::flag("icmpv6.nd.na.flag.s", "Sent because it was asked for", dissect::at(4, 1)),
    dissect::row::flag("icmpv6.nd.na.flag.o", "Overrides what is known", dissect::at(4, 2)),
    dissect::row::reserved(dissect::at(4, 3), 29),
    dissect::row::ipv6("icmpv6.nd.target", "Address that is asked for or told", dissect::at(8)),
};
inline constexpr std::size_t kNeighbourLength = 24;
static_assert(dissect::tiles(kNeighbourFields, kNeighbourLength));

// The option with a MAC address; lengths count 8 bytes.
enum class NeighbourOption : std::uint8_t { source_mac = 1, target_mac = 2 };
inline constexpr std::array kMacOptionFields{
    dissect::row::decimal("icmpv6.opt.type", "Type", dissect::at(0), 8),
    dissect::row::decimal("icmpv6.opt.length", "Length", dissect::at(1), 8).times(8).in("bytes"),
    dissect::row::mac("icmpv6.opt.linkaddr", "MAC address", dissect::at(2)),
};
inline constexpr std::size_t kMacOptionLength = 8;
static_assert(dissect::tiles(kMacOptionFields, kMacOptionLength));

// Query of any version, report and leave of version 2.
inline constexpr std::array kIgmpFields{
    dissect::row::hex("igmp.type", "Type", dissect::at(0), 8),
    dissect::row::decimal("igmp.max_resp", "Time to answer, in tenths of a second", dissect::at(1), 8),
    dissect::row::hex("igmp.checksum", "Checksum", dissect::at(2), 16),
    dissect::row::ipv4("igmp.maddr", "Group; 0 of a general query", dissect::at(4)),
};
inline constexpr std::size_t kIgmpLength = 8;
static_assert(dissect::tiles(kIgmpFields, kIgmpLength));

inline constexpr std::size_t kIgmp3QueryLength = 12;  // at least: so versions are told apart (RFC 3376, 7.1)

// IGMPv3 and MLDv2 alike, before the records.
inline constexpr std::array kReportFields{
    dissect::row::hex("report.type", "Type", dissect::at(0), 8),
    dissect::row::reserved(dissect::at(1), 8),
    dissect::row::hex("report.checksum", "Checksum", dissect::at(2), 16),
    dissect::row::reserved(dissect::at(4), 16),
    dissect::row::decimal("report.records", "Group records that follow", dissect::at(6), 16),
};
inline constexpr std::size_t kReportLength = 8;
static_assert(dissect::tiles(kReportFields, kReportLength));

inline constexpr std::array kIgmpRecordFields{
    dissect::row::decimal("record.type", "What is said of the group", dissect::at(0), 8),
    dissect::row::decimal("record.aux_length", "Auxiliary data, in units of 4 bytes", dissect::at(1), 8),
    dissect::row::decimal("record.sources", "Source addresses that follow", dissect::at(2), 16),
    dissect::row::ipv4("record.group", "Group", dissect::at(4)),
};
inline constexpr std::size_t kIgmpRecordLength = 8;
static_assert(dissect::tiles(kIgmpRecordFields, kIgmpRecordLength));

inline constexpr std::array kMldRecordFields{
    dissect::row::decimal("record.type", "What is said of the group", dissect::at(0), 8),
    dissect::row::decimal("record.aux_length", "Auxiliary data, in units of 4 bytes", dissect::at(1), 8),
    dissect::row::decimal("record.sources", "Source addresses that follow", dissect::at(2), 16),
    dissect::row::ipv6("record.group", "Group", dissect::at(4)),
};
inline constexpr std::size_t kMldRecordLength = 20;
static_assert(dissect::tiles(kMldRecordFields, kMldRecordLength));

// Query of any version, report and done of version 1.
inline constexpr std::array kMldFields{
    dissect::row::decimal("mld.type", "Type", dissect::at(0), 8),
    dissect::row::decimal("mld.code", "Code", dissect::at(1), 8),
    dissect::row::hex("mld.checksum", "Checksum", dissect::at(2), 16),
    dissect::row::decimal("mld.max_resp", "Time to answer, in milliseconds", dissect::at(4), 16),
    dissect::row::reserved(dissect::at(6), 16),
    dissect::row::ipv6("mld.maddr", "Group; none of a general query", dissect::at(8)),
};
inline constexpr std::size_t kMldLength = 24;
static_assert(dissect::tiles(kMldFields, kMldLength));

inline constexpr std::size_t kMld2QueryLength = 28;  // at least (RFC 3810, 8.1)

// A router looks at the packet although it is not addressed to it: an option of IPv4 (RFC 2113), and of IPv6 (RFC 2711)
// with its header and padding. Constant bytes without a field that anybody would set.
inline constexpr std::array kIpv4RouterAlert{std::byte{0x94}, std::byte{0x04}, std::byte{0x00}, std::byte{0x00}};
inline constexpr std::array kIpv6RouterAlert{std::byte{0x05}, std::byte{0x02}, std::byte{0x00}, std::byte{0x00},
                                             std::byte{0x01}, std::byte{0x00}};  // MLD; PadN of two bytes

}  // namespace qps::transport::live
