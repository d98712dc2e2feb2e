// `series`: what the pictures of the window are drawn from, as rows: where the time of messages went, where packets
// were lost, what several hosts send to one, who waited for whom, and which connections suffered when.
//
// Waterfall, incast and heat map need the packets of the whole capture: of each a row of an index is kept (32 bytes),
// within Beside::rows of the memory; what there is no room for is said.
#include <cli/analyzing.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/message.hpp>
#include <cli/options/choice.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/quantity.hpp>
#include <cli/sheet.hpp>
#include <transport-replay/index/kept_rows.hpp>
#include <transport-replay/model/memory_amount.hpp>
#include <transport-replay/model/memory_beside.hpp>
#include <transport-replay/report/collectives.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/series/connection_heat.hpp>
#include <transport-replay/series/incast.hpp>
#include <transport-replay/series/loss_places.hpp>
#include <transport-replay/series/waterfall.hpp>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

enum class SeriesName : std::uint8_t { waterfall, losses, incast, ranks, heat_map };
constexpr std::array kSeriesNames{NamedValue{"waterfall", SeriesName::waterfall},
                                  NamedValue{"losses", SeriesName::losses}, NamedValue{"incast", SeriesName::incast},
                                  NamedValue{"ranks", SeriesName::ranks}, NamedValue{"heat-map", SeriesName::heat_map}};
using series::HeatOf;
constexpr std::array kMeasureNames{NamedValue{"retransmissions", HeatOf::retransmissions},
                                   NamedValue{"naks", HeatOf::naks}, NamedValue{"congestion", HeatOf::congestion},
                                   NamedValue{"latency", HeatOf::latency}, NamedValue{"bytes", HeatOf::bytes}};
static_assert(kMeasureNames.size() == series::kHeatNames.size());

struct SeriesOptions {
    SeriesName name{};
    ListingOptions listing;
    HeatOf measure = HeatOf::retransmissions;  // of heat-map
    std::optional<Duration> interval;          // of incast and heat-map; nothing: some 60 of the capture
    std::optional<std::uint64_t> slowest;      // of waterfall: only so many messages, those that took longest

    void add(OptionTable& table) {
        table
            .add(
                "name", "NAME", [this](const std::string& text) { take_choice("series", text, name, kSeriesNames); },
                "Series: waterfall, losses, incast, ranks or heat-map")
            .needed();  // before the files: it is the first word
        listing.begin(table);
        table.under(headings::kOutput);
        table.add(
            "--interval", "TIME", into(interval, [](const std::string& text) { return read_time(text, "interval"); }),
            "Of incast and heat-map: sum up intervals of this length: 10us, 1ms, ... (default: some 60 of the capture)");
        table.add(
            "--of", "WHAT", [this](const std::string& text) { take_choice("measure", text, measure, kMeasureNames); },
            "Of heat-map: retransmissions (default), naks, congestion, latency or bytes");
        table.add("--slowest", "N", slowest, "Of waterfall: only the N messages that took longest, slowest first");
        listing.known(table);
        listing.output.add_format(table);
        listing.end(table);
    }
};

// Since the capture began, as tables of people have it.
std::string since(Instant time, Instant start) { return seconds_text(time - start); }
std::string unless_zero(std::uint64_t count) { return count == 0 ? "" : std::to_string(count); }

