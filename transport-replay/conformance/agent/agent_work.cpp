// Work requests and completions of AgentOverVerbs.
#include <transport-replay/conformance/agent/agent_state.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance::agent {

using namespace dissect;
using State = AgentState;
using verbs::WrOpcode;

namespace {

// By Operation.
constexpr std::array kOpcodes{WrOpcode::send,
                              WrOpcode::send_with_imm,
                              WrOpcode::send_with_inv,
                              WrOpcode::rdma_write,
                              WrOpcode::rdma_write_with_imm,
                              WrOpcode::rdma_read,
                              WrOpcode::atomic_fetch_and_add,
                              WrOpcode::atomic_cmp_and_swp,
                              WrOpcode::local_inv,
                              WrOpcode::flush,
                              WrOpcode::atomic_write};
static_assert(kOpcodes.size() == kOperationWords.size());
// Fast registration has no word: libibverbs does not know it.
static_assert(kDoneWords.size() == verbs::kWcOpcodeNames.size() &&
              std::to_underlying(DoneWord::other) == std::to_underlying(verbs::WcOpcode::reg_mr) &&
              std::to_underlying(DoneWord::recv_imm) == std::to_underlying(verbs::WcOpcode::recv_rdma_with_imm));

verbs::SendFlags send_flags_of(std::uint64_t flags) {
    return {.fence = (flags & bit(PostFlag::fence)) != 0,
            .signaled = (flags & bit(PostFlag::signaled)) != 0,
            .solicited = (flags & bit(PostFlag::solicited)) != 0,
            .inline_data = (flags & bit(PostFlag::inline_data)) != 0};
}

Completion completion_of(const verbs::Wc& wc) {
    Completion done{.wr = wc.wr_id,
                    .status = std::to_underlying(wc.status),
                    .done = std::to_underlying(DoneWord::other),
                    .qpn = std::to_underlying(wc.qp_num)};
    if (wc.status != verbs::WcStatus::success) return done;
    done.done = std::to_underlying(wc.opcode);
    done.length = wc.byte_len;
    done.source_qp = std::to_underlying(wc.src_qp);
    done.flags |= wc.flags.grh ? bit(DoneFlag::grh) : 0;
    if (wc.flags.with_imm) {
        done.flags |= bit(DoneFlag::imm);
        done.imm = wc.imm_data;
    } else if (wc.flags.with_inv) {
        done.flags |= bit(DoneFlag::inv);
        done.imm = std::to_underlying(wc.invalidated_rkey);
    }
    return done;
}

// The request that is posted first; the others differ in numbers and addresses.
std::expected<verbs::SendWr, Refused> work_of(const Fields& ask, const QueuePair& pair, const Turn& turn) {
    const auto operation = static_cast<Operation>(ask.number_or(Key::op, 0));
    verbs::SendWr wr{.wr_id = ask.number_or(Key::wr, 0),
                     .opcode = kOpcodes[std::to_underlying(operation)],
                     .send_flags = send_flags_of(ask.number_or(Key::flags, 0)),
                     .imm_data = static_cast<std::uint32_t>(ask.number_or(Key::imm, 0))};
    const Rkey key{static_cast<std::uint32_t>(ask.number_or(Key::rkey, 0))};
    wr.invalidate_rkey = key;
    wr.remote = {.address = ask.number_or(Key::va, 0), .rkey = key};
    wr.atomic = {.compare_add = ask.number_or(operation == Operation::fetch_add ? Key::add : Key::compare, 0),
                 .swap = ask.number_or(Key::swap, 0)};
    wr.flush = {.length = static_cast<std::uint32_t>(ask.number_or(Key::len, 0)), .global_visibility = true};
    wr.remote_srq = Srqn{static_cast<std::uint32_t>(ask.number_or(Key::srqn, 0))};
    if (pair.kind == QpKind::xrc_send && !ask.has(Key::srqn)) return refused("missing", "srqn");
    if (pair.kind != QpKind::ud) return wr;
    if (!ask.has(Key::to) || !ask.has(Key::qpn)) return refused("missing", "to and qpn");
    const auto to = address_of(ask.text(Key::to));
    if (!to) return refused("EINVAL", "to");
    wr.ud = {.ah = turn.endpoint.connections().path_to(*to),
             .remote_qpn = Qpn{static_cast<std::uint32_t>(ask.number_or(Key::qpn, 0))},
             .remote_qkey = Qkey{static_cast<std::uint32_t>(ask.number_or(Key::qkey, 0x1111'1111))}};
    return wr;
}

std::string after(std::string_view call, std::uint64_t done) {
    return done == 0 ? std::string(call) : fmt::format("{} after {}", call, done);
}

}  // namespace

State::Later State::recv(const Fields& ask, const Turn& turn) {
    if (ask.has(Key::qp) == ask.has(Key::srq)) return refused("missing", "qp or srq");
    const QueuePair* pair = qps.find(ask.number_or(Key::qp, 0));
    const verbs::Srq* shared = srqs.find(ask.number_or(Key::srq, 0));
    if (pair == nullptr && shared == nullptr) return unknown(ask.has(Key::qp) ? "qp" : "srq");
    const Region* region = regions.find(ask.number_or(Key::mr, 0));
    if (ask.has(Key::mr) && region == nullptr) return unknown("mr");
    const auto length = static_cast<std::uint32_t>(ask.number_or(Key::len, 0));
    if (region == nullptr && length > 0) return refused("missing", "mr");
    for (std::uint64_t i = 0; i < ask.number_or(Key::count, 1); ++i) {
        verbs::Sge piece;
        if (region != nullptr)
            piece = {.address = region->mr.address + ask.number_or(Key::off, 0) + i * ask.number_or(Key::step, 0),
                     .length = length,
                     .lkey = region->mr.lkey};
        verbs::RecvWr wr{.wr_id = ask.number_or(Key::wr, 0) + i};
        if (region != nullptr) wr.sg_list = {&piece, 1};
        const auto posted =
            shared != nullptr ? turn.adapter().post_srq_recv(*shared, wr) : turn.adapter().post_recv(pair->qpn, wr);
        if (!posted) return refused(posted.error(), after(shared != nullptr ? "post_srq_recv" : "post_recv", i));
    }
    return Fields{};
}

// Addresses beyond the region are the adapter's to refuse: that is what a check asks.
State::Later State::post(const Fields& ask, const Turn& turn) {
    const QueuePair* pair = qps.find(ask.number_or(Key::qp, 0));
    if (pair == nullptr) return unknown("qp");
    const Region* region = regions.find(ask.number_or(Key::mr, 0));
    if (ask.has(Key::mr) && region == nullptr) return unknown("mr");
    auto wr = work_of(ask, *pair, turn);
    if (!wr) return std::unexpected(wr.error());
    const WrOpcode opcode = wr->opcode;
    const bool eight = opcode == WrOpcode::atomic_fetch_and_add || opcode == WrOpcode::atomic_cmp_and_swp ||
                       opcode == WrOpcode::atomic_write;
    const bool none = opcode == WrOpcode::flush || opcode == WrOpcode::local_inv;  // no memory of ours
    const auto length = static_cast<std::uint32_t>(ask.number_or(Key::len, eight ? 8 : 0));
    if (region == nullptr && length > 0 && !none) return refused("missing", "mr");
    const std::uint64_t step = ask.number_or(Key::step, 0);
    for (std::uint64_t i = 0; i < ask.number_or(Key::count, 1); ++i) {
        verbs::Sge piece;
        if (region != nullptr)
            piece = {.address = region->mr.address + ask.number_or(Key::off, 0) + i * step,
                     .length = length,
                     .lkey = region->mr.lkey};
        if (region != nullptr && !none) wr->sg_list = {&piece, 1};
        if (const auto posted = turn.adapter().post_send(pair->qpn, *wr); !posted)
            return refused(posted.error(), after("post_send", i));
        ++wr->wr_id;
        wr->remote.address += step;
    }
    return Fields{};
}

State::Later State::bind(const Fields& ask, const Turn& turn) {
    const QueuePair* pair = qps.find(ask.number_or(Key::qp, 0));
    if (pair == nullptr) return unknown("qp");
    Window* window = windows.find(ask.number_or(Key::mw, 0));
    if (window == nullptr) return unknown("mw");
    const Region* region = regions.find(ask.number_or(Key::mr, 0));
    if (region == nullptr) return unknown("mr");
    verbs::Window& shown = window->window;
    const verbs::MwBind bind{.mw = shown.handle,
                             .rkey = verbs::next_rkey(shown.rkey),
                             .lkey = region->mr.lkey,
                             .address = region->mr.address + ask.number_or(Key::off, 0),
                             .length = ask.number_or(Key::len, 0),
                             .access = access_of(ask.number_or(Key::access, 0))};
    const std::uint64_t wr_id = ask.number_or(Key::wr, 0);
    const verbs::SendFlags flags = send_flags_of(ask.number_or(Key::flags, 0));
    if (shown.type == verbs::MwType::type_1) {
        const auto key = turn.adapter().bind_mw(pair->qpn, wr_id, bind, flags);
        if (!key) return refused(key.error(), "bind_mw");
        shown.rkey = *key;
    } else {
        const verbs::SendWr wr{.wr_id = wr_id, .opcode = WrOpcode::bind_mw, .send_flags = flags, .bind = bind};
        if (const auto posted = turn.adapter().post_send(pair->qpn, wr); !posted)
            return refused(posted.error(), "post_send of a bind");
        shown.rkey = bind.rkey;
    }
    return Fields{}.add(Key::rkey, std::uint64_t{std::to_underlying(shown.rkey)});
}

State::Later State::poll(const Fields& ask, const Turn& turn) {
    if (ask.has(Key::qp) == ask.has(Key::cq)) return refused("missing", "qp or cq");
    std::uint64_t number = ask.number_or(Key::cq, 0);
    if (const auto qp = ask.number(Key::qp)) {
        const QueuePair* pair = qps.find(*qp);
        if (pair == nullptr) return unknown("qp");
        number = pair->cq;
    }
    const verbs::Cq* cq = cqs.find(number);
    if (cq == nullptr) return unknown("cq");
    const std::uint64_t max = ask.number_or(Key::max, kMostCompletions);
    const std::uint64_t least = std::min(ask.number_or(Key::least, 1), max);
    std::array<verbs::Wc, kMostCompletions> room{};
    const std::size_t got = turn.adapter().poll_cq(*cq, std::span(room).first(max - taken.size()));
    for (const verbs::Wc& wc : std::span(room).first(got)) taken.push_back(completion_of(wc));
    if (taken.size() < least && !waited_long_enough(ask, turn)) return std::nullopt;
    Fields fields;
    for (const Completion& each : std::exchange(taken, {})) fields.add(Key::wc, agent::text(each));
    return fields;
}

}  // namespace qps::transport::conformance::agent
