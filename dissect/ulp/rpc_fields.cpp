// What is concluded from the layers of RPC and NFS: values that lie behind others of variable length.
#include <dissect/base/packet.hpp>
#include <dissect/ulp/nfs.hpp>
#include <dissect/ulp/rpc_rdma.hpp>

#include <algorithm>

namespace qps::dissect::rpc {

namespace {

std::optional<Value> count_of(const Packet& packet, LayerKind kind) {
    const auto all = packet.layers();
    return Value{static_cast<std::uint64_t>(std::ranges::count(all, kind, &Layer::kind)), {}};
}

std::optional<Value> text(Bytes bytes) {
    if (bytes.empty()) return std::nullopt;
    return Value{0, bytes};
}

// AUTH_SYS (RFC 5531 appendix A): stamp, name, user, group, more groups.
struct AuthSys {
    std::uint32_t stamp = 0;
    Bytes machine;
    std::uint32_t user = 0;
    std::uint32_t group = 0;
};
std::optional<AuthSys> auth_sys(const Packet& packet, const Layer& layer) {
    Xdr xdr(packet.bytes_of(layer));
    if (xdr.word() != kAuthSys) return std::nullopt;
    Xdr body(xdr.opaque());
    AuthSys auth;
    auth.stamp = body.word();
    auth.machine = body.opaque();
    auth.user = body.word();
    auth.group = body.word();
    if (!xdr.ok() || !body.ok()) return std::nullopt;
    return auth;
}

// Of the call that the packet holds, if it does.
std::optional<RpcHead> call_of(const Packet& packet) {
    const Layer* layer = find(packet, kind::rpc_call);
    if (layer == nullptr) return std::nullopt;
    return rpc_head(slice(packet.frame.bytes, layer->offset));
}

// Numbers of operations mean others in callbacks.
bool in_callback(const Packet& packet) {
    if (const auto call = call_of(packet)) return is_callback_program(call->program);
    const Layer* first = find(packet, kind::nfs_result);
    return first != nullptr && nfs::begins_callback(read_be<std::uint32_t>(packet.bytes_of(*first), 0));
}

std::optional<nfs::Compound> compound_of(const Packet& packet, const Layer& layer) {
    return nfs::compound(packet.bytes_of(layer), layer.kind == kind::nfs_compound_results, in_callback(packet));
}

std::optional<Value> number_of(const Packet& packet, const Layer& layer) {
    const Bytes bytes = packet.bytes_of(layer);
    if (bytes.size() < sizeof(std::uint32_t)) return std::nullopt;
    return Value{read_be<std::uint32_t>(bytes, 0), {}};
}

// The bytes of the item that the operation's pattern marks so. The layer is as long as the walk found it.
Bytes marked(const Packet& packet, const Layer& layer, char letter) {
    const Bytes bytes = packet.bytes_of(layer);
    constexpr std::size_t kNumber = 4, kNumberAndStatus = 8;
    const bool answer = layer.kind == kind::nfs_result;
    const nfs::Operation* operation = nfs::operation(read_be<std::uint32_t>(bytes, 0), in_callback(packet));
    if (operation == nullptr || (answer && read_be<std::uint32_t>(bytes, kNumber) != 0)) return {};
    Xdr xdr(bytes, answer ? kNumberAndStatus : kNumber);
    ReducedItems reduced;
    XdrMarks marks;
    (void)walk_xdr(answer ? operation->results : operation->arguments, xdr, reduced, marks);
    const XdrMark* mark = marks.find(letter);
    return mark == nullptr ? Bytes{} : slice(bytes, mark->offset, mark->length);
}

template <class T> std::optional<Value> number(Bytes bytes) {
    if (bytes.size() != sizeof(T)) return std::nullopt;
    return Value{read_be<T>(bytes, 0), {}};
}

// The same in the arguments of a procedure of version 3.
Bytes marked3(const Packet& packet, const Layer& layer, char letter) {
    const auto call = call_of(packet);
    if (!call || call->program != rpc_program::kNfs) return {};
    const nfs::Procedure* procedure = nfs::procedure3(call->procedure);
    if (procedure == nullptr) return {};
    const Bytes bytes = packet.bytes_of(layer);
    Xdr xdr(bytes);
    ReducedItems reduced;
    XdrMarks marks;
    (void)walk_xdr(procedure->arguments, xdr, reduced, marks);
    const XdrMark* mark = marks.find(letter);
    return mark == nullptr ? Bytes{} : slice(bytes, mark->offset, mark->length);
}

}  // namespace

std::optional<Value> reads_count(const Packet& p, const Layer&) { return count_of(p, kind::rpc_rdma_read_segment); }
std::optional<Value> writes_count(const Packet& p, const Layer&) { return count_of(p, kind::rpc_rdma_write_chunk); }
std::optional<Value> reply_count(const Packet& p, const Layer&) { return count_of(p, kind::rpc_rdma_reply_chunk); }

std::optional<Value> callback_procedure(const Packet& packet, const Layer&) {
    const auto call = call_of(packet);
    if (!call || !is_callback_program(call->program)) return std::nullopt;
    return Value{call->procedure, {}};
}

std::optional<Value> auth_stamp(const Packet& packet, const Layer& layer) {
    const auto auth = auth_sys(packet, layer);
    return auth ? std::optional(Value{auth->stamp, {}}) : std::nullopt;
}
std::optional<Value> auth_machine(const Packet& packet, const Layer& layer) {
    const auto auth = auth_sys(packet, layer);
    return auth ? text(auth->machine) : std::nullopt;
}
std::optional<Value> auth_uid(const Packet& packet, const Layer& layer) {
    const auto auth = auth_sys(packet, layer);
    return auth ? std::optional(Value{auth->user, {}}) : std::nullopt;
}
std::optional<Value> auth_gid(const Packet& packet, const Layer& layer) {
    const auto auth = auth_sys(packet, layer);
    return auth ? std::optional(Value{auth->group, {}}) : std::nullopt;
}

std::optional<Value> compound_tag(const Packet& packet, const Layer& layer) {
    const auto head = compound_of(packet, layer);
    return head ? text(head->tag) : std::nullopt;
}
std::optional<Value> compound_minor(const Packet& packet, const Layer& layer) {
    const auto head = compound_of(packet, layer);
    return head ? std::optional(Value{head->minor_version, {}}) : std::nullopt;
}
std::optional<Value> compound_count(const Packet& packet, const Layer& layer) {
    const auto head = compound_of(packet, layer);
    return head ? std::optional(Value{head->count, {}}) : std::nullopt;
}
std::optional<Value> compound_main(const Packet& packet, const Layer&) {
    if (in_callback(packet)) return std::nullopt;
    const nfs::Operation* main = nullptr;
    for (const Layer& layer : packet.layers()) {
        if (layer.kind != kind::nfs_operation && layer.kind != kind::nfs_result) continue;
        const nfs::Operation* here = nfs::operation(read_be<std::uint32_t>(packet.bytes_of(layer), 0), false);
        if (here != nullptr && (main == nullptr || here->weight > main->weight)) main = here;
    }
    return main != nullptr ? std::optional(Value{main->number, {}}) : std::nullopt;
}
std::optional<Value> compound_procedure(const Packet& packet, const Layer&) {
    return in_callback(packet) ? std::nullopt : std::optional(Value{1, {}});
}

std::optional<Value> opcode(const Packet& packet, const Layer& layer) {
    return in_callback(packet) ? std::nullopt : number_of(packet, layer);
}
std::optional<Value> callback_opcode(const Packet& packet, const Layer& layer) {
    return in_callback(packet) ? number_of(packet, layer) : std::nullopt;
}

std::optional<Value> marked_name(const Packet& p, const Layer& l) { return text(marked(p, l, 'N')); }
std::optional<Value> marked_handle(const Packet& p, const Layer& l) { return text(marked(p, l, 'F')); }
std::optional<Value> marked_offset(const Packet& p, const Layer& l) { return number<std::uint64_t>(marked(p, l, 'O')); }
std::optional<Value> marked_count(const Packet& p, const Layer& l) { return number<std::uint32_t>(marked(p, l, 'C')); }
std::optional<Value> marked_state(const Packet& p, const Layer& l) { return text(marked(p, l, 'S')); }
std::optional<Value> marked_session(const Packet& p, const Layer& l) { return text(marked(p, l, 'X')); }
std::optional<Value> marked_sequence(const Packet& p, const Layer& l) {
    return number<std::uint32_t>(marked(p, l, 'Q'));
}
std::optional<Value> marked_slot(const Packet& p, const Layer& l) { return number<std::uint32_t>(marked(p, l, 'T')); }

std::optional<Value> status3(const Packet& packet, const Layer& layer) {
    return find(packet, kind::rpc_reply) != nullptr ? number_of(packet, layer) : std::nullopt;
}
std::optional<Value> name3(const Packet& p, const Layer& l) { return text(marked3(p, l, 'N')); }
std::optional<Value> handle3(const Packet& p, const Layer& l) { return text(marked3(p, l, 'F')); }
std::optional<Value> offset3(const Packet& p, const Layer& l) { return number<std::uint64_t>(marked3(p, l, 'O')); }
std::optional<Value> count3(const Packet& p, const Layer& l) { return number<std::uint32_t>(marked3(p, l, 'C')); }

std::optional<Value> mount_path(const Packet& packet, const Layer& layer) {
    constexpr std::uint32_t kMnt = 1, kUmnt = 3;
    const auto call = call_of(packet);
    if (!call || call->program != rpc_program::kMount || (call->procedure != kMnt && call->procedure != kUmnt))
        return std::nullopt;
    Xdr xdr(packet.bytes_of(layer));
    return text(xdr.opaque());
}

}  // namespace qps::dissect::rpc
