#include <dissect/ulp/lnet.hpp>
#include <dissect/ulp/lustre.hpp>
#include <transport-replay/ulp/lnet_machine.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kType = named(kLnetIbFields, "lnet.ib.type");
constexpr Field kVersion = named(kLnetIbFields, "lnet.ib.version");
constexpr Field kLengthField = named(kLnetIbFields, "lnet.ib.nob");
constexpr Field kDepth = named(kLnetConnectFields, "lnet.connparam.qdepth");
constexpr Field kMostPieces = named(kLnetConnectFields, "lnet.connparam.max_frags");
constexpr Field kLongest = named(kLnetConnectFields, "lnet.connparam.max_size");
constexpr Field kKind = named(kLnetHeaderFields, "lnet.msg_type");
constexpr Field kPayload = named(kLnetHeaderFields, "lnet.payload_length");
constexpr Field kHandle = named(kLnetHeaderFields, "lnet.msg_dst_object_cookie");
constexpr Field kPutMatch = named(kLnetHeaderFields, "lnet.msg_dst_match_bits");
constexpr Field kPutPortal = named(kLnetHeaderFields, "lnet.ptl_index");
constexpr Field kPutOffset = named(kLnetHeaderFields, "lnet.offset");
constexpr Field kSink = named(kLnetHeaderFields, "lnet.sink_length");
constexpr Field kCookie = named(kLnetCookieFields, "lnet.o2ib.cookie");
constexpr Field kSourceCookie = named(kLnetPutAckFields, "lnet.o2ib.src_cookie");
constexpr Field kDestinationCookie = named(kLnetPutAckFields, "lnet.o2ib.dest_cookie");
constexpr Field kEnded = named(kLnetCompletionFields, "lnet.o2ib.cookie");
constexpr Field kStatus = named(kLnetCompletionFields, "lnet.o2ib.status");
constexpr Field kKey = named(kLnetMemoryFields, "lnet.rdma.key");
constexpr Field kPieces = named(kLnetMemoryFields, "lnet.rdma.nfrags");
constexpr Field kPieceLength = named(kLnetMemoryFields, "lnet.rdma_frag.size");
constexpr Field kPieceAddress = named(kLnetMemoryFields, "lnet.rdma_frag.addr");

constexpr std::uint16_t kGetPortalAt = at(56);
constexpr std::uint64_t kNoHandle = ~std::uint64_t{0};
constexpr std::uint64_t kOfHandle = std::uint64_t{1}
                                    << 63;  // tags of immediate messages, apart from the cookies of others
constexpr std::uint64_t kOfXid = std::uint64_t{1} << 62;     // tags of requests of Lustre; XIDs are smaller
constexpr std::size_t kRequest = kLnetIb + kLnetHeader + 8;  // behind which a GET_REQ names memory

// What o2iblnd says beside a refusal.
constexpr std::array kRefusals{ValueName{1, "both sides connect to each other at the same time"},
                               ValueName{2, "no resources"},
                               ValueName{3, "fatal"},
                               ValueName{4, "incompatible version"},
                               ValueName{5, "stale: the peer has restarted"},
                               ValueName{6, "another number of pieces of memory"},
                               ValueName{7, "another depth of the queue"},
                               ValueName{8, "no such service"},
                               ValueName{9, "too early: the peer is not ready"}};

// Portals of data, to which no reply goes.
constexpr std::array<std::uint64_t, 3> kBulkPortals{8, 14, 33};

constexpr std::int32_t kNoEntry = 2;  // ENOENT

// Statuses of ptlrpc, apart from those of LNet: the lower bits of a number that is negative or positive.
constexpr std::uint32_t kOfRequest = 0x01000000, kStatusNumber = 0x00ffffff;
constexpr std::uint32_t request_status(std::uint32_t status) {
    return status == 0 ? 0 : kOfRequest | (status & kStatusNumber);
}
constexpr bool is_request_status(std::uint32_t status) { return (status & ~kStatusNumber) == kOfRequest; }
constexpr std::int32_t request_number(std::uint32_t status) {
    constexpr std::uint32_t kSign = 0x00800000;
    return static_cast<std::int32_t>((status & kStatusNumber) | ((status & kSign) != 0 ? 0xff000000U : 0U));
}

