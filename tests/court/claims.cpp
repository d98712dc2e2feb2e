// Every finding of every sample, before its judge: each number of the sentence is recomputed from packets.
#include <tests/court/exhibits.hpp>
#include <tests/court/judges.hpp>
#include <tests/court/violation.hpp>
#include <tests/support/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>

namespace qps::court {

namespace {

// The court does not look into tunnels, so it sees less than the program there.
constexpr std::string_view kTunnels = "tunnels";

}  // namespace

TEST_CASE("every finding has a judge, or a reason why it has none") {
    std::set<std::string> known;
    for (const std::string& id : known_findings()) {
        known.insert(id);
        const auto listed = std::ranges::count_if(
            wanting(), [&](const Wanting& row) { return row.finding == id && row.captures == 0; });
        INFO(id);
        CHECK((judge_of(id) != nullptr || listed == 1));
    }
    REQUIRE(known.size() > 60);
    for (const Wanting& row : wanting()) {
        INFO(row.finding << " is no finding any more");
        CHECK(known.contains(std::string(row.finding)));
        CHECK(std::ranges::count(wanting(), row.finding, &Wanting::finding) == 1);
    }
}

namespace {

// What was heard of a finding.
struct Heard {
    std::size_t times = 0;
    std::size_t altered = 0, noticed = 0;    // its numbers, made wrong
    std::set<std::string> agreed, objected;  // captures
};

// The claim once for each of its numbers, with that number more than doubled.
std::vector<Claim> altered(const Claim& claim) {
    std::vector<Claim> out;
    for (const auto& [name, value] : claim.facts)
        if (const double* number = std::get_if<double>(&value)) out.emplace_back(claim).facts[name] = 2 * *number + 1;
    return out;
}

// Names the first fact in which `claim` differs from `other`; without one, the sentence of `other`.
std::string difference(const Claim& claim, const Claim& other) {
    for (const auto& [name, value] : other.facts)
        if (claim.facts.at(name) != value)
            return fmt::format("{} = {}: {}", name, std::get<double>(value), claim.sentence);
    return other.sentence;
}

// A judge that agreed objects to other numbers.
void cross_examine(const Judge& judge, const Claim& claim, const Recording& recording, const std::vector<Wire>& wires,
                   Heard& heard) {
    constexpr std::size_t kEnough = 60;  // numbers
    if (heard.altered >= kEnough) return;
    for (const Claim& other : altered(claim)) {
        Hearing hearing(other, recording, wires);
        judge.judge(hearing);
        hearing.close();
        ++heard.altered;
        heard.noticed += hearing.objections().empty() ? 0U : 1U;
        if (hearing.objections().empty() && std::getenv("QPSCOPE_COURT_UNPROVEN") != nullptr)
            fmt::print("unproven: {}: {}\n", claim.id, difference(claim, other));
    }
}

// The captures and their claims before the judges: what was heard by finding, and every objection.
std::vector<Violation> sit(const std::vector<Exhibit>& all, std::map<std::string, Heard>& heard) {
    const auto answers =
        ask(all.size(), [&](std::size_t i) { return all[i].recording; }, [&](std::size_t i) { return all[i].name; });
    std::vector<Violation> violations;
    for (std::size_t i = 0; i < all.size(); ++i) {
        INFO(all[i].name << " " << answers[i].trouble);
        CHECK(answers[i].trouble.empty());
        const std::vector<Wire> wires = read_wires(all[i].recording);
        for (const Claim& claim : answers[i].claims) {
            const Judge* judge = judge_of(claim.id);
            if (judge == nullptr) continue;
            Heard& own = heard[claim.id];
            ++own.times;
            Hearing hearing(claim, all[i].recording, wires);
            judge->judge(hearing);
            hearing.close();
            if (hearing.objections().empty()) cross_examine(*judge, claim, all[i].recording, wires, own);
            (hearing.objections().empty() ? own.agreed : own.objected).insert(all[i].name);
            for (const std::string& objection : hearing.objections())
                violations.push_back({all[i].name, "claims", claim.id, objection, claim.sentence});
        }
    }
    for (auto& [id, own] : heard)
        for (const std::string& capture : own.objected) own.agreed.erase(capture);
    return violations;
}

// A judge who lets other numbers pass is on the list, with how many at most.
void count_unproven(const std::map<std::string, Heard>& heard) {
    for (const auto& [id, own] : heard) {
        const auto row = std::ranges::find(unproven(), id, &Unproven::finding);
        const std::size_t passed = own.altered - own.noticed;
        INFO(id << ": " << passed << " of " << own.altered << " numbers may be others");
        CHECK(passed <= (row == unproven().end() ? 0 : row->numbers));
        CHECK((passed != 0 || row == unproven().end()));
    }
}

// A finding that has fewer than enough captures is on the list, with as many as it has.
void count_captures(std::map<std::string, Heard>& heard) {
    for (const std::string& id : known_findings()) {
        const std::size_t captures = heard[id].agreed.size();
        const auto row = std::ranges::find(wanting(), id, &Wanting::finding);
        INFO(id << " was heard and agreed to in " << captures << " captures");
        if (captures < kEnoughCaptures) CHECK((row != wanting().end() && row->captures == captures));
        else CHECK(row == wanting().end());
    }
}

}  // namespace

TEST_CASE("every number of a finding follows from the packets") {
    std::vector<Exhibit> all = exhibits();
    std::erase_if(all, [](const Exhibit& exhibit) { return exhibit.name == kTunnels; });
    std::vector<DrawnExhibit> drawn;
    if (!folder_is_given()) {
        constexpr std::uint64_t kFirst = 101, kLast = 130;  // more of the simulator: 30 seeds that no other test has
        for (std::uint64_t seed = kFirst; seed <= kLast; ++seed)
            all.push_back({fmt::format("simulated-{}", seed), recorded(transport::simulate(drawn_scenario(seed)))});
        drawn = drawn_exhibits();
        for (const DrawnExhibit& one : drawn) all.push_back(one.exhibit);
    }
    std::map<std::string, Heard> heard;
    const std::vector<Violation> violations = sit(all, heard);
    const std::string wrong = against_known("claims", violations);
    fmt::print("{} captures, {} objections; heard:", all.size(), violations.size());
    for (const auto& [id, own] : heard) fmt::print(" {} {}", id, own.times);
    fmt::print("\n{}", wrong);
    CHECK(wrong.empty());
    for (const DrawnExhibit& one : drawn) {
        INFO(one.exhibit.name << " has not the finding that it was drawn for");
        CHECK((judge_of(one.finding) == nullptr || heard[one.finding].agreed.contains(one.exhibit.name) ||
               heard[one.finding].objected.contains(one.exhibit.name)));
    }
    if (!folder_is_given()) count_captures(heard);
    if (!folder_is_given()) count_unproven(heard);
}

}  // namespace qps::court
