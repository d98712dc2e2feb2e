// The filter of the window: typed from anywhere, wrong, applied, counted, undone; and time ranges that narrow as
// filters do.
#include <gui/filter/filter_bar.hpp>
#include <gui/filter/filter_line.hpp>
#include <gui/pictures/psn_picture.hpp>
#include <gui/pictures/throughput_picture.hpp>
#include <gui/session/filtering.hpp>
#include <gui/tables/connections_view.hpp>
#include <gui/tables/table_view.hpp>
#include <tests/gui/window.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QCheckBox>
#include <QToolButton>
#include <QTreeView>
#include <QWheelEvent>
#include <atomic>
#include <thread>

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::FrameIndex;

namespace {

FilterLine& lineOf(OpenWindow& opened) { return *opened.window.filterBar().findChild<FilterLine*>(); }

void wheel(Plot& plot, int notches) {
    const QPointF at = plot.layoutNow().panels.front().area.center();
    QWheelEvent event(at, plot.mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                      false);
    QApplication::sendEvent(&plot, &event);
}

// From one share of the width of a picture to another.
void drag(Plot& plot, Qt::KeyboardModifiers modifiers, double from, double to) {
    const QRectF area = plot.layoutNow().panels.front().area;
    const auto at = [&](double share) { return QPointF(area.left() + area.width() * share, area.center().y()); };
    const auto send = [&](QEvent::Type type, QPointF where, Qt::MouseButton button, Qt::MouseButtons buttons) {
        QMouseEvent event(type, where, plot.mapToGlobal(where), button, buttons, modifiers);
        QApplication::sendEvent(&plot, &event);
    };
    send(QEvent::MouseButtonPress, at(from), Qt::LeftButton, Qt::LeftButton);
    for (int step = 1; step <= 10; ++step)
        send(QEvent::MouseMove, at(from + (to - from) * step / 10), Qt::NoButton, Qt::LeftButton);
    send(QEvent::MouseButtonRelease, at(to), Qt::LeftButton, Qt::NoButton);
    QApplication::processEvents();
}

template <class Picture> Plot& shownPlot(OpenWindow& opened, const char* id) {
    REQUIRE(opened.window.showView(QLatin1String(id)));
    auto& picture = opened.view<Picture>();
    REQUIRE(QTest::qWaitFor([&] { return picture.settled() && !picture.plot().data().empty(); }, kPatience));
    return picture.plot();
}

}  // namespace

TEST_CASE("a filter is made by a worker, and who stops it does not wait for it") {
    needApplication();
    const auto read = readSample("loss_write");
    const std::uint64_t packets = read.index->packets.size();
    std::atomic<bool> elsewhere = false;
    Filtering filtering;
    filtering.start(
        read.index,
        [&, here = std::this_thread::get_id()](const std::function<bool()>&) {
            elsewhere = std::this_thread::get_id() != here;
            return std::optional(
                qps::transport::RowFilter(read.index, *qps::dissect::Filter::compile("frame.number < 11"), {}));
        },
        packets);
    CHECK(filtering.running());
    REQUIRE(QTest::qWaitFor([&] { return !filtering.running(); }, kPatience));
    CHECK(elsewhere);
    CHECK(filtering.hits().size() == 10);

    // One that never comes to an end by itself.
    std::atomic<bool> begun = false, ended = false;
    filtering.start(
        read.index,
        [&](const std::function<bool()>& stop) -> std::optional<qps::transport::RowFilter> {
            begun = true;
            while (!stop()) std::this_thread::yield();
            ended = true;
            return std::nullopt;
        },
        packets);
    REQUIRE(QTest::qWaitFor([&] { return begun.load(); }, kPatience));
    CHECK(filtering.running());
    filtering.stop();
    CHECK(ended);
    CHECK_FALSE(filtering.running());
    CHECK(filtering.hits().size() == 0);
}

