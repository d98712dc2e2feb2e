#include <dissect/ulp/iser.hpp>
#include <transport-replay/ulp/iser_machine.hpp>
#include <transport-replay/ulp/iser_protocol.hpp>
#include <transport-replay/ulp/scsi_operation.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;
using namespace dissect::iscsi;

namespace {

constexpr std::uint64_t kTargetsTag = std::uint64_t{1} << 32;  // pings of the target have tags of their own
constexpr unsigned kFailureClass = 2;  // of a login's status, its first byte: 1 is only a redirection

// A PDU of a message, with its iSER header.
struct ReceivedPdu {
    const UlpMessage& message;
    UlpSession& session;
    Bytes iser;
    Pdu pdu;

    [[nodiscard]] std::uint32_t tag() const { return static_cast<std::uint32_t>(read(pdu.header, kTaskTag)); }
    [[nodiscard]] End peer() const { return other(message.from); }
};

Understood seen() { return {.understood = true, .label = {}}; }
Understood labelled(UlpLabel::Part part, OperationCode code, std::uint64_t tag) {
    return {.understood = true, .label = UlpLabel{part, UlpProtocol::iser, code, tag}};
}

OperationCode code_of(std::uint8_t opcode, std::uint8_t detail = 0) {
    return scsi::code_of(scsi::Family::iscsi, opcode, detail);
}

// A request of iSCSI itself.
Understood ask(const ReceivedPdu& a, std::uint64_t tag, std::uint8_t detail = 0,
               std::array<std::uint64_t, 2> subject = {}) {
    UlpOperation operation;
    operation.requester = a.message.from;
    operation.code = code_of(a.pdu.opcode, detail);
    operation.tag = tag;
    operation.subject = subject;
    a.session.begin(operation, a.message);
    return labelled(UlpLabel::Part::request, operation.code, tag);
}

// The answer to the other side's request of that tag; one that waits for nothing is understood all the same.
Understood answer(const ReceivedPdu& a, std::uint64_t tag, bool worked, std::uint32_t status) {
    const UlpOperation* operation = a.session.operations().find(a.peer(), tag);
    if (operation == nullptr) return seen();
    const OperationCode code = operation->code;
    a.session.end(a.peer(), tag, worked ? OperationOutcome::done : OperationOutcome::failed, status, a.message);
    return labelled(UlpLabel::Part::answer, code, tag);
}

// What keys tell of a conversation, and whose word counts: offers are the initiator's, results the target's.
struct KeyRow {
    std::string_view key;
    std::string_view fact;
    bool of_initiator;
};
constexpr std::array kKeys{
    KeyRow{"InitiatorName", "initiator", true},
    KeyRow{"InitiatorAlias", "initiator_alias", true},
    KeyRow{"TargetName", "target", true},
    KeyRow{"SessionType", "session_type", true},
    KeyRow{"CHAP_N", "chap_name", true},
    KeyRow{"TargetAlias", "target_alias", false},
    KeyRow{"TargetAddress", "target_address", false},
    KeyRow{"TargetPortalGroupTag", "portal_group", false},
    KeyRow{"AuthMethod", "auth_method", false},
    KeyRow{"InitialR2T", "initial_r2t", false},
    KeyRow{"ImmediateData", "immediate_data", false},
    KeyRow{"MaxBurstLength", "max_burst_length", false},
    KeyRow{"FirstBurstLength", "first_burst_length", false},
    KeyRow{"MaxConnections", "max_connections", false},
    KeyRow{"ErrorRecoveryLevel", "error_recovery_level", false},
    KeyRow{"RDMAExtensions", "rdma_extensions", false},
    KeyRow{"InitiatorRecvDataSegmentLength", "initiator_recv_length", false},
    KeyRow{"TargetRecvDataSegmentLength", "target_recv_length", false},
};

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

void note_keys(const ReceivedPdu& a) {
    const bool of_initiator = (a.pdu.opcode & kFromTarget) == 0;
    Bytes text = a.pdu.data;
    for (Bytes key = next_key(text); !key.empty(); key = next_key(text)) {
        const std::string_view pair = text_of(key);
        const std::size_t sign = pair.find('=');
        if (sign == std::string_view::npos) continue;
        const auto row = std::ranges::find(kKeys, pair.substr(0, sign), &KeyRow::key);
        if (row != kKeys.end() && row->of_initiator == of_initiator)
            a.session.conversation().note(row->fact, pair.substr(sign + 1));
    }
}

// Memory that the iSER header names, for the other side to READ (a write of SCSI) or WRITE.
void expect_memory(const ReceivedPdu& a, std::uint32_t length) {
    using iser::kControlFields;
    const auto name_it = [&](const Field& valid, const Field& stag, const Field& base, std::uint32_t bytes) {
        if (read(a.iser, valid) == 0) return;
        a.session.operations().expect(a.message.from, a.tag(),
                                      {read(a.iser, base), Rkey{static_cast<std::uint32_t>(read(a.iser, stag))}, bytes},
                                      a.session.shares());
    };
    // The base of a write is behind the data that came in the message.
    const auto in_message = static_cast<std::uint32_t>(std::min<std::size_t>(length, a.pdu.data_length));
    name_it(named(kControlFields, "iser.flags.wsv"), named(kControlFields, "iser.write_stag"),
            named(kControlFields, "iser.write_base_offset"), length - in_message);
    name_it(named(kControlFields, "iser.flags.rsv"), named(kControlFields, "iser.read_stag"),
            named(kControlFields, "iser.read_base_offset"), length);
}

Understood command(const ReceivedPdu& a) {
    UlpOperation operation;
    operation.requester = a.message.from;
    operation.tag = a.tag();
    operation.bytes = read(a.pdu.header, named(kCommandFields, "iscsi.scsicommand.expecteddatatransferlength"));
    operation.in_message = a.pdu.data_length;
    scsi::fill(operation, read_be<std::uint64_t>(a.pdu.header, kLunMode.bit / 8), slice(a.pdu.header, kCommandHead));
    a.session.begin(operation, a.message);
    expect_memory(a, static_cast<std::uint32_t>(operation.bytes));
    return labelled(UlpLabel::Part::request, operation.code, operation.tag);
}

Understood response(const ReceivedPdu& a) {
    const auto code =
        static_cast<std::uint8_t>(read(a.pdu.header, named(kResponseFields, "iscsi.scsiresponse.response")));
    if (code != 0) return answer(a, a.tag(), false, scsi::status_of(scsi::Voice::response, code));
    const auto status =
        static_cast<std::uint8_t>(read(a.pdu.header, named(kResponseFields, "iscsi.scsiresponse.status")));
    const std::size_t length = read_be<std::uint16_t>(a.pdu.data, 0);
    const auto sense = dissect::scsi::sense_of(slice(a.pdu.data, 2, length));
    if (scsi::succeeded(status)) return answer(a, a.tag(), true, 0);
    return answer(a, a.tag(), false, scsi::status_of(scsi::Voice::device, status, sense));
}

Understood login_request(const ReceivedPdu& a) {
    note_keys(a);
    return ask(a, a.tag());
}

Understood login_response(const ReceivedPdu& a) {
    note_keys(a);
    const auto status =
        static_cast<std::uint32_t>(read(a.pdu.header, named(kLoginResponseFields, "iscsi.login.status")));
    if (status >> 8 >= kFailureClass)
        a.session.event(UlpEventKind::login_failed, a.message, scsi::word(kLoginStatus, status), status);
    return answer(a, a.tag(), status == 0, status);
}

Understood text(const ReceivedPdu& a) {
    note_keys(a);
    return a.pdu.opcode == kTextRequest ? ask(a, a.tag()) : answer(a, a.tag(), true, 0);
}

// Either side may ping. The initiator's has a task tag, the target's a transfer tag; what has neither is no question.
Understood nop(const ReceivedPdu& a) {
    const std::uint64_t transfer_tag = read(a.pdu.header, kTransferTag);
    const bool has_task = a.tag() != kNoTag;
    if (a.pdu.opcode == kNopOut && has_task) return ask(a, a.tag());
    if (a.pdu.opcode == kNopIn && has_task) return answer(a, a.tag(), true, 0);
    if (transfer_tag == kNoTag) return seen();
    return a.pdu.opcode == kNopIn ? ask(a, kTargetsTag | transfer_tag) : answer(a, kTargetsTag | transfer_tag, true, 0);
}

Understood task_management(const ReceivedPdu& a) {
    if (a.pdu.opcode == kTaskRequest) {
        const auto function =
            static_cast<std::uint8_t>(read(a.pdu.header, named(kTaskManagementFields, "iscsi.taskmanfun.function")));
        return ask(a, a.tag(), function,
                   {dissect::scsi::lun_of(read_be<std::uint64_t>(a.pdu.header, kLunMode.bit / 8)),
                    read(a.pdu.header, named(kTaskManagementFields, "iscsi.taskmanfun.referencedtasktag"))});
    }
    const auto said =
        static_cast<std::uint8_t>(read(a.pdu.header, named(kTaskManagementFields, "iscsi.taskmanfun.response")));
    return answer(a, a.tag(), said == 0, said);
}

Understood logout(const ReceivedPdu& a) {
    if (a.pdu.opcode == kLogoutRequest)
        return ask(a, a.tag(), 0, {read(a.pdu.header, named(kLogoutFields, "iscsi.logout.reason")), 0});
    const auto said = static_cast<std::uint8_t>(read(a.pdu.header, named(kLogoutFields, "iscsi.logout.response")));
    return answer(a, a.tag(), said == 0, said);
}

// Data beside RDMA: unsolicited data of a write, and what only iSCSI over TCP would send.
Understood data(const ReceivedPdu& a) {
    const bool out = a.pdu.opcode == kDataOut;
    UlpOperation* operation = a.session.operations().find(out ? a.message.from : a.peer(), a.tag());
    if (operation == nullptr) return seen();
    operation->in_message += a.pdu.data_length;
    const OperationCode code = operation->code;
    if (!out && read(a.pdu.header, named(kDataInFields, "iscsi.scsidata.S")) != 0) {
        const auto status =
            static_cast<std::uint8_t>(read(a.pdu.header, named(kDataInFields, "iscsi.scsiresponse.status")));
        const bool worked = scsi::succeeded(status);
        return answer(a, a.tag(), worked, worked ? 0 : scsi::status_of(scsi::Voice::device, status));
    }
    return labelled(UlpLabel::Part::data, code, a.tag());
}

// Its data segment has the header of what is rejected.
Understood reject(const ReceivedPdu& a) {
    const auto reason = static_cast<std::uint8_t>(read(a.pdu.header, named(kRejectFields, "iscsi.reject.reason")));
    a.session.event(UlpEventKind::error_message, a.message, "rejected: " + scsi::word(kRejectReasons, reason), reason);
    if (a.pdu.data.size() < kBhs) return seen();
    return answer(a, read(a.pdu.data, kTaskTag), false, scsi::status_of(scsi::Voice::reject, reason));
}

Understood asynchronous(const ReceivedPdu& a) {
    constexpr std::uint64_t kDropsConnection = 2, kDropsSession = 3;
    const std::uint64_t event = read(a.pdu.header, named(kAsynchronousFields, "iscsi.asyncevent"));
    const bool ends = event == kDropsConnection || event == kDropsSession;
    a.session.event(ends ? UlpEventKind::terminated : UlpEventKind::error_message, a.message,
                    scsi::word(kAsyncEvents, event), event);
    return seen();
}

struct PduRow {
    std::uint8_t opcode;
    Understood (*take)(const ReceivedPdu&);
};
constexpr std::array kPdus{
    PduRow{kNopOut, nop},
    PduRow{kNopIn, nop},
    PduRow{kCommand, command},
    PduRow{kResponse, response},
    PduRow{kTaskRequest, task_management},
    PduRow{kTaskResponse, task_management},
    PduRow{kLoginRequest, login_request},
    PduRow{kLoginResponse, login_response},
    PduRow{kTextRequest, text},
    PduRow{kTextResponse, text},
    PduRow{kDataOut, data},
    PduRow{kDataIn, data},
    PduRow{kLogoutRequest, logout},
    PduRow{kLogoutResponse, logout},
    PduRow{kReject, reject},
    PduRow{kAsynchronous, asynchronous},
    PduRow{kReadyToTransfer, [](const ReceivedPdu&) { return seen(); }},
    PduRow{kSnack, [](const ReceivedPdu&) { return seen(); }},
};

// Whether the lengths of a PDU agree with the message behind its iSER header.
bool agrees(const Pdu& pdu, std::uint64_t length) {
    const std::size_t without_pad = pdu.length_on_wire - (4 - pdu.data_length % 4) % 4;
    return length >= without_pad && length <= pdu.length_on_wire;
}

Understood hello(const UlpMessage& message, UlpSession& session, std::uint64_t type) {
    if (message.length < iser::kHeader) return {};
    session.conversation().active = type == iser::kHello ? message.from : other(message.from);
    if (type == iser::kHelloReply && read(message.bytes, named(iser::kHelloFields, "iser.flags.rej")) != 0)
        session.event(UlpEventKind::refused, message, "the target rejects the iSER hello");
    return seen();
}

}  // namespace

