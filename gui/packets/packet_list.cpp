// What the list is made of: its header, its scroll bars, and how rows keep their place.
#include <gui/base/fixed_font.hpp>
#include <gui/base/names.hpp>
#include <gui/base/plain_tip.hpp>
#include <gui/packets/list_accessible.hpp>
#include <gui/packets/packet_list.hpp>

#include <QEvent>
#include <QHeaderView>
#include <QScrollBar>
#include <QStandardItemModel>
#include <utility>

namespace qps::gui {

using dissect::FrameIndex;

PacketList::PacketList(QWidget* parent) : QAbstractScrollArea(parent) {
    installListAccessibility();
    setObjectName(QStringLiteral("packetList"));
    setAccessibleName(tr("Packets"));
    setFont(fixedFont());
    setFocusPolicy(Qt::StrongFocus);
    setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    viewport()->setBackgroundRole(QPalette::Base);
    connect(verticalScrollBar(), &QScrollBar::actionTriggered, this, &PacketList::barAction);
    makeHeader();
    fillHeader();
    updateScroll();
}

PacketList::~PacketList() = default;

void PacketList::makeHeader() {
    m_header = new QHeaderView(Qt::Horizontal, this);
    m_titles = new QStandardItemModel(this);
    m_header->setModel(m_titles);
    m_header->setSectionsMovable(true);
    m_header->setSectionsClickable(true);
    m_header->setHighlightSections(false);
    m_header->setStretchLastSection(true);
    m_header->setCascadingSectionResizes(false);
    m_header->setContextMenuPolicy(Qt::CustomContextMenu);
    m_header->setAccessibleName(tr("Packet columns"));
    connect(m_header, &QHeaderView::customContextMenuRequested, this, &PacketList::headerMenu);
    const auto changed = [this] {
        updateScroll();
        viewport()->update();
        Q_EMIT columnsChanged();
    };
    connect(m_header, &QHeaderView::sectionResized, this, changed);
    connect(m_header, &QHeaderView::sectionMoved, this, changed);
    connect(m_header, &QHeaderView::sectionHandleDoubleClicked, this, &PacketList::fitColumn);
    connect(m_header, &QHeaderView::sectionClicked, this, &PacketList::headClicked);
}

// Up, down, and back to the order of the capture, which is that of the numbers.
void PacketList::headClicked(int column) {
    const std::vector<PacketColumn>& all = columns();
    if (column < 0 || std::cmp_greater_equal(column, all.size())) return;
    const PacketColumn& clicked = all[static_cast<std::size_t>(column)];
    const bool again = m_sorted && isSame(m_sorted->column, clicked);
    const bool number = clicked.kind == ColumnKind::Number;
    std::optional<Sorted> wanted;
    if (!again) wanted = Sorted{clicked, number};
    else if (!m_sorted->descending && !number) wanted = Sorted{clicked, true};
    Q_EMIT sortWanted(wanted);
    showSorted();
}

void PacketList::setSorted(std::optional<Sorted> sorted) {
    m_sorted = std::move(sorted);
    showSorted();
}

void PacketList::showSorted() {
    int shown = -1;
    for (int i = 0; m_sorted && std::cmp_less(i, columns().size()); ++i)
        if (isSame(columns()[static_cast<std::size_t>(i)], m_sorted->column)) shown = i;
    m_header->setSortIndicatorShown(shown >= 0);
    m_header->setSortIndicator(shown, m_sorted && m_sorted->descending ? Qt::DescendingOrder : Qt::AscendingOrder);
}

void PacketList::fillHeader() {
    const QSignalBlocker quiet(m_header);
    const std::vector<PacketColumn>& columns = m_texts.columns();
    m_titles->setColumnCount(static_cast<int>(columns.size()));
    const QFontMetrics metrics(font());
    for (int i = 0; std::cmp_less(i, columns.size()); ++i) {
        const PacketColumn& column = columns[static_cast<std::size_t>(i)];
        auto* title = new QStandardItem(column.title);
        title->setTextAlignment((column.right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        title->setToolTip(plainTip(columnTip(column)));
        m_titles->setHorizontalHeaderItem(i, title);
        const int usual = metrics.horizontalAdvance(usualText(column)) + 2 * margin() + (i == 0 ? gutter() : 0);
        const int heading = QFontMetrics(m_header->font()).horizontalAdvance(column.title) + 4 * margin();
        m_header->resizeSection(i, column.width > 0 ? column.width : std::max(usual, heading));
        m_header->setSectionHidden(i, column.hidden);
    }
    showSorted();
    updateScroll();
    viewport()->update();
}

// Widths and order as the user has left them become those of the columns.
void PacketList::takeWidths() {
    std::vector<PacketColumn> ordered;
    for (int visual = 0; visual < m_header->count(); ++visual) {
        const int logical = m_header->logicalIndex(visual);
        PacketColumn column = m_texts.columns()[static_cast<std::size_t>(logical)];
        // The last one is as wide as the window lets it be: that is not its own width.
        const bool stretched = visual == m_header->count() - 1;
        if (!m_header->isSectionHidden(logical) && !stretched) column.width = m_header->sectionSize(logical);
        ordered.push_back(std::move(column));
    }
    setColumns(std::move(ordered));
}

void PacketList::setColumns(std::vector<PacketColumn> columns) {
    m_texts.setColumns(std::move(columns));
    {
        const QSignalBlocker quiet(m_header);
        m_titles->clear();  // a new header: order and sizes of the one before are gone with its columns
    }
    fillHeader();
    Q_EMIT columnsChanged();
}

bool PacketList::addFieldColumn(const QString& name) {
    std::optional<PacketColumn> column = fieldColumn(name);
    if (!column || m_texts.columns().size() >= kMostColumns) return false;
    takeWidths();
    std::vector<PacketColumn> columns = m_texts.columns();
    // Before the last one, which is long and stretches.
    columns.insert(columns.empty() ? columns.end() : std::prev(columns.end()), std::move(*column));
    setColumns(std::move(columns));
    return true;
}

void PacketList::fitColumn(int column) {
    if (column < 0 || column >= m_header->count()) return;
    int width = m_header->sectionSizeHint(column);
    for (std::uint64_t i = 0; i < m_scroll.page && m_top + i < m_scroll.rows; ++i) {
        const QString& text = m_texts.at(m_top + i).cells[static_cast<std::size_t>(column)];
        const int beside = 2 * margin() + (m_header->visualIndex(column) == 0 ? gutter() : 0);
        width = std::max(width, fontMetrics().horizontalAdvance(text) + beside + 1);
    }
    m_header->resizeSection(column, width);
}

void PacketList::fitColumns() {
    for (int column = 0; column < m_header->count(); ++column)
        if (!m_header->isSectionHidden(column)) fitColumn(column);
}

QStringList PacketList::saveColumns() const {
    std::vector<PacketColumn> ordered;
    for (int visual = 0; visual < m_header->count(); ++visual) {
        const int logical = m_header->logicalIndex(visual);
        PacketColumn column = m_texts.columns()[static_cast<std::size_t>(logical)];
        if (!m_header->isSectionHidden(logical)) column.width = m_header->sectionSize(logical);
        ordered.push_back(std::move(column));
    }
    return savedColumns(ordered);
}

void PacketList::restoreColumns(const QStringList& lines) {
    if (std::vector<PacketColumn> columns = restoredColumns(lines); !columns.empty()) setColumns(std::move(columns));
}

void PacketList::setRules(RowRules rules) {
    m_texts.setRules(std::move(rules));
    viewport()->update();
}

void PacketList::setTimeFormat(TimeFormat format) {
    const bool other = format != m_texts.timeFormat();
    m_texts.setTimeFormat(format);
    // A date needs more room than the seconds before it.
    for (int i = 0; other && std::cmp_less(i, columns().size()); ++i)
        if (columns()[static_cast<std::size_t>(i)].kind == ColumnKind::Time && m_scroll.rows != 0) fitColumn(i);
    viewport()->update();
    Q_EMIT columnsChanged();
}

void PacketList::setNames(std::shared_ptr<const Names> names) {
    m_texts.setNames(std::move(names));
    viewport()->update();
    Q_EMIT columnsChanged();
}

void PacketList::setRows(PacketRows* rows, Notes notes) {
    m_rows = rows;
    m_texts.setRows(rows);
    if (notes == Notes::Anew) m_notes = {};
    m_selected.clear();
    m_current.reset();
    m_anchor.reset();
    m_anchorRow = 0;
    m_top = 0;
    m_atEnd = true;
    rowsChanged();
    Q_EMIT currentChanged();
}

void PacketList::rowsChanged() {
    m_texts.forget();
    m_scroll.rows = m_rows == nullptr ? 0 : m_rows->count();
    if (m_autoScroll && m_atEnd) {
        m_top = m_scroll.lastTop();
    } else if (m_anchor && m_scroll.rows > 0) {
        // The anchor stays as it is while a filter finds more: what is not there yet may come.
        const std::uint64_t at = m_rows->positionOf(*m_anchor);
        m_top = m_scroll.clamped(at < m_anchorRow ? 0 : at - m_anchorRow);
    }
    updateScroll();
    viewport()->update();
}

// Of where the user has gone: the current packet, if it is in sight, else the uppermost one.
void PacketList::keepAnchor() {
    if (m_rows == nullptr || m_scroll.rows == 0) return;
    m_atEnd = m_top == m_scroll.lastTop();
    const std::optional<std::uint64_t> current = currentPosition();
    const bool inSight = current && *current >= m_top && *current - m_top < m_scroll.page;
    m_anchor = inSight ? m_current : std::optional(m_rows->frameAt(m_top));
    m_anchorRow = inSight ? *current - m_top : 0;
}

void PacketList::scrollTo(std::uint64_t top) {
    const std::uint64_t clamped = m_scroll.clamped(top);
    if (clamped != m_top) viewport()->update();
    m_top = clamped;
    keepAnchor();
    updateScroll();
}

void PacketList::updateScroll() {
    const int height = m_header->sizeHint().height();
    setViewportMargins(0, height, 0, 0);
    const QRect area = viewport()->geometry();
    m_header->setGeometry(area.left(), area.top() - height, area.width(), height);

    m_scroll.page = static_cast<std::uint64_t>(std::max(1, viewport()->height() / rowHeight()));
    m_top = m_scroll.clamped(m_top);
    m_settingBars = true;
    QScrollBar* vertical = verticalScrollBar();
    vertical->setRange(0, m_scroll.barMost());
    vertical->setPageStep(m_scroll.barPage());
    vertical->setSingleStep(1);
    vertical->setValue(m_scroll.barValue(m_top));
    QScrollBar* horizontal = horizontalScrollBar();
    horizontal->setRange(0, std::max(0, m_header->length() - viewport()->width()));
    horizontal->setPageStep(viewport()->width());
    horizontal->setSingleStep(4 * margin());
    m_header->setOffset(horizontal->value());
    m_settingBars = false;
}

// The arrows and pages of the bar go by rows, however many of them a step of the bar stands for.
void PacketList::barAction(int action) {
    const auto page = static_cast<std::int64_t>(m_scroll.page);
    switch (action) {
        case QAbstractSlider::SliderSingleStepAdd: scrollTo(m_scroll.moved(m_top, 1)); break;
        case QAbstractSlider::SliderSingleStepSub: scrollTo(m_scroll.moved(m_top, -1)); break;
        case QAbstractSlider::SliderPageStepAdd: scrollTo(m_scroll.moved(m_top, page)); break;
        case QAbstractSlider::SliderPageStepSub: scrollTo(m_scroll.moved(m_top, -page)); break;
        case QAbstractSlider::SliderToMinimum: scrollTo(0); break;
        case QAbstractSlider::SliderToMaximum: scrollTo(m_scroll.lastTop()); break;
        default: return;
    }
    verticalScrollBar()->setSliderPosition(m_scroll.barValue(m_top));
}

void PacketList::scrollContentsBy(int dx, int dy) {
    if (dx != 0) {
        m_header->setOffset(horizontalScrollBar()->value());
        viewport()->update();
    }
    if (dy == 0 || m_settingBars) return;
    // Where the bar stands already right, rows were moved and the bar follows.
    const int value = verticalScrollBar()->value();
    if (value != m_scroll.barValue(m_top)) scrollTo(m_scroll.topAt(value));
}

void PacketList::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    const bool stay = m_autoScroll && m_atEnd;
    const bool jumped = m_jump && m_jump->top == m_top && m_rows != nullptr && m_rows->isShown(m_jump->frame);
    updateScroll();
    if (stay) m_top = m_scroll.lastTop();
    else if (jumped) m_top = m_jump->top = m_scroll.jumpingTo(m_rows->positionOf(m_jump->frame));
    updateScroll();
    if (jumped) keepAnchor();
}

void PacketList::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange && m_header != nullptr) fillHeader();
    if (event->type() == QEvent::StyleChange && m_header != nullptr) updateScroll();
}