// Waterfall: a row for each part of a message.
struct PartRow {
    const MessageRow& message;
    std::uint64_t number = 0;  // of the message, as `messages` counts them
    const Connection* connection = nullptr;
    const series::PartSpan& part;
    Instant start{};  // of the capture
};
using PartColumn = TableColumn<PartRow>;
std::string end_text(const PartRow& row, End end) {
    return row.connection == nullptr ? std::string() : text(row.connection->end(end));
}
Cell end_cell(const PartRow& row, End end) {
    return row.connection == nullptr ? Cell{} : text_cell(text(row.connection->end(end)));
}
constexpr std::array kPartColumns{
    PartColumn{"message", "message", Side::right, [](const PartRow& row) { return number(row.number); }},
    PartColumn{"connection", "#", Side::right, [](const PartRow& row) { return number(row.message.connection()); }},
    PartColumn{"from", "from", Side::left, [](const PartRow& row) { return end_cell(row, row.message.requester()); },
               [](const PartRow& row) { return end_text(row, row.message.requester()); }},
    PartColumn{"to", "to", Side::left, [](const PartRow& row) { return end_cell(row, other(row.message.requester())); },
               [](const PartRow& row) { return end_text(row, other(row.message.requester())); }},
    PartColumn{
        "kind", "kind", Side::left,
        [](const PartRow& row) { return text_cell(kMessageKindNames[static_cast<std::size_t>(row.message.kind())]); }},
    PartColumn{"bytes", "bytes", Side::right, [](const PartRow& row) { return number(row.message.bytes()); }},
    PartColumn{"part", "part", Side::left,
               [](const PartRow& row) {
                   return text_cell(series::kMessagePartNames[static_cast<std::size_t>(row.part.part)]);
               }},
    PartColumn{"start_ns", "time", Side::right, [](const PartRow& row) { return number(row.part.from); },
               [](const PartRow& row) { return since(row.part.from, row.start); }},
    PartColumn{"duration_ns", "took", Side::right,
               [](const PartRow& row) { return number(row.part.to - row.part.from); },
               [](const PartRow& row) { return duration_text(row.part.to - row.part.from); }},
    PartColumn{"packet", "packet", Side::right, [](const PartRow& row) { return number(row.part.frame); }},
};

void write_waterfall(const SeriesOptions& options, const KeptRows& kept, const Timeline& timeline, Output& output) {
    series::Scope scope;
    for (const ConnectionId connection : options.listing.reading.analysis.connections) scope.add(connection);
    const auto all = series::waterfall(kept.index(), scope);
    const series::Range whole{Instant{std::numeric_limits<std::int64_t>::min()},
                              Instant{std::numeric_limits<std::int64_t>::max()}};
    const auto chosen =
        all->choose(whole, options.slowest ? series::WaterfallOrder::latency : series::WaterfallOrder::time,
                    static_cast<std::size_t>(std::min<std::uint64_t>(options.slowest.value_or(UINT64_MAX), SIZE_MAX)));
    Sheet sheet(options.listing.output, output, "parts", std::span<const PartColumn>(kPartColumns));
    for (const auto& extent : chosen.extents) {
        const series::WaterfallRow row = all->row(kept.index(), extent);
        const MessageRow& message = kept.index().messages[extent.message];
        for (const series::PartSpan& part : row.parts)
            sheet.add(std::span<const PartColumn>(kPartColumns),
                      PartRow{message, extent.message + 1, timeline.find(message.connection()), part,
                              kept.start().value_or(Instant{})},
                      part.part == series::MessagePart::wait || part.part == series::MessagePart::retransmission
                          ? Tone::warning
                          : Tone::plain);
    }
    sheet.end();
    if (chosen.extents.empty()) report_none(options.listing.output.format, "messages with a time");
}

