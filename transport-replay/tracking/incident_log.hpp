// IncidentLog: the ledger of one way of a connection: which PSNs did not pass when they were due, or were asked for,
// and what passed and what answered since. It records; what became of each PSN is judged once, at the end, by the table
// of evidence_rules. Every count of a way is a query on the same cases.
//
// At its heart stands a go-back-N responder at the tap (9.7.5.1.2): it takes the PSN that it expects, discards what
// comes before its turn, and would send a NAK where it does. A NAK of the real responder that this one would have sent
// too has its cause on the sender's side of the tap, one of a PSN that was taken here behind it. Answers keep the two
// in step.
//
// What an attacker could feed: any packets. kMaxGaps ranges and kMaxSubjects PSNs are kept; older ones stay as rows of
// a histogram of evidence, of which there are at most as many as the evidence has sets.
#pragma once

#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/incident.hpp>
#include <transport-replay/model/ordering.hpp>
#include <transport-replay/model/seldom.hpp>
#include <transport-replay/tracking/evidence_rules.hpp>
#include <transport-replay/tracking/request_stream.hpp>
#include <transport-replay/tracking/round_gaps.hpp>
#include <transport-replay/tracking/sending_order.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kMaxGaps = 64;       // open at a time: go-back-N leaves one, reordering a handful
inline constexpr std::size_t kMaxSubjects = 128;  // as many as a window has packets

// What passed a gap.
struct GapPassing {
    GapSides sides{};
    std::uint64_t request = 0;  // counted among those of its way
};

// What came in the place of a missing PSN, as far as the packets before it tell.
enum class GapFilling : std::uint8_t {
    first,           // its first sending, as the order of sending proves
    late,            // what nobody can have asked for
    again,           // a retransmission, as the order of sending proves
    again_unproven,  // in the course of a recovery
    undecided,       // whether anybody asked for it is not known
};

// What is known of a way at its end, beside its log.
struct WayKnown {
    bool reorders = false;
    std::uint64_t farthest = 0;   // by how many requests one was overtaken, at most
    bool from_beginning = false;  // the capture has it from its first request on
    std::uint64_t requests = 0;
    dissect::Instant until{};  // the end of the capture, or of the connection
};

// What the log shows of its way.
struct Judgement {
    Gaps gaps;
    std::uint64_t corrupt_again = 0;  // PSNs that passed with a wrong ICRC, and a NAK asked for them
    std::uint64_t corrupt_taken = 0;  // likewise, and were acknowledged without: the responder had them intact
    std::array<std::uint64_t, kNakCauseNames.size()> naks{};  // PSNs that NAKs named, by cause
    std::uint64_t contradictions = 0;
    struct OfEpisode {
        std::uint32_t episode = 0;  // as note_episode() told
        PsnVerdict verdict;
        std::uint32_t late = 0;  // of the gap that its NAK asked for, beside the PSN that it named: only late
    };
    std::vector<OfEpisode> episodes;
};

class IncidentLog {
public:
    // PSNs first .. first + count - 1 were due and did not come; `corrupt`: they came with a wrong ICRC.
    void skip(dissect::Psn first, std::uint32_t count, const GapPassing& by = {}, bool corrupt = false);
    // Likewise, behind a corrupt request that may be a READ, which takes some of them (9.7.3.1).
    void skip_behind_read(dissect::Psn first, std::uint32_t count, const GapPassing& by);
    // PSNs that are not there, and nobody knows whether they were due.
    void leave_undecided(std::uint32_t count);
    // A request that passed with a wrong ICRC: no responder takes it.
    void corrupted(dissect::Psn psn);
    // It is still due.
    void mark_corrupt(dissect::Psn psn);

    struct Gap {
        bool corrupt = false;    // it had been on the wire, wrong
        bool asked_for = false;  // by a NAK
        GapPassing passing{};
    };
    // The gap of that PSN; nothing where it is none.
    [[nodiscard]] std::optional<Gap> gap(dissect::Psn psn) const;
    [[nodiscard]] bool was_corrupt(dissect::Psn psn) const;
    // A NAK named that PSN not long ago.
    [[nodiscard]] bool was_named(dissect::Psn psn) const;
    // Anything happened at all.
    [[nodiscard]] bool any() const { return records_.there(); }

