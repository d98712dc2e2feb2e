// The session reads and analyses on a worker; the selection filters and remembers. Driven without any widget.
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/late_pairs.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QFile>
#include <QSignalSpy>
#include <QTest>
#include <filesystem>
#include <thread>

#include "application.hpp"
#include <fcntl.h>
#include <unistd.h>

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::FrameIndex;
using qps::transport::ConnectionId;

namespace {

const QString kLossy = QStringLiteral(QPSCOPE_SOURCE_DIR "/captures/loss_write/capture.pcap");

bool wait(Session& session) {
    return QTest::qWaitFor([&] { return !session.busy(); }, kPatience);
}
bool wait(Selection& selection) {
    return QTest::qWaitFor([&] { return !selection.filtering(); }, kPatience);
}

std::uint64_t counted(const Session& session, qps::transport::Mark mark) {
    std::uint64_t count = 0;
    for (std::uint64_t row = 0; row < session.packets(); ++row) count += session.index()->packets[row].has(mark);
    return count;
}

}  // namespace

TEST_CASE("a session brings rows and a timeline, and says when") {
    needApplication();
    Session session(2);
    QSignalSpy opened(&session, &Session::opened);
    QSignalSpy rows(&session, &Session::rowsAdded);
    QSignalSpy timelines(&session, &Session::timelineChanged);
    session.open({kLossy});
    CHECK(session.state() == Session::State::Reading);
    REQUIRE(wait(session));
    CHECK(session.state() == Session::State::Done);
    CHECK(opened.count() == 1);
    CHECK(rows.count() >= 1);
    CHECK(timelines.count() >= 1);
    CHECK(session.packets() == session.timeline()->packets);
    CHECK(session.packets() > 1000);
    CHECK(session.problems().isEmpty());
    session.close();
    CHECK(session.packets() == 0);
    CHECK(session.timeline()->packets == 0);
}

TEST_CASE("a damaged file is shown up to the damage, and a missing one is told") {
    needApplication();
    const qps::test::TemporaryFolder folder;
    auto bytes = qps::test::read_file(kLossy.toStdString());
    bytes.resize(bytes.size() / 2);
    Session session(2);
    session.open({QString::fromStdString(folder.write("half.pcap", bytes)),
                  QString::fromStdString(folder.file("missing.pcap"))});
    REQUIRE(wait(session));
    CHECK(session.packets() > 500);
    REQUIRE(session.problems().size() == 2);
    CHECK(session.problems()[0].contains(QStringLiteral("at offset")));
    CHECK(session.problems()[1].contains(QStringLiteral("missing.pcap")));
}

TEST_CASE("reading ends when it is told, also where it waits for a pipe") {
    needApplication();
    const qps::test::TemporaryFolder folder;
    const std::string pipe = folder.fifo("pipe");
    const auto bytes = qps::test::read_file(kLossy.toStdString());
    std::thread writer([&] {
        const int end = ::open(pipe.c_str(), O_WRONLY);
        qps::test::write_all(end, std::span(bytes).first(bytes.size() / 2));
        // Held open: who reads waits until it is told to stop.
        while (::write(end, "", 0) == 0 && !std::filesystem::exists(folder.file("over")))
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ::close(end);
    });
    {
        Session session(2);
        session.capture(QString::fromStdString(pipe), QStringLiteral("a pipe"));
        CHECK(session.state() == Session::State::Capturing);
        CHECK(QTest::qWaitFor([&] { return session.packets() > 500; }, kPatience));
        CHECK(session.busy());
        session.stop();
        CHECK(wait(session));
        CHECK(session.state() == Session::State::Stopped);
        CHECK(session.timeline()->packets == session.packets());
        qps::transport::PacketReader reader(session.index());
        CHECK(reader.read(FrameIndex{session.packets()}) != nullptr);
        session.capture(QString::fromStdString(pipe), QStringLiteral("again, and closed at once"));
    }
    static_cast<void>(folder.write("over", {}));
    writer.join();
}

TEST_CASE("a filter's hits are those of the rows, undone and redone") {
    needApplication();
    Session session(2);
    Selection selection(session);
    session.open({kLossy});
    REQUIRE(wait(session));
    CHECK(selection.hits() == nullptr);
    CHECK(selection.shown() == session.packets());
    const std::uint64_t resent = counted(session, qps::transport::Mark::retransmission);
    REQUIRE(resent > 0);
    REQUIRE(selection.applyFilter(QStringLiteral(" rdma.retransmission ")));
    REQUIRE(wait(selection));
    CHECK(selection.shown() == resent);
    CHECK(session.index()->row(selection.frameAt(0)).has(qps::transport::Mark::retransmission));
    CHECK(selection.positionOf(selection.frameAt(resent - 1)) == resent - 1);

    CHECK_FALSE(selection.applyFilter(QStringLiteral("rdma.retransmision")));
    CHECK(selection.filter() == QStringLiteral("rdma.retransmission"));
    CHECK(Selection::mistake(QStringLiteral("rdma.retransmision")).has_value());

    REQUIRE(selection.applyFilter(QStringLiteral("infiniband.payload")));  // asks the packets, not the rows
    REQUIRE(wait(selection));
    const std::uint64_t loaded = selection.shown();
    CHECK(loaded > resent);
    selection.undoFilter();
    REQUIRE(wait(selection));
    CHECK(selection.shown() == resent);
    selection.undoFilter();
    CHECK(selection.shown() == session.packets());
    CHECK_FALSE(selection.canUndoFilter());
    selection.redoFilter();
    selection.redoFilter();
    REQUIRE(wait(selection));
    CHECK(selection.shown() == loaded);
    CHECK_FALSE(selection.canRedoFilter());
}

