// CompareView: before and after: the open capture beside another one, which is read in the background and of which
// figures alone are kept: what became of latency, goodput, retransmissions, findings, and between which hosts.
#pragma once

#include <gui/base/series_job.hpp>
#include <transport-replay/series/run_comparison.hpp>

#include <QStringList>
#include <QWidget>
#include <memory>

class QLabel;
class QPushButton;

namespace qps::gui {

class LatencyCurves;
class Selection;
class Session;
class Sheet;
struct Reading;

class CompareView : public QWidget {
    Q_OBJECT

public:
    CompareView(Session& session, Selection& selection, QWidget* parent = nullptr);

    void chooseFiles();
    // The run before, of these files as one capture.
    void compareWith(const QStringList& files);

Q_SIGNALS:
    void viewRequested(const QString& id);

protected:
    void showEvent(QShowEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void build();
    void measure();
    void stopReading();
    void present();
    void fillPairs();
    void tell(const QString& sentence);

    Session& m_session;
    Selection& m_selection;
    SeriesJob m_reading;  // of the run before
    SeriesJob m_measuring;
    bool m_stale = true;
    QStringList m_files;                      // of the run before
    QString m_problem;                        // what could not be read of it
    std::shared_ptr<const Reading> m_readBy;  // what the user said when it was read
    std::shared_ptr<const transport::series::Run> m_before;
    std::shared_ptr<const transport::series::Run> m_after;
    QPushButton* m_choose;
    QPushButton* m_stop;
    QLabel* m_state;
    Sheet* m_figures;
    Sheet* m_findings;
    Sheet* m_pairs;
    LatencyCurves* m_curves;
};

}  // namespace qps::gui
