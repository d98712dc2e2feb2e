// What the judges of retransmissions share: what was sent again, how long nothing went on, what a timer was.
#pragma once

#include <tests/court/hearing.hpp>

namespace qps::court {

// A timeout with that exponent (9.7.6.1.3), in ns.
[[nodiscard]] double ack_timeout(double exponent);

// Where packets that do not advance begin, or leave one out: a requester may send again what was lost alone.
[[nodiscard]] std::uint64_t repetitions(const Way& way);

// READ requests that end where an earlier one does, and begin behind it, from a PSN that no request had before: all of
// them, and those that are ahead of all that was sent, since the READ that they ask for was sent last.
struct Rests {
    std::uint64_t all = 0;
    Repeated ahead;
};
[[nodiscard]] Rests rests_of_reads(const Way& way, const Hearing& hearing);

// After how many transmissions, or RNR NAKs, of one PSN a requester that did not give up sent no more, and how many it
// had left by the REQ or REP.
void prove_stop(Hearing& hearing, const Way& way);
// Facts of these, as far as the finding has them.
void prove_stall(Hearing& hearing, const Way& way);
void prove_retransmitted(Hearing& hearing, const Way& way);
// One timer a queue pair: no wait between what was sent and its repetition may be longer than four times the longest
// that is named, and the interval is the shortest of them.
void prove_timer(Hearing& hearing, const std::vector<GoBack>& all);

}  // namespace qps::court