// Losses: a row for each pair of hosts and direction.
using series::LossRow;
using LossColumn = TableColumn<LossRow>;
template <auto Stretch, auto Count> Cell loss_cell(const LossRow& row) { return number(row.*Stretch.*Count); }
template <auto Stretch, auto Count> std::string loss_text(const LossRow& row) {
    return unless_zero(row.*Stretch.*Count);
}
using series::StretchCounts;
constexpr auto kBefore = &LossRow::before_tap;
constexpr auto kBehind = &LossRow::behind_tap;
constexpr std::array kLossColumns{
    LossColumn{"from", "from", Side::left, [](const LossRow& row) { return text_cell(text(row.from)); }},
    LossColumn{"to", "to", Side::left, [](const LossRow& row) { return text_cell(text(row.to)); }},
    LossColumn{"connections", "conns", Side::right, [](const LossRow& row) { return number(row.connections); }},
    LossColumn{"packets", "packets", Side::right, [](const LossRow& row) { return number(row.packets); }},
    LossColumn{"lost_before_tap", "lost before tap", Side::right, loss_cell<kBefore, &StretchCounts::lost>,
               loss_text<kBefore, &StretchCounts::lost>},
    LossColumn{"corrupt_before_tap", "corrupt", Side::right, loss_cell<kBefore, &StretchCounts::corrupt>,
               loss_text<kBefore, &StretchCounts::corrupt>},
    LossColumn{"late_before_tap", "late", Side::right, loss_cell<kBefore, &StretchCounts::reordered>,
               loss_text<kBefore, &StretchCounts::reordered>},
    LossColumn{"ce_before_tap", "CE", Side::right, loss_cell<kBefore, &StretchCounts::marked>,
               loss_text<kBefore, &StretchCounts::marked>},
    LossColumn{"lost_behind_tap", "lost behind tap", Side::right, loss_cell<kBehind, &StretchCounts::lost>,
               loss_text<kBehind, &StretchCounts::lost>},
    LossColumn{"late_behind_tap", "late behind", Side::right, loss_cell<kBehind, &StretchCounts::reordered>,
               loss_text<kBehind, &StretchCounts::reordered>},
    LossColumn{"undecided", "undecided", Side::right, [](const LossRow& row) { return number(row.undecided); },
               [](const LossRow& row) { return unless_zero(row.undecided); }},
    LossColumn{"missing_in_capture", "capture lacks", Side::right,
               [](const LossRow& row) { return number(row.by_capture); },
               [](const LossRow& row) { return unless_zero(row.by_capture); }},
    LossColumn{"worst_connection", "worst #", Side::right, [](const LossRow& row) { return number(row.worst); }},
};

void write_losses(const SeriesOptions& options, const Timeline& timeline, Output& output) {
    const series::LossPlaces places = series::loss_places(timeline);
    Sheet sheet(options.listing.output, output, "pairs", std::span<const LossColumn>(kLossColumns));
    for (const LossRow& row : places.rows)
        sheet.add(std::span<const LossColumn>(kLossColumns), row, row.harm() != 0 ? Tone::warning : Tone::plain);
    sheet.end();
    if (places.rows.empty())
        report_none(options.listing.output.format, "packets that were lost, late, corrupt or marked");
    if (places.left_out != 0)
        remark("qpscope: the {} with least of it are left out\n", counted(places.left_out, "pair"));
}

// Incast: a row for each receiver, interval and sender.
struct IncastRow {
    const Address& receiver;
    const Address* sender = nullptr;  // null: all the others
    std::size_t others = 0;
    series::Throughput::Bar bar;
    Instant start{};  // of the capture
};
using IncastColumn = TableColumn<IncastRow>;
std::string sender_text(const IncastRow& row) {
    return row.sender != nullptr ? text(*row.sender) : counted(row.others, "other");
}
constexpr std::array kIncastColumns{
    IncastColumn{"receiver", "receiver", Side::left,
                 [](const IncastRow& row) { return text_cell(text(row.receiver)); }},
    IncastColumn{"start_ns", "time", Side::right, [](const IncastRow& row) { return number(row.bar.from); },
                 [](const IncastRow& row) { return since(row.bar.from, row.start); }},
    IncastColumn{"length_ns", "", Side::right, [](const IncastRow& row) { return number(row.bar.width); }},
    IncastColumn{"sender", "sender", Side::left, [](const IncastRow& row) { return text_cell(sender_text(row)); }},
    IncastColumn{"bytes", "bytes", Side::right, [](const IncastRow& row) { return number(row.bar.amount.bytes); }},
    IncastColumn{"", "rate", Side::right, [](const IncastRow& row) { return number(row.bar.amount.bytes); },
                 [](const IncastRow& row) {
                     constexpr double kBits = 8;
                     return rate_text(kBits * per_second(row.bar.amount.bytes, row.bar.width));
                 }},
    IncastColumn{"ce_marked", "CE", Side::right, [](const IncastRow& row) { return number(row.bar.amount.marked); },
                 [](const IncastRow& row) { return unless_zero(row.bar.amount.marked); }},
    IncastColumn{"retransmitted_bytes", "retrans", Side::right,
                 [](const IncastRow& row) { return number(row.bar.amount.retransmitted); },
                 [](const IncastRow& row) { return unless_zero(row.bar.amount.retransmitted); }},
};

