// Plot: the widget that shows PlotData, and everything one can do to it with mouse or keys. It knows no capture: what
// somebody chooses it tells by signals.
//
// The data is painted once into an image and again only when it, the view or the size changes; the crosshair moves over
// the image.
#pragma once

#include <gui/pictures/hit.hpp>
#include <gui/pictures/plot_painter.hpp>

#include <QImage>
#include <QWidget>

namespace qps::gui {

class Plot : public QWidget {
    Q_OBJECT

public:
    explicit Plot(QWidget* parent = nullptr);

    // A view of all of the old data becomes one of all of the new; a view of a part stays, unless `anew`.
    void setData(PlotData data, bool anew);
    [[nodiscard]] const PlotData& data() const;
    // What is said where there is nothing to show: what is missing and what to do.
    void setNotice(const QString& text);
    // The shared time range, and when the packet in question was.
    void setRange(std::optional<TimeSpan> range);
    void setPacketTime(std::optional<std::int64_t> time);

    [[nodiscard]] const Viewport& view() const { return m_view; }
    void setTime(TimeSpan time);
    void zoomTime(double factor, std::optional<double> x = {});
    void zoomValues(double factor, std::optional<QPointF> around = {});
    void pan(double timeShare, double valueShare);
    void showAll();  // of the data: its home
    [[nodiscard]] bool canGoBack() const { return !m_history.empty(); }
    void goBack();
    [[nodiscard]] bool dragZooms() const { return m_dragZooms; }
    void setDragZooms(bool zooms);

    [[nodiscard]] bool isLayerVisible(LayerId id) const { return !m_hidden.contains(id); }
    [[nodiscard]] const Hidden& hidden() const { return m_hidden; }
    void setLayerVisible(LayerId id, bool visible);

    // The crosshair; keys move it too. What it is on is told by pointedAt().
    void setCrosshair(std::optional<QPointF> at);
    [[nodiscard]] std::optional<QPointF> crosshair() const { return m_crosshair; }
    void goToNeighbour(bool forward);
    // The packet it is on, or nearest in time to it in the same panel.
    [[nodiscard]] std::optional<Hit> underCrosshair() const;

    [[nodiscard]] const PlotLayout& layoutNow() const;
    // As it is seen, without the crosshair.
    void render(QPainter& painter, const QRectF& bounds, double deviceRatio, const QPalette& palette) const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    // Something that has a packet. (Not the number itself: the meta types of Qt 6.4 refuse an enumeration of unsigned
    // long.)
    void packetChosen(const qps::gui::Hit& hit);
    void packetWanted(const qps::gui::Hit& hit);  // choose it, and go there
    void rangeChosen(std::optional<qps::gui::TimeSpan> range);
    void pointedAt(const QString& words);  // empty: at nothing
    void menuWanted(const QPoint& globalPosition);
    void viewChanged();
    void dragZoomsChanged(bool zooms);

protected:
    bool event(QEvent* event) override;  // tips of the legend
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void leaveEvent(QEvent*) override;

private:
    enum class Drag { None, Pan, Zoom, Range };
    enum Gesture { Single = -1, Wheel, Key, Pull };  // what history takes as one step

    void invalidate();
    void changeView(Viewport view, Gesture gesture);
    [[nodiscard]] std::size_t panelOfCrosshair() const;
    [[nodiscard]] ValueSpan valuesOf(std::size_t panel) const;
    [[nodiscard]] double reach() const;  // how near a pointer must be, in pixels
    void describePoint(const std::optional<Hit>& hit);
    void dragTo(QPointF at);
    void finishDrag(QPointF at);
    void zoomInto(const QRectF& rubber);
    void moveCrosshair(double dx, double dy);
    void setRangeEnd(bool end);
    bool editKey(int key, Qt::KeyboardModifiers modifiers);
    bool viewKey(int key, Qt::KeyboardModifiers modifiers);
    [[nodiscard]] PlotStyle style(double deviceRatio) const;

    mutable PlotData m_data;  // what depends on the zoom is put in when somebody looks
    mutable bool m_refined = false;
    Viewport m_view;
    Hidden m_hidden;
    ZoomHistory m_history;
    QString m_notice;
    std::optional<TimeSpan> m_range;
    std::optional<std::int64_t> m_packetTime;
    std::optional<QPointF> m_crosshair;
    bool m_dragZooms = false;

    Drag m_drag = Drag::None;
    bool m_moved = false;
    Qt::MouseButton m_button = Qt::NoButton;
    QPointF m_pressed;
    Viewport m_pressedView;
    std::optional<QRectF> m_rubber;

    mutable std::optional<PlotLayout> m_layout;
    QImage m_canvas;  // null: to be painted again
};

}  // namespace qps::gui
