#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/messages_view.hpp>
#include <gui/tables/table_tie.hpp>
#include <transport-replay/report/figures.hpp>

#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

namespace qps::gui {

MessagesView::MessagesView(Session& session, Selection& selection, QWidget* parent) : QWidget(parent), m_model(new MessageModel) {
    auto* view = new TableView(m_model, QStringLiteral("messages"));
    view->table().setAccessibleName(tr("Messages"));
    view->putBarsAt(4);
    view->setEmptyText(tr("No messages: no SEND, WRITE, READ or ATOMIC found, or none has ended yet."));
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
    connect(view, &TableView::viewRequested, this, &MessagesView::viewRequested);
    const auto open = [this, &session] {
        m_model->setIndex(session.index());
        m_model->setTimeline(session.timeline());
        tellLimit(session);
    };
    connect(&session, &Session::opened, this, open);
    connect(&session, &Session::rowsAdded, m_model, &MessageModel::update);
    connect(&session, &Session::timelineChanged, this, [this, view, &session] {
        m_model->setTimeline(session.timeline());
        view->fitColumns();  // who the ends are is known now
        tellLimit(session);
    });
    open();
}

void MessagesView::tellLimit(const Session& session) {
    const std::uint64_t all = session.index()->messages.size();
    m_bound->setVisible(all > MessageModel::kMostRows);
    m_bound->setText(tr("The table shows the first %1 of %2 messages.")
                         .arg(shown(transport::grouped(MessageModel::kMostRows)), shown(transport::grouped(all))));
}

}  // namespace qps::gui
