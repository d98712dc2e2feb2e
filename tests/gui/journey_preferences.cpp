// Journey: preferences, names and profiles: by keys and clicks, seen in list, table and ladder, and there in the next
// window.
#include <gui/filter/filter_bar.hpp>
#include <gui/hosts/heat_map.hpp>
#include <gui/pictures/ladder_view.hpp>
#include <gui/preferences/preferences.hpp>
#include <gui/preferences/profile.hpp>
#include <tests/gui/journey.hpp>
#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDragEnterEvent>
#include <QFile>
#include <QMimeData>
#include <QPushButton>

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::Qpn;

namespace {

QString fileWith(const QTemporaryDir& folder, const char* name, const QByteArray& content) {
    QFile file(folder.filePath(QLatin1String(name)));
    REQUIRE(file.open(QIODevice::WriteOnly));
    REQUIRE(file.write(content) == content.size());
    return file.fileName();
}

void typeInto(QWidget& dialog, const char* name, const QString& text) {
    for (auto* line : dialog.findChildren<QLineEdit*>())
        if (heardName(*line) == QLatin1String(name)) {
            line->setFocus();
            line->selectAll();
            QTest::keyClick(line, Qt::Key_Delete);
            return QTest::keyClicks(line, text);
        }
    FAIL("no line is called " << name);
}

// With the arrows, as a person does.
void pick(QWidget& dialog, const char* name, const QString& entry) {
    for (auto* box : dialog.findChildren<QComboBox*>()) {
        if (box->accessibleName() != QLatin1String(name)) continue;  // what is heard of it is the entry that is chosen
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Home);
        for (int i = 0; i < box->count() && box->currentText() != entry; ++i) QTest::keyClick(box, Qt::Key_Down);
        CHECK(box->currentText() == entry);
        return;
    }
    FAIL("no choice is called " << name);
}

void confirm(QWidget& dialog) {
    QTest::mouseClick(dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok), Qt::LeftButton);
}

}  // namespace

