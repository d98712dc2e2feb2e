// Pictures whose rows have names (the waterfall, ranks), whose marks have sizes, or whose values stand on others (where
// time went, incast), and the strip of losses.
#include <gui/hosts/heat_map.hpp>
#include <gui/hosts/hosts_view.hpp>
#include <gui/pictures/heat_picture.hpp>
#include <gui/pictures/incast_picture.hpp>
#include <gui/pictures/latency_picture.hpp>
#include <gui/pictures/losses_picture.hpp>
#include <gui/pictures/operations_picture.hpp>
#include <gui/pictures/plot_csv.hpp>
#include <gui/pictures/ranks_picture.hpp>
#include <gui/pictures/waterfall_picture.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/model/collective_report.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <QAction>
#include <QBuffer>
#include <QComboBox>
#include <QSignalSpy>
#include <QTest>

#include "application.hpp"
#include "looking.hpp"
#include "pictures.hpp"

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::Duration;
using qps::dissect::FrameIndex;
using qps::dissect::Instant;
namespace series = qps::transport::series;

namespace {

QString sampleIn(const char* name) {
    return QStringLiteral(QPSCOPE_SOURCE_DIR "/captures/") + QLatin1String(name) + QStringLiteral("/capture.pcap");
}

template <class Shown> struct OpenPicture : WithApplication {
    explicit OpenPicture(const char* name) {
        session.open({sampleIn(name)});
        REQUIRE(QTest::qWaitFor([this] { return session.state() == Session::State::Done; }, kPatience));
        picture.resize(1000, 640);
        picture.show();
        if constexpr (requires { picture.settled(); })
            REQUIRE(QTest::qWaitFor([this] { return picture.settled(); }, kPatience));
    }
    // Drawn, so that what depends on the zoom is there.
    const Panel& panel(std::size_t number) {
        REQUIRE_FALSE(picture.grab().isNull());
        REQUIRE(number < picture.plot().data().panels.size());
        return picture.plot().data().panels[number];
    }
    const Layer& layer(std::size_t number, const char* name) {
        for (const Layer& one : panel(number).layers)
            if (one.name == QLatin1String(name)) return one;
        FAIL("no layer " << name << " but " << panel(number).layers[0].name.toStdString());
        std::abort();
    }
    Session session;
    Selection selection{session};
    Shown picture{session, selection};
};

PlotData rowsPlot() {
    PlotData data;
    data.whole = data.home = {0, 1000};
    Panel panel;
    panel.title = QStringLiteral("Messages");
    panel.rows = {QStringLiteral("first"), QStringLiteral("second")};
    const auto spans = [](std::vector<Band> all) { return std::make_shared<const Bands>(std::move(all)); };
    panel.layers.push_back(
        {.name = QStringLiteral("request"),
         .shape = Shape::Spans,
         .bands = spans({{Instant{0}, Instant{900}, FrameIndex{1}, QStringLiteral("900 ns"), 0},
                         {Instant{400}, Instant{600}, FrameIndex{3}, QStringLiteral("200 ns"), 1}})});
    panel.layers.push_back(
        {.name = QStringLiteral("wait"),
         .shape = Shape::Spans,
         .bands = spans({{Instant{100}, Instant{200}, FrameIndex{2}, QStringLiteral("100 ns"), 0}})});
    data.panels.push_back(std::move(panel));
    return data;
}

}  // namespace

TEST_CASE("spans lie in their rows, which the axis names, and are found there", "[pictures]") {
    needApplication();
    const PlotData data = rowsPlot();
    const PlotLayout layout = layOut(data, {data.whole, {{}}}, {}, QRectF(0, 0, 900, 400), QFontMetricsF(QFont()));
    const PanelBox& box = layout.panels[0];
    REQUIRE(box.ticks.size() == 2);
    CHECK(box.ticks[0].label == QStringLiteral("first"));
    CHECK(box.scale.pixel(box.ticks[0].value) == Approx(box.rowOf(0).center().y()));
    CHECK(box.rowOf(0).bottom() < box.rowOf(1).top());
    const auto at = [&](std::int64_t time, std::size_t row) {
        return hitAt(data, layout, {}, QPointF(layout.time.pixel(time), box.rowOf(row).center().y()), 8);
    };
    REQUIRE(at(150, 0));
    CHECK(at(150, 0)->frame == FrameIndex{2});  // the shorter one lies over the longer
    CHECK(at(700, 0)->frame == FrameIndex{1});
    CHECK(at(500, 1)->frame == FrameIndex{3});
    CHECK_FALSE(at(800, 1));
    CHECK(describe(data, *at(150, 0)) == QStringLiteral("wait: 100 ns, at 100 ns, packet 2"));
    // Of more rows than there is room for, some have their names.
    PlotData many = rowsPlot();
    for (int i = 0; i < 500; ++i) many.panels[0].rows.push_back(QString::number(i));
    const PlotLayout full = layOut(many, {many.whole, {{}}}, {}, QRectF(0, 0, 900, 400), QFontMetricsF(QFont()));
    CHECK(full.panels[0].ticks.size() > 5);
    CHECK(full.panels[0].ticks.size() < 50);
}