TEST_CASE("a filter that stands while a capture is read has all its hits in the end") {
    needApplication();
    Session session(2);
    Selection selection(session);
    REQUIRE(selection.applyFilter(QStringLiteral("rdma.retransmission")));
    session.open({kLossy, kLossy, kLossy});
    REQUIRE(wait(session));
    REQUIRE(wait(selection));
    CHECK(selection.shown() == counted(session, qps::transport::Mark::retransmission));
}

TEST_CASE("a filter by connection, and what is selected, follow a flow that was paired late") {
    needApplication();
    const qps::test::TemporaryFolder folder;
    const std::string late = folder.file("late.pcap"), pipe = folder.fifo("pipe");
    qps::tests::write_late_pairs(late);
    std::thread writer([&] {
        const int end = ::open(pipe.c_str(), O_WRONLY);
        qps::test::write_all(end, qps::test::read_file(late));
        while (!std::filesystem::exists(folder.file("over"))) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ::close(end);
    });
    Session session(2);
    Selection selection(session);
    session.capture(QString::fromStdString(pipe), QStringLiteral("a pipe"));
    CHECK(QTest::qWaitFor([&] { return session.packets() == qps::tests::kLatePackets; }, kPatience));
    REQUIRE(selection.applyFilter(QStringLiteral("rdma.connection == 3")));
    REQUIRE(wait(selection));
    CHECK(selection.shown() != 0);
    selection.selectConnection(ConnectionId{3});
    static_cast<void>(folder.write("over", {}));
    writer.join();
    REQUIRE(wait(session));
    REQUIRE(wait(selection));
    CHECK(selection.shown() == 0);
    REQUIRE(selection.connection());
    CHECK(session.timeline()->find(*selection.connection()) != nullptr);
}

TEST_CASE("a time range narrows what is shown, with and without a filter") {
    needApplication();
    Session session(2);
    Selection selection(session);
    session.open({kLossy});
    REQUIRE(wait(session));
    const auto at = [&](std::uint64_t frame) { return session.index()->row(FrameIndex{frame}).time(); };
    selection.setRange(TimeRange{at(200), at(100)});  // the wrong way round
    REQUIRE(selection.range().has_value());
    CHECK(selection.range()->from == at(100));
    REQUIRE(wait(selection));
    CHECK(selection.shown() >= 101);
    CHECK(selection.shown() < session.packets());
    CHECK(selection.isShown(FrameIndex{150}));
    CHECK_FALSE(selection.isShown(FrameIndex{session.packets()}));
    selection.setRange(std::nullopt);
    CHECK(selection.shown() == session.packets());
}

TEST_CASE("packets selected before are gone back to, and a packet selects its connection") {
    needApplication();
    Session session(2);
    Selection selection(session);
    session.open({kLossy});
    REQUIRE(wait(session));
    std::uint64_t of = 1;
    while (!session.index()->row(FrameIndex{of}).connection()) ++of;
    selection.selectPacket(FrameIndex{of});
    CHECK(selection.connection() == session.index()->row(FrameIndex{of}).connection());
    selection.selectPacket(FrameIndex{of + 5});
    selection.selectPacket(FrameIndex{session.packets() + 1});  // is not there
    CHECK(selection.packet() == FrameIndex{of + 5});
    selection.back();
    CHECK(selection.packet() == FrameIndex{of});
    selection.back();
    CHECK(selection.packet() == FrameIndex{of});
    selection.forward();
    CHECK(selection.packet() == FrameIndex{of + 5});
    selection.setMarked(FrameIndex{3}, true);
    CHECK(selection.marks().size() == 1);
    session.reload();
    CHECK_FALSE(selection.packet().has_value());
    CHECK(selection.marks().size() == 1);  // the same files: packet 3 is packet 3
    CHECK(selection.marks().contains(FrameIndex{3}));
    session.open({kLossy});  // asked for anew, it is another capture
    CHECK(selection.marks().size() == 0);
}

TEST_CASE("a session reads files of two taps a second time, and follows one of them") {
    needApplication();
    const QString file = QStringLiteral(QPSCOPE_SOURCE_DIR "/captures/write_8k/capture.pcap");
    Session once(1), twice(1);
    once.open({file});
    REQUIRE(wait(once));
    QSignalSpy opened(&twice, &Session::opened);
    twice.open({file, file},
               {.byTime = false,
                .offsets = {qps::dissect::Duration{}, qps::dissect::Duration{3'000}}});  // the clock of another tap
    REQUIRE(wait(twice));
    CHECK(twice.state() == Session::State::Done);
    CHECK(opened.count() == 2);
    CHECK(twice.problems().isEmpty());
    CHECK(twice.packets() == 2 * once.packets());
    CHECK(twice.timeline()->quality.left_out == once.packets() - 1);  // ICMPv6 may be of either tap
    CHECK(twice.timeline()->totals.retransmitted_packets == once.timeline()->totals.retransmitted_packets);
    CHECK(twice.timeline()->findings.size() == once.timeline()->findings.size() + 1);  // capture-duplicates
    // By the same clock it is the same recording: what both files have counts once.
    Session same(1);
    same.open({file, file});
    REQUIRE(wait(same));
    CHECK(same.packets() == once.packets());
    CHECK(same.timeline()->findings.size() == once.timeline()->findings.size());
}
