// A case in the window: its verdict, its evidence that leads to a line or a packet, its events over time.
#include <gui/casework/case_text.hpp>
#include <gui/casework/case_timeline.hpp>
#include <gui/casework/case_view.hpp>
#include <gui/session/actions.hpp>
#include <gui/window/views.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/casework/case_report.hpp>
#include <transport-replay/casework/event_words.hpp>

#include <QMimeData>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QTextBlock>
#include <QTextBrowser>
#include <QUrl>

#include "pictures.hpp"
#include "window.hpp"

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::casework::ClockKind;
using qps::casework::Place;

namespace {

QString caseIn(const char* name) {
    return QStringLiteral(QPSCOPE_SOURCE_DIR "/tests/case/cases/") + QLatin1String(name);
}

struct OpenCase : WithApplication {
    explicit OpenCase(const QStringList& inputs) {
        view.resize(1180, 760);
        view.show();
        view.take(inputs);
        REQUIRE(QTest::qWaitFor([this] { return !view.working(); }, kPatience));
    }
    [[nodiscard]] QString verdict() const { return view.findChild<QTextBrowser*>()->toPlainText(); }
    Session session;
    Selection selection{session};
    CaseView view{session, selection};
};

std::shared_ptr<const OpenedCase> opened(const QStringList& inputs) {
    return openCase(inputs, qps::casework::CaseMemory::kUsual, {});
}

}  // namespace

TEST_CASE("case: the window shows the verdict that the command line prints", "[case]") {
    OpenCase open({caseIn("receiver-without-receives")});
    const auto read = opened({caseIn("receiver-without-receives")});
    const QString text = open.verdict();
    CHECK(text.contains(QString::fromStdString(qps::casework::head_text(read->verdict))));
    REQUIRE_FALSE(read->verdict.claims.empty());
    for (const auto& claim : read->verdict.claims) {
        CHECK(text.contains(QString::fromUtf8(claim.id.data(), static_cast<qsizetype>(claim.id.size()))));
        for (const Place& place : claim.evidence)
            CHECK(text.contains(QString::fromStdString(qps::casework::place_text(read->read, place))));
    }
}

TEST_CASE("case: an event of the timeline leads to its line", "[case]") {
    OpenCase open({caseIn("two-flaps-in-syslog")});
    auto& timeline = *open.view.findChild<CaseTimeline*>();
    REQUIRE_FALSE(timeline.plot().data().panels.empty());
    const Layer& layer = timeline.plot().data().panels[0].layers[0];
    const Band& event = layer.bands->all().front();
    Hit hit;
    hit.time = event.from;
    hit.text = event.text;
    Q_EMIT timeline.plot().packetChosen(hit);
    auto& lines = *open.view.findChild<QPlainTextEdit*>();
    REQUIRE(QTest::qWaitFor([&] { return !lines.toPlainText().isEmpty(); }, kPatience));
    CHECK(lines.textCursor().block().text().contains(QStringLiteral("ink")));
    inBothLooks(open.view, "case", [](const QImage& image) { CHECK_FALSE(image.isNull()); });
}

TEST_CASE("case: a place of evidence leads to its line among its neighbours", "[case]") {
    OpenCase open({caseIn("receiver-without-receives")});
    const auto read = opened({caseIn("receiver-without-receives")});
    const Place place = read->verdict.claims.front().evidence.front();
    Q_EMIT open.view.findChild<QTextBrowser*>()->anchorClicked(
        QUrl(QStringLiteral("place:%1,%2").arg(place.file).arg(place.line)));
    auto& lines = *open.view.findChild<QPlainTextEdit*>();
    REQUIRE(QTest::qWaitFor([&] { return !lines.toPlainText().isEmpty(); }, kPatience));
    CHECK(lines.textCursor().block().text().contains(
        QString::fromStdString(std::string(qps::casework::quote(read->read, place)))));
    // A link that is none of ours, or of no place, changes nothing.
    for (const char* link : {"http://example.org/", "place:9999,1", "place:x", "file:///etc/passwd"})
        CHECK_FALSE(placeOf(QUrl(QString::fromLatin1(link)), *read));
}

