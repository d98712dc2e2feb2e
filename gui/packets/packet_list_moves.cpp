// Where the user goes in the list, what is selected, and what he says of packets.
#include <gui/packets/corresponding.hpp>
#include <gui/packets/packet_list.hpp>

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <algorithm>
#include <utility>

namespace qps::gui {

using dissect::FrameIndex;

namespace {

FrameIndex neighbour(FrameIndex frame, int direction) {
    return FrameIndex{std::to_underlying(frame) + static_cast<std::uint64_t>(static_cast<std::int64_t>(direction))};
}

QString csvCell(QString text) {
    const bool quoted =
        text.contains(QLatin1Char('"')) || text.contains(QLatin1Char(',')) || text.contains(QLatin1Char('\n'));
    // A spreadsheet would run a text that begins so as a formula, and captures come from strangers.
    if (!text.isEmpty() && QStringLiteral("=+@").contains(text.front())) text.prepend(QLatin1Char('\''));
    return quoted ? QLatin1Char('"') + text.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"') : text;
}

}  // namespace

void PacketList::setCurrent(FrameIndex frame, Select select) {
    const bool changed = m_current != frame;
    switch (select) {
        case Select::Extend: extendTo(frame); break;
        case Select::Toggle:
            m_selectionStart = frame;
            if (m_selected.contains(frame)) m_selected.remove(frame);
            else m_selected.add(frame, frame);
            break;
        case Select::Only:
            m_selectionStart = frame;
            m_selected.clear();
            m_selected.add(frame, frame);
            break;
    }
    m_current = frame;
    viewport()->update();
    if (changed) Q_EMIT currentChanged();
}

// All rows from where the selection began. Where rows are sorted, their numbers are no range.
void PacketList::extendTo(FrameIndex frame) {
    if (m_selectionStart == FrameIndex{}) m_selectionStart = m_current.value_or(frame);
    m_selected.clear();
    if (!m_rows->isSorted()) return m_selected.add(m_selectionStart, frame);
    const std::uint64_t one = m_rows->positionOf(m_selectionStart);
    const std::uint64_t other = m_rows->positionOf(frame);
    const std::uint64_t last = std::max(one, other);
    std::vector<FrameIndex> frames;
    for (std::uint64_t at = std::min(one, other); at <= last && at < m_scroll.rows; ++at)
        frames.push_back(m_rows->frameAt(at));
    std::ranges::sort(frames);
    m_selected.assign(frames);
}

void PacketList::moveTo(std::uint64_t position, Select select) {
    if (m_rows == nullptr || position >= m_scroll.rows) return;
    setCurrent(m_rows->frameAt(position), select);
    scrollTo(m_scroll.showing(position, m_top));
    announce();
}

bool PacketList::goTo(FrameIndex frame) {
    if (m_rows == nullptr || frame == FrameIndex{} || std::to_underlying(frame) > m_rows->total()) return false;
    if (m_current != frame) setCurrent(frame, Select::Only);
    const std::uint64_t position = m_rows->positionOf(frame);
    const bool inSight = position >= m_top && position - m_top < m_scroll.page;
    // What was out of sight comes with its neighbours on both sides.
    if (m_scroll.rows > 0 && !inSight) {
        scrollTo(m_scroll.jumpingTo(std::min(position, m_scroll.rows - 1)));
        m_jump = Jump{frame, m_top};
    }
    announce();
    return true;
}

bool PacketList::goToOf(const std::optional<FrameIndex>& frame, const QString& otherwise) {
    if (!frame || !goTo(*frame)) {
        Q_EMIT notice(otherwise);
        return false;
    }
    if (!m_rows->isShown(*frame))
        Q_EMIT notice(tr("Packet %1 is hidden by the filter").arg(std::to_underlying(*frame)));
    return true;
}

bool PacketList::firstPacket() {
    moveTo(0, Select::Only);
    return m_scroll.rows > 0;
}

bool PacketList::lastPacket() {
    if (m_scroll.rows == 0) return false;
    moveTo(m_scroll.rows - 1, Select::Only);
    return true;
}

bool PacketList::nextPacket() {
    if (m_rows == nullptr || m_scroll.rows == 0) return false;
    if (!m_current) return firstPacket();
    // Of a packet that is not shown, the next that is stands in its place.
    const std::uint64_t position = m_rows->positionOf(*m_current) + (m_rows->isShown(*m_current) ? 1 : 0);
    if (position >= m_scroll.rows) return false;
    moveTo(position, Select::Only);
    return true;
}

bool PacketList::previousPacket() {
    if (m_rows == nullptr || m_scroll.rows == 0) return false;
    if (!m_current) return lastPacket();
    const std::uint64_t position = m_rows->positionOf(*m_current);
    if (position == 0) return false;
    moveTo(position - 1, Select::Only);
    return true;
}

bool PacketList::searchConversation(int direction) {
    if (m_rows == nullptr || !m_current) return false;
    const auto connection = m_rows->row(*m_current).connection();
    if (!connection) {
        Q_EMIT notice(tr("Packet belongs to no connection"));
        return false;
    }
    const std::uint64_t total = m_rows->total();
    for (FrameIndex at = neighbour(*m_current, direction); at != FrameIndex{} && std::to_underlying(at) <= total;
         at = neighbour(at, direction))
        if (m_rows->row(at).connection() == connection && m_rows->isShown(at)) return goTo(at);
    Q_EMIT notice(direction > 0 ? tr("No later packet in this connection")
                                : tr("No earlier packet in this connection"));
    return false;
}

bool PacketList::nextInConversation() { return searchConversation(1); }
bool PacketList::previousInConversation() { return searchConversation(-1); }

bool PacketList::goToCorresponding() {
    if (m_rows == nullptr || !m_current) return false;
    return goToOf(correspondingTo(*m_rows, *m_current), tr("No corresponding packet in this capture"));
}

bool PacketList::nextMark() {
    return goToOf(m_notes.marks.next(m_current.value_or(FrameIndex{})), tr("No later mark"));
}
bool PacketList::previousMark() {
    return goToOf(m_current ? m_notes.marks.previous(*m_current) : std::nullopt, tr("No earlier mark"));
}
bool PacketList::nextTimeReference() {
    return goToOf(m_notes.references.next(m_current.value_or(FrameIndex{})), tr("No later time reference"));
}
bool PacketList::previousTimeReference() {
    return goToOf(m_current ? m_notes.references.previous(*m_current) : std::nullopt, tr("No earlier time reference"));
}

// Calls each(frame) for the packets that are selected and shown, at most so many; false from each ends it.
template <class Each> void PacketList::forEachSelected(std::uint64_t most, Each&& each) {
    if (m_rows == nullptr) return;
    if (m_rows->isSorted()) {
        std::vector<std::uint64_t> positions;
        for (const FrameRange& range : m_selected.ranges())
            for (FrameIndex frame = range.first; frame <= range.last; frame = neighbour(frame, 1))
                if (m_rows->isShown(frame)) positions.push_back(m_rows->positionOf(frame));
        std::ranges::sort(positions);
        if (positions.size() > most) positions.resize(most);
        for (const std::uint64_t at : positions) each(at, m_rows->frameAt(at));
        return;
    }
    for (const FrameRange& range : m_selected.ranges())
        for (std::uint64_t at = m_rows->positionOf(range.first); at < m_scroll.rows; ++at) {
            const FrameIndex frame = m_rows->frameAt(at);
            if (frame > range.last) break;
            if (most-- == 0) return;
            each(at, frame);
        }
}

void PacketList::selectAll() {
    if (m_rows == nullptr || m_scroll.rows == 0) return;
    m_selected.clear();
    if (m_rows->isSorted()) m_selected.add(FrameIndex{1}, FrameIndex{m_rows->total()});
    else m_selected.add(m_rows->frameAt(0), m_rows->frameAt(m_scroll.rows - 1));
    viewport()->update();
}

void PacketList::afterNotes() {
    m_texts.forget();
    viewport()->update();
}

void PacketList::setMarks(const transport::RowSet& marks) {
    m_notes.marks = marks;
    viewport()->update();
}

// All that are selected become as the current one becomes.
void PacketList::toggleMark() {
    if (!m_current) return;
    const bool marked = !m_notes.marks.contains(*m_current);
    forEachSelected(UINT64_MAX, [&](std::uint64_t, FrameIndex frame) { m_notes.marks.set(frame, marked); });
    Q_EMIT marksChanged();
    viewport()->update();
}

void PacketList::markAllShown() {
    for (std::uint64_t at = 0; at < m_scroll.rows; ++at) m_notes.marks.set(m_rows->frameAt(at), true);
    Q_EMIT marksChanged();
    viewport()->update();
}

void PacketList::toggleIgnore() {
    if (!m_current) return;
    const bool ignored = !m_notes.ignored.contains(*m_current);
    forEachSelected(UINT64_MAX, [&](std::uint64_t, FrameIndex frame) { m_notes.ignored.set(frame, ignored); });
    afterNotes();
}

void PacketList::ignoreAllShown() {
    for (std::uint64_t at = 0; at < m_scroll.rows; ++at) m_notes.ignored.set(m_rows->frameAt(at), true);
    afterNotes();
}

void PacketList::unignoreAll() {
    m_notes.ignored.clear();
    afterNotes();
}

void PacketList::toggleTimeReference() {
    if (!m_current) return;
    m_notes.references.set(*m_current, !m_notes.references.contains(*m_current));
    afterNotes();
}

bool PacketList::setComment(FrameIndex frame, const QString& text) {
    if (!m_notes.comments.write(frame, text)) {
        Q_EMIT notice(tr("Too many comments"));
        return false;
    }
    afterNotes();
    Q_EMIT commentsChanged();
    return true;
}

QString PacketList::copied(CopyForm form) {
    QString text;
    const QLatin1Char between(form == CopyForm::Csv ? ',' : '\t');
    const auto line = [&](const auto& cellOf) {
        QStringList cells;
        for (int visual = 0; visual < m_header->count(); ++visual) {
            const int column = m_header->logicalIndex(visual);
            if (!m_header->isSectionHidden(column))
                cells << (form == CopyForm::Csv ? csvCell(cellOf(column)) : cellOf(column));
        }
        text += cells.join(between) + QLatin1Char('\n');
    };
    if (form == CopyForm::Csv) line([this](int column) { return columns()[static_cast<std::size_t>(column)].title; });
    forEachSelected(kMostCopied, [&](std::uint64_t at, FrameIndex) {
        const RowText& row = m_texts.at(at);
        line([&row](int column) { return row.cells[static_cast<std::size_t>(column)]; });
    });
    return text;
}

QStringList PacketList::shownCells(std::uint64_t position) {
    QStringList cells;
    const RowText& row = m_texts.at(position);
    for (std::size_t column = 0; column < row.cells.size(); ++column)
        if (!columns()[column].hidden) cells << row.cells[column];
    return cells;
}

void PacketList::copy(CopyForm form) {
    const QString text = copied(form);
    const auto lines = static_cast<std::uint64_t>(text.count(QLatin1Char('\n')));
    QGuiApplication::clipboard()->setText(text);
    if (lines >= kMostCopied) Q_EMIT notice(tr("Only the first %1 packets copied; export the rest").arg(kMostCopied));
}

QString PacketList::conversationFilter() const {
    if (m_rows == nullptr || !m_current) return {};
    const auto connection = m_rows->row(*m_current).connection();
    return connection ? QStringLiteral("rdma.connection == %1").arg(std::to_underlying(*connection)) : QString();
}

QString PacketList::messageFilter() const {
    if (m_rows == nullptr || !m_current) return {};
    return QString::fromStdString(messageFilterOf(*m_rows, *m_current));
}

}  // namespace qps::gui
