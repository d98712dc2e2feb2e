#include <transport-replay/ulp/operation_sums.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

OperationSum* sum_of(std::vector<OperationSum>& sums, const UlpOperation& operation) {
    for (OperationSum& sum : sums)
        if (sum.code == operation.code && sum.protocol == operation.protocol) return &sum;
    if (sums.size() == kMaxOperationSums) return nullptr;
    OperationSum& sum = sums.emplace_back();
    sum.protocol = operation.protocol;
    sum.code = operation.code;
    return &sum;
}

Duration time_taken(const UlpOperation& operation) { return operation.answered - operation.asked; }

void keep_if_slow(OperationSum& sum, const UlpOperation& operation) {
    const auto place = std::ranges::upper_bound(sum.slowest, time_taken(operation), std::greater{}, time_taken);
    if (sum.slowest.size() == kSlowestKept) {
        if (place == sum.slowest.end()) return;
        std::shift_right(place, sum.slowest.end(), 1);
        *place = operation;
        return;
    }
    sum.slowest.insert(place, operation);
}

void add_times(OperationSum& sum, const UlpOperation& operation) {
    const Duration latency = time_taken(operation);
    sum.latency.add(latency);
    sum.histogram.add(latency);
    if (operation.has_data()) {
        sum.until_data.add(operation.data_first - operation.asked);
        sum.data.add(operation.data_last - operation.data_first);
        sum.to_answer.add(operation.answered - operation.data_last);
    }
    keep_if_slow(sum, operation);
}

}  // namespace

void add(std::vector<OperationSum>& sums, const UlpOperation& operation) {
    OperationSum* sum = sum_of(sums, operation);
    if (sum == nullptr) return;
    ++sum->count;
    sum->bytes += operation.in_message + operation.written + operation.read;
    if (operation.outcome == OperationOutcome::failed) ++sum->failed;
    if (!operation.has_answer() && !operation.one_way) ++sum->unanswered;
    if (operation.has_answer()) add_times(*sum, operation);
}

}  // namespace qps::transport
