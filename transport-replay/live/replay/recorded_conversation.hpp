// RecordedConversation: one connection of a capture as a plain value: who asked what, in which order and when, with
// which bytes, what was answered, and what the connection was like. What a replay plays, and what it compares with.
//
// Invariant: messages of one end are in the order of their PSNs; all of them in the order of their first packets. A
// payload is as long as the message says; bytes that were not recorded are zero in it and named as holes: nobody takes
// them for recorded ones.
//
// What an attacker could feed: any capture. Messages and bytes are bounded (kMaxConversationMessages,
// Beside::conversation of the memory): a conversation beyond them is refused with a sentence, so is a message whose
// length is a claim without packets behind it.
#pragma once

#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/model/connection.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport::live {

inline constexpr std::size_t kMaxConversationMessages =
    1U << 18;                                       // however much memory there is: plans look back over them
inline constexpr std::uint32_t kUnknownMtu = 1024;  // where nothing tells: what most RoCE paths have
inline constexpr std::uint32_t kMaxHoleOfMessage =
    16U * 1024 * 1024;  // not recorded of one message: more is no damage, but a claim

// Of a payload or of memory, in bytes.
struct ByteRange {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    [[nodiscard]] std::uint64_t end() const { return offset + length; }
    [[nodiscard]] bool operator==(const ByteRange&) const = default;
};
[[nodiscard]] constexpr bool overlap(const ByteRange& a, const ByteRange& b) {
    return a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}

struct RecordedPayload {
    std::vector<std::byte> bytes;
    std::vector<ByteRange> holes;  // in order
    [[nodiscard]] std::uint64_t missing() const;
};

struct RecordedMessage {
    End from{};               // who asked
    Message message;          // as reconstructed
    RecordedPayload payload;  // of a READ: what was answered
    std::uint32_t rnr_naks = 0;
    std::uint32_t sequence_naks = 0;
    dissect::Instant last_rnr{};  // where there was one
    dissect::FrameIndex last_rnr_frame{};
    bool solicited = false;

    // The application of the other end gets a completion for it: a SEND, a WRITE with immediate.
    [[nodiscard]] bool is_visible() const {
        return message.verb == dissect::Verb::send || (message.verb == dissect::Verb::write && message.immediate);
    }
    [[nodiscard]] bool has_receive_bytes() const { return message.verb == dissect::Verb::send; }
    [[nodiscard]] bool is_atomic() const { return dissect::is_atomic(message.verb); }
    [[nodiscard]] std::uint64_t bytes_to_post() const;  // of memory, by who asks
    [[nodiscard]] bool succeeded() const {
        return message.outcome == Outcome::completed || message.outcome == Outcome::sent;
    }
    // It can be asked again: what it is about was recorded.
    [[nodiscard]] bool is_playable() const;
};

// What one end said of itself when the connection was made; nothing: not recorded.
struct RecordedEnd {
    transport::Endpoint who;  // not that of live/
    std::optional<std::uint8_t> responder_resources{};
    std::optional<std::uint8_t> initiator_depth{};
    std::optional<std::uint8_t> rnr_retry_count{};
    bool shared_receive_queue = false;
    PrivateData private_data{};  // of its REQ or REP
};

// What the recording lacks, counted.
struct RecordingGaps {
    std::uint64_t incomplete = 0;     // messages with holes, which are padded with zeros
    std::uint64_t missing_bytes = 0;  // of these: packets that were not captured, or not whole
    std::uint64_t unplayable = 0;     // messages whose beginning was not recorded: address and key are not known
    std::uint64_t let_go = 0;         // bytes that had to be forgotten: too much waited for the end of its message
    bool one_way = false;             // nothing of the other end: what it answered or asked is not known
    [[nodiscard]] bool any() const { return one_way || incomplete != 0 || unplayable != 0 || let_go != 0; }
};

// Bytes of the memory that a message takes: itself, in a list that grows, and what is planned, done and compared for
// it.
inline constexpr std::uint64_t kMessageCost = 2 * sizeof(RecordedMessage) + 512;

struct RecordedConversation {
    ConnectionId uid{};
    dissect::Service service{};
    std::array<RecordedEnd, 2> ends;          // by End; a is the active side where CM told
    End requester{};                          // who is meant by "the requester": the active side, or who asked first
    bool set_up = false;                      // CM messages that set it up were recorded
    std::optional<std::uint16_t> port{};      // of the RDMA IP CM service
    std::optional<End> taken_down_by{};       // who sent the first DREQ
    std::uint32_t mtu = 0;                    // bytes of payload; 0: nothing tells
    std::optional<std::uint8_t> retry_count;  // of the transport
    std::vector<RecordedMessage> messages;
    RecordingGaps gaps;

    [[nodiscard]] const RecordedEnd& end(End which) const { return ends[static_cast<std::size_t>(which)]; }
};

}  // namespace qps::transport::live
