// Moving about in the window by keys and clicks: from findings to their evidence, along connections and messages, to
// marks, to packets by number, and from view to view.
#include <gui/pictures/ladder_picture.hpp>
#include <gui/pictures/psn_picture.hpp>
#include <gui/summary/summary_view.hpp>
#include <gui/tables/connections_view.hpp>
#include <gui/tables/findings_view.hpp>
#include <gui/tables/index_views.hpp>
#include <gui/tables/table_view.hpp>
#include <gui/window/views.hpp>
#include <tests/gui/window.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QClipboard>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QMouseEvent>
#include <QTableView>

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::FrameIndex;

namespace {

// The card of the start page.
QLabel& findingsOf(OpenWindow& opened) {
    for (QLabel* label : opened.window.findChildren<QLabel*>())
        if (label->accessibleName() == QStringLiteral("Findings")) return *label;
    FAIL("no findings");
    return *opened.window.findChild<QLabel*>();
}

// Moves over the label until the pointer is on a link that begins so, and clicks there. Returns the link.
QString clickLink(QLabel& label, const QString& beginning) {
    QString hovered;
    const auto hearing = QObject::connect(&label, &QLabel::linkHovered, [&](const QString& link) { hovered = link; });
    for (int y = 2; y < label.height(); y += 4)
        for (int x = 2; x < label.width(); x += 4) {
            const QPointF at(x, y);
            QMouseEvent move(QEvent::MouseMove, at, label.mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
            QApplication::sendEvent(&label, &move);
            if (!hovered.startsWith(beginning)) continue;
            QObject::disconnect(hearing);
            QTest::mouseClick(&label, Qt::LeftButton, Qt::NoModifier, QPoint(x, y));
            return hovered;
        }
    FAIL("no link begins with " << beginning.toStdString());
    return {};
}

PacketList& listOf(OpenWindow& opened) { return opened.view<PacketsView>().list(); }

// The packet has the cursor of the list, and can be seen.
bool landed(OpenWindow& opened, FrameIndex frame) {
    const PacketList& list = listOf(opened);
    const QRect row = list.rowRect(opened.selection().positionOf(frame));
    return opened.window.shownView() == QStringLiteral("packets") && list.current() == frame && !row.isEmpty() &&
           list.viewport()->rect().contains(row.center()) && list.isVisible();
}

auto connectionOf(OpenWindow& opened) {
    return opened.session().index()->row(*opened.selection().packet()).connection();
}

constexpr Qt::KeyboardModifiers kCtrlShift = Qt::ControlModifier | Qt::ShiftModifier;

}  // namespace

TEST_CASE("window: a finding's link on the start page lands on its packet, with its fields and bytes") {
    OpenWindow opened("loss_write");
    opened.window.showView(QStringLiteral("packets"));
    opened.window.showView(QStringLiteral("summary"));
    QApplication::processEvents();
    CHECK(findingsOf(opened).accessibleDescription().contains(
        QStringLiteral("lost 70 packets")));  // what a screen reader says
    const QString link = clickLink(findingsOf(opened), QStringLiteral("frame:"));
    QApplication::processEvents();
    const FrameIndex frame{link.section(QLatin1Char(':'), 1).toULongLong()};
    CHECK(std::to_underlying(frame) > 60);  // it was not in sight before
    CHECK(landed(opened, frame));
    CHECK(opened.view<PacketsView>().panes().tree().packet()->packet().frame.index == frame);
    opened.key(Qt::Key_Left, Qt::AltModifier);
    CHECK(opened.packet() != std::to_underlying(frame));
    opened.key(Qt::Key_Right, Qt::AltModifier);
    CHECK(landed(opened, frame));
}

TEST_CASE("window: next and previous finding, round and round") {
    OpenWindow opened("loss_read");
    const auto& findings = opened.session().timeline()->findings;
    REQUIRE(findings.size() > 1);
    for (std::size_t i = 0; i <= findings.size(); ++i) {
        opened.key(Qt::Key_Period, kCtrlShift);
        const auto& finding = findings[i % findings.size()];
        CAPTURE(i, finding.id);
        if (!finding.packets.empty()) CHECK(landed(opened, finding.packets.front()));
        CHECK(opened.said().contains(QString::fromStdString(finding.summary)));
    }
    opened.key(Qt::Key_Comma, kCtrlShift);
    CHECK(landed(opened, findings.back().packets.front()));
}

TEST_CASE("window: next and previous packet of the same two queue pairs") {
    OpenWindow opened("multi_qp");
    opened.window.showView(QStringLiteral("packets"));
    opened.selection().selectPacket(FrameIndex{60});
    const auto connection = connectionOf(opened);
    REQUIRE(connection);
    const std::uint64_t first = opened.packet();
    bool skipped = false;
    constexpr int kSteps = 60;
    for (int i = 0; i < kSteps; ++i) {
        const std::uint64_t before = opened.packet();
        opened.key(Qt::Key_Period, Qt::ControlModifier);
        REQUIRE(opened.packet() > before);
        CHECK(connectionOf(opened) == connection);
        skipped = skipped || opened.packet() > before + 1;
    }
    CHECK(skipped);  // those of others
    for (int i = 0; i < kSteps; ++i) opened.key(Qt::Key_Comma, Qt::ControlModifier);
    CHECK(opened.packet() == first);
}

TEST_CASE("window: from a request to its answer and back, and only the packets of a message") {
    OpenWindow opened("read_8k");
    opened.window.showView(QStringLiteral("packets"));
    const auto& messages = opened.session().index()->messages;
    REQUIRE(messages.size() > 3);
    const FrameIndex request = messages[2].first_frame();
    opened.selection().selectPacket(request);
    opened.key(Qt::Key_J, Qt::ControlModifier);
    const std::uint64_t answer = opened.packet();
    CHECK(answer > std::to_underlying(request));
    opened.key(Qt::Key_J, Qt::ControlModifier);
    CHECK(opened.packet() == std::to_underlying(request));

    opened.key(Qt::Key_F, kCtrlShift);
    opened.settle();
    CHECK(opened.selection().filter().contains(QStringLiteral("rdma.message == ")));
    CHECK(opened.selection().shown() == 9);  // the request, and eight responses of 1 KiB
    CHECK(opened.selection().isShown(request));
    CHECK(opened.selection().isShown(FrameIndex{answer}));
    opened.key(Qt::Key_F, Qt::ControlModifier | Qt::AltModifier);
    opened.settle();
    CHECK(opened.selection().shown() > 9);
    CHECK(opened.selection().filter().contains(QStringLiteral("connection")));
}

TEST_CASE("window: marks are set, counted and gone to") {
    OpenWindow opened("write_8k");
    opened.window.showView(QStringLiteral("packets"));
    for (const std::uint64_t frame : {5U, 50U, 90U}) {
        opened.selection().selectPacket(FrameIndex{frame});
        opened.key(Qt::Key_M, Qt::ControlModifier);
    }
    CHECK(opened.selection().marks().size() == 3);
    CHECK(opened.counts().contains(QStringLiteral("3 marked")));
    opened.key(Qt::Key_N, kCtrlShift);
    CHECK(opened.packet() == 90);  // there is none after it
    CHECK(opened.said() == QStringLiteral("No later mark"));
    opened.key(Qt::Key_B, kCtrlShift);
    opened.key(Qt::Key_B, kCtrlShift);
    CHECK(opened.packet() == 5);
    opened.key(Qt::Key_N, kCtrlShift);
    CHECK(opened.packet() == 50);
    opened.key(Qt::Key_M, Qt::ControlModifier);
    CHECK(opened.selection().marks().size() == 2);
    opened.key(Qt::Key_M, kCtrlShift);
    CHECK(opened.selection().marks().size() == opened.session().packets());
}

TEST_CASE("window: a packet is gone to by its number, from any view") {
    OpenWindow opened("loss_write");
    {
        const Answering answering([](QWidget& dialog) {
            auto* box = dialog.findChild<QDoubleSpinBox*>();
            REQUIRE(box != nullptr);
            box->selectAll();
            QTest::keyClicks(box, QStringLiteral("1234"));
            QTest::keyClick(box, Qt::Key_Return);
        });
        opened.key(Qt::Key_G, Qt::ControlModifier);
        CHECK(answering.dialogs() == 1);
    }
    CHECK(landed(opened, FrameIndex{1234}));
    opened.key(Qt::Key_End, Qt::ControlModifier);
    CHECK(landed(opened, FrameIndex{opened.session().packets()}));
    opened.key(Qt::Key_Up, Qt::ControlModifier);
    opened.key(Qt::Key_F7);
    CHECK(opened.packet() == opened.session().packets() - 2);
    opened.key(Qt::Key_Home, Qt::ControlModifier);
    opened.key(Qt::Key_F8);
    CHECK(landed(opened, FrameIndex{2}));
    {
        const Answering answering;  // cancels
        opened.key(Qt::Key_G, Qt::ControlModifier);
        CHECK(answering.dialogs() == 1);
    }
    CHECK(opened.packet() == 2);
}

TEST_CASE("window: Alt and a digit go to the views, which take the keyboard") {
    OpenWindow opened("rping_v4");
    for (std::size_t i = 0; i < std::min<std::size_t>(viewRows().size(), 10); ++i) {
        const QString id = QString::fromUtf8(viewRows()[i].id);
        CAPTURE(id.toStdString());
        opened.key(static_cast<Qt::Key>(Qt::Key_0 + (static_cast<int>(i) + 1) % 10), Qt::AltModifier);
        CHECK(opened.window.shownView() == id);
        auto* view = opened.window.findChild<QWidget*>(id);
        REQUIRE(opened.window.focusWidget() != nullptr);
        CHECK((view == opened.window.focusWidget() || view->isAncestorOf(opened.window.focusWidget())));
    }
    auto& sidebar = opened.named<QListWidget>("Views");
    const QModelIndex third = sidebar.model()->index(2, 0);
    QTest::mouseClick(sidebar.viewport(), Qt::LeftButton, Qt::NoModifier, sidebar.visualRect(third).center());
    CHECK(opened.window.shownView() == QString::fromUtf8(viewRows()[2].id));
}

TEST_CASE("window: the connection chosen in the table is that of the pictures") {
    OpenWindow opened("multi_qp");
    opened.window.showView(QStringLiteral("connections"));
    TableView& table = *opened.view<ConnectionsView>().findChild<TableView*>();
    REQUIRE(table.model().rowCount() > 2);
    table.select(0);
    opened.key(Qt::Key_Down);
    opened.key(Qt::Key_Down);
    const auto chosen = opened.selection().connection();
    REQUIRE(chosen);
    REQUIRE(table.current());
    CHECK(table.model().place(*table.current()).connection == chosen);
    opened.key(Qt::Key_8, Qt::AltModifier);
    auto& psn = opened.view<PsnPicture>();
    REQUIRE(QTest::qWaitFor([&] { return psn.settled() && !psn.plot().data().empty(); }, kPatience));
    opened.window.showView(QStringLiteral("ladder"));
    LadderView& ladder = opened.view<LadderPicture>().view();
    REQUIRE(QTest::qWaitFor([&] { return !ladder.ladder().lines.empty(); }, kPatience));
    for (const auto& line : ladder.ladder().lines)
        CHECK(opened.session().index()->row(line.frame).connection() == chosen);
    // A packet of another one changes both.
    opened.window.showView(QStringLiteral("packets"));
    for (std::uint64_t frame = 1; opened.selection().connection() == chosen; ++frame)
        opened.selection().selectPacket(FrameIndex{frame});
    opened.window.showView(QStringLiteral("connections"));
    CHECK(table.model().place(*table.current()).connection == opened.selection().connection());
}

TEST_CASE("window: Enter on a finding goes to its evidence, on a message to its packet") {
    OpenWindow opened("loss_write");
    for (const char* id : {"findings", "messages"}) {
        CAPTURE(id);
        opened.window.showView(QLatin1String(id));
        auto* table = opened.window.findChild<QWidget*>(QLatin1String(id))->findChild<TableView*>();
        table->select(0);
        const auto place = table->model().place(0);
        opened.key(Qt::Key_Return);
        CHECK(landed(opened, place.shown));
    }
}

TEST_CASE("window: Ctrl+C copies what the view with the keyboard has") {
    OpenWindow opened("loss_write");
    QClipboard& clipboard = *QGuiApplication::clipboard();
    opened.window.showView(QStringLiteral("packets"));
    opened.selection().selectPacket(FrameIndex{30});
    clipboard.clear();
    opened.key(Qt::Key_C, Qt::ControlModifier);
    CHECK(clipboard.text() == listOf(opened).copied(PacketList::CopyForm::Text));
    CHECK_FALSE(clipboard.text().isEmpty());
    opened.view<PacketsView>().panes().tree().setFocus();
    opened.key(Qt::Key_Down);
    opened.key(Qt::Key_C, Qt::ControlModifier);
    CHECK(clipboard.text() == opened.view<PacketsView>().panes().tree().copied(FieldTree::CopyForm::Line));
    for (const char* id : {"connections", "messages", "findings"}) {
        CAPTURE(id);
        opened.window.showView(QLatin1String(id));
        QApplication::processEvents();
        auto* table = opened.window.findChild<QWidget*>(QLatin1String(id))->findChild<TableView*>();
        // The view chooses a row by itself when it is shown; what is copied then may be another one's text.
        CHECK(QTest::qWaitFor([&] {
            table->select(0);
            clipboard.clear();
            opened.key(Qt::Key_C, Qt::ControlModifier);
            return !clipboard.text().isEmpty() && clipboard.text() == table->selectedText(TextFormat::Tsv);
        }));
    }
}

TEST_CASE("window: typing in a table searches there, whatever letter it begins with") {
    OpenWindow opened("multi_qp");
    opened.window.showView(QStringLiteral("messages"));
    auto& table = *opened.window.findChild<QWidget*>(QStringLiteral("messages"))->findChild<TableView*>();
    table.select(0);
    const std::uint64_t before = opened.packet();
    opened.type("rq");  // which would begin a filter elsewhere
    CHECK(table.searchLine().text() == QStringLiteral("rq"));
    CHECK(opened.packet() == before);
    CHECK(opened.selection().filter().isEmpty());
    opened.key(Qt::Key_Escape);
    CHECK(table.searchLine().text().isEmpty());
}
