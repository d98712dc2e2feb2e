// Field tables of Ultra Ethernet's semantic sublayer (SES), UEC Specification 1.0, and of what stands behind it.
//
// Names are Wireshark's, which has one for each form of request. Of parts that documents see differently (the second
// word of a rendezvous, the bits of semantic control) the whole is shown.
#pragma once

#include <dissect/ultra_ethernet/names.hpp>

#include <array>
#include <optional>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind ses_standard = kind_in(LayerFamily::ultra_ethernet, 20);
inline constexpr LayerKind ses_standard_later = kind_in(LayerFamily::ultra_ethernet, 21);
inline constexpr LayerKind ses_small = kind_in(LayerFamily::ultra_ethernet, 22);
inline constexpr LayerKind ses_medium = kind_in(LayerFamily::ultra_ethernet, 23);
inline constexpr LayerKind ses_medium_data = kind_in(LayerFamily::ultra_ethernet, 24);
inline constexpr LayerKind ses_response = kind_in(LayerFamily::ultra_ethernet, 25);
inline constexpr LayerKind ses_response_data = kind_in(LayerFamily::ultra_ethernet, 26);
inline constexpr LayerKind ses_response_data_small = kind_in(LayerFamily::ultra_ethernet, 27);
inline constexpr LayerKind ses_atomic = kind_in(LayerFamily::ultra_ethernet, 28);
inline constexpr LayerKind ses_compare_swap = kind_in(LayerFamily::ultra_ethernet, 29);
inline constexpr LayerKind ses_rendezvous = kind_in(LayerFamily::ultra_ethernet, 30);
inline constexpr LayerKind uet_payload = kind_in(LayerFamily::ultra_ethernet, 31);
inline constexpr LayerKind uet_undecoded = kind_in(LayerFamily::ultra_ethernet, 32);
inline constexpr LayerKind uet_encrypted = kind_in(LayerFamily::ultra_ethernet, 33);
inline constexpr LayerKind uet_icv = kind_in(LayerFamily::ultra_ethernet, 34);
inline constexpr LayerKind uet_crc = kind_in(LayerFamily::ultra_ethernet, 35);
}  // namespace kind

namespace uet_computed {
std::optional<Value> crc_status(const Packet&, const Layer&);
}  // namespace uet_computed

inline constexpr std::array kSesStandardStart{
    row::hex("uet.ses.std.rsv", "Reserved", at(0), 2),
    row::decimal("uet.ses.std.opcode", "Operation", at(0, 2), 6).named(kSesOpcodes),
    row::hex("uet.ses.std.flags", "Flags", at(1), 8),
    row::decimal("uet.ses.std.ver", "Version", at(1), 2).part(),
    row::flag("uet.ses.std.dc", "Delivery complete is to be acknowledged", at(1, 2)).part(),
    row::flag("uet.ses.std.ie", "Initiator error", at(1, 3)).part(),
    row::flag("uet.ses.std.rel", "Relative addressing", at(1, 4)).part(),
    row::flag("uet.ses.std.hd", "Header data is valid", at(1, 5)).part(),
    row::flag("uet.ses.std.eom", "End of the message", at(1, 6)).part(),
    row::flag("uet.ses.std.som", "Start of the message", at(1, 7)).part(),
    row::decimal("uet.ses.std.message_id", "Message ID", at(2), 16),
    row::decimal("uet.ses.std.index_generation", "Generation of the resource index", at(4), 8),
    row::decimal("uet.ses.std.job_id", "Job ID", at(5), 24),
    row::hex("uet.ses.std.reserved2", "Reserved", at(8), 4),
    row::decimal("uet.ses.std.pidonfep", "Process on the endpoint (PIDonFEP)", at(8, 4), 12),
    row::hex("uet.ses.std.reserved3", "Reserved", at(10), 4),
    row::decimal("uet.ses.std.resource_index", "Resource index", at(10, 4), 12),
    row::hex("uet.ses.std.buffer_offset", "Buffer offset, of deferrable sends the restart tokens of both ends", at(12),
             64),
    row::hex("uet.ses.std.initiator", "Initiator", at(20), 32),
    row::hex("uet.ses.std.mem_key_match_bits",
             "Memory key or match bits, by the operation; of DEFERRABLE_RTR the restart tokens", at(24), 64),
};
inline constexpr std::array kSesRequestLength{
    row::decimal("uet.ses.std.request_length", "Request length, of the whole message", at(40), 32).in("bytes"),
};
inline constexpr auto kSesStandardFields =
    joined(kSesStandardStart,
           std::array{row::hex("uet.ses.std.header_data", "Header data, where its flag is set", at(32), 64)},
           kSesRequestLength);
