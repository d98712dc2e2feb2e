// Journey: captures as tabs: opened beside each other, switched by keys, each with its own filter and packet; closed
// one by one, and a capture with a comment that nobody saved keeps the window.
#include <gui/launch/options.hpp>
#include <gui/window/tabs.hpp>
#include <tests/gui/journey.hpp>
#include <tests/support/other_port.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QDialogButtonBox>
#include <QPushButton>
#include <QTabBar>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

struct TabbedWindow {
    TabbedWindow() {
        tabs.resize(1200, 800);
        tabs.show();
        tabs.activateWindow();
        REQUIRE(QTest::qWaitForWindowActive(&tabs));
    }
    void settle() {
        REQUIRE(QTest::qWaitFor(
            [this] { return !tabs.current().session().busy() && !tabs.current().selection().filtering(); }, kPatience));
        QApplication::processEvents();
    }
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers) {
        if (!tabs.isActiveWindow()) {  // after a dialog: nobody manages windows here
            tabs.activateWindow();
            REQUIRE(QTest::qWaitForWindowActive(&tabs));
        }
        QWidget* focused = tabs.focusWidget();
        QTest::keyClick(focused != nullptr ? focused : &tabs, key, modifiers);
        QApplication::processEvents();
    }

    Application application;
    NoSettings noSettings;
    Tabs tabs{1};
};

QString sample(const char* name) { return QString::fromStdString(sampleFile(name)); }

}  // namespace