constexpr std::uint64_t tag_of_xid(std::uint64_t match) { return (match & ~kOfHandle) | kOfXid; }

}  // namespace

struct LnetMachine::Read {
    const UlpMessage& message;
    LnetOrder order;
    // Of a header that starts so far behind the beginning.
    [[nodiscard]] std::uint64_t operator()(Field field, std::size_t offset = 0) const {
        field.little = order == LnetOrder::little;
        return read(slice(message.bytes, offset), field);
    }
    [[nodiscard]] bool has(std::size_t bytes) const { return message.bytes.size() >= bytes; }
};

namespace {

template <class Reader>
void expect_memory(const Reader& from, std::size_t offset, End owner, End requester, std::uint64_t tag,
                   UlpSession& session) {
    const std::uint64_t pieces = std::min<std::uint64_t>(from(kPieces, offset), kMostLnetPieces);
    const auto key = static_cast<Rkey>(from(kKey, offset));
    for (std::uint64_t i = 0; i < pieces; ++i) {
        const std::size_t piece = offset + i * kLnetPiece;
        if (!from.has(piece + kLnetMemory + kLnetPiece)) return;
        const RemoteAccess memory{from(kPieceAddress, piece), key,
                                  static_cast<std::uint32_t>(from(kPieceLength, piece))};
        session.operations().expect_of(owner, requester, tag, memory, session.shares());
    }
}

}  // namespace