TEST_CASE("window: typing anywhere begins a filter, Enter applies it, and its hits are counted") {
    const char* view = GENERATE("summary", "packets", "psn", "ladder");
    CAPTURE(view);
    OpenWindow opened("loss_write");
    REQUIRE(opened.window.showView(QLatin1String(view)));
    opened.type("ip.src == ");
    REQUIRE(opened.window.focusWidget() == &lineOf(opened));
    CHECK(lineOf(opened).text() == QStringLiteral("ip.src == "));
    CHECK(lineOf(opened).state() == FilterLine::State::Invalid);
    lineOf(opened).clear();
    opened.type("infiniband.bth.psn > 0");
    CHECK(lineOf(opened).state() == FilterLine::State::Valid);
    CHECK(opened.selection().filter().isEmpty());  // not before Enter
    opened.key(Qt::Key_Return);
    opened.settle();
    CHECK(opened.selection().filter() == QStringLiteral("infiniband.bth.psn > 0"));
    CHECK(lineOf(opened).state() == FilterLine::State::Applied);
    REQUIRE(opened.selection().hits() != nullptr);
    CHECK(opened.selection().shown() > 0);
    CHECK(opened.selection().shown() < opened.session().packets());
    CHECK(opened.counts().contains(QStringLiteral("%L1 displayed").arg(opened.selection().shown())));
    opened.key(Qt::Key_Slash, Qt::ControlModifier | Qt::ShiftModifier);
    opened.settle();
    CHECK(opened.selection().shown() == opened.session().packets());
    CHECK_FALSE(opened.counts().contains(QStringLiteral("displayed")));
}

TEST_CASE("window: a wrong filter tells the place, and is not applied") {
    OpenWindow opened("write_8k");
    opened.window.showView(QStringLiteral("packets"));
    opened.key(Qt::Key_Slash, Qt::ControlModifier);
    REQUIRE(opened.window.focusWidget() == &lineOf(opened));
    opened.type("infiniband.bth.pns == 1");
    opened.key(Qt::Key_Return);
    auto& mistake = *opened.window.findChild<QLabel*>(QStringLiteral("filterMistake"));
    CHECK(mistake.isVisible());
    CHECK(mistake.text().startsWith(QStringLiteral("Column 1:")));
    CHECK(heardName(mistake) == mistake.text());
    CHECK(mistake.text().contains(QStringLiteral("infiniband.bth.psn")));  // what was meant
    CHECK(opened.selection().filter().isEmpty());
    CHECK(opened.selection().hits() == nullptr);
    CHECK(lineOf(opened).text() == QStringLiteral("infiniband.bth.pns == 1"));  // to be mended
    // It lies over the view, which keeps its place.
    const QRect list = opened.view<PacketsView>().geometry();
    opened.type("x");
    CHECK(opened.view<PacketsView>().geometry() == list);
    opened.key(Qt::Key_Escape);
    opened.key(Qt::Key_Escape);
    CHECK(lineOf(opened).text() == QStringLiteral("infiniband.bth.pns == 1x"));  // Esc leaves it, and deletes nothing
    CHECK_FALSE(lineOf(opened).hasFocus());
    CHECK_FALSE(mistake.isVisible());
}

TEST_CASE("window: a filter typed where the packets have the keyboard is whole, whatever letter it begins with") {
    OpenWindow opened("read_8k");
    opened.window.showView(QStringLiteral("packets"));
    opened.selection().selectPacket(FrameIndex{20});
    // One that begins with, and has in it, every letter that was a key of its own.
    const char* text = GENERATE("rdma.connection == 1", "frame.number == 20", "qpscope", "infiniband.bth.destqp > 0");
    CAPTURE(text);
    auto& packets = opened.view<PacketsView>();
    SECTION("the list") { packets.list().setFocus(); }
    SECTION("the fields") { packets.panes().tree().setFocus(); }
    SECTION("the bytes") { packets.panes().bytes().setFocus(); }
    opened.type(text);
    CHECK(lineOf(opened).text() == QString::fromUtf8(text));
    CHECK(opened.packet() == 20);
    CHECK(opened.selection().filter().isEmpty());
}

TEST_CASE("window: no letter alone is a key of the window") {
    OpenWindow opened;
    for (const ActionRow& row : actionRows())
        for (const QKeySequence& key : opened.window.action(row.id)->shortcuts()) {
            CAPTURE(row.text, key.toString().toStdString());
            CHECK((key[0].keyboardModifiers() != Qt::NoModifier || key[0].key() >= Qt::Key_Escape));
        }
}

