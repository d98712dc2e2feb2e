// Field tables of iWARP: MPA (RFC 5044, RFC 6581), DDP (RFC 5041), RDMAP (RFC 5040, RFC 7306), as they lie in a TCP
// stream.
//
// An FPDU is: its length, a DDP segment, a pad, a CRC; where an end asked for them there is a marker every 512 bytes of
// the stream, in the middle of whatever it meets. A header that a marker cuts in two is shown as far as the marker.
#pragma once

#include <dissect/base/field.hpp>

#include <array>
#include <utility>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind mpa_request = kind_in(LayerFamily::iwarp, 0);
inline constexpr LayerKind mpa_reply = kind_in(LayerFamily::iwarp, 1);
inline constexpr LayerKind mpa_enhanced = kind_in(LayerFamily::iwarp, 2);
inline constexpr LayerKind mpa_fpdu = kind_in(LayerFamily::iwarp, 3);
inline constexpr LayerKind mpa_marker = kind_in(LayerFamily::iwarp, 4);
inline constexpr LayerKind mpa_pad = kind_in(LayerFamily::iwarp, 5);
inline constexpr LayerKind mpa_crc = kind_in(LayerFamily::iwarp, 6);
inline constexpr LayerKind mpa_crc_unused = kind_in(LayerFamily::iwarp, 7);
inline constexpr LayerKind ddp_tagged = kind_in(LayerFamily::iwarp, 8);
inline constexpr LayerKind ddp_untagged = kind_in(LayerFamily::iwarp, 9);
inline constexpr LayerKind rdmap = kind_in(LayerFamily::iwarp, 10);
inline constexpr LayerKind rdmap_invalidate = kind_in(LayerFamily::iwarp, 11);
inline constexpr LayerKind rdmap_read_request = kind_in(LayerFamily::iwarp, 12);
inline constexpr LayerKind rdmap_terminate = kind_in(LayerFamily::iwarp, 13);
inline constexpr LayerKind rdmap_atomic_request = kind_in(LayerFamily::iwarp, 14);
inline constexpr LayerKind rdmap_atomic_response = kind_in(LayerFamily::iwarp, 15);
inline constexpr LayerKind rdmap_immediate = kind_in(LayerFamily::iwarp, 16);
inline constexpr LayerKind legacy_depths = kind_in(LayerFamily::iwarp, 17);
inline constexpr LayerKind legacy_depths_turned = kind_in(LayerFamily::iwarp, 18);
}  // namespace kind

// RDMAP opcodes (RFC 5040 figure 4, RFC 7306 figure 2).
enum class RdmapOpcode : std::uint8_t {
    write,
    read_request,
    read_response,
    send,
    send_invalidate,
    send_solicited,
    send_solicited_invalidate,
    terminate,
    immediate,
    immediate_solicited,
    atomic_request,
    atomic_response,
};
inline constexpr std::array kRdmapOpcodeNames{
    ValueName{0, "WRITE"},        ValueName{1, "READ_REQUEST"},    ValueName{2, "READ_RESPONSE"},
    ValueName{3, "SEND"},         ValueName{4, "SEND_INV"},        ValueName{5, "SEND_SE"},
    ValueName{6, "SEND_SE_INV"},  ValueName{7, "TERMINATE"},       ValueName{8, "IMMEDIATE"},
    ValueName{9, "IMMEDIATE_SE"}, ValueName{10, "ATOMIC_REQUEST"}, ValueName{11, "ATOMIC_RESPONSE"},
};

