// An analysis in parts beside that of the whole: the reports must be the same bytes.
#pragma once

#include <tests/support/catch.hpp>
#include <tests/support/cluster_traffic.hpp>
#include <tests/support/joined_parts.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/model/timeline.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace qps::transport {

// What an analysis of all of it says; `traits`: known before, then what it taught of them.
[[nodiscard]] inline std::string whole_report(const ClusterTraffic& traffic, CaptureTraits& traits) {
    Analysis analysis({.traits = traits});
    for (const Observation& observation : traffic.observations) static_cast<void>(analysis.observe(observation));
    const Timeline timeline = analysis.finish();
    traits = timeline.learned;
    return report_of(timeline);
}

// `lanes`: of each part.
[[nodiscard]] inline AnalysisPart part_of(const ClusterTraffic& traffic, PartOf which, std::size_t lanes,
                                          const CaptureTraits& traits) {
    constexpr std::size_t kBatch = 300;
    ShardedAnalysis analysis({.traits = traits}, lanes, false, true);
    ShardedBatch batch(lanes, which);
    for (std::size_t at = 0; at < traffic.observations.size();) {
        batch.clear();
        for (std::size_t i = 0; i < kBatch && at < traffic.observations.size(); ++i)
            batch.add(traffic.observations[at++]);
        analysis.gate(batch);
        for (std::size_t lane = 0; lane < lanes; ++lane) analysis.follow(batch, lane);
        analysis.visit(batch, {});
    }
    CHECK_FALSE(analysis.over());
    AnalysisPart part;
    part.captures.push_back({.origin = {.host = {}, .inputs = {"trace.pcap"}, .settings = "none", .of = which.parts},
                             .numbers = {which.number},
                             .report = analysis.finish_part(),
                             .checks = {}});
    return part;
}

// Through files, with as many parts as each of `counts` says, joined in an order of chance.
inline void compare_parts(const ClusterTraffic& traffic, std::uint64_t seed, std::span<const std::uint32_t> counts) {
    Draws draws(seed + 4711);
    CaptureTraits traits;
    for (int pass = 0; pass < 2; ++pass) {
        const CaptureTraits before = traits;
        const std::string whole = whole_report(traffic, traits);
        for (const std::uint32_t count : counts) {
            INFO("pass " << pass << ", parts " << count);
            std::vector<AnalysisPart> parts;
            for (std::uint32_t number = 1; number <= count; ++number)
                parts.push_back(part_of(traffic, {number, count}, 1 + draws.below(3), before));
            AnalysisPart all = joined(std::move(parts), draws);
            CHECK(missing(all.captures.front()).empty());
            CHECK(report_of(conclude(std::move(all), {})) == whole);
        }
        if (!traits.any()) break;
    }
}

}  // namespace qps::transport
