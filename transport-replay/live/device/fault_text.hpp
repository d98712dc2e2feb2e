// The text in which people say what the fault injector shall do:
//
//   loss=3%,seed=7                       three of a hundred frames are lost, each way
//   in:drop=1%,out:corrupt=0.5%          of those received one in a hundred, of those sent one in two hundred damaged
//   delay=1ms,jitter=200us               every frame a millisecond late, and up to 200 microseconds more
//   reorder=2%,reorder-by=50us           two of a hundred come up to 50 microseconds later, behind others
//   drop psn=17 qp=0x11 round=2          the second time the request with that PSN to that queue pair passes
//   out:mark psn=5 responses             ECN congestion experienced on a response that we send
//   delay psn=17 by=5ms                  that packet alone
//   pause=65535 every=1ms                802.3x PAUSE frames with that many quanta, one a millisecond
//   pause=100 priority=3 after=2s times=5 every=10ms     PFC for priority 3: five, from two seconds on
//
// Clauses with commas between; "in:" or "out:" before one limits it to what is received or sent, else it is for both
// ways. Later clauses win over earlier ones for the same; those to order add up. A chance is a number from 0 to 1 or a
// percentage; a time has a unit: ns, us, ms or s. Pauses are sent, not received; each clause of them stands for itself.
//
// What an attacker could feed: it is the user's own text; numbers are bounded, and clauses to order by kMaxExactFaults,
// of pauses by kMaxPauseFaults.
#pragma once

#include <transport-replay/live/device/fault_injector.hpp>

#include <expected>
#include <string>
#include <string_view>

namespace qps::transport::live {

inline constexpr std::size_t kMaxExactFaults = 256;                      // each is compared with every packet
inline constexpr std::size_t kMaxPauseFaults = 16;                       // two for each priority
inline constexpr dissect::Duration kShortestPauseGap = microseconds(1);  // a frame takes as long at 672 Mbit/s
inline constexpr dissect::Duration kLongestDelay = nanoseconds(60'000'000'000);

// The settings, or a sentence that names the clause that is wrong and what may stand there.
[[nodiscard]] std::expected<FaultSettings, std::string> parse_faults(std::string_view text);

}  // namespace qps::transport::live
