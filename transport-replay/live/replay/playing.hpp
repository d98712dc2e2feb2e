// Playing: a replay under way: what ConversationPlayer is made of. The connection (playing_connection.cpp): memory,
// queues, connecting, ending; and the messages (playing_messages.cpp): what completes and arrives, what is due and is
// posted.
//
// Invariants: messages of ours are posted and complete in order; the k-th message of the peer that takes a receive is
// the k-th recorded one; `own_done` and `peer_position` only grow, and what waits for them waits for nothing else but
// time.
//
// What an attacker could feed: as conversation_player.hpp.
#pragma once

#include <transport-replay/live/replay/conversation_player.hpp>
#include <transport-replay/live/replay/played_memory.hpp>

#include <deque>
#include <utility>

namespace qps::transport::live {

inline constexpr std::size_t kMostOutstanding = 128;             // messages of ours
inline constexpr std::uint32_t kSendQueue = 256;                 // binds have room beside them
inline constexpr std::uint32_t kSpareReceives = 2;               // so that a message that was not recorded is heard
inline constexpr std::uint32_t kCompletions = 4096;              // above all that can be posted
inline constexpr dissect::Duration kLinger{10'000'000};          // after the last message, for one more
inline constexpr dissect::Duration kPartingTime{2'000'000'000};  // for a peer to answer that we leave
inline constexpr std::size_t kMaxUnmapped = 64;                  // keys that are named

struct Playing {
    enum class Phase : std::uint8_t { idle, connecting, running, lingering, leaving, over };
    struct Outstanding {
        std::uint32_t post = 0;
        std::vector<std::byte> bytes;
        std::optional<verbs::Mr> mr;
    };

    const RecordedConversation& conversation;
    const ConversationPart part;
    PlayerSettings settings;
    ReplayComparison result{};
    ProgramCounts counts{};
    std::vector<std::string> lines{};
    std::vector<KeyMapping> unadvertised{};

    Phase phase = Phase::idle;
    bool settled = false;  // the endpoint had a turn since it was over
    verbs::Pd pd{};
    verbs::Cq cq{};
    dissect::Qpn qp{};
    std::optional<CmId> id{};
    std::optional<PlayedMemory> memory{};
    dissect::Instant started{};
    dissect::Instant last_progress{};
    dissect::Instant linger_until{};
    dissect::Instant leave_until{};
    std::optional<dissect::Instant> wake{};

    std::size_t next_post = 0;
    std::uint32_t own_done = 0;
    std::vector<bool> finished = std::vector<bool>(part.posts.size());
    std::optional<dissect::Instant> last_post{};
    std::deque<Outstanding> outstanding{};
    std::uint64_t posted_bytes = 0;  // of them
    std::uint64_t rnr_seen = 0;
    std::uint64_t sequence_seen = 0;

    std::size_t next_receive = 0;
    std::uint32_t spare = 0;
    std::size_t next_arrival = 0;                 // in part.receives
    std::optional<std::uint32_t> last_arrived{};  // message
    std::uint32_t peer_position = 0;
    std::vector<dissect::Instant> passed{};  // of part.peers, until peer_position
    std::vector<bool> looked = std::vector<bool>(part.memory.touches.size());
    std::optional<dissect::Instant> looking_since{};
    std::size_t next_fill = 0;

    std::vector<std::optional<LiveMemory>> learned = std::vector<std::optional<LiveMemory>>(part.learned.size());
    std::vector<std::uint32_t> learned_by_message{};  // of part.learned

    [[nodiscard]] const RecordedMessage& recorded(std::uint32_t message) const {
        return conversation.messages[message];
    }
    [[nodiscard]] ComparedMessage& compared(std::uint32_t message) { return result.messages[message]; }
    void wake_at(dissect::Instant at) { wake = wake ? std::min(*wake, at) : at; }
    [[nodiscard]] bool connected() const { return phase == Phase::running || phase == Phase::lingering; }

    // playing_connection.cpp
    std::expected<void, std::string> begin(Endpoint& endpoint, dissect::Instant now);
    verbs::Result<void> make_queues(verbs::Adapter& adapter);
    ConnectOptions options(CmPrivateBytes& private_data);
    void report_regions();
    void take(Endpoint& endpoint, const ConnectionEvent& event, dissect::Instant now);
    void give_up(std::string words);
    void establish(Endpoint& endpoint, dissect::Bytes private_data, dissect::Instant now);
    void learn(std::uint32_t message, dissect::Bytes bytes);
    void add_learned(std::vector<ByteRange>& ranges, std::uint32_t message) const;
    void leave(Endpoint& endpoint, dissect::Instant now);
    void conclude(Endpoint& endpoint, ReplayEnd end, std::string words, dissect::Instant now);
    void say_missing();

    // playing_messages.cpp
    void take_refusals(Endpoint& endpoint, dissect::Instant now);
    void count_naks(Endpoint& endpoint);
    void drain(Endpoint& endpoint, dissect::Instant now);
    void take_bind(Endpoint& endpoint, const verbs::Wc& wc, dissect::Instant now);
    [[nodiscard]] std::vector<ByteRange> changed_meanwhile(const Message& read) const;
    void take_answer(Endpoint& endpoint, const verbs::Wc& wc, dissect::Instant now);
    [[nodiscard]] dissect::Bytes written(std::uint32_t message) const;
    void take_arrival(const verbs::Wc& wc, dissect::Instant now);
    void pass_peers();

    [[nodiscard]] std::optional<dissect::Instant> due_at(const Due& due, std::optional<dissect::Instant> previous,
                                                         bool keeps_time) const;
    void advance(Endpoint& endpoint, dissect::Instant now);
    void post_receives(verbs::Adapter& adapter, dissect::Instant now);
    void do_fills(dissect::Instant now);
    bool look_at(std::span<const std::uint32_t> touches, dissect::Instant now);
    void post_messages(Endpoint& endpoint, dissect::Instant now);
    verbs::Result<void> post(verbs::Adapter& adapter, std::uint32_t index, dissect::Instant now);
    [[nodiscard]] verbs::Remote translated(const PlannedPost& next, dissect::Rkey key, std::uint64_t address);
    [[nodiscard]] bool complete(dissect::Instant now);
};

}  // namespace qps::transport::live
