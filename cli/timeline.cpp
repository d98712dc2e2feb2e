// `timeline`: counters per interval, written as time goes on. An interval in which nothing happened has no row. A packet
// without a time, or of one before the interval that is being counted, belongs to that one: rows are in the order of time.
//
// Without --interval the rows wait for the end of the capture, in intervals that grow with its length; then they are put
// together to some 20 to 60. A capture that does not end by itself has intervals of a second.
#include <dissect/headers/infiniband.hpp>
#include <dissect/types.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "analyzing.hpp"
#include "command.hpp"
#include "decoding.hpp"
#include "sheet.hpp"
#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

constexpr std::size_t kHeldRows = 4096;    // rows that wait for the scale of the bars
constexpr std::size_t kBarWidth = 20;  // columns
constexpr std::int64_t kShortest = 1'000;          // ns: the interval to begin with, where none was asked for
constexpr std::int64_t kLive = 1'000'000'000;      // ns: while packets arrive
constexpr std::int64_t kMostRows = 60;             // a screen or two; steps of 1, 2, 5 then leave 24 at least, of a capture that has them

struct Interval {
    Instant start{};
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;          // on the wire
    std::uint64_t payload_bytes = 0;  // each byte that arrives once
    std::uint64_t messages = 0;       // completed
    std::uint64_t retransmitted = 0;
    std::uint64_t sequence_naks = 0;
    std::uint64_t rnr_naks = 0;
    std::uint64_t fatal_naks = 0;
    std::uint64_t ce_marked = 0;
    std::uint64_t cnps = 0;
    std::uint64_t pauses = 0;  // PAUSE and PFC frames

    void add(const Interval& later) {
        constexpr std::array kCounts{&Interval::packets,       &Interval::bytes,     &Interval::payload_bytes, &Interval::messages,
                                     &Interval::retransmitted, &Interval::sequence_naks, &Interval::rnr_naks,  &Interval::fatal_naks,
                                     &Interval::ce_marked,     &Interval::cnps,      &Interval::pauses};
        for (const auto count : kCounts) this->*count += later.*count;
    }
};

struct IntervalRow {
    const Interval& interval;
    Duration length{};
    Instant start{};         // of the capture
    std::uint64_t most = 0;  // bytes of an interval that make a full bar: of the largest so far
};

std::string bar(const IntervalRow& row) {
    if (row.most == 0) return {};
    const auto width = static_cast<double>(row.interval.bytes) * kBarWidth / static_cast<double>(row.most);
    return std::string(std::max<std::size_t>(1, static_cast<std::size_t>(width)), '#');
}

template <std::uint64_t Interval::* Count>
Cell count_of(const IntervalRow& row) {
    return number(row.interval.*Count);
}
// For people: what did not happen takes no ink.
template <std::uint64_t Interval::* Count>
std::string unless_zero(const IntervalRow& row) {
    return row.interval.*Count == 0 ? "" : std::to_string(row.interval.*Count);
}

using Column = TableColumn<IntervalRow>;
constexpr std::array kRowColumns{
    Column{"start_ns", "time", Side::right, [](const IntervalRow& row) { return number(row.interval.start); },
           [](const IntervalRow& row) { return seconds_text(row.interval.start - row.start); }},
    Column{"packets", "packets", Side::right, count_of<&Interval::packets>},
    Column{"bytes", "bytes", Side::right, count_of<&Interval::bytes>},
    Column{"payload_bytes", "payload", Side::right, count_of<&Interval::payload_bytes>},
    Column{"", "rate", Side::right, count_of<&Interval::bytes>,
           [](const IntervalRow& row) {
               constexpr double kBitsPerByte = 8;
               return rate_text(kBitsPerByte * per_second(row.interval.bytes, row.length));
           }},
    Column{"completed_messages", "", Side::right, count_of<&Interval::messages>},
    Column{"retransmitted_packets", "retrans", Side::right, count_of<&Interval::retransmitted>, unless_zero<&Interval::retransmitted>},
    Column{"sequence_naks", "seq NAK", Side::right, count_of<&Interval::sequence_naks>, unless_zero<&Interval::sequence_naks>},
    Column{"rnr_naks", "RNR", Side::right, count_of<&Interval::rnr_naks>, unless_zero<&Interval::rnr_naks>},
    Column{"fatal_naks", "fatal", Side::right, count_of<&Interval::fatal_naks>, unless_zero<&Interval::fatal_naks>},
    Column{"ce_marked", "CE", Side::right, count_of<&Interval::ce_marked>, unless_zero<&Interval::ce_marked>},
    Column{"cnps", "CNP", Side::right, count_of<&Interval::cnps>, unless_zero<&Interval::cnps>},
    Column{"pause_frames", "pause", Side::right, count_of<&Interval::pauses>, unless_zero<&Interval::pauses>},
    Column{"", "throughput", Side::left, count_of<&Interval::bytes>, bar},
};
constexpr std::span<const Column> kColumns = kRowColumns;

