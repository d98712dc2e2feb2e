// The window and files: opening in every way, what cannot be read, ending early, closing, and what is remembered.
#include <gui/filter/filter_bar.hpp>
#include <gui/live/choice.hpp>
#include <gui/pictures/ladder_picture.hpp>
#include <gui/pictures/losses_picture.hpp>
#include <gui/pictures/plot_picture.hpp>
#include <gui/statistics/statistics_view.hpp>
#include <gui/tables/sheet.hpp>
#include <gui/tables/table_view.hpp>
#include <gui/window/sidebar.hpp>
#include <gui/window/views.hpp>
#include <tests/gui/window.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollBar>
#include <QTableView>
#include <QToolButton>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

// Enough to tell text or a drawing from an empty ground.
constexpr std::size_t kLeastColours = 12;

std::size_t coloursOf(QWidget& widget) {
    const QImage image = widget.grab().toImage();
    std::set<QRgb> colours;
    for (int y = 0; y < image.height(); y += 2)
        for (int x = 0; x < image.width(); x += 2) colours.insert(image.pixel(x, y));
    return colours.size();
}

// What the view has to say of the capture, beyond being painted.
bool showsSomething(QWidget& view) {
    if (auto* picture = qobject_cast<PlotPicture*>(&view)) {
        const bool settled = QTest::qWaitFor([picture] { return picture->settled(); }, kPatience);
        return settled && !picture->plot().data().empty();
    }
    if (auto* ladder = qobject_cast<LadderPicture*>(&view))
        return QTest::qWaitFor([ladder] { return !ladder->view().ladder().lines.empty(); }, kPatience);
    if (auto* losses = qobject_cast<LossesPicture*>(&view)) return !losses->strip().drawing()->places.rows.empty();
    if (auto* packets = qobject_cast<PacketsView*>(&view)) return packets->list().geometryOfRows().rows != 0;
    if (auto* statistics = qobject_cast<StatisticsView*>(&view))
        return QTest::qWaitFor([statistics] { return statistics->settled(); }, kPatience) &&
               !statistics->sheet().sheetRows().empty();
    for (const TableView* table : view.findChildren<TableView*>())
        if (table->model().rowCount() != 0) return true;
    for (const QLabel* label : view.findChildren<QLabel*>())
        if (label->isVisible() && label->text().size() > 100) return true;
    constexpr int kOfSheets = 1'000;  // ms; some have nothing to say
    const auto sheets = view.findChildren<Sheet*>();
    return !sheets.isEmpty() &&
           QTest::qWaitFor(
               [&] {
                   return std::ranges::any_of(sheets, [](const Sheet* sheet) { return !sheet->sheetRows().empty(); });
               },
               kOfSheets);
}

QByteArray contentsOfSample(const std::string& sample) {
    QFile file(QString::fromStdString(sampleFile(sample)));
    REQUIRE(file.open(QIODevice::ReadOnly));
    return file.readAll();
}

// Whether a label of the window says it.
bool says(const QWidget& window, const QString& words) {
    const auto labels = window.findChildren<QLabel*>();
    return std::ranges::any_of(labels, [&](const QLabel* label) { return label->text().contains(words); });
}

QString written(const QTemporaryDir& folder, const char* name, const QByteArray& bytes) {
    QFile file(folder.filePath(QLatin1String(name)));
    REQUIRE(file.open(QIODevice::WriteOnly));
    REQUIRE(file.write(bytes) == bytes.size());
    return file.fileName();
}

void drop(MainWindow& window, const QList<QUrl>& urls) {
    QMimeData data;
    data.setUrls(urls);
    QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &enter);
    REQUIRE(enter.isAccepted());
    QDropEvent event(QPointF(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &event);
}

QMenu* recentMenu(MainWindow& window) {
    for (QMenu* menu : window.findChildren<QMenu*>())
        if (menu->title() == QStringLiteral("Open &recent")) return menu;
    FAIL("no menu of recent files");
    return nullptr;
}

}  // namespace

