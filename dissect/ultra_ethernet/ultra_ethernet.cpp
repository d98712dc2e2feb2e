#include <dissect/headers/internet.hpp>
#include <dissect/ultra_ethernet/pds.hpp>
#include <dissect/ultra_ethernet/ses.hpp>
#include <dissect/ultra_ethernet/ultra_ethernet.hpp>

#include <algorithm>

namespace qps::dissect {

namespace {

constexpr Field kUetNext = named(kUetRequestFields, "uet.pds.nh");
constexpr Field kSyn = named(kUetRequestFields, "uet.pds.flags.syn");
constexpr Field kProbe = named(kUetAckFields, "uet.pds.flags.p");
constexpr Field kOfRudi = named(kUetNackFields, "uet.pds.flags.nt");
constexpr Field kCcType = named(kUetAckNsccFields, "uet.pds.ack.cc_type");
constexpr Field kUetOpcode = named(kSesStandardFields, "uet.ses.std.opcode");
constexpr Field kStart = named(kSesStandardFields, "uet.ses.std.som");
constexpr Field kEnd = named(kSesStandardFields, "uet.ses.std.eom");
constexpr Field kHeaderData = named(kSesStandardFields, "uet.ses.std.hd");
constexpr Field kRequestLength = named(kSesStandardFields, "uet.ses.std.request_length");
constexpr Field kLaterLength = named(kSesStandardLaterFields, "uet.ses.std.payload_length");
constexpr Field kSmallLength = named(kSesSmallFields, "uet.ses.small_req.req_length");
constexpr Field kDataLength = named(kSesResponseDataFields, "uet.ses.rsp.payload_length");
constexpr Field kSmallDataLength = named(kSesResponseDataSmallFields, "uet.ses.rsp.payload_length");
constexpr Field kAtomicOpcode = named(kSesAtomicFields, "uet.ses.atomic_op_ext_hdr.atomic_opcode");

bool is_atomic(SesOpcode opcode) {
    return opcode == SesOpcode::atomic || opcode == SesOpcode::fetching_atomic ||
           opcode == SesOpcode::tagged_send_atomic || opcode == SesOpcode::tagged_send_fetching_atomic;
}
bool is_rendezvous(SesOpcode opcode) {
    return opcode == SesOpcode::rendezvous_send || opcode == SesOpcode::rendezvous_tagged_send;
}
// The request carries all that its length says.
bool carries(SesOpcode opcode) {
    return opcode == SesOpcode::write || opcode == SesOpcode::send || opcode == SesOpcode::tagged_send ||
           opcode == SesOpcode::datagram_send;
}

// How much payload a semantic header announces for its own packet; nothing where it does not say.
std::optional<std::size_t> announced(SesForm form, Bytes ses) {
    const auto opcode = static_cast<SesOpcode>(read(ses, kUetOpcode));
    switch (form) {
        case SesForm::none:
        case SesForm::response: return 0;
        case SesForm::response_data: return read(ses, kDataLength);
        case SesForm::response_data_small: return read(ses, kSmallDataLength);
        case SesForm::small:
        case SesForm::medium: break;
        case SesForm::standard:
            if (opcode == SesOpcode::read) return 0;
            if (read(ses, kStart) == 0) return read(ses, kLaterLength);
            if (!carries(opcode) || read(ses, kEnd) == 0) return std::nullopt;
            return read(ses, kRequestLength);
    }
    if (opcode == SesOpcode::read) return 0;
    if (!carries(opcode)) return std::nullopt;
    return read(ses, kSmallLength);
}

LayerKind kind_of(SesForm form, Bytes ses) {
    switch (form) {
        case SesForm::small: return kind::ses_small;
        case SesForm::medium: return read_bits(ses, kHeaderData.bit, 1) != 0 ? kind::ses_medium_data : kind::ses_medium;
        case SesForm::standard:
            return read_bits(ses, kStart.bit, 1) != 0 ? kind::ses_standard : kind::ses_standard_later;
        case SesForm::response: return kind::ses_response;
        case SesForm::response_data: return kind::ses_response_data;
        case SesForm::response_data_small: return kind::ses_response_data_small;
        case SesForm::none: break;
    }
    return kind::uet_undecoded;
}

// One packet, from its first header on. walk.end is where it ends on the wire, `said` where its sender ended it.
class UetWalk {
public:
    UetWalk(Walk& walk, std::size_t said) : walk_(walk), said_(said), sure_(walk.doubt == CrcReason::none) {}

