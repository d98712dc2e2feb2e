// The window for those who have no mouse, or cannot see: names, keys and the way of Tab; and every action, whatever is
// open.
#include <gui/base/look.hpp>
#include <gui/base/theme.hpp>
#include <gui/filter/filter_line.hpp>
#include <gui/packets/find_bar.hpp>
#include <gui/session/actions.hpp>
#include <gui/window/views.hpp>
#include <tests/gui/window.hpp>

#include <QKeySequence>
#include <QMap>
#include <QMenu>
#include <QToolBar>
#include <array>
#include <set>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

QStringList nameless(QWidget& window) {
    QStringList found;
    for (QWidget* each : window.findChildren<QWidget*>()) {
        if (!(each->focusPolicy() & Qt::TabFocus) || !each->isVisible() || each->focusProxy() != nullptr) continue;
        if (!heardName(*each).isEmpty()) continue;
        QString path;
        for (const QWidget* at = each; at != nullptr; at = at->parentWidget())
            path.prepend(QLatin1Char('/') + QLatin1String(at->metaObject()->className()) + QLatin1Char('#') +
                         at->objectName());
        found << path;
    }
    return found;
}

// What does something outside of this program, or ends it.
bool isHarmless(ActionId id) { return id != ActionId::OpenInWireshark && id != ActionId::Quit; }

}  // namespace

TEST_CASE("window: no two actions have the same key") {
    OpenWindow opened;
    QMap<QString, QStringList> keys;
    for (const QAction* action : opened.window.findChildren<QAction*>()) {
        if (action->shortcutContext() != Qt::WindowShortcut && action->shortcutContext() != Qt::ApplicationShortcut)
            continue;
        for (const QKeySequence& key : action->shortcuts()) {
            CHECK_FALSE(key.isEmpty());
            keys[key.toString()] << action->text();
        }
    }
    CHECK(keys.size() > 40);
    for (auto each = keys.begin(); each != keys.end(); ++each) {
        INFO(each.key().toStdString() << ": " << each.value().join(QStringLiteral(", ")).toStdString());
        CHECK(each.value().size() == 1);
    }
    for (const ActionRow& row : actionRows()) {
        CAPTURE(row.text);
        REQUIRE(opened.window.action(row.id) != nullptr);
        CHECK(opened.window.action(row.id)->shortcuts().isEmpty() == row.keys.empty());
        CHECK_FALSE(opened.window.action(row.id)->statusTip().isEmpty());
    }
}

TEST_CASE("window: no view makes the window wider than a small screen") {
    constexpr int kSmall = 900;
    OpenWindow opened("nvme_rdma");
    opened.window.resize(kSmall, 600);
    opened.selection().selectPacket(qps::dissect::FrameIndex{60});
    for (const ViewRow& row : viewRows()) {
        opened.window.showView(QString::fromUtf8(row.id));
        opened.key(Qt::Key_Home);
        opened.key(Qt::Key_Right);
        QTest::qWait(100);  // what a view says of the capture comes when it is computed
        INFO(row.id);
        CHECK(opened.window.minimumSizeHint().width() <= kSmall);
        CHECK(opened.window.width() <= kSmall);
    }
}

TEST_CASE("window: within a menu no two entries have the same letter") {
    OpenWindow opened;
    for (const QMenu* menu : opened.window.findChildren<QMenu*>()) {
        std::set<QChar> letters;
        for (const QAction* action : menu->actions()) {
            const qsizetype at = action->text().indexOf(QLatin1Char('&'));
            if (at < 0 || at + 1 >= action->text().size()) continue;
            INFO(menu->title().toStdString() << ": " << action->text().toStdString());
            CHECK(letters.insert(action->text()[at + 1].toLower()).second);
        }
    }
}

TEST_CASE("window: every action can be asked for, with and without a capture, in every view") {
    const bool withCapture = GENERATE(true, false);
    const QFont font = QApplication::font();
    for (const ViewRow& view : viewRows()) {
        OpenWindow opened;
        if (withCapture) opened.open({QString::fromStdString(sampleFile("err_mixed"))});
        for (const ActionRow& row : actionRows()) {
            if (!isHarmless(row.id)) continue;
            CAPTURE(view.id, row.text, withCapture);
            opened.window.showView(QString::fromUtf8(view.id));
            if (withCapture && opened.session().packets() == 0)
                opened.open({QString::fromStdString(sampleFile("err_mixed"))});
            const Answering answering;
            opened.window.action(row.id)->setEnabled(true);  // also those that are not offered
            opened.window.action(row.id)->trigger();
            QApplication::processEvents();
            CHECK(QApplication::activeModalWidget() == nullptr);
        }
        opened.settle();
    }
    QApplication::setFont(font);
    use(Theme::Desktop);
}

TEST_CASE("window: whatever can have the keyboard has a name, in every view") {
    OpenWindow opened("loss_write");
    for (const ViewRow& row : viewRows()) {
        opened.window.showView(QString::fromUtf8(row.id));
        QApplication::processEvents();
        INFO("in " << row.id << ":\n" << nameless(opened.window).join(QLatin1Char('\n')).toStdString());
        CHECK(nameless(opened.window).isEmpty());
    }
    opened.key(Qt::Key_F, Qt::ControlModifier);
    INFO("with the find bar:\n" << nameless(opened.window).join(QLatin1Char('\n')).toStdString());
    CHECK(nameless(opened.window).isEmpty());
    opened.session().close();
    opened.window.showView(QStringLiteral("summary"));
    INFO("without a capture:\n" << nameless(opened.window).join(QLatin1Char('\n')).toStdString());
    CHECK(nameless(opened.window).isEmpty());
}

TEST_CASE("window: Tab reaches filter, sidebar, list, fields and bytes, and comes round") {
    OpenWindow opened("loss_write");
    opened.window.showView(QStringLiteral("packets"));
    auto& packets = opened.view<PacketsView>();
    const std::array<QWidget*, 5> wanted{opened.window.findChild<FilterLine*>(), &opened.named<QListWidget>("Views"),
                                         &packets.list(), &packets.panes().tree(), &packets.panes().bytes()};
    std::set<QWidget*> reached;
    QWidget* first = opened.window.focusWidget();
    int steps = 0;
    do {
        reached.insert(opened.window.focusWidget());
        opened.key(Qt::Key_Tab);
        REQUIRE(++steps < 60);
    } while (opened.window.focusWidget() != first);
    for (QWidget* each : wanted) {
        INFO(heardName(*each).toStdString());
        CHECK(reached.contains(each));
    }
    std::size_t back = 0;
    do {
        opened.key(Qt::Key_Backtab, Qt::ShiftModifier);
        REQUIRE(++back < 60);
    } while (opened.window.focusWidget() != first);
    CHECK(back == reached.size());
}

TEST_CASE("window: the list of keys names every key of the table") {
    OpenWindow opened;
    QString shown;
    const Answering answering([&](QWidget& dialog) {
        if (auto* page = dialog.findChild<QWidget*>()) shown += page->property("plainText").toString();
        for (const QWidget* each : dialog.findChildren<QWidget*>()) shown += each->property("plainText").toString();
    });
    opened.key(Qt::Key_F1);
    CHECK(answering.dialogs() == 1);
    for (const ActionRow& row : actionRows())
        if (!row.keys.empty())
            CHECK(shown.contains(QString::fromUtf8(row.keys.data(), static_cast<qsizetype>(row.keys.size()))));
}
