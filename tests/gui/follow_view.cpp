// The payload of a connection: whose it is, which packet carried a byte, finding, saving, and that it follows the
// selection.
#include <gui/follow/follow_lines.hpp>
#include <gui/follow/follow_view.hpp>
#include <gui/tables/sheet.hpp>
#include <tests/gui/window.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QComboBox>
#include <QFile>
#include <QLineEdit>
#include <QTemporaryDir>

using namespace qps::gui;
using namespace qps::gui::tests;
using namespace qps::transport;
using qps::dissect::FrameIndex;

namespace {

std::vector<FollowedMessage> followed(const ReadSample& sample, ConnectionId connection) {
    auto part = follow(sample.index, connection, 1, 1000, 1U << 20);
    REQUIRE(part);
    return std::move(part->followed);
}

struct Followed : OpenWindow {
    explicit Followed(const char* sample) : OpenWindow(sample) { window.showView(QStringLiteral("follow")); }
    const std::vector<TextLine>& lines() { return view<TextLines>().lines(); }
    void shows(std::size_t message) {
        REQUIRE(QTest::qWaitFor(
            [&] {
                const TextLine* line = view<TextLines>().currentLine();
                return line != nullptr && line->message == message;
            },
            kPatience));
    }
    QComboBox& whose() { return *window.findChild<QComboBox*>(QStringLiteral("followWhose")); }
};

}  // namespace

