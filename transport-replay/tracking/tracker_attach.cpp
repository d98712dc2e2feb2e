// Flows of which others than their packets tell whose they are: attempts of CM that are known later, and what programs
// told each other.
#include <dissect/headers/infiniband.hpp>
#include <dissect/ulp/ucx_address.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

bool shows(const Observation& request, const PairProof& proof) {
    switch (proof.by) {
        case PairProof::By::drawn_psn: return true;
        case PairProof::By::remote_key:
            return info(request.opcode).verb == Verb::write && request.access &&
                   std::to_underlying(request.access->key) == proof.first;
        case PairProof::By::wireup:
            return request.payload.size() >= request.payload_length &&
                   ucx::acknowledges_wireup(request.payload.first(request.payload_length), proof.first, proof.second);
        case PairProof::By::nothing: break;
    }
    return false;
}

}  // namespace

// Which of the two RNR retry counts is whose, nobody need know: the greater one holds for both.
bool Tracker::attach(const CmAttempt& attempt, const FlowKey& flow) {
    if (!attempt.active.qpn) return false;
    const auto found = index_.find(flow);
    if (!found) {
        CmAttempt whole = attempt;
        whole.passive.qpn = flow.destination_qp;
        connect(whole);
        return index_.contains(flow);
    }
    WayOf where(*found);
    const auto fits = [&](const Connection& connection) {
        const auto& qpn = connection.end(where.from()).qpn;
        return !connection.cm_attempt && connection.first_frame() > attempt.first_frame &&
               (!qpn || qpn == attempt.active.qpn);
    };
    if (!fits(entries_[where.index()].connection)) return false;
    const FlowKey back = keyed({flow.destination, flow.source, *attempt.active.qpn, {}}, attempt.passive.network);
    const auto other_way = index_.find(back);
    const bool alone = entries_[where.index()].connection.joined_by == JoinedBy::nothing;
    if (alone && other_way && WayOf(*other_way).index() != where.index()) {
        const Connection& requests = entries_[WayOf(*other_way).index()].connection;
        if (requests.joined_by != JoinedBy::nothing || requests.cm_attempt) return false;
        where = join(where.index(), WayOf(*other_way).index(), JoinedBy::connection_manager);
    }
    Entry& entry = entries_[where.index()];
    entry.connection.ends[static_cast<std::size_t>(where.from())].qpn = attempt.active.qpn;
    if (!other_way) index_.set(back, WayOf(where.index(), other(where.from())).word());
    entry.connection.joined_by = JoinedBy::connection_manager;
    entry.connection.confidence = std::max(entry.connection.confidence, Confidence::strong);
    entry.connection.cm_attempt = attempt.uid;
    entry.connection.cm_path_mtu = attempt.path_mtu;
    entry.retries = negotiated(attempt);
    if (alone && !other_way) {
        RequestStream& requests = entry.directions[static_cast<std::size_t>(other(where.from()))].requests;
        if (!requests.started()) requests.begin_at(*attempt.active.starting_psn);
        apply_kept_answers(where.index(), other(where.from()));
    }
    return true;
}

// What is known of the requests of that end to that other one. Where the queue pair that sends is not known, it may be
// this one.
Tracker::Use Tracker::use_of(const ToldEnd& from, const ToldEnd& to) const {
    const auto found = index_.find(FlowKey{from.address, to.address, to.qpn, {}});
    if (!found) return Use::none;
    const WayOf where(*found);
    const Connection& connection = entries_[where.index()].connection;
    const Way& way = connection.way(where.from());
    const auto& qpn = connection.end(where.from()).qpn;
    if (connection.cm_attempt && !connection.released) return Use::managed;
    if (!qpn) return Use::same;
    if (*qpn != from.qpn) return Use::other;
    const bool told_otherwise =
        connection.joined_by == JoinedBy::exchange && way.requests != 0 && Psn(way.first_psn) != from.psn;
    return told_otherwise ? Use::other : Use::same;
}

// The connection keeps what it has; its flows may begin anew.
void Tracker::leave_flows(const FlowKey& flow) {
    const auto found = index_.find(flow);
    if (!found) return;
    Entry& entry = entries_[WayOf(*found).index()];
    if (!entry.over) entry.over = now_;
    for (const End end : {End::a, End::b}) index_.forget(flow_of(entry, end));
    index_.forget(flow);
}