void IserMachine::connected(const CmAttempt& attempt, UlpSession& session) {
    attempt_ = attempt.uid;
    const auto said = [&](std::string_view fact, const PrivateData& data) {
        const std::uint64_t no_zbva =
            read(Bytes(data.first), named(iser::kPrivateFields, "rdma.iser.cm.zbva_not_supported"));
        const std::uint64_t no_invalidate =
            read(Bytes(data.first), named(iser::kPrivateFields, "rdma.iser.cm.send_inv_not_supported"));
        if (data.room == 0) return;
        session.conversation().note(
            fact,
            no_zbva != 0
                ? (no_invalidate != 0 ? "no zero-based addresses, no SEND with Invalidate" : "no zero-based addresses")
                : (no_invalidate != 0 ? "no SEND with Invalidate" : "zero-based addresses, SEND with Invalidate"));
    };
    said("initiator_iser", attempt.active.private_data);
    said("target_iser", attempt.passive.private_data);
}

Understood IserMachine::message(const UlpMessage& message, UlpSession& session) {
    const Bytes bytes = message.bytes;
    const std::uint64_t type = read(bytes, named(iser::kControlFields, "iser.flags.opcode"));
    if (type == iser::kHello || type == iser::kHelloReply) return hello(message, session, type);
    if (type != iser::kControlType || message.length < iser::kHeader + kBhs) return {};
    if (bytes.size() < iser::kHeader + kBhs) return seen();  // the capture cut it
    const auto pdu = pdu_of(slice(bytes, iser::kHeader));
    if (!pdu || !agrees(*pdu, message.length - iser::kHeader)) return {};
    // Who speaks is told by the opcode, whatever was thought before.
    session.conversation().active = (pdu->opcode & kFromTarget) == 0 ? message.from : other(message.from);
    if (pdu->opcode == kLoginRequest) login_ = message.first_frame;
    else if (pdu->opcode == kLoginResponse) login_.reset();
    const auto row = std::ranges::find(kPdus, pdu->opcode, &PduRow::opcode);
    return row == kPdus.end() ? Understood{} : row->take({message, session, slice(bytes, 0, iser::kHeader), *pdu});
}

