// EventMap: a narrow band with the events of a capture in their colours, along time or along a list: what is in sight
// and where the user stands is marked, a click goes there.
#pragma once

#include <transport-replay/series/event_map.hpp>

#include <QWidget>
#include <optional>
#include <vector>

namespace qps::gui {

class EventMap : public QWidget {
    Q_OBJECT

public:
    // Horizontal: time, with the traffic behind the events; vertical: beside a list.
    explicit EventMap(Qt::Orientation orientation, QWidget* parent = nullptr);
    static constexpr std::size_t kSlots = 600;

    using Slots = std::vector<transport::series::EventSlot>;
    void setSlots(Slots all);
    [[nodiscard]] const Slots& shownSlots() const { return m_slots; }
    // From 0 to 1 along the band; nothing: not to be seen.
    void setView(std::optional<std::pair<double, double>> part);
    void setPlace(std::optional<double> place);
    [[nodiscard]] QSize sizeHint() const override;

Q_SIGNALS:
    void packetWanted(quint64 frame);  // of the worst event there, or the first packet

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] bool flat() const { return m_orientation == Qt::Horizontal; }
    [[nodiscard]] double length() const { return flat() ? width() : height(); }
    [[nodiscard]] QRectF part(double from, double to) const;  // of the band
    [[nodiscard]] std::pair<std::size_t, std::size_t> slotsAt(double from, double to) const;
    // Of the pixels around a place the worst.
    [[nodiscard]] transport::series::EventSlot slotAt(const QPointF& at) const;
    void go(const QPointF& at);
    void describe();

    Qt::Orientation m_orientation;
    Slots m_slots;
    std::uint64_t m_mostBytes = 1;
    std::optional<std::pair<double, double>> m_view;
    std::optional<double> m_place;
};

}  // namespace qps::gui
