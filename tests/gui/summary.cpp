// The start page: what it says of sample captures, where its links lead, and what stands there without a capture.
#include <gui/summary/empty_page.hpp>
#include <gui/summary/facts.hpp>
#include <gui/summary/summary_page.hpp>
#include <gui/summary/summary_text.hpp>
#include <gui/summary/summary_view.hpp>
#include <tests/gui/looking.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>
#include <QTextDocument>

using namespace qps::gui;
using namespace qps::gui::tests;
using namespace qps::transport;

namespace {

QString plain(const QString& html) {
    QTextDocument document;
    document.setHtml(html);
    return document.toPlainText();
}

QStringList linksOf(const QWidget& page) {
    QStringList links;
    static const QRegularExpression kLink(QStringLiteral("href=\"([^\"]*)\""));
    for (const QLabel* label : page.findChildren<QLabel*>()) {
        auto found = kLink.globalMatch(label->text());
        while (found.hasNext()) links.append(found.next().captured(1));
    }
    return links;
}

void activate(const QWidget& page, const QString& link) {
    for (QLabel* label : page.findChildren<QLabel*>())
        if (label->text().contains(QStringLiteral("href=\"%1\"").arg(link))) return Q_EMIT label->linkActivated(link);
    FAIL("no link " << link.toStdString());
}

qps::gui::Verdict verdictOf(const Timeline& timeline) { return worst(judgements(timeline)); }

}  // namespace

TEST_CASE("the words of the start page") {
    needApplication();
    const char* name = GENERATE("loss_write", "cut_128", "err_bad_rkey");
    const auto timeline = readSample(name).timeline;
    const QPalette palette;
    QString text;
    for (const QString& card :
         {captureText(*timeline, {}, {}, palette), qualityText(*timeline, {}, palette),
          findingsText(*timeline, palette), connectionsText(*timeline, palette), messagesText(*timeline)})
        text += plain(card) + QStringLiteral("\n\n");
    qps::tests::check_golden(std::string("gui/golden/summary_") + name + ".txt", text.toStdString());
}

TEST_CASE("a recording is judged by the worst that is known of it") {
    Timeline timeline = qps::tests::healthy();
    timeline.quality.icrc_good = 400;
    CHECK(verdictOf(timeline) == qps::gui::Verdict::Good);  // although nobody says whether packets were dropped
    timeline.quality.cut = 3;
    CHECK(verdictOf(timeline) == qps::gui::Verdict::Doubtful);
    timeline.quality.drops = {.known = true, .received = 500, .dropped = 100, .dropped_by_system = 0};
    CHECK(verdictOf(timeline) == qps::gui::Verdict::Bad);
    timeline.quality.drops.dropped = 0;
    timeline.quality.cut = 0;
    CHECK(verdictOf(timeline) == qps::gui::Verdict::Good);
    timeline.quality.rdma_packets = 0;
    CHECK(verdictOf(timeline) == qps::gui::Verdict::Bad);
    CHECK(judgements(Timeline{}).empty());
}

TEST_CASE("a capture that was not read to its end is not called reliable") {
    Timeline timeline = qps::tests::healthy();
    timeline.quality.icrc_good = 400;
    CHECK(qualityText(timeline, {}, QPalette()).contains(QStringLiteral("The capture is reliable")));
    for (const qps::gui::ReadExtent& extent :
         {qps::gui::ReadExtent{.damaged = true}, qps::gui::ReadExtent{.cancelled = true}}) {
        CHECK(worst(judgements(timeline, extent)) == qps::gui::Verdict::Doubtful);
        CHECK_FALSE(qualityText(timeline, extent, QPalette()).contains(QStringLiteral("The capture is reliable")));
    }
    timeline.quality.rdma_packets = 0;
    CHECK(worst(judgements(timeline, {.cancelled = true})) == qps::gui::Verdict::Bad);
}

TEST_CASE("findings that differ in their connection alone are one group, with the most frequent as its example") {
    Timeline timeline = qps::tests::healthy();
    const auto add = [&timeline](const char* id, Severity severity, Party party, std::uint64_t count) {
        Finding& finding = timeline.findings.emplace_back();
        finding.id = id;
        finding.severity = severity;
        finding.party = party;
        finding.count = count;
    };
    add("a", Severity::error, Party::fabric, 2);
    add("b", Severity::warning, Party::fabric, 1);
    add("a", Severity::error, Party::fabric, 5);
    add("a", Severity::error, Party::capture, 1);
    const auto groups = findingGroups(timeline);
    REQUIRE(groups.size() == 3);
    CHECK(groups[0].first == &timeline.findings[2]);
    CHECK(groups[0].findings == 2);
    CHECK(groups[0].count == 7);
    CHECK(groups[1].first->id == "b");
    CHECK(groups[2].first->party == Party::capture);
}

TEST_CASE("connections in trouble come before busy ones") {
    Timeline timeline = qps::tests::healthy();
    qps::tests::add_connection(timeline, 3, 4).ways[0].bytes = 1'000'000'000;
    qps::tests::add_connection(timeline, 5, 6).ways[1].incidents.made().rnr_naks = 1;
    const auto few = noteworthy(timeline, 2);
    REQUIRE(few.size() == 2);
    CHECK(few[0] == &timeline.connections[2]);
    CHECK(few[1] == &timeline.connections[1]);
}

