// ChecksView: every rule that a capture alone can decide, with its verdict, the clause, and the packets that prove it.
// The verdicts are those of `qpscope check`; they are computed once the capture was read, while the view is looked at,
// in the background.
#pragma once

#include <gui/base/series_job.hpp>
#include <transport-replay/index/checked_capture.hpp>

#include <QTimer>
#include <QWidget>
#include <atomic>
#include <memory>

class QComboBox;
class QLabel;
class QToolButton;

namespace qps::gui {

class Selection;
class Session;
class Sheet;

class ChecksView : public QWidget {
    Q_OBJECT

public:
    ChecksView(Session& session, Selection& selection, QWidget* parent = nullptr);

Q_SIGNALS:
    void viewRequested(const QString& id);

protected:
    void showEvent(QShowEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Made;
    void build();
    void refresh();
    void start();
    void stop();
    void present(std::shared_ptr<const Made> made);
    void showRows();
    void showChosen();
    void tell(const QString& sentence);

    Session& m_session;
    Selection& m_selection;
    SeriesJob m_job;
    QTimer m_progress;
    std::shared_ptr<std::atomic<std::uint64_t>> m_done;
    bool m_stale = true;
    bool m_stopped = false;
    std::shared_ptr<const Made> m_made;
    QComboBox* m_which;
    QLabel* m_state;
    QToolButton* m_stop;
    QLabel* m_words;
    Sheet* m_checks;
    Sheet* m_packets;
};

}  // namespace qps::gui
