// Incidents: the table of rules as a table, and each rule by a text of what a tap sees: "send 52..54; nak 51; send 51".
#include <tests/support/conversation.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/tracking/evidence_rules.hpp>
#include <transport-replay/tracking/incident_log.hpp>

#include <algorithm>
#include <charconv>
#include <random>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace qps::transport;
using namespace qps::dissect;
using namespace qps::tests;

namespace {

using D = PsnDisposition;
using E = Evidence;
using P = PathFact;

constexpr auto kEvidences = kEvidenceNames.size(), kPathFacts = kPathFactNames.size();

template <class E> Set<E> from_bits(std::uint32_t bits, std::size_t count) {
    Set<E> set;
    for (std::size_t i = 0; i < count; ++i) set.add_if((bits >> i & 1U) != 0, static_cast<E>(i));
    return set;
}

std::uint32_t number(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    REQUIRE(error == std::errc{});
    REQUIRE(end == text.data() + text.size());
    return value;
}

// One step: "send 52", "send 52..54", "ack 54", "nak 51", "wait 8" (microseconds), "count 7" (identifications from
// there on). A microsecond passes before each packet.
void act(Conversation& said, std::string_view step) {
    const auto space = step.find(' ');
    REQUIRE(space != std::string_view::npos);
    const std::string_view verb = step.substr(0, space), what = step.substr(space + 1);
    const auto dots = what.find("..");
    const std::uint32_t first = number(what.substr(0, dots)),
                        last = dots == std::string_view::npos ? first : number(what.substr(dots + 2));
    for (std::uint32_t psn = first; psn <= last; ++psn) {
        if (verb == "send") said.send(psn);
        else if (verb == "ack") said.acknowledge(psn);
        else if (verb == "nak") said.ask_again(psn);
        else if (verb == "wait") said.wait(microseconds(psn));
        else if (verb == "count") said.count_from(static_cast<std::uint16_t>(psn));
        else FAIL("unknown step: " << step);
    }
}

// Behind a set-up in which the first PSN is 50, and an answer of 3 us to it.
Tracked played(std::string_view text) {
    Conversation said;
    said.set_up();
    if (text.starts_with("count")) {
        act(said, text.substr(0, text.find(';')));
        text.remove_prefix(text.find(';') + 2);
    }
    said.send(50);
    said.wait(microseconds(2));
    said.acknowledge(50);
    for (const auto part : std::views::split(text, std::string_view("; "))) {
        act(said, std::string_view(part.begin(), part.end()));
    }
    return said.finish();
}

const Recovery& first_named(const Tracked& tracked) {
    const auto found = std::ranges::find(tracked.recoveries, true, &Recovery::nak);
    REQUIRE(found != tracked.recoveries.end());
    return *found;
}

}  // namespace

TEST_CASE("each rule removes what it says for all it needs, and nothing for less") {
    std::set<std::string_view> names;
    for (const EvidenceRule& rule : evidence_rules()) {
        INFO(rule.name);
        CHECK(names.insert(rule.name).second);
        CHECK(!rule.clause.empty());
        CHECK(!rule.needs.empty());
        CHECK(!rule.excludes.empty());
        CHECK(rule.excludes != kAllDispositions);
        const std::span<const EvidenceRule> alone(&rule, 1);
        CHECK(left_by(alone, rule.needs, rule.path) == kAllDispositions.without(rule.excludes));
        for (std::size_t i = 0; i < kEvidences; ++i) {
            const auto less = rule.needs.without({static_cast<E>(i)});
            if (less != rule.needs) CHECK(left_by(alone, less, rule.path) == kAllDispositions);
        }
        for (std::size_t i = 0; i < kPathFacts; ++i) {
            const P fact = static_cast<P>(i);
            if (rule.path.has(fact)) CHECK(left_by(alone, rule.needs, rule.path.without({fact})) == kAllDispositions);
            PathFacts more = rule.path;
            more.add(fact);
            if (rule.unless.has(fact)) CHECK(left_by(alone, rule.needs, more) == kAllDispositions);
        }
    }
}

