// Field tables of RDS over RC (Linux: include/uapi/linux/rds.h, net/rds/ib): the header in front of every fragment, and
// what both sides say of themselves in the private data of the connection manager. All of it is big-endian.
#pragma once

#include <dissect/base/field.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind rds_header = kind_in(LayerFamily::rds, 0);
inline constexpr LayerKind rds_extension = kind_in(LayerFamily::rds, 1);
inline constexpr LayerKind rds_connect = kind_in(LayerFamily::rds, 2);
inline constexpr LayerKind rds_connect_ipv6 = kind_in(LayerFamily::rds, 3);
}  // namespace kind

// Port 1 is where RDS itself asks what the other side can do.
inline constexpr std::array kRdsPorts{ValueName{0, "RDS"}, ValueName{1, "PROBE"}};

inline constexpr std::array kRdsFields{
    row::decimal("rdma.rds.sequence", "Sequence number of the message, 0 of what needs no acknowledgment", at(0), 64),
    row::decimal("rdma.rds.ack", "Newest message received, of the other side's sequence numbers", at(8), 64),
    row::decimal("rdma.rds.len", "Length of the whole message", at(16), 32).in("bytes"),
    row::decimal("rdma.rds.sport", "Source port", at(20), 16).named(kRdsPorts),
    row::decimal("rdma.rds.dport", "Destination port", at(22), 16).named(kRdsPorts),
    row::hex("rdma.rds.flags", "Flags", at(24), 8),
    row::flag("rdma.rds.flags.retransmitted", "Retransmitted: sent before on an earlier connection", at(24, 5)).part(),
    row::flag("rdma.rds.flags.ack_required", "Acknowledgment wanted", at(24, 6)).part(),
    row::flag("rdma.rds.flags.congestion_map", "Congestion map: which ports of the sender are full", at(24, 7)).part(),
    row::decimal("rdma.rds.credit", "Send credits given", at(25), 8),
    row::reserved(at(26), 32),
    row::hex("rdma.rds.checksum", "Checksum of the header", at(30), 16),
};
inline constexpr std::size_t kRdsFixed = 32;
static_assert(tiles(kRdsFields, kRdsFixed));
inline constexpr std::size_t kRdsExtensionArea = 16;
inline constexpr std::size_t kRdsHeader = kRdsFixed + kRdsExtensionArea;  // in front of every fragment

enum class RdsExtension : std::uint8_t { none, version, rdma, rdma_destination, paths = 5, generation = 6 };
inline constexpr std::array kRdsExtensions{ValueName{0, "NONE"},      ValueName{1, "VERSION"}, ValueName{2, "RDMA"},
                                           ValueName{3, "RDMA_DEST"}, ValueName{5, "NPATHS"},  ValueName{6, "GEN_NUM"}};

inline constexpr std::array kRdsExtensionFields{
    row::decimal("rdma.rds.extension.type", "Type of the extension", at(0), 8).named(kRdsExtensions),
    row::bytes("rdma.rds.extension.value", "Value of the extension", at(1), kToEnd),
    row::decimal("rdma.rds.extension.version", "Version", at(1), 32).only_if(at(0), 8, 1).part(),
    row::hex("rdma.rds.extension.rdma_r_key", "Key of the memory of the RDMA READ or WRITE before", at(1), 32)
        .only_if(at(0), 8, 2)
        .part(),
    row::hex("rdma.rds.extension.r_key", "Key of the offered memory", at(1), 32).only_if(at(0), 8, 3).part(),
    row::decimal("rdma.rds.extension.offset", "Offset into the offered memory", at(5), 32).only_if(at(0), 8, 3).part(),
    row::decimal("rdma.rds.extension.paths", "Connections that may be used beside each other", at(1), 16)
        .only_if(at(0), 8, 5)
        .part(),
    row::decimal("rdma.rds.extension.generation", "Generation: another one after a restart", at(1), 32)
        .only_if(at(0), 8, 6)
        .part(),
};
static_assert(tiles(kRdsExtensionFields, 1));

// What both forms share, behind the addresses.
template <std::uint16_t kAt>
inline constexpr std::array kRdsConnectRest{
    row::decimal("rdma.rds.connect.major", "Major version", at(kAt), 8),
    row::decimal("rdma.rds.connect.minor", "Minor version", at(kAt + 1), 8),
    row::hex("rdma.rds.connect.minor_mask", "Minor versions offered, a bit each", at(kAt + 2), 16),
    row::decimal("rdma.rds.connect.tos", "Type of service of the connection", at(kAt + 4), 8),
    row::reserved(at(kAt + 5), 24),
    row::decimal("rdma.rds.connect.ack", "Newest message received on an earlier connection", at(kAt + 8), 64),
    row::decimal("rdma.rds.connect.credit", "Send credits given, 0: no flow control", at(kAt + 16), 32),
};

template <std::size_t N, std::size_t M>
[[nodiscard]] consteval std::array<Field, N + M> with_rest(const std::array<Field, N>& first,
                                                           const std::array<Field, M>& rest) {
    std::array<Field, N + M> all{};
    std::copy(first.begin(), first.end(), all.begin());
    std::copy(rest.begin(), rest.end(), all.begin() + N);
    return all;
}

inline constexpr std::uint16_t kRdsAddressesIpv4 = 8, kRdsAddressesIpv6 = 32, kRdsRest = 20;
inline constexpr std::array kRdsConnectFields =
    with_rest(std::array{row::ipv4("rdma.rds.connect.saddr", "Source address", at(0)),
                         row::ipv4("rdma.rds.connect.daddr", "Destination address", at(4))},
              kRdsConnectRest<kRdsAddressesIpv4>);
static_assert(tiles(kRdsConnectFields, kRdsAddressesIpv4 + kRdsRest));
inline constexpr std::array kRdsConnectIpv6Fields =
    with_rest(std::array{row::ipv6("rdma.rds.connect.saddr6", "Source address", at(0)),
                         row::ipv6("rdma.rds.connect.daddr6", "Destination address", at(16))},
              kRdsConnectRest<kRdsAddressesIpv6>);
static_assert(tiles(kRdsConnectIpv6Fields, kRdsAddressesIpv6 + kRdsRest));

inline constexpr std::array kRdsHeaders{
    Header{kind::rds_header, "rdma.rds", "RDS header", kRdsFixed, kRdsFields},
    Header{kind::rds_extension, "rdma.rds.extension", "RDS extension", 1, kRdsExtensionFields},
    Header{kind::rds_connect, "rdma.rds.connect", "RDS connection", kRdsAddressesIpv4 + kRdsRest, kRdsConnectFields},
    Header{kind::rds_connect_ipv6, "rdma.rds.connect6", "RDS connection over IPv6", kRdsAddressesIpv6 + kRdsRest,
           kRdsConnectIpv6Fields},
};

// Whether a message begins with a header of RDS: its checksum is right (that of IP, over all of it), and what is
// reserved is zero.
[[nodiscard]] bool is_rds_header(Bytes message);
// Whether private data is of RDS, and in which form; `rds_header` where it is not.
[[nodiscard]] LayerKind rds_connect_kind(Bytes private_data);

}  // namespace qps::dissect
