// iWARP in the window: its packets have a connection, which can be followed; the ladder names its messages; what stands
// in the place of PSNs are the sequence numbers of TCP.
#include <gui/packets/corresponding.hpp>
#include <gui/pictures/ladder_picture.hpp>
#include <gui/pictures/psn_picture.hpp>
#include <gui/pictures/throughput_picture.hpp>
#include <gui/tables/index_views.hpp>
#include <gui/tables/table_view.hpp>
#include <tests/gui/window.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/psn_series.hpp>
#include <transport-replay/series/throughput.hpp>

#include <set>

using namespace qps::gui;
using namespace qps::gui::tests;
using namespace qps::transport;
using qps::dissect::FrameIndex;

namespace {

// The last packet of a connection that carries something.
FrameIndex carrying(OpenWindow& opened, ConnectionId connection) {
    FrameIndex found{};
    for (std::uint64_t frame = 1; frame <= opened.session().packets(); ++frame) {
        const PacketRow& row = opened.session().index()->row(FrameIndex{frame});
        if (row.connection() == connection && row.payload_length() != 0) found = FrameIndex{frame};
    }
    REQUIRE(found != FrameIndex{});
    return found;
}

}  // namespace

TEST_CASE("window: packets of iWARP have their connection, and it can be followed") {
    OpenWindow opened("iwarp_write");
    opened.window.showView(QStringLiteral("packets"));
    const auto& connections = opened.session().timeline()->connections;
    REQUIRE(connections.size() == 2);
    auto& list = opened.view<PacketsView>().list();
    for (const Connection& connection : connections) {
        opened.key(Qt::Key_Slash, Qt::ControlModifier | Qt::ShiftModifier);
        opened.settle();
        opened.selection().selectPacket(carrying(opened, connection.uid));
        const QString copied = list.copied(PacketList::CopyForm::Text);
        CHECK(copied.split(QLatin1Char('\t')).contains(QString::number(std::to_underlying(connection.uid))));
        list.setFocus();
        opened.key(Qt::Key_F, Qt::ControlModifier | Qt::AltModifier);
        opened.settle();
        CHECK(opened.selection().filter() ==
              QStringLiteral("rdma.connection == %1").arg(std::to_underlying(connection.uid)));
        CHECK(opened.selection().shown() == connection.packets());
    }
}

