#include <gui/base/names.hpp>
#include <gui/base/plain_tip.hpp>
#include <gui/pictures/ladder_view.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/words.hpp>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

namespace qps::gui {

using namespace transport::series;
using transport::End;

namespace {

constexpr double kFontStep = 1.25;
constexpr double kLeastScale = 1e-12,
                 kMostScale = 1e3;  // pixels of a nanosecond: a century, and a picosecond, to a finger's width

}  // namespace

LadderView::LadderView(Session& session, Selection& selection, QWidget* parent)
    : QAbstractScrollArea(parent), m_session(session), m_selection(selection) {
    setAccessibleName(tr("Ladder diagram of the connection"));
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    connect(&session, &Session::opened, this, &LadderView::read);
    connect(&session, &Session::timelineChanged, this, &LadderView::read);
    connect(&selection, &Selection::connectionChanged, this, &LadderView::read);
    connect(&selection, &Selection::packetChanged, this, &LadderView::followPacket);
    connect(&selection, &Selection::rangeChanged, this, &LadderView::followRange);
    connect(&session, &Session::namesChanged, viewport(), qOverload<>(&QWidget::update));
    connect(&m_reader, &SeriesJob::finished, viewport(), qOverload<>(&QWidget::update));
}

LadderView::~LadderView() = default;

void LadderView::showEvent(QShowEvent* event) {
    QAbstractScrollArea::showEvent(event);
    if (m_stale) read();
}

void LadderView::read() {
    m_stale = true;
    if (!isVisible()) return;
    m_stale = false;
    m_timeline = m_session.timeline();
    if (m_selection.connection() != m_connection || m_session.index() != m_index) {  // another picture
        m_connection = m_selection.connection();
        m_index = m_session.index();
        m_entries = {};
        m_expanded.clear();
        m_scale = m_offset = 0;
        m_current.reset();
        m_mark.reset();
        drawUp(0);
    }
    if (!m_connection) return m_reader.cancel();
    m_reader.start([this, index = m_index, connection = *m_connection](const Stop& stop) -> SeriesJob::Delivery {
        auto found = LadderEntries::of(*index, connection, stop);
        if (!found) return {};
        // Another capture may have been opened, or this one closed, since it was asked for.
        return [this, index, connection, entries = std::move(*found)] {
            if (index == m_index && connection == m_connection) take(entries);
        };
    });
}

void LadderView::take(LadderEntries entries) {
    const bool begins = m_entries.size() == 0;
    m_entries = std::move(entries);
    drawUp(m_centre);
    if (!begins) return;
    followRange();
    followPacket();
}

void LadderView::drawUp(std::size_t entry) {
    // What is at the top of the screen stays there.
    const std::size_t top = entryAt(m_offset);
    const auto topOf = [this](std::size_t wanted) -> std::optional<double> {
        for (std::size_t i = 0; i < m_ladder.lines.size(); ++i)
            if (m_ladder.lines[i].entry == wanted && m_ladder.lines[i].begins_entry()) return m_layout.lines()[i].top;
        return std::nullopt;
    };
    const std::optional<double> before = topOf(top);
    const auto current = m_current && *m_current < m_ladder.lines.size()
                             ? std::optional(m_ladder.lines[*m_current].frame)
                             : std::nullopt;

    m_centre = std::min(entry, m_entries.size());
    m_window = LadderWindow::around(entry, m_entries.size());
    m_ladder = {};
    if (m_index && m_timeline)
        m_ladder = transport::series::ladder(*m_index, *m_timeline, m_entries, m_window.first, m_window.end, m_expanded)
                       .value_or(Ladder());
    layOut();
    m_current = current ? lineOf(*current) : std::nullopt;
    m_mark = m_selection.packet() ? markOf(*m_selection.packet()) : std::nullopt;
    if (const auto after = topOf(top); before && after) m_offset += *after - *before;
    m_offset = std::clamp(m_offset, 0.0, std::max(0.0, geometry().height() - room()));
    showBars();
    viewport()->update();
}

void LadderView::layOut() {
    const double line = typeOf(font(), false).line;
    if (m_scale == 0 && !m_ladder.lines.empty())
        m_scale = std::clamp(naturalScale(m_ladder, line), kLeastScale, kMostScale);
    m_layout = laidOut(m_ladder);
}

LadderLayout LadderView::laidOut(const Ladder& ladder) const {
    const double line = typeOf(font(), false).line;
    return LadderLayout(ladder, {.scale = m_scale, .line = line, .longest_gap = 12 * line, .broken_gap = 3.5 * line});
}

LadderGeometry LadderView::geometry(const QRectF& area) const {
    const auto start = m_index ? m_index->start() : std::nullopt;
    const LadderType type = typeOf(font(), start && needsNanoseconds(m_ladder, *start));
    return {m_ladder, m_layout, LadderLanes::of(area, type), type.line, m_offset};
}

LadderStyle LadderView::style() const {
    LadderStyle style;
    style.font = font();
    style.palette = palette();
    style.start = m_index ? m_index->start() : std::nullopt;
    style.scale = m_scale;
    style.current = m_current;
    style.mark = m_mark;
    if (const auto range = m_selection.range()) style.range = std::pair(range->from, range->to);
    style.focused = hasFocus();
    const std::shared_ptr<const Names> names =
        m_session.names() != nullptr ? m_session.names() : std::make_shared<const Names>();
    if (const transport::Connection* connection =
            m_connection && m_timeline ? m_timeline->find(*m_connection) : nullptr)
        for (const End end : {End::a, End::b})
            // The number of a packet delivery context is no queue pair's.
            style.ends[static_cast<std::size_t>(end)] =
                connection->service == dissect::Service::uet
                    ? QString::fromStdString(transport::text(connection->end(end)))
                    : names->whoIs(connection->end(end));
    return style;
}

double LadderView::room() const { return geometry().lanes.body().height(); }

// The last entry that begins at or above a height of the picture.
std::size_t LadderView::entryAt(double y) const {
    std::size_t found = m_window.first;
    for (std::size_t i = 0; i < m_ladder.lines.size() && m_layout.lines()[i].top <= y; ++i)
        if (m_ladder.lines[i].begins_entry()) found = std::max(found, *m_ladder.lines[i].entry);
    return found;
}

void LadderView::scrollTo(double offset) {
    m_offset = std::clamp(offset, 0.0, std::max(0.0, geometry().height() - room()));
    keepInSight();
    showBars();
    viewport()->update();
}

// Near the ends of the window of entries another one is drawn up.
void LadderView::keepInSight() {
    const std::size_t top = entryAt(m_offset);
    if (m_window.leaves(top, entryAt(m_offset + room())) && LadderWindow::around(top, m_entries.size()) != m_window)
        drawUp(top);
}

// Where all entries are drawn up the bar counts pixels, else entries.
void LadderView::showBars() {
    m_settingBar = true;
    QScrollBar& bar = *verticalScrollBar();
    const double hidden = std::max(0.0, geometry().height() - room());
    if (m_window.whole()) {
        bar.setRange(0, static_cast<int>(std::min(hidden, 1e9)));
        bar.setPageStep(static_cast<int>(room()));
        bar.setSingleStep(static_cast<int>(geometry().line));
        bar.setValue(static_cast<int>(m_offset));
    } else {
        constexpr std::size_t kMost = 1'000'000'000;
        bar.setRange(0, static_cast<int>(std::min(m_entries.size() - 1, kMost)));
        bar.setPageStep(std::max(1, static_cast<int>(entryAt(m_offset + room()) - entryAt(m_offset))));
        bar.setSingleStep(1);
        const bool atEnd = m_window.end == m_entries.size() && m_offset >= hidden;
        bar.setValue(atEnd ? bar.maximum() : static_cast<int>(std::min(entryAt(m_offset), kMost)));
    }
    m_settingBar = false;
}

void LadderView::scrollContentsBy(int, int) {
    if (m_settingBar) return;
    const int value = verticalScrollBar()->value();
    if (m_window.whole()) {
        scrollTo(value);
        return;
    }
    const auto entry = static_cast<std::size_t>(value);
    if (entry < m_window.first + LadderWindow::kMargin || entry + LadderWindow::kMargin >= m_window.end) drawUp(entry);
    for (std::size_t i = 0; i < m_ladder.lines.size(); ++i)
        if (m_ladder.lines[i].entry == entry && m_ladder.lines[i].begins_entry()) {
            scrollTo(m_layout.lines()[i].top);
            return;
        }
}

// The line of a packet, or that of the entry that it is of.
std::optional<std::size_t> LadderView::lineOf(dissect::FrameIndex packet) const {
    const auto& lines = m_ladder.lines;
    const auto found = std::ranges::find(lines, packet, &LadderLine::frame);
    if (found != lines.end()) return static_cast<std::size_t>(found - lines.begin());
    const auto entry = m_index ? m_entries.entry_of(*m_index, packet) : std::nullopt;
    if (!entry) return std::nullopt;
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (lines[i].entry == *entry && lines[i].begins_entry()) return i;
    return std::nullopt;
}

std::optional<std::size_t> LadderView::markOf(dissect::FrameIndex packet) const {
    const auto found = std::ranges::find(m_ladder.marks, packet, &LadderMark::frame);
    if (found == m_ladder.marks.end()) return std::nullopt;
    return static_cast<std::size_t>(found - m_ladder.marks.begin());
}

void LadderView::followPacket() {
    const auto packet = m_selection.packet();
    if (!packet || m_entries.size() == 0) return;
    auto line = lineOf(*packet);
    if (!line) {
        const std::size_t entry = m_entries.entry_of(*m_index, *packet).value_or(m_entries.position_of(*packet));
        if (entry < m_window.first || entry >= m_window.end) drawUp(entry);
        line = lineOf(*packet);
    }
    m_current = line;
    m_mark = markOf(*packet);
    const auto top = m_mark ? std::optional(m_layout.marks()[*m_mark])
                     : line ? std::optional(m_layout.lines()[*line].top)
                            : std::nullopt;
    if (top && (*top < m_offset || *top > m_offset + room() - 2 * geometry().line)) scrollTo(*top - room() / 3);
    viewport()->update();
}

void LadderView::followRange() {
    viewport()->update();
    const auto range = m_selection.range();
    if (!range || m_entries.size() == 0) return;
    const auto [first, end] = chosenEntries();
    if (first >= end) return;
    if (first < m_window.first || first >= m_window.end) drawUp(first);
    const double top = m_layout.y_of(range->from);
    if (top < m_offset || top > m_offset + room() - 2 * geometry().line) scrollTo(top - geometry().line);
}

void LadderView::setCurrent(std::size_t line) {
    m_current = line;
    m_mark.reset();
    m_selection.selectPacket(m_ladder.lines[line].frame);  // followPacket() brings it into sight
    viewport()->update();
}

void LadderView::moveCurrent(int by) {
    if (m_ladder.lines.empty()) return;
    const auto last = static_cast<std::ptrdiff_t>(m_ladder.lines.size()) - 1;
    std::ptrdiff_t next = m_current ? static_cast<std::ptrdiff_t>(*m_current) + by : 0;
    if (!m_current)
        while (next < last && m_layout.lines()[static_cast<std::size_t>(next)].top < m_offset) ++next;
    setCurrent(static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(next, 0, last)));
    keepInSight();
}

