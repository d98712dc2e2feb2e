// Recorded connections played against each other over a simulated wire: nothing differs; and where one end does
// something else, that differs and nothing else.
#include <tests/support/played_conversations.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/live/replay/comparison_report.hpp>

#include <algorithm>

#include <nlohmann/json.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::live;
using qps::tests::play;
using qps::tests::Played;

namespace {

RecordedConversation recorded(const std::string& name, std::uint32_t uid = 1) {
    const std::string path = std::string(QPSCOPE_SOURCE_DIR "/captures/") + name + "/capture.pcap";
    auto conversation = qps::tests::conversation_of([&](const auto& each) { qps::tests::for_each_packet(path, each); },
                                                    ConnectionId{uid});
    if (!conversation) FAIL(conversation.error());
    return std::move(*conversation);
}

// "3 data: ..., 5 missing: ..."
std::string text_of(const ReplayComparison& comparison) {
    std::string text;
    for (std::size_t i = 0; i < comparison.messages.size(); ++i)
        for (const Difference& each : comparison.messages[i].differences)
            text += (text.empty() ? "" : ", ") + std::to_string(i + 1) + " " + std::string(name(each.kind)) + ": " +
                    sentence(each);
    return text;
}

void nothing_differs(const std::string& sample, std::uint32_t uid = 1, PlayerSettings settings = {}) {
    const RecordedConversation c = recorded(sample, uid);
    const Played played = play(c, c, settings);
    INFO(sample << " " << uid);
    CHECK(played.ended);
    CHECK(name(played.requester.end) == name(ReplayEnd::complete));
    CHECK(name(played.responder.end) == name(ReplayEnd::complete));
    CHECK(played.requester.words == (played.requester.end == ReplayEnd::complete ? played.requester.words : ""));
    CHECK(text_of(played.requester) == "");
    CHECK(text_of(played.responder) == "");
    CHECK(played.requester.extra_count + played.responder.extra_count == 0);
}

std::size_t count(const ReplayComparison& comparison, Progress progress) {
    return static_cast<std::size_t>(std::ranges::count(comparison.messages, progress, &ComparedMessage::progress));
}

}  // namespace

TEST_CASE("recorded connections are played by both ends, and nothing differs") {
    for (const char* name : {"rping_v4", "err_mixed", "read_8k", "write_8k", "send_8k", "atomic_cas", "atomic_fadd",
                             "rc_pingpong", "uc_pingpong"})
        nothing_differs(name, 1, {.fast = true});
    for (const std::uint32_t uid : {1U, 2U}) nothing_differs("write_bidir_cm", uid, {.fast = true});
    for (const std::uint32_t uid : {1U, 4U}) nothing_differs("ucmatose", uid, {.fast = true});
}

TEST_CASE("storage protocols are played: keys of every request are told anew, windows are bound and invalidated") {
    for (const char* name : {"iser", "nfs_rdma"}) nothing_differs(name, 1, {.fast = true});
    for (const std::uint32_t uid : {2U, 3U, 4U}) nothing_differs("nvme_rdma", uid, {.fast = true});
}

TEST_CASE("what was refused when recorded is refused again, and that is no difference") {
    for (const char* name : {"err_bad_rkey", "err_no_write_perm", "err_rnr"}) nothing_differs(name);
}

TEST_CASE("a receive that was too small is answered as we answer it") {
    const RecordedConversation c = recorded("err_recv_too_small");
    const Played played = play(c, c);
    // Soft-RoCE says remote operational error where the specification wants invalid request (9.7.4.1.6).
    CHECK(text_of(played.requester) == "1 outcome: recorded remote operational error, live invalid request");
    CHECK(text_of(played.responder) == "");
}

TEST_CASE("losses of the recording do not matter to the replay") {
    for (const char* name : {"loss_write", "loss_read", "dup_write", "corrupt_send"})
        nothing_differs(name, 1, {.fast = true});
}

TEST_CASE("an answer that was held back because nobody was ready is held back again") {
    const RecordedConversation c = recorded("rds", 2);
    const Played played = play(c, c);
    CHECK(text_of(played.requester) == "");
    CHECK(text_of(played.responder) == "");
    std::uint32_t naks = 0;
    for (const ReplayComparison* each : {&played.requester, &played.responder})
        for (const ComparedMessage& message : each->messages) naks += message.rnr_naks;
    CHECK(naks > 0);
}