TEST_CASE("window: filters are undone and done again, by keys and buttons") {
    OpenWindow opened("loss_write");
    opened.window.showView(QStringLiteral("packets"));
    const QStringList filters{QStringLiteral("infiniband"), QStringLiteral("rdma.retransmission"),
                              QStringLiteral("infiniband.aeth")};
    for (const QString& filter : filters) REQUIRE(opened.selection().applyFilter(filter));
    opened.settle();
    opened.key(Qt::Key_Up, Qt::AltModifier);
    CHECK(opened.selection().filter() == filters[1]);
    CHECK(lineOf(opened).text() == filters[1]);
    opened.key(Qt::Key_Up, Qt::AltModifier);
    opened.key(Qt::Key_Up, Qt::AltModifier);
    CHECK(opened.selection().filter().isEmpty());
    opened.key(Qt::Key_Up, Qt::AltModifier);
    CHECK_FALSE(opened.window.action(ActionId::UndoFilter)->isEnabled());
    opened.key(Qt::Key_Down, Qt::AltModifier);
    CHECK(opened.selection().filter() == filters[0]);
    QTest::mouseClick(&opened.named<QToolButton>("Next display filter (Alt+Down)"), Qt::LeftButton);
    CHECK(opened.selection().filter() == filters[1]);
    QTest::mouseClick(&opened.named<QToolButton>("Previous display filter (Alt+Up)"), Qt::LeftButton);
    CHECK(opened.selection().filter() == filters[0]);
    QTest::mouseClick(&opened.named<QToolButton>("Clear the display filter (Ctrl+Shift+/)"), Qt::LeftButton);
    CHECK(opened.selection().filter().isEmpty());
}

TEST_CASE("window: names are offered while a filter is typed, and taken by Tab or Enter") {
    const Qt::Key taking = GENERATE(Qt::Key_Tab, Qt::Key_Return);
    OpenWindow opened("write_8k");
    opened.key(Qt::Key_Slash, Qt::ControlModifier);
    opened.type("infiniband.bth.ps");
    REQUIRE(lineOf(opened).offering());
    opened.key(Qt::Key_Down);
    opened.key(taking);
    CHECK(lineOf(opened).text() == QStringLiteral("infiniband.bth.psn "));
    CHECK(opened.window.focusWidget() == &lineOf(opened));
    opened.type("> 0");
    opened.key(Qt::Key_Return);
    CHECK(opened.selection().filter() == QStringLiteral("infiniband.bth.psn > 0"));
    opened.key(Qt::Key_Tab);  // nothing is offered any more: it moves on
    CHECK(opened.window.focusWidget() != &lineOf(opened));
}

TEST_CASE("window: the wheel zooms a picture, 0 shows all of it again") {
    OpenWindow opened("loss_write");
    opened.selection().selectConnection(opened.session().timeline()->connections.front().uid);
    Plot& plot = shownPlot<PsnPicture>(opened, "psn");
    const Viewport all = plot.view();
    wheel(plot, 2);
    const auto length = [&] { return plot.view().time.to - plot.view().time.from; };
    CHECK(length() < (all.time.to - all.time.from) / 2);
    const auto once = length();
    wheel(plot, -1);
    CHECK(length() > once);
    opened.key(Qt::Key_0);
    CHECK(plot.view().time == all.time);
    opened.key(Qt::Key_Plus);
    CHECK(length() < all.time.to - all.time.from);
    opened.key(Qt::Key_Backspace);
    CHECK(plot.view().time == all.time);
}

TEST_CASE("window: a range brushed in a picture narrows packets and tables, and goes again") {
    OpenWindow opened("multi_qp");
    REQUIRE(opened.window.showView(QStringLiteral("connections")));
    TableView& table = *opened.view<ConnectionsView>().findChild<TableView*>();
    table.findChild<QCheckBox*>()->setChecked(true);
    const int rows = table.model().rowCount();
    REQUIRE(rows > 1);
    Plot& plot = shownPlot<ThroughputPicture>(opened, "throughput");
    drag(plot, Qt::ControlModifier, 0.0, 0.02);
    REQUIRE(opened.selection().range());
    opened.settle();
    CHECK(opened.selection().shown() > 0);
    CHECK(opened.selection().shown() < opened.session().packets());
    CHECK(opened.counts().contains(QStringLiteral("displayed")));
    opened.window.showView(QStringLiteral("packets"));
    CHECK(opened.view<PacketsView>().list().geometryOfRows().rows == opened.selection().shown());
    opened.window.showView(QStringLiteral("connections"));
    CHECK(QTest::qWaitFor([&] { return table.model().rowCount() < rows; }, kPatience));

    SECTION("by Esc, in the picture") {
        opened.window.showView(QStringLiteral("throughput"));
        opened.key(Qt::Key_Escape);
    }
    SECTION("by Esc, in the list") {
        opened.window.showView(QStringLiteral("packets"));
        opened.key(Qt::Key_Escape);
    }
    SECTION("by Ctrl+Alt+R, anywhere") { opened.key(Qt::Key_R, Qt::ControlModifier | Qt::AltModifier); }
    CHECK_FALSE(opened.selection().range());
    opened.window.showView(QStringLiteral("connections"));
    CHECK(QTest::qWaitFor([&] { return table.model().rowCount() == rows; }, kPatience));
    CHECK(opened.selection().shown() == opened.session().packets());
}
