// The slow half of FlowTable: entries come in, the table grows. Hashes are all it sees.
#include <transport-replay/tracking/flow_table.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

bool FlowTable::place(Slot slot) {
    for (std::size_t i = 0; i < kLongestProbe; ++i) {
        Slot& here = slots_[(slot.tag + i) & mask_];
        if (here.index != kEmpty) continue;
        here = slot;
        return true;
    }
    return false;
}

// Doubles the table. Entries go over in the order of their places, from the beginning of a chain: so none comes to
// stand further from where it belongs than before, as the entries before it do not either, and every one finds a place.
void FlowTable::grow() {
    const Slots before = std::exchange(slots_, Slots(slots_.size() * 2));
    mask_ = slots_.size() - 1;
    const auto free = std::ranges::find(before, kEmpty, &Slot::index);
    const auto move = [&](const Slot& slot) {
        if (slot.index != kEmpty) static_cast<void>(place(slot));
    };
    std::for_each(free, before.end(), move);
    std::for_each(before.begin(), free, move);
}

bool FlowTable::insert(std::uint64_t hash, Index index) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    if (!place({static_cast<std::uint32_t>(hash), index})) return false;
    ++used_;
    return true;
}

// Those behind it move up as far as they may: a chain has no holes, so that find() may stop at one.
void FlowTable::erase(std::uint64_t hash, Index index) {
    std::size_t hole = hash & mask_;
    while (slots_[hole].index != index) {
        if (slots_[hole].index == kEmpty) return;
        hole = (hole + 1) & mask_;
    }
    for (std::size_t next = (hole + 1) & mask_; slots_[next].index != kEmpty; next = (next + 1) & mask_) {
        const std::size_t home = slots_[next].tag & mask_;
        if (((next - home) & mask_) < ((next - hole) & mask_)) continue;  // it would stand before where it belongs
        slots_[hole] = slots_[next];
        hole = next;
    }
    slots_[hole] = {};
    --used_;
}

}  // namespace qps::transport