TEST_CASE("what stands on others has its own value for pointers and CSV", "[pictures]") {
    PlotData data;
    Panel panel{.title = QStringLiteral("Rates")};
    const auto points = [](std::int64_t y) {
        return std::make_shared<const Points>(std::vector<series::Point>{{Instant{10}, y, {}}});
    };
    panel.layers.push_back(
        {.name = QStringLiteral("all"), .shape = Shape::Area, .points = points(50), .stacked = true});
    panel.layers.push_back(
        {.name = QStringLiteral("one"), .shape = Shape::Area, .points = points(20), .stacked = true});
    data.panels.push_back(std::move(panel));
    CHECK(ownValue(data.panels[0], 0, 0) == 30);
    CHECK(ownValue(data.panels[0], 1, 0) == 20);
    QBuffer buffer;
    REQUIRE(buffer.open(QIODevice::WriteOnly));
    writeCsv(buffer, data, {0, 100}, {});
    INFO(buffer.data().toStdString());
    CHECK(buffer.data().contains("Rates,all,0.000000010,,30,,,"));
    CHECK(buffer.data().contains("Rates,one,0.000000010,,20,,,"));
}

TEST_CASE("the waterfall begins at the slowest message, and has its parts", "[pictures]") {
    OpenPicture<WaterfallPicture> open("loss_write");
    const Panel& panel = open.panel(0);
    CHECK(panel.rows.size() <= kMostWaterfallRows);
    REQUIRE(panel.rows.size() > 5);
    CHECK(panel.rows[0].startsWith(QStringLiteral("WRITE 16 KiB")));
    const auto slowest = [&] {
        std::int64_t most = 0;
        const auto index = open.session.index();
        for (std::uint64_t i = 0; i < index->messages.size(); ++i) {
            const auto& message = index->messages[i];
            if (const auto answer = message.answer_frame())
                most = std::max(
                    most, std::to_underlying(index->row(*answer).time() - index->row(message.first_frame()).time()));
        }
        return most;
    }();
    const TimeSpan seen = open.picture.plot().view().time;
    CHECK(seen.length() >= static_cast<double>(slowest));
    CHECK(seen.length() < 1.2 * static_cast<double>(slowest));
    CHECK_FALSE(open.layer(0, "request").empty());
    CHECK_FALSE(open.layer(0, "wait").empty());
    CHECK_FALSE(open.layer(0, "retransmission").empty());
    CHECK_FALSE(open.layer(0, "responder").empty());
    CHECK(open.layer(0, "response").empty());  // of READs
    open.picture.plot().showAll();
    CHECK(open.panel(0).rows.size() == 40);
    inBothLooks(open.picture, "waterfall", [](const QImage& image) { CHECK_FALSE(image.isNull()); });
}

TEST_CASE("operations are points by verb and size, with where their time went", "[pictures]") {
    OpenPicture<OperationsPicture> open("nvme_rdma");
    const Panel& panel = open.panel(0);
    std::size_t points = 0;
    bool sized = false;
    for (const Layer& layer : panel.layers) {
        points += layer.points->points().size();
        REQUIRE(layer.sizes);
        CHECK(layer.sizes->size() == layer.points->points().size());
        sized = sized || std::ranges::count(*layer.sizes, std::uint8_t{0}) != std::ssize(*layer.sizes);
    }
    CHECK(points != 0);
    CHECK(points <= open.session.index()->operations.size());
    CHECK(sized);
    CHECK(open.layer(0, "nvme Read").shape == Shape::Marks);
    // The parts of a bin are no longer than its longest operation.
    const Panel& parts = open.panel(1);
    REQUIRE(parts.layers.size() == 3);
    for (std::size_t i = 0; i < parts.layers[0].points->points().size(); ++i)
        for (std::size_t part = 0; part < 3; ++part) CHECK(ownValue(parts, part, i) >= 0);
    inBothLooks(open.picture, "operation-latency", [](const QImage& image) { CHECK_FALSE(image.isNull()); });
}