TEST_CASE("window: a sample is opened, and every view of it shows something") {
    // What a capture has not the view says in words, and is not blank either.
    const auto [name, missing] = GENERATE(table<const char*, QStringList>({
        {"loss_write",
         {QStringLiteral("cm"), QStringLiteral("congestion"), QStringLiteral("operations"),
          QStringLiteral("operation-latency")}},
        {"rping_v4",
         {QStringLiteral("findings"), QStringLiteral("congestion"), QStringLiteral("operations"),
          QStringLiteral("operation-latency"), QStringLiteral("losses")}},
        {"congestion",
         {QStringLiteral("cm"), QStringLiteral("latency"), QStringLiteral("operations"),
          QStringLiteral("operation-latency")}},
        {"nvme_rdma", {QStringLiteral("congestion"), QStringLiteral("losses")}},
    }));
    OpenWindow opened(name);
    CHECK(opened.window.windowTitle().startsWith(QStringLiteral("capture.pcap (")));  // with its folder
    CHECK(opened.window.windowTitle().endsWith(QStringLiteral("/captures/%1) - qpscope").arg(QLatin1String(name))));
    CHECK(opened.window.shownView() == QStringLiteral("summary"));
    CHECK(opened.counts() == QStringLiteral("%L1 packets").arg(opened.session().packets()));
    opened.selection().selectConnection(opened.session().timeline()->connections.front().uid);
    for (const ViewRow& row : viewRows()) {
        CAPTURE(name, row.id);
        const QString id = QString::fromUtf8(row.id);
        REQUIRE(opened.window.showView(id));
        CHECK(opened.window.shownView() == id);
        auto* view = opened.window.findChild<QWidget*>(id);
        REQUIRE(view != nullptr);
        CHECK(view->isVisible());
        // For a line or a file of the user's; for management datagrams, receivers of many, ranks: these have none.
        const bool waits = QStringList{QStringLiteral("logs"),   QStringLiteral("fabric"), QStringLiteral("compare"),
                                       QStringLiteral("incast"), QStringLiteral("ranks"),  QStringLiteral("case")}
                               .contains(id);
        CHECK(showsSomething(*view) != (missing.contains(id) || waits));
        CHECK(coloursOf(*view) > kLeastColours);
        grab(opened.window, QStringLiteral("window_%1_%2").arg(QLatin1String(name), id));
    }
    CHECK_FALSE(opened.window.showView(QStringLiteral("no such view")));
    CHECK(opened.window.shownView() == QString::fromUtf8(viewRows().back().id));
}

TEST_CASE("window: the names of all views are in sight in a window of the first size") {
    OpenWindow empty;
    empty.window.resize(1180, 760);
    QApplication::processEvents();
    const auto* views = empty.window.findChild<Sidebar*>();
    REQUIRE(views != nullptr);
    CHECK(views->verticalScrollBar()->maximum() == 0);
}

TEST_CASE("window: without a capture every view says what to do") {
    OpenWindow empty;
    for (const ViewRow& row : viewRows()) {
        CAPTURE(row.id);
        REQUIRE(empty.window.showView(QString::fromUtf8(row.id)));
        QTest::qWait(100);
        CHECK(coloursOf(*empty.window.findChild<QWidget*>(QString::fromUtf8(row.id))) > kLeastColours / 2);
        grab(empty.window, QStringLiteral("window_empty_%1").arg(QString::fromUtf8(row.id)));
    }
}