    void run() {
        const Bytes start = walk_.header();
        const auto type = static_cast<PdsType>(read_bits(start, kUetType.bit, kUetType.width));
        if (type == PdsType::tss) walk_security();
        else if (type == PdsType::rudi_request || type == PdsType::rudi_response) walk_rudi();
        else walk_delivery(type, start);
        if (!trimmed()) return;
        for (Layer& layer : std::span(walk_.packet.layer_storage).first(walk_.packet.layer_count))
            if (layer.fault == Fault::too_short && is_of(layer.kind, LayerFamily::ultra_ethernet))
                layer.fault = Fault::trimmed;
    }

private:
    [[nodiscard]] bool trimmed() const { return said_ > walk_.end; }
    // To where the sender ended it.
    [[nodiscard]] std::size_t left() const { return said_ > walk_.offset ? said_ - walk_.offset : 0; }
    [[nodiscard]] Bytes take(LayerKind kind) { return enter(walk_, kind, header(kind).length); }
    void add(LayerKind kind, std::size_t length) {
        if (length == 0) return;
        add_layer(walk_.packet, kind, walk_.offset, length, walk_.end);
        walk_.offset += length;
    }

    // What is left, of which the last bytes are the trailer of that kind; none of a packet that was trimmed, or whose
    // end nobody knows.
    void walk_rest(LayerKind what, LayerKind trailer, std::size_t length) {
        const bool has_trailer = sure_ && left() >= length;
        add(what, left() - (has_trailer ? length : 0));
        if (has_trailer && !trimmed()) add(trailer, length);
    }
    void walk_undecoded() { walk_rest(kind::uet_undecoded, kind::uet_crc, uet::kCrcLength); }

    void walk_security() {
        const bool identified = read_bits(walk_.header(), at(0, 5), 1) != 0;
        if (!take(identified ? kind::uet_tss_ssi : kind::uet_tss).empty())
            walk_rest(kind::uet_encrypted, kind::uet_icv, uet::kIcvLength);
    }

    // Documents have the semantic header at 6 and at 8: where both could be, neither is said.
    void walk_rudi() {
        const Bytes start = slice(walk_.header(), 0, walk_.left());
        const auto form = static_cast<SesForm>(read_bits(start, kUetNext.bit, kUetNext.width));
        const std::size_t longer = header(kind::uet_rudi).length, shorter = header(kind::uet_rudi_short).length;
        const auto fits = [&](std::size_t length) {
            return left() >= length + uet::length_of(form) && uet::holds(form, slice(start, length));
        };
        // A packet without semantic header ends with its own.
        const bool by_length = form == SesForm::none;
        const bool is_long =
            by_length ? left() == longer + uet::kCrcLength : fits(longer) && read_be<std::uint16_t>(start, 2) == 0;
        const bool is_short = by_length ? left() == shorter + uet::kCrcLength : fits(shorter);
        if (is_long == is_short || trimmed()) return add(kind::uet_rudi_open, left());
        if (!take(is_long ? kind::uet_rudi : kind::uet_rudi_short).empty()) walk_semantics(form);
    }

    void walk_delivery(PdsType type, Bytes start) {
        const auto form = static_cast<SesForm>(read_bits(start, kUetNext.bit, kUetNext.width));
        switch (type) {
            case PdsType::uud_request:
                if (!take(kind::uet_uud).empty()) walk_semantics(form);
                return;
            case PdsType::ack:
            case PdsType::ack_cc:
            case PdsType::ack_ccx: return walk_ack(type, form);
            case PdsType::nack:
            case PdsType::nack_ccx: return walk_nack(type);
            case PdsType::control: return walk_control();
            default: break;
        }
        const bool opens = read_bits(start, kSyn.bit, 1) != 0;
        if (take(opens ? kind::uet_request_syn : kind::uet_request).empty()) return;
        const bool asks_for_credit = type == PdsType::rud_cc_request || type == PdsType::rod_cc_request;
        if (!asks_for_credit || !take(kind::uet_request_cc).empty()) walk_semantics(form);
    }