TEST_CASE("the payload of a READ is of the end that was asked", "[gui][follow]") {
    needApplication();
    const ReadSample sample = readSample("err_mixed");
    std::size_t reads = 0, bytes = 0;
    for (const Connection& connection : sample.timeline->connections) {
        const std::array ends{text(connection.ends[0]), text(connection.ends[1])};
        const auto all = followed(sample, connection.uid);
        const FollowLines both = followLines(all, PayloadForm::Hex, PayloadOf::BothEnds, ends, {});
        for (const FollowedMessage& one : all) {
            if (one.message.verb != qps::dissect::Verb::read_request) continue;
            ++reads;
            bytes += one.payload.bytes.size();
            const End asked = other(one.requester);
            for (const TextLine& line : both.lines)
                if (line.message == one.number) CHECK(line.from == asked);
            const auto of = asked == End::a ? PayloadOf::EndA : PayloadOf::EndB;
            const FollowLines alone = followLines(all, PayloadForm::Hex, of, ends, {});
            CHECK(std::ranges::count(alone.lines, one.number, &TextLine::message) ==
                  std::ranges::count(both.lines, one.number, &TextLine::message));
        }
    }
    CHECK(reads == 4);
    CHECK(bytes == 28'004);
}

TEST_CASE("every byte leads to the packet that carried it", "[gui][follow]") {
    needApplication();
    for (const char* name : {"write_8k", "read_8k", "send_8k", "loss_write"}) {
        CAPTURE(name);
        const ReadSample sample = readSample(name);
        const ConnectionId connection = sample.timeline->connections.front().uid;
        std::size_t looked = 0;
        for (const FollowedMessage& one : followed(sample, connection)) {
            for (const PayloadPiece& piece : one.payload.pieces) {
                const FrameIndex packet =
                    packet_of_byte(*sample.index, connection, one, piece.begin + piece.length - 1);
                REQUIRE(packet != FrameIndex{});
                CHECK(packet == packet_of_byte(*sample.index, connection, one, piece.begin));
                const PacketRow& row = sample.index->row(packet);
                CHECK(row.payload_length() == piece.wire_length);
                CHECK(row.from() == payload_sender(one));
                CHECK(followed_number(*sample.index, connection, packet) == one.number);
                // Its bytes are in the frame.
                qps::dissect::FrameBuffer buffer;
                const auto frame = sample.index->frame(packet, buffer);
                REQUIRE(frame);
                const auto part = std::span(one.payload.bytes).subspan(piece.begin, piece.length);
                CHECK(std::ranges::search(frame->bytes, part).begin() != frame->bytes.end());
                ++looked;
            }
            CHECK(packet_of_byte(*sample.index, connection, one, one.payload.bytes.size()) == FrameIndex{});
        }
        CHECK(looked > 4);
    }
}

TEST_CASE("text and bytes are found in the payload, forwards, backwards and around", "[gui][follow]") {
    FollowLines shown;
    FollowedMessage& message = shown.followed.emplace_back();
    message.number = 1;
    for (const char c : std::string("abcdefghijklmnopNeedle in a hay")) message.payload.bytes.push_back(std::byte(c));
    shown.lines = {{QStringLiteral("heading"), 1, End::a, true, {}},
                   {QStringLiteral("0000  61 62"), 1, End::a, false, 0},
                   {QStringLiteral("0010  4e 65"), 1, End::a, false, 16}};
    CHECK(findLine(shown, QStringLiteral("opNeed"), {}, false) == 1U);  // across the edge: where it begins
    CHECK(findLine(shown, QStringLiteral("Needle"), {}, false) == 2U);
    CHECK(findLine(shown, QStringLiteral("0x4E65"), {}, false) == 2U);
    CHECK(findLine(shown, QStringLiteral("HEAD"), 2, false) == 0U);
    CHECK(findLine(shown, QStringLiteral("a"), 2, true) == 1U);
    CHECK_FALSE(findLine(shown, QStringLiteral("no such"), {}, false));
    CHECK_FALSE(findLine(shown, QString(), {}, false));
    CHECK_FALSE(findLine({}, QStringLiteral("a"), {}, false));
}

TEST_CASE("window: payload follows the packet that is selected, and leads back to it") {
    Followed opened("multi_qp");
    const auto& index = *opened.session().index();
    // A message in the middle of those of a connection that has several.
    const ConnectionId connection = opened.session().timeline()->connections.front().uid;
    std::vector<FrameIndex> firsts;
    for (std::uint64_t at = 0; at < index.messages.size(); ++at)
        if (index.messages[at].connection() == connection) firsts.push_back(index.messages[at].first_frame());
    REQUIRE(firsts.size() > 4);
    for (const std::size_t number : {firsts.size() / 2, std::size_t{1}, firsts.size() - 1}) {
        opened.selection().selectPacket(firsts[number]);
        opened.shows(number + 1);
        CHECK(opened.named<Sheet>("Messages followed").currentRow()->packet == firsts[number]);
    }
    auto& whose = opened.whose();
    const Connection& named = *opened.session().timeline()->find(connection);
    CHECK(whose.itemText(1) == QStringLiteral("From ") + QString::fromStdString(text(named.ends[0])));
    // From a line of bytes to its packet.
    opened.window.findChild<QComboBox*>(QStringLiteral("followForm"))->setCurrentIndex(1);
    opened.selection().selectPacket(firsts[2]);
    opened.shows(3);
    auto& lines = opened.view<TextLines>();
    const auto hasBytes = [](const TextLine& line) { return line.byte.has_value(); };
    REQUIRE(QTest::qWaitFor([&] { return std::ranges::any_of(lines.lines(), hasBytes); }, kPatience));
    const auto wanted = std::ranges::find_if(lines.lines(), [](const TextLine& line) { return line.byte == 0U; });
    REQUIRE(wanted != lines.lines().end());
    lines.showLine(static_cast<std::size_t>(wanted - lines.lines().begin()));
    Q_EMIT lines.lineActivated();
    CHECK(opened.window.shownView() == QStringLiteral("packets"));
    const auto part = follow(opened.session().index(), connection, wanted->message, 1, 1U << 20);
    REQUIRE(part);
    CHECK(opened.selection().packet() == packet_of_byte(index, connection, part->followed.front(), 0));
}

TEST_CASE("window: payload is saved byte for byte, of one end or of both") {
    Followed opened("read_8k");
    const ConnectionId connection = opened.session().timeline()->connections.front().uid;
    QByteArray all;
    std::array<QByteArray, 2> of;
    auto part = follow(opened.session().index(), connection, 1, 1000, 1U << 24);
    REQUIRE(part);
    for (const FollowedMessage& one : part->followed) {
        const QByteArray bytes(reinterpret_cast<const char*>(one.payload.bytes.data()),
                               static_cast<qsizetype>(one.payload.bytes.size()));
        all += bytes;
        of[static_cast<std::size_t>(payload_sender(one))] += bytes;
    }
    REQUIRE(all.size() > 8000);
    const QTemporaryDir folder;
    auto& view = opened.view<FollowView>();
    for (int whose = 0; whose < 3; ++whose) {
        opened.whose().setCurrentIndex(whose);
        QString saved;
        QObject::connect(&view, &FollowView::savedTo, &view, [&](const QString& path) { saved = path; });
        const QString path = folder.filePath(QStringLiteral("payload%1").arg(whose));
        view.saveTo(path);
        REQUIRE(QTest::qWaitFor([&] { return saved == path; }, kPatience));
        QFile file(path);
        REQUIRE(file.open(QIODevice::ReadOnly));
        CHECK(file.readAll() == (whose == 0 ? all : of[static_cast<std::size_t>(whose - 1)]));
        QObject::disconnect(&view, &FollowView::savedTo, nullptr, nullptr);
    }
}
