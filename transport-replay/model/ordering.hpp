// Ordering: what one tap can tell of the order in which requests were sent, and of why a responder asked for one again.
#pragma once

#include <dissect/base/types.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace qps::transport {

// When a request was sent, beside those that passed the tap before it.
enum class Sending : std::uint8_t {
    unknown,    // nothing tells
    newest,     // after all of them
    overtaken,  // a retransmission, before one of them
    original,   // the first sending of its PSN, before one of them: it is late, and was never lost
};

// Why a responder sent a sequence NAK, as far as a tap tells: what its case leaves (tracking/evidence_rules). A
// go-back-N responder discards what arrives while an earlier PSN is missing (9.7.5.1.2), and asks for it as well once
// that PSN came.
enum class NakCause : std::uint8_t {
    undecided,        // more than one is left
    lost_before_tap,  // the PSN had not passed the tap: what passed later was a retransmission
    lost_behind_tap,  // it had passed when it was due: lost or overtaken between the tap and the responder, or dropped
                      // there
    corrupt,          // it had passed with a wrong ICRC
    late,             // its first sending passed the tap after packets that were sent later
    late_behind_tap,  // it had passed when it was due, and was acknowledged before it was sent again
    discarded_late,   // it had passed while one that was only late was missing
    discarded_lost,   // it had passed while one that was lost was missing
};
inline constexpr std::array<std::string_view, 8> kNakCauseNames{
    "undecided", "lost_before_tap", "lost_behind_tap", "corrupt",
    "late",      "late_behind_tap", "discarded_late",  "discarded_lost"};

// Nothing was lost: only the order had changed.
[[nodiscard]] constexpr bool is_of_order(NakCause cause) {
    return cause == NakCause::late || cause == NakCause::late_behind_tap || cause == NakCause::discarded_late;
}

// Of the requests of one way.
struct Ordering {
    std::uint64_t overtaken = 0;  // requests that passed the tap after some that were sent later
    std::uint32_t farthest = 0;   // by how many requests, at most
    dissect::Duration longest{};  // and by what time, at most
    bool strays = false;          // some that nothing made the requester send: overtaken, or doubled on the way
    bool proven = false;  // by IPv4 identifications that count up; else by haste: nobody can have asked for them
    std::array<std::uint64_t, kNakCauseNames.size()> naks{};  // PSNs that were asked for, by cause
    [[nodiscard]] std::uint64_t naks_of(NakCause cause) const { return naks[static_cast<std::size_t>(cause)]; }
    [[nodiscard]] std::uint64_t& naks_of(NakCause cause) { return naks[static_cast<std::size_t>(cause)]; }
};

}  // namespace qps::transport
