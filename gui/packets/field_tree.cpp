#include <dissect/filter/line_filter.hpp>
#include <dissect/packet/render_value.hpp>
#include <gui/base/fixed_font.hpp>
#include <gui/packets/field_tree.hpp>
#include <gui/packets/filter_offers.hpp>

#include <QClipboard>
#include <QContextMenuEvent>
#include <QDrag>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QMimeData>
#include <array>
#include <string>
#include <utility>

namespace qps::gui {

using dissect::FrameSpan;
using dissect::LayerKind;
using dissect::TreeLine;

namespace {

// What one looks at in an RDMA packet before anything else.
constexpr std::array kOpenAtFirst{
    LayerKind::bth,       LayerKind::rdeth,        LayerKind::xrceth, LayerKind::deth, LayerKind::reth, LayerKind::aeth,
    LayerKind::atomiceth, LayerKind::atomicacketh, LayerKind::immdt,  LayerKind::ieth, LayerKind::feth,
};

QString nameOf(LayerKind kind) {
    const std::string_view name = dissect::header(kind).name;
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

}  // namespace

FieldTree::FieldTree(QWidget* parent) : QTreeView(parent), m_model(new FieldModel(this)) {
    setObjectName(QStringLiteral("fieldTree"));
    setAccessibleName(tr("Packet fields"));
    setFont(fixedFont());
    m_model->setPalette(palette());
    setModel(m_model);
    setUniformRowHeights(true);
    setExpandsOnDoubleClick(true);
    setAllColumnsShowFocus(true);
    setHeaderHidden(true);
    setDragEnabled(true);
    setDragDropMode(QAbstractItemView::DragOnly);
    header()->setStretchLastSection(true);
    header()->setSectionResizeMode(FieldModel::Name, QHeaderView::Interactive);
    connect(this, &QTreeView::expanded, this, [this](const QModelIndex& index) { setOpen(index, true); });
    connect(this, &QTreeView::collapsed, this, [this](const QModelIndex& index) { setOpen(index, false); });
    connect(this, &QTreeView::activated, this, [this](const QModelIndex& index) {
        if (const auto frame = m_model->linkOf(index)) Q_EMIT packetWanted(std::to_underlying(*frame));
    });
}

QMimeData* FieldTree::dragged() const {
    const QString filter = fieldFilter();
    if (filter.isEmpty()) return nullptr;
    auto* taken = new QMimeData;
    taken->setData(kFilterMime, filter.toUtf8());
    taken->setText(filter);
    return taken;
}

void FieldTree::startDrag(Qt::DropActions) {
    QMimeData* taken = dragged();
    if (taken == nullptr) return;
    auto* drag = new QDrag(this);
    drag->setMimeData(taken);
    drag->exec(Qt::CopyAction);
}

// Most labels; values are worth more than the ends of the longest.
void FieldTree::fitNames() {
    setIndentation(fontMetrics().height());
    const int most = fontMetrics().horizontalAdvance(QLatin1Char('m')) * 40;
    header()->resizeSection(FieldModel::Name, std::min(most, viewport()->width() * 3 / 5));
}

QSize FieldTree::minimumSizeHint() const {
    return {fontMetrics().horizontalAdvance(QLatin1Char('m')) * 44, QTreeView::minimumSizeHint().height()};
}

void FieldTree::resizeEvent(QResizeEvent* event) {
    QTreeView::resizeEvent(event);
    fitNames();
}

void FieldTree::setPacket(SharedPacket packet) {
    m_restoring = true;
    m_model->setPacket(std::move(packet));
    restore();
    m_restoring = false;
    Q_EMIT lineChanged();
}

QSet<QString> FieldTree::openAtFirst() {
    QSet<QString> keys;
    for (const LayerKind kind : kOpenAtFirst) keys.insert(nameOf(kind));
    return keys;
}

// "infiniband.bth", "infiniband.bth/infiniband.bth.opcode", "eth#1" of the second Ethernet header.
QString FieldTree::keyOf(const QModelIndex& index) const {
    const TreeLine* line = m_model->line(index);
    if (line == nullptr) return {};
    int before = 0;
    const std::vector<TreeLine>& lines = m_model->packet()->lines();
    for (std::size_t i = 0; i < *m_model->number(index); ++i)
        if (lines[i].kind == line->kind && lines[i].field == line->field && lines[i].heading() == line->heading())
            ++before;
    QString key = nameOf(line->kind);
    if (!line->heading())
        key += QLatin1Char('/') +
               (line->field != nullptr ? QString::fromStdString(std::string(line->field->name)) : QStringLiteral("!"));
    return before == 0 ? key : key + QLatin1Char('#') + QString::number(before);
}

QModelIndex FieldTree::indexOfKey(const QString& key) const {
    if (key.isEmpty() || m_model->packet() == nullptr) return {};
    for (std::size_t i = 0; i < m_model->packet()->lines().size(); ++i)
        if (const QModelIndex index = m_model->indexOf(i); keyOf(index) == key) return index;
    return {};
}

void FieldTree::restore() {
    if (m_model->packet() == nullptr) return;
    for (std::size_t i = 0; i < m_model->packet()->lines().size(); ++i)
        if (const QModelIndex index = m_model->indexOf(i);
            m_model->rowCount(index) > 0 && m_open.contains(keyOf(index)))
            setExpanded(index, true);
    if (const QModelIndex selected = indexOfKey(m_selected); selected.isValid()) {
        setCurrentIndex(selected);
        scrollTo(selected);
    }
}

void FieldTree::setOpen(const QModelIndex& index, bool open) {
    if (m_restoring) return;
    if (!open) m_open.remove(keyOf(index));
    else if (m_open.size() < kMostOpen) m_open.insert(keyOf(index));
}

void FieldTree::setOpenFields(const QStringList& keys) {
    closeAll();
    const QStringList kept = keys.mid(0, kMostOpen);
    m_open = {kept.begin(), kept.end()};
    m_restoring = true;
    restore();
    m_restoring = false;
}

void FieldTree::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
    QTreeView::currentChanged(current, previous);
    if (m_restoring) return;
    if (current.isValid()) m_selected = keyOf(current);
    Q_EMIT lineChanged();
}

FrameSpan FieldTree::currentSpan() const {
    const TreeLine* line = currentLine();
    return line == nullptr ? FrameSpan{} : line->span;
}

FrameSpan FieldTree::layerSpan() const {
    QModelIndex index = currentIndex();
    while (index.parent().isValid()) index = index.parent();
    const TreeLine* line = m_model->line(index);
    return line == nullptr ? FrameSpan{} : line->span;
}

void FieldTree::selectByte(std::size_t byte) {
    if (m_model->packet() == nullptr) return;
    const auto line = dissect::line_at(m_model->packet()->lines(), byte);
    if (!line) return;
    const QModelIndex index = m_model->indexOf(*line);
    for (QModelIndex above = index.parent(); above.isValid(); above = above.parent()) setExpanded(above, true);
    setCurrentIndex(index);
    scrollTo(index);
}

QString FieldTree::fieldName() const {
    const TreeLine* line = currentLine();
    if (line == nullptr) return {};
    const std::string_view name = line->field != nullptr ? line->field->name : dissect::header(line->kind).name;
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

QString FieldTree::fieldFilter() const {
    const TreeLine* line = currentLine();
    if (line == nullptr) return {};
    std::string filter;
    dissect::append_filter(filter, m_model->packet()->packet(), *line);
    return QString::fromStdString(filter);
}

QString FieldTree::copied(CopyForm form) const {
    const TreeLine* line = currentLine();
    if (line == nullptr) return {};
    std::string text;
    switch (form) {
        case CopyForm::Line:
            dissect::append_printable(text, (dissect::append_text(text, *line), std::exchange(text, {})));
            break;
        case CopyForm::Value:
            return m_model->indexOf(*m_model->number(currentIndex()), FieldModel::Words).data().toString();
        case CopyForm::Name: return fieldName();
        case CopyForm::Filter: return fieldFilter();
        case CopyForm::Bytes:
            dissect::append_hex(text, dissect::slice(m_model->packet()->bytes(), line->span.offset, line->span.length));
            break;
        case CopyForm::Everything:
            for (const TreeLine& each : m_model->packet()->lines()) {
                std::string one;
                dissect::append_text(one, each);
                dissect::append_printable(text, one);
                text += '\n';
            }
            break;
    }
    return QString::fromStdString(text);
}

QString FieldTree::placeText() const {
    const TreeLine* line = currentLine();
    if (line == nullptr) return {};
    const FrameSpan span = line->span;
    QString text = fieldName();
    if (text.isEmpty()) text = QString::fromStdString(std::string(dissect::label(*line)));
    if (span.length == 0) return tr("%1: computed, not in the packet").arg(text);
    const std::uint32_t last = span.offset + span.length - 1;
    text += span.length == 1 ? tr(": byte %1").arg(span.offset)
                             : tr(": bytes %1 to %2 (%3 bytes)").arg(span.offset).arg(last).arg(span.length);
    if (span.bit_width == 1) text += tr(", bit %1").arg(span.first_bit);
    else if (span.bit_width > 1)
        text += tr(", bits %1 to %2").arg(span.first_bit).arg(span.first_bit + span.bit_width - 1);
    if (span.bit_width > 0) text += tr(" (bit 0 is the MSB)");
    return text;
}

void FieldTree::openSubtree() {
    std::vector<QModelIndex> next{currentIndex().siblingAtColumn(0)};
    while (!next.empty() && next.back().isValid()) {
        const QModelIndex index = next.back();
        next.pop_back();
        setExpanded(index, m_model->rowCount(index) > 0);
        for (int row = 0; row < m_model->rowCount(index); ++row) next.push_back(m_model->index(row, 0, index));
    }
}

void FieldTree::openAll() {
    if (m_model->packet() == nullptr) return;
    for (std::size_t i = 0; i < m_model->packet()->lines().size(); ++i)
        if (const QModelIndex index = m_model->indexOf(i); m_model->rowCount(index) > 0) setExpanded(index, true);
}

void FieldTree::closeAll() {
    if (m_model->packet() == nullptr) return;
    for (std::size_t i = 0; i < m_model->packet()->lines().size(); ++i)
        if (const QModelIndex index = m_model->indexOf(i); m_model->rowCount(index) > 0) setExpanded(index, false);
}

void FieldTree::keyPressEvent(QKeyEvent* event) {
    const bool shift = event->modifiers() == Qt::ShiftModifier;
    const bool control = event->modifiers() == Qt::ControlModifier;
    if (event->matches(QKeySequence::Copy)) return QGuiApplication::clipboard()->setText(copied(CopyForm::Line));
    if (shift && event->key() == Qt::Key_Right) return openSubtree();
    if (control && event->key() == Qt::Key_Right) return openAll();
    if (control && event->key() == Qt::Key_Left) return closeAll();
    if (event->key() == Qt::Key_Backspace) {
        if (const QModelIndex above = currentIndex().siblingAtColumn(0).parent(); above.isValid())
            setCurrentIndex(above);
        return;
    }
    // Letters are for the filter bar, not for a search among labels.
    if (!event->text().isEmpty() && event->text().front().isPrint() && event->key() != Qt::Key_Space)
        return event->ignore();
    QTreeView::keyPressEvent(event);
}

void FieldTree::fillCopyMenu(QMenu& menu) {
    const auto offer = [&](const QString& title, CopyForm form) {
        menu.addAction(title, this, [this, form] { QGuiApplication::clipboard()->setText(copied(form)); })
            ->setEnabled(!copied(form).isEmpty());
    };
    offer(tr("&Line"), CopyForm::Line);
    offer(tr("&Value"), CopyForm::Value);
    offer(tr("Field &name"), CopyForm::Name);
    offer(tr("As &filter"), CopyForm::Filter);
    offer(tr("&Bytes as hex"), CopyForm::Bytes);
    offer(tr("&All lines"), CopyForm::Everything);
}

void FieldTree::fillMenu(QMenu& menu) {
    menu.addAction(tr("Expand &subtree"), this, &FieldTree::openSubtree);
    menu.addAction(tr("&Expand all"), this, &FieldTree::openAll);
    menu.addAction(tr("Co&llapse all"), this, &FieldTree::closeAll);
    menu.addSeparator();
    const TreeLine* line = currentLine();
    const QString name = fieldName();
    menu.addAction(tr("Apply as &column"), this, [this, name] { Q_EMIT columnWanted(name); })
        ->setEnabled(line != nullptr && line->field != nullptr && !name.isEmpty());
    addFilterOffers(menu, m_presentFilter, fieldFilter(),
                    {[this](const QString& filter) { Q_EMIT filterWanted(filter); },
                     [this](const QString& filter) { Q_EMIT filterPrepared(filter); }});
    menu.addAction(tr("Co&nnection filter"), this, &FieldTree::followConversationWanted);
    menu.addAction(tr("&Follow message"), this, &FieldTree::followMessageWanted);
    if (const auto frame = m_model->linkOf(currentIndex()))
        menu.addAction(tr("&Go to packet %1").arg(std::to_underlying(*frame)), this,
                       [this, frame] { Q_EMIT packetWanted(std::to_underlying(*frame)); });
    menu.addSeparator();
    fillCopyMenu(*menu.addMenu(tr("Cop&y")));
}

void FieldTree::contextMenuEvent(QContextMenuEvent* event) {
    if (event->reason() == QContextMenuEvent::Mouse)
        if (const QModelIndex index = indexAt(event->pos()); index.isValid()) setCurrentIndex(index);
    if (currentLine() == nullptr) return;
    QMenu menu(this);
    fillMenu(menu);
    menu.exec(event->globalPos());
}

void FieldTree::changeEvent(QEvent* event) {
    QTreeView::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) m_model->setPalette(palette());
    if (event->type() == QEvent::FontChange) fitNames();
}

}  // namespace qps::gui