TEST_CASE("journey: preferences and names, in the next window too", "[.journey]") {
    const QTemporaryDir folder;
    Journey window({"loss_write"});
    window.goTo("Packets");
    PacketList& list = window.view<PacketsView>().list();
    const auto ends = window.session().timeline()->connections.front().ends;
    const std::string other = qps::transport::text(ends[1].address);
    const QString names = fileWith(folder, "hosts",
                                   "# hosts\n" + QByteArray::fromStdString(qps::transport::text(ends[0].address)) +
                                       "\tnode-a alias\n" + QByteArray::fromStdString(other) + ":" +
                                       QByteArray::number(std::to_underlying(*ends[1].qpn)) + " trainer\n");
    const QString log =
        fileWith(folder, "nccl.log",
                 "n1:71:80 [0] NCCL INFO Bootstrap : Using eth0:" + QByteArray::fromStdString(other) +
                     "<0>\nn1:71:80 [0] NCCL INFO comm 0x43dc rank 3 nranks 4 cudaDev 0 busId 80 - Init COMPLETE\n");
    const Answering answering([&](QWidget& dialog) {
        typeInto(dialog, "Link speed", QStringLiteral("fast"));
        CHECK_FALSE(dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok)->isEnabled());
        typeInto(dialog, "Link speed", QStringLiteral("100G"));
        pick(dialog, "ICRC", QStringLiteral("Ignore"));
        pick(dialog, "Times", QStringLiteral("Time of day (UTC)"));
        typeInto(dialog, "Hosts file", names);
        typeInto(dialog, "NCCL log", log);
        grab(dialog, QStringLiteral("journey_preferences"));
        confirm(dialog);
    });
    window.key(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    CHECK(answering.dialogs() == 1);
    window.settle();  // it is read again
    CHECK(window.session().reading().icrc == qps::transport::IcrcPolicy::ignore);
    CHECK(std::to_underlying(window.session().reading().linkSpeed) == 100'000'000'000);
    REQUIRE(window.session().packets() != 0);

    const auto seen = [](PacketList& packets) {
        QStringList cells;
        for (std::uint64_t at = 0; at < std::min<std::uint64_t>(packets.geometryOfRows().rows, 40); ++at)
            cells << packets.textAt(at).cells[2] + QStringLiteral(" > ") + packets.textAt(at).cells[3];
        return cells;
    };
    CHECK(list.textAt(0).cells[1].startsWith(QStringLiteral("2026-11-2")));
    const QString trainer = QStringLiteral("trainer (%1)").arg(std::to_underlying(*ends[1].qpn));
    CHECK(seen(list).contains(QStringLiteral("node-a > %1, rank 3").arg(trainer)));
    CHECK(seen(list).contains(QStringLiteral("rank 3 > node-a")));
    grab(window.window, QStringLiteral("journey_names"));
    window.goTo("Connections");
    const QString expected = QStringLiteral("node-a:%1 <-> %2").arg(std::to_underlying(*ends[0].qpn)).arg(trainer);
    INFO(window.table("Connections").cell(0, QStringLiteral("Endpoints")).toStdString()
         << " and not " << expected.toStdString());
    CHECK(Journey::soon([&] { return window.table("Connections").cell(0, QStringLiteral("Endpoints")) == expected; }));
    window.goTo("Messages");
    CHECK(Journey::soon([&] { return window.table("Messages").cell(0, QStringLiteral("To")) == trainer; }));
    CHECK(window.table("Messages").cell(0, QStringLiteral("From")) ==
          QStringLiteral("node-a:%1").arg(std::to_underlying(*ends[0].qpn)));
    // A sentence has what the command line says, with the names beside it: what is to be typed stays as it is.
    window.goTo("Findings");
    const auto told = window.command({words("findings")});
    QString summary = told.front()[words("summary")];
    const QString first = QString::fromStdString(qps::transport::text(ends[0].address));
    const QString second =
        QString::fromStdString(other) + QStringLiteral(" QP %1").arg(std::to_underlying(*ends[1].qpn));
    REQUIRE(summary.contains(first));
    REQUIRE(summary.contains(second));
    summary.replace(first, QStringLiteral("node-a (%1)").arg(first))
        .replace(second, QStringLiteral("trainer, rank 3 (%1)").arg(second));
    CHECK(window.table("Findings").cell(0, QStringLiteral("Summary")) == summary);
    grab(window.window, QStringLiteral("journey_names_findings"));
    window.goTo("Hosts");
    auto& map = window.named<HeatMap>("Pairs of hosts");
    map.setFocus();
    CHECK(Journey::soon([&] {
        window.key(Qt::Key_Home);
        window.key(Qt::Key_Right);
        return map.accessibleDescription().contains(QStringLiteral("node-a (%1)").arg(first)) &&
               map.accessibleDescription().contains(QStringLiteral("rank 3 (%1)").arg(QString::fromStdString(other)));
    }));
    grab(window.window, QStringLiteral("journey_names_hosts"));
    CHECK(window.table("Connections of the hosts").cell(0, QStringLiteral("Endpoints")) == expected);
    window.goTo("Summary");
    grab(window.window, QStringLiteral("journey_names_summary"));
    const auto cards = window.window.findChildren<QLabel*>();
    CHECK(std::ranges::any_of(cards, [](const QLabel* card) {
        return card->accessibleDescription().contains(QStringLiteral("trainer, rank 3 ("));
    }));
    window.goTo("Ladder");
    CHECK(
        Journey::soon([&] { return window.view<LadderView>().ends().contains(QStringLiteral("trainer, rank 3 QP")); }));
    grab(window.window, QStringLiteral("journey_names_ladder"));
    CHECK(window.window.close());

    MainWindow again(1);
    again.show();
    again.activateWindow();
    REQUIRE(QTest::qWaitForWindowActive(&again));
    again.open(window.files);
    REQUIRE(Journey::soon([&] { return !again.session().busy(); }));
    again.showView(QStringLiteral("packets"));
    CHECK(again.session().reading().icrc == qps::transport::IcrcPolicy::ignore);
    CHECK(seen(again.findChild<PacketsView*>()->list()).contains(QStringLiteral("node-a > %1, rank 3").arg(trainer)));
}

TEST_CASE("journey: a profile goes to another user", "[.journey]") {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("mine.qpscope-profile"));
    {
        Journey window({"loss_write"});
        window.goTo("Packets");
        PacketList& list = window.view<PacketsView>().list();
        REQUIRE(list.addFieldColumn(QStringLiteral("infiniband.bth.psn")));
        list.setTimeFormat(TimeFormat::Utc);
        window.window.filterBar().setSaved({QStringLiteral("NAKs|infiniband.aeth.syndrome.opcode == NAK")});
        window.chooseFile(path, [&] { window.window.action(ActionId::ExportProfile)->trigger(); });
        REQUIRE(QFile::exists(path));
        CHECK(window.window.close());
    }
    QSettings().clear();
    Journey window({"loss_write"});
    window.goTo("Packets");
    PacketList& list = window.view<PacketsView>().list();
    CHECK(list.columns().size() == standardColumns().size());
    window.chooseFile(path, [&] { window.window.action(ActionId::ImportProfile)->trigger(); });
    REQUIRE(Journey::soon([&] { return list.columns().size() == standardColumns().size() + 1; }));
    CHECK(list.timeFormat() == TimeFormat::Utc);
    CHECK(window.window.filterBar().saved() ==
          QStringList{QStringLiteral("NAKs|infiniband.aeth.syndrome.opcode == NAK")});
    // What is no profile is told, and changes nothing.
    QStringList said;
    {
        const Answering answering([&](QWidget& dialog) {
            if (auto* line = dialog.findChild<QLineEdit*>();
                line != nullptr && qobject_cast<QFileDialog*>(&dialog) != nullptr) {
                line->setFocus();
                line->setText(window.files.front());
                QTest::keyClick(line, Qt::Key_Return);
            }
        });
        window.window.action(ActionId::ImportProfile)->trigger();
        said = answering.said();
    }
    REQUIRE(said.size() == 2);
    CHECK(said[1].endsWith(QStringLiteral("no profile of qpscope.")));
    CHECK(list.columns().size() == standardColumns().size() + 1);
}

