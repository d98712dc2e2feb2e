// Says in words what the rate of a sender follows.
#pragma once

#include <transport-replay/model/congestion_report.hpp>

#include <string>

namespace qps::transport {

struct Timeline;

// "slows down at CNPs, as DCQCN does: at 131 of 134, before them at 0 (certainty 95 %)", "undecided: too few ..."
[[nodiscard]] std::string follows_text(const RateControl& rate, const RateVerdict& verdict);
// "10.0.0.1 to 10.0.0.2 QP 34 (#1)"; without hosts where the timeline has no such connection.
[[nodiscard]] std::string sender_text(const RateControl& rate, const Timeline& timeline);
// The rate of one way of a connection; nothing where it is not watched.
[[nodiscard]] const RateControl* find_rate(const CongestionReport& congestion, ConnectionId connection, End from);

}  // namespace qps::transport
