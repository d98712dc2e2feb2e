// The table views over sample captures: rows follow the selection and the selection follows rows, filters come from
// rows, text is found and copied, and everything can be done by keys.
#include <gui/base/text.hpp>
#include <gui/tables/cm_pane.hpp>
#include <gui/tables/cm_view.hpp>
#include <gui/tables/column_widths.hpp>
#include <gui/tables/connections_view.hpp>
#include <gui/tables/finding_pane.hpp>
#include <gui/tables/findings_view.hpp>
#include <gui/tables/index_views.hpp>
#include <gui/tables/table_tie.hpp>
#include <tests/gui/looking.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QCheckBox>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <cmath>

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::FrameIndex;

namespace {

// A view of a capture, as the window has it.
template <class View> struct OpenedTable {
    explicit OpenedTable(const std::string& capture, int width = 1100) : selection(session), view(session, selection) {
        openSample(session, capture);
        view.resize(width, 560);
        view.show();
        QApplication::processEvents();
        table = view.template findChild<TableView*>();
    }
    Session session{1};
    Selection selection;
    View view;
    TableView* table = nullptr;
};

}  // namespace

TEST_CASE("filters of rows join the one that is there") {
    CHECK(combined(QStringLiteral("a"), QStringLiteral("b"), FilterUse::Replace) == QStringLiteral("b"));
    CHECK(combined(QStringLiteral("a"), QStringLiteral("b"), FilterUse::Exclude) == QStringLiteral("not (b)"));
    CHECK(combined(QStringLiteral("a or c"), QStringLiteral("b"), FilterUse::And) ==
          QStringLiteral("(a or c) and (b)"));
    CHECK(combined(QStringLiteral("a"), QStringLiteral("b"), FilterUse::Or) == QStringLiteral("(a) or (b)"));
    CHECK(combined(QStringLiteral(" "), QStringLiteral("b"), FilterUse::And) == QStringLiteral("b"));
}

TEST_CASE("columns fit their contents where one is hidden at first, until the user sizes one") {
    needApplication();
    QSettings().remove(QStringLiteral("tables"));
    OpenedTable<ConnectionsView> open("multi_qp", 1600);
    auto& table = open.table->table();
    QHeaderView& header = *table.horizontalHeader();
    const auto fits = [&](int column) {
        const QString text = table.model()->index(0, column).data().toString();
        return header.sectionSize(column) >= table.fontMetrics().horizontalAdvance(text);
    };
    REQUIRE(table.model()->rowCount() > 0);
    CHECK(header.hiddenSectionCount() > 0);
    for (int column = 0; column + 1 < header.count(); ++column) {
        CAPTURE(column, header.sectionSize(column));
        CHECK((header.isSectionHidden(column) || fits(column)));
    }
}

TEST_CASE("a table looks the same way in light and dark") {
    needApplication();
    const bool dark = GENERATE(false, true);
    useDarkPalette(dark);
    const QString suffix = dark ? QStringLiteral("_dark") : QStringLiteral("_light");
    {
        OpenedTable<ConnectionsView> opened("multi_qp");
        opened.table->select(0);
        CHECK(opened.table->model().rowCount() > 1);
        grab(opened.view, QStringLiteral("connections") + suffix);
    }
    {
        OpenedTable<MessagesView> opened("loss_write");
        opened.table->select(3);
        CHECK(opened.table->model().rowCount() == 40);
        grab(opened.view, QStringLiteral("messages") + suffix);
    }
    {
        OpenedTable<OperationsView> opened("nvme_rdma");
        opened.table->select(3);
        CHECK(opened.table->model().rowCount() > 50);
        grab(opened.view, QStringLiteral("operations") + suffix);
    }
    {
        OpenedTable<FindingsView> opened("err_mixed");
        opened.table->select(0);
        CHECK(opened.table->model().rowCount() > 0);
        grab(opened.view, QStringLiteral("findings") + suffix);
    }
    {
        OpenedTable<CmView> opened("cm_timeout_noanswer");
        opened.table->select(0);
        CHECK(opened.table->model().rowCount() > 0);
        grab(opened.view, QStringLiteral("cm_timeout") + suffix);
    }
    {
        OpenedTable<CmView> opened("nvme_rdma");
        opened.table->select(0);
        grab(opened.view, QStringLiteral("cm") + suffix);
    }
    {
        OpenedTable<CmView> opened("loss_write");
        CHECK(opened.table->model().rowCount() == 0);
        grab(opened.view, QStringLiteral("cm_none") + suffix);
    }
    useDarkPalette(false);
}

