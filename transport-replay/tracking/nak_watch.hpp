// NakWatch: why a responder sent a sequence NAK, as far as a tap on the way to it can tell.
//
// It is a go-back-N responder that stands at the tap (9.7.5.1.2): it takes the PSN that it expects, discards what comes
// before its turn, and would send a NAK where it does. A NAK of the real responder that this one would have sent too
// has its cause on the sender's side of the tap: the PSN was missing here already, and what fills the gap later tells
// whether it was lost or late. A NAK of a PSN that was taken here has its cause behind the tap. Answers keep the two in
// step: a responder that keeps packets out of order acknowledges them, and what it never asks for is forgotten.
//
// What an attacker could feed: any packets. kMaxMissing PSNs are remembered; older ones are decided as they stand.
#pragma once

#include <transport-replay/model/ordering.hpp>
#include <transport-replay/model/seldom.hpp>
#include <transport-replay/tracking/gap_ledger.hpp>
#include <transport-replay/tracking/request_stream.hpp>
#include <transport-replay/tracking/round_gaps.hpp>

#include <utility>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kMaxMissing = 128;  // as many as a window has packets

class NakWatch {
public:
    // The causes of episodes that were handed out, where they are others by now: by the number of the episode.
    using Amended = std::vector<std::pair<std::uint32_t, NakCause>>;
    // Without identifications, what fills a gap may be its first sending, late, where it passes twice and nothing made
    // its requester send it twice: not another NAK, not silence, and it did not go back from there; or where a go-back
    // that ran before goes on behind it as if it had not been there; or where what is sent again next comes after its
    // answer. That its requester went back there is shown by what it sends next: the PSNs behind it once more. To be
    // told of each request before passed(), and with nothing at the end. Whether that makes a loss undecided, one
    // `asked_for`, and of which episodes.
    struct Doubted {
        bool any = false;
        bool asked_for = false;
        Amended episodes{};
    };
    [[nodiscard]] Doubted doubt(const Observation* request, bool repeated);
    // Else nothing of it is doubtful.
    [[nodiscard]] bool missed_any() const { return losses_.there(); }
    // A request that passed the tap. `due`: the PSN that was next in `stream` before it.
    void passed(const Observation& request, const RequestArrival& arrived, dissect::Psn due,
                const RequestStream& stream, const SendingOrder& order) {
        if (!started_ || arrived.arrival != Arrival::in_order || request.psn != expected_) [[unlikely]]
            return passed_otherwise(request, arrived, due, stream, order);
        last_ = request.time;
        last_id_ = request.ip_id;
        last_psn_ = request.psn;
        expected_ = last_behind_ = stream.next();
    }
    // A request that passed with a wrong ICRC: no responder takes it.
    void corrupted(dissect::Psn psn) {
        losses_.made().corrupt = psn;
        losses_.made().round.corrupted(psn);
    }
    // What filled the gap of that PSN; told before passed().
    void filled(const Observation& request, dissect::Psn behind, const GapLedger::Filled& gap, GapFilling filling);
    // What had filled the gap of that PSN, taken for late, began a recovery.
    void was_again(dissect::Psn psn);
    // A request that had been on the wire before. Whether it is the first sending of its PSN, late, so that what was
    // taken for a loss was none; whether a NAK had asked for it; and what that makes the cause of episodes that were
    // handed out.
    struct LateAfterAll {
        bool late = false;
        bool in_gap = false;  // of the ledger
        bool asked_for = false;
        Amended episodes{};
        std::optional<std::uint32_t>
            one_less;  // the episode that was handed out of a NAK before it, which asked for it as well
    };
    [[nodiscard]] LateAfterAll late_after_all(const Observation& request, const SendingOrder& order);

    // Whether a request that had been on the wire before may be the first sending of its PSN, by what may be chance.
    [[nodiscard]] bool may_be_late(const Observation& request) const;

    // Perhaps that PSN was sent again, or another tap recorded it.
    void perhaps_again(dissect::Psn psn);

