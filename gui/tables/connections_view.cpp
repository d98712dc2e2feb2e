#include <dissect/ulp/ulp.hpp>
#include <gui/base/text.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/connections_view.hpp>
#include <gui/tables/table_tie.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QActionGroup>
#include <QMenu>
#include <QTableView>
#include <QVBoxLayout>

namespace qps::gui {

namespace series = transport::series;

ConnectionsView::ConnectionsView(Session& session, Selection& selection, QWidget* parent)
    : QWidget(parent), m_session(session), m_model(new ConnectionModel) {
    auto* view = new TableView(m_model, QStringLiteral("connections"));
    view->table().setAccessibleName(tr("Connections"));
    view->putBarsAt(3);
    view->hideAtFirst(QStringLiteral("pairing"));
    view->setEmptyText(tr("No connections: the capture has no queue pair traffic."));
    setFocusProxy(view);
    (new QVBoxLayout(this))->addWidget(view);
    new TableTie(*view, session, selection, [this](TableModel::Row row, const ShownPackets& shown) {
        return shown.any(*m_model->place(row).connection);
    });
    view->addToMenus([this, &session](QMenu& menu, TableModel::Row row) {
        addDecodeAs(menu, session, *m_model->place(row).connection);
    });
    connect(view, &TableView::viewRequested, this, &ConnectionsView::viewRequested);
    connect(&session, &Session::opened, this, [this] {
        m_job.cancel();
        m_model->setTimeline(m_session.timeline(), true);
    });
    connect(&session, &Session::timelineChanged, this, [this] {
        m_model->setTimeline(m_session.timeline());
        measure();
    });
    m_model->setTimeline(session.timeline(), true);
    measure();
}

// Latencies and activity, from the rows of the index. While a capture is read they come with each timeline that there
// is time for.
void ConnectionsView::measure() {
    if (m_job.running() && m_session.busy()) return;
    m_job.start([this, index = m_session.index(), timeline = m_session.timeline(),
                 memory = m_session.memory()](const series::Stop& stop) -> SeriesJob::Delivery {
        auto times = series::connection_times(*index, memory, stop);
        if (!times) return {};
        const series::Range range{timeline->first.value_or(dissect::Instant{}),
                                  timeline->last.value_or(dissect::Instant{}) + dissect::Duration{1}};
        auto lines = series::activity_lines(*index, range, timeline->connections.size(), stop);
        if (!lines) return {};
        auto figures = std::make_shared<series::ConnectionFigures>(
            series::ConnectionFigures{std::move(*times), std::move(*lines)});
        return [this, figures = std::move(figures)] { m_model->setFigures(figures); };
    });
}

// What the connection speaks, whatever it looks like: everything is analysed again.
void ConnectionsView::addDecodeAs(QMenu& menu, Session& session, transport::ConnectionId connection) {
    QMenu* choices = menu.addMenu(tr("&Decode as"));
    choices->setEnabled(session.canDecodeAs());
    const transport::UlpConversation* known = session.timeline()->ulp.find(connection);
    const auto speaks = known == nullptr ? transport::UlpProtocol::none : known->protocol;
    auto* group = new QActionGroup(choices);
    for (const dissect::UlpRow& row : dissect::ulp_rows()) {
        QAction* action =
            choices->addAction(row.protocol == transport::UlpProtocol::none ? tr("None") : shown(row.name));
        action->setActionGroup(group);
        action->setCheckable(true);
        action->setChecked(row.protocol == speaks);
        const auto protocol = row.protocol;
        connect(action, &QAction::triggered, &session,
                [&session, connection, protocol] { session.decodeAs(connection, protocol); });
    }
}

}  // namespace qps::gui
