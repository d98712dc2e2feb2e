#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/outstanding.hpp>

namespace qps::transport::series {

using namespace dissect;

namespace {

// Of outstanding bytes; a message more or less.
struct Change {
    Instant time{};
    FrameIndex frame{};
    std::int64_t bytes = 0;
};

Instant end_of(const CaptureIndex& index, const Timeline& timeline, const MessageRow& message, Instant from) {
    if (const auto answer = message.answer_frame())
        if (const auto time = time_of(index, *answer)) return std::max(from, *time);
    const Connection* connection = timeline.find(message.connection());
    return connection == nullptr ? from : std::max(from, connection->last_time());
}

void sort(std::vector<Change>& changes) {
    if (!std::ranges::is_sorted(changes, {}, &Change::time)) std::ranges::stable_sort(changes, {}, &Change::time);
}

// Both ways sorted by time: what begins and what ends at one time makes one step.
Outstanding add_up(std::vector<Change> begun, std::vector<Change> ended) {
    sort(begun);
    sort(ended);
    Outstanding steps;
    std::int64_t bytes = 0;
    std::int64_t messages = 0;
    for (std::size_t b = 0, e = 0; e < ended.size();) {  // nothing ends before it began
        const Instant now = b < begun.size() ? std::min(begun[b].time, ended[e].time) : ended[e].time;
        FrameIndex frame{};
        for (; e < ended.size() && ended[e].time == now; ++e, --messages) {
            bytes -= ended[e].bytes;
            frame = ended[e].frame;
        }
        for (; b < begun.size() && begun[b].time == now; ++b, ++messages) {
            bytes += begun[b].bytes;
            frame = begun[b].frame;
        }
        steps.bytes.push_back({now, bytes, frame});
        steps.messages.push_back({now, messages, frame});
    }
    return steps;
}

}  // namespace

std::optional<Outstanding> outstanding(const CaptureIndex& index, const Timeline& timeline, const Scope& scope,
                                       MessageKinds kinds, const Stop& stop) {
    std::vector<Change> begun;
    std::vector<Change> ended;
    const auto take = [&](const MessageRow& message, std::uint64_t) {
        if (message.outcome() == Outcome::sent || !has(kinds, message.kind()) || !scope.has(message)) return;
        const auto from = time_of(index, message.first_frame());
        if (!from) return;
        const Instant to = end_of(index, timeline, message, *from);
        begun.push_back({*from, message.first_frame(), message.bytes()});
        ended.push_back({to, message.answer_frame().value_or(message.last_frame()), message.bytes()});
    };
    if (!scan(index.messages, 0, index.messages.size(), stop, take)) return std::nullopt;
    return add_up(std::move(begun), std::move(ended));
}

}  // namespace qps::transport::series