TEST_CASE("journey: captures as tabs", "[.journey]") {
    TabbedWindow window;
    Tabs& tabs = window.tabs;
    CHECK_FALSE(tabs.bar().isVisible());
    tabs.open({sample("loss_write")});
    window.settle();
    CHECK(tabs.count() == 1);  // an empty one is used
    CHECK(tabs.current().session().packets() == 2228);
    tabs.current().showView(QStringLiteral("packets"));
    REQUIRE(tabs.current().selection().applyFilter(QStringLiteral("infiniband.aeth")));
    window.settle();
    const std::uint64_t shown = tabs.current().selection().shown();

    {
        const Answering answering([&](QWidget& dialog) {
            auto* line = dialog.findChild<QLineEdit*>();
            REQUIRE(line != nullptr);
            line->setFocus();
            line->setText(sample("nvme_rdma"));
            QTest::keyClick(line, Qt::Key_Return);
        });
        window.key(Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
        CHECK(answering.dialogs() == 1);
    }
    REQUIRE(tabs.count() == 2);
    window.settle();
    CHECK(tabs.bar().isVisible());
    CHECK(tabs.bar().currentIndex() == 1);
    CHECK(tabs.current().selection().filter().isEmpty());
    const std::uint64_t others = tabs.current().session().packets();
    CHECK((others != 0 && others != 2228));
    grab(tabs, QStringLiteral("journey_tabs"));

    window.key(Qt::Key_PageDown, Qt::ControlModifier);
    CHECK(tabs.bar().currentIndex() == 0);
    CHECK(tabs.current().selection().shown() == shown);
    // Keys go to the tab that is seen, and to no other.
    window.key(Qt::Key_Slash, Qt::ControlModifier | Qt::ShiftModifier);
    window.settle();
    CHECK(tabs.current().selection().filter().isEmpty());
    window.key(Qt::Key_2, Qt::AltModifier);
    CHECK(tabs.current().shownView() == QStringLiteral("packets"));
    window.key(Qt::Key_PageUp, Qt::ControlModifier);
    CHECK(tabs.bar().currentIndex() == 1);
    CHECK(tabs.current().shownView() == QStringLiteral("summary"));

    // By a click on its tab, and away by a key.
    QTest::mouseClick(&tabs.bar(), Qt::LeftButton, Qt::NoModifier, tabs.bar().tabRect(0).center());
    CHECK(tabs.current().session().packets() == 2228);
    REQUIRE(tabs.current().findChild<PacketsView*>()->list().setComment(qps::dissect::FrameIndex{1},
                                                                        QStringLiteral("mine")));
    {
        const Answering keeping([](QWidget& dialog) {
            if (auto* box = qobject_cast<QMessageBox*>(&dialog)) box->button(QMessageBox::Cancel)->click();
        });
        window.key(Qt::Key_F4, Qt::ControlModifier);
        CHECK(keeping.dialogs() == 1);
        CHECK(tabs.count() == 2);
        CHECK_FALSE(tabs.close());
        CHECK(tabs.isVisible());
    }
    const Answering discarding([](QWidget& dialog) {
        if (auto* box = qobject_cast<QMessageBox*>(&dialog)) box->button(QMessageBox::Discard)->click();
    });
    QTest::mouseClick(&tabs.bar(), Qt::LeftButton, Qt::NoModifier, tabs.bar().tabRect(0).center());
    window.key(Qt::Key_F4, Qt::ControlModifier);
    CHECK(tabs.count() == 1);
    CHECK(tabs.current().session().packets() == others);
    CHECK_FALSE(tabs.bar().isVisible());
    for (int i = 0; i < Tabs::kMost + 2; ++i) tabs.open({sample("rc_pingpong")});
    CHECK(tabs.count() == Tabs::kMost);
    CHECK(tabs.close());
}

TEST_CASE("journey: each file of the command line in a tab of its own", "[.journey]") {
    TabbedWindow window;
    Options options;
    options.files = {sample("loss_write"), sample("nvme_rdma")};
    options.tabs = true;
    window.tabs.begin(options);
    REQUIRE(window.tabs.count() == 2);
    window.settle();
    CHECK(window.tabs.current().session().packets() == 2228);
    CHECK(window.tabs.close());
}

TEST_CASE("journey: of more files than there are tabs it is said which are not opened", "[.journey]") {
    TabbedWindow window;
    Options options;
    for (int i = 0; i < Tabs::kMost + 2; ++i) options.files << sample(i % 2 == 0 ? "rc_pingpong" : "write_8k");
    options.tabs = true;
    QString which;
    const Answering answering([&](QWidget& dialog) {
        if (auto* box = qobject_cast<QMessageBox*>(&dialog)) which = box->informativeText();
    });
    window.tabs.begin(options);
    REQUIRE(QTest::qWaitFor([&] { return answering.dialogs() == 1; }, kPatience));
    CHECK(window.tabs.count() == Tabs::kMost);
    CHECK(answering.said()[0].contains(QStringLiteral("Not opened: 2 files.")));
    CHECK(which.count(QLatin1Char('\n')) == 1);
    CHECK(window.tabs.close());
}

TEST_CASE("the first window is within the screen, however small or fine it is") {
    for (const QSize screen : {QSize(1280, 800), QSize(1280, 720), QSize(1920, 1080), QSize(2560, 1440),
                               QSize(800, 600), QSize(5120, 2880)}) {
        CAPTURE(screen.width());
        const QSize size = firstWindowSize(screen);
        CHECK(size.width() <= screen.width() - 16);
        CHECK(size.height() <= screen.height() - 48);
        CHECK((size.width() >= 1180 || size.width() == screen.width() - 16));
        CHECK((size.height() >= 760 || size.height() == screen.height() - 48));
        CHECK(size.width() <= 1800);
    }
    CHECK(firstWindowSize(QSize(2560, 1440)) == QSize(1800, 1100));
}

TEST_CASE("journey: another port of RoCE in the preferences, for all tabs", "[.journey]") {
    const qps::test::TemporaryFolder folder;
    const QString other = QString::fromStdString(
        folder.write("other.pcap", qps::tests::with_roce_port(qps::test::read_file(sampleFile("loss_write")), 4800)));
    TabbedWindow window;
    Tabs& tabs = window.tabs;
    for (int i = 0; i < 2; ++i) {
        tabs.open({other});
        window.settle();
        CHECK(tabs.current().session().timeline()->connections.empty());
    }
    REQUIRE(tabs.count() == 2);
    const Answering answering([&](QWidget& dialog) {
        QLineEdit* ports = nullptr;
        for (auto* line : dialog.findChildren<QLineEdit*>())
            if (line->accessibleName() == QStringLiteral("RoCE ports beside 4791")) ports = line;
        REQUIRE(ports != nullptr);
        auto* ok = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
        ports->setFocus();
        QTest::keyClicks(ports, QStringLiteral("4789"));
        CHECK_FALSE(ok->isEnabled());
        ports->selectAll();
        QTest::keyClicks(ports, QStringLiteral("4801, 4800"));
        grab(dialog, QStringLiteral("journey_ports"));
        QTest::mouseClick(ok, Qt::LeftButton);
    });
    window.key(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    CHECK(answering.dialogs() == 1);
    const auto told = commandRows({words("connections"), words("--roce-port"), words("4801,4800"), other});
    REQUIRE(told.size() == 1);
    for (int i = 0; i < 2; ++i) {
        window.settle();
        const auto& connections = tabs.current().session().timeline()->connections;
        REQUIRE(connections.size() == 1);
        CHECK(QString::number(std::to_underlying(*connections.front().ends[0].qpn)) == told.front()[words("a_qpn")]);
        window.key(Qt::Key_PageDown, Qt::ControlModifier);
    }
    // Without it again: what was decoded is not.
    QSettings().remove(QStringLiteral("preferences/rocePorts"));
    for (int i = 0; i < 2; ++i) {
        tabs.current().takePreferences();
        window.settle();
        CHECK(tabs.current().session().timeline()->connections.empty());
        window.key(Qt::Key_PageDown, Qt::ControlModifier);
    }
}
