// Journey: my own habits. Columns get names, filters are kept, colours are mine; and all of it is there the next time.
#include <gui/filter/filter_bar.hpp>
#include <gui/filter/filter_line.hpp>
#include <gui/packets/row_rules.hpp>
#include <tests/gui/journey.hpp>

#include <QComboBox>
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QTableWidget>
#include <QToolButton>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

// Clicks the entry of the open menu that begins so, or is all of `title` where that ends with $.
bool clickEntry(const QString& title) {
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    if (menu == nullptr) return false;
    for (QAction* each : menu->actions()) {
        const QString text = QString(each->text()).remove(QLatin1Char('&'));
        const QString wanted = QString(title).remove(QLatin1Char('&'));
        if (!each->isEnabled() ||
            !(wanted.endsWith(QLatin1Char('$')) ? text + QLatin1Char('$') == wanted : text.startsWith(wanted)))
            continue;
        QTest::mouseClick(menu, Qt::LeftButton, Qt::NoModifier, menu->actionGeometry(each).center());
        return true;
    }
    return false;
}

// `opens` brings up a menu, and is answered by clicks on entries, one after the other where they lead to submenus.
template <class Opens> void choose(QStringList entries, Opens opens) {
    QTimer looking;
    bool failed = false;
    int patience = 200;
    QObject::connect(&looking, &QTimer::timeout, &looking, [&] {
        if (entries.isEmpty()) return;
        if (clickEntry(entries.first())) {
            entries.removeFirst();
        } else if (--patience == 0) {
            failed = true;
            while (QWidget* popup = QApplication::activePopupWidget()) popup->close();
        }
    });
    looking.start(20);
    opens();
    REQUIRE(Journey::soon([&] { return failed || entries.isEmpty(); }));
    CHECK_FALSE(failed);
    QApplication::processEvents();
}

void answer(QWidget& dialog, const QString& text) {
    auto* line = dialog.findChild<QLineEdit*>();
    REQUIRE(line != nullptr);
    line->setFocus();
    line->selectAll();
    QTest::keyClicks(line, text);
    QTest::keyClick(line, Qt::Key_Return);
}

QPoint headOf(const QHeaderView& head, int column) {
    return {head.sectionViewportPosition(column) + head.sectionSize(column) / 2, head.height() / 2};
}

void rightClick(QWidget& widget, const QPoint& at) {
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, widget.mapToGlobal(at));
    QApplication::sendEvent(&widget, &event);
}

int columnCalled(const PacketList& list, const QString& title) {
    for (std::size_t i = 0; i < list.columns().size(); ++i)
        if (list.columns()[i].title == title) return static_cast<int>(i);
    return -1;
}

// A heading is dragged to the place of another.
void dragHead(QHeaderView& head, int from, int to) {
    const QPoint start = headOf(head, from);
    const QPoint end = QPoint(head.sectionViewportPosition(to) + 2, head.height() / 2);
    QTest::mousePress(head.viewport(), Qt::LeftButton, Qt::NoModifier, start);
    for (int step = 1; step <= 10; ++step) {
        const QPoint at = start + (end - start) * step / 10;
        QMouseEvent move(QEvent::MouseMove, at, head.viewport()->mapToGlobal(at), Qt::NoButton, Qt::LeftButton,
                         Qt::NoModifier);
        QApplication::sendEvent(head.viewport(), &move);
    }
    QTest::mouseRelease(head.viewport(), Qt::LeftButton, Qt::NoModifier, end);
    QApplication::processEvents();
}

// Over the cell that is selected in a table, as F2 opens it.
void typeOver(QTableWidget& table, int row, int column, const QString& text) {
    QTest::mouseClick(table.viewport(), Qt::LeftButton, Qt::NoModifier,
                      table.visualRect(table.model()->index(row, column)).center());
    QTest::keyClick(&table, Qt::Key_F2);
    QLineEdit* editor = nullptr;
    for (auto* each : table.viewport()->findChildren<QLineEdit*>())
        if (each->isVisible()) editor = each;
    REQUIRE(editor != nullptr);
    editor->selectAll();
    QTest::keyClicks(editor, text);
    QTest::keyClick(editor, Qt::Key_Return);
    QApplication::processEvents();
}