TEST_CASE("the menu of a connection says what it speaks, and lets the user say otherwise") {
    needApplication();
    OpenedTable<ConnectionsView> opened("nvme_rdma");
    const auto& conversations = opened.session.timeline()->ulp.conversations;
    REQUIRE(!conversations.empty());
    const auto connection = conversations.front().connection;
    const std::size_t others = conversations.size() - 1;
    opened.table->select(*opened.table->model().rowOfConnection(connection));
    const std::unique_ptr<QMenu> menu(opened.table->makeMenu());
    QMenu* choices = nullptr;
    for (QAction* action : menu->actions())
        if (action->text() == QStringLiteral("&Decode as")) choices = action->menu();
    REQUIRE(choices != nullptr);
    QAction* nothing = nullptr;
    for (QAction* action : choices->actions()) {
        CHECK(action->isChecked() == (action->text() == QStringLiteral("NVMe over RDMA")));
        if (action->text() == QStringLiteral("None")) nothing = action;
    }
    REQUIRE(nothing != nullptr);
    QSignalSpy state(&opened.session, &Session::stateChanged);
    nothing->trigger();
    while (opened.session.busy()) REQUIRE(state.wait());
    CHECK(opened.session.timeline()->ulp.find(connection) == nullptr);
    CHECK(opened.session.timeline()->ulp.conversations.size() == others);
    opened.session.reload();  // what the user said stays
    while (opened.session.busy()) REQUIRE(state.wait());
    CHECK(opened.session.timeline()->ulp.find(connection) == nullptr);
}

TEST_CASE("a packet that is chosen elsewhere moves the cursor of the tables and leaves the focus where it is") {
    needApplication();
    OpenedTable<MessagesView> opened("loss_write");
    opened.table->searchLine().setFocus();
    QSignalSpy chosen(opened.table, &TableView::rowChosen);
    const FrameIndex frame = opened.table->model().place(7).first;
    opened.selection.selectPacket(frame);
    CHECK(opened.table->current() == 7U);
    CHECK(opened.selection.packet() == frame);
    CHECK(chosen.isEmpty());
    CHECK(QApplication::focusWidget() == &opened.table->searchLine());
}

TEST_CASE("a table that is hidden follows when it is shown") {
    needApplication();
    OpenedTable<MessagesView> opened("loss_write");
    opened.view.hide();
    opened.selection.selectPacket(opened.table->model().place(9).first);
    CHECK_FALSE(opened.table->current() == 9U);
    opened.view.show();
    CHECK(opened.table->current() == 9U);
}

TEST_CASE("Enter on a row leads to its packet in the list, the cursor to its connection") {
    needApplication();
    OpenedTable<MessagesView> opened("multi_qp");
    QSignalSpy wanted(&opened.view, &MessagesView::viewRequested);
    opened.table->select(5);
    CHECK(opened.selection.connection() == opened.table->model().place(5).connection);
    QTest::keyClick(&opened.table->table(), Qt::Key_Return);
    CHECK(opened.selection.packet() == opened.table->model().place(5).shown);
    REQUIRE(wanted.size() == 1);
    CHECK(wanted[0][0].toString() == QStringLiteral("packets"));
}

TEST_CASE("typing in a table searches it, Esc ends the search") {
    needApplication();
    OpenedTable<MessagesView> opened("loss_write");
    QTest::keyClicks(&opened.table->table(), QStringLiteral("1"));
    CHECK(opened.table->searchLine().text() == QStringLiteral("1"));
    opened.table->searchLine().setText(QStringLiteral("12164686"));
    opened.table->model().finishSearch();
    CHECK(opened.table->model().rowCount() == 1);
    QTest::keyClick(&opened.table->table(), Qt::Key_Escape);
    CHECK(opened.table->searchLine().text().isEmpty());
    CHECK(opened.table->model().rowCount() == 40);
}

