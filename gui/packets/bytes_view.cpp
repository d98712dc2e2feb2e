#include <dissect/packet/render.hpp>
#include <dissect/packet/render_value.hpp>
#include <gui/base/fixed_font.hpp>
#include <gui/base/look.hpp>
#include <gui/packets/bytes_view.hpp>

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace qps::gui {

using dissect::FrameSpan;

namespace {

char shownCharacter(std::byte byte) {
    const auto c = std::to_integer<unsigned char>(byte);
    return c >= 0x20 && c < 0x7f ? static_cast<char>(c) : '.';
}

QString offsetText(std::size_t line, int digits) {
    return QStringLiteral("%1").arg(line * BytesGeometry::kPerLine, digits, 16, QLatin1Char('0'));
}

}  // namespace

QString bytesText(dissect::Bytes bytes, BytesForm form) {
    std::string text;
    switch (form) {
        case BytesForm::Hex: dissect::append_hex(text, bytes); break;
        case BytesForm::Dump: dissect::append_hex_dump(text, bytes); break;
        case BytesForm::Characters:
            for (const std::byte byte : bytes) text += shownCharacter(byte);
            break;
        case BytesForm::CArray:
            text = fmt::format("const unsigned char bytes[{}] = {{", bytes.size());
            for (std::size_t i = 0; i < bytes.size(); ++i)
                text += fmt::format("{}0x{:02x},", i % BytesGeometry::kPerLine == 0 ? "\n    " : " ",
                                    std::to_integer<unsigned>(bytes[i]));
            text += "\n};\n";
            break;
    }
    return QString::fromStdString(text);
}

BytesView::BytesView(QWidget* parent) : QAbstractScrollArea(parent) {
    setObjectName(QStringLiteral("bytesView"));
    setAccessibleName(tr("Packet bytes"));
    setFont(fixedFont());
    setFocusPolicy(Qt::StrongFocus);
    updateScroll();
}

void BytesView::setPacket(SharedPacket packet) {
    m_packet = std::move(packet);
    m_bytes.size = bytes().size();
    m_field = m_layer = {};
    if (m_byte && *m_byte >= m_bytes.size) m_byte.reset();
    updateScroll();
    viewport()->update();
}

void BytesView::setHighlight(FrameSpan field, FrameSpan layer) {
    m_field = field;
    m_layer = layer;
    if (field.length > 0 && !(m_byte && field.covers(*m_byte))) m_byte = field.offset;
    if (field.length > 0) showByte(*m_byte);
    QString said = tr("Computed field: no bytes");
    if (field.length > 0)
        said = tr("Bytes %1 to %2: %3")
                   .arg(field.offset)
                   .arg(field.offset + field.length - 1)
                   .arg(copied(BytesForm::Hex).left(128));
    setAccessibleDescription(said);
    viewport()->update();
}

int BytesView::charWidth() const { return std::max(1, fontMetrics().horizontalAdvance(QLatin1Char('0'))); }
int BytesView::lineHeight() const { return fontMetrics().height(); }

QRect BytesView::place(std::size_t byte, int column, int columns) const {
    const int line = static_cast<int>(BytesGeometry::line(byte)) - verticalScrollBar()->value();
    return {(column + 1) * charWidth() - horizontalScrollBar()->value(), line * lineHeight(), columns * charWidth(),
            lineHeight()};
}
QRect BytesView::hexRect(std::size_t byte) const { return place(byte, m_bytes.hexColumn(byte), 2); }
QRect BytesView::textRect(std::size_t byte) const { return place(byte, m_bytes.textColumn(byte), 1); }

std::optional<std::size_t> BytesView::byteAt(const QPoint& at) const {
    const int line = at.y() / lineHeight() + verticalScrollBar()->value();
    const int column = (at.x() + horizontalScrollBar()->value()) / charWidth() - 1;
    return at.y() < 0 || line < 0 ? std::nullopt : m_bytes.byteAt(static_cast<std::size_t>(line), column);
}

void BytesView::updateScroll() {
    const int lines = viewport()->height() / lineHeight();
    verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(m_bytes.lines()) - lines));
    verticalScrollBar()->setPageStep(std::max(1, lines));
    const int width = (m_bytes.columns() + 2) * charWidth();
    horizontalScrollBar()->setRange(0, std::max(0, width - viewport()->width()));
    horizontalScrollBar()->setPageStep(viewport()->width());
    horizontalScrollBar()->setSingleStep(charWidth());
}

QSize BytesView::sizeHint() const { return {(m_bytes.columns() + 4) * charWidth(), 8 * lineHeight()}; }

void BytesView::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    updateScroll();
}

void BytesView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange) updateScroll();
}

void BytesView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
    painter.setFont(font());
    const auto first = static_cast<std::size_t>(verticalScrollBar()->value());
    const auto visible = static_cast<std::size_t>(viewport()->height() / lineHeight()) + 1;
    for (std::size_t line = first; line < m_bytes.lines() && line < first + visible; ++line) paintLine(painter, line);
}

void BytesView::paintLine(QPainter& painter, std::size_t line) {
    const std::size_t first = line * BytesGeometry::kPerLine;
    painter.setPen(mixed(palette().color(QPalette::Base), palette().color(QPalette::Text), 0.6));
    painter.drawText(place(first, 0, m_bytes.digits()), Qt::AlignVCenter, offsetText(line, m_bytes.digits()));
    for (std::size_t byte = first; byte < m_bytes.size && byte < first + BytesGeometry::kPerLine; ++byte)
        paintByte(painter, byte);
}