TEST_CASE("incast shows its senders each upon the other", "[pictures]") {
    OpenPicture<IncastPicture> open("incast");
    const Panel& rates = open.panel(0);
    REQUIRE(rates.layers.size() == series::kMostIncastSenders);
    CHECK(rates.layers[0].name == QStringLiteral("11 other senders"));
    // The sum of all is what goes to the receiver; the top is never below what it stands on.
    for (std::size_t layer = 0; layer + 1 < rates.layers.size(); ++layer)
        for (std::size_t i = 0; i < rates.layers[layer].points->points().size(); ++i)
            REQUIRE(ownValue(rates, layer, i) >= 0);
    const Panel& events = open.panel(1);
    CHECK(events.lanes);
    CHECK(events.layers[0].name == QStringLiteral("CE marks"));
    inBothLooks(open.picture, "incast", [](const QImage& image) { CHECK_FALSE(image.isNull()); });
    OpenPicture<IncastPicture> none("write_8k");
    CHECK(none.picture.plot().data().empty());
}

TEST_CASE("hosts stand in the order of what is measured, and the selected pair stays", "[pictures]") {
    OpenPicture<HostsView> open("incast");
    auto& map = *open.picture.findChild<HeatMap*>();
    auto& measure = *open.picture.findChild<QComboBox*>();
    const auto first = [&] {
        map.setCurrent(QPoint(0, 0));
        return map.accessibleDescription().section(QLatin1Char(' '), 0, 0);
    };
    REQUIRE(QTest::qWaitFor([&] { return first() == QStringLiteral("10.20.0.100"); }, kPatience));  // the receiver
    map.setCurrent(QPoint(0, 3));
    const QString pair = map.accessibleDescription().section(QLatin1Char(':'), 0, 0);
    for (int at = 0; at < measure.count(); ++at) {
        measure.setCurrentIndex(at);
        CHECK(map.accessibleDescription().startsWith(pair));
    }
}

TEST_CASE("latencies of one connection lie behind those of the next", "[pictures]") {
    OpenPicture<LatencyPicture> open("multi_qp");
    const auto settled = [&] { REQUIRE(QTest::qWaitFor([&] { return open.picture.settled(); }, kPatience)); };
    const auto points = [&](bool behind) {
        std::size_t count = 0;
        for (const Layer& layer : open.panel(0).layers)
            if (layer.faint == behind) count += layer.points->points().size();
        return count;
    };
    open.selection.selectConnection(open.session.timeline()->connections[0].uid);
    open.picture.setOf(PlotPicture::Of::Connection);
    settled();
    const std::size_t first = points(false);
    REQUIRE(first > 0);
    QAction* compare = nullptr;
    for (QAction* action : open.picture.findChildren<QAction*>())
        if (action->text() == QStringLiteral("Compare")) compare = action;
    REQUIRE(compare != nullptr);
    compare->trigger();
    settled();
    open.selection.selectConnection(open.session.timeline()->connections[1].uid);
    settled();
    CHECK(points(true) == first);
    const std::string ends = qps::transport::ends_text(open.session.timeline()->connections[0]);
    CHECK(open.panel(0).layers.back().name.contains(QString::fromStdString(ends)));
    // The percentiles are of what is shown, not of what it is compared with.
    CHECK(open.panel(0).note.contains(QStringLiteral(" of %L1 messages").arg(points(false))));
    inBothLooks(open.picture, "latency_compared", [](const QImage& image) { CHECK_FALSE(image.isNull()); });
    // Behind another capture they stand at the same time since its start, and lead to no packet of it.
    open.session.open({sampleIn("loss_write")});
    REQUIRE(QTest::qWaitFor([&] { return open.session.state() == Session::State::Done; }, kPatience));
    open.picture.setOf(PlotPicture::Of::All);
    settled();
    REQUIRE(points(true) == first);
    const auto& kept = open.panel(0).layers.back().points->points();
    const PlotData& data = open.picture.plot().data();
    CHECK(std::ranges::all_of(
        kept, [&](const series::Point& point) { return point.frame == FrameIndex{} && point.time >= data.origin; }));
    compare->trigger();
    settled();
    CHECK(points(true) == 0);
}

