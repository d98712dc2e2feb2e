// The packet list over sample captures: what it says, where keys lead, what stays when a filter comes, how long a
// picture takes.
#include <dissect/filter/filter.hpp>
#include <gui/packets/corresponding.hpp>
#include <gui/packets/filter_offers.hpp>
#include <gui/packets/packet_list.hpp>
#include <tests/gui/application.hpp>
#include <tests/gui/pictures.hpp>
#include <tests/gui/sample_rows.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/packets.hpp>

#include <QAccessible>
#include <QApplication>
#include <QHeaderView>
#include <QMenu>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <map>

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::FrameIndex;
using qps::tests::check_golden;

namespace {

// A list of a sample, shown, with room for 20 rows.
struct ShownList {
    explicit ShownList(std::string_view sample, std::string_view file = "capture.pcap")
        : rows(loadSample(sample, file)) {
        show(list, &rows);
    }
    static void show(PacketList& list, PacketRows* rows) {
        list.setRows(rows);
        list.resize(1200, 20 * list.rowHeight() + list.header()->sizeHint().height() + 2 * list.frameWidth());
        list.show();
        static_cast<void>(QTest::qWaitForWindowExposed(&list));
        // With a wide font a scroll bar takes its place too.
        list.resize(list.width(), list.height() + 20 * list.rowHeight() - list.viewport()->height());
        QApplication::processEvents();
    }
    // Shows every so many-th packet.
    void filter(std::uint64_t each) {
        qps::transport::RowSet set;
        for (std::uint64_t i = each; i <= rows.total(); i += each) set.set(FrameIndex{i}, true);
        rows.shown = set;
        list.rowsChanged();
    }
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) { QTest::keyClick(&list, key, modifiers); }

    struct Application {
        Application() { needApplication(); }
    } application;
    SampleRows rows;
    PacketList list;
};

qps::transport::RowSet framesThat(SampleRows& rows, const char* text) {
    const auto filter = qps::dissect::Filter::compile(text);
    REQUIRE(filter.has_value());
    qps::transport::RowSet set;
    for (std::uint64_t i = 1; i <= rows.total(); ++i)
        if (filter->matches(*rows.read(FrameIndex{i}))) set.set(FrameIndex{i}, true);
    return set;
}

}  // namespace

TEST_CASE("a list says what its packets are") {
    const char* sample = GENERATE("loss_write", "err_rnr", "congestion", "write_bidir_cm");
    ShownList shown(sample);
    REQUIRE(shown.list.addFieldColumn(QStringLiteral("infiniband.bth.psn")));
    REQUIRE_FALSE(shown.list.addFieldColumn(QStringLiteral("infiniband.bth.nonsense")));
    QString text;
    for (std::uint64_t at = 0; at < std::min<std::uint64_t>(shown.rows.count(), 60); ++at) {
        const RowText& row = shown.list.textAt(at);
        text += QStringList(row.cells.begin(), row.cells.end()).join(QStringLiteral(" | "));
        text += row.rule != nullptr ? QStringLiteral(" [%1]\n").arg(row.rule->name) : QStringLiteral("\n");
    }
    check_golden(std::string("gui/golden/list_") + sample + ".txt", text.toStdString());
}

TEST_CASE("every rule for colours is a filter") {
    for (const RowRule& rule : standardRules()) {
        CAPTURE(rule.filter.toStdString());
        CHECK(qps::dissect::Filter::compile(rule.filter.toStdString()).has_value());
    }
}

