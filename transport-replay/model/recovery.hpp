// Recovery: the episode of one time that a requester sent again: what was missing, how it was noticed, what it cost.
#pragma once

#include <transport-replay/model/captured_host.hpp>
#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/incident.hpp>
#include <transport-replay/model/ordered_span.hpp>
#include <transport-replay/model/ordering.hpp>

namespace qps::transport {

enum class RecoveryEnd : std::uint8_t {
    open,       // the capture ended in it
    recovered,  // new data went out, or everything was acknowledged
    gave_up,    // the requester sent no more although nobody answered: its retries were exhausted
    stopped,    // likewise, but they were not, as far as its transmissions were captured
    failed,     // a fatal NAK ended the connection
};
inline constexpr std::array<std::string_view, 5> kRecoveryEndNames{"open", "recovered", "gave_up", "stopped", "failed"};

struct Recovery {
    ConnectionId connection{};
    End requester{};
    RecoveryKind kind{};
    RecoveryEnd end = RecoveryEnd::open;
    dissect::Psn psn;        // from where it was sent again
    dissect::Verb verb{};    // of the message of that PSN
    NakCause cause{};        // of a sequence NAK
    PsnDispositions left{};  // likewise: what may have become of its PSN; empty where no NAK named it
    HostNumber
        passed{};  // of captures of several hosts: one that has what was asked for when it was due, or what its timer
    HostNumber missed{};         // waited for, and one that has not
    bool missed_answer = false;  // of a timeout: the answer it was
    std::uint32_t lost =
        0;  // packets known to be missing at the receiver: the one that was asked for, and the gap behind it
    std::uint32_t triggers = 0;  // NAKs of that PSN, or timeouts, without progress between
    std::uint32_t rounds = 0;    // times that sending began again from that PSN
    std::uint32_t resent = 0;    // packets
    std::uint16_t payload = 0;   // bytes of the packet of that PSN, of a READ those that it asks for; 0: not known, or
                                 // not the first of its message, so that one as long was taken
    std::uint32_t first_seen = 0;    // of them: the first sending did not pass the tap, so that they are new to it
    std::uint64_t resent_bytes = 0;  // on the wire
    dissect::FrameIndex original{};  // the first sending of that PSN; 0: not captured
    dissect::FrameIndex trigger{};   // the first NAK; of a timeout: the first packet sent again
    dissect::FrameIndex resumed{};   // the first packet sent again; 0: none
    dissect::FrameIndex last{};      // what ended it, or what was seen last of it
    OrderedSpan
        time;  // from the trigger, of a timeout the last packet before it, to new data, or to everything acknowledged
    dissect::Instant resumed_time{};
    dissect::Duration waited{};        // trigger to sending again, over all rounds
    dissect::Duration longest_wait{};  // of one round
    dissect::Duration silence{};       // before it was sent again first: since the last packet of either way
    dissect::Duration timer_ran{};     // likewise, at most: since the last progress, or what was sent after it
    std::optional<dissect::Duration>
        interval;  // timeout: the shortest from a sending of the PSN, or progress since, to the next
    std::optional<dissect::Duration>
        answer_took;                        // proven: from the first sending to the answer that came too late for it
    std::optional<std::uint8_t> rnr_timer;  // code of the RNR NAK
    bool nak = false;                       // a sequence NAK asked for that PSN, whether or not it was heeded
    bool inferred = false;                  // answers were not captured: what made it send again is not known
    bool spurious = false;                  // there was one answer more, or one too soon: likely nothing was lost
    bool proven = false;        // the latter: only the first sending can have brought that answer; of a NAK: only
                                // it can have told the requester from where to send again
    bool answered = false;      // the answer had been on the wire before it was sent again
    bool crossed = false;       // and so shortly that it may have been on its way when the requester sent again, or
                                // a READ before it had no answer: it proves no loss
    bool partial_read = false;  // a READ was asked for again from its middle
    [[nodiscard]] dissect::Duration lost_time() const { return time.length(); }
    // Its timer ran out for a READ or ATOMIC whose response was lost: a later one had passed, or an answer to what was
    // sent behind it.
    [[nodiscard]] bool lacked_response() const {
        return kind == RecoveryKind::timeout && !nak && lost != 0 &&
               (verb == dissect::Verb::read_request || dissect::is_atomic(verb));
    }
    // The requester had been told, and waited for its timer all the same.
    [[nodiscard]] bool ignored_nak() const { return nak && kind == RecoveryKind::timeout; }
};

// The local ACK timeout exponents n, 4.096 us * 2^n, that an observed interval allows: it runs out between 1 and 4
// times that time (9.7.6.1.3; C9-139, from memory). Nothing for intervals below any timeout.
struct TimeoutExponents {
    std::uint8_t least = 0;
    std::uint8_t most = 0;  // the one of a timer that is exact
};
[[nodiscard]] std::optional<TimeoutExponents> timeout_exponents(dissect::Duration interval);

// A fatal NAK: the request that it refused, beside the last one of the same way that was accepted.
struct Fatality {
    ConnectionId connection{};
    End requester{};
    std::uint8_t nak_code = 0;
    dissect::Psn psn;
    dissect::FrameIndex frame{};  // of the NAK
    dissect::Instant time{};
    std::optional<Message> request;         // nothing where it was not captured
    std::optional<RemoteAccess> last_good;  // of the same R_Key where there is one, else of any
    dissect::FrameIndex last_good_frame{};
    std::uint32_t reads_outstanding = 0;  // READs and ATOMICs, the refused one included
};

}  // namespace qps::transport