void LadderView::toggle(std::size_t line, std::optional<bool> open) {
    const std::optional<std::size_t> entry = m_ladder.lines[line].entry;
    if (!entry || !m_entries.message(*entry)) return;
    const bool wanted = open.value_or(!m_expanded.contains(*entry));
    const auto frame = m_entries.first_frame(*entry);
    if (wanted) m_expanded.insert(*entry);
    else m_expanded.erase(*entry);
    drawUp(m_centre);
    m_current = lineOf(frame);
    viewport()->update();
}

// What lies at a height of the screen stays there.
void LadderView::zoom(double factor, double y) {
    const double before = y - geometry().screen(0);
    const dissect::Instant time = m_layout.time_at(before);
    m_scale = std::clamp(m_scale * factor, kLeastScale, kMostScale);
    layOut();
    scrollTo(m_offset + m_layout.y_of(time) - before);
}

void LadderView::zoomIn() { zoom(kFontStep, geometry().lanes.body().center().y()); }
void LadderView::zoomOut() { zoom(1 / kFontStep, geometry().lanes.body().center().y()); }

void LadderView::zoomNaturally() {
    m_scale = 0;
    layOut();
    scrollTo(m_offset);
}

void LadderView::openAll() {
    const std::size_t top = entryAt(m_offset);
    for (std::size_t i = top; i < std::min(m_window.end, top + kMostOpened); ++i) m_expanded.insert(i);
    drawUp(m_centre);
}