TEST_CASE("every rule for colours has packets among the samples, and the worst wins") {
    const RowRules rules;
    std::map<QString, std::size_t> seen;
    for (const char* name :
         {"loss_write", "err_rnr", "corrupt_send", "congestion", "write_bidir_cm", "cut_128", "dup_write"}) {
        SampleRows rows(loadSample(name));
        for (std::uint64_t i = 1; i <= rows.total(); ++i) {
            const qps::dissect::Packet* packet = rows.read(FrameIndex{i});
            const RowRule* rule = rules.of(*packet);
            if (rule != nullptr) ++seen[rule->name];
            if (packet->icrc.status == qps::dissect::CrcStatus::bad) {
                REQUIRE(rule != nullptr);
                CHECK(rule->name == QStringLiteral("Bad ICRC or VCRC"));
            }
        }
    }
    for (const RowRule& rule : rules.rules()) {
        CAPTURE(rule.name.toStdString());
        // No sample was taken at a mirror that copies.
        CHECK((seen[rule.name] > 0 || rule.name == QStringLiteral("Mirror copy")));
    }
    std::vector<RowRule> off = standardRules();
    for (RowRule& rule : off) rule.on = false;
    off.push_back({QStringLiteral("no filter"), QStringLiteral("nonsense =="), Ink::Other});
    SampleRows rows(loadSample("err_rnr"));
    const RowRules none(std::move(off));
    for (std::uint64_t i = 1; i <= rows.total(); ++i) REQUIRE(none.of(*rows.read(FrameIndex{i})) == nullptr);
}

TEST_CASE("a packet that cannot be read any more says so") {
    ShownList shown("write_8k");
    shown.rows.lost.set(FrameIndex{2}, true);
    shown.list.rowsChanged();
    CHECK_FALSE(shown.list.textAt(1).readable);
    CHECK(shown.list.textAt(1).cells.front() == QStringLiteral("2"));
    CHECK(shown.list.textAt(1).cells.back().contains(QStringLiteral("cannot be read")));
    CHECK(shown.list.textAt(2).readable);
}

TEST_CASE("times count from where the user says") {
    ShownList shown("write_8k");
    const auto time = [&](std::uint64_t at) { return shown.list.textAt(at).cells[1].toStdString(); };
    const auto since = [&](std::uint64_t from, std::uint64_t to) {
        return secondsText(qps::dissect::Duration{std::to_underlying(shown.rows.row(FrameIndex{to}).time()) -
                                                  std::to_underlying(shown.rows.row(FrameIndex{from}).time())})
            .toStdString();
    };
    CHECK(time(0) == "0.000000000");
    CHECK(time(4) == since(1, 5));
    shown.list.setTimeFormat(TimeFormat::SincePreviousShown);
    CHECK(time(4) == since(4, 5));
    shown.filter(2);  // 2, 4, 6, ...
    CHECK(time(2) == since(4, 6));
    shown.list.setTimeFormat(TimeFormat::SinceFirstShown);
    CHECK(time(2) == since(2, 6));
    shown.list.setTimeFormat(TimeFormat::SinceFirst);
    shown.list.goTo(FrameIndex{4});
    shown.list.toggleTimeReference();
    CHECK(time(0) == since(1, 2));
    CHECK(time(1) == "*REF*");
    CHECK(time(2) == since(4, 6));
    shown.list.setTimeFormat(TimeFormat::Utc);
    CHECK(QString::fromStdString(time(1)).endsWith(QStringLiteral(" UTC")));
    CHECK(secondsText(qps::dissect::Duration{-1}) == QStringLiteral("-0.000000001"));
    CHECK(secondsText(qps::dissect::Duration{INT64_MIN}) == QStringLiteral("-9223372036.854775808"));
}

TEST_CASE("keys go through the list") {
    ShownList shown("multi_qp");
    const std::uint64_t last = shown.rows.total();
    REQUIRE(last > 60);
    const auto at = [&] { return number(shown.list.current()); };
    shown.key(Qt::Key_Down);
    CHECK(at() == 1);
    shown.key(Qt::Key_Down);
    CHECK(at() == 2);
    shown.key(Qt::Key_End);
    CHECK(at() == last);
    CHECK(shown.list.topRow() == last - 20);
    CHECK(shown.list.viewport()->rect().contains(shown.list.rowRect(last - 1)));
    shown.key(Qt::Key_Down);
    CHECK(at() == last);
    shown.key(Qt::Key_PageUp);
    CHECK(at() == last - 19);
    shown.key(Qt::Key_Home, Qt::ControlModifier);
    CHECK(at() == 1);
    shown.key(Qt::Key_PageDown);
    CHECK(at() == 20);
    shown.key(Qt::Key_Up);
    CHECK(at() == 19);
    shown.key(Qt::Key_Down, Qt::ShiftModifier);
    shown.key(Qt::Key_Down, Qt::ShiftModifier);
    CHECK(shown.list.selectedFrames() == std::vector<FrameRange>{{FrameIndex{19}, FrameIndex{21}}});
    CHECK(shown.list.copied(PacketList::CopyForm::Text).count(QLatin1Char('\n')) == 3);
    CHECK(shown.list.copied(PacketList::CopyForm::Csv).startsWith(QStringLiteral("No.,Time,Source,")));
    QSignalSpy opened(&shown.list, &PacketList::packetOpened);
    shown.key(Qt::Key_Return);
    CHECK(opened.count() == 1);
}

