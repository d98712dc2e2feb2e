// The findings of the capture that is open, worst first, and the chosen one in full.
#pragma once

#include <gui/tables/finding_model.hpp>

#include <QWidget>

namespace qps::gui {

class FindingPane;
class Session;
class Selection;
class TableView;

class FindingsView : public QWidget {
    Q_OBJECT

public:
    FindingsView(Session& session, Selection& selection, QWidget* parent = nullptr);

Q_SIGNALS:
    void viewRequested(const QString& id);

private:
    void showChosen();

    Session& m_session;
    FindingModel* m_model;  // of the table
    TableView* m_table = nullptr;
    FindingPane* m_pane = nullptr;
};

}  // namespace qps::gui