TEST_CASE("window: a damaged file shows what comes before the damage, and a button that tells") {
    const QTemporaryDir folder;
    QByteArray bytes = contentsOfSample("loss_write");
    bytes.truncate(bytes.size() / 2);
    OpenWindow opened;
    const Answering answering;
    opened.open({written(folder, "cut short.pcap", bytes)});
    CHECK(opened.session().packets() > 100);
    REQUIRE(opened.session().problems().size() == 1);
    CHECK(answering.dialogs() == 0);
    auto& button = opened.named<QToolButton>("Read error");
    REQUIRE(button.isVisible());
    QTest::mouseClick(&button, Qt::LeftButton);
    REQUIRE(answering.dialogs() == 1);
    CHECK(answering.said()[0].contains(QStringLiteral("cut short.pcap")));
    CHECK(says(opened.window, QStringLiteral("what follows the read error is missing")));
    CHECK_FALSE(says(opened.window, QStringLiteral("The capture is reliable")));
    opened.open({QString::fromStdString(sampleFile("loss_write"))});
    CHECK_FALSE(button.isVisible());
}

TEST_CASE("window: what cannot be opened at all is said in a sentence") {
    const QTemporaryDir folder;
    struct Bad {
        QString path;
        QString reason;
    };
    const std::array all{
        Bad{QStringLiteral("/no/such/capture.pcap"),
            QStringLiteral("cannot open: ") + QString::fromLocal8Bit(std::strerror(ENOENT))},
        Bad{written(folder, "letter.txt", "Dear reader"),
            QStringLiteral("not a capture: 11 bytes, shorter than a file header of 24; first "
                           "bytes 44 65 61 72 20 72 65 61 \"Dear rea\"")},
        Bad{written(folder, "empty.pcap", {}), QStringLiteral("empty file")},
    };
    const auto& [path, reason] = all[GENERATE(0U, 1U, 2U)];
    CAPTURE(path.toStdString());
    OpenWindow opened;
    const Answering answering;
    opened.open({path});
    REQUIRE(QTest::qWaitFor([&] { return answering.dialogs() != 0; }, kPatience));
    CHECK(answering.dialogs() == 1);
    // The file stands above its reason.
    CHECK(answering.said()[0].toStdString() == (path + QStringLiteral(": ") + reason).toStdString());
    CHECK(opened.session().packets() == 0);
    CHECK(opened.counts() == QStringLiteral("0 packets"));
}

TEST_CASE("window: what is no capture does not replace the one that is open") {
    const QTemporaryDir folder;
    const QString path =
        GENERATE(0, 1) == 0 ? written(folder, "letter.txt", "Dear reader") : QStringLiteral("/no/such/capture.pcap");
    OpenWindow opened;
    opened.open({QString::fromStdString(sampleFile("loss_write"))});
    const std::uint64_t packets = opened.session().packets();
    REQUIRE(packets != 0);
    const Answering answering;
    opened.window.open({path});
    REQUIRE(QTest::qWaitFor([&] { return answering.dialogs() != 0; }, kPatience));
    CHECK(answering.said()[0].contains(path));
    opened.settle();
    CHECK(opened.session().packets() == packets);
    CHECK(opened.session().title() == QStringLiteral("capture.pcap"));
}

