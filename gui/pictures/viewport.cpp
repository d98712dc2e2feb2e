#include <gui/pictures/viewport.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace qps::gui {

namespace {

// `by` nanoseconds later.
std::int64_t moved(std::int64_t time, double by) {
    const double limit = static_cast<double>(dissect::kLongestTime);
    if (by >= limit) return dissect::kLongestTime;
    if (by <= -limit) return -dissect::kLongestTime;
    return dissect::saturating::add(time, std::llround(by));
}

ValueSpan throughLogarithm(ValueSpan span, const auto& change) {
    const ValueSpan changed = change(ValueSpan{std::log10(span.from), std::log10(span.to)});
    return {std::pow(10.0, changed.from), std::pow(10.0, changed.to)};
}

}  // namespace

TimeSpan limited(TimeSpan span, TimeSpan whole) {
    if (span.from > span.to) std::swap(span.from, span.to);
    if (span.length() < static_cast<double>(kLeastTime)) {
        const std::int64_t middle = span.from + (span.to - span.from) / 2;
        span = {moved(middle, -static_cast<double>(kLeastTime) / 2),
                moved(middle, static_cast<double>(kLeastTime) / 2)};
    }
    if (span.length() >= whole.length()) return whole;
    if (span.from < whole.from) return {whole.from, moved(whole.from, span.length())};
    if (span.to > whole.to) return {moved(whole.to, -span.length()), whole.to};
    return span;
}

TimeSpan zoomed(TimeSpan span, std::int64_t around, double factor, TimeSpan whole) {
    const double before = TimeSpan{span.from, around}.length() * factor;
    const double after = TimeSpan{around, span.to}.length() * factor;
    return limited({moved(around, -before), moved(around, after)}, whole);
}

ValueSpan zoomed(ValueSpan span, double around, double factor, bool logarithmic) {
    if (logarithmic && span.from > 0)
        return throughLogarithm(span, [&](ValueSpan part) {
            const double middle = std::log10(std::max(around, std::numeric_limits<double>::min()));
            const ValueSpan made{middle - (middle - part.from) * factor, middle + (part.to - middle) * factor};
            return made.to - made.from < kLeastDecades ? part : made;
        });
    const ValueSpan made{around - (around - span.from) * factor, around + (span.to - around) * factor};
    const double largest = std::max({std::abs(made.from), std::abs(made.to), 1e-6});
    return made.to - made.from < largest * kLeastShareOfWhole || !std::isfinite(made.to - made.from) ? span : made;
}

TimeSpan panned(TimeSpan span, double share, TimeSpan whole) {
    const double by = span.length() * share;
    return limited({moved(span.from, by), moved(span.to, by)}, whole);
}

ValueSpan panned(ValueSpan span, double share, bool logarithmic) {
    const auto pan = [share](ValueSpan part) {
        const double by = (part.to - part.from) * share;
        return ValueSpan{part.from + by, part.to + by};
    };
    return logarithmic && span.from > 0 ? throughLogarithm(span, pan) : pan(span);
}

ValueSpan withMargin(ValueSpan span, bool logarithmic, bool fromZero) {
    if (logarithmic) {
        const double from = std::max(span.from, 1.0);
        const double to = std::max(span.to, from);
        const ValueSpan made{std::pow(10.0, std::floor(std::log10(from) * 2 - 0.1) / 2),
                             std::pow(10.0, std::ceil(std::log10(to) * 2 + 0.1) / 2)};
        return made;
    }
    if (fromZero) span.from = std::min(span.from, 0.0);
    double room = (span.to - span.from) * 0.05;
    if (!(room > 0)) room = std::max(1.0, std::abs(span.to) * 0.05);
    return {fromZero && span.from >= 0 ? 0.0 : span.from - room, span.to + room};
}

void ZoomHistory::remember(const Viewport& now, int kind) {
    if (kind >= 0 && kind == kind_) return;
    kind_ = kind;
    if (!steps_.empty() && steps_.back() == now) return;
    if (steps_.size() == kMaxZoomHistory) steps_.erase(steps_.begin());
    steps_.push_back(now);
}

std::optional<Viewport> ZoomHistory::back() {
    kind_ = -1;
    if (steps_.empty()) return std::nullopt;
    Viewport last = steps_.back();
    steps_.pop_back();
    return last;
}

void ZoomHistory::clear() {
    steps_.clear();
    kind_ = -1;
}

}  // namespace qps::gui