TEST_CASE("shades of a heat map are steps of one, or of one factor", "[pictures]") {
    using Shades = std::vector<std::uint64_t>;
    CHECK(heatShades(1, 1) == Shades{1});
    CHECK(heatShades(1, 3) == Shades{1, 2, 3});
    CHECK(heatShades(1, 100'000) == Shades{1, 10, 100, 1000, 10'000});
    CHECK(heatShades(1, 7).size() <= kHeatShades);
    CHECK(heatShades(1'000, 32'000) == Shades{1000, 2000, 4000, 8000, 16'000});
    CHECK(heatShades(0, UINT64_MAX).size() <= kHeatShades);
}

TEST_CASE("the heat map has every retransmission in a cell of its connection", "[pictures]") {
    OpenPicture<HeatPicture> open("incast");
    const Panel& panel = open.panel(0);
    std::int64_t packets = 0;
    for (const Layer& layer : panel.layers)
        for (const Band& band : layer.bands->all()) {
            packets += band.value;
            REQUIRE(band.row < panel.rows.size());
            CHECK(layer.textOf(band).contains(panel.rows[band.row]));
        }
    const auto index = open.session.index();
    std::int64_t sent_again = 0;
    for (std::uint64_t i = 0; i < index->packets.size(); ++i)
        sent_again += series::amount_of(index->packets[i]).retransmitted != 0 ? 1 : 0;
    CHECK(sent_again > 0);
    CHECK(packets == sent_again);
    // A narrower part of the time has the finest pieces, and what is seen of them is the same.
    open.picture.plot().zoomTime(0.01);
    CHECK(panel.note.contains(QStringLiteral("in pieces of")));
    open.picture.plot().showAll();
    inBothLooks(open.picture, "heat_map", [](const QImage& image) { CHECK_FALSE(image.isNull()); });
    open.picture.setMeasure(series::HeatOf::bytes);
    REQUIRE(QTest::qWaitFor([&] { return open.picture.settled(); }, kPatience));
    CHECK(open.panel(0).rows.size() == open.session.timeline()->connections.size());
    // Where nothing went wrong it begins with latency; what the user chooses stays, and may have nothing to show.
    OpenPicture<HeatPicture> well("write_8k");
    CHECK(well.picture.shownMeasure() == series::HeatOf::latency);
    CHECK_FALSE(well.picture.plot().data().empty());
    well.picture.setMeasure(series::HeatOf::naks);
    REQUIRE(QTest::qWaitFor([&] { return well.picture.settled(); }, kPatience));
    CHECK(well.picture.plot().data().empty());
}

TEST_CASE("ranks wait for the last, in rows of their names", "[pictures]") {
    needApplication();
    qps::transport::Collective collective;
    for (std::uint64_t i = 0; i < 3; ++i)
        collective.ranks.push_back(
            {.address = {{0, i + 1}, qps::transport::AddressSpace::ethernet}, .number = static_cast<std::uint32_t>(i)});
    qps::transport::CollectiveStep step;
    step.begin = Instant{100};
    step.length = Duration{900};
    step.last = 2;
    step.waited = Duration{300};
    step.begun = {Instant{100}, Instant{200}, Instant{500}};
    collective.steps = {step};
    const PlotData data = ranksPlot(collective);
    REQUIRE(data.panels.size() == 1);
    REQUIRE(data.panels[0].rows.size() == 3);
    CHECK(data.panels[0].rows[2].contains(QStringLiteral("rank 2")));
    REQUIRE(data.panels[0].layers.size() == 3);
    const auto& working = data.panels[0].layers[0].bands->all();
    const auto& waiting = data.panels[0].layers[1].bands->all();
    const auto& late = data.panels[0].layers[2].bands->all();
    CHECK(working.size() == 3);
    for (const Band& band : working) CHECK(band.from == Instant{500});
    REQUIRE(waiting.size() == 2);
    CHECK(waiting[0].to == Instant{500});
    CHECK(waiting[1].from == Instant{200});
    REQUIRE(late.size() == 1);
    CHECK(late[0].from == Instant{200});
    CHECK(late[0].row == 2);
    // Where the packets do not tell when a rank began, nobody waits.
    collective.steps[0].begun.clear();
    CHECK(ranksPlot(collective).panels[0].layers.size() == 1);
    CHECK(ranksPlot({}).empty());
}

TEST_CASE("the strip has a row for each pair with something, and selects its worst connection", "[pictures]") {
    OpenPicture<LossesPicture> open("loss_write");
    LossStrip& strip = open.picture.strip();
    REQUIRE(strip.drawing() != nullptr);
    REQUIRE(strip.drawing()->places.rows.size() == 1);
    const series::LossRow& row = strip.drawing()->places.rows[0];
    CHECK(row.before_tap.lost + row.behind_tap.lost > 0);
    CHECK(lossText(*strip.drawing(), 0).contains(QStringLiteral("from the sender to the tap")));
    QSignalSpy wanted(&open.picture, &LossesPicture::viewRequested);
    QTest::keyClick(&strip, Qt::Key_Down);
    CHECK(open.selection.connection() == row.worst);
    CHECK(strip.accessibleDescription() == lossText(*strip.drawing(), 0));
    QTest::keyClick(&strip, Qt::Key_Return);
    REQUIRE(wanted.size() == 1);
    CHECK(wanted[0][0].toString() == QStringLiteral("psn"));
    inBothLooks(open.picture, "losses", [](const QImage& image) { CHECK_FALSE(image.isNull()); });
    OpenPicture<LossesPicture> well("write_8k");
    CHECK(well.picture.strip().drawing()->places.rows.empty());
    CHECK_FALSE(well.picture.strip().accessibleDescription().isEmpty());
}
