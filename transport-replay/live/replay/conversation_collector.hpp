// ConversationCollector: the packets and messages of a capture go in, one connection's RecordedConversation comes out.
//
// The capture is read twice: the first reading tells which connections there are (the Timeline), the second one
// collects. Both ways of a connection have numbers of their own until answers show that they belong together, so that
// one reading would lose packets.
//
//   ConversationCollector collector(timeline, ConnectionId{3});
//   for each packet: collector.packet(observation, analysis.observe(observation)); then collector.message() for what it
//   ended auto conversation = collector.finish();                            // or a sentence
//
// What an attacker could feed: the same packets a million times, NAKs without end: what waits for the end of its
// message is bounded by the PayloadStore (Beside::waiting of the memory) and by kMaxMarks, what is complete by
// Beside::conversation.
#pragma once

#include <transport-replay/live/replay/recorded_conversation.hpp>
#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/tracking/payload_store.hpp>

#include <expected>

namespace qps::transport {
struct CmAttempt;
struct Timeline;
}  // namespace qps::transport

namespace qps::transport::live {

inline constexpr std::size_t kMaxMarks = 1U << 16;  // NAKs and solicited packets of messages that are not complete

class ConversationCollector {
public:
    // Borrows the timeline of the same capture.
    ConversationCollector(const Timeline& timeline, ConnectionId uid, const MemoryBudget& memory = MemoryBudget{});

    // Each packet after it was analysed, and only then the messages that it ended: it may carry their last bytes.
    void packet(const Observation& observation, const PacketRecord& record);
    void message(ConnectionId connection, End requester, const Message& message);

    // A sentence where this cannot be played.
    [[nodiscard]] std::expected<RecordedConversation, std::string> finish();

private:
    enum class MarkKind : std::uint8_t { rnr, sequence, solicited };
    struct Mark {
        MarkKind kind{};
        dissect::Psn psn;
        dissect::FrameIndex frame{};
        dissect::Instant time{};
    };
    [[nodiscard]] std::optional<End> sender(const Observation& observation, const PacketRecord& record) const;
    void keep_marks(End from, const Observation& observation);
    void take_marks(RecordedMessage& recorded);
    [[nodiscard]] bool has_room(std::uint64_t bytes);
    void describe();
    void describe_set_up(const CmAttempt& attempt);

    const Timeline* timeline_;
    ConnectionId uid_;
    const Connection* connection_;
    RecordedConversation recorded_;
    PayloadStore store_;
    std::array<std::vector<Mark>, 2> marks_;  // by requester
    std::uint64_t most_;                      // bytes of the conversation
    std::uint64_t bytes_ = 0;                 // with kMessageCost
    std::optional<std::string> refusal_;
};

}  // namespace qps::transport::live
