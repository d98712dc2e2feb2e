// Contexts of Ultra Ethernet by chance and by malice: what is said does not depend on who followed whom, and what is
// kept has bounds.
#include <tests/simulator/simulation.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/joined_parts.hpp>
#include <tests/support/uet_exchange.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>

#include <string>
#include <vector>

using namespace qps;
using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

// Several pairs of hosts at once: losses, NACKs, trimmed packets, copies, numbers used again, PSNs anywhere.
std::vector<Block> anything(std::uint64_t seed) {
    Draws draws(seed);
    std::vector<UetExchange> pairs(5);
    std::vector<std::uint32_t> next(pairs.size());
    std::vector<Block> frames;
    for (std::uint32_t i = 0; i < pairs.size(); ++i) {
        pairs[i].hosts = i + 1;
        pairs[i].start = static_cast<std::uint32_t>(draws.below(UINT32_MAX));
    }
    for (int step = 0; step < 600; ++step) {
        const std::size_t at = draws.below(pairs.size());
        UetExchange& pair = pairs[at];
        const auto psn =
            static_cast<std::uint32_t>(draws.chance(0.02) ? draws.below(UINT32_MAX) : next[at] - draws.below(8));
        const auto entropy = static_cast<std::uint16_t>(0xc000 + draws.below(draws.chance(0.01) ? 4096 : 6));
        switch (draws.below(8)) {
            case 0:
                pair.acknowledge({.number = psn,
                                  .cumulative = psn - static_cast<std::uint32_t>(draws.below(3)),
                                  .sack = draws.below(256)});
                break;
            case 1: pair.refuse(psn, draws.below(40)); break;
            case 2:
                pair.send({.number = psn,
                           .entropy = entropy,
                           .again = true,
                           .message = static_cast<std::uint16_t>(draws.below(9))});
                break;
            case 3: pair.acknowledge({.number = next[at], .cumulative = next[at]}); break;
            default:
                pair.send({.number = next[at],
                           .entropy = entropy,
                           .opens = draws.chance(0.1),
                           .message = static_cast<std::uint16_t>(next[at] / 4),
                           .place = next[at] % 4,
                           .pieces = 4,
                           .trimmed = draws.chance(0.05)});
                if (!draws.chance(0.1)) ++next[at];
        }
        if (draws.chance(0.01)) pair.target = static_cast<std::uint16_t>(draws.below(5));
        if (draws.chance(0.01)) pair.initiator = static_cast<std::uint16_t>(draws.below(5));
        frames.insert(frames.end(), pair.frames.begin(), pair.frames.end());
        if (draws.chance(0.03)) frames.insert(frames.end(), pair.frames.begin(), pair.frames.end());
        pair.frames.clear();
    }
    return frames;
}

std::vector<Observation> observed(const std::vector<Block>& frames, std::size_t captured) {
    std::vector<Observation> all;
    Packet packet;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        Frame frame;
        frame.bytes = Bytes(frames[i]).first(std::min(captured, frames[i].size()));
        frame.wire_length = static_cast<std::uint32_t>(frames[i].size());
        frame.index = FrameIndex{i + 1};
        frame.time = Instant{static_cast<std::int64_t>(i + 1) * 1000};
        decode(frame, packet);
        observe(packet, all.emplace_back());
    }
    return all;
}

std::string in_lanes(const std::vector<Observation>& all, std::size_t lanes) {
    ShardedAnalysis analysis({}, lanes, false);
    ShardedBatch batch(lanes);
    for (const Observation& each : all) batch.add(each);
    analysis.gate(batch);
    for (std::size_t lane = 0; lane < lanes; ++lane) analysis.follow(batch, lane);
    analysis.visit(batch, [](const Observation&, const PacketRecord&, std::size_t) { return true; });
    CHECK_FALSE(analysis.over());
    return report_of(analysis.finish());
}

std::string in_parts(const std::vector<Observation>& all, std::uint32_t parts, Draws& draws) {
    std::vector<AnalysisPart> made;
    for (std::uint32_t number = 1; number <= parts; ++number) {
        ShardedAnalysis analysis({}, 1, false, true);
        ShardedBatch batch(1, {number, parts});
        for (const Observation& each : all) batch.add(each);
        analysis.gate(batch);
        analysis.follow(batch, 0);
        analysis.visit(batch, [](const Observation&, const PacketRecord&, std::size_t) { return true; });
        AnalysisPart part;
        CapturePart& capture = part.captures.emplace_back();
        capture.origin = {.host = {}, .inputs = {"x"}, .frames = all.size(), .settings = {}, .of = parts};
        capture.numbers = {number};
        capture.report = analysis.finish_part();
        made.push_back(std::move(part));
    }
    return report_of(conclude(joined(std::move(made), draws), {}));
}

}  // namespace

TEST_CASE("contexts are the same in any number of lanes and parts") {
    std::size_t with_losses = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        for (const std::size_t captured : {std::size_t{96}, std::size_t{9000}}) {
            INFO("seed " << seed << ", captured " << captured);
            const std::vector<Block> frames = anything(seed);
            const std::vector<Observation> all = observed(frames, captured);
            Analysis analysis{AnalysisSettings{}};
            for (const Observation& each : all) static_cast<void>(analysis.observe(each));
            const std::string one = report_of(analysis.finish());
            with_losses += one.find("uet-retransmitted") != std::string::npos ? 1U : 0U;
            for (const std::size_t lanes : {1U, 2U, 3U, 8U}) CHECK(in_lanes(all, lanes) == one);
            Draws draws(seed);
            for (const std::uint32_t parts : {1U, 3U}) CHECK(in_parts(all, parts, draws) == one);
        }
    }
    CHECK(with_losses > 12);  // there was something to get wrong
}

TEST_CASE("what a context keeps has bounds") {
    UetExchange exchange;
    AnalysisSettings settings;
    settings.memory = MemoryBudget{std::uint64_t{64} << 20};
    Analysis analysis{std::move(settings)};
    Packet packet;
    Observation observation;
    std::uint64_t index = 0;
    const auto feed = [&] {
        for (const Block& bytes : exchange.frames) {
            Frame frame;
            frame.bytes = bytes;
            frame.wire_length = static_cast<std::uint32_t>(bytes.size());
            frame.index = FrameIndex{++index};
            frame.time = Instant{static_cast<std::int64_t>(index) * 1000};
            decode(frame, packet);
            observe(packet, observation);
            static_cast<void>(analysis.observe(observation));
        }
        exchange.frames.clear();
    };
    for (std::uint32_t i = 0; i < 6000; ++i) {
        exchange.send({.number = i * 3,
                       .entropy = static_cast<std::uint16_t>(i),
                       .message = static_cast<std::uint16_t>(i),
                       .pieces = 2});
        feed();
    }
    const Timeline timeline = analysis.finish();
    REQUIRE(timeline.uet.conversations.size() == 1);
    const transport::UetWay& way = timeline.uet.conversations.front().way(End::a);
    CHECK(way.paths.size() == kMostUetPaths);
    CHECK(way.further_paths == 6000 - kMostUetPaths);
    CHECK(timeline.connections.front().way(End::a).requests == 6000);
    CHECK(timeline.connections.front().way(End::a).open == 6000);
}
