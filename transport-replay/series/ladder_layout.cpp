#include <transport-replay/series/ladder_layout.hpp>

#include <algorithm>
#include <tuple>

namespace qps::transport::series {

using namespace dissect;

namespace {

// Something that happens: a line begins, or some instant that has to have its place.
struct Event {
    Instant time{};
    std::optional<std::size_t> line;
};

std::vector<Event> events_of(const Ladder& ladder) {
    std::vector<Event> events;
    for (std::size_t i = 0; i < ladder.lines.size(); ++i) {
        events.push_back({ladder.lines[i].begins, i});
        if (ladder.lines[i].ends != ladder.lines[i].begins) events.push_back({ladder.lines[i].ends, {}});
    }
    for (const LadderWait& wait : ladder.waits) {
        events.push_back({wait.from, {}});
        events.push_back({wait.to, {}});
    }
    if (!ladder.marks.empty()) events.push_back({ladder.marks.back().time, {}});  // none below the end
    std::ranges::stable_sort(events, {}, &Event::time);
    return events;
}

}  // namespace

LadderLayout::LadderLayout(const Ladder& ladder, const LadderMeasure& measure) : lines_(ladder.lines.size()) {
    double free = 0;  // from where on there is room for a line
    for (const Event& event : events_of(ladder)) {
        add(event.time, event.line ? free : 0, measure);
        if (!event.line) continue;
        lines_[*event.line].top = knots_.back().y;
        free = knots_.back().y + measure.line;
    }
    for (std::size_t i = 0; i < ladder.lines.size(); ++i) {
        const LadderLine& line = ladder.lines[i];
        lines_[i].bottom = line.ends == line.begins ? lines_[i].top : std::max(lines_[i].top, y_of(line.ends));
    }
    for (const LadderWait& wait : ladder.waits) waits_.push_back({y_of(wait.from), y_of(wait.to)});
    mark(ladder);
}

void LadderLayout::mark(const Ladder& ladder) {
    marks_.reserve(ladder.marks.size());
    for (const LadderMark& each : ladder.marks) marks_.push_back(y_of(each.time));
    for (LadderBreak& silence : breaks_) {
        const auto first = std::ranges::upper_bound(marks_, silence.top);
        silence.marks = static_cast<std::size_t>(std::ranges::lower_bound(first, marks_.end(), silence.bottom) - first);
    }
}

// The next instant, not above `least`.
void LadderLayout::add(Instant time, double least, const LadderMeasure& measure) {
    if (knots_.empty()) {
        knots_.push_back({time, 0});
        return;
    }
    const Knot before = knots_.back();
    const Duration silence = time - before.time;
    const double length = static_cast<double>(std::to_underlying(silence)) * measure.scale;
    double y = std::max(before.y + length, least);
    if (length > measure.longest_gap) {
        y = std::max(before.y + measure.broken_gap, least);
        breaks_.push_back({before.y, y, silence});
    }
    knots_.push_back({time, y});
}

// Several knots of one time: its lines lie one below the other, and what comes at that time comes after them.
double LadderLayout::y_of(Instant time) const {
    const auto after = std::ranges::upper_bound(knots_, time, {}, &Knot::time);
    if (after == knots_.begin()) return 0;
    const Knot& from = *std::prev(after);
    if (after == knots_.end() || from.time == time) return from.y;
    const auto part = [&](Instant until) { return static_cast<double>(std::to_underlying(until - from.time)); };
    return from.y + (after->y - from.y) * part(time) / part(after->time);
}

Instant LadderLayout::time_at(double y) const {
    const auto after = std::ranges::upper_bound(knots_, y, {}, &Knot::y);
    if (after == knots_.begin()) return knots_.empty() ? Instant{} : knots_.front().time;
    const Knot& from = *std::prev(after);
    if (after == knots_.end()) return from.time;
    const double part = (y - from.y) / (after->y - from.y);
    const auto length = static_cast<double>(std::to_underlying(after->time - from.time));
    const auto offset = Duration{static_cast<std::int64_t>(std::min(part * length, length * (1 - 1e-12)))};
    return std::min(from.time + offset, after->time);
}

}  // namespace qps::transport::series
