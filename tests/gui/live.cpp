// Choosing what to capture and capturing it, with programs that only pretend to be qpscope-capture.
#include <gui/live/capture_dialog.hpp>
#include <gui/live/recorder.hpp>
#include <gui/live/remote.hpp>
#include <gui/live/traffic.hpp>
#include <tests/gui/application.hpp>
#include <tests/support/catch.hpp>

#include <QComboBox>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>
#include <csignal>

#include <sys/types.h>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

// A program made of shell that stands in for qpscope-capture.
class FakeRecorder {
public:
    explicit FakeRecorder(const QByteArray& script) {
        QFile file(program());
        REQUIRE(file.open(QIODevice::WriteOnly));
        file.write("#!/bin/sh\n" + script);
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    [[nodiscard]] QString program() const { return m_folder.filePath(QStringLiteral("qpscope-capture")); }
    [[nodiscard]] QString file(const QString& name) const { return m_folder.filePath(name); }

private:
    QTemporaryDir m_folder;
};

// Stands in for ssh on PATH.
class FakeSsh {
public:
    explicit FakeSsh(const QByteArray& script) : m_before(qgetenv("PATH")) {
        QFile file(m_folder.filePath(QStringLiteral("ssh")));
        REQUIRE(file.open(QIODevice::WriteOnly));
        file.write("#!/bin/sh\n" + script);
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        qputenv("PATH", m_folder.path().toLocal8Bit() + ":" + m_before);
    }
    ~FakeSsh() { qputenv("PATH", m_before); }
    FakeSsh(const FakeSsh&) = delete;
    FakeSsh& operator=(const FakeSsh&) = delete;

private:
    QTemporaryDir m_folder;
    QByteArray m_before;
};

const QByteArray kRights = R"({"type":"rights","may_capture":true})"
                           "\n";
const QByteArray kNoRights = R"({"type":"rights","may_capture":false,"remedy":"sudo setcap cap_net_raw+ep 'there'"})"
                             "\n";
const QByteArray kInterfaces =
    R"({"type":"interface","name":"lo","description":"","up":true,"loopback":true,"addresses":["127.0.0.1","::1"],"link":1}
{"type":"interface","name":"eth9","description":"","up":false,"loopback":false,"addresses":["02:00:00:00:00:01"],"link":1}
{"type":"interface","name":"roce0","description":"A port","up":true,"loopback":false,"addresses":["02:00:00:00:00:02","10.0.0.1"],"link":1}
)";

QByteArray listing(const QByteArray& lines) { return "cat <<'END'\n" + lines + "END\n"; }

void forgetSettings() { QSettings().clear(); }

template <class Widget> Widget* part(const CaptureDialog& dialog, const char* name) {
    auto* found = dialog.findChild<Widget*>(QLatin1String(name));
    REQUIRE(found != nullptr);
    return found;
}

void waitForList(const CaptureDialog& dialog) {
    REQUIRE(
        QTest::qWaitFor([&] { return part<QTreeWidget>(dialog, "interfaces")->topLevelItemCount() > 0; }, kPatience));
}

QString currentInterface(const CaptureDialog& dialog) {
    const QTreeWidgetItem* row = part<QTreeWidget>(dialog, "interfaces")->currentItem();
    return row == nullptr ? QString() : row->text(0);
}

}  // namespace

