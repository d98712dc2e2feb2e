// Field tables of Ultra Ethernet's packet delivery sublayer (PDS) and security header (TSS), UEC Specification 1.0.
//
// A header has a kind for each of its forms: with a new delivery context (SYN) and without, of a probe and not. Where
// documents do not agree on a form, it is bytes here, or its parts have no meaning of their own: what is shown is right
// in all of them.
#pragma once

#include <dissect/ultra_ethernet/names.hpp>

#include <array>
#include <optional>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind uet_tss = kind_in(LayerFamily::ultra_ethernet, 0);
inline constexpr LayerKind uet_tss_ssi = kind_in(LayerFamily::ultra_ethernet, 1);
inline constexpr LayerKind uet_request = kind_in(LayerFamily::ultra_ethernet, 2);
inline constexpr LayerKind uet_request_syn = kind_in(LayerFamily::ultra_ethernet, 3);
inline constexpr LayerKind uet_request_cc = kind_in(LayerFamily::ultra_ethernet, 4);
inline constexpr LayerKind uet_rudi = kind_in(LayerFamily::ultra_ethernet, 5);
inline constexpr LayerKind uet_rudi_short = kind_in(LayerFamily::ultra_ethernet, 6);
inline constexpr LayerKind uet_rudi_open = kind_in(LayerFamily::ultra_ethernet, 7);
inline constexpr LayerKind uet_uud = kind_in(LayerFamily::ultra_ethernet, 8);
inline constexpr LayerKind uet_ack = kind_in(LayerFamily::ultra_ethernet, 9);
inline constexpr LayerKind uet_ack_probe = kind_in(LayerFamily::ultra_ethernet, 10);
inline constexpr LayerKind uet_ack_nscc = kind_in(LayerFamily::ultra_ethernet, 11);
inline constexpr LayerKind uet_ack_credit = kind_in(LayerFamily::ultra_ethernet, 12);
inline constexpr LayerKind uet_ack_cc = kind_in(LayerFamily::ultra_ethernet, 13);
inline constexpr LayerKind uet_ack_ccx = kind_in(LayerFamily::ultra_ethernet, 14);
inline constexpr LayerKind uet_nack = kind_in(LayerFamily::ultra_ethernet, 15);
inline constexpr LayerKind uet_nack_rudi = kind_in(LayerFamily::ultra_ethernet, 16);
inline constexpr LayerKind uet_nack_ccx = kind_in(LayerFamily::ultra_ethernet, 17);
inline constexpr LayerKind uet_control = kind_in(LayerFamily::ultra_ethernet, 18);
inline constexpr LayerKind uet_control_syn = kind_in(LayerFamily::ultra_ethernet, 19);
}  // namespace kind

namespace uet_computed {
std::optional<Value> clear_psn(const Packet&, const Layer&);
std::optional<Value> start_psn(const Packet&, const Layer&);
std::optional<Value> ack_psn(const Packet&, const Layer&);
std::optional<Value> sack_base(const Packet&, const Layer&);
std::optional<Value> service_time(
    const Packet&, const Layer&);  // in nanoseconds; nothing where it is invalid or beyond what can be said
std::optional<Value> trimmed_bytes(const Packet&, const Layer&);
}  // namespace uet_computed

inline constexpr Field kUetType = row::decimal("uet.pds.type", "Packet type", at(0), 5).named(kPdsTypes);
inline constexpr Field kUetNext =
    row::decimal("uet.pds.nh", "Next header, of the semantic sublayer", at(0, 5), 4).named(kSesForms);
inline constexpr Field kUetTrimmed =
    row::computed("uet.trimmed_bytes", "Bytes trimmed: a switch cut them off and sent the rest on", Format::decimal,
                  uet_computed::trimmed_bytes)
        .in("bytes");
inline constexpr Field kUetClearPsn = row::computed(
    "uet.pds.clear_psn", "Clear PSN: responses up to it may be forgotten", Format::decimal, uet_computed::clear_psn);