// What a Terminate says (RFC 5040 4.8, RFC 5041 8.2, RFC 5044 8, RFC 6581 9.2).
inline constexpr std::array kTerminateLayerNames{ValueName{0, "RDMAP"}, ValueName{1, "DDP"}, ValueName{2, "MPA"}};
inline constexpr std::array kRdmapErrorTypes{
    ValueName{0, "local catastrophic error"},
    ValueName{1, "remote protection error"},
    ValueName{2, "remote operation error"},
};
inline constexpr std::array kDdpErrorTypes{
    ValueName{0, "local catastrophic error"},
    ValueName{1, "tagged buffer error"},
    ValueName{2, "untagged buffer error"},
    ValueName{3, "reserved for the layer below"},
};
inline constexpr std::array kMpaErrorTypes{ValueName{0, "MPA error"}};
inline constexpr std::array kRdmapErrorCodes{
    ValueName{0x00, "invalid STag"},
    ValueName{0x01, "base or bounds violation"},
    ValueName{0x02, "access rights violation"},
    ValueName{0x03, "STag not associated with the stream"},
    ValueName{0x04, "tagged offset wraps"},
    ValueName{0x05, "invalid RDMAP version"},
    ValueName{0x06, "unexpected opcode"},
    ValueName{0x07, "catastrophic error of the stream"},
    ValueName{0x08, "catastrophic error of the device"},
    ValueName{0x09, "STag cannot be invalidated"},
    ValueName{0xff, "unspecified error"},
};
inline constexpr std::array kTaggedErrorCodes{
    ValueName{0x00, "invalid STag"},
    ValueName{0x01, "base or bounds violation"},
    ValueName{0x02, "STag not associated with the stream"},
    ValueName{0x03, "tagged offset wraps"},
    ValueName{0x04, "invalid DDP version"},
};
inline constexpr std::array kUntaggedErrorCodes{
    ValueName{0x01, "invalid queue number"},
    ValueName{0x02, "no buffer available"},
    ValueName{0x03, "message sequence number out of range"},
    ValueName{0x04, "invalid message offset"},
    ValueName{0x05, "message too long for the buffer"},
    ValueName{0x06, "invalid DDP version"},
};
inline constexpr std::array kMpaErrorCodes{
    ValueName{0x01, "TCP connection closed, terminated or lost"},
    ValueName{0x02, "CRC wrong"},
    ValueName{0x03, "marker and length do not agree"},
    ValueName{0x04, "invalid MPA request or reply"},
    ValueName{0x05, "local catastrophic error"},
    ValueName{0x06, "insufficient IRD"},
    ValueName{0x07, "no matching ready-to-receive message"},
};

inline constexpr std::array kAtomicOpcodeNames{ValueName{0, "FETCH_ADD"}, ValueName{1, "SWAP"},
                                               ValueName{2, "CMP_SWAP"}};

// The flags of a request and a reply are the same (RFC 5044 7.1.1, RFC 6581 6).
namespace mpa_rows {
inline constexpr std::size_t kFlags = 16;  // byte
inline constexpr std::array kFollowing{
    row::flag("iwarp_mpa.marker_flag", "Markers: its sender wants to receive them", at(kFlags, 0)),
    row::flag("iwarp_mpa.crc_flag", "CRC: its sender wants CRCs to be checked", at(kFlags, 1)),
    row::flag("iwarp_mpa.rej_flag", "Rejected: the connection is refused", at(kFlags, 2)),
    row::hex("iwarp_mpa.res", "Reserved, and the flag of enhanced connections", at(kFlags, 3), 5),
    row::flag("rdma.iwarp.enhanced", "Enhanced: the private data starts with READ depths (RFC 6581)", at(kFlags, 3))
        .part(),
    row::decimal("iwarp_mpa.rev", "MPA revision", at(17), 8),
    row::decimal("iwarp_mpa.pdlength", "Private data length", at(18), 16).in("bytes"),
    row::bytes("iwarp_mpa.privatedata", "Private data", at(20), kToEnd),
};
[[nodiscard]] constexpr auto with_key(const Field& key) {
    std::array<Field, kFollowing.size() + 1> fields{};
    fields[0] = key;
    for (std::size_t i = 0; i < kFollowing.size(); ++i) fields[i + 1] = kFollowing[i];
    return fields;
}
}  // namespace mpa_rows

inline constexpr std::size_t kMpaSetUpLength = 20;
inline constexpr auto kMpaRequestFields =
    mpa_rows::with_key(row::bytes("iwarp_mpa.key.req", "Key of a request", at(0), 128));
inline constexpr auto kMpaReplyFields =
    mpa_rows::with_key(row::bytes("iwarp_mpa.key.rep", "Key of a reply", at(0), 128));
