// Field tables of what Intel's message passing (PSM2) sends in 9B packets: behind the BTH the key datagram header, by
// which adapters place data, then PSM2's own (hfi1's KDETH_*, struct ips_message_header of opa-psm2). Little-endian,
// unlike what carries it.
#pragma once

#include <dissect/headers/infiniband.hpp>

#include <array>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind opa_kdeth = kind_in(LayerFamily::omni_path, 18);
inline constexpr LayerKind opa_psm = kind_in(LayerFamily::omni_path, 19);
}  // namespace kind

// In the place of the opcode of a BTH.
inline constexpr std::uint64_t kPsmFirst = 0xc1, kPsmLast = 0xd4;
inline constexpr std::array kPsmOpcodes{
    ValueName{0xc1, "PSM2_TINY"},
    ValueName{0xc2, "PSM2_SHORT"},
    ValueName{0xc3, "PSM2_EAGER"},
    ValueName{0xc4, "PSM2_LONG_RTS"},
    ValueName{0xc5, "PSM2_LONG_CTS"},
    ValueName{0xc6, "PSM2_LONG_DATA"},
    ValueName{0xc7, "PSM2_EXPTID"},
    ValueName{0xc8, "PSM2_EXPTID_COMPLETION"},
    ValueName{0xc9, "PSM2_ACK"},
    ValueName{0xca, "PSM2_NAK"},
    ValueName{0xcb, "PSM2_BECN"},
    ValueName{0xcc, "PSM2_ERR_CHK"},
    ValueName{0xcd, "PSM2_ERR_CHK_GEN"},
    ValueName{0xce, "PSM2_CONNECT_REQUEST"},
    ValueName{0xcf, "PSM2_CONNECT_REPLY"},
    ValueName{0xd0, "PSM2_DISCONNECT_REQUEST"},
    ValueName{0xd1, "PSM2_DISCONNECT_REPLY"},
    ValueName{0xd2, "PSM2_AM_REQUEST_NOREPLY"},
    ValueName{0xd3, "PSM2_AM_REQUEST"},
    ValueName{0xd4, "PSM2_AM_REPLY"},
};

inline constexpr std::uint64_t kKdethVersion = 1;
inline constexpr std::array kOpaKdethFields{
    row::hex("opa.kdeth.offset", "Offset in the memory", at(0), 15).le(),
    row::flag("opa.kdeth.offsetmode", "The offset counts 64 bytes, not 4", at(0, 15)).le(),
    row::hex("opa.kdeth.tid", "Token of the memory", at(0, 16), 10).le(),
    row::hex("opa.kdeth.tidctrl", "Which of a pair of tokens", at(0, 26), 2).le(),
    row::flag("opa.kdeth.intr", "Interrupt", at(0, 28)).le(),
    row::flag("opa.kdeth.sh", "The header is suppressed", at(0, 29)).le(),
    row::hex("opa.kdeth.kver", "Version", at(0, 30), 2).le(),
    row::hex("opa.kdeth.j_key", "Key of the job", at(4), 16).le(),
    row::hex("opa.kdeth.hcrc", "CRC of the headers, which is not checked", at(6), 16).le(),
};
static_assert(tiles(kOpaKdethFields, 8));

inline constexpr std::array kOpaPsmFields{
    row::hex("opa.psm.flags", "Flags", at(0), 6).le(),
    row::hex("opa.psm.commidx", "Connection, as the receiver calls it", at(0, 6), 26).le(),
    row::decimal("opa.psm.ackpsn", "The sender expects", at(4), 31).le(),
    row::flag("rdma.psm.reserved", "Reserved", at(4, 31)).le(),
    row::bytes("rdma.psm.data", "Tag and data of a message, or what belongs to the opcode", at(8), 160),
};
static_assert(tiles(kOpaPsmFields, 28));

inline constexpr std::array kOpaPsmHeaders{
    Header{kind::opa_kdeth, "opa.kdeth", "Key Datagram Extended Transport Header, Omni-Path", 8, kOpaKdethFields},
    Header{kind::opa_psm, "opa.psm", "PSM2", 28, kOpaPsmFields},
};

}  // namespace qps::dissect
