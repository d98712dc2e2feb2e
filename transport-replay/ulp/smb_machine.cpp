#include <dissect/ulp/smb_direct.hpp>
#include <transport-replay/ulp/smb_machine.hpp>
#include <transport-replay/ulp/smb_protocol.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint32_t kPending = 0x00000103;
constexpr std::uint32_t kMoreProcessing = 0xc0000016;  // a log-in of several steps goes on
constexpr std::uint32_t kFirstError = 0xc0000000;      // severity 3 (MS-ERREF 2.3)

bool is_failure(std::uint32_t status) { return status >= kFirstError && status != kMoreProcessing; }

UlpLabel label(UlpLabel::Part part, const Smb2Head& head) {
    return {part, UlpProtocol::smb_direct, static_cast<OperationCode>(head.command), head.message_id};
}

// UTF-16LE as far as it is ASCII.
std::string narrow(Bytes wide) {
    std::string text;
    for (std::size_t i = 0; i + 1 < wide.size() && text.size() < kMaxFactBytes; i += 2) {
        const auto unit = read_le<std::uint16_t>(wide, i);
        text += unit >= ' ' && unit <= '~' ? static_cast<char>(unit) : '.';
    }
    return text;
}

// What a request says of the session: the share that it connects to (MS-SMB2 2.2.9).
void learn_request(Bytes bytes, const Smb2Head& head, Talk& talk) {
    constexpr std::size_t kPathOffset = 4, kPathLength = 6;
    if (head.command != Smb2Command::tree_connect) return;
    const Bytes body = slice(bytes, kSmb2HeaderLength);
    const Bytes path = slice(bytes, read_le<std::uint16_t>(body, kPathOffset), read_le<std::uint16_t>(body, kPathLength));
    const std::string share = narrow(path);
    if (!share.ends_with("\\IPC$")) talk.conversation().note("share", share);
}

void learn_response(Bytes bytes, const Smb2Head& head, Talk& talk) {
    constexpr std::size_t kDialect = 4;
    if (head.command != Smb2Command::negotiate || head.status != 0) return;
    const auto dialect = read_le<std::uint16_t>(slice(bytes, kSmb2HeaderLength), kDialect);
    talk.conversation().note("dialect", name_in(kSmb2Dialects, dialect));
}

// Data of a READ that is in its response (MS-SMB2 2.2.20).
std::uint64_t data_inside(Bytes bytes, const Smb2Head& head) {
    constexpr std::size_t kLength = 4;
    if (head.command != Smb2Command::read || head.status != 0) return 0;
    return std::min<std::uint64_t>(read_le<std::uint32_t>(slice(bytes, kSmb2HeaderLength), kLength), bytes.size());
}

}  // namespace

Understood SmbMachine::message(const UlpMessage& message, Talk& talk) {
    const auto type = smb_direct_type(message.bytes, message.length);
    if (!type) return {};
    return *type == SmbDirectType::data ? data(message, talk) : negotiation(message, *type, talk);
}

Understood SmbMachine::negotiation(const UlpMessage& message, SmbDirectType type, Talk& talk) {
    static constexpr Field kStatus = named(kSmbDirectResponseFields, "smb_direct.status");
    static constexpr Field kGranted = named(kSmbDirectResponseFields, "smb_direct.credits.granted");
    static constexpr Field kTransfer = named(kSmbDirectResponseFields, "smb_direct.max_read_write_size");
    static constexpr Field kReceive = named(kSmbDirectResponseFields, "smb_direct.max_receive_size");
    if (type == SmbDirectType::request) {
        sides_ = {};
        return {.understood = true, .label = {}};
    }
    const auto status = static_cast<std::uint32_t>(read(message.bytes, kStatus));
    if (status != 0) {
        const std::string_view name = name_in(kNtStatusNames, status);
        talk.event(UlpEventKind::login_failed, message, name.empty() ? "SMB Direct negotiation failed" : name, status);
        return {.understood = true, .label = {}};
    }
    talk.conversation().note("largest transfer", fmt::format("{} bytes", read(message.bytes, kTransfer)));
    talk.conversation().note("largest message", fmt::format("{} bytes", read(message.bytes, kReceive)));
    // The client was granted credits; the server will be by the client's first data transfer.
    const auto granted = read(message.bytes, kGranted);
    sides_[static_cast<std::size_t>(other(message.from))].credits = static_cast<std::int64_t>(granted);
    talk.credits(static_cast<std::uint32_t>(granted));
    return {.understood = true, .label = {}};
}

// MS-SMBD 3.1.5: a message costs its sender a credit; what it grants, the other side may send.
void SmbMachine::spend_and_grant(const UlpMessage& message, std::uint16_t granted, Talk& talk) {
    Side& sender = sides_[static_cast<std::size_t>(message.from)];
    Side& peer = sides_[static_cast<std::size_t>(other(message.from))];
    if (sender.credits) --*sender.credits;
    if (sender.credits && *sender.credits <= 0 && talk.from_active(message) && !told_credits_) {
        told_credits_ = true;
        talk.event(UlpEventKind::credits_used_up, message, "the client has sent as many messages as the server granted credits", 0);
    }
    if (!peer.credits || granted == 0) return;
    *peer.credits += granted;
    if (!talk.from_active(message)) talk.credits(static_cast<std::uint32_t>(std::clamp<std::int64_t>(*peer.credits, 0, UINT16_MAX)));
}

