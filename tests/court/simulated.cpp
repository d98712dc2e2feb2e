// What the program says of simulated captures, against what the simulator knows: an error or a warning is of something
// that happened, and not of more than happened.
#include <tests/court/exhibits.hpp>
#include <tests/court/violation.hpp>
#include <tests/support/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

#include <fmt/format.h>

namespace qps::court {

using namespace transport;

namespace {

// One way of a queue pair, as it was.
struct Flow {
    const FlowTruth& truth;

    [[nodiscard]] bool any_message(CompletionStatus status) const {
        return std::ranges::count(truth.messages, status, &MessageTruth::status) != 0;
    }
    template <class Is> [[nodiscard]] static std::uint64_t count(const std::vector<Transmission>& sent, Is is) {
        return static_cast<std::uint64_t>(
            std::ranges::count_if(sent, [&](const Transmission& one) { return is(one); }));
    }
    [[nodiscard]] std::uint64_t requests_not_delivered() const {
        return count(truth.requests, [](const Transmission& sent) { return !sent.disposition.delivered(); });
    }
    [[nodiscard]] std::uint64_t responses_not_delivered() const {
        return count(truth.responses, [](const Transmission& sent) { return !sent.disposition.delivered(); });
    }
    [[nodiscard]] std::uint64_t reordered() const {
        const auto late = [](const Transmission& sent) { return sent.disposition.reordered; };
        return count(truth.requests, late) + count(truth.responses, late);
    }
    [[nodiscard]] std::uint64_t late_requests() const {
        return count(truth.requests, [](const Transmission& sent) { return sent.disposition.reordered; });
    }
    [[nodiscard]] std::uint64_t late_responses() const {
        return count(truth.responses, [](const Transmission& sent) { return sent.disposition.reordered; });
    }
    [[nodiscard]] std::uint64_t corrupted_responses() const {
        return count(truth.responses, [](const Transmission& sent) { return sent.disposition.corrupted; });
    }
    [[nodiscard]] std::uint64_t corrupted_requests() const {
        return count(truth.requests, [](const Transmission& sent) { return sent.disposition.corrupted; });
    }
    [[nodiscard]] std::uint64_t duplicated() const {
        const auto twice = [](const Transmission& sent) { return sent.disposition.duplicated; };
        return count(truth.requests, twice) + count(truth.responses, twice);
    }
    [[nodiscard]] std::uint64_t again() const { return truth.sent.retransmitted; }
};

std::string at_most(std::string_view what, std::uint64_t said, std::uint64_t truth) {
    return said > truth ? fmt::format("says {} {}, and there were {}", said, what, truth) : "";
}

// Why the claim is false of a flow; "" where it is true.
using Verdict = std::string (*)(const Claim& claim, const Flow& flow);

template <CompletionStatus kStatus> std::string failed(const Claim&, const Flow& flow) {
    return flow.any_message(kStatus)
               ? ""
               : fmt::format("no message failed with {}", kCompletionStatusNames[std::to_underlying(kStatus)]);
}

// The NAK may be lost behind the tap, and the requester never know.
std::string refused(const Claim& claim, const Flow& flow) {
    return at_most("fatal NAKs", claim.count, flow.truth.sent.fatal_naks);
}

// A count among the facts of a claim; 0 where it is not there.
std::uint64_t fact(const Claim& claim, const std::string& name) {
    const auto found = claim.facts.find(name);
    const double* number = found == claim.facts.end() ? nullptr : std::get_if<double>(&found->second);
    return number == nullptr ? 0 : static_cast<std::uint64_t>(*number);
}

// What a responder asked for again was lost, where it is said to be "lost"; else it was lost, or late, or discarded
// because of one that was.
std::string missed(const Claim& claim, const Flow& flow) {
    const std::uint64_t gone = flow.requests_not_delivered(), late = flow.late_requests(),
                        naks = flow.truth.sent.sequence_naks;
    const bool alone = !claim.facts.contains("lost");  // NAKs whose requests were not captured
    const std::uint64_t packets = alone ? claim.count : fact(claim, "lost");
    const bool lost = claim.facts.contains("lost_proven");
    for (const std::string& why :
         {lost ? at_most("lost packets", packets, gone) : at_most("missed packets", packets, gone + late + naks),
          gone + late == 0 ? std::string("nothing was lost or late") : at_most("sequence NAKs", claim.count, naks),
          at_most("losses before the tap", fact(claim, "lost_before_tap"), gone),
          at_most("corrupted packets", fact(claim, "corrupted_before_tap"), flow.corrupted_requests())})
        if (!why.empty()) return why;
    return "";
}

const std::map<std::string, Verdict>& truths() {
    static const std::map<std::string, Verdict> kTruths{
        {"transport-retries-exceeded", failed<CompletionStatus::retry_exceeded>},
        {"rnr-retries-exceeded", failed<CompletionStatus::rnr_retry_exceeded>},
        {"remote-access-error", refused},
        {"remote-invalid-request", refused},
        {"remote-operational-error", refused},
        {"go-back-n-loss", missed},
        {"selective-repeat", missed},
        {"reordered-not-lost",
         [](const Claim& claim, const Flow& flow) -> std::string {
             const std::uint64_t late = flow.late_requests();
             if (late == 0) return "nothing was late";
             if (std::string why = at_most("late requests", fact(claim, "overtaken"), late); !why.empty()) return why;
             // Each late packet is asked for once, or with it what was discarded behind it.
             if (!claim.facts.contains("discarded_behind_late") && claim.count > late)
                 return at_most("NAKed late packets", claim.count, late);
             return at_most("sequence NAKs", claim.count, flow.truth.sent.sequence_naks);
         }},
        {"nak-ignored",
         [](const Claim& claim, const Flow& flow) {
             return at_most("timeouts", claim.count, flow.truth.requester.timeouts);
         }},
        {"rnr-stall", [](const Claim& claim,
                         const Flow& flow) { return at_most("RNR NAKs", claim.count, flow.truth.sent.rnr_naks); }},
        {"ack-timeout",
         [](const Claim& claim, const Flow& flow) {
             return at_most("timeouts", fact(claim, "timeouts"), flow.truth.requester.timeouts);
         }},
        {"spurious-retransmission",
         [](const Claim& claim, const Flow& flow) -> std::string {
             if (claim.party == "undecided") return at_most("retransmissions", claim.count, flow.again());
             return at_most("retransmissions without a loss", claim.count,
                            flow.requests_not_delivered() + flow.responses_not_delivered() == 0
                                ? flow.truth.requester.timeouts
                                : 0);
         }},
        {"read-response-lost",
         [](const Claim& claim, const Flow& flow) -> std::string {
             const std::uint64_t gone = flow.responses_not_delivered();
             const std::uint64_t late = flow.late_responses(), corrupted = flow.corrupted_responses();
             if (gone + corrupted + flow.reordered() == 0) return "no response was lost, corrupted or late";
             if (std::string why = at_most("missing responses", fact(claim, "responses_missed"), gone + late);
                 !why.empty())
                 return why;
             return at_most("late responses", fact(claim, "responses_late"), late);
         }},
        {"out-of-order-delivery",
         [](const Claim&, const Flow& flow) -> std::string {
             return flow.reordered() != 0 ? "" : "nothing was reordered";
         }},
        {"duplicated-by-network",
         [](const Claim& claim, const Flow& flow) { return at_most("duplicates", claim.count, flow.duplicated()); }},
    };
    return kTruths;
}

bool is_of(const Claim& claim, const FlowTruth& flow, dissect::Network network) {
    if (!claim.ends) return false;
    const std::string to = text(address_of(other(flow.from), network));
    return std::ranges::any_of(*claim.ends, [&](const ClaimedEnd& end) {
        return end.address == to && (!end.qp || *end.qp == std::to_underlying(flow.responder_qp));
    });
}

std::string why_false(const Claim& claim, const Simulated& simulated, const Scenario& scenario) {
    if (claim.id == "ecn-not-answered" && !scenario.notifies_congestion) return "";
    if (claim.id == "icrc-wrong") {
        std::uint64_t corrupt =
            0;  // recorded as often as the network doubled them, which the tap at the other end alone may have seen
        for (const FlowTruth& flow : simulated.truth.flows)
            for (const auto* sent : {&flow.requests, &flow.responses})
                for (const Transmission& one : *sent)
                    corrupt += one.disposition.corrupted
                                   ? std::max(one.disposition.recorded, one.disposition.duplicated ? 2U : 1U)
                                   : 0;
        return at_most("wrong ICRCs", claim.count, corrupt);
    }
    const auto judge = truths().find(claim.id);
    if (judge == truths().end()) return "nothing of the kind was simulated";
    // Of the two ways of a connection the one whose responder the finding names is the one that is spoken of.
    const auto is_named = [&](const FlowTruth& flow) {
        const std::string responder = text(address_of(other(flow.from), scenario.network));
        const auto named = claim.facts.find("responder");
        const ClaimedEnd* end = named == claim.facts.end() ? nullptr : std::get_if<ClaimedEnd>(&named->second);
        return end != nullptr && *end == ClaimedEnd{responder, std::to_underlying(flow.responder_qp)};
    };
    const auto& flows = simulated.truth.flows;
    const bool named = std::ranges::any_of(flows, is_named);
    std::string why = "no such queue pair";
    for (const FlowTruth& flow : flows) {
        if (!is_of(claim, flow, scenario.network) || (named && !is_named(flow))) continue;
        why = judge->second(claim, Flow{flow});
        if (why.empty()) return why;
    }
    return why;
}

}  // namespace

namespace {

struct Run {
    std::string name;
    Scenario scenario;
    std::function<Recording(const Simulated&)> recording;
};

struct Judged {
    std::vector<Violation> violations;
    std::map<std::string, std::uint64_t> told{};  // errors and warnings that are true, by finding

