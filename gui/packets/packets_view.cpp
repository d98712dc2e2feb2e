#include <dissect/filter/field_index.hpp>
#include <gui/packets/corresponding.hpp>
#include <gui/packets/event_overview.hpp>
#include <gui/packets/packet_window.hpp>
#include <gui/packets/packets_view.hpp>
#include <gui/packets/rules_dialog.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>

#include <QApplication>
#include <QClipboard>
#include <QDataStream>
#include <QHBoxLayout>
#include <QIODevice>
#include <QInputDialog>
#include <QSignalBlocker>
#include <QSplitter>
#include <QVBoxLayout>
#include <utility>

namespace qps::gui {

using dissect::FrameIndex;

namespace {

constexpr quint32 kStateVersion = 1;

}  // namespace

PacketsView::PacketsView(Session& session, Selection& selection, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_selection(selection),
      m_rows(session, selection),
      m_sorting(session, selection),
      m_list(new PacketList(this)),
      m_panes(new PacketPanes(this)),
      m_find(new FindBar(this)),
      m_overview(new EventOverview(session, selection, *m_list, this)),
      m_splitter(new QSplitter(Qt::Vertical, this)) {
    setObjectName(QStringLiteral("packetsView"));
    setAccessibleName(tr("Packets"));
    setFocusProxy(m_list);
    m_splitter->setChildrenCollapsible(false);
    auto* beside =
        new QWidget(m_splitter);  // never a window of its own: the list would lose its place in the order of Tab
    auto* line = new QHBoxLayout(beside);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(0);
    line->addWidget(m_list, 1);
    line->addWidget(m_overview->bar());
    m_splitter->addWidget(beside);
    m_splitter->addWidget(m_panes);
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 2);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_overview->strip());
    column->addWidget(m_splitter, 1);
    column->addWidget(m_find);
    m_find->hide();

    m_find->setSource([this] { return m_rows.snapshot(); }, [this] { return m_list->current(); });
    connect(m_find, &FindBar::found, this, [this] { m_list->goTo(*m_find->result().frame); });
    connect(m_find, &FindBar::closed, this, [this] { m_list->setFocus(); });
    connect(m_panes, &PacketPanes::placeChanged, this, &PacketsView::placeChanged);
    connect(m_list, &PacketList::commentsChanged, this, [this] {
        transport::Comments comments;
        for (const auto& [frame, text] : m_list->notes().comments.all()) comments[frame] = text.toStdString();
        Q_EMIT commentsChanged(comments);
    });
    connectList();
    connectTree();
    connectSorting();
    followSession();
    followSelection();
    m_list->setRows(&m_rows);
    m_list->setNames(m_session.names());
    m_list->setMarks(m_selection.marks());
    if (m_selection.packet()) m_list->goTo(*m_selection.packet());
    rowsChanged();
}

// The list must not ask for rows any more while the view is taken apart, nor anybody for what is selected.
PacketsView::~PacketsView() {
    delete m_overview;
    const QSignalBlocker quiet(m_list);
    m_find->cancel();
    m_list->setRows(nullptr);
}

void PacketsView::followSession() {
    connect(&m_session, &Session::opened, this, [this] {
        m_find->cancel();
        m_rows.renew();
        m_shown.reset();
        m_list->setRows(&m_rows, m_session.isReadAgain() ? PacketList::Notes::Kept : PacketList::Notes::Anew);
        showCurrent();
        rowsChanged();
    });
    connect(&m_session, &Session::namesChanged, this, [this] { m_list->setNames(m_session.names()); });
    connect(&m_session, &Session::rowsAdded, this, &PacketsView::rowsChanged);
    connect(&m_session, &Session::stateChanged, this, &PacketsView::rowsChanged);
}

void PacketsView::followSelection() {
    connect(&m_selection, &Selection::filterChanged, this, &PacketsView::rowsChanged);
    connect(&m_selection, &Selection::hitsChanged, this, &PacketsView::rowsChanged);
    connect(&m_selection, &Selection::rangeChanged, this, &PacketsView::rowsChanged);
    connect(&m_selection, &Selection::marksChanged, this, [this] { m_list->setMarks(m_selection.marks()); });
    connect(&m_selection, &Selection::packetChanged, this, [this] {
        if (const auto packet = m_selection.packet(); packet && packet != m_list->current()) m_list->goTo(*packet);
    });
}

