// The start page: the summary of the capture that is open, or how to open one.
#pragma once

#include <gui/session/view.hpp>

#include <QStackedWidget>
#include <QThreadPool>
#include <QTimer>
#include <atomic>

namespace qps::gui {

class EmptyPage;
class Session;
class Selection;
class SummaryPage;

class SummaryView : public QStackedWidget, public View {
    Q_OBJECT

public:
    SummaryView(Session& session, Selection& selection, QWidget* parent = nullptr);
    ~SummaryView() override;
    // For the page without a capture; the last one first.
    void setRecentFiles(const QStringList& files) override;
    [[nodiscard]] EmptyPage& emptyPage() const { return *m_empty; }
    [[nodiscard]] SummaryPage& summaryPage() const { return *m_page; }

Q_SIGNALS:
    void viewRequested(const QString& id);
    void openRequested();     // a file is to be chosen
    void captureRequested();  // an interface is to be chosen
    void fileRequested(const QString& file);

private:
    void update();
    void askThroughput();

    Session& m_session;
    Selection& m_selection;
    EmptyPage* m_empty = nullptr;
    SummaryPage* m_page = nullptr;
    // One pass over all packets, beside the thread of the window.
    std::atomic<bool> m_stop = false;
    bool m_asking = false;
    bool m_ask_again = false;
    quint64 m_capture = 0;  // counts captures: answers about an earlier one are void
    QThreadPool m_worker;
};

}  // namespace qps::gui
