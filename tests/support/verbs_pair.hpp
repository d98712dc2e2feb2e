// Two adapters on one imaginary cable: what one sends arrives at the other at once, unless a test says otherwise. Time
// stands still until a test moves it.
#pragma once

#include <transport-replay/live/verbs/adapter.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace qps::tests {

inline constexpr transport::Address v4(std::uint8_t last) {
    return {.bits = {0, 0xffff'0a00'0000 + std::uint64_t{last}}, .space = transport::AddressSpace::roce_v2};
}
inline constexpr transport::Address kGroup{.bits = {0, 0xffff'ef01'0203},
                                           .space = transport::AddressSpace::roce_v2};  // 239.1.2.3

// A packet on its way, with bytes of its own: for tests that lose, hold or forge it.
struct Flying {
    transport::TransportPacket packet{};
    std::vector<std::byte> payload{};
    transport::verbs::AddressHandle to{};
    transport::Ecn ecn{};
    std::uint16_t udp_source_port = 0;
    dissect::Qpn from{};
};
inline Flying flying(const transport::verbs::OutgoingPacket& out) {
    Flying copy{.packet = out.packet,
                .payload = {},
                .to = out.to,
                .ecn = out.ecn,
                .udp_source_port = out.udp_source_port,
                .from = out.from};
    copy.payload.assign(out.packet.payload.begin(), out.packet.payload.end());
    copy.packet.payload = copy.payload;
    return copy;
}
inline transport::verbs::IncomingPacket arrival_of(const Flying&& flown) = delete;  // it borrows
inline transport::verbs::IncomingPacket arrival_of(const Flying& flown) {
    transport::verbs::IncomingPacket in{
        .packet = flown.packet, .source = flown.to.source, .destination = flown.to.destination, .ecn = flown.ecn};
    in.packet.payload = flown.payload;
    return in;
}

// One side: an adapter with a protection domain, a region, two completion queues.
struct VerbsEnd {
    explicit VerbsEnd(const transport::verbs::AdapterSettings& settings, std::uint32_t depth = 1024)
        : adapter(settings),
          memory(1 << 16),
          pd(*adapter.alloc_pd()),
          mr(*adapter.reg_mr(pd, memory, transport::verbs::kEveryAccess)),
          send_cq(*adapter.create_cq(depth)),
          recv_cq(*adapter.create_cq(depth)),
          xrcd(*adapter.open_xrcd()) {}

    transport::verbs::Adapter adapter;
    std::vector<std::byte> memory;
    transport::verbs::Pd pd;
    transport::verbs::Mr mr;
    transport::verbs::Cq send_cq;
    transport::verbs::Cq recv_cq;
    transport::verbs::Xrcd xrcd;

    [[nodiscard]] transport::verbs::QpInitAttr init(
        transport::verbs::QpType type = transport::verbs::QpType::rc) const {
        return {.pd = pd, .send_cq = send_cq, .recv_cq = recv_cq, .xrcd = xrcd, .qp_type = type};
    }
    [[nodiscard]] transport::verbs::Sge piece(std::uint64_t offset, std::uint32_t length) const {
        return {.address = mr.address + offset, .length = length, .lkey = mr.lkey};
    }
    transport::verbs::Result<void> receive(dissect::Qpn qp, std::uint64_t id, std::uint64_t offset,
                                           std::uint32_t length) {
        const transport::verbs::Sge sge = piece(offset, length);
        return adapter.post_recv(qp, {.wr_id = id, .sg_list = {&sge, 1}});
    }
    // Signaled, from the region, with whatever else the work request says.
    transport::verbs::Result<void> send(dissect::Qpn qp, std::uint64_t offset, std::uint32_t length,
                                        transport::verbs::SendWr wr) {
        const transport::verbs::Sge sge = piece(offset, length);
        wr.sg_list = {&sge, 1};
        wr.send_flags.signaled = true;
        return adapter.post_send(qp, wr);
    }
    std::vector<transport::verbs::Wc> poll(transport::verbs::Cq cq) {
        std::vector<transport::verbs::Wc> all(64);
        all.resize(adapter.poll_cq(cq, all));
        return all;
    }
    std::vector<transport::verbs::Wc> sent() { return poll(send_cq); }
    std::vector<transport::verbs::Wc> received() { return poll(recv_cq); }
    [[nodiscard]] std::uint64_t word(std::size_t offset) const {
        std::uint64_t value = 0;
        std::memcpy(&value, memory.data() + offset, sizeof value);
        return value;
    }
    void set_word(std::size_t offset, std::uint64_t value) {
        std::memcpy(memory.data() + offset, &value, sizeof value);
    }
    [[nodiscard]] transport::verbs::QpState state(dissect::Qpn qp) const { return adapter.query_qp(qp)->state; }
    [[nodiscard]] std::uint64_t refused(transport::verbs::Refusal why) const { return adapter.counts().of(why); }
};

// What the other end names when it means this place of the region.
[[nodiscard]] inline transport::verbs::Remote at(const VerbsEnd& end, std::uint64_t offset) {
    return {.address = end.mr.address + offset, .rkey = end.mr.rkey};
}