TEST_CASE("moves of the window find packets of a connection, marks and references") {
    ShownList shown("multi_qp");
    PacketList& list = shown.list;
    CHECK(list.firstPacket());
    CHECK_FALSE(list.previousPacket());
    CHECK(list.nextPacket());
    CHECK(number(list.current()) == 2);
    std::uint64_t from = 1;
    while (!shown.rows.row(FrameIndex{from}).connection()) ++from;
    const auto connection = shown.rows.row(FrameIndex{from}).connection();
    list.goTo(FrameIndex{from});
    REQUIRE(list.nextInConversation());
    const std::uint64_t next = number(list.current());
    CHECK(shown.rows.row(FrameIndex{next}).connection() == connection);
    for (std::uint64_t between = from + 1; between < next; ++between)
        CHECK(shown.rows.row(FrameIndex{between}).connection() != connection);
    CHECK(list.previousInConversation());
    CHECK(number(list.current()) == from);
    CHECK(list.conversationFilter() == QStringLiteral("rdma.connection == %1").arg(std::to_underlying(*connection)));

    QSignalSpy notices(&list, &PacketList::notice);
    CHECK_FALSE(list.nextMark());
    CHECK(notices.count() == 1);
    list.goTo(FrameIndex{30});
    list.toggleMark();
    list.goTo(FrameIndex{50});
    list.toggleMark();
    CHECK(list.previousMark());
    CHECK(number(list.current()) == 30);
    CHECK(list.nextMark());
    CHECK(number(list.current()) == 50);
    list.toggleMark();
    CHECK(list.notes().marks.size() == 1);
    list.toggleTimeReference();
    list.firstPacket();
    CHECK(list.nextTimeReference());
    CHECK(number(list.current()) == 50);
    list.markAllShown();
    CHECK(list.notes().marks.size() == shown.rows.total());
}

TEST_CASE("a request leads to its answer and back") {
    const char* sample = GENERATE("write_8k", "read_8k", "send_8k", "atomic_cas", "loss_read");
    ShownList shown(sample);
    CAPTURE(sample);
    const auto& messages = *shown.rows.messages();
    REQUIRE(messages.size() > 0);
    std::size_t followed = 0;
    for (std::uint64_t i = 0; i < messages.size(); ++i) {
        const qps::transport::MessageRow message = messages[i];
        if (!message.answer_frame()) continue;
        CAPTURE(i, number(message.first_frame()), number(message.answer_frame()));
        CHECK(correspondingTo(shown.rows, message.first_frame()) == message.answer_frame());
        const auto back = messageOf(shown.rows, *message.answer_frame());
        REQUIRE(back);
        CHECK(back->answer_frame() == message.answer_frame());
        const qps::transport::RowSet matches = framesThat(shown.rows, filterOf(shown.rows, message).c_str());
        CHECK(matches.contains(message.first_frame()));
        CHECK(matches.contains(message.last_frame()));
        CHECK(matches.contains(*message.answer_frame()));
        CHECK(matches.size() >= std::min<std::uint64_t>(message.psns(), 2));
        ++followed;
    }
    CHECK(followed > 0);
    CHECK_FALSE(correspondingTo(shown.rows, FrameIndex{shown.rows.total()}) == FrameIndex{shown.rows.total()});
}

