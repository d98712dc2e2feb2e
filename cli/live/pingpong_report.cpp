#include <cli/live/pingpong_report.hpp>
#include <cli/sheet.hpp>
#include <transport-replay/live/pingpong/textbook.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::cli {

using namespace transport;
using namespace transport::live;
using dissect::Duration;

namespace {

// User and kernel time are sampled by most systems, at each tick of a clock: 1 to 10 ms. So much has some ten samples
// at the least.
constexpr Duration kCoarse{100'000'000};

struct ShownRow {
    const PingpongRow& row;
    std::size_t place = 1;
    std::vector<std::string> ties;
};
using Column = TableColumn<ShownRow>;

std::string_view name_of(const PingpongRow& row) { return kPingpongModes[row.mode].name; }
std::string percent(std::optional<double> share) { return share ? fmt::format("{:.0f} %", *share * 100) : "-"; }

// None where the row pours, where nothing came back, and where too little did.
std::optional<Duration> measured(const PingpongRow& row, std::optional<Duration> time) {
    return row.poured || row.round_trips == 0 ? std::nullopt : time;
}
template <auto Member> Cell time_of(const ShownRow& shown) { return number(measured(shown.row, shown.row.*Member)); }
template <auto Member> std::string time_text(const ShownRow& shown) {
    const auto time = measured(shown.row, shown.row.*Member);
    return time ? duration_text(*time) : "-";
}
template <ProcessorUse PingpongRow::* Side> Cell user_time(const ShownRow& shown) {
    const ProcessorUse& use = shown.row.*Side;
    return use.kernel ? number(use.worked - *use.kernel) : Cell{};
}
template <ProcessorUse PingpongRow::* Side> Cell kernel_time(const ShownRow& shown) {
    return number((shown.row.*Side).kernel);
}
template <ProcessorUse PingpongRow::* Side> std::string user_text(const ShownRow& shown) {
    return percent((shown.row.*Side).user_share());
}
template <ProcessorUse PingpongRow::* Side> std::string kernel_text(const ShownRow& shown) {
    return percent((shown.row.*Side).kernel_share());
}

std::uint64_t rate_of(const PingpongRow& row) { return static_cast<std::uint64_t>(row.bits_per_second()); }

constexpr std::array kColumns{
    Column{"size_bytes", "bytes", Side::right, [](const ShownRow& shown) { return number(shown.row.size); },
           [](const ShownRow& shown) { return grouped(shown.row.size); }},
    Column{"place", "place", Side::right, [](const ShownRow& shown) { return number(shown.place); }},
    Column{"mode", "mode", Side::left, [](const ShownRow& shown) { return text_cell(name_of(shown.row)); },
           [](const ShownRow& shown) {
               return fmt::format("{}{}", name_of(shown.row), shown.row.interrupted ? " (interrupted)" : "");
           }},
    Column{"round_trips", "rounds", Side::right, [](const ShownRow& shown) { return number(shown.row.round_trips); },
           [](const ShownRow& shown) { return grouped(shown.row.round_trips); }},
    Column{"lost", "", Side::right, [](const ShownRow& shown) { return number(shown.row.lost); }},
    Column{"min_ns", "min", Side::right, time_of<&PingpongRow::least>, time_text<&PingpongRow::least>},
    Column{"p50_ns", "p50", Side::right, time_of<&PingpongRow::median>, time_text<&PingpongRow::median>},
    Column{"p50_low_ns", "", Side::right, time_of<&PingpongRow::median_low>},
    Column{"p50_high_ns", "", Side::right, time_of<&PingpongRow::median_high>},
    Column{"p90_ns", "", Side::right, time_of<&PingpongRow::most_of_ten>},
    Column{"p99_ns", "p99", Side::right, time_of<&PingpongRow::most_of>, time_text<&PingpongRow::most_of>},
    Column{"p99_9_ns", "p99.9", Side::right, time_of<&PingpongRow::most_of_thousand>,
           time_text<&PingpongRow::most_of_thousand>},
    Column{"max_ns", "max", Side::right, time_of<&PingpongRow::longest>, time_text<&PingpongRow::longest>},
    Column{"drift_ns", "", Side::right, [](const ShownRow& shown) { return number(shown.row.drift); }},
    Column{"bits_per_second", "rate", Side::right,
           [](const ShownRow& shown) { return shown.row.poured ? number(rate_of(shown.row)) : Cell{}; },
           [](const ShownRow& shown) {
               return shown.row.poured ? rate_text(shown.row.bits_per_second()) : std::string("-");
           }},
    Column{"duration_ns", "", Side::right, [](const ShownRow& shown) { return number(shown.row.here.lasted); }},
    Column{"user_ns", "user", Side::right, user_time<&PingpongRow::here>, user_text<&PingpongRow::here>},
    Column{"kernel_ns", "sys", Side::right, kernel_time<&PingpongRow::here>, kernel_text<&PingpongRow::here>},
    Column{"peer_duration_ns", "", Side::right, [](const ShownRow& shown) { return number(shown.row.there.lasted); }},
    Column{"peer_user_ns", "peer user", Side::right, user_time<&PingpongRow::there>, user_text<&PingpongRow::there>},
    Column{"peer_kernel_ns", "peer sys", Side::right, kernel_time<&PingpongRow::there>,
           kernel_text<&PingpongRow::there>},
    Column{"interrupted", "", Side::right,
           [](const ShownRow& shown) { return number(shown.row.interrupted ? 1U : 0U); }},
    Column{"ties", "ties with", Side::left,
           [](const ShownRow& shown) { return text_cell(fmt::format("{}", fmt::join(shown.ties, ", "))); }},
};

// By size, in the order in which they were measured, and the best first.
std::vector<ShownRow> in_order(std::span<const PingpongRow> rows) {
    std::vector<std::uint32_t> sizes;
    for (const PingpongRow& row : rows)
        if (std::ranges::find(sizes, row.size) == sizes.end()) sizes.push_back(row.size);
    std::vector<ShownRow> all;
    for (const std::uint32_t size : sizes) {
        std::vector<std::size_t> which;
        std::vector<PingpongRow> of_size;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i].size != size) continue;
            which.push_back(i);
            of_size.push_back(rows[i]);
        }
        for (const PingpongPlace& place : ranked(of_size)) {
            ShownRow shown{.row = rows[which[place.row]], .place = place.place, .ties = {}};
            for (const std::size_t other : place.with) shown.ties.emplace_back(name_of(of_size[other]));
            all.push_back(std::move(shown));
        }
    }
    return all;
}

