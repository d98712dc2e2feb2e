#include <gui/pictures/ladder_geometry.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace qps::gui {

using namespace transport::series;
using transport::End;

LadderLanes LadderLanes::of(const QRectF& area, const LadderType& type) {
    LadderLanes lanes;
    lanes.area = area;
    lanes.header = 2 * type.line;
    lanes.box = std::round(type.line * 0.55);
    lanes.bracket = lanes.box + type.character;
    // A wait is named outside of its bracket.
    const double left = area.left() + type.time + type.line + lanes.bracket + 2 * type.character;
    const double right = area.right() - type.line - lanes.bracket - type.character;
    lanes.a = std::min(left, area.center().x());
    lanes.b = std::max(right, lanes.a + type.character);
    return lanes;
}

QLineF LadderGeometry::arrow(std::size_t index) const {
    const End from = ladder.lines[index].from;
    const LadderLayout::Extent& extent = layout.lines()[index];
    return {lanes.of(from), screen(extent.top), lanes.of(other(from)), screen(extent.bottom)};
}

QRectF LadderGeometry::box(std::size_t index) const {
    const QPointF start = arrow(index).p1();
    const double out = ladder.lines[index].from == End::a ? -1 : 1;
    const QPointF centre(start.x() + out * (lanes.box / 2 + 2), start.y());
    return {centre.x() - lanes.box / 2, centre.y() - lanes.box / 2, lanes.box, lanes.box};
}

QRectF LadderGeometry::row(std::size_t index) const {
    const double y = screen(layout.lines()[index].top);
    return {lanes.area.left(), y - 0.8 * line, lanes.area.width(), line};
}

QLineF LadderGeometry::bracket(std::size_t wait) const {
    const LadderLayout::Extent& extent = layout.waits()[wait];
    const double x = ladder.waits[wait].requester == End::a ? lanes.a - lanes.bracket : lanes.b + lanes.bracket;
    return {x, screen(extent.top), x, screen(extent.bottom)};
}

QLineF LadderGeometry::tick(std::size_t mark) const {
    const End from = ladder.marks[mark].from;
    const double y = screen(layout.marks()[mark]);
    return {lanes.of(from), y, lanes.of(from) + (from == End::a ? 1 : -1) * lanes.box, y};
}

bool LadderGeometry::visible(std::size_t index) const {
    const LadderLayout::Extent& extent = layout.lines()[index];
    return screen(extent.top) - line < lanes.area.bottom() && screen(extent.bottom) + line > lanes.body().top();
}

std::optional<std::size_t> LadderGeometry::lineAt(const QPointF& point) const {
    if (!lanes.body().contains(point)) return std::nullopt;
    std::optional<std::size_t> best;
    double nearest = line / 2;
    for (std::size_t i = 0; i < ladder.lines.size(); ++i) {
        if (!visible(i)) continue;
        const double away = std::min(distance(point, arrow(i)), row(i).contains(point) ? line / 4 : line);
        if (away < nearest) {
            nearest = away;
            best = i;
        }
    }
    return best;
}

std::optional<std::size_t> LadderGeometry::boxAt(const QPointF& point) const {
    if (!lanes.body().contains(point)) return std::nullopt;
    for (std::size_t i = 0; i < ladder.lines.size(); ++i)
        if (ladder.lines[i].opens() && box(i).adjusted(-2, -2, 2, 2).contains(point)) return i;
    return std::nullopt;
}

std::optional<std::size_t> LadderGeometry::waitAt(const QPointF& point) const {
    if (!lanes.body().contains(point)) return std::nullopt;
    for (std::size_t i = 0; i < ladder.waits.size(); ++i)
        if (distance(point, bracket(i)) < line / 3) return i;
    return std::nullopt;
}

std::optional<std::size_t> LadderGeometry::markAt(const QPointF& point) const {
    if (!lanes.body().contains(point)) return std::nullopt;
    std::optional<std::size_t> best;
    double nearest = line / 4;
    const double y = point.y() - screen(0);
    const auto& all = layout.marks();
    const auto begin = std::ranges::lower_bound(all, y - line);
    for (auto each = begin; each != all.end() && *each < y + line; ++each) {
        const auto mark = static_cast<std::size_t>(each - all.begin());
        const double away = distance(point, tick(mark));
        if (away >= nearest) continue;
        nearest = away;
        best = mark;
    }
    return best;
}

std::optional<std::size_t> LadderGeometry::breakAt(const QPointF& point) const {
    if (!lanes.body().contains(point)) return std::nullopt;
    const auto& breaks = layout.breaks();
    const auto found = std::ranges::find_if(breaks, [&](const LadderBreak& silence) {
        return screen(silence.top) <= point.y() && point.y() <= screen(silence.bottom);
    });
    return found == breaks.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - breaks.begin()));
}

double distance(const QPointF& point, const QLineF& line) {
    const QPointF along = line.p2() - line.p1();
    const double square = QPointF::dotProduct(along, along);
    const double share = square <= 0 ? 0 : std::clamp(QPointF::dotProduct(point - line.p1(), along) / square, 0.0, 1.0);
    return QLineF(point, line.p1() + share * along).length();
}

double naturalScale(const Ladder& ladder, double line) {
    std::vector<double> apart;
    for (std::size_t i = 1; i < ladder.lines.size(); ++i) {
        const auto time = static_cast<double>(std::to_underlying(ladder.lines[i].begins - ladder.lines[i - 1].begins));
        if (time > 0) apart.push_back(time);
    }
    if (apart.empty()) return LadderMeasure{}.scale;
    const auto middle = apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2);
    std::nth_element(apart.begin(), middle, apart.end());
    return 1.5 * line / *middle;
}

LadderWindow LadderWindow::around(std::size_t entry, std::size_t total) {
    const std::size_t first = std::min(entry, total) - std::min({entry, total, kBefore});
    return {first, std::min(total, entry + kAfter), total};
}

bool LadderWindow::leaves(std::size_t top, std::size_t bottom) const {
    return (first > 0 && top < first + kMargin) || (end < total && bottom + kMargin >= end);
}

}  // namespace qps::gui