Understood SmbMachine::data(const UlpMessage& message, Talk& talk) {
    const SmbDirectData data = smb_direct_data(message.bytes);
    spend_and_grant(message, data.credits_granted, talk);
    if (data.length == 0) return {.understood = true, .label = {}};
    const Bytes bytes = slice(message.bytes, data.offset, data.length);
    Side& side = sides_[static_cast<std::size_t>(message.from)];
    const bool continues = side.announced > 0 && side.announced == std::uint64_t{data.remaining} + data.length;
    if (!continues) {
        side.held.clear();
        side.broken = side.announced == 0 && !smb2_head(bytes) && data.remaining > 0;
    }
    side.announced = data.remaining;
    if (!continues && data.remaining == 0) return {.understood = true, .label = commands(message, bytes, talk)};
    const Bytes more = slice(bytes, 0, kMostHeld - std::min(kMostHeld, side.held.size()));
    side.held.insert(side.held.end(), more.begin(), more.end());
    if (data.remaining > 0 || side.broken) return {.understood = true, .label = {}};
    const std::vector<std::byte> whole = std::move(side.held);
    side.held = {};
    return {.understood = true, .label = commands(message, whole, talk)};
}

// All commands of a chain; the label is the first one's.
std::optional<UlpLabel> SmbMachine::commands(const UlpMessage& message, Bytes bytes, Talk& talk) {
    std::optional<UlpLabel> first;
    while (const auto head = smb2_head(bytes)) {
        const bool chained = head->next >= kSmb2HeaderLength && head->next < bytes.size();
        const Bytes command = slice(bytes, 0, chained ? head->next : bytes.size());
        const UlpLabel told = head->response ? response(message, command, *head, talk) : request(message, command, *head, talk);
        if (!first) first = told;
        if (!chained) break;
        bytes = slice(bytes, head->next);
    }
    return first;
}

UlpLabel SmbMachine::request(const UlpMessage& message, Bytes bytes, const Smb2Head& head, Talk& talk) {
    learn_request(bytes, head, talk);
    const auto transfer = smb2_transfer(bytes, head);
    UlpOperation operation;
    operation.requester = message.from;
    operation.code = static_cast<OperationCode>(head.command);
    operation.tag = head.message_id;
    operation.one_way = head.command == Smb2Command::cancel;
    if (transfer) {
        operation.subject = {transfer->file_offset, 0};
        operation.bytes = transfer->length;
        operation.in_message = transfer->in_message;
    }
    talk.begin(operation, message);
    for (std::size_t i = 0; transfer && i < transfer->descriptor_count; ++i) {
        const Smb2Descriptor memory = smb2_descriptor(bytes, transfer->descriptors + i * kSmb2DescriptorLength);
        talk.operations().expect(message.from, head.message_id, {memory.offset, Rkey{memory.token}, memory.length});
    }
    return label(UlpLabel::Part::request, head);
}

UlpLabel SmbMachine::response(const UlpMessage& message, Bytes bytes, const Smb2Head& head, Talk& talk) {
    const UlpLabel told = label(UlpLabel::Part::answer, head);
    if (head.status == kPending) return told;  // the answer comes later
    learn_response(bytes, head, talk);
    const End requester = other(message.from);
    if (UlpOperation* operation = talk.operations().find(requester, head.message_id); operation != nullptr && operation->transfers == 0)
        operation->in_message += data_inside(bytes, head);
    const bool failed = is_failure(head.status);
    if (failed && head.command == Smb2Command::session_setup) {
        const std::string_view name = name_in(kNtStatusNames, head.status);
        talk.event(UlpEventKind::login_failed, message, name.empty() ? "SESSION_SETUP failed" : name, head.status);
    }
    talk.end(requester, head.message_id, failed ? OperationOutcome::failed : OperationOutcome::done, failed ? head.status : 0, message);
    return told;
}

Likeness smb_likeness(const UlpMessage& message) {
    const auto type = smb_direct_type(message.bytes, message.length);
    if (!type) return {};
    if (*type != SmbDirectType::data) return {kSure, *type == SmbDirectType::request};
    const SmbDirectData data = smb_direct_data(message.bytes);
    constexpr std::uint8_t kPossible = 10;  // an empty one, or a later fragment, is like much else
    if (data.length == 0) return {kPossible, false};
    const auto head = smb2_head(slice(message.bytes, data.offset));
    if (!head) return {kPossible, false};
    return {kSure, !head->response};
}

std::string_view smb_operation_name(OperationCode code) {
    const std::string_view name = name_in(kSmb2CommandNames, std::to_underlying(code));
    return name.empty() ? "SMB2 command" : name;
}

std::string smb_description(const UlpOperation& operation) {
    if (operation.bytes == 0) return {};
    return fmt::format("offset {}, {} bytes", operation.subject[0], operation.bytes);
}

std::string smb_status(const UlpOperation& operation) {
    const std::string_view name = name_in(kNtStatusNames, operation.status);
    return name.empty() ? fmt::format("NTSTATUS {:#010x}", operation.status) : std::string(name);
}

}  // namespace qps::transport
