// RequestStream: the request packets of one flow, put in the order of their PSNs and back together into messages.
//
// A third party's view: packets may be missing (the network lost them, or the tap did), come twice, or come late. Open
// messages are kept as runs of PSNs seen; a gap between two runs is what was not seen. When a gap is filled, the runs
// on its sides join if they belong to one message. Memory grows with open messages only, and kMaxOpen bounds those.
#pragma once

#include <transport-replay/message.hpp>

#include <cstdint>
#include <deque>
#include <vector>

namespace qps::transport {

// What a request packet is to the stream.
enum class Arrival : std::uint8_t {
    first,     // the first of the stream
    in_order,  // the PSN that was next
    ahead,     // PSNs before it are missing so far
    late,      // a PSN that was missing until now
    repeated,  // a PSN that was on the wire before
    restart,   // so far from anything that the queue pair must have begun anew
};

struct Arrived {
    Arrival arrival = Arrival::first;
    std::uint32_t missing = 0;  // ahead: how many PSNs were skipped
};

// What an acknowledgment told.
struct Acknowledged {
    std::uint32_t messages = 0;
    std::uint32_t unseen = 0;      // PSNs acknowledged that the capture does not have: the tap missed them
    bool beyond = false;           // it acknowledges PSNs beyond the newest one seen
    bool passed_response = false;  // it passed a READ or ATOMIC whose response did not come: an implied NAK (9.7.5.1.x)
};

class RequestStream {
public:
    // Most open messages a stream keeps; the oldest go as open ones beyond it. A requester has at most 2^23 PSNs
    // outstanding, hardware some hundreds of messages.
    static constexpr std::size_t kMaxOpen = 4096;
    // A PSN this far from what is expected is no loss, but a queue pair that began anew. Half of what the window allows.
    static constexpr std::int32_t kRestartDistance = 1 << 20;

    // A request packet. `pmtu` in bytes, 0 where it is not known: a READ then counts one PSN until its responses tell.
    // Messages that can wait no longer go to `done`.
    Arrived send(const Observation& request, std::uint32_t pmtu, std::vector<Message>& done);

    // An ACK (or NAK, RNR NAK) that acknowledges every SEND and WRITE up to and including `through`.
    Acknowledged acknowledge(dissect::Psn through, const Observation& answer, std::vector<Message>& done);

    // A READ response or an ATOMIC acknowledgment. False where no open message waits for it.
    bool respond(const Observation& response, std::uint32_t pmtu, std::vector<Message>& done);

    // A fatal NAK of the message that covers `psn`; nothing where it is not open. What is open after it is abandoned.
    std::optional<Message> fail(dissect::Psn psn, const Observation& answer, std::vector<Message>& done);

    // The end of the capture or of the connection: everything open goes with that outcome.
    void finish(Outcome outcome, std::vector<Message>& done);

    [[nodiscard]] bool started() const { return started_; }
    [[nodiscard]] dissect::Psn next() const { return next_; }  // behind the newest PSN seen
    [[nodiscard]] dissect::Psn oldest() const { return open_.empty() ? next_ : open_.front().first; }
    [[nodiscard]] bool waits_for(dissect::Psn psn) const;  // an open message covers it
    [[nodiscard]] std::size_t open() const { return open_.size(); }
    [[nodiscard]] std::uint64_t dropped() const { return dropped_; }  // messages given up because of kMaxOpen

private:
    using Runs = std::deque<Message>;
    [[nodiscard]] Runs::iterator run_at_or_before(dissect::Psn psn);
    void append(const Observation& request, std::uint32_t span);
    void insert_late(const Observation& request);
    void join(const Runs::iterator& run);
    void complete_front(const Observation& answer, Outcome outcome, std::vector<Message>& done);

    Runs open_;
    dissect::Psn next_;
    dissect::Psn acknowledged_;  // behind the last PSN known to have arrived
    bool started_ = false;
    std::uint64_t dropped_ = 0;
};

}  // namespace qps::transport
