#include <transport-replay/live/peers/exchange_pairs.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

// A group or nobody is none of a peer.
bool is_host(const Address& address) { return !is_unspecified(address) && !is_multicast_group(address); }

}  // namespace

verbs::Result<ExchangePairs> ExchangePairs::open(const PeerContext& context, const QueueNeeds& needs,
                                                 std::uint32_t count, dissect::Qkey qkey, const Address& gid,
                                                 std::uint64_t seed) {
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
            pairs.announce(*queues, gid, seed);
            pairs.all_.push_back(std::move(*queues));
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
    pairs.srqs_.resize(count);
    return pairs;
}

// What is told of the next one. Of XRC the queue pair that serves has the place of the only one of others.
void ExchangePairs::announce(const Queues& queues, const Address& gid, std::uint64_t seed) {
    const auto number = static_cast<std::uint32_t>(all_.size());
    const auto qpn = static_cast<std::uint32_t>(queues.qpn());
    numbers_.emplace(qpn, number);
    QueuePairEnd& end = ends_.emplace_back();
    end.qpn = queues.qpn();
    end.psn = dissect::Psn{static_cast<std::uint32_t>(mix(seed ^ mix(qpn)))};
    end.gid = in_space(gid, AddressSpace::roce_v2);
    if (!queues.extended()) return;
    end.initiator = std::exchange(end.qpn, queues.extended()->target);
    end.srqn = static_cast<std::uint32_t>(queues.extended()->srq.number);
    numbers_.emplace(static_cast<std::uint32_t>(end.qpn), number);
}

void ExchangePairs::close(const PeerContext& context) {
    if (cq_ == verbs::Cq{}) return;
    for (Queues& each : all_) each.close(context);
    all_.clear();
    numbers_.clear();
    (void)context.adapter().destroy_cq(cq_);
    cq_ = {};
}

bool ExchangePairs::renew(const PeerContext& context, std::uint32_t number) {
    Queues& queues = at(number);
    parted_ = false;
    const bool reset = context.adapter().modify_qp(queues.qpn(), {.qp_state = verbs::QpState::reset}).has_value();
    const verbs::QpAttr init{.qp_state = verbs::QpState::init, .pkey = kDefaultPkey, .access = queues.needs().access};
    return reset && context.adapter().modify_qp(queues.qpn(), init) && queues.post_all(context);
}

verbs::Result<void> ExchangePairs::raise(const PeerContext& context, std::uint32_t number, const QueuePairEnd& remote,
                                         PathMtu mtu, std::uint16_t reads) {
    const verbs::AddressHandle to = context.endpoint.connections().path_to(remote.gid);
    const verbs::QpType type = at(number).needs().type;
    targets_[number] = {.ah = to, .remote_qpn = remote.qpn, .remote_qkey = qkey_};
    if (type == verbs::QpType::ud) return {};
    const auto most = static_cast<std::uint8_t>(std::min<std::uint16_t>(reads, verbs::kMaxRdAtomic));
    const auto raise_one = [&](verbs::QpType half, dissect::Qpn qpn, dissect::Qpn peer) -> verbs::Result<void> {
        verbs::QpAttr rtr{
            .qp_state = verbs::QpState::rtr, .address = to, .path_mtu = mtu, .dest_qp_num = peer, .rq_psn = remote.psn};
        verbs::QpAttr rts{.qp_state = verbs::QpState::rts, .sq_psn = ends_[number].psn};
        if (half != verbs::QpType::uc) rts.timeout = kExchangeTimeout;
        if (half == verbs::QpType::rc || half == verbs::QpType::xrc_recv) {
            rtr.max_dest_rd_atomic = most;
            rtr.min_rnr_timer = kExchangeRnrTimer;
        }
        if (half == verbs::QpType::rc || half == verbs::QpType::xrc_send) {
            rts.max_rd_atomic = static_cast<std::uint8_t>(std::clamp<std::uint16_t>(remote.out_reads, 1, most));
            rts.retry_cnt = kExchangeRetries;
            rts.rnr_retry = kExchangeRetries;
        }
        if (const auto done = context.adapter().modify_qp(qpn, rtr); !done) return done;
        return context.adapter().modify_qp(qpn, rts);
    };
    const auto& extended = at(number).extended();
    if (!extended) return raise_one(type, at(number).qpn(), remote.qpn);
    srqs_[number] = Srqn{remote.srqn};
    if (const auto done = raise_one(verbs::QpType::xrc_recv, extended->target, remote.initiator); !done) return done;
    return raise_one(type, at(number).qpn(), remote.qpn);
}

bool ExchangePairs::connect(const PeerContext& context, std::span<const QueuePairEnd> remote, PathMtu mtu,
                            std::uint16_t reads) {
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
    if (parted_ && done.wc.status == verbs::WcStatus::wr_flush_err) return false;
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
    wr.remote_srq = srqs_[number];
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