static_assert(tiles(kMpaRequestFields, kMpaSetUpLength) && tiles(kMpaReplyFields, kMpaSetUpLength));

inline constexpr std::array kMpaEnhancedFields{
    row::flag("rdma.iwarp.peer_to_peer", "Peer to peer: the active side sends first", at(0, 0)),
    row::flag("rdma.iwarp.rtr_send", "Ready to receive is signalled by an empty SEND", at(0, 1)),
    row::decimal("rdma.iwarp.ird", "IRD, READs it answers at a time, 16383 leaves it open", at(0, 2), 14),
    row::flag("rdma.iwarp.rtr_write", "Ready to receive is signalled by an empty WRITE", at(2, 0)),
    row::flag("rdma.iwarp.rtr_read", "Ready to receive is signalled by an empty READ", at(2, 1)),
    row::decimal("rdma.iwarp.ord", "ORD, READs it wants to have outstanding, 16383 leaves it open", at(2, 2), 14),
};
static_assert(tiles(kMpaEnhancedFields, 4));

// Private data of consumers that know nothing of RFC 6581, as SMB Direct of Linux sends them: in network order, older
// ones in the order of little-endian hosts.
namespace mpa_rows {
inline constexpr Field kLegacyIrd =
    row::decimal("rdma.iwarp.legacy_ird", "IRD as consumers without RFC 6581 send it", at(0), 32);
inline constexpr Field kLegacyOrd =
    row::decimal("rdma.iwarp.legacy_ord", "ORD as consumers without RFC 6581 send it", at(4), 32);
}  // namespace mpa_rows
inline constexpr std::size_t kLegacyDepthsLength = 8;
inline constexpr std::array kLegacyDepthsFields{mpa_rows::kLegacyIrd, mpa_rows::kLegacyOrd};
inline constexpr std::array kLegacyDepthsTurnedFields{mpa_rows::kLegacyIrd.le(), mpa_rows::kLegacyOrd.le()};
static_assert(tiles(kLegacyDepthsFields, kLegacyDepthsLength) && tiles(kLegacyDepthsTurnedFields, kLegacyDepthsLength));

inline constexpr std::array kMpaFpduFields{
    row::decimal("iwarp_mpa.ulpdulength", "ULPDU length", at(0), 16).in("bytes"),
};
static_assert(tiles(kMpaFpduFields, 2));

inline constexpr std::array kMpaMarkerFields{
    row::hex("iwarp_mpa.marker_res", "Reserved bits of a marker", at(0), 16),
    row::decimal("iwarp_mpa.marker_fpduptr", "FPDU pointer: bytes back to the start of its FPDU", at(2), 16)
        .in("bytes"),
};
static_assert(tiles(kMpaMarkerFields, 4));

inline constexpr std::array kMpaPadFields{row::bytes("iwarp_mpa.pad", "Padding", at(0), kToEnd)};

namespace iwarp {
std::optional<Value> crc_status(const Packet& packet, const Layer& layer);
std::optional<Value> crc_expected(const Packet& packet, const Layer& layer);
std::optional<Value> terminated_ddp(const Packet& packet, const Layer& layer);
std::optional<Value> terminated_rdmap(const Packet& packet, const Layer& layer);

// As CrcStatus counts them.
inline constexpr std::array kCrcVerdicts{ValueName{1, "good"}, ValueName{2, "bad"}, ValueName{3, "not_checkable"}};
}  // namespace iwarp

inline constexpr std::array kMpaCrcFields{
    row::hex("iwarp_mpa.crc_check", "CRC-32C", at(0), 32),
    row::computed("rdma.iwarp.crc.status", "Verdict on the CRC", Format::decimal, iwarp::crc_status)
        .named(iwarp::kCrcVerdicts),
    row::computed("rdma.iwarp.crc.expected", "Expected CRC, where the CRC is wrong", Format::hexadecimal,
                  iwarp::crc_expected)
        .of_bits(32),
};
static_assert(tiles(kMpaCrcFields, 4));

inline constexpr std::array kMpaCrcUnusedFields{row::hex("iwarp_mpa.crc", "CRC, unused", at(0), 32)};
static_assert(tiles(kMpaCrcUnusedFields, 4));