static_assert(tiles(kSesStandardFields, 44));
inline constexpr auto kSesStandardLaterFields =
    joined(kSesStandardStart,
           std::array{
               row::hex("uet.ses.std.reserved4", "Reserved", at(32), 18),
               row::decimal("uet.ses.std.payload_length", "Payload length", at(34, 2), 14).in("bytes"),
               row::decimal("uet.ses.std.message_offset", "Place in the message", at(36), 32).in("bytes"),
           },
           kSesRequestLength);
static_assert(tiles(kSesStandardLaterFields, 44));

inline constexpr std::array kSesSmallFields{
    row::hex("uet.ses.small_req.rsv", "Reserved", at(0), 2),
    row::decimal("uet.ses.std.opcode", "Operation", at(0, 2), 6).named(kSesOpcodes),
    row::hex("uet.ses.small_req.flags", "Flags", at(1), 8),
    row::decimal("uet.ses.small_req.flags.ver", "Version", at(1), 2).part(),
    row::flag("uet.ses.small_req.flags.dc", "Delivery complete is to be acknowledged", at(1, 2)).part(),
    row::flag("uet.ses.small_req.flags.ie", "Initiator error", at(1, 3)).part(),
    row::flag("uet.ses.small_req.flags.rel", "Relative addressing", at(1, 4)).part(),
    row::hex("uet.ses.small_req.flags.rsvd", "Reserved", at(1, 5), 1).part(),
    row::flag("uet.ses.small_req.eom", "End of the message", at(1, 6)).part(),
    row::flag("uet.ses.small_req.som", "Start of the message", at(1, 7)).part(),
    row::hex("uet.ses.small_req.flags.rsv2", "Reserved", at(2), 2),
    row::decimal("uet.ses.small_req.req_length", "Request length", at(2, 2), 14).in("bytes"),
    row::decimal("uet.ses.small_req.index_generation", "Generation of the resource index", at(4), 8),
    row::decimal("uet.ses.small_req.job_id", "Job ID", at(5), 24),
    row::hex("uet.ses.small_req.rsv3", "Reserved", at(8), 4),
    row::decimal("uet.ses.small_req.pidonfep", "Process on the endpoint (PIDonFEP)", at(8, 4), 12),
    row::hex("uet.ses.small_req.rsv4", "Reserved", at(10), 4),
    row::decimal("uet.ses.small_req.resource_index", "Resource index", at(10, 4), 12),
    row::hex("uet.ses.small_req.buffer_offset", "Buffer offset", at(12), 64),
};
static_assert(tiles(kSesSmallFields, 20));

inline constexpr std::array kSesMediumStart{
    row::hex("uet.ses.med_req.rsv", "Reserved", at(0), 2),
    row::decimal("uet.ses.std.opcode", "Operation", at(0, 2), 6).named(kSesOpcodes),
    row::hex("uet.ses.med_req.flags", "Flags", at(1), 8),
    row::decimal("uet.ses.med_req.flags.ver", "Version", at(1), 2).part(),
    row::flag("uet.ses.med_req.flags.dc", "Delivery complete is to be acknowledged", at(1, 2)).part(),
    row::flag("uet.ses.med_req.flags.ie", "Initiator error", at(1, 3)).part(),
    row::flag("uet.ses.med_req.flags.rel", "Relative addressing", at(1, 4)).part(),
    row::flag("uet.ses.med_req.flags.hd", "Header data is present", at(1, 5)).part(),
    row::flag("uet.ses.med_req.eom", "End of the message", at(1, 6)).part(),
    row::flag("uet.ses.med_req.som", "Start of the message", at(1, 7)).part(),
    row::hex("uet.ses.med_req.flags.rsv2", "Reserved", at(2), 2),
    row::decimal("uet.ses.med_req.req_length", "Request length", at(2, 2), 14).in("bytes"),
    row::decimal("uet.ses.med_req.resource_index_generation", "Generation of the resource index", at(4), 8),
    row::decimal("uet.ses.med_req.job_id", "Job ID", at(5), 24),
    row::hex("uet.ses.med_req.rsv3", "Reserved", at(8), 4),
    row::decimal("uet.ses.med_req.pidonfep", "Process on the endpoint (PIDonFEP)", at(8, 4), 12),
    row::hex("uet.ses.med_req.rsv4", "Reserved", at(10), 4),
    row::decimal("uet.ses.med_req.resource_index", "Resource index", at(10, 4), 12),
};
inline constexpr std::array kSesMediumEnd{
    row::hex("uet.ses.med_req.initiator", "Initiator", at(20), 32),
    row::hex("uet.ses.med_req.mem_key_match_bits", "Memory key or match bits, by the operation", at(24), 64),
};
inline constexpr auto kSesMediumFields = joined(
    kSesMediumStart, std::array{row::hex("uet.ses.med_req.buffer_offset", "Buffer offset", at(12), 64)}, kSesMediumEnd);
