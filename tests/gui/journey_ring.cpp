// Journey: a capture into a ring of files, from the dialog to the files, with the program that captures and on a
// network made for it (recorder/ring.sh).
#include <tests/gui/journey.hpp>

#include <QComboBox>
#include <QDir>
#include <QHostAddress>
#include <QMessageBox>
#include <QPushButton>
#include <QSpinBox>
#include <QTreeWidget>
#include <QUdpSocket>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

constexpr int kSent = 2600;  // of 1,000 bytes: two full files of a megabyte and the rest

template <class Part> Part& named(QWidget& dialog, const char* id) {
    auto* part = dialog.findChild<Part*>(QLatin1String(id));
    REQUIRE(part != nullptr);
    return *part;
}

void typeNumber(QWidget& dialog, const char* id, const char* digits) {
    auto& box = named<QSpinBox>(dialog, id);
    box.setFocus();
    box.selectAll();
    QTest::keyClicks(&box, QLatin1String(digits));
    QTest::keyClick(&box, Qt::Key_Tab);
}

// By clicks and keys, as a person does.
void fillIn(QWidget& dialog, const QString& file) {
    auto& interfaces = named<QTreeWidget>(dialog, "interfaces");
    REQUIRE(Journey::soon([&] { return interfaces.topLevelItemCount() != 0; }));
    QTreeWidgetItem* loopback = interfaces.findItems(QStringLiteral("lo"), Qt::MatchExactly).value(0);
    REQUIRE(loopback != nullptr);
    QTest::mouseClick(interfaces.viewport(), Qt::LeftButton, Qt::NoModifier,
                      interfaces.visualItemRect(loopback).center());
    auto& filter = *named<QComboBox>(dialog, "filter").lineEdit();
    filter.setFocus();
    filter.selectAll();
    QTest::keyClicks(&filter, QStringLiteral("udp port 4791"));
    auto& line = named<QLineEdit>(dialog, "file");
    auto& wrong = named<QLabel>(dialog, "filesWrong");
    auto& start = named<QPushButton>(dialog, "start");
    line.setFocus();
    line.selectAll();
    QTest::keyClicks(&line, QDir(file).filePath(QStringLiteral("nowhere/x.pcapng")));
    CHECK(wrong.text().endsWith(QStringLiteral("no such folder")));
    CHECK_FALSE(start.isEnabled());
    line.selectAll();
    QTest::keyClicks(&line, file);
    typeNumber(dialog, "fileMegabytes", "1");
    typeNumber(dialog, "keptFiles", "2");
    CHECK(Journey::soon([&] { return start.isEnabled(); }));
    grab(dialog, QStringLiteral("journey_ring_dialog"));
    QTest::mouseClick(&start, Qt::LeftButton);
}

// Nobody listens there, and some errors of earlier ones are told with the next.
void send(QUdpSocket& socket) {
    for (int attempt = 0; attempt < 100; ++attempt)
        if (socket.writeDatagram(QByteArray(1000, 'x'), QHostAddress::LocalHost, 4791) == 1000) return;
    FAIL("not sent: " << socket.errorString().toStdString());
}

}  // namespace