TEST_CASE("window: a message of iWARP can be followed: its bytes, and what answers them") {
    OpenWindow opened("iwarp_read");
    opened.window.showView(QStringLiteral("packets"));
    const auto& messages = opened.session().index()->messages;
    std::size_t reads = 0;
    for (std::uint64_t at = 0; at < messages.size(); ++at) {
        const MessageRow& message = messages[at];
        if (!message.answer_frame()) continue;
        opened.selection().selectPacket(message.first_frame());
        opened.view<PacketsView>().list().setFocus();
        opened.key(Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
        opened.settle();
        REQUIRE_FALSE(opened.selection().filter().isEmpty());
        CHECK(opened.selection().isShown(message.first_frame()));
        CHECK(opened.selection().shown() < opened.session().packets() / 2);
        reads += message.kind() == MessageKind::read && opened.selection().isShown(*message.answer_frame()) ? 1U : 0U;
    }
    CHECK(reads > 0);
}

TEST_CASE("window: messages of iWARP have their kind and no PSN") {
    OpenWindow opened("iwarp_write");
    opened.window.showView(QStringLiteral("messages"));
    QAbstractItemModel& model = opened.view<MessagesView>().findChild<TableView*>()->model();
    std::set<QString> kinds;
    for (int row = 0; row < model.rowCount(); ++row)
        for (int column = 0; column < model.columnCount(); ++column) {
            const QString heading = model.headerData(column, Qt::Horizontal).toString();
            const QString text = model.index(row, column).data().toString();
            if (heading == QStringLiteral("Message")) kinds.insert(text);
            if (heading == QStringLiteral("PSN")) CHECK(text.isEmpty());
        }
    CHECK(kinds == std::set<QString>{QStringLiteral("SEND"), QStringLiteral("WRITE")});
}

TEST_CASE("window: the ladder of iWARP names its messages and their sequence numbers") {
    OpenWindow opened("iwarp_write");
    opened.selection().selectConnection(ConnectionId{1});
    opened.window.showView(QStringLiteral("ladder"));
    auto& ladder = opened.view<LadderPicture>().view();
    REQUIRE(QTest::qWaitFor([&] { return !ladder.ladder().lines.empty(); }, kPatience));
    ladder.openAll();
    std::size_t named = 0;
    std::size_t acknowledged = 0;
    for (const auto& line : ladder.ladder().lines) {
        CAPTURE(line.label);
        CHECK(line.label.find("PSN") == std::string::npos);
        CHECK(line.label.find("FIRST") == std::string::npos);
        named += line.label.starts_with("SEND, MSN ") ? 1U : 0U;
        acknowledged += line.label.starts_with("TCP ACK ") ? 1U : 0U;
    }
    CHECK(named > 10);
    CHECK(acknowledged > 2);
    std::set<std::pair<FrameIndex, std::string>> lines;  // what a segment carries stands once
    for (const auto& line : ladder.ladder().lines) CHECK(lines.emplace(line.frame, line.label).second);
    grab(opened.window, QStringLiteral("iwarp-ladder"));
}

TEST_CASE("window: what counts over TCP is its sequence numbers, of one end alone") {
    OpenWindow opened("iwarp_write_lost");
    const auto& connections = opened.session().timeline()->connections;
    REQUIRE_FALSE(connections.empty());
    std::size_t retransmitted = 0;
    for (const Connection& connection : connections)
        for (const End end : {End::a, End::b}) {
            const auto series =
                series::psn_series(*opened.session().index(), *opened.session().timeline(), connection.uid, end);
            REQUIRE(series);
            CHECK(series->stream);
            const auto& requests = series->of(series::PsnMark::request);
            std::uint64_t bytes = 0;
            for (const auto& point : requests) {
                const PacketRow& row = opened.session().index()->row(point.frame);
                CHECK(row.from() == end);
                CHECK(static_cast<std::uint32_t>(point.y) == row.tcp_sequence());
                bytes += row.payload_length();
            }
            // What was sent once lies one behind the other.
            if (!requests.empty())
                CHECK(requests.back().y - requests.front().y <= static_cast<std::int64_t>(2 * bytes));
            const auto& acknowledged = series->of(series::PsnMark::acknowledged);
            for (std::size_t i = 1; i < acknowledged.size(); ++i) CHECK(acknowledged[i].y > acknowledged[i - 1].y);
            if (!requests.empty() && !acknowledged.empty())
                CHECK(acknowledged.back().y <= requests.back().y + static_cast<std::int64_t>(bytes) + 1);
            retransmitted += series->of(series::PsnMark::retransmission).size();
        }
    CHECK(retransmitted > 0);
    opened.selection().selectConnection(connections.front().uid);
    opened.window.showView(QStringLiteral("psn"));
    auto& picture = opened.view<PsnPicture>();
    REQUIRE(QTest::qWaitFor([&] { return picture.settled() && !picture.plot().data().empty(); }, kPatience));
    CHECK(picture.plot().data().panels.front().title == QStringLiteral("TCP sequence number"));
    grab(opened.window, QStringLiteral("iwarp-psn"));
}

TEST_CASE("window: throughput of iWARP has its goodput and what was sent again") {
    OpenWindow opened("iwarp_write_lost");
    const auto whole = series::whole(*opened.session().index());
    REQUIRE(whole);
    const auto throughput = series::throughput(*opened.session().index(), {}, *whole);
    REQUIRE(throughput);
    CHECK(throughput->total().goodput > 0);
    CHECK(throughput->total().goodput < throughput->total().bytes);
    std::uint64_t again = 0;
    for (const Connection& connection : opened.session().timeline()->connections)
        for (const Way& way : connection.ways) again += way.incidents->retransmitted_bytes;
    CHECK(throughput->total().retransmitted == again);
}