TEST_CASE("what the user looks at stays where it was when a filter comes, and while its hits stream in") {
    ShownList shown("multi_qp");
    shown.list.goTo(FrameIndex{40});
    const QRect before = shown.list.rowRect(39);
    REQUIRE_FALSE(before.isEmpty());
    shown.filter(2);
    CHECK(number(shown.list.current()) == 40);
    CHECK(shown.list.rowRect(19).isEmpty() == false);
    // Nothing is found at first, then all of it.
    const auto hits = *shown.rows.shown;
    shown.rows.shown = qps::transport::RowSet{};
    shown.list.rowsChanged();
    CHECK(shown.list.geometryOfRows().rows == 0);
    shown.rows.shown.reset();
    shown.list.rowsChanged();
    CHECK(shown.list.rowRect(39) == before);
    // A packet that the filter hides is still the current one; the next key goes to its neighbour.
    shown.rows.shown = hits;
    shown.list.rowsChanged();
    shown.list.goTo(FrameIndex{41});
    shown.key(Qt::Key_Down);
    CHECK(number(shown.list.current()) == 42);
}

TEST_CASE("a list at its end goes along with a capture, elsewhere it does not") {
    ShownList shown("multi_qp");
    const auto only = [&](std::uint64_t rows) {
        qps::transport::RowSet set;
        for (std::uint64_t i = 1; i <= rows; ++i) set.set(FrameIndex{i}, true);
        shown.rows.shown = set;
        shown.list.rowsChanged();
    };
    shown.list.setAutoScroll(true);
    only(40);
    shown.list.lastPacket();
    only(60);
    CHECK(shown.list.topRow() == 40);
    shown.list.scrollTo(10);
    only(70);
    CHECK(shown.list.topRow() == 10);
}

TEST_CASE("comments are the file's, or the user's") {
    ShownList shown("err_rnr_pcapng", "capture.pcapng");
    REQUIRE(shown.list.setComment(FrameIndex{3}, QStringLiteral("here it begins")));
    CHECK(shown.list.textAt(2).comment == QStringLiteral("here it begins"));
    CHECK(shown.list.notes().comments.all().size() == 1);
    CHECK(shown.list.spoken(2).endsWith(QStringLiteral("comment: here it begins")));
    REQUIRE(shown.list.setComment(FrameIndex{3}, QString()));
    CHECK(shown.list.textAt(2).comment.isEmpty());
}

TEST_CASE("a comment of the file is shown, and cannot write to the screen what it likes") {
    needApplication();
    auto sample = std::make_shared<LoadedCapture>();
    const auto original = loadSample("write_8k");
    sample->frames = {original->frames[0]};
    sample->annotations = {{}};
    sample->rows = {original->rows[0]};
    sample->options = {
        qps::tests::hex("01 00 05 00 68 69 1b 21 ff 00 00 00 00 00 00 00")};  // a comment: "hi", ESC, "!", no UTF-8
    sample->frames[0].options = sample->options[0];
    SampleRows rows(sample);
    PacketList list;
    list.setRows(&rows);
    CHECK(list.textAt(0).comment == QStringLiteral("hi\\x1b!\\xff"));
    list.firstPacket();
    REQUIRE(list.setComment(FrameIndex{1}, QStringLiteral("mine")));
    CHECK(list.textAt(0).comment == QStringLiteral("mine"));
}

TEST_CASE("a conversation is coloured, and not any more") {
    ShownList shown("multi_qp");
    std::uint64_t at = 1;
    while (!shown.rows.row(FrameIndex{at}).connection() || shown.list.textAt(at - 1).rule != nullptr) ++at;
    shown.list.goTo(FrameIndex{at});
    shown.list.colourConversation();
    REQUIRE(shown.list.textAt(at - 1).rule != nullptr);
    CHECK(shown.list.textAt(at - 1).rule->filter == shown.list.conversationFilter());
    CHECK(shown.list.textAt(0).rule == nullptr);
    shown.list.colourConversation();
    CHECK(shown.list.textAt(at - 1).rule == nullptr);
}

