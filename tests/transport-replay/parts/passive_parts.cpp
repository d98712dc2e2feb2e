// What the passive suite saw of parts says what it says of the whole: of the capture and of each of its hosts alone,
// however many parts there are, however they were joined, and through files. A tenth of the seeds in every run, all
// with QPSCOPE_SHARDS=all.
#include <tests/support/catch.hpp>
#include <tests/support/cluster_traffic.hpp>
#include <tests/support/joined_parts.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/sanitized.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/checks/passive/passive_suite.hpp>
#include <transport-replay/checks/report/written.hpp>
#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

using namespace qps::transport;
using namespace qps::transport::conformance;
using namespace qps::dissect;

namespace {

constexpr std::size_t kMostDevices = 3;  // judged alone, of each capture

struct CheckedTraffic {
    ClusterTraffic traffic;
    std::vector<PacketFacts> facts;
    CaptureTraits traits;  // known before
};

// Facts that break any rule now and then, so that all checks have more evidence than they keep.
PacketFacts drawn_facts(std::uint64_t seed, const Observation& observation) {
    const std::uint64_t drawn = mix(seed * 977 + std::to_underlying(observation.frame));
    const std::uint64_t wrong =
        drawn % 3 == 0 ? bit(static_cast<Passive>(mix(drawn) % std::to_underlying(kFirstOfIwarp))) : 0;
    return {.wrong = wrong,
            .digest = static_cast<std::uint32_t>(drawn >> 40 | 1),
            .traits = static_cast<std::uint16_t>(drawn % kTraitSets),
            .ecn = static_cast<std::uint8_t>(drawn >> 20 & 3)};
}

CheckedTraffic checked_cluster(std::uint64_t seed) {
    CheckedTraffic made{.traffic = cluster_of(seed), .facts = {}, .traits = {}};
    for (const Observation& observation : made.traffic.observations)
        made.facts.push_back(drawn_facts(seed, observation));
    return made;
}

CheckedTraffic checked_sample(const std::string& path) {
    CheckedTraffic made;
    qps::tests::for_each_packet(path, [&](const Packet& packet) {
        made.traffic.add(packet);
        look_at(packet, made.facts.emplace_back());
    });
    return made;
}

AnalysisSettings settings_of(PassiveSuite& suite, const CheckedTraffic& checked) {
    return {.message = [&suite](ConnectionId connection, End requester,
                                const Message& message) { suite.message(connection, requester, message); },
            .traits = checked.traits};
}

void follow(const CheckedTraffic& checked, std::size_t lanes, PartOf which, ShardedAnalysis& analysis,
            PassiveSuite& suite) {
    constexpr std::size_t kBatch = 300;
    const std::vector<Observation>& all = checked.traffic.observations;
    ShardedBatch batch(lanes, which);
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t begin = at;
        batch.clear();
        for (std::size_t i = 0; i < kBatch && at < all.size(); ++i) batch.add(all[at++]);
        analysis.gate(batch);
        for (std::size_t lane = 0; lane < lanes; ++lane) analysis.follow(batch, lane);
        analysis.visit(batch, [&](const Observation& observation, const PacketRecord& record, std::size_t place) {
            suite.observe(observation, checked.facts[begin + place], record);
            return true;
        });
    }
    CHECK_FALSE(analysis.over());
}

std::string text_of(std::vector<CheckResult> results) {
    Report report;
    report.results = std::move(results);
    return json_text(report);
}

// As `check` goes.
std::string whole_verdicts(CheckedTraffic& checked, const std::optional<Address>& device, bool learn) {
    PassiveSuite suite;
    if (device) suite.judge_only(*device);
    ShardedAnalysis analysis(settings_of(suite, checked), 1, true);
    follow(checked, 1, {}, analysis, suite);
    const Timeline timeline = analysis.finish();
    std::string verdicts = text_of(suite.finish(timeline));
    if (learn) checked.traits = timeline.learned;
    return verdicts;
}

AnalysisPart part_with_checks(const CheckedTraffic& checked, PartOf which, std::size_t lanes) {
    PassiveSuite suite;
    suite.tell_hosts_apart(MemoryBudget{});
    ShardedAnalysis analysis(settings_of(suite, checked), lanes, true, true);
    follow(checked, lanes, which, analysis, suite);
    AnalysisPart part;
    part.captures.push_back({.origin = {.host = {}, .inputs = {"trace.pcap"}, .settings = "none", .of = which.parts},
                             .numbers = {which.number},
                             .report = analysis.finish_part(),
                             .checks = {}});
    part.captures.front().checks = suite.take();
    return part;
}

