#include <transport-replay/pairing.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

std::size_t WaitingRequests::Hash::operator()(const Key& key) const {
    return FlowHash{}({key.requester, key.responder, Qpn{key.psn.value()}, {}});
}

void WaitingRequests::expect(const FlowKey& flow, Psn psn, FlowId id) {
    if (waiting_.size() >= kMost) waiting_.clear();
    Flows& flows = waiting_[Key{flow.source, flow.destination, psn}];
    if (flows.size() <= kMostTogether && std::ranges::find(flows, id) == flows.end()) flows.push_back(id);
}

std::span<const FlowId> WaitingRequests::candidates(const FlowKey& flow, Psn psn) const {
    const auto found = waiting_.find(Key{flow.destination, flow.source, psn});
    if (found == waiting_.end() || found->second.size() > kMostTogether) return {};
    return {found->second.data(), found->second.size()};
}

}  // namespace qps::transport
