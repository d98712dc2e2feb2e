// Work requests and completions.
#include <algorithm>
#include <bit>

#include <agent/agent.hpp>
#include <arpa/inet.h>

namespace qps::agent {

namespace {

struct OperationRow {
    Operation operation;
    ibv_wr_opcode opcode;
};
constexpr int kWrAtomicWrite = 15;  // IBV_WR_ATOMIC_WRITE, which headers before rdma-core 44 lack
constexpr std::array kOperations{
    OperationRow{Operation::send, IBV_WR_SEND},
    OperationRow{Operation::send_imm, IBV_WR_SEND_WITH_IMM},
    OperationRow{Operation::send_inv, IBV_WR_SEND_WITH_INV},
    OperationRow{Operation::write, IBV_WR_RDMA_WRITE},
    OperationRow{Operation::write_imm, IBV_WR_RDMA_WRITE_WITH_IMM},
    OperationRow{Operation::read, IBV_WR_RDMA_READ},
    OperationRow{Operation::fetch_add, IBV_WR_ATOMIC_FETCH_AND_ADD},
    OperationRow{Operation::cmp_swap, IBV_WR_ATOMIC_CMP_AND_SWP},
    OperationRow{Operation::local_inv, IBV_WR_LOCAL_INV},
    OperationRow{Operation::atomic_write, static_cast<ibv_wr_opcode>(kWrAtomicWrite)},
};

constexpr std::array kFlagBits{IBV_SEND_SIGNALED, IBV_SEND_FENCE, IBV_SEND_SOLICITED, IBV_SEND_INLINE};
unsigned send_flags_of(std::uint64_t flags) {
    unsigned bits = 0;
    for (std::size_t i = 0; i < kFlagBits.size(); ++i)
        bits |= (flags >> i & 1) != 0 ? static_cast<unsigned>(kFlagBits[i]) : 0;
    return bits;
}

DoneWord word_of(int opcode) {
    switch (opcode) {
        case IBV_WC_SEND: return DoneWord::send;
        case IBV_WC_RDMA_WRITE: return DoneWord::write;
        case IBV_WC_RDMA_READ: return DoneWord::read;
        case IBV_WC_COMP_SWAP: return DoneWord::cmp_swap;
        case IBV_WC_FETCH_ADD: return DoneWord::fetch_add;
        case IBV_WC_BIND_MW: return DoneWord::bind_mw;
        case IBV_WC_LOCAL_INV: return DoneWord::local_inv;
        case 9: return DoneWord::atomic_write;  // IBV_WC_ATOMIC_WRITE
        case IBV_WC_RECV: return DoneWord::recv;
        case IBV_WC_RECV_RDMA_WITH_IMM: return DoneWord::recv_imm;
        default: return DoneWord::other;
    }
}

// Where the status is not success the rest means nothing (11.4.2.1), and is not said.
Completion completion_of(const ibv_wc& wc) {
    Completion done{.wr = wc.wr_id,
                    .status = static_cast<std::uint64_t>(wc.status),
                    .done = static_cast<std::uint64_t>(DoneWord::other),
                    .qpn = wc.qp_num};
    if (wc.status != IBV_WC_SUCCESS) return done;
    done.done = static_cast<std::uint64_t>(word_of(wc.opcode));
    done.length = wc.byte_len;
    done.source_qp = wc.src_qp;
    if ((wc.wc_flags & IBV_WC_GRH) != 0) done.flags |= bit(DoneFlag::grh);
    if ((wc.wc_flags & IBV_WC_IP_CSUM_OK) != 0) done.flags |= bit(DoneFlag::csum);
    if ((wc.wc_flags & IBV_WC_WITH_IMM) != 0) {
        done.flags |= bit(DoneFlag::imm);
        done.imm = ntohl(wc.imm_data);
    } else if ((wc.wc_flags & IBV_WC_WITH_INV) != 0) {
        done.flags |= bit(DoneFlag::inv);
        done.imm = wc.invalidated_rkey;
    }
    return done;
}

std::string after(std::string_view call, std::uint64_t done) {
    return std::string(call) + (done == 0 ? "" : " after " + std::to_string(done));
}

}  // namespace

ibv_ah* Agent::handle_for(QueuePair& pair, std::string_view to, Answer& why) {
    const auto found = pair.handles.find(std::string(to));
    if (found != pair.handles.end()) return found->second.get();
    Fields path;
    path.add(Key::to, to);
    auto attributes = attributes_of(path, device_);
    if (!attributes) {
        why = refused(EINVAL, "to");
        return nullptr;
    }
    OwnedAh made(ibv_create_ah(pair.qp->pd, &attributes->attr.ah_attr));
    if (!made) {
        why = refused(errno, "ibv_create_ah");
        return nullptr;
    }
    // Work that is under way may still need the others.
    if (pair.handles.size() >= kMostObjects) {
        why = refused(ENOSPC, "addresses of one queue pair");
        return nullptr;
    }
    return pair.handles.emplace(to, std::move(made)).first->second.get();
}

Answer Agent::recv(const Fields& ask) {
    if (ask.has(Key::qp) == ask.has(Key::srq)) return missing("qp or srq");
    QueuePair* pair = objects_.qps.find(ask.number_or(Key::qp, 0));
    const OwnedSrq* srq = objects_.srqs.find(ask.number_or(Key::srq, 0));
    if (pair == nullptr && srq == nullptr) return unknown(ask.has(Key::qp) ? "qp" : "srq");
    const std::uint64_t length = ask.number_or(Key::len, 0);
    const std::uint64_t step = ask.number_or(Key::step, 0);
    const Region* region = objects_.regions.find(ask.number_or(Key::mr, 0));
    if (ask.has(Key::mr) && region == nullptr) return unknown("mr");
    if (region == nullptr && length > 0) return missing("mr");
    const std::uint64_t begin =
        region == nullptr ? 0 : reinterpret_cast<std::uint64_t>(region->bytes.data()) + ask.number_or(Key::off, 0);
    for (std::uint64_t i = 0; i < ask.number_or(Key::count, 1); ++i) {
        ibv_sge sge{.addr = begin + i * step,
                    .length = static_cast<std::uint32_t>(length),
                    .lkey = region == nullptr ? 0 : region->mr->lkey};
        ibv_recv_wr wr{.wr_id = ask.number_or(Key::wr, 0) + i,
                       .next = nullptr,
                       .sg_list = &sge,
                       .num_sge = region == nullptr ? 0 : 1};
        ibv_recv_wr* bad = nullptr;
        const int error =
            srq != nullptr ? ibv_post_srq_recv(srq->get(), &wr, &bad) : ibv_post_recv(pair->qp.get(), &wr, &bad);
        if (error != 0) return refused(error, after(srq != nullptr ? "ibv_post_srq_recv" : "ibv_post_recv", i));
    }
    return {};
}

// Addresses beyond the region are the device's to refuse: that is what a check asks.
Answer Agent::post(const Fields& ask) {
    QueuePair* pair = objects_.qps.find(ask.number_or(Key::qp, 0));
    if (pair == nullptr) return unknown("qp");
    const auto operation = static_cast<Operation>(ask.number_or(Key::op, 0));
    const auto* row = std::ranges::find(kOperations, operation, &OperationRow::operation);
    if (row == kOperations.end()) return refused(EOPNOTSUPP, "op");
    const bool atomic =
        operation == Operation::fetch_add || operation == Operation::cmp_swap || operation == Operation::atomic_write;
    const std::uint64_t length = ask.number_or(Key::len, atomic ? 8 : 0);
    const Region* region = objects_.regions.find(ask.number_or(Key::mr, 0));
    if (ask.has(Key::mr) && region == nullptr) return unknown("mr");
    if (region == nullptr && length > 0) return missing("mr");
    Answer why;
    ibv_ah* handle = nullptr;
    if (pair->kind == QpKind::ud) {
        if (!ask.has(Key::to) || !ask.has(Key::qpn)) return missing("to and qpn");
        handle = handle_for(*pair, ask.text(Key::to), why);
        if (handle == nullptr) return why;
    }
    if (pair->kind == QpKind::xrc_send && !ask.has(Key::srqn)) return missing("srqn");
    const std::uint64_t step = ask.number_or(Key::step, 0);
    const auto rkey = static_cast<std::uint32_t>(ask.number_or(Key::rkey, 0));
    for (std::uint64_t i = 0; i < ask.number_or(Key::count, 1); ++i) {
        ibv_sge sge{};
        if (region != nullptr)
            sge = {
                .addr = reinterpret_cast<std::uint64_t>(region->bytes.data()) + ask.number_or(Key::off, 0) + i * step,
                .length = static_cast<std::uint32_t>(length),
                .lkey = region->mr->lkey};
        ibv_send_wr wr{};
        wr.wr_id = ask.number_or(Key::wr, 0) + i;
        wr.sg_list = &sge;
        wr.num_sge = region == nullptr || operation == Operation::local_inv ? 0 : 1;
        wr.opcode = row->opcode;
        wr.send_flags = send_flags_of(ask.number_or(Key::flags, 0));
        if (operation == Operation::send_inv || operation == Operation::local_inv) wr.invalidate_rkey = rkey;
        else wr.imm_data = htonl(static_cast<std::uint32_t>(ask.number_or(Key::imm, 0)));
        const std::uint64_t remote = ask.number_or(Key::va, 0) + i * step;
        if (pair->kind == QpKind::ud) {
            wr.wr.ud.ah = handle;
            wr.wr.ud.remote_qpn = static_cast<std::uint32_t>(ask.number_or(Key::qpn, 0));
            wr.wr.ud.remote_qkey = static_cast<std::uint32_t>(ask.number_or(Key::qkey, 0x1111'1111));
        } else if (operation == Operation::fetch_add || operation == Operation::cmp_swap) {
            wr.wr.atomic.remote_addr = remote;
            wr.wr.atomic.rkey = rkey;
            wr.wr.atomic.compare_add = ask.number_or(operation == Operation::fetch_add ? Key::add : Key::compare, 0);
            wr.wr.atomic.swap = ask.number_or(Key::swap, 0);
        } else {
            wr.wr.rdma.remote_addr = remote;
            wr.wr.rdma.rkey = rkey;
        }
        if (pair->kind == QpKind::xrc_send)
            wr.qp_type.xrc.remote_srqn = static_cast<std::uint32_t>(ask.number_or(Key::srqn, 0));
        ibv_send_wr* bad = nullptr;
        if (const int error = ibv_post_send(pair->qp.get(), &wr, &bad); error != 0)
            return refused(error, after("ibv_post_send", i));
    }
    return {};
}

Answer Agent::bind(const Fields& ask) {
    QueuePair* pair = objects_.qps.find(ask.number_or(Key::qp, 0));
    if (pair == nullptr) return unknown("qp");
    Window* window = objects_.windows.find(ask.number_or(Key::mw, 0));
    if (window == nullptr) return unknown("mw");
    const Region* region = objects_.regions.find(ask.number_or(Key::mr, 0));
    if (region == nullptr) return unknown("mr");
    const ibv_mw_bind_info shown{
        .mr = region->mr.get(),
        .addr = reinterpret_cast<std::uint64_t>(region->bytes.data()) + ask.number_or(Key::off, 0),
        .length = ask.number_or(Key::len, 0),
        .mw_access_flags = access_of(ask.number_or(Key::access, 0))};
    ibv_mw* const mw = window->mw.get();
    const unsigned flags = send_flags_of(ask.number_or(Key::flags, 0));
    if (window->type == 1) {
        ibv_mw_bind bind{.wr_id = ask.number_or(Key::wr, 0), .send_flags = flags, .bind_info = shown};
        if (const int error = ibv_bind_mw(pair->qp.get(), mw, &bind); error != 0) return refused(error, "ibv_bind_mw");
    } else {
        ibv_send_wr wr{};
        wr.wr_id = ask.number_or(Key::wr, 0);
        wr.opcode = IBV_WR_BIND_MW;
        wr.send_flags = flags;
        wr.bind_mw.mw = mw;
        wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
        wr.bind_mw.bind_info = shown;
        ibv_send_wr* bad = nullptr;
        if (const int error = ibv_post_send(pair->qp.get(), &wr, &bad); error != 0)
            return refused(error, "ibv_post_send of a bind");
        mw->rkey = wr.bind_mw.rkey;  // as the manual of ibv_post_send wants it
    }
    Answer answer;
    answer.fields.add(Key::rkey, std::uint64_t{mw->rkey});
    return answer;
}

Answer Agent::poll(const Fields& ask) {
    if (ask.has(Key::qp) == ask.has(Key::cq)) return missing("qp or cq");
    std::uint64_t number = ask.number_or(Key::cq, 0);
    if (const auto qp = ask.number(Key::qp)) {
        const QueuePair* pair = objects_.qps.find(*qp);
        if (pair == nullptr) return unknown("qp");
        number = pair->cq;
    }
    const OwnedCq* cq = objects_.cqs.find(number);
    if (cq == nullptr) return unknown("cq");
    const std::uint64_t max = ask.number_or(Key::max, kMostCompletions);
    const std::uint64_t least = std::min(ask.number_or(Key::least, 1), max);
    std::vector<ibv_wc> done;
    int error = 0;
    wait(ask, [&] {
        std::array<ibv_wc, kMostCompletions> room{};
        const int got = ibv_poll_cq(cq->get(), static_cast<int>(max - done.size()), room.data());
        if (got < 0) error = EIO;
        else done.insert(done.end(), room.begin(), room.begin() + got);
        return error != 0 || done.size() >= least;
    });
    if (error != 0) return refused(error, "ibv_poll_cq");
    Answer answer;
    for (const ibv_wc& each : done)
        answer.fields.add(Key::wc, transport::conformance::agent::text(completion_of(each)));
    return answer;
}

}  // namespace qps::agent
