// A log line -> the queue pair -> the packets -> why.
#include <tests/gui/journey.hpp>

#include <QDateTime>
#include <QFile>
#include <QMimeData>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

constexpr Qt::KeyboardModifiers kCtrlShift = Qt::ControlModifier | Qt::ShiftModifier;

QStringList columnOf(const std::vector<CommandRow>& rows, const QString& name) {
    QStringList all;
    for (const CommandRow& row : rows) all << row[name];
    return all;
}

QString writeLog(const QTemporaryDir& folder, const QString& name, const QStringList& lines) {
    QFile file(folder.filePath(name));
    REQUIRE(file.open(QIODevice::WriteOnly));
    file.write(lines.join(QLatin1Char('\n')).toUtf8() + '\n');
    return file.fileName();
}

// "2026-11-21T01:13:19.873904Z" of seconds since 1970 as the command line prints them, so many microseconds later.
QString stamp(const QString& epoch, int later) {
    const qint64 microseconds =
        epoch.section(QLatin1Char('.'), 0, 0).toLongLong() * 1'000'000 +
        epoch.section(QLatin1Char('.'), 1, 1).leftJustified(6, QLatin1Char('0')).left(6).toLongLong() + later;
    return QDateTime::fromSecsSinceEpoch(microseconds / 1'000'000, Qt::UTC)
               .toString(QStringLiteral("yyyy-MM-ddTHH:mm:ss")) +
           QStringLiteral(".%1Z").arg(microseconds % 1'000'000, 6, 10, QLatin1Char('0'));
}

}  // namespace

TEST_CASE("journey: from a line of a log to its connection and why", "[.journey]") {
    Journey window({"rping_v4", "err_rnr"});  // in the order of their first packets, as the command takes them
    const QString line = QStringLiteral(
        "node1:4711 [0] NCCL WARN NET/IB : Got completion from peer 10.77.0.12<4711> with status=13 opcode=0 vendor err 135");
    const auto told = window.command({QStringLiteral("connections"), QStringLiteral("--match"), line});
    REQUIRE(told.size() > 1);

    Journey::copy(line + QLatin1Char('\n'));
    window.key(Qt::Key_L, Qt::ControlModifier);
    CHECK(window.window.shownView() == QStringLiteral("logs"));
    HeardTable found = window.table("Connections that fit the line");
    CHECK(found.column(QStringLiteral("#")) == columnOf(told, QStringLiteral("uid")));
    CHECK(found.column(QStringLiteral("Reasons")) == columnOf(told, QStringLiteral("match")));
    CHECK(found.column(QStringLiteral("State")) == columnOf(told, QStringLiteral("state")));
    grab(window.window, QStringLiteral("journey_log_line"));

    const QString uid = told[0][QStringLiteral("uid")];
    window.press("Ladder");
    CHECK(window.window.shownView() == QStringLiteral("ladder"));
    REQUIRE(window.selection().connection());
    CHECK(QString::number(std::to_underlying(*window.selection().connection())) == uid);

    // Back with the line as it was: the clipboard has nothing else.
    Journey::copy(QStringLiteral("nothing of ours"));
    window.key(Qt::Key_L, Qt::ControlModifier);
    CHECK(window.named<QLineEdit>("Line of a log").text() == line);
    window.press("Findings");
    CHECK(window.window.shownView() == QStringLiteral("findings"));
    const HeardTable findings = window.table("Findings");
    CHECK(findings.cell(findings.current(), QStringLiteral("#")) == uid);

    window.key(Qt::Key_L, Qt::ControlModifier);
    window.press("Packets");
    window.settle();
    CHECK(window.window.shownView() == QStringLiteral("packets"));
    const auto packets =
        window.command({QStringLiteral("packets"), QStringLiteral("-e"), QStringLiteral("frame.number"),
                        QStringLiteral("-Y"), QStringLiteral("rdma.connection == %1").arg(uid)});
    CHECK(window.selection().shown() == packets.size());

    // Typed by hand: another host, and what is no line of a log.
    window.key(Qt::Key_L, Qt::ControlModifier);
    window.type("QP 18 of 10.77.0.11");
    const auto other = window.command(
        {QStringLiteral("connections"), QStringLiteral("--match"), QStringLiteral("QP 18 of 10.77.0.11")});
    CHECK(window.table("Connections that fit the line").column(QStringLiteral("#")) ==
          columnOf(other, QStringLiteral("uid")));
    window.key(Qt::Key_L, Qt::ControlModifier);
    window.type("hello");
    CHECK(window.table("Connections that fit the line").rows() == 0);
}

