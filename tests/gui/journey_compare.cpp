// Journey: before and after. What the view says of two runs is what the command line says of each.
#include <tests/gui/journey.hpp>
#include <transport-replay/report/figures.hpp>

#include <QFile>
#include <QTabBar>
#include <algorithm>
#include <array>
#include <map>
#include <set>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

QString groupedText(std::uint64_t number) { return QString::fromStdString(qps::transport::grouped(number)); }

// A column of all connections, in sum.
std::uint64_t sumOf(const std::vector<CommandRow>& rows, const char* column) {
    std::uint64_t sum = 0;
    for (const CommandRow& row : rows) {
        REQUIRE(row.contains(words(column)));
        sum += row[words(column)].toULongLong();
    }
    return sum;
}

std::map<QString, std::uint64_t> findingsOf(const QString& file) {
    std::map<QString, std::uint64_t> counts;
    for (const CommandRow& row : commandRows({QStringLiteral("findings"), file}))
        counts[row[QStringLiteral("id")]] += row[QStringLiteral("count")].toULongLong();
    return counts;
}

}  // namespace

TEST_CASE("journey: two runs side by side are those of the command line", "[.journey]") {
    const QString before = QString::fromStdString(sampleFile("write_8k")),
                  after = QString::fromStdString(sampleFile("loss_write"));
    Journey window({"loss_write"});
    window.goTo("Before and after");
    CHECK(window.named<QLabel>("What is compared").text().contains(QStringLiteral("Choose")));
    window.chooseFile(before, [&] { window.press("Compare with..."); });
    REQUIRE(Journey::soon([&] { return window.table("Figures compared").rows() != 0; }));
    const HeardTable figures = window.table("Figures compared");
    const auto row = [&](const char* name) {
        const qsizetype at = figures.column(QStringLiteral("Figure")).indexOf(words(name));
        REQUIRE(at >= 0);
        return static_cast<int>(at);
    };
    const std::array files{before, after};
    for (std::size_t run = 0; run < files.size(); ++run) {
        const QString heading = run == 0 ? QStringLiteral("Before") : QStringLiteral("After");
        CAPTURE(run);
        const auto connections = commandRows({QStringLiteral("connections"), files[run]});
        const auto packets =
            commandRows({QStringLiteral("packets"), QStringLiteral("-e"), QStringLiteral("frame.number"), files[run]});
        const auto messages = commandRows({QStringLiteral("messages"), files[run]});
        CHECK(figures.cell(row("Packets"), heading) == groupedText(packets.size()));
        CHECK(figures.cell(row("Connections"), heading) == groupedText(connections.size()));
        std::vector<std::uint64_t> latencies;
        for (const CommandRow& message : messages)
            if (!message[QStringLiteral("latency_ns")].isEmpty())
                latencies.push_back(message[QStringLiteral("latency_ns")].toULongLong());
        CHECK(figures.cell(row("Messages with a latency"), heading) == groupedText(latencies.size()));
        CHECK(figures.cell(row("Retransmitted packets"), heading) ==
              groupedText(sumOf(connections, "retransmitted_packets")));
        CHECK(figures.cell(row("Packets lost"), heading) ==
              groupedText(sumOf(connections, "lost_by_network") + sumOf(connections, "lost_behind_tap")));
        CHECK(figures.cell(row("Timeouts"), heading) == groupedText(sumOf(connections, "timeouts")));
        REQUIRE_FALSE(latencies.empty());
        CHECK(figures.cell(row("Latency, maximum"), heading) ==
              QString::fromStdString(qps::transport::duration_text(
                  qps::dissect::Duration{static_cast<std::int64_t>(*std::ranges::max_element(latencies))})));
    }
    CHECK(figures.cell(row("Retransmitted per million packets"), QStringLiteral("Trend")) == QStringLiteral("worse"));
    for (const bool dark : {false, true}) {
        useDarkPalette(dark);
        grab(window.window, dark ? QStringLiteral("journey_compare_dark") : QStringLiteral("journey_compare"));
    }
    useDarkPalette(false);

    // Findings: what is new leads to its packets.
    const auto bars = window.window.findChildren<QTabBar*>();
    const auto tabs = std::ranges::find_if(
        bars, [](const QTabBar* bar) { return bar->accessibleName() == QStringLiteral("Comparison by"); });
    REQUIRE(tabs != bars.end());
    (*tabs)->setFocus();
    window.key(Qt::Key_Right);
    const HeardTable findings = window.table("Findings compared");
    const auto was = findingsOf(before), is = findingsOf(after);
    std::set<QString> all;
    for (const auto& counts : {was, is})
        for (const auto& [id, count] : counts) all.insert(id);
    REQUIRE(findings.rows() == static_cast<int>(all.size()));
    for (int at = 0; at < findings.rows(); ++at) {
        const QString id = findings.cell(at, QStringLiteral("Finding"));
        CHECK(findings.cell(at, QStringLiteral("Before")) == groupedText(was.contains(id) ? was.at(id) : 0));
        CHECK(findings.cell(at, QStringLiteral("After")) == groupedText(is.contains(id) ? is.at(id) : 0));
        if (!was.contains(id)) CHECK(findings.cell(at, QStringLiteral("Change")) == QStringLiteral("new"));
    }
    const qsizetype loss = findings.column(QStringLiteral("Finding")).indexOf(QStringLiteral("go-back-n-loss"));
    REQUIRE(loss >= 0);
    window.table("Findings compared").click(static_cast<int>(loss));
    window.named<QTableView>("Findings compared").setFocus();
    window.key(Qt::Key_Return);
    window.settle();
    CHECK(window.window.shownView() == QStringLiteral("packets"));
    const auto packets = commandRows({QStringLiteral("packets"), QStringLiteral("-e"), QStringLiteral("frame.number"),
                                      QStringLiteral("-Y"), QStringLiteral("rdma.finding == go-back-n-loss"), after});
    CHECK(window.selection().shown() == packets.size());
}

TEST_CASE("journey: a capture compared with itself has not changed; what is no capture is refused", "[.journey]") {
    Journey window({"multi_qp"});
    window.goTo("Before and after");
    window.chooseFile(window.files[0], [&] { window.press("Compare with..."); });
    REQUIRE(Journey::soon([&] { return window.table("Figures compared").rows() != 0; }));
    for (const QString& trend : window.table("Figures compared").column(QStringLiteral("Trend")))
        CHECK(trend == QStringLiteral("same"));
    for (const QString& change : window.table("Findings compared").column(QStringLiteral("Change")))
        CHECK(change.isEmpty());
    const QTemporaryDir folder;
    QFile junk(folder.filePath(QStringLiteral("junk.pcap")));
    REQUIRE(junk.open(QIODevice::WriteOnly));
    junk.write("no capture at all, but some words");
    junk.close();
    window.chooseFile(junk.fileName(), [&] { window.press("Compare with..."); });
    CHECK(window.named<QLabel>("What is compared").text().contains(QStringLiteral("junk.pcap")));
    CHECK(window.table("Figures compared").rows() != 0);
}
