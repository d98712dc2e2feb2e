#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/table_tie.hpp>

#include <QEvent>

namespace qps::gui {

namespace {

constexpr int kLimitPause = 1000;  // ms between two looks at a filter that is still being asked

}  // namespace

QString combined(const QString& present, const QString& filter, FilterUse use) {
    const bool alone = present.trimmed().isEmpty();
    switch (use) {
        case FilterUse::Replace: return filter;
        case FilterUse::Exclude: return QStringLiteral("not (%1)").arg(filter);
        case FilterUse::And: return alone ? filter : QStringLiteral("(%1) and (%2)").arg(present, filter);
        case FilterUse::Or: return alone ? filter : QStringLiteral("(%1) or (%2)").arg(present, filter);
    }
    return filter;
}

TableTie::TableTie(TableView& view, Session& session, Selection& selection, HasShown has_shown)
    : QObject(&view), m_view(view), m_session(session), m_selection(selection), m_has_shown(std::move(has_shown)) {
    m_limiting.setSingleShot(true);
    connect(&m_limiting, &QTimer::timeout, this, &TableTie::limit);
    view.installEventFilter(this);

    connect(&view, &TableView::packetWanted, this, [this](quint64 frame, bool in_list) {
        m_selection.selectPacket(dissect::FrameIndex{frame});
        if (in_list) Q_EMIT m_view.viewRequested(QStringLiteral("packets"));
    });
    connect(&view, &TableView::rowChosen, &selection, &Selection::selectConnection);
    connect(&view, &TableView::rowOffered, this, [this](transport::ConnectionId connection) {
        if (!m_selection.connection()) m_selection.selectConnection(connection);
    });
    connect(&view, &TableView::filterWanted, this, &TableTie::useFilter);
    connect(&view, &TableView::limitChanged, this, &TableTie::limit);

    // What nothing was read of says nothing of the capture.
    const auto tell = [this] {
        m_view.setNothingRead(m_session.packets() != 0 ? QString()
                              : m_session.busy()       ? tr("No packets yet.")
                              : m_session.state() == Session::State::Empty
                                  ? tr("No capture open.")
                                  : tr("No packets: the capture is empty or could not be read."));
    };
    for (const auto changed : {&Session::opened, &Session::rowsAdded, &Session::stateChanged})
        connect(&session, changed, this, tell);
    tell();
    view.model().setNames(session.names());
    connect(&session, &Session::namesChanged, this, [this] {
        m_view.model().setNames(m_session.names());
        m_view.fitColumns();
    });
    view.model().setRange(selection.range());
    connect(&selection, &Selection::rangeChanged, this, [this] { m_view.model().setRange(m_selection.range()); });
    connect(&selection, &Selection::packetChanged, this, &TableTie::followPacket);
    connect(&selection, &Selection::connectionChanged, this, &TableTie::followConnection);
    connect(&selection, &Selection::filterChanged, this, &TableTie::limit);
    connect(&selection, &Selection::hitsChanged, this, [this] {
        if (!m_selection.filtering()) limit();
        else if (m_view.isLimited() && !m_limiting.isActive()) m_limiting.start(kLimitPause);
    });
}

// A view that nobody sees does not look for rows; it does when it is shown.
bool TableTie::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Show && m_is_late) {
        if (m_selection.packet()) followPacket();
        else followConnection();
        limit();
    }
    return QObject::eventFilter(watched, event);
}

void TableTie::followPacket() {
    m_is_late = !m_view.isVisible();
    const auto packet = m_selection.packet();
    if (m_is_late || !packet) return;
    if (const auto now = m_view.current(); now && m_view.model().place(*now).shown == packet)
        return;  // of several rows that one
    if (const auto row = m_view.model().rowOfPacket(*packet)) m_view.follow(*row);
    else followConnection();
}

void TableTie::followConnection() {
    const auto connection = m_selection.connection();
    if (const auto row = connection ? m_view.model().rowOfConnection(*connection) : std::nullopt) m_view.follow(*row);
}

void TableTie::limit() {
    m_limiting.stop();
    if (!m_view.isVisible()) {
        m_is_late = true;
        return;
    }
    m_is_late = false;
    const transport::RowSet* hits = m_selection.hits();
    if (!m_view.isLimited() || hits == nullptr) return m_view.model().setLimit({});
    const auto shown = std::make_shared<const ShownPackets>(*m_session.index(), *hits);
    m_view.model().setLimit([this, shown](TableModel::Row row) { return m_has_shown(row, *shown); });
}

void TableTie::useFilter(const QString& filter, FilterUse use, bool apply) {
    const QString text = combined(m_selection.filter(), filter, use);
    if (apply) m_selection.applyFilter(text);
    else m_selection.prepareFilter(text);
}

}  // namespace qps::gui
