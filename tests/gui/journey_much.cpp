// How much of what: the statistics of the window are those of the command line, and lead to the packets that they
// count.
#include <gui/statistics/statistics_view.hpp>
#include <tests/gui/journey.hpp>
#include <transport-replay/report/figures.hpp>

#include <QComboBox>
#include <QTabBar>
#include <cmath>
#include <map>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

QString grouped(qint64 number) {
    return QString::fromStdString(qps::transport::grouped(static_cast<std::uint64_t>(number)));
}

// What the sheet that is seen says by its first columns.
std::map<QString, QString> told(HeardTable table, const char* key, const char* value) {
    std::map<QString, QString> all;
    for (int row = 0; row < table.rows(); ++row) all[table.cell(row, words(key))] = table.cell(row, words(value));
    return all;
}

std::map<QString, QString> numbers(const QJsonObject& object) {
    std::map<QString, QString> all;
    for (auto each = object.begin(); each != object.end(); ++each)
        if (each.value().toInteger() != 0) all[each.key()] = grouped(each.value().toInteger());
    return all;
}

struct Counts : Journey {
    explicit Counts(const std::string& sample) : Journey({sample}) {
        goTo("Statistics");
        REQUIRE(soon([this] { return view<StatisticsView>().settled(); }));
    }
    // By keys in the row of tabs.
    void page(const char* title) {
        QTabBar& tabs = *view<StatisticsView>().findChild<QTabBar*>();
        tabs.setFocus();
        for (int step = 0; step < tabs.count(); ++step) key(Qt::Key_Left);
        for (int step = 0; step < tabs.count() && tabs.tabText(tabs.currentIndex()) != QLatin1String(title); ++step)
            key(Qt::Key_Right);
        REQUIRE(tabs.tabText(tabs.currentIndex()) == QLatin1String(title));
    }
    [[nodiscard]] std::vector<CommandRow> packets(const char* fields, const QString& filter = {}) const {
        QStringList arguments{words("packets")};
        for (const QString& field : words(fields).split(QLatin1Char(' '))) arguments << words("-e") << field;
        if (!filter.isEmpty()) arguments << words("-Y") << filter;
        return command(arguments);
    }
};

}  // namespace

TEST_CASE("journey: how much of what, by figures that are those of the command line", "[.journey]") {
    const std::string sample =
        GENERATE("congestion", "multi_qp", "loss_write", "tunnels", "iwarp_read", "rping_v6", "opcodes_native");
    CAPTURE(sample);
    Counts window(sample);
    const QJsonObject info = commandJson(QStringList{words("info")} + window.files);

    const auto properties = told(window.table("Properties"), "Property", "Value");
    CHECK(properties.at(words("Packets")) == grouped(info[words("packets")].toInteger()));
    CHECK(properties.at(words("Bytes on the wire")) == grouped(info[words("bytes")].toInteger()));
    CHECK(properties.at(words("Bytes captured")) == grouped(info[words("captured_bytes")].toInteger()));
    CHECK(properties.at(words("CE marks")) == grouped(info[words("congestion_experienced")].toInteger()));
    CHECK(properties.at(words("Payload")) == grouped(info[words("rdma_payload_bytes")].toInteger()));
    if (properties.contains(words("ICRC")))
        CHECK(properties.at(words("ICRC"))
                  .startsWith(grouped(info[words("icrc")][words("good")].toInteger()) + words(" good")));
    grab(window.window, QStringLiteral("journey_much_properties_") + QString::fromStdString(sample));

    window.page("Protocols");
    auto protocols = numbers(info[words("encapsulations")].toObject());
    protocols.merge(numbers(info[words("other")].toObject()));
    CHECK(told(window.table("Protocols"), "Protocol", "Packets") == protocols);

    window.page("Opcodes");
    CHECK(told(window.table("Opcodes"), "Opcode", "Packets") == numbers(info[words("opcodes")].toObject()));

    window.page("Lengths");
    HeardTable lengths = window.table("Lengths");
    const auto packets = window.packets("frame.len");
    qint64 all = 0;
    for (int row = 0; row < lengths.rows(); ++row) {
        const QString name = lengths.cell(row, words("Length"));
        const qint64 from = name.section(QLatin1Char(' '), 0, 0).toLongLong();
        const qint64 to = name.contains(words("more")) ? INT64_MAX : name.section(QLatin1Char(' '), -1).toLongLong();
        const auto count = std::ranges::count_if(packets, [&](const CommandRow& packet) {
            const qint64 length = packet[words("frame.len")].toLongLong();
            return from <= length && length <= to;
        });
        CAPTURE(name.toStdString());
        CHECK(count > 0);
        CHECK(lengths.cell(row, words("Packets")) == grouped(count));
        all += count;
    }
    CHECK(all == info[words("packets")].toInteger());
    grab(window.window, QStringLiteral("journey_much_lengths_") + QString::fromStdString(sample));
}

