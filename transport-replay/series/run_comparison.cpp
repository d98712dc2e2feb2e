#include <transport-replay/model/losses.hpp>
#include <transport-replay/report/connection_times.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/series/connection_figures.hpp>
#include <transport-replay/series/run_comparison.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace qps::transport::series {

using dissect::Duration;

namespace {

constexpr double kNoticeable =
    0.05;  // of what has no measure of its noise, smaller changes are no trend: two runs are never alike
constexpr double kTimes = 2;  // from this factor on people say "times"
constexpr double kMillion = 1e6;

// Where a value may lie by chance, in another run of the same.
struct Spread {
    double least = 0;
    double most = 0;
};

struct FigureLine {
    std::string_view name;
    int good = 0;  // 1: more is better, -1: worse, 0: neither
    double (*value)(const Run& run);
    std::string (*text)(double value);
    Spread (*range)(const Run& run) = nullptr;  // nothing: within kNoticeable
};

double per_million(std::uint64_t count, const Run& run) {
    return run.packets == 0 ? 0 : kMillion * static_cast<double>(count) / static_cast<double>(run.packets);
}
double of(Duration duration) { return static_cast<double>(std::to_underlying(duration)); }
// A bin tells the middle of what it holds; nothing took longer than the slowest.
Duration latency(const Run& run, unsigned percent) { return std::min(run.latencies.percentile(percent), run.slowest); }
template <unsigned kPercent> Spread latency_range(const Run& run) {
    const auto [least, most] = run.latencies.range_of(kPercent);
    return {of(least), of(most)};
}
// Events that come one by one vary by the root of their number (Poisson); those that come in bursts vary more.
template <std::uint64_t Totals::* kCount> Spread count_range(const Run& run) {
    const double count = static_cast<double>(run.totals.*kCount), spread = 2 * std::sqrt(count + 1);
    const double scale = run.packets == 0 ? 0 : kMillion / static_cast<double>(run.packets);
    return {std::max(0.0, count - spread) * scale, (count + spread) * scale};
}
double seconds(const Run& run) { return of(run.duration) / 1e9; }

std::string count_words(double value) { return grouped(static_cast<std::uint64_t>(value)); }
std::string rate_words(double value) { return fmt::format("{:.1f}", value); }
std::string time_words(double value) { return duration_text(Duration{static_cast<std::int64_t>(value)}); }
std::string size_words(double value) { return bytes_text(static_cast<std::uint64_t>(value)); }
std::string speed_words(double value) { return value <= 0 ? std::string("-") : rate_text(value); }

constexpr std::array kLines{
    FigureLine{"Packets", 0, [](const Run& run) { return static_cast<double>(run.packets); }, count_words},
    FigureLine{"Bytes on the wire", 0, [](const Run& run) { return static_cast<double>(run.bytes); }, size_words},
    FigureLine{"Duration", 0, [](const Run& run) { return of(run.duration); }, time_words},
    FigureLine{"Connections", 0, [](const Run& run) { return static_cast<double>(run.connections); }, count_words},
    FigureLine{"Messages with a latency", 0, [](const Run& run) { return static_cast<double>(run.messages); },
               count_words},
    FigureLine{"Payload of messages", 0, [](const Run& run) { return static_cast<double>(run.totals.message_bytes); },
               size_words},
    FigureLine{"Goodput over the duration", 1,
               [](const Run& run) {
                   return seconds(run) <= 0 ? 0 : 8 * static_cast<double>(run.totals.message_bytes) / seconds(run);
               },
               speed_words},
    FigureLine{"Latency, median", -1, [](const Run& run) { return of(latency(run, 50)); }, time_words,
               latency_range<50>},
    FigureLine{"Latency, 99th percentile", -1, [](const Run& run) { return of(latency(run, 99)); }, time_words,
               latency_range<99>},
    FigureLine{"Latency, maximum", 0, [](const Run& run) { return of(run.slowest); }, time_words},
    FigureLine{"Retransmitted packets", 0,
               [](const Run& run) { return static_cast<double>(run.totals.retransmitted_packets); }, count_words},
    FigureLine{"Retransmitted per million packets", -1,
               [](const Run& run) { return per_million(run.totals.retransmitted_packets, run); }, rate_words,
               count_range<&Totals::retransmitted_packets>},
    FigureLine{"Packets lost", 0, [](const Run& run) { return static_cast<double>(run.lost); }, count_words},
    FigureLine{"Packets lost per million", -1, [](const Run& run) { return per_million(run.lost, run); }, rate_words},
    FigureLine{"Timeouts", 0, [](const Run& run) { return static_cast<double>(run.totals.timeouts); }, count_words},
    FigureLine{"Timeouts per million packets", -1, [](const Run& run) { return per_million(run.totals.timeouts, run); },
               rate_words, count_range<&Totals::timeouts>},
    FigureLine{"Sequence NAKs", 0, [](const Run& run) { return static_cast<double>(run.totals.sequence_naks); },
               count_words},
    FigureLine{"RNR NAKs", 0, [](const Run& run) { return static_cast<double>(run.totals.rnr_naks); }, count_words},
    FigureLine{"RNR NAKs per million packets", -1, [](const Run& run) { return per_million(run.totals.rnr_naks, run); },
               rate_words, count_range<&Totals::rnr_naks>},
    FigureLine{"Fatal NAKs", -1, [](const Run& run) { return static_cast<double>(run.totals.fatal_naks); },
               count_words},
    FigureLine{"Time stalled, all connections", 0, [](const Run& run) { return of(run.stalled); }, time_words},
    FigureLine{"Stalled of the duration, %", -1,
               [](const Run& run) { return of(run.duration) <= 0 ? 0 : 100 * of(run.stalled) / of(run.duration); },
               rate_words},
    FigureLine{"CE marks", 0, [](const Run& run) { return static_cast<double>(run.totals.ce_marked); }, count_words},
    FigureLine{"CE marks per million packets", -1,
               [](const Run& run) { return per_million(run.totals.ce_marked, run); }, rate_words,
               count_range<&Totals::ce_marked>},
    FigureLine{"CNPs", 0, [](const Run& run) { return static_cast<double>(run.totals.cnps); }, count_words},
    FigureLine{"CNPs per million packets", -1, [](const Run& run) { return per_million(run.totals.cnps, run); },
               rate_words, count_range<&Totals::cnps>},
};

std::string change_words(double before, double after) {
    if (before == after) return {};
    if (before == 0) return "new";
    if (after == 0) return "gone";
    const double factor = after / before;
    if (factor >= kTimes) return fmt::format("{:.1f} times", factor);
    return fmt::format("{:+.1f} %", 100 * (factor - 1));
}

bool within_noise(const FigureLine& line, const Run& before, const Run& after) {
    if (line.range == nullptr) {
        const double was = line.value(before), is = line.value(after);
        return std::abs(is - was) < kNoticeable * std::max(was, is);
    }
    const Spread was = line.range(before), is = line.range(after);
    return was.least <= is.most && is.least <= was.most;
}

Trend trend_of(const FigureLine& line, const Run& before, const Run& after) {
    const double was = line.value(before), is = line.value(after);
    if (was == is) return Trend::same;
    if (line.good == 0 || within_noise(line, before, after)) return Trend::other;
    return (is > was) == (line.good > 0) ? Trend::better : Trend::worse;
}

// Of events of which fewer are better: square roots of counts by chance differ by less than 1 (Poisson, two standard
// deviations).
Trend trend_of_count(double before, double after) {
    if (before == after) return Trend::same;
    if (std::abs(std::sqrt(after) - std::sqrt(before)) < 1) return Trend::other;
    return after > before ? Trend::worse : Trend::better;
}

}  // namespace

