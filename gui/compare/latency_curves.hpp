// LatencyCurves: the latency of the messages of two runs, drawn over each other: how long each percentile took, on a
// logarithmic scale.
#pragma once

#include <transport-replay/model/latency_sketch.hpp>

#include <QWidget>
#include <array>
#include <vector>

namespace qps::gui {

class LatencyCurves : public QWidget {
    Q_OBJECT

public:
    explicit LatencyCurves(QWidget* parent = nullptr);
    void show(const transport::LatencySketch& before, const transport::LatencySketch& after);
    // Said where neither run has messages with a latency.
    void setEmptyText(const QString& text) { m_empty = text; }
    [[nodiscard]] QSize sizeHint() const override { return {500, 240}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    using Curve = std::vector<double>;  // ns by percent, 0 to 100; empty: no messages
    [[nodiscard]] static Curve curve(const transport::LatencySketch& bins);
    void paintCurve(QPainter& painter, const QRectF& area, std::size_t run) const;

    std::array<Curve, 2> m_curves;  // before, after
    double m_least = 1;             // ns, of both
    double m_most = 1;
    std::vector<double> m_marks;  // of the axis, from m_least to m_most
    QString m_empty;
};

// 1, 2 and 5 times powers of ten, from the last that is no more than `least` to the first that is no less than `most`.
[[nodiscard]] std::vector<double> roundValues(double least, double most);

}  // namespace qps::gui
