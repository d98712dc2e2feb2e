// The connections of the capture that is open.
#pragma once

#include <gui/base/series_job.hpp>
#include <gui/tables/connection_model.hpp>

#include <QWidget>
#include <memory>

class QMenu;

namespace qps::gui {

class Session;
class Selection;

class ConnectionsView : public QWidget {
    Q_OBJECT

public:
    ConnectionsView(Session& session, Selection& selection, QWidget* parent = nullptr);

Q_SIGNALS:
    void viewRequested(const QString& id);

private:
    static void addDecodeAs(QMenu& menu, Session& session, transport::ConnectionId connection);

    void measure();

    Session& m_session;
    ConnectionModel* m_model;  // of the table
    SeriesJob m_job;
};

}  // namespace qps::gui
