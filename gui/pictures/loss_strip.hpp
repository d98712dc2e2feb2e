// LossStrip: the way between two hosts as a line from the sender over the tap to the receiver, a row for each pair,
// with what was lost, marked, reordered or spoiled on each stretch, and what is undecided.
#pragma once

#include <transport-replay/series/loss_places.hpp>

#include <QAbstractScrollArea>
#include <memory>
#include <vector>

class QPainter;

namespace qps::gui {

// What a strip shows; shared, so that painting needs nobody else.
struct LossDrawing {
    transport::series::LossPlaces places;
    std::vector<QString> taps;  // names of captured hosts, by HostNumber less one
};

// Of a row in words, as hover, accessibility and copies say it.
[[nodiscard]] QString lossText(const LossDrawing& drawing, std::size_t row);

class LossStrip : public QAbstractScrollArea {
    Q_OBJECT

public:
    explicit LossStrip(QWidget* parent = nullptr);

    void show(std::shared_ptr<const LossDrawing> drawing, const QString& notice);
    [[nodiscard]] const LossDrawing* drawing() const { return m_drawing.get(); }
    [[nodiscard]] std::optional<std::size_t> current() const { return m_current; }
    void setCurrent(std::size_t row);
    // All rows in a picture so wide, and rows from a height on in a painter.
    [[nodiscard]] double heightOfAll() const;
    void paint(QPainter& painter, const QSizeF& size, double from, const QPalette& palette, bool marks) const;

Q_SIGNALS:
    void currentChanged();
    void activated();  // the current row

protected:
    bool viewportEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    [[nodiscard]] std::size_t count() const { return m_drawing ? m_drawing->places.rows.size() : 0; }
    [[nodiscard]] double rowHeight(std::size_t row) const;
    [[nodiscard]] std::optional<std::size_t> rowAt(double y) const;  // of the whole
    void measure();

    std::shared_ptr<const LossDrawing> m_drawing;
    std::vector<double> m_tops;  // of each row, and the end of the last
    QString m_notice;
    std::optional<std::size_t> m_current;
};

}  // namespace qps::gui
