// Events that nobody meant, over every view: keys, clicks, drags, wheels, menus. Nothing may crash or be asserted
// (under ASan this is where it shows), and afterwards the window still does its work. The same numbers each time:
// QPSCOPE_SEED chooses others, QPSCOPE_EVENTS how many (10,000 under ASan is what the window is held to).
#include <gui/base/theme.hpp>
#include <gui/session/actions.hpp>
#include <gui/window/views.hpp>
#include <tests/gui/window.hpp>

#include <QAbstractButton>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QMenu>
#include <QMenuBar>
#include <QToolBar>
#include <QWheelEvent>
#include <array>
#include <random>
#include <set>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

constexpr int kRandomEvents = 3'000;
constexpr int kEventsOfAView = 40;  // until another one is shown

constexpr std::array kSomeKeys{
    Qt::Key_Up,     Qt::Key_Down,        Qt::Key_Left,        Qt::Key_Right,  Qt::Key_Home,   Qt::Key_End,
    Qt::Key_PageUp, Qt::Key_PageDown,    Qt::Key_Return,      Qt::Key_Escape, Qt::Key_Tab,    Qt::Key_Backtab,
    Qt::Key_Space,  Qt::Key_Plus,        Qt::Key_Minus,       Qt::Key_0,      Qt::Key_1,      Qt::Key_A,
    Qt::Key_D,      Qt::Key_G,           Qt::Key_N,           Qt::Key_Y,      Qt::Key_Exclam, Qt::Key_Backspace,
    Qt::Key_Delete, Qt::Key_BracketLeft, Qt::Key_BracketRight};
constexpr std::array kSomeModifiers{Qt::KeyboardModifiers(Qt::NoModifier), Qt::KeyboardModifiers(Qt::NoModifier),
                                    Qt::KeyboardModifiers(Qt::ShiftModifier),
                                    Qt::KeyboardModifiers(Qt::ControlModifier)};

// What reaches outside of the window, or ends it.
constexpr std::array kOutside{ActionId::OpenInWireshark, ActionId::Quit, ActionId::Print, ActionId::StartStop,
                              ActionId::CaptureOptions};

class Monkey {
public:
    Monkey(OpenWindow& opened, unsigned seed) : m_opened(opened), m_random(seed) {}

    void act() {
        if (QApplication::activePopupWidget() != nullptr) return inPopup();
        switch (below(10)) {
            case 0:
            case 1:
            case 2: return key();
            case 3:
            case 4:
            case 5: return click();
            case 6: return drag();
            case 7: return wheel();
            case 8: return menu();
            default: return action();
        }
    }
    // Through a menu that is open, to an entry or out of it.
    void inPopup() {
        QWidget* popup = QApplication::activePopupWidget();
        if (popup == nullptr) return;
        switch (below(4)) {
            case 0: return static_cast<void>(popup->close());
            case 1: return QTest::keyClick(popup, Qt::Key_Return);
            default: return QTest::keyClick(popup, below(3) == 0 ? Qt::Key_Right : Qt::Key_Down);
        }
    }
    std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(m_random); }

