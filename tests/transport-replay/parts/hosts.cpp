// Captures of several hosts, analysed apart and joined: each connection once, whatever the clocks say and in whatever
// order parts were joined; losses between two captures are told there, and every one that is told was lost there. A
// tenth of the seeds in every run, all with QPSCOPE_SHARDS=all.
#include <tests/support/catch.hpp>
#include <tests/support/host_captures.hpp>
#include <tests/support/joined_parts.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

using namespace qps::transport;
using namespace qps::dissect;

namespace {

AnalysisPart host_part(const ClusterTraffic& traffic, std::string name, PartOf which) {
    constexpr std::size_t kBatch = 300;
    ShardedAnalysis analysis({.sums_apart = true}, 1, false, true);
    ShardedBatch batch(1, which);
    for (std::size_t at = 0; at < traffic.observations.size();) {
        batch.clear();
        for (std::size_t i = 0; i < kBatch && at < traffic.observations.size(); ++i)
            batch.add(traffic.observations[at++]);
        analysis.gate(batch);
        analysis.follow(batch, 0);
        analysis.visit(batch, {});
    }
    AnalysisPart part;
    part.captures.push_back({.origin = {.host = std::move(name),
                                        .inputs = {"trace.pcap"},
                                        .frames = traffic.observations.size(),
                                        .settings = "none",
                                        .of = which.parts,
                                        .damaged = false},
                             .numbers = {which.number},
                             .report = analysis.finish_part(),
                             .checks = {}});
    return part;
}

void name_this_tap(std::string& words) {
    for (std::size_t at; (at = words.find("the tap of this")) != std::string::npos;) words.replace(at, 15, "this tap");
}

std::string name_of(const HostCapture& capture) { return fmt::format("node-{:02}", capture.host); }

// What is told of losses is true of the network.
struct Losses {
    std::size_t between = 0;    // told to be lost between two captures
    std::size_t elsewhere = 0;  // of PSNs that the network lost, told otherwise
    std::size_t timeouts = 0;   // told to have waited for what was lost between
    std::size_t wrong = 0;
};
// The network lost a request of that way from that PSN on, or an answer to one.
bool timeout_is_true(const Timeline& timeline, const Recovery& recovery, const HostCaptures& made) {
    const Connection& connection = *timeline.find(recovery.connection);
    const Endpoint &from = connection.end(recovery.requester), &to = connection.end(other(recovery.requester));
    if (!to.qpn) return false;
    const auto& lost = recovery.missed_answer ? made.lost_answers : made.lost;
    return std::ranges::any_of(lost, [&](const SentRequest& one) {
        const auto& [sender, queue_pair, psn] = one;
        return sender == from.address && queue_pair == *to.qpn &&
               ((psn - recovery.psn.value()) & Psn::kMask) < recovery.resent + 64;
    });
}
Losses losses_of(const Timeline& timeline, const HostCaptures& made) {
    Losses losses;
    for (const Recovery& recovery : timeline.recoveries) {
        if (recovery.kind == RecoveryKind::timeout && !recovery.asked() && recovery.passed != HostNumber{}) {
            ++losses.timeouts;
            losses.wrong += !timeout_is_true(timeline, recovery, made);
        }
        if (recovery.kind != RecoveryKind::sequence_nak) continue;
        const Connection& connection = *timeline.find(recovery.connection);
        const Endpoint &from = connection.end(recovery.requester), &to = connection.end(other(recovery.requester));
        const bool lost = to.qpn && made.lost.contains({from.address, *to.qpn, recovery.psn.value()});
        const bool told = recovery.passed != HostNumber{} && recovery.missed != HostNumber{};
        if (told && !lost) ++losses.wrong;
        if (told && lost) ++losses.between;
        if (!told && lost) ++losses.elsewhere;
    }
    return losses;
}

void check_clocks(const Timeline& timeline, const HostCaptures& made) {
    for (std::size_t i = 0; i < timeline.hosts.size(); ++i) {
        const CapturedHost& host = timeline.hosts[i];
        CHECK(host.name == name_of(made.captures[i]));
        if (!host.clock_ahead) continue;
        const Duration truth = made.captures[i].clock - made.captures[0].clock;
        INFO(host.name << " is ahead by " << std::to_underlying(truth) << " ns, and said to be by "
                       << std::to_underlying(*host.clock_ahead));
        CHECK(magnitude(*host.clock_ahead - truth) <= host.clock_within);
    }
}

// The same report whatever became of parts on the way.
Timeline told_together(const HostCaptures& made, std::uint64_t seed) {
    std::string first;
    for (std::uint64_t tree = 0; tree < 3; ++tree) {
        Draws draws(seed * 5 + tree);
        std::vector<AnalysisPart> parts;
        for (const HostCapture& capture : made.captures) {
            const auto count = static_cast<std::uint32_t>(tree == 0 ? 1 : 1 + draws.below(3));
            for (std::uint32_t number = 1; number <= count; ++number)
                parts.push_back(host_part(capture.traffic, name_of(capture), {number, count}));
        }
        AnalysisPart all = joined(std::move(parts), draws);
        for (const CapturePart& capture : all.captures) CHECK(missing(capture).empty());
        Timeline timeline = conclude(std::move(all), {});
        const std::string report = report_of(timeline);
        if (tree == 0) first = report;
        else CHECK(report == first);
        if (tree == 2) return timeline;
    }
    return {};
}

}  // namespace

