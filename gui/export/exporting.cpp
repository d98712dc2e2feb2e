#include <dissect/capture/saved_capture.hpp>
#include <gui/export/exporting.hpp>
#include <gui/session/session.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/json.hpp>

#include <QFileInfo>
#include <QProcess>
#include <QSaveFile>
#include <QStandardPaths>
#include <utility>

namespace qps::gui {

using namespace transport;

namespace {

// A file of text that is there whole or not at all.
TaskOutcome writeText(const QString& path, const std::vector<std::string>& inputs, const TaskWatch& watch,
                      const std::function<void(const TextSink&)>& write) {
    if (dissect::is_one_of(path.toStdString(), inputs))
        return {true, Exporting::tr("%1 is an open capture and would be overwritten: choose another name.").arg(path)};
    QSaveFile file(path);
    const auto problem = [&] {
        return TaskOutcome{true, Exporting::tr("%1: cannot write: %2.").arg(path, file.errorString())};
    };
    if (!file.open(QIODevice::WriteOnly)) return problem();
    bool going = true;
    write([&](std::string_view piece) {
        going = going && !watch.stopped();
        if (going)
            going = file.write(piece.data(), static_cast<qint64>(piece.size())) == static_cast<qint64>(piece.size());
    });
    if (watch.stopped()) return {false, Exporting::tr("Cancelled; nothing was written.")};
    if (!going || !file.commit()) return problem();
    return {false, Exporting::tr("Written to %1.").arg(path)};
}

TaskOutcome writeCapture(const CaptureIndex& index, const Extraction& wanted, const TaskWatch& watch) {
    const auto part = [&](std::uint64_t done, std::uint64_t all) {
        watch.progressed(all == 0 ? 1 : static_cast<double>(done) / static_cast<double>(all));
    };
    const auto outcome = extract(index, wanted, {watch.stopped, part});
    if (!outcome) return {true, QString::fromStdString(outcome.error()) + QLatin1Char('.')};
    return {false, statusText(*outcome, QString::fromStdString(wanted.path)), !outcome->stopped};
}

}  // namespace

Exporting::Exporting(Session& session, Selection& selection, QObject* parent)
    : QObject(parent), m_session(session), m_selection(selection) {
    connect(&session, &Session::opened, this, [this] {
        if (!m_session.isReadAgain()) m_comments.clear();
    });
    connect(&m_task, &Task::progressed, this, &Exporting::progressed);
    connect(&m_task, &Task::ended, this, &Exporting::end);
}

std::vector<std::string> Exporting::inputs() const {
    std::vector<std::string> names;
    for (const IndexedFile& file : m_session.index()->files()) names.push_back(file.name);
    return names;
}

std::uint64_t Exporting::count(Packets packets, const Ranges& selected) const {
    switch (packets) {
        case Packets::Marked: return m_selection.marks().size();
        case Packets::Displayed: return m_selection.shown();
        case Packets::Selected:
        case Packets::Connection:
        case Packets::All: break;
    }
    return transport::count(choose(packets, selected, m_session, m_selection), *m_session.index());
}

bool Exporting::mayStart(Packets packets) {
    if (running()) Q_EMIT failed(tr("Another export is running."));
    else if (packets == Packets::Displayed && m_selection.filtering())
        Q_EMIT failed(tr("The display filter is still being applied: try again when it is done."));
    else return true;
    return false;
}

void Exporting::begin(std::function<TaskOutcome(const TaskWatch&)> work) {
    m_task.start(std::move(work));
    Q_EMIT started();
}

void Exporting::writePackets(const QString& path, Packets packets, const Ranges& selected) {
    if (!mayStart(packets)) return;
    m_saving.reset();
    if (packets == Packets::All || packets == Packets::Marked)
        m_saving = Saving{packets, count(packets), !path.endsWith(QLatin1String(".pcap"))};  // which has no comments
    if (const auto connection = m_selection.connection(); packets == Packets::Connection && connection)
        return begin([index = m_session.index(), timeline = m_session.timeline(), wanted = *connection,
                      path = path.toStdString(), comments = m_comments](const TaskWatch& watch) {
            return writeCapture(*index, {path, withSetUp(*index, *timeline, wanted, watch.stopped), comments}, watch);
        });
    begin([index = m_session.index(),
           wanted = Extraction{path.toStdString(), choose(packets, selected, m_session, m_selection), m_comments}](
              const TaskWatch& watch) { return writeCapture(*index, wanted, watch); });
}

void Exporting::writeAnalysis(const QString& path) {
    if (!mayStart(Packets::All)) return;
    begin([path, timeline = m_session.timeline(), inputs = inputs()](const TaskWatch& watch) {
        return writeText(path, inputs, watch,
                         [&](const TextSink& sink) { write_report(*timeline, OutputFormat::json, inputs, {}, sink); });
    });
}

void Exporting::openInWireshark(Packets packets, const Ranges& selected) {
    if (!mayStart(packets)) return;
    const QString program = QStandardPaths::findExecutable(QStringLiteral("wireshark"));
    if (program.isEmpty()) return Q_EMIT failed(tr("Wireshark not found in PATH."));
    if (!m_folder.isValid())
        return Q_EMIT failed(tr("Cannot create a temporary folder: %1.").arg(m_folder.errorString()));
    const QString path =
        m_folder.filePath(offeredName(m_session.title(), QStringLiteral("-%1.pcapng").arg(++m_handed)));
    writePackets(path, packets, selected);
    m_wireshark = {program, QStringLiteral("-r"), path};
    if (const QString filter = m_selection.filter(); !filter.isEmpty() && wiresharkKnows(filter))
        m_wireshark << QStringLiteral("-Y") << filter;
}

void Exporting::end(const TaskOutcome& outcome) {
    QStringList words = std::exchange(m_wireshark, {});
    const auto saving = std::exchange(m_saving, std::nullopt);
    if (outcome.written && saving && saving->count == count(saving->packets))
        Q_EMIT saved(saving->packets, saving->comments);
    if (outcome.failed) return Q_EMIT failed(outcome.sentence);
    if (words.isEmpty() || !QFileInfo::exists(words[2])) return Q_EMIT statusChanged(outcome.sentence);
    const QString program = words.takeFirst();
    if (!QProcess::startDetached(program, words)) return Q_EMIT failed(tr("Cannot start %1.").arg(program));
    Q_EMIT statusChanged(tr("Opened in Wireshark."));
}

}  // namespace qps::gui
