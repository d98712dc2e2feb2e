// Counters as events: two dumps of one port become a difference, vendors' names become one canonical name.
#pragma once

#include <transport-replay/casework/evidence.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qps::casework {

// One name for what vendors call differently; other: a counter that no rule knows.
enum class Counter : std::uint8_t {
    other,
    ack_timeout,
    retry_exceeded,
    sequence_nak_received,
    implied_nak,
    rnr_received,
    rnr_exceeded,
    remote_access,
    remote_invalid,
    remote_operation,
    local_error,
    cqe_error,
    cqe_flush,
    adaptive_retry,
    out_of_sequence,
    duplicate,
    no_receive,
    response_length,
    response_access,
    response_error,
    requests_in,
    cnp_sent,
    ce_received,
    cnp_handled,
    cnp_ignored,
    bad_icrc,
    pause_in,
    pause_out,
    pause_storms,
    receive_discard,
    transmit_discard,
    link_down,
    signal_error,
    upstream_signal_error,
    transmit_wait,
    pcie_stall,
    rdma_bytes,
    rdma_packets,
    priority_volume,
    receive_error,
    relay_discard,
    port_data,
};
[[nodiscard]] std::string_view name(Counter counter);
// `priority`: of counters of one priority, else -1.
struct CounterName {
    Counter counter = Counter::other;
    int priority = -1;
};
[[nodiscard]] CounterName canonical(std::string_view vendor_name);
// Percentages and watermarks, which differences say nothing of.
[[nodiscard]] bool is_gauge(std::string_view vendor_name);

struct CounterChange {
    CounterName what{};
    std::string vendor_name{};
    std::string host{};
    std::string device{};
    std::uint32_t port = 0;
    std::string source{};
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    std::uint64_t grown = 0;
    bool paired = false;   // of two dumps; else `after` is all that is known
    bool wrapped = false;  // 32 bits
    bool reset = false;    // smaller afterwards, and no wrap explains it
    bool saturated = false;
    bool swapped = false;  // the names of the files say the other order, the dates in them this one
    Place place{};         // of `after`
    Place place_before{};
};
[[nodiscard]] std::vector<CounterChange> counter_changes(const Case& read);

}  // namespace qps::casework
