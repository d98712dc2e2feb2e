// Every finding of every sample, before its judge: each number of the sentence is recomputed from packets.
#include <tests/court/exhibits.hpp>
#include <tests/court/judges.hpp>
#include <tests/court/violation.hpp>
#include <tests/support/catch.hpp>

#include <algorithm>
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
        const auto listed = std::ranges::count(unjudged(), id, &Unjudged::finding);
        INFO(id);
        CHECK((judge_of(id) != nullptr) + listed == 1);
    }
    REQUIRE(known.size() > 60);
    for (const Unjudged& row : unjudged()) {
        INFO(row.finding << " is no finding any more");
        CHECK(known.contains(std::string(row.finding)));
    }
}

TEST_CASE("every number of a finding follows from the packets") {
    std::vector<Exhibit> all = exhibits();
    std::erase_if(all, [](const Exhibit& exhibit) { return exhibit.name == kTunnels; });
    constexpr std::uint64_t kFirst = 101, kLast = 130;  // more of the simulator: 30 seeds that no other test has
    for (std::uint64_t seed = kFirst; seed <= kLast && !folder_is_given(); ++seed)
        all.push_back({fmt::format("simulated-{}", seed), recorded(transport::simulate(drawn_scenario(seed)))});
    const auto answers = ask(
        all.size(), [&](std::size_t i) { return all[i].recording; }, [&](std::size_t i) { return all[i].name; });
    std::vector<Violation> violations;
    std::map<std::string, std::size_t> heard;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::vector<Wire> wires = read_wires(all[i].recording);
        for (const Claim& claim : answers[i].claims) {
            const Judge* judge = judge_of(claim.id);
            if (judge == nullptr) continue;
            ++heard[claim.id];
            Hearing hearing(claim, all[i].recording, wires);
            judge->judge(hearing);
            hearing.close();
            for (const std::string& objection : hearing.objections())
                violations.push_back({all[i].name, "claims", claim.id, objection, claim.sentence});
        }
    }
    const std::string wrong = against_known("claims", violations);
    fmt::print("{} captures, {} objections; heard:", all.size(), violations.size());
    for (const auto& [id, times] : heard) fmt::print(" {} {}", id, times);
    fmt::print("\n{}", wrong);
    CHECK(wrong.empty());
}

}  // namespace qps::court
