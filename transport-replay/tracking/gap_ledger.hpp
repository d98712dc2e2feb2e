// GapLedger: the PSNs that a stream of requests skipped, and what became of each: overtaken, lost by the network, or
// missed by the tap. A capture is a witness: what nothing tells of stays undecided.
//
// Evidence, from the strongest: the responder acknowledges a PSN that was never seen (the tap missed it); it asks for
// the PSN (the network lost it); the PSN comes late though nobody asked (overtaken). A PSN that is merely sent again
// because of one before it proves nothing by itself: it counts as lost by the network where the tap is not known to
// miss packets. Where the order of sending is known, it tells the first sending of a PSN, which is only late, from a
// retransmission, whether or not a NAK asked for it. Where it is not, what fills a gap after a NAK proves no loss on a
// path that is known to reorder.
//
// What an attacker could feed: any gaps. kMaxGaps bounds those that are open; the oldest go undecided.
#pragma once

#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/seldom.hpp>
#include <transport-replay/tracking/sending_order.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kMaxGaps = 64;  // open at a time: go-back-N leaves one, reordering a handful

// What passed a gap.
struct GapPassing {
    GapSides sides{};
    std::uint64_t request = 0;  // counted among those of its way
};

// What came in the place of a missing PSN.
enum class GapFilling : std::uint8_t {
    late,            // its first sending, or what nobody can have asked for
    again,           // a retransmission, as the order of sending proves
    again_unproven,  // in the course of a recovery
    undecided,       // whether anybody asked for it is not known
};

class GapLedger {
public:
    // PSNs first .. first + count - 1 were due and did not come; `corrupt`: they came with a wrong ICRC.
    void skip(dissect::Psn first, std::uint32_t count, const GapPassing& by = {}, bool corrupt = false);
    // Likewise, behind a corrupt request that may be a READ, which takes some of them (9.7.3.1).
    void skip_behind_read(dissect::Psn first, std::uint32_t count, const GapPassing& by);
    // PSNs that are not there, and nobody knows whether they were due.
    void leave_undecided(std::uint32_t count);

    struct Filled {
        bool corrupt = false;    // it had been on the wire, wrong
        bool asked_for = false;  // by a NAK
        GapPassing passing{};
    };
    // The gap of that PSN; nothing where it is none.
    [[nodiscard]] std::optional<Filled> gap(dissect::Psn psn) const;
    // The PSN came after all. Nothing where it was no gap.
    std::optional<Filled> fill(dissect::Psn psn, GapFilling filling);
    // PSNs that a READ takes beside its first: no packets of their own. How many of them were in a gap.
    std::uint32_t fill_rest(dissect::Psn first, dissect::Psn behind);
    // So many PSNs right before `behind` were never due. False, and nothing is changed, where any of them came or was
    // asked for, or others were skipped as well.
    [[nodiscard]] bool withdraw_only(dissect::Psn behind, std::uint32_t count);
    // What was filled last as overtaken turned out to be the start of a recovery.
    void last_was_sent_again();
    // What was filled by a retransmission was only late: its first sending came after all.
    void was_late(bool asked_for);

    // What was filled in a recovery passes again: either may be its first sending.
    void was_late_or_lost(bool asked_for);

    // A NAK names this PSN. How many PSNs from it on were skipped with it; 0 where it is no gap.
    std::uint32_t ask_for(dissect::Psn psn);

    // All before `end` arrived at the responder.
    void acknowledge(dissect::Psn end, dissect::Instant time);
    // A request with that PSN, which was acknowledged. Whether it is the one that was not seen, recorded behind its own
    // answer as the clocks of a recorder allow: then it is there after all.
    bool came_behind_answer(dissect::Psn psn, dissect::Instant time);

    // Forgets what is open, as undecided: the stream began anew, or ended.
    void forget();

    [[nodiscard]] bool open() const { return !state_->ranges.empty(); }
    [[nodiscard]] bool was_corrupt(dissect::Psn psn) const;
    // The PSN came, with a wrong ICRC, and is still due.
    void mark_corrupt(dissect::Psn psn);
    // Of PSNs that came with a wrong ICRC.
    struct Corrupt {
        std::uint64_t again = 0;  // a NAK that names them requested them again: the responder had not taken them
        std::uint64_t taken = 0;  // were acknowledged without a NAK or a retransmission: it had them intact
    };
    [[nodiscard]] Corrupt corrupt() const { return state_->corrupt; }
    // The counts, with what is still open as undecided. `reorders`: the path is known to.
    [[nodiscard]] Gaps counts(bool reorders) const;
    // PSNs acknowledged and not seen that one of the first `requests` skipped: on a path that reorders by as many, they
    // may have passed before the capture began.
    [[nodiscard]] std::uint64_t taken_at_begin(std::uint64_t requests) const;

private:
    struct Range {
        dissect::Psn first;
        std::uint32_t count = 0;
        bool corrupt = false;
        bool asked_for = false;
        bool may_be_taken = false;  // by a READ before it
        GapPassing passing{};
    };
    using Ranges = std::vector<Range>;
    // PSNs that were acknowledged and not seen.
    struct Taken {
        dissect::Psn first;
        std::uint32_t count = 0;
        dissect::Instant time{};
    };
    static constexpr std::uint64_t kBegin = 64;    // requests
    static constexpr std::size_t kMostTaken = 16;  // the last ones: of those before, no request comes so late
    // Of a flow that skipped any.
    struct State {
        Ranges ranges;  // in PSN order
        std::vector<Taken> taken;
        std::vector<std::pair<std::uint64_t, std::uint32_t>> at_begin;  // the request that skipped them, how many
        Gaps counts;
        std::uint64_t sent_again = 0;  // filled in a recovery without having been asked for themselves
        std::uint64_t unproven =
            0;  // of those, and of those of the network: by what nothing but time tells from late packets
        std::uint64_t unproven_asked = 0;
        Corrupt corrupt;
    };
    [[nodiscard]] static Ranges::iterator covering(State& state, dissect::Psn psn);
    static void bound(State& state);
    static Ranges::iterator cut_out(State& state, Ranges::iterator range, dissect::Psn psn);
    Seldom<State> state_;
};

}  // namespace qps::transport