TEST_CASE("journey: how packets are marked for switches, and whether ECMP is fed", "[.journey]") {
    const std::string sample = GENERATE("congestion", "multi_qp", "err_mixed", "rping_v4");
    CAPTURE(sample);
    Counts window(sample);
    const auto packets = window.packets(
        "ip.src ip.dst ip.dsfield.dscp ip.dsfield.ecn ipv6.src ipv6.dst ipv6.tclass.dscp ipv6.tclass.ecn udp.srcport infiniband.bth.destqp",
        words("rdma.encapsulation == 3 and infiniband.bth"));
    window.page("Traffic classes");
    std::map<QString, qint64> classes;
    std::map<QString, std::map<QString, qint64>> ports;
    std::map<QString, std::set<QString>> queuePairs;
    for (const CommandRow& packet : packets) {
        const QStringList ecn{words("Not-ECT"), words("ECT(1)"), words("ECT(0)"), words("CE")};
        bool isNumber = false;
        const QString marked =
            packet[words("ip.dsfield.ecn")] + packet[words("ipv6.tclass.ecn")];  // one of them is empty
        const int number = marked.toInt(&isNumber);
        const QString dscp = packet[words("ip.dsfield.dscp")] + packet[words("ipv6.tclass.dscp")];
        ++classes[dscp + words(" ") + (isNumber ? ecn[number] : marked)];
        const QString hosts = packet[words("ip.src")] + packet[words("ipv6.src")] + words(" ") +
                              packet[words("ip.dst")] + packet[words("ipv6.dst")];
        ++ports[hosts][packet[words("udp.srcport")]];
        queuePairs[hosts].insert(packet[words("infiniband.bth.destqp")]);
    }
    HeardTable seen = window.table("Traffic classes");
    REQUIRE(seen.rows() == static_cast<int>(classes.size()));
    for (int row = 0; row < seen.rows(); ++row) {
        const QString name = seen.cell(row, words("DSCP")) + words(" ") + seen.cell(row, words("ECN"));
        CAPTURE(name.toStdString());
        CHECK(seen.cell(row, words("Packets")) == grouped(classes[name]));
    }
    grab(window.window, QStringLiteral("journey_much_classes_") + QString::fromStdString(sample));

    window.page("Source ports");
    HeardTable spread = window.table("Source ports");
    REQUIRE(spread.rows() == static_cast<int>(ports.size()));
    for (int row = 0; row < spread.rows(); ++row) {
        const QString hosts = spread.cell(row, words("From")) + words(" ") + spread.cell(row, words("To"));
        CAPTURE(hosts.toStdString());
        REQUIRE(ports.contains(hosts));
        double entropy = 0, sum = 0;
        for (const auto& [port, count] : ports[hosts]) sum += static_cast<double>(count);
        for (const auto& [port, count] : ports[hosts])
            entropy -= static_cast<double>(count) / sum * std::log2(static_cast<double>(count) / sum);
        CHECK(spread.cell(row, words("Packets")) == grouped(static_cast<qint64>(sum)));
        CHECK(spread.cell(row, words("Ports")) == grouped(static_cast<qint64>(ports[hosts].size())));
        CHECK(spread.cell(row, words("Queue pairs")) == grouped(static_cast<qint64>(queuePairs[hosts].size())));
        CHECK(std::abs(spread.cell(row, words("Entropy")).toDouble() - entropy) < 0.006);
    }
    grab(window.window, QStringLiteral("journey_much_ports_") + QString::fromStdString(sample));
}

TEST_CASE("journey: from a figure to its packets, and the figures of what is displayed", "[.journey]") {
    Counts window("loss_write");
    // Every row of every page asks for as many packets as it says.
    for (const char* title : {"Protocols", "Opcodes", "Lengths", "Traffic classes", "Source ports"}) {
        for (int row = 0; row < window.table(title).rows(); ++row) {
            window.goTo("Statistics");
            window.page(title);
            HeardTable table = window.table(title);
            const QString count = table.cell(row, words("Packets"));
            table.click(row);
            CAPTURE(title, row);
            window.key(Qt::Key_Return);
            window.settle();
            CHECK(window.window.shownView() == words("packets"));
            CHECK(grouped(static_cast<qint64>(window.selection().shown())) == count);
            window.key(Qt::Key_Slash, Qt::ControlModifier | Qt::ShiftModifier);
            window.settle();
        }
    }
    // Of the displayed packets alone.
    REQUIRE(window.selection().applyFilter(words("infiniband.aeth")));
    window.settle();
    window.goTo("Statistics");
    const auto boxes = window.view<StatisticsView>().findChildren<QComboBox*>();
    REQUIRE(boxes.size() == 1);
    boxes.front()->setFocus();
    window.key(Qt::Key_Down);
    REQUIRE(Journey::soon([&] { return window.view<StatisticsView>().settled(); }));
    window.page("Opcodes");
    const QJsonObject info =
        commandJson(QStringList{words("info"), words("-Y"), words("infiniband.aeth")} + window.files);
    CHECK(told(window.table("Opcodes"), "Opcode", "Packets") == numbers(info[words("opcodes")].toObject()));
    // The sheet is copied as it is seen.
    window.view<StatisticsView>().sheet().setFocus();
    window.view<StatisticsView>().sheet().selectAll();
    window.key(Qt::Key_C, Qt::ControlModifier);
    const QString copied = QGuiApplication::clipboard()->text();
    CHECK(copied.startsWith(words("Opcode\tPackets\tShare\n")));
    CHECK(copied.count(QLatin1Char('\n')) >= window.table("Opcodes").rows());
    grab(window.window, QStringLiteral("journey_much_displayed"));
}