void LadderView::closeAll() {
    m_expanded.clear();
    drawUp(m_centre);
}

QString LadderView::emptyReason() const {
    if (!m_ladder.lines.empty()) return {};
    if (m_session.packets() == 0) return tr("No capture open.");
    if (!m_connection) return tr("Select a connection to see its messages as a ladder diagram.");
    if (m_reader.running() || m_session.busy()) return tr("Reading messages...");
    return tr("No packet of this connection has a time to draw it at.");
}

void LadderView::paint(QPainter& painter, const QRectF& area) const { paintLadder(painter, geometry(area), style()); }

dissect::Instant LadderView::beginOf(std::size_t entry) const {
    return m_index->row(m_entries.first_frame(entry)).time();
}

std::pair<std::size_t, std::size_t> LadderView::chosenEntries() const {
    const auto range = m_selection.range();
    std::size_t first = 0;
    std::size_t end = m_entries.size();
    if (!range || !m_index) return {first, end};
    while (first < end && beginOf(first) < range->from) ++first;
    while (end > first && range->to < beginOf(end - 1)) --end;
    return {first, end};
}

LadderView::Sheet LadderView::sheet(double width, double tallest) const {
    Sheet sheet;
    if (!m_index || !m_timeline) return sheet;
    const auto [first, end] = chosenEntries();
    std::size_t stop = std::min(end, first + kMaxLadderEntries);
    const auto draw = [&] {
        sheet.ladder =
            transport::series::ladder(*m_index, *m_timeline, m_entries, first, stop, m_expanded).value_or(Ladder());
        sheet.layout = laidOut(sheet.ladder);
        const LadderType type =
            typeOf(font(), needsNanoseconds(sheet.ladder, m_index->start().value_or(dissect::Instant{})));
        const LadderGeometry whole{sheet.ladder, sheet.layout, LadderLanes::of(QRectF(0, 0, width, tallest), type),
                                   type.line, 0};
        sheet.height = whole.lanes.header + whole.height();
    };
    draw();
    while (sheet.height > tallest && stop > first + 1) {
        stop = first + std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(stop - first) * 0.95 *
                                                                         tallest / sheet.height));
        draw();
    }
    sheet.entries = stop - first;
    sheet.left_out = end - stop;
    return sheet;
}

