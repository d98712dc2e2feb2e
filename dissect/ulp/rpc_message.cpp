#include <dissect/ulp/rpc_message.hpp>

namespace qps::dissect {

namespace {

constexpr std::size_t kWord = 4;
constexpr std::size_t kPaddedFields = 8;  // RDMA_MSGP: alignment and threshold
constexpr std::size_t kReadSegmentLength = 24;
constexpr std::size_t kChunkLength = 8;
constexpr std::size_t kSegmentLength = 16;

// Credentials and verifiers: flavor and an opaque body (RFC 5531 8.2).
constexpr std::size_t kMaxAuthBody = 400;

struct Auth {
    std::uint32_t flavor = 0;
    Bytes body;
};
std::optional<Auth> auth_of(Xdr& xdr) {
    Auth auth;
    auth.flavor = xdr.word();
    auth.body = xdr.opaque();
    if (!xdr.ok() || auth.body.size() > kMaxAuthBody) return std::nullopt;
    return auth;
}

// RFC 2203 5.3.1: data of service "none" is not wrapped.
bool is_clear(const Auth& auth) {
    if (auth.flavor != kAuthGss) return true;
    constexpr std::size_t kProcedure = 4, kService = 12;
    constexpr std::uint32_t kData = 0, kNone = 1;
    return read_be<std::uint32_t>(auth.body, kProcedure) == kData &&
           read_be<std::uint32_t>(auth.body, kService) == kNone;
}

std::optional<RpcHead> call_head(Xdr& xdr, RpcHead head) {
    head.version = xdr.word();
    head.program = xdr.word();
    head.program_version = xdr.word();
    head.procedure = xdr.word();
    head.credential = xdr.at();
    const auto credential = auth_of(xdr);
    head.verifier = xdr.at();
    const auto verifier = auth_of(xdr);
    constexpr std::uint32_t kRpcVersion = 2;
    if (!credential || !verifier || head.version != kRpcVersion) return std::nullopt;
    head.clear = is_clear(*credential);
    head.body = xdr.at();
    return head;
}

std::optional<RpcHead> answer_head(Xdr& xdr, RpcHead head) {
    const std::uint32_t reply_state = xdr.word();
    if (reply_state > 1) return std::nullopt;
    head.denied = reply_state == 1;
    if (!head.denied) {
        head.verifier = xdr.at();
        const auto verifier = auth_of(xdr);
        if (!verifier) return std::nullopt;
        head.clear = verifier->flavor != kAuthGss;
    }
    head.state_offset = xdr.at();
    head.state = xdr.word();
    constexpr std::uint32_t kProgramMismatch = 2, kLastAcceptState = 5;
    if (head.denied) {
        if (head.state > 1) return std::nullopt;
        head.detail = xdr.word();
        if (head.state == 0) (void)xdr.word();
    } else if (head.state > kLastAcceptState) {
        return std::nullopt;
    } else if (head.state == kProgramMismatch) {
        (void)xdr.take(2 * kWord);
    }
    head.body = xdr.at();
    if (!xdr.ok()) return std::nullopt;
    return head;
}

}  // namespace

std::optional<RpcRdmaHead> rpc_rdma_head(Bytes message) {
    Xdr xdr(message);
    RpcRdmaHead head{.xid = xdr.word(), .version = xdr.word(), .credits = xdr.word(), .type = RpcRdmaType{xdr.word()}};
    if (!xdr.ok() || head.type > RpcRdmaType::error) return std::nullopt;
    if (head.type == RpcRdmaType::msgp) (void)xdr.take(kPaddedFields);
    if (!xdr.ok()) return std::nullopt;
    head.length = xdr.at();
    return head;
}

std::optional<ChunkPiece> ChunkLists::take(ChunkPiece::Kind kind, std::size_t length) {
    if (at_ > message_.size() || length > message_.size() - at_) return std::nullopt;
    const ChunkPiece piece{kind, list_, at_, length};
    at_ += length;
    return piece;
}

std::optional<ChunkPiece> ChunkLists::next() {
    using Kind = ChunkPiece::Kind;
    if (list_ == ChunkList::none) return std::nullopt;
    if (segments_left_ > 0) {
        const auto piece = take(Kind::segment, kSegmentLength);
        if (piece && --segments_left_ == 0 && list_ == ChunkList::reply) list_ = ChunkList::none;
        return piece;
    }
    if (message_.size() < at_ + kWord) return std::nullopt;
    const std::uint32_t follows = read_be<std::uint32_t>(message_, at_);
    if (follows > 1) return std::nullopt;
    if (follows == 0) {
        const auto piece = take(Kind::end, kWord);
        list_ = static_cast<ChunkList>(static_cast<std::uint8_t>(list_) + 1);
        return piece;
    }
    if (list_ == ChunkList::read) return take(Kind::read_segment, kReadSegmentLength);
    const auto piece = take(Kind::chunk, kChunkLength);
    if (!piece) return std::nullopt;
    segments_left_ = read_be<std::uint32_t>(message_, piece->offset + kWord);
    if (segments_left_ == 0 && list_ == ChunkList::reply) list_ = ChunkList::none;
    return piece;
}

ChunkSegment segment_of(Bytes message, const ChunkPiece& piece) {
    const bool read = piece.kind == ChunkPiece::Kind::read_segment;
    ChunkSegment segment;
    if (read) segment.position = read_be<std::uint32_t>(message, piece.offset + kWord);
    const std::size_t at = piece.offset + (read ? 2 * kWord : 0);
    segment.handle = read_be<std::uint32_t>(message, at);
    segment.length = read_be<std::uint32_t>(message, at + kWord);
    segment.offset = read_be<std::uint64_t>(message, at + 2 * kWord);
    return segment;
}

ReducedItems reduced_items(Bytes message, const RpcRdmaHead& head) {
    ReducedItems items;
    ChunkLists lists(message, head.length);
    while (const auto piece = lists.next()) {
        if (piece->list == ChunkList::reply || piece->kind == ChunkPiece::Kind::end) continue;
        if (piece->list == ChunkList::write) {
            if (piece->kind == ChunkPiece::Kind::chunk)
                items.write_count = std::min(items.write_count + 1, ReducedItems::kMost);
            else if (segment_of(message, *piece).length > 0 && items.write_count > 0)
                items.written[items.write_count - 1] = true;
            continue;
        }
        const ChunkSegment segment = segment_of(message, *piece);
        const bool more = items.read_count > 0 && items.reads[items.read_count - 1].position == segment.position;
        if (!more && items.read_count == ReducedItems::kMost) continue;
        if (!more) items.reads[items.read_count++].position = segment.position;
        items.reads[items.read_count - 1].length += segment.length;
    }
    return items;
}

std::optional<RpcHead> rpc_head(Bytes message) {
    Xdr xdr(message);
    RpcHead head;
    head.xid = xdr.word();
    const std::uint32_t type = xdr.word();
    if (!xdr.ok() || type > 1) return std::nullopt;
    head.call = type == 0;
    return head.call ? call_head(xdr, head) : answer_head(xdr, head);
}

Bytes machine_name(Bytes message, std::size_t credential) {
    Xdr xdr(message, credential);
    if (xdr.word() != kAuthSys) return {};
    Xdr body(xdr.opaque());
    (void)body.word();  // stamp
    const Bytes name = body.opaque();
    return body.ok() ? name : Bytes{};
}

}  // namespace qps::dissect
