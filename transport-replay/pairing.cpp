#include <transport-replay/pairing.hpp>

namespace qps::transport {

using namespace dissect;

std::size_t WaitingRequests::Hash::operator()(const Key& key) const {
    return FlowHash{}({key.requester, key.responder, Qpn{key.psn.value()}});
}

void WaitingRequests::expect(const FlowKey& flow, Psn psn, FlowId id) {
    if (waiting_.size() >= kMost) waiting_.clear();
    const auto [place, added] = waiting_.try_emplace(Key{flow.source, flow.destination, psn}, Waiting{id, false});
    if (!added && place->second.id != id) place->second.ambiguous = true;
}

std::optional<FlowId> WaitingRequests::answered_by(const FlowKey& flow, Psn psn) const {
    const auto found = waiting_.find(Key{flow.destination, flow.source, psn});
    if (found == waiting_.end() || found->second.ambiguous) return std::nullopt;
    return found->second.id;
}

}  // namespace qps::transport
