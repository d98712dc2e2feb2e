#include <dissect/packet/render_value.hpp>
#include <transport-replay/page/collector.hpp>
#include <transport-replay/page/picture.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/ladder_picture.hpp>
#include <transport-replay/report/markup.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace qps::transport::page {

using namespace dissect;

namespace {

constexpr int kColumnWidth = 4;                                    // units of a picture
constexpr int kWidth = static_cast<int>(kColumns) * kColumnWidth;  // 1040

std::string open(int height, std::string_view what) {
    return fmt::format("<figure><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth, height, what);
}

// "01:14:07.839093", of UTC.
std::string clock_text(Instant time) {
    constexpr std::size_t kDate = std::string_view("2026-11-21 ").size(),
                          kClock = std::string_view("01:14:07.839093").size();
    return utc(time).substr(kDate, kClock);
}

// The axis of time; below it seconds since the first packet, and the time of day. Both grow with the letters of a small
// screen.
constexpr int kAxisHeight = 56;
std::string time_axis(const Span& of, int y) {
    std::string out = fmt::format("<path class=\"axis\" d=\"M0 {}H{}\"/>\n", y, kWidth);
    constexpr int kSteps = 4;
    for (int i = 0; i <= kSteps; ++i) {
        const auto at =
            Duration{static_cast<std::int64_t>(static_cast<double>(std::to_underlying(of.length)) * i / kSteps)};
        const int x = kWidth * i / kSteps;
        const std::string_view anchor = i == 0 ? "start" : i == kSteps ? "end" : "middle";
        out += fmt::format(
            "<text class=\"soft\" x=\"{0}\" y=\"{1}\" text-anchor=\"{2}\"><tspan x=\"{0}\" dy=\"1.2em\">{3}</tspan><tspan{4} x=\"{0}\" dy=\"1.2em\">{5}</tspan></text>\n",
            x, y, anchor, duration_text(at), i == 0 || i == kSteps ? "" : " class=\"between\"",
            clock_text(of.first + at));
    }
    return out;
}

// A row of marks where `count` is not 0.
template <class Count>
std::string lane(const std::vector<series::Amount>& columns, std::string_view style, int y, Count count) {
    std::string path;
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (count(columns[i]) != 0)
            path += fmt::format("M{} {}h{}v8h-{}z", static_cast<int>(i) * kColumnWidth, y, kColumnWidth, kColumnWidth);
    return fmt::format("<path class=\"{}\" d=\"{}\"/>\n", style, path);
}

// The cells of a grid that have a bit: those that lie on each other in a column as one piece.
std::string cells(const PsnGrid& grid, std::uint8_t bit) {
    std::string path;
    const auto has = [&](std::size_t row, std::size_t column) {
        return (grid.cells[row * kColumns + column] & bit) != 0;
    };
    for (std::size_t column = 0; column < kColumns; ++column)
        for (std::size_t row = 0; row < kPsnRows; ++row) {
            if (!has(row, column)) continue;
            std::size_t top = row;
            while (top + 1 < kPsnRows && has(top + 1, column)) ++top;
            path +=
                fmt::format("M{} {}h4v{}h-4z", column * kColumnWidth, (kPsnRows - 1 - top) * 3, (top - row + 1) * 3);
            row = top;
        }
    return path;
}

std::string acknowledged(const PsnGrid& grid) {
    std::string path;
    std::int64_t so_far = -1;
    for (std::size_t column = 0; column < kColumns; ++column) {
        if (grid.acknowledged[column] <= so_far) continue;
        const auto y = [&](std::int64_t up) {
            return (static_cast<std::int64_t>(kPsnRows) - 1 - up * static_cast<std::int64_t>(kPsnRows) / grid.range) *
                   3;
        };
        const std::size_t x = column * kColumnWidth;
        path += so_far < 0 ? fmt::format("M{} {}", x, y(grid.acknowledged[column]))
                           : fmt::format("H{}V{}", x, y(grid.acknowledged[column]));
        so_far = grid.acknowledged[column];
    }
    return path.empty() ? path : path + fmt::format("H{}", kWidth);
}

}  // namespace

std::string ladder(std::span<const LadderStep> steps) {
    if (steps.empty()) return {};
    const std::string& a = steps.front().packet->source;
    const std::string& b = steps.front().packet->destination;
    std::vector<LadderRow> rows;
    for (const LadderStep& step : steps) {
        const EvidencePacket& packet = *step.packet;
        const bool forth = packet.source == a && packet.destination == b,
                   back = packet.source == b && packet.destination == a;
        rows.push_back({.when = packet.timeless ? std::string() : seconds_text(step.since_start) + " s",
                        .clock = packet.timeless ? std::string() : clock_text(packet.time),
                        .number = std::to_string(std::to_underlying(step.frame)),
                        .way = forth  ? LadderWay::forth
                               : back ? LadderWay::back
                                      : LadderWay::none,
                        .style = packet.retransmission ? "again" : "",
                        .text = packet.line});
    }
    return "<figure class=\"ladder\">" + ladder_picture(a, b, rows, "packets that prove it") +
           "<figcaption>Seconds since the first packet, UTC, frame, packet; <b class=\"again\">retransmissions</b>.</figcaption></figure>\n";
}

std::string throughput(const std::vector<series::Amount>& columns, const Span& of) {
    std::uint64_t most = 1;
    for (const series::Amount& each : columns) most = std::max(most, each.bytes);
    constexpr int kHeight = 120;
    const auto bars = [&](std::uint64_t series::Amount::* count) {
        std::string path;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (columns[i].*count == 0) continue;
            const int height = std::max(
                1, static_cast<int>(static_cast<double>(columns[i].*count) / static_cast<double>(most) * kHeight));
            path += fmt::format("M{} {}h{}v{}h-{}z", static_cast<int>(i) * kColumnWidth, kHeight - height, kColumnWidth,
                                height, kColumnWidth);
        }
        return path;
    };
    std::string out = open(kHeight + 48 + kAxisHeight, "throughput over time");
    out += fmt::format("<path class=\"data\" d=\"{}\"/>\n<path class=\"again\" d=\"{}\"/>\n",
                       bars(&series::Amount::bytes), bars(&series::Amount::retransmitted));
    out += lane(columns, "mark", kHeight + 6, [](const series::Amount& each) { return each.naks + each.rnr_naks; });
    out += lane(columns, "reply", kHeight + 18, [](const series::Amount& each) { return each.marked; });
    out += lane(columns, "cnp", kHeight + 30, [](const series::Amount& each) { return each.cnps; });
    out += time_axis(of, kHeight + 48);
    constexpr double kBits = 8, kNanoseconds = 1e9;
    const double seconds =
        static_cast<double>(std::to_underlying(of.length)) / kNanoseconds / static_cast<double>(columns.size());
    return out +
           fmt::format(
               "</svg><figcaption>On the wire, {} at most (mean of {}), from {} on; <b class=\"again\">retransmitted</b>. Rows below: "
               "<b class=\"mark\">NAKs</b>, <b class=\"reply\">CE marks</b>, <b class=\"cnp\">CNPs</b>.</figcaption></figure>\n",
               seconds > 0 ? rate_text(kBits * static_cast<double>(most) / seconds) : bytes_text(most),
               duration_text(Duration{static_cast<std::int64_t>(seconds * kNanoseconds)}), utc(of.first));
}

