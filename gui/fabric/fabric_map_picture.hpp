// FabricMapPicture: the map of a fabric as it was laid out: nodes as boxes, links as lines, those with errors or ports
// that are down in the colours of trouble. It can be zoomed and moved in; a node is chosen by a click or the arrows.
//
// What an attacker could feed: names of any text; nodes and links are bounded where the map is made.
#pragma once

#include <transport-replay/series/fabric_layout.hpp>

#include <QStringList>
#include <QWidget>
#include <memory>
#include <optional>

namespace qps::gui {

// All of it made apart from the window.
struct FabricDrawing {
    transport::series::FabricLayout layout;
    QStringList names;  // by node
    QStringList words;  // of a node, in a sentence, for tips and screen readers
    std::vector<bool> forwards;
};

class FabricMapPicture : public QWidget {
    Q_OBJECT

public:
    explicit FabricMapPicture(QWidget* parent = nullptr);
    void show(std::shared_ptr<const FabricDrawing> drawing);
    [[nodiscard]] std::optional<std::size_t> current() const { return m_current; }
    void setCurrent(std::optional<std::size_t> node);
    void showAll();
    [[nodiscard]] QSize sizeHint() const override { return {600, 360}; }

Q_SIGNALS:
    void currentChanged();
    void activated();  // the current node

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] QSizeF unit() const;  // of a node's room, in pixels
    [[nodiscard]] QPointF middle(std::size_t node) const;
    [[nodiscard]] QRectF box(std::size_t node) const;
    [[nodiscard]] std::optional<std::size_t> nodeAt(const QPointF& at) const;
    [[nodiscard]] std::optional<std::size_t> wireAt(const QPointF& at) const;
    [[nodiscard]] QLineF line(const transport::series::FabricWire& wire) const;
    void paintWires(QPainter& painter) const;
    void paintNodes(QPainter& painter) const;
    void zoom(double by, double around);
    void move(double x);
    void step(int rows, int columns);
    void keepInside();
    void tell();

    std::shared_ptr<const FabricDrawing> m_drawing;
    double m_left = 0;   // units at the left edge
    double m_shown = 1;  // units that are seen
    std::optional<std::size_t> m_current;
    std::optional<double> m_dragged;
};

}  // namespace qps::gui