TEST_CASE("journey: a line of a log is dropped, and a log beside the capture is opened", "[.journey]") {
    Journey window({"err_rnr"});
    const auto drop = [&](QMimeData& data) {
        QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window.window, &enter);
        CHECK(enter.isAccepted());
        QDropEvent event(QPointF(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window.window, &event);
        QApplication::processEvents();
    };
    QMimeData text;
    text.setText(QStringLiteral("QP 68 of 10.77.0.11"));
    drop(text);
    CHECK(window.window.shownView() == QStringLiteral("logs"));
    CHECK(window.table("Connections that fit the line")
              .cell(0, QStringLiteral("Endpoints"))
              .contains(QStringLiteral("10.77.0.11:68")));

    const QTemporaryDir folder;
    QMimeData files;
    files.setUrls({QUrl::fromLocalFile(
        writeLog(folder, QStringLiteral("job.out"), {QStringLiteral("one"), QStringLiteral("two")}))});
    const std::uint64_t packets = window.session().packets();
    drop(files);
    CHECK(window.session().packets() == packets);  // the capture stays
    CHECK(window.table("Lines of logs").column(QStringLiteral("Line")) ==
          QStringList{QStringLiteral("one"), QStringLiteral("two")});
}

TEST_CASE("journey: lines of logs in time with packets, either way", "[.journey]") {
    Journey window({"loss_write"});
    const auto packets =
        window.command({QStringLiteral("packets"), QStringLiteral("-e"), QStringLiteral("frame.number"),
                        QStringLiteral("-e"), QStringLiteral("frame.time_epoch")});
    const auto connections = window.command({QStringLiteral("connections")});
    const auto epoch = [&](int frame) {
        return packets[static_cast<std::size_t>(frame) - 1][QStringLiteral("frame.time_epoch")];
    };
    const QTemporaryDir folder;
    const QString log =
        writeLog(folder, QStringLiteral("ucx.log"),
                 {stamp(epoch(100), 0) + QStringLiteral(" node1 began"),
                  stamp(epoch(500), 0) + QStringLiteral(" UCX ERROR Transport retry count exceeded RC QP ") +
                      connections[0][QStringLiteral("a_qpn")] + QStringLiteral(" of ") +
                      connections[0][QStringLiteral("a_address")],
                  stamp(epoch(900), 0) + QStringLiteral(" node1 went on")});
    window.chooseFile(log, [&] { window.key(Qt::Key_L, kCtrlShift); });
    HeardTable lines = window.table("Lines of logs");
    REQUIRE(lines.rows() == 3);
    // Each line stands at the first packet that is not before it, as the command line has it.
    const auto firstAt = [&](int frame) {
        const auto rows =
            window.command({QStringLiteral("packets"), QStringLiteral("-e"), QStringLiteral("frame.number"),
                            QStringLiteral("-e"), QStringLiteral("frame.time_epoch")});
        for (const CommandRow& row : rows)
            if (stamp(row[QStringLiteral("frame.time_epoch")], 0) >= stamp(epoch(frame), 0))
                return row[QStringLiteral("frame.number")];
        return QString();
    };
    CHECK(lines.column(QStringLiteral("Packet")) == QStringList{firstAt(100), firstAt(500), firstAt(900)});

    // A line that is chosen selects its packet, and is looked for.
    lines.click(1);
    CHECK(QString::number(window.packet()) == firstAt(500));
    CHECK(window.named<QLineEdit>("Line of a log").text().contains(QStringLiteral("UCX ERROR")));
    const HeardTable found = window.table("Connections that fit the line");
    REQUIRE(found.rows() > 0);
    CHECK(found.cell(0, QStringLiteral("#")) == connections[0][QStringLiteral("uid")]);
    grab(window.window, QStringLiteral("journey_logs"));

    // A packet that is chosen brings the line before it.
    window.selection().selectPacket(qps::dissect::FrameIndex{950});
    QApplication::processEvents();
    CHECK(window.table("Lines of logs").current() == 2);

    // Since boot: nowhere, until one line is aligned with a packet; then all are.
    window.press("Close logs");
    const QString dmesg = writeLog(
        folder, QStringLiteral("dmesg.txt"),
        {QStringLiteral("[  100.000000] nvme nvme0: first"), QStringLiteral("[  100.000000] nvme nvme0: second")});
    window.chooseFile(dmesg, [&] { window.press("Open log..."); });
    HeardTable booted = window.table("Lines of logs");
    CHECK(booted.column(QStringLiteral("Packet")) == QStringList{QString(), QString()});
    booted.click(0);
    window.press("Align with packet");
    CHECK(window.table("Lines of logs").column(QStringLiteral("Time")).contains(QString()) == false);
    CHECK(window.table("Lines of logs").cell(1, QStringLiteral("Packet")) == firstAt(950));
    window.press("Reset times");
    CHECK(window.table("Lines of logs").cell(1, QStringLiteral("Packet")).isEmpty());
}
