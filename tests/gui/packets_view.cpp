// The packets view over a session: what it shows of a capture, how it follows the selection and tells it, and the find
// bar.
#include <gui/packets/packet_window.hpp>
#include <gui/packets/packets_view.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <tests/gui/application.hpp>
#include <tests/gui/pictures.hpp>
#include <tests/gui/sample_rows.hpp>
#include <tests/support/catch.hpp>

#include <QFont>
#include <QHeaderView>
#include <QLabel>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <string_view>

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::FrameIndex;

namespace {

// A view of a sample capture that was read to its end.
struct OpenedPackets {
    explicit OpenedPackets(const char* sample) {
        view.resize(1200, 800);
        view.show();
        session.open({QStringLiteral(QPSCOPE_SOURCE_DIR "/captures/%1/capture.pcap").arg(QLatin1String(sample))});
        REQUIRE(QTest::qWaitFor([this] { return session.state() == Session::State::Done; }, kPatience));
        QApplication::processEvents();
    }
    bool filter(const char* text) {
        return selection.applyFilter(QLatin1String(text)) &&
               QTest::qWaitFor([this] { return !selection.filtering(); }, kPatience);
    }
    void find(SearchKind kind, const char* text) {
        view.findBar().setKind(kind);
        view.findBar().setText(QLatin1String(text));
    }
    std::uint64_t next(bool forward = true) {
        if (forward) view.findBar().findNext();
        else view.findBar().findPrevious();
        REQUIRE(QTest::qWaitFor([this] { return !view.findBar().searching(); }, kPatience));
        return number(view.list().current());
    }

    struct Application {
        Application() { needApplication(); }
    } application;
    Session session;
    Selection selection{session};
    PacketsView view{session, selection};
};

}  // namespace

TEST_CASE("a capture is shown with its first packet, its fields and its bytes") {
    OpenedPackets opened("loss_write");
    CHECK(opened.view.list().geometryOfRows().rows == opened.session.packets());
    CHECK(number(opened.view.list().current()) == 1);
    CHECK(number(opened.selection.packet()) == 1);
    REQUIRE(opened.view.panes().tree().packet() != nullptr);
    CHECK(opened.view.panes().bytes().geometryOfBytes().size == opened.view.panes().tree().packet()->bytes().size());
    // The same rows as without a session.
    SampleRows rows(loadSample("loss_write"));
    PacketList list;
    list.setRows(&rows);
    REQUIRE(rows.count() == opened.session.packets());
    for (std::uint64_t at = 0; at < rows.count(); ++at)
        REQUIRE(opened.view.list().textAt(at).cells == list.textAt(at).cells);
    opened.session.close();
    CHECK(opened.view.panes().tree().packet() == nullptr);
    CHECK_FALSE(opened.view.list().current());
}

