// ConversationPart: one end of a recorded connection as a list of things to do: work requests to post and what each
// waits for, receives, memory, and where keys and addresses of the recording become those of the live peers.
//
// Whatever is done waits for as many completions of its own, and messages of the peer, as were recorded before it, then
// for as long as was recorded from the last of these. The order at the place where the capture was made is one in which
// everything could happen, so two parts that wait for each other never wait in a circle.
//
// What an attacker could feed: a conversation, bounded by its collector; a part is not larger, but for the recorded
// memory, which has a bound of its own.
#pragma once

#include <transport-replay/live/replay/advertised_memory.hpp>
#include <transport-replay/live/replay/recorded_memory.hpp>

namespace qps::transport::live {

inline constexpr std::uint32_t kLeastReceive =
    4096;  // bytes of a receive: a peer that says more than was recorded is heard

struct Due {
    std::uint32_t after_own = 0;   // of our messages: so many are complete
    std::uint32_t after_peer = 0;  // of the peer's: so many have come, as far as one can tell
    dissect::Duration delay{};     // since the last of these, or since the message of ours before it
    [[nodiscard]] bool operator==(const Due&) const = default;
};

// A message of ours.
struct PlannedPost {
    std::uint32_t message = 0;  // in RecordedConversation::messages
    Due due;
    bool playable = true;                   // it was recorded, and does not ask for more memory than there is
    std::optional<std::uint32_t> target{};  // in `learned`: what it asks for was told there
    std::vector<std::uint32_t> advertises;  // in `advertised`: what it tells of our memory
    std::vector<std::uint32_t> fills;       // in the memory's: done before it is posted
    std::vector<std::uint32_t> touches;     // in the memory's: to be looked at before it is posted
};

// What a message of the peer takes.
struct PlannedReceive {
    std::uint32_t message = 0;  // in RecordedConversation::messages
    std::uint32_t room = 0;
    std::optional<Due> held{};  // posted only then: the peer was told that we are not ready
    bool never = false;         // likewise, until it gave up
};

struct TimedFill {
    std::uint32_t fill = 0;
    Due due;
};

struct ConversationPart {
    End ours{};
    std::vector<std::uint32_t> peers;  // messages of the peer, in RecordedConversation::messages, in order
    std::vector<PlannedPost> posts;
    std::vector<PlannedReceive> receives;
    std::vector<TimedFill> fills;                       // that no message of ours comes before
    std::vector<std::uint32_t> last_touches;            // looked at in the end
    std::vector<std::uint32_t> private_advertisements;  // in `advertised`: what our REQ or REP tells of our memory
    std::vector<Advertisement> learned;                 // of the peer's memory
    std::vector<dissect::Rkey> advertised_keys;         // sorted: of ours, that messages tell of
    std::vector<Advertisement> advertised;              // of ours
    RecordedMemory memory;
    std::uint64_t most_posted = 0;  // bytes of messages of ours that wait for their answers
    std::size_t too_long = 0;       // messages that are longer than that, and so not played
};

[[nodiscard]] std::expected<ConversationPart, std::string> part_of(const RecordedConversation& conversation, End ours,
                                                                   const MemoryBudget& memory = MemoryBudget{});

}  // namespace qps::transport::live
