// What upper protocols asked for in the capture that is open: commands, calls, requests.
#pragma once

#include <gui/tables/operation_model.hpp>

#include <QWidget>

class QLabel;

namespace qps::gui {

class Session;
class Selection;

class OperationsView : public QWidget {
    Q_OBJECT

public:
    OperationsView(Session& session, Selection& selection, QWidget* parent = nullptr);

Q_SIGNALS:
    void viewRequested(const QString& id);

private:
    void tellLimit(const Session& session);

    OperationModel* m_model;    // of the table
    QLabel* m_bound = nullptr;  // says that not all are shown, where it is so
};

}  // namespace qps::gui
