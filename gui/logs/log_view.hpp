// LogView: from a line of a log to the connection that it is about: a line that is pasted, dropped, or chosen among the
// lines of logs that were opened beside the capture, and the connections that fit, with the reasons. Lines of logs
// stand in time with the packets.
#pragma once

#include <gui/logs/candidate_model.hpp>
#include <gui/logs/log_model.hpp>
#include <gui/session/view.hpp>

#include <QWidget>

class QLabel;
class QLineEdit;
class QPushButton;

namespace qps::gui {

class Session;
class Selection;
class TableView;

class LogView : public QWidget, public View {
    Q_OBJECT

public:
    LogView(Session& session, Selection& selection, QWidget* parent = nullptr);

    // They show the view first.
    void carryOut(ActionId id) override;
    void take(const QStringList& files) override;
    void takeText(const QString& text) override;

    // The line to look for, which the user may go on to edit.
    void ask(const QString& line);
    // What can be taken from the clipboard is taken; else the user writes it.
    void askForLine();
    void open(const QStringList& files);
    void chooseFiles();

Q_SIGNALS:
    void viewRequested(const QString& id);
    void notice(const QString& text);

private:
    QWidget* buildQuestion();
    QWidget* buildLogs();
    void look();
    void go(const QString& view);
    void reach(TableModel::Row row);
    void align();
    void describeLogs();

    Session& m_session;
    Selection& m_selection;
    CandidateModel* m_candidates;  // of its table
    LogModel* m_logs;
    TableView* m_found = nullptr;
    TableView* m_lines = nullptr;
    QLineEdit* m_line = nullptr;
    QLabel* m_recognised = nullptr;
    QLabel* m_opened = nullptr;
    std::vector<QPushButton*> m_ways;  // on to other views
    QPushButton* m_align = nullptr;
    QPushButton* m_unalign = nullptr;
    QPushButton* m_close = nullptr;
};

}  // namespace qps::gui