namespace lnet {

Likeness likeness(const UlpMessage& message) {
    const LnetOrder order = lnet_order(message.bytes);
    if (order == LnetOrder::none) return {};
    Field length = kLengthField;
    length.little = order == LnetOrder::little;
    return {read(message.bytes, length) == message.length ? kSure : kPlausible, false};
}

bool is_private_data(const CmAttempt& attempt) {
    return lnet_order(attempt.active.private_data.first) != LnetOrder::none;
}

std::string_view operation_name(OperationCode code) {
    if (is_request(code)) {
        const std::string_view name =
            name_in(lustre::kOpcodes, static_cast<std::uint16_t>(code) - std::uint64_t{kFirstRequest});
        return name.empty() ? "Lustre request" : name;
    }
    switch (code) {
        case kPut: return "PUT";
        case kGet: return "GET";
        case kShortPut: return "PUT (immediate)";
        case kShortGet: return "GET (immediate)";
        case kHello: return "HELLO";
        default: return "LNet";
    }
}

std::string describe(const UlpOperation& operation) {
    if (operation.code == kHello) return {};
    if (is_request(operation.code)) {
        const std::string xid = fmt::format("XID {}", operation.tag & ~kOfXid);
        if (operation.bytes == 0) return xid;
        return fmt::format("object {}, offset {}, {} bytes, {}", operation.subject[0], operation.subject[1],
                           operation.bytes, xid);
    }
    const auto portal = std::ranges::find(kLnetPortals, operation.subject[1], &ValueName::value);
    const std::string name =
        portal == kLnetPortals.end() ? fmt::format("portal {}", operation.subject[1]) : std::string(portal->name);
    return fmt::format("{}, match bits 0x{:x}", name, operation.subject[0]);
}

std::string status(const UlpOperation& operation) {
    const bool of_request = is_request_status(operation.status);
    const std::int32_t number =
        of_request ? request_number(operation.status) : static_cast<std::int32_t>(operation.status);
    if (of_request && number == -kNoEntry) return fmt::format("no such file or object ({})", number);
    constexpr std::array kErrors{ValueName{5, "I/O error"},
                                 ValueName{12, "out of memory"},
                                 ValueName{71, "protocol error"},
                                 ValueName{103, "connection aborted"},
                                 ValueName{110, "timed out"},
                                 ValueName{113, "no route to host"},
                                 ValueName{2, "no matching receive"},
                                 ValueName{90, "message too long"},
                                 ValueName{104, "connection reset"},
                                 ValueName{1, "not permitted"},
                                 ValueName{11, "try again"},
                                 ValueName{13, "permission denied"},
                                 ValueName{16, "busy"},
                                 ValueName{17, "file exists"},
                                 ValueName{19, "no such device"},
                                 ValueName{22, "invalid argument"},
                                 ValueName{28, "no space"},
                                 ValueName{30, "read-only file system"},
                                 ValueName{39, "not empty"},
                                 ValueName{61, "no such attribute"},
                                 ValueName{95, "not supported"},
                                 ValueName{107, "not connected"},
                                 ValueName{108, "shut down"},
                                 ValueName{114, "already in progress"},
                                 ValueName{115, "in progress"},
                                 ValueName{116, "stale handle"},
                                 ValueName{122, "quota exceeded"}};
    const auto error = std::ranges::find(kErrors, static_cast<std::uint64_t>(-std::int64_t{number}), &ValueName::value);
    return error == kErrors.end() ? fmt::format("status {}", number) : fmt::format("{} ({})", error->name, number);
}

// What programs get that look for files, attributes and directories, and what a server says of a request that it still
// works on.
bool everyday(std::uint32_t status) {
    constexpr std::array<std::int32_t, 5> kEveryday{-kNoEntry, -17, -39, -61, -115};
    return is_request_status(status) && std::ranges::find(kEveryday, request_number(status)) != kEveryday.end();
}

void attempt(const CmAttempt& attempt, UlpReport& report) {
    if (!attempt.rejection || attempt.rejection->by_active) return;
    const Bytes bytes = slice(attempt.rejection->private_data.first, 0, attempt.rejection->private_data.room);
    const bool little = read_le<std::uint32_t>(bytes, 0) == kLnetMagic;
    if (!little && read_be<std::uint32_t>(bytes, 0) != kLnetMagic) return;
    const std::uint64_t why = read_be<std::uint8_t>(bytes, 6);
    const auto words = std::ranges::find(kRefusals, why, &ValueName::value);
    report.add({.kind = UlpEventKind::refused,
                .protocol = UlpProtocol::lnet,
                .connection = {},
                .cm_attempt = attempt.uid,
                .frame = attempt.last_frame,
                .time = attempt.last_time,
                .by_active = false,
                .number = why,
                .words = words == kRefusals.end() ? fmt::format("reason {}", why) : std::string(words->name)});
}

}  // namespace lnet

void LnetMachine::connected(const CmAttempt& attempt, UlpSession& session) {
    for (const CmSide* side : {&attempt.passive, &attempt.active}) {  // what the passive side answers holds
        UlpMessage message;
        message.bytes = side->private_data.first;
        const Read from{message, lnet_order(message.bytes)};
        if (from.order == LnetOrder::none) continue;
        UlpConversation& conversation = session.conversation();
        conversation.note("version", from(kVersion) == 0x12 ? "2" : "1");
        conversation.note("queue depth", fmt::format("{}", from(kDepth, kLnetIb)));
        conversation.note("pieces of memory", fmt::format("{}", from(kMostPieces, kLnetIb)));
        conversation.note("longest message", fmt::format("{}", from(kLongest, kLnetIb)));
        if (side == &attempt.passive) session.credits(static_cast<std::uint32_t>(from(kDepth, kLnetIb)));
    }
}

Understood LnetMachine::message(const UlpMessage& message, UlpSession& session) {
    const Read from{message, lnet_order(message.bytes)};
    if (from.order == LnetOrder::none) return {};
    switch (static_cast<LnetType>(from(kType))) {
        case LnetType::put_request:
        case LnetType::get_request: return take_request(from, session);
        case LnetType::immediate: return take_immediate(from, session);
        case LnetType::put_ack: return take_put_ack(from, session);
        case LnetType::put_nak:
        case LnetType::put_done:
        case LnetType::get_done: return take_end(from, session);
        case LnetType::noop: return {.understood = true, .label = {}};
        case LnetType::connection_request:
        case LnetType::connection_ack: break;  // only in private data
    }
    return {};
}