std::optional<Run> run_of(const CaptureIndex& index, const Timeline& timeline, const MemoryBudget& memory,
                          const Stop& stop) {
    const auto times = connection_times(index, memory, stop);
    if (!times) return std::nullopt;
    Run run;
    run.packets = timeline.packets;
    run.bytes = timeline.bytes;
    if (timeline.first && timeline.last && *timeline.last > *timeline.first)
        run.duration = *timeline.last - *timeline.first;
    run.connections = timeline.connections.size() + timeline.retired.connections;
    run.totals = timeline.totals;
    run.judged = timeline.retired.connections == 0 && timeline.left_out.messages == 0 &&
                 timeline.left_out.packets_of_connections == 0;
    for (const Connection& connection : timeline.connections) {
        if (stopped(stop)) return std::nullopt;
        const auto hosts = std::minmax(connection.ends[0].address, connection.ends[1].address);
        const std::pair<Address, Address> key{hosts.first, hosts.second};
        RunPair* pair = nullptr;
        if (const auto found = run.pairs.find(key); found != run.pairs.end()) pair = &found->second;
        else if (run.pairs.size() < kMostRunPairs) pair = &run.pairs[key];
        else ++run.more_pairs;
        for (const Way& way : connection.ways) {
            run.lost += losses_of(way).lost();
            for (const RecoverySum& sum : way.incidents->recoveries) run.stalled = run.stalled + sum.lost;
            if (pair == nullptr) continue;
            pair->bytes += way.all_bytes();
            pair->retransmitted += way.incidents->retransmitted;
        }
        const auto* ways = times->find(connection.uid);
        if (ways == nullptr) continue;
        const LatencySketch both = latencies_of(*ways);
        run.latencies.add(both);
        if (pair != nullptr) pair->latencies.add(both);
        for (const WayTimes& way : *ways) run.slowest = std::max(run.slowest, way.most);
    }
    run.messages = run.latencies.count();
    for (const Finding& finding : timeline.findings) {
        RunFinding& sum = run.findings[std::string(finding.id)];
        sum.severity = finding.severity;
        ++sum.findings;
        sum.count += finding.count;
    }
    return run;
}