TEST_CASE("window: reading is cancelled, and what was read stays") {
    const bool byKey = GENERATE(false, true);
    const QTemporaryDir folder;
    // The same packets over and over: some hundred megabytes.
    const QByteArray bytes = contentsOfSample("loss_read");
    constexpr int kHeader = 24;  // of a pcap file
    QFile file(folder.filePath(QStringLiteral("large.pcap")));
    REQUIRE(file.open(QIODevice::WriteOnly));
    file.write(bytes.left(kHeader));
    for (int i = 0; i < 120; ++i) file.write(bytes.mid(kHeader));
    file.close();

    OpenWindow opened;
    opened.window.showView(QStringLiteral("packets"));
    opened.window.open({file.fileName()});
    REQUIRE(QTest::qWaitFor([&] { return opened.session().packets() != 0; }, kPatience));
    REQUIRE(opened.session().busy());
    auto& cancel = *opened.window.statusBar()->findChild<QToolButton*>();
    CHECK(cancel.isVisible());
    CHECK(opened.named<QProgressBar>("Progress").isVisible());
    CHECK(opened.view<PacketsView>().list().geometryOfRows().rows != 0);  // while it is being read
    if (byKey) opened.key(Qt::Key_Escape);
    else QTest::mouseClick(&cancel, Qt::LeftButton);
    REQUIRE(QTest::qWaitFor([&] { return !opened.session().busy(); }, kPatience));
    CHECK(opened.session().state() == Session::State::Stopped);
    CHECK_FALSE(cancel.isVisible());
    const std::uint64_t read = opened.session().packets();
    CHECK(read > 0);
    CHECK(opened.view<PacketsView>().list().geometryOfRows().rows == read);
    CHECK(opened.session().timeline()->quality.packets == read);
    opened.window.showView(QStringLiteral("summary"));
    CHECK(says(opened.window, QStringLiteral("Loading was cancelled")));
    CHECK_FALSE(says(opened.window, QStringLiteral("The capture is reliable")));
    opened.window.showView(QStringLiteral("packets"));
    opened.key(Qt::Key_End, Qt::ControlModifier);
    CHECK(opened.packet() == read);
    CHECK(opened.view<PacketsView>().panes().tree().packet() != nullptr);
}

TEST_CASE("window: files are dropped on it, several are one capture") {
    OpenWindow opened;
    const QUrl first = QUrl::fromLocalFile(QString::fromStdString(sampleFile("rping_v6")));
    const QUrl second = QUrl::fromLocalFile(QString::fromStdString(sampleFile("write_8k")));
    drop(opened.window, {first});
    opened.settle();
    const std::uint64_t alone = opened.session().packets();
    REQUIRE(alone != 0);
    drop(opened.window, {second, first, QUrl(QStringLiteral("https://example.org/not/here.pcap"))});
    opened.settle();
    CHECK(opened.session().packets() > alone);
    CHECK(opened.session().files() == QStringList{first.toLocalFile(), second.toLocalFile()});
    CHECK(opened.window.windowTitle().contains(QStringLiteral("1 more")));
    drop(opened.window, {QUrl(QStringLiteral("https://example.org/not/here.pcap"))});
    CHECK(opened.session().files().size() == 2);
}

TEST_CASE("window: a file is chosen in a dialog, reloaded when it has grown, and closed") {
    const QTemporaryDir folder;
    const QByteArray bytes = contentsOfSample("write_8k");
    const QString path = written(folder, "growing.pcap", bytes.left(24));
    OpenWindow opened;
    {
        const Answering answering([&](QWidget& dialog) {
            dialog.findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(path);
            qobject_cast<QDialog*>(&dialog)->accept();
        });
        opened.key(Qt::Key_O, Qt::ControlModifier);
        CHECK(answering.dialogs() == 1);
    }
    opened.settle();
    CHECK(opened.session().files() == QStringList{path});
    CHECK(opened.session().packets() == 0);
    written(folder, "growing.pcap", bytes);
    opened.key(Qt::Key_R, Qt::ControlModifier);
    opened.settle();
    CHECK(opened.session().packets() > 100);
    opened.window.showView(QStringLiteral("packets"));
    opened.key(Qt::Key_W, Qt::ControlModifier);
    CHECK(opened.session().state() == Session::State::Empty);
    CHECK(opened.window.windowTitle() == QStringLiteral("qpscope"));
    CHECK(opened.view<PacketsView>().list().geometryOfRows().rows == 0);
    CHECK_FALSE(opened.window.action(ActionId::Reload)->isEnabled());
    CHECK_FALSE(opened.window.action(ActionId::GoToPacket)->isEnabled());
}

