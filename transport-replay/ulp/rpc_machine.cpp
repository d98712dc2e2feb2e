#include <dissect/ulp/rpc_rdma.hpp>
#include <transport-replay/ulp/rpc_codes.hpp>
#include <transport-replay/ulp/rpc_machine.hpp>
#include <transport-replay/ulp/rpc_protocol.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kWord = 4;
constexpr std::uint32_t kRead3 = 6, kWrite3 = 7;
constexpr std::uint32_t kRead4 = 25, kWrite4 = 38, kExchangeId = 42;

std::string_view text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Which kind of RPC message a transport message carries, and where.
struct Chunks {
    std::size_t body = 0;         // behind the lists
    std::uint64_t long_call = 0;  // bytes of chunks at position 0
    bool reply = false;           // memory for a long answer
    bool data = false;            // memory for items of data
};

// UlpOperation::subject[1]: how long a long call is, and whether all memory of the operation holds RPC.
constexpr std::uint64_t kOnlyRpc = std::uint64_t{1} << 63U;
std::optional<Chunks> chunks_of(Bytes message, const RpcRdmaHead& head) {
    Chunks chunks;
    ChunkLists lists(message, head.length);
    while (const auto piece = lists.next()) {
        if (piece->kind == ChunkPiece::Kind::read_segment) {
            const ChunkSegment segment = segment_of(message, *piece);
            if (segment.position == 0) chunks.long_call += segment.length;
            else chunks.data = true;
        }
        if (piece->kind == ChunkPiece::Kind::chunk && piece->list == ChunkList::write) chunks.data = true;
        if (piece->kind == ChunkPiece::Kind::chunk && piece->list == ChunkList::reply) chunks.reply = true;
    }
    if (!lists.whole()) return std::nullopt;
    chunks.body = lists.at();
    return chunks;
}

// What a call is about.
struct Subject {
    OperationCode code{};
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;       // that it asks to be moved
    std::uint64_t in_message = 0;  // of those: in the call
};

std::uint64_t word_at(Bytes bytes, const XdrMark* mark) {
    return mark == nullptr ? 0 : read_be<std::uint32_t>(bytes, mark->offset);
}
std::uint64_t hyper_at(Bytes bytes, const XdrMark* mark) {
    return mark == nullptr ? 0 : read_be<std::uint64_t>(bytes, mark->offset);
}

// Length of a data item whose operation or message ends at `end`; 0 where chunks carry it.
std::uint64_t inline_bytes(Bytes rpc, const XdrMarks& marks, std::size_t end) {
    const XdrMark* mark = marks.find('d');
    const std::uint64_t length = word_at(rpc, mark);
    return mark != nullptr && end - mark->offset >= length + kWord ? length : 0;
}

Subject compound_subject(Bytes rpc, const RpcHead& head, RpcFamily family, const ReducedItems& reduced) {
    Subject subject{.code = rpc_code(family, kCompoundNumber)};
    const bool callback = family == RpcFamily::callback;
    const auto compound = nfs::compound(slice(rpc, head.body), false, callback);
    if (!compound) return subject;
    nfs::Steps steps(rpc, head.body + compound->length, *compound, reduced);
    int weight = -1;
    while (const auto step = steps.next()) {
        if (step->operation->weight <= weight) continue;
        weight = step->operation->weight;
        subject.code = rpc_code(family, step->operation->number);
        subject.offset = hyper_at(rpc, step->marks.find('O'));
        const bool data = step->operation->number == kWrite4 && !callback;
        subject.bytes = word_at(rpc, step->marks.find(data ? 'd' : 'C'));
        subject.in_message = data ? inline_bytes(rpc, step->marks, steps.at()) : 0;
        if (!data && step->operation->number != kRead4) subject.bytes = 0;
    }
    return subject;
}

Subject procedure3_subject(Bytes rpc, const RpcHead& head) {
    Subject subject{.code = rpc_code(RpcFamily::nfs3, head.procedure)};
    const nfs::Procedure* procedure = nfs::procedure3(head.procedure);
    if (procedure == nullptr) return subject;
    Xdr xdr(rpc, head.body);
    ReducedItems none;
    XdrMarks marks;
    (void)walk_xdr(procedure->arguments, xdr, none, marks);
    subject.offset = hyper_at(rpc, marks.find('O'));
    if (head.procedure == kRead3 || head.procedure == kWrite3) subject.bytes = word_at(rpc, marks.find('C'));
    if (head.procedure == kWrite3 && xdr.rest().size() >= subject.bytes + 2 * kWord) subject.in_message = subject.bytes;
    return subject;
}