TEST_CASE("journey: a field that is dragged to the filter line filters", "[.journey]") {
    Journey window({"loss_write"});
    window.goTo("Packets");
    window.selection().selectPacket(qps::dissect::FrameIndex{84});
    auto& tree = window.view<PacketsView>().panes().tree();
    tree.setFocus();
    QStringList passed;
    for (int i = 0; i < 200 && tree.fieldName() != QStringLiteral("infiniband.bth.psn"); ++i) {
        window.key(Qt::Key_Down);
        passed << tree.fieldName();
    }
    INFO(passed.join(QLatin1Char(' ')).toStdString());
    REQUIRE(tree.fieldName() == QStringLiteral("infiniband.bth.psn"));
    const std::unique_ptr<QMimeData> data(tree.dragged());
    REQUIRE(data != nullptr);
    auto& line = *window.window.filterBar().findChild<QLineEdit*>();
    QDragEnterEvent enters(line.rect().center(), Qt::CopyAction, data.get(), Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&line, &enters);
    CHECK(enters.isAccepted());
    QDropEvent drops(line.rect().center(), Qt::CopyAction, data.get(), Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&line, &drops);
    CHECK(drops.isAccepted());
    CHECK(window.selection().filter() == tree.fieldFilter());
    CHECK(window.selection().filter().startsWith(QStringLiteral("infiniband.bth.psn == ")));
}