TEST_CASE("the menu of a row offers filters of its cell, its conversation and its message") {
    ShownList shown("write_8k");
    shown.list.goTo(FrameIndex{22});
    shown.list.setPresentFilter(QStringLiteral("frame.len > 60"));
    QSignalSpy applied(&shown.list, &PacketList::filterWanted);
    QSignalSpy prepared(&shown.list, &PacketList::filterPrepared);
    QMenu menu;
    shown.list.fillRowMenu(menu, 2);
    const auto all = menu.findChildren<QAction*>();
    for (QAction* action : all) {
        const bool selected = action->text().contains(QStringLiteral("selected"), Qt::CaseInsensitive);
        if (!selected && !action->text().contains(QStringLiteral("Co&nnection")) &&
            !action->text().contains(QStringLiteral("&Follow")))
            continue;
        CAPTURE(action->text().toStdString());
        CHECK(action->isEnabled());
        const auto before = applied.count() + prepared.count();
        action->trigger();
        CHECK(applied.count() + prepared.count() == before + 1);
    }
    CHECK(prepared.count() == 6);
    REQUIRE(applied.count() == 8);
    CHECK(applied[0][0].toString() == QStringLiteral("ip.src == 10.77.0.11"));
    CHECK(applied[2][0].toString() == QStringLiteral("(frame.len > 60) and (ip.src == 10.77.0.11)"));
    for (const auto& filter : applied)
        CHECK(qps::dissect::Filter::compile(filter[0].toString().toStdString()).has_value());
}

TEST_CASE("columns are kept as the user left them") {
    ShownList shown("write_8k");
    REQUIRE(shown.list.addFieldColumn(QStringLiteral("infiniband.bth.destqp")));
    shown.list.header()->moveSection(0, 2);
    shown.list.header()->resizeSection(1, 321);
    const QStringList saved = shown.list.saveColumns();
    CHECK(saved[0].startsWith(QStringLiteral("time|Time|right|shown|321")));
    CHECK(saved[2].startsWith(QStringLiteral("number|")));
    PacketList other;
    other.restoreColumns(saved +
                         QStringList{QStringLiteral("no.such.field|x|left|shown|1"), QStringLiteral("nonsense")});
    CHECK(other.saveColumns().mid(0, 7) == saved.mid(0, 7));
    CHECK(other.columns().size() == shown.list.columns().size());
}

TEST_CASE("a column fits the rows in sight when its edge is double-clicked") {
    ShownList shown("rping_v6");
    shown.list.goTo(FrameIndex{shown.rows.total()});
    const int source = 2;
    shown.list.header()->resizeSection(source, 20);
    Q_EMIT shown.list.header()->sectionHandleDoubleClicked(source);
    int widest = 0;
    for (std::uint64_t i = 0; i < 20 && shown.list.topRow() + i < shown.rows.count(); ++i)
        widest = std::max(widest, shown.list.fontMetrics().horizontalAdvance(
                                      shown.list.textAt(shown.list.topRow() + i).cells[source]));
    CHECK(widest > 20);
    CHECK(shown.list.cellRect(shown.list.topRow(), source).width() > widest);
    CHECK(shown.list.cellRect(shown.list.topRow(), source).width() < widest + 40);
}

TEST_CASE("cells offer filters that match their packet") {
    ShownList shown("tunnels");
    std::size_t offered = 0;
    for (std::uint64_t i = 1; i <= shown.rows.total(); ++i)
        for (const PacketColumn& column : shown.list.columns()) {
            const qps::dissect::Packet* packet = shown.rows.read(FrameIndex{i});
            const QString filter = cellFilter(column, *packet);
            if (filter.isEmpty()) continue;
            CAPTURE(i, filter.toStdString());
            const auto compiled = qps::dissect::Filter::compile(filter.toStdString());
            REQUIRE(compiled.has_value());
            CHECK(compiled->matches(*packet));
            if (column.kind == ColumnKind::Source) CHECK(filter.contains(cellText(column, *packet)));
            ++offered;
        }
    CHECK(offered > 5 * shown.rows.total());
    CHECK(joinedFilter(QStringLiteral("a"), QStringLiteral("b"), Joining::AndNot) ==
          QStringLiteral("(a) and (not (b))"));
    CHECK(joinedFilter(QString(), QStringLiteral("b"), Joining::Or) == QStringLiteral("b"));
}

