// What is selected in one view is what the others show: of messages under way at once the right one, also in a view
// that is opened later.
#include <gui/pictures/ladder_picture.hpp>
#include <gui/pictures/psn_picture.hpp>
#include <gui/tables/index_views.hpp>
#include <gui/tables/table_view.hpp>
#include <tests/gui/window.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QTableView>

using namespace qps::gui;
using namespace qps::gui::tests;
using namespace qps::transport;
using qps::dissect::FrameIndex;

namespace {

// A packet in the middle of a message while another message of its connection had begun that has not ended.
struct Pipelined {
    FrameIndex frame{};
    FrameIndex first{};  // of its message
};
std::optional<Pipelined> pipelined(const CaptureIndex& index) {
    for (std::uint64_t one = 0; one < index.messages.size(); ++one) {
        const MessageRow& message = index.messages[one];
        for (std::uint64_t two = 0; two < index.messages.size(); ++two) {
            const MessageRow& later = index.messages[two];
            if (later.connection() != message.connection() || later.requester() != message.requester()) continue;
            if (later.first_frame() <= message.first_frame() || later.first_frame() >= message.last_frame()) continue;
            if (message.last_frame() < later.last_frame())
                return Pipelined{message.last_frame(), message.first_frame()};
        }
    }
    return std::nullopt;
}

}  // namespace

TEST_CASE("window: the ladder highlights the message that a packet is of, also where several are under way") {
    OpenWindow opened("loss_write");
    const auto& index = *opened.session().index();
    const auto found = pipelined(index);
    REQUIRE(found);
    opened.selection().selectPacket(found->frame);
    opened.window.showView(QStringLiteral("ladder"));
    auto& ladder = opened.view<LadderPicture>().view();
    REQUIRE(QTest::qWaitFor([&] { return ladder.currentLine().has_value(); }, kPatience));
    const auto& line = ladder.ladder().lines.at(*ladder.currentLine());
    CHECK(line.frame == found->first);
    opened.selection().selectPacket(found->first);
    CHECK(ladder.ladder().lines.at(*ladder.currentLine()).frame == found->first);
}

TEST_CASE("window: messages show the packet that was chosen before they were opened first") {
    OpenWindow opened("multi_qp");
    const auto& messages = opened.session().index()->messages;
    const MessageRow& wanted = messages[messages.size() / 2];
    opened.selection().selectPacket(wanted.first_frame());
    opened.window.showView(QStringLiteral("messages"));
    auto& table = *opened.view<MessagesView>().findChild<TableView*>();
    REQUIRE(table.current());
    CHECK(table.model().place(*table.current()).first == wanted.first_frame());
    CHECK(table.table().selectionModel()->hasSelection());
}

TEST_CASE("window: where there is one connection it is selected, in every picture") {
    OpenWindow opened("write_8k");
    const auto& connections = opened.session().timeline()->connections;
    REQUIRE(connections.size() == 1);
    REQUIRE(opened.selection().connection() == connections.front().uid);
    opened.window.showView(QStringLiteral("psn"));
    auto& picture = opened.view<PsnPicture>();
    REQUIRE(QTest::qWaitFor([&] { return picture.settled(); }, kPatience));
    CHECK_FALSE(picture.plot().data().empty());
    opened.window.showView(QStringLiteral("ladder"));
    CHECK(QTest::qWaitFor([&] { return opened.view<LadderPicture>().view().emptyReason().isEmpty(); }, kPatience));
}

TEST_CASE("window: where there are several none is selected until somebody does") {
    OpenWindow opened("multi_qp");
    REQUIRE(opened.session().timeline()->connections.size() > 1);
    const auto packet = opened.selection().packet();
    CHECK((!opened.selection().connection() ||
           (packet && opened.session().index()->row(*packet).connection() == opened.selection().connection())));
}