Subject subject_of(Bytes rpc, const RpcHead& head, const ReducedItems& reduced) {
    const RpcFamily family = rpc_family(head);
    const bool compound =
        (family == RpcFamily::nfs4 || family == RpcFamily::callback) && head.procedure == kCompoundNumber;
    if (!head.clear) return {.code = rpc_code(family, head.procedure)};
    if (compound) return compound_subject(rpc, head, family, reduced);
    if (family == RpcFamily::nfs3) return procedure3_subject(rpc, head);
    return {.code = rpc_code(family, head.procedure)};
}

// Reads or writes a file: other calls of a client may have other credentials (RFC 8881 2.4.3).
bool is_data(OperationCode code) {
    const RpcFamily family = family_of(code);
    const std::uint32_t number = number_of(code);
    if (family == RpcFamily::nfs3) return number == kRead3 || number == kWrite3;
    return family == RpcFamily::nfs4 && (number == kRead4 || number == kWrite4);
}

// Whether results of the operation begin with a status of NFS.
bool has_status(OperationCode code) {
    constexpr std::uint32_t kMount = 1;
    switch (family_of(code)) {
        case RpcFamily::nfs2:
        case RpcFamily::nfs3:
        case RpcFamily::nfs4:
        case RpcFamily::callback:
        case RpcFamily::nfs_acl: return number_of(code) != 0;
        case RpcFamily::mount: return number_of(code) == kMount;
        default: return false;
    }
}

std::uint32_t status_of(Bytes rpc, const RpcHead& head, OperationCode code) {
    constexpr std::uint32_t kMismatch = 0;
    if (head.denied)
        return head.state == kMismatch ? rpc_failure(RpcFailure::mismatch, 1)
                                       : rpc_failure(RpcFailure::authentication, head.detail);
    if (head.state != 0) return rpc_failure(RpcFailure::accept, head.state);
    if (!head.clear || !has_status(code)) return 0;
    return rpc_failure(RpcFailure::program, read_be<std::uint32_t>(rpc, head.body));
}

std::uint8_t detail_of(OperationCode code) {
    const RpcFamily family = family_of(code);
    RpcDetail detail = has_status(code) ? RpcDetail::procedure : RpcDetail::other;
    if (family == RpcFamily::unread) detail = RpcDetail::unknown;
    else if (family == RpcFamily::nfs4 && has_status(code)) detail = RpcDetail::compound;
    else if (family == RpcFamily::callback && has_status(code)) detail = RpcDetail::callback;
    return std::to_underlying(detail);
}

// Data of a READ that its answer holds itself.
std::uint64_t data_inside(Bytes rpc, const RpcHead& head, OperationCode code, const ReducedItems& reduced) {
    if (head.denied || head.state != 0 || !head.clear) return 0;
    if (code == rpc_code(RpcFamily::nfs3, kRead3)) {
        Xdr xdr(rpc, head.body);
        ReducedItems items = reduced;
        XdrMarks marks;
        constexpr std::string_view kResults = "{0:|1:lllllllllli}iid";  // RFC 1813 3.3.6: attributes, count, end, data
        if (xdr.word() != 0 || !walk_xdr(kResults, xdr, items, marks)) return 0;
        return inline_bytes(rpc, marks, xdr.at());
    }
    if (code != rpc_code(RpcFamily::nfs4, kRead4)) return 0;
    const auto compound = nfs::compound(slice(rpc, head.body), true, false);
    if (!compound) return 0;
    nfs::Steps steps(rpc, head.body + compound->length, *compound, reduced);
    while (const auto step = steps.next())
        if (step->operation->number == kRead4) return inline_bytes(rpc, step->marks, steps.at());
    return 0;
}

// What of a message that was not understood breaks its format (RFC 8166 4); empty: nothing that the bytes at hand
// prove.
std::string breach_of(const UlpMessage& message) {
    constexpr std::uint32_t kVersionAt = 4, kTypeAt = 12;
    if (message.length == 0) return {};
    if (message.length < kRpcRdmaHeaderLength) return "shorter than their header";
    if (message.bytes.size() < kRpcRdmaHeaderLength) return {};
    if (const auto version = read_be<std::uint32_t>(message.bytes, kVersionAt); version != kRpcRdmaVersion)
        return fmt::format("version {}, not 1", version);
    if (const auto type = RpcRdmaType{read_be<std::uint32_t>(message.bytes, kTypeAt)}; type > RpcRdmaType::error)
        return fmt::format("message type {}, which does not exist", std::to_underlying(type));
    if (!message.whole()) return {};
    const auto head = rpc_rdma_head(message.bytes);
    if (!head) return "shorter than their header";
    if (!head->has_lists()) return "an RDMA_ERROR without an error code that exists";
    const auto chunks = chunks_of(message.bytes, *head);
    if (!chunks) return "chunk lists that do not end within the message";
    const auto inside = rpc_head(slice(message.bytes, chunks->body));
    if (!inside) return "no whole RPC header behind the chunk lists";
    return inside->xid == head->xid ? std::string{} : "another XID than the RPC header behind it";
}

