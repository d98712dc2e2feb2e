// The families of findings: each is one source that has the rows of its findings and the functions that draw them. A
// new finding is a row and a function there.
#pragma once

#include <transport-replay/findings/findings.hpp>

namespace qps::transport::families {

struct Family {
    std::span<const FindingRow> rows;
    std::span<const FactRow* const> facts;  // of its own; findings/facts.hpp has what several share
};

[[nodiscard]] Family recovery_family();
[[nodiscard]] Family timeouts_family();
[[nodiscard]] Family reordering_family();
[[nodiscard]] Family shared_causes_family();
[[nodiscard]] Family losses_by_size_family();
[[nodiscard]] Family naks_family();
[[nodiscard]] Family order_family();
[[nodiscard]] Family icrc_family();
[[nodiscard]] Family refusal_family();
[[nodiscard]] Family path_family();
[[nodiscard]] Family classes_family();
[[nodiscard]] Family pauses_family();
[[nodiscard]] Family congestion_family();
[[nodiscard]] Family links_family();
[[nodiscard]] Family bridging_family();
[[nodiscard]] Family reachability_family();
[[nodiscard]] Family security_family();
[[nodiscard]] Family collectives_family();
[[nodiscard]] Family management_family();
[[nodiscard]] Family ulp_events_family();
[[nodiscard]] Family ulp_operations_family();
[[nodiscard]] Family fabric_family();
[[nodiscard]] Family iwarp_family();
[[nodiscard]] Family ultra_ethernet_family();
[[nodiscard]] Family capture_family();
[[nodiscard]] Family capture_reading_family();

}  // namespace qps::transport::families