TEST_CASE("case: a place in a capture opens it at that packet", "[case]") {
    const auto read = opened({caseIn("a-log-and-its-capture")});
    OpenWindow empty;
    REQUIRE(empty.window.showView(QStringLiteral("case")));
    auto& view = *empty.window.findChild<CaseView*>();
    view.take({caseIn("a-log-and-its-capture")});
    REQUIRE(QTest::qWaitFor([&] { return !view.working(); }, kPatience));
    std::optional<Place> packet;
    for (const auto& claim : read->verdict.claims)
        for (const Place& place : claim.evidence)
            if (!packet && read->isCapture(place) && place.line > 1) packet = place;
    REQUIRE(packet);
    Q_EMIT view.findChild<QTextBrowser*>()->anchorClicked(
        QUrl(QStringLiteral("place:%1,%2").arg(packet->file).arg(packet->line)));
    REQUIRE(QTest::qWaitFor([&] { return empty.window.selection().packet() == qps::dissect::FrameIndex{packet->line}; },
                            kPatience));
    CHECK(empty.window.shownView() == QStringLiteral("packets"));
}

TEST_CASE("case: events stand in the rows of their hosts, by one kind of clock", "[case]") {
    qps::casework::Case read;
    const auto add = [&](const char* host, ClockKind clock, std::int64_t time, qps::casework::EventKind kind) {
        qps::casework::Event event;
        event.host = host;
        event.clock = clock;
        event.time_ns = time;
        event.kind = kind;
        read.events.push_back(event);
    };
    read.files.push_back({.name = "log"});
    add("b", ClockKind::local, 2000, qps::casework::EventKind::port_down);
    add("a", ClockKind::local, 1000, qps::casework::EventKind::completion_error);
    add("a", ClockKind::boot, 5, qps::casework::EventKind::port_up);
    add("a", ClockKind::none, 0, qps::casework::EventKind::watchdog);
    CHECK(clocksOf(read) == std::vector{ClockKind::local, ClockKind::boot});
    const CasePlot plot = casePlot(read, ClockKind::local);
    REQUIRE(plot.data.panels.size() == 1);
    const Panel& panel = plot.data.panels[0];
    CHECK(panel.rows == std::vector<QString>{QStringLiteral("a"), QStringLiteral("b")});
    CHECK(plot.others == 2);
    CHECK(plot.data.origin == qps::dissect::Instant{1000});
    CHECK(plot.data.whole.contains(plot.data.timeOf(qps::dissect::Instant{2000})));
    REQUIRE(panel.layers.size() == 2);
    CHECK(panel.layers[0].name == QStringLiteral("link and switch"));
    CHECK(panel.layers[0].bands->all().front().row == 1);
    CHECK(panel.layers[0].bands->all().front().text.contains(QStringLiteral("port down")));
    CHECK(plot.events[0] == std::vector<std::size_t>{0});
    CHECK(plot.events[1] == std::vector<std::size_t>{1});
    CHECK(casePlot(read, ClockKind::utc).data.empty());
    CHECK(casePlot({}, ClockKind::local).data.empty());
}

TEST_CASE("case: texts of a case are no markup, and what cannot be read is said", "[case]") {
    QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("evil.log")));
    REQUIRE(file.open(QIODevice::WriteOnly));
    file.write("[  12.0] <img src=x><a href='file:///etc/passwd'>mlx5_core 0000:01:00.0 eth0: Link down</a>\n");
    file.close();
    OpenCase open({folder.path(), folder.filePath(QStringLiteral("none"))});
    CHECK_FALSE(open.view.findChild<QTextBrowser*>()->toHtml().contains(QStringLiteral("<img")));
    CHECK(open.verdict().contains(QStringLiteral("cannot be read")));
    OpenCase nothing({folder.filePath(QStringLiteral("none"))});
    CHECK(nothing.verdict().contains(QStringLiteral("There are no files.")));
}

TEST_CASE("case: a folder that is dropped is a case", "[case]") {
    OpenWindow empty;
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(caseIn("receiver-without-receives"))});
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&empty.window, &enter);
    QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&empty.window, &drop);
    CHECK(empty.window.shownView() == QStringLiteral("case"));
    auto& view = *empty.window.findChild<CaseView*>();
    REQUIRE(QTest::qWaitFor([&] { return !view.working(); }, kPatience));
    CHECK(view.findChild<QTextBrowser*>()->toPlainText().contains(QStringLiteral("case-receiver-not-ready")));
    // Likewise one that the command line names.
    empty.window.open({caseIn("two-flaps-in-syslog")});
    REQUIRE(QTest::qWaitFor([&] { return !view.working(); }, kPatience));
    CHECK(view.findChild<QTextBrowser*>()->toPlainText().contains(QStringLiteral("case-port-down")));
}

TEST_CASE("each action that names a view names one that is there and takes it", "[case]") {
    OpenWindow empty;
    for (const ActionRow& row : actionRows()) {
        if (row.view.empty()) continue;
        CAPTURE(std::string(row.text));
        CHECK(std::ranges::any_of(viewRows(), [&](const ViewRow& view) { return view.id == row.view; }));
    }
}