// "holds: 16.1 us and 31.2 us"; of several sizes how many have which verdict.
std::string verdicts_text(std::span<const TextbookComparison> of_rule, std::span<const PingpongRow> rows) {
    if (of_rule.size() == 1) {
        const TextbookComparison& only = of_rule.front();
        return fmt::format("{}: {} and {}", kTextbookVerdicts[std::to_underlying(only.verdict)],
                           figure_of(rows[only.faster]), figure_of(rows[only.slower]));
    }
    std::string text;
    for (std::size_t verdict = 0; verdict < kTextbookVerdicts.size(); ++verdict) {
        const auto count = std::ranges::count(of_rule, TextbookVerdict{static_cast<std::uint8_t>(verdict)},
                                              &TextbookComparison::verdict);
        if (count > 0)
            text += fmt::format("{}{}: {} of {} sizes", text.empty() ? "" : ", ", kTextbookVerdicts[verdict], count,
                                of_rule.size());
    }
    return text;
}

// The one that is furthest from what it should be; none where all hold, or nobody can tell.
const TextbookComparison* worst_of(std::span<const TextbookComparison> of_rule, std::span<const PingpongRow> rows) {
    const TextbookComparison* worst = nullptr;
    for (const TextbookComparison& each : of_rule)
        if (each.verdict == TextbookVerdict::fails &&
            (worst == nullptr || ratio_of(each, rows) < ratio_of(*worst, rows)))
            worst = &each;
    return worst;
}

// What the rows say of the textbooks: a line for each pair, a sentence for each that does not hold.
std::string textbook_text(std::span<const PingpongRow> rows, bool faults) {
    const auto comparisons = compared_with_textbooks(rows, faults);
    if (comparisons.empty()) return {};
    std::string text = fmt::format("\n{:<21}  {:<31}  {}\n", "textbooks say", "of", "verdict");
    std::string sentences;
    for (auto first = comparisons.begin(); first != comparisons.end();) {
        const auto end = std::find_if(first, comparisons.end(),
                                      [&](const TextbookComparison& each) { return each.rule != first->rule; });
        const std::span<const TextbookComparison> of_rule(first, end);
        const TextbookRule& rule = kTextbookRules[first->rule];
        text += fmt::format("{:<21}  {:<31}  {}\n", rule.rule, fmt::format("{}, {}", rule.faster, rule.slower),
                            verdicts_text(of_rule, rows));
        if (const TextbookComparison* worst = worst_of(of_rule, rows))
            sentences += fmt::format(
                "{}{}\n", sentence_of(*worst, rows),
                of_rule.size() > 1 ? fmt::format(", with {}", counted(rows[worst->faster].size, "byte")) : "");
        first = end;
    }
    return text + (sentences.empty() ? "" : "\n" + sentences);
}

