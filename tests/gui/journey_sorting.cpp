// Journey: the packet list sorted by a column: by clicks on headings, in the order that the command line's columns
// tell, under a filter too; keys, copies and marks follow what is seen, and a third click goes back to the order of the
// capture.
#include <gui/filter/filter_line.hpp>
#include <gui/packets/event_overview.hpp>
#include <tests/gui/journey.hpp>
#include <transport-replay/series/packet_order.hpp>

#include <QHeaderView>
#include <QThread>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

void clickHead(PacketList& list, const QString& title) {
    QHeaderView& head = *list.header();
    for (int column = 0; column < head.count(); ++column) {
        if (list.columns()[static_cast<std::size_t>(column)].title != title) continue;
        QTest::mouseClick(head.viewport(), Qt::LeftButton, Qt::NoModifier,
                          {head.sectionViewportPosition(column) + head.sectionSize(column) / 2, head.height() / 2});
        return QApplication::processEvents();
    }
    FAIL("no column " << title.toStdString());
}

std::vector<qulonglong> numbersOf(PacketList& list) {
    std::vector<qulonglong> numbers;
    for (std::uint64_t at = 0; at < list.geometryOfRows().rows; ++at)
        numbers.push_back(std::to_underlying(list.rows()->frameAt(at)));
    return numbers;
}

// As the command line's column says; packets that are alike in the order of the capture.
template <class Less>
std::vector<qulonglong> sortedNumbers(std::vector<CommandRow> rows, const QString& column, Less less) {
    std::ranges::stable_sort(rows,
                             [&](const CommandRow& a, const CommandRow& b) { return less(a[column], b[column]); });
    std::vector<qulonglong> numbers;
    for (const CommandRow& row : rows) numbers.push_back(row[QStringLiteral("frame.number")].toULongLong());
    return numbers;
}

bool fewer(const QString& a, const QString& b) { return a.toLongLong() < b.toLongLong(); }
bool more(const QString& a, const QString& b) { return a.toLongLong() > b.toLongLong(); }

}  // namespace