// Takes as many of the finest bins as come nearest to an interval, else a sixtieth of the whole.
std::size_t fold_of(const series::Throughput& sums, const std::optional<Duration>& interval) {
    constexpr std::size_t kRows = 60;
    if (!interval) return sums.fold_for(sums.range().length(), kRows);
    const std::int64_t width = std::to_underlying(sums.width());
    return static_cast<std::size_t>(std::max<std::int64_t>(1, (std::to_underlying(*interval) + width / 2) / width));
}

void write_incast(const SeriesOptions& options, const KeptRows& kept, const Timeline& timeline, Output& output) {
    Sheet sheet(options.listing.output, output, "intervals", std::span<const IncastColumn>(kIncastColumns));
    const auto whole = series::whole(kept.index());
    const auto receivers = whole ? series::incast_receivers(timeline) : std::vector<series::IncastReceiver>{};
    for (const series::IncastReceiver& receiver : receivers) {
        const auto incast = series::incast(kept.index(), timeline, receiver.address, *whole);
        const auto add = [&](const Address* sender, const series::Throughput& sums) {
            for (const auto& bar : sums.bars(*whole, fold_of(sums, options.interval)))
                if (bar.amount.packets != 0)
                    sheet.add(
                        std::span<const IncastColumn>(kIncastColumns),
                        IncastRow{receiver.address, sender, incast->others, bar, kept.start().value_or(Instant{})},
                        bar.amount.retransmitted != 0 ? Tone::warning : Tone::plain);
        };
        for (const series::IncastSender& sender : incast->senders) add(&sender.address, sender.throughput);
        if (incast->others != 0) add(nullptr, incast->rest);
    }
    sheet.end();
    if (receivers.empty()) report_none(options.listing.output.format, "hosts that two others send data to");
}

// Ranks: a row for each step and rank.
struct RankRow {
    std::size_t group = 0;
    std::size_t step = 0;
    const CollectiveStep& of;
    const CollectiveRank& rank;
    std::size_t place = 0;  // of the rank
    Instant start{};
    [[nodiscard]] std::optional<Instant> began() const {
        return place < of.begun.size() ? of.begun[place] : std::nullopt;
    }
    // For the last one, which has begun by then.
    [[nodiscard]] std::optional<Duration> waited() const {
        const auto last = of.last && *of.last < of.begun.size() ? of.begun[*of.last] : std::nullopt;
        const auto own = began();
        return last && own ? std::optional(std::max(Duration{}, *last - *own)) : std::nullopt;
    }
};
using RankColumn = TableColumn<RankRow>;
constexpr std::array kRankColumns{
    RankColumn{"group", "group", Side::right, [](const RankRow& row) { return number(row.group + 1); }},
    RankColumn{"step", "step", Side::right, [](const RankRow& row) { return number(row.step + 1); }},
    RankColumn{"rank", "", Side::right, [](const RankRow& row) { return number(row.rank.number); }},
    RankColumn{"address", "rank", Side::left, [](const RankRow& row) { return text_cell(text(row.rank.address)); },
               [](const RankRow& row) { return rank_text(row.rank); }},
    RankColumn{"step_start_ns", "time", Side::right, [](const RankRow& row) { return number(row.of.begin); },
               [](const RankRow& row) { return since(row.of.begin, row.start); }},
    RankColumn{"step_duration_ns", "step took", Side::right, [](const RankRow& row) { return number(row.of.length); },
               [](const RankRow& row) { return duration_text(row.of.length); }},
    RankColumn{"began_ns", "began", Side::right, [](const RankRow& row) { return number(row.began()); },
               [](const RankRow& row) { return row.began() ? since(*row.began(), row.start) : std::string(); }},
    RankColumn{"waited_ns", "waited", Side::right, [](const RankRow& row) { return number(row.waited()); },
               [](const RankRow& row) {
                   const auto waited = row.waited();
                   return waited && *waited != Duration{} ? duration_text(*waited) : std::string();
               }},
    RankColumn{"began_last", "", Side::left, [](const RankRow& row) { return Cell{row.of.last == row.place}; }},
    RankColumn{"packet", "packet", Side::right, [](const RankRow& row) { return number(row.of.frame); }},
};