    // The responder has everything before `end`; told before `gaps` are. What that makes the cause of episodes that
    // were handed out.
    [[nodiscard]] Amended acknowledged(dissect::Psn end, dissect::Instant time, const GapLedger& gaps,
                                       const RequestStream& stream);
    // An RNR NAK: it did not take that PSN.
    void put_off(dissect::Psn psn);
    // A sequence NAK. One that is told after later requests, because its requester was not known yet, is undecided.
    // `best`: the shortest time known from a request to its answer; 0: none.
    void asked(const Observation& nak, const GapLedger& gaps, const RequestStream& stream, dissect::Duration best);

    // A NAK asked for that PSN not long ago.
    [[nodiscard]] bool was_asked(dissect::Psn psn) const;
    // The episode of the last NAK of that PSN was handed out under this number.
    void note_episode(dissect::Psn psn, std::uint32_t episode);

    // Of the last NAK of that PSN.
    [[nodiscard]] NakCause cause_of(dissect::Psn psn) const;
    // PSNs that were lost before the tap once more when they were sent again.
    [[nodiscard]] std::uint64_t lost_again() const { return losses_->round.count(); }
    // How often which cause.
    [[nodiscard]] std::array<std::uint64_t, kNakCauseNames.size()> causes() const;

private:
    static constexpr std::uint32_t kNoEpisode = UINT32_MAX;
    struct Missing {
        dissect::Psn psn;
        GapSides sides{};
        NakCause cause = NakCause::undecided;
        bool discarded = false;  // it had passed before its turn: the cause is that of what was missing then
        bool in_gap = false;     // of the ledger's
        bool asked_in_gap = false;
        bool of_round = false;     // its retransmission was missed, in the course of a go-back
        bool asked = false;        // by a NAK
        bool resent = false;       // passed once more since
        bool asked_since = false;  // what filled the gap passed
        bool sent_twice = false;   // before the NAK: one may have been lost, and the other on its way
        bool crossed = false;      // on its way when the NAK came
        bool passed_once = false;  // before its first NAK: lost behind the tap, where the responder keeps what is early
        std::uint32_t episode = kNoEpisode;
        dissect::Instant asked_at{};                 // by the last NAK
        std::optional<dissect::Instant> answered{};  // since what filled the gap passed
    };
    using Index = std::size_t;
    static constexpr Index kNone = static_cast<Index>(-1);
    [[nodiscard]] Index find(dissect::Psn psn) const;
    [[nodiscard]] NakCause decided(Index index) const;
    [[nodiscard]] Amended amended_from(Index index) const;
    [[nodiscard]] std::optional<std::uint32_t> episode_with(const Missing& missing) const;
    [[nodiscard]] bool is_doubtful(Index index) const;
    void goes_on(const Observation* request, bool repeated);
    [[nodiscard]] Amended note_keeps();
    [[nodiscard]] Doubted doubted(Index index);
    void remember(const Missing& missing);
    void passed_otherwise(const Observation& request, const RequestArrival& arrived, dissect::Psn due,
                          const RequestStream& stream, const SendingOrder& order);

    dissect::Psn expected_;
    bool started_ = false;
    dissect::Instant last_{};  // of the requests
    dissect::Psn last_psn_;
    dissect::Psn last_behind_;
    dissect::Psn again_behind_;  // behind the last request that was sent once more
    std::uint16_t last_id_ = 0;
    struct Filled {
        dissect::Psn psn;
        dissect::Psn due;  // behind the request before it
        dissect::Instant time{};
    };
    // PSNs that filled gaps, one behind the other, as the start of a go-back.
    struct Begun {
        dissect::Psn first;
        dissect::Psn last;
        dissect::Psn behind;  // the last one
    };
    // Of a flow of which anything was missing.
    struct Losses {
        std::optional<dissect::Psn> corrupt;  // the last one
        std::optional<dissect::Psn> twice;    // what passed just now, once more
        std::optional<Filled> filled;  // a gap by the last request, which may be its first sending or begin a go-back
        std::optional<Begun> begun;    // by the last requests
        std::vector<Missing> missing;  // in the order in which they were missed
        RoundGaps round;
        bool keeps = false;  // the responder acknowledged PSNs that came before their turn and were not sent again
        std::array<std::uint32_t, kNakCauseNames.size()> forgotten{};  // by cause
    };
    Seldom<Losses> losses_;
};

}  // namespace qps::transport