inline constexpr std::array kDdpTaggedFields{
    row::flag("iwarp_ddp.tagged_flag", "Tagged: the segment names memory by an STag", at(0, 0)),
    row::flag("iwarp_ddp.last_flag", "Last segment of its message", at(0, 1)),
    row::hex("iwarp_ddp.rsvd", "Reserved bits of DDP", at(0, 2), 4),
    row::decimal("iwarp_ddp.dv", "DDP version", at(0, 6), 2),
    row::bytes("iwarp_ddp.rsvdulp", "Reserved for RDMAP", at(1), 8),
    row::hex("iwarp_ddp.stag", "Steering tag (STag) of the memory to write", at(2), 32),
    row::hex("iwarp_ddp.tagged_offset", "Tagged offset, where in that memory", at(6), 64),
};
static_assert(tiles(kDdpTaggedFields, 14));

inline constexpr std::array kDdpUntaggedFields{
    row::flag("iwarp_ddp.tagged_flag", "Tagged: the segment names memory by an STag", at(0, 0)),
    row::flag("iwarp_ddp.last_flag", "Last segment of its message", at(0, 1)),
    row::hex("iwarp_ddp.rsvd", "Reserved bits of DDP", at(0, 2), 4),
    row::decimal("iwarp_ddp.dv", "DDP version", at(0, 6), 2),
    row::bytes("iwarp_ddp.rsvdulp", "Reserved for RDMAP", at(1), 40),
    row::decimal("iwarp_ddp.qn", "Queue number: 0 SENDs, 1 READ and atomic requests, 2 Terminate, 3 atomic responses",
                 at(6), 32),
    row::decimal("iwarp_ddp.msn", "Message sequence number, counted by queue from 1", at(10), 32),
    row::decimal("iwarp_ddp.mo", "Message offset of the segment", at(14), 32).in("bytes"),
};
static_assert(tiles(kDdpUntaggedFields, 18));

// These bytes are those that DDP leaves to RDMAP: one of a tagged segment, five of an untagged one.
namespace rdmap_rows {
inline constexpr Field kVersion = row::decimal("iwarp_rdma.version", "RDMAP version", at(0, 0), 2);
inline constexpr Field kReserved = row::hex("iwarp_rdma.rsv", "Reserved bits of RDMAP", at(0, 2), 2);
inline constexpr Field kOpcode =
    row::decimal("iwarp_rdma.opcode", "RDMAP opcode", at(0, 4), 4).named(kRdmapOpcodeNames);
}  // namespace rdmap_rows

inline constexpr std::array kRdmapFields{
    rdmap_rows::kVersion,
    rdmap_rows::kReserved,
    rdmap_rows::kOpcode,
    row::bytes("iwarp_rdma.reserved", "Reserved word of RDMAP", at(1), kToEnd),
};
static_assert(tiles(kRdmapFields, 1));

inline constexpr std::array kRdmapInvalidateFields{
    rdmap_rows::kVersion,
    rdmap_rows::kReserved,
    rdmap_rows::kOpcode,
    row::decimal("iwarp_rdma.inval_stag", "STag to invalidate", at(1), 32),
};
static_assert(tiles(kRdmapInvalidateFields, 5));

inline constexpr std::array kRdmapReadRequestFields{
    row::hex("iwarp_rdma.sinkstag", "Sink STag, of the memory that the data goes to", at(0), 32),
    row::hex("iwarp_rdma.sinkto", "Sink offset", at(4), 64),
    row::decimal("iwarp_rdma.rdmardsz", "Length of the READ", at(12), 32).in("bytes"),
    row::hex("iwarp_rdma.srcstag", "Source STag, of the memory to read", at(16), 32),
    row::hex("iwarp_rdma.srcto", "Source offset", at(20), 64),
};
static_assert(tiles(kRdmapReadRequestFields, 28));

