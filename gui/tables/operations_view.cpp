#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/operations_view.hpp>
#include <gui/tables/table_tie.hpp>
#include <transport-replay/report/figures.hpp>

#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

namespace qps::gui {

OperationsView::OperationsView(Session& session, Selection& selection, QWidget* parent) : QWidget(parent), m_model(new OperationModel) {
    auto* view = new TableView(m_model, QStringLiteral("operations"));
    view->table().setAccessibleName(tr("Operations"));
    view->putBarsAt(2);
    view->setEmptyText(tr("No operations: no connection carries NVMe, iSER, SRP, NFS or another known upper-layer protocol."));
    setFocusProxy(view);
    auto* column = new QVBoxLayout(this);
    column->addWidget(view);
    m_bound = new QLabel;
    m_bound->hide();
    column->addWidget(m_bound);
    new TableTie(*view, session, selection, [this](TableModel::Row row, const ShownPackets& shown) {
        const RowPlace place = m_model->place(row);
        return shown.any(*place.connection, place.first, place.last);
    });
    connect(view, &TableView::viewRequested, this, &OperationsView::viewRequested);
    const auto open = [this, &session] {
        m_model->setIndex(session.index());
        m_model->setTimeline(session.timeline());
        tellLimit(session);
    };
    connect(&session, &Session::opened, this, open);
    connect(&session, &Session::rowsAdded, m_model, &OperationModel::update);
    connect(&session, &Session::timelineChanged, this, [this, view, &session] {
        m_model->setTimeline(session.timeline());
        view->fitColumns();  // who the ends are is known now
        tellLimit(session);
    });
    open();
}

void OperationsView::tellLimit(const Session& session) {
    const std::uint64_t all = session.index()->operations.size();
    m_bound->setVisible(all > OperationModel::kMostRows);
    m_bound->setText(tr("The table shows the first %1 of %2 operations.")
                         .arg(shown(transport::grouped(OperationModel::kMostRows)), shown(transport::grouped(all))));
}

}  // namespace qps::gui