// Rows that poll and were kept from their processor.
std::string polled_text(std::span<const PingpongRow> rows) {
    std::vector<std::string_view> names;
    double least = kWholeProcessor;
    for (const PingpongRow& row : rows) {
        if (!kept_from_processor(row)) continue;
        for (const ProcessorUse& use : {row.here, row.there})
            if (std::to_underlying(use.worked) > 0) least = std::min(least, use.share());
        if (std::ranges::find(names, name_of(row)) == names.end()) names.push_back(name_of(row));
    }
    if (names.empty()) return {};
    return fmt::format(
        "these polled with less than a processor ({:.0f} % at the least), so their times include other programs: {}\n",
        least * 100, fmt::join(names, ", "));
}

std::string remarks_on(std::span<const PingpongRow> rows, bool faults) {
    std::string text;
    if (faults && compared_with_textbooks(rows, true).size() < compared_with_textbooks(rows).size())
        text += "RDMA is not compared with TCP here: --fault is in the way of RDMA alone\n";
    for (const PingpongRow& row : rows)
        if (row.lost > 0)
            text += fmt::format("{} of {}: {} did not come back\n", name_of(row), counted(row.size, "byte"),
                                counted(row.lost, "datagram"));
    text += polled_text(rows);
    const auto is_coarse = [](const PingpongRow& row) {
        return row.here.worked < kCoarse && row.round_trips > 0 && !row.interrupted;
    };
    if (std::ranges::any_of(rows, is_coarse))
        text +=
            "user and sys are sampled by the system's clock: coarse in rows that used less than 100 ms of a processor\n";
    return text.empty() ? text : "\n" + text;
}

// The figure that was wanted, as the last line: the fastest round trip of the smallest size, and the highest rate of
// all.
std::string result_text(std::span<const PingpongRow> rows) {
    const PingpongRow* fastest = nullptr;
    const PingpongRow* most = nullptr;
    for (const PingpongRow& row : rows) {
        if (row.interrupted) continue;
        if (row.poured) {
            if (most == nullptr || rate_of(row) > rate_of(*most)) most = &row;
        } else if (row.round_trips > 0 && (fastest == nullptr || std::pair(row.size, row.median) <
                                                                     std::pair(fastest->size, fastest->median))) {
            fastest = &row;
        }
    }
    std::string text;
    if (fastest != nullptr)
        text = fmt::format("round trip {} ({}, {}, p50)", duration_text(fastest->median), name_of(*fastest),
                           counted(fastest->size, "byte"));
    if (most != nullptr && rate_of(*most) > 0)
        text += fmt::format("{}rate {} ({}, {})", text.empty() ? "" : ", ", rate_text(most->bits_per_second()),
                            name_of(*most), counted(most->size, "byte"));
    return text.empty() ? text : fmt::format("\nresult: {}\n", text);
}

void print_for_people(const OutputOptions& options, const PingpongSettings& settings, const PingpongReport& report,
                      Output& output) {
    output.write(fmt::format("depth {}, {}\n", settings.request.depth,
                             settings.signaled ? "all SENDs signaled" : "some SENDs signaled"));
    Sheet sheet(options, output, "rows", std::span<const Column>(kColumns));
    for (const ShownRow& row : in_order(report.rows)) sheet.add(std::span<const Column>(kColumns), row);
    sheet.end();
    output.write(textbook_text(report.rows, report.faults));
    output.write(remarks_on(report.rows, report.faults));
    output.write(result_text(report.rows));
}

void add_use(Document& document, std::string_view name, const ProcessorUse& use) {
    document.open(name);
    document.add("cpu_ns", static_cast<std::int64_t>(use.worked));
    document.add("duration_ns", static_cast<std::int64_t>(use.lasted));
    document.add("cpu_per_million", static_cast<std::int64_t>(use.share() * 1e6));
    document.add("user_ns", use.kernel ? std::optional(use.worked - *use.kernel) : std::nullopt);
    document.add("kernel_ns", use.kernel);
    document.close();
}