TEST_CASE("the menu of a row applies and prepares filters and asks for pictures") {
    needApplication();
    OpenedTable<ConnectionsView> opened("multi_qp");
    opened.table->select(1);
    QMenu* menu = opened.table->makeMenu();
    REQUIRE(menu != nullptr);
    const auto find = [](QMenu* in, const char* text) -> QAction* {
        for (QAction* action : in->actions())
            if (action->text().remove(QLatin1Char('&')).startsWith(QLatin1String(text))) return action;
        return nullptr;
    };
    REQUIRE(find(menu, "Apply as filter") != nullptr);
    find(find(menu, "Apply as filter")->menu(), "Selected")->trigger();
    CHECK(opened.selection.filter() == QStringLiteral("rdma.connection == 2"));
    QSignalSpy prepared(&opened.selection, &Selection::filterPrepared);
    find(find(menu, "Prepare as filter")->menu(), "Not selected")->trigger();
    REQUIRE(prepared.size() == 1);
    CHECK(prepared[0][0].toString() == QStringLiteral("not (rdma.connection == 2)"));
    QSignalSpy wanted(&opened.view, &ConnectionsView::viewRequested);
    find(menu, "Show PSN graph")->trigger();
    REQUIRE(wanted.size() == 1);
    CHECK(wanted[0][0].toString() == QStringLiteral("psn"));
    CHECK(opened.selection.connection() == qps::transport::ConnectionId{2});
    delete menu;
}

TEST_CASE("every filter of every row is one") {
    needApplication();
    const auto check = [](const TableModel& model) {
        for (TableModel::Row row = 0; row < model.sources(); ++row) {
            CAPTURE(model.filter(row).toStdString());
            CHECK_FALSE(Selection::mistake(model.filter(row)).has_value());
        }
    };
    check(OpenedTable<ConnectionsView>("err_mixed").table->model());
    check(OpenedTable<MessagesView>("err_mixed").table->model());
    check(OpenedTable<FindingsView>("err_mixed").table->model());
    check(OpenedTable<CmView>("nvme_rdma").table->model());
}

TEST_CASE("a table narrowed to the filter has the rows whose packets are shown") {
    needApplication();
    OpenedTable<MessagesView> opened("multi_qp");
    const int all = opened.table->model().rowCount();
    opened.table->findChild<QCheckBox*>()->setChecked(true);
    CHECK(opened.table->model().rowCount() == all);
    REQUIRE(opened.selection.applyFilter(QStringLiteral("rdma.connection == 1")));
    REQUIRE(waitUntil([&] { return !opened.selection.filtering(); }));
    QApplication::processEvents();
    const TableModel& model = opened.table->model();
    CHECK(model.rowCount() > 0);
    CHECK(model.rowCount() < all);
    for (int row = 0; row < model.rowCount(); ++row)
        CHECK(model.place(model.sourceOf(model.index(row, 0))).connection == qps::transport::ConnectionId{1});
    opened.table->findChild<QCheckBox*>()->setChecked(false);
    CHECK(model.rowCount() == all);
}

TEST_CASE("selected rows are copied as they are shown") {
    needApplication();
    OpenedTable<ConnectionsView> opened("loss_write");
    opened.table->select(0);
    const QString markdown = opened.table->selectedText(TextFormat::Markdown);
    CHECK(markdown.startsWith(QStringLiteral("| # | Svc | Endpoints |")));
    CHECK(markdown.contains(QStringLiteral("|\n| ---: | --- | --- |")));
    CHECK(opened.table->selectedText(TextFormat::Csv).contains(QStringLiteral("\"1,486\"")));
    QTest::keyClick(&opened.table->table(), Qt::Key_C, Qt::ControlModifier);
    CHECK(QApplication::clipboard()->text() == opened.table->selectedText(TextFormat::Tsv));
}