void compare_checks(CheckedTraffic& checked, std::uint64_t seed) {
    Draws draws(seed + 815);
    std::set<Address> hosts;
    for (const Observation& observation : checked.traffic.observations)
        if (observation.kind == ObservationKind::transport && hosts.size() < kMostDevices)
            hosts.insert(observation.flow.source);
    std::vector<std::optional<Address>> devices{std::nullopt};
    devices.insert(devices.end(), hosts.begin(), hosts.end());
    for (const std::uint32_t count : {1U, 2U, 3U, 8U}) {
        INFO("parts " << count);
        std::vector<AnalysisPart> parts;
        for (std::uint32_t number = 1; number <= count; ++number)
            parts.push_back(part_with_checks(checked, {number, count}, 1 + draws.below(3)));
        AnalysisPart all = joined(std::move(parts), draws);
        REQUIRE(all.captures.front().checks);
        const PassiveRecord record = *all.captures.front().checks;
        CHECK(record.untold == 0);
        const Timeline timeline = conclude(std::move(all), {});
        for (const std::optional<Address>& device : devices) {
            INFO("device " << (device ? text(*device) : "none"));
            CHECK(text_of(judge(record, timeline, {}, device)) == whole_verdicts(checked, device, false));
        }
    }
}

// Once, and once more where taps or ICRCs tell more of it, as every command reads.
void compare_readings(CheckedTraffic checked, std::uint64_t seed) {
    compare_checks(checked, seed);
    static_cast<void>(whole_verdicts(checked, {}, true));
    if (checked.traits.any()) compare_checks(checked, seed);
}

}  // namespace

TEST_CASE("parts make no difference to checks: simulated hosts") {
    constexpr std::uint64_t kClusters = 320;
    const char* wish = std::getenv("QPSCOPE_SHARDS");
    const bool all = wish != nullptr && std::string_view(wish) == "all";
    for (std::uint64_t seed = 0; seed < kClusters; seed += all ? 1 : qps::tests::kSanitized ? 80 : 10) {
        INFO("seed " << seed);
        compare_readings(checked_cluster(seed), seed);
    }
}

TEST_CASE("parts make no difference to checks: sample captures") {
    for (const std::string& path : qps::tests::sample_captures()) {
        INFO(path);
        compare_readings(checked_sample(path), path.size());
    }
}

// A communication ID is its host's and its peer's: another peer is asked under the same one, by another transaction.
TEST_CASE("set-up with one peer says nothing of that with another, in parts or not") {
    CheckedTraffic once, asked;
    for (const std::string& path : qps::tests::sample_captures())
        if (path.find("/rping_v4/") != std::string::npos) once = checked_sample(path);
    REQUIRE_FALSE(once.traffic.observations.empty());
    constexpr std::size_t kTransaction = 15, kAttribute = 17;  // last bytes of them
    constexpr std::byte kReq{0x10};
    std::uint64_t peers = 0;
    for (std::size_t i = 0; i < once.traffic.observations.size(); ++i) {
        const Observation& observation = once.traffic.observations[i];
        asked.traffic.observations.push_back(observation);
        asked.facts.push_back(once.facts[i]);
        if (!observation.management || observation.payload.size() <= kAttribute ||
            observation.payload[kAttribute] != kReq)
            continue;
        for (std::uint64_t peer = 1; peer <= 4; ++peer, ++peers) {
            Observation& another = asked.traffic.observations.emplace_back(observation);
            std::vector<std::byte>& bytes =
                asked.traffic.bytes.emplace_back(observation.payload.begin(), observation.payload.end());
            bytes[kTransaction] ^= static_cast<std::byte>(peer);
            another.payload = bytes;
            another.flow.destination = cluster_host(peer);
            another.flow_hash = FlowHash{}(another.flow);
            another.packet_hash = mix(another.packet_hash + another.flow_hash);
            asked.facts.push_back(once.facts[i]);
        }
    }
    REQUIRE(peers != 0);
    for (std::size_t i = 0; i < asked.traffic.observations.size(); ++i)
        asked.traffic.observations[i].frame = FrameIndex{i + 1};
    compare_checks(asked, 1);
    PassiveSuite suite;
    ShardedAnalysis analysis(settings_of(suite, asked), 1, true);
    follow(asked, 1, {}, analysis, suite);
    const std::vector<CheckResult> results = suite.finish(analysis.finish());
    const auto transactions =
        std::ranges::find(results, "CM-26", [](const CheckResult& result) { return result.check->id; });
    CHECK(transactions->verdict == Verdict::pass);
    CHECK(transactions->examined != 0);
}

