// PacketPanes: one packet: its fields beside its bytes, each marking what is selected in the other.
#pragma once

#include <gui/packets/bytes_view.hpp>
#include <gui/packets/field_tree.hpp>

#include <QSplitter>

namespace qps::gui {

class PacketPanes : public QSplitter {
    Q_OBJECT

public:
    explicit PacketPanes(QWidget* parent = nullptr);

    void setPacket(const SharedPacket& packet);
    [[nodiscard]] FieldTree& tree() const { return *m_tree; }
    [[nodiscard]] BytesView& bytes() const { return *m_bytes; }

Q_SIGNALS:
    void placeChanged(const QString& text);  // which bytes and bits the selected field has: for a status bar

private:
    FieldTree* m_tree;
    BytesView* m_bytes;
};

}  // namespace qps::gui