std::vector<ComparedFigure> compare_figures(const Run& before, const Run& after) {
    std::vector<ComparedFigure> figures;
    for (const FigureLine& line : kLines) {
        const double was = line.value(before), is = line.value(after);
        figures.push_back({std::string(line.name), line.text(was), line.text(is), change_words(was, is),
                           trend_of(line, before, after)});
    }
    return figures;
}

std::vector<ComparedFinding> compare_findings(const Run& before, const Run& after) {
    std::map<std::string, ComparedFinding> all;
    for (const auto& [id, sum] : before.findings) all[id] = {id, sum.severity, sum.count, 0, {}, Trend::same};
    for (const auto& [id, sum] : after.findings) {
        ComparedFinding& one = all[id];
        one.id = id;
        one.severity = sum.severity;
        one.after = sum.count;
    }
    std::vector<ComparedFinding> found;
    for (auto& [id, one] : all) {
        const auto was = static_cast<double>(one.before), is = static_cast<double>(one.after);
        one.change = change_words(was, is);
        one.trend = trend_of_count(was, is);
        // That it happens at all, or no more, is a change however seldom that is.
        if (was == 0) one.trend = Trend::worse;
        if (is == 0) one.trend = Trend::better;
        found.push_back(std::move(one));
    }
    std::ranges::stable_sort(found, [](const ComparedFinding& a, const ComparedFinding& b) {
        const auto rank = [](const ComparedFinding& one) {
            return one.trend == Trend::worse ? 0 : one.trend == Trend::better ? 1 : 2;
        };
        return std::pair(rank(a), -static_cast<int>(a.severity)) < std::pair(rank(b), -static_cast<int>(b.severity));
    });
    return found;
}

}  // namespace qps::transport::series
