// THE time constants by which packets of a capture are told apart, each with its reason. Where the path's own times are
// known (its timer, the round trip of its requester) those decide instead.
#pragma once

#include <dissect/base/timers.hpp>
#include <dissect/base/types.hpp>

namespace qps::transport {

// Silence below this is no timeout: 4.096 us * 2^4 and less is asked for by nobody, and networks that double or reorder
// packets do it faster.
inline constexpr dissect::Duration kFastestTimeout{100'000};

// One silence below this is no timer's: nobody sets less.
inline constexpr dissect::Duration kShortestTimer = dissect::timeout_of(8);  // 1.05 ms

// A READ that is asked for again after more silence than this was not missed, but timed out: software takes
// milliseconds to notice, and nobody sets a timer below 4.096 us * 2^10.
inline constexpr dissect::Duration kSlowestReaction{4'000'000};

// An answer that passed the tap longer than this before a retransmission had reached the requester by then, or was
// lost: no queue of a fabric for RDMA holds a packet for so long.
inline constexpr dissect::Duration kLongestTurn{500'000};

// A request is recorded at most so long after its answer: between the queues of a NIC, or the ports of a tap whose
// clocks are apart. One that is sent again, which the same delay made nobody wait for, a fifth of it.
inline constexpr dissect::Duration kLatestRequest{5'000'000};
inline constexpr dissect::Duration kLatestAgain{1'000'000};

// A request that passes later than this after the newest was not overtaken by it: a fast host may have counted its
// identifications once around, and no path is longer by so much.
inline constexpr dissect::Duration kLatestOvertaken{10'000'000};

// PSNs that come back to where they were sooner than this did not begin anew: nobody sets a queue pair up, uses it and
// takes it down so quickly.
inline constexpr dissect::Duration kSoonBack{1'000'000'000};

// A file that goes on with what was outstanding this long before is another recording: 4.096 us * 2^21, nobody waits
// longer before he tries again.
inline constexpr dissect::Duration kLongestTimer{9'000'000'000};

// No responder takes so long for one of its requesters where it answers another one at once.
inline constexpr dissect::Duration kSlowestAnswer{10'000'000};

// From programs that exchange their queue pairs to the first request between these.
inline constexpr dissect::Duration kLongestSetUp{600'000'000'000};

// Two recordings of one packet: mirrored ports queue copies for less than the first; queues of switches make the
// second; there and back between two taps takes less than the third. A path delays no packet for longer than the
// fourth, and a requester that goes on is silent for less than the last.
inline constexpr dissect::Duration kMirrorTime{2'000'000};
inline constexpr dissect::Duration kLeastTolerance{50'000};
inline constexpr dissect::Duration kThereAndBack{5'000};
inline constexpr dissect::Duration kLongestPathDelay{250'000};
inline constexpr dissect::Duration kLongestQuiet{4'000'000};

// A GID that moves: from the last packet of the one port to that of the other.
inline constexpr dissect::Duration kGidTurn{10'000'000'000};

}  // namespace qps::transport