TEST_CASE("a screen reader finds the rows in sight and the current one") {
    ShownList shown("write_8k");
    shown.list.goTo(FrameIndex{2});
    QAccessibleInterface* list = QAccessible::queryAccessibleInterface(&shown.list);
    REQUIRE(list != nullptr);
    CHECK(list->role() == QAccessible::Table);
    CHECK(list->text(QAccessible::Name) == QStringLiteral("Packets"));
    CHECK(list->text(QAccessible::Value).startsWith(QStringLiteral("No. 2, Time ")));
    QAccessibleTableInterface* table = list->tableInterface();
    REQUIRE(table != nullptr);
    CHECK(table->rowCount() == static_cast<int>(std::min<std::uint64_t>(20, shown.rows.total())));
    CHECK(table->columnDescription(0) == QStringLiteral("No."));
    CHECK(table->cellAt(1, 0)->text(QAccessible::Name) == QStringLiteral("2"));
    CHECK(table->cellAt(1, 0)->tableCellInterface()->isSelected());
    CHECK_FALSE(table->cellAt(0, 0)->tableCellInterface()->isSelected());
    CHECK(table->cellAt(1, 1) == table->cellAt(1, 1));
    CHECK(table->cellAt(1000, 0) == nullptr);
    CHECK(list->indexOfChild(table->cellAt(1, 2)) == table->columnCount() + 2);
}

TEST_CASE("a repaint of a hundred million rows takes those in sight") {
    needApplication();
    constexpr std::uint64_t kRows = 100'000'000;
    EndlessRows rows(loadSample("write_8k"), kRows);
    PacketList list;
    ShownList::show(list, &rows);
    list.resize(1600, 40 * list.rowHeight());
    QImage image(list.viewport()->size(), QImage::Format_ARGB32_Premultiplied);
    constexpr std::uint64_t kInSight = 41;  // the last of them in part
    for (int i = 0; i <= 100; ++i) {
        rows.looked_up = rows.decoded = 0;
        list.verticalScrollBar()->setValue(
            static_cast<int>(static_cast<std::int64_t>(list.verticalScrollBar()->maximum()) * i / 100));
        list.viewport()->render(&image);
        CAPTURE(i, rows.looked_up, rows.decoded);
        CHECK(rows.decoded > 0);
        CHECK(rows.decoded <= kInSight);
        CHECK(rows.looked_up <= 4 * kInSight);
    }
    CHECK(list.textAt(kRows - 1).cells.front() == QStringLiteral("100000000"));
    CHECK(list.viewport()->rect().contains(list.rowRect(kRows - 1)));
}

TEST_CASE("the wheel and the bar's arrows go by rows where a step of the bar is several") {
    needApplication();
    EndlessRows rows(loadSample("write_8k"), 4'000'000'000);
    PacketList list;
    ShownList::show(list, &rows);
    list.scrollTo(2'000'000'000);
    list.verticalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepAdd);
    CHECK(list.topRow() == 2'000'000'001);
    list.verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepSub);
    CHECK(list.topRow() == 2'000'000'001 - list.geometryOfRows().page);
    list.lastPacket();
    CHECK(number(list.current()) == 4'000'000'000);
    CHECK(list.viewport()->rect().contains(list.rowRect(3'999'999'999)));
    list.previousPacket();
    CHECK(number(list.current()) == 3'999'999'999);
}

TEST_CASE("pictures of the list") {
    ShownList shown("loss_write");
    shown.list.goTo(FrameIndex{6});
    shown.list.toggleMark();
    static_cast<void>(shown.list.setComment(FrameIndex{8}, QStringLiteral("look here")));
    shown.list.goTo(FrameIndex{4});
    shown.list.toggleIgnore();
    shown.list.goTo(FrameIndex{10});
    inBothLooks(shown.list, "packet_list", [](const QImage& image) { CHECK(image.width() > 1000); });
}
