// What happened next: the events of a finding one by one, filters by message and by finding, the bands with events.
#include <gui/filter/filter_bar.hpp>
#include <gui/packets/event_map.hpp>
#include <tests/gui/journey.hpp>

#include <QStatusBar>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

QStringList framesOf(const std::vector<CommandRow>& rows) {
    QStringList frames;
    for (const CommandRow& row : rows) frames << row[words("frame.number")];
    return frames;
}

QStringList shownFrames(Journey& window) {
    QStringList frames;
    for (std::uint64_t at = 0; at < window.selection().shown(); ++at)
        frames << QString::number(std::to_underlying(window.selection().frameAt(at)));
    return frames;
}

void applyFilter(Journey& window, const QString& filter) {
    window.key(Qt::Key_Slash, Qt::ControlModifier | Qt::ShiftModifier);
    window.key(Qt::Key_Slash, Qt::ControlModifier);
    window.type(filter.toLatin1().constData());
    window.key(Qt::Key_Return);
    window.settle();
}

constexpr Qt::KeyboardModifiers kCtrlAlt = Qt::ControlModifier | Qt::AltModifier;

}  // namespace

TEST_CASE("journey: the 21 losses of a finding one by one", "[.journey]") {
    Journey window({"loss_write"});
    const auto findings = window.command({words("findings")});
    const auto loss =
        std::ranges::find(findings, words("go-back-n-loss"), [](const CommandRow& row) { return row[words("id")]; });
    REQUIRE(loss != findings.end());
    REQUIRE((*loss)[words("count")] == words("21"));
    const QStringList events = framesOf(window.command(
        {words("packets"), words("-e"), words("frame.number"), words("-Y"), words("rdma.finding == go-back-n-loss")}));
    REQUIRE(events.size() == 21);
    // The finding is chosen in its table; then the keys go from event to event, and back.
    window.key(Qt::Key_3, Qt::AltModifier);
    HeardTable table = window.table("Findings");
    for (int row = 0; row < table.rows(); ++row)
        if (table.cell(row, words("Finding")) == words("go-back-n-loss")) table.click(row);
    QStringList visited;
    window.selection().selectPacket(qps::dissect::FrameIndex{1});
    for (qsizetype i = 0; i < events.size(); ++i) {
        window.key(Qt::Key_Period, kCtrlAlt);
        CHECK(Journey::soon([&] { return window.said().contains(words("Event %1 of 21").arg(i + 1)); }));
        visited << QString::number(window.packet());
    }
    CHECK(visited == events);
    CHECK(window.window.shownView() == words("packets"));
    window.key(Qt::Key_Period, kCtrlAlt);
    CHECK(Journey::soon([&] { return window.said().contains(words("No later event")); }));
    CHECK(QString::number(window.packet()) == events.back());
    window.key(Qt::Key_Comma, kCtrlAlt);
    CHECK(Journey::soon([&] { return window.said().contains(words("Event 20 of 21")); }));
    CHECK(QString::number(window.packet()) == events[events.size() - 2]);
}

TEST_CASE("journey: filters by finding and by message are those of the command line", "[.journey]") {
    const std::string sample = GENERATE("loss_write", "loss_read", "err_mixed", "congestion");
    CAPTURE(sample);
    Journey window({sample});
    window.key(Qt::Key_2, Qt::AltModifier);
    QStringList filters{words("rdma.finding"),
                        words("not rdma.finding"),
                        words("rdma.message == 1"),
                        words("rdma.message == 2 or rdma.message == 5"),
                        words("rdma.message != 3 and infiniband.aeth"),
                        words("rdma.message == 1000000")};
    for (const CommandRow& finding : window.command({words("findings")}))
        filters << words("rdma.finding == ") + finding[words("id")];
    for (const QString& filter : filters) {
        CAPTURE(filter.toStdString());
        applyFilter(window, filter);
        CHECK(window.selection().filter() == filter);
        CHECK(shownFrames(window) ==
              framesOf(window.command({words("packets"), words("-e"), words("frame.number"), words("-Y"), filter})));
    }
    // What a message is made of: its own first and last packets, and no packet of another connection.
    const auto messages = window.command({words("messages")});
    if (sample != "congestion") REQUIRE(messages.size() > 2);  // that one is of packets alone
    for (std::size_t at = 0; at < messages.size(); at += messages.size() / 2 + 1) {
        const CommandRow& message = messages[at];
        applyFilter(window, words("rdma.message == ") + message[words("number")]);
        const QStringList frames = shownFrames(window);
        CHECK(frames.contains(message[words("first_frame")]));
        CHECK(frames.contains(message[words("last_frame")]));
        for (const QString& frame : frames)
            CHECK(QString::number(std::to_underlying(
                      *window.session().index()->row(qps::dissect::FrameIndex{frame.toULongLong()}).connection())) ==
                  message[words("connection")]);
    }
    // Mistakes are said where they are typed.
    applyFilter(window, words("rdma.finding == go-back-to-sleep"));
    auto* mistake = window.window.findChild<QLabel*>(words("filterMistake"));
    REQUIRE(mistake != nullptr);
    CHECK(mistake->text().contains(words("no finding is called 'go-back-to-sleep'")));
}

TEST_CASE("journey: the bands show where the events are, and a click goes there", "[.journey]") {
    Journey window({"loss_write"});
    window.key(Qt::Key_2, Qt::AltModifier);
    auto& strip = window.named<EventMap>("Events over time");
    auto& bar = window.named<EventMap>("Events in the list");
    REQUIRE(Journey::soon([&] {
        return heardName(strip) == words("Events over time") && !strip.shownSlots().empty() &&
               !bar.shownSlots().empty();
    }));
    grab(window.window, words("journey_events"));
    // Each event packet of the command line is an event of the bands, and there are no others.
    const auto events = window.command(
        {words("packets"), words("-e"), words("frame.number"), words("-Y"),
         words(
             "rdma.icrc.status == bad or infiniband.aeth.syndrome.opcode == NAK or infiniband.aeth.syndrome.opcode == RNR_NAK or "
             "rdma.retransmission or rdma.psn_missing or ip.dsfield.ecn == 3 or rdma.service == CNP")});
    for (EventMap* band : {&strip, &bar}) {
        std::size_t counted = 0;
        for (const auto& slot : band->shownSlots()) counted += slot.events;
        CHECK(counted == events.size());
        CHECK(QAccessible::queryAccessibleInterface(band)->text(QAccessible::Description).contains(words("NAK")));
    }
    const QStringList naks = framesOf(window.command({words("packets"), words("-e"), words("frame.number"), words("-Y"),
                                                      words("infiniband.aeth.syndrome.opcode == NAK")}));
    // Clicks along the strip: wherever the worst is a NAK the packet is one.
    int landed = 0;
    for (int x = 0; x < strip.width(); x += 3) {
        QTest::mouseClick(&strip, Qt::LeftButton, Qt::NoModifier, QPoint(x, strip.height() / 2));
        landed += naks.contains(QString::number(window.packet()));
    }
    CHECK(landed > 5);
    QTest::mouseClick(&bar, Qt::LeftButton, Qt::NoModifier, QPoint(bar.width() / 2, bar.height() - 2));
    CHECK(window.packet() > window.session().packets() * 9 / 10);
    // Under a filter the bands are of what is shown.
    applyFilter(window, words("infiniband.aeth.syndrome.opcode == NAK"));
    REQUIRE(Journey::soon([&] {
        std::size_t counted = 0;
        for (const auto& slot : bar.shownSlots()) counted += slot.events;
        return counted == static_cast<std::size_t>(naks.size());
    }));
}
