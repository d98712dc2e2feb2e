// ConversationPlayer: takes the part of one end of a recorded connection over an endpoint, against a live peer: sends
// what it sent, has the memory and the receives it had, and compares what the peer does with what was recorded.
//
//   ConversationPlayer player(conversation, std::move(*part_of(conversation, End::a)), {.connect = Target{.address =
//   peer, .port = port}}); if (auto begun = player.begin(endpoint, now); !begun) ... for (;;) { endpoint.poll(now);
//   player.poll(endpoint, now); if (player.done()) break; ... }    // as any program (live/peers/program.hpp)
//   player.comparison();
//
// Nothing is played before what was recorded before it: our completions and the peer's messages. Between, time is that
// of the recording, divided by `speed`. A peer that does nothing for `patience` ends the replay.
//
// What an attacker could feed: a peer may send and answer anything. Completions carry lengths that the adapter checked;
// messages past the recording are counted; keys and addresses it tells are used for nothing but requests to itself.
#pragma once

#include <transport-replay/live/endpoint.hpp>
#include <transport-replay/live/peers/program.hpp>
#include <transport-replay/live/replay/answer_comparison.hpp>

#include <memory>

namespace qps::transport::live {

struct KeyMapping {
    dissect::Rkey recorded{};
    dissect::Rkey live{};
};
struct AddressMapping {  // and of what lies behind it
    std::uint64_t recorded = 0;
    std::uint64_t live = 0;
};

struct PlayerSettings {
    std::optional<Target> connect{};  // none: listen
    IpPort port{};                    // where to listen
    double speed = 1;                 // times faster than recorded; > 0
    bool fast = false;                // nothing waits for time, but receives that a peer was made to wait for
    dissect::Duration patience{10'000'000'000};
    std::vector<KeyMapping> keys{};  // what no message of the peer tells
    std::vector<AddressMapping> addresses{};
};

struct Playing;  // playing.hpp

class ConversationPlayer {
public:
    // Borrows the conversation.
    ConversationPlayer(const RecordedConversation& conversation, ConversationPart part, PlayerSettings settings);
    ConversationPlayer(ConversationPlayer&&) noexcept;
    ConversationPlayer& operator=(ConversationPlayer&&) noexcept;
    ~ConversationPlayer();

    // As ProgramLike.
    [[nodiscard]] std::expected<void, std::string> begin(Endpoint& endpoint, dissect::Instant now);
    void poll(Endpoint& endpoint, dissect::Instant now);
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const;
    void stop(Endpoint& endpoint, dissect::Instant now);
    [[nodiscard]] bool done() const;
    [[nodiscard]] std::vector<std::string> take_lines();
    [[nodiscard]] ProgramCounts counts() const;

    // Recorded keys of our memory that no message tells of, and what they are here: for the user, who must tell the
    // peer. After begin().
    [[nodiscard]] std::vector<KeyMapping> untold_keys() const;
    // The same, heard of the peer; as PlayerSettings::keys, until it is asked for.
    void map_keys(std::span<const KeyMapping> keys);
    // What was compared so far; final once done().
    [[nodiscard]] const ReplayComparison& comparison() const;

private:
    std::unique_ptr<Playing> state_;
};

}  // namespace qps::transport::live