TEST_CASE("the pace is that of the recording, or a multiple of it") {
    const RecordedConversation c = recorded("rping_v4");
    const auto lasts = [&](const PlayerSettings& settings) {
        const Played played = play(c, c, settings);
        CHECK(text_of(played.requester) == "");
        return std::to_underlying(played.requester.messages.back().done - played.requester.messages.front().posted);
    };
    const std::int64_t as_recorded =
        std::to_underlying(c.messages.back().message.answer_time - c.messages.front().message.first_time);
    const std::int64_t one = lasts({});
    CHECK(one > as_recorded / 4);  // the wire is faster than that of the recording
    CHECK(one < as_recorded * 2);
    const std::int64_t tenfold = lasts({.speed = 10});
    CHECK(tenfold < one / 5);
    CHECK(lasts({.fast = true}) < tenfold);
}

TEST_CASE("a replay that is recorded is the same conversation") {
    const RecordedConversation c = recorded("rping_v4");
    const Played played = play(c, c);
    const auto again = qps::tests::conversation_of(qps::tests::packets_of(played.frames), ConnectionId{1});
    REQUIRE(again.has_value());
    REQUIRE(again->messages.size() == c.messages.size());
    for (std::size_t i = 0; i < c.messages.size(); ++i) {
        CHECK(again->messages[i].from == c.messages[i].from);
        CHECK(again->messages[i].message.verb == c.messages[i].message.verb);
        if (c.messages[i].message.verb != Verb::send)
            CHECK(again->messages[i].payload.bytes == c.messages[i].payload.bytes);
    }
    CHECK(again->messages[0].payload.bytes != c.messages[0].payload.bytes);  // another key
    const Played second = play(*again, *again);
    CHECK(text_of(second.requester) == "");
    CHECK(text_of(second.responder) == "");
}

TEST_CASE("a peer whose memory holds something else: every READ says so") {
    const RecordedConversation c = recorded("read_8k");
    RecordedConversation other_data = c;
    for (RecordedMessage& each : other_data.messages) each.payload.bytes.at(100) ^= std::byte{0xff};
    const Played played = play(c, other_data, {.fast = true});
    CHECK(played.requester.differences() == 20);
    for (const ComparedMessage& each : played.requester.messages) {
        REQUIRE(each.differences.size() == 1);
        CHECK(each.differences[0].kind == DifferenceKind::data);
        CHECK(each.differences[0].offset == 100);
        CHECK(each.differences[0].bytes == 1);
    }
}

TEST_CASE("a peer that refuses a key: one difference, and what comes behind it is not reached") {
    const RecordedConversation c = recorded("write_8k");
    RecordedConversation other_key = c;
    for (RecordedMessage& each : other_key.messages) each.message.access->key = Rkey{0x77000000};
    const Played played = play(c, other_key, {.fast = true});
    CHECK(text_of(played.requester) == "1 outcome: recorded completed, live remote access error");
    CHECK(played.requester.end == ReplayEnd::failed);
    CHECK(count(played.requester, Progress::done) == 1);
    REQUIRE(played.requester.unmapped.size() == 1);
    CHECK(played.requester.unmapped[0] == c.messages[0].message.access->key);
}

TEST_CASE("a peer that is not ready: one difference") {
    const RecordedConversation c = recorded("send_8k");
    RecordedConversation late = c;
    RecordedMessage& third = late.messages.at(2);
    third.rnr_naks = 1;
    third.last_rnr = third.message.first_time + Duration{2'000'000};
    third.last_rnr_frame = third.message.last_frame;
    const Played played = play(c, late);
    REQUIRE(played.requester.messages[2].differences.size() == 1);
    CHECK(played.requester.messages[2].differences[0].kind == DifferenceKind::rnr);
    CHECK(played.requester.messages[2].rnr_naks > 0);
    CHECK(played.requester.differences() == 1);
    CHECK(played.requester.end == ReplayEnd::complete);
}

TEST_CASE("what the peer sends is compared: bytes, length, immediate data, verb") {
    const RecordedConversation c = recorded("err_mixed");
    const auto find = [&](Verb verb, bool immediate) {
        return static_cast<std::size_t>(std::ranges::find_if(c.messages,
                                                             [&](const RecordedMessage& each) {
                                                                 return each.message.verb == verb &&
                                                                        each.message.immediate.has_value() == immediate;
                                                             }) -
                                        c.messages.begin());
    };
    RecordedConversation altered = c;
    const std::size_t send = find(Verb::send, false);
    const std::size_t write = find(Verb::write, true);
    REQUIRE(send < c.messages.size());
    REQUIRE(write < c.messages.size());
    altered.messages[send].payload.bytes[7] ^= std::byte{1};
    altered.messages[send].payload.bytes.resize(2990);
    altered.messages[write].message.immediate = 5;
    const Played played = play(altered, c, {.fast = true});
    const std::vector<Difference>& of_send = played.responder.messages[send].differences;
    REQUIRE(of_send.size() == 2);
    CHECK(of_send[0] == Difference{DifferenceKind::length, 3000, 2990, 0, 0});
    CHECK(of_send[1].kind == DifferenceKind::data);
    CHECK(of_send[1].offset == 7);
    REQUIRE(played.responder.messages[write].differences.size() == 1);
    CHECK(played.responder.messages[write].differences[0].kind == DifferenceKind::immediate);
    CHECK(played.responder.messages[write].differences[0].live == 5);
    CHECK(played.responder.differences() == 3);
}

