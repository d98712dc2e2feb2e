#include <dissect/ulp/srp.hpp>
#include <transport-replay/ulp/scsi_operation.hpp>
#include <transport-replay/ulp/srp_machine.hpp>
#include <transport-replay/ulp/srp_protocol.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;
using namespace dissect::srp;

namespace {

constexpr std::int64_t kMostLeft = INT32_MAX;  // a limit is 32 bits; deltas that go beyond are nonsense

OperationCode code_of(std::uint8_t opcode, std::uint8_t detail = 0) {
    return scsi::code_of(scsi::Family::srp, opcode, detail);
}
Understood seen() { return {.understood = true, .label = {}}; }
Understood labelled(UlpLabel::Part part, OperationCode code, std::uint64_t tag) {
    return {.understood = true, .label = UlpLabel{part, UlpProtocol::srp, code, tag}};
}
std::uint64_t tag_of(Bytes unit) { return read(unit, kTag); }

// The login request of a REQ, in either form.
struct Login {
    std::uint64_t tag = 0;
    std::uint64_t formats = 0;
    std::uint64_t flags = 0;
    std::uint64_t length = 0;
    Bytes initiator;
    Bytes target;
};

template <std::size_t N> Login login_of(Bytes bytes, const std::array<Field, N>& fields) {
    const auto port = [&](std::string_view name) {
        const auto field = std::ranges::find(fields, name, &Field::name);
        return slice(bytes, field->bit / 8U, field->width / 8U);
    };
    const auto number = [&](std::string_view name) {
        return read(bytes, *std::ranges::find(fields, name, &Field::name));
    };
    return {number("rdma.srp.tag"),           number("rdma.srp.buf_fmt"),         number("rdma.srp.req_flags"),
            number("rdma.srp.req_it_iu_len"), port("rdma.srp.initiator_port_id"), port("rdma.srp.target_port_id")};
}

bool is_empty(Bytes bytes) {
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

// What no other private data looks like: formats that exist, flags that exist, a length in reason, two names of ports,
// and zeros where they are reserved.
bool is_sane(const Login& login) {
    constexpr std::uint64_t kFormatBits = 0x0006, kFlagBits = 0x81;
    constexpr std::uint64_t kLeast = 64, kMost = std::uint64_t{1} << 20;  // SRP: at least 64; Linux asks for some KiB
    return login.formats != 0 && (login.formats & ~kFormatBits) == 0 && (login.flags & ~kFlagBits) == 0 &&
           login.length >= kLeast && login.length <= kMost && !is_empty(login.initiator) && !is_empty(login.target);
}

std::optional<Login> login_request(const CmAttempt& attempt) {
    const Bytes bytes(attempt.active.private_data.first);
    Login login;
    if (attempt.ip) {
        constexpr std::size_t kReserved = 50;  // behind the offset of immediate data
        if (read(bytes, named(kLoginRequestRdmaFields, "rdma.srp.opcode")) != kLoginRequest) return std::nullopt;
        if (!is_empty(slice(bytes, kReserved))) return std::nullopt;
        login = login_of(bytes, kLoginRequestRdmaFields);
    } else {
        if (!is_empty(slice(bytes, 0, 8)) || !is_empty(slice(bytes, 20, 4)) || !is_empty(slice(bytes, 30, 2)))
            return std::nullopt;
        login = login_of(bytes, kLoginRequestFields);
    }
    return is_sane(login) ? std::optional(login) : std::nullopt;
}

std::string digits(Bytes bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        text += kDigits[std::to_integer<unsigned>(byte) >> 4];
        text += kDigits[std::to_integer<unsigned>(byte) & 0xfU];
    }
    return text;
}

FrameIndex frame_of(const CmAttempt& attempt, CmMessage message) {
    const auto rung = std::ranges::find(attempt.ladder, message, &CmRung::message);
    return rung == attempt.ladder.end() ? attempt.first_frame : rung->frame;
}

// A message of CM as one of the conversation.
UlpMessage message_of(const CmAttempt& attempt, CmMessage kind, End from, ConnectionId connection, Instant time) {
    UlpMessage message;
    message.connection = connection;
    message.from = from;
    message.begun = message.time = time;
    message.first_frame = message.last_frame = frame_of(attempt, kind);
    return message;
}

// Memory that a descriptor of a command names, and how much data it says there is.
std::uint64_t expect_memory(UlpSession& session, const UlpMessage& message, std::uint64_t tag, std::uint8_t format,
                            std::size_t at_byte, std::size_t count) {
    const auto expect = [&](Bytes descriptor) {
        const std::uint64_t length = read(descriptor, named(kDescriptorFields, "rdma.srp.desc.length"));
        const RemoteAccess memory{
            read(descriptor, named(kDescriptorFields, "rdma.srp.desc.address")),
            Rkey{static_cast<std::uint32_t>(read(descriptor, named(kDescriptorFields, "rdma.srp.desc.key")))},
            static_cast<std::uint32_t>(length)};
        session.operations().expect(message.from, tag, memory, session.shares());
        return length;
    };
    if (format == kDirect) return expect(slice(message.bytes, at_byte, kDescriptorLength));
    if (format != kIndirect) return 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Bytes descriptor =
            slice(message.bytes, at_byte + kIndirectLength + i * kDescriptorLength, kDescriptorLength);
        if (descriptor.size() < kDescriptorLength) break;  // the capture cut it
        expect(descriptor);
    }
    return read(slice(message.bytes, at_byte, kIndirectLength), named(kIndirectFields, "rdma.srp.table.data_length"));
}

}  // namespace

