#include <gui/base/look.hpp>
#include <gui/base/text.hpp>
#include <gui/compare/latency_curves.hpp>
#include <transport-replay/report/figures.hpp>

#include <QPainter>
#include <algorithm>
#include <cmath>

namespace qps::gui {

namespace {

constexpr unsigned kAll = 100;  // percent
constexpr int kGrid = 4;        // steps of percent
constexpr std::array kRunInks{Ink::Request, Ink::Retransmission};

QString durationWords(double ns) {
    return shown(transport::duration_text(dissect::Duration{static_cast<std::int64_t>(ns)}));
}

}  // namespace

std::vector<double> roundValues(double least, double most) {
    constexpr std::array kSteps{1.0, 2.0, 5.0};
    constexpr int kPowers = 19;  // more than 64 bits of nanoseconds
    std::vector<double> all;
    for (int power = 0; power < kPowers; ++power)
        for (const double step : kSteps) all.push_back(step * std::pow(10.0, power));
    const auto first = std::ranges::upper_bound(all, std::max(1.0, least));
    const auto begin = first == all.begin() ? first : std::prev(first);
    auto end = std::ranges::lower_bound(begin, all.end(), most);
    if (end != all.end()) ++end;
    std::vector<double> found(begin, end);
    if (found.size() < 2) found = {all.front(), all.back()};
    return found;
}

LatencyCurves::LatencyCurves(QWidget* parent) : QWidget(parent) { setMinimumSize(200, 120); }

LatencyCurves::Curve LatencyCurves::curve(const transport::LatencySketch& bins) {
    Curve made;
    if (bins.count() == 0) return made;
    for (unsigned percent = 0; percent <= kAll; ++percent)
        made.push_back(std::max(1.0, static_cast<double>(std::to_underlying(bins.percentile(percent)))));
    return made;
}

void LatencyCurves::show(const transport::LatencySketch& before, const transport::LatencySketch& after) {
    m_curves = {curve(before), curve(after)};
    m_least = 0;
    m_most = 1;
    QStringList words;
    for (std::size_t run = 0; run < m_curves.size(); ++run) {
        const Curve& one = m_curves[run];
        if (one.empty()) continue;
        m_least = m_least == 0 ? one.front() : std::min(m_least, one.front());
        m_most = std::max(m_most, one.back());
        words << tr("%1: median %2, 99th percentile %3")
                     .arg(run == 0 ? tr("before") : tr("after"), durationWords(one[50]), durationWords(one[99]));
    }
    // A little beyond, to where a round value is: marks of the axis are 1, 2 and 5 of a power of ten.
    m_marks = roundValues(std::max(1.0, m_least), std::max(m_most, m_least * 2));
    m_least = m_marks.front();
    m_most = m_marks.back();
    setAccessibleDescription(words.isEmpty() ? tr("No messages with a latency") : words.join(QStringLiteral("; ")));
    setToolTip(words.join(QLatin1Char('\n')));
    update();
}

void LatencyCurves::paintCurve(QPainter& painter, const QRectF& area, std::size_t run) const {
    const Curve& one = m_curves[run];
    if (one.empty()) return;
    QPolygonF line;
    for (std::size_t percent = 0; percent < one.size(); ++percent) {
        const double share = std::log(one[percent] / m_least) / std::log(m_most / m_least);
        line << QPointF(area.left() + area.width() * static_cast<double>(percent) / kAll,
                        area.bottom() - area.height() * share);
    }
    painter.setPen(QPen(color(kRunInks[run], palette()), 2, run == 0 ? Qt::DashLine : Qt::SolidLine));
    painter.drawPolyline(line);
}

void LatencyCurves::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    const QColor words = palette().color(QPalette::Text);
    if (m_curves[0].empty() && m_curves[1].empty()) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, m_empty);
        return;
    }
    const double height = fontMetrics().height(), left = fontMetrics().averageCharWidth() * 12.0;
    const QRectF area(left, height * 1.8, std::max(10.0, width() - left - fontMetrics().averageCharWidth() * 5.0),
                      std::max(10.0, this->height() - height * 4));
    const QColor faint = mixed(palette().color(QPalette::Base), words, 0.25);
    for (int step = 0; step <= kGrid; ++step) {
        const double x = area.left() + area.width() * step / kGrid;
        painter.setPen(faint);
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
        painter.setPen(words);
        // The first one stands beside the values of the other axis, not under them.
        const QRectF below =
            step == 0 ? QRectF(x + 4, area.bottom() + 2, 80, height) : QRectF(x - 40, area.bottom() + 2, 80, height);
        painter.drawText(below, step == 0 ? Qt::AlignLeft : Qt::AlignHCenter, tr("%1 %").arg(100 * step / kGrid));
    }
    double free = area.bottom() + height;  // above it there is room for a label
    for (const double mark : m_marks) {
        const double y = area.bottom() - area.height() * std::log(mark / m_least) / std::log(m_most / m_least);
        painter.setPen(faint);
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
        if (y + height / 2 > free) continue;
        free = y - height / 2;
        painter.setPen(words);
        painter.drawText(QRectF(0, y - height / 2, left - 6, height), Qt::AlignRight | Qt::AlignVCenter,
                         durationWords(mark));
    }
    painter.setPen(words);
    painter.drawText(QRectF(area.left(), area.bottom() + height + 2, area.width(), height), Qt::AlignHCenter,
                     tr("messages that took no longer"));
    painter.setRenderHint(QPainter::Antialiasing);
    double x = area.left();
    for (std::size_t run = 0; run < m_curves.size(); ++run) {
        paintCurve(painter, area, run);
        const QString name = run == 0 ? tr("before") : tr("after");
        painter.drawLine(QPointF(x, height * 0.9), QPointF(x + 24, height * 0.9));
        painter.setPen(words);
        painter.drawText(QRectF(x + 30, height * 0.3, 120, height * 1.2), Qt::AlignLeft | Qt::AlignVCenter,
                         m_curves[run].empty() ? tr("%1: no messages").arg(name) : name);
        x += 160;
    }
}

}  // namespace qps::gui
