// The window as a screen reader goes through it: every control in Qt's accessibility tree has a name, in every view;
// every head of a table and every symbol of a toolbar has a tip, those of actions with their key.
#include <gui/base/theme.hpp>
#include <gui/filter/filter_bar.hpp>
#include <gui/pictures/plot.hpp>
#include <gui/session/actions.hpp>
#include <gui/tables/table_view.hpp>
#include <gui/window/views.hpp>
#include <tests/gui/window.hpp>

#include <QAbstractItemView>
#include <QHeaderView>
#include <QHelpEvent>
#include <QToolBar>
#include <QToolButton>
#include <set>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

constexpr int kMostChildren = 60;  // of one: a table has a child a cell
constexpr int kDeepest = 24;

const std::set<QAccessible::Role> kNamed{
    QAccessible::Button,      QAccessible::ButtonMenu, QAccessible::ButtonDropDown, QAccessible::CheckBox,
    QAccessible::RadioButton, QAccessible::ComboBox,   QAccessible::EditableText,   QAccessible::SpinBox,
    QAccessible::Slider,      QAccessible::Table,      QAccessible::Tree,           QAccessible::List,
    QAccessible::PageTab,     QAccessible::MenuItem,   QAccessible::ColumnHeader,   QAccessible::ProgressBar,
    QAccessible::Link,
};

struct Walk {
    std::set<QAccessible::Role> met;
    int controls = 0;
    QStringList nameless;

    void visit(QAccessibleInterface* at, const QString& path, int depth) {
        if (at == nullptr || !at->isValid() || depth > kDeepest) return;
        if (at->state().invisible) return;
        const QString name = at->text(QAccessible::Name);
        const QString here = path + QLatin1Char('/') + (name.isEmpty() ? QString::number(at->role()) : name.left(20));
        if (kNamed.contains(at->role())) {
            met.insert(at->role());
            ++controls;
            // What fills a text field stands beside its name.
            if (name.isEmpty() && at->text(QAccessible::Description).isEmpty()) nameless << here;
        }
        for (int i = 0; i < std::min(at->childCount(), kMostChildren); ++i) visit(at->child(i), here, depth + 1);
    }
};

}  // namespace

TEST_CASE("window: every control of the accessibility tree has a name, in every view") {
    OpenWindow opened("nvme_rdma");
    for (const ViewRow& row : viewRows()) {
        opened.window.showView(QString::fromUtf8(row.id));
        QApplication::processEvents();
        Walk walk;
        walk.visit(QAccessible::queryAccessibleInterface(&opened.window), {}, 0);
        INFO("in " << row.id << ":\n" << walk.nameless.join(QLatin1Char('\n')).toStdString());
        CHECK(walk.nameless.isEmpty());
        CHECK(walk.controls > 15);
        CHECK(walk.met.contains(QAccessible::Button));
        CHECK(walk.met.contains(QAccessible::List));
    }
}

TEST_CASE("window: every head of a table says what it is") {
    OpenWindow opened("nvme_rdma");
    std::set<QString> heads;
    for (const ViewRow& row : viewRows()) {
        opened.window.showView(QString::fromUtf8(row.id));
        QApplication::processEvents();
        for (const QHeaderView* header : opened.window.findChildren<QHeaderView*>()) {
            if (!header->isVisible() || header->orientation() != Qt::Horizontal) continue;
            for (int section = 0; section < header->count(); ++section) {
                const QString head = header->model()->headerData(section, Qt::Horizontal).toString();
                CAPTURE(row.id, head.toStdString());
                CHECK_FALSE(header->model()->headerData(section, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
                heads.insert(head);
            }
        }
    }
    CHECK(heads.size() > 30);
}

TEST_CASE("window: symbols are drawn in both themes, and their tips name the key") {
    OpenWindow opened("write_8k");
    const QToolBar* bar = opened.window.findChild<QToolBar*>(QStringLiteral("tools"));
    REQUIRE(bar != nullptr);
    int symbols = 0;
    for (const QAction* action : bar->actions()) {
        if (action->isSeparator()) continue;
        CAPTURE(action->text().toStdString());
        REQUIRE_FALSE(action->icon().isNull());
        if (!action->shortcuts().isEmpty())
            CHECK(action->toolTip().contains(action->shortcuts().front().toString(QKeySequence::NativeText)));
        for (const Theme theme : {Theme::Light, Theme::Dark}) {
            use(theme);
            const QImage drawn = action->icon().pixmap(QSize(24, 24)).toImage();
            const QColor ground = QApplication::palette().color(QPalette::Button);
            int seen = 0;
            for (int y = 0; y < drawn.height(); ++y)
                for (int x = 0; x < drawn.width(); ++x) {
                    const QColor pixel = drawn.pixelColor(x, y);
                    seen += pixel.alpha() > 200 && std::abs(pixel.lightness() - ground.lightness()) > 80 ? 1 : 0;
                }
            CHECK(seen > 10);
        }
        ++symbols;
    }
    CHECK(symbols >= 12);
    use(Theme::Desktop);
    for (const QToolButton* button : opened.window.filterBar().findChildren<QToolButton*>()) {
        if (!button->isVisible() || button->accessibleName().isEmpty()) continue;
        CHECK_FALSE(button->toolTip().isEmpty());
    }
}

TEST_CASE("window: the signs of a picture's legend say what they are, with the clause") {
    OpenWindow opened("loss_write");
    opened.selection().selectConnection(qps::transport::ConnectionId{1});
    for (const char* id : {"psn", "throughput"}) {
        opened.window.showView(QLatin1String(id));
        Plot* plot = nullptr;
        for (Plot* each : opened.window.findChildren<Plot*>())
            if (each->isVisible()) plot = each;
        REQUIRE(plot != nullptr);
        REQUIRE(QTest::qWaitFor([&] { return !plot->data().empty(); }, kPatience));
        int cited = 0;
        for (const LegendEntry& entry : plot->layoutNow().legend) {
            const Layer& layer = plot->data().panels[entry.id.panel].layers[entry.id.layer];
            if (layer.name == QStringLiteral("outstanding")) continue;
            CAPTURE(layer.name.toStdString());
            CHECK_FALSE(layer.tip.isEmpty());
            cited += layer.tip.contains(QStringLiteral("IBA ")) ? 1 : 0;
        }
        CHECK(cited >= 3);
    }
}