// The prologues: type, next header, seven flags.
inline constexpr std::array kUetRequestPrologue{
    kUetType,
    kUetNext,
    row::hex("uet.pds.flags", "Flags", at(1, 1), 7),
    row::hex("uet.pds.flags.rsvd_rud_rod", "Reserved", at(1, 1), 2).part(),
    row::flag("uet.pds.flags.retx", "Retransmission", at(1, 3)).part(),
    row::flag("uet.pds.flags.ar", "Acknowledge request", at(1, 4)).part(),
    row::flag("uet.pds.flags.syn", "New packet delivery context (SYN)", at(1, 5)).part(),
    row::reserved(at(1, 6), 2).part(),
    kUetTrimmed,
};
inline constexpr std::array kUetAckPrologue{
    kUetType,
    kUetNext,
    row::hex("uet.pds.flags", "Flags", at(1, 1), 7),
    row::hex("uet.pds.flags.rsvd_ack", "Reserved, in one implementation: an expected PSN follows", at(1, 1), 1).part(),
    row::flag("uet.pds.flags.m", "ECN marked: the packet that is answered came with CE", at(1, 2)).part(),
    row::flag("uet.pds.flags.retx", "Retransmission is answered", at(1, 3)).part(),
    row::flag("uet.pds.flags.p", "Probe is answered", at(1, 4)).part(),
    row::decimal("uet.pds.flags.req", "Request of the receiver", at(1, 5), 2).named(kUetAckRequests).part(),
    row::reserved(at(1, 7), 1).part(),
};
inline constexpr std::array kUetNackPrologue{
    kUetType,
    kUetNext,
    row::hex("uet.pds.flags", "Flags", at(1, 1), 7),
    row::hex("uet.pds.flags.rsvd_nack", "Reserved", at(1, 1), 1).part(),
    row::flag("uet.pds.flags.m", "ECN marked: the packet that is answered came with CE", at(1, 2)).part(),
    row::flag("uet.pds.flags.retx", "Retransmission is answered", at(1, 3)).part(),
    row::flag("uet.pds.flags.nt", "NACK of a RUDI packet", at(1, 4)).part(),
    row::reserved(at(1, 5), 3).part(),
    row::decimal("uet.pds.nack.code", "NACK code", at(2), 8).named(kUetNackCodes),
    row::decimal("uet.pds.nack.vendor_code", "Code of the vendor", at(3), 8),
};
inline constexpr std::array kUetControlPrologue{
    kUetType,
    row::decimal("uet.pds.ctl_type", "Control type", at(0, 5), 4).named(kUetControlTypes),
    row::hex("uet.pds.flags", "Flags", at(1, 1), 7),
    row::hex("uet.pds.flags.rsvd_ctl", "Reserved", at(1, 1), 1).part(),
    row::flag("uet.pds.flags.isrod", "Ordered delivery, of NOOP and NEGOTIATION", at(1, 2)).part(),
    row::flag("uet.pds.flags.retx", "Retransmission", at(1, 3)).part(),
    row::flag("uet.pds.flags.ar", "Acknowledge request", at(1, 4)).part(),
    row::flag("uet.pds.flags.syn", "New packet delivery context (SYN)", at(1, 5)).part(),
    row::reserved(at(1, 6), 2).part(),
    row::hex("uet.pds.ctrl_probe_opaque", "Mark of the probe, which its ACK has too", at(2), 16),
    row::decimal("uet.pds.psn", "PSN", at(4), 32),
};
inline constexpr std::array kUetRudiPrologue{
    kUetType,
    kUetNext,
    row::hex("uet.pds.flags", "Flags", at(1, 1), 7),
    row::hex("uet.pds.flags.rsvd_rudi", "Reserved", at(1, 1), 1).part(),
    row::flag("uet.pds.flags.m", "ECN marked: the packet that is answered came with CE", at(1, 2)).part(),
    row::flag("uet.pds.flags.retx", "Retransmission", at(1, 3)).part(),
    row::reserved(at(1, 4), 4).part(),
    kUetTrimmed,
};

// Packet delivery contexts: of both ends, or of the one that opens it.
inline constexpr std::array kUetContexts{
    row::decimal("uet.pds.spdcid", "Source packet delivery context (PDC)", at(8), 16),
    row::decimal("uet.pds.dpdcid", "Destination packet delivery context (PDC)", at(10), 16),
};
inline constexpr std::array kUetNewContext{
    row::decimal("uet.pds.spdcid", "Source packet delivery context (PDC)", at(8), 16),
    row::flag("uet.pds.pdc_mode_use_rsv", "Reserved contexts may be used", at(10)),
    row::hex("uet.pds.pdc_mode_rsv", "Reserved", at(10, 1), 3),
    row::decimal("uet.pds.psn_offset", "PSN offset, from the first PSN of the context", at(10, 4), 12),
    row::computed("uet.pds.start_psn", "Start PSN: the first one of the context", Format::decimal,
                  uet_computed::start_psn),
};