TEST_CASE("rules commute, and less evidence leaves more, for all evidence that there can be") {
    std::vector<EvidenceRule> rules(evidence_rules().begin(), evidence_rules().end());
    std::mt19937 random(7);
    std::uint64_t wrong = 0, grown = 0;
    for (std::uint32_t path = 0; path < 1U << kPathFacts; ++path) {
        std::ranges::shuffle(rules, random);
        const PathFacts known = from_bits<P>(path, kPathFacts);
        for (std::uint32_t bits = 0; bits < 1U << kEvidences; ++bits) {
            const auto evidence = from_bits<E>(bits, kEvidences);
            const PsnDispositions left = left_by(rules, evidence, known);
            if (left != left_by(evidence_rules(), evidence, known)) ++wrong;
            const auto less = evidence.without({static_cast<E>(random() % kEvidences)});
            const PsnDispositions before = left_by(rules, less, known);
            if (!left.within(before)) ++wrong;
            if (left != before) ++grown;
        }
    }
    CHECK(wrong == 0);
    CHECK(grown > 1000);
}

TEST_CASE("an empty set is a contradiction: nothing is known, and it is counted") {
    const PsnCase one{.evidence = {E::taken, E::first_came}, .of_gap = true};
    REQUIRE(left_by(evidence_rules(), one.evidence, {}).empty());
    const PsnVerdict verdict = judge(one, {});
    CHECK(verdict.contradiction);
    CHECK(verdict.left == kAllDispositions);
    CHECK(cause_of(verdict) == NakCause::undecided);
    CHECK_FALSE(is_lost_before_tap(verdict));
    CHECK_FALSE(judge({.evidence = {E::taken}}, {}).contradiction);
}

TEST_CASE("what a NAK names, told by few packets") {
    struct Row {
        std::string_view text;
        PsnDispositions left;
        NakCause cause;
    };
    const auto rows = std::vector<Row>{
        // A gap at the tap, and the responder asks for it; it goes back, and nothing passes late.
        {"send 52..54; nak 51; wait 8; send 51..54; ack 54", {D::lost_before_tap}, NakCause::lost_before_tap},
        // It passed when it was due.
        {"send 51..53; wait 8; nak 51; wait 8; send 51..53; ack 53",
         {D::lost_behind_tap, D::late_behind_tap},
         NakCause::lost_behind_tap},
        // And was acknowledged before anything was sent again.
        {"send 51..53; wait 8; nak 51; wait 8; ack 53", {D::late_behind_tap}, NakCause::late_behind_tap},
        // Alone, once: one that is late, and whose NAK is lost, looks alike.
        {"send 52..54; nak 51; wait 8; send 51; send 55; ack 55", {D::lost_before_tap, D::late}, NakCause::undecided},
        // Nothing of it until the end.
        {"send 52..54; nak 51", {D::lost_before_tap, D::late}, NakCause::undecided},
        // As the sender counts: the one that fills the gap was sent before what skipped it, or after.
        {"count 10; send 51..53; ack 53; count 15; send 55; nak 54; count 14; send 54; count 16; send 56",
         {D::late},
         NakCause::late},
        {"count 10; send 51..53; ack 53; count 15; send 55; nak 54; send 54; send 55",
         {D::lost_before_tap},
         NakCause::lost_before_tap},
        // It passed before its turn, and a go-back-N responder discarded it with the one before it that was lost.
        {"send 52..53; nak 51; wait 8; send 51; wait 8; send 53; nak 52; send 52..54; ack 54",
         {D::lost_before_tap},
         NakCause::lost_before_tap},
        // Twice in a row, and asked for once: either may be the first sending.
        {"send 52..53; nak 51; send 51; send 51..53; ack 53", {D::lost_before_tap, D::late}, NakCause::undecided},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        const Tracked tracked = played(row.text);
        CHECK(first_named(tracked).left == row.left);
        CHECK(first_named(tracked).cause == row.cause);
        CHECK(tracked.contradictions == 0);
    }
}