TEST_CASE("names are read from a hosts file, and what is none is counted") {
    Names names;
    const auto outcome = names.readHosts(
        "10.0.0.1 a # first\n10.0.0.1 b\n::1\tsix six.example\n10.0.0.1:17 rank three\n[FE80::1]:0x11 label\nlid:4 switch\n"
        "02:00:00:00:00:01 nic\n\n#\nnonsense name\n10.0.0.9\n10.0.0.1:16777216 many\n10.0.0.1: none\r\n");
    CHECK(outcome.names == 6);
    CHECK(outcome.malformed == 4);
    CHECK(names.host(QStringLiteral("10.0.0.1")) == QStringLiteral("a"));
    CHECK(names.host(QStringLiteral("::1")) == QStringLiteral("six"));
    CHECK(names.host(QStringLiteral("lid 4")) == QStringLiteral("switch"));
    CHECK(names.host(QStringLiteral("02:00:00:00:00:01")) == QStringLiteral("nic"));
    CHECK(names.queuePair(QStringLiteral("10.0.0.1"), Qpn{17}) == QStringLiteral("rank three"));
    CHECK(names.queuePair(QStringLiteral("fe80::1"), Qpn{17}) == QStringLiteral("label"));
    CHECK(names.queuePair(QStringLiteral("10.0.0.1"), Qpn{18}).isEmpty());
    // In a sentence: what is an address, as a whole, and not what is to be typed or only looks like one.
    CHECK(names.inText(QStringLiteral("10.0.0.1 lost 10.0.0.12, 10.0.0.1.5 and 110.0.0.1: `ping 10.0.0.1` or ::1.")) ==
          QStringLiteral("a (10.0.0.1) lost 10.0.0.12, 10.0.0.1.5 and 110.0.0.1: `ping 10.0.0.1` or six (::1)."));
    CHECK(
        names.inText(
            QStringLiteral("10.0.0.1 QP 17 to 10.0.0.1 QP 18; fe80::1 QP 17, lid 4 and lid 40, 02:00:00:00:00:01")) ==
        QStringLiteral(
            "rank three, a (10.0.0.1 QP 17) to a (10.0.0.1) QP 18; label (fe80::1 QP 17), switch (lid 4) and lid 40, nic (02:00:00:00:00:01)"));
    CHECK(names.inText(QStringLiteral("(10.0.0.1)")) == QStringLiteral("(a (10.0.0.1))"));
    CHECK(names.inText(QString()).isEmpty());
    CHECK(names.addRanks(qps::transport::read_nccl_log(
              "n0:71:80 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"
              "n0:71:80 [0] NCCL INFO comm 0x43dc rank 0 nranks 3 cudaDev 0 busId 80 - Init COMPLETE\n")) == 1);
    CHECK(names.host(QStringLiteral("10.0.0.1")) == QStringLiteral("a (rank 0)"));

    std::string many;
    for (int i = 0; i < Names::kMost + 2; ++i)
        many += "10." + std::to_string(i / 65536) + "." + std::to_string(i / 256 % 256) + "." +
                std::to_string(i % 256) + " " + std::string(200, 'x') + "\n";
    Names full;
    const auto told = full.readHosts(many);
    CHECK(told.full);
    CHECK(told.names == static_cast<std::uint64_t>(Names::kMost));
    CHECK(full.host(QStringLiteral("10.0.0.1")).size() == Names::kLongest);
}

TEST_CASE("a profile is read as it was written, and what is none of its values is left out") {
    const Profile before{.reading = {qps::transport::IcrcPolicy::check, qps::dissect::BitsPerSecond{400'000'000'000}},
                         .time = TimeFormat::Local,
                         .columns = savedColumns(standardColumns()),
                         .rules = savedRules(standardRules()),
                         .filters = {QStringLiteral("a|frame.number == 1 || frame.number == 2")}};
    const auto after = readProfile(written(before));
    REQUIRE(after);
    CHECK(after->reading == before.reading);
    CHECK(after->time == before.time);
    CHECK(after->columns == before.columns);
    CHECK(after->rules == before.rules);
    CHECK(after->filters == before.filters);
    const auto odd = readProfile(
        R"({"qpscope_profile": 1, "icrc": 7, "link_speed": "warp", "time": [], "columns": ["x", 3], "coloring_rules": {}, "filters": ["n|no such field"]})");
    REQUIRE(odd);
    CHECK(odd->reading == Reading{});
    CHECK(odd->columns.isEmpty());
    CHECK(odd->filters.isEmpty());
    for (const char* none : {"", "{}", "[]", "nonsense", R"({"qpscope_profile": 2})"}) CHECK_FALSE(readProfile(none));
    CHECK_FALSE(readProfile(QByteArray(kMostProfile + 1, ' ')));
    CHECK(speedText(*readSpeed(QStringLiteral("2.5G"))) == QStringLiteral("2500M"));
    CHECK_FALSE(readSpeed(QStringLiteral("-1G")));
}
