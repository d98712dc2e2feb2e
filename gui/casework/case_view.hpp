// CaseView: a case is opened, beside the capture or without one: its verdict with evidence, the events of all hosts
// over time, and the lines of a file around what a claim rests on. A place in a capture leads to its packet.
#pragma once

#include <gui/base/series_job.hpp>
#include <gui/casework/opened_case.hpp>
#include <gui/session/view.hpp>

#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QPushButton;
class QTextBrowser;
class QUrl;

namespace qps::gui {

class CaseTimeline;
class Session;
class Selection;

class CaseView : public QWidget, public View {
    Q_OBJECT

public:
    CaseView(Session& session, Selection& selection, QWidget* parent = nullptr);

    void carryOut(ActionId id) override;
    void take(const QStringList& inputs) override;
    [[nodiscard]] bool working() const override { return m_job.running(); }
    void stopWork() override;

    void open(const QStringList& inputs);  // folders and files
    void chooseFolder();
    void chooseFiles();

Q_SIGNALS:
    void viewRequested(const QString& id);
    void packetRequested(const QString& capture, quint64 frame);  // of that file, from 1
    void lineRequested(const QString& line);                      // the connection that it is about
    void notice(const QString& text);

protected:
    void changeEvent(QEvent* event) override;  // colours are in the text

private:
    [[nodiscard]] QWidget* buildButtons();
    [[nodiscard]] QWidget* buildLines();
    void present(std::shared_ptr<const OpenedCase> opened);
    void follow(const QUrl& link);
    void goTo(const casework::Place& place);
    void showLines(const casework::Place& place, const TextPart& part);
    void say(const QString& text);
    void savePage();

    Session& m_session;
    std::shared_ptr<const OpenedCase> m_opened;
    SeriesJob m_job;      // reads the case
    SeriesJob m_looking;  // reads a file once more
    QTextBrowser* m_verdict;
    CaseTimeline* m_timeline;
    QLabel* m_place;
    QPlainTextEdit* m_lines;
    QPushButton* m_stop = nullptr;
    QPushButton* m_save = nullptr;
    QPushButton* m_connection = nullptr;
};

}  // namespace qps::gui
