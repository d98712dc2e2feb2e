// Words and small questions that rules about counters share.
#pragma once

#include <transport-replay/casework/claims.hpp>

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace qps::casework {

using Changes = std::vector<const CounterChange*>;

[[nodiscard]] Changes of(const Facts& facts, std::initializer_list<Counter> counters,
                         const std::string* host = nullptr);
[[nodiscard]] std::uint64_t growth(const Changes& changes);
// Whether one of them is of two dumps.
[[nodiscard]] bool paired(const Changes& changes);
// "out_of_sequence grew by 59,729 (181,204 to 240,933)", of those that grew, the largest first.
[[nodiscard]] std::string grown_text(Changes changes, std::size_t most = 4);
// The same as a fact: each with by how much it grew.
[[nodiscard]] transport::Facts grown_facts(const Changes& changes);
[[nodiscard]] std::vector<Place> evidence_of(Changes changes, std::size_t most = 4);
[[nodiscard]] std::set<std::string> hosts_of(const Facts& facts);

// The priorities that carried traffic in the time between, and whether more were counted.
struct Priorities {
    std::set<int> used, counted;
};
[[nodiscard]] Priorities priorities_of(const Facts& facts, const std::string& host);

// Counters that stay still where all is well.
inline constexpr std::initializer_list<Counter> kErrors{
    Counter::ack_timeout,     Counter::retry_exceeded, Counter::sequence_nak_received,
    Counter::implied_nak,     Counter::rnr_received,   Counter::rnr_exceeded,
    Counter::remote_access,   Counter::remote_invalid, Counter::remote_operation,
    Counter::local_error,     Counter::cqe_error,      Counter::out_of_sequence,
    Counter::duplicate,       Counter::no_receive,     Counter::response_length,
    Counter::response_access, Counter::adaptive_retry};

}  // namespace qps::casework