Understood LnetMachine::take_request(const Read& from, UlpSession& session) {
    if (!from.has(kRequest)) return {};
    const bool put = static_cast<LnetType>(from(kType)) == LnetType::put_request;
    UlpOperation operation;
    operation.requester = from.message.from;
    operation.code = put ? lnet::kPut : lnet::kGet;
    operation.tag = from(kCookie, kLnetIb + kLnetHeader);
    Field portal = kPutPortal;
    if (!put) portal.bit = kGetPortalAt;
    operation.subject = {from(kPutMatch, kLnetIb), from(portal, kLnetIb)};
    operation.bytes = from(put ? kPayload : kSink, kLnetIb);
    const UlpLabel label{UlpLabel::Part::request, UlpProtocol::lnet, operation.code, operation.tag};
    session.begin(operation, from.message);
    if (put) {  // a reply that is too long for a message
        const std::uint64_t asked = tag_of_xid(operation.subject[0]);
        const bool bulk = std::ranges::find(kBulkPortals, operation.subject[1]) != kBulkPortals.end();
        if (!bulk && session.operations().find(other(from.message.from), asked) != nullptr &&
            replying_.size() < OpenOperations::kMaxOpen)
            replying_[label.tag] = asked;
    }
    if (!put) expect_memory(from, kRequest, from.message.from, from.message.from, label.tag, session);
    return {.understood = true, .label = label};
}

Understood LnetMachine::take_immediate(const Read& from, UlpSession& session) {
    if (!from.has(kLnetIb + kLnetHeader)) return {};
    const std::uint64_t handle = from(kHandle, kLnetIb);
    const std::uint64_t tag = handle | kOfHandle;
    const std::uint64_t bytes = from(kPayload, kLnetIb);
    const auto said = static_cast<LnetMessage>(from(kKind, kLnetIb));
    if (said == LnetMessage::put && from.order == LnetOrder::little)
        if (const auto asks = lustre::said_by(slice(from.message.bytes, kLnetIb + kLnetHeader)))
            return take_lustre(from, *asks, session);
    UlpOperation operation;
    operation.requester = from.message.from;
    operation.tag = tag;
    operation.bytes = bytes;
    operation.in_message = std::min(bytes, from.message.length);
    operation.subject = {from(kPutMatch, kLnetIb), from(kPutPortal, kLnetIb)};
    switch (said) {
        case LnetMessage::ack:
        case LnetMessage::reply: {
            const OperationCode code = said == LnetMessage::ack ? lnet::kShortPut : lnet::kShortGet;
            if (UlpOperation* asked = session.operations().find(other(from.message.from), tag); asked != nullptr)
                asked->in_message += std::min(bytes, from.message.length);
            const bool found = session.end(other(from.message.from), tag, OperationOutcome::done, 0, from.message);
            static_cast<void>(found);  // an ACK may be of a PUT by RDMA, which had its end
            return {.understood = true, .label = UlpLabel{UlpLabel::Part::answer, UlpProtocol::lnet, code, tag}};
        }
        case LnetMessage::put:
            operation.code = lnet::kShortPut;
            operation.one_way = handle == kNoHandle;
            break;
        case LnetMessage::get: {
            Field portal = kPutPortal;
            portal.bit = kGetPortalAt;
            operation.code = lnet::kShortGet;
            operation.subject[1] = from(portal, kLnetIb);
            operation.bytes = from(kSink, kLnetIb);
            break;
        }
        case LnetMessage::hello:
            operation.code = lnet::kHello;
            operation.one_way = true;
            break;
        default: return {};
    }
    session.begin(operation, from.message);
    return {.understood = true, .label = UlpLabel{UlpLabel::Part::request, UlpProtocol::lnet, operation.code, tag}};
}