UlpLabel label(UlpLabel::Part part, OperationCode code, std::uint32_t xid) {
    return {part, UlpProtocol::rpc_rdma, code, xid};
}

}  // namespace

bool is_rpc_private_data(const CmAttempt& attempt) {
    const auto is_ours = [](const CmSide& side) {
        return read_be<std::uint32_t>(side.private_data.first, 0) == kRpcRdmaPrivateMagic;
    };
    return is_ours(attempt.active) || is_ours(attempt.passive);
}

void RpcMachine::connected(const CmAttempt& attempt, UlpSession& session) {
    named_ = true;
    is_sure_ = is_rpc_private_data(attempt);
    static constexpr Field kSend = named(kRpcRdmaPrivateFields, "rdma.rpcordma.private.send_size");
    static constexpr Field kReceive = named(kRpcRdmaPrivateFields, "rdma.rpcordma.private.receive_size");
    const auto note_buffers = [&](const CmSide& side, std::string_view name) {
        const Bytes data = side.private_data.first;
        if (read_be<std::uint32_t>(data, 0) != kRpcRdmaPrivateMagic) return;
        const auto size = [&](const Field& field) { return (read(data, field) + 1) * kRpcRdmaSizeUnit; };
        session.conversation().note(name, fmt::format("send {} bytes, receive {} bytes", size(kSend), size(kReceive)));
    };
    note_buffers(attempt.active, "client buffers");
    note_buffers(attempt.passive, "server buffers");
}

Understood RpcMachine::message(const UlpMessage& message, UlpSession& session) {
    const Understood understood = follow(message, session);
    if (understood.understood || !is_sure_) return understood;
    if (const std::string breach = breach_of(message); !breach.empty())
        session.event(UlpEventKind::malformed, message, breach);
    return understood;
}

Understood RpcMachine::follow(const UlpMessage& message, UlpSession& session) {
    const auto head = rpc_rdma_head(message.bytes);
    if (!head || head->version != kRpcRdmaVersion) return {};
    is_sure_ = is_sure_ || (named_ && head->credits != 0 && head->credits <= UINT16_MAX);
    if (head->type == RpcRdmaType::error) return error(message, *head, session);
    if (head->type == RpcRdmaType::done) return {.understood = true, .label = {}};
    const auto chunks = chunks_of(message.bytes, *head);
    if (!chunks) return {};
    if (head->type == RpcRdmaType::nomsg) {
        const bool answers = session.operations().find(other(message.from), head->xid) != nullptr;
        if (chunks->long_call > 0 && !answers) return long_call(message, *head, chunks->long_call, session);
        return long_answer(message, *head, session);
    }
    const Bytes rpc = slice(message.bytes, chunks->body);
    const auto inside = rpc_head(rpc);
    if (!inside || inside->xid != head->xid) return {};
    is_sure_ = true;
    return inside->call ? call(message, *head, chunks->body, session) : answer(message, *head, chunks->body, session);
}

std::uint8_t RpcMachine::data_detail(const UlpOperation& operation) const {
    return std::to_underlying((operation.subject[1] & kOnlyRpc) != 0 ? RpcDetail::rpc : RpcDetail::unknown);
}

// The operation, and all memory that the call names for it.
void RpcMachine::ask(UlpOperation operation, const UlpMessage& message, const RpcRdmaHead& head, UlpSession& session) {
    operation.requester = message.from;
    operation.tag = head.xid;
    if (const auto chunks = chunks_of(message.bytes, head);
        chunks && !chunks->data && (chunks->reply || chunks->long_call > 0))
        operation.subject[1] |= kOnlyRpc;
    session.begin(operation, message);
    ChunkLists lists(message.bytes, head.length);
    while (const auto piece = lists.next()) {
        const bool read = piece->kind == ChunkPiece::Kind::read_segment;
        if (!read && piece->kind != ChunkPiece::Kind::segment) continue;
        const ChunkSegment segment = segment_of(message.bytes, *piece);
        const bool keep = read ? segment.position == 0 : piece->list == ChunkList::reply;
        session.operations().expect(message.from, head.xid, {segment.offset, Rkey{segment.handle}, segment.length},
                                    session.shares(), keep);
    }
    if (session.from_active(message)) spend(message, session);
}

