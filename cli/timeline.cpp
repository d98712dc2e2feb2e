// `timeline`: counters per interval, written as time goes on. An interval in which nothing happened has no row. A
// packet without a time, or of one before the interval that is being counted, belongs to that one: rows are in the
// order of time.
//
// Without --interval the rows wait for the end of the capture, in intervals that grow with its length; then they are
// put together to some 20 to 60: a row for each moment where there are fewer. A capture that does not end by itself has
// intervals of a second.
#include <cli/analyzing.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/intervals.hpp>
#include <cli/message.hpp>
#include <cli/options/choice.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/quantity.hpp>
#include <cli/sheet.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

constexpr std::size_t kHeldRows = 4096;        // rows that wait for the scale of the bars
constexpr std::int64_t kShortest = 1;          // ns: the interval to begin with, where none was asked for
constexpr std::int64_t kMicrosecond = 1'000;   // ns
constexpr std::int64_t kLive = 1'000'000'000;  // ns: while packets arrive
// A screen: less than this has the next longer interval in steps of 1, 2, 5, so that three times as many are the most
// (of 5 and 2, what lies in one of the longer lies in three of the shorter).
constexpr std::int64_t kFewestRows = 20;
constexpr std::size_t kMostFilters = 64;  // a bit each

struct TimelineOptions {
    ListingOptions listing;
    std::optional<Duration> interval;  // nothing: chosen by the length of the capture
    std::vector<std::string> columns;  // filters

    void add(OptionTable& table) {
        listing.begin(table);
        table.under(headings::kOutput);
        table.add("--interval", "TIME",
                  into(interval, [](const std::string& text) { return read_time(text, "interval"); }),
                  "Use intervals of this length: 100us, 1s, ... (default: one that gives 20 to 60 rows)");
        table
            .add("-e,--column", "FILTER", columns,
                 "Count the packets that match this display filter, in a column of its own")
            .each();
        listing.known(table);
        listing.output.add_format(table);
        listing.end(table);
    }
};

class IntervalRows {
public:
    IntervalRows(const TimelineOptions& options, Output& output)
        : interval_(options.interval ? std::to_underlying(*options.interval) : kShortest),
          settled_(options.interval.has_value()),
          filters_(options.columns.size()),
          sheet_(options.listing.output, output, "intervals", interval_columns(), heads_of(options.columns)) {}

    // Of the capture, whatever of it is shown: times are then the same in every table.
    void begin_at(const Observation& observation) {
        if (!start_ && observation.has_time) start_ = observation.time;
    }

    // `matches`: a bit for each filter of --column.
    void take(const Observation& observation, const PacketRecord& record, std::uint64_t matches = 0) {
        if (!now_) now_.emplace();
        if (observation.has_time) go_on_to(observation.time);
        count_packet(*now_, observation, record);
        if (matches != 0) now_->matches.resize(filters_);
        for (std::size_t i = 0; i < now_->matches.size(); ++i) now_->matches[i] += matches >> i & 1U;
    }

    // Everything but the interval that is still being counted.
    void show() {
        for (const Interval& interval : held_) most_ = std::max(most_, interval.bytes);
        for (const Interval& interval : held_) write(interval);
        held_.clear();
    }
    void show_now() {
        if (!settled_) {
            while (interval_ < kLive) lengthen(interval_ * 10);
            settled_ = true;
        }
        show();
        sheet_.show_now();
    }
    void end() {
        if (!start_) start_ = Instant{};  // no packet had a time
        if (now_) held_.push_back(*now_);
        now_.reset();
        if (!settled_) settle();
        show();
        sheet_.end();
    }

private:
    static std::vector<SheetHead> heads_of(std::span<const std::string> filters) {
        std::vector<SheetHead> heads;
        for (const std::string& filter : filters) heads.push_back({filter, filter, Side::right});
        return heads;
    }
    void go_on_to(Instant time) {
        const Instant begins = beginning(time);
        if (!timed_) now_->start = begins;
        timed_ = true;
        if (now_->start >= begins) return;
        held_.push_back(*now_);
        now_.emplace().start = begins;
        if (held_.size() < kHeldRows) return;
        if (settled_) return show();
        while (held_.size() > kHeldRows / 2) lengthen(interval_ * 10);
    }
    // To a multiple of what the interval was.
    void lengthen(std::int64_t interval) {
        interval_ = interval;
        if (now_) held_.push_back(*now_);
        std::vector<Interval> before = std::exchange(held_, {});
        for (Interval& one : before) {
            one.start = beginning(one.start);
            if (!held_.empty() && held_.back().start >= one.start) held_.back().add(one);
            else held_.push_back(one);
        }
        if (!now_) return;
        now_ = held_.back();
        held_.pop_back();
    }
    // The longest interval, in steps of 1, 2, 5, that has enough rows; or as many as there are moments, where there are
    // fewer.
    void settle() {
        const std::int64_t enough = std::min(kFewestRows, rows(interval_));
        const std::int64_t most =
            held_.empty() ? 0 : std::max(std::to_underlying(held_.back().start - *start_), kMicrosecond);
        std::int64_t longest = interval_;
        for (std::int64_t base = interval_;; base *= 10) {
            for (const std::int64_t step : {1, 2, 5})
                if (rows(base * step) >= enough) longest = base * step;
            if (base > most / 10) break;  // a longer one has a row, and may be no number
        }
        lengthen(longest);
    }
    // Those with packets.
    [[nodiscard]] std::int64_t rows(std::int64_t interval) const {
        std::int64_t count = 0, last = -1;
        for (const Interval& one : held_)
            if (const std::int64_t number = std::to_underlying(one.start - *start_) / interval;
                std::exchange(last, number) != number)
                ++count;
        return count;
    }
    // Intervals are counted from the first packet of the capture on.
    [[nodiscard]] Instant beginning(Instant time) const {
        if (!start_) return time;  // no packet had one
        const std::int64_t since = std::to_underlying(time - *start_);
        if (since < 0) return *start_;
        return *start_ + Duration{since / interval_ * interval_};
    }
    void write(const Interval& interval) {
        const Instant due = last_ ? *last_ + Duration{interval_} : interval.start;
        if (due < interval.start)
            sheet_.remark(fmt::format("  ... {} without packets", duration_text(interval.start - due)));
        last_ = interval.start;
        const bool trouble =
            interval.retransmitted + interval.sequence_naks + interval.rnr_naks + interval.fatal_naks != 0;
        std::vector<Cell> more;
        for (std::size_t i = 0; i < filters_; ++i)
            more.push_back(number(i < interval.matches.size() ? interval.matches[i] : 0));
        sheet_.add(interval_columns(), IntervalRow{interval, Duration{interval_}, *start_, most_},
                   trouble ? Tone::warning : Tone::plain, more);
    }

