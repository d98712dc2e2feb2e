// HeatMap: a matrix of cells, each a shade of one colour by its value on a logarithmic scale, that can be zoomed and
// moved in. Where many cells share a pixel the greatest of them is seen. It knows nothing of hosts but their names.
//
// What an attacker could feed: names of any text, values of any size; rows and columns are bounded by who makes them.
#pragma once

#include <QImage>
#include <QStringList>
#include <QWidget>
#include <functional>
#include <optional>
#include <vector>

namespace qps::gui {

struct HeatCell {
    int column = 0;
    int row = 0;
    double value = 0;  // of 0: nothing to see, but something is there
};

struct HeatData {
    QStringList names;            // of rows, and of columns
    std::vector<HeatCell> cells;  // each place once, both of its numbers those of a name
};

class HeatMap : public QWidget {
    Q_OBJECT

public:
    explicit HeatMap(QWidget* parent = nullptr);
    // `describe`: a cell in words, for tips and screen readers; `legend`: a value.
    using Describe = std::function<QString(int column, int row)>;
    using Legend = std::function<QString(double value)>;
    void show(HeatData heat, Describe describe, Legend legend);
    [[nodiscard]] std::optional<QPoint> current() const { return m_current; }  // column, row
    void setCurrent(std::optional<QPoint> cell);                               // one that is not there changes nothing
    void showAll();
    [[nodiscard]] QSize sizeHint() const override { return {600, 400}; }

Q_SIGNALS:
    void currentChanged();
    void activated();  // the current cell

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    [[nodiscard]] int count() const { return static_cast<int>(m_data.names.size()); }
    [[nodiscard]] QRectF area() const;  // of the cells
    [[nodiscard]] double cellSize() const;
    [[nodiscard]] std::optional<QPoint> cellAt(const QPointF& at) const;
    [[nodiscard]] QRectF cellRect(const QPoint& cell) const;
    [[nodiscard]] QColor shade(double value) const;
    // From one to before another; none by default.
    struct Pixels {
        int from = 0;
        int to = 0;
    };
    [[nodiscard]] std::vector<Pixels> pixelsOf(double origin, int side) const;
    void paintCells();
    void paintNames(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;
    void zoom(double by, const QPointF& around);
    void keepInside();
    void tell();

    HeatData m_data;
    Describe m_describe;
    Legend m_legend;
    double m_least = 0;  // of the values above 0
    double m_most = 0;
    QPointF m_origin;    // column and row at the left upper corner
    double m_shown = 1;  // columns and rows that are seen
    std::optional<QPoint> m_current;
    std::optional<QPointF> m_dragged;
    QImage m_image;  // of the cells; null: to be made
};

}  // namespace qps::gui
