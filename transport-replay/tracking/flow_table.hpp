// FlowTable: from the hash of a key to the number of the entry that has the key. The keys stay with the entries; the
// table has eight bytes for each, so that a packet touches one cache line of it and the line of its entry.
//
// Lookups come from one thread in the order of the capture and miss the caches where flows are many: a caller that
// knows the next packets asks for their lines ahead (prefetch(), likely()).
//
// What an attacker could feed: keys that collide. No chain is longer than kLongestProbe; what does not fit is refused.
#pragma once

#include <transport-replay/model/large_blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace qps::transport {

class FlowTable {
public:
    using Index = std::uint32_t;
    // Far more than chance makes of a table that is at most half full.
    static constexpr std::size_t kLongestProbe = 128;
    static constexpr std::size_t kSmallest = 16;  // slots

    // The entry with that hash for which same(index) holds.
    template <class Same> [[nodiscard]] std::optional<Index> find(std::uint64_t hash, const Same& same) const {
        const auto tag = static_cast<std::uint32_t>(hash);
        for (std::size_t i = 0; i < kLongestProbe; ++i) {
            const Slot& slot = slots_[(tag + i) & mask_];
            if (slot.index == kEmpty) return {};
            if (slot.tag == tag && same(slot.index)) return slot.index;
        }
        return {};
    }
    // For a key that find() does not find. False: too many keys have hashes like it.
    [[nodiscard]] bool insert(std::uint64_t hash, Index index);
    // The entry is no more. Only of what insert() took.
    void erase(std::uint64_t hash, Index index);

    // Asks for the line that find() will read.
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask_]); }
    // The entry that find() will look at first, if any: for asking for its lines in turn.
    [[nodiscard]] std::optional<Index> likely(std::uint64_t hash) const {
        const Slot& slot = slots_[hash & mask_];
        return slot.tag == static_cast<std::uint32_t>(hash) && slot.index != kEmpty ? std::optional(slot.index)
                                                                                    : std::nullopt;
    }

private:
    static constexpr Index kEmpty = std::numeric_limits<Index>::max();
    struct Slot {
        std::uint32_t tag = 0;
        Index index = kEmpty;
    };
    [[nodiscard]] bool place(Slot slot);
    void grow();

    using Slots = std::vector<Slot, LargeBlocks<Slot>>;
    Slots slots_ = Slots(kSmallest);
    std::size_t mask_ = kSmallest - 1;
    std::size_t used_ = 0;
};

}  // namespace qps::transport
