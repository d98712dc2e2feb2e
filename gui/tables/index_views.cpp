#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/index_views.hpp>
#include <gui/tables/message_model.hpp>
#include <gui/tables/operation_model.hpp>
#include <gui/tables/table_tie.hpp>
#include <transport-replay/report/figures.hpp>

#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

namespace qps::gui {

IndexView::IndexView(Session& session, Selection& selection, IndexModel* model, const Words& words, QWidget* parent)
    : QWidget(parent), m_model(model), m_limit(words.limit), m_bound(new QLabel) {
    auto* view = new TableView(m_model, words.id);
    view->table().setAccessibleName(words.name);
    view->putFirst(words.first);
    view->putBarsAt(words.bars);
    view->setEmptyText(words.empty);
    setFocusProxy(view);
    auto* column = new QVBoxLayout(this);
    column->addWidget(view);
    m_bound->hide();
    column->addWidget(m_bound);
    new TableTie(*view, session, selection, [this](TableModel::Row row, const ShownPackets& shown) {
        const RowPlace place = m_model->place(row);
        return shown.any(*place.connection, place.first, place.last);
    });
    connect(view, &TableView::viewRequested, this, &IndexView::viewRequested);
    const auto open = [this, &session] {
        m_model->setIndex(session.index());
        m_model->setTimeline(session.timeline());
        showLimit();
    };
    connect(&session, &Session::opened, this, open);
    connect(&session, &Session::rowsAdded, m_model, &IndexModel::update);
    connect(&session, &Session::timelineChanged, this, [this, view, &session] {
        m_model->setTimeline(session.timeline());
        view->fitColumns();  // who the ends are is known now
        showLimit();
    });
    open();
}

void IndexView::showLimit() {
    const std::uint64_t all = m_model->indexed();
    m_bound->setVisible(all > IndexModel::kMostRows);
    m_bound->setText(m_limit.arg(shown(transport::grouped(IndexModel::kMostRows)), shown(transport::grouped(all))));
}

MessagesView::MessagesView(Session& session, Selection& selection, QWidget* parent)
    : IndexView(
          session, selection, new MessageModel,
          {.id = QStringLiteral("messages"),
           .name = tr("Messages"),
           .empty = tr("No messages: no SEND, WRITE, READ or ATOMIC found, or none has ended yet."),
           .limit = tr("The table shows the first %1 of %2 messages."),
           .first = {QStringLiteral("#"), QStringLiteral("no."), QStringLiteral("time"), QStringLiteral("message"),
                     QStringLiteral("bytes"), QStringLiteral("latency"), QStringLiteral("outcome")},
           .bars = 7},
          parent) {}

OperationsView::OperationsView(Session& session, Selection& selection, QWidget* parent)
    : IndexView(
          session, selection, new OperationModel,
          {.id = QStringLiteral("operations"),
           .name = tr("Operations"),
           .empty =
               tr("No operations: no connection carries NVMe, iSER, SRP, NFS or another known upper-layer protocol."),
           .limit = tr("The table shows the first %1 of %2 operations."),
           .first = {QStringLiteral("#"), QStringLiteral("time"), QStringLiteral("operation"), QStringLiteral("tag"),
                     QStringLiteral("latency"), QStringLiteral("wait"), QStringLiteral("transfer"),
                     QStringLiteral("complete"), QStringLiteral("outcome"), QStringLiteral("bytes")},
           .bars = 9},
          parent) {}

}  // namespace qps::gui
