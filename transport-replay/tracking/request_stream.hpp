// RequestStream: the request packets of one flow, put in the order of their PSNs and back together into messages.
//
// A third party's view: packets may be missing (the network lost them, or the tap did), come twice, or come late. Open
// messages are kept as runs of PSNs seen; a gap between two runs is what was not seen. When a gap is filled, the runs
// on its sides join if they belong to one message. Memory grows with open messages only, and their number is bounded.
#pragma once

#include <transport-replay/model/message.hpp>
#include <transport-replay/model/ordering.hpp>
#include <transport-replay/model/packet_record.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace qps::transport {

struct RequestArrival {
    Arrival arrival = Arrival::first;
    std::uint32_t missing = 0;           // ahead: how many PSNs were skipped
    bool answered = false;               // repeated: all of it had been acknowledged before
    bool partial_read = false;           // repeated: the rest of a READ, from a PSN that no request had before
    std::uint32_t holes = 0;             // repeated READ: responses that were missing until now
    std::uint32_t missed_after_all = 0;  // repeated READ: responses that were taken for missed by the tap alone
    std::optional<dissect::Instant>
        first_time{};                    // repeated: when its message was sent first, where it begins with this packet
    dissect::Psn behind{};               // late, repeated: the PSN that follows what this packet asks for
    dissect::FrameIndex original{};      // repeated: the first frame of its message; 0: not known
    Sending sending = Sending::unknown;  // late, repeated: what its identification tells, where somebody looks at it
    bool perhaps_other_tap = false;      // late, repeated: another tap may have recorded it, later by its clock
};

// What an acknowledgment told.
struct Acknowledged {
    std::uint32_t messages = 0;
    std::uint32_t unseen = 0;            // PSNs acknowledged that the capture does not have: the tap missed them
    std::uint32_t unseen_responses = 0;  // packets of READ responses likewise
    std::uint32_t unseen_tail = 0;       // of them: behind the last one seen of their READ
    std::uint32_t beyond = 0;            // of unseen: PSNs past the newest one seen
    bool again = false;                  // nothing new: all of it was acknowledged before
    bool passed_response = false;  // it passed a READ or ATOMIC whose response did not come: an implied NAK (9.7.5.1.x)
};

// What a response told.
struct Responded {
    bool matched = false;         // an open message waits for it
    std::uint32_t skipped = 0;    // READ responses that were due before it, and did not pass
    bool hole = false;            // such as were due and not taken, whether or not they passed
    bool passed_over = false;     // a READ or ATOMIC before its own has no response, or not all of it
    std::uint32_t late = 0;       // of those, how many it shows to be there after all
    std::uint32_t withdrawn = 0;  // skipped before, and shown to have been of an earlier request
    bool repeated = false;        // it had been there
    Acknowledged before;          // what it acknowledged on the way (9.7.5.1.2)
    dissect::Psn widened_from;    // the PSNs of its READ that show now to be its own, where the path MTU was not known
    dissect::Psn widened_to;      // behind them
};

class RequestStream {
public:
    // Most open messages a stream keeps; the oldest go as open ones beyond it. A requester has at most 2^23 PSNs
    // outstanding, hardware some hundreds of messages.
    static constexpr std::size_t kMaxOpen = 4096;
    static constexpr std::int32_t kRestartDistance = kFarPsn;

    // The first PSN, as the connection manager tells it: what is missing before the first packet is then missing. A
    // requester that begins behind it repeats nothing: it begins elsewhere.
    void begin_at(dissect::Psn psn);

    // A request packet. `pmtu` in bytes, 0 where it is not known: a READ then counts one PSN until its responses, or
    // the next request, tell. Messages that can wait no longer go to `done`; `most_open` of them may.
    RequestArrival send(const Observation& request, std::uint32_t pmtu, std::vector<Message>& done,
                        std::size_t most_open = kMaxOpen);

    // A request whose ICRC is wrong: nobody took it, but its PSN was on the wire, unless that is what was corrupted.
    RequestArrival send_corrupt(const Observation& request);

    // An ACK (or NAK, RNR NAK) that acknowledges every SEND and WRITE up to and including `through`.
    Acknowledged acknowledge(dissect::Psn through, const Observation& answer, std::vector<Message>& done);

    // Everything before it is answered: acknowledged, and READs and ATOMICs with their response.
    [[nodiscard]] dissect::Psn answered() const;
    // Everything from `first` up to before it is answered. A requester that goes back to `first` has what was before,
    // whatever the capture missed of it.
    [[nodiscard]] dissect::Psn answered_from(dissect::Psn first) const;

    // A READ response or an ATOMIC acknowledgment. `best`: the shortest time known from a request to its answer, 0:
    // none.
    Responded respond(const Observation& response, std::uint32_t pmtu, dissect::Duration best,
                      std::vector<Message>& done);

    // A fatal NAK of the message that covers `psn`; nothing where it is not open. It stays until finish(), for its
    // packets may still be under way.
    std::optional<Message> fail(dissect::Psn psn, const Observation& answer);