// What a call of the client costs: a credit (RFC 8166 3.3.1). Each statement once.
void RpcMachine::spend(const UlpMessage& message, UlpSession& session) {
    const std::uint32_t outstanding = session.operations().outstanding(message.from);
    const auto say = [&](bool& said, std::string_view words) {
        if (!std::exchange(said, true)) session.event(UlpEventKind::credits_exhausted, message, words, credits_);
    };
    if (wait_.waited(message.begun)) say(said_waited_, kWaitedForCredits);
    if (credits_ == 0) return;
    if (outstanding == credits_) wait_.used_last();
    // Never more than any answer granted: a lower grant may cross calls that an earlier one allowed.
    if (outstanding > most_granted_) say(said_exceeded_, kMoreThanGranted);
}

Understood RpcMachine::call(const UlpMessage& message, const RpcRdmaHead& head, std::size_t rpc, UlpSession& session) {
    const Bytes bytes = slice(message.bytes, rpc);
    const auto inside = rpc_head(bytes);
    if (session.from_active(message)) learn(bytes, *inside, session);
    const Subject subject = subject_of(bytes, *inside, reduced_items(message.bytes, head));
    if (session.from_active(message) && is_data(subject.code) &&
        read_be<std::uint32_t>(bytes, inside->credential) == kAuthSys)
        session.conversation().note("data credentials", "AUTH_SYS");
    ask({.code = subject.code,
         .subject = {subject.offset, 0},
         .bytes = subject.bytes,
         .in_message = subject.in_message},
        message, head, session);
    return {.understood = true, .label = label(UlpLabel::Part::request, subject.code, head.xid)};
}

// What is asked for is known when the other side has READ it.
Understood RpcMachine::long_call(const UlpMessage& message, const RpcRdmaHead& head, std::uint64_t length,
                                 UlpSession& session) {
    ask({.code = kUnreadCall, .subject = {0, length}}, message, head, session);
    return {.understood = true, .label = label(UlpLabel::Part::request, kUnreadCall, head.xid)};
}

Understood RpcMachine::answer(const UlpMessage& message, const RpcRdmaHead& head, std::size_t rpc,
                              UlpSession& session) {
    const End requester = other(message.from);
    const Bytes bytes = slice(message.bytes, rpc);
    const auto inside = rpc_head(bytes);
    granted(message, head.credits, session);
    UlpOperation* operation = session.operations().find(requester, head.xid);
    if (operation == nullptr) return {.understood = true, .label = {}};
    if (operation->code == kUnreadCall) {
        const Bytes kept = session.operations().kept(requester, head.xid);
        if (const auto asked = rpc_head(kept); asked && asked->call)
            operation->code = subject_of(kept, *asked, {}).code;
    }
    const OperationCode code = operation->code;
    operation->in_message += data_inside(bytes, *inside, code, reduced_items(message.bytes, head));
    const std::uint32_t status = status_of(bytes, *inside, code);
    session.end(requester, head.xid, status == 0 ? OperationOutcome::done : OperationOutcome::failed, status, message);
    return {.understood = true, .label = label(UlpLabel::Part::answer, code, head.xid), .detail = detail_of(code)};
}

// The answer was WRITten into memory that the call named; a long call was READ before, and its bytes come first.
Understood RpcMachine::long_answer(const UlpMessage& message, const RpcRdmaHead& head, UlpSession& session) {
    const End requester = other(message.from);
    UlpOperation* operation = session.operations().find(requester, head.xid);
    granted(message, head.credits, session);
    if (operation == nullptr) return {.understood = true, .label = {}};
    Bytes kept = session.operations().kept(requester, head.xid);
    if (const auto asked = rpc_head(kept); asked && asked->call) {
        if (operation->code == kUnreadCall) operation->code = subject_of(kept, *asked, {}).code;
        kept = slice(kept, static_cast<std::size_t>(operation->subject[1] & ~kOnlyRpc));
    }
    const OperationCode code = operation->code;
    const auto inside = rpc_head(kept);
    const bool known = inside && !inside->call && inside->xid == head.xid;
    const std::uint32_t status = known ? status_of(kept, *inside, code) : 0;
    session.end(requester, head.xid, status == 0 ? OperationOutcome::done : OperationOutcome::failed, status, message);
    return {.understood = true, .label = label(UlpLabel::Part::answer, code, head.xid)};
}