TEST_CASE("Interfaces are read from lines of JSON, whatever else is between them") {
    const InterfaceList list = parseInterfaces(kRights + "not JSON\n[1,2]\n{}\n{\"type\":\"interface\"}\n\n" +
                                               kInterfaces + "{\"type\":\"inter");
    CHECK(list.mayCapture);
    CHECK(list.remedy.isEmpty());
    REQUIRE(list.interfaces.size() == 3);
    CHECK(list.interfaces[0].name == QStringLiteral("lo"));
    CHECK(list.interfaces[0].loopback);
    CHECK(list.interfaces[0].addresses == QStringList{QStringLiteral("127.0.0.1"), QStringLiteral("::1")});
    CHECK_FALSE(list.interfaces[1].up);
    CHECK(list.interfaces[2].description == QStringLiteral("A port"));
    CHECK(list.interfaces[2].link == qps::dissect::LinkType::ethernet);

    CHECK_FALSE(parseInterfaces({}).mayCapture);
    const InterfaceList odd =
        parseInterfaces(R"({"type":"interface","name":"x","up":"yes","addresses":[1,{"a":2},"ok"],"link":"Ethernet"})");
    REQUIRE(odd.interfaces.size() == 1);
    CHECK_FALSE(odd.interfaces[0].up);
    CHECK(odd.interfaces[0].addresses == QStringList{QStringLiteral("ok")});
    CHECK_FALSE(odd.interfaces[0].link);

    QByteArray many;
    for (qsizetype i = 0; i <= kMostInterfaces; ++i)
        many += R"({"type":"interface","name":"x"})"
                "\n";
    CHECK(parseInterfaces(many).interfaces.size() == kMostInterfaces);
}

TEST_CASE("A listing that fails, or is none, is a sentence") {
    needApplication();
    const auto [script, expected] = GENERATE(table<QByteArray, QString>({
        {"echo 'qpscope-capture: no list today' >&2; exit 3\n", QStringLiteral("no list today")},
        {"exit 3\n", QStringLiteral("without a list")},
        {"kill -9 $$\n", QStringLiteral("without a list")},
        {"exec cat /dev/zero\n", QStringLiteral("too long")},
    }));
    CAPTURE(script.toStdString());
    const FakeRecorder pretender(script);
    InterfaceFinder finder(pretender.program());
    const QSignalSpy found(&finder, &InterfaceFinder::found);
    QSignalSpy failed(&finder, &InterfaceFinder::failed);
    finder.find();
    REQUIRE(failed.wait(kPatience));
    CHECK(failed[0][0].toString().contains(expected));
    CHECK(found.isEmpty());
}

TEST_CASE("A program that is not there, or cannot be started, is a sentence") {
    needApplication();
    for (const QString& program : {QString(), QStringLiteral("/no/such/program")}) {
        InterfaceFinder finder(program);
        QSignalSpy notListed(&finder, &InterfaceFinder::failed);
        finder.find();
        REQUIRE((!notListed.isEmpty() || notListed.wait(kPatience)));
        CHECK(notListed.size() == 1);
        Recorder recorder(program);
        QSignalSpy notRecorded(&recorder, &Recorder::failed);
        recorder.start({.interface = QStringLiteral("lo")});
        REQUIRE((!notRecorded.isEmpty() || notRecorded.wait(kPatience)));
        CHECK(notRecorded.size() == 1);
        CHECK_FALSE(recorder.running());
    }
}

TEST_CASE("Only the newest question about a filter is answered") {
    needApplication();
    using Verdict = BpfCheck::Verdict;
    BpfCheck check;
    CHECK(check.verdict() == Verdict::Right);
    check.ask(QStringLiteral("udp prot 4791"), qps::dissect::LinkType::ethernet);
    CHECK(check.verdict() == Verdict::Pending);
    REQUIRE(QTest::qWaitFor([&] { return check.verdict() != Verdict::Pending; }, kPatience));
    CHECK(check.verdict() == Verdict::Wrong);
    CHECK(check.sentence().contains(QStringLiteral("syntax error")));
    check.ask(QStringLiteral("udp port 4791"), qps::dissect::LinkType::ethernet);
    REQUIRE(QTest::qWaitFor([&] { return check.verdict() == Verdict::Right; }, kPatience));
    check.ask(QStringLiteral("nonsense("), qps::dissect::LinkType::ethernet);
    QTest::qWait(160);  // it is being compiled
    check.ask(QStringLiteral("  "), qps::dissect::LinkType::ethernet);
    CHECK(check.verdict() == Verdict::Right);
    QTest::qWait(300);
    CHECK(check.verdict() == Verdict::Right);
    // What has no meaning for the link type of the interface is wrong there.
    check.ask(QStringLiteral("ether host 02:00:00:00:00:01"), qps::dissect::LinkType::raw_ip);
    REQUIRE(QTest::qWaitFor([&] { return check.verdict() == Verdict::Wrong; }, kPatience));
}