TEST_CASE("a packet of a message names the first and the last one, and goes there") {
    OpenedPackets opened("loss_write");
    FieldTree& tree = opened.view.panes().tree();
    const auto lineOf = [&](std::string_view field) {
        const auto& lines = tree.packet()->lines();
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (lines[i].field != nullptr && lines[i].field->name == field)
                return tree.fields().indexOf(i, FieldModel::Words);
        return QModelIndex();
    };
    // A message of many packets: from one in its middle to its ends.
    const auto index = opened.session.index();
    const auto& messages = index->messages;
    std::uint64_t at = 0;
    while (at < messages.size() && messages[at].bytes() < 5000) ++at;
    REQUIRE(at < messages.size());
    const auto first = messages[at].first_frame();
    const auto last = std::max(messages[at].last_frame(), messages[at].answer_frame().value_or(FrameIndex{}));
    opened.selection.selectPacket(first);
    REQUIRE(lineOf("rdma.message").isValid());
    CHECK(lineOf("rdma.message").data().toString() == QString::number(at + 1));
    CHECK(lineOf("rdma.message.first_frame").data().toString() == QString::number(std::to_underlying(first)));
    CHECK(tree.fields().linkOf(lineOf("rdma.message.first_frame")) == first);
    CHECK(tree.fields().linkOf(lineOf("rdma.message.last_frame")) == last);
    CHECK_FALSE(tree.fields().linkOf(lineOf("rdma.message")));
    CHECK(lineOf("rdma.message.last_frame").data(Qt::FontRole).value<QFont>().underline());
    tree.setCurrentIndex(lineOf("rdma.message.last_frame"));
    QTest::keyClick(&tree, Qt::Key_Return);
    CHECK(opened.selection.packet() == last);
    CHECK(lineOf("rdma.message").data().toString() == QString::number(at + 1));
    // What a filter hides is shown in the panes, and said to be hidden.
    QSignalSpy said(&opened.view, &PacketsView::notice);
    REQUIRE(opened.filter("infiniband.bth.opcode == 17"));
    tree.setCurrentIndex(lineOf("rdma.message.first_frame"));
    QTest::keyClick(&tree, Qt::Key_Return);
    CHECK(opened.selection.packet() == first);
    REQUIRE(said.count() >= 1);
    CHECK(said.back().front().toString().contains(QStringLiteral("hidden by the filter")));
}

TEST_CASE("the view follows the selection and tells it") {
    OpenedPackets opened("multi_qp");
    opened.selection.selectPacket(FrameIndex{30});
    CHECK(number(opened.view.list().current()) == 30);
    CHECK(opened.view.panes().tree().packet()->packet().frame.index == FrameIndex{30});
    QTest::keyClick(&opened.view.list(), Qt::Key_Down);
    CHECK(number(opened.selection.packet()) == 31);
    opened.selection.back();
    CHECK(number(opened.view.list().current()) == 30);

    QSignalSpy marks(&opened.selection, &Selection::marksChanged);
    opened.view.list().toggleMark();
    CHECK(opened.selection.marks().contains(FrameIndex{30}));
    opened.selection.setMarked(FrameIndex{5}, true);
    CHECK(opened.view.list().notes().marks.contains(FrameIndex{5}));
    marks.clear();
    opened.view.list().markAllShown();
    CHECK(opened.selection.marks().size() == opened.session.packets());
    CHECK(marks.count() == 1);

    REQUIRE(opened.filter("rdma.connection == 2"));
    CHECK(opened.view.list().geometryOfRows().rows == opened.selection.shown());
    CHECK(opened.selection.shown() < opened.session.packets());
    const QString before = opened.selection.filter();
    QSignalSpy notices(&opened.view, &PacketsView::notice);
    opened.view.followConversation();
    CHECK((opened.selection.filter() != before || notices.count() == 1 ||
           opened.selection.connection() == qps::transport::ConnectionId{2}));
    opened.view.list().firstPacket();
    opened.view.followMessage();
    CHECK(opened.selection.filter().startsWith(QStringLiteral("rdma.message == ")));
}

TEST_CASE("a field becomes a column, and the view comes back as it was left") {
    OpenedPackets opened("write_8k");
    opened.view.list().goTo(FrameIndex{22});
    FieldTree& tree = opened.view.panes().tree();
    const auto& lines = tree.packet()->lines();
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (lines[i].field != nullptr && lines[i].field->name == "infiniband.bth.psn")
            tree.setCurrentIndex(tree.fields().indexOf(i));
    opened.view.fieldAsColumn();
    const auto& columns = opened.view.list().columns();
    REQUIRE(columns.size() == standardColumns().size() + 1);
    CHECK(columns[columns.size() - 2].title == QStringLiteral("infiniband.bth.psn"));
    opened.view.list().setTimeFormat(TimeFormat::Utc);
    const QByteArray state = opened.view.saveState();

    PacketsView other(opened.session, opened.selection);
    REQUIRE(other.restoreState(state));
    CHECK(other.list().columns().size() == columns.size());
    CHECK(other.list().timeFormat() == TimeFormat::Utc);
    CHECK_FALSE(other.restoreState(QByteArray("nonsense")));
    CHECK_FALSE(other.restoreState(state.left(10)));
    CHECK(number(other.list().current()) == 22);
}

