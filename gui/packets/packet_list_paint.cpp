// How rows are drawn.
#include <gui/packets/packet_list.hpp>

#include <QHeaderView>
#include <QPaintEvent>
#include <QPainter>
#include <utility>

namespace qps::gui {

using dissect::FrameIndex;

void PacketList::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
    if (m_rows == nullptr || m_scroll.rows == 0) {
        painter.setPen(palette().color(QPalette::Disabled, QPalette::Text));
        const bool none = m_rows == nullptr || m_rows->total() == 0;
        painter.drawText(viewport()->rect(), Qt::AlignCenter,
                         none ? tr("No packets") : tr("No packet matches the display filter"));
        return;
    }
    for (std::uint64_t i = 0; i <= m_scroll.page && m_top + i < m_scroll.rows; ++i)
        paintRow(painter, m_top + i, rowRect(m_top + i));
}

void PacketList::paintRow(QPainter& painter, std::uint64_t position, const QRect& row) {
    const RowText& text = m_texts.at(position);
    const FrameIndex frame = m_rows->frameAt(position);
    const bool selected = m_selected.contains(frame);
    const bool marked = m_notes.marks.contains(frame);
    const bool ignored = m_notes.ignored.contains(frame);
    const QPalette::ColorGroup group = hasFocus() || !isActiveWindow() ? QPalette::Active : QPalette::Inactive;

    QColor ink = palette().color(QPalette::Text);
    if (ignored || !text.readable) ink = mixed(palette().color(QPalette::Base), ink, 0.55);
    if (selected) {
        painter.fillRect(row, palette().color(group, QPalette::Highlight));
        ink = palette().color(group, QPalette::HighlightedText);
    } else if (marked) {
        painter.fillRect(row, mixed(palette().color(QPalette::Base), palette().color(QPalette::Text), 0.22));
    } else if (text.rule != nullptr && !ignored) {
        painter.fillRect(row, groundOf(text.rule->ink, palette()));
    }
    paintSigns(painter, frame, text, row, ink);

    QFont font = this->font();
    font.setStrikeOut(ignored);
    painter.setFont(font);
    painter.setPen(ink);
    for (int column = 0; column < m_header->count(); ++column) {
        QRect cell = cellRect(position, column);
        if (cell.isEmpty() || !cell.intersects(viewport()->rect())) continue;
        const bool first = m_header->visualIndex(column) == 0;
        cell.adjust(margin() + (first ? gutter() : 0), 0, -margin(), 0);
        const QString& content = text.cells[static_cast<std::size_t>(column)];
        if (content.isEmpty() || cell.width() <= 0) continue;
        const int side = m_texts.columns()[static_cast<std::size_t>(column)].right ? Qt::AlignRight : Qt::AlignLeft;
        painter.drawText(cell, side | int{Qt::AlignVCenter} | int{Qt::TextSingleLine},
                         fontMetrics().elidedText(content, Qt::ElideRight, cell.width()));
    }
    if (m_current == frame && hasFocus()) {
        painter.setPen(QPen(ink, 1, Qt::DotLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(row.adjusted(0, 0, -1, -1));
    }
}

// A bar in the colour of the rule, a diamond for a mark, a bubble for a comment.
void PacketList::paintSigns(QPainter& painter, FrameIndex frame, const RowText& text, const QRect& row,
                            const QColor& ink) {
    const int left = -m_header->offset();
    const int height = row.height();
    if (text.rule != nullptr)
        painter.fillRect(QRect(left, row.y(), std::max(3, height / 5), height), inkOf(text.rule->ink, palette()));
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const double side = height * 0.45;
    const double middle = row.y() + height / 2.0;
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    if (m_notes.marks.contains(frame)) {
        const double x = left + height * 0.65;
        painter.drawPolygon(
            QPolygonF{{x, middle - side / 2}, {x + side / 2, middle}, {x, middle + side / 2}, {x - side / 2, middle}});
    }
    if (!text.comment.isEmpty()) {
        const QRectF bubble(left + height * 1.05, middle - side * 0.6, side * 1.3, side * 0.9);
        painter.drawRoundedRect(bubble, side / 4, side / 4);
        painter.drawPolygon(QPolygonF{{bubble.left() + side * 0.3, bubble.bottom() - 1},
                                      {bubble.left() + side * 0.7, bubble.bottom() - 1},
                                      {bubble.left() + side * 0.25, bubble.bottom() + side * 0.4}});
    }
    painter.restore();
}

// The whole text of a cell that is cut off, the comment, the reason of the colour.
QString PacketList::toolTipAt(const QPoint& at) {
    const std::optional<std::uint64_t> position = rowAt(at.y());
    if (!position) return {};
    const RowText& text = m_texts.at(*position);
    QStringList lines;
    const int column = m_header->logicalIndexAt(at.x());
    if (column >= 0 && std::cmp_less(column, text.cells.size())) {
        const QString& content = text.cells[static_cast<std::size_t>(column)];
        const int room =
            cellRect(*position, column).width() - 2 * margin() - (m_header->visualIndex(column) == 0 ? gutter() : 0);
        if (fontMetrics().horizontalAdvance(content) > room) lines << content;
    }
    if (!text.comment.isEmpty()) lines << tr("Comment: %1").arg(text.comment);
    if (text.rule != nullptr) lines << tr("Colour rule: %1").arg(text.rule->name);
    const FrameIndex frame = m_rows->frameAt(*position);
    if (m_notes.ignored.contains(frame)) lines << tr("Ignored");
    return lines.join(QLatin1Char('\n')).toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br/>"));
}

}  // namespace qps::gui
