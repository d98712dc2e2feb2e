// StatusLine: the bar below: what goes on and how far it is, with a button that ends it; how many packets there are,
// are shown and are marked; what was chosen; what could not be read.
#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QStatusBar>
#include <QTimer>
#include <QToolButton>

namespace qps::gui {

class Session;
class Selection;

class StatusLine : public QStatusBar {
    Q_OBJECT

public:
    StatusLine(Session& session, Selection& selection, QWidget* parent = nullptr);
    // What the view that has the keyboard says of what is selected in it: a field and its bytes.
    void describe(const QString& text);
    // What has just happened, or was gone to: until something else is selected, a few seconds at most.
    void say(const QString& text);
    // Something that goes on beside reading and filtering: what, and how far it is, 0 to 1. An empty text: it has
    // ended.
    void showWork(const QString& what, double part);

Q_SIGNALS:
    void problemsRequested();
    void workCancelled();

private:
    void showState();
    void showCounts();
    void showWords(const QString& otherwise);
    void cancel();

    Session& m_session;
    Selection& m_selection;
    QLabel* m_what;  // shortened where the figures leave it no room
    QString m_said;
    QString m_place;
    QString m_work;
    double m_workDone = 0;
    QTimer m_forget;
    QProgressBar* m_progress;
    QToolButton* m_cancel;
    QToolButton* m_problems;
    QLabel* m_range;
    QLabel* m_counts;
};

}  // namespace qps::gui