private:
    template <class List> auto& oneOf(List& list) { return list[below(std::size(list))]; }
    // Of the view that is shown and of the filter bar; menus and the toolbar have their own turn.
    QWidget* widget() {
        QList<QWidget*> seen;
        for (QWidget* each : m_opened.window.centralWidget()->findChildren<QWidget*>())
            if (each->isVisible() && each->isEnabled() && each->width() > 2 && each->height() > 2) seen << each;
        return seen.isEmpty() ? &m_opened.window
                              : seen[static_cast<qsizetype>(below(static_cast<std::size_t>(seen.size())))];
    }
    QPoint place(const QWidget& widget) {
        return {static_cast<int>(below(static_cast<std::size_t>(widget.width()))),
                static_cast<int>(below(static_cast<std::size_t>(widget.height())))};
    }
    void key() {
        QWidget* focused = m_opened.window.focusWidget();
        QTest::keyClick(focused != nullptr ? focused : &m_opened.window, oneOf(kSomeKeys), oneOf(kSomeModifiers));
    }
    void click() {
        QWidget* at = widget();
        const QPoint where = place(*at);
        if (below(8) == 0) QTest::mouseDClick(at, Qt::LeftButton, oneOf(kSomeModifiers), where);
        else QTest::mouseClick(at, below(6) == 0 ? Qt::MiddleButton : Qt::LeftButton, oneOf(kSomeModifiers), where);
    }
    void drag() {
        QPointer<QWidget> at = widget();
        const Qt::KeyboardModifiers modifiers = oneOf(kSomeModifiers);
        const auto send = [&](QEvent::Type type, QPoint where, Qt::MouseButton button, Qt::MouseButtons buttons) {
            if (at == nullptr) return;
            QMouseEvent event(type, where, at->mapToGlobal(where), button, buttons, modifiers);
            QApplication::sendEvent(at, &event);
        };
        send(QEvent::MouseButtonPress, place(*at), Qt::LeftButton, Qt::LeftButton);
        for (int step = 0; step < 3 && at != nullptr; ++step)
            send(QEvent::MouseMove, place(*at), Qt::NoButton, Qt::LeftButton);
        if (at != nullptr) send(QEvent::MouseButtonRelease, place(*at), Qt::LeftButton, Qt::NoButton);
    }
    void wheel() {
        QWidget* at = widget();
        const QPointF where = place(*at);
        const int turned = below(2) == 0 ? 120 : -120;
        QWheelEvent event(where, at->mapToGlobal(where), {}, {0, turned}, Qt::NoButton, oneOf(kSomeModifiers),
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(at, &event);
    }
    void menu() {
        QWidget* at = widget();
        const QPoint where = place(*at);
        QContextMenuEvent event(QContextMenuEvent::Mouse, where, at->mapToGlobal(where));
        QApplication::sendEvent(at, &event);
    }
    void action() {
        const auto rows = actionRows();
        const ActionRow& row = rows[below(rows.size())];
        if (std::ranges::find(kOutside, row.id) != kOutside.end()) return;
        QAction* chosen = m_opened.window.action(row.id);
        if (chosen->isEnabled()) chosen->trigger();
    }

    OpenWindow& m_opened;
    std::mt19937 m_random;
};

}  // namespace

TEST_CASE("window: random events over every view, and it still does its work", "[.random]") {
    const QFont font = QApplication::font();
    const unsigned seed =
        qEnvironmentVariableIsSet("QPSCOPE_SEED") ? qEnvironmentVariable("QPSCOPE_SEED").toUInt() : 16;
    const int events =
        qEnvironmentVariableIsSet("QPSCOPE_EVENTS") ? qEnvironmentVariable("QPSCOPE_EVENTS").toInt() : kRandomEvents;
    REQUIRE(events > 0);
    const QStringList files{QString::fromStdString(sampleFile("err_mixed")),
                            QString::fromStdString(sampleFile("nvme_rdma"))};
    OpenWindow opened;
    opened.open(files);
    std::set<QString> views;
    {
        Monkey monkey(opened, seed);
        // Dialogs are rejected, questions what is lost answered by losing it.
        const Answering answering([](QWidget& dialog) {
            auto* box = qobject_cast<QMessageBox*>(&dialog);
            if (box == nullptr) return;
            if (auto* discard = box->button(QMessageBox::Discard)) discard->click();
        });
        // The menu of a button has a loop of its own.
        QTimer menus;
        QObject::connect(&menus, &QTimer::timeout, &menus, [&] { monkey.inPopup(); });
        menus.start(20);
        for (int event = 0; event < events; ++event) {
            if (event % kEventsOfAView == 0 && QApplication::activePopupWidget() == nullptr) {
                if (opened.session().packets() == 0) opened.window.open(files);  // it was closed
                const std::size_t view = (static_cast<std::size_t>(event) / kEventsOfAView) % viewRows().size();
                opened.window.showView(QString::fromUtf8(viewRows()[view].id));
            }
            views.insert(opened.window.shownView());
            monkey.act();
            QApplication::processEvents();
        }
        while (QWidget* popup = QApplication::activePopupWidget()) popup->close();
    }
    CHECK(views.size() == viewRows().size());
    QApplication::setFont(font);
    use(Theme::Desktop);
    QTest::qWait(100);
    const Answering discarding([](QWidget& dialog) {
        if (auto* box = qobject_cast<QMessageBox*>(&dialog)) box->button(QMessageBox::Discard)->click();
    });
    opened.open(files);
    REQUIRE(opened.selection().applyFilter(QStringLiteral("infiniband.aeth")));
    opened.selection().setRange(std::nullopt);
    opened.settle();
    CHECK(opened.selection().shown() > 0);
    CHECK(opened.selection().shown() < opened.session().packets());
    opened.window.close();
}
