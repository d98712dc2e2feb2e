#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/cm_pane.hpp>
#include <gui/tables/cm_view.hpp>
#include <gui/tables/table_tie.hpp>

#include <QTableView>
#include <algorithm>

namespace qps::gui {

CmView::CmView(Session& session, Selection& selection, QWidget* parent)
    : QWidget(parent), m_session(session), m_selection(selection), m_model(new CmModel) {
    m_table = new TableView(m_model, QStringLiteral("cm"));
    m_table->table().setAccessibleName(tr("Connection attempts"));
    m_table->putBarsAt(8);
    m_table->setEmptyText(tr("No connection attempts: the capture has no CM messages."));
    m_table->keepOneChosen();
    m_pane = new CmPane;
    layOut(*this, *m_table, *m_pane);

    // Management datagrams are of no connection: packets are asked one by one.
    new TableTie(*m_table, session, selection, [this](TableModel::Row row, const ShownPackets&) {
        return std::ranges::any_of(m_model->attempt(row).ladder,
                                   [this](const transport::CmRung& rung) { return m_selection.isShown(rung.frame); });
    });
    connect(m_table, &TableView::viewRequested, this, &CmView::viewRequested);
    connect(m_table, &TableView::currentChanged, this, &CmView::showChosen);
    connect(m_pane, &CmPane::packetWanted, m_table,
            [this](quint64 frame) { Q_EMIT m_table->packetWanted(frame, true); });
    connect(&selection, &Selection::packetChanged, this, [this] {
        if (const auto packet = m_selection.packet()) m_pane->choosePacket(*packet);
    });
    connect(&session, &Session::opened, this, [this] { take(true); });
    connect(&session, &Session::timelineChanged, this, [this] { take(false); });
    connect(&session, &Session::namesChanged, this, &CmView::showChosen);
    take(true);
}

void CmView::take(bool other_capture) {
    m_pane->show(nullptr, nullptr);  // it would borrow from the timeline before
    m_model->setTimeline(m_session.timeline(), other_capture);
    showChosen();
}

void CmView::showChosen() {
    const auto row = m_table->current();
    m_pane->show(m_model->timeline(), row ? &m_model->attempt(*row) : nullptr, m_session.names().get());
    if (const auto packet = m_selection.packet()) m_pane->choosePacket(*packet);
}

}  // namespace qps::gui