void PacketsView::rowsChanged() {
    m_list->setAutoScroll(m_session.state() == Session::State::Capturing);
    m_list->setPresentFilter(m_selection.filter());
    m_panes->tree().setPresentFilter(m_selection.filter());
    m_list->rowsChanged();
    // Of a file the first packet is shown at once; who watches a capture chooses himself.
    if (!m_list->current() && m_rows.count() > 0 && !m_list->autoScroll()) m_list->firstPacket();
}

void PacketsView::connectList() {
    connect(m_list, &PacketList::currentChanged, this, [this] {
        if (m_list->current()) m_selection.selectPacket(*m_list->current());
        showCurrent();  // last, for what it says is about that packet
    });
    connect(m_list, &PacketList::packetOpened, this, &PacketsView::openPacket);
    connect(m_list, &PacketList::marksChanged, this, &PacketsView::tellMarks);
    connect(m_list, &PacketList::filterWanted, this, &PacketsView::applyFilter);
    connect(m_list, &PacketList::filterPrepared, &m_selection, &Selection::prepareFilter);
    connect(m_list, &PacketList::fieldColumnWanted, this, &PacketsView::chooseColumn);
    connect(m_list, &PacketList::notice, this, &PacketsView::notice);
    connect(m_list, &PacketList::viewRequested, this, &PacketsView::viewRequested);
}

void PacketsView::connectTree() {
    FieldTree& tree = m_panes->tree();
    connect(&tree, &FieldTree::filterWanted, this, &PacketsView::applyFilter);
    connect(&tree, &FieldTree::filterPrepared, &m_selection, &Selection::prepareFilter);
    connect(&tree, &FieldTree::columnWanted, this, &PacketsView::addColumn);
    connect(&tree, &FieldTree::followMessageWanted, this, &PacketsView::followMessage);
    connect(&tree, &FieldTree::followConversationWanted, this, &PacketsView::followConversation);
    connect(&tree, &FieldTree::packetWanted, this, [this](quint64 frame) {
        if (m_list->goTo(FrameIndex{frame}) && !m_rows.isShown(FrameIndex{frame}))
            Q_EMIT notice(tr("Packet %1 is hidden by the filter").arg(frame));
    });
}

void PacketsView::connectSorting() {
    connect(m_list, &PacketList::sortWanted, this, [this](const std::optional<PacketList::Sorted>& wanted) {
        m_list->setSorted(wanted);
        if (wanted) m_sorting.sort(wanted->column, wanted->descending);
        else m_sorting.clear();
        if (wanted && m_session.busy()) Q_EMIT notice(tr("Packets are sorted as soon as all are read"));
    });
    connect(&m_sorting, &PacketSorting::orderChanged, this, [this] {
        m_rows.setOrder(m_sorting.order());
        m_overview->bar()->setVisible(!m_rows.isSorted());  // which is in the order of the capture
        m_list->rowsChanged();
        if (m_rows.isSorted() && m_list->current()) m_list->goTo(*m_list->current());
    });
    connect(&m_sorting, &PacketSorting::refused, this, [this](const QString& sentence) {
        m_list->setSorted(std::nullopt);
        Q_EMIT notice(sentence);
    });
    connect(&m_sorting, &PacketSorting::progressed, this,
            [this](double part) { Q_EMIT workChanged(tr("Sorting packets"), part); });
    connect(&m_sorting, &PacketSorting::finished, this, [this] { Q_EMIT workChanged({}, 1); });
}

void PacketsView::stopSorting() {
    m_list->setSorted(std::nullopt);
    m_sorting.clear();
}

SharedPacket PacketsView::withMessage(const dissect::Packet& packet) const {
    std::optional<MessageFrames> message = messageFramesOf(m_rows, packet.frame.index);
    if (!message) return std::make_shared<OwnedPacket>(packet);
    return std::make_shared<OwnedPacket>(packet, message->number, std::move(message->frames));
}

void PacketsView::showCurrent() {
    const std::optional<FrameIndex> current = m_list->current();
    if (current && current == m_shown) return;
    m_shown = current;
    const dissect::Packet* packet = current ? m_rows.read(*current) : nullptr;
    m_panes->setPacket(packet != nullptr ? withMessage(*packet) : nullptr);
    if (current && packet == nullptr)
        Q_EMIT notice(
            tr("Packet %1 cannot be read: the file has changed or is gone").arg(std::to_underlying(*current)));
}

