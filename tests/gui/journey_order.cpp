// Journey: hosts whose NICs accept packets in any order: said in the preferences, it is what --out-of-order says, for
// the open capture, for the one it is compared with and for the next window.
#include <gui/preferences/preferences.hpp>
#include <gui/preferences/profile.hpp>
#include <tests/gui/journey.hpp>
#include <tests/support/late_packet.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QDialogButtonBox>
#include <QPushButton>
#include <QTabBar>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

constexpr std::uint64_t kOvertaken = 24;  // of write_8k: a MIDDLE from 10.77.0.11 to 10.77.0.12, as the one after it
const QString kReceiver = QStringLiteral("10.77.0.12");

QStringList findingsOf(const Session& session) {
    QStringList ids;
    for (const auto& finding : session.timeline()->findings)
        ids << QString::fromUtf8(finding.id.data(), static_cast<qsizetype>(finding.id.size()));
    return ids;
}

// In the preferences, by keys: the hosts, after something that is none.
void sayHosts(OpenWindow& window, const QString& hosts, const QString& picture = {}) {
    const Answering answering([&](QWidget& dialog) {
        QLineEdit* line = nullptr;
        for (auto* each : dialog.findChildren<QLineEdit*>())
            if (each->accessibleName() == QStringLiteral("Hosts that accept any order")) line = each;
        REQUIRE(line != nullptr);
        auto* ok = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
        line->setFocus();
        line->selectAll();
        QTest::keyClicks(line, QStringLiteral("10.77.0.1x"));
        CHECK_FALSE(ok->isEnabled());
        line->selectAll();
        QTest::keyClick(line, Qt::Key_Delete);
        QTest::keyClicks(line, hosts);
        CHECK(ok->isEnabled());
        if (!picture.isEmpty())
            for (const bool dark : {false, true}) {
                useDarkPalette(dark);
                grab(dialog, dark ? picture + QStringLiteral("_dark") : picture);
            }
        useDarkPalette(false);
        QTest::mouseClick(ok, Qt::LeftButton);
    });
    window.key(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    CHECK(answering.dialogs() == 1);
    window.settle();
}

}  // namespace

TEST_CASE("journey: hosts that accept packets in any order, in this window and the next", "[.journey]") {
    const qps::test::TemporaryFolder folder;
    const auto bytes = qps::tests::with_late_packet(qps::test::read_file(sampleFile("write_8k")), kOvertaken);
    const QString late = QString::fromStdString(folder.write("late.pcap", bytes));
    const QString before = QString::fromStdString(folder.write("before.pcap", bytes));
    const QString what = QStringLiteral("out-of-order-delivery");
    Journey window({});
    window.files = QStringList{late};
    window.open(window.files);
    CHECK(findingsOf(window.session()) == QStringList{what});
    window.goTo("Before and after");
    window.chooseFile(before, [&] { window.press("Compare with..."); });
    REQUIRE(Journey::soon([&] {
        return window.table("Findings compared").column(QStringLiteral("Before")) == QStringList{QStringLiteral("1")};
    }));

    // Of the sender it says nothing.
    sayHosts(window, QStringLiteral("10.77.0.11"));
    CHECK(findingsOf(window.session()) == QStringList{what});
    sayHosts(window, QStringLiteral("fd00::1, ") + kReceiver, QStringLiteral("journey_order"));
    CHECK(findingsOf(window.session()).isEmpty());
    CHECK(window.session().reading().unorderedHosts.size() == 2);
    // Nor is it a finding of the run before that no longer happens.
    CHECK(Journey::soon(
        [&] { return window.table("Figures compared").rows() != 0 && window.table("Findings compared").rows() == 0; }));
    CHECK(window.window.close());

    MainWindow again(1);
    again.show();
    again.open({late});
    REQUIRE(Journey::soon([&] { return !again.session().busy(); }));
    CHECK(findingsOf(again.session()).isEmpty());
    QSettings().remove(QStringLiteral("preferences/outOfOrder"));
    again.takePreferences();
    REQUIRE(Journey::soon([&] { return !again.session().busy(); }));
    CHECK(findingsOf(again.session()) == QStringList{what});
}

TEST_CASE("hosts that accept any order are kept in a profile, and what is no host is left out") {
    const Profile before{.reading = {.unorderedHosts = *readHosts(QStringLiteral(" 10.0.0.2,fd00::2 , 10.0.0.2"))},
                         .columns = {},
                         .rules = {},
                         .filters = {}};
    REQUIRE(before.reading.unorderedHosts.size() == 2);
    CHECK(hostsText(before.reading.unorderedHosts) == QStringLiteral("10.0.0.2, fd00::2"));
    const auto after = readProfile(written(before));
    REQUIRE(after);
    CHECK(after->reading == before.reading);
    const auto odd = readProfile(R"({"qpscope_profile": 1, "out_of_order": "10.0.0.2, somewhere"})");
    REQUIRE(odd);
    CHECK(odd->reading == Reading{});
    CHECK(readHosts(QStringLiteral("host")).error() == QStringLiteral("Invalid host 'host': expected an IP address"));
    CHECK(readHosts(QString())->empty());
}