namespace terminate_rows {
inline constexpr std::uint16_t kWhich = at(0), kWhichBits = 8;  // layer and error type
inline constexpr std::uint64_t kTagged = 0x11, kUntagged = 0x12;
inline constexpr std::uint16_t kLayer = at(0), kLayerBits = 4;
[[nodiscard]] constexpr Field type(std::string_view name, std::uint64_t layer, std::span<const ValueName> names) {
    return row::hex(name, "Error type", at(0, 4), 4).named(names).only_if(kLayer, kLayerBits, layer);
}
[[nodiscard]] constexpr Field code(std::string_view name, std::uint64_t which, std::span<const ValueName> names) {
    return row::hex(name, "Error code", at(1), 8).named(names).only_if(kWhich, kWhichBits, which).part();
}
}  // namespace terminate_rows

inline constexpr std::array kRdmapTerminateFields{
    row::hex("iwarp_rdma.term_layer", "Layer that found the error", at(0), 4).named(kTerminateLayerNames),
    terminate_rows::type("iwarp_rdma.term_etype_rdma", 0, kRdmapErrorTypes),
    terminate_rows::type("iwarp_rdma.term_etype_ddp", 1, kDdpErrorTypes).part(),
    terminate_rows::type("iwarp_rdma.term_etype_llp", 2, kMpaErrorTypes).part(),
    row::hex("iwarp_rdma.term_errcode_rdma", "Error code", at(1), 8)
        .named(kRdmapErrorCodes)
        .only_if(terminate_rows::kLayer, terminate_rows::kLayerBits, 0),
    terminate_rows::code("iwarp_rdma.term_errcode_ddp_tagged", terminate_rows::kTagged, kTaggedErrorCodes),
    terminate_rows::code("iwarp_rdma.term_errcode_ddp_untagged", terminate_rows::kUntagged, kUntaggedErrorCodes),
    terminate_rows::code("iwarp_rdma.term_errcode_llp", 0x20, kMpaErrorCodes),
    row::flag("iwarp_rdma.term_hdrct_m", "The length of the segment follows", at(2, 0)),
    row::flag("iwarp_rdma.hdrct_d", "The DDP header of the segment follows", at(2, 1)),
    row::flag("iwarp_rdma.hdrct_r", "The RDMAP header of the segment follows", at(2, 2)),
    row::hex("iwarp_rdma.term_rsvd", "Reserved bits of a Terminate", at(2, 3), 13),
    row::bytes("rdma.iwarp.terminated", "What it was about: length and headers of the segment", at(4), kToEnd),
    row::bytes("iwarp_rdma.term_ddp_seg_len", "Length of the segment", at(4), 16).only_if(at(2, 0), 1, 1).part(),
    row::computed("iwarp_rdma.term_ddp_h", "DDP header of the segment", Format::bytes, iwarp::terminated_ddp),
    row::computed("iwarp_rdma.term_rdma_h", "RDMAP header of the segment", Format::bytes, iwarp::terminated_rdmap),
};
static_assert(tiles(kRdmapTerminateFields, 4));

namespace atomic_rows {
inline constexpr std::uint16_t kOpcode = at(3, 4), kOpcodeBits = 4;
[[nodiscard]] constexpr Field of(const Field& field, std::uint64_t opcode) {
    return field.only_if(kOpcode, kOpcodeBits, opcode);
}
inline constexpr Field kSwap = row::decimal("iwarp_rdma.atomic.swap_data", "Swap data", at(20), 64);
inline constexpr Field kSwapMask = row::hex("iwarp_rdma.atomic.swap_mask", "Swap mask", at(28), 64);
}  // namespace atomic_rows

inline constexpr std::array kRdmapAtomicRequestFields{
    row::decimal("iwarp_rdma.atomic.reserved", "Reserved bits of an atomic", at(0), 28),
    row::decimal("iwarp_rdma.atomic.opcode", "Atomic operation", at(3, 4), 4).named(kAtomicOpcodeNames),
    row::decimal("iwarp_rdma.atomic.request_identifier", "Request identifier", at(4), 32),
    row::decimal("iwarp_rdma.atomic.remote_stag", "Remote STag", at(8), 32),
    row::decimal("iwarp_rdma.atomic.remote_tagged_offset", "Remote offset", at(12), 64),
    atomic_rows::of(row::decimal("iwarp_rdma.atomic.add_data", "Add data", at(20), 64), 0),
    atomic_rows::of(atomic_rows::kSwap.part(), 1),
    atomic_rows::of(atomic_rows::kSwap.part(), 2),
    atomic_rows::of(row::hex("iwarp_rdma.atomic.add_mask", "Add mask", at(28), 64), 0),
    atomic_rows::of(atomic_rows::kSwapMask.part(), 1),
    atomic_rows::of(atomic_rows::kSwapMask.part(), 2),
    atomic_rows::of(row::decimal("iwarp_rdma.atomic.compare_data", "Compare data", at(36), 64), 2),
    atomic_rows::of(row::hex("iwarp_rdma.atomic.compare_mask", "Compare mask", at(44), 64), 2),
};
static_assert(tiles(kRdmapAtomicRequestFields, 52));