TEST_CASE("journey: packets sorted by length, by address, under a filter, and back", "[.journey]") {
    Journey window({"loss_write"});
    window.goTo("Packets");
    PacketList& list = window.view<PacketsView>().list();
    const auto columns = [&](const QString& filter) {
        QStringList words{QStringLiteral("packets"), QStringLiteral("-e"),        QStringLiteral("frame.number"),
                          QStringLiteral("-e"),      QStringLiteral("frame.len"), QStringLiteral("-e"),
                          QStringLiteral("ip.src")};
        if (!filter.isEmpty()) words << QStringLiteral("-Y") << filter;
        return window.command(words);
    };
    const std::vector<qulonglong> ofCapture = numbersOf(list);

    clickHead(list, QStringLiteral("Length"));
    REQUIRE(Journey::soon([&] { return list.rows()->isSorted(); }));
    CHECK(numbersOf(list) == sortedNumbers(columns({}), QStringLiteral("frame.len"), fewer));
    CHECK(list.header()->isSortIndicatorShown());
    grab(window.window, QStringLiteral("journey_sorted"));
    clickHead(list, QStringLiteral("Length"));
    const auto longest = sortedNumbers(columns({}), QStringLiteral("frame.len"), more);
    REQUIRE(Journey::soon([&] { return numbersOf(list) == longest; }));

    // Keys go by what is seen, and what is selected so is what is copied.
    list.setFocus();
    window.key(Qt::Key_Home);
    CHECK(window.packet() == longest[0]);
    window.key(Qt::Key_Down);
    CHECK(window.packet() == longest[1]);
    window.key(Qt::Key_F8);
    CHECK(window.packet() == longest[2]);
    window.key(Qt::Key_Down, Qt::ShiftModifier);
    window.key(Qt::Key_Down, Qt::ShiftModifier);
    window.key(Qt::Key_C, Qt::ControlModifier);
    QStringList copied;
    for (const QString& line : QGuiApplication::clipboard()->text().split(QLatin1Char('\n'), Qt::SkipEmptyParts))
        copied << line.section(QLatin1Char('\t'), 0, 0);
    INFO(list.copied(PacketList::CopyForm::Text).toStdString() << " selected " << list.selectedFrames().size());
    CHECK(copied == QStringList{QString::number(longest[2]), QString::number(longest[3]), QString::number(longest[4])});

    // Under a filter the rest is sorted anew.
    const QString filter = QStringLiteral("infiniband.bth.opcode == 8 or infiniband.aeth");
    auto& line = *window.window.findChild<FilterLine*>();
    line.setFocus();
    window.type(filter.toUtf8().constData());
    QTest::keyClick(&line, Qt::Key_Return);
    const auto fewest = sortedNumbers(columns(filter), QStringLiteral("frame.len"), more);
    REQUIRE(!fewest.empty());
    REQUIRE(Journey::soon([&] { return list.rows()->isSorted() && numbersOf(list) == fewest; }));
    clickHead(list, QStringLiteral("Source"));
    const auto bySource = sortedNumbers(columns(filter), QStringLiteral("ip.src"),
                                        [](const QString& a, const QString& b) { return a < b; });
    REQUIRE(Journey::soon([&] { return numbersOf(list) == bySource; }));
    QTest::keyClick(&line, Qt::Key_Slash, Qt::ControlModifier | Qt::ShiftModifier);
    REQUIRE(Journey::soon([&] { return window.selection().filter().isEmpty() && list.rows()->isSorted(); }));

    // Times between packets stay those of the capture; the third click of a heading takes its order away.
    clickHead(list, QStringLiteral("Source"));
    REQUIRE(Journey::soon([&] { return list.rows()->isSorted(); }));
    clickHead(list, QStringLiteral("Source"));
    REQUIRE(Journey::soon([&] { return !list.rows()->isSorted(); }));
    CHECK(numbersOf(list) == ofCapture);
    CHECK_FALSE(list.header()->isSortIndicatorShown());
    clickHead(list, QStringLiteral("No."));
    REQUIRE(Journey::soon([&] { return numbersOf(list).front() == ofCapture.back(); }));

    // By what is different for each packet.
    clickHead(list, QStringLiteral("Info"));
    const auto isByInfo = [&] {
        std::string before;
        for (std::uint64_t at = 0; at < list.geometryOfRows().rows; ++at) {
            const std::string info = list.textAt(at).cells.back().left(64).toStdString();
            if (qps::transport::series::comes_before(info, before)) return false;
            before = info;
        }
        return list.rows()->isSorted();
    };
    CHECK(Journey::soon(isByInfo));
}

TEST_CASE("journey: a capture is closed while its packets are sorted under a filter", "[.journey]") {
    Journey window({"loss_write"});
    window.goTo("Packets");
    PacketList& list = window.view<PacketsView>().list();
    auto& line = *window.window.findChild<FilterLine*>();
    line.setFocus();
    window.type("infiniband.aeth");
    QTest::keyClick(&line, Qt::Key_Return);
    clickHead(list, QStringLiteral("Time"));
    clickHead(list, QStringLiteral("Time"));
    REQUIRE(Journey::soon([&] { return list.rows()->isSorted() && numbersOf(list).size() > 10; }));
    // Whatever begins to sort anew before the filter was asked anew has time to.
    QObject::connect(&window.selection(), &Selection::rangeChanged, &window.window, [] { QThread::msleep(100); });
    window.window.action(ActionId::Close)->trigger();
    REQUIRE(Journey::soon([&] { return list.geometryOfRows().rows == 0; }));
    QTest::qWait(200);  // what is sorted elsewhere comes back
    CHECK(list.geometryOfRows().rows == 0);
    window.window.open({QString::fromStdString(sampleFile("rc_pingpong"))});
    CHECK(Journey::soon([&] { return list.geometryOfRows().rows > 10 && list.rows()->isSorted(); }));
}
