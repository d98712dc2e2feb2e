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

template <class E> Set<E> from_bits(std::uint32_t bits) {
    Set<E> set;
    for (std::size_t i = 0; i < kCount<E>; ++i) set.add_if((bits >> i & 1U) != 0, static_cast<E>(i));
    return set;
}

std::uint32_t number(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    REQUIRE(error == std::errc{});
    REQUIRE(end == text.data() + text.size());
    return value;
}

// One step: "send 52", "send 52..54", "ack 54", "nak 51", "rnr 51", "read 52", "respond 52", "wait 8" (microseconds),
// "count 7" (identifications from there on), "long 52..54" (one READ with three responses), "first 52" (of its
// responses). A microsecond passes before each packet.
void act(Conversation& said, std::string_view step) {
    const auto space = step.find(' ');
    REQUIRE(space != std::string_view::npos);
    const std::string_view verb = step.substr(0, space), what = step.substr(space + 1);
    const auto dots = what.find("..");
    const std::uint32_t first = number(what.substr(0, dots)),
                        last = dots == std::string_view::npos ? first : number(what.substr(dots + 2));
    if (verb == "long") return said.read(first, 1000 * (last - first + 1));
    for (std::uint32_t psn = first; psn <= last; ++psn) {
        if (verb == "first") said.respond(kResponseFirst, psn, 1000);
        else if (verb == "send") said.send(psn);
        else if (verb == "ack") said.acknowledge(psn);
        else if (verb == "nak") said.ask_again(psn);
        else if (verb == "rnr") said.refuse_receive(psn);
        else if (verb == "read") said.read(psn, 1000);
        else if (verb == "respond") said.respond(kResponseOnly, psn, 1000);
        else if (verb == "wait") said.wait(microseconds(psn));
        else if (verb == "count") said.count_from(static_cast<std::uint16_t>(psn));
        else FAIL("unknown step: " << step);
    }
}

// Behind a set-up in which the first PSN is 50, and an answer of 3 us to it; where the text begins with "slow", of 41
// us.
void play(Conversation& said, std::string_view text) {
    said.set_up();
    if (text.starts_with("count")) {
        act(said, text.substr(0, text.find(';')));
        text.remove_prefix(text.find(';') + 2);
    }
    constexpr std::string_view kSlow = "slow; ";
    const bool slow = text.starts_with(kSlow);
    if (slow) text.remove_prefix(kSlow.size());
    said.send(50);
    said.wait(microseconds(slow ? 40 : 2));
    said.acknowledge(50);
    for (const auto part : std::views::split(text, std::string_view("; "))) {
        act(said, std::string_view(part.begin(), part.end()));
    }
}

const Recovery& first_named(const Tracked& tracked) {
    const auto found = std::ranges::find(tracked.recoveries, true, &Recovery::asked);
    REQUIRE(found != tracked.recoveries.end());
    return *found;
}

template <class E, class F, class H> void check_each(std::span<const Rule<E, F, H>> rules) {
    std::set<std::string_view> names;
    constexpr Set<H> kAll = Set<H>::all();
    for (const Rule<E, F, H>& rule : rules) {
        INFO(rule.name);
        CHECK(names.insert(rule.name).second);
        CHECK(!rule.clause.empty());
        CHECK(!rule.needs.empty());
        CHECK(!rule.excludes.empty());
        CHECK(rule.excludes != kAll);
        const std::span<const Rule<E, F, H>> alone(&rule, 1);
        CHECK(left_by(alone, rule.needs, rule.known) == kAll.without(rule.excludes));
        for (std::size_t i = 0; i < kCount<E>; ++i) {
            const auto less = rule.needs.without({static_cast<E>(i)});
            if (less != rule.needs) CHECK(left_by(alone, less, rule.known) == kAll);
        }
        for (std::size_t i = 0; i < kCount<F>; ++i) {
            const F fact = static_cast<F>(i);
            if (rule.known.has(fact)) CHECK(left_by(alone, rule.needs, rule.known.without({fact})) == kAll);
            Set<F> more = rule.known;
            more.add(fact);
            if (rule.unless.has(fact)) CHECK(left_by(alone, rule.needs, more) == kAll);
        }
    }
}

