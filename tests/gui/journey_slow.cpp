// Which queue pair is slow: columns of connections that can be sorted, a heat map of host pairs that leads to
// connections.
#include <gui/hosts/heat_map.hpp>
#include <tests/gui/journey.hpp>

#include <QComboBox>
#include <QHeaderView>
#include <algorithm>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

// A column of the table of connections and what programs read of it.
struct Pair {
    const char* heading;
    const char* name;
};
constexpr std::array kShownAlike{Pair{"#", "uid"}, Pair{"Msgs", "messages"}, Pair{"Depth", "depth"},
                                 Pair{"DSCP", "dscp"}, Pair{"Src ports", "udp_source_ports"}};
constexpr std::array kSorted{Pair{"P50", "latency_p50_ns"}, Pair{"P99", "latency_p99_ns"},
                             Pair{"Max", "latency_max_ns"}, Pair{"Goodput", "goodput_bits_per_second"},
                             Pair{"Stalled", "stalled_ns"}, Pair{"Bytes", "bytes"}};

void clickHeading(QTableView& table, const QString& heading) {
    QHeaderView& header = *table.horizontalHeader();
    for (int column = 0; column < header.count(); ++column) {
        if (table.model()->headerData(column, Qt::Horizontal).toString() != heading) continue;
        table.scrollTo(table.model()->index(0, column));
        const QPoint at(header.sectionViewportPosition(column) + header.sectionSize(column) / 2, header.height() / 2);
        QTest::mouseClick(header.viewport(), Qt::LeftButton, Qt::NoModifier, at);
        return QApplication::processEvents();
    }
    FAIL("no heading " << heading.toStdString());
}

QStringList uidsBy(std::vector<CommandRow> rows, const QString& name) {
    std::ranges::stable_sort(
        rows, [&](const CommandRow& a, const CommandRow& b) { return a[name].toLongLong() > b[name].toLongLong(); });
    QStringList uids;
    for (const CommandRow& row : rows) uids << row[QStringLiteral("uid")];
    return uids;
}

}  // namespace

TEST_CASE("journey: which queue pair is slow, by columns that are those of the command line", "[.journey]") {
    const std::string sample = GENERATE("multi_qp", "loss_write", "err_rnr", "congestion");
    CAPTURE(sample);
    Journey window({sample});
    const auto told = window.command({words("connections")});
    window.key(Qt::Key_4, Qt::AltModifier);
    auto& widget = window.named<QTableView>("Connections");
    HeardTable table(widget);
    REQUIRE(table.rows() == static_cast<int>(told.size()));
    const bool timed =
        std::ranges::any_of(told, [](const CommandRow& row) { return !row[words("latency_max_ns")].isEmpty(); });
    if (timed) REQUIRE(Journey::soon([&] { return table.column(words("Max")).join(QString()) != QString(); }));
    for (const Pair& column : kShownAlike) {
        CAPTURE(column.heading);
        QStringList wanted;
        for (const CommandRow& row : told) wanted << row[words(column.name)];
        CHECK(table.column(words(column.heading)) == wanted);
    }
    // What people read is what the table of the command line says.
    QProcess program;
    program.start(qEnvironmentVariable("QPSCOPE"),
                  QStringList{words("connections"), words("-q"), words("--performance")} + window.files);
    REQUIRE(program.waitForFinished(60'000));
    const QString speed = QString::fromUtf8(program.readAllStandardOutput());
    for (const char* heading : {"P50", "P99", "Max", "Goodput", "Stalled"})
        for (const QString& cell : table.column(words(heading))) {
            CAPTURE(heading, cell.toStdString());
            CHECK(speed.contains(cell));
        }
    grab(window.window, QStringLiteral("journey_slow_") + QString::fromStdString(sample));
    for (const Pair& column : kSorted) {
        CAPTURE(column.heading);
        clickHeading(widget, words(column.heading));
        clickHeading(widget, words(column.heading));  // the greatest first
        CHECK(table.column(words("#")) == uidsBy(told, words(column.name)));
        const auto sorted = window.command({words("connections"), words("--sort"), words(column.heading)});
        QStringList uids;
        for (const CommandRow& row : sorted) uids << row[words("uid")];
        CHECK(table.column(words("#")) == uids);
    }
}

TEST_CASE("journey: a heat map of host pairs leads to the connections of a pair", "[.journey]") {
    Journey window({"multi_qp", "err_rnr"});
    const auto told = window.command({words("connections")});
    window.window.showView(words("hosts"));
    auto& map = window.named<HeatMap>("Pairs of hosts");
    // A screen reader says the choice of a combo box in place of its name.
    const auto boxes = window.window.findChildren<QComboBox*>();
    const auto found = std::ranges::find(boxes, words("What is measured"), &QComboBox::accessibleName);
    REQUIRE(found != boxes.end());
    QComboBox& measure = **found;
    REQUIRE(Journey::soon([&] {
        // Two hosts are a square at the left, however wide the map is.
        for (int x = 0; x < map.width() && !map.current(); x += map.width() / 8)
            QTest::mouseClick(&map, Qt::LeftButton, Qt::NoModifier, QPoint(x, map.height() / 2));
        return map.current().has_value();
    }));
    // By keys to each cell: what it says is what the connections of the command line add up to.
    const auto described = [&] { return QAccessible::queryAccessibleInterface(&map)->text(QAccessible::Description); };
    QStringList hosts;
    for (const CommandRow& row : told)
        for (const char* end : {"a_address", "b_address"})
            if (!hosts.contains(row[words(end)])) hosts << row[words(end)];
    int joined = 0;
    window.key(Qt::Key_Home);
    for (int row = 0; row < hosts.size(); ++row) {
        for (int column = 0; column < hosts.size(); ++column) {
            const QString said = described();
            CAPTURE(said.toStdString());
            const QString from = said.section(words(" to "), 0, 0);
            const QString to = said.section(words(" to "), 1, 1).section(words(":"), 0, 0);
            REQUIRE(hosts.contains(from));
            REQUIRE(hosts.contains(to));
            QStringList uids;
            for (const CommandRow& connection : told) {
                const QStringList ends{connection[words("a_address")], connection[words("b_address")]};
                if (ends == QStringList{from, to} || ends == QStringList{to, from}) uids << connection[words("uid")];
            }
            CHECK(window.table("Connections of the hosts").column(words("#")) == uids);
            if (!uids.isEmpty()) {
                ++joined;
                CHECK(said.contains(words("%1 connection").arg(uids.size())));
            }
            window.key(Qt::Key_Right);
        }
        for (int column = 0; column < hosts.size(); ++column) window.key(Qt::Key_Left);
        window.key(Qt::Key_Down);
    }
    CHECK(joined >= 2);
    for (int at = 0; at < measure.count(); ++at) {
        measure.setFocus();
        QTest::keyClick(&measure, at == 0 ? Qt::Key_Home : Qt::Key_Down);
        grab(window.window, QStringLiteral("journey_hosts_%1").arg(at));
    }
    // Zoomed in and out by wheel and keys, and on to the connection.
    map.setFocus();
    window.key(Qt::Key_Home);
    window.key(Qt::Key_Right);
    window.key(Qt::Key_Plus);
    window.key(Qt::Key_0);
    window.key(Qt::Key_Return);
    CHECK(window.named<QTableView>("Connections of the hosts").hasFocus());
    window.key(Qt::Key_Down);
    CHECK(window.selection().connection().has_value());
}
