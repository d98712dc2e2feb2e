// Every active check can fail: each script of the catalogue against endpoints that break its rule, each in ways that
// differ. What was killed is a table of docs/mutants.md (QPSCOPE_REWRITE_GOLDEN=1 writes it).
#include <tests/conformance/active_mutants.hpp>
#include <tests/conformance/mutant_table.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/scripts.hpp>
#include <tests/support/stage_world.hpp>
#include <transport-replay/checks/catalogue.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

using namespace qps;
using namespace qps::tests;
using transport::conformance::Verdict;
using transport::conformance::stage::ScriptOutcome;

namespace {

std::vector<ActiveMutant> all_mutants() {
    std::vector<ActiveMutant> all;
    for (auto* family : {format_mutants, management_mutants, requester_mutants, responder_mutants, refusing_mutants})
        std::ranges::move(family(), std::back_inserter(all));
    return all;
}

ScriptOutcome outcome_of(ActiveMutant mutant) {
    StageWorld world({.damage = std::move(mutant.broken.damage), .lie = std::move(mutant.broken.lie)});
    return world.run(script_named(mutant.script));
}

std::string upper_case(std::string name) {
    std::ranges::transform(name, name.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    return name;
}

// Whose words are kept: a failure of every kind.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kFailures{{
    {"rsp-01", "the ACK is of the PSN before"},
    {"rsp-01", "no ACK at all"},
    {"rsp-05", "two NAKs"},
    {"rsp-05", "the NAK names the PSN that came"},
    {"rsp-09", "a duplicate is executed: its PSN looks new"},
    {"rsp-27", "the RNR NAK has another timer"},
    {"req-18", "everything is sent again from the beginning"},
    {"req-18", "other bytes are sent the second time"},
    {"req-23", "the time in the RNR NAK is not kept"},
    {"cm-05", "another reason"},
    {"fmt-07", "the version is not looked at"},
}};

}  // namespace

TEST_CASE("every script fails against each device that breaks its rule, says why, and the manual has the count") {
    std::map<std::string, Killed> killed;  // by check
    for (ActiveMutant& mutant : all_mutants()) {
        Killed& row = killed[upper_case(mutant.script)];
        const std::string what = mutant.what;
        const std::string about = mutant.script + ", " + mutant.what;
        const ScriptOutcome outcome = outcome_of(std::move(mutant));
        INFO(about << ": " << outcome.reason << '\n' << outcome.detail);
        CHECK(outcome.verdict == Verdict::fail);
        CHECK_FALSE(outcome.reason.empty());
        CHECK_FALSE(outcome.detail.empty());
        CHECK_FALSE(outcome.exchange.empty());
        CHECK(outcome.exchange.size() <= transport::conformance::kMostExchange);
        CHECK(std::ranges::count(outcome.exchange, true, &transport::conformance::ExchangeStep::wrong) <= 1);
        add_mutant(row, what, outcome.verdict == Verdict::fail);
    }
    check_manual(kActiveHead, killed);
}

TEST_CASE("no script lacks two mutants that differ, and no mutant its script") {
    std::set<std::string> broken;
    std::map<std::string, std::set<std::string>> ways;
    for (const ActiveMutant& mutant : all_mutants()) {
        broken.insert(mutant.script);
        INFO(mutant.script << ", " << mutant.what);
        CHECK(ways[mutant.script].insert(mutant.what).second);
    }
    for (const auto& [script, what] : ways) {
        INFO(script);
        CHECK(what.size() >= 2);
    }
    std::set<std::string> checked;  // the checks that can fail
    for (const std::string& name : script_names()) {
        INFO(name);
        const auto script = script_named(name);
        const bool judges = !script.checks.empty();
        CHECK(script.checks.size() <= 1);  // one that judges two could not say which of them failed
        CHECK(judges == (broken.erase(name) > 0));
        if (judges) std::ranges::copy(script.checks, std::inserter(checked, checked.end()));
    }
    CHECK(broken.empty());
    CHECK(checked.size() >= 118);
}

TEST_CASE("of a device that hears nothing, or says nothing, one check is left open, and few pass") {
    // Whose rule is not to succeed, to go on asking, or not to say anything.
    const std::set<std::string> right_if_deaf{"cm-08", "req-10", "req-14", "req-15", "req-16", "req-17", "req-20"};
    const std::set<std::string> right_if_mute{"cnp-04", "fmt-15", "rsp-48", "rsp-49", "rsp-50", "rsp-51", "rsp-52"};
    for (const bool deaf : {true, false})
        for (const std::string& name : script_names()) {
            Broken broken = deaf ? inward(drop(begins(""))) : outward(drop(begins("")));
            StageWorld world({.damage = std::move(broken.damage)});
            const ScriptOutcome outcome = world.run(script_named(name));
            INFO(name << (deaf ? " deaf: " : " mute: ") << outcome.reason << '\n' << outcome.detail);
            const bool counts_nothing = deaf && name == "fmt-15";  // its counters say nothing either way
            const bool right = (deaf ? right_if_deaf : right_if_mute).contains(name);
            CHECK(outcome.verdict == (counts_nothing ? Verdict::not_applicable
                                      : right        ? Verdict::pass
                                                     : Verdict::fail));
        }
}

TEST_CASE("where a script asks the agent, an agent that says otherwise fails it") {
    struct Asks {
        std::string_view words;
        Broken (*lie)();
    };
    constexpr std::array kAsks{
        Asks{" status=success", no_success},
        Asks{" no completion for", completions_of_nothing},
        Asks{" is unchanged", memory_differs},
        Asks{" is fill ", memory_differs},
        Asks{" state err", [] { return always_in("rts"); }},
    };
    for (const Asks& row : kAsks) {
        std::size_t asked = 0;
        for (const std::string& name : script_names()) {
            const auto text = script_text(script_folder() / (name + ".script"));
            REQUIRE(text);
            if (text->find(row.words) == std::string::npos) continue;
            ++asked;
            StageWorld world({.lie = row.lie().lie});
            const ScriptOutcome outcome = world.run(script_named(name));
            INFO(name << row.words << ": " << outcome.reason);
            CHECK(outcome.verdict == Verdict::fail);
        }
        CHECK(asked > 0);
    }
}

TEST_CASE("what a failure says") {
    std::string failures;
    for (const auto& [script, what] : kFailures)
        for (ActiveMutant& mutant : all_mutants()) {
            if (mutant.script != script || mutant.what != what) continue;
            const ScriptOutcome outcome = outcome_of(std::move(mutant));
            failures += fmt::format("== {}: {}\n{}: {}\n{}\n", script, what, name(outcome.verdict), outcome.reason,
                                    outcome.detail);
        }
    check_golden("conformance/golden/failures.txt", failures);
}
