// PlayedMemory: the memory of a recorded end, registered with an adapter: blocks at the addresses they had, a region
// for each recorded key, a window where the peer invalidated it; receives in slots of their own.
//
// Keys are the adapter's: what was recorded as one key is another live. Regions that were invalidated get a new key
// with every bind.
//
// What an attacker could feed: what it writes into the blocks stays there; nothing of it is interpreted here.
#pragma once

#include <transport-replay/live/replay/conversation_part.hpp>
#include <transport-replay/live/verbs/adapter.hpp>

namespace qps::transport::live {

inline constexpr std::uint32_t kMostReceives = 128;           // posted at a time
inline constexpr std::uint64_t kMaxReceiveBytes = 1U << 25;   // of all of them, one at least
inline constexpr std::uint64_t kBindRequest = 1ULL << 62;     // wr_id of binds, beside the region
inline constexpr std::uint64_t kReceiveRequest = 1ULL << 63;  // wr_id of receives, beside the slot

class PlayedMemory {
public:
    // Registers everything. Borrows the part, which stays where it is.
    [[nodiscard]] static verbs::Result<PlayedMemory> open(verbs::Adapter& adapter, verbs::Pd pd,
                                                          const ConversationPart& part);

    [[nodiscard]] dissect::MutableBytes block(std::uint32_t index) { return blocks_[index]; }
    void fill(const MemoryFill& fill);
    // What the touch left in our memory.
    [[nodiscard]] dissect::Bytes at(const MemoryTouch& touch) const;

    // What a peer is to be told where the recording told of `advertised`; nothing where no region is behind it.
    [[nodiscard]] std::optional<LiveMemory> live(const Advertisement& advertised) const;
    // The recorded key that stands for a live one.
    [[nodiscard]] std::optional<dissect::Rkey> recorded_key(dissect::Rkey live) const;
    // The peer invalidated it.
    void invalidated(dissect::Rkey live);
    // Binds the window of an advertisement where it is not bound; or all that no message tells of. Queue pair in RTS.
    [[nodiscard]] verbs::Result<void> bind(verbs::Adapter& adapter, dissect::Qpn qp, const Advertisement* of = nullptr);

    // Receives in slots.
    [[nodiscard]] std::uint32_t free_slots() const { return static_cast<std::uint32_t>(free_.size()); }
    [[nodiscard]] verbs::Result<void> post_receive(verbs::Adapter& adapter, dissect::Qpn qp, std::uint32_t room);
    // What a completed receive holds; the slot is free again once release() was called.
    [[nodiscard]] dissect::Bytes received(std::uint64_t wr_id, std::uint32_t bytes) const;
    void release(std::uint64_t wr_id);
    [[nodiscard]] std::uint32_t slot_bytes() const { return slot_bytes_; }

    struct Region {
        const RecordedRegion* recorded = nullptr;
        verbs::Mr mr{};
        dissect::Rkey key{};  // what a peer is to use
        std::optional<verbs::Window> window{};
        bool bound = false;
        bool at_once = false;  // bound in the beginning: no message tells of it
    };
    [[nodiscard]] std::span<const Region> regions() const { return regions_; }

private:
    [[nodiscard]] const Region* find(dissect::Rkey recorded, std::optional<std::uint64_t> address) const;

    const ConversationPart* part_ = nullptr;
    std::vector<std::vector<std::byte>> blocks_;
    std::vector<Region> regions_;  // as in the recorded memory
    std::vector<std::byte> slots_;
    std::uint32_t slot_bytes_ = 0;
    verbs::Mr slots_mr_{};
    std::vector<std::uint32_t> free_;
};

}  // namespace qps::transport::live