TEST_CASE("The dialog chooses what is up, and starts only what can be started") {
    needApplication();
    forgetSettings();
    const FakeRecorder pretender(listing(kRights + kInterfaces));
    CaptureDialog dialog(pretender.program());
    CHECK_FALSE(dialog.ready());
    waitForList(dialog);
    CHECK(currentInterface(dialog) == QStringLiteral("roce0"));
    auto* start = part<QPushButton>(dialog, "start");
    CHECK(start->isEnabled());
    CHECK_FALSE(part<QLabel>(dialog, "message")->isVisibleTo(&dialog));

    auto* filter = part<QComboBox>(dialog, "filter");
    auto* verdict = part<QLabel>(dialog, "verdict");
    filter->setEditText(QStringLiteral("udp prot"));
    CHECK_FALSE(start->isEnabled());
    REQUIRE(QTest::qWaitFor([&] { return verdict->text().contains(QStringLiteral("syntax error")); }, kPatience));
    CHECK_FALSE(start->isEnabled());
    dialog.accept();
    CHECK(dialog.result() == QDialog::Rejected);
    const QColor wrong = filter->lineEdit()->palette().color(QPalette::Base);
    filter->setEditText(QStringLiteral(" udp port 4791 "));
    REQUIRE(QTest::qWaitFor([&] { return start->isEnabled(); }, kPatience));
    const QColor right = filter->lineEdit()->palette().color(QPalette::Base);
    CHECK(right != wrong);
    CHECK(right != dialog.palette().color(QPalette::Base));

    part<QSpinBox>(dialog, "packets")->setValue(1000);
    part<QSpinBox>(dialog, "seconds")->setValue(60);
    part<QSpinBox>(dialog, "snapLength")->setValue(128);
    const CaptureChoice expected{QStringLiteral("roce0"), QStringLiteral("udp port 4791"), 1000, 60, 128};
    CHECK(dialog.choice() == expected);
    CHECK(recorderArguments(dialog.choice()).join(QLatin1Char(' ')) ==
          QStringLiteral("-i roce0 -f udp port 4791 -c 1000 -a 60 -s 128"));
    dialog.accept();
    CHECK(dialog.result() == QDialog::Accepted);

    // The next time all of that is there again; an interface that has gone is not.
    CaptureDialog again(pretender.program());
    waitForList(again);
    CHECK(again.choice() == expected);
    CHECK(part<QComboBox>(again, "filter")->itemText(0) == QStringLiteral("udp port 4791"));
    const FakeRecorder without(listing(kRights + kInterfaces.left(kInterfaces.indexOf('\n') + 1)));
    CaptureDialog other(without.program());
    waitForList(other);
    CHECK(currentInterface(other) == QStringLiteral("lo"));
    forgetSettings();
}

