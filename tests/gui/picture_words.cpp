// What pictures say beside their data: the width of bins, percentiles of what is seen, the flows that congestion hit;
// and what a saved picture carries with it.
#include <gui/base/theme.hpp>
#include <gui/pictures/congestion_picture.hpp>
#include <gui/pictures/ladder_picture.hpp>
#include <gui/pictures/latency_picture.hpp>
#include <gui/pictures/psn_picture.hpp>
#include <gui/pictures/throughput_picture.hpp>
#include <gui/tables/ends_delegate.hpp>
#include <tests/gui/looking.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::FrameIndex;
using qps::transport::ConnectionId;
namespace series = qps::transport::series;

namespace {

template <class Shown> struct Pictured : WithApplication {
    explicit Pictured(const char* sample) {
        openSample(session, sample);
        picture.resize(900, 600);
        picture.show();
        settle();
    }
    void settle() {
        REQUIRE(QTest::qWaitFor([this] { return picture.settled(); }, kPatience));
    }
    Plot& plot() { return picture.plot(); }
    Session session{1};
    Selection selection{session};
    Shown picture{session, selection};
};

double brightness(const QImage& image) {
    double sum = 0;
    for (int y = 0; y < image.height(); y += 5)
        for (int x = 0; x < image.width(); x += 5) sum += qGray(image.pixel(x, y));
    return sum / (256.0 * (image.height() / 5) * (image.width() / 5));
}

}  // namespace

TEST_CASE("sums over time say in axis title and hover how long their bins are, at every zoom") {
    Pictured<ThroughputPicture> open("multi_qp");
    const auto said = [&] {
        const PlotLayout& layout = open.plot().layoutNow();
        const PlotData& data = open.plot().data();
        const Panel& panel = data.panels[0];
        REQUIRE(panel.bin > 0);
        CHECK(layout.panels[0].titleText.contains(QStringLiteral("bins of %1").arg(exactTimeText(panel.bin))));
        CHECK(layout.panels[1].titleText.contains(QStringLiteral("bins of %1").arg(exactTimeText(data.panels[1].bin))));
        const auto& points = panel.layers[0].points->points();
        REQUIRE(points.size() > 2);
        CHECK(std::to_underlying(points[2].time - points[1].time) == panel.bin);
        const Hit hit{{0, 0}, points[1].time, points[1].y, {}, {}, {}, 1};
        CHECK(describe(data, hit).contains(QStringLiteral("in a bin of %1").arg(exactTimeText(panel.bin))));
        return panel.bin;
    };
    const auto whole = said();
    for (int i = 0; i < 8; ++i) open.plot().zoomTime(0.5);
    CHECK(said() < whole);
}

TEST_CASE("percentiles and histogram are of what is in view, or of the time range") {
    Pictured<LatencyPicture> open("multi_qp");
    const auto counted = [&] {
        std::uint64_t sum = 0;
        for (const SideBar& bar : open.plot().data().panels[0].side) sum += bar.count;
        return sum;
    };
    const auto expected = [&](const series::Range& range) {
        return *series::latencies(*open.session.index(), {}, range);
    };
    const PlotData& all = open.plot().data();
    REQUIRE(all.panels[0].guides.size() == 4);
    const auto whole = expected(all.range(open.plot().view().time));
    CHECK(counted() == whole.size());
    for (int i = 0; i < 3; ++i) open.plot().zoomTime(0.6);
    const auto part = expected(open.plot().data().range(open.plot().view().time));
    REQUIRE_FALSE(part.empty());
    REQUIRE(part.size() < whole.size());
    CHECK(counted() == part.size());
    CHECK(open.plot().data().panels[0].guides[0].value ==
          static_cast<double>(std::to_underlying(series::distribution(part).median)));
    CHECK(open.plot().layoutNow().panels[0].titleText.contains(QStringLiteral("in view")));

    const TimeSpan some{all.timeOf(part.front().time), all.timeOf(part.front().time) + 1};
    open.selection.setRange(TimeRange{all.instant(some.from), all.instant(some.to)});
    open.settle();
    const auto ranged = expected(open.plot().data().range(some));
    CHECK(counted() == ranged.size());
    CHECK(open.plot().layoutNow().panels[0].titleText.contains(QStringLiteral("in the time range")));
}

TEST_CASE("congestion shows the flows that were hit, by themselves") {
    Pictured<CongestionPicture> open("congestion");
    const Panel& rates = open.plot().data().panels[0];
    REQUIRE_FALSE(rates.layers.empty());
    const auto found = series::congestion_series(*open.session.index(), {}, *series::whole(*open.session.index()));
    REQUIRE(found);
    double most = 0;
    for (const Layer& layer : rates.layers) {
        CHECK(layer.name != QStringLiteral("all"));
        CHECK((layer.name.contains(QStringLiteral(" CE")) || layer.name.contains(QStringLiteral(" CNPs"))));
        const auto& points = layer.points->points();
        REQUIRE_FALSE(points.empty());
        const auto extremes = layer.points->extremes(0, points.size());
        most = std::max(most, static_cast<double>(extremes.most));
        CHECK(extremes.most > 0);
    }
    CHECK(open.plot().layoutNow().panels[0].scale.span.to < 1.5 * most);  // none is flat against a total
    CHECK(rates.bin > 0);
}

