// Operations of upper protocols as rows: each by itself, and all of one kind summed up.
#pragma once

#include <transport-replay/model/connection.hpp>
#include <transport-replay/report/table.hpp>
#include <transport-replay/report/ulp.hpp>

#include <span>

namespace qps::transport {

struct ReportedOperation {
    const UlpOperation& operation;
    const Endpoint& from;      // who asked
    const Endpoint& to;        // who answers
    dissect::Instant start{};  // of the capture
};

[[nodiscard]] std::span<const TableColumn<ReportedOperation>> operation_columns();
[[nodiscard]] Tone tone_of(const UlpOperation& operation);

struct ReportedSum {
    const OperationSum& sum;
    dissect::Duration during{};  // what rates are of: from the first request to the last answer of its protocol
};

[[nodiscard]] std::span<const TableColumn<ReportedSum>> operation_sum_columns();
[[nodiscard]] Tone tone_of(const OperationSum& sum);

// A percentile of the latency, by nearest rank, `percent` 1 to 100: exact where it is one of the slowest, which are
// kept, else within an eighth.
[[nodiscard]] dissect::Duration percentile_of(const OperationSum& sum, unsigned percent);

}  // namespace qps::transport
