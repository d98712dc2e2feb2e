#include <transport-replay/series/outstanding.hpp>

namespace qps::transport::series {

using namespace dissect;

namespace {

struct Change {
    Instant time{};
    FrameIndex frame{};
    std::int64_t bytes = 0;
    std::int64_t messages = 0;
};

Instant end_of(const CaptureIndex& index, const Timeline& timeline, const MessageRow& message, Instant from) {
    if (const auto answer = message.answer_frame())
        if (const auto time = time_of(index, *answer)) return std::max(from, *time);
    const Connection* connection = timeline.find(message.connection());
    return connection == nullptr ? from : std::max(from, connection->last_time());
}

Outstanding add_up(std::vector<Change> changes) {
    std::ranges::stable_sort(changes, {}, &Change::time);
    Outstanding steps;
    std::int64_t bytes = 0;
    std::int64_t messages = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        bytes += changes[i].bytes;
        messages += changes[i].messages;
        if (i + 1 < changes.size() && changes[i + 1].time == changes[i].time) continue;
        steps.bytes.push_back({changes[i].time, bytes, changes[i].frame});
        steps.messages.push_back({changes[i].time, messages, changes[i].frame});
    }
    return steps;
}

}  // namespace

std::optional<Outstanding> outstanding(const CaptureIndex& index, const Timeline& timeline, const Scope& scope, const Stop& stop) {
    std::vector<Change> changes;
    const auto take = [&](const MessageRow& message, std::uint64_t) {
        if (message.outcome() == Outcome::sent || !scope.has(message)) return;
        const auto from = time_of(index, message.first_frame());
        if (!from) return;
        const Instant to = end_of(index, timeline, message, *from);
        const std::int64_t bytes = message.bytes();
        changes.push_back({*from, message.first_frame(), bytes, 1});
        changes.push_back({to, message.answer_frame().value_or(message.last_frame()), -bytes, -1});
    };
    if (!scan(index.messages, 0, index.messages.size(), stop, take)) return std::nullopt;
    return add_up(std::move(changes));
}

}  // namespace qps::transport::series