void SrpMachine::grant(std::uint32_t delta, Instant time) {
    if (!left_ || delta == 0) return;
    left_ = std::min(*left_ + delta, kMostLeft);
    wait_.granted(time);
}

// The initiator keeps one for task management: the sender of the last one had nothing left to send commands with.
void SrpMachine::use(const UlpMessage& message, UlpSession& session) {
    if (!left_) return;
    if (wait_.waited(message.begun) && !std::exchange(reported_, true))
        session.event(UlpEventKind::credits_exhausted, message, kWaitedForCredits,
                      session.conversation().most_credits.value_or(0));
    if (*left_ > 0) --*left_;
    if (*left_ == 0) wait_.used_last();
}

void SrpMachine::connected(const CmAttempt& attempt, UlpSession& session) {
    const auto login = login_request(attempt);
    if (!login) return;
    UlpConversation& conversation = session.conversation();
    conversation.note("initiator_port", digits(login->initiator));
    conversation.note("target_port", digits(login->target));
    conversation.note("longest_unit_asked", std::to_string(login->length));
    const Bytes answer(attempt.passive.private_data.first);
    const bool answered = attempt.answered && read(answer, kOpcode) == kLoginResponse;
    if (!attempt.requested) return;
    UlpOperation operation;
    operation.requester = conversation.active;
    operation.code = code_of(kLoginRequest);
    operation.tag = login->tag;
    session.begin(operation, message_of(attempt, CmMessage::req, conversation.active, conversation.connection,
                                        *attempt.requested));
    if (!answered) return;
    session.end(
        conversation.active, login->tag, OperationOutcome::done, 0,
        message_of(attempt, CmMessage::rep, other(conversation.active), conversation.connection, *attempt.answered));
    const auto limit = static_cast<std::uint32_t>(read(answer, kDelta));
    left_ = limit;
    session.credits(limit);
    conversation.note("request_limit", std::to_string(limit));
    conversation.note("longest_unit",
                      std::to_string(read(answer, named(kLoginResponseFields, "rdma.srp.max_it_iu_len"))));
}

Understood SrpMachine::command(const UlpMessage& message, UlpSession& session) {
    const CommandShape shape = shape_of(message.bytes);
    if (!shape.valid || shape.end > message.length) return {};
    use(message, session);
    UlpOperation operation;
    operation.requester = message.from;
    operation.tag = tag_of(message.bytes);
    if (shape.out_format == kImmediate) operation.in_message = read_be<std::uint32_t>(message.bytes, shape.out_at);
    scsi::fill(operation, read(message.bytes, kLun), slice(message.bytes, kCommandHead, dissect::scsi::kCdbArea));
    session.begin(operation, message);
    UlpOperation* begun = session.operations().find(operation.requester, operation.tag);
    const std::uint64_t described =
        expect_memory(session, message, operation.tag, shape.out_format, shape.out_at, shape.out_count) +
        expect_memory(session, message, operation.tag, shape.in_format, shape.in_at, shape.in_count);
    if (begun != nullptr) begun->bytes = described + operation.in_message;
    return labelled(UlpLabel::Part::request, operation.code, operation.tag);
}

