// Annotation: what somebody who knows more than this packet says of it, who followed its connection so far.
//
// decode() knows nothing of other packets and leaves a packet without one. A caller that does know points
// Packet::annotation at one before fields are read; fields marked `annotated` take their values from it, and a packet
// without it has none of them.
#pragma once

#include <dissect/base/types.hpp>
#include <dissect/base/ulp_hint.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace qps::dissect {

struct Annotation {
    // What a request packet is to its stream, by its PSN.
    enum class Arrival : std::uint8_t {
        first,     // the first of the stream
        in_order,  // the PSN that was next
        ahead,     // PSNs before it are missing so far
        late,      // a PSN that was missing until now
        repeated,  // a PSN that was on the wire before
        restart,   // so far from anything that the queue pair must have begun anew
    };
    enum class End : std::uint8_t { a, b };

    std::optional<std::uint32_t> connection;  // counted from 1
    std::optional<End> from;
    std::optional<Arrival> arrival;
    bool retransmission = false;
    bool duplicated = false;  // by the network
    bool mirror_copy = false;
    bool unmatched = false;
    std::uint32_t psn_missing = 0;         // skipped before this packet
    std::uint32_t messages_completed = 0;  // by this packet
    std::optional<Duration> latency;       // of the last of these
    UlpHint ulp;                           // what its payload is
    std::optional<Duration>
        since_previous;  // since the frame before, 0 of the first; negative where clocks run backwards
    std::optional<std::uint16_t> link_credits;  // of InfiniBand flow control: blocks that the other end may still send
    // Known when all packets were read, of a second reading: the message that it belongs to, counted from 1 in the
    // order in which messages end, and the frames of that message, borrowed.
    std::optional<std::uint64_t> message;
    std::span<const std::uint32_t> message_frames;
};

}  // namespace qps::dissect
