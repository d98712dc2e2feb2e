#include <dissect/ultra_ethernet/pds.hpp>
#include <dissect/ultra_ethernet/ses.hpp>
#include <dissect/ultra_ethernet/ultra_ethernet.hpp>
#include <transport-replay/model/uet_packet.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kRequestRetx = named(kUetRequestFields, "uet.pds.flags.retx");
constexpr Field kSyn = named(kUetRequestFields, "uet.pds.flags.syn");
constexpr Field kNext = named(kUetRequestFields, "uet.pds.nh");
constexpr Field kRequestPsn = named(kUetRequestFields, "uet.pds.psn");
constexpr Field kSource = named(kUetRequestFields, "uet.pds.spdcid");
constexpr Field kDestination = named(kUetRequestFields, "uet.pds.dpdcid");
constexpr Field kPsnOffset = named(kUetRequestSynFields, "uet.pds.psn_offset");
constexpr Field kAckReserved = named(kUetAckFields, "uet.pds.flags.rsvd_ack");
constexpr Field kAckProbe = named(kUetAckFields, "uet.pds.flags.p");
constexpr Field kAckOffset = named(kUetAckFields, "uet.pds.ack_psn_offset");
constexpr Field kSackOffset = named(kUetAckNsccFields, "uet.pds.ack.sack_offset");
constexpr Field kSackBitmap = named(kUetAckNsccFields, "uet.pds.ack.sack_bitmap");
constexpr Field kNackCode = named(kUetNackFields, "uet.pds.nack.code");
constexpr Field kNackRudi = named(kUetNackFields, "uet.pds.flags.nt");
constexpr Field kControl = named(kUetControlFields, "uet.pds.ctl_type");
constexpr Field kOperation = named(kSesStandardFields, "uet.ses.std.opcode");
constexpr Field kEndOfMessage = named(kSesStandardFields, "uet.ses.std.eom");
constexpr Field kStartOfMessage = named(kSesStandardFields, "uet.ses.std.som");
constexpr Field kMessageId = named(kSesStandardFields, "uet.ses.std.message_id");
constexpr Field kJobId = named(kSesStandardFields, "uet.ses.std.job_id");
constexpr Field kRequestLength = named(kSesStandardFields, "uet.ses.std.request_length");
constexpr Field kLaterPayload = named(kSesStandardLaterFields, "uet.ses.std.payload_length");
constexpr Field kShortLength = named(kSesSmallFields, "uet.ses.small_req.req_length");
constexpr Field kReturnCode = named(kSesResponseFields, "uet.ses.rsp.return_code");
constexpr Field kResponseId = named(kSesResponseFields, "uet.ses.rsp.message_id");
constexpr Field kResponseLength = named(kSesResponseFields, "uet.ses.rsp.mod_length");
constexpr Field kReadId = named(kSesResponseDataFields, "uet.ses.rsp.read_req_message_id");
constexpr Field kDataPayload = named(kSesResponseDataFields, "uet.ses.rsp.payload_length");
constexpr Field kDataLength = named(kSesResponseDataFields, "uet.ses.rsp.mod_length");
constexpr Field kSmallDataPayload = named(kSesResponseDataSmallFields, "uet.ses.rsp.payload_length");
constexpr Field kSmallDataPsn = named(kSesResponseDataSmallFields, "uet.ses.rsp.original_request_psn");
constexpr Field kAtomicOperation = named(kSesAtomicFields, "uet.ses.atomic_op_ext_hdr.atomic_opcode");

constexpr std::size_t kContextHeader = 12;  // of all that have contexts, at least
constexpr std::size_t kCcHeader = 16;
constexpr std::size_t kAckCcHeader = 32;
constexpr std::size_t kAtomicBytes = 4, kRendezvousBytes = 24;  // behind the header of a request

bool has(Bytes bytes, const Field& field) { return (std::size_t{field.bit} + field.width + 7) / 8 <= bytes.size(); }
std::uint32_t moved(std::uint32_t psn, std::uint64_t offset) {
    return psn + static_cast<std::uint32_t>(std::int32_t{static_cast<std::int16_t>(offset)});
}
std::optional<std::uint32_t> read_if(Bytes bytes, const Field& field) {
    return has(bytes, field) ? std::optional(static_cast<std::uint32_t>(read(bytes, field))) : std::nullopt;
}

bool is_atomic(std::uint8_t operation) {
    const auto code = static_cast<SesOpcode>(operation);
    return code == SesOpcode::atomic || code == SesOpcode::fetching_atomic || code == SesOpcode::tagged_send_atomic ||
           code == SesOpcode::tagged_send_fetching_atomic;
}

