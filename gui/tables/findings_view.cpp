#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/finding_pane.hpp>
#include <gui/tables/findings_view.hpp>
#include <gui/tables/table_tie.hpp>

#include <QTableView>

namespace qps::gui {

FindingsView::FindingsView(Session& session, Selection& selection, QWidget* parent)
    : QWidget(parent), m_session(session), m_model(new FindingModel) {
    m_table = new TableView(m_model, QStringLiteral("findings"));
    m_table->table().setAccessibleName(tr("Findings"));
    m_table->putBarsAt(5);
    m_table->setEmptyText(tr("No findings: no problems recognised in this capture."));
    m_table->keepOneChosen();
    m_pane = new FindingPane;
    layOut(*this, *m_table, *m_pane);

    new TableTie(*m_table, session, selection, [this, &selection](TableModel::Row row, const ShownPackets& shown) {
        const transport::Finding& finding = m_model->finding(row);
        if (finding.packets.empty()) return finding.connection && shown.any(*finding.connection);
        return std::ranges::any_of(finding.packets,
                                   [&](dissect::FrameIndex frame) { return selection.isShown(frame); });
    });
    connect(m_table, &TableView::viewRequested, this, &FindingsView::viewRequested);
    connect(m_table, &TableView::currentChanged, this, &FindingsView::showChosen);
    connect(m_table, &TableView::rowReached, &selection,
            [this, &selection](TableModel::Row row) { selection.selectFinding(keyOf(m_model->finding(row))); });
    const auto follow = [this, &selection] {
        const auto row = selection.finding() ? m_model->rowOfFinding(*selection.finding()) : std::nullopt;
        if (row) m_table->follow(*row);
    };
    connect(&selection, &Selection::findingChanged, this, follow);
    connect(m_pane, &FindingPane::packetWanted, m_table,
            [this](quint64 frame) { Q_EMIT m_table->packetWanted(frame, true); });
    connect(m_pane, &FindingPane::filterWanted, m_table,
            [this](const QString& filter) { Q_EMIT m_table->filterWanted(filter, FilterUse::Replace, true); });
    connect(m_pane, &FindingPane::connectionWanted, this, [this, &selection](transport::ConnectionId connection) {
        selection.selectConnection(connection);
        Q_EMIT viewRequested(QStringLiteral("connections"));
    });
    const auto take = [this] {
        m_pane->show(nullptr, nullptr, {}, {});  // it would borrow from the timeline before
        m_model->setTimeline(m_session.timeline(), m_session.index());
    };
    connect(&session, &Session::opened, this, take);
    connect(&session, &Session::timelineChanged, this, take);
    connect(&session, &Session::namesChanged, this, &FindingsView::showChosen);
    take();
    follow();
}

void FindingsView::showChosen() {
    const auto row = m_table->current();
    m_pane->show(m_model->timeline(), row ? &m_model->finding(*row) : nullptr, m_session.files(), m_session.names());
}

}  // namespace qps::gui
