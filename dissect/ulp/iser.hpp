// iSER (RFC 7145): the header before each iSCSI PDU, which names the memory of the initiator for the data; hello
// messages; and what Linux and InfiniBand's annex A12 put into the CM's private data.
#pragma once

#include <dissect/ulp/iscsi.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind iser_control = kind_in(LayerFamily::iser, 0);
inline constexpr LayerKind iser_hello = kind_in(LayerFamily::iser, 1);
inline constexpr LayerKind iser_private = kind_in(LayerFamily::iser, 2);
}  // namespace kind

namespace iser {

inline constexpr std::size_t kHeader = 28;
inline constexpr std::size_t kPrivate = 4;
inline constexpr std::uint8_t kControlType = 1, kHello = 2, kHelloReply = 3;

inline constexpr std::array kTypes{
    ValueName{kControlType, "iSCSI control-type PDU"},
    ValueName{kHello, "hello"},
    ValueName{kHelloReply, "hello reply"},
};

// 9.3. STags and base offsets have a meaning only where their flag is set.
inline constexpr std::array kControlFields{
    row::hex("iser.flags", "Type and flags", at(0), 8),
    row::hex("iser.flags.opcode", "Type", at(0), 4).named(kTypes).part(),
    row::flag("iser.flags.wsv", "Write STag is valid", at(0, 4)).part(),
    row::flag("iser.flags.rsv", "Read STag is valid", at(0, 5)).part(),
    row::reserved(at(1), 24),
    row::hex("iser.write_stag", "Write STag: memory that the target READs", at(4), 32),
    row::hex("iser.write_base_offset", "Write base offset", at(8), 64),
    row::hex("iser.read_stag", "Read STag: memory that the target WRITEs", at(16), 32),
    row::hex("iser.read_base_offset", "Read base offset", at(20), 64),
};
static_assert(tiles(kControlFields, kHeader));

// 9.4, 9.5.
inline constexpr std::array kHelloFields{
    row::hex("iser.flags", "Type and flags", at(0), 8),
    row::hex("iser.flags.opcode", "Type", at(0), 4).named(kTypes).part(),
    row::flag("iser.flags.rej", "Rejected", at(0, 7)).part().only_if(at(0), 4, kHelloReply),
    row::decimal("rdma.iser.max_version", "Highest version", at(1), 4),
    row::decimal("rdma.iser.min_version", "Lowest version, in a reply the current one", at(1, 4), 4),
    row::hex("iser.ird", "READs that the initiator answers at a time", at(2), 16).only_if(at(0), 4, kHello),
    row::hex("iser.ord", "READs that the target has outstanding at a time", at(2), 16)
        .part()
        .only_if(at(0), 4, kHelloReply),
    row::reserved(at(4), 192),
};
static_assert(tiles(kHelloFields, kHeader));

// A12; REQ and REP alike.
inline constexpr std::array kPrivateFields{
    row::flag("rdma.iser.cm.zbva_not_supported", "No zero-based virtual addresses: not supported, or in a REP not used",
              at(0)),
    row::flag("rdma.iser.cm.send_inv_not_supported", "No SEND with Invalidate: not supported, or in a REP not used",
              at(0, 1)),
    row::reserved(at(0, 2), 30),
};
static_assert(tiles(kPrivateFields, kPrivate));

inline constexpr std::array kIserHeaders{
    Header{kind::iser_control, "iser", "iSER Header", kHeader, kControlFields},
    Header{kind::iser_hello, "rdma.iser.hello", "iSER Hello", kHeader, kHelloFields},
    Header{kind::iser_private, "rdma.iser.cm", "iSER Private Data", kPrivate, kPrivateFields},
};

}  // namespace iser

}  // namespace qps::dissect
