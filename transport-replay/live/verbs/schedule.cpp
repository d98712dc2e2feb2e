#include <transport-replay/live/verbs/schedule.hpp>

#include <utility>

namespace qps::transport::verbs {

using dissect::Instant;

void Schedule::add(Slot slot) {
    if (const std::size_t index = std::to_underlying(slot); index >= rows_.size()) rows_.resize(index + 1);
}

void Schedule::remove(Slot slot) {
    unlink(Lane::responses, std::to_underlying(slot));
    unlink(Lane::requests, std::to_underlying(slot));
    wake_never(slot);
}

void Schedule::ready(Lane lane, Slot slot) {
    const std::uint32_t index = std::to_underlying(slot);
    Link& link = rows_[index].lanes[std::to_underlying(lane)];
    if (link.in) return;
    Ends& ends = ends_[std::to_underlying(lane)];
    link = {.before = ends.last, .after = kNone, .in = true};
    if (ends.last == kNone) ends.first = index;
    else rows_[ends.last].lanes[std::to_underlying(lane)].after = index;
    ends.last = index;
}

void Schedule::unlink(Lane lane, std::uint32_t slot) {
    const auto which = std::to_underlying(lane);
    Link& link = rows_[slot].lanes[which];
    if (!link.in) return;
    Ends& ends = ends_[which];
    if (link.before == kNone) ends.first = link.after;
    else rows_[link.before].lanes[which].after = link.after;
    if (link.after == kNone) ends.last = link.before;
    else rows_[link.after].lanes[which].before = link.before;
    link = {};
}

std::optional<Slot> Schedule::take(Lane lane) {
    const std::uint32_t slot = first(lane);
    if (slot == kNone) return std::nullopt;
    unlink(lane, slot);
    return Slot{slot};
}

void Schedule::put(std::size_t place, Time time) {
    times_[place] = time;
    rows_[time.slot].place = static_cast<std::uint32_t>(place);
}

// Moves the time at a place up or down to where it belongs.
void Schedule::settle(std::size_t place) {
    const Time moved = times_[place];
    while (place > 0) {
        const std::size_t parent = (place - 1) / 2;
        if (times_[parent].time <= moved.time) break;
        put(place, times_[parent]);
        place = parent;
    }
    for (std::size_t child = 2 * place + 1; child < times_.size(); child = 2 * place + 1) {
        if (child + 1 < times_.size() && times_[child + 1].time < times_[child].time) ++child;
        if (moved.time <= times_[child].time) break;
        put(place, times_[child]);
        place = child;
    }
    put(place, moved);
}

void Schedule::wake_at(Slot slot, Instant time) {
    const std::uint32_t index = std::to_underlying(slot);
    if (rows_[index].place == kNone) {
        rows_[index].place = static_cast<std::uint32_t>(times_.size());
        times_.push_back({time, index});
    } else if (times_[rows_[index].place].time == time) {
        return;
    }
    times_[rows_[index].place].time = time;
    settle(rows_[index].place);
}

void Schedule::wake_never(Slot slot) {
    const std::uint32_t place = std::exchange(rows_[std::to_underlying(slot)].place, kNone);
    if (place == kNone) return;
    const Time last = times_.back();
    times_.pop_back();
    if (place == times_.size()) return;
    put(place, last);
    settle(place);
}

std::optional<Instant> Schedule::next_time() const {
    if (times_.empty()) return std::nullopt;
    return times_.front().time;
}

std::optional<Slot> Schedule::due(Instant now) {
    if (times_.empty() || times_.front().time > now) return std::nullopt;
    const Slot slot{times_.front().slot};
    wake_never(slot);
    return slot;
}

}  // namespace qps::transport::verbs