TEST_CASE("names that a file makes up begin no tags") {
    const QString text = captureText(qps::tests::healthy(), {QStringLiteral("<b>a"), QStringLiteral("b")},
                                     {QStringLiteral("<i>bad")}, {});
    CHECK_FALSE(text.contains(QStringLiteral("<b>a")));
    CHECK_FALSE(text.contains(QStringLiteral("<i>")));
}

TEST_CASE("the start page of a capture, in light and dark") {
    needApplication();
    const bool dark = GENERATE(false, true);
    useDarkPalette(dark);
    const QString suffix = dark ? QStringLiteral("_dark") : QStringLiteral("_light");
    Session session(1);
    Selection selection(session);
    SummaryView view(session, selection);
    view.resize(1100, 900);
    view.show();
    view.setRecentFiles(
        {QStringLiteral("/data/captures/loss in the night.pcapng"), QStringLiteral("/data/rack 7/storage.pcap")});
    CHECK(view.currentWidget() == &view.emptyPage());
    grab(view, QStringLiteral("summary_empty") + suffix);
    for (const char* name : {"loss_write", "multi_qp", "err_mixed"}) {
        openSample(session, name);
        CHECK(view.currentWidget() == &view.summaryPage());
        QTest::qWait(100);
        grab(view, QStringLiteral("summary_%1").arg(QLatin1String(name)) + suffix);
    }
    view.resize(700, 700);
    grab(view, QStringLiteral("summary_narrow") + suffix);
    session.close();
    QApplication::processEvents();
    CHECK(view.currentWidget() == &view.emptyPage());
    useDarkPalette(false);
}

TEST_CASE("links of the start page lead to packets, filters, connections and views") {
    needApplication();
    Session session(1);
    Selection selection(session);
    SummaryView view(session, selection);
    openSample(session, "loss_write");
    QSignalSpy wanted(&view, &SummaryView::viewRequested);
    const Finding& finding = session.timeline()->findings.front();
    activate(view, QStringLiteral("frame:%1").arg(std::to_underlying(finding.packets[0])));
    CHECK(selection.packet() == finding.packets[0]);
    CHECK(wanted.takeLast()[0].toString() == QStringLiteral("packets"));
    activate(view, QStringLiteral("connection:1"));
    CHECK(selection.connection() == ConnectionId{1});
    CHECK(wanted.takeLast()[0].toString() == QStringLiteral("connections"));
    for (const char* id : {"findings", "connections", "messages"}) {
        activate(view, QStringLiteral("view:") + QLatin1String(id));
        CHECK(wanted.takeLast()[0].toString() == QLatin1String(id));
    }
    int filters = 0;
    for (const QString& link : linksOf(view)) {
        if (!link.startsWith(QLatin1String("filter:"))) continue;
        ++filters;
        activate(view, link);
        CHECK(selection.filter() == link.mid(7));  // which it is not where it is none
    }
    CHECK(filters == std::ssize(session.timeline()->findings));
}

TEST_CASE("all links of the start page are reached by Tab") {
    needApplication();
    Session session(1);
    Selection selection(session);
    SummaryView view(session, selection);
    openSample(session, "loss_write");
    view.show();
    REQUIRE(QTest::qWaitForWindowActive(&view));
    QSignalSpy wanted(&view, &SummaryView::viewRequested);
    const qsizetype links = linksOf(view).size();
    REQUIRE(links > 10);
    QStringList reached;
    view.summaryPage().setFocus();
    for (qsizetype tab = 0; tab < 2 * links; ++tab) {
        QWidget* focused = QApplication::focusWidget();
        REQUIRE(focused != nullptr);
        QTest::keyClick(focused, Qt::Key_Tab);
        if (auto* label = qobject_cast<QLabel*>(QApplication::focusWidget()))
            reached.append(label->selectedText() + label->accessibleName());
    }
    reached.removeDuplicates();
    CHECK(reached.size() >= 5);
}

TEST_CASE("without a capture one can be opened, opened again or recorded") {
    needApplication();
    Session session(1);
    Selection selection(session);
    SummaryView view(session, selection);
    view.setRecentFiles({QStringLiteral("/a/b.pcap"), QStringLiteral("/c.pcapng")});
    QSignalSpy opened(&view, &SummaryView::openRequested);
    QSignalSpy captured(&view, &SummaryView::captureRequested);
    QSignalSpy again(&view, &SummaryView::fileRequested);
    const auto buttons = view.emptyPage().findChildren<QPushButton*>();
    REQUIRE(buttons.size() == 2);
    for (QPushButton* button : buttons) button->click();
    CHECK(opened.size() == 1);
    CHECK(captured.size() == 1);
    QListWidget& recent = view.emptyPage().recentFiles();
    recent.setCurrentRow(1);
    QTest::keyClick(&recent, Qt::Key_Return);
    REQUIRE(again.size() == 1);
    CHECK(again[0][0].toString() == QStringLiteral("/c.pcapng"));
}

TEST_CASE("figures of a part say so") {
    needApplication();
    SummaryPage page;
    SummaryInput input{
        std::make_shared<Timeline>(qps::tests::healthy()), QStringLiteral("a.pcap"), {}, {}, true, 0.426};
    page.show(input);
    const auto says = [&page](const char* words) {
        return std::ranges::any_of(page.findChildren<QLabel*>(), [words](const QLabel* label) {
            return !label->isHidden() && label->text().contains(QLatin1String(words));
        });
    };
    CHECK(says("42 %"));
    CHECK(says("Figures cover"));
    input.reading = false;
    page.show(input);
    CHECK_FALSE(says("Figures cover"));
}
