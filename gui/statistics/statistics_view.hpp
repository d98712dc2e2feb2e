// StatisticsView: how much of what there is: properties of the capture, protocols, opcodes, lengths, traffic classes,
// source ports; of all packets, or of those that are displayed. Counted by workers, only for who looks.
#pragma once

#include <gui/base/series_job.hpp>
#include <gui/tables/sheet.hpp>
#include <transport-replay/series/statistics.hpp>

#include <QTabWidget>
#include <QTimer>
#include <QWidget>
#include <atomic>
#include <memory>

class QComboBox;
class QLabel;
class QToolButton;

namespace qps::gui {

class Session;
class Selection;

class StatisticsView : public QWidget {
    Q_OBJECT

public:
    StatisticsView(Session& session, Selection& selection, QWidget* parent = nullptr);

    enum class Of { All, Displayed };
    // The sheet that is seen.
    [[nodiscard]] Sheet& sheet() const;
    // Whether what is shown is what there is.
    [[nodiscard]] bool settled() const { return !m_stale && !m_job.running(); }

Q_SIGNALS:
    void viewRequested(const QString& id);

protected:
    void showEvent(QShowEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void build();
    void refresh();
    void count();
    void present(const transport::series::Statistics& statistics);
    void stopCounting();
    void tell(const QString& sentence);
    [[nodiscard]] Of of() const;

    Session& m_session;
    Selection& m_selection;
    QComboBox* m_of;
    QLabel* m_state;
    QToolButton* m_stop;
    QTabWidget* m_pages;
    SeriesJob m_job;
    QTimer m_due;
    QTimer m_looking;  // at the progress
    std::shared_ptr<std::atomic<std::uint64_t>> m_done;
    std::uint64_t m_pieces = 0;
    bool m_stale = true;
    bool m_stopped = false;  // by the user: not begun again until there is a reason
};

}  // namespace qps::gui
