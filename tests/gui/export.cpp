// What leaves the window: packets, the analysis, findings, and what Wireshark is started with.
#include <dissect/capture/capture_file.hpp>
#include <gui/export/exporter.hpp>
#include <gui/session/session.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QApplication>
#include <QFile>
#include <QFileDialog>
#include <QInputDialog>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QMessageBox>
#include <QSignalSpy>
#include <QTest>
#include <QThread>
#include <QTimer>
#include <new>

#include "application.hpp"

using namespace qps;
using namespace qps::gui;
using namespace qps::gui::tests;
using dissect::FrameIndex;

namespace {

const QString kRnr = QStringLiteral(QPSCOPE_SOURCE_DIR "/captures/err_rnr_pcapng/capture.pcapng");

// An open capture and what exports it say.
struct PeerContext {
    explicit PeerContext(const QString& file = kRnr) {
        session.open({file});
        REQUIRE(QTest::qWaitFor([this] { return session.state() == Session::State::Done; }, 30'000));
    }
    // The last sentence, after the export has ended.
    QString end() {
        REQUIRE(QTest::qWaitFor([this] { return statusChanged.size() + failed.size() > 0; }, 30'000));
        return failed.isEmpty() ? statusChanged.last().front().toString() : failed.last().front().toString();
    }

    test::TemporaryFolder folder;
    QString path(const char* name) const { return QString::fromStdString(folder.file(name)); }
    struct Ready {
        Ready() { needApplication(); }
    } ready;
    Session session{2};
    Selection selection{session};
    Exporting exporting{session, selection};
    QSignalSpy statusChanged{&exporting, &Exporting::statusChanged};
    QSignalSpy failed{&exporting, &Exporting::failed};
};

std::vector<std::int64_t> times(const QString& path) {
    auto file = dissect::CaptureFile::open(path.toStdString());
    REQUIRE(file.has_value());
    std::vector<std::int64_t> found;
    dissect::Batch batch;
    while (file->read(batch))
        for (const dissect::Frame& frame : batch.frames) found.push_back(std::to_underlying(frame.time));
    return found;
}

QByteArray content(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

// A program of that name that writes down its arguments, first in PATH while this lives.
class ArgumentRecorder {
public:
    ArgumentRecorder(const QString& folder, const QString& name)
        : m_before(qgetenv("PATH")), m_log(folder + QStringLiteral("/log")) {
        QFile file(folder + QLatin1Char('/') + name);
        REQUIRE(file.open(QIODevice::WriteOnly));
        file.write("#!/bin/sh\nprintf '%s\\n' \"$@\" > '" + m_log.toUtf8() + ".new'\nmv '" + m_log.toUtf8() +
                   ".new' '" + m_log.toUtf8() + "'\n");
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        file.close();
        qputenv("PATH", folder.toUtf8() + ":" + m_before);
    }
    ~ArgumentRecorder() { qputenv("PATH", m_before); }
    ArgumentRecorder(const ArgumentRecorder&) = delete;
    ArgumentRecorder& operator=(const ArgumentRecorder&) = delete;
    QStringList arguments() const {
        REQUIRE(QTest::qWaitFor([this] { return QFile::exists(m_log); }, 30'000));
        return QString::fromUtf8(content(m_log)).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    }

private:
    QByteArray m_before;
    QString m_log;
};

}  // namespace

TEST_CASE("selected, marked, displayed and all packets are written") {
    PeerContext context;
    const auto all = times(kRnr);
    REQUIRE(all.size() == 32);
    context.selection.setMarked(FrameIndex{4}, true);
    context.selection.setMarked(FrameIndex{2}, true);
    REQUIRE(context.selection.applyFilter(QStringLiteral("frame.number > 30")));
    REQUIRE(QTest::qWaitFor([&] { return !context.selection.filtering(); }, 30'000));
    const Ranges selected{{FrameIndex{7}, FrameIndex{8}}};
    const auto [packets, expected] = GENERATE_COPY(table<Packets, std::vector<std::size_t>>(
        {{Packets::Selected, {6, 7}}, {Packets::Marked, {1, 3}}, {Packets::Displayed, {30, 31}}}));
    const QString out = context.path("out.pcapng");
    CHECK(context.exporting.count(packets, selected) == 2);
    context.exporting.writePackets(out, packets, selected);
    CHECK(context.end() == QStringLiteral("2 packets written to %1.").arg(out));
    CHECK(times(out) == std::vector{all[expected[0]], all[expected[1]]});
    context.statusChanged.clear();
    context.exporting.writePackets(out, Packets::All, selected);
    CHECK(context.end() == QStringLiteral("32 packets written to %1.").arg(out));
    CHECK(times(out) == all);
}

TEST_CASE("comments go with the packets until another capture is opened") {
    PeerContext context;
    const QString out = context.path("out.pcapng");
    context.exporting.setComments({{FrameIndex{5}, "a remark of the user"}});
    context.exporting.writePackets(out, Packets::All);
    (void)context.end();
    CHECK(content(out).contains("a remark of the user"));
    context.statusChanged.clear();
    context.session.open({kRnr});
    REQUIRE(QTest::qWaitFor([&] { return context.session.state() == Session::State::Done; }, 30'000));
    context.exporting.writePackets(out, Packets::All);
    (void)context.end();
    CHECK_FALSE(content(out).contains("a remark of the user"));
}

TEST_CASE("the open capture is not written over, by packets or by the analysis, and another failure is one sentence") {
    PeerContext context;
    const QByteArray before = content(kRnr);
    context.exporting.writePackets(kRnr, Packets::All);
    CHECK(context.end().contains(QStringLiteral("would be overwritten")));
    context.failed.clear();
    context.exporting.writeAnalysis(kRnr);
    CHECK(context.end().contains(QStringLiteral("would be overwritten")));
    CHECK(content(kRnr) == before);
    context.failed.clear();
    context.exporting.writePackets(QStringLiteral("/dev/full"), Packets::All);
    CHECK(context.end().startsWith(QStringLiteral("/dev/full: cannot write")));
    context.failed.clear();
    context.exporting.writeAnalysis(context.path("none/out.json"));
    CHECK(context.end().contains(QStringLiteral("cannot write")));
    CHECK(context.statusChanged.isEmpty());
}

TEST_CASE("one export at a time") {
    PeerContext context;
    const QString out = context.path("out.pcapng");
    context.exporting.writePackets(out, Packets::All);
    context.exporting.writePackets(out, Packets::All);
    CHECK(context.failed.size() == 1);
    context.failed.clear();
    CHECK(context.end() == QStringLiteral("32 packets written to %1.").arg(out));
}

TEST_CASE("a task tells how far it is, and ends when it is asked to") {
    needApplication();
    Task task;
    QSignalSpy progressed(&task, &Task::progressed);
    QString said;
    QObject::connect(&task, &Task::ended, [&](const TaskOutcome& outcome) { said = outcome.sentence; });
    task.start([](const TaskWatch& watch) {
        watch.progressed(0.5);
        while (!watch.stopped()) QThread::msleep(1);
        return TaskOutcome{false, QStringLiteral("stopped")};
    });
    REQUIRE(
        QTest::qWaitFor([&] { return !progressed.isEmpty() && progressed.last().front().toDouble() == 0.5; }, 30'000));
    CHECK(task.running());
    task.stop();
    REQUIRE(QTest::qWaitFor([&] { return !task.running(); }, 30'000));
    CHECK(said == QStringLiteral("stopped"));
    task.start([](const TaskWatch&) -> TaskOutcome { throw std::bad_alloc(); });
    REQUIRE(QTest::qWaitFor([&] { return !task.running(); }, 30'000));
    CHECK(said.contains(QStringLiteral("memory")));
}

TEST_CASE("who exports by hand is asked which packets and where to, and hears what came of it") {
    PeerContext context;
    QWidget parent;
    Exporter exporter(context.session, context.selection, &parent);
    QSignalSpy statusChanged(&exporter, &Exporter::statusChanged);
    const QString out = context.path("out.pcapng");
    QStringList seen;
    QTimer hand;
    QObject::connect(&hand, &QTimer::timeout, [&] {
        QWidget* dialog = QApplication::activeModalWidget();
        if (auto* which = qobject_cast<QInputDialog*>(dialog)) {
            seen << which->comboBoxItems().join(QLatin1Char('|'));
            which->accept();
        } else if (auto* where = qobject_cast<QFileDialog*>(dialog)) {
            seen << QFileInfo(where->selectedFiles().value(0)).fileName();
            // Not selectFile(): that leaves alone what somebody may be typing, if the dialog has the keyboard already.
            where->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(out);
            QMetaObject::invokeMethod(where, "accept");
        } else if (auto* box = qobject_cast<QMessageBox*>(dialog)) {
            seen << box->text();
            box->accept();
        }
    });
    hand.start(20);
    QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    exporter.askPackets({{FrameIndex{1}, FrameIndex{3}}});
    REQUIRE(QTest::qWaitFor([&] { return !statusChanged.isEmpty(); }, 30'000));
    CHECK(seen == QStringList{QStringLiteral("Selected (3)|Displayed (32)|Connection 1 with its setup (%1)|All (32)")
                                  .arg(withSetUp(context.session, context.selection).size()),
                              QStringLiteral("capture-selected.pcapng")});
    CHECK(statusChanged.last().front().toString() == QStringLiteral("3 packets written to %1.").arg(out));
    CHECK(times(out).size() == 3);
    seen.clear();
    const QByteArray before = qgetenv("PATH");
    qputenv("PATH", context.folder.path().c_str());
    exporter.openInWireshark();
    qputenv("PATH", before);
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].startsWith(QStringLiteral("Wireshark not found")));
}

TEST_CASE("the analysis is written as JSON") {
    PeerContext context;
    const QString out = context.path("out.json");
    context.exporting.writeAnalysis(out);
    CHECK(context.end() == QStringLiteral("Written to %1.").arg(out));
    const QJsonObject report = QJsonDocument::fromJson(content(out)).object();
    const std::size_t findings = context.session.timeline()->findings.size();
    REQUIRE(findings > 0);
    CHECK(report[QStringLiteral("findings")].toArray().size() == static_cast<qsizetype>(findings));
}

TEST_CASE("Wireshark gets the packets, and the filter where it knows that") {
    PeerContext context;
    const ArgumentRecorder wireshark(QString::fromStdString(context.folder.path()), QStringLiteral("wireshark"));
    const QString filter = GENERATE(QStringLiteral("infiniband.bth"), QStringLiteral("rdma.connection == 1"));
    REQUIRE(context.selection.applyFilter(filter));
    REQUIRE(QTest::qWaitFor([&] { return !context.selection.filtering(); }, 30'000));
    context.exporting.openInWireshark(Packets::Displayed);
    CHECK(context.end() == QStringLiteral("Opened in Wireshark."));
    const QStringList words = wireshark.arguments();
    REQUIRE(words.size() == (filter.startsWith(QStringLiteral("infiniband")) ? 4 : 2));
    CHECK(words[0] == QStringLiteral("-r"));
    CHECK(words[1].endsWith(QStringLiteral("/capture-1.pcapng")));
    CHECK(times(words[1]).size() == context.selection.shown());
    if (words.size() == 4) CHECK(words.mid(2) == QStringList{QStringLiteral("-Y"), filter});
}

TEST_CASE("where there is no Wireshark a sentence says so") {
    PeerContext context;
    const QByteArray before = qgetenv("PATH");
    qputenv("PATH", context.folder.path().c_str());
    context.exporting.openInWireshark(Packets::All);
    qputenv("PATH", before);
    CHECK(context.failed.size() == 1);
    CHECK(context.end().startsWith(QStringLiteral("Wireshark not found")));
    CHECK_FALSE(context.exporting.running());
}

TEST_CASE("of filters Wireshark knows those with its names and without words of ours") {
    for (const char* known :
         {"infiniband.bth.psn == 5", "ip.src == 10.0.0.0/8 and udp", "infiniband.payload contains \"rdma.x\"",
          "frame.len > 100", "eth.src == 00:02:c9:00:00:01", "not infiniband.bth.opcode in {4, 5..7}", ""})
        CHECK(wiresharkKnows(QString::fromLatin1(known)));
    for (const char* ours : {"rdma.connection == 1", "infiniband.bth and rdma.retransmission", "frame.number == 3",
                             "frame.time_relative > 1", "infiniband.bth.opcode == RC_SEND_ONLY", "\"open"})
        CHECK_FALSE(wiresharkKnows(QString::fromLatin1(ours)));
}

TEST_CASE("names that are offered come from the capture") {
    CHECK(offeredName(QStringLiteral("/a/trace.pcap.gz"), ending(Packets::Marked)) ==
          QStringLiteral("trace-marked.pcapng"));
    CHECK(offeredName(QStringLiteral("run.2.pcapng"), ending(Packets::All)) == QStringLiteral("run.2-saved.pcapng"));
    CHECK(offeredName(QStringLiteral("eth0"), QStringLiteral("-analysis.json")) ==
          QStringLiteral("eth0-analysis.json"));
    CHECK(offeredName({}, ending(Packets::Displayed)) == QStringLiteral("capture-displayed.pcapng"));
}