    // The PSN came after all; `behind`: what the request asks for. To be told before passed(). Nothing where it was no
    // gap.
    std::optional<Gap> fill(dissect::Psn psn, dissect::Instant time, dissect::Psn behind, GapFilling filling);
    // PSNs that a READ takes beside its first: no packets of their own. How many of them were in a gap.
    std::uint32_t fill_rest(dissect::Psn first, dissect::Psn behind);
    // So many PSNs right before `behind` were never due. False, and nothing is changed, where any of them came or was
    // asked for, or others were skipped as well.
    [[nodiscard]] bool withdraw_only(dissect::Psn behind, std::uint32_t count);
    // What filled the gap of that PSN last began a recovery that goes on now.
    void began_recovery(dissect::Psn psn);
    // A request with that PSN, which was acknowledged. Whether it is the one that was not seen, recorded behind its own
    // answer as the clocks of a recorder allow.
    bool came_behind_answer(dissect::Psn psn, dissect::Instant time);
    // A request that had been on the wire before. Whether it is the first sending of its PSN, as the order of sending
    // proves; or may be, by what may be chance.
    [[nodiscard]] bool is_first_sending(const Observation& request, const SendingOrder& order);
    [[nodiscard]] bool may_be_first_sending(const Observation& request) const;
    // Perhaps that PSN was sent again, or another tap recorded it.
    void perhaps_again(dissect::Psn psn);

    // A request is about to pass, `repeated` where it was on the wire; nothing: the end. What it tells of what filled a
    // gap before it: without identifications, that may be the first sending, late, where it passes twice and nothing
    // made its requester send it twice: not another NAK, not silence, and it did not go back from there; or where a
    // go-back that ran before goes on behind it as if it had not been there; or where what is sent again next comes
    // after its answer. That its requester went back there is shown by what it sends next: the PSNs behind it once
    // more.
    void look_back(const Observation* request, bool repeated);
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

    // All before `end` arrived at the responder.
    void acknowledged(dissect::Psn end, dissect::Instant time, const RequestStream& stream);
    // An RNR NAK: it did not take that PSN.
    void put_off(dissect::Psn psn);
    // A sequence NAK. One that is told after later requests, because its requester was not known yet, is undecided.
    // `best`: the shortest time known from a request to its answer; 0: none. How many PSNs from it on were skipped with
    // it; 0 where it is no gap.
    std::uint32_t named(const Observation& nak, const RequestStream& stream, dissect::Duration best);
    // The episode of the last NAK of that PSN was handed out under this number.
    void note_episode(dissect::Psn psn, std::uint32_t episode);

