#include <dissect/base/types.hpp>
#include <transport-replay/tracking/pairing.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

std::uint32_t key_of(const Address& requester, const Address& responder, Psn psn) {
    return static_cast<std::uint32_t>(mix(hash_of(requester) + 3 * hash_of(responder) + mix(psn.value())) >> 32U) |
           1;  // 0 is an empty slot
}

}  // namespace

// Slots of the same key stand one after the other; no more of them than tell anything.
void WaitingRequests::Generation::insert(Slot slot) {
    if (2 * (used + 1) > slots.size()) {
        const Slots before = std::exchange(slots, Slots(slots.size() * 2));
        used = 0;
        for (const Slot& old : before)
            if (old.key != 0) insert(old);
    }
    const std::size_t mask = slots.size() - 1;
    std::size_t together = 0;
    std::size_t at = slot.key >> 1 & mask;
    for (; slots[at].key != 0; at = (at + 1) & mask) {
        if (slots[at].key != slot.key) continue;
        if (slots[at].id == slot.id) slots[at].time = slot.time;
        if (slots[at].id == slot.id || ++together > kMostTogether) return;
    }
    slots[at] = slot;
    ++used;
}

void WaitingRequests::Generation::collect(std::uint32_t key, Flows& flows) const {
    const std::size_t mask = slots.size() - 1;
    for (std::size_t at = key >> 1 & mask; slots[at].key != 0; at = (at + 1) & mask) {
        if (slots[at].key != key) continue;
        const auto known = std::ranges::find(flows, slots[at].id, &Asked::id);
        if (known == flows.end()) flows.push_back({slots[at].id, slots[at].time});
        else known->time = slots[at].time;
    }
}

void WaitingRequests::expect(const FlowKey& flow, Psn psn, FlowId id, Instant time) {
    if (newer_.used >= most_) older_ = std::exchange(newer_, Generation{});
    newer_.insert({key_of(flow.source, flow.destination, psn), id, time});
    most_remembered_ = std::max(most_remembered_, newer_.used);
}

WaitingRequests::Flows WaitingRequests::candidates(const FlowKey& flow, Psn psn) const {
    Flows flows;
    const std::uint32_t key = key_of(flow.destination, flow.source, psn);
    older_.collect(key, flows);
    newer_.collect(key, flows);
    if (flows.size() > kMostTogether) flows.clear();
    return flows;
}

Duration Candidates::Candidate::spread() const {
    return Duration{std::to_underlying(most) - std::to_underlying(least)};
}

std::optional<Candidates::Choice> Candidates::narrow(const WaitingRequests::Flows& possible, Instant time) {
    std::vector<Candidate> left;
    for (const WaitingRequests::Asked& asked : possible) {
        const Duration took = time - asked.time;
        const auto known = std::ranges::find(left_, asked.id, &Candidate::id);
        if (known != left_.end()) left.push_back({asked.id, std::min(known->least, took), std::max(known->most, took)});
        else if (left_.empty()) left.push_back({asked.id, took, took});
    }
    if (possible.empty()) return std::nullopt;
    if (left.empty()) {  // the capture lacks a request: begin anew with this answer
        answers_ = 0;
        for (const WaitingRequests::Asked& asked : possible)
            left.push_back({asked.id, time - asked.time, time - asked.time});
    }
    left_ = std::move(left);
    ++answers_;
    return decided();
}

// Who sent a request right before each answer asked for it, rather than who has been silent for longer than any
// responder takes: one whose queue pair is not there, for example.
std::optional<Candidates::Choice> Candidates::decided() {
    constexpr std::uint32_t kEnough = 6;     // answers before their steadiness decides
    constexpr std::int64_t kClearly = 4;     // times as steady as the next
    constexpr std::int64_t kJitter = 2'000;  // ns that say nothing
    constexpr std::int64_t kSooner = 8;      // times
    if (left_.empty()) return std::nullopt;
    if (left_.size() == 1) return Choice{left_.front().id, false};
    std::ranges::partial_sort(left_, left_.begin() + 2, {}, &Candidate::most);
    const std::int64_t slowest = std::to_underlying(left_[0].most);
    const auto is_too_late = [&](const Candidate& other) {
        return std::to_underlying(other.least) >= std::to_underlying(kSlowestAnswer) &&
               std::to_underlying(other.least) / kSooner > slowest;
    };
    if (slowest >= 0 && std::all_of(left_.begin() + 1, left_.end(), is_too_late)) return Choice{left_[0].id, true};
    if (answers_ < kEnough) return std::nullopt;
    std::ranges::partial_sort(left_, left_.begin() + 2, {}, &Candidate::spread);
    const std::int64_t best = std::to_underlying(left_[0].spread()) + kJitter;
    return best * kClearly < std::to_underlying(left_[1].spread()) ? std::optional(Choice{left_[0].id, true})
                                                                   : std::nullopt;
}

}  // namespace qps::transport