inline constexpr std::array kUetClearAndPsn{
    row::hex("uet.pds.clear_psn_offset", "Clear PSN offset, signed", at(2), 16),
    kUetClearPsn,
    row::decimal("uet.pds.psn", "PSN", at(4), 32),
};
inline constexpr auto kUetRequestFields = joined(kUetRequestPrologue, kUetClearAndPsn, kUetContexts);
static_assert(tiles(kUetRequestFields, 12));
inline constexpr auto kUetRequestSynFields = joined(kUetRequestPrologue, kUetClearAndPsn, kUetNewContext);
static_assert(tiles(kUetRequestSynFields, 12));

// Behind the header of requests that ask for credit.
inline constexpr std::array kUetRequestCcFields{
    row::decimal("uet.pds.cc_state.ccc_id", "Congestion control context", at(0), 8),
    row::hex("uet.pds.cc_state.credit_target", "Credit target", at(1), 24),
};
static_assert(tiles(kUetRequestCcFields, 4));

inline constexpr auto kUetRudiFields =
    joined(kUetRudiPrologue, std::array{
                                 row::hex("uet.pds.rudi.rsvd", "Reserved", at(2), 16),
                                 row::decimal("uet.pds.rudi.pkt_id", "Packet ID", at(4), 32),
                             });
static_assert(tiles(kUetRudiFields, 8));
inline constexpr auto kUetRudiShortFields =
    joined(kUetRudiPrologue, std::array{row::decimal("uet.pds.rudi.pkt_id", "Packet ID", at(2), 32)});
static_assert(tiles(kUetRudiShortFields, 6));
inline constexpr auto kUetRudiOpenFields =
    joined(kUetRudiPrologue,
           std::array{row::bytes("uet.pds.rudi.open", "Packet ID and all behind it: documents place it differently",
                                 at(2), kToEnd)});
static_assert(tiles(kUetRudiOpenFields, 2));

inline constexpr std::array kUetUudFields{
    kUetType,    kUetNext, row::hex("uet.pds.flags.rsvd_uud", "Reserved", at(1, 1), 7), row::reserved(at(2), 16),
    kUetTrimmed,
};
static_assert(tiles(kUetUudFields, 4));

inline constexpr std::array kUetCumulative{
    row::decimal("uet.pds.cack_psn", "Cumulative ACK PSN: all up to it have arrived", at(4), 32)};
inline constexpr auto kUetAckFields =
    joined(kUetAckPrologue,
           std::array{
               row::hex("uet.pds.ack_psn_offset", "ACK PSN offset, signed", at(2), 16),
               row::computed("uet.pds.ack_psn", "ACK PSN: of the packet that is answered", Format::decimal,
                             uet_computed::ack_psn),
           },
           kUetCumulative, kUetContexts);
static_assert(tiles(kUetAckFields, 12));
inline constexpr auto kUetAckProbeFields = joined(
    kUetAckPrologue, std::array{row::hex("uet.pds.ctrl_probe_opaque", "Mark of the probe that is answered", at(2), 16)},
    kUetCumulative, kUetContexts);
static_assert(tiles(kUetAckProbeFields, 12));