void PacketsView::applyFilter(const QString& text) {
    if (text.isEmpty()) return;
    if (!m_selection.applyFilter(text)) Q_EMIT notice(tr("Invalid filter: %1").arg(text));
}

void PacketsView::followMessage() {
    const QString filter = m_list->messageFilter();
    if (filter.isEmpty()) Q_EMIT notice(tr("Packet belongs to no message that has ended"));
    applyFilter(filter);
}

void PacketsView::followConversation() {
    const QString filter = m_list->conversationFilter();
    if (filter.isEmpty()) Q_EMIT notice(tr("Packet belongs to no connection"));
    applyFilter(filter);
}

// The selection hears of what differs, and other views of the last difference only.
void PacketsView::tellMarks() {
    const transport::RowSet before = m_selection.marks();
    const transport::RowSet after = m_list->notes().marks;
    std::vector<std::pair<FrameIndex, bool>> changes;
    for (auto frame = after.next(FrameIndex{}); frame; frame = after.next(*frame))
        if (!before.contains(*frame)) changes.emplace_back(*frame, true);
    for (auto frame = before.next(FrameIndex{}); frame; frame = before.next(*frame))
        if (!after.contains(*frame)) changes.emplace_back(*frame, false);
    if (changes.empty()) return;
    {
        const QSignalBlocker quiet(&m_selection);
        for (std::size_t i = 0; i + 1 < changes.size(); ++i) m_selection.setMarked(changes[i].first, changes[i].second);
    }
    m_selection.setMarked(changes.back().first, changes.back().second);
}

void PacketsView::addColumn(const QString& field) {
    if (!m_list->addFieldColumn(field)) Q_EMIT notice(tr("Unknown field '%1'").arg(field));
}

void PacketsView::chooseColumn() {
    QStringList names;
    for (const dissect::NameEntry& entry : dissect::all_names())
        if (!entry.fields.empty())
            names << QString::fromUtf8(entry.name.data(), static_cast<qsizetype>(entry.name.size()));
    names.sort();
    bool accepted = false;
    const QString name = QInputDialog::getItem(this, tr("Apply as column"), tr("Field:"), names, 0, true, &accepted);
    if (accepted) addColumn(name);
}

void PacketsView::fieldAsColumn() {
    const dissect::TreeLine* line = m_panes->tree().currentLine();
    if (line != nullptr && line->field != nullptr && !m_panes->tree().fieldName().isEmpty())
        addColumn(m_panes->tree().fieldName());
    else chooseColumn();
}

void PacketsView::editRules() {
    if (auto rules = askRules(m_list->rules().rules(), this)) m_list->setRules(RowRules(std::move(*rules)));
}

void PacketsView::openPacket() {
    if (m_panes->tree().packet() == nullptr) return;
    auto* window = new PacketWindow(m_panes->tree().packet(), m_panes->tree(), this);
    window->show();
}

void PacketsView::copy() {
    QClipboard* clipboard = QGuiApplication::clipboard();
    if (m_panes->tree().hasFocus()) clipboard->setText(m_panes->tree().copied(FieldTree::CopyForm::Line));
    else if (m_panes->bytes().hasFocus()) clipboard->setText(m_panes->bytes().copied(BytesForm::Hex));
    else m_list->copy(PacketList::CopyForm::Text);
}

QByteArray PacketsView::saveState() const {
    QByteArray state;
    QDataStream out(&state, QIODevice::WriteOnly);
    out.setVersion(QDataStream::Qt_6_0);
    out << kStateVersion << m_splitter->saveState() << m_panes->saveState() << m_list->saveColumns()
        << static_cast<quint32>(m_list->timeFormat()) << m_panes->tree().openFields();
    return state;
}

bool PacketsView::restoreState(const QByteArray& state) {
    QDataStream in(state);
    in.setVersion(QDataStream::Qt_6_0);
    quint32 version = 0;
    quint32 time = 0;
    QByteArray outer;
    QByteArray inner;
    QStringList columns;
    QStringList open;
    in >> version;
    if (version != kStateVersion) return false;
    in >> outer >> inner >> columns >> time >> open;
    if (in.status() != QDataStream::Ok || time > static_cast<quint32>(TimeFormat::Local)) return false;
    m_list->restoreColumns(columns);
    m_panes->tree().setOpenFields(open);
    m_list->setTimeFormat(static_cast<TimeFormat>(time));
    return m_splitter->restoreState(outer) && m_panes->restoreState(inner);
}

}  // namespace qps::gui
