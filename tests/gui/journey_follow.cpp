// Journey: following the payload. What the view shows of each message is what `qpscope follow` prints of it.
#include <gui/follow/text_lines.hpp>
#include <tests/gui/journey.hpp>
#include <transport-replay/report/figures.hpp>

#include <QComboBox>
#include <QJsonArray>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

QStringList printed(const QStringList& arguments) {
    QProcess program;
    program.start(qEnvironmentVariable("QPSCOPE"), arguments);
    REQUIRE(program.waitForFinished(60'000));
    return QString::fromUtf8(program.readAllStandardOutput()).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
}

QStringList followed(const TextLines& lines) {
    QStringList all;
    for (const TextLine& line : lines.lines()) all << line.text;
    return all;
}

}  // namespace

TEST_CASE("journey: the payload of a connection is what the command line follows", "[.journey]") {
    const auto [sample, frame] =
        GENERATE(table<std::string, int>({{"nvme_rdma", 60}, {"loss_write", 100}, {"write_bidir_cm", 30}}));
    CAPTURE(sample);
    Journey window({sample});
    window.selection().selectPacket(qps::dissect::FrameIndex{static_cast<std::uint64_t>(frame)});
    REQUIRE(window.selection().connection());
    const QString uid = QString::number(std::to_underlying(*window.selection().connection()));
    window.key(Qt::Key_F, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    CHECK(window.window.shownView() == QStringLiteral("follow"));
    auto& lines = window.named<TextLines>("Payload");
    REQUIRE(Journey::soon([&] { return !lines.lines().empty(); }));

    // The messages, those that are shown first.
    const QJsonArray told =
        commandJson(QStringList{QStringLiteral("follow"), uid} + window.files)[QStringLiteral("messages")].toArray();
    HeardTable messages = window.table("Messages followed");
    REQUIRE(messages.rows() > 0);
    REQUIRE(messages.rows() <= told.size());
    for (int row = 0; row < messages.rows(); ++row) {
        const QJsonObject one = told[row].toObject();
        CAPTURE(row);
        CHECK(messages.cell(row, QStringLiteral("#")) == QString::number(one[QStringLiteral("message")].toInteger()));
        CHECK(messages.cell(row, QStringLiteral("Verb")) == one[QStringLiteral("verb")].toString());
        CHECK(messages.cell(row, QStringLiteral("Outcome")) == one[QStringLiteral("outcome")].toString());
        CHECK(messages.cell(row, QStringLiteral("Bytes")) ==
              QString::fromStdString(
                  qps::transport::grouped(static_cast<std::uint64_t>(one[QStringLiteral("bytes")].toInteger()))));
    }
    // Line by line, decoded and as bytes.
    auto* form = window.window.findChild<QComboBox*>(QStringLiteral("followForm"));
    REQUIRE(form != nullptr);
    for (const bool decoded : {true, false}) {
        QStringList arguments{QStringLiteral("follow"), uid, QStringLiteral("-q")};
        if (decoded) arguments << QStringLiteral("--decode");
        const QStringList whole = printed(arguments + window.files);
        if (!decoded) {
            form->setFocus();
            window.key(Qt::Key_Down);
        }
        CAPTURE(decoded);
        const auto same = [&] { return followed(lines) == whole.mid(0, static_cast<qsizetype>(lines.lines().size())); };
        static_cast<void>(Journey::soon(same));
        const QStringList now = followed(lines);
        for (qsizetype i = 0; i < now.size(); ++i) REQUIRE(now[i].toStdString() == whole.value(i).toStdString());
        if (messages.rows() == told.size()) CHECK(static_cast<qsizetype>(lines.lines().size()) == whole.size());
    }
    if (sample == "nvme_rdma") {
        window.key(Qt::Key_Up);
        REQUIRE(Journey::soon([&] { return followed(lines).join(QLatin1Char('\n')).contains(QStringLiteral("NVM")); }));
        for (const bool dark : {false, true}) {
            useDarkPalette(dark);
            grab(window.window, dark ? QStringLiteral("journey_follow_dark") : QStringLiteral("journey_follow"));
        }
        useDarkPalette(false);
    }
    // The rest of a long connection: all messages are met once.
    if (messages.rows() < told.size()) {
        const int before = messages.rows();
        window.press("Later");
        REQUIRE(Journey::soon([&] {
            return window.table("Messages followed").cell(0, QStringLiteral("#")) == QString::number(before + 1);
        }));
        window.press("Earlier");
        REQUIRE(Journey::soon(
            [&] { return window.table("Messages followed").cell(0, QStringLiteral("#")) == QStringLiteral("1"); }));
    }
    // From a message to its packet.
    messages.click(1);
    window.named<QTableView>("Messages followed").setFocus();
    window.key(Qt::Key_Return);
    CHECK(window.window.shownView() == QStringLiteral("packets"));
    CHECK(window.packet() == static_cast<std::uint64_t>(told[1].toObject()[QStringLiteral("first_frame")].toInteger()));
}