// Of all evidence that there can be, or as many sets of it that are drawn.
template <class E, class F, class H> void check_together(std::span<const Rule<E, F, H>> table) {
    constexpr std::uint32_t kMost = 1U << 17;
    std::vector<Rule<E, F, H>> shuffled(table.begin(), table.end());
    std::mt19937 random(7);
    std::uint64_t wrong = 0, grown = 0;
    for (std::uint32_t facts = 0; facts < 1U << kCount<F>; ++facts) {
        std::ranges::shuffle(shuffled, random);
        const std::span<const Rule<E, F, H>> rules(shuffled);
        const auto known = from_bits<F>(facts);
        for (std::uint32_t i = 0; i < kMost; ++i) {
            constexpr bool kAll = 1U << kCount<E> <= kMost;
            const auto evidence = from_bits<E>(kAll ? i : static_cast<std::uint32_t>(random()));
            const Set<H> left = left_by(rules, evidence, known);
            if (left != left_by(table, evidence, known)) ++wrong;
            const Set<H> before = left_by(rules, evidence.without({static_cast<E>(random() % kCount<E>)}), known);
            if (!left.within(before)) ++wrong;
            if (left != before) ++grown;
        }
    }
    CHECK(wrong == 0);
    CHECK(grown > 1000);
}

Recovery last_episode(Conversation& said) {
    const std::vector<Recovery> all = said.episodes();
    REQUIRE_FALSE(all.empty());
    return all.back();
}

// A text of an episode of sending again, the last one that it has, and what is left of why, and of what became of its
// answer.
struct EpisodeText {
    std::string_view text;
    Reasons reasons;
    AnswerFates fates;
};

std::vector<EpisodeText> episode_texts() {
    using R = Reason;
    using A = AnswerFate;
    constexpr AnswerFates kBehind{A::request_lost_behind_tap, A::answer_lost_before_tap, A::answer_lost_behind_tap,
                                  A::late};
    return {
        // A NAK, and as quick an answer as hardware gives.
        {"send 51..53; wait 8; nak 51; wait 8; send 51..53; ack 53", {R::sequence_nak}, kBehind},
        // Long after a NAK, from farther back than it asked: its requester did not have it.
        {"send 51..53; wait 8; nak 53; wait 17000; send 52..53; wait 3; ack 53",
         {R::ack_timer},
         {A::answer_lost_behind_tap}},
        // No receive was posted.
        {"send 51; wait 8; rnr 51; wait 1400; send 51; ack 51", {R::rnr_nak}, kBehind},
        // A long silence, and nothing of what is sent again is new; soon after, a NAK may be missing.
        {"send 51; wait 67000; send 51; wait 3; ack 51", {R::ack_timer}, kBehind},
        {"send 51; wait 500; send 51; wait 3; ack 51", Reasons::all(), kBehind},
        // Sooner than any timer, and no NAK passed.
        {"send 51..53; wait 20; send 51..53; ack 53", {R::sequence_nak, R::rnr_nak, R::implied_nak}, kBehind},
        // Its answer had passed, long before; or just now.
        {"send 51; wait 3; ack 51; wait 67000; send 51; wait 3; ack 51", {R::ack_timer}, {A::answer_lost_behind_tap}},
        {"send 51; wait 66900; ack 51; wait 100; send 51", Reasons::all(), {A::answer_lost_behind_tap, A::late}},
        // Sooner after its answer than any answer brought a request: that one was on its way.
        {"wait 40; send 51; wait 3; ack 51; wait 40; send 52; wait 66900; ack 52; wait 8; send 52; ack 52; wait 40; send 53; ack 53",
         {R::ack_timer},
         {A::late}},
        // A response was due, and the answer to what was sent behind it came.
        {"read 51; send 52; wait 3; ack 52; wait 8; read 51; send 52; wait 3; respond 51; ack 52",
         {R::implied_nak},
         {A::answer_lost_before_tap, A::late}},
        {"read 51; send 52; wait 3; ack 52; wait 67000; read 51; send 52; wait 3; respond 51; ack 52",
         {R::ack_timer},
         {A::answer_lost_before_tap, A::late}},
        // It goes back behind the READ that has no response: that ACK is not what it waits for.
        {"read 51; send 52; wait 3; ack 52; wait 67000; send 52; wait 3; ack 52", {R::ack_timer}, kBehind},
        // Asked for, and never sent again.
        {"send 51..53; wait 8; nak 51; wait 20000", {R::sequence_nak}, AnswerFates::all()},
        // Twice, each time after a silence.
        {"send 51; wait 67000; send 51; wait 67000; send 51; wait 3; ack 51", {R::ack_timer}, kBehind},
        // Three waits tell the timer: the fourth is as long, or shorter.
        {"send 51; wait 67000; send 51; wait 3; ack 51; send 52; wait 67000; send 52; wait 3; ack 52; send 53; wait 67000; send 53; wait 3; ack 53; send 54; wait 67000; send 54; wait 3; ack 54",
         {R::ack_timer},
         kBehind},
        {"send 51; wait 67000; send 51; wait 3; ack 51; send 52; wait 67000; send 52; wait 3; ack 52; send 53; wait 67000; send 53; wait 3; ack 53; send 54; wait 20000; send 54; wait 3; ack 54",
         {R::sequence_nak, R::rnr_nak, R::implied_nak},
         kBehind},
        // The rest of a READ is asked for, at once or after a silence.
        {"long 51..53; wait 3; first 51; wait 8; long 52..53", {R::implied_nak}, kBehind},
        {"long 51..53; wait 3; first 51; wait 67000; long 52..53", {R::ack_timer}, kBehind},
        {"long 51..53; wait 3; first 51; wait 2000; long 52..53", {R::implied_nak}, kBehind},
        // The answer comes so soon after it was sent again that the first sending brought it.
        {"slow; send 51; wait 500; send 51; wait 3; ack 51", Reasons::all(), {A::late}},
        // One answer more than there are requests to answer.
        {"send 51; wait 67000; send 51; wait 30; ack 51; wait 30; ack 51",
         {R::ack_timer},
         {A::answer_lost_before_tap, A::answer_lost_behind_tap, A::late}},
    };
}

