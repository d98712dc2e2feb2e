// Journey: evidence for the vendor. What the dialog says of what leaves is what lies in the files afterwards, and that
// is what the command line makes of the same capture with the same key.
#include <tests/gui/journey.hpp>

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QProgressBar>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

QByteArray contents(const QString& path) {
    QFile file(path);
    REQUIRE(file.open(QIODevice::ReadOnly));
    return file.readAll();
}

// Without what a report says of its own making.
QByteArray withoutMaking(QByteArray report) {
    for (const char* fact : {"\n<dt>command</dt>", "\n<dt>made</dt>"})
        if (const auto at = report.indexOf(fact); at >= 0) report.remove(at, report.indexOf('\n', at + 1) - at);
    return report;
}

void run(const QStringList& arguments) {
    QProcess program;
    program.start(qEnvironmentVariable("QPSCOPE"), arguments);
    REQUIRE(program.waitForFinished(60'000));
    INFO(program.readAllStandardError().toStdString());
    REQUIRE(program.exitCode() <= 1);
}

// The dialog that is up, used as a person uses it.
class Evidence {
public:
    explicit Evidence(QWidget& dialog) : m_dialog(dialog) {}

    template <class Part> [[nodiscard]] Part& named(const char* name) {
        for (Part* each : m_dialog.findChildren<Part*>())
            if (each->accessibleName() == QLatin1String(name) ||
                heardName(*each).remove(QLatin1Char('&')) == QLatin1String(name))
                return *each;
        FAIL("nothing is called " << name);
        return *m_dialog.findChild<Part*>();
    }
    void type(const char* name, const QString& text) {
        auto& line = named<QLineEdit>(name);
        line.setFocus();
        QTest::keyClick(&line, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(&line, text);
    }
    void press(const char* name) {
        auto& button = named<QAbstractButton>(name);
        REQUIRE(button.isEnabled());
        QTest::mouseClick(&button, Qt::LeftButton, Qt::NoModifier, QPoint(10, button.height() / 2));
    }
    [[nodiscard]] HeardTable table(const char* name) { return HeardTable(named<QTableView>(name)); }
    [[nodiscard]] QString state() { return named<QLabel>("State").text(); }
    void previewed() {
        REQUIRE(QTest::qWaitFor([&] { return state().contains(QStringLiteral("addresses")); }, kPatience));
    }
    void written() {
        press("Write");
        REQUIRE(QTest::qWaitFor([&] { return !state().startsWith(QStringLiteral("Writing")); }, kPatience));
    }

private:
    QWidget& m_dialog;
};

QStringList addressesOf(const std::vector<CommandRow>& connections) {
    QStringList all;
    for (const CommandRow& row : connections)
        all << row[QStringLiteral("a_address")] << row[QStringLiteral("b_address")];
    return all;
}

}  // namespace

TEST_CASE("journey: evidence for the vendor is what the dialog said, and what the command line makes", "[.journey]") {
    Journey window({"write_bidir_cm"});
    const QTemporaryDir folder;
    const auto path = [&](const char* file) { return folder.filePath(QString::fromLatin1(file)); };
    window.goTo("Connections");
    window.table("Connections").click(0);
    REQUIRE(window.selection().connection());
    const QString uid = QString::number(std::to_underlying(*window.selection().connection()));
    const QStringList real = addressesOf(window.command({QStringLiteral("connections")}));

    QString bytes, packets, said;
    QStringList leaving, pseudonyms;
    const Answering answering([&](QWidget& shown) {
        Evidence dialog(shown);
        dialog.previewed();
        CHECK(
            dialog.named<QComboBox>("Packets that leave").currentText().contains(QStringLiteral("Connection ") + uid));
        // As captured only if they are asked for.
        CHECK_FALSE(dialog.named<QAbstractButton>("Packets as captured (pcapng)").isChecked());
        dialog.press("Packets as captured (pcapng)");
        dialog.press("Key and pseudonyms, for yourself (JSON)");
        dialog.type("Folder", folder.path());
        dialog.type("Name of the files", QStringLiteral("case17"));
        const HeardTable files = dialog.table("What leaves");
        REQUIRE(files.rows() == 4);
        packets = files.cell(1, QStringLiteral("Packets")).remove(QLatin1Char(','));
        bytes = files.cell(1, QStringLiteral("Bytes")).remove(QLatin1Char(','));
        CHECK(files.cell(2, QStringLiteral("Addresses and keys")) == QStringLiteral("pseudonyms"));
        CHECK(files.cell(2, QStringLiteral("Payload")).endsWith(QStringLiteral("zeroed")));
        leaving = dialog.table("Addresses that leave").column(QStringLiteral("Address"));
        pseudonyms = dialog.table("Addresses that leave").column(QStringLiteral("Under pseudonyms"));
        for (const bool dark : {false, true}) {
            useDarkPalette(dark);
            grab(shown, dark ? QStringLiteral("journey_evidence_dark") : QStringLiteral("journey_evidence"));
        }
        useDarkPalette(false);
        dialog.written();
        said = dialog.state();
        CHECK(dialog.named<QProgressBar>("Progress").value() == dialog.named<QProgressBar>("Progress").maximum());
        // Once more under the same name: refused, and nothing is lost.
        dialog.written();
        CHECK(dialog.state().contains(QStringLiteral("already")));
    });
    window.key(Qt::Key_V, Qt::ControlModifier | Qt::ShiftModifier);
    REQUIRE(answering.dialogs() == 1);
    INFO(said.toStdString());

    CHECK(QDir(folder.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot).size() == 4);
    // The slice is that of `extract`, and holds what was announced.
    run({QStringLiteral("extract"), QStringLiteral("-q"), QStringLiteral("-C"), uid, QStringLiteral("-o"),
         path("cli.pcapng"), window.files[0]});
    CHECK(contents(path("case17-packets.pcapng")) == contents(path("cli.pcapng")));
    const auto rows = commandRows({QStringLiteral("packets"), QStringLiteral("-e"), QStringLiteral("frame.cap_len"),
                                   path("case17-packets.pcapng")});
    std::uint64_t sum = 0;
    for (const CommandRow& row : rows) sum += row[QStringLiteral("frame.cap_len")].toULongLong();
    CHECK(QString::number(rows.size()) == packets);
    CHECK(QString::number(sum) == bytes);
    // The anonymised copy is that of `anonymize` of this slice with the key that was drawn.
    const QJsonObject map = QJsonDocument::fromJson(contents(path("case17-pseudonyms-private.json"))).object();
    const QString key = map[QStringLiteral("key")].toString();
    constexpr QFileDevice::Permissions kOthers = QFileDevice::ReadGroup | QFileDevice::ReadOther;
    CHECK((QFile::permissions(path("case17-pseudonyms-private.json")) & kOthers) == QFileDevice::Permissions());
    REQUIRE(key.size() == 64);
    run({QStringLiteral("anonymize"), QStringLiteral("-q"), QStringLiteral("--key"), key, QStringLiteral("-o"),
         path("cli-anonymized.pcapng"), path("cli.pcapng")});
    CHECK(contents(path("case17-anonymized.pcapng")) == contents(path("cli-anonymized.pcapng")));
    // Addresses leave as the preview had them.
    for (const QString& address :
         addressesOf(commandRows({QStringLiteral("connections"), path("case17-anonymized.pcapng")}))) {
        CAPTURE(address.toStdString());
        CHECK(pseudonyms.contains(address));
        CHECK_FALSE(real.contains(address));
    }
    for (const QString& address : real) CHECK(leaving.contains(address));
    // The report is that of the anonymised copy, and names nobody.
    run({QStringLiteral("report"), QStringLiteral("-q"), QStringLiteral("-o"), path("cli.html"),
         path("case17-anonymized.pcapng")});
    const QByteArray report = contents(path("case17-report.html"));
    CHECK(withoutMaking(report) == withoutMaking(contents(path("cli.html"))));
    for (const QString& address : real) CHECK_FALSE(report.contains(address.toUtf8()));
}

TEST_CASE("journey: evidence of a finding, as captured, with its findings in the report", "[.journey]") {
    Journey window({"loss_write"});
    const QTemporaryDir folder;
    window.key(Qt::Key_Period, Qt::ControlModifier | Qt::ShiftModifier);  // the next finding
    const auto told = window.command({QStringLiteral("findings")});
    QString said;
    QStringList findings;
    const Answering answering([&](QWidget& shown) {
        Evidence dialog(shown);
        auto& scope = dialog.named<QComboBox>("Packets that leave");
        scope.setFocus();
        while (!scope.currentText().startsWith(QStringLiteral("Finding"))) {
            const int before = scope.currentIndex();
            QTest::keyClick(&scope, Qt::Key_Down);
            REQUIRE(scope.currentIndex() != before);
        }
        dialog.previewed();
        auto& names = dialog.named<QComboBox>("Addresses in the report");
        names.setFocus();
        QTest::keyClick(&names, Qt::Key_Down);
        dialog.press("Packets as captured (pcapng)");
        dialog.press("Packets under pseudonyms (pcapng)");
        dialog.type("Folder", folder.path());
        findings = dialog.table("Findings that leave").column(QStringLiteral("Finding"));
        CHECK(dialog.table("What leaves").rows() == 2);
        CHECK(dialog.table("What leaves").cell(0, QStringLiteral("Addresses and keys")) ==
              QStringLiteral("as captured"));
        dialog.written();
        said = dialog.state();
    });
    window.window.action(ActionId::Evidence)->trigger();
    REQUIRE(answering.dialogs() == 1);
    INFO(said.toStdString());
    const QDir made(folder.path());
    REQUIRE(made.entryList(QDir::Files).size() == 2);
    const QString slice = made.filePath(made.entryList({QStringLiteral("*-packets.pcapng")})[0]);
    // The capture has this one connection: the report of the slice has its findings.
    const auto again = commandRows({QStringLiteral("findings"), slice});
    CHECK(said.contains(QStringLiteral("Findings in the report: %1").arg(again.size())));
    CHECK(again.size() == told.size());
    for (const CommandRow& row : again) CHECK(findings.contains(row[QStringLiteral("id")]));
}