struct VerbsPair {
    explicit VerbsPair(transport::verbs::AdapterSettings settings = {}) : VerbsPair(settings, settings) {}
    VerbsPair(transport::verbs::AdapterSettings of_a, transport::verbs::AdapterSettings of_b)
        : a(with_address(std::move(of_a), 1)), b(with_address(std::move(of_b), 2)) {
        for (std::size_t i = 0; i < a.memory.size(); ++i) a.memory[i] = static_cast<std::byte>(i * 7 + i / 256);
    }
    static transport::verbs::AdapterSettings with_address(transport::verbs::AdapterSettings settings,
                                                          std::uint8_t last) {
        settings.addresses = {v4(last)};
        settings.first_qp = dissect::Qpn{
            settings.first_qp == dissect::Qpn{0x11} ? 0x100U * last : static_cast<std::uint32_t>(settings.first_qp)};
        return settings;
    }

    VerbsEnd a;
    VerbsEnd b;
    dissect::Instant now{1'000'000};
    // What becomes of a packet: true where it arrives. It may be changed.
    std::function<bool(Flying&, bool from_a)> network{};

    // To ready-to-send, both, as one connects by hand.
    void connect(dissect::Qpn qa, dissect::Qpn qb, const transport::verbs::QpAttr& more = {}) {
        connect_one(a, qa, v4(2), qb, 100, 200, more);
        connect_one(b, qb, v4(1), qa, 200, 100, more);
    }
    static void connect_one(VerbsEnd& end, dissect::Qpn qp, const transport::Address& peer, dissect::Qpn peer_qp,
                            std::uint32_t sq, std::uint32_t rq, const transport::verbs::QpAttr& more) {
        using namespace transport::verbs;
        const QpType type = end.adapter.query_qp(qp)->init.qp_type;
        static_cast<void>(end.adapter.modify_qp(
            qp,
            {.qp_state = QpState::init, .pkey = dissect::Pkey{0xffff}, .access = more.access.value_or(kEveryAccess)}));
        QpAttr rtr{.qp_state = QpState::rtr,
                   .address = more.address.value_or(handle_to(peer)),
                   .path_mtu = transport::PathMtu::bytes_256,
                   .dest_qp_num = peer_qp,
                   .rq_psn = dissect::Psn(rq)};
        if (type == QpType::rc || type == QpType::xrc_recv) {
            rtr.max_dest_rd_atomic = 4;
            rtr.min_rnr_timer = more.min_rnr_timer.value_or(12);
        }
        static_cast<void>(end.adapter.modify_qp(qp, rtr));
        QpAttr rts{.qp_state = QpState::rts, .sq_psn = dissect::Psn(sq)};
        if (type == QpType::rc || is_xrc(type)) rts.timeout = 14;
        if (type == QpType::rc || type == QpType::xrc_send) {
            rts.max_rd_atomic = 4;
            rts.retry_cnt = more.retry_cnt.value_or(7);
            rts.rnr_retry = more.rnr_retry.value_or(7);
        }
        static_cast<void>(end.adapter.modify_qp(qp, rts));
    }
    // A UD queue pair in RTS.
    static dissect::Qpn datagram_qp(VerbsEnd& end, dissect::Qkey key) {
        using namespace transport::verbs;
        const dissect::Qpn qp = *end.adapter.create_qp(end.init(QpType::ud));
        static_cast<void>(
            end.adapter.modify_qp(qp, {.qp_state = QpState::init, .pkey = dissect::Pkey{0xffff}, .qkey = key}));
        static_cast<void>(end.adapter.modify_qp(qp, {.qp_state = QpState::rtr}));
        static_cast<void>(end.adapter.modify_qp(qp, {.qp_state = QpState::rts, .sq_psn = dissect::Psn(1)}));
        return qp;
    }
    // Connected queue pairs, one at each end.
    std::pair<dissect::Qpn, dissect::Qpn> pair(transport::verbs::QpType type = transport::verbs::QpType::rc,
                                               const transport::verbs::QpAttr& more = {}) {
        const dissect::Qpn qa = *a.adapter.create_qp(a.init(type));
        const dissect::Qpn qb = *b.adapter.create_qp(b.init(type));
        connect(qa, qb, more);
        return {qa, qb};
    }

    void carry(Flying flown, bool from_a) {
        if (network && !network(flown, from_a)) return;
        static const std::vector<std::byte> header = [] {  // an IPv4 header, as far as anybody here looks at it
            std::vector<std::byte> bytes(20);
            bytes[0] = std::byte{0x45};
            return bytes;
        }();
        transport::verbs::IncomingPacket in = arrival_of(flown);
        in.packet.network_header = header;
        (from_a ? b : a).adapter.process(in, now);
    }
    // Everything both have to say now; how many packets that was.
    std::size_t converse() {
        std::size_t packets = 0;
        for (bool quiet = false; !quiet && packets < 100'000;) {
            quiet = true;
            while (const auto out = a.adapter.poll(now)) {
                carry(flying(*out), true);
                ++packets;
                quiet = false;
            }
            while (const auto out = b.adapter.poll(now)) {
                carry(flying(*out), false);
                ++packets;
                quiet = false;
            }
        }
        return packets;
    }
    // The same, and on to the next timers, until nothing is due within the time.
    void converse_for(dissect::Duration time) {
        const dissect::Instant end = now + time;
        for (int rounds = 0; rounds < 100'000; ++rounds) {
            converse();
            const auto due_a = a.adapter.poll_at(), due_b = b.adapter.poll_at();
            if (!due_a && !due_b) break;
            const auto due = std::min(due_a.value_or(*std::max(due_a, due_b)), due_b.value_or(*std::max(due_a, due_b)));
            if (due > end) break;
            now = std::max(now, due);
        }
        now = end;
    }
};

}  // namespace qps::tests