void add_row(Document& document, const ShownRow& shown) {
    const PingpongRow& row = shown.row;
    const auto time = [&](std::string_view name, std::optional<Duration> value) {
        document.add(name, measured(row, value));
    };
    document.open();
    document.add("place", shown.place);
    document.add("mode", name_of(row));
    document.add("size_bytes", row.size);
    document.add_texts("ties", shown.ties);
    document.add("round_trips", row.round_trips);
    document.add("lost", row.lost);
    document.add("interrupted", row.interrupted);
    time("min_ns", row.least);
    time("p50_ns", row.median);
    time("p50_low_ns", row.median_low);
    time("p50_high_ns", row.median_high);
    time("p90_ns", row.most_of_ten);
    time("p99_ns", row.most_of);
    time("p99_9_ns", row.most_of_thousand);
    time("max_ns", row.longest);
    document.add("drift_ns", row.drift);
    document.add("bits_per_second", row.poured ? std::optional(rate_of(row)) : std::nullopt);
    document.open_list("histogram");
    for (const PingpongBucket& bucket : row.histogram) {
        document.open();
        document.add("from_ns", bucket.from);
        document.add("below_ns", bucket.below);
        document.add("count", bucket.count);
        document.close();
    }
    document.close_list();
    add_use(document, "local", row.here);
    add_use(document, "peer", row.there);
    document.close();
}

void add_textbooks(Document& document, std::span<const PingpongRow> rows, bool faults) {
    document.open_list("textbooks");
    for (const TextbookComparison& each : compared_with_textbooks(rows, faults)) {
        const TextbookRule& rule = kTextbookRules[each.rule];
        document.open();
        document.add("rule", rule.rule);
        document.add("faster", rule.faster);
        document.add("slower", rule.slower);
        document.add("size_bytes", rows[each.faster].size);
        document.add("verdict", kTextbookVerdicts[std::to_underlying(each.verdict)]);
        document.add("sentence",
                     each.verdict == TextbookVerdict::fails ? std::optional(sentence_of(each, rows)) : std::nullopt);
        document.close();
    }
    document.close_list();
}

std::string for_programs(OutputFormat format, const PingpongSettings& settings, const PingpongReport& report) {
    std::string text;
    Document document(format, text);
    document.open();
    document.add("schema", kSchema);
    document.add("size_bytes", settings.request.size.value_or(kPingpongBytes));
    document.add("depth", settings.request.depth);
    document.add("signaled", settings.signaled);
    document.add("wrong", report.counts.wrong);
    document.add("failed", report.counts.failed);
    document.open_list("rows");
    for (const ShownRow& row : in_order(report.rows)) add_row(document, row);
    document.close_list();
    document.open_list("left_out");
    for (const PingpongLeftOut& each : report.left_out) {
        document.open();
        document.add("mode", kPingpongModes[each.mode].name);
        document.add("size_bytes", each.size);
        document.add("reason", each.why);
        document.close();
    }
    document.close_list();
    add_textbooks(document, report.rows, report.faults);
    document.close();
    text += '\n';
    return text;
}

}  // namespace

void print_pingpong(const OutputOptions& options, const PingpongSettings& settings, const PingpongReport& report,
                    Output& output) {
    if (options.format == OutputFormat::table) return print_for_people(options, settings, report, output);
    if (!has_rows(options.format)) return output.write(for_programs(options.format, settings, report));
    Sheet sheet(options, output, "rows", std::span<const Column>(kColumns));
    for (const ShownRow& row : in_order(report.rows)) sheet.add(std::span<const Column>(kColumns), row);
    sheet.end();
}

std::vector<std::string> sentences_of(std::span<const PingpongLeftOut> left_out) {
    std::vector<std::pair<std::string, std::vector<std::string_view>>> by_reason;
    for (const PingpongLeftOut& each : left_out) {
        auto found =
            std::ranges::find(by_reason, each.why, &std::pair<std::string, std::vector<std::string_view>>::first);
        if (found == by_reason.end()) found = by_reason.insert(by_reason.end(), {each.why, {}});
        const std::string_view name = kPingpongModes[each.mode].name;
        if (std::ranges::find(found->second, name) == found->second.end()) found->second.push_back(name);
    }
    std::vector<std::string> sentences;
    for (const auto& [why, names] : by_reason)
        sentences.push_back(fmt::format("{} left out: {}", fmt::join(names, ", "), why));
    return sentences;
}

}  // namespace qps::cli
