#include <dissect/ulp/smb_direct.hpp>
#include <transport-replay/ulp/smb_machine.hpp>
#include <transport-replay/ulp/smb_protocol.hpp>

#include <algorithm>
#include <array>
#include <utility>

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
void learn_request(Bytes bytes, const Smb2Head& head, UlpSession& session) {
    constexpr std::size_t kPathOffset = 4, kPathLength = 6;
    if (head.command != Smb2Command::tree_connect) return;
    const Bytes body = slice(bytes, kSmb2HeaderLength);
    const Bytes path =
        slice(bytes, read_le<std::uint16_t>(body, kPathOffset), read_le<std::uint16_t>(body, kPathLength));
    const std::string share = narrow(path);
    if (!share.ends_with("\\IPC$")) session.conversation().note("share", share);
}

void learn_response(Bytes bytes, const Smb2Head& head, UlpSession& session) {
    constexpr std::size_t kDialect = 4;
    if (head.command != Smb2Command::negotiate || head.status != 0) return;
    const auto dialect = read_le<std::uint16_t>(slice(bytes, kSmb2HeaderLength), kDialect);
    session.conversation().note("dialect", name_in(kSmb2Dialects, dialect));
}

// Data of a READ that is in its response (MS-SMB2 2.2.20).
std::uint64_t data_inside(Bytes bytes, const Smb2Head& head) {
    constexpr std::size_t kLength = 4;
    if (head.command != Smb2Command::read || head.status != 0) return 0;
    return std::min<std::uint64_t>(read_le<std::uint32_t>(slice(bytes, kSmb2HeaderLength), kLength), bytes.size());
}

}  // namespace

Understood SmbMachine::message(const UlpMessage& message, UlpSession& session) {
    const auto type = smb_direct_type(message.bytes, message.length);
    if (!type) return {};
    return *type == SmbDirectType::data ? data(message, session) : negotiation(message, *type, session);
}

Understood SmbMachine::negotiation(const UlpMessage& message, SmbDirectType type, UlpSession& session) {
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
        session.event(UlpEventKind::login_failed, message, name.empty() ? "SMB Direct negotiation failed" : name,
                      status);
        return {.understood = true, .label = {}};
    }
    session.conversation().note("largest transfer", fmt::format("{} bytes", read(message.bytes, kTransfer)));
    session.conversation().note("largest message", fmt::format("{} bytes", read(message.bytes, kReceive)));
    // The client was granted credits; the server will be by the client's first data transfer.
    const auto granted = read(message.bytes, kGranted);
    sides_[static_cast<std::size_t>(other(message.from))].credits = static_cast<std::int64_t>(granted);
    session.credits(static_cast<std::uint32_t>(granted));
    return {.understood = true, .label = {}};
}

// MS-SMBD 3.1.5: a message costs its sender a credit; what it grants, the other side may send.
void SmbMachine::spend_and_grant(const UlpMessage& message, std::uint16_t granted, UlpSession& session) {
    Side& sender = sides_[static_cast<std::size_t>(message.from)];
    Side& peer = sides_[static_cast<std::size_t>(other(message.from))];
    const bool from_client = session.from_active(message);
    const auto say = [&](bool& said, std::string_view words) {
        if (!std::exchange(said, true)) session.event(UlpEventKind::credits_exhausted, message, words, 0);
    };
    if (from_client && wait_.waited(message.begun)) say(said_waited_, kWaitedForCredits);
    if (sender.credits) --*sender.credits;
    if (from_client && sender.credits == 0) wait_.used_last();
    if (from_client && sender.credits && *sender.credits < 0) say(said_exceeded_, kMoreThanGranted);
    if (!peer.credits || granted == 0) return;
    *peer.credits += granted;
    if (!from_client) wait_.granted(message.time);
    if (!session.from_active(message))
        session.credits(static_cast<std::uint32_t>(std::clamp<std::int64_t>(*peer.credits, 0, UINT16_MAX)));
}

Understood SmbMachine::data(const UlpMessage& message, UlpSession& session) {
    const SmbDirectData data = smb_direct_data(message.bytes);
    spend_and_grant(message, data.credits_granted, session);
    if (data.length == 0) return {.understood = true, .label = {}};
    const Bytes bytes = slice(message.bytes, data.offset, data.length);
    Side& side = sides_[static_cast<std::size_t>(message.from)];
    const bool continues = side.announced > 0 && side.announced == std::uint64_t{data.remaining} + data.length;
    if (!continues) {
        side.held.clear();
        side.broken = side.announced == 0 && !smb2_head(bytes) && data.remaining > 0;
    }
    side.announced = data.remaining;
    if (!continues && data.remaining == 0) return {.understood = true, .label = commands(message, bytes, session)};
    const Bytes more = slice(bytes, 0, kMostHeld - std::min(kMostHeld, side.held.size()));
    if (!side.held.append(session.shares().payload, more)) side.broken = true;
    if (data.remaining > 0 || side.broken) return {.understood = true, .label = {}};
    const HeldBytes whole = std::move(side.held);
    side.held = {};
    return {.understood = true, .label = commands(message, whole.bytes(), session)};
}