// Whether a rule decides something of one of these episodes that no other rule of its table does.
template <class E, class F, class H>
bool decides(std::span<const Rule<E, F, H>> table, std::size_t which, const std::vector<Recovery>& episodes) {
    std::vector<Rule<E, F, H>> others(table.begin(), table.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(which));
    return std::ranges::any_of(episodes, [&](const Recovery& episode) {
        return left_by(std::span<const Rule<E, F, H>>(others), episode.evidence, {}) !=
               left_by(table, episode.evidence, {});
    });
}

}  // namespace

TEST_CASE("each rule removes what it says for all it needs, and nothing for less") {
    check_each(evidence_rules());
    check_each(reason_rules());
    check_each(fate_rules());
}

TEST_CASE("rules commute, and less evidence leaves more, for all evidence that there can be") {
    check_together(evidence_rules());
    check_together(reason_rules());
    check_together(fate_rules());
}

TEST_CASE("an empty set is a contradiction: nothing is known, and it is counted") {
    const PsnCase one{.evidence = {E::taken, E::first_came}, .of_gap = true};
    REQUIRE(left_by(evidence_rules(), one.evidence, PathFacts{}).empty());
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
        // Likewise, later than any path delays a packet; and never, for as long.
        {"send 52..54; nak 51; wait 12000; send 51; send 55; ack 55", {D::lost_before_tap}, NakCause::lost_before_tap},
        {"send 52..54; nak 51; wait 12000; send 55", {D::lost_before_tap}, NakCause::lost_before_tap},
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
        Conversation said;
        play(said, row.text);
        const Tracked tracked = said.finish();
        CHECK(first_named(tracked).left == row.left);
        CHECK(first_named(tracked).cause == row.cause);
        CHECK(tracked.contradictions == 0);
    }
}

TEST_CASE("why a requester sent again, and what became of its answer, told by few packets") {
    using R = Reason;
    using A = AnswerFate;
    for (const EpisodeText& row : episode_texts()) {
        INFO(row.text);
        Conversation said;
        play(said, row.text);
        const Recovery episode = last_episode(said);
        for (std::size_t i = 0; i < kReasonNames.size(); ++i) {
            INFO(kReasonNames[i]);
            CHECK(episode.reasons.has(static_cast<R>(i)) == row.reasons.has(static_cast<R>(i)));
        }
        for (std::size_t i = 0; i < kAnswerFateNames.size(); ++i) {
            INFO(kAnswerFateNames[i]);
            CHECK(episode.fates.has(static_cast<A>(i)) == row.fates.has(static_cast<A>(i)));
        }
    }
}

TEST_CASE("each rule on episodes decides a text that no other rule decides") {
    std::vector<Recovery> episodes;
    for (const EpisodeText& row : episode_texts()) {
        Conversation said;
        play(said, row.text);
        episodes.push_back(last_episode(said));
    }
    for (std::size_t i = 0; i < reason_rules().size(); ++i) {
        INFO(reason_rules()[i].name);
        CHECK(decides(reason_rules(), i, episodes));
    }
    for (std::size_t i = 0; i < fate_rules().size(); ++i) {
        INFO(fate_rules()[i].name);
        CHECK(decides(fate_rules(), i, episodes));
    }
}
