#include <transport-replay/ulp/operation_sums.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

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

// The slowest first; of those that took as long, the one that was answered first.
bool slower(const UlpOperation& one, const UlpOperation& two) {
    const auto order = [](const UlpOperation& operation) {
        return std::tuple(Duration{} - time_taken(operation), operation.answered_frame, operation.asked_frame);
    };
    return order(one) < order(two);
}

void keep_if_slow(OperationSum& sum, const UlpOperation& operation) {
    const auto place = std::ranges::upper_bound(sum.slowest, operation, slower);
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
    if (sum->count++ == 0 || operation.asked_frame < sum->first_asked) sum->first_asked = operation.asked_frame;
    sum->bytes += operation.in_message + operation.written + operation.read;
    if (operation.outcome == OperationOutcome::failed) ++sum->failed;
    if (!operation.has_answer() && !operation.one_way) ++sum->unanswered;
    if (operation.has_answer()) add_times(*sum, operation);
}

void merge(std::vector<OperationSum>& sums, std::vector<OperationSum>&& part) {
    const auto key = [](const OperationSum& sum) { return std::tuple(sum.connection, sum.protocol, sum.code); };
    std::map<std::tuple<ConnectionId, UlpProtocol, OperationCode>, std::size_t> places;
    for (std::size_t i = 0; i < sums.size(); ++i) places.emplace(key(sums[i]), i);
    for (OperationSum& each : part) {
        const auto [place, is_new] = places.try_emplace(key(each), sums.size());
        if (is_new) {
            sums.push_back(std::move(each));
            continue;
        }
        OperationSum* same = &sums[place->second];
        same->first_asked = std::min(same->first_asked, each.first_asked);
        same->count += each.count;
        same->failed += each.failed;
        same->unanswered += each.unanswered;
        same->bytes += each.bytes;
        same->latency.add(each.latency);
        same->until_data.add(each.until_data);
        same->data.add(each.data);
        same->to_answer.add(each.to_answer);
        same->histogram.add(each.histogram);
        for (const UlpOperation& operation : each.slowest) keep_if_slow(*same, operation);
    }
    std::ranges::sort(sums, {}, [](const OperationSum& sum) {
        return std::tuple(sum.first_asked, sum.protocol, sum.code, sum.connection);
    });
}

void join_connections(std::vector<OperationSum>& sums) {
    std::vector<OperationSum> apart = std::exchange(sums, {});
    for (OperationSum& sum : apart) sum.connection = {};
    merge(sums, std::move(apart));
}

}  // namespace qps::transport