// All commands of a chain; the label is the first one's.
std::optional<UlpLabel> SmbMachine::commands(const UlpMessage& message, Bytes bytes, UlpSession& session) {
    std::optional<UlpLabel> first;
    previous_.clear();
    while (const auto head = smb2_head(bytes)) {
        const bool chained = head->next >= kSmb2HeaderLength && head->next < bytes.size();
        const Bytes command = slice(bytes, 0, chained ? head->next : bytes.size());
        const UlpLabel labelled =
            head->response ? response(message, command, *head, session) : request(message, command, *head, session);
        if (!first) first = labelled;
        if (!chained) break;
        bytes = slice(bytes, head->next);
    }
    return first;
}

UlpLabel SmbMachine::request(const UlpMessage& message, Bytes bytes, const Smb2Head& head, UlpSession& session) {
    learn_request(bytes, head, session);
    const auto transfer = smb2_transfer(bytes, head);
    UlpOperation operation;
    operation.requester = message.from;
    operation.code = static_cast<OperationCode>(head.command);
    operation.tag = head.message_id;
    operation.one_way = head.command == Smb2Command::cancel;
    name_file(bytes, head, operation);
    if (transfer) {
        operation.subject[0] = transfer->file_offset;
        operation.bytes = transfer->length;
        operation.in_message = transfer->in_message;
    }
    session.begin(operation, message);
    for (std::size_t i = 0; transfer && i < transfer->descriptor_count; ++i) {
        const Smb2Descriptor memory = smb2_descriptor(bytes, transfer->descriptors + i * kSmb2DescriptorLength);
        session.operations().expect(message.from, head.message_id, {memory.offset, Rkey{memory.token}, memory.length},
                                    session.shares());
    }
    return label(UlpLabel::Part::request, head);
}

UlpLabel SmbMachine::response(const UlpMessage& message, Bytes bytes, const Smb2Head& head, UlpSession& session) {
    const UlpLabel labelled = label(UlpLabel::Part::answer, head);
    if (head.status == kPending) return labelled;  // the answer comes later
    learn_response(bytes, head, session);
    const End requester = other(message.from);
    if (UlpOperation* operation = session.operations().find(requester, head.message_id); operation != nullptr) {
        follow_file(bytes, head, *operation);
        if (operation->transfers == 0) operation->in_message += data_inside(bytes, head);
    }
    const bool failed = is_failure(head.status);
    if (failed && head.command == Smb2Command::session_setup) {
        const std::string_view name = name_in(kNtStatusNames, head.status);
        session.event(UlpEventKind::login_failed, message, name.empty() ? "SESSION_SETUP failed" : name, head.status);
    }
    session.end(requester, head.message_id, failed ? OperationOutcome::failed : OperationOutcome::done,
                failed ? head.status : 0, message);
    return labelled;
}

// CREATE has the name, all others the number that its response gave. The number is the second subject.
void SmbMachine::name_file(Bytes bytes, const Smb2Head& head, UlpOperation& operation) {
    const auto id = smb2_file_id(bytes, head);
    if (head.command == Smb2Command::create) {
        previous_ = narrow(smb2_file_name(bytes));
        if (previous_.empty()) previous_ = "\\";  // the share itself
    } else if (!id) {
        return;
    } else if (!id->is_previous()) {
        operation.subject[1] = id->open;
        const auto found = files_.find(id->open);
        previous_ = found == files_.end() ? std::string() : found->second;
    }
    operation.about = previous_;
}

void SmbMachine::follow_file(Bytes bytes, const Smb2Head& head, const UlpOperation& operation) {
    if (head.status != 0) return;
    if (head.command == Smb2Command::close) files_.erase(operation.subject[1]);
    else if (const auto id = smb2_file_id(bytes, head); id && files_.size() < kMostFiles)
        files_.insert_or_assign(id->open, operation.about);
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

// What a program gets that looks whether a file is there, reads to its end, or gives up waiting (MS-ERREF 2.3.1).
bool smb_everyday(std::uint32_t status) {
    constexpr std::array<std::uint32_t, 11> kEveryday{
        0xc000000f,  // NO_SUCH_FILE
        0xc0000011,  // END_OF_FILE
        0xc0000034,  // OBJECT_NAME_NOT_FOUND
        0xc0000035,  // OBJECT_NAME_COLLISION
        0xc000003a,  // OBJECT_PATH_NOT_FOUND
        0xc00000ba,  // FILE_IS_A_DIRECTORY
        0xc0000101,  // DIRECTORY_NOT_EMPTY
        0xc0000103,  // NOT_A_DIRECTORY
        0xc0000120,  // CANCELLED
        0xc000019c,  // FS_DRIVER_REQUIRED: no DFS
        0xc0000225,  // NOT_FOUND
    };
    return std::ranges::find(kEveryday, status) != kEveryday.end();
}

}  // namespace qps::transport