static_assert(tiles(kSesMediumFields, 32));
inline constexpr auto kSesMediumDataFields = joined(
    kSesMediumStart, std::array{row::hex("uet.ses.med_req.header_data", "Header data", at(12), 64)}, kSesMediumEnd);
static_assert(tiles(kSesMediumDataFields, 32));

inline constexpr std::array kSesResponseStart{
    row::decimal("uet.ses.rsp.list", "List in which the buffer was found", at(0), 2).named(kSesLists),
    row::decimal("uet.ses.rsp.opcode", "Response", at(0, 2), 6).named(kSesResponseOpcodes),
    row::decimal("uet.ses.rsp.ver", "Version", at(1), 2),
    row::decimal("uet.ses.rsp.return_code", "Return code", at(1, 2), 6).named(kSesReturnCodes),
};
inline constexpr auto kSesResponseFields = joined(
    kSesResponseStart,
    std::array{
        row::decimal("uet.ses.rsp.message_id", "Message ID", at(2), 16),
        row::decimal("uet.ses.rsp.resource_index_gen", "Generation of the resource index", at(4), 8),
        row::decimal("uet.ses.rsp.job_id", "Job ID", at(5), 24),
        row::decimal("uet.ses.rsp.mod_length", "Modified length: what was taken or delivered", at(8), 32).in("bytes"),
    });
static_assert(tiles(kSesResponseFields, 12));
inline constexpr auto kSesResponseDataFields = joined(
    kSesResponseStart,
    std::array{
        row::decimal("uet.ses.rsp.message_id", "Message ID of the response", at(2), 16),
        row::hex("uet.ses.rsp.reserved", "Reserved", at(4), 8),
        row::decimal("uet.ses.rsp.job_id", "Job ID", at(5), 24),
        row::decimal("uet.ses.rsp.read_req_message_id", "Message ID of the request that is answered", at(8), 16),
        row::hex("uet.ses.rsp.reserved2", "Reserved", at(10), 2),
        row::decimal("uet.ses.rsp.payload_length", "Payload length", at(10, 2), 14).in("bytes"),
        row::decimal("uet.ses.rsp.mod_length", "Modified length: what was taken or delivered", at(12), 32).in("bytes"),
        row::decimal("uet.ses.rsp.message_offset", "Place in the message", at(16), 32).in("bytes"),
    });
static_assert(tiles(kSesResponseDataFields, 20));
inline constexpr auto kSesResponseDataSmallFields =
    joined(kSesResponseStart,
           std::array{
               row::hex("uet.ses.rsp.reserved3", "Reserved", at(2), 2),
               row::decimal("uet.ses.rsp.payload_length", "Payload length", at(2, 2), 14).in("bytes"),
               row::hex("uet.ses.rsp.reserved", "Reserved", at(4), 8),
               row::decimal("uet.ses.rsp.job_id", "Job ID", at(5), 24),
               row::decimal("uet.ses.rsp.original_request_psn", "PSN of the request that is answered", at(8), 32),
           });
static_assert(tiles(kSesResponseDataSmallFields, 12));

// Extensions, by the operation.
inline constexpr std::array kSesAtomicFields{
    row::decimal("uet.ses.atomic_op_ext_hdr.atomic_opcode", "Atomic operation", at(0), 8).named(kUetAtomicOpcodes),
    row::decimal("uet.ses.atomic_op_ext_hdr.atomic_data_type", "Type of the data", at(1), 8).named(kUetDataTypes),
    row::hex("uet.ses.atomic_op_ext_hdr.sem_ctl", "Semantic control: caching and coherence", at(2), 8),
    row::hex("uet.ses.atomic_op_ext_hdr.rsvd", "Reserved", at(3), 8),
};
static_assert(tiles(kSesAtomicFields, 4));
inline constexpr std::array kSesCompareSwapFields{
    row::bytes("uet.ses.comp_swap_ext_hdr.comp_value", "Compare value", at(0), 128),
    row::bytes("uet.ses.comp_swap_ext_hdr.swap_value", "Swap value", at(16), 128),
};
static_assert(tiles(kSesCompareSwapFields, 32));
inline constexpr std::array kSesRendezvousFields{
    row::decimal("uet.ses.rendv_ext_hdr.eager_length", "Eager length: how much is sent at once", at(0), 32).in("bytes"),
    row::hex("uet.ses.rendv_ext_hdr.target", "Target of the READ: process and resource index", at(4), 32),
    row::hex("uet.ses.rendv_ext_hdr.read_offset", "Buffer offset of the READ", at(8), 64),
    row::hex("uet.ses.rendv_ext_hdr.read_match_bits", "Memory key or match bits of the READ", at(16), 64),
};
static_assert(tiles(kSesRendezvousFields, 24));

