// The ladder view on captures of the real kind, driven by keys and clicks.
#include <gui/pictures/ladder_view.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <tests/gui/application.hpp>
#include <tests/support/catch.hpp>

#include <QFile>
#include <QImage>
#include <QScrollBar>
#include <QTest>
#include <set>

using namespace qps::gui;
using qps::dissect::FrameIndex;
using qps::transport::ConnectionId;

namespace {

struct Shown {
    Session session{1};
    Selection selection{session};
    LadderView view{session, selection};
    explicit Shown(const char* capture) {
        view.resize(800, 500);
        view.show();
        if (*capture == '\0') return;
        session.open({QStringLiteral(QPSCOPE_SOURCE_DIR "/captures/") + QString::fromLatin1(capture) + QStringLiteral("/capture.pcap")});
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

}  // namespace

TEST_CASE("A ladder of nothing says what to do", "[gui][ladder]") {
    tests::needApplication();
    const Shown nothing("");
    CHECK(nothing.view.emptyReason() == QStringLiteral("No capture is open."));
    Shown open("loss_write");
    if (!open.selection.connection()) CHECK(open.view.emptyReason().startsWith(QStringLiteral("Choose a connection")));
    open.choose(1);
    CHECK(open.view.emptyReason().isEmpty());
    open.session.close();
    CHECK(open.view.ladder().lines.empty());
    CHECK_FALSE(open.view.emptyReason().isEmpty());
}

TEST_CASE("Keys walk the lines, and the packet that is selected goes with them", "[gui][ladder]") {
    tests::needApplication();
    Shown shown("loss_write");
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
    tests::needApplication();
    Shown shown("loss_write");
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
    tests::needApplication();
    Shown shown("loss_write");
    shown.choose(1);
    shown.click(shown.view.arrowOf(0).center());
    CHECK(shown.selection.packet() == shown.view.ladder().lines[0].frame);
    const std::size_t last = shown.view.ladder().lines.size() - 1;
    shown.selection.selectPacket(shown.view.ladder().lines[last].frame);
    CHECK(shown.view.currentLine() == last);
    CHECK(shown.inSight(last));
}

TEST_CASE("Zoom stretches time and keeps what is under the pointer", "[gui][ladder]") {
    tests::needApplication();
    Shown shown("loss_write");
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
    tests::needApplication();
    Shown shown("loss_write");
    shown.choose(1);
    QImage image(800, 500, QImage::Format_RGB32);
    QPainter painter(&image);
    shown.view.paintPicture(painter, QRectF(image.rect()));
    painter.end();
    std::set<QRgb> colours;
    for (int y = 0; y < image.height(); ++y) colours.insert(image.pixel(400, y));
    CHECK(colours.size() > 3);
    const QString table = shown.view.csv();
    CHECK(table.startsWith(QStringLiteral("time,end time,from,to,first packet,last packet,label\n")));
    CHECK(static_cast<std::size_t>(table.count(u'\n')) == shown.view.ladder().lines.size() + 1);
    CHECK(table.contains(QStringLiteral(",\"NAK, psn sequence error, PSN ")));
}
