// Conversation: one reliable connection of the benchmark's captures, as a tap in the middle of its way sees it.
//
// The requester sends messages of kMessagePackets packets, as many as its window lets it; the responder acknowledges
// each message, and answers the first packet out of sequence with a NAK, upon which the requester goes back
// (9.7.5.2.3, 9.9.2.4.2). A lost packet is lost before the tap or behind it, in turn. What was lost once more is found
// by a timeout. It keeps count of the truth.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dice.hpp"

namespace qps::bench {

inline constexpr std::uint64_t kMessagePackets = 15;  // the ACK is the 16th
inline constexpr std::uint64_t kWindow = 64;          // packets not yet acknowledged: one bit each in a word
inline constexpr std::uint64_t kRoundTrip = 4;        // turns of the connection from a packet to its answer
inline constexpr std::uint64_t kTimeout = 32;         // turns in silence before the requester begins anew

struct Truth {
    std::uint64_t lost = 0;
    std::uint64_t lost_before_tap = 0;
    std::uint64_t retransmitted = 0;  // packets whose PSN the tap has seen before
    std::uint64_t acks = 0;
    std::uint64_t naks = 0;
    std::uint64_t timeouts = 0;
};

// A packet that the tap sees. `number` counts the packets of the requester from 0; its PSN follows from it.
struct Turn {
    enum class Kind : std::uint8_t { data, ack, nak };
    Kind kind = Kind::data;
    std::uint64_t number = 0;
    std::uint64_t messages = 0;  // ack, nak: that the responder has completed
};

class Conversation {
public:
    // The packet of the next turn, where there is one. `loss` of 2^32 data packets are lost.
    std::optional<Turn> next(std::uint32_t loss, Dice& dice, Truth& truth);

private:
    struct Answer {
        std::uint64_t due = 0;  // turn
        Turn turn;
    };
    void receive(std::uint64_t number);
    void answer(Turn::Kind kind, std::uint64_t number);
    [[nodiscard]] Turn take_answer(Truth& truth);

    std::uint64_t turn_ = 0;
    std::uint64_t next_ = 0;                                     // requester
    std::uint64_t sent_ = 0;                                     // requester: everything below, at least once
    std::uint64_t acknowledged_ = 0;                             // requester: everything below
    std::uint64_t silent_until_ = 0;                             // requester: its timer runs
    std::uint64_t seen_ = 0;                                     // tap: bit n for packet n modulo kWindow
    std::uint64_t expected_ = 0;                                 // responder
    bool nak_sent_ = false;                                      // responder: the NAK for what it expects is out
    std::array<Answer, kWindow / kMessagePackets + 3> answers_;  // on their way, oldest first: an ACK a message, a NAK
    std::size_t waiting_ = 0;
};

}  // namespace qps::bench
