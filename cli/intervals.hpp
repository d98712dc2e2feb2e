// Intervals: what is counted per interval of time, and how it is shown.
#pragma once

#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/packet_record.hpp>
#include <transport-replay/report/table.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace qps::cli {

struct Interval {
    dissect::Instant start{};
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
    std::uint64_t pauses = 0;              // PAUSE and PFC frames
    std::uint64_t round_trips = 0;         // from requests to their ACKs, of senders whose rate is watched
    std::uint64_t round_trip_ns = 0;       // their sum
    std::vector<std::uint64_t> matches{};  // packets that match each filter of --column; empty: none of them does

    void add(const Interval& later) {
        constexpr std::array kCounts{&Interval::packets,      &Interval::bytes,         &Interval::payload_bytes,
                                     &Interval::messages,     &Interval::retransmitted, &Interval::sequence_naks,
                                     &Interval::rnr_naks,     &Interval::fatal_naks,    &Interval::ce_marked,
                                     &Interval::cnps,         &Interval::pauses,        &Interval::round_trips,
                                     &Interval::round_trip_ns};
        for (const auto count : kCounts) this->*count += later.*count;
        if (matches.size() < later.matches.size()) matches.resize(later.matches.size());
        for (std::size_t i = 0; i < later.matches.size(); ++i) matches[i] += later.matches[i];
    }
};

struct IntervalRow {
    const Interval& interval;
    dissect::Duration length{};
    dissect::Instant start{};  // of the capture
    std::uint64_t most = 0;    // bytes of an interval that make a full bar: of the largest so far
};

[[nodiscard]] std::span<const transport::TableColumn<IntervalRow>> interval_columns();

void count_packet(Interval& interval, const transport::Observation& observation, const transport::PacketRecord& record);

}  // namespace qps::cli