// As far as it says whose it is.
std::optional<UetSemantics> semantics(SesForm form, Bytes ses) {
    constexpr std::size_t kEnough = 12;  // every form begins with its numbers
    if (form == SesForm::none || ses.size() < kEnough) return std::nullopt;
    UetSemantics found{.form = form};
    found.bytes = static_cast<std::uint8_t>(uet::length_of(form));
    found.job = static_cast<std::uint32_t>(read(ses, kJobId));
    if (found.is_response()) {
        found.code = static_cast<std::uint8_t>(read(ses, kReturnCode));
        if (form == SesForm::response) {
            found.message = static_cast<std::uint16_t>(read(ses, kResponseId));
            found.length = read_if(ses, kResponseLength);
        } else if (form == SesForm::response_data) {
            found.message = static_cast<std::uint16_t>(read(ses, kReadId));
            found.length = read_if(ses, kDataLength);
        } else {
            found.answered = static_cast<std::uint32_t>(read(ses, kSmallDataPsn));
        }
        return found;
    }
    found.code = static_cast<std::uint8_t>(read(ses, kOperation));
    found.starts = read(ses, kStartOfMessage) != 0;
    found.ends = read(ses, kEndOfMessage) != 0;
    if (form == SesForm::standard) {
        found.message = static_cast<std::uint16_t>(read(ses, kMessageId));
        found.length = read_if(ses, kRequestLength);
    } else {
        found.length = static_cast<std::uint32_t>(read(ses, kShortLength));
    }
    if (found.starts && is_atomic(found.code)) {
        const Bytes extension = slice(ses, found.bytes);
        if (has(extension, kAtomicOperation))
            found.atomic = static_cast<std::uint8_t>(read(extension, kAtomicOperation));
    }
    return found;
}

}  // namespace

std::optional<UetPacket> uet_packet(Bytes bytes) {
    if (bytes.size() < 2) return std::nullopt;
    UetPacket packet;
    packet.type = static_cast<PdsType>(read(bytes, kUetType));
    const bool nack = packet.is_nack();
    packet.of_rudi = nack && read(bytes, kNackRudi) != 0;
    if (!packet.has_context()) return packet;
    if (bytes.size() < kContextHeader) return std::nullopt;
    const auto form = static_cast<SesForm>(read(bytes, kNext));
    packet.retransmission = read(bytes, kRequestRetx) != 0;
    packet.psn = static_cast<std::uint32_t>(read(bytes, kRequestPsn));
    packet.source = static_cast<std::uint16_t>(read(bytes, kSource));
    packet.destination = static_cast<std::uint16_t>(read(bytes, kDestination));
    packet.bytes = kContextHeader;
    if (packet.is_request() || packet.is_control()) {
        packet.opens = read(bytes, kSyn) != 0;
        if (packet.opens) {
            packet.start = packet.psn - static_cast<std::uint32_t>(read(bytes, kPsnOffset));
            packet.destination = 0;
        }
        if (packet.is_control()) {
            packet.control = static_cast<std::uint8_t>(read(bytes, kControl));
            return packet;
        }
        if (packet.type == PdsType::rud_cc_request || packet.type == PdsType::rod_cc_request) packet.bytes = kCcHeader;
        packet.semantics = semantics(form, slice(bytes, packet.bytes));
        return packet;
    }
    if (nack) {
        packet.nack_code = static_cast<std::uint8_t>(read(bytes, kNackCode));
        return packet;
    }
    packet.of_probe = read(bytes, kAckProbe) != 0;
    packet.answered = moved(packet.psn, read(bytes, kAckOffset));
    if (packet.type == PdsType::ack_cc || packet.type == PdsType::ack_ccx) {
        const Bytes state = slice(bytes, kContextHeader);
        if (has(state, kSackBitmap)) {
            packet.sack_base = moved(packet.psn, read(state, kSackOffset));
            packet.sack_bitmap = read(state, kSackBitmap);
        }
    }
    // How long extended states are documents do not agree; nor what stands behind an ACK whose reserved flag is set.
    if (packet.type == PdsType::ack_cc) packet.bytes = kAckCcHeader;
    if (packet.type != PdsType::ack_ccx && read(bytes, kAckReserved) == 0)
        packet.semantics = semantics(form, slice(bytes, packet.bytes));
    return packet;
}

std::uint32_t uet_payload_length(const UetPacket& packet, Bytes bytes, std::size_t length) {
    if (!packet.semantics) return 0;
    const UetSemantics& said = *packet.semantics;
    const Bytes ses = slice(bytes, packet.bytes);
    const auto operation = static_cast<SesOpcode>(said.code);
    if (said.form == SesForm::response_data) return read_if(ses, kDataPayload).value_or(0);
    if (said.form == SesForm::response_data_small) return read_if(ses, kSmallDataPayload).value_or(0);
    if (said.is_response() || operation == SesOpcode::read) return 0;
    if (said.form == SesForm::standard && !said.starts && has(ses, kLaterPayload))
        return static_cast<std::uint32_t>(read(ses, kLaterPayload));
    const bool rendezvous = operation == SesOpcode::rendezvous_send || operation == SesOpcode::rendezvous_tagged_send;
    const std::size_t extension = rendezvous ? kRendezvousBytes : said.atomic ? kAtomicBytes : 0;
    const std::size_t around = std::size_t{packet.bytes} + said.bytes + extension + uet::kCrcLength;
    const auto behind =
        static_cast<std::uint32_t>(length > around ? std::min<std::size_t>(length - around, UINT16_MAX) : 0);
    return said.length ? std::min(*said.length, behind) : behind;
}

}  // namespace qps::transport
