// Incidents: what may have become of a PSN that something happened to, and what the frames show of it.
//
// Nothing is concluded at once. Evidence is collected; at the end each rule removes dispositions that it excludes
// (tracking/evidence_rules), and a claim is a question about the set that is left.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace qps::transport {

// How many enumerators there are.
template <class E> inline constexpr std::size_t kCount = 0;

// A set of enumerators, fewer than 32.
template <class E> class Set {
public:
    constexpr Set() = default;
    constexpr Set(std::initializer_list<E> all) {
        for (const E one : all) add(one);
    }
    [[nodiscard]] static constexpr Set all() {
        Set set;
        set.bits_ = static_cast<std::uint32_t>((std::uint64_t{1} << kCount<E>)-1);
        return set;
    }
    constexpr void add(E one) { bits_ |= bit(one); }
    constexpr void add_if(bool there, E one) {
        if (there) add(one);
    }
    [[nodiscard]] constexpr bool has(E one) const { return (bits_ & bit(one)) != 0; }
    [[nodiscard]] constexpr bool any(Set of) const { return (bits_ & of.bits_) != 0; }
    [[nodiscard]] constexpr bool within(Set other) const { return (bits_ & ~other.bits_) == 0; }
    [[nodiscard]] constexpr Set without(Set other) const {
        Set rest = *this;
        rest.bits_ &= ~other.bits_;
        return rest;
    }
    [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
    [[nodiscard]] constexpr int size() const { return std::popcount(bits_); }
    [[nodiscard]] constexpr auto operator<=>(const Set&) const = default;

private:
    friend struct PrivateMembers;  // parts/private_members.hpp
    static constexpr std::uint32_t bit(E one) { return std::uint32_t{1} << static_cast<unsigned>(one); }
    std::uint32_t bits_ = 0;
};

// What became of a PSN that was due.
enum class PsnDisposition : std::uint8_t {
    lost_before_tap,    // neither the tap nor the responder had it
    lost_behind_tap,    // it passed the tap, and did not arrive
    corrupted,          // it passed with a wrong ICRC, and no one took it
    late,               // its first sending passed the tap after packets that were sent later
    late_behind_tap,    // it passed in its turn, and was overtaken behind the tap
    missed_by_capture,  // it arrived; only the capture lacks it, or has it wrong
};
inline constexpr std::array<std::string_view, 6> kDispositionNames{
    "lost_before_tap", "lost_behind_tap", "corrupted", "late", "late_behind_tap", "missed_by_capture"};
template <> inline constexpr std::size_t kCount<PsnDisposition> = kDispositionNames.size();
using PsnDispositions = Set<PsnDisposition>;
inline constexpr PsnDispositions kAllDispositions = PsnDispositions::all();

// What the frames show of a PSN.
enum class Evidence : std::uint8_t {
    skipped,             // requests behind it passed first
    corrupt,             // it passed with a wrong ICRC
    in_named_gap,        // a NAK names it, or one before it in the same gap
    named,               // a NAK names it
    taken,               // acknowledged, and it never passed intact, and no NAK asked for it
    taken_later,         // acknowledged, and it never passed intact, though a NAK had asked for it
    unseen_to_end,       // it never passed intact until the capture, or the connection, ended
    came,                // it passed intact after all
    first_came,          // and that was its first sending, as its identification lies between those of its neighbours
    unasked_came,        // and nothing had made its requester send it again
    again_came,          // and it was sent after what skipped it, as its identification shows
    recovery_came,       // and its requester was sending again: only time tells
    rest_came,           // and then those behind it as well
    in_turn,             // it had passed in its turn when a NAK named it
    early_once,          // it had passed once, before its turn, when a NAK named it
    acknowledged_first,  // and it was acknowledged before it was sent again
    long_unseen,         // it did not pass for longer than any path delays a packet
};
inline constexpr std::array<std::string_view, 17> kEvidenceNames{
    "skipped",    "corrupt",      "in_named_gap",  "named",
    "taken",      "taken_later",  "unseen_to_end", "came",
    "first_came", "unasked_came", "again_came",    "recovery_came",
    "rest_came",  "in_turn",      "early_once",    "acknowledged_first",
    "long_unseen"};
template <> inline constexpr std::size_t kCount<Evidence> = kEvidenceNames.size();

// What is known of the way as a whole, at its end.
enum class PathFact : std::uint8_t {
    reorders,         // requests passed after some that were sent later
    lacks_packets,    // the capture lacks packets that arrived
    lacks_a_part,     // and of those more than a small part
    keeps_early,      // its responder keeps what arrives before its turn
    asks_for_single,  // single packets were asked for and sent again, twice at least: chance does not do that
};
inline constexpr std::array<std::string_view, 5> kPathFactNames{"reorders", "lacks_packets", "lacks_a_part",
                                                                "keeps_early", "asks_for_single"};
template <> inline constexpr std::size_t kCount<PathFact> = kPathFactNames.size();
using PathFacts = Set<PathFact>;

// What made a requester send again.
enum class Reason : std::uint8_t {
    sequence_nak,  // its responder missed a packet and said so: go-back-N (9.7.5.1.2)
    rnr_nak,       // its responder had no receive posted (9.7.5.2.8)
    ack_timer,     // nobody answered in time (9.7.6.1.3)
    implied_nak,   // a response came before one that was due (9.7.5.1.1)
};
inline constexpr std::array<std::string_view, 4> kReasonNames{"sequence_nak", "rnr_nak", "ack_timer", "implied_nak"};
template <> inline constexpr std::size_t kCount<Reason> = kReasonNames.size();
using Reasons = Set<Reason>;

// What became of the answer that it waited for.
enum class AnswerFate : std::uint8_t {
    request_lost_before_tap,
    request_lost_behind_tap,
    answer_lost_before_tap,
    answer_lost_behind_tap,
    late,  // it was under way, or not sent yet: nothing was lost
};
inline constexpr std::array<std::string_view, 5> kAnswerFateNames{
    "request_lost_before_tap", "request_lost_behind_tap", "answer_lost_before_tap", "answer_lost_behind_tap", "late"};
template <> inline constexpr std::size_t kCount<AnswerFate> = kAnswerFateNames.size();
using AnswerFates = Set<AnswerFate>;

// What the frames show of an episode of sending again. From `all_passed` on it needs the whole way, and is there once
// the episode is closed.
enum class RoundEvidence : std::uint8_t {
    asked,            // a sequence NAK asked for its PSN
    put_off,          // an RNR NAK did
    unasked,          // neither passed
    only_nak_tells,   // the requester can know from where to send again by that NAK alone
    farther_back,     // it was sent again from a PSN before the one that the NAK asked for, and so acknowledged
    read_at_once,     // a READ was asked for again as quickly as a requester notices a missing response
    from_middle,      // the rest of a READ was asked for
    passed_over,      // of what was asked for again a response was due, and an answer to something behind it came first
    answer_passed,    // its answer had passed before it was sent again
    oldest,           // and nothing before it lacks its response: that answer is what its requester waited for
    slow_answer,      // and it came so late that a timer may have run out
    answered_twice,   // one answer came more than there are requests to answer
    all_passed,       // all that was sent again had passed before, intact
    never_resumed,    // it was not sent again
    again_and_again,  // it was sent again more than once, each time after a silence
    once,             // it was sent again once: what it shows of its answer is of that one sending
    at_once,          // sooner than any timer
    soon,             // as quickly as a requester notices a NAK, or a missing response
    long_silent,      // after a silence that no reaction explains
    ran_out,          // its timer may have run out
    not_run_out,      // its timer cannot have
    answer_arrived,   // its answer was not on its way any more
    under_way,        // its answer was on its way still
    too_soon,         // it was answered sooner after it was sent again than any request
    unnamed,          // no NAK asked for its PSN, in any episode of the way
};
inline constexpr std::array<std::string_view, 25> kRoundEvidenceNames{
    "asked",           "put_off",       "unasked",  "only_nak_tells", "farther_back",   "read_at_once", "from_middle",
    "passed_over",     "answer_passed", "oldest",   "slow_answer",    "answered_twice", "all_passed",   "never_resumed",
    "again_and_again", "once",          "at_once",  "soon",           "long_silent",    "ran_out",      "not_run_out",
    "answer_arrived",  "under_way",     "too_soon", "unnamed"};
template <> inline constexpr std::size_t kCount<RoundEvidence> = kRoundEvidenceNames.size();

// What is known at the end of the way that was sent again on.
enum class WayFact : std::uint8_t {
    lacks_packets,    // the capture lacks packets that arrived: a NAK may be among them
    lacks_responses,  // READ responses of the other way did not pass, or only late
};
inline constexpr std::array<std::string_view, 2> kWayFactNames{"lacks_packets", "lacks_responses"};
template <> inline constexpr std::size_t kCount<WayFact> = kWayFactNames.size();
using WayFacts = Set<WayFact>;

// A PSN as the rules see it.
struct PsnCase {
    Set<Evidence> evidence{};
    bool of_gap = false;     // it had never passed intact, so that it counts among those that are missing
    bool named = false;      // by a NAK
    bool discarded = false;  // it passed while one before it was missing: the evidence is that of the other one
    [[nodiscard]] auto operator<=>(const PsnCase&) const = default;
};

}  // namespace qps::transport