TEST_CASE("larger text of the application is larger in every pane, and stays in columns") {
    OpenedPackets opened("write_8k");
    const QFont before = QApplication::font();
    const int row = opened.view.list().rowHeight();
    const int bytes = opened.view.panes().bytes().hexRect(0).height();
    const int tree = opened.view.panes().tree().visualRect(opened.view.panes().tree().fields().index(0, 0)).height();
    QFont larger = before;
    larger.setPointSizeF(2 * before.pointSizeF());
    QApplication::setFont(larger);
    QApplication::processEvents();
    CHECK(opened.view.list().rowHeight() > row * 3 / 2);
    CHECK(opened.view.panes().bytes().hexRect(0).height() > bytes * 3 / 2);
    CHECK(opened.view.panes().tree().visualRect(opened.view.panes().tree().fields().index(0, 0)).height() >
          tree * 3 / 2);
    CHECK(opened.view.list().fontMetrics().horizontalAdvance(QLatin1Char('i')) ==
          opened.view.list().fontMetrics().horizontalAdvance(QLatin1Char('M')));
    inBothLooks(opened.view, "packets_view_large", [](const QImage& image) { CHECK(!image.isNull()); });
    QApplication::setFont(before);
}

TEST_CASE("the find bar finds by filter, text, bytes and PSN, forwards, backwards and around") {
    OpenedPackets opened("err_rnr");
    const auto psn = QByteArray("512");
    opened.find(SearchKind::Filter, "infiniband.aeth.syndrome.opcode == RNR_NAK");
    CHECK(opened.next() == 11);
    CHECK(opened.next() == 13);
    CHECK(opened.next(false) == 11);
    const std::uint64_t last = opened.next(false);
    CHECK(last > 13);
    CHECK(opened.view.findBar().result().wrapped);
    CHECK(opened.view.findBar().message() == QStringLiteral("Wrapped to the end"));
    CHECK(opened.next() == 11);
    CHECK(opened.view.findBar().message() == QStringLiteral("Wrapped to the start"));
    opened.find(SearchKind::Text, "RNR_MS=");
    CHECK(opened.next() == 13);
    opened.find(SearchKind::Psn, psn.constData());
    opened.view.list().goTo(FrameIndex{1});
    const std::uint64_t first = opened.next();
    CHECK(opened.session.index()->row(FrameIndex{first}).psn().value() == 512);
    opened.find(SearchKind::Bytes, "0a:4d:00:0c");  // 10.77.0.12
    CHECK(opened.next() == first + 1);
    opened.find(SearchKind::Bytes, "de ad be ef de ad be ef 01 02 03 04");
    CHECK(opened.next() == first + 1);
    CHECK(opened.view.findBar().message().startsWith(QStringLiteral("No displayed packet")));
    opened.find(SearchKind::Filter, "infiniband.bth.psn ==");
    opened.view.findBar().findNext();
    CHECK_FALSE(opened.view.findBar().searching());
    CHECK_FALSE(opened.view.findBar().message().isEmpty());
}

TEST_CASE("hex digits are bytes in pairs") {
    CHECK(bytesOfHex(QStringLiteral("0x0aFf"))->size() == 2);
    CHECK(bytesOfHex(QStringLiteral(" 0a:ff-00 11.22"))->size() == 5);
    CHECK(bytesOfHex(QStringLiteral("ff"))->front() == std::byte{0xff});
    for (const char* wrong : {"", "0", "0a f", "0 a", "xy", "0x", "g0"}) {
        CAPTURE(wrong);
        CHECK_FALSE(bytesOfHex(QLatin1String(wrong)));
    }
}

