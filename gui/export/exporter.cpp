#include <gui/export/exporter.hpp>
#include <gui/session/session.hpp>

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QMessageBox>
#include <QSettings>
#include <QTimer>
#include <array>

namespace qps::gui {

namespace {

constexpr int kProgressSteps = 1000;
constexpr int kShownAfter = 500;  // ms: what is done by then needs no dialog

const QString kFolderKey = QStringLiteral("export/folder");

QStringList captureFilters() {
    return {Exporter::tr("pcapng (*.pcapng)"),
            Exporter::tr("Nanosecond pcap, without comments and interfaces (*.pcap)")};
}

// "Words (*.suffix)" -> "suffix".
QString suffixOf(const QString& filter) { return filter.section(QStringLiteral("(*."), 1).chopped(1); }

// Where the user exported to before, else where the capture lies.
QString folderFor(const Session& session) {
    QString before = QSettings().value(kFolderKey).toString();
    if (!before.isEmpty() && QDir(before).exists()) return before;
    const QString file = session.files().value(0);
    return QFileInfo(file).isFile() ? QFileInfo(file).absolutePath() : QDir::homePath();
}

}  // namespace

Exporter::Exporter(Session& session, Selection& selection, QWidget* parent)
    : QObject(parent),
      m_session(session),
      m_selection(selection),
      m_parent(parent),
      m_exporting(session, selection),
      m_progress(new QProgressDialog(parent)) {
    m_progress->setLabelText(tr("Exporting..."));
    m_progress->setRange(0, kProgressSteps);
    m_progress->setWindowModality(Qt::WindowModal);
    m_progress->setMinimumDuration(kShownAfter);
    m_progress->reset();  // else it shows itself
    connect(m_progress, &QProgressDialog::canceled, &m_exporting, &Exporting::stop);
    connect(&m_exporting, &Exporting::saved, this, &Exporter::saved);
    connect(&m_scan, &SeriesJob::finished, this, [this] { Q_EMIT working({}, 1); });
    connect(&session, &Session::opened, &m_scan, &SeriesJob::cancel);
    connect(&m_exporting, &Exporting::started, this, &Exporter::showProgress);
    connect(&m_exporting, &Exporting::progressed, this, [this](double part) {
        // Up to the last step but one: at the last the dialog believes that all is done.
        if (!m_progress->wasCanceled()) m_progress->setValue(static_cast<int>(part * (kProgressSteps - 1)));
    });
    connect(&m_exporting, &Exporting::statusChanged, this, [this](const QString& sentence) {
        m_progress->reset();
        Q_EMIT statusChanged(sentence);
    });
    connect(&m_exporting, &Exporting::failed, this, [this](const QString& sentence) {
        if (!m_exporting.running()) m_progress->reset();
        QMessageBox::warning(m_parent, tr("Export"), sentence);
    });
}

void Exporter::showProgress() {
    m_progress->reset();
    m_progress->setValue(0);
}

QString Exporter::askPath(const QString& title, const QString& offered, const QStringList& filters) {
    QFileDialog dialog(m_parent, title, folderFor(m_session));
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setNameFilters(filters);
    dialog.setDefaultSuffix(suffixOf(filters.front()));
    connect(&dialog, &QFileDialog::filterSelected, &dialog,
            [&](const QString& filter) { dialog.setDefaultSuffix(suffixOf(filter)); });
    dialog.selectFile(offered);
    if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return {};
    const QString path = dialog.selectedFiles().front();
    QSettings().setValue(kFolderKey, QFileInfo(path).absolutePath());
    return path;
}

void Exporter::askPackets(const Ranges& selected) {
    const auto connection = m_selection.connection();
    if (!connection) return askPackets(selected, 0);
    Q_EMIT working(tr("Looking for the packets of connection %1").arg(std::to_underlying(*connection)), 0);
    m_scan.start([this, selected, wanted = *connection, index = m_session.index(),
                  timeline = m_session.timeline()](const std::function<bool()>& stop) -> SeriesJob::Delivery {
        const std::uint64_t packets = withSetUp(*index, *timeline, wanted, stop).size();
        if (stop()) return {};
        // The dialog has a loop of its own: the job has ended before it opens.
        return [this, selected, packets] {
            QTimer::singleShot(0, this, [this, selected, packets] { askPackets(selected, packets); });
        };
    });
}

void Exporter::askPackets(const Ranges& selected, std::uint64_t packetsOfConnection) {
    struct Choice {
        Packets packets;
        QString words;
    };
    const auto connection = m_selection.connection();
    const QString ofConnection =
        connection ? tr("Connection %1 with its setup").arg(std::to_underlying(*connection)) : QString();
    const std::array choices{Choice{Packets::Selected, tr("Selected")}, Choice{Packets::Marked, tr("Marked")},
                             Choice{Packets::Displayed, tr("Displayed")}, Choice{Packets::Connection, ofConnection},
                             Choice{Packets::All, tr("All")}};
    const Packets likely = likeliest(m_exporting.count(Packets::Selected, selected), m_selection);
    int first = 0;
    std::vector<Packets> offered;
    QStringList lines;
    for (const Choice& choice : choices) {
        const std::uint64_t packets =
            choice.packets == Packets::Connection ? packetsOfConnection : m_exporting.count(choice.packets, selected);
        if (packets == 0) continue;
        if (choice.packets == likely) first = static_cast<int>(offered.size());
        offered.push_back(choice.packets);
        lines << tr("%1 (%L2)").arg(choice.words).arg(packets);
    }
    if (offered.empty()) return void(QMessageBox::information(m_parent, tr("Export"), tr("No packets to export.")));
    bool accepted = false;
    const QString line =
        QInputDialog::getItem(m_parent, tr("Export packets"), tr("Packets:"), lines, first, false, &accepted);
    if (accepted) exportPackets(offered[static_cast<std::size_t>(lines.indexOf(line))], selected);
}

void Exporter::exportPackets(Packets packets, const Ranges& selected) {
    const QString path =
        askPath(tr("Export packets"), offeredName(m_session.title(), ending(packets)), captureFilters());
    if (!path.isEmpty()) m_exporting.writePackets(path, packets, selected);
}

void Exporter::saveCapture() {
    const QString path =
        askPath(tr("Save capture"), offeredName(m_session.title(), ending(Packets::All)), captureFilters());
    if (!path.isEmpty()) m_exporting.writePackets(path, Packets::All);
}

void Exporter::exportAnalysis() {
    const QString offered = offeredName(m_session.title(), QStringLiteral("-analysis.json"));
    const QString path = askPath(tr("Export analysis"), offered, {tr("JSON (*.json)")});
    if (!path.isEmpty()) m_exporting.writeAnalysis(path);
}

void Exporter::openInWireshark(const Ranges& selected) {
    m_exporting.openInWireshark(selected.empty() ? Packets::Displayed : Packets::Selected, selected);
}

}  // namespace qps::gui
