// RecoveryWatch: the retransmission episodes of one way of a connection: each begins with a NAK or with silence, goes
// on with packets sent again, and ends when new data goes out or everything is answered.
//
// A requester goes back when it sends a PSN before the one behind its last packet; what it sends again in ascending
// order belongs to the go-back before. So a NAK that comes while packets are still being sent again is open until the
// requester goes back once more: it may have been ignored. What made it go back, the NAK or the timer, is not decided
// here but over the whole connection (retransmission_causes): an episode says how long the NAK was waiting, how long
// nobody had sent anything, and since when the timer can have run.
//
//   none --asked--> waiting --retransmitted--> resending --answered, new_data--> settled --closed--> none
//     `----------retransmitted (after silence)---^
//
// A third party's view: a NAK that the tap missed shows as packets sent again without silence before.
//
// What an attacker could feed: any packets. One episode is open at a time, beside the one before it, of fixed size.
#pragma once

#include <dissect/base/timers.hpp>
#include <transport-replay/model/edges.hpp>
#include <transport-replay/model/recovery.hpp>
#include <transport-replay/model/seldom.hpp>
#include <transport-replay/tracking/giving_up.hpp>
#include <transport-replay/tracking/request_stream.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <utility>
#include <vector>

namespace qps::transport {

using dissect::rnr_wait;

enum class RecoveryPhase : std::uint8_t {
    none,
    waiting,    // asked for, not yet sent again
    resending,  // sent again, not yet answered
    settled,    // answered, or new data went out; a second answer would tell that nothing had been lost
};
enum class RecoveryEvent : std::uint8_t { asked, retransmitted, new_data, answered, closed };

inline constexpr Machine kRecoveryMachine{
    std::array<std::string_view, 4>{"none", "waiting", "resending", "settled"},
    std::array<std::string_view, 5>{"asked", "retransmitted", "new_data", "answered", "closed"},
    std::array{
        Edge{RecoveryPhase::none, RecoveryEvent::asked, RecoveryPhase::waiting},
        Edge{RecoveryPhase::none, RecoveryEvent::retransmitted, RecoveryPhase::resending},
        Edge{RecoveryPhase::waiting, RecoveryEvent::asked, RecoveryPhase::waiting},
        Edge{RecoveryPhase::waiting, RecoveryEvent::retransmitted, RecoveryPhase::resending},
        Edge{RecoveryPhase::waiting, RecoveryEvent::new_data,
             RecoveryPhase::waiting},  // under way before the NAK arrived
        Edge{RecoveryPhase::waiting, RecoveryEvent::answered,
             RecoveryPhase::settled},  // the tap missed that it was sent again
        Edge{RecoveryPhase::waiting, RecoveryEvent::closed, RecoveryPhase::none},
        Edge{RecoveryPhase::resending, RecoveryEvent::asked, RecoveryPhase::waiting},
        Edge{RecoveryPhase::resending, RecoveryEvent::retransmitted, RecoveryPhase::resending},
        Edge{RecoveryPhase::resending, RecoveryEvent::new_data, RecoveryPhase::settled},
        Edge{RecoveryPhase::resending, RecoveryEvent::answered, RecoveryPhase::settled},
        Edge{RecoveryPhase::resending, RecoveryEvent::closed, RecoveryPhase::none},
        Edge{RecoveryPhase::settled, RecoveryEvent::new_data, RecoveryPhase::settled},
        Edge{RecoveryPhase::settled, RecoveryEvent::closed, RecoveryPhase::none},
    },
};
static_assert(sound(kRecoveryMachine));

class RecoveryWatch {
public:
    // A NAK or RNR NAK of `answer.psn`; `next` is the PSN behind the newest request.
    void asked(RecoveryKind kind, const Observation& answer, const RequestStream& stream, std::uint32_t lost,
               std::vector<Recovery>& ended);

    // An answer overtook a READ's response, or left a hole in it: the READ will likely be asked for again.
    void overtaken(const Observation& answer);
    // Likewise by a response to what was sent behind it: that it is missing shows from the first such one on.
    void passed_over(const Observation& answer);

    // A request, and what it was to the stream; `seen`: its PSN had been on the wire. Whether it was sent again, rather
    // than overtaken by others or doubled.
    struct Sent {
        bool again = false;
        bool late_was_again = false;  // the one before it, taken for overtaken, was sent again too
    };
    Sent sent(const Observation& request, const RequestArrival& arrived, bool seen, const RequestStream& stream,
              std::vector<Recovery>& ended) {
        const bool newest = arrived.arrival != Arrival::repeated && arrived.arrival != Arrival::late;
        if (!newest || episodes_.there()) [[unlikely]]
            return sent_otherwise(request, arrived, seen, stream, ended);
        seen_ = seen;
        note_turn(request.time);
        note_newest(request, stream);
        last_sign_ = request.time;
        return {};
    }
    // A request that was overtaken by later ones: it begins nothing. A first sending.
    void late_original(const Observation& request);
    // Likewise, a retransmission.
    void late_retransmission(const Observation& request, bool seen);
    // A retransmission whose ICRC is wrong: it begins nothing, for its PSN may be what was corrupted.
    void corrupt_retransmission(const Observation& request);
    // Perhaps the requester sent again, or another tap recorded what it had sent: it cannot be said that it gave up.
    void perhaps_sent() {
        if (is_open()) opened().perhaps_sent = true;
    }
    // The request is a READ, and so many PSNs that were counted as missing packets are its own.
    void takes(std::uint32_t psns);