TEST_CASE("evidence is that of the first events, whatever came first") {
    Draws draws(1);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::pair<FrameIndex, FrameIndex>> events;
        for (std::uint64_t count = draws.below(40); count != 0; --count)
            events.emplace_back(FrameIndex{1 + draws.below(50)}, FrameIndex{draws.chance(0.5) ? draws.below(50) : 0});
        Events whole;
        for (const auto& [one, other] : events) whole.add(one, other);
        Events parts[3], sum;
        for (std::size_t i = events.size(); i-- > 0;) parts[draws.below(3)].add(events[i].first, events[i].second);
        for (const Events& part : parts) sum.add(part);
        CHECK(sum.count == events.size());
        CHECK(sum.kept == whole.kept);
        CHECK(sum.first == whole.first);
        CHECK(std::ranges::is_sorted(whole.first.begin(), whole.first.begin() + whole.kept));
    }
}

TEST_CASE("hosts for which there is no room are judged with the capture, and alone never") {
    HostTallies tallies;
    tallies.tell_apart(std::size_t{3});
    for (std::uint64_t host = 1; host <= 5; ++host) {
        tallies.packet(cluster_host(host));
        tallies.fail(Passive::fmt_06, FrameIndex{host});
    }
    tallies.packet(Address{});  // which names none
    CHECK(tallies.untold() == 2);
    PassiveRecord record{.hosts = tallies.take(), .watched = {}, .unwatched = 0, .untold = tallies.untold()};
    CHECK(record.hosts.size() == 4);
    CHECK(packets_sent(record.hosts, {}) == 6);
    CHECK(packets_sent(record.hosts, cluster_host(2)) == 1);
    CHECK(packets_sent(record.hosts, cluster_host(5)) == 0);
    const auto failures = [&](const std::optional<Address>& device) {
        const std::vector<CheckResult> results = judge(record, {}, {}, device);
        return std::ranges::find(results, "FMT-06", [](const CheckResult& result) { return result.check->id; })
            ->failures;
    };
    CHECK(failures({}) == 5);
    CHECK(failures(cluster_host(3)) == 1);
    CHECK(failures(cluster_host(4)) == 0);
}

TEST_CASE("checks of a part that contradict themselves are refused") {
    CheckedTraffic checked = checked_cluster(4);
    const AnalysisPart part = part_with_checks(checked, {}, 1);
    CHECK(read_part_body(part_body(part)));
    const auto is_refused = [&](auto change) {
        AnalysisPart changed = part;
        change(*changed.captures.front().checks);
        return !read_part_body(part_body(changed));
    };
    REQUIRE(part.captures.front().checks->watched.size() > 1);
    REQUIRE(part.captures.front().checks->hosts.size() > 1);
    CHECK(is_refused([](PassiveRecord& record) { record.watched.front().number = ConnectionId{0}; }));
    CHECK(is_refused([](PassiveRecord& record) { record.watched.back().number = ConnectionId{1'000'000}; }));
    CHECK(is_refused([](PassiveRecord& record) { std::swap(record.watched.front(), record.watched.back()); }));
    CHECK(is_refused([](PassiveRecord& record) { record.hosts.push_back(record.hosts.back()); }));
    CHECK(
        is_refused([](PassiveRecord& record) { record.hosts.back().seen.push_back(record.hosts.back().seen.back()); }));
    CHECK(is_refused(
        [](PassiveRecord& record) { record.hosts.back().seen.back().check = static_cast<Passive>(kPassiveChecks); }));
    CHECK(
        is_refused([](PassiveRecord& record) { record.hosts.back().seen.front().failures.kept = kMostEvidence + 1; }));
    CHECK(is_refused([](PassiveRecord& record) {
        Events& events = record.hosts.back().seen.front().failures;
        events.kept = 2;
        events.first[0] = {FrameIndex{7}, FrameIndex{7}};
        events.first[1] = {FrameIndex{6}, FrameIndex{6}};
    }));
    // One with checks and one without are not of the same work.
    std::vector<AnalysisPart> parts;
    parts.push_back(part_with_checks(checked, {1, 2}, 1));
    parts.push_back(part_with_checks(checked, {2, 2}, 1));
    parts.back().captures.front().checks.reset();
    const auto one = join(std::move(parts));
    REQUIRE_FALSE(one);
    CHECK(one.error().sentence == "one was made with --checks, another without");
    // Whatever numbers are in there.
    const std::string body = part_body(part);
    for (std::size_t at = body.size() / 2; at < body.size(); at += 1 + body.size() / 3000) {
        std::string changed = body;
        changed[at] = static_cast<char>(changed[at] ^ (1 << at % 7));
        auto read = read_part_body(changed);
        if (!read || !read->captures.front().checks) continue;
        const PassiveRecord record = std::move(*read->captures.front().checks);
        static_cast<void>(text_of(judge(record, conclude(std::move(*read), {}), {})));
    }
}
