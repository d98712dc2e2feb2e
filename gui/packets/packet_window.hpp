// PacketWindow: one packet in a window of its own, which keeps it whatever becomes of the capture.
#pragma once

#include <gui/packets/packet_panes.hpp>

#include <QWidget>

class QLabel;

namespace qps::gui {

class PacketWindow : public QWidget {
    Q_OBJECT

public:
    explicit PacketWindow(const SharedPacket& packet, QWidget* parent = nullptr);
    [[nodiscard]] PacketPanes& panes() const { return *m_panes; }

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    PacketPanes* m_panes;
    QLabel* m_place;
};

}  // namespace qps::gui