TEST_CASE("a long search is ended by Esc, and the bar by another") {
    needApplication();
    EndlessRows rows(loadSample("write_8k"), 1'000'000'000);
    FindBar bar;
    bar.setSource([&rows] { return rows.snapshot(); }, [] { return FrameIndex{1}; });
    bar.open();
    bar.setKind(SearchKind::Text);
    bar.setText(QStringLiteral("nobody says this"));
    bar.findNext();
    CHECK(bar.searching());
    QTest::qWait(100);
    CHECK(bar.searching());
    QTest::keyClick(&bar, Qt::Key_Escape);
    CHECK_FALSE(bar.searching());
    CHECK(bar.result().cancelled);
    CHECK_FALSE(bar.isHidden());
    QTest::keyClick(&bar, Qt::Key_Escape);
    CHECK(bar.isHidden());
    bar.findNext();  // and closing the window meanwhile does not wait for it
}

TEST_CASE("searches go each way around what is shown") {
    SampleRows rows(loadSample("multi_qp"));
    qps::transport::RowSet set;
    for (const std::uint64_t i : {10U, 20U, 30U}) set.set(FrameIndex{i}, true);
    rows.shown = set;
    const auto every = PacketSearch::make(SearchKind::Text, QStringLiteral("="));
    REQUIRE(every.has_value());
    const auto go = [](double) { return true; };
    const auto found = [&](std::uint64_t from, SearchWay way) {
        const SearchResult result = searchPackets(rows, *every, FrameIndex{from}, way, go);
        return std::pair(number(result.frame), result.wrapped);
    };
    using Found = std::pair<std::uint64_t, bool>;
    CHECK(found(10, SearchWay::Forward) == Found(20, false));
    CHECK(found(15, SearchWay::Forward) == Found(20, false));
    CHECK(found(30, SearchWay::Forward) == Found(10, true));
    CHECK(found(35, SearchWay::Forward) == Found(10, true));
    CHECK(found(20, SearchWay::Backward) == Found(10, false));
    CHECK(found(15, SearchWay::Backward) == Found(10, false));
    CHECK(found(35, SearchWay::Backward) == Found(30, false));
    CHECK(found(10, SearchWay::Backward) == Found(30, true));
    qps::transport::RowSet one;
    one.set(FrameIndex{10}, true);
    rows.shown = one;
    CHECK(found(10, SearchWay::Forward) == Found(10, true));
    CHECK(found(10, SearchWay::Backward) == Found(10, true));
    rows.shown = qps::transport::RowSet{};
    CHECK(found(10, SearchWay::Forward) == Found(0, false));
    CHECK(searchPackets(rows, *every, FrameIndex{1}, SearchWay::Forward, go).frame == std::nullopt);
}

TEST_CASE("a packet has a window of its own, which outlives the capture") {
    OpenedPackets opened("write_8k");
    opened.view.list().goTo(FrameIndex{22});
    opened.view.openPacket();
    auto* window = opened.view.findChild<PacketWindow*>();
    REQUIRE(window != nullptr);
    CHECK(window->windowTitle().startsWith(QStringLiteral("Packet 22 - RC_RDMA_WRITE_FIRST")));
    opened.session.close();
    CHECK(window->panes().tree().packet()->packet().frame.index == FrameIndex{22});
    inBothLooks(*window, "packet_window", [](const QImage& image) { CHECK(image.height() > 200); });
    QTest::keyClick(window, Qt::Key_Escape);
    CHECK_FALSE(window->isVisible());
}

TEST_CASE("pictures of the view") {
    OpenedPackets opened("err_rnr");
    opened.view.list().goTo(FrameIndex{13});
    opened.view.findBar().open();
    opened.find(SearchKind::Filter, "infiniband.aeth.syndrome.opcode == RNR_NAK");
    opened.next();
    opened.view.panes().tree().selectByte(47);
    inBothLooks(opened.view, "packets_view", [](const QImage& image) { CHECK(image.width() >= 1200); });
}