    void walk_ack(PdsType type, SesForm form) {
        const bool of_probe = read_bits(walk_.header(), kProbe.bit, 1) != 0;
        const Bytes ack = take(of_probe ? kind::uet_ack_probe : kind::uet_ack);
        if (ack.empty()) return;
        if (type == PdsType::ack_ccx) return add(kind::uet_ack_ccx, left());
        if (type == PdsType::ack_cc) {
            const auto cc = read_bits(walk_.header(), kCcType.bit, kCcType.width);
            if (take(cc == 0 ? kind::uet_ack_nscc : cc == 1 ? kind::uet_ack_credit : kind::uet_ack_cc).empty()) return;
        } else if (read_bits(ack, at(1, 1), 1) != 0) {
            return walk_undecoded();  // in one document, an expected PSN
        }
        walk_semantics(form);
    }

    void walk_nack(PdsType type) {
        if (take(read_bits(walk_.header(), kOfRudi.bit, 1) != 0 ? kind::uet_nack_rudi : kind::uet_nack).empty()) return;
        if (type == PdsType::nack_ccx) add(kind::uet_nack_ccx, left());
        else walk_undecoded();
    }

    void walk_control() {
        const bool opens = read_bits(walk_.header(), kSyn.bit, 1) != 0;
        if (!take(opens ? kind::uet_control_syn : kind::uet_control).empty()) walk_undecoded();
    }

    void walk_semantics(SesForm form) {
        if (form == SesForm::none) return walk_undecoded();
        const Bytes ses = take(kind_of(form, walk_.header()));
        if (ses.empty()) return;
        const bool request = form == SesForm::small || form == SesForm::medium || form == SesForm::standard;
        // Extensions stand in the first packet of a message.
        if (request && (form != SesForm::standard || read(ses, kStart) != 0) &&
            !walk_extension(static_cast<SesOpcode>(read(ses, kUetOpcode))))
            return;
        walk_payload(announced(form, ses));
    }

    // False where nothing can follow.
    bool walk_extension(SesOpcode opcode) {
        if (is_rendezvous(opcode)) return !take(kind::ses_rendezvous).empty();
        if (!is_atomic(opcode)) return true;
        const Bytes atomic = take(kind::ses_atomic);
        if (atomic.empty()) return false;
        const auto operation = read(atomic, kAtomicOpcode);
        if (operation == kUetMaskedSwap) walk_undecoded();
        if (operation < kUetFirstSwap || operation > kUetMaskedSwap) return true;
        return operation <= kUetLastSwap && !take(kind::ses_compare_swap).empty();
    }

    void walk_payload(std::optional<std::size_t> length) {
        if (!length) return walk_rest(kind::uet_payload, kind::uet_crc, uet::kCrcLength);
        if (*length > left()) {
            mark(walk_.packet, Fault::bad_length);
            return walk_rest(kind::uet_payload, kind::uet_crc, uet::kCrcLength);
        }
        add(kind::uet_payload, *length);
        if (walk_.packet.layers().back().fault == Fault::none) walk_undecoded();
    }

    Walk& walk_;
    std::size_t said_;
    bool sure_;  // where the packet ends on the wire is known
};

}  // namespace

bool walk_ultra_ethernet(Walk& walk, std::size_t end, std::uint16_t source_port) {
    const std::size_t on_wire = std::min(end, walk.end);
    if (on_wire <= walk.offset) return false;
    const bool sure = walk.doubt == CrcReason::none;
    const std::size_t length = on_wire - walk.offset;
    const uet::Datagram datagram{slice(walk.header(), 0, length), length, !sure || end > walk.end, source_port};
    if (!uet::holds(datagram)) {
        const bool whole = sure && end <= walk.end && length >= uet::kCrcLength;
        const std::uint64_t type = read_bits(datagram.captured, kUetType.bit, kUetType.width);
        const uet::PdsShape* shape = uet::pds_shape(type);
        if (!whole || shape == nullptr || length < shape->length + uet::kCrcLength) return false;
        if (!uet::crc_fits(walk.packet, walk.offset, on_wire - uet::kCrcLength)) return false;
    }
    walk.end = on_wire;
    UetWalk(walk, sure ? end : on_wire).run();
    return true;
}

}  // namespace qps::dissect
