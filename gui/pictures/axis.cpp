#include <gui/pictures/axis.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace qps::gui {

namespace {

struct Unit {
    double size;
    const char* name;
};
constexpr std::array kCounts{Unit{1, ""}};
constexpr std::array kBytes{Unit{1, " B"}, Unit{1024, " KiB"}, Unit{1048576, " MiB"}, Unit{1073741824, " GiB"},
                            Unit{1099511627776, " TiB"}};
constexpr std::array kBitRates{Unit{1, " bit/s"}, Unit{1e3, " kbit/s"}, Unit{1e6, " Mbit/s"}, Unit{1e9, " Gbit/s"},
                               Unit{1e12, " Tbit/s"}};
constexpr std::array kTimes{Unit{1, " ns"}, Unit{1e3, " us"}, Unit{1e6, " ms"}, Unit{1e9, " s"}};

constexpr std::size_t kMostTicks = 200;  // of an axis: more than fit on any screen
constexpr int kSignificantDigits = 4;    // of a value in a text: more than a picture shows

std::span<const Unit> unitsOf(Quantity quantity) {
    switch (quantity) {
        case Quantity::Bytes: return kBytes;
        case Quantity::BitRate: return kBitRates;
        case Quantity::Duration: return kTimes;
        case Quantity::Count:
        case Quantity::Psn:
        case Quantity::TcpSequence: break;
    }
    return kCounts;
}

// The largest unit that the magnitude fills.
const Unit& unitFor(double magnitude, std::span<const Unit> units) {
    const Unit* best = &units.front();
    for (const Unit& unit : units)
        if (magnitude >= unit.size) best = &unit;
    return *best;
}

// Digits behind the point that it takes to write multiples of the step.
int decimalsOf(double step) { return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12); }

QString number(double value, int decimals) {
    const QString text = QString::number(value, 'f', decimals);
    return text == QLatin1String("-0") ? QStringLiteral("0") : text;
}

// 1, 2, 5, 10, 20, 50, ...: the smallest that is not below `least`.
double niceStep(double least) {
    const double decade = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * decade >= least * (1 - 1e-9)) return factor * decade;
    return 10 * decade;
}

double nextStep(double step) { return niceStep(step * 1.5); }

QString withoutTrailingZeros(QString text) {
    if (!text.contains(QLatin1Char('.'))) return text;
    while (text.endsWith(QLatin1Char('0'))) text.chop(1);
    if (text.endsWith(QLatin1Char('.'))) text.chop(1);
    return text;
}

// Nanoseconds written in units of `unit` with so many digits behind the point; cut, not rounded, as clocks are.
QString inUnits(std::int64_t time, std::int64_t unit, int decimals) {
    const bool negative = time < 0;
    const std::uint64_t magnitude = negative ? 0 - static_cast<std::uint64_t>(time) : static_cast<std::uint64_t>(time);
    QString text = QString::number(magnitude / static_cast<std::uint64_t>(unit));
    if (decimals > 0) {
        int width = 0;
        for (std::int64_t left = unit; left > 1; left /= 10) ++width;
        const QString rest =
            QString::number(magnitude % static_cast<std::uint64_t>(unit)).rightJustified(width, QLatin1Char('0'));
        text += QLatin1Char('.') + rest.left(decimals);
    }
    return negative ? QLatin1Char('-') + text : text;
}

std::int64_t magnitude(std::int64_t time) { return std::to_underlying(dissect::magnitude(dissect::Duration{time})); }

const Unit& timeUnit(std::int64_t longest) { return unitFor(std::abs(static_cast<double>(longest)), kTimes); }

// Drops labels that would touch the one before or leave the axis. `place` and `extent` are pixels.
class LabelRow {
public:
    LabelRow(double first, double last) : free_(first), last_(last) {}
    bool take(double place, double extent) {
        const double slack = 0.5;  // of rounding
        if (place - extent / 2 < free_ - slack || place + extent / 2 > last_ + slack) return false;
        free_ = place + extent / 2;
        return true;
    }

private:
    double free_;
    double last_;
};

std::vector<ValueTick> decadeTicks(const ValueScale& scale, Quantity quantity, const LabelExtent& extent) {
    std::vector<ValueTick> ticks;
    if (!(scale.span.from > 0) || !(scale.span.to > scale.span.from)) return ticks;
    const int first = static_cast<int>(std::floor(std::log10(scale.span.from)));
    const int last = static_cast<int>(std::ceil(std::log10(scale.span.to)));
    const double decade = scale.height / std::max(1e-9, std::log10(scale.span.to) - std::log10(scale.span.from));
    const double needed = std::max(1.0, extent(QStringLiteral("0")));
    const int every = std::max(1, static_cast<int>(std::ceil(needed / decade)));
    const bool between = decade > 4 * needed;
    LabelRow row(scale.bottom - scale.height - needed / 2, scale.bottom + needed / 2);
    for (int power = last; power >= first && ticks.size() < kMostTicks; --power) {
        for (const double factor : {5.0, 2.0, 1.0}) {
            const double value = factor * std::pow(10.0, power);
            if (value < scale.span.from * (1 - 1e-9) || value > scale.span.to * (1 + 1e-9)) continue;
            if (factor != 1.0 && !between) continue;
            const QString label = valueText(value, quantity);
            const bool wanted = factor != 1.0 || power % every == 0;
            ticks.push_back({value, wanted && row.take(scale.pixel(value), extent(label)) ? label : QString()});
        }
    }
    std::reverse(ticks.begin(), ticks.end());
    return ticks;
}

}  // namespace

