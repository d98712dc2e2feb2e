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
    RecoveryKind kind{};               // what `reasons` leave; until it is closed, how it began
    Set<RoundEvidence> evidence{};     // none where answers were not captured
    Reasons reasons = Reasons::all();  // what is left when it is closed
    AnswerFates fates = AnswerFates::all();
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
    std::optional<dissect::Duration> since_answer;    // from its answer, where that had passed, to sending again
    std::optional<dissect::Duration> answered_after;  // from sending again to the answer
    std::optional<dissect::Duration> answer_took;     // from the first sending to that answer
    std::optional<std::uint8_t> rnr_timer;            // code of the RNR NAK
    bool inferred = false;                            // answers were not captured: nothing is known of it
    [[nodiscard]] dissect::Duration lost_time() const { return time.length(); }
    [[nodiscard]] bool has(RoundEvidence one) const { return evidence.has(one); }
    [[nodiscard]] bool asked() const { return has(RoundEvidence::asked); }
    [[nodiscard]] bool answered() const { return has(RoundEvidence::answer_passed); }
    [[nodiscard]] bool partial_read() const { return has(RoundEvidence::from_middle); }
    // Its timer ran out for a READ or ATOMIC whose response was lost, or late.
    [[nodiscard]] bool lacked_response() const {
        return kind == RecoveryKind::timeout && !asked() && has(RoundEvidence::passed_over);
    }
    [[nodiscard]] bool lost_nothing() const { return fates == AnswerFates{AnswerFate::late}; }
    // Its timer ran out, and nothing was lost; or one answer came more than could, so that likely nothing was.
    [[nodiscard]] bool spurious() const {
        const bool one_more = has(RoundEvidence::answered_twice) && has(RoundEvidence::unnamed) &&
                              fates.has(AnswerFate::late) &&
                              !fates.any({AnswerFate::request_lost_before_tap, AnswerFate::request_lost_behind_tap});
        return kind == RecoveryKind::timeout && (lost_nothing() || one_more);
    }
    // The requester had been told, and waited for its timer all the same.
    [[nodiscard]] bool ignored_nak() const { return asked() && kind == RecoveryKind::timeout; }
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