void count_answer(Interval& interval, const Observation& observation) {
    if (!observation.acknowledgment) return;
    switch (static_cast<SyndromeType>(observation.acknowledgment->type())) {
        case SyndromeType::rnr_nak: ++interval.rnr_naks; break;
        case SyndromeType::nak: ++(observation.acknowledgment->code() == 0 ? interval.sequence_naks : interval.fatal_naks); break;
        case SyndromeType::ack:
        case SyndromeType::reserved: break;
    }
}

void count_packet(Interval& interval, const Observation& observation, const PacketRecord& record) {
    ++interval.packets;
    interval.bytes += observation.wire_length;
    interval.messages += record.completed;
    if (observation.congestion_experienced) ++interval.ce_marked;
    if (observation.kind == ObservationKind::pause || observation.kind == ObservationKind::pfc) ++interval.pauses;
    if (record.retransmission) ++interval.retransmitted;
    if (observation.kind != ObservationKind::transport) return;
    if (info(observation.opcode).verb == Verb::notify) ++interval.cnps;
    if (record.corrupt || record.mirror_copy) return;
    if (!record.retransmission && !observation.management) interval.payload_bytes += observation.payload_length;
    count_answer(interval, observation);
}

class Rows {
public:
    Rows(const Options& options, Output& output)
        : interval_(options.interval ? std::to_underlying(*options.interval) : kShortest), settled_(options.interval.has_value()), sheet_(options, output, "intervals", kColumns) {}

    // Of the capture, whatever of it is shown: times are then the same in every table.
    void begin_at(const Observation& observation) {
        if (!start_ && observation.has_time) start_ = observation.time;
    }

    void take(const Observation& observation, const PacketRecord& record) {
        if (!now_) now_.emplace();
        if (observation.has_time) go_on_to(observation.time);
        count_packet(*now_, observation, record);
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
    // The shortest interval, in steps of 1, 2, 5, whose rows are few enough.
    void settle() {
        for (std::int64_t base = interval_;; base *= 10)
            for (const std::int64_t step : {1, 2, 5})
                if (rows(base * step) <= kMostRows) return lengthen(base * step);
    }
    // Those with packets.
    [[nodiscard]] std::int64_t rows(std::int64_t interval) const {
        std::int64_t count = 0, last = -1;
        for (const Interval& one : held_)
            if (const std::int64_t number = std::to_underlying(one.start - *start_) / interval; std::exchange(last, number) != number) ++count;
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
        if (due < interval.start) sheet_.remark(fmt::format("  ... {} without packets", duration_text(interval.start - due)));
        last_ = interval.start;
        const bool trouble = interval.retransmitted + interval.sequence_naks + interval.rnr_naks + interval.fatal_naks != 0;
        sheet_.add(kColumns, IntervalRow{interval, Duration{interval_}, *start_, most_}, trouble ? Tone::warning : Tone::plain);
    }

    std::int64_t interval_;
    bool settled_;  // the interval stays as it is
    Sheet sheet_;
    std::optional<Instant> start_;
    std::optional<Interval> now_;
    bool timed_ = false;  // its start is known
    std::vector<Interval> held_;
    std::optional<Instant> last_;
    std::uint64_t most_ = 0;
};

}  // namespace

ExitCode run_timeline(const Options& options) {
    const auto filter = compile_filter(options, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    std::optional<Rows> rows;
    const auto begin = [&]() -> Rows& { return rows ? *rows : rows.emplace(options, output); };
    const auto packet = [&](const Observation& observation, const PacketRecord& record) {
        begin().begin_at(observation);
        if (wanted(options, record.connection)) begin().take(observation, record);
    };
    const Analyzed analyzed = analyze(options, *filter, output, {.packet = packet, .pause = [&] { begin().show_now(); }});
    if (analyzed.any) begin().end();
    return finish(options, analyzed, output);
}

}  // namespace qps::cli