TEST_CASE("journey: a capture into a ring of files", "[.ring]") {
    const QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("ring.pcapng"));
    Journey window({"rc_pingpong"});
    {
        const Answering answering([&](QWidget& dialog) {
            if (auto* question = qobject_cast<QMessageBox*>(&dialog)) question->button(QMessageBox::Yes)->click();
            else fillIn(dialog, file);
        });
        window.key(Qt::Key_K, Qt::ControlModifier);
        REQUIRE(answering.dialogs() == 2);
        CHECK(answering.said().front() == QStringLiteral("Capture"));
        CHECK(answering.said().back().endsWith(QStringLiteral("is open. Close it and start a capture?")));
    }
    REQUIRE(Journey::soon([&] { return window.session().state() == Session::State::Capturing; }));
    QUdpSocket socket;
    for (std::uint64_t sent = 1; sent <= kSent; ++sent) {
        send(socket);
        if (sent % 50 != 0) continue;
        CAPTURE(sent);
        REQUIRE(Journey::soon([&] { return window.session().packets() == sent; }));
    }
    grab(window.window, QStringLiteral("journey_ring"));
    window.key(Qt::Key_E, Qt::ControlModifier);
    REQUIRE(Journey::soon([&] { return !window.session().busy(); }));
    CHECK(Journey::soon(
        [&] { return window.said() == QStringLiteral("Written to 2 files, ring_00002.pcapng to ring_00003.pcapng"); }));
    INFO(window.said().toStdString());
    const QStringList files = QDir(folder.path()).entryList(QDir::Files, QDir::Name);
    REQUIRE(files == QStringList{QStringLiteral("ring_00002.pcapng"), QStringLiteral("ring_00003.pcapng")});
    // Together they are the last packets of the window, by the words of the command line.
    const auto kept = commandRows({words("packets"), words("-e"), words("frame.time_epoch"), folder.filePath(files[0]),
                                   folder.filePath(files[1])});
    REQUIRE((!kept.empty() && kept.size() < kSent));
    const auto first = window.session().index()->row(qps::dissect::FrameIndex{kSent - kept.size() + 1}).time();
    CHECK(QString(kept.front()[words("frame.time_epoch")]).remove(QLatin1Char('.')) ==
          QString::number(std::to_underlying(first)));
    // It lies in files: nobody asks whether to save it. Another capture to the same name would write over it.
    {
        const Answering asked([&](QWidget& dialog) {
            auto& line = named<QLineEdit>(dialog, "file");
            line.setFocus();
            QTest::keyClicks(&line, file);
            typeNumber(dialog, "fileMegabytes", "1");
            CHECK(named<QLabel>(dialog, "filesWrong")
                      .text()
                      .endsWith(QStringLiteral("ring_00002.pcapng: exists, and is not written over")));
            CHECK_FALSE(named<QPushButton>(dialog, "start").isEnabled());
        });
        window.key(Qt::Key_K, Qt::ControlModifier);
        CHECK(asked.dialogs() == 1);
    }
    const Answering asked;
    CHECK(window.window.close());
    CHECK(asked.dialogs() == 0);
}

TEST_CASE("journey: what the packet list had no room for is in the last files, which are opened", "[.ring]") {
    const QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("ring.pcapng"));
    Journey window({});
    window.session().setMemory(qps::transport::MemoryBudget{160 << 10});
    {
        const Answering answering([&](QWidget& dialog) { fillIn(dialog, file); });
        window.key(Qt::Key_K, Qt::ControlModifier);
        CHECK(answering.dialogs() == 1);
    }
    REQUIRE(Journey::soon([&] { return window.session().state() == Session::State::Capturing; }));
    QUdpSocket socket;
    for (int sent = 0; sent < 4000; ++sent) {
        send(socket);
        if (sent % 50 == 0) QTest::qWait(5);
    }
    REQUIRE(Journey::soon([&] { return QFile::exists(folder.filePath(QStringLiteral("ring_00005.pcapng"))); }));
    const std::uint64_t shown = window.session().packets();
    CHECK(shown < 4000);
    window.key(Qt::Key_E, Qt::ControlModifier);
    const QStringList kept{folder.filePath(QStringLiteral("ring_00004.pcapng")),
                           folder.filePath(QStringLiteral("ring_00005.pcapng"))};
    REQUIRE(Journey::soon([&] { return !window.session().busy() && window.session().files() == kept; }));
    CHECK(Journey::soon([&] {
        return window.said().endsWith(QStringLiteral("packets had no place in the list: these are the files"));
    }));
    INFO(window.said().toStdString());
    const auto told = commandRows({words("packets"), words("-e"), words("frame.number"), kept[0], kept[1]});
    CHECK(window.session().packets() == told.size());
    grab(window.window, QStringLiteral("journey_ring_full"));
}
