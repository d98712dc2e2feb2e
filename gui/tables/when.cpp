#include <dissect/base/types.hpp>
#include <gui/base/text.hpp>
#include <gui/tables/when.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <utility>

namespace qps::gui {

using dissect::Instant;

int whenPixel(Instant time, const TimeRange& axis, int width) {
    const auto length = static_cast<double>(std::to_underlying(axis.to - axis.from));
    if (length <= 0 || width <= 1) return 0;
    const auto since = static_cast<double>(std::to_underlying(time - axis.from));
    return static_cast<int>(std::clamp(since / length, 0.0, 1.0) * (width - 1));
}

WhenShape whenShape(const When& when, const TimeRange& axis, int width, int least) {
    WhenShape shape;
    if (!when.life) return shape;
    // A file may make up times that run backwards: these are drawn at an edge.
    const bool forwards = axis.from < axis.to && when.life->from <= when.life->to;
    if (forwards && (when.life->to < axis.from || axis.to < when.life->from)) return shape;  // not in it
    const int from = whenPixel(when.life->from, axis, width);
    const int to = std::max(from, whenPixel(when.life->to, axis, width));
    shape.width = std::min(std::max(to - from + 1, least), width);
    shape.left = std::min(from, width - shape.width);
    for (const Moment& moment : when.moments)
        if (!forwards || (axis.from <= moment.time && moment.time <= axis.to))
            shape.ticks.push_back({whenPixel(moment.time, axis, width), moment.trouble});
    std::ranges::sort(shape.ticks, [](const WhenTick& a, const WhenTick& b) {
        return a.x != b.x ? a.x<b.x : (a.trouble == Trouble::Refused)>(b.trouble == Trouble::Refused);
    });
    const auto repeated = std::ranges::unique(shape.ticks, {}, &WhenTick::x);
    shape.ticks.erase(repeated.begin(), repeated.end());
    return shape;
}

std::vector<std::uint8_t> heightsIn(const std::vector<std::uint8_t>& heights, const TimeRange& whole,
                                    const TimeRange& part) {
    const auto length = static_cast<double>(std::to_underlying(whole.to - whole.from));
    if (part == whole || heights.empty() || length <= 0) return heights;
    const auto place = [&](Instant time) {
        const double share = static_cast<double>(std::to_underlying(time - whole.from)) / length;
        return std::clamp(share, 0.0, 1.0) * static_cast<double>(heights.size());
    };
    const double from = place(part.from), to = place(part.to);
    std::vector<std::uint8_t> shown(heights.size());
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const double at = from + (to - from) * (static_cast<double>(i) + 0.5) / static_cast<double>(shown.size());
        shown[i] = heights[std::min(static_cast<std::size_t>(at), heights.size() - 1)];
    }
    return shown;
}

QString whenText(const When& when, const TimeRange& axis) {
    if (!when.life) return QObject::tr("no time known");
    QString text = QObject::tr("start %1 s, duration %2")
                       .arg(shown(transport::seconds_text(when.life->from - axis.from)),
                            shown(transport::duration_text(when.life->to - when.life->from)));
    const auto add = [&](Trouble trouble, const QString& words) {
        const auto count = std::ranges::count(when.moments, trouble, &Moment::trouble);
        if (count == 0) return;
        text += text.contains(QLatin1Char(';')) ? QStringLiteral(", ") : QStringLiteral("; ");
        text += count == 1 ? QObject::tr("%1 once").arg(words) : QObject::tr("%1 %2 times").arg(words).arg(count);
    };
    add(Trouble::Resent, QObject::tr("retransmitted"));
    add(Trouble::Refused, QObject::tr("refused"));
    return text;
}

}  // namespace qps::gui