Understood RpcMachine::error(const UlpMessage& message, const RpcRdmaHead& head, UlpSession& session) {
    if (message.bytes.size() < head.length + kWord) return {};
    const auto code = read_be<std::uint32_t>(message.bytes, head.length);
    if (code != static_cast<std::uint32_t>(RpcRdmaError::version) &&
        code != static_cast<std::uint32_t>(RpcRdmaError::chunk))
        return {};
    const bool version = code == static_cast<std::uint32_t>(RpcRdmaError::version);
    session.event(UlpEventKind::error_message, message,
                  version ? "RDMA_ERROR: version not supported" : "RDMA_ERROR: chunks cannot be used", code);
    const End requester = other(message.from);
    const UlpOperation* operation = session.operations().find(requester, head.xid);
    if (operation == nullptr) return {.understood = true, .label = {}};
    const UlpLabel labelled = label(UlpLabel::Part::answer, operation->code, head.xid);
    session.end(requester, head.xid, OperationOutcome::failed, rpc_failure(RpcFailure::transport, code), message);
    return {.understood = true, .label = labelled};
}

void RpcMachine::granted(const UlpMessage& message, std::uint32_t credits, UlpSession& session) {
    if (session.from_active(message)) return;
    if (credits == 0) {
        if (!std::exchange(said_none_, true)) session.event(UlpEventKind::credits_exhausted, message, kNoCredits, 0);
        return;
    }
    // What was outstanding before the first answer seen may be what an earlier one allowed.
    const std::uint32_t outstanding = session.operations().outstanding(other(message.from));
    most_granted_ = std::max({most_granted_, credits, credits_ == 0 ? outstanding : 0U});
    credits_ = credits;
    wait_.granted(message.time);
    session.credits(credits);
}

// What calls of the client say of both, once.
void RpcMachine::learn(Bytes rpc, const RpcHead& head, UlpSession& session) {
    UlpConversation& conversation = session.conversation();
    if (!knows_machine_) {
        const Bytes name = machine_name(rpc, head.credential);
        conversation.note("client", text(name));
        knows_machine_ = !name.empty();
    }
    const RpcFamily family = rpc_family(head);
    if (family == RpcFamily::mount && head.procedure == kCompoundNumber) {  // MNT
        Xdr xdr(rpc, head.body);
        conversation.note("mount path", text(xdr.opaque()));
    }
    const bool compound = family == RpcFamily::nfs4 && head.procedure == kCompoundNumber && head.clear;
    if (!knows_version_ && family == RpcFamily::nfs3) {
        conversation.note("nfs version", "3");
        knows_version_ = true;
    }
    if (!compound || knows_version_) return;
    const auto inside = nfs::compound(slice(rpc, head.body), false, false);
    if (!inside) return;
    conversation.note("nfs version", fmt::format("4.{}", inside->minor_version));
    knows_version_ = true;
    nfs::Steps steps(rpc, head.body + inside->length, *inside, {});
    const auto first = steps.next();
    if (!first || first->operation->number != kExchangeId) return;
    Xdr xdr(rpc, first->offset + kWord);
    (void)xdr.hyper();  // verifier
    conversation.note("client owner", text(xdr.opaque()));
}

Likeness rpc_likeness(const UlpMessage& message) {
    const auto head = rpc_rdma_head(message.bytes);
    if (!head || head->version != kRpcRdmaVersion || head->credits == 0 || head->credits > UINT16_MAX) return {};
    constexpr std::uint8_t kErrorLikes = 60, kChunksLike = 70;
    if (head->type == RpcRdmaType::done)
        return {message.length == kRpcRdmaHeaderLength ? kPlausible : std::uint8_t{0}, true};
    if (head->type == RpcRdmaType::error) {
        const auto code = read_be<std::uint32_t>(message.bytes, head->length);
        const std::size_t length = head->length + (code == 1 ? 3 : 1) * kWord;
        return {(code == 1 || code == 2) && message.length == length ? kErrorLikes : std::uint8_t{0}, false};
    }
    const auto chunks = chunks_of(message.bytes, *head);
    if (!chunks) return {};
    if (head->type == RpcRdmaType::nomsg) {
        const bool like = message.length == chunks->body && (chunks->long_call > 0 || chunks->reply);
        return {like ? kChunksLike : std::uint8_t{0}, chunks->long_call > 0};
    }
    const Bytes rpc = slice(message.bytes, chunks->body);
    const auto inside = rpc_head(rpc);
    if (!inside || inside->xid != head->xid) return {};
    return {kSure, inside->call != is_callback_program(inside->program)};
}

}  // namespace qps::transport
