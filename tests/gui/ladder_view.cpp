// The ladder view on captures of the real kind, driven by keys and clicks.
#include <dissect/capture/writer.hpp>
#include <dissect/packet/build.hpp>
#include <gui/pictures/ladder_picture.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <tests/gui/application.hpp>
#include <tests/gui/pictures.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <QFile>
#include <QImage>
#include <QScrollBar>
#include <QTest>
#include <set>

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::FrameIndex;
using qps::transport::ConnectionId;

namespace {

const QString kLossWrite = QStringLiteral(QPSCOPE_SOURCE_DIR "/captures/loss_write/capture.pcap");

struct ShownLadder {
    Session session{1};
    Selection selection{session};
    LadderView view{session, selection};
    explicit ShownLadder(const QString& capture) {
        view.resize(800, 500);
        view.show();
        if (capture.isEmpty()) return;
        session.open({capture});
        REQUIRE(QTest::qWaitFor([this] { return session.state() == Session::State::Done; }, 20'000));
    }
    void choose(std::uint32_t connection) {
        selection.selectConnection(ConnectionId{connection});
        REQUIRE(QTest::qWaitFor([this] { return !view.ladder().lines.empty(); }, 20'000));
    }
    void press(Qt::Key key, Qt::KeyboardModifiers with = Qt::NoModifier) { QTest::keyClick(&view, key, with); }
    [[nodiscard]] FrameIndex current() const {
        REQUIRE(view.currentLine());
        return view.ladder().lines.at(*view.currentLine()).frame;
    }
    void click(const QPointF& point) { QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, point.toPoint()); }
    [[nodiscard]] bool inSight(std::size_t line) const {
        const double y = view.arrowOf(line).y1();
        return 0 < y && y < view.viewport()->height();
    }
};

// SENDs of one packet, 10 us apart; an ACK 5 us after each.
void write_sends(const std::string& path, std::uint32_t messages) {
    using namespace qps::dissect;
    auto writer = CaptureWriter::open(path, WriterFormat::pcap);
    REQUIRE(writer);
    const auto add = [&](const PacketSpec& spec, std::int64_t time) {
        const std::vector<std::byte> bytes = build(spec);
        Frame frame = frame_of(spec, bytes);
        frame.time = Instant{time};
        frame.has_time = true;
        REQUIRE(writer->write(frame));
    };
    PacketSpec send = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
    send.payload.resize(64);
    PacketSpec ack = transport_packet(Opcode::rc_acknowledge, Network::roce_v2_ipv4);
    set(send, "ip.src", 0x0a000001);
    set(send, "ip.dst", 0x0a000002);
    set(send, "infiniband.bth.destqp", 17);
    set(send, "infiniband.bth.a", 1);
    set(ack, "ip.src", 0x0a000002);
    set(ack, "ip.dst", 0x0a000001);
    set(ack, "infiniband.bth.destqp", 18);
    for (std::uint32_t i = 0; i < messages; ++i) {
        set(send, "infiniband.bth.psn", 100 + i);
        set(ack, "infiniband.bth.psn", 100 + i);
        set(ack, "infiniband.aeth.msn", i + 1);
        add(send, 10'000 * std::int64_t{i});
        add(ack, 10'000 * std::int64_t{i} + 5000);
    }
    REQUIRE(writer->close());
}

}  // namespace

TEST_CASE("A ladder of nothing says what to do", "[gui][ladder]") {
    needApplication();
    const ShownLadder nothing({});
    CHECK(nothing.view.emptyReason() == QStringLiteral("No capture open."));
    ShownLadder open(kLossWrite);
    if (!open.selection.connection()) CHECK(open.view.emptyReason().startsWith(QStringLiteral("Select a connection")));
    open.choose(1);
    CHECK(open.view.emptyReason().isEmpty());
    open.session.close();
    CHECK(open.view.ladder().lines.empty());
    CHECK_FALSE(open.view.emptyReason().isEmpty());
}

TEST_CASE("Keys walk the lines, and the packet that is selected goes with them", "[gui][ladder]") {
    needApplication();
    ShownLadder shown(kLossWrite);
    shown.choose(1);
    shown.press(Qt::Key_Down);
    CHECK(shown.current() == shown.view.ladder().lines.front().frame);
    shown.press(Qt::Key_Down);
    CHECK(shown.selection.packet() == shown.view.ladder().lines.at(1).frame);
    for (int i = 0; i < 60; ++i) shown.press(Qt::Key_Down);
    CHECK(shown.current() == shown.view.ladder().lines.at(61).frame);
    CHECK(shown.inSight(61));
    CHECK_FALSE(shown.inSight(0));
    shown.press(Qt::Key_Home);
    CHECK(shown.inSight(0));
    shown.press(Qt::Key_PageDown);
    CHECK_FALSE(shown.inSight(0));
    shown.press(Qt::Key_End);
    CHECK(shown.inSight(shown.view.ladder().lines.size() - 1));
}

TEST_CASE("A message opens to its packets and closes again", "[gui][ladder]") {
    needApplication();
    ShownLadder shown(kLossWrite);
    shown.choose(1);
    const std::size_t before = shown.view.ladder().lines.size();
    shown.press(Qt::Key_Down);
    const FrameIndex frame = shown.current();
    shown.press(Qt::Key_Return);
    const std::size_t opened = shown.view.ladder().lines.size();
    CHECK(opened > before);
    CHECK(shown.current() == frame);
    CHECK(shown.view.ladder().lines.at(*shown.view.currentLine()).heading);
    shown.press(Qt::Key_Plus);
    CHECK(shown.view.ladder().lines.size() == opened);
    shown.press(Qt::Key_Minus);
    CHECK(shown.view.ladder().lines.size() == before);
    QTest::mouseDClick(shown.view.viewport(), Qt::LeftButton, {}, shown.view.arrowOf(0).center().toPoint());
    CHECK(shown.view.ladder().lines.size() == opened);
}

TEST_CASE("A click selects the packet, a packet selected elsewhere is shown", "[gui][ladder]") {
    needApplication();
    ShownLadder shown(kLossWrite);
    shown.choose(1);
    shown.click(shown.view.arrowOf(0).center());
    CHECK(shown.selection.packet() == shown.view.ladder().lines[0].frame);
    const std::size_t last = shown.view.ladder().lines.size() - 1;
    shown.selection.selectPacket(shown.view.ladder().lines[last].frame);
    CHECK(shown.view.currentLine() == last);
    CHECK(shown.inSight(last));
}

TEST_CASE("Zoom stretches time and keeps what is under the pointer", "[gui][ladder]") {
    needApplication();
    ShownLadder shown(kLossWrite);
    shown.choose(1);
    const auto length = [&] { return shown.view.arrowOf(0).dy(); };
    const double before = length();
    for (int i = 0; i < 5; ++i) shown.press(Qt::Key_Plus, Qt::ControlModifier);
    CHECK(length() > 1.5 * before);
    shown.press(Qt::Key_0, Qt::ControlModifier);
    CHECK(length() == Approx(before));
    for (int i = 0; i < 200; ++i) shown.press(Qt::Key_Minus, Qt::ControlModifier);
    for (std::size_t i = 1; i < shown.view.ladder().lines.size(); ++i)
        REQUIRE(shown.view.arrowOf(i).y1() > shown.view.arrowOf(i - 1).y1());  // labels still do not overlap
}

TEST_CASE("The picture of a ladder has its colours, its table all of its lines", "[gui][ladder]") {
    needApplication();
    ShownLadder shown(kLossWrite);
    shown.choose(1);
    QImage image(800, 500, QImage::Format_RGB32);
    QPainter painter(&image);
    shown.view.paint(painter, QRectF(image.rect()));
    painter.end();
    std::set<QRgb> colours;
    for (int y = 0; y < image.height(); ++y) colours.insert(image.pixel(400, y));
    CHECK(colours.size() > 3);
    const QString table = shown.view.csv();
    CHECK(table.startsWith(QStringLiteral("time,end time,from,to,first packet,last packet,label\n")));
    CHECK(static_cast<std::size_t>(table.count(u'\n')) == shown.view.ladder().lines.size() + 1);
    CHECK(table.contains(QStringLiteral(",\"NAK, PSN sequence error, PSN ")));
}

TEST_CASE("A ladder is saved as a picture and as a table, in light and dark", "[gui][ladder]") {
    needApplication();
    Session session(1);
    Selection selection(session);
    LadderPicture picture(session, selection);
    picture.resize(800, 500);
    session.open({kLossWrite});
    selection.selectConnection(ConnectionId{1});
    REQUIRE(QTest::qWaitFor([&] { return session.state() == Session::State::Done; }, 20'000));
    CHECK(picture.view().ladder().lines.empty());  // nobody sees it
    picture.show();
    selection.selectConnection(ConnectionId{1});
    REQUIRE(QTest::qWaitFor([&] { return !picture.view().ladder().lines.empty(); }, 20'000));
    const std::size_t before = picture.view().ladder().lines.size();
    picture.view().openAll();
    CHECK(picture.view().ladder().lines.size() > before);
    inBothLooks(picture, "ladder_open", [](const QImage& image) { CHECK_FALSE(image.isNull()); });
    picture.view().closeAll();
    CHECK(picture.view().ladder().lines.size() == before);
    inBothLooks(picture, "ladder", [](const QImage& image) { CHECK_FALSE(image.isNull()); });

    const qps::test::TemporaryFolder folder;
    const auto path = [&](const char* name) { return QString::fromStdString(folder.file(name)); };
    REQUIRE_FALSE(picture.savePng(path("ladder.png"), 2));
    CHECK(QImage(path("ladder.png")).width() == 2 * picture.view().viewport()->width());
    REQUIRE_FALSE(picture.saveSvg(path("ladder.svg")));
    QFile svg(path("ladder.svg"));
    REQUIRE(svg.open(QIODevice::ReadOnly));
    CHECK(svg.readAll().contains("RDMA WRITE, 16 KiB"));
    REQUIRE_FALSE(picture.saveCsv(path("ladder.csv")));
    QFile csv(path("ladder.csv"));
    REQUIRE(csv.open(QIODevice::ReadOnly));
    CHECK(QString::fromUtf8(csv.readAll()) == picture.view().csv());
}

TEST_CASE("Of many messages those in sight and some around them are drawn up", "[gui][ladder]") {
    needApplication();
    constexpr std::uint32_t kMessages = 3000;
    const qps::test::TemporaryFolder folder;
    const std::string path = folder.file("sends.pcap");
    write_sends(path, kMessages);
    ShownLadder shown(QString::fromStdString(path));
    shown.choose(1);
    const auto& lines = shown.view.ladder().lines;
    const auto whole = [&] {  // every message with its answer, in order, a line of text apart
        REQUIRE(lines.size() % 2 == 0);
        for (std::size_t i = 2; i < lines.size(); i += 2) {
            REQUIRE(std::to_underlying(lines[i].frame) == std::to_underlying(lines[i - 2].frame) + 2);
            REQUIRE(shown.view.arrowOf(i).y1() > shown.view.arrowOf(i - 1).y1());
        }
        return lines.size() <= 2 * (LadderWindow::kBefore + LadderWindow::kAfter);
    };
    CHECK(whole());
    CHECK(shown.view.verticalScrollBar()->maximum() == kMessages - 1);

    SECTION("paging goes through all of them, without a jump") {
        const auto firstInSight = [&] {
            std::size_t line = 0;
            while (!shown.inSight(line)) ++line;
            return lines.at(line).frame;
        };
        int pages = 0;
        for (FrameIndex last{}; firstInSight() > last; ++pages) {
            last = firstInSight();
            const double before = shown.view.arrowOf(0).y1();
            const FrameIndex first = lines.front().frame;
            shown.press(Qt::Key_PageDown);
            REQUIRE(whole());
            if (lines.front().frame == first) CHECK(before - shown.view.arrowOf(0).y1() < shown.view.height());
        }
        CHECK(pages > 100);
        CHECK(lines.back().frame == FrameIndex{2 * kMessages});
        CHECK(shown.inSight(lines.size() - 1));
        for (int i = 0; i < pages + 5; ++i) shown.press(Qt::Key_PageUp);
        CHECK(firstInSight() == FrameIndex{1});
    }
    SECTION("to the end and back at once") {
        shown.press(Qt::Key_End);
        CHECK(lines.back().frame == FrameIndex{2 * kMessages});
        CHECK(shown.inSight(lines.size() - 1));
        CHECK(shown.view.verticalScrollBar()->value() == shown.view.verticalScrollBar()->maximum());
        shown.press(Qt::Key_Home);
        CHECK(lines.front().frame == FrameIndex{1});
        CHECK(shown.inSight(0));
    }
    SECTION("the scroll bar counts messages") {
        shown.view.verticalScrollBar()->setValue(1500);
        CHECK(whole());
        CHECK(shown.view.verticalScrollBar()->value() == 1500);
        std::size_t line = 0;
        while (lines.at(line).frame != FrameIndex{3001}) ++line;
        CHECK(shown.inSight(line));
    }
    SECTION("a packet far away is found") {
        shown.selection.selectPacket(FrameIndex{4000});
        REQUIRE(shown.view.currentLine());
        CHECK(shown.current() == FrameIndex{4000});
        CHECK(shown.inSight(*shown.view.currentLine()));
        CHECK(whole());
    }
    SECTION("keys walk over the ends of what is drawn up") {
        for (int i = 0; i < 900; ++i) shown.press(Qt::Key_Down);
        CHECK(shown.current() == FrameIndex{900});
        CHECK(shown.inSight(*shown.view.currentLine()));
        CHECK(whole());
    }
}
