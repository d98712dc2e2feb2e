// Journey: checks. The verdicts of the view are those of `qpscope check`, and lead to the packets that prove them.
#include <tests/gui/journey.hpp>
#include <transport-replay/report/figures.hpp>

#include <QComboBox>
#include <QJsonArray>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

QHash<QString, QJsonObject> verdictsOf(const QStringList& files) {
    QHash<QString, QJsonObject> all;
    for (const QJsonValue& each :
         commandJson(QStringList{QStringLiteral("check")} + files)[QStringLiteral("checks")].toArray())
        all[each.toObject()[QStringLiteral("id")].toString()] = each.toObject();
    return all;
}

}  // namespace

TEST_CASE("journey: verdicts of checks are those of the command line, and lead to packets", "[.journey]") {
    const std::string sample = GENERATE("corrupt_send", "err_mixed", "loss_write", "iwarp_rping");
    CAPTURE(sample);
    Journey window({sample});
    const auto told = verdictsOf(window.files);
    REQUIRE(told.size() > 20);
    window.goTo("Checks");
    auto* which = window.window.findChild<QComboBox*>(QStringLiteral("checksListed"));
    REQUIRE(which != nullptr);
    which->setFocus();
    window.key(Qt::Key_End);  // all of them
    REQUIRE(Journey::soon([&] { return window.table("Checks").rows() == told.size(); }));
    const HeardTable checks = window.table("Checks");
    int proved = -1;
    for (int row = 0; row < checks.rows(); ++row) {
        const QString id = checks.cell(row, QStringLiteral("Check"));
        CAPTURE(id.toStdString());
        REQUIRE(told.contains(id));
        const QJsonObject& one = told[id];
        CHECK(checks.cell(row, QStringLiteral("Verdict")) == one[QStringLiteral("verdict")].toString());
        CHECK(checks.cell(row, QStringLiteral("Examined")) ==
              QString::fromStdString(
                  qps::transport::grouped(static_cast<std::uint64_t>(one[QStringLiteral("examined")].toInteger()))));
        CHECK(checks.cell(row, QStringLiteral("Failures")) ==
              QString::fromStdString(
                  qps::transport::grouped(static_cast<std::uint64_t>(one[QStringLiteral("failures")].toInteger()))));
        if (proved < 0 && !one[QStringLiteral("frames")].toArray().isEmpty()) proved = row;
    }
    if (proved < 0) return;
    window.table("Checks").click(proved);
    const QJsonObject one = told[checks.cell(proved, QStringLiteral("Check"))];
    CHECK(window.named<QLabel>("The selected check").text().contains(one[QStringLiteral("reason")].toString()));
    const QStringList shown = window.table("Packets that prove it").column(QStringLiteral("Packet"));
    QStringList frames;
    for (const QJsonValue& frame : one[QStringLiteral("frames")].toArray())
        frames << QString::fromStdString(qps::transport::grouped(static_cast<std::uint64_t>(frame.toInteger())));
    CHECK(shown == frames);
    if (sample == "err_mixed")
        for (const bool dark : {false, true}) {
            useDarkPalette(dark);
            grab(window.window, dark ? QStringLiteral("journey_checks_dark") : QStringLiteral("journey_checks"));
        }
    useDarkPalette(false);
    window.table("Packets that prove it").click(static_cast<int>(frames.size()) - 1);
    window.named<QTableView>("Packets that prove it").setFocus();
    window.key(Qt::Key_Return);
    CHECK(window.window.shownView() == QStringLiteral("packets"));
    CHECK(window.packet() == static_cast<std::uint64_t>(one[QStringLiteral("frames")].toArray().last().toInteger()));
}
