#include <tests/court/messages.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace qps::court {

namespace {

std::uint64_t little(const Octets& bytes, std::size_t at, std::size_t octets) {
    std::uint64_t value = 0;
    for (std::size_t i = octets; i-- > 0;) value = value << 8U | bytes[at + i];
    return value;
}
std::uint64_t big(const Octets& bytes, std::size_t at, std::size_t octets) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < octets; ++i) value = value << 8U | bytes[at + i];
    return value;
}

// NVMe 4.2 and 4.6: commands of 64 bytes, completions of 16.
std::optional<Said> read_nvme(const Octets& bytes, bool active) {
    constexpr std::uint64_t kMore = 0x2000,
                            kDelay = 0x1800;  // of the status: there is more in a log; when to try again
    if (active && bytes.size() >= 64) return Said{true, little(bytes, 2, 2), bytes[0], 0};
    if (!active && bytes.size() == 16)
        return Said{false, little(bytes, 12, 2), 0,
                    static_cast<std::uint32_t>(little(bytes, 14, 2) >> 1U & ~kMore & ~kDelay)};
    return {};
}

// RFC 7145 9.2, RFC 7143 11: a header of iSER, then a PDU of iSCSI.
std::optional<Said> read_iser(const Octets& bytes, bool active) {
    constexpr std::size_t kPdu = 28, kWhole = kPdu + 48;
    if (bytes.size() < kWhole || bytes[0] >> 4U != 1) return {};
    const std::uint64_t tag = big(bytes, kPdu + 16, 4);
    const std::uint32_t opcode = bytes[kPdu] & 0x3fU;
    if (active && opcode == 0x01) return Said{true, tag, bytes[kPdu + 32], 0};
    if (active && opcode == 0x03) return Said{true, tag, 0x103, 0};  // Login
    if (!active && opcode == 0x21) return Said{false, tag, 0, bytes[kPdu + 3]};
    if (!active && opcode == 0x23) return Said{false, tag, 0, static_cast<std::uint32_t>(big(bytes, kPdu + 36, 2))};
    return {};
}

// SRP 6.8 and 6.9.
std::optional<Said> read_srp(const Octets& bytes, bool active) {
    if (active && bytes.size() >= 48 && bytes[0] == 0x02) return Said{true, big(bytes, 8, 8), bytes[32], 0};
    if (!active && bytes.size() >= 36 && bytes[0] == 0xc1) return Said{false, big(bytes, 8, 8), 0, bytes[19]};
    return {};
}

// Behind the header of RFC 8166 4, its type and three lists: a read list, a write list, a reply chunk.
struct RpcHead {
    std::uint32_t type = 0;
    std::size_t rpc = 0;                          // place of what is behind
    std::optional<std::uint32_t> reply_handle{};  // of the reply chunk's first segment
};
constexpr std::uint32_t kInline = 0, kElsewhere = 1, kError = 4;
std::optional<RpcHead> rpc_head(const Octets& bytes) {
    constexpr std::size_t kLists = 16, kSegment = 16;
    if (bytes.size() < kLists + 4 || big(bytes, 4, 4) != 1) return {};
    RpcHead head{.type = static_cast<std::uint32_t>(big(bytes, 12, 4)), .rpc = kLists};
    if (head.type == kError) return head;
    const auto word = [&] {
        const std::size_t place = std::exchange(head.rpc, head.rpc + 4);
        return place + 4 <= bytes.size() ? big(bytes, place, 4) : 0;
    };
    while (word() == 1) head.rpc += 4 + kSegment;
    while (word() == 1) head.rpc += kSegment * word();
    if (word() == 1) {
        const std::uint64_t segments = word();
        if (head.rpc + 4 <= bytes.size()) head.reply_handle = static_cast<std::uint32_t>(big(bytes, head.rpc, 4));
        head.rpc += kSegment * segments;
    }
    return head.rpc <= bytes.size() ? std::optional(head) : std::nullopt;
}

// RFC 5531 9: calls have program, version and procedure; accepted replies a verifier, and first of their results NFS's
// status.
std::optional<Said> read_rpc(const Octets& bytes, bool active) {
    const auto head = rpc_head(bytes);
    if (!head) return {};
    const std::uint64_t tag = big(bytes, 0, 4);
    if (head->type == kError && !active)
        return Said{false, tag, 0, kRpcRdmaError | static_cast<std::uint32_t>(big(bytes, head->rpc, 4))};
    if (head->type == kElsewhere && !active) return Said{false, tag, 0, 0};  // the reply is where the chunk says
    const std::size_t at = head->rpc;
    if (head->type != kInline || at + 24 > bytes.size() || big(bytes, at, 4) != tag) return {};
    const std::uint64_t kind = big(bytes, at + 4, 4);
    if (active && kind == 0) return Said{true, tag, static_cast<std::uint32_t>(big(bytes, at + 20, 4)), 0};
    if (active || kind != 1 || big(bytes, at + 8, 4) != 0) return {};
    const std::size_t accepted = at + 20 + (big(bytes, at + 16, 4) + 3) / 4 * 4;
    const bool has_status = accepted + 8 <= bytes.size() && big(bytes, accepted, 4) == 0;
    return Said{false, tag, 0, has_status ? static_cast<std::uint32_t>(big(bytes, accepted + 4, 4)) : 0};
}