    std::int64_t interval_;
    bool settled_;  // the interval stays as it is
    std::size_t filters_;
    Sheet sheet_;
    std::optional<Instant> start_;
    std::optional<Interval> now_;
    bool timed_ = false;  // its start is known
    std::vector<Interval> held_;
    std::optional<Instant> last_;
    std::uint64_t most_ = 0;
};

// The filters of --column: of single packets, since they are matched where those are decoded.
std::optional<std::vector<Filter>> counted_filters(const std::vector<std::string>& columns) {
    if (columns.size() > kMostFilters) {
        say("qpscope: too many --column ({}): expected at most {}\n", columns.size(), kMostFilters);
        return std::nullopt;
    }
    std::vector<Filter> all;
    for (const std::string& text : columns) {
        auto filter = Filter::compile(text);
        if (!filter) {
            say("qpscope: invalid display filter of --column:\n{}\n", explain(text, filter.error()));
            return std::nullopt;
        }
        if (filter->needs_annotation() || filter->needs_whole_capture()) {
            say("qpscope: --column counts packets by what is in them: '{}' needs other packets too\n", text);
            return std::nullopt;
        }
        all.push_back(std::move(*filter));
    }
    return all;
}

// What matches, of the packets that each slot holds.
class Matched {
public:
    explicit Matched(std::vector<Filter> filters) : filters_(std::move(filters)) {}
    void listen(Listening& listening) {
        listening.slots = [this](std::size_t slots) { matches_.resize(slots); };
        listening.begin = [this](std::size_t slot) { matches_[slot].clear(); };
        listening.each = [this](std::size_t slot, const Packet& packet) {
            std::uint64_t matches = 0;
            for (std::size_t i = 0; i < filters_.size(); ++i)
                matches |= std::uint64_t{filters_[i].matches(packet)} << i;
            matches_[slot].push_back(matches);
        };
    }
    [[nodiscard]] std::uint64_t of(std::size_t slot, std::size_t place) const { return matches_[slot][place]; }

private:
    std::vector<Filter> filters_;
    std::vector<std::vector<std::uint64_t>> matches_;
};

ExitCode run_timeline(const TimelineOptions& options) {
    const auto& [reading, shown] = options.listing;
    const auto filter = compile_filter(reading.filter, FilterSets::taken);
    auto counted = counted_filters(options.columns);
    if (!filter || !counted) return ExitCode::usage;
    Output output(shown.path, reading.input.files);
    if (!output.ok()) return finish(output);
    std::optional<IntervalRows> rows;
    const auto begin = [&]() -> IntervalRows& { return rows ? *rows : rows.emplace(options, output); };
    const auto count = [&](const Observation& observation, const PacketRecord& record, std::uint64_t matches) {
        begin().begin_at(observation);
        if (wanted(reading.analysis, record.connection)) begin().take(observation, record, matches);
    };
    Matched matched(std::move(*counted));
    Listening listening{.pause = [&] { begin().show_now(); },
                        .names_connections = !reading.analysis.connections.empty()};
    if (options.columns.empty()) {
        listening.packet = [&](const Observation& observation, const PacketRecord& record) {
            count(observation, record, 0);
        };
    } else {
        matched.listen(listening);
        listening.placed = [&](std::size_t slot, std::size_t place, const Observation& observation,
                               const PacketRecord& record) { count(observation, record, matched.of(slot, place)); };
    }
    const Analyzed analyzed = analyze(reading, *filter, output, listening);
    if (analyzed.any) begin().end();
    return finish(reading.analysis, analyzed, output);
}

}  // namespace

const Command kTimelineCommand{
    "timeline", kAnalyse, "Count per interval: bytes, retransmissions, NAKs, CE, CNPs, pauses",
    "  qpscope timeline trace.pcap\n  qpscope timeline --interval 100us -f csv -C 3 trace.pcap > rate.csv\n"
    "  qpscope timeline -e 'udp.srcport == 49152' -e 'ip.dsfield.ecn == 3' trace.pcap    # a column for each filter",
    prepared<TimelineOptions, run_timeline>};

}  // namespace qps::cli