// Behind the header of an ACK with congestion control: selective acknowledgment, then a state by its type.
inline constexpr std::array kUetSack{
    row::hex("uet.pds.ack.cc_flags", "Reserved", at(0, 4), 4),
    row::decimal("uet.pds.ack.mpr", "Maximum PSN range: how far the sender may go, 0: not said", at(1), 8)
        .in("* 128 PSNs"),
    row::hex("uet.pds.ack.sack_offset", "SACK offset, signed", at(2), 16),
    row::computed("uet.pds.ack.sack_base", "SACK base: PSN of bit 0 of the bitmap", Format::decimal,
                  uet_computed::sack_base),
    row::hex("uet.pds.ack.sack_bitmap", "SACK bitmap: a bit set is a PSN that arrived, bit 0 the least significant",
             at(4), 64),
};
inline constexpr std::array kUetCcType{
    row::decimal("uet.pds.ack.cc_type", "Type of congestion control", at(0), 4).named(kUetCongestionTypes),
};
inline constexpr std::array kUetServiceTimes{ValueName{0, "INVALID"}, ValueName{0xffff, "8.388 ms or more"}};
inline constexpr std::array kUetOutOfOrder{ValueName{0xffff, "INVALID"}};
inline constexpr auto kUetAckNsccFields =
    joined(kUetCcType, kUetSack,
           std::array{
               row::decimal("uet.pds.ack.cc_state.service_time", "Service time, in 128 ns", at(12), 16)
                   .named(kUetServiceTimes),
               row::computed("uet.pds.ack.cc_state.service_time_ns", "Service time at the receiver", Format::decimal,
                             uet_computed::service_time)
                   .in("ns"),
               row::flag("uet.pds.ack.cc_state.rc", "Restore the congestion window", at(14)),
               row::decimal("uet.pds.ack.cc_state.rcv_cwnd_pend",
                            "Congestion window penalty, asked for by the receiver", at(14, 1), 7),
               row::decimal("uet.pds.ack.cc_state.rcvd_bytes", "Received byte count", at(15), 24).in("* 256 bytes"),
               row::decimal("uet.pds.ack.cc_state.ooo_count", "Out-of-order count", at(18), 16).named(kUetOutOfOrder),
           });
static_assert(tiles(kUetAckNsccFields, 20));
inline constexpr auto kUetAckCreditFields =
    joined(kUetCcType, kUetSack,
           std::array{
               row::decimal("uet.pds.ack.cc_state.credit", "Credit", at(12), 24),
               row::reserved(at(15), 24),
               row::decimal("uet.pds.ack.cc_state.ooo_count", "Out-of-order count", at(18), 16).named(kUetOutOfOrder),
           });
static_assert(tiles(kUetAckCreditFields, 20));
inline constexpr auto kUetAckCcFields = joined(
    kUetCcType, kUetSack, std::array{row::hex("uet.pds.ack.cc_state", "State of congestion control", at(12), 64)});
static_assert(tiles(kUetAckCcFields, 20));
inline constexpr auto kUetAckCcxFields = joined(
    std::array{row::decimal("uet.pds.ack.ccx_type", "Type of extended congestion control", at(0), 4)}, kUetSack,
    std::array{row::bytes("uet.pds.ack.ccx_state",
                          "State of extended congestion control and all behind it: documents differ in its length",
                          at(12), kToEnd)});
static_assert(tiles(kUetAckCcxFields, 12));

inline constexpr std::array kUetNackPayload{
    row::hex("uet.pds.nack.payload", "Payload: by the code a start PSN, an expected PSN or a count", at(12), 32),
};
inline constexpr auto kUetNackFields =
    joined(kUetNackPrologue, std::array{row::decimal("uet.pds.nack.psn", "NACK PSN", at(4), 32)}, kUetContexts,
           kUetNackPayload);
static_assert(tiles(kUetNackFields, 16));
inline constexpr auto kUetNackRudiFields =
    joined(kUetNackPrologue, std::array{row::decimal("uet.pds.nack.pkt_id", "Packet ID that is refused", at(4), 32)},
           kUetContexts, kUetNackPayload);
static_assert(tiles(kUetNackRudiFields, 16));
inline constexpr std::array kUetNackCcxFields{
    row::decimal("uet.pds.nack.nccx_type", "Type of extended congestion control", at(0), 4),
    row::hex("uet.pds.nack.nccx_state.first", "First bits of the state", at(0, 4), 4),
    row::bytes("uet.pds.nack.nccx_state",
               "State of extended congestion control and all behind it: documents differ in its length", at(1), kToEnd),
};
static_assert(tiles(kUetNackCcxFields, 1));

inline constexpr std::array kUetControlPayload{
    row::hex("uet.pds.ctrl_payload", "Payload, by the control type", at(12), 32)};
inline constexpr auto kUetControlFields = joined(kUetControlPrologue, kUetContexts, kUetControlPayload);
static_assert(tiles(kUetControlFields, 16));
inline constexpr auto kUetControlSynFields = joined(kUetControlPrologue, kUetNewContext, kUetControlPayload);
static_assert(tiles(kUetControlSynFields, 16));