    // What is open stays undecided: the stream began anew.
    void forget();
    // At the end.
    [[nodiscard]] Judgement judge(const WayKnown& known);

private:
    static constexpr std::uint32_t kNoEpisode = UINT32_MAX;
    // PSNs of which all are alike.
    struct Range {
        dissect::Psn first;
        std::uint32_t count = 0;
        bool corrupt = false;
        bool asked_for = false;
        bool may_be_read = false;  // PSNs of a READ before it
        bool acknowledged = false;
        dissect::Psn asked_by{};  // the PSN that the NAK named
        dissect::Instant acknowledged_at{};
        GapPassing passing{};
    };
    // A PSN that was missing at the tap when it was due, or that a NAK named; and what happened since.
    struct Subject {
        dissect::Psn psn;
        GapSides sides{};
        bool of_gap = false;   // it had never passed intact
        bool corrupt = false;  // it passed with a wrong ICRC
        bool in_named_gap = false;
        bool of_round = false;     // its retransmission was missed, in the course of a go-back
        bool discarded = false;    // it had passed before its turn: what was missing then is why it is asked for
        bool named = false;        // by a NAK
        bool in_turn = false;      // had passed when it was due, before the first NAK
        bool passed_once = false;  // before its first NAK
        bool sent_twice = false;   // before the NAK: one may have been lost, and the other on its way
        bool crossed = false;      // on its way when the NAK came
        bool resent = false;       // passed once more since
        bool named_since = false;  // what filled the gap passed
        bool taken_later = false;
        bool unseen_to_end = false;
        bool long_unseen = false;
        bool acknowledged_first = false;
        bool first_came = false;  // its first sending, whatever came before
        bool doubtful = false;    // what filled the gap may be its first sending, or not
        bool rest_came = false;   // those behind it were sent again, too
        std::optional<GapFilling> filling{};
        std::uint32_t episode = kNoEpisode;
        std::uint32_t late = 0;       // others of the gap that its NAK asked for, and that were only late
        dissect::Psn asked_by{};      // the PSN that the NAK of its gap named
        dissect::Instant named_at{};  // by the last NAK
        std::optional<dissect::Instant> answered{};  // since what filled the gap passed
    };
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
    struct Row {
        PsnCase of;
        std::uint64_t psns = 0;
    };
    struct Let {
        std::uint32_t episode = 0;
        PsnCase of;
        std::uint32_t late = 0;
    };
    static constexpr std::uint64_t kBegin = 64;    // requests
    static constexpr std::size_t kMostTaken = 16;  // the last ones: of those before, no request comes so late
    // Of a way of which anything was missing.
    struct Records {
        std::vector<Range> gaps;              // open, in PSN order
        std::vector<Range> taken;             // acknowledged and not seen, the last ones
        std::vector<Range> begin;             // likewise, of those that the first requests skipped
        std::vector<Subject> subjects;        // in the order in which they were missed
        std::optional<Subject> last;          // filled its gap by the last request, and nobody had missed it by name
        std::vector<Row> rows;                // what was let go
        std::vector<Let> let;                 // likewise, of episodes
        std::optional<dissect::Psn> corrupt;  // the last one
        std::optional<dissect::Psn> twice;    // what passed just now, once more
        std::optional<Filled> filled;  // a gap by the last request, which may be its first sending or begin a go-back
        std::optional<Begun> begun;    // by the last requests
        RoundGaps round;
        bool keeps = false;  // the responder acknowledged PSNs that came before their turn and were not sent again
    };
    using Index = std::size_t;
    static constexpr Index kNone = static_cast<Index>(-1);
    [[nodiscard]] Index find(dissect::Psn psn) const;
    [[nodiscard]] static Set<Evidence> evidence(const Subject& subject);
    [[nodiscard]] static PsnCase case_of(const Range& range, std::optional<dissect::Instant> end);
    [[nodiscard]] PsnCase case_of(Index index) const;
    [[nodiscard]] bool only_time_tells(Index index) const;
    static void count(Records& records, const PsnCase& of, std::uint64_t psns);
    [[nodiscard]] static std::uint32_t take_named(Records& records, const Range& range,
                                                  std::optional<dissect::Instant> end);
    // `end`: of the capture, where nothing of them passed until then.
    static void let_go(Records& records, Range range, std::optional<dissect::Instant> end = {});
    static void settle_last(Records& records);
    void remember(const Subject& subject);
    static std::vector<Range>::iterator covering(std::vector<Range>& ranges, dissect::Psn psn);
    static std::vector<Range>::iterator cut_out(std::vector<Range>& ranges, std::vector<Range>::iterator range,
                                                dissect::Psn psn);
    static void bound(Records& records);
    void goes_on(const Observation* request, bool repeated);
    void note_resent(const Observation& request, const SendingOrder& order);
    void note_keeps(dissect::Psn end, const RequestStream& stream);
    void keep_early();
    void take(dissect::Psn end, dissect::Instant time);
    std::uint32_t ask_for(dissect::Psn psn);
    void passed_otherwise(const Observation& request, const RequestArrival& arrived, dissect::Psn due,
                          const RequestStream& stream, const SendingOrder& order);

    dissect::Psn expected_;
    bool started_ = false;
    dissect::Instant last_{};  // of the requests
    dissect::Psn last_psn_;
    dissect::Psn last_behind_;
    dissect::Psn again_behind_;  // behind the last request that was sent once more
    std::uint16_t last_id_ = 0;
    Seldom<Records> records_;
};

}  // namespace qps::transport
