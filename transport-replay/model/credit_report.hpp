// Senders of InfiniBand links that had no credits for what they had to send (IBTA volume 1, 7.9.4). What
// LinkCreditTracker (watch/link_credits.hpp) reports. Values; bounds are the tracker's.
#pragma once

#include <dissect/base/types.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace qps::transport {

// One direction of a link, on one virtual lane: packets that waited for credits and left as soon as there were some.
struct CreditStarvation {
    dissect::InterfaceId interface{};
    std::uint8_t port = 0;     // capture port of what the starved end sends
    std::uint8_t granter = 0;  // of what the end that grants credits sends
    std::uint8_t lane = 0;
    std::uint64_t waits = 0;
    dissect::Duration total{};
    dissect::Duration longest{};
    // Of the longest; blocks are of 64 bytes.
    std::uint16_t credits = 0;     // at most, by each flow control packet while it lasted
    std::uint16_t needed = 0;      // at least, by the packet that left then
    std::uint64_t grants = 0;      // flow control packets that said so
    dissect::Duration followed{};  // from the one that granted enough to that packet
    dissect::FrameIndex first{};   // flow control packet, likewise the next two
    dissect::FrameIndex last{};
    dissect::FrameIndex released{};
    dissect::FrameIndex packet{};
    std::array<dissect::Instant, 4> times{};  // of these four
};

struct CreditReport {
    std::vector<CreditStarvation> starved;  // by interface, ports and lane
    std::uint64_t left_out = 0;             // packets of further links and lanes
};

}  // namespace qps::transport
