// The walk over a message of RPC over RDMA: transport header, chunk lists, RPC, NFS.
//
// A packet may hold only the beginning of its message, and the bytes may be anybody's: each layer is added when it is
// whole and could be one; from there on the rest is data.
#include <dissect/ulp/nfs.hpp>
#include <dissect/ulp/rpc_rdma.hpp>
#include <dissect/ulp/walks.hpp>

#include <algorithm>

namespace qps::dissect::ulp {

namespace {

// Room that chunk lists leave for RPC and NFS, and all of them for a last layer of data.
constexpr std::uint8_t kLastOfLists = kMaxLayers - 12;
constexpr std::uint8_t kLastOfOperations = kMaxLayers - 5;

// The message in its packet; offsets count from its first byte.
struct View {
    Walk& walk;
    std::size_t start;  // in the frame
    Bytes bytes;        // as far as captured

    void add(LayerKind kind, std::size_t at, std::size_t length) const {
        if (length == 0) return;
        add_layer(walk.packet, kind, start + at, length, walk.end);
        walk.offset = start + at + length;
    }
    // Everything from there on is nothing we know.
    void data_from(std::size_t at) const {
        walk.offset = start + at;
        add_data(walk);
    }
    [[nodiscard]] bool has_room(std::uint8_t most) const { return walk.packet.layer_count < most; }
};

LayerKind kind_of(const ChunkPiece& piece) {
    switch (piece.kind) {
        case ChunkPiece::Kind::read_segment: return kind::rpc_rdma_read_segment;
        case ChunkPiece::Kind::chunk:
            return piece.list == ChunkList::write ? kind::rpc_rdma_write_chunk : kind::rpc_rdma_reply_chunk;
        case ChunkPiece::Kind::segment: return kind::rpc_rdma_segment;
        case ChunkPiece::Kind::end: break;
    }
    return kind::rpc_rdma_list_end;
}

// Returns where the RPC message begins; nothing where the lists are not whole.
std::optional<std::size_t> add_lists(const View& view, std::size_t at) {
    ChunkLists lists(view.bytes, at);
    std::size_t shown = at;
    while (const auto piece = lists.next()) {
        if (!view.has_room(kLastOfLists)) continue;
        view.add(kind_of(*piece), piece->offset, piece->length);
        shown = lists.at();
    }
    if (!lists.whole()) {
        view.data_from(shown);
        return std::nullopt;
    }
    view.add(LayerKind::data, shown, lists.at() - shown);  // segments past the room
    return lists.at();
}

void add_error(const View& view, std::size_t at) {
    constexpr std::size_t kCodeLength = 4, kWithVersions = 12;
    const bool versions = read_be<std::uint32_t>(view.bytes, at) == static_cast<std::uint32_t>(RpcRdmaError::version);
    const std::size_t length = versions ? kWithVersions : kCodeLength;
    if (view.bytes.size() < at + length) return view.data_from(at);
    view.add(kind::rpc_rdma_error, at, length);
    view.data_from(at + length);
}

// Operations of a COMPOUND whose head lies at `at`. `rpc` is where the RPC message begins, whose positions chunks
// count.
void add_compound(const View& view, std::size_t rpc, std::size_t at, const nfs::Compound& head,
                  const ReducedItems& reduced) {
    view.add(head.answer ? kind::nfs_compound_results : kind::nfs_compound, at, head.length);
    nfs::Steps steps(slice(view.bytes, rpc), at - rpc + head.length, head, reduced);
    std::size_t shown = at + head.length;
    while (view.has_room(kLastOfOperations)) {
        const auto step = steps.next();
        if (!step) break;
        view.add(head.answer ? kind::nfs_result : kind::nfs_operation, rpc + step->offset, step->length);
        shown = rpc + steps.at();
    }
    view.data_from(shown);
}

void add_call(const View& view, std::size_t rpc, const RpcHead& head, const ReducedItems& reduced) {
    view.add(kind::rpc_call, rpc, kRpcCallLength);
    view.add(kind::rpc_auth, rpc + head.credential, head.verifier - head.credential);
    view.add(kind::rpc_auth, rpc + head.verifier, head.body - head.verifier);
    const std::size_t body = rpc + head.body;
    const Bytes arguments = slice(view.bytes, body);
    if (!head.clear || arguments.empty()) return view.data_from(body);
    constexpr std::uint32_t kVersion3 = 3, kVersion4 = 4, kCompound = 1;
    const bool callback = is_callback_program(head.program);
    if (callback || (head.program == rpc_program::kNfs && head.program_version == kVersion4)) {
        const auto compound = head.procedure == kCompound ? nfs::compound(arguments, false, callback) : std::nullopt;
        return compound ? add_compound(view, rpc, body, *compound, reduced) : view.data_from(body);
    }
    const bool known =
        (head.program == rpc_program::kNfs && head.program_version == kVersion3) || head.program == rpc_program::kMount;
    if (!known) return view.data_from(body);
    view.add(kind::nfs_procedure, body, arguments.size());
}

// An answer does not say to what: a COMPOUND's shows itself by its operations, of which the first must be walked.
std::optional<nfs::Compound> compound_results(Bytes message, std::size_t body, const ReducedItems& reduced) {
    const Bytes results = slice(message, body);
    auto head = nfs::compound(results, true, false);
    if (!head || nfs::status(head->status) == nullptr) return std::nullopt;
    if (head->count == 0) {
        if (head->status == 0 || results.size() != head->length) return std::nullopt;
        return head;
    }
    head->callback = nfs::begins_callback(read_be<std::uint32_t>(results, head->length));
    const auto first = nfs::Steps(message, body + head->length, *head, reduced).next();
    if (!first || nfs::status(first->status) == nullptr || (head->count > 1 && first->status != 0)) return std::nullopt;
    return head;
}

// Results of version 3, and of MOUNT, begin with a status, then attributes or a handle.
bool may_be_procedure(Bytes results) {
    constexpr std::size_t kWord = 4;
    constexpr std::uint32_t kLongestHandle = 64;
    if (results.size() < 2 * kWord || nfs::status(read_be<std::uint32_t>(results, 0)) == nullptr) return false;
    return read_be<std::uint32_t>(results, kWord) <= kLongestHandle;
}

void add_answer(const View& view, std::size_t rpc, const RpcHead& head, const ReducedItems& reduced, RpcDetail detail) {
    view.add(kind::rpc_reply, rpc, kRpcReplyLength);
    const std::size_t body = rpc + head.body;
    if (head.verifier != 0) view.add(kind::rpc_auth, rpc + head.verifier, head.state_offset - head.verifier);
    const std::size_t state_length = head.body - head.state_offset;
    view.add(head.denied ? kind::rpc_denied : kind::rpc_accepted, rpc + head.state_offset, state_length);
    const Bytes results = slice(view.bytes, body);
    if (head.denied || head.state != 0 || !head.clear || results.empty()) return view.data_from(body);
    const Bytes message = slice(view.bytes, rpc);
    const bool guess = detail == RpcDetail::unknown || detail == RpcDetail::rpc;
    if (detail == RpcDetail::compound || detail == RpcDetail::callback) {
        const auto compound = nfs::compound(results, true, detail == RpcDetail::callback);
        return compound ? add_compound(view, rpc, body, *compound, reduced) : view.data_from(body);
    }
    if (guess)
        if (const auto compound = compound_results(message, head.body, reduced))
            return add_compound(view, rpc, body, *compound, reduced);
    if (detail == RpcDetail::other || (guess && !may_be_procedure(results))) return view.data_from(body);
    view.add(kind::nfs_procedure, body, results.size());
}

}  // namespace

void walk_rpc_rdma(Walk& walk, const UlpHint& hint) {
    const View view{walk, walk.offset, slice(walk.packet.frame.bytes, walk.offset, walk.left())};
    const auto head = rpc_rdma_head(view.bytes);
    if (!head || head->version != kRpcRdmaVersion) return add_data(walk);
    view.add(kind::rpc_rdma, 0, head->length);
    if (head->type == RpcRdmaType::error) return add_error(view, head->length);
    if (!head->has_lists()) return view.data_from(head->length);
    const auto rpc = add_lists(view, head->length);
    if (!rpc) return;
    const Bytes message = slice(view.bytes, *rpc);
    const auto inside = rpc_head(message);
    if (!inside || inside->xid != head->xid) return view.data_from(*rpc);
    const ReducedItems reduced = reduced_items(view.bytes, *head);
    if (inside->call) add_call(view, *rpc, *inside, reduced);
    else add_answer(view, *rpc, *inside, reduced, RpcDetail{hint.detail});
}

void walk_rpc_rdma_data(Walk& walk, const UlpHint& hint) {
    const View view{walk, walk.offset, slice(walk.packet.frame.bytes, walk.offset, walk.left())};
    const auto inside = RpcDetail{hint.detail} == RpcDetail::rpc ? rpc_head(view.bytes) : std::nullopt;
    if (!inside) return;
    if (inside->call) add_call(view, 0, *inside, {});
    else add_answer(view, 0, *inside, {}, RpcDetail::rpc);
}

void walk_rpc_rdma_private(Walk& walk, const UlpHint&, LayerKind) {
    if (read_be<std::uint32_t>(slice(walk.header(), 0, walk.left()), 0) != kRpcRdmaPrivateMagic) return;
    (void)enter(walk, kind::rpc_rdma_private, kRpcRdmaPrivateLength);
}

}  // namespace qps::dissect::ulp