void write_ranks(const SeriesOptions& options, const Timeline& timeline, Output& output) {
    Sheet sheet(options.listing.output, output, "ranks", std::span<const RankColumn>(kRankColumns));
    const auto& groups = timeline.collectives.collectives;
    for (std::size_t group = 0; group < groups.size(); ++group)
        for (std::size_t step = 0; step < groups[group].steps.size(); ++step)
            for (std::size_t rank = 0; rank < groups[group].ranks.size(); ++rank) {
                const RankRow row{group,
                                  step,
                                  groups[group].steps[step],
                                  groups[group].ranks[rank],
                                  rank,
                                  timeline.first.value_or(Instant{})};
                sheet.add(std::span<const RankColumn>(kRankColumns), row,
                          row.of.last == rank ? Tone::warning : Tone::plain);
            }
    sheet.end();
    if (sheet.rows() == 0) report_none(options.listing.output.format, "groups of hosts that work in steps");
}

// Heat map: a row for each connection and interval that had any of it.
struct HeatMapRow {
    const SeriesOptions& options;
    ConnectionId number{};
    const Connection* connection = nullptr;
    series::HeatCell cell;
    Instant from{};
    Duration length{};
    Instant start{};  // of the capture
};
using HeatColumn = TableColumn<HeatMapRow>;
std::string value_text(const HeatMapRow& row) {
    switch (row.options.measure) {
        case HeatOf::latency: return duration_text(Duration{static_cast<std::int64_t>(row.cell.value)});
        case HeatOf::bytes: return bytes_text(row.cell.value);
        default: return grouped(row.cell.value);
    }
}
std::string end_text(const HeatMapRow& row, End end) {
    return row.connection == nullptr ? std::string() : text(row.connection->end(end));
}
constexpr std::array kHeatColumns{
    HeatColumn{"connection", "#", Side::right, [](const HeatMapRow& row) { return number(row.number); }},
    HeatColumn{"end_a", "end a", Side::left, [](const HeatMapRow& row) { return text_cell(end_text(row, End::a)); }},
    HeatColumn{"end_b", "end b", Side::left, [](const HeatMapRow& row) { return text_cell(end_text(row, End::b)); }},
    HeatColumn{"start_ns", "time", Side::right, [](const HeatMapRow& row) { return number(row.from); },
               [](const HeatMapRow& row) { return since(row.from, row.start); }},
    HeatColumn{"length_ns", "length", Side::right, [](const HeatMapRow& row) { return number(row.length); },
               [](const HeatMapRow& row) { return duration_text(row.length); }},
    HeatColumn{"measure", "measure", Side::left,
               [](const HeatMapRow& row) {
                   return text_cell(series::kHeatNames[static_cast<std::size_t>(row.options.measure)]);
               }},
    HeatColumn{"value", "value", Side::right, [](const HeatMapRow& row) { return number(row.cell.value); }, value_text},
    HeatColumn{"packet", "packet", Side::right, [](const HeatMapRow& row) { return number(row.cell.frame); }},
};

