// When: the life of a row on the time axis of the capture, with the moments of trouble in it. Plain values and
// arithmetic; the delegate draws them.
//
// What an attacker could feed: instants of any value, in any order; the axis may have no length.
#pragma once

#include <gui/base/look.hpp>
#include <gui/session/selection.hpp>

#include <QMetaType>
#include <QString>
#include <span>
#include <vector>

namespace qps::gui {

enum class Trouble : std::uint8_t { Resent, Refused, Evidence };  // sent again; NAK; a packet that proves something

struct Moment {
    dissect::Instant time{};
    Trouble trouble{};
    [[nodiscard]] bool operator==(const Moment&) const = default;
};

struct When {
    std::optional<TimeRange> life;  // nothing: no packet of it has a time
    std::vector<Moment> moments;
    std::vector<std::uint8_t>
        heights{};  // of what it carried, in equal parts of the axis, 0 to 255; none: it is a plain bar
};

// What is drawn into a cell of so many pixels.
struct WhenTick {
    int x = 0;
    Trouble trouble{};
    [[nodiscard]] bool operator==(const WhenTick&) const = default;
};
struct WhenShape {
    int left = 0;
    int width = 0;                // at least `least`
    std::vector<WhenTick> ticks;  // from left to right, one a pixel: of several the worst
};
[[nodiscard]] int whenPixel(dissect::Instant time, const TimeRange& axis, int width);
// Nothing where its life lies outside of the axis.
[[nodiscard]] WhenShape whenShape(const When& when, const TimeRange& axis, int width, int least);

// Those of a part of the axis that they are of.
[[nodiscard]] std::vector<std::uint8_t> heightsIn(const std::vector<std::uint8_t>& heights, const TimeRange& whole,
                                                  const TimeRange& part);

// "from 0.001204 s for 3.4 ms; sent again 2 times, refused once"
[[nodiscard]] QString whenText(const When& when, const TimeRange& axis);

}  // namespace qps::gui

Q_DECLARE_METATYPE(qps::gui::When)
