// Journey: captures of several hosts merged by time, the clock of one put right: by keys, with the order that the
// command line has of the capture that both were cut from.
#include <dissect/capture/capture_file.hpp>
#include <dissect/capture/time_merge.hpp>
#include <dissect/capture/writer.hpp>
#include <gui/window/clocks_dialog.hpp>
#include <tests/gui/journey.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QPushButton>
#include <QTableWidget>

using namespace qps::gui;
using namespace qps::gui::tests;
using namespace qps::dissect;

namespace {

// What each of the two hosts sent, the second one by a clock that is 2.5 s late.
QStringList capturesOfHosts(const QTemporaryDir& folder) {
    const QStringList paths{folder.filePath(QStringLiteral("a.pcap")), folder.filePath(QStringLiteral("b.pcap"))};
    auto first = CaptureWriter::open(paths[0].toStdString(), WriterFormat::pcap);
    auto second = CaptureWriter::open(paths[1].toStdString(), WriterFormat::pcap);
    auto capture = CaptureFile::open(sampleFile("loss_write"));
    REQUIRE((first && second && capture));
    Batch batch;
    while (capture->read(batch))
        for (Frame frame : batch.frames) {
            const bool from_first =
                frame.bytes.size() > 29 && frame.bytes[29] == std::byte{11};  // the last byte of its IPv4 address
            if (!from_first) frame.time = moved(frame.time, Duration{-2'500'000'000});
            REQUIRE((from_first ? *first : *second).write(frame));
        }
    REQUIRE((first->close() && second->close()));
    return paths;
}

}  // namespace

TEST_CASE("journey: captures of two hosts merged by time, the clock of one put right", "[.journey]") {
    const QTemporaryDir folder;
    const QStringList paths = capturesOfHosts(folder);
    OpenWindow window;
    window.open(paths);
    const std::uint64_t packets = window.session().packets();
    const Answering answering([&](QWidget& dialog) {
        auto* table = dialog.findChild<QTableWidget*>();
        REQUIRE((table != nullptr && table->rowCount() == 2));
        auto* ok = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
        const auto offset = [&](const char* text) {
            table->setFocus();
            table->setCurrentCell(1, 1);
            QTest::keyClick(table, Qt::Key_F2);
            QLineEdit* editor = nullptr;
            for (auto* each : table->viewport()->findChildren<QLineEdit*>())
                if (each->isVisible()) editor = each;
            REQUIRE(editor != nullptr);
            editor->selectAll();
            QTest::keyClicks(editor, QLatin1String(text));
            QTest::keyClick(editor, Qt::Key_Return);
            QApplication::processEvents();
        };
        offset("late");
        CHECK_FALSE(ok->isEnabled());
        offset("+2.5s");
        CHECK(ok->isEnabled());
        auto* merge = dialog.findChild<QCheckBox*>();
        merge->setFocus();
        QTest::keyClick(merge, Qt::Key_Space);
        CHECK(merge->isChecked());
        grab(dialog, QStringLiteral("journey_clocks"));
        QTest::mouseClick(ok, Qt::LeftButton);
    });
    window.key(Qt::Key_T, Qt::ControlModifier | Qt::ShiftModifier);
    CHECK(answering.dialogs() == 1);
    window.settle();
    REQUIRE(window.session().packets() == packets);
    const auto rows =
        commandRows({QStringLiteral("packets"), QStringLiteral("-e"), QStringLiteral("source"), QStringLiteral("-e"),
                     QStringLiteral("frame.time_relative"), QString::fromStdString(sampleFile("loss_write"))});
    REQUIRE(rows.size() == packets);
    window.window.showView(QStringLiteral("packets"));
    PacketList& list = window.view<PacketsView>().list();
    for (std::uint64_t at = 0; at < packets; ++at) {
        CAPTURE(at);
        REQUIRE(list.textAt(at).cells[2] == rows[at][QStringLiteral("source")]);
        REQUIRE(list.textAt(at).cells[1].toDouble() == rows[at][QStringLiteral("frame.time_relative")].toDouble());
    }
    // The command line merges the same files the same way.
    const auto merged =
        commandRows({QStringLiteral("packets"), QStringLiteral("--by-time"), QStringLiteral("--offset"),
                     paths[1] + QStringLiteral("=+2.5s"), QStringLiteral("-e"), QStringLiteral("source"),
                     QStringLiteral("-e"), QStringLiteral("frame.time_relative"), paths[0], paths[1]});
    CHECK(merged == rows);
    const auto told = commandRows({QStringLiteral("findings"), QStringLiteral("--by-time"), QStringLiteral("--offset"),
                                   paths[1] + QStringLiteral("=+2.5s"), paths[0], paths[1]});
    const auto& findings = window.session().timeline()->findings;
    REQUIRE(findings.size() == told.size());
    for (std::size_t i = 0; i < told.size(); ++i)
        CHECK(QString::fromStdString(findings[i].summary) == told[i][QStringLiteral("summary")]);
    window.key(Qt::Key_R, Qt::ControlModifier);  // clocks stay right
    window.settle();
    CHECK(window.session().clocks().byTime);
    CHECK(list.textAt(1).cells[1].toDouble() == rows[1][QStringLiteral("frame.time_relative")].toDouble());
}

TEST_CASE("offsets are read and written with their units") {
    CHECK(readOffset(QStringLiteral("-1.5ms")) == Duration{-1'500'000});
    CHECK(readOffset(QStringLiteral("+20 us")) == Duration{20'000});
    CHECK(readOffset(QStringLiteral("0.25")) == Duration{250'000'000});
    CHECK(readOffset(QStringLiteral("0")) == Duration{});
    for (const char* none : {"", "-", "late", "1 day", "--1s", "1e30s"}) CHECK_FALSE(readOffset(QLatin1String(none)));
    for (const std::int64_t time :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1'500'000}, std::int64_t{-3'600'000'000'000}})
        CHECK(readOffset(offsetText(Duration{time})) == Duration{time});
}