void LadderView::paint(QPainter& painter, const Sheet& sheet, const QSizeF& size, const QPalette& palette) const {
    LadderStyle style = this->style();
    style.palette = palette;
    style.current.reset();
    style.mark.reset();
    const LadderType type = typeOf(font(), style.start && needsNanoseconds(sheet.ladder, *style.start));
    paintLadder(painter, {sheet.ladder, sheet.layout, LadderLanes::of(QRectF(QPointF(0, 0), size), type), type.line, 0},
                style);
}

QString LadderView::ends() const {
    const LadderStyle names = style();
    return names.ends[0].isEmpty() ? QString() : tr("%1 to %2").arg(names.ends[0], names.ends[1]);
}

QString LadderView::csv() const {
    const LadderStyle names = style();
    const auto quoted = [](QString text) { return u'"' + text.replace(u'"', QStringLiteral("\"\"")) + u'"'; };
    QString table = QStringLiteral("time,end time,from,to,first packet,last packet,label\n");
    const auto seconds = [&](dissect::Instant time) {
        return names.start ? timeText(time, *names.start, true) : QString();
    };
    const auto add = [&](const LadderLine& line) {
        const auto name = [&](End end) { return quoted(names.ends[static_cast<std::size_t>(end)]); };
        table += QStringList{seconds(line.begins),
                             seconds(line.ends),
                             name(line.from),
                             name(other(line.from)),
                             QString::number(std::to_underlying(line.frame)),
                             QString::number(std::to_underlying(line.last)),
                             quoted(QString::fromStdString(line.label))}
                     .join(u',') +
                 u'\n';
    };
    if (!m_index || !m_timeline) return table;
    const auto [first, end] = chosenEntries();
    for (std::size_t at = first; at < end; at += kMaxLadderEntries) {
        const auto drawn = transport::series::ladder(*m_index, *m_timeline, m_entries, at, end, m_expanded);
        if (drawn) std::ranges::for_each(drawn->lines, add);
    }
    return table;
}

void LadderView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    const QString reason = emptyReason();
    if (reason.isEmpty()) {
        paint(painter, QRectF(viewport()->rect()));
        return;
    }
    painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
    painter.setPen(palette().color(QPalette::PlaceholderText));
    const int margin = fontMetrics().height();
    painter.drawText(viewport()->rect().adjusted(margin, margin, -margin, -margin), Qt::AlignCenter | Qt::TextWordWrap,
                     reason);
}

void LadderView::resizeEvent(QResizeEvent*) { scrollTo(m_offset); }

void LadderView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() != QEvent::FontChange) return;
    layOut();
    scrollTo(m_offset);
}

