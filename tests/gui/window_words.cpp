// What the window says, and what it asks, in places that used to mislead.
#include <gui/export/exporter.hpp>
#include <gui/export/packet_export.hpp>
#include <gui/filter/filter_line.hpp>
#include <gui/tables/connections_view.hpp>
#include <gui/tables/index_views.hpp>
#include <gui/tables/table_view.hpp>
#include <tests/gui/window.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QCheckBox>
#include <QComboBox>
#include <QPlainTextEdit>
#include <QStatusBar>
#include <algorithm>
#include <string>

using namespace qps::gui;
using namespace qps::gui::tests;
using namespace qps::transport;
using qps::dissect::FrameIndex;

TEST_CASE("window: a search of a table without hits says that, and not that there is nothing") {
    const char* view = GENERATE("connections", "messages", "findings", "operations");
    OpenWindow opened("nvme_rdma");
    CAPTURE(view);
    opened.window.showView(QLatin1String(view));
    TableView* table = nullptr;
    for (TableView* each : opened.window.findChildren<TableView*>())
        if (each->isVisible()) table = each;
    REQUIRE(table != nullptr);
    if (table->model().sources() == 0) return;
    const QString nothing = table->emptyText();
    CHECK(nothing.isEmpty());
    table->searchLine().setText(QStringLiteral("no such words"));
    table->model().finishSearch();
    REQUIRE(table->model().rowCount() == 0);
    CHECK(table->emptyText().contains(QStringLiteral("no such words")));
    CHECK_FALSE(table->emptyText().contains(QStringLiteral("No RDMA")));
    table->searchLine().clear();
    CHECK(table->model().rowCount() > 0);
}

TEST_CASE("window: what is exported without another wish is what is seen") {
    OpenWindow opened("multi_qp");
    opened.window.showView(QStringLiteral("packets"));
    opened.selection().selectPacket(FrameIndex{1});
    auto& list = opened.view<PacketsView>().list();
    const auto proposed = [&] {
        QString line;
        const Answering answering([&](QWidget& dialog) { line = dialog.findChild<QComboBox*>()->currentText(); });
        opened.window.action(ActionId::ExportPackets)->trigger();
        CHECK(answering.dialogs() == 1);
        return line;
    };
    CHECK(proposed().startsWith(QStringLiteral("All (")));
    REQUIRE(opened.selection().applyFilter(QStringLiteral("infiniband.aeth")));
    opened.settle();
    CHECK(proposed() == QStringLiteral("Displayed (%L1)").arg(opened.selection().shown()));
    list.selectAll();
    CHECK(proposed().startsWith(QStringLiteral("Selected (")));
}

TEST_CASE("window: the export of a connection has the messages that set it up and took it down") {
    OpenWindow opened("ucmatose");
    const auto& timeline = *opened.session().timeline();
    const auto with =
        std::ranges::find_if(timeline.connections, [](const Connection& each) { return each.cm_attempt.has_value(); });
    REQUIRE(with != timeline.connections.end());
    opened.selection().selectConnection(with->uid);
    REQUIRE(opened.selection().applyFilter(QStringLiteral("rdma.connection == %1").arg(std::to_underlying(with->uid))));
    opened.settle();
    CHECK(likeliest(1, opened.selection()) == Packets::Connection);
    const RowSet rows = withSetUp(opened.session(), opened.selection());
    CHECK(rows.size() > opened.selection().shown());
    std::uint64_t management = 0;
    for (auto frame = rows.next(FrameIndex{}); frame; frame = rows.next(*frame)) {
        const bool own = opened.session().index()->row(*frame).connection() == with->uid;
        management += own ? 0 : 1;
    }
    CHECK(management == rows.size() - opened.selection().shown());
    CHECK(management >= 3);  // REQ, REP, RTU

    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("one.pcapng"));
    Exporting exporting(opened.session(), opened.selection());
    bool done = false;
    QObject::connect(&exporting, &Exporting::statusChanged, [&] { done = true; });
    exporting.writePackets(path, Packets::Connection);
    REQUIRE(QTest::qWaitFor([&] { return done; }, kPatience));
    OpenWindow again;
    again.open({path});
    CHECK(again.session().packets() == rows.size());
    CHECK(again.session().timeline()->cm.attempts.size() == 1);
}

TEST_CASE("window: the comment of a packet is written without a mouse") {
    OpenWindow opened("write_8k");
    opened.window.showView(QStringLiteral("packets"));
    opened.selection().selectPacket(FrameIndex{3});
    {
        const Answering answering([](QWidget& dialog) {
            auto* text = dialog.findChild<QPlainTextEdit*>();
            CHECK(text != nullptr);
            if (text == nullptr) return;
            CHECK(dialog.focusWidget() == text);
            for (const char c : std::string("lost here")) QTest::keyClick(text, c);
            QTest::keyClick(text, Qt::Key_Return);
            QTest::keyClick(text, 'x');
            QTest::keyClick(text, Qt::Key_Return, Qt::ControlModifier);
        });
        opened.window.action(ActionId::Comment)->trigger();
        CHECK(answering.dialogs() == 1);
    }
    CHECK(opened.view<PacketsView>().list().notes().comments.written(FrameIndex{3}) == QStringLiteral("lost here\nx"));
    opened.selection().clearMarks();
    const Answering discarding([](QWidget& dialog) {
        if (auto* box = qobject_cast<QMessageBox*>(&dialog)) box->button(QMessageBox::Discard)->click();
    });
    opened.window.close();
}

TEST_CASE("window: larger text is larger in the filter line too") {
    const QFont font = QApplication::font();
    OpenWindow opened("write_8k");
    auto& line = *opened.window.filterBar().findChild<FilterLine*>();
    const double before = line.fontInfo().pointSizeF();
    const int height = line.sizeHint().height();
    for (int i = 0; i < 5; ++i) opened.window.action(ActionId::LargerText)->trigger();
    QApplication::processEvents();
    CHECK(line.fontInfo().pointSizeF() > before * 1.4);
    CHECK(line.sizeHint().height() > height);
    QApplication::setFont(font);
}

TEST_CASE("window: the words of a finding give way to the figures, and go when something else is selected") {
    OpenWindow opened("loss_write");
    opened.window.showView(QStringLiteral("packets"));
    opened.window.resize(700, 500);
    opened.window.action(ActionId::NextFinding)->trigger();
    QApplication::processEvents();
    auto& words = *opened.window.findChild<QLabel*>(QStringLiteral("what"));
    auto& counts = *opened.window.findChild<QLabel*>(QStringLiteral("counts"));
    REQUIRE(words.text().startsWith(QStringLiteral("Finding 1 of ")));
    CHECK(words.isVisible());
    CHECK(counts.isVisible());
    const auto place = [&](QWidget& widget) {
        return QRect(widget.mapTo(&opened.window, QPoint(0, 0)), widget.size());
    };
    CHECK_FALSE(place(words).intersects(place(counts)));
    CHECK(opened.window.statusBar()->currentMessage().isEmpty());
    CHECK_FALSE(words.toolTip().isEmpty());  // all of it
    opened.window.action(ActionId::NextPacket)->trigger();
    QApplication::processEvents();
    CHECK_FALSE(words.text().contains(QStringLiteral("Finding")));
}