    // An answer: `stream` has taken it; `again`: it answers what was answered before.
    void answered(const Observation& answer, const RequestStream& stream, bool again, std::vector<Recovery>& ended);

    void failed(const Observation& answer, std::vector<Recovery>& ended);

    // The end of the capture, or of the connection: until `until` the requester could have sent again.
    void finish(dissect::Instant until, Retries retries, const RequestStream& stream, std::vector<Recovery>& ended);

    // Anything of this way or its answers: the ACK timer starts anew.
    void alive(dissect::Instant time) { last_sign_ = time; }
    // Answers to what was sent again were there, and come now: they say why.
    void withdraw();
    // The tap, its requester, and the tap again, at the shortest; nothing where no answer brought a request.
    [[nodiscard]] std::optional<dissect::Duration> turn() const {
        return turn_ == UINT32_MAX ? std::nullopt : std::optional(dissect::Duration{turn_});
    }
    // Whether the requester has a reason to send again.
    [[nodiscard]] bool open() const;
    // Where the responder had no receive: the first PSN from there on that was not sent again. It took none behind it.
    [[nodiscard]] std::optional<dissect::Psn> awaits_receive() const;

private:
    struct Open {
        Recovery episode;
        dissect::Psn until;        // behind the newest request when it began
        dissect::Psn resend_next;  // where sending again has come to
        dissect::Instant trigger_time{};
        dissect::Instant round_time{};
        dissect::Duration last_wait{};
        dissect::Instant heard_time{};               // of the last answer to what was sent again
        bool perhaps_sent = false;                   // since, or another tap recorded it
        bool nak_alone = false;                      // nothing but the NAK can have told the requester of that PSN
        std::optional<dissect::Instant> first_time;  // of the first sending, where it was captured
        bool lacks_response = false;                 // that READ or ATOMIC had no response, or not all of it
    };
    struct Late {
        dissect::Psn psn;
        dissect::Psn behind;
        dissect::FrameIndex frame{};
        dissect::Instant time{};
        dissect::Duration silent{};
        std::uint32_t wire_length = 0;
        bool seen = false;
    };
    [[nodiscard]] dissect::Duration patience() const;
    [[nodiscard]] bool answers_the_same(const Observation& nak) const;
    void begin(RecoveryKind kind, dissect::Psn psn, const Observation& packet, const RequestStream& stream);
    void begin_round(const Observation& request, const RequestArrival& arrived, const RequestStream& stream,
                     dissect::Duration wait);
    void note_answered(const Observation& request, const RequestArrival& arrived, const RequestStream& stream);
    void resend(Recovery& episode, const Observation& request, const RequestArrival& arrived) const;
    void set_aside(std::vector<Recovery>& ended);
    void hand_out_former(std::vector<Recovery>& ended);
    void close(RecoveryEnd end, std::vector<Recovery>& ended);
    void begin_unasked(const Observation& request, const RequestArrival& arrived, const RequestStream& stream,
                       dissect::Duration silent);
    void go_on(const Observation& request, const RequestArrival& arrived, const RequestStream& stream,
               dissect::Duration silent, std::vector<Recovery>& ended);

    void move(RecoveryEvent event);
    Sent sent_otherwise(const Observation& request, const RequestArrival& arrived, bool seen,
                        const RequestStream& stream, std::vector<Recovery>& ended);
    void note_newest(const Observation& request, const RequestStream& stream) {
        if (stream.acknowledged() == request.psn) timer_from_ = request.time;  // nothing was outstanding before it
        behind_ = stream.next();
    }

    // The tap, its requester, and the tap again: an answer and the next request tell the time at most.
    void note_turn(dissect::Instant time) {
        if (!std::exchange(heard_last_, false)) return;
        const auto turn = std::to_underlying(time - last_sign_);
        if (turn > 0 && turn < turn_) turn_ = static_cast<std::uint32_t>(turn);
    }

    RecoveryPhase phase_ = RecoveryPhase::none;
    bool slow_answer_ = false;         // the last progress came after so long that a timer may have run out
    bool heard_last_ = false;          // the last packet of either way is an answer
    std::uint32_t turn_ = UINT32_MAX;  // ns: the shortest
    dissect::Instant last_sign_{};
    dissect::Instant
        timer_from_{};       // the timer began anew then at the earliest: at the last progress, or the last go-back
    dissect::Psn progress_;  // what was acknowledged then
    dissect::FrameIndex progress_frame_{};  // by this answer
    dissect::Psn behind_;                   // behind the last packet sent
    bool seen_ = true;                      // the packet that is looked at
    // Of a way that ever had an episode, or might have.
    struct Episodes {
        std::vector<Open> open;        // one, unless the phase is none
        std::vector<Recovery> former;  // one at most: still sending again while a NAK of another PSN came
        std::optional<dissect::Instant> overtaken;
        std::optional<Late> late;  // the last request, where it came late and nobody asked for it
    };
    [[nodiscard]] bool is_open() const { return episodes_.there() && !episodes_->open.empty(); }
    [[nodiscard]] Open& opened() { return episodes_.made().open.front(); }
    [[nodiscard]] Recovery& sending();
    Seldom<Episodes> episodes_;
};

}  // namespace qps::transport
