// RecordedMemory: the memory that one end of a recorded connection must have had, concluded from what the other end
// asked of it.
//
// Ranges that were asked for become blocks of memory, at the addresses they had; keys become regions over blocks. What
// READs and ATOMICs brought back says what was in there: from the beginning, or, where it had changed by itself, put
// there by the application in the meantime (a fill). What WRITEs and ATOMICs left behind is what must be in there
// afterwards (a touch).
//
// What an attacker could feed: ranges all over the address space, of gigabytes. Blocks and fills are bounded together
// (Beside::memory of the memory), so are regions; beyond that the conversation is refused with a sentence.
#pragma once

#include <transport-replay/live/replay/recorded_conversation.hpp>
#include <transport-replay/live/verbs/queue_pair_attributes.hpp>
#include <transport-replay/model/memory_budget.hpp>

#include <expected>

namespace qps::transport::live {

inline constexpr std::size_t kMaxRecordedRegions = 1U << 14;  // storage protocols have a key for every request
inline constexpr std::uint64_t kBlockGap = 1U << 20;          // ranges nearer than this are one buffer
inline constexpr std::size_t kTouchesLookedAt = 1024;         // when asking who touched a range before

struct MemoryBlock {
    std::uint64_t address = 0;
    std::vector<std::byte> initial;  // zero where nothing tells
};

struct RecordedRegion {
    dissect::Rkey key{};
    std::uint32_t block = 0;
    ByteRange range;           // of addresses
    verbs::Access access{};    // what succeeded
    bool invalidated = false;  // by the other end: it was a window, or registered by a work request
};

// The application changed its memory: after `after` (its message may ask for that), not later than `before`.
struct MemoryFill {
    std::uint32_t block = 0;
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
    dissect::FrameIndex after{};   // the last frame of what looked at these bytes before
    dissect::FrameIndex before{};  // the first frame of what found them changed
    dissect::Instant seen{};       // of that
};

// A WRITE or ATOMIC of the other end.
struct MemoryTouch {
    std::uint32_t message = 0;  // in RecordedConversation::messages
    std::uint32_t block = 0;
    ByteRange range;                               // in the block
    std::vector<std::byte> value;                  // of an ATOMIC; a WRITE has its payload
    std::optional<dissect::FrameIndex> changed{};  // by what came next
};

struct RecordedMemory {
    std::vector<MemoryBlock> blocks;      // by address
    std::vector<RecordedRegion> regions;  // by key and address
    std::vector<MemoryFill> fills;        // in the order of `before`
    std::vector<MemoryTouch> touches;     // in the order of their messages
    verbs::Access access{};               // of the queue pair
    std::uint64_t cost = 0;               // bytes of the memory that it takes, concluded and played

    // The region that a peer reached with that key there; without an address any of the key.
    [[nodiscard]] const RecordedRegion* find(dissect::Rkey key, std::optional<std::uint64_t> address) const;
};

// Of the end `of`.
[[nodiscard]] std::expected<RecordedMemory, std::string> recorded_memory(const RecordedConversation& conversation,
                                                                         End of,
                                                                         const MemoryBudget& memory = MemoryBudget{});

// What the touch left behind, and of it the holes.
[[nodiscard]] dissect::Bytes expected_bytes(const RecordedConversation& conversation, const MemoryTouch& touch);
[[nodiscard]] const std::vector<ByteRange>& holes_of(const RecordedConversation& conversation,
                                                     const MemoryTouch& touch);

}  // namespace qps::transport::live
