// The connection attempts of the capture that is open, and the messages of the chosen one.
#pragma once

#include <gui/tables/cm_model.hpp>

#include <QWidget>

namespace qps::gui {

class CmPane;
class Session;
class Selection;
class TableView;

class CmView : public QWidget {
    Q_OBJECT

public:
    CmView(Session& session, Selection& selection, QWidget* parent = nullptr);

Q_SIGNALS:
    void viewRequested(const QString& id);

private:
    void take(bool other_capture);
    void showChosen();

    Session& m_session;
    Selection& m_selection;
    CmModel* m_model;  // of the table
    TableView* m_table = nullptr;
    CmPane* m_pane = nullptr;
};

}  // namespace qps::gui