TEST_CASE("the pane of a finding has its words, and its links lead to packets") {
    needApplication();
    OpenedTable<FindingsView> opened("loss_write");
    opened.table->select(0);
    auto* pane = opened.view.findChild<FindingPane*>();
    QString words;
    QLabel* linked = nullptr;
    for (QLabel* label : pane->findChildren<QLabel*>()) {
        words += label->text();
        if (label->text().contains(QLatin1String("href"))) linked = label;
    }
    const auto& finding = opened.session.timeline()->findings.front();
    CHECK(words.contains(sentence(QString::fromStdString(finding.advice))));
    CHECK(words.contains(QStringLiteral("<code>ethtool -S</code>")));
    CHECK(pane->markdown().contains(QStringLiteral("go-back-n-loss")));
    REQUIRE(linked != nullptr);
    Q_EMIT linked->linkActivated(QStringLiteral("frame:%1").arg(std::to_underlying(finding.packets[1])));
    CHECK(opened.selection.packet() == finding.packets[1]);
    Q_EMIT linked->linkActivated(QStringLiteral("filter:"));
    CHECK(opened.selection.filter() == evidenceFilter(finding));
}

TEST_CASE("the ladder of an attempt is walked by keys and leads to packets") {
    needApplication();
    OpenedTable<CmView> opened("cm_reject_noport");
    opened.table->select(0);
    CmLadder& ladder = opened.view.findChild<CmPane*>()->ladder();
    QTest::keyClick(&ladder, Qt::Key_End);
    CHECK(ladder.chosen() == 1);
    QTest::keyClick(&ladder, Qt::Key_Return);
    CHECK(opened.selection.packet() == opened.session.timeline()->cm.attempts[0].ladder[1].frame);
    opened.selection.selectPacket(opened.session.timeline()->cm.attempts[0].ladder[0].frame);
    CHECK(ladder.chosen() == 0);
    CHECK(ladder.accessibleDescription().contains(QStringLiteral("REJ")));
}

TEST_CASE("another capture replaces the rows, and closing leaves none") {
    needApplication();
    OpenedTable<MessagesView> opened("loss_write");
    opened.table->select(30);
    openSample(opened.session, "err_bad_rkey");
    CHECK(opened.table->model().rowCount() == 1);
    opened.session.close();
    QApplication::processEvents();
    CHECK(opened.table->model().rowCount() == 0);
}

TEST_CASE("a table with a pane has its first row chosen when it is shown, and again after another capture") {
    needApplication();
    OpenedTable<FindingsView> opened("loss_write");
    const auto selected = [&] { return opened.table->table().selectionModel()->selectedRows().size(); };
    REQUIRE(QTest::qWaitFor([&] { return selected() == 1; }));
    CHECK(opened.table->current() == TableModel::Row{0});
    CHECK(opened.selection.connection() == qps::transport::ConnectionId{1});  // the only one there is
    openSample(opened.session, "err_rnr");
    REQUIRE(QTest::qWaitFor([&] { return selected() == 1; }));
    CHECK(opened.table->current() == TableModel::Row{0});
}

TEST_CASE("texts of a table have the room that is there, until the user says how wide they are") {
    needApplication();
    QSettings().clear();  // of an earlier run
    // There is room, however wide the letters are.
    OpenedTable<FindingsView> opened("loss_write", 200 * QFontMetrics(QApplication::font()).averageCharWidth());
    const QTableView& table = opened.table->table();
    const QHeaderView& header = *table.horizontalHeader();
    CHECK(QTest::qWaitFor([&] { return header.length() == table.viewport()->width(); }));  // once it is laid out
    const int texts = header.sectionSize(5);
    CHECK(texts > 2 * header.sectionSize(0));
    CHECK(std::abs(header.sectionSize(6) - texts) < texts / 4);
    opened.table->table().horizontalHeader()->resizeSection(5, texts + 50);
    opened.table->fitColumns();
    CHECK(header.sectionSize(5) == texts + 50);
}

TEST_CASE("the widest columns give way where there is not room for all, and no further than they may") {
    std::array widths{30, 400, 50, 300};
    const auto all = widths;
    shareRoom(widths, 1000, 100);
    CHECK(widths == all);
    shareRoom(widths, 580, 100);
    CHECK(widths == std::array{30, 250, 50, 250});
    shareRoom(widths, 10, 100);
    CHECK(widths == std::array{30, 100, 50, 100});
}
