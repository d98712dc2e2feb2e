// Conclusions on communication management: retries that were announced, what comes after a connection is released.
#include <dissect/base/timers.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/checks/passive/conclusions.hpp>
#include <transport-replay/checks/passive/conversation_watch.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr std::uint8_t kForEver = 7;  // of RNR retries (9.7.5.2.8)

// 12.7.38, 12.7.39: an RNR retry count is announced to the other end, which keeps to it.
std::optional<std::uint8_t> retries_announced(const CmAttempt& attempt, const Recovery& recovery) {
    if (recovery.kind == RecoveryKind::timeout) return attempt.retry_count;
    if (recovery.kind != RecoveryKind::rnr_nak) return {};
    const auto announced = side_of(attempt, other(recovery.requester)).rnr_retry_count;
    return announced == kForEver ? std::nullopt : announced;
}

void check_retries(const Timeline& timeline, Tallies& tallies) {
    for (const Recovery& recovery : timeline.recoveries) {
        const Connection* connection = timeline.find(recovery.connection);
        const CmAttempt* attempt = connection != nullptr ? attempt_of(timeline, *connection) : nullptr;
        const auto announced = attempt != nullptr ? retries_announced(*attempt, recovery) : std::nullopt;
        if (!announced || recovery.inferred) continue;
        tallies.about(connection->end(recovery.requester).address);
        tallies.look(Passive::cm_25);
        if (recovery.rounds > *announced) tallies.fail(Passive::cm_25, recovery.resumed, recovery.last);
    }
}

struct Released {
    Moment at;
    Duration rest{};  // how long its queue pairs must rest
    bool reported = false;
};
using ReleasedFlows = boost::unordered_flat_map<FlowKey, std::uint32_t, FlowHash>;

// 12.9.8.4: TIMEWAIT lasts as long as a packet may be under way: the ACK timeout.
Duration timewait(const CmAttempt& attempt) {
    constexpr std::uint8_t kUsual =
        14;  // where the REQ was not seen: 67 ms, shorter than any that CM tells in practice
    return dissect::timeout_of(attempt.local_ack_timeout.value_or(kUsual));
}

std::optional<Moment> released_at(const CmAttempt& attempt) {
    for (const CmRung& rung : attempt.ladder)
        if (rung.message == CmMessage::drep && !rung.refused) return Moment{rung.frame, rung.time};
    return {};
}

void check_released(const Timeline& timeline, Tallies& tallies) {
    std::vector<Released> all;  // as many as attempts, which are bounded
    ReleasedFlows flows;
    for (const CmAttempt& attempt : timeline.cm.attempts) {
        const auto at = released_at(attempt);
        if (!at || !attempt.active.qpn || !attempt.passive.qpn) continue;
        tallies.about(attempt.active.address, attempt.passive.address);
        tallies.look(Passive::cm_19);
        const auto index = static_cast<std::uint32_t>(all.size());
        all.push_back({*at, timewait(attempt)});
        flows[{attempt.active.address, attempt.passive.address, *attempt.passive.qpn, {}}] = index;
        flows[{attempt.passive.address, attempt.active.address, *attempt.active.qpn, {}}] = index;
    }
    if (all.empty()) return;
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Endpoint& to = connection.end(other(end));
            const Way& way = connection.way(end);
            if (way.packets == 0 || !to.qpn || way.incidents->cnps == way.packets) continue;
            const auto found = flows.find(FlowKey{connection.end(end).address, to.address, *to.qpn, {}});
            if (found == flows.end()) continue;
            Released& released = all[found->second];
            // Of the connection itself the last packet counts, of one that took its queue pairs the first.
            const bool own = way.first_time < released.at.time;
            const Moment seen = own ? Moment{way.last_frame, way.last_time} : Moment{way.first_frame, way.first_time};
            const Duration since = seen.time - released.at.time;
            if (released.reported || since <= kReordering || since >= released.rest) continue;
            tallies.about(connection.end(end).address);
            if (!tallies.counts()) continue;
            released.reported = true;
            tallies.fail(Passive::cm_19, released.at.frame, seen.frame);
        }
}

}  // namespace

void conclude_management(const Timeline& timeline, Tallies& tallies) {
    check_retries(timeline, tallies);
    check_released(timeline, tallies);
}

}  // namespace qps::transport::conformance