inline constexpr std::array kRdmapAtomicResponseFields{
    row::decimal("iwarp_rdma.atomic.original_request_identifier", "Identifier of the request", at(0), 32),
    row::decimal("iwarp_rdma.atomic.original_remote_data_value", "Original value", at(4), 64),
};
static_assert(tiles(kRdmapAtomicResponseFields, 12));

inline constexpr std::array kRdmapImmediateFields{row::hex("rdma.iwarp.immediate", "Immediate data", at(0), 64)};
static_assert(tiles(kRdmapImmediateFields, 8));

inline constexpr std::array kIwarpHeaders{
    Header{kind::mpa_request, "iwarp_mpa.req", "MPA request", kMpaSetUpLength, kMpaRequestFields},
    Header{kind::mpa_reply, "iwarp_mpa.rep", "MPA reply", kMpaSetUpLength, kMpaReplyFields},
    Header{kind::mpa_enhanced, "rdma.iwarp.depths", "MPA enhanced connection set-up", 4, kMpaEnhancedFields},
    Header{kind::mpa_fpdu, "iwarp_mpa.fpdu", "MPA FPDU", 2, kMpaFpduFields},
    Header{kind::mpa_marker, "iwarp_mpa.markers", "MPA marker", 4, kMpaMarkerFields},
    Header{kind::mpa_pad, "rdma.iwarp.padding", "MPA padding", 0, kMpaPadFields},
    Header{kind::mpa_crc, "rdma.iwarp.crc", "MPA CRC", 4, kMpaCrcFields},
    Header{kind::mpa_crc_unused, "rdma.iwarp.crc_unused", "MPA CRC, not in use", 4, kMpaCrcUnusedFields},
    Header{kind::ddp_tagged, "iwarp_ddp.tagged", "DDP tagged segment", 14, kDdpTaggedFields},
    Header{kind::ddp_untagged, "iwarp_ddp.untagged", "DDP untagged segment", 18, kDdpUntaggedFields},
    Header{kind::rdmap, "iwarp_rdma", "RDMAP control", 1, kRdmapFields},
    Header{kind::rdmap_invalidate, "rdma.iwarp.invalidate", "RDMAP control with invalidation", 5,
           kRdmapInvalidateFields},
    Header{kind::rdmap_read_request, "iwarp_rdma.rr", "RDMAP READ request", 28, kRdmapReadRequestFields},
    Header{kind::rdmap_terminate, "iwarp_rdma.terminate", "RDMAP Terminate", 4, kRdmapTerminateFields},
    Header{kind::rdmap_atomic_request, "rdma.iwarp.atomic", "RDMAP atomic request", 52, kRdmapAtomicRequestFields},
    Header{kind::rdmap_atomic_response, "rdma.iwarp.atomic_response", "RDMAP atomic response", 12,
           kRdmapAtomicResponseFields},
    Header{kind::rdmap_immediate, "rdma.iwarp.immediate_data", "RDMAP immediate data", 8, kRdmapImmediateFields},
    Header{kind::legacy_depths, "rdma.iwarp.legacy_depths", "IRD and ORD in private data", kLegacyDepthsLength,
           kLegacyDepthsFields},
    Header{kind::legacy_depths_turned, "rdma.iwarp.legacy_depths_turned", "IRD and ORD in private data, little-endian",
           kLegacyDepthsLength, kLegacyDepthsTurnedFields},
};

}  // namespace qps::dissect