void write_heat_map(const SeriesOptions& options, const KeptRows& kept, const Timeline& timeline, Output& output) {
    Sheet sheet(options.listing.output, output, "cells", std::span<const HeatColumn>(kHeatColumns));
    series::ConnectionHeat heat;
    if (const auto whole = series::whole(kept.index())) {
        constexpr std::size_t kColumns = 60;
        const Duration width = options.interval.value_or(series::bin_width(whole->length(), kColumns));
        heat = *series::connection_heat(kept.index(), options.measure, *whole, width);
        if (heat.width > width)
            remark("qpscope: intervals of {}: there are no more than {}\n", duration_text(heat.width),
                   series::kMostHeatBins);
    }
    for (const series::HeatCell& cell : heat.cells) {
        const ConnectionId number = heat.rows[cell.row].connection;
        const Instant from = heat.begin_of(cell.bin);
        sheet.add(
            std::span<const HeatColumn>(kHeatColumns),
            HeatMapRow{options, number, timeline.find(number), cell, from,
                       std::min(heat.begin_of(cell.bin + 1), heat.range.to) - from, kept.start().value_or(Instant{})},
            Tone::plain);
    }
    sheet.end();
    if (heat.cells.empty())
        report_none(options.listing.output.format,
                    options.measure == HeatOf::latency ? "messages with a latency" : "packets with it");
    if (heat.left_out != 0)
        remark("qpscope: the {} with least of it are left out\n", counted(heat.left_out, "connection"));
}

ExitCode run_series(const SeriesOptions& options) {
    ReadingOptions reading = options.listing.reading;
    const auto filter = compile_filter(reading.filter, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(options.listing.output.path, reading.input.files);
    if (!output.ok()) return finish(output);
    const bool keeps = options.name != SeriesName::losses && options.name != SeriesName::ranks;
    KeptRows kept(reading.analysis.memory);
    Listening listening;
    if (keeps) {
        reading.analysis.memory = beside(reading.analysis.memory, bytes_beside(reading.analysis.memory, Beside::rows));
        listening.packet = [&](const Observation& observation, const PacketRecord& record) {
            kept.packet(observation, record);
        };
        listening.message = [&](ConnectionId connection, End requester, const Message& message) {
            kept.message(connection, requester, message);
        };
        listening.again = [&] { kept.again(); };
    }
    const Analyzed analyzed = analyze(reading, *filter, output, listening);
    if (!analyzed.any) return finish(reading.analysis, analyzed, output);
    if (keeps) kept.end(analyzed.timeline.numbers);
    if (kept.left_out() != 0)
        remark("qpscope: {} left out, which the memory has no room for (--memory)\n",
               counted(kept.left_out(), "packet"));
    switch (options.name) {
        case SeriesName::waterfall: write_waterfall(options, kept, analyzed.timeline, output); break;
        case SeriesName::losses: write_losses(options, analyzed.timeline, output); break;
        case SeriesName::incast: write_incast(options, kept, analyzed.timeline, output); break;
        case SeriesName::ranks: write_ranks(options, analyzed.timeline, output); break;
        case SeriesName::heat_map: write_heat_map(options, kept, analyzed.timeline, output); break;
    }
    return worse(say_nothing_seen(reading, analyzed.timeline), finish(reading.analysis, analyzed, output));
}

}  // namespace

const Command kSeriesCommand{
    "series", kAnalyse, "Print what pictures show: where time went, where packets were lost, incast, ranks, heat map",
    "  qpscope series waterfall --slowest 10 trace.pcap    # the parts of the ten slowest messages\n"
    "  qpscope series losses trace.pcap                    # before or behind the tap, for each pair of hosts\n"
    "  qpscope series incast --interval 100us -f csv trace.pcap > senders.csv\n"
    "  qpscope series ranks -f json trace.pcap\n"
    "  qpscope series heat-map --of latency -f csv trace.pcap > latencies.csv",
    prepared<SeriesOptions, run_series>};

}  // namespace qps::cli
