#include <dissect/packet/notation.hpp>
#include <dissect/packet/render_value.hpp>
#include <gui/packets/packet_window.hpp>

#include <QKeyEvent>
#include <QLabel>
#include <QVBoxLayout>
#include <string>
#include <utility>

namespace qps::gui {

PacketWindow::PacketWindow(const SharedPacket& packet, const FieldTree& like, QWidget* parent)
    : QWidget(parent, Qt::Window), m_panes(new PacketPanes(this)), m_place(new QLabel(this)) {
    std::string line;
    dissect::append_line(line, packet->packet());
    std::string shown;
    dissect::append_printable(shown, line);
    setWindowTitle(tr("Packet %1 - %2")
                       .arg(std::to_underlying(packet->packet().frame.index))
                       .arg(QString::fromStdString(shown).left(200)));
    setAttribute(Qt::WA_DeleteOnClose);
    m_place->setTextFormat(Qt::PlainText);
    m_place->setAccessibleName(tr("Position of the selected field"));
    auto* column = new QVBoxLayout(this);
    const int gap = fontMetrics().height() / 4;
    column->setContentsMargins(gap, gap, gap, gap);
    column->addWidget(m_panes, 1);
    column->addWidget(m_place);
    m_panes->setOrientation(Qt::Vertical);
    connect(m_panes, &PacketPanes::placeChanged, m_place, &QLabel::setText);
    m_panes->setStretchFactor(1, 1);
    m_panes->setPacket(packet);
    m_panes->tree().setOpenFields(like.openFields());
    if (const auto selected = like.fields().number(like.currentIndex()); selected && like.packet() == packet)
        m_panes->tree().setCurrentIndex(m_panes->tree().fields().indexOf(*selected));
    resize(m_panes->bytes().sizeHint().width() + 4 * gap, fontMetrics().height() * 40);
}

void PacketWindow::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) close();
    else QWidget::keyPressEvent(event);
}

}  // namespace qps::gui
