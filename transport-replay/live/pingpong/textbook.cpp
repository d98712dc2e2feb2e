#include <transport-replay/live/pingpong/textbook.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace qps::transport::live {

namespace {

double nanoseconds_of(dissect::Duration duration) { return static_cast<double>(std::to_underlying(duration)); }

// Of a message: the less, the faster; nothing where nothing was measured.
std::optional<double> cost_of(const PingpongRow& row) {
    if (row.round_trips == 0) return std::nullopt;
    if (!row.poured) return nanoseconds_of(row.median);
    return nanoseconds_of(*row.poured) / static_cast<double>(row.round_trips);
}

// Whether both medians may be the same. A row that pours has one figure, and no doubt of it is known.
bool overlap(const PingpongRow& one, const PingpongRow& other) {
    if (one.poured || other.poured) return false;
    return one.median_low <= other.median_high && other.median_low <= one.median_high;
}

bool drifted(const PingpongRow& row) { return nanoseconds_of(row.drift) > cost_of(row).value_or(0) * kSamePlace; }

bool kept_from_processor(const ProcessorUse& use) {
    return std::to_underlying(use.worked) > 0 && use.share() < kWholeProcessor;
}

TextbookVerdict verdict_on(const PingpongRow& faster, const PingpongRow& slower) {
    if (kept_from_processor(faster) || kept_from_processor(slower)) return TextbookVerdict::kept_from_processor;
    return judged(faster, slower);
}

bool by_system(const PingpongRow& row) { return over_sockets(kPingpongModes[row.mode].way); }

}  // namespace

TextbookVerdict judged(const PingpongRow& faster, const PingpongRow& slower) {
    if (std::min(faster.round_trips, slower.round_trips) < kFewestJudged) return TextbookVerdict::too_few;
    const double one = cost_of(faster).value_or(0), other = cost_of(slower).value_or(0);
    const double difference = std::abs(other - one);
    if (difference <= std::min(one, other) * kSamePlace) return TextbookVerdict::no_difference;
    if (difference <= nanoseconds_of(std::max(faster.drift, slower.drift))) return TextbookVerdict::drifted;
    if (overlap(faster, slower))
        return drifted(faster) || drifted(slower) ? TextbookVerdict::drifted : TextbookVerdict::no_difference;
    return other > one ? TextbookVerdict::holds : TextbookVerdict::fails;
}

bool kept_from_processor(const PingpongRow& row) {
    return kPingpongModes[row.mode].wait == PingpongWait::poll && row.round_trips > 0 &&
           (kept_from_processor(row.here) || kept_from_processor(row.there));
}

std::vector<TextbookComparison> compared_with_textbooks(std::span<const PingpongRow> rows, bool faults) {
    std::vector<TextbookComparison> all;
    for (std::size_t rule = 0; rule < kTextbookRules.size(); ++rule)
        for (std::size_t faster = 0; faster < rows.size(); ++faster) {
            if (kPingpongModes[rows[faster].mode].name != kTextbookRules[rule].faster) continue;
            for (std::size_t slower = 0; slower < rows.size(); ++slower) {
                const PingpongRow& other = rows[slower];
                if (kPingpongModes[other.mode].name != kTextbookRules[rule].slower || other.size != rows[faster].size)
                    continue;
                if (rows[faster].round_trips == 0 || other.round_trips == 0 || rows[faster].interrupted ||
                    other.interrupted)
                    continue;
                if (faults && by_system(rows[faster]) != by_system(other)) continue;
                all.push_back(
                    {.rule = rule, .faster = faster, .slower = slower, .verdict = verdict_on(rows[faster], other)});
            }
        }
    return all;
}

double ratio_of(const TextbookComparison& comparison, std::span<const PingpongRow> rows) {
    const double faster = cost_of(rows[comparison.faster]).value_or(0);
    return faster > 0 ? cost_of(rows[comparison.slower]).value_or(0) / faster : 1;
}

std::string figure_of(const PingpongRow& row) {
    return row.poured ? rate_text(row.bits_per_second()) : duration_text(row.median);
}

std::string sentence_of(const TextbookComparison& comparison, std::span<const PingpongRow> rows) {
    const PingpongRow& faster = rows[comparison.faster];
    const PingpongRow& slower = rows[comparison.slower];
    return fmt::format("{} was faster than {} here: {} and {}", kPingpongModes[slower.mode].name,
                       kPingpongModes[faster.mode].name, figure_of(slower), figure_of(faster));
}

}  // namespace qps::transport::live