TEST_CASE("window: recent files are in the menu and on the start page, the last one first") {
    OpenWindow opened("rping_v6");
    const QString first = opened.session().files().front();
    opened.open({QString::fromStdString(sampleFile("write_8k"))});
    QMenu* menu = recentMenu(opened.window);
    REQUIRE(menu->actions().size() == 2);
    menu->actions()[1]->trigger();
    opened.settle();
    CHECK(opened.session().files() == QStringList{first});
    CHECK(menu->actions()[0]->text() == first);
    const QTemporaryDir folder;
    const QByteArray bytes = contentsOfSample("rping_v6");
    for (int i = 0; i < 20; ++i)
        opened.window.open(
            {written(folder, QStringLiteral("this & that %1.pcap").arg(i).toLatin1().constData(), bytes)});
    opened.settle();
    CHECK(menu->actions().size() == 10);
    CHECK(menu->actions()[0]->text() == folder.filePath(QStringLiteral("this && that 19.pcap")));
}

TEST_CASE("window: what the user arranged is there again in the next window") {
    QSize size;
    std::size_t columns = 0;
    const OpenWindow first("write_8k");
    {
        auto& window = const_cast<MainWindow&>(first.window);
        window.resize(900, 640);
        window.showView(QStringLiteral("packets"));
        auto& packets = *window.findChild<PacketsView*>();
        REQUIRE(packets.list().addFieldColumn(QStringLiteral("infiniband.bth.psn")));
        packets.list().setTimeFormat(TimeFormat::Utc);
        columns = packets.list().columns().size();
        window.filterBar().edit(QStringLiteral("infiniband"));
        window.filterBar().apply();
        size = window.size();
        REQUIRE(window.close());
    }
    MainWindow second(1);
    second.show();
    CHECK(second.size() == size);
    CHECK(second.filterBar().history() == QStringList{QStringLiteral("infiniband")});
    CHECK(recentMenu(second)->actions().size() == 1);
    second.showView(QStringLiteral("packets"));
    auto& packets = *second.findChild<PacketsView*>();
    CHECK(packets.list().columns().size() == columns);
    CHECK(packets.list().timeFormat() == TimeFormat::Utc);
}

TEST_CASE("window: what was captured is not lost unasked") {
    OpenWindow opened;
    const QTemporaryDir folder;
    const QString pipe = QString::fromStdString(sampleFile("write_8k"));  // as good as what a recorder writes
    opened.session().capture(pipe, QStringLiteral("wire0"));
    opened.settle();
    REQUIRE(opened.session().packets() != 0);
    CHECK(opened.session().isLive());
    CHECK_FALSE(opened.window.action(ActionId::Reload)->isEnabled());
    const std::uint64_t packets = opened.session().packets();
    {
        const Answering cancelling;
        CHECK_FALSE(opened.window.close());
        opened.window.open({QString::fromStdString(sampleFile("rping_v6"))});
        opened.window.action(ActionId::Close)->trigger();
        opened.window.capture({});
        CHECK(cancelling.dialogs() == 4);
        CHECK(opened.session().packets() == packets);
    }
    SECTION("but once saved, without a word") {
        const Answering saving([&](QWidget& dialog) {
            dialog.findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))
                ->setText(folder.filePath(QStringLiteral("saved.pcapng")));
            qobject_cast<QDialog*>(&dialog)->accept();
        });
        opened.key(Qt::Key_S, Qt::ControlModifier);
        REQUIRE(QTest::qWaitFor([&] { return opened.said().contains(QStringLiteral("saved.pcapng")); }, kPatience));
        CHECK(opened.window.close());
        CHECK(saving.dialogs() == 1);
    }
    SECTION("or discarded") {
        const Answering discarding(
            [](QWidget& dialog) { qobject_cast<QMessageBox*>(&dialog)->button(QMessageBox::Discard)->click(); });
        opened.open({QString::fromStdString(sampleFile("rping_v6"))});
        CHECK(discarding.dialogs() == 1);
        CHECK_FALSE(opened.session().isLive());
        CHECK(opened.window.close());
        CHECK(discarding.dialogs() == 1);
    }
}