void LadderView::focusInEvent(QFocusEvent*) { viewport()->update(); }
void LadderView::focusOutEvent(QFocusEvent*) { viewport()->update(); }
void LadderView::keyPressEvent(QKeyEvent* event) {
    const bool control = event->modifiers().testFlag(Qt::ControlModifier);
    switch (event->key()) {
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            if (control) zoomIn();
            else if (m_current) toggle(*m_current, true);
            return;
        case Qt::Key_Minus:
            if (control) zoomOut();
            else if (m_current) toggle(*m_current, false);
            return;
        case Qt::Key_0:
            if (!control) break;
            zoomNaturally();
            return;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (m_current) toggle(*m_current);
            return;
        case Qt::Key_Up: moveCurrent(-1); return;
        case Qt::Key_Down: moveCurrent(1); return;
        case Qt::Key_PageUp:
        case Qt::Key_PageDown:
            if (event->modifiers().testFlag(Qt::ShiftModifier))
                m_selection.stepConnection(event->key() == Qt::Key_PageDown ? 1 : -1);
            else scrollTo(m_offset + (event->key() == Qt::Key_PageDown ? 0.9 : -0.9) * room());
            return;
        case Qt::Key_Home:
            if (m_window.first != 0) drawUp(0);
            scrollTo(0);
            return;
        case Qt::Key_End:
            if (m_window.end != m_entries.size()) drawUp(m_entries.size());
            scrollTo(geometry().height());
            return;
        default: break;
    }
    QAbstractScrollArea::keyPressEvent(event);
}

void LadderView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const auto box = geometry().boxAt(event->position())) toggle(*box);
    else if (const auto mark = geometry().markAt(event->position()))
        m_selection.selectPacket(m_ladder.marks[*mark].frame);
    else if (const auto line = geometry().lineAt(event->position())) setCurrent(*line);
    else if (const auto wait = geometry().waitAt(event->position()))
        m_selection.selectPacket(m_ladder.waits[*wait].trigger);
}

void LadderView::mouseMoveEvent(QMouseEvent* event) {
    Q_EMIT pointedAt(tipAt(event->position()).replace(u'\n', QStringLiteral(": ")));
}

void LadderView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (geometry().boxAt(event->position())) return;
    if (const auto line = geometry().lineAt(event->position())) toggle(*line);
}

void LadderView::wheelEvent(QWheelEvent* event) {
    const double steps = event->angleDelta().y() / 120.0;
    if (event->modifiers().testFlag(Qt::ControlModifier)) zoom(std::pow(kFontStep, steps), event->position().y());
    else if (!event->pixelDelta().isNull()) scrollTo(m_offset - event->pixelDelta().y());
    else scrollTo(m_offset - steps * 3 * geometry().line);
    event->accept();
}

QString LadderView::tipAt(const QPointF& point) const {
    const LadderGeometry here = geometry();
    const auto number = [](dissect::FrameIndex frame) {
        return QLocale().toString(static_cast<qulonglong>(std::to_underlying(frame)));
    };
    if (!emptyReason().isEmpty()) return {};
    if (const auto box = here.boxAt(point))
        return m_ladder.lines[*box].collapsed ? tr("Expand into packets") : tr("Collapse into one message");
    if (const auto mark = here.markAt(point)) {
        const dissect::FrameIndex frame = m_ladder.marks[*mark].frame;
        return tr("Packet %1").arg(number(frame)) + u'\n' + QString::fromStdString(ladder_words(*m_index, frame));
    }
    if (const auto found = here.lineAt(point)) {
        const LadderLine& line = m_ladder.lines[*found];
        const QString packets = line.frame == line.last
                                    ? tr("Packet %1").arg(number(line.frame))
                                    : tr("Packets %1 to %2").arg(number(line.frame), number(line.last));
        return packets + u'\n' + QString::fromStdString(line.label);
    }
    if (const auto wait = here.waitAt(point))
        return tr("Stall: %1\nStarted at packet %2")
            .arg(QString::fromStdString(m_ladder.waits[*wait].label), number(m_ladder.waits[*wait].trigger));
    if (const auto found = here.breakAt(point)) {
        const LadderBreak& silence = m_layout.breaks()[*found];
        const QString length = QString::fromStdString(transport::duration_text(silence.length));
        return silence.marks == 0
                   ? tr("Idle for %1 (not to scale)").arg(length)
                   : tr("%1 (not to scale), with %2")
                         .arg(length, QString::fromStdString(transport::counted(silence.marks, "packet")));
    }
    return {};
}

bool LadderView::viewportEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), plainTip(tipAt(QPointF(help->pos()))), viewport());
    return true;
}

}  // namespace qps::gui
