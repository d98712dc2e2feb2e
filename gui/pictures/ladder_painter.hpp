// Paints a ladder: two lanes with the names of their ends, an arrow a message or packet with its label, the time beside
// it, the other packets of a message as ticks, waits as brackets, silences broken. A label stands where no arrow
// crosses it, as far as there is such a place.
#pragma once

#include <gui/pictures/ladder_geometry.hpp>

#include <QFont>
#include <QPainter>
#include <QPalette>
#include <QString>
#include <array>

namespace qps::gui {

struct LadderStyle {
    QFont font;
    QPalette palette;
    std::array<QString, 2> ends;            // their names
    std::optional<dissect::Instant> start;  // times count from here
    double scale = 0;                       // pixels of a nanosecond, for the scale in the heading
    std::optional<std::size_t> current;     // the line that is highlighted
    std::optional<std::size_t> mark;        // and the mark
    std::optional<std::pair<dissect::Instant, dissect::Instant>> range;  // of time that is shaded
    bool focused = false;
};

[[nodiscard]] LadderType typeOf(const QFont& font, bool nanoseconds);
// Whether times have to be told to the nanosecond.
[[nodiscard]] bool needsNanoseconds(const transport::series::Ladder& ladder, dissect::Instant start);
// Seconds since the start, with six or nine digits.
[[nodiscard]] QString timeText(dissect::Instant time, dissect::Instant start, bool nanoseconds);

void paintLadder(QPainter& painter, const LadderGeometry& geometry, const LadderStyle& style);

}  // namespace qps::gui