TEST_CASE("The keyboard is enough for the dialog") {
    needApplication();
    forgetSettings();
    const FakeRecorder pretender(listing(kRights + kInterfaces));
    CaptureDialog dialog(pretender.program());
    waitForList(dialog);
    dialog.show();
    dialog.activateWindow();
    REQUIRE(QTest::qWaitForWindowActive(&dialog));
    auto* interfaces = part<QTreeWidget>(dialog, "interfaces");
    interfaces->setFocus();
    QTest::keyClick(interfaces, Qt::Key_Home);
    CHECK(currentInterface(dialog) == QStringLiteral("lo"));
    // A thread says whether the filter fits that interface; until then there is nothing to start.
    REQUIRE(QTest::qWaitFor([&] { return part<QPushButton>(dialog, "start")->isEnabled(); }, kPatience));
    QStringList visited;
    for (int i = 0; i < 14; ++i) {
        QTest::keyClick(dialog.focusWidget(), Qt::Key_Tab);
        visited << dialog.focusWidget()->objectName();
    }
    CHECK(visited.mid(0, 6).join(QLatin1Char(' ')) == QStringLiteral("filter packets seconds snapLength stopOn file"));
    CHECK(visited.contains(QStringLiteral("start")));
    interfaces->setFocus();
    QTest::keyClick(interfaces, Qt::Key_Return);
    CHECK(dialog.result() == QDialog::Accepted);
    forgetSettings();
}

TEST_CASE("The dialog says what gives the right to capture, and notices when it is given") {
    needApplication();
    forgetSettings();
    const FakeRecorder pretender("if [ -e \"$0.allowed\" ]; then\n" + listing(kRights) + "else\n" + listing(kNoRights) +
                                 "fi\n" + listing(kInterfaces));
    CaptureDialog dialog(pretender.program());
    waitForList(dialog);
    CHECK_FALSE(dialog.ready());
    CHECK_FALSE(part<QPushButton>(dialog, "start")->isEnabled());
    CHECK(part<QLabel>(dialog, "message")->isVisibleTo(&dialog));
    CHECK(part<QLineEdit>(dialog, "remedy")->text() == QStringLiteral("sudo setcap cap_net_raw+ep 'there'"));

    QFile allowed(pretender.program() + QStringLiteral(".allowed"));
    REQUIRE(allowed.open(QIODevice::WriteOnly));
    dialog.show();
    dialog.activateWindow();
    REQUIRE(QTest::qWaitForWindowActive(&dialog));
    QTest::keyClick(&dialog, Qt::Key_F5);
    REQUIRE(QTest::qWaitFor([&] { return dialog.ready(); }, kPatience));
    CHECK_FALSE(part<QLabel>(dialog, "message")->isVisibleTo(&dialog));

    CaptureDialog missing(QString{});
    CHECK(part<QLabel>(missing, "message")->text().contains(QStringLiteral("not found")));
    CHECK_FALSE(part<QLineEdit>(missing, "remedy")->isVisibleTo(&missing));
    CHECK_FALSE(missing.ready());
}

TEST_CASE("A recorder hands its capture on as something that can be opened, as long as it takes") {
    needApplication();
    const FakeRecorder pretender("echo \"$*\" >\"$0.arguments\"\nprintf 'the capture'\nexit 0\n");
    Recorder recorder(pretender.program());
    QSignalSpy recording(&recorder, &Recorder::recording);
    QSignalSpy finished(&recorder, &Recorder::finished);
    const QSignalSpy failed(&recorder, &Recorder::failed);
    recorder.start({.interface = QStringLiteral("eth7"), .filter = QStringLiteral("udp")});
    CHECK(recorder.running());
    REQUIRE((!finished.isEmpty() || finished.wait(kPatience)));
    CHECK_FALSE(recorder.running());
    CHECK(failed.isEmpty());
    REQUIRE(recording.size() == 1);
    CHECK(recording[0][1].toString() == QStringLiteral("eth7 (udp)"));
    QFile pipe(recording[0][0].toString());  // it has ended, and is still there
    REQUIRE(pipe.open(QIODevice::ReadOnly | QIODevice::Unbuffered));
    CHECK(pipe.readAll() == "the capture");
    QFile arguments(pretender.program() + QStringLiteral(".arguments"));
    REQUIRE(arguments.open(QIODevice::ReadOnly));
    CHECK(arguments.readAll() == "-i eth7 -f udp\n");
}

