// PacketWindow: one packet in a window of its own, which keeps it whatever becomes of the capture.
#pragma once

#include <gui/packets/packet_panes.hpp>

#include <QWidget>

class QLabel;

namespace qps::gui {

class PacketWindow : public QWidget {
    Q_OBJECT

public:
    // `like`: what is open and selected in another tree is so in this one.
    PacketWindow(const SharedPacket& packet, const FieldTree& like, QWidget* parent = nullptr);
    [[nodiscard]] PacketPanes& panes() const { return *m_panes; }

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    PacketPanes* m_panes;
    QLabel* m_place;
};

}  // namespace qps::gui