TEST_CASE("an ATOMIC that finds another value") {
    const RecordedConversation c = recorded("atomic_fadd");
    RecordedConversation other_value = c;
    for (RecordedMessage& each : other_value.messages) *each.message.atomic_result += 0x1000;
    const Played played = play(c, other_value, {.fast = true});
    for (std::size_t i = 0; i < c.messages.size(); ++i) {
        REQUIRE(played.requester.messages[i].differences.size() == 1);
        const Difference& difference = played.requester.messages[i].differences[0];
        CHECK(difference.kind == DifferenceKind::atomic_result);
        CHECK(difference.live == difference.recorded + 0x1000);
    }
}

TEST_CASE("a peer that WRITEs something else is found out by looking at memory") {
    const RecordedConversation c = recorded("rping_v4");
    RecordedConversation altered = c;
    std::size_t write = 0;
    while (c.messages[write].message.verb != Verb::write) ++write;
    altered.messages[write].payload.bytes[3] = std::byte{0};
    const Played played = play(c, altered);
    REQUIRE(played.requester.messages[write].differences.size() == 1);
    CHECK(played.requester.messages[write].differences[0].kind == DifferenceKind::data);
    CHECK(played.requester.messages[write].differences[0].offset == 3);
    CHECK(played.requester.differences() == 1);
}