TEST_CASE("What a recorder cannot do is said once, and nothing is handed on") {
    needApplication();
    const auto [script, expected] = GENERATE(table<QByteArray, QString>({
        {"echo 'qpscope-capture: eth7: do this' >&2; exit 3\n", QStringLiteral("eth7: do this")},
        {"exit 3\n", QStringLiteral("exited with code 3")},
        {"kill -9 $$\n", QStringLiteral("terminated unexpectedly")},
    }));
    CAPTURE(script.toStdString());
    const FakeRecorder pretender(script);
    Recorder recorder(pretender.program());
    const QSignalSpy recording(&recorder, &Recorder::recording);
    const QSignalSpy failed(&recorder, &Recorder::failed);
    QSignalSpy finished(&recorder, &Recorder::finished);
    recorder.start({.interface = QStringLiteral("eth7")});
    REQUIRE((!finished.isEmpty() || finished.wait(kPatience)));
    REQUIRE(failed.size() == 1);
    CHECK(failed[0][0].toString().contains(expected));
    CHECK(recording.isEmpty());
}

TEST_CASE("A recorder that is stopped ends, whether the program listens or not") {
    needApplication();
    const auto script =
        GENERATE(QByteArray("printf 'x'\ntrap 'printf y; exit 130' TERM\nwhile :; do sleep 0.05; done\n"),
                 QByteArray("printf 'x'\nexec cat >/dev/null\n"),
                 QByteArray("printf 'x'\ntrap '' TERM\nwhile :; do sleep 0.05; done\n"));
    CAPTURE(script.toStdString());
    const FakeRecorder pretender(script);
    Recorder recorder(pretender.program());
    QSignalSpy recording(&recorder, &Recorder::recording);
    const QSignalSpy failed(&recorder, &Recorder::failed);
    QSignalSpy finished(&recorder, &Recorder::finished);
    recorder.start({.interface = QStringLiteral("eth7")});
    REQUIRE((!recording.isEmpty() || recording.wait(kPatience)));
    recorder.stop();
    REQUIRE((!finished.isEmpty() || finished.wait(kPatience)));
    CHECK(failed.isEmpty());
    CHECK_FALSE(recorder.running());
}

