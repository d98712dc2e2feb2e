// FlowIndex: which way of which connection a flow is. A flow may be given to another connection, or be forgotten.
//
// Each slot also has the virtual network that its flow is seen in: where two use the same addresses and queue pair
// numbers, the flows of the second stand under in_network().
//
// What an attacker could feed: flows whose hashes collide; FlowTable refuses what goes too far, and the caller counts
// it.
#pragma once

#include <transport-replay/model/address.hpp>
#include <transport-replay/model/paged.hpp>
#include <transport-replay/tracking/flow_table.hpp>

#include <optional>
#include <vector>

namespace qps::transport {

class FlowIndex {
public:
    using Where = std::uint32_t;
    static constexpr NetworkId kNotSeen{UINT32_MAX};
    struct Slot {
        Where where = 0;
        NetworkId network = kNotSeen;
        FlowKey flow;
    };

    // The flow as another network has it. No queue pair has such a number.
    [[nodiscard]] static FlowKey in_network(FlowKey flow, NetworkId network) {
        flow.source_qp = dissect::Qpn{1U << 31U | std::to_underlying(network)};
        return flow;
    }
    [[nodiscard]] static bool is_in_network(const FlowKey& flow) {
        return (std::to_underlying(flow.source_qp) >> 31U) != 0;
    }
    [[nodiscard]] const Slot* slot(const FlowKey& flow, std::uint64_t hash) const {
        const auto slot = table_.find(hash, [&](FlowTable::Index i) { return slots_[i].flow == flow; });
        return slot ? &slots_[*slot] : nullptr;
    }
    // From now on it is seen in that one, where it has room.
    void see_in(const FlowKey& flow, NetworkId network) {
        const auto slot = table_.find(FlowHash{}(flow), [&](FlowTable::Index i) { return slots_[i].flow == flow; });
        if (slot) slots_[*slot].network = network;
    }
    [[nodiscard]] std::optional<Where> find(const FlowKey& flow, std::uint64_t hash) const {
        const auto slot = table_.find(hash, [&](FlowTable::Index i) { return slots_[i].flow == flow; });
        return slot ? std::optional(slots_[*slot].where) : std::nullopt;
    }
    [[nodiscard]] std::optional<Where> find(const FlowKey& flow) const { return find(flow, FlowHash{}(flow)); }
    [[nodiscard]] bool contains(const FlowKey& flow) const { return find(flow).has_value(); }

    // Adds or changes; false where there is no room for it.
    bool set(const FlowKey& flow, Where where) {
        const std::uint64_t hash = FlowHash{}(flow);
        if (const auto slot = table_.find(hash, [&](FlowTable::Index i) { return slots_[i].flow == flow; })) {
            slots_[*slot].where = where;
            return true;
        }
        const FlowTable::Index slot = free_.empty() ? static_cast<FlowTable::Index>(slots_.size()) : free_.back();
        if (!table_.insert(hash, slot)) return false;
        if (free_.empty()) {
            slots_.emplace_back(Slot{where, kNotSeen, flow});
        } else {
            free_.pop_back();
            slots_[slot] = {where, kNotSeen, flow};
        }
        return true;
    }
    void forget(const FlowKey& flow) {
        const std::uint64_t hash = FlowHash{}(flow);
        const auto slot = table_.find(hash, [&](FlowTable::Index i) { return slots_[i].flow == flow; });
        if (!slot) return;
        table_.erase(hash, *slot);
        free_.push_back(*slot);
    }

    // For who knows what comes next: asks for the lines that find() reads, the table's first, the slot's some packets
    // later.
    void prefetch_table(std::uint64_t hash) const { table_.prefetch(hash); }
    void prefetch_slot(std::uint64_t hash) const {
        const auto slot = table_.likely(hash);
        if (!slot) return;
        __builtin_prefetch(&slots_[*slot]);
        __builtin_prefetch(&slots_[*slot] + 1);  // a slot may lie across two lines
    }
    [[nodiscard]] std::optional<Where> likely(std::uint64_t hash) const {
        const auto slot = table_.likely(hash);
        return slot ? std::optional(slots_[*slot].where) : std::nullopt;
    }

private:
    static_assert(sizeof(Slot) == sizeof(FlowKey) + 8);  // the network takes no room of its own
    Paged<Slot> slots_;
    std::vector<FlowTable::Index> free_;  // of them
    FlowTable table_;
};

}  // namespace qps::transport
