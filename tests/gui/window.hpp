// For tests of the whole window: a MainWindow as a user has it before him, its parts, and someone who answers its
// dialogs. Settings lie in a folder of this process alone.
#pragma once

#include <gui/packets/packets_view.hpp>
#include <gui/window/main_window.hpp>
#include <tests/gui/looking.hpp>

#include <QAccessible>
#include <QDialog>
#include <QLabel>
#include <QListWidget>
#include <QMessageBox>
#include <QSettings>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <functional>

namespace qps::gui::tests {

// What every dialog said that came up meanwhile. `answer` may fill it in; who answers nothing rejects it.
class Answering {
public:
    using Answer = std::function<void(QWidget& dialog)>;

    explicit Answering(Answer answer = {}) : m_answer(std::move(answer)) {
        QObject::connect(&m_looking, &QTimer::timeout, &m_looking, [this] { look(); });
        m_looking.start(20);
    }
    [[nodiscard]] const QStringList& said() const { return m_said; }
    [[nodiscard]] int dialogs() const { return static_cast<int>(m_said.size()); }

private:
    void look() {
        QWidget* dialog = QApplication::activeModalWidget();
        if (m_answering || dialog == nullptr || !dialog->isVisible()) return;
        const auto* box = qobject_cast<QMessageBox*>(dialog);
        m_said << (box != nullptr ? box->text() : dialog->windowTitle());
        m_answering = true;  // an answer may have to wait for the dialog
        if (m_answer) m_answer(*dialog);
        m_answering = false;
        if (QApplication::activeModalWidget() != dialog || !dialog->isVisible()) return;
        if (auto* asked = qobject_cast<QDialog*>(dialog)) asked->reject();
        else dialog->close();
    }

    Answer m_answer;
    QStringList m_said;
    QTimer m_looking;
    bool m_answering = false;
};

// What a screen reader calls it.
inline QString heardName(QWidget& widget) {
    QAccessibleInterface* heard = QAccessible::queryAccessibleInterface(&widget);
    return heard == nullptr ? QString() : heard->text(QAccessible::Name);
}

struct Application {
    Application() {
        needApplication();
        static const QTemporaryDir folder;
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder.path());
    }
};

// Settings are empty before, and again when all views are gone, which save how their columns stand.
struct NoSettings {
    NoSettings() { QSettings().clear(); }
    ~NoSettings() { QSettings().clear(); }
    NoSettings(const NoSettings&) = delete;
    NoSettings& operator=(const NoSettings&) = delete;
};

// An empty window, in front.
struct OpenWindow {
    OpenWindow() {
        window.resize(1200, 800);
        window.show();
        window.activateWindow();
        REQUIRE(QTest::qWaitForWindowActive(&window));
    }
    explicit OpenWindow(const std::string& sample) : OpenWindow() {
        open({QString::fromStdString(sampleFile(sample))});
    }

    void open(const QStringList& files) {
        window.open(files);
        settle();
    }
    // Reading and filtering have ended.
    void settle() {
        REQUIRE(QTest::qWaitFor([this] { return !session().busy() && !selection().filtering(); }, kPatience));
        QApplication::processEvents();
    }
    // To whatever has the keyboard.
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
        if (!window.isActiveWindow()) {  // after a dialog: nobody manages windows here
            window.activateWindow();
            REQUIRE(QTest::qWaitForWindowActive(&window));
        }
        QWidget* focused = window.focusWidget();
        QTest::keyClick(focused != nullptr ? focused : &window, key, modifiers);
        QApplication::processEvents();
    }
    void type(const char* text) {
        for (const char* each = text; *each != 0; ++each) QTest::keyClick(window.focusWidget(), *each);
        QApplication::processEvents();
    }
    Session& session() { return window.session(); }
    Selection& selection() { return window.selection(); }
    [[nodiscard]] std::uint64_t packet() {
        return selection().packet() ? std::to_underlying(*selection().packet()) : 0;
    }
    // A view that was shown already.
    template <class View> View& view() {
        auto* found = window.findChild<View*>();
        REQUIRE(found != nullptr);
        return *found;
    }
    template <class Part> Part& named(const char* name) {
        for (Part* each : window.findChildren<Part*>())
            if (heardName(*each) == QLatin1String(name)) return *each;
        FAIL("nothing is called " << name);
        return *window.findChild<Part*>();
    }
    // The words of the status line.
    QString said() { return window.findChild<QLabel*>(QStringLiteral("what"))->text(); }
    QString counts() { return window.findChild<QLabel*>(QStringLiteral("counts"))->text(); }

    Application application;
    NoSettings noSettings;
    MainWindow window{1};
};

}  // namespace qps::gui::tests