void IserMachine::finished(const CmReport& cm, UlpSession& session) {
    if (!attempt_ || !login_) return;
    const auto attempt = std::ranges::find(cm.attempts, *attempt_, &CmAttempt::uid);
    if (attempt == cm.attempts.end() ||
        (attempt->outcome != CmOutcome::disconnected && attempt->outcome != CmOutcome::disconnect_unanswered))
        return;
    const auto release = std::ranges::find(attempt->ladder, CmMessage::dreq, &CmRung::message);
    UlpMessage message;
    message.connection = session.conversation().connection;
    const bool by_active = release != attempt->ladder.end() && release->from_active;
    message.from = by_active ? session.conversation().active : other(session.conversation().active);
    message.time = release == attempt->ladder.end() ? attempt->last_time : release->time;
    message.first_frame = *login_;
    session.event(
        UlpEventKind::login_failed, message,
        by_active ? "the login was given up without an answer" : "the target closed the connection without an answer");
    session.operations().close_all(OperationOutcome::unanswered, session.ended());
}

namespace iser_protocol {

using namespace dissect::iser;

namespace {

// The PDUs whose second byte begins with a bit that is always set (RFC 7143).
constexpr std::array kAlwaysFinal{kNopOut,        kNopIn,          kResponse, kTaskRequest, kTaskResponse,
                                  kLogoutRequest, kLogoutResponse, kReject,   kAsynchronous};

bool memory_agrees(Bytes header) {
    const auto silent = [&](const Field& valid, const Field& stag, const Field& base) {
        return read(header, valid) != 0 || (read(header, stag) == 0 && read(header, base) == 0);
    };
    return silent(named(kControlFields, "iser.flags.wsv"), named(kControlFields, "iser.write_stag"),
                  named(kControlFields, "iser.write_base_offset")) &&
           silent(named(kControlFields, "iser.flags.rsv"), named(kControlFields, "iser.read_stag"),
                  named(kControlFields, "iser.read_base_offset"));
}

Likeness hello_likeness(const UlpMessage& message, std::uint64_t type) {
    constexpr std::size_t kSaid = 4;
    const Bytes reserved = slice(message.bytes, kSaid);
    const bool empty = std::ranges::all_of(reserved, [](std::byte byte) { return byte == std::byte{0}; });
    if (message.length != kHeader || !message.whole() || !empty) return {};
    return {kPlausible - 1, type == kHello};  // too little to go by
}

}  // namespace

Likeness likeness(const UlpMessage& message) {
    constexpr std::uint64_t kReservedBits = 0x03ffffff;  // of the first 4 bytes
    const Bytes bytes = message.bytes;
    const std::uint64_t type = read(slice(bytes, 0, 1), named(kControlFields, "iser.flags.opcode"));
    if (type == kHello || type == kHelloReply) return hello_likeness(message, type);
    if (type != kControlType || bytes.size() < kHeader + kBhs) return {};
    if ((read_be<std::uint32_t>(bytes, 0) & kReservedBits) != 0 || !memory_agrees(bytes)) return {};
    const auto pdu = pdu_of(slice(bytes, kHeader));
    if (!pdu || read(pdu->header, kReserved0) != 0 || !agrees(*pdu, message.length - kHeader)) return {};
    const bool final = read_bits(pdu->header, at(1), 1) != 0;
    if (!final && std::ranges::find(kAlwaysFinal, pdu->opcode) != kAlwaysFinal.end()) return {};
    return {kSure, (pdu->opcode & kFromTarget) == 0};
}

// Linux says there that it has no zero-based addresses; who says nothing is known by the port.
bool private_data(const CmAttempt& attempt) {
    constexpr std::uint8_t kTcp = 6;
    constexpr std::uint16_t kPort = 3260, kSystemPort = 860;  // IANA: iscsi-target, iscsi
    constexpr std::byte kReserved{0x3f};
    if (!attempt.ip || attempt.ip->protocol != kTcp || (attempt.ip->port != kPort && attempt.ip->port != kSystemPort))
        return false;
    const Bytes said = attempt.active.private_data.bytes();
    return said.size() == 1 && (said[0] & kReserved) == std::byte{0};
}

}  // namespace iser_protocol

}  // namespace qps::transport