// Security: what follows is encrypted.
inline constexpr std::array kUetTssStart{
    row::decimal("uet.tss.type", "Packet type", at(0), 5).named(kPdsTypes),
    row::flag("uet.tss.sp", "Source identifier is present", at(0, 5)),
    row::hex("uet.tss.reserved", "Reserved", at(0, 6), 1),
    row::decimal("uet.tss.an", "Association number", at(0, 7), 1),
    row::hex("uet.tss.sdi", "Secure domain identifier", at(1), 24),
};
inline constexpr auto kUetTssFields =
    joined(kUetTssStart, std::array{
                             row::decimal("uet.tss.tsc.epoch", "Epoch", at(4), 16),
                             row::decimal("uet.tss.tsc.counter", "Counter of packets", at(6), 48),
                         });
static_assert(tiles(kUetTssFields, 12));
inline constexpr auto kUetTssSsiFields =
    joined(kUetTssStart, std::array{
                             row::hex("uet.tss.ssi", "Secure source identifier", at(4), 32),
                             row::decimal("uet.tss.tsc.epoch", "Epoch", at(8), 16),
                             row::decimal("uet.tss.tsc.counter", "Counter of packets", at(10), 48),
                         });
static_assert(tiles(kUetTssSsiFields, 16));

inline constexpr std::array kPdsHeaders{
    Header{kind::uet_tss, "uet.tss", "Ultra Ethernet Security", 12, kUetTssFields},
    Header{kind::uet_tss_ssi, "uet.tss", "Ultra Ethernet Security with Source Identifier", 16, kUetTssSsiFields},
    Header{kind::uet_request, "uet.pds", "Ultra Ethernet Packet Delivery: Request", 12, kUetRequestFields},
    Header{kind::uet_request_syn, "uet.pds", "Ultra Ethernet Packet Delivery: Request with SYN", 12,
           kUetRequestSynFields},
    Header{kind::uet_request_cc, "uet.pds.cc_state", "Ultra Ethernet Packet Delivery: Credit Target", 4,
           kUetRequestCcFields},
    Header{kind::uet_rudi, "uet.pds", "Ultra Ethernet Packet Delivery: RUDI", 8, kUetRudiFields},
    Header{kind::uet_rudi_short, "uet.pds", "Ultra Ethernet Packet Delivery: RUDI of 6 bytes", 6, kUetRudiShortFields},
    Header{kind::uet_rudi_open, "uet.pds", "Ultra Ethernet Packet Delivery: RUDI of 6 or 8 bytes", 2,
           kUetRudiOpenFields},
    Header{kind::uet_uud, "uet.pds", "Ultra Ethernet Packet Delivery: UUD", 4, kUetUudFields},
    Header{kind::uet_ack, "uet.pds", "Ultra Ethernet Packet Delivery: ACK", 12, kUetAckFields},
    Header{kind::uet_ack_probe, "uet.pds", "Ultra Ethernet Packet Delivery: ACK of a Probe", 12, kUetAckProbeFields},
    Header{kind::uet_ack_nscc, "uet.pds.ack", "Ultra Ethernet Congestion Control: NSCC", 20, kUetAckNsccFields},
    Header{kind::uet_ack_credit, "uet.pds.ack", "Ultra Ethernet Congestion Control: Credit", 20, kUetAckCreditFields},
    Header{kind::uet_ack_cc, "uet.pds.ack", "Ultra Ethernet Congestion Control: other", 20, kUetAckCcFields},
    Header{kind::uet_ack_ccx, "uet.pds.ack", "Ultra Ethernet Congestion Control: extended", 12, kUetAckCcxFields},
    Header{kind::uet_nack, "uet.pds", "Ultra Ethernet Packet Delivery: NACK", 16, kUetNackFields},
    Header{kind::uet_nack_rudi, "uet.pds", "Ultra Ethernet Packet Delivery: NACK of RUDI", 16, kUetNackRudiFields},
    Header{kind::uet_nack_ccx, "uet.pds.nack", "Ultra Ethernet Congestion Control: NACK", 1, kUetNackCcxFields},
    Header{kind::uet_control, "uet.pds", "Ultra Ethernet Packet Delivery: Control", 16, kUetControlFields},
    Header{kind::uet_control_syn, "uet.pds", "Ultra Ethernet Packet Delivery: Control with SYN", 16,
           kUetControlSynFields},
};

}  // namespace qps::dissect