std::string latency(const std::vector<LatencyColumn>& columns, const Span& of) {
    std::int64_t most = 0, least = kLongestTime;
    for (const LatencyColumn& each : columns) {
        if (each.count == 0) continue;
        most = std::max(most, each.most);
        least = std::min(least, std::max<std::int64_t>(1, each.percentile(50)));
    }
    if (least == kLongestTime) return {};
    constexpr int kHeight = 120;
    const double low = std::floor(std::log10(static_cast<double>(least))),
                 high = std::max(low + 1, std::ceil(std::log10(static_cast<double>(std::max<std::int64_t>(most, 1)))));
    const auto y_of = [&](std::int64_t took) {
        return kHeight - static_cast<int>((std::log10(static_cast<double>(std::max<std::int64_t>(took, 1))) - low) /
                                          (high - low) * kHeight);
    };
    std::string out = open(kHeight + 12 + kAxisHeight, "latency of messages over time");
    for (int power = static_cast<int>(low); power <= static_cast<int>(high); ++power) {
        const auto value = static_cast<std::int64_t>(std::pow(10.0, power));
        out += fmt::format(
            "<path class=\"axis\" d=\"M0 {0}H{1}\"/><text class=\"soft\" x=\"{1}\" y=\"{2}\" text-anchor=\"end\">{3}</text>\n",
            y_of(value), kWidth, std::max(y_of(value) - 3, 17), duration_text(Duration{value}));
    }
    const auto dashes = [&](std::string_view style, auto value) {
        std::string path;
        for (std::size_t i = 0; i < columns.size(); ++i)
            if (columns[i].count != 0)
                path += fmt::format("M{} {}h4v2h-4z", static_cast<int>(i) * kColumnWidth,
                                    std::clamp(y_of(value(columns[i])) - 1, 0, kHeight));
        out += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", style, path);
    };
    constexpr double kMedian = 50, kSlow = 99;
    dashes("again", [](const LatencyColumn& each) { return each.most; });
    dashes("mark", [](const LatencyColumn& each) { return each.percentile(kSlow); });
    dashes("data", [](const LatencyColumn& each) { return each.percentile(kMedian); });
    out += time_axis(of, kHeight + 12);
    return out +
           "</svg><figcaption>Latency of messages that were answered: <b class=\"data\">median</b>, <b class=\"mark\">99 %</b>, "
           "<b class=\"again\">longest</b>, by when they ended.</figcaption></figure>\n";
}

std::string psns(const PsnGrid& grid, const Span& of) {
    constexpr int kHeight = static_cast<int>(kPsnRows) * 3;
    std::string out = open(kHeight + 6 + kAxisHeight, "PSNs over time");
    out += fmt::format(
        "<path class=\"data\" d=\"{}\"/>\n<path class=\"again\" d=\"{}\"/>\n<path class=\"cnp\" d=\"{}\"/>\n<path class=\"acked\" d=\"{}\"/>\n",
        cells(grid, 1), cells(grid, 2), cells(grid, 4), acknowledged(grid));
    out += time_axis(of, kHeight + 6);
    return out +
           fmt::format(
               "</svg><figcaption>PSN {} (below) to {}: <b class=\"data\">sent</b>, <b class=\"again\">retransmitted</b>, <b class=\"cnp\">NAKed</b>, "
               "<b class=\"acked\">acknowledged</b>.</figcaption></figure>\n",
               grid.first & Psn::kMask, (grid.first + grid.range - 1) & Psn::kMask);
}

}  // namespace qps::transport::page