TEST_CASE("a peer that says more, or nothing more, is told") {
    const RecordedConversation c = recorded("rping_v4");
    RecordedConversation less = c;
    less.messages.resize(18);  // three rounds of four
    const Played silent = play(c, less, {.patience = Duration{1'000'000'000}});
    CHECK(silent.requester.end != ReplayEnd::complete);
    CHECK(silent.requester.differences() == 1);
    CHECK(silent.responder.extra_count == 1);
}

TEST_CASE("nobody listens, and the user ends it") {
    const RecordedConversation c = recorded("rping_v4");
    qps::tests::PlayWire stage;
    auto part = part_of(c, End::a);
    REQUIRE(part.has_value());
    ConversationPlayer client(c, std::move(*part),
                              {.connect = Target{.address = qps::tests::PlayWire::address(End::b), .port = IpPort{9}}});
    REQUIRE(client.begin(stage.a, stage.now).has_value());
    struct Idle {
        bool done() const { return true; }
        void poll(live::Endpoint&, Instant) {}
        std::optional<Instant> poll_at() const { return std::nullopt; }
    } idle;
    CHECK(stage.run(client, idle));
    CHECK(client.comparison().end == ReplayEnd::not_connected);
    CHECK(client.comparison().words.find("rejected") != std::string::npos);
    CHECK(client.counts().failed == 1);
}

TEST_CASE("a replay as a document and as lines") {
    const RecordedConversation c = recorded("write_8k");
    RecordedConversation other_key = c;
    for (RecordedMessage& each : other_key.messages) each.message.access->key = Rkey{0x77000000};
    const Played played = play(c, other_key, {.fast = true});
    std::string text;
    Document document(OutputFormat::json, text);
    add_comparison(document, c, played.requester, c.requester);
    const auto json = nlohmann::json::parse(text);
    CHECK(json["schema"] == 2);
    CHECK(json["role"] == "requester");
    CHECK(json["end"] == "connection failed");
    CHECK(json["differences"] == 1);
    REQUIRE(json["messages"].size() == 20);
    CHECK(json["messages"][0]["differences"][0]["kind"] == "outcome");
    CHECK(json["messages"][0]["differences"][0]["live"] == "remote access error");
    CHECK(json["messages"][0]["recorded_outcome"] == "completed");
    CHECK(json["messages"][0]["recorded_latency_ns"].is_number());
    CHECK(json["messages"][19]["progress"] == "not reached");
    const std::string summary = summary_text(c, played.requester, c.requester);
    CHECK(summary.starts_with(
        "connection 1, as the requester: connection failed (a request failed: remote access error); 1 of 20 messages, 1 difference\n"));
    CHECK(summary.find("--map-key") != std::string::npos);
}

namespace {

// What a server and a client of ours say to each other: recorded in the middle.
RecordedConversation recorded_programs(const std::string& name, ProgramRequest ask) {
    qps::tests::PlayWire stage;
    auto server = find_program(name)->make({.clients = 1});
    ask.target = qps::tests::PlayWire::address(End::b);
    auto client = find_program(name)->make(ask);
    REQUIRE(server.has_value());
    REQUIRE(client.has_value());
    REQUIRE(server->begin(stage.b, stage.now).has_value());
    REQUIRE(client->begin(stage.a, stage.now).has_value());
    REQUIRE(stage.run(*client, *server));
    auto conversation =
        qps::tests::conversation_of(qps::tests::packets_of(stage.wire->link.take_recording()), ConnectionId{1});
    if (!conversation) FAIL(conversation.error());
    return std::move(*conversation);
}

// The player as one end, a program as the other.
ReplayComparison against(const RecordedConversation& c, End ours, const std::string& name, ProgramRequest other_end) {
    std::vector<std::byte> in_the_way(10'000);
    qps::tests::PlayWire stage;
    // Keys and addresses of the program are others than when it was recorded.
    verbs::Adapter& programs = ours == c.requester ? stage.b.adapter() : stage.a.adapter();
    REQUIRE(programs.reg_mr(programs.alloc_pd().value(), in_the_way, verbs::kLocalWrite).has_value());
    const IpPort port{*c.port};
    auto part = part_of(c, ours);
    REQUIRE(part.has_value());
    const bool asks = ours == c.requester;
    PlayerSettings settings{.port = port, .patience = Duration{2'000'000'000}};
    if (asks) settings.connect = Target{.address = qps::tests::PlayWire::address(End::b), .port = port};
    else other_end.target = qps::tests::PlayWire::address(End::b);
    ConversationPlayer player(c, std::move(*part), settings);
    auto program = find_program(name)->make(other_end);
    REQUIRE(program.has_value());
    if (asks) {
        REQUIRE(program->begin(stage.b, stage.now).has_value());
        REQUIRE(player.begin(stage.a, stage.now).has_value());
        CHECK(stage.run(player, *program));
    } else {
        REQUIRE(player.begin(stage.b, stage.now).has_value());
        REQUIRE(program->begin(stage.a, stage.now).has_value());
        CHECK(stage.run(*program, player));
    }
    return player.comparison();
}

}  // namespace

TEST_CASE(
    "a recorded client of rping is played to a live server, a recorded server to a live client: nothing differs") {
    const RecordedConversation c = recorded_programs("rping", {.count = 5, .size = 3000});
    CHECK(c.messages.size() == 30);
    const ReplayComparison client = against(c, End::a, "rping", {.clients = 1});
    CHECK(text_of(client) == "");
    CHECK(client.end == ReplayEnd::complete);
    const ReplayComparison server = against(c, End::b, "rping", {.count = 5, .size = 3000});
    CHECK(text_of(server) == "");
    CHECK(server.end == ReplayEnd::complete);
}

// rsockets tell of their buffers in private data, and by WRITE whenever there is room again.
TEST_CASE("a recorded stream is played by either end: buffers that WRITEs tell of are the live ones") {
    const RecordedConversation c = recorded_programs("rstream", {.count = 100, .size = 4096});
    const AdvertisedMemory advertised_by_a(c, End::a);
    std::size_t advertised_by_write = 0;
    for (const RecordedMessage& each : c.messages) {
        if (each.from == End::a || !each.message.access) continue;
        const auto place =
            advertised_by_a.find(each.message.access->key, each.message.access->address, each.message.first_frame);
        if (place && place->message != kInPrivateData) ++advertised_by_write;
    }
    CHECK(advertised_by_write > 0);
    for (const End ours : {End::a, End::b}) {
        const ReplayComparison played = against(c, ours, "rstream", {.count = 100, .size = 4096, .clients = 1});
        CHECK(text_of(played) == "");
        CHECK(played.end == ReplayEnd::complete);
        CHECK(played.unmapped.empty());
    }
}

TEST_CASE("a live client that has other pings, or fewer, is told from the recorded one") {
    const RecordedConversation c = recorded_programs("rping", {.count = 5, .size = 3000});
    const ReplayComparison fewer = against(c, End::b, "rping", {.count = 4, .size = 3000});
    CHECK(fewer.end == ReplayEnd::peer_left);
    CHECK(text_of(fewer) == "25 missing: recorded only");
    // Shorter memory: the READ of what was recorded leaves it, and is refused.
    const ReplayComparison shorter = against(c, End::b, "rping", {.count = 5, .size = 1000});
    CHECK(shorter.end == ReplayEnd::failed);
    CHECK(text_of(shorter).find("2 outcome: recorded completed, live remote access error") != std::string::npos);
}
