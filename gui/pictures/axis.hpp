// Axis: values on pixels and back, and which values get a tick and a label. No widgets, so that tests can walk it.
//
// Times are nanoseconds since the capture began, in integers, so that a picture stays exact at any zoom; other values
// are doubles. Invariant: the labels that are handed out do not overlap and keep within the axis. What an attacker
// could feed: times anywhere in 64 bits, in any order; every difference is taken so that it cannot overflow.
#pragma once

#include <dissect/base/types.hpp>

#include <QString>
#include <cstdint>
#include <functional>
#include <vector>

namespace qps::gui {

// Nanoseconds since the capture began; `to` is after `from`.
struct TimeSpan {
    std::int64_t from = 0;
    std::int64_t to = 1;
    [[nodiscard]] double length() const { return static_cast<double>(dissect::saturating::subtract(to, from)); }
    [[nodiscard]] bool contains(std::int64_t time) const { return from <= time && time <= to; }
    [[nodiscard]] bool operator==(const TimeSpan&) const = default;
};

struct ValueSpan {
    double from = 0;
    double to = 1;
    [[nodiscard]] bool operator==(const ValueSpan&) const = default;
};

// What a value counts, hence its unit.
enum class Quantity { Count, Bytes, BitRate, Duration, Psn, TcpSequence };

// Where times lie between the pixels `left` and `left + width`.
struct TimeScale {
    TimeSpan span;
    double left = 0;
    double width = 1;
    [[nodiscard]] double pixel(std::int64_t time) const;
    [[nodiscard]] std::int64_t time(double pixel) const;  // stops at the ends of 64 bits
};

// Where values lie between the pixels `bottom` and, above it, `bottom - height`. On a logarithmic axis a value of 0 or
// less lies at the bottom.
struct ValueScale {
    ValueSpan span;
    bool logarithmic = false;
    double bottom = 1;
    double height = 1;
    [[nodiscard]] double pixel(double value) const;
    [[nodiscard]] double value(double pixel) const;
};

struct TimeTick {
    std::int64_t time = 0;
    QString label;  // empty: none fits here
};
struct ValueTick {
    double value = 0;
    QString label;
};

// How many pixels a label takes along its axis, with the distance to the next one.
using LabelExtent = std::function<double(const QString&)>;

// Steps of 1, 2 or 5 times a power of ten, as small as labels allow. Labels may reach so many pixels past the ends of
// the axis.
[[nodiscard]] std::vector<TimeTick> timeTicks(const TimeScale& scale, const LabelExtent& extent, double before = 0,
                                              double after = 0);
// Of bytes the steps are of KiB, MiB, ... A logarithmic axis has decades, with 2 and 5 between where there is room.
[[nodiscard]] std::vector<ValueTick> valueTicks(const ValueScale& scale, Quantity quantity, const LabelExtent& extent);

// "1.2345 s", with the digits it takes to tell apart times that are `resolution` apart; "0.25 ms" where no time is
// longer than `longest` and that is below a second.
[[nodiscard]] QString timeText(std::int64_t time, std::int64_t resolution, std::int64_t longest);
// In the unit that fits it, as exact as nanoseconds are: "1.234567891 s", "12.5 us".
[[nodiscard]] QString exactTimeText(std::int64_t time);
// "1.25 MiB", "9.87 Gbit/s", "1234".
[[nodiscard]] QString valueText(double value, Quantity quantity);

}  // namespace qps::gui
