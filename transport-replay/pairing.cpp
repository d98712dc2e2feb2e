#include <transport-replay/pairing.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

std::uint64_t key_of(const Address& requester, const Address& responder, Psn psn) {
    return mix(hash_of(requester) + 3 * hash_of(responder) + mix(psn.value())) | 1;  // 0 is an empty slot
}

}  // namespace

// Slots of the same key stand one after the other; no more of them than tell anything.
void WaitingRequests::Generation::insert(Slot slot) {
    if (2 * (used + 1) > slots.size()) {
        const std::vector<Slot> before = std::exchange(slots, std::vector<Slot>(slots.size() * 2));
        used = 0;
        for (const Slot& old : before)
            if (old.key != 0) insert(old);
    }
    const std::size_t mask = slots.size() - 1;
    std::size_t together = 0;
    std::size_t at = slot.key >> 1 & mask;
    for (; slots[at].key != 0; at = (at + 1) & mask) {
        if (slots[at].key != slot.key) continue;
        if (slots[at].id == slot.id || ++together > kMostTogether) return;
    }
    slots[at] = slot;
    ++used;
}

void WaitingRequests::Generation::collect(std::uint64_t key, Flows& flows) const {
    const std::size_t mask = slots.size() - 1;
    for (std::size_t at = key >> 1 & mask; slots[at].key != 0; at = (at + 1) & mask)
        if (slots[at].key == key && std::ranges::find(flows, slots[at].id) == flows.end()) flows.push_back(slots[at].id);
}

void WaitingRequests::expect(const FlowKey& flow, Psn psn, FlowId id) {
    if (newer_.used == kMost) older_ = std::exchange(newer_, Generation{});
    newer_.insert({key_of(flow.source, flow.destination, psn), id});
}

WaitingRequests::Flows WaitingRequests::candidates(const FlowKey& flow, Psn psn) const {
    Flows flows;
    const std::uint64_t key = key_of(flow.destination, flow.source, psn);
    older_.collect(key, flows);
    newer_.collect(key, flows);
    if (flows.size() > kMostTogether) flows.clear();
    return flows;
}

}  // namespace qps::transport