TEST_CASE("captures of several hosts are told as one: simulated hosts") {
    constexpr std::uint64_t kClusters = 320;
    const char* wish = std::getenv("QPSCOPE_SHARDS");
    const bool all = wish != nullptr && std::string_view(wish) == "all";
    Losses sum;
    for (std::uint64_t seed = 0; seed < kClusters; seed += all ? 1 : 10) {
        INFO("seed " << seed);
        const HostCaptures made = captures_of_hosts(seed);
        const Timeline timeline = told_together(made, seed);
        CHECK(timeline.connections.size() == made.connections);
        std::uint64_t shared = 0, requests = 0;
        for (const CapturedHost& host : timeline.hosts) shared += host.shared;
        for (const Connection& connection : timeline.connections)
            for (const Way& way : connection.ways) requests += way.requests;
        CHECK(shared == made.at_both_ends);
        CHECK(requests <= made.requests);  // each once: as one of the captures has them
        check_clocks(timeline, made);
        const Losses losses = losses_of(timeline, made);
        CHECK(losses.wrong == 0);
        sum.between += losses.between;
        sum.elsewhere += losses.elsewhere;
        sum.timeouts += losses.timeouts;
    }
    INFO(sum.between << " told between, " << sum.elsewhere << " elsewhere");
    CHECK(sum.between >= 6 * sum.elsewhere);
    CHECK(sum.between > (all ? 400 : 30));
    CHECK(sum.timeouts > (all ? 40 : 3));
}

TEST_CASE("one host alone says what its capture says") {
    for (const std::string& path : qps::tests::sample_captures()) {
        INFO(path);
        ClusterTraffic traffic;
        qps::tests::for_each_packet(path, [&](const Packet& packet) { traffic.add(packet); });
        Analysis analysis(AnalysisSettings{});
        for (const Observation& observation : traffic.observations) static_cast<void>(analysis.observe(observation));
        Timeline whole = analysis.finish();
        Timeline host = conclude(host_part(traffic, "this", {}), {});
        CHECK(host.hosts.size() == 1);
        host.hosts.clear();
        for (Recovery& recovery : host.recoveries) recovery.passed = recovery.missed = {};
        host.learned = whole.learned;
        for (Finding& finding : host.findings) {
            for (std::string* words : {&finding.summary, &finding.advice}) name_this_tap(*words);
            for (Fact& fact : finding.facts) {
                if (std::string* words = std::get_if<std::string>(&fact.value)) name_this_tap(*words);
                if (auto* list = std::get_if<std::vector<std::string>>(&fact.value))
                    std::ranges::for_each(*list, name_this_tap);
            }
        }
        CHECK(report_of(host) == report_of(whole));
    }
}

TEST_CASE("what two hosts captured alike is told once") {
    for (const std::string& path : qps::tests::sample_captures()) {
        INFO(path);
        ClusterTraffic traffic;
        qps::tests::for_each_packet(path, [&](const Packet& packet) { traffic.add(packet); });
        const Timeline once = conclude(host_part(traffic, "a", {}), {});
        std::vector<AnalysisPart> parts;
        for (const char* name : {"a", "b"}) parts.push_back(host_part(traffic, name, {}));
        auto both = join(std::move(parts));
        REQUIRE(both);
        const Timeline twice = conclude(std::move(*both), {});
        CHECK(twice.connections.size() == once.connections.size());
        CHECK(twice.hosts[0].shared + twice.hosts[1].shared == once.connections.size());
        CHECK(twice.cm.attempts.size() == once.cm.attempts.size());
        CHECK(twice.ulp.events.size() == once.ulp.events.size());
        CHECK(twice.totals.messages == once.totals.messages);
        CHECK(twice.collectives.collectives.size() == once.collectives.collectives.size());
        CHECK(twice.congestion.marked == once.congestion.marked);
        CHECK(twice.congestion.cnps == once.congestion.cnps);
        REQUIRE(twice.ulp.sums.size() == once.ulp.sums.size());
        for (std::size_t i = 0; i < once.ulp.sums.size(); ++i) CHECK(twice.ulp.sums[i].count == once.ulp.sums[i].count);
        for (const Finding& finding : once.findings)
            CHECK(std::ranges::any_of(twice.findings, [&](const Finding& one) {
                return one.id == finding.id && one.connection == finding.connection;
            }));
    }
}

TEST_CASE("what captures of hosts do not allow is refused") {
    const HostCaptures made = captures_of_hosts(3);
    const auto sentence = [](AnalysisPart a, AnalysisPart b) {
        std::vector<AnalysisPart> parts;
        parts.push_back(std::move(a));
        parts.push_back(std::move(b));
        const auto one = join(std::move(parts));
        return one ? std::string() : one.error().sentence;
    };
    const ClusterTraffic& traffic = made.captures.front().traffic;
    CHECK(sentence(host_part(traffic, "a", {}), host_part(traffic, "b", {})).empty());
    CHECK(sentence(host_part(traffic, "a\x1b", {}), host_part(traffic, "a\x1b", {})) == "host a\\x1b is there twice");
    CHECK(sentence(host_part(traffic, "a", {1, 2}), host_part(traffic, "a", {1, 2})) ==
          "part 1 of 2 of host a is there twice");
    CHECK(sentence(host_part(traffic, "a", {1, 2}), host_part(traffic, "a", {1, 3})) ==
          "one of 2 parts of host a, another of 3");
    CHECK(sentence(host_part(traffic, "a", {}), host_part(traffic, "", {})) ==
          "one is of host a, another of none: make all of them with --host, or none");
    CHECK(sentence(host_part(traffic, "a", {1, 2}), host_part(made.captures.back().traffic, "a", {2, 2})) ==
          "not of the same capture of host a");
    AnalysisPart other = host_part(traffic, "b", {});
    other.captures.front().origin.settings = "--icrc check";
    CHECK(sentence(host_part(traffic, "a", {}), std::move(other)) ==
          "made with other options: 'none' and '--icrc check'");
}