// Through the menu bar.
void chooseInBar(MainWindow& window, const QString& menu, const QString& entry) {
    for (QAction* each : window.menuBar()->actions()) {
        if (QString(each->text()).remove(QLatin1Char('&')) != menu) continue;
        return choose({entry}, [&] {
            QTest::mouseClick(window.menuBar(), Qt::LeftButton, Qt::NoModifier,
                              window.menuBar()->actionGeometry(each).center());
        });
    }
    FAIL("no menu " << menu.toStdString());
}

// The filters of the menu beside the line.
void chooseFilter(MainWindow& window, const QStringList& entries) {
    for (auto* button : window.filterBar().findChildren<QToolButton*>())
        if (button->text() == QStringLiteral("Filters"))
            return choose(entries, [&] { QTest::mouseClick(button, Qt::LeftButton); });
    FAIL("no button of filters");
}

}  // namespace

TEST_CASE("journey: columns, filters and colours are the user's, also the next time", "[.journey]") {
    const QString filter = QStringLiteral("infiniband.aeth.syndrome.opcode == NAK || infiniband.bth.psn == 1");
    Journey window({"loss_write"});
    window.goTo("Packets");
    PacketList& list = window.view<PacketsView>().list();

    // A field from the menu of the heads, then by a name of the user's, then in front.
    {
        const Answering answering([&](QWidget& dialog) { answer(dialog, QStringLiteral("infiniband.bth.psn")); });
        choose({QStringLiteral("Add field")},
               [&] { rightClick(*list.header()->viewport(), headOf(*list.header(), 1)); });
        REQUIRE(Journey::soon([&] { return columnCalled(list, QStringLiteral("infiniband.bth.psn")) >= 0; }));
    }
    const int added = columnCalled(list, QStringLiteral("infiniband.bth.psn"));
    {
        const Answering answering([&](QWidget& dialog) { answer(dialog, QStringLiteral("My PSN")); });
        choose({QStringLiteral("Rename")},
               [&] { rightClick(*list.header()->viewport(), headOf(*list.header(), added)); });
        REQUIRE(Journey::soon([&] { return columnCalled(list, QStringLiteral("My PSN")) >= 0; }));
    }
    dragHead(*list.header(), columnCalled(list, QStringLiteral("My PSN")), 1);
    REQUIRE(list.header()->visualIndex(columnCalled(list, QStringLiteral("My PSN"))) == 1);

    // A filter is kept under a name.
    auto& line = *window.window.filterBar().findChild<FilterLine*>();
    line.setFocus();
    window.type(filter.toUtf8().constData());
    QTest::keyClick(&line, Qt::Key_Return);
    REQUIRE(Journey::soon([&] { return window.selection().filter() == filter; }));
    {
        const Answering answering([&](QWidget& dialog) { answer(dialog, QStringLiteral("NAK & first")); });
        chooseFilter(window.window, {QStringLiteral("Save filter")});
        REQUIRE(Journey::soon([&] { return window.window.filterBar().saved().size() == 1; }));
    }

    // A rule of the user's comes first; while it is wrong there is no OK.
    const Answering answering([&](QWidget& dialog) {
        auto* table = dialog.findChild<QTableWidget*>();
        REQUIRE(table != nullptr);
        CHECK(table->rowCount() == static_cast<int>(standardRules().size()));
        QPushButton* ok = nullptr;
        QPushButton* add = nullptr;
        for (auto* each : dialog.findChildren<QPushButton*>()) {
            if (each->text().remove(QLatin1Char('&')) == QStringLiteral("OK")) ok = each;
            if (each->text().remove(QLatin1Char('&')) == QStringLiteral("Add")) add = each;
        }
        REQUIRE((ok != nullptr && add != nullptr));
        QTest::mouseClick(add, Qt::LeftButton);
        REQUIRE(table->rowCount() == static_cast<int>(standardRules().size()) + 1);
        CHECK_FALSE(ok->isEnabled());
        typeOver(*table, 0, 0, QStringLiteral("Mine"));
        typeOver(*table, 0, 1, QStringLiteral("infiniband.bth.psn == nonsense"));
        CHECK_FALSE(ok->isEnabled());
        typeOver(*table, 0, 1, QStringLiteral("infiniband.bth"));
        auto* colour = qobject_cast<QComboBox*>(table->cellWidget(0, 2));
        colour->setFocus();
        QTest::keyClick(colour, Qt::Key_Home);
        QTest::keyClick(colour, Qt::Key_Down);
        grab(dialog, QStringLiteral("journey_rules"));
        REQUIRE(ok->isEnabled());
        QTest::mouseClick(ok, Qt::LeftButton);
    });
    chooseInBar(window.window, QStringLiteral("View"), QStringLiteral("Colouring rules"));
    REQUIRE(Journey::soon([&] { return list.rules().rules().size() == standardRules().size() + 1; }));
    REQUIRE(list.textAt(0).rule != nullptr);
    CHECK(list.textAt(0).rule->name == QStringLiteral("Mine"));
    CHECK(list.rules().rules().size() == standardRules().size() + 1);
    choose({QStringLiteral("Time format"), QStringLiteral("Time of day (local time)")}, [&] {
        rightClick(*list.header()->viewport(), headOf(*list.header(), columnCalled(list, QStringLiteral("Time"))));
    });
    REQUIRE(Journey::soon([&] { return list.timeFormat() == TimeFormat::Local; }));
    CHECK(list.textAt(0).cells[static_cast<std::size_t>(columnCalled(list, QStringLiteral("Time")))].contains(
        QRegularExpression(QStringLiteral("^2026-11-2[01] [0-9:]{8}[.][0-9]{9} (UTC|[+-][0-9]{2}:[0-9]{2})$"))));
    CHECK(window.window.close());

    // The next window.
    MainWindow again(1);
    again.show();
    again.activateWindow();
    REQUIRE(QTest::qWaitForWindowActive(&again));
    again.open(window.files);
    REQUIRE(Journey::soon([&] { return !again.session().busy(); }));
    again.showView(QStringLiteral("packets"));
    PacketList& restored = again.findChild<PacketsView*>()->list();
    CHECK(restored.header()->visualIndex(columnCalled(restored, QStringLiteral("My PSN"))) == 1);
    CHECK(restored.rules().rules().front().name == QStringLiteral("Mine"));
    CHECK((restored.rules().rules().front().ink == RowInk(qps::transport::Severity::warning)));
    CHECK(restored.timeFormat() == TimeFormat::Local);
    chooseFilter(again, {QStringLiteral("NAK & first: ")});
    CHECK(Journey::soon([&] { return again.selection().filter() == filter; }));
    chooseFilter(again, {QStringLiteral("Remove saved filter"), QStringLiteral("NAK & first$")});
    CHECK(again.filterBar().saved().isEmpty());
}

TEST_CASE("coloring rules are saved and restored, and what is none is left out") {
    std::vector<RowRule> rules = standardRules();
    rules[1].on = false;
    rules.push_back(
        {QStringLiteral("bar | bar"), QStringLiteral("frame.number == 1 || frame.number == 2"), Ink::Pause});
    rules.push_back({QStringLiteral("Connection"), QStringLiteral("rdma.connection == 1"), Ink::Request, true, true});
    const std::vector<RowRule> back = restoredRules(savedRules(rules));
    REQUIRE(back.size() == rules.size() - 1);
    for (std::size_t i = 0; i < back.size(); ++i) {
        CHECK(back[i].name == QString(rules[i].name).remove(QLatin1Char('|')));
        CHECK(back[i].filter == rules[i].filter);
        CHECK(back[i].ink == rules[i].ink);
        CHECK(back[i].on == rules[i].on);
    }
    CHECK(restoredRules(
              {QString(), QStringLiteral("on|nak"), QStringLiteral("on|purple|a|frame"), QStringLiteral("on|nak|a|")})
              .empty());
    CHECK(restoredRules(QStringList(1000, QStringLiteral("on|nak|a|frame"))).size() == RowRules::kMost);
}
