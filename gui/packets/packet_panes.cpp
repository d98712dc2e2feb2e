#include <gui/packets/packet_panes.hpp>

namespace qps::gui {

PacketPanes::PacketPanes(QWidget* parent)
    : QSplitter(Qt::Horizontal, parent), m_tree(new FieldTree(this)), m_bytes(new BytesView(this)) {
    setObjectName(QStringLiteral("packetPanes"));
    setChildrenCollapsible(false);
    addWidget(m_tree);
    addWidget(m_bytes);
    setStretchFactor(0, 1);
    setStretchFactor(1, 0);
    connect(m_tree, &FieldTree::lineChanged, this, [this] {
        m_bytes->setHighlight(m_tree->currentSpan(), m_tree->layerSpan());
        Q_EMIT placeChanged(m_tree->placeText());
    });
    connect(m_bytes, &BytesView::byteSelected, this, [this] { m_tree->selectByte(*m_bytes->currentByte()); });
}

void PacketPanes::setPacket(const SharedPacket& packet) {
    m_bytes->setPacket(packet);
    m_tree->setPacket(packet);
}

}  // namespace qps::gui