    [[nodiscard]] std::uint64_t true_ones() const {
        std::uint64_t sum = 0;
        for (const auto& [id, count] : told) sum += count;
        return sum;
    }
    void print(std::size_t runs, std::string_view where, const std::string& wrong) const {
        fmt::print("{} seeds{}, {} violations, {} true errors and warnings:", runs, where, violations.size(),
                   true_ones());
        for (const auto& [id, count] : told) fmt::print(" {} {}", id, count);
        fmt::print("\n{}", wrong);
    }
};

Judged judge_runs(const std::vector<Run>& runs, std::string_view derivation) {
    std::vector<Simulated> truth(runs.size());
    const auto make = [&](std::size_t i) {
        truth[i] = simulate(runs[i].scenario);
        Recording recording = runs[i].recording(truth[i]);
        truth[i].frames.clear();
        return recording;
    };
    const auto answers = ask(runs.size(), make, [&](std::size_t i) { return runs[i].name; });
    Judged judged;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::string where(derivation);
        if (!answers[i].trouble.empty())
            judged.violations.push_back({runs[i].name, where, "no-answer", answers[i].trouble, ""});
        for (const Claim& claim : answers[i].claims) {
            if (claim.severity == Severity::note) continue;
            std::string why = why_false(claim, truth[i], runs[i].scenario);
            if (why.empty()) ++judged.told[claim.id];
            else judged.violations.push_back({runs[i].name, where, claim.id, std::move(why), claim.sentence});
        }
    }
    return judged;
}

// Every kind of responder has its share of the seeds.
Scenario scenario_of(std::uint64_t seed) {
    constexpr std::uint64_t kKinds = 4, kSelective = 1;
    Scenario scenario = drawn_scenario(seed);
    scenario.selective_repeat = seed % kKinds == kSelective;
    return scenario;
}

// From the first on, or from ten thousand behind it with QPSCOPE_SEED=2; or those of QPSCOPE_COURT_SEEDS that are among
// the thousand from there on: "1003,1010-1019".
std::vector<std::uint64_t> seeds(std::uint64_t first, std::uint64_t usually) {
    constexpr std::uint64_t kAll = 1000, kOthers = 10'000;
    if (const char* others = std::getenv("QPSCOPE_SEED"); others != nullptr)
        first += (std::stoull(others) - 1) * kOthers;
    std::vector<std::uint64_t> out;
    const char* wanted = std::getenv("QPSCOPE_COURT_SEEDS");
    if (wanted == nullptr) {
        for (std::uint64_t i = 0; i < (everything_is_wanted() ? kAll : usually); ++i) out.push_back(first + i);
        return out;
    }
    std::istringstream list(wanted);
    for (std::string range; std::getline(list, range, ',');) {
        const std::size_t dash = range.find('-');
        const std::uint64_t from = std::stoull(range),
                            to = dash == std::string::npos ? from : std::stoull(range.substr(dash + 1));
        for (std::uint64_t seed = std::max(from, first); seed <= std::min(to, first + kAll - 1); ++seed)
            out.push_back(seed);
    }
    return out;
}

// The same run seen at both ends, by clocks that differ: what one tap has and the other has not was lost between them.
Recording both_ends(const Scenario& scenario, const Simulated& at_a, std::uint64_t seed) {
    constexpr std::array<std::int64_t, 6> kAhead{0,          2'000'000,     -2'000'000,
                                                 50'000'000, 5'000'000'000, -5'000'000'000};  // ns
    Scenario other_end = scenario;
    other_end.tap.place = TapPlace::end_b;
    Recording merged = recorded(at_a);
    for (Record& record : recorded(simulate(other_end)).records) {
        record.time += kAhead[seed % kAhead.size()];
        merged.records.push_back(std::move(record));
    }
    std::ranges::stable_sort(merged.records, {}, &Record::time);
    return merged;
}

}  // namespace

