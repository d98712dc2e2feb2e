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

TextbookVerdict verdict_on(double faster, double slower, double drift) {
    const double noise = std::max(std::min(faster, slower) * kSamePlace, drift);
    if (std::abs(slower - faster) <= noise) return TextbookVerdict::no_difference;
    return slower > faster ? TextbookVerdict::holds : TextbookVerdict::fails;
}

}  // namespace

std::vector<TextbookComparison> compared_with_textbooks(std::span<const PingpongRow> rows) {
    std::vector<TextbookComparison> all;
    for (std::size_t rule = 0; rule < kTextbookRules.size(); ++rule)
        for (std::size_t faster = 0; faster < rows.size(); ++faster) {
            if (kPingpongModes[rows[faster].mode].name != kTextbookRules[rule].faster) continue;
            for (std::size_t slower = 0; slower < rows.size(); ++slower) {
                const PingpongRow& other = rows[slower];
                if (kPingpongModes[other.mode].name != kTextbookRules[rule].slower || other.size != rows[faster].size) continue;
                const auto cost = cost_of(rows[faster]);
                const auto others = cost_of(other);
                if (!cost || !others) continue;
                const double drift = nanoseconds_of(std::max(rows[faster].drift, other.drift));
                all.push_back({.rule = rule,
                               .faster = faster,
                               .slower = slower,
                               .verdict = overlap(rows[faster], other) ? TextbookVerdict::no_difference : verdict_on(*cost, *others, drift)});
            }
        }
    return all;
}

double ratio_of(const TextbookComparison& comparison, std::span<const PingpongRow> rows) {
    const double faster = cost_of(rows[comparison.faster]).value_or(0);
    return faster > 0 ? cost_of(rows[comparison.slower]).value_or(0) / faster : 1;
}

std::string figure_of(const PingpongRow& row) { return row.poured ? rate_text(row.bits_per_second()) : duration_text(row.median); }

std::string sentence_of(const TextbookComparison& comparison, std::span<const PingpongRow> rows) {
    const PingpongRow& faster = rows[comparison.faster];
    const PingpongRow& slower = rows[comparison.slower];
    return fmt::format("{} was not slower than {} here: {} and {}", kPingpongModes[slower.mode].name, kPingpongModes[faster.mode].name,
                       figure_of(slower), figure_of(faster));
}

}  // namespace qps::transport::live