Understood SrpMachine::response(const UlpMessage& message, UlpSession& session) {
    const Bytes unit = message.bytes;
    const std::uint64_t response_length = read(unit, named(kResponseFields, "rdma.srp.rsp.response_len"));
    const std::uint64_t sense_length = read(unit, named(kResponseFields, "rdma.srp.rsp.sense_len"));
    if (kResponseLength + response_length + sense_length > message.length) return {};
    grant(static_cast<std::uint32_t>(read(unit, kDelta)), message.time);
    const End requester = other(message.from);
    const UlpOperation* operation = session.operations().find(requester, tag_of(unit));
    if (operation == nullptr) return seen();
    const auto status = static_cast<std::uint8_t>(read(unit, named(kResponseFields, "rdma.srp.rsp.status")));
    const bool has_response = read(unit, named(kResponseFields, "rdma.srp.rsp.rspvalid")) != 0 && response_length > 0;
    const auto code =
        static_cast<std::uint8_t>(has_response ? read(unit, named(kResponseFields, "rdma.srp.rsp.code")) : 0);
    std::uint32_t said = 0;
    if (code != 0) {
        said = scsi::status_of(scsi::Voice::response, code);
    } else if (!scsi::succeeded(status)) {
        const bool has_sense = read(unit, named(kResponseFields, "rdma.srp.rsp.snsvalid")) != 0;
        const Bytes sense = slice(unit, kResponseLength + response_length, has_sense ? sense_length : 0);
        said = scsi::status_of(scsi::Voice::device, status, dissect::scsi::sense_of(sense));
    }
    const OperationCode asked = operation->code;
    const std::uint64_t tag = operation->tag;
    session.end(requester, tag, said == 0 ? OperationOutcome::done : OperationOutcome::failed, said, message);
    return labelled(UlpLabel::Part::answer, asked, tag);
}

Understood SrpMachine::task_management(const UlpMessage& message, UlpSession& session) {
    if (message.bytes.size() < kTaskManagementLength) return {};
    use(message, session);
    UlpOperation operation;
    operation.requester = message.from;
    const auto function =
        static_cast<std::uint8_t>(read(message.bytes, named(kTaskManagementFields, "rdma.srp.task_function")));
    operation.code = code_of(kTaskManagement, static_cast<std::uint8_t>(std::bit_width(function)));  // one bit each
    operation.tag = tag_of(message.bytes);
    operation.subject = {dissect::scsi::lun_of(read(message.bytes, kLun)),
                         read(message.bytes, named(kTaskManagementFields, "rdma.srp.task_tag"))};
    session.begin(operation, message);
    return labelled(UlpLabel::Part::request, operation.code, operation.tag);
}

Understood SrpMachine::message(const UlpMessage& message, UlpSession& session) {
    const Bytes unit = message.bytes;
    if (message.length < kShortLength) return {};
    if (unit.size() < kShortLength || (!message.whole() && unit.size() < kCommandLength))
        return seen();  // the capture cut it
    const auto opcode = static_cast<std::uint8_t>(read(unit, kOpcode));
    if (dissect::scsi::name_of(dissect::srp::kOpcodes, opcode).empty()) return {};
    // Who speaks is told by the opcode, whatever was thought before.
    const bool by_initiator = opcode <= kInitiatorLogout || opcode == kCreditResponse || opcode == kEventResponse;
    session.conversation().active = by_initiator ? message.from : other(message.from);
    switch (opcode) {
        case kCommand: return command(message, session);
        case kTaskManagement: return task_management(message, session);
        case kResponse: return message.length < kResponseLength ? Understood{} : response(message, session);
        case kCreditRequest: grant(static_cast<std::uint32_t>(read(unit, kDelta)), message.time); return seen();
        case kInitiatorLogout: {
            UlpOperation operation;
            operation.requester = message.from;
            operation.code = code_of(opcode);
            operation.tag = tag_of(unit);
            operation.one_way = true;
            session.begin(operation, message);
            return labelled(UlpLabel::Part::request, operation.code, operation.tag);
        }
        case kTargetLogout: {
            const std::uint64_t reason = read(unit, named(kShortFields, "rdma.srp.logout_reason"));
            session.event(UlpEventKind::terminated, message,
                          "logout by the target: " + scsi::word(kLogoutReasons, reason), reason);
            return seen();
        }
        case kEventRequest: {
            if (message.length < kEventLength) return {};
            grant(static_cast<std::uint32_t>(read(unit, kDelta)), message.time);
            const auto sense = dissect::scsi::sense_of(slice(unit, kEventLength));
            session.event(UlpEventKind::error_message, message,
                          "event: " + scsi::word(dissect::scsi::kSenseCodes, sense.code), sense.code);
            return seen();
        }
        default: return seen();
    }
}