double TimeScale::pixel(std::int64_t time) const {
    return left + TimeSpan{span.from, time}.length() / span.length() * width;
}

std::int64_t TimeScale::time(double pixel) const {
    const double distance = (pixel - left) / width * span.length();
    const double limit = static_cast<double>(dissect::kLongestTime);
    if (distance >= limit) return dissect::kLongestTime;
    if (distance <= -limit) return -dissect::kLongestTime;
    return dissect::saturating::add(span.from, std::llround(distance));
}

double ValueScale::pixel(double value) const {
    if (!logarithmic) return bottom - (value - span.from) / (span.to - span.from) * height;
    if (!(value > 0)) return bottom;
    return bottom -
           (std::log10(value) - std::log10(span.from)) / (std::log10(span.to) - std::log10(span.from)) * height;
}

double ValueScale::value(double pixel) const {
    const double share = (bottom - pixel) / height;
    if (!logarithmic) return span.from + share * (span.to - span.from);
    return std::pow(10.0, std::log10(span.from) + share * (std::log10(span.to) - std::log10(span.from)));
}

std::vector<TimeTick> timeTicks(const TimeScale& scale, const LabelExtent& extent, double before, double after) {
    std::vector<TimeTick> ticks;
    const double length = scale.span.length();
    if (!(length > 0) || !(scale.width > 0)) return ticks;
    const std::int64_t longest = std::max(magnitude(scale.span.from), magnitude(scale.span.to));
    const auto labelled = [&](std::int64_t time, double step) {
        return timeText(time, static_cast<std::int64_t>(step), longest);
    };

    double step = std::max(1.0, niceStep(length / static_cast<double>(kMostTicks)));
    const auto fits = [&](double apart) {
        const double widest =
            std::max(extent(labelled(scale.span.from, apart)),
                     extent(labelled(scale.span.to - static_cast<std::int64_t>(std::min(apart, length)), apart)));
        return apart / length * scale.width >= widest || apart >= length;
    };
    while (!fits(step)) step = nextStep(step);
    if (step >= 9e18) return ticks;
    const auto by = static_cast<std::int64_t>(step);
    LabelRow row(scale.left - before, scale.left + scale.width + after);
    std::int64_t time = scale.span.from / by * by;
    if (time < scale.span.from && __builtin_add_overflow(time, by, &time)) return ticks;
    while (time <= scale.span.to && ticks.size() <= kMostTicks) {
        const QString label = labelled(time, step);
        ticks.push_back({time, row.take(scale.pixel(time), extent(label)) ? label : QString()});
        if (__builtin_add_overflow(time, by, &time)) break;
    }
    return ticks;
}

std::vector<ValueTick> valueTicks(const ValueScale& scale, Quantity quantity, const LabelExtent& extent) {
    if (scale.logarithmic) return decadeTicks(scale, quantity, extent);
    std::vector<ValueTick> ticks;
    const double length = scale.span.to - scale.span.from;
    if (!(length > 0) || !std::isfinite(length) || !(scale.height > 0)) return ticks;
    const bool whole = quantity == Quantity::Count || quantity == Quantity::Psn || quantity == Quantity::TcpSequence;
    const Unit& unit = unitFor(std::max(std::abs(scale.span.from), std::abs(scale.span.to)), unitsOf(quantity));
    const double needed = std::max(1.0, extent(QStringLiteral("0")));
    double step = niceStep(std::max(length / unit.size * std::min(1.0, needed * 1.5 / scale.height), 1e-12));
    if (whole) step = std::max(1.0, step);
    const int decimals = decimalsOf(step);

    LabelRow row(scale.bottom - scale.height - needed / 2, scale.bottom + needed / 2);
    const double first = std::ceil(scale.span.from / unit.size / step - 1e-9);
    const double last = std::floor(scale.span.to / unit.size / step + 1e-9);
    double multiple = last;
    while (multiple >= first && ticks.size() < kMostTicks) {
        const double value = multiple * step;
        const QString label = number(value, decimals) + QLatin1String(value == 0 && !whole ? "" : unit.name);
        ticks.push_back(
            {value * unit.size, row.take(scale.pixel(value * unit.size), extent(label)) ? label : QString()});
        if (multiple - 1 == multiple) break;
        multiple -= 1;
    }
    std::reverse(ticks.begin(), ticks.end());
    return ticks;
}

QString timeText(std::int64_t time, std::int64_t resolution, std::int64_t longest) {
    const Unit& unit = timeUnit(longest);
    const int decimals = decimalsOf(static_cast<double>(std::max<std::int64_t>(1, resolution)) / unit.size);
    return inUnits(time, static_cast<std::int64_t>(unit.size), decimals) + QLatin1String(unit.name);
}

QString exactTimeText(std::int64_t time) {
    const Unit& unit = timeUnit(time);
    return withoutTrailingZeros(inUnits(time, static_cast<std::int64_t>(unit.size), 9)) + QLatin1String(unit.name);
}

QString valueText(double value, Quantity quantity) {
    if (quantity == Quantity::Psn || quantity == Quantity::TcpSequence) return QString::number(value, 'f', 0);
    const Unit& unit = unitFor(std::abs(value), unitsOf(quantity));
    const double scaled = value / unit.size;
    if (std::abs(scaled) >= 1000 || scaled == std::floor(scaled)) return number(scaled, 0) + QLatin1String(unit.name);
    const int before = std::abs(scaled) >= 1 ? static_cast<int>(std::log10(std::abs(scaled))) + 1 : 1;
    return withoutTrailingZeros(number(scaled, std::max(0, kSignificantDigits - before))) + QLatin1String(unit.name);
}

}  // namespace qps::gui