int PacketList::margin() const { return std::max(2, fontMetrics().height() * 2 / 5); }
int PacketList::gutter() const { return fontMetrics().height() * 2; }
int PacketList::rowHeight() const { return fontMetrics().height() + std::max(2, fontMetrics().height() / 5); }

QRect PacketList::rowRect(std::uint64_t position) const {
    if (position < m_top || position - m_top > m_scroll.page || position >= m_scroll.rows) return {};
    const int y = static_cast<int>(position - m_top) * rowHeight();
    return {0, y, viewport()->width(), rowHeight()};
}

QRect PacketList::cellRect(std::uint64_t position, int column) const {
    const QRect row = rowRect(position);
    if (row.isEmpty() || column < 0 || column >= m_header->count() || m_header->isSectionHidden(column)) return {};
    return {m_header->sectionViewportPosition(column), row.y(), m_header->sectionSize(column), row.height()};
}

std::optional<std::uint64_t> PacketList::rowAt(int y) const {
    if (y < 0) return std::nullopt;
    const std::uint64_t position = m_top + static_cast<std::uint64_t>(y / rowHeight());
    return position < m_scroll.rows ? std::optional(position) : std::nullopt;
}

std::optional<std::uint64_t> PacketList::currentPosition() const {
    if (m_rows == nullptr || !m_current || !m_rows->isShown(*m_current)) return std::nullopt;
    const std::uint64_t position = m_rows->positionOf(*m_current);
    return position < m_scroll.rows ? std::optional(position) : std::nullopt;
}

}  // namespace qps::gui