    // The end of the capture or of the connection: everything open goes with that outcome. Runs that a gap divides are
    // one message where both parts fit. `given_up`: the PSN that the requester sent until its retries were used up.
    void finish(Outcome outcome, std::vector<Message>& done, std::optional<dissect::Psn> given_up = {});

    // Asks for what the next packet of the message that was sent last changes, or the answer to it.
    void prefetch() const {
        if (runs_.empty()) return;
        __builtin_prefetch(&runs_.back());
        __builtin_prefetch(&runs_.back().last_frame);
    }

    [[nodiscard]] bool started() const { return started_; }
    [[nodiscard]] dissect::Psn next() const { return next_; }  // behind the newest PSN seen
    [[nodiscard]] dissect::Psn acknowledged() const {
        return acknowledged_;
    }  // behind the last PSN known to have arrived
    // A request of that PSN, which closes no gap, may have been sent before the capture began.
    void perhaps_again(dissect::Psn psn);
    void doubled(dissect::Psn psn);                                 // the network doubled a request of that PSN
    [[nodiscard]] bool waits_for(dissect::Psn psn) const;           // an open message covers it
    [[nodiscard]] const Message* covering(dissect::Psn psn) const;  // the open message that does
    // Whether the newest READ does once it is known how many PSNs it takes.
    [[nodiscard]] bool may_reach(dissect::Psn psn, std::uint32_t pmtu) const;
    [[nodiscard]] std::size_t open() const { return runs_.size() - head_; }
    [[nodiscard]] std::uint32_t reads_open() const { return reads_open_; }  // READs and ATOMICs
    [[nodiscard]] std::uint64_t dropped() const { return dropped_; }  // messages given up because too many were open
    // The path MTU that two READs in a row tell by the distance of their PSNs; 0 where they did not.
    [[nodiscard]] std::uint32_t inferred_pmtu() const { return inferred_pmtu_; }

private:
    using Index = std::size_t;
    static constexpr Index kNone = static_cast<Index>(-1);
    static constexpr std::uint8_t kConvincing = 4;            // round trips of new work without asking again
    static constexpr std::uint8_t kProven = kConvincing + 1;  // or it shows that the requester has the response
    static constexpr std::size_t kKeptRoom =
        4;  // messages: before the oldest open one; and what a burst needed more is given back when it is over
    [[nodiscard]] Index run_at_or_before(dissect::Psn psn) const;
    [[nodiscard]] std::span<Message> open_runs() { return std::span(runs_).subspan(head_); }
    void append(const Observation& request, std::uint32_t span);
    dissect::Psn insert_late(const Observation& request, std::uint32_t span);
    void drop_oldest(std::size_t most_open, std::vector<Message>& done);
    [[nodiscard]] std::int32_t widen_last_read(std::int32_t distance, std::uint32_t pmtu);
    bool reads_explain(const Observation& request, std::int32_t distance);
    void take_back(std::uint32_t guessed, std::uint32_t pmtu);
    [[nodiscard]] std::uint32_t correct_guess(const Observation& request, std::uint32_t pmtu);
    RequestArrival repeat(const Observation& request);
    void took_all_before(Index index, const Observation& request);
    void ask_again_through(dissect::Psn psn);
    void restart(const Observation& request, std::uint32_t span, std::vector<Message>& done);
    void join(Index run);
    Acknowledged advance(dissect::Psn through, std::optional<dissect::Instant> asked_at, const Observation& answer,
                         std::vector<Message>& done);
    static bool answers_earlier(const Message& run, const Observation& response);
    static bool take_read_response(Message& run, const Observation& response, dissect::Duration best,
                                   Responded& result);
    static bool take_in_order(Message& run, const Observation& response, std::int32_t distance, dissect::Duration best,
                              Responded& result);
    Index pass(Index index, std::optional<dissect::Instant> asked_at, const Observation& answer, Acknowledged& result,
               std::vector<Message>& done);
    bool bridge_gap(Index index, dissect::Psn end, Acknowledged& result);
    void remove(Index run);
    void let_go_of_removed();
    void complete(Index run, const Observation& answer, Outcome outcome, std::vector<Message>& done);

    // A READ that is answered, by whose PSNs it may be asked for again.
    struct DoneRead {
        dissect::Psn first;
        dissect::Psn last;
        dissect::Psn asked_again;
        std::uint32_t missing = 0;  // responses that were thought to be missed by the tap
    };
    static constexpr std::size_t kDoneReads = 16;  // what devices let be outstanding

    std::vector<Message> runs_;  // from head_ on, in PSN order
    std::vector<DoneRead> done_reads_;
    Index head_ = 0;
    dissect::Psn next_;
    dissect::Psn acknowledged_;
    bool started_ = false;
    bool answered_ = false;   // acknowledged_ is from an answer, not the first PSN seen
    bool announced_ = false;  // where it begins; no packet was seen
    std::uint32_t reads_open_ = 0;
    std::uint32_t inferred_pmtu_ = 0;
    std::uint32_t dropped_ = 0;
};

}  // namespace qps::transport