TEST_CASE("of simulated captures every error and warning is true") {
    constexpr std::uint64_t kFirst = 1000, kUsually = 200;
    std::vector<Run> runs;
    for (const std::uint64_t seed : seeds(kFirst, kUsually))
        runs.push_back({fmt::format("seed-{}", seed), scenario_of(seed), recorded});
    const Judged judged = judge_runs(runs, "whole");
    const std::string wrong = against_known("simulated", judged.violations);
    judged.print(runs.size(), "", wrong);
    CHECK(wrong.empty());
}

TEST_CASE("of simulated captures of both ends every error and warning is true") {
    constexpr std::uint64_t kFirst = 3000, kUsually = 60;
    std::vector<Run> runs;
    for (const std::uint64_t seed : seeds(kFirst, kUsually)) {
        Scenario scenario = scenario_of(seed);
        scenario.tap.place = TapPlace::end_a;
        runs.push_back({fmt::format("seed-{}", seed), scenario,
                        [scenario, seed](const Simulated& at_a) { return both_ends(scenario, at_a, seed); }});
    }
    const Judged judged = judge_runs(runs, "both-ends");
    const std::string wrong = against_known("both", judged.violations);
    judged.print(runs.size(), " at both ends", wrong);
    CHECK(wrong.empty());
}

}  // namespace qps::court
