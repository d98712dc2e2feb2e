// Where the parts of a ladder lie on the screen: lanes, arrows, brackets, and what a pointer hits. Numbers only;
// nothing is painted.
#pragma once

#include <transport-replay/series/ladder_layout.hpp>

#include <QLineF>
#include <QPointF>
#include <QRectF>
#include <optional>

namespace qps::gui {

// What the font says, in pixels.
struct LadderType {
    double line = 20;      // distance of two lines of text
    double character = 8;  // an average one
    double time = 80;      // the longest label of the axis
};

// The columns of the picture: times, lane of end a, lane of end b; above them a heading that stays. Lanes keep their
// order however narrow the area is.
struct LadderLanes {
    QRectF area;
    double header = 0;  // height of the heading
    double a = 0;       // x of the lanes
    double b = 0;
    double bracket = 0;  // distance of a wait's bracket from its lane
    double box = 0;      // side of the box that expands a message

    static LadderLanes of(const QRectF& area, const LadderType& type);
    [[nodiscard]] double of(transport::End end) const { return end == transport::End::a ? a : b; }
    [[nodiscard]] QRectF body() const { return area.adjusted(0, header, 0, 0); }
};

// A ladder that is laid out, scrolled down by `offset`, in its lanes.
struct LadderGeometry {
    const transport::series::Ladder& ladder;
    const transport::series::LadderLayout& layout;
    LadderLanes lanes;
    double line = 20;
    double offset = 0;

    [[nodiscard]] double screen(double y) const { return lanes.body().top() + line + y - offset; }
    [[nodiscard]] QLineF arrow(std::size_t index) const;
    // The box beside the lane where an arrow begins.
    [[nodiscard]] QRectF box(std::size_t index) const;
    // The height that belongs to a line alone: its label and its beginning.
    [[nodiscard]] QRectF row(std::size_t index) const;
    [[nodiscard]] QLineF bracket(std::size_t wait) const;
    // A tick beside the lane of who sent a packet, towards the middle.
    [[nodiscard]] QLineF tick(std::size_t mark) const;
    // Whether its label or any part of its arrow may be seen.
    [[nodiscard]] bool visible(std::size_t index) const;
    // All of it, with a line above and below.
    [[nodiscard]] double height() const { return layout.height() + 2 * line; }

    // The line whose row or arrow is nearest, within half a line of text.
    [[nodiscard]] std::optional<std::size_t> lineAt(const QPointF& point) const;
    [[nodiscard]] std::optional<std::size_t> boxAt(const QPointF& point) const;
    [[nodiscard]] std::optional<std::size_t> waitAt(const QPointF& point) const;
    [[nodiscard]] std::optional<std::size_t> markAt(const QPointF& point) const;
    // The silence that is drawn broken at that height.
    [[nodiscard]] std::optional<std::size_t> breakAt(const QPointF& point) const;
};

// The distance of a point from a line with two ends.
[[nodiscard]] double distance(const QPointF& point, const QLineF& line);

// With this scale half of the neighbouring lines lie no closer than a line and a half of text.
[[nodiscard]] double naturalScale(const transport::series::Ladder& ladder, double line);

// Which entries (messages, and packets that are of none) are drawn up where one is in sight: some before it, whose
// answers may come after it, and enough to fill a screen.
struct LadderWindow {
    static constexpr std::size_t kBefore = 64;
    static constexpr std::size_t kAfter = 256;  // a tall screen shows about a hundred lines
    static constexpr std::size_t kMargin = 16;  // entries at its ends that may lack answers of their neighbours

    std::size_t first = 0;
    std::size_t end = 0;
    std::size_t total = 0;
    static LadderWindow around(std::size_t entry, std::size_t total);
    [[nodiscard]] bool whole() const { return first == 0 && end == total; }
    // Whether one that shows entries `top` to `bottom` should be drawn up around them anew.
    [[nodiscard]] bool leaves(std::size_t top, std::size_t bottom) const;
    [[nodiscard]] bool operator==(const LadderWindow&) const = default;
};

}  // namespace qps::gui
