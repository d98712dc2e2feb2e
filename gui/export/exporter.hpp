// Exporter: the dialogs around Exporting: what to export, where to, how far it is, and what went wrong.
#pragma once

#include <gui/base/series_job.hpp>
#include <gui/export/exporting.hpp>

#include <QProgressDialog>
#include <QWidget>

namespace qps::gui {

class Exporter : public QObject {
    Q_OBJECT

public:
    // Dialogs stand before `parent`, which outlives this.
    Exporter(Session& session, Selection& selection, QWidget* parent);

    void setComments(transport::Comments comments) { m_exporting.setComments(std::move(comments)); }
    [[nodiscard]] const transport::Comments& comments() const { return m_exporting.comments(); }

    [[nodiscard]] bool isScanning() const { return m_scan.running(); }
    void stopScan() { m_scan.cancel(); }

public Q_SLOTS:
    // Asks which packets: the selected (where there are any), marked, displayed ones, those of the connection, or all.
    // Those of a connection are counted first, in a worker.
    void askPackets(const qps::gui::Ranges& selected);
    void exportPackets(qps::gui::Packets packets, const qps::gui::Ranges& selected = {});
    void saveCapture();
    void exportAnalysis();
    // The selected packets, or the displayed ones where none are.
    void openInWireshark(const qps::gui::Ranges& selected = {});

Q_SIGNALS:
    void statusChanged(const QString& sentence);           // for the status line
    void saved(qps::gui::Packets packets, bool comments);  // as Exporting says it
    void working(const QString& what, double part);        // before the dialog; an empty text: it has ended

private:
    void askPackets(const Ranges& selected, std::uint64_t packetsOfConnection);
    // Where the user wants a file, empty where nowhere. Filters are those of file dialogs, each with the suffix of its
    // files.
    [[nodiscard]] QString askPath(const QString& title, const QString& offered, const QStringList& filters);
    void showProgress();

    Session& m_session;
    Selection& m_selection;
    QWidget* m_parent;
    Exporting m_exporting;
    SeriesJob m_scan;
    QProgressDialog* m_progress;  // of the parent
};

}  // namespace qps::gui