// What the last WRITE before `frame` put where `handle` is.
Octets written(const Hearing& hearing, const Sent& reply, std::uint32_t handle) {
    Octets bytes;
    bool open = false;
    for (const Wire& wire : hearing.wires()) {
        if (wire.frame >= reply.first_frame) break;
        if (wire.from != reply.from || wire.to != reply.to || wire.to_qp != reply.to_qp || wire.operation() < 6 ||
            wire.operation() > 11)
            continue;
        if (wire.begins()) {
            open = wire.reth && wire.reth->key == handle;
            if (open) bytes.clear();
        }
        const Octets& frame = hearing.recording().records[wire.frame - 1].bytes;
        const std::size_t end = std::min(frame.size(), wire.data + wire.payload);
        if (open && wire.data < end)
            bytes.insert(bytes.end(), frame.begin() + static_cast<std::ptrdiff_t>(wire.data),
                         frame.begin() + static_cast<std::ptrdiff_t>(end));
    }
    return bytes;
}

// A reply whose bytes are not in the message, put behind its header as if they were.
void bring_in(const Hearing& hearing, Sent& reply) {
    const auto head = rpc_head(reply.bytes);
    if (!head || head->type != kElsewhere || !head->reply_handle) return;
    const Octets bytes = written(hearing, reply, *head->reply_handle);
    reply.bytes.resize(head->rpc);
    reply.bytes.insert(reply.bytes.end(), bytes.begin(), bytes.end());
    put_number(reply.bytes, 12, 4, kInline);
}

}  // namespace

std::vector<Sent> sent_messages(const Hearing& hearing) {
    struct Open {
        std::optional<std::uint32_t> highest{};
        std::optional<Sent> sent{};
    };
    std::map<std::tuple<std::string, std::string, std::uint32_t>, Open> flows;
    std::vector<Sent> out;
    for (const Wire& wire : hearing.wires()) {
        const std::uint32_t it = wire.operation();
        if (!wire.reliable() || !(it <= 5 || it == 22 || it == 23)) continue;
        Open& open = flows[{wire.from, wire.to, wire.to_qp}];
        if (open.highest && psn_distance(*open.highest, wire.psn) <= 0) continue;
        open.highest = wire.psn;
        if (wire.begins())
            open.sent = Sent{
                .first_frame = wire.frame, .begun = wire.time, .from = wire.from, .to = wire.to, .to_qp = wire.to_qp};
        if (!open.sent) continue;
        const Octets& frame = hearing.recording().records[wire.frame - 1].bytes;
        const std::size_t end = std::min(frame.size(), wire.data + wire.payload);
        if (wire.data < end)
            open.sent->bytes.insert(open.sent->bytes.end(), frame.begin() + static_cast<std::ptrdiff_t>(wire.data),
                                    frame.begin() + static_cast<std::ptrdiff_t>(end));
        if (!wire.ends()) continue;
        open.sent->last_frame = wire.frame;
        open.sent->time = wire.time;
        out.push_back(std::move(*open.sent));
        open.sent.reset();
    }
    return out;
}

std::optional<Upper> upper_of(const std::string& name) {
    constexpr std::array<std::string_view, 4> kNames{"NVMe over RDMA", "iSER", "SRP", "RPC over RDMA"};
    const auto found = std::ranges::find(kNames, name);
    if (found == kNames.end()) return {};
    return static_cast<Upper>(found - kNames.begin());
}

std::optional<Said> read_upper(Upper upper, const Octets& bytes, bool active) {
    switch (upper) {
        case Upper::nvme: return read_nvme(bytes, active);
        case Upper::iser: return read_iser(bytes, active);
        case Upper::srp: return read_srp(bytes, active);
        case Upper::rpc: break;
    }
    return read_rpc(bytes, active);
}

std::vector<Operation> operations(const Hearing& hearing, Upper upper, const std::string& active,
                                  const std::string& passive) {
    const auto way = hearing.claim().ends ? way_of(hearing, active) : std::nullopt;
    // An answer comes to a queue pair of its own: where several connections are looked at, those of a tag that is asked
    // twice are told apart by order alone.
    std::map<std::uint64_t, std::vector<std::size_t>> open;
    std::vector<Operation> out;
    for (Sent& sent : sent_messages(hearing)) {
        const bool asks = sent.from == active && sent.to == passive;
        if (!asks && (sent.from != passive || sent.to != active)) continue;
        if (way && sent.to_qp != (asks ? way->to_qp : way->from_qp)) continue;
        if (upper == Upper::rpc && !asks) bring_in(hearing, sent);
        const auto said = read_upper(upper, sent.bytes, asks);
        if (!said) continue;
        if (said->asks) {
            open[said->tag].push_back(out.size());
            out.push_back({.asked = std::move(sent), .code = said->code});
        } else if (auto& waiting = open[said->tag]; !waiting.empty()) {
            out[waiting.front()].status = said->status;
            out[waiting.front()].answered = std::move(sent);
            waiting.erase(waiting.begin());
        }
    }
    return out;
}

}  // namespace qps::court