TEST_CASE("a single PSN is a mark that can be seen") {
    Pictured<PsnPicture> open("write_8k");
    const auto& requests = open.plot().data().panels[0].layers[0];
    REQUIRE(requests.name == QStringLiteral("request"));
    open.plot().setLayerVisible({0, 0}, true);
    for (std::size_t i = 1; i < open.plot().data().panels[0].layers.size(); ++i)
        open.plot().setLayerVisible({0, i}, false);
    const QImage with = open.plot().grab().toImage();
    open.plot().setLayerVisible({0, 0}, false);
    const QImage without = open.plot().grab().toImage();
    const QRect area = open.plot().layoutNow().panels[0].area.toRect();
    int pixels = 0;
    for (int y = area.top(); y < area.bottom(); ++y)
        for (int x = area.left(); x < area.right(); ++x) pixels += with.pixel(x, y) != without.pixel(x, y) ? 1 : 0;
    const auto points = static_cast<int>(requests.points->points().size());
    CHECK(pixels >= std::min(points, 50) * 8);
}

TEST_CASE("a saved picture carries file, connection and date, and is light unless asked otherwise") {
    needApplication();
    use(Theme::Dark);
    {
        Pictured<PsnPicture> open("write_8k");
        REQUIRE(open.selection.connection());
        const QTemporaryDir folder;
        const QString light = folder.filePath(QStringLiteral("light.png"));
        const QString dark = folder.filePath(QStringLiteral("dark.png"));
        REQUIRE_FALSE(open.picture.savePng(light, 1));
        REQUIRE_FALSE(open.picture.savePng(dark, 1, Picture::Colors::OfWindow));
        CHECK(brightness(QImage(light)) > 0.8);
        CHECK(brightness(QImage(dark)) < 0.3);
        const QImage image(light);
        CHECK(image.width() == open.plot().width());
        CHECK(image.height() > open.plot().height());
        CHECK(image.text(QStringLiteral("Title")).contains(QStringLiteral("10.77.0.11:")));
        CHECK(image.text(QStringLiteral("Description")).contains(QStringLiteral("capture.pcap")));
        CHECK(image.text(QStringLiteral("Description")).contains(QStringLiteral("202")));  // a year
        const QString svg = folder.filePath(QStringLiteral("a.svg"));
        REQUIRE_FALSE(open.picture.saveSvg(svg));
        QFile file(svg);
        REQUIRE(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        CHECK(text.contains("capture.pcap"));
        CHECK(text.contains("10.77.0.11:"));
    }
    use(Theme::Desktop);
}

TEST_CASE("a saved ladder has all messages of its range, not those in sight") {
    needApplication();
    Session session(1);
    Selection selection(session);
    openSample(session, "multi_qp");
    LadderPicture picture(session, selection);
    picture.resize(700, 300);
    picture.show();
    selection.selectConnection(session.timeline()->connections.front().uid);
    REQUIRE(QTest::qWaitFor([&] { return !picture.view().ladder().lines.empty(); }, kPatience));
    const auto entries = series::LadderEntries::of(*session.index(), session.timeline()->connections.front().uid);
    REQUIRE(entries);
    REQUIRE(entries->size() > 5);
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("ladder.svg"));
    const auto saved = [&] {
        REQUIRE_FALSE(picture.saveSvg(path));
        QFile file(path);
        REQUIRE(file.open(QIODevice::ReadOnly));
        return file.readAll();
    };
    const LadderView::Sheet sheet = picture.view().sheet(700, 1e6);
    CHECK(sheet.entries == entries->size());
    CHECK(sheet.left_out == 0);
    CHECK(sheet.height > picture.view().viewport()->height());
    const QByteArray whole = saved();
    CHECK(static_cast<std::size_t>(whole.count("<text")) >= sheet.ladder.lines.size());

    const auto time = [&](std::size_t at) { return session.index()->row(entries->first_frame(at)).time(); };
    selection.setRange(TimeRange{time(0), time(2)});
    const LadderView::Sheet part = picture.view().sheet(700, 1e6);
    CHECK(part.entries >= 3);
    CHECK(part.entries < entries->size());
    CHECK(saved().size() < whole.size());
    // What is too tall for an image is cut, and says so.
    selection.setRange(std::nullopt);
    const LadderView::Sheet cut = picture.view().sheet(700, sheet.height / 2);
    CHECK(cut.height <= sheet.height / 2);
    CHECK(cut.entries + cut.left_out == entries->size());
    CHECK(cut.left_out > 0);
}

TEST_CASE("ends that have no room lose of their addresses, never of their queue pairs") {
    needApplication();
    const QFontMetrics metrics(QApplication::font());
    const QString ends = QStringLiteral("fe80::5054:ff:fe77:1100:50818 <-> fe80::5054:ff:fe77:1200:18515");
    const int whole = metrics.horizontalAdvance(ends);
    CHECK(shortenedEnds(ends, metrics, whole) == ends);
    for (const double share : {0.9, 0.7, 0.5}) {
        const QString shown = shortenedEnds(ends, metrics, static_cast<int>(whole * share));
        CAPTURE(shown.toStdString());
        CHECK(metrics.horizontalAdvance(shown) <= whole * share);
        CHECK(shown.contains(QStringLiteral(":50818")));
        CHECK(shown.endsWith(QStringLiteral(":18515")));
        CHECK(shown != ends);
    }
    const QString named = QStringLiteral("checkpoint writer of the third rack (50818) <-> node-with-a-long-name:18515");
    const QString shown = shortenedEnds(named, metrics, metrics.horizontalAdvance(named) * 6 / 10);
    CHECK(shown.contains(QStringLiteral(" (50818) <-> ")));
    CHECK(shown.endsWith(QStringLiteral(":18515")));
    CHECK(shown != named);
    CHECK(shortenedEnds(QStringLiteral("no ends at all in this text"), metrics, 60).endsWith(QChar(0x2026)));
}
