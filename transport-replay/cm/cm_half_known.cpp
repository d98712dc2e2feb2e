// Attempts of which the REP was not captured: the RTU says that there was one, but not which queue pair the passive
// side has. The REQ says with which PSN the passive side begins (12.7.31); the flow of the active side that answers it
// is that of the attempt.
#include <dissect/base/opcode.hpp>
#include <transport-replay/cm/cm_ladder.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

FlowKey hosts(const Address& active, const Address& passive) { return {active, passive, {}, {}}; }

}  // namespace

void CmTracker::watch_for_answers(Index index) {
    const CmAttempt& attempt = report_.attempts[index];
    if (!attempt.active.qpn || !attempt.active.starting_psn || attempt.passive.qpn) return;
    std::vector<Index>& waiting = half_known_[hosts(attempt.active.address, attempt.passive.address)];
    if (waiting.size() < kMaxHalfKnown && std::ranges::find(waiting, index) == waiting.end()) waiting.push_back(index);
}

CmNews CmTracker::match(const Observation& observation) const {
    const OpcodeRow& row = info(observation.opcode);
    if (!row.defined || row.request || row.verb == Verb::notify || observation.datagram) return {};
    const auto found = half_known_.find(hosts(observation.flow.source, observation.flow.destination));
    if (found == half_known_.end()) return {};
    std::optional<Index> only;
    for (const Index index : found->second) {
        const Psn start = *report_.attempts[index].active.starting_psn;
        const auto behind = static_cast<std::uint32_t>(observation.psn - start);
        if (observation.psn.before(start) || behind >= kHalfKnownWindow) continue;
        if (only) return {};  // two set-ups that begin so close together: nobody can tell
        only = index;
    }
    return only ? CmNews{CmNews::Kind::matched, *only, true} : CmNews{};
}

void CmTracker::name_passive(std::uint32_t uid, const FlowKey& flow) {
    report_.attempts[uid].passive.qpn = flow.destination_qp;
    const auto found = half_known_.find(hosts(flow.source, flow.destination));
    if (found == half_known_.end()) return;
    std::erase(found->second, uid);
    if (found->second.empty()) half_known_.erase(found);
}

}  // namespace qps::transport