void BytesView::paintByte(QPainter& painter, std::size_t byte) {
    const QPalette& colours = palette();
    QRect hex = hexRect(byte);
    const QRect text = textRect(byte);
    // The ground of neighbours in the same span joins over the space between them.
    const bool last = byte + 1 >= m_bytes.size || (byte + 1) % BytesGeometry::kPerLine == 0;
    const auto joined = [&](const FrameSpan& span) {
        return !last && span.covers(byte + 1)
                   ? QRect(hex.left(), hex.top(), hexRect(byte + 1).left() - hex.left(), hex.height())
                   : hex;
    };
    QColor ink = colours.color(QPalette::Text);
    if (m_layer.covers(byte)) {
        const QColor ground = mixed(colours.color(QPalette::Base), colours.color(QPalette::Text), 0.14);
        painter.fillRect(joined(m_layer), ground);
        painter.fillRect(text, ground);
    }
    if (m_field.covers(byte)) {
        painter.fillRect(joined(m_field), colours.color(QPalette::Active, QPalette::Highlight));
        painter.fillRect(text, colours.color(QPalette::Active, QPalette::Highlight));
        ink = colours.color(QPalette::Active, QPalette::HighlightedText);
    }
    painter.setPen(ink);
    const std::byte value = bytes()[byte];
    painter.drawText(hex, Qt::AlignCenter,
                     QStringLiteral("%1").arg(std::to_integer<unsigned>(value), 2, 16, QLatin1Char('0')));
    painter.drawText(text, Qt::AlignCenter, QString(QLatin1Char(shownCharacter(value))));
    if (m_byte == byte) {
        painter.drawRect(hex.adjusted(0, 0, -1, -1));
        if (hasFocus()) painter.drawRect(text.adjusted(0, 0, -1, -1));
    }
}

void BytesView::showByte(std::size_t byte) {
    const int line = static_cast<int>(BytesGeometry::line(byte));
    QScrollBar* bar = verticalScrollBar();
    if (line < bar->value()) bar->setValue(line);
    else if (line >= bar->value() + bar->pageStep()) bar->setValue(line - bar->pageStep() + 1);
}

void BytesView::select(std::size_t byte) {
    if (byte >= m_bytes.size) return;
    m_byte = byte;
    showByte(byte);
    viewport()->update();
    Q_EMIT byteSelected();
}

void BytesView::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) return QGuiApplication::clipboard()->setText(copied(BytesForm::Hex));
    const bool control = event->modifiers() == Qt::ControlModifier;
    if (m_bytes.size == 0 || (event->modifiers() & ~(Qt::ControlModifier | Qt::KeypadModifier)) != Qt::NoModifier)
        return event->ignore();
    const std::size_t at = m_byte.value_or(0);
    const std::size_t last = m_bytes.size - 1;
    const std::size_t line = BytesGeometry::kPerLine;
    const std::size_t page = line * static_cast<std::size_t>(verticalScrollBar()->pageStep());
    switch (event->key()) {
        case Qt::Key_Left: return control ? event->ignore() : select(at == 0 ? 0 : at - 1);
        case Qt::Key_Right: return control ? event->ignore() : select(std::min(at + 1, last));
        case Qt::Key_Up: return control ? event->ignore() : select(at < line ? at : at - line);
        case Qt::Key_Down: return control ? event->ignore() : select(last - at < line ? at : at + line);
        case Qt::Key_PageUp: return select(at < page ? at % line : at - page);
        case Qt::Key_PageDown: return select(std::min(at + page, last));
        case Qt::Key_Home: return select(control ? 0 : at / line * line);
        case Qt::Key_End: return select(control ? last : std::min(at / line * line + line - 1, last));
        default: event->ignore();
    }
}

void BytesView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const auto byte = byteAt(event->position().toPoint())) select(*byte);
}

void BytesView::mouseMoveEvent(QMouseEvent* event) {
    if (!event->buttons().testFlag(Qt::LeftButton)) return;
    if (const auto byte = byteAt(event->position().toPoint()); byte && byte != m_byte) select(*byte);
}

QString BytesView::copied(BytesForm form) const {
    const dissect::Bytes chosen =
        m_field.length > 0 ? dissect::slice(bytes(), m_field.offset, m_field.length) : bytes();
    return bytesText(chosen, form);
}

void BytesView::contextMenuEvent(QContextMenuEvent* event) {
    if (m_bytes.size == 0) return;
    QMenu menu(this);
    const auto offer = [&](const QString& title, BytesForm form, bool all) {
        menu.addAction(title, this, [this, form, all] {
            QGuiApplication::clipboard()->setText(all ? bytesText(bytes(), form) : copied(form));
        });
    };
    offer(tr("Copy as &hex"), BytesForm::Hex, false);
    offer(tr("Copy as &characters"), BytesForm::Characters, false);
    offer(tr("Copy as C &array"), BytesForm::CArray, false);
    menu.addSeparator();
    offer(tr("Copy frame as hex &dump"), BytesForm::Dump, true);
    offer(tr("Copy frame as h&ex"), BytesForm::Hex, true);
    offer(tr("Copy frame as C a&rray"), BytesForm::CArray, true);
    menu.exec(event->globalPos());
}

}  // namespace qps::gui