TEST_CASE("A recorder that goes takes its program along, also when that waits for a reader") {
    needApplication();
    const FakeRecorder pretender("echo $$ >\"$0.pid\"\nexec cat /dev/zero\n");
    {
        Recorder recorder(pretender.program());
        QSignalSpy recording(&recorder, &Recorder::recording);
        recorder.start({.interface = QStringLiteral("eth7")});
        REQUIRE((!recording.isEmpty() || recording.wait(kPatience)));
    }
    QFile file(pretender.program() + QStringLiteral(".pid"));
    REQUIRE(file.open(QIODevice::ReadOnly));
    const auto pid = static_cast<pid_t>(file.readAll().trimmed().toInt());
    REQUIRE(pid > 0);
    CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("What another machine is asked arrives there word for word") {
    needApplication();
    CHECK(recorderCommand(QStringLiteral("/usr/libexec/qpscope-capture"), {}, {QStringLiteral("--list")}).program ==
          QStringLiteral("/usr/libexec/qpscope-capture"));
    const QStringList words{QStringLiteral("-i"), QStringLiteral("it's; $(touch here) `x` \"y\""), QString(),
                            QStringLiteral("-f"), QStringLiteral("udp port 4791 && !arp")};
    const RecorderCommand command = recorderCommand({}, QStringLiteral("op@roce-1"), words);
    CHECK(command.program == QStringLiteral("ssh"));
    CHECK(command.arguments.contains(QStringLiteral("BatchMode=yes")));
    CHECK(command.arguments.value(command.arguments.size() - 3) == QStringLiteral("--"));
    CHECK(command.arguments.value(command.arguments.size() - 2) == QStringLiteral("op@roce-1"));
    const FakeRecorder there("for word; do printf '<%s>' \"$word\"; done\n");
    QProcess shell;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("PATH"), QFileInfo(there.program()).path() + QStringLiteral(":/usr/bin:/bin"));
    shell.setProcessEnvironment(environment);
    shell.start(QStringLiteral("sh"), {QStringLiteral("-c"), command.arguments.last()});
    REQUIRE(shell.waitForFinished(kPatience));
    CHECK(QString::fromUtf8(shell.readAllStandardOutput()) ==
          QStringLiteral("<%1>").arg(words.join(QStringLiteral("><"))));

    // Without the connection that the packets come over, as sshd tells it.
    struct Case {
        const char* connection;
        const char* filter;
        const char* expected;
    };
    constexpr std::array kCases{
        Case{"10.0.0.9 50022 10.0.0.1 22", "",
             "<-i><it's><-f><not (tcp and host 10.0.0.9 and port 50022 and port 22)>"},
        Case{"fe80::9%eth0 50022 fe80::1%eth0 22", "vlan && udp",
             "<-i><it's><-f><not (tcp and host fe80::9 and port 50022 and port 22) and (vlan && udp)>"},
        Case{"", "", "<-i><it's>"}, Case{"", "udp or arp", "<-i><it's><-f><(udp or arp)>"}};
    for (const Case& each : kCases) {
        const RecorderCommand capture =
            remoteCapture(QStringLiteral("op@roce-1"), {QStringLiteral("-i"), QStringLiteral("it's")},
                          QString::fromLatin1(each.filter));
        environment.insert(QStringLiteral("SSH_CONNECTION"), QString::fromLatin1(each.connection));
        QProcess remote;
        remote.setProcessEnvironment(environment);
        remote.start(QStringLiteral("sh"), {QStringLiteral("-c"), capture.arguments.last()});
        REQUIRE(remote.waitForFinished(kPatience));
        CHECK(QString::fromUtf8(remote.readAllStandardOutput()) == QString::fromLatin1(each.expected));
    }
    for (const char* host : {"roce-1", "op@10.0.0.1", "op@[fe80::1%eth0]", "node_3.example.org"})
        CHECK(isHost(QLatin1String(host)));
    for (const char* none : {"", "-oProxyCommand=x", "a b", "a;b", "$(a)", "a/b", "a\nb"})
        CHECK_FALSE(isHost(QLatin1String(none)));
    CHECK_FALSE(isHost(QString(256, QLatin1Char('a'))));
}