namespace srp_protocol {

namespace {

constexpr std::uint8_t kPossible = 10;  // nothing against it, and too little for it

bool reserved_empty(Bytes command) {
    return std::ranges::all_of(kCommandFields,
                               [&](const Field& field) { return !field.name.empty() || read(command, field) == 0; });
}

Likeness command_likeness(const UlpMessage& message) {
    constexpr std::uint64_t kMostPad = 64;  // between descriptor and immediate data
    const Bytes unit = message.bytes;
    const CommandShape shape = shape_of(unit);
    if (!shape.valid || !reserved_empty(unit)) return {};
    if (dissect::scsi::name_of(dissect::scsi::kOpcodes, read_be<std::uint8_t>(unit, kCommandHead)).empty()) return {};
    if (shape.out_format == kImmediate) {
        const std::uint64_t end = shape.end + read_be<std::uint32_t>(unit, shape.out_at);
        return message.length >= end && message.length <= end + kMostPad ? Likeness{kSure, true} : Likeness{};
    }
    if (message.length != shape.end) return {};
    return {shape.end > kCommandLength ? kSure : kPossible, true};
}

Likeness response_likeness(const UlpMessage& message) {
    constexpr std::uint64_t kMostDelta = 4096, kFlagBits = 0x3f;
    const Bytes unit = message.bytes;
    if (unit.size() < kResponseLength) return {};
    const std::uint64_t length = kResponseLength + read(unit, named(kResponseFields, "rdma.srp.rsp.response_len")) +
                                 read(unit, named(kResponseFields, "rdma.srp.rsp.sense_len"));
    const std::uint64_t delta = read(unit, kDelta);
    const bool reserved = read_be<std::uint16_t>(unit, 2) == 0 && read_be<std::uint16_t>(unit, 16) == 0;
    const bool flags = read(unit, named(kResponseFields, "rdma.srp.rsp.flags")) <= kFlagBits;
    const bool status =
        !dissect::scsi::name_of(dissect::scsi::kStatus, read(unit, named(kResponseFields, "rdma.srp.rsp.status")))
             .empty();
    if (!reserved || !flags || !status || message.length != length || delta > kMostDelta) return {};
    return {delta > 0 ? kSure : kPossible, false};
}

}  // namespace

Likeness likeness(const UlpMessage& message) {
    constexpr std::uint64_t kMostNotification = 3;
    const Bytes unit = message.bytes;
    if (unit.size() < kShortLength) return {};
    const auto opcode = static_cast<std::uint8_t>(read(unit, kOpcode));
    if (read(unit, kNotification) > kMostNotification) return {};
    switch (opcode) {
        case kCommand: return command_likeness(message);
        case kResponse: return response_likeness(message);
        case kTaskManagement: return message.length == kTaskManagementLength ? Likeness{kPossible, true} : Likeness{};
        case kInitiatorLogout:
        case kCreditResponse:
        case kEventResponse: return message.length == kShortLength ? Likeness{kPossible, true} : Likeness{};
        case kTargetLogout:
        case kCreditRequest: return message.length == kShortLength ? Likeness{kPossible, false} : Likeness{};
        case kEventRequest: return message.length >= kEventLength ? Likeness{kPossible, false} : Likeness{};
        default: return {};
    }
}

bool private_data(const CmAttempt& attempt) { return login_request(attempt).has_value(); }

void attempt(const CmAttempt& attempt, UlpReport& report) {
    if (!attempt.rejection) return;
    const Bytes said(attempt.rejection->private_data.first);
    if (read(said, kOpcode) != kLoginReject) return;
    const std::uint64_t reason = read(said, named(kLoginRejectFields, "rdma.srp.rej_reason"));
    report.add({.kind = UlpEventKind::refused,
                .protocol = UlpProtocol::srp,
                .connection = {},
                .cm_attempt = attempt.uid,
                .frame = frame_of(attempt, CmMessage::rej),
                .time = attempt.answered.value_or(attempt.last_time),
                .by_active = attempt.rejection->by_active,
                .number = reason,
                .words = "login rejected: " + scsi::word(kRejectReasons, reason)});
}

}  // namespace srp_protocol

}  // namespace qps::transport