// Who tells of queue pairs that others had uses them anew; perftest tells the same of its own once more, between its
// runs and behind them. Where PSNs are not drawn, the first request shows it.
void Tracker::tell(const ToldEnd& one, const ToldEnd& two, const PairProof& proof) {
    const Use there = use_of(one, two), back = use_of(two, one);
    if (there == Use::managed || back == Use::managed) return;  // CM knows better
    if (proof.by == PairProof::By::drawn_psn) {
        const bool anew = there == Use::other || back == Use::other;
        if (!anew && (there == Use::same || back == Use::same)) return;
        leave_flows({one.address, two.address, two.qpn, {}});
        leave_flows({two.address, one.address, one.qpn, {}});
    }
    told_.add(one, two, proof, now_);
}

// A request with PSN 0 is the first one of another connection than its queue pairs had where it shows what was told of
// another, or is not the one that this began with. PSNs come to 0 again after 2^24: of the latter where that may be,
// nothing is concluded.
void Tracker::leave_for_another(const Observation& observation) {
    constexpr std::uint32_t kMany = 1U << 23U;
    if (observation.icrc == CrcStatus::bad) return;
    const auto found = find(observation);
    if (!found) return;
    const WayOf where = *found;
    const Entry& entry = entries_[where.index()];
    const Connection& connection = entry.connection;
    const std::uint64_t requests = connection.way(where.from()).requests;
    if (requests == 0 || (connection.cm_attempt && !connection.released)) return;
    const auto known = shown_.find(connection.uid);
    const auto told = told_.find(observation.flow, observation.psn, now_);
    const bool other = told && told->proof.by != PairProof::By::drawn_psn &&
                       (known == shown_.end() || known->second.proof != told->proof);
    if (other && shows(observation, told->proof)) return leave_flows(observation.flow);
    if (known == shown_.end() || known->second.from != where.from()) return;
    const bool goes_on = entry.directions[static_cast<std::size_t>(where.from())].requests.next().value() >= kMany;
    const PairProof& proof = known->second.proof;
    const bool unread = proof.by == PairProof::By::wireup && observation.payload.size() < observation.payload_length;
    if (requests < kMany && !goes_on && !unread && !shows(observation, proof)) leave_flows(observation.flow);
}

// Whether it is the first request of a connection whose ends told each other of it; the other way is known then, too.
bool Tracker::take_told(Index index, const Observation& observation) {
    if (told_.empty() || observation.datagram || !info(observation.opcode).request) return false;
    const FlowKey& flow = observation.flow;
    const auto told = told_.find(flow, observation.psn, now_);
    if (!told || FlowIndex::is_in_network(flow)) return false;
    told_.forget(flow);
    if (!shows(observation, told->proof)) return false;
    const FlowKey back{flow.destination, flow.source, told->source, {}};
    if (told->proof.by != PairProof::By::drawn_psn) leave_flows(back);
    if (index_.contains(back) || !index_.set(back, WayOf(index, End::b).word())) return false;
    Entry& entry = entries_[index];
    entry.connection.ends[0].qpn = told->source;
    entry.connection.confidence = Confidence::certain;
    entry.connection.joined_by = JoinedBy::exchange;
    entry.directions[0].requests.begin_at(told->first);
    entry.directions[1].requests.begin_at(told->other_first);
    if (told->proof.by != PairProof::By::drawn_psn && shown_.size() < ToldPairs::kMost)
        shown_[entry.connection.uid] = {End::a, told->proof};
    return true;
}

std::optional<ConnectionId> Tracker::connection_of(const CmAttempt& attempt) const {
    if (!attempt.active.qpn || !attempt.passive.qpn) return std::nullopt;
    const auto found = index_.find(
        keyed({attempt.active.address, attempt.passive.address, *attempt.passive.qpn, {}}, attempt.active.network));
    if (!found) return std::nullopt;
    const Entry& entry = entries_[WayOf(*found).index()];
    if (entry.connection.cm_attempt != attempt.uid) return std::nullopt;
    return entry.connection.uid;
}

}  // namespace qps::transport
