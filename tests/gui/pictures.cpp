// The pictures: from a capture, as plots; saved as PNG, SVG and CSV; and the selection that they share with other
// views.
#include <gui/pictures/congestion_picture.hpp>
#include <gui/pictures/latency_picture.hpp>
#include <gui/pictures/pause_layers.hpp>
#include <gui/pictures/plot_csv.hpp>
#include <gui/pictures/psn_picture.hpp>
#include <gui/pictures/throughput_picture.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QBuffer>
#include <QDir>
#include <QFile>
#include <QImage>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

#include "application.hpp"
#include "plot_samples.hpp"

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::FrameIndex;
using qps::dissect::Instant;
using qps::transport::ConnectionId;
using qps::transport::End;
namespace series = qps::transport::series;

namespace {

QString captureIn(const char* folder_and_file) {
    return QStringLiteral(QPSCOPE_SOURCE_DIR "/captures/") + QLatin1String(folder_and_file);
}

// A capture that is open, and a picture of it that was computed.
template <class Shown> struct Open : WithApplication {
    explicit Open(const char* file, std::optional<ConnectionId> connection = {}) {
        session.open({captureIn(file)});
        REQUIRE(QTest::qWaitFor([this] { return session.state() == Session::State::Done; }, kPatience));
        if (connection) selection.selectConnection(*connection);
        picture.resize(900, 600);
        picture.show();
        settle();
    }
    void settle() {
        REQUIRE(QTest::qWaitFor([this] { return picture.settled(); }, kPatience));
    }
    // To the next connections, as a user would go, until one has that layer.
    void stepUntil(const char* name) {
        for (std::size_t i = 0; i < session.timeline()->connections.size() && layer(name) == nullptr; ++i) {
            QTest::keyClick(&picture, Qt::Key_PageDown);
            settle();
        }
    }
    const Layer* layer(const char* name) {
        for (const Panel& panel : picture.plot().data().panels)
            for (const Layer& candidate : panel.layers)
                if (candidate.name == QLatin1String(name)) return &candidate;
        return nullptr;
    }
    Session session;
    Selection selection{session};
    Shown picture{session, selection};
};

QByteArray contents(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

TEST_CASE("bands are merged where they share a pixel, and found by time") {
    std::vector<Band> many;
    for (std::int64_t i = 0; i < 1000; ++i)
        many.push_back({Instant{i * 10}, Instant{i * 10 + 5}, FrameIndex{static_cast<std::uint64_t>(i + 1)}, {}});
    const Bands bands(many);
    CHECK(bands.shaded({Instant{0}, Instant{10'000}}, 100).size() == 1);  // ten to a pixel: all of it
    CHECK(bands.shaded({Instant{0}, Instant{100}}, 1000).size() == 10);
    CHECK(bands.shaded({Instant{6}, Instant{9}}, 100).empty());
    CHECK(bands.shaded({Instant{20'000}, Instant{30'000}}, 100).empty());
    REQUIRE(bands.at({Instant{51}, Instant{52}}));
    CHECK(bands.at({Instant{51}, Instant{52}})->frame == FrameIndex{6});
    CHECK(bands.at({Instant{56}, Instant{59}}) == nullptr);
    const Bands turned(std::vector<Band>{{Instant{9}, Instant{3}, FrameIndex{1}, {}}});
    CHECK(turned.at({Instant{5}, Instant{6}}) != nullptr);
    CHECK(Bands(std::vector<Band>{{Instant{INT64_MIN}, Instant{INT64_MAX}, FrameIndex{1}, {}}})
              .shaded({Instant{5}, Instant{60}}, 10)
              .size() == 1);
}

TEST_CASE("a PSN plot has a layer for each kind of mark that is there, and bands for waits") {
    series::PsnSeries psns;
    psns.of(series::PsnMark::request) = {{Instant{100}, 5, FrameIndex{1}, 1}, {Instant{200}, 6, FrameIndex{2}, 1}};
    psns.of(series::PsnMark::sequence_nak) = {{Instant{300}, 6, FrameIndex{3}, 1}};
    psns.waits = {
        {Instant{300}, Instant{900}, 6, qps::transport::RecoveryKind::sequence_nak, FrameIndex{3}, FrameIndex{4}}};
    const PlotData data = psnPlot(psns);
    REQUIRE(data.panels.size() == 1);
    REQUIRE(data.panels[0].layers.size() == 3);
    CHECK(data.panels[0].layers[0].name == QStringLiteral("request"));
    CHECK(data.panels[0].layers[0].points->points()[1].frame == FrameIndex{2});
    CHECK(data.panels[0].layers[1].name == QStringLiteral("sequence NAK"));
    CHECK(data.panels[0].layers[2].bands->all()[0].text == QStringLiteral("600 ns"));
    CHECK(psnPlot({}).empty());
}

TEST_CASE("rates and counts are of the bins of the zoom") {
    std::vector<series::Amount> before(11);
    for (std::size_t i = 1; i < before.size(); ++i) {
        before[i] = before[i - 1];
        before[i].bytes += 1000;
        before[i].packets += 1;
    }
    const series::Range range{Instant{0}, Instant{10'000}};
    const series::Throughput throughput(range, qps::dissect::Duration{1000}, before);
    const auto bytes = [](const series::Amount& amount) { return amount.bytes; };
    const auto fine = binned(throughput, range, 900, bytes, true);
    CHECK(fine->points().size() == 11);
    CHECK(fine->points()[3].y == 8'000'000'000);  // 1000 bytes a microsecond
    const auto coarse = binned(throughput, range, 6, bytes, false);
    REQUIRE(coarse->points().size() == 3);
    CHECK(coarse->points()[0].y == 5000);
    CHECK(coarse->points()[2].time == Instant{10'000});
    CHECK(throughputPlot({}, {}).empty());
}

TEST_CASE("latencies stand by kind, with their percentiles and a histogram") {
    std::vector<series::LatencyPoint> points;
    for (int i = 1; i <= 100; ++i) {
        series::LatencyPoint point;
        point.time = Instant{i};
        point.y = i * 1000;
        point.frame = FrameIndex{static_cast<std::uint64_t>(i)};
        point.kind = i % 2 == 0 ? qps::transport::MessageKind::read : qps::transport::MessageKind::write_imm;
        points.push_back(point);
    }
    PlotData data = latencyPlot(points);
    REQUIRE(data.panels.size() == 1);
    REQUIRE(data.refine);
    data.refine(data, {{Instant{0}, Instant{1000}}, 100});
    const Panel& panel = data.panels[0];
    REQUIRE(panel.layers.size() == 2);
    CHECK(panel.layers[0].name == QStringLiteral("write imm"));
    CHECK(panel.layers[1].points->points().size() == 50);
    REQUIRE(panel.guides.size() == 4);
    CHECK(panel.guides[0].value == 50'000);
    std::uint64_t counted = 0;
    for (const SideBar& bar : panel.side) counted += bar.count;
    CHECK(counted == 100);
    CHECK(latencyPlot({}).empty());
}

TEST_CASE("marks, notifications and pauses each have a row") {
    needApplication();
    series::CongestionSeries congestion;
    congestion.marks = {{Instant{100}, 1000, FrameIndex{1}}};
    series::PauseRows pauses;
    pauses.rows.resize(2);
    for (std::size_t i = 0; i < 2; ++i) {
        series::PauseRow& row = pauses.rows[i];
        row.summary.priority = static_cast<std::uint8_t>(3 + i);
        row.summary.sender = {{0, 0x0200000000aa + i}, qps::transport::AddressSpace::ethernet};
        row.periods.resize(1);
        row.periods[0].end = Instant{50};
        row.periods[0].ended = qps::transport::PauseEnd::resumed;
        row.stops = {{Instant{0}, 0xffff, FrameIndex{2}}};
        row.resumes = {{Instant{50}, 0, FrameIndex{3}}};
    }
    const PlotData data = congestionPlot(congestion, pauses, {}, {});
    REQUIRE(data.panels.size() == 2);
    CHECK(data.panels[1].lanes);
    const auto& layers = data.panels[1].layers;
    REQUIRE(layers.size() == 2 + 2 * 3);
    CHECK(layers[2].name == QStringLiteral("PFC 3 by 02:00:00:00:00:aa"));
    CHECK(layers[2].bands->all()[0].text == QStringLiteral("paused for 50 ns, ended by XON"));
    CHECK(layers[5].name == QStringLiteral("PFC 4 by 02:00:00:00:00:ab"));
    CHECK(layers[3].points->points()[0].frame == FrameIndex{2});
    CHECK(layers[4].points->points()[0].frame == FrameIndex{3});
    // The frames stand in the lane of their pauses.
    const PlotLayout layout =
        layOut(data, Viewport{data.whole, {}}, {}, QRectF(0, 0, 900, 600), QFontMetricsF(QFont()));
    CHECK(layout.panels[1].laneCount == 4);
    CHECK(layout.panels[1].laneOf(2) == layout.panels[1].laneOf(4));
    CHECK(layout.panels[1].laneOf(2) != layout.panels[1].laneOf(5));
    CHECK(congestionPlot({}, {}, {}, {}).empty());
    pauses.rows[1].summary.interface = qps::dissect::InterfaceId{1};
    CHECK(congestionPlot(congestion, pauses, {}, {}).panels[1].layers[2].name ==
          QStringLiteral("PFC 3 by 02:00:00:00:00:aa, interface 0"));
    series::PauseRows flood;
    flood.rows.resize(100);
    const PlotData many = congestionPlot(congestion, flood, {}, {});
    CHECK(many.panels[1].layers.size() == 2 + 3 * kMostPauseLanes);
    CHECK(many.panels[1].subject.contains(QStringLiteral("88")));
}

TEST_CASE("CSV has the points that are seen, and quotes what needs it") {
    PlotData data = samplePlot(1'700'000'000'000'000'000, 1000);
    data.panels[0].layers[2].name = QStringLiteral("NAK, \"lost\"");
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    writeCsv(buffer, data, {499'500'000, 500'500'000}, {{0, 1}});
    const QList<QByteArray> lines = buffer.data().split('\n');
    REQUIRE(lines.size() == 4);  // heading, a request, the NAK; no pause then
    CHECK(lines[0] == "panel,series,time_s,end_s,value,unit,packet,note\r");
    CHECK(lines[1] == "PSN,request,0.500000000,,1500,PSN,501,\r");
    CHECK(lines[2] == "PSN,\"NAK, \"\"lost\"\"\",0.500000000,,1400,PSN,77,\r");
    QBuffer all;
    all.open(QIODevice::WriteOnly);
    writeCsv(all, data, data.whole, {});
    CHECK(all.data().count('\n') == 1 + 1000 + 97 + 1 + 1);
    CHECK(all.data().contains("Pauses,priority 3,0.200000000,0.300000000,,,5,100 ms\r\n"));
}

TEST_CASE("without a capture a picture says what to do") {
    needApplication();
    Session session;
    Selection selection(session);
    PsnPicture picture(session, selection);
    picture.show();
    REQUIRE(QTest::qWaitFor([&] { return picture.settled(); }, kPatience));
    CHECK(picture.plot().data().empty());
    CHECK(picture.plot().accessibleDescription().contains(QStringLiteral("Open a capture")));
}

TEST_CASE("the picture of PSNs shows losses and what followed, and turns around") {
    Open<PsnPicture> open("loss_write/capture.pcap", ConnectionId{1});
    open.stepUntil("sequence NAK");
    REQUIRE(open.layer("sequence NAK") != nullptr);
    CHECK(open.layer("request") != nullptr);
    CHECK(open.layer("retransmission") != nullptr);
    CHECK(open.layer("acknowledged") != nullptr);
    CHECK(open.layer("stall: sequence NAK") != nullptr);
    const auto& nak = open.layer("sequence NAK")->points->points().front();
    CHECK(open.session.index()->row(nak.frame).time() == nak.time);

    const End before = open.picture.requester();
    QTest::keyClick(&open.picture, Qt::Key_D);
    open.settle();
    CHECK(open.picture.requester() != before);
}

TEST_CASE("a click in a picture selects the packet, a range is shared with all") {
    Open<PsnPicture> open("write_8k/capture.pcap", ConnectionId{1});
    Plot& plot = open.picture.plot();
    open.stepUntil("request");
    const Layer* requests = open.layer("request");
    REQUIRE(requests != nullptr);
    const auto point = requests->points->points()[requests->points->points().size() / 2];
    const PlotLayout& layout = plot.layoutNow();
    const QPointF at(layout.time.pixel(plot.data().timeOf(point.time)),
                     layout.panels[0].scale.pixel(static_cast<double>(point.y)));
    QTest::mouseClick(&plot, Qt::LeftButton, {}, at.toPoint());
    REQUIRE(open.selection.packet());
    CHECK(open.selection.packet() != FrameIndex{});

    QSignalSpy asked(&open.picture, &Picture::viewRequested);
    QTest::keyClick(&plot, Qt::Key_G);
    REQUIRE(asked.size() == 1);
    CHECK(asked.first().first().toString() == QStringLiteral("packets"));

    Q_EMIT plot.rangeChosen(TimeSpan{1000, 500'000});
    REQUIRE(open.selection.range());
    CHECK(open.selection.range()->from == plot.data().instant(1000));
    CHECK(open.selection.range()->to == plot.data().instant(500'000));
}

TEST_CASE("throughput adds up to the bytes of the capture") {
    Open<ThroughputPicture> open("multi_qp/capture.pcap");
    const PlotData& data = open.picture.plot().data();
    REQUIRE(data.panels.size() == 3);
    const auto& points = data.panels[0].layers[0].points->points();
    double bytes = 0;
    for (std::size_t i = 0; i + 1 < points.size(); ++i)
        bytes += static_cast<double>(points[i].y) / 8e9 *
                 static_cast<double>(std::to_underlying(points[i + 1].time - points[i].time));
    CHECK(bytes == Approx(static_cast<double>(open.session.timeline()->bytes)).epsilon(0.01));

    open.picture.setOf(ThroughputPicture::Of::Connection);
    open.settle();
    CHECK(open.picture.plot().data().empty());  // none is chosen
    CHECK(open.picture.plot().accessibleDescription().contains(QStringLiteral("Select one")));
    open.selection.selectConnection(open.session.timeline()->connections.front().uid);
    open.settle();
    CHECK(!open.picture.plot().data().empty());
}

TEST_CASE("latency and congestion of real captures") {
    {
        Open<LatencyPicture> open("read_8k/capture.pcap");
        CHECK(open.layer("read") != nullptr);
        CHECK(open.picture.plot().data().panels[0].guides.size() == 4);
    }
    {
        Open<CongestionPicture> open("congestion/capture.pcap");
        REQUIRE(open.picture.plot().data().panels.size() == 2);
        REQUIRE(open.layer("CE marks") != nullptr);
        CHECK(open.layer("CE marks")->points->points().size() == open.session.timeline()->congestion.marked);
    }
    Open<CongestionPicture> calm("read_8k/capture.pcap");
    CHECK(calm.picture.plot().data().empty());
    CHECK(calm.picture.plot().accessibleDescription().contains(QStringLiteral("No congestion")));
}

TEST_CASE("pictures are saved as PNG, SVG and CSV, a failure is one sentence") {
    Open<ThroughputPicture> open("write_8k/capture.pcap");
    const QTemporaryDir folder;
    const QString png = folder.filePath(QStringLiteral("a.png"));
    REQUIRE(!open.picture.savePng(png, 2));
    const QImage image(png);
    CHECK(image.width() == open.picture.plot().width() * 2);
    CHECK(image.height() > open.picture.plot().height() * 2);  // above it stands what it is of

    const QString svg = folder.filePath(QStringLiteral("a.svg"));
    REQUIRE(!open.picture.saveSvg(svg));
    QXmlStreamReader reader(contents(svg));
    int texts = 0;
    while (!reader.atEnd())
        if (reader.readNext() == QXmlStreamReader::StartElement && reader.name() == QLatin1String("text")) ++texts;
    CHECK(!reader.hasError());
    CHECK(texts > 10);

    const QString csv = folder.filePath(QStringLiteral("a.csv"));
    REQUIRE(!open.picture.saveCsv(csv));
    CHECK(contents(csv).contains("Throughput,wire rate,0.000000000,"));

    const auto failure = open.picture.savePng(folder.filePath(QStringLiteral("no/such/folder.png")), 1);
    REQUIRE(failure);
    CHECK(failure->contains(QStringLiteral("Cannot write")));
    CHECK(failure->endsWith(QLatin1Char('.')));
    CHECK(failure->count(QLatin1Char('.')) == 2);  // of the name, and of the sentence
}
