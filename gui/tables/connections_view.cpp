#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/connections_view.hpp>
#include <gui/tables/table_tie.hpp>

#include <QTableView>
#include <QVBoxLayout>

namespace qps::gui {

ConnectionsView::ConnectionsView(Session& session, Selection& selection, QWidget* parent) : QWidget(parent), m_model(new ConnectionModel) {
    auto* view = new TableView(m_model, QStringLiteral("connections"));
    view->table().setAccessibleName(tr("Connections"));
    view->putBarsAt(3);
    view->setEmptyText(tr("No connections: no RDMA packets of queue pairs were found."));
    setFocusProxy(view);
    (new QVBoxLayout(this))->addWidget(view);
    new TableTie(*view, session, selection,
                 [this](TableModel::Row row, const ShownPackets& shown) { return shown.any(*m_model->place(row).connection); });
    connect(view, &TableView::viewRequested, this, &ConnectionsView::viewRequested);
    connect(&session, &Session::opened, this, [this, &session] { m_model->setTimeline(session.timeline(), true); });
    connect(&session, &Session::timelineChanged, this, [this, &session] { m_model->setTimeline(session.timeline()); });
    m_model->setTimeline(session.timeline(), true);
}

}  // namespace qps::gui
