// Ladder: the sequence diagram of a connection: its messages as arrows between the two ends, what answered them, and
// the times when a requester waited to send again. A message stands as one line, or as its packets.
//
// Only a window of the messages is drawn up at a time, so that a connection may have any number. What an attacker could
// feed: a message that lasts as long as the capture, packets of one PSN without number; kMaxMessagePackets and
// kMaxMessageRows bound what is looked for, and a message that has more says so.
#pragma once

#include <transport-replay/series/scope.hpp>

#include <set>
#include <string>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::transport::series {

inline constexpr std::size_t kMaxMessagePackets = 4096;      // of one message: more lines than anybody reads
inline constexpr std::uint64_t kMaxMessageRows = 1U << 22;   // looked at for them: some 20 ms
inline constexpr std::size_t kMaxLadderMessages = 1U << 12;  // of a window

// The messages of a connection in the order of their first packets, both ends' together.
class LadderMessages {
public:
    LadderMessages() = default;
    // Nothing where it was stopped.
    [[nodiscard]] static std::optional<LadderMessages> of(const CaptureIndex& index, ConnectionId connection,
                                                          const Stop& stop = {});

    [[nodiscard]] std::size_t size() const { return messages_.size(); }
    [[nodiscard]] const MessageRow& operator[](std::size_t position) const { return messages_[position]; }
    [[nodiscard]] ConnectionId connection() const { return connection_; }
    // The last one that began no later than a packet; 0 where none did.
    [[nodiscard]] std::size_t position_of(dissect::FrameIndex frame) const;
    // The message that a packet is of, or answers; of several under way the one that has its PSN. Nothing where none
    // does, or where more than kMaxLadderMessages have begun since.
    [[nodiscard]] std::optional<std::size_t> message_of(const CaptureIndex& index, dissect::FrameIndex frame) const;

private:
    ConnectionId connection_{};
    std::vector<MessageRow> messages_;
};

// What a line is about: its colour.
enum class LadderTone : std::uint8_t { request, response, acknowledgment, retransmission, nak };

struct LadderLine {
    End from{};
    dissect::Instant begins{};  // of a message: its first request packet; of a packet: it
    dissect::Instant ends{};    // of a message: its last request packet; never before it begins
    dissect::FrameIndex frame{};
    dissect::FrameIndex last{};  // of a packet the same
    LadderTone tone{};
    std::optional<std::size_t>
        message;             // position of the message that it is, or is a packet of; an answer may be of several
    bool collapsed = false;  // it stands for a message, which can be expanded
    bool heading = false;    // it is the first packet of a message that is expanded
    std::string label;
};

struct LadderWait {
    End requester{};
    dissect::Instant from{};
    dissect::Instant to{};
    RecoveryKind kind{};
    dissect::FrameIndex trigger{};
    dissect::FrameIndex resumed{};  // 0: never
    std::string label;
};

struct Ladder {
    std::vector<LadderLine> lines;  // by the time they begin
    std::vector<LadderWait> waits;
};

// Messages first .. end - 1, of which those in `expanded` as their packets. Nothing where it was stopped.
[[nodiscard]] std::optional<Ladder> ladder(const CaptureIndex& index, const Timeline& timeline,
                                           const LadderMessages& messages, std::size_t first, std::size_t end,
                                           const std::set<std::size_t>& expanded, const Stop& stop = {});

}  // namespace qps::transport::series