// What is behind the headers.
inline constexpr std::array kUetPayloadFields{row::bytes("uet.payload", "Payload", at(0), kToEnd)};
inline constexpr std::array kUetUndecodedFields{
    row::bytes("uet.undecoded", "Bytes on which documents do not agree", at(0), kToEnd)};
inline constexpr std::array kUetEncryptedFields{
    row::bytes("uet.encrypted", "Encrypted: packet delivery, semantics and payload", at(0), kToEnd)};
inline constexpr std::array kUetIcvFields{
    row::bytes("uet.icv", "Integrity check value, which needs the key", at(0), 128)};
static_assert(tiles(kUetIcvFields, 16));

// What a CRC covers, and the order of its bytes, are not the same in all documents: one that fits none of them is no
// error.
inline constexpr std::array kUetCrcStatus{ValueName{0, "undecided"}, ValueName{1, "good"}};
inline constexpr std::array kUetCrcFields{
    row::hex("uet.crc", "CRC-32C", at(0), 32),
    row::computed("uet.crc.status",
                  "Verdict on the CRC: good where it is right in one of the ways that documents have, else undecided",
                  Format::decimal, uet_computed::crc_status)
        .named(kUetCrcStatus),
};
static_assert(tiles(kUetCrcFields, 4));

inline constexpr std::array kSesHeaders{
    Header{kind::ses_standard, "uet.ses", "Ultra Ethernet Semantics: Request", 44, kSesStandardFields},
    Header{kind::ses_standard_later, "uet.ses", "Ultra Ethernet Semantics: later Packet of a Request", 44,
           kSesStandardLaterFields},
    Header{kind::ses_small, "uet.ses", "Ultra Ethernet Semantics: small Request", 20, kSesSmallFields},
    Header{kind::ses_medium, "uet.ses", "Ultra Ethernet Semantics: medium Request", 32, kSesMediumFields},
    Header{kind::ses_medium_data, "uet.ses", "Ultra Ethernet Semantics: medium Request with Header Data", 32,
           kSesMediumDataFields},
    Header{kind::ses_response, "uet.ses", "Ultra Ethernet Semantics: Response", 12, kSesResponseFields},
    Header{kind::ses_response_data, "uet.ses", "Ultra Ethernet Semantics: Response with Data", 20,
           kSesResponseDataFields},
    Header{kind::ses_response_data_small, "uet.ses", "Ultra Ethernet Semantics: small Response with Data", 12,
           kSesResponseDataSmallFields},
    Header{kind::ses_atomic, "uet.ses.atomic_op_ext_hdr", "Ultra Ethernet Semantics: Atomic", 4, kSesAtomicFields},
    Header{kind::ses_compare_swap, "uet.ses.comp_swap_ext_hdr", "Ultra Ethernet Semantics: Compare and Swap", 32,
           kSesCompareSwapFields},
    Header{kind::ses_rendezvous, "uet.ses.rendv_ext_hdr", "Ultra Ethernet Semantics: Rendezvous", 24,
           kSesRendezvousFields},
    Header{kind::uet_payload, "uet.payload", "Ultra Ethernet Payload", 0, kUetPayloadFields},
    Header{kind::uet_undecoded, "uet.undecoded", "Ultra Ethernet, not decoded", 0, kUetUndecodedFields},
    Header{kind::uet_encrypted, "uet.encrypted", "Ultra Ethernet, encrypted", 0, kUetEncryptedFields},
    Header{kind::uet_icv, "uet.icv", "Ultra Ethernet Integrity Check Value", 16, kUetIcvFields},
    Header{kind::uet_crc, "uet.crc", "Ultra Ethernet CRC", 4, kUetCrcFields},
};

}  // namespace qps::dissect