TEST_CASE("The dialog lists the interfaces of another machine, and the recorder captures there") {
    needApplication();
    forgetSettings();
    // ssh, where one host has qpscope-capture and no other can be reached.
    const FakeSsh ssh(
        "for word; do last=$word; done\n"
        "case \" $* \" in *' roce-1 '*) ;; *' bare '*) echo 'sh: 1: exec: qpscope-capture: not found' >&2; exit 127;; *) echo 'ssh: connect to host nowhere port 22: No route to host' >&2; exit 255;; esac\n"
        "case $last in *--list*) cat <<'END'\n" +
        kRights + kInterfaces +
        "END\nexit 0;; esac\n"
        "printf 'capture of %s' \"$last\"\ncat >/dev/null\n");
    const FakeRecorder pretender(listing(kNoRights));
    CaptureDialog dialog(pretender.program());
    REQUIRE(QTest::qWaitFor(
        [&] { return part<QLabel>(dialog, "message")->text().contains(QStringLiteral("CAP_NET_RAW")); }, kPatience));
    auto* host = part<QLineEdit>(dialog, "host");
    const auto take = [&](const char* name) {
        host->setText(QLatin1String(name));
        Q_EMIT host->editingFinished();
    };
    take("roce-1");
    waitForList(dialog);
    REQUIRE(QTest::qWaitFor([&] { return dialog.ready(); }, kPatience));
    part<QComboBox>(dialog, "stopOn")->setCurrentIndex(1);
    const CaptureChoice chosen = dialog.choice();
    CHECK(chosen.host == QStringLiteral("roce-1"));
    CHECK(chosen.interface == QStringLiteral("roce0"));
    CHECK(chosen.stopOn == StopOn::Error);
    dialog.accept();
    CHECK(lastChoice() == chosen);

    Recorder recorder(pretender.program());
    QSignalSpy recording(&recorder, &Recorder::recording);
    QSignalSpy finished(&recorder, &Recorder::finished);
    const QSignalSpy failed(&recorder, &Recorder::failed);
    recorder.start(chosen);
    REQUIRE((!recording.isEmpty() || recording.wait(kPatience)));
    CHECK(recording[0][1].toString() == QStringLiteral("roce-1: roce0"));
    recorder.stop();
    REQUIRE((!finished.isEmpty() || finished.wait(kPatience)));
    CHECK(failed.isEmpty());
    QFile pipe(recording[0][0].toString());
    REQUIRE(pipe.open(QIODevice::ReadOnly | QIODevice::Unbuffered));
    CHECK(pipe.readAll().startsWith("capture of PATH="));

    // One that cannot be reached, and one that is none.
    take("nowhere");
    CHECK_FALSE(dialog.ready());
    CHECK(QTest::qWaitFor(
        [&] { return part<QLabel>(dialog, "message")->text().contains(QStringLiteral("No route to host")); },
        kPatience));
    CHECK_FALSE(dialog.ready());
    take("bare");
    CHECK(QTest::qWaitFor(
        [&] { return part<QLabel>(dialog, "message")->text().contains(QStringLiteral("bare has no qpscope-capture")); },
        kPatience));
    take("-oProxyCommand=x");
    CHECK(part<QLabel>(dialog, "message")->text().contains(QStringLiteral("invalid host")));
    CHECK_FALSE(dialog.ready());
    forgetSettings();
}

TEST_CASE("The counters of the kernel are packets in and out") {
    const QByteArray table =
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"
        "    lo: 1000      10    0    0    0     0          0         0     1000      11    0    0    0     0       0          0\n"
        "eth0:1: 7 5 0 0 0 0 0 0 9 6 0 0 0 0 0 0\n"
        "cut: 1 2 3\n"
        "odd: 1 x 3 4 5 6 7 8 9 10 11\n";
    const auto counters = packetCounters(table);
    CHECK(counters.size() == 2);
    CHECK(counters.value(QStringLiteral("lo")) == 21);
    CHECK(counters.value(QStringLiteral("eth0:1")) == 11);
}

TEST_CASE("Rates come from differences, and their line ends at the right edge") {
    TrafficHistory history;
    history.add(1000, 0);
    CHECK(history.rates().isEmpty());
    history.add(1010, 0.5);
    history.add(1010, 0.5);
    history.add(3, 0.5);  // began anew
    history.add(8, 0.5);
    CHECK(history.rates() == QList<double>{20, 0, 0, 10});
    const QPolygonF line = sparkline(history.rates(), QRectF(0, 0, 39, 10));
    REQUIRE(line.size() == 4);
    CHECK(line.back() == QPointF(39, 5));
    CHECK(line.front() == QPointF(36, 0));
    CHECK(line[1] == QPointF(37, 10));
    for (quint64 i = 0; i < 100; ++i) history.add(8 + i, 1);
    CHECK(history.rates().size() == kTrafficMoments);
    CHECK(sparkline(history.rates(), QRectF(0, 0, 39, 10)).front().x() == 0);
    CHECK(sparkline({}, QRectF(0, 0, 39, 10)).isEmpty());

    CHECK(rateText(0.2) == QStringLiteral("0"));
    CHECK(rateText(17) == QStringLiteral("17/s"));
    CHECK(rateText(12'345) == QStringLiteral("12.3 k/s"));
    CHECK(rateText(148'800'000) == QStringLiteral("148.8 M/s"));
}
