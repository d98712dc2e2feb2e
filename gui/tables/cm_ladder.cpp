// The messages of an attempt as arrows from one side to the other, one below the other in their order.
#include <dissect/base/types.hpp>
#include <gui/base/look.hpp>
#include <gui/base/text.hpp>
#include <gui/tables/cm_pane.hpp>
#include <transport-replay/report/cm.hpp>
#include <transport-replay/report/figures.hpp>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <utility>

namespace qps::gui {

using namespace transport;

namespace {

QString timeText(const CmAttempt& attempt, const CmRung& rung) {
    return shown(seconds_text(rung.time - attempt.ladder.front().time));
}

// "frame 3: REQ from the active side, 0.001204 s, again"
QString rungText(const CmAttempt& attempt, const CmRung& rung) {
    const QString side = rung.from_active ? QObject::tr("active") : QObject::tr("passive");
    QString text = QObject::tr("frame %1: %2 from the %3 side, %4 s")
                       .arg(std::to_underlying(rung.frame))
                       .arg(shown(message_text(attempt, rung)), side, timeText(attempt, rung));
    const std::string remarks = remarks_text(rung);
    return remarks.empty() ? text : text + QStringLiteral(", ") + shown(remarks);
}

Ink inkOf(const CmRung& rung) {
    if (rung.refused || rung.message == CmMessage::rej) return Ink::NegativeAcknowledgment;
    if (rung.duplicate) return Ink::Retransmission;
    return rung.from_active ? Ink::Request : Ink::Acknowledgment;
}

void drawArrow(QPainter& painter, int from, int to, int y, int size) {
    painter.drawLine(from, y, to, y);
    const int back = to > from ? -size : size;
    QPainterPath head;
    head.moveTo(to, y);
    head.lineTo(to + back, y - size / 2.0);
    head.lineTo(to + back, y + size / 2.0);
    head.closeSubpath();
    painter.fillPath(head, painter.pen().color());
}

}  // namespace

CmLadder::CmLadder(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setToolTip(tr("Click a message or press Enter to go to its packet"));
}

void CmLadder::show(const CmAttempt* attempt) {
    m_attempt = attempt;
    m_chosen = -1;
    setAccessibleName(attempt == nullptr ? QString() : tr("Messages of %1").arg(shown(title_text(*attempt))));
    QStringList rungs;
    if (attempt != nullptr)
        for (const CmRung& rung : attempt->ladder) rungs.append(rungText(*attempt, rung));
    setAccessibleDescription(rungs.join(QLatin1Char('\n')));
    updateGeometry();
    update();
}

void CmLadder::choosePacket(dissect::FrameIndex frame) {
    if (m_attempt == nullptr) return;
    for (std::size_t at = 0; at < m_attempt->ladder.size(); ++at)
        if (m_attempt->ladder[at].frame == frame) choose(static_cast<int>(at), false);
}

void CmLadder::choose(int at, bool announce) {
    if (m_attempt == nullptr || at < 0 || at >= static_cast<int>(m_attempt->ladder.size())) return;
    m_chosen = at;
    update();
    if (announce) Q_EMIT packetWanted(std::to_underlying(m_attempt->ladder[static_cast<std::size_t>(at)].frame));
}

int CmLadder::timeWidth() const { return fontMetrics().horizontalAdvance(QStringLiteral("0000.000000 ")); }

int CmLadder::remarkWidth() const {
    int widest = fontMetrics().averageCharWidth() * 12;
    if (m_attempt != nullptr)
        for (const CmRung& rung : m_attempt->ladder)
            widest = std::max(widest, fontMetrics().horizontalAdvance(shown(remarks_text(rung))));
    return widest + fontMetrics().averageCharWidth() * 4;
}

QSize CmLadder::sizeHint() const {
    const int rungs = m_attempt == nullptr ? 0 : static_cast<int>(m_attempt->ladder.size());
    return {timeWidth() + 2 * fontMetrics().averageCharWidth() * 12 + laneWidth() + remarkWidth(),
            headHeight() + rungs * rungHeight()};
}

void CmLadder::paintEvent(QPaintEvent*) {
    if (m_attempt == nullptr) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintHead(painter);
    for (int at = 0; at < static_cast<int>(m_attempt->ladder.size()); ++at) paintRung(painter, at);
}

// Who the two verticals are.
void CmLadder::paintHead(QPainter& painter) const {
    const int character = fontMetrics().averageCharWidth();
    const int left = timeWidth() + 12 * character;
    const int right = left + laneWidth();
    const auto side = [&](int x, const CmSide& whose) {
        const QRect room(x - 18 * character, 0, 36 * character, fontMetrics().height() * 3 / 2);
        painter.setPen(palette().color(QPalette::WindowText));
        painter.drawText(room, Qt::AlignCenter,
                         fontMetrics().elidedText(shown(text(whose.address)), Qt::ElideMiddle, room.width()));
        painter.setPen(mixed(palette().color(QPalette::Window), palette().color(QPalette::WindowText), 0.4));
        painter.drawLine(x, headHeight() - fontMetrics().height() / 3, x, height());
    };
    side(left, m_attempt->active);
    side(right, m_attempt->passive);
}

void CmLadder::paintRung(QPainter& painter, int at) const {
    const CmRung& rung = m_attempt->ladder[static_cast<std::size_t>(at)];
    const int character = fontMetrics().averageCharWidth();
    const QRect row(0, headHeight() + at * rungHeight(), width(), rungHeight());
    if (at == m_chosen) {
        QColor back = palette().color(QPalette::Highlight);
        back.setAlphaF(hasFocus() ? 0.35F : 0.2F);
        painter.fillRect(row, back);
    }
    painter.setPen(palette().color(QPalette::WindowText));
    const int line = row.top() + fontMetrics().height() * 3 / 2;
    const int left = timeWidth() + 12 * character;
    const int right = left + laneWidth();
    const auto text = [&](int x, int room, int flags, const QString& words) {
        painter.drawText(QRect(x, line - fontMetrics().height(), room, fontMetrics().height()),
                         flags | Qt::AlignVCenter, words);
    };
    text(0, timeWidth(), Qt::AlignRight, timeText(*m_attempt, rung));
    text(right + 2 * character, remarkWidth(), Qt::AlignLeft, shown(remarks_text(rung)));
    const QString message =
        tr("%1, packet %2").arg(shown(message_text(*m_attempt, rung))).arg(std::to_underlying(rung.frame));
    text(left, laneWidth(), Qt::AlignHCenter, message);
    painter.setPen(QPen(color(inkOf(rung), palette()), std::max(1.0, character / 6.0)));
    const int from = rung.from_active ? left : right;
    drawArrow(painter, from, rung.from_active ? right : left, line + fontMetrics().descent(), character);
}

void CmLadder::mousePressEvent(QMouseEvent* event) {
    const int y = event->pos().y() - headHeight();
    if (event->button() == Qt::LeftButton && y >= 0) choose(y / rungHeight(), true);
}

void CmLadder::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Down: return choose(m_chosen + 1, false);
        case Qt::Key_Up: return choose(m_chosen - 1, false);
        case Qt::Key_Home: return choose(0, false);
        case Qt::Key_End:
            return choose(m_attempt == nullptr ? -1 : static_cast<int>(m_attempt->ladder.size()) - 1, false);
        case Qt::Key_Return:
        case Qt::Key_Enter: return choose(m_chosen, true);
        default: QWidget::keyPressEvent(event);
    }
}

}  // namespace qps::gui
