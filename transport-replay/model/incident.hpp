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

// A set of enumerators, fewer than 32.
template <class E> class Set {
public:
    constexpr Set() = default;
    constexpr Set(std::initializer_list<E> all) {
        for (const E one : all) add(one);
    }
    [[nodiscard]] static constexpr Set first(std::size_t count) {
        Set set;
        set.bits_ = static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1);
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
using PsnDispositions = Set<PsnDisposition>;
inline constexpr PsnDispositions kAllDispositions = PsnDispositions::first(kDispositionNames.size());

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
};
inline constexpr std::array<std::string_view, 16> kEvidenceNames{
    "skipped",    "corrupt",           "in_named_gap", "named",      "taken",         "taken_later", "unseen_to_end",
    "came",       "first_came",        "unasked_came", "again_came", "recovery_came", "rest_came",   "in_turn",
    "early_once", "acknowledged_first"};

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
using PathFacts = Set<PathFact>;

// A PSN as the rules see it.
struct PsnCase {
    Set<Evidence> evidence{};
    bool of_gap = false;     // it had never passed intact, so that it counts among those that are missing
    bool named = false;      // by a NAK
    bool discarded = false;  // it passed while one before it was missing: the evidence is that of the other one
    [[nodiscard]] auto operator<=>(const PsnCase&) const = default;
};

}  // namespace qps::transport
