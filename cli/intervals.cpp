#include <cli/intervals.hpp>
#include <dissect/base/types.hpp>
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

constexpr std::size_t kBarWidth = 20;  // columns

std::string bar(const IntervalRow& row) {
    if (row.most == 0) return {};
    const auto width = static_cast<double>(row.interval.bytes) * kBarWidth / static_cast<double>(row.most);
    return std::string(std::max<std::size_t>(1, static_cast<std::size_t>(width)), '#');
}

// Since the beginning of the capture, to the microsecond, or to the nanosecond where rows are closer.
std::string since_start(const IntervalRow& row) {
    constexpr std::int64_t kShown = 1'000;  // ns
    const Duration since = row.interval.start - row.start;
    std::string text = seconds_text(since);
    if (std::to_underlying(row.length) % kShown != 0) text += fmt::format("{:03}", std::to_underlying(since) % kShown);
    return text;
}

template <std::uint64_t Interval::* Count> Cell count_of(const IntervalRow& row) { return number(row.interval.*Count); }
// For people: what did not happen takes no ink.
template <std::uint64_t Interval::* Count> std::string unless_zero(const IntervalRow& row) {
    return row.interval.*Count == 0 ? "" : std::to_string(row.interval.*Count);
}

// Mean of those that ended in the interval.
std::optional<Duration> round_trip(const IntervalRow& row) {
    if (row.interval.round_trips == 0) return std::nullopt;
    return Duration{static_cast<std::int64_t>(row.interval.round_trip_ns / row.interval.round_trips)};
}

using IntervalColumn = TableColumn<IntervalRow>;
constexpr std::array kRowColumns{
    IntervalColumn{"start_ns", "time", Side::right, [](const IntervalRow& row) { return number(row.interval.start); },
                   since_start},
    IntervalColumn{"packets", "packets", Side::right, count_of<&Interval::packets>},
    IntervalColumn{"bytes", "bytes", Side::right, count_of<&Interval::bytes>},
    IntervalColumn{"payload_bytes", "payload", Side::right, count_of<&Interval::payload_bytes>},
    IntervalColumn{"", "rate", Side::right, count_of<&Interval::bytes>,
                   [](const IntervalRow& row) {
                       constexpr double kBits = 8;
                       return rate_text(kBits * per_second(row.interval.bytes, row.length));
                   }},
    IntervalColumn{"completed_messages", "", Side::right, count_of<&Interval::messages>},
    IntervalColumn{"retransmitted_packets", "retrans", Side::right, count_of<&Interval::retransmitted>,
                   unless_zero<&Interval::retransmitted>},
    IntervalColumn{"sequence_naks", "seq NAK", Side::right, count_of<&Interval::sequence_naks>,
                   unless_zero<&Interval::sequence_naks>},
    IntervalColumn{"rnr_naks", "RNR", Side::right, count_of<&Interval::rnr_naks>, unless_zero<&Interval::rnr_naks>},
    IntervalColumn{"fatal_naks", "fatal", Side::right, count_of<&Interval::fatal_naks>,
                   unless_zero<&Interval::fatal_naks>},
    IntervalColumn{"ce_marked", "CE", Side::right, count_of<&Interval::ce_marked>, unless_zero<&Interval::ce_marked>},
    IntervalColumn{"cnps", "CNP", Side::right, count_of<&Interval::cnps>, unless_zero<&Interval::cnps>},
    IntervalColumn{"pause_frames", "pause", Side::right, count_of<&Interval::pauses>, unless_zero<&Interval::pauses>},
    IntervalColumn{"round_trip_mean_ns", "RTT", Side::right,
                   [](const IntervalRow& row) { return number(round_trip(row)); },
                   [](const IntervalRow& row) {
                       const auto mean = round_trip(row);
                       return mean ? duration_text(*mean) : std::string();
                   }},
    IntervalColumn{"", "throughput", Side::left, count_of<&Interval::bytes>, bar},
};
// A NAK is an acknowledge packet (9.7.5.1.2): what the AETH of a response says is of no request.
void count_answer(Interval& interval, const Observation& observation) {
    if (!observation.acknowledgment || info(observation.opcode).verb != Verb::acknowledge) return;
    switch (static_cast<SyndromeType>(observation.acknowledgment->type())) {
        case SyndromeType::rnr_nak: ++interval.rnr_naks; break;
        case SyndromeType::nak:
            ++(observation.acknowledgment->code() == 0 ? interval.sequence_naks : interval.fatal_naks);
            break;
        case SyndromeType::ack:
        case SyndromeType::reserved: break;
    }
}

}  // namespace

std::span<const TableColumn<IntervalRow>> interval_columns() { return kRowColumns; }

void count_packet(Interval& interval, const Observation& observation, const PacketRecord& record) {
    ++interval.packets;
    interval.bytes += observation.wire_length;
    interval.messages += record.completed;
    if (record.round_trip) {
        ++interval.round_trips;
        interval.round_trip_ns += static_cast<std::uint64_t>(std::to_underlying(*record.round_trip));
    }
    if (observation.congestion_experienced && (observation.kind == ObservationKind::transport || record.connection))
        ++interval.ce_marked;
    if (observation.kind == ObservationKind::pause || observation.kind == ObservationKind::pfc) ++interval.pauses;
    if (record.retransmission && !record.duplicated) ++interval.retransmitted;
    if (observation.kind != ObservationKind::transport) return;
    if (info(observation.opcode).verb == Verb::notify) ++interval.cnps;
    if (record.corrupt || record.mirror_copy) return;
    if (!record.retransmission && !observation.management) interval.payload_bytes += observation.payload_length;
    count_answer(interval, observation);
}

}  // namespace qps::cli
