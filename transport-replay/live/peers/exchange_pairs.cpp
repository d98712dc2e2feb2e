#include <transport-replay/live/peers/exchange_pairs.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

// A group or nobody is none of a peer.
bool is_host(const Address& address) { return !is_unspecified(address) && !is_multicast_group(address); }

}  // namespace

verbs::Result<ExchangePairs> ExchangePairs::open(const PeerContext& context, const QueueNeeds& needs, std::uint32_t count,
                                                 dissect::Qkey qkey, const Address& gid, std::uint64_t seed) {
    ExchangePairs pairs;
    pairs.qkey_ = qkey;
    const auto cq = context.adapter().create_cq(count * completions_of(needs));
    if (!cq) return std::unexpected(cq.error());
    pairs.cq_ = *cq;
    for (std::uint32_t i = 0; i < count; ++i) {
        auto queues = Queues::open(context, *cq, needs, kDefaultPkey);
        verbs::Result<void> ready{};
        if (!queues) {
            ready = std::unexpected(queues.error());
        } else {
            const dissect::Qpn qpn = queues->qpn();
            pairs.all_.push_back(std::move(*queues));
            pairs.numbers_.emplace(static_cast<std::uint32_t>(qpn), i);
            const dissect::Psn psn{static_cast<std::uint32_t>(mix(seed ^ mix(static_cast<std::uint32_t>(qpn))))};
            pairs.ends_.push_back({.qpn = qpn, .psn = psn, .gid = in_space(gid, AddressSpace::roce_v2)});
            if (needs.type == verbs::QpType::ud) {
                ready = context.endpoint.connections().activate_datagrams(qpn, qkey);
                if (ready) ready = pairs.all_.back().post_all(context);
            }
        }
        if (!ready) {
            pairs.close(context);
            return std::unexpected(ready.error());
        }
    }
    pairs.targets_.resize(count);
    return pairs;
}

void ExchangePairs::close(const PeerContext& context) {
    if (cq_ == verbs::Cq{}) return;
    for (Queues& each : all_) each.close(context);
    all_.clear();
    numbers_.clear();
    (void)context.adapter().destroy_cq(cq_);
    cq_ = {};
}

verbs::Result<void> ExchangePairs::raise(const PeerContext& context, std::uint32_t number, const QueuePairEnd& remote, PathMtu mtu,
                                         std::uint16_t reads) {
    const verbs::AddressHandle to = context.endpoint.connections().path_to(remote.gid);
    const verbs::QpType type = at(number).needs().type;
    targets_[number] = {.ah = to, .remote_qpn = remote.qpn, .remote_qkey = qkey_};
    if (type == verbs::QpType::ud) return {};
    verbs::QpAttr rtr{.qp_state = verbs::QpState::rtr, .address = to, .path_mtu = mtu, .dest_qp_num = remote.qpn, .rq_psn = remote.psn};
    verbs::QpAttr rts{.qp_state = verbs::QpState::rts, .sq_psn = ends_[number].psn};
    if (type == verbs::QpType::rc) {
        const auto most = static_cast<std::uint8_t>(std::min<std::uint16_t>(reads, verbs::kMaxRdAtomic));
        rtr.max_dest_rd_atomic = most;
        rtr.min_rnr_timer = kExchangeRnrTimer;
        rts.max_rd_atomic = static_cast<std::uint8_t>(std::clamp<std::uint16_t>(remote.out_reads, 1, most));
        rts.timeout = kExchangeTimeout;
        rts.retry_cnt = kExchangeRetries;
        rts.rnr_retry = kExchangeRetries;
    }
    const dissect::Qpn qpn = at(number).qpn();
    if (const auto done = context.adapter().modify_qp(qpn, rtr); !done) return done;
    return context.adapter().modify_qp(qpn, rts);
}

bool ExchangePairs::connect(const PeerContext& context, std::span<const QueuePairEnd> remote, PathMtu mtu, std::uint16_t reads) {
    for (std::uint32_t i = 0; i < std::min<std::size_t>(size(), remote.size()); ++i) {
        if (remote[i].qpn == dissect::Qpn{}) continue;  // ibv_srq_pingpong tells of more than there are
        if (family_of(remote[i].gid) != family_of(ends_[i].gid)) {
            complain("its GID and ours are of different families, IPv4 and IPv6 (see its option -g)");
        } else if (!is_host(remote[i].gid)) {
            complain(fmt::format("{} is not a valid peer address", text(remote[i].gid)));
        } else if (const auto up = raise(context, i, remote[i], mtu, reads); !up) {
            complain(fmt::format("cannot connect queue pair {} to the announced one: {}", i + 1, name(up.error())));
        }
    }
    return !complaint_;
}

bool ExchangePairs::reachable(const PeerContext& context) {
    for (const verbs::UdTarget& each : targets_) {
        if (each.remote_qpn == dissect::Qpn{}) continue;
        Route route{};
        route.network = each.ah.network;
        route.source = each.ah.source;
        route.destination = each.ah.destination;
        const Reach reach = context.endpoint.host().complete(route, 0, context.now);
        if (reach == Reach::ready) continue;
        if (reach != Reach::resolving) complain(fmt::format("cannot resolve {}", text(each.ah.destination)));
        return false;
    }
    return !complaint_;
}

std::uint32_t ExchangePairs::outstanding() const {
    std::uint32_t all = 0;
    for (const Queues& each : all_) all += each.outstanding();
    return all;
}

bool ExchangePairs::note(std::uint32_t number, const Done& done) {
    at(number).note(done);
    if (complaint_) return false;
    if (done.wc.status == verbs::WcStatus::success) return true;
    if (done.wc.status == verbs::WcStatus::wr_flush_err) {
        complain("the queue pair failed");
    } else {
        complain(fmt::format("a {} failed: {}", done.receive ? "receive" : "request", verbs::name(done.wc.status)));
    }
    return false;
}

bool ExchangePairs::post(const PeerContext& context, std::uint32_t number, verbs::SendWr wr, std::uint32_t tag) {
    if (complaint_) return false;
    if (at(number).needs().type == verbs::QpType::ud) wr.ud = targets_[number];
    const auto posted = at(number).post(context, wr, tag);
    if (!posted) complain(fmt::format("cannot post work: {}", name(posted.error())));
    return posted.has_value();
}

bool ExchangePairs::post_receive(const PeerContext& context, std::uint32_t number, std::uint32_t slot) {
    const auto posted = at(number).post_receive(context, slot);
    if (!posted) complain(fmt::format("cannot post a receive: {}", name(posted.error())));
    return posted.has_value();
}

}  // namespace qps::transport::live::peers