// The XID of a request is not in it but in the match bits of the PUT. Who has several networks may answer on another
// connection.
Understood LnetMachine::take_lustre(const Read& from, const lustre::Said& said, UlpSession& session) {
    const std::uint64_t tag = tag_of_xid(from(kPutMatch, kLnetIb));
    const auto code = static_cast<OperationCode>(lnet::kFirstRequest + (said.opcode & 0x7ff));
    Understood understood{.understood = true, .label = UlpLabel{UlpLabel::Part::answer, UlpProtocol::lnet, code, tag}};
    understood.exchange = tag ^ std::uint64_t{said.opcode} << 48;  // both ends number their own requests
    if (said.type == lustre::kRequest) {
        understood.label->part = UlpLabel::Part::request;
        UlpOperation operation;
        operation.requester = from.message.from;
        operation.code = code;
        operation.tag = tag;
        operation.subject = {said.object, said.offset};
        operation.bytes = said.bytes;
        operation.in_message = std::min(from(kPayload, kLnetIb), from.message.length);
        if (!said.adaptive_timeouts && plain_.size() < OpenOperations::kMaxOpen) plain_[tag] = true;
        session.begin(operation, from.message);
        return understood;
    }
    // A server that needs more time says so before: at the start of the room for the reply, which itself comes behind
    // (ptlrpc's reply_in_callback()).
    const bool early =
        from(kPutOffset, kLnetIb) == 0 && said.buffers == 1 && said.type == lustre::kReply && !plain_.contains(tag);
    if (early) {
        understood.label->part = UlpLabel::Part::data;
        understood.exchange.reset();
        return understood;
    }
    plain_.erase(tag);
    const bool failed = said.type == lustre::kError || static_cast<std::int32_t>(said.status) < 0;
    const bool found =
        session.end(other(from.message.from), tag, failed ? OperationOutcome::failed : OperationOutcome::done,
                    request_status(said.status), from.message);
    if (failed && !found) understood.exchange.reset();  // what another connection learns is that it was done
    return understood;
}

Understood LnetMachine::take_put_ack(const Read& from, UlpSession& session) {
    if (!from.has(kLnetIb + 16)) return {};
    const std::uint64_t tag = from(kSourceCookie, kLnetIb);
    const End requester = other(from.message.from);
    if (accepted_.size() < OpenOperations::kMaxOpen) accepted_[from(kDestinationCookie, kLnetIb)] = tag;
    expect_memory(from, kLnetIb + 16, from.message.from, requester, tag, session);
    return {.understood = true, .label = UlpLabel{UlpLabel::Part::data, UlpProtocol::lnet, lnet::kPut, tag}};
}

Understood LnetMachine::take_end(const Read& from, UlpSession& session) {
    if (!from.has(kLnetIb + kLnetCompletion)) return {};
    const auto type = static_cast<LnetType>(from(kType));
    std::uint64_t tag = from(kEnded, kLnetIb);
    const bool by_requester = type == LnetType::put_done;
    if (by_requester) {
        const auto found = accepted_.find(tag);
        if (found != accepted_.end()) {
            tag = found->second;
            accepted_.erase(found);
        }
        const auto answers = replying_.find(tag);
        if (answers != replying_.end()) {
            const bool replied =
                session.end(other(from.message.from), answers->second, OperationOutcome::done, 0, from.message);
            static_cast<void>(replied);
            replying_.erase(answers);
        }
    }
    const auto status = static_cast<std::uint32_t>(from(kStatus, kLnetIb));
    const bool failed = type == LnetType::put_nak || static_cast<std::int32_t>(status) < 0;
    const End requester = by_requester ? from.message.from : other(from.message.from);
    const bool found =
        session.end(requester, tag, failed ? OperationOutcome::failed : OperationOutcome::done, status, from.message);
    static_cast<void>(found);
    const OperationCode code = type == LnetType::get_done ? lnet::kGet : lnet::kPut;
    return {.understood = true, .label = UlpLabel{UlpLabel::Part::answer, UlpProtocol::lnet, code, tag}};
}

}  // namespace qps::transport
