// Pingpong over a simulated link: every round trip is measured and there, rows wait as they say, hostile ends change nothing.
#include <tests/support/catch.hpp>
#include <tests/support/program_pair.hpp>
#include <transport-replay/live/pingpong/pingpong_state.hpp>

#include <fmt/format.h>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::live;
using dissect::Duration;
using qps::tests::kServerAddress;
using qps::tests::ProgramPair;

namespace {

constexpr Duration kTurn = microseconds(1);  // what a turn of a loop that does not sleep takes here

struct Played {
    bool through = false;
    std::vector<PingpongRow> rows;
    ProgramCounts server;
    ProgramCounts client;
    std::size_t turns = 0;
    std::size_t left = 0;
};

// Virtual time passes where everybody sleeps; where somebody polls, by `turn` in each turn, which costs a processor as much.
Played play(PingpongSettings settings, const qps::tests::PairSettings& link = {}, Duration turn = kTurn) {
    ProgramPair pair(link);
    Played played;
    std::int64_t worked = 0;
    settings.processor = [&worked] { return Duration{worked}; };
    settings.on_row = [&played](const PingpongRow& row) { played.rows.push_back(row); };
    PingpongSettings serves = settings;
    serves.request.clients = 1;
    settings.request.target = kServerAddress;
    auto server = make_pingpong(serves);
    auto client = make_pingpong(settings);
    REQUIRE(server);
    REQUIRE(client);
    REQUIRE(server->begin(pair.server, pair.now));
    REQUIRE(client->begin(pair.client, pair.now));
    constexpr std::size_t kMostTurns = 3'000'000;
    while (played.turns < kMostTurns && !(server->done() && client->done())) {
        const auto before = pair.now;
        if (!pair.turn(&*server, &*client)) break;
        if (pair.now == before) pair.now = pair.now + turn;
        worked += std::to_underlying(turn);
        ++played.turns;
    }
    played.through = server->done() && client->done();
    played.server = server->counts();
    played.client = client->counts();
    played.left = ProgramPair::queue_pairs(pair.server) + ProgramPair::queue_pairs(pair.client);
    return played;
}

PingpongSettings of(std::uint64_t rounds, std::uint32_t size, std::uint32_t depth, bool signaled = true) {
    PingpongSettings settings{.signaled = signaled};
    settings.request.count = rounds;
    settings.request.size = size;
    settings.request.depth = depth;
    return settings;
}

}  // namespace

TEST_CASE("pingpong: every row of every shape is played to its end") {
    const auto size = GENERATE(0U, 1U, 64U, 1024U, 1025U, 20'000U);
    const auto depth = GENERATE(1U, 7U);
    const auto signaled = GENERATE(true, false);
    const Played played = play(of(40, size, depth, signaled));
    INFO(size << " bytes, depth " << depth << ", signaled " << signaled);
    CHECK(played.through);
    CHECK(played.left == 0);
    CHECK(played.client.failed + played.server.failed == 0);
    CHECK(played.client.wrong == 0);
    CHECK(played.client.messages == 4 * (40 + kWarmUp));
    CHECK(played.server.messages == 2 * (40 + kWarmUp));  // rows of WRITE and READ are the adapter's
    REQUIRE(played.rows.size() == kPingpongModes.size());
    for (std::size_t i = 0; i < played.rows.size(); ++i) {
        const PingpongRow& row = played.rows[i];
        CHECK(row.mode == i);
        CHECK(row.round_trips == 40);
        CHECK(row.least > Duration{});
        CHECK(row.least <= row.median);
        CHECK(row.median <= row.most_of);
        CHECK(row.most_of <= row.longest);
        CHECK(row.here.lasted >= row.longest);
        CHECK(row.there.lasted > Duration{});
    }
}

TEST_CASE("pingpong: a row that polls takes a processor, one that waits sleeps") {
    // A round trip takes far longer here than a turn, so that sleeping shows.
    qps::tests::PairSettings link;
    link.delay = microseconds(50);
    const Played played = play(of(100, 64, 1), link);
    REQUIRE(played.through);
    for (const PingpongRow& row : played.rows) {
        INFO(kPingpongModes[row.mode].name << " " << row.here.share() << " " << row.there.share());
        CHECK(row.median >= microseconds(100));
        if (kPingpongModes[row.mode].wait == PingpongWait::poll) {
            CHECK(row.here.share() > 0.5);
            CHECK(row.there.share() > 0.5);
        } else {
            CHECK(row.here.share() < 0.2);
            CHECK(row.there.share() < 0.2);
        }
    }
}

TEST_CASE("pingpong: packets are lost, nothing else is") {
    qps::tests::PairSettings link;
    link.faults.loss = 0.03;
    link.seed = GENERATE(1U, 2U, 3U);
    // Timeouts are long; a loop that looks rarely gets through them in few turns.
    const Played played = play(of(60, 3000, 4, GENERATE(true, false)), link, microseconds(500));
    CHECK(played.through);
    CHECK(played.client.wrong + played.client.failed + played.server.failed == 0);
    CHECK(played.rows.size() == 4);
}

TEST_CASE("pingpong: only the rows that are wanted, and no longer than they may last") {
    PingpongSettings settings = of(kMaxRounds, 8, 1);
    settings.modes = {3, 0};
    settings.row_lasts = microseconds(3000);
    const Played played = play(settings);
    REQUIRE(played.through);
    REQUIRE(played.rows.size() == 2);
    CHECK(played.rows[0].mode == 3);
    CHECK(played.rows[1].mode == 0);
    for (const PingpongRow& row : played.rows) {
        CHECK(row.round_trips > 0);
        CHECK(row.round_trips < kMaxRounds);
        CHECK(row.here.lasted >= microseconds(3000));
        CHECK(row.here.lasted < microseconds(4000));
    }
}

TEST_CASE("pingpong: what cannot be asked for") {
    const auto refused = [](const PingpongSettings& settings) { return !make_pingpong(settings).has_value(); };
    CHECK_FALSE(refused(of(1, 8, 1)));
    CHECK(refused(of(0, 8, 1)));
    CHECK(refused(of(kMaxRounds + 1, 8, 1)));
    CHECK(refused(of(1, kMaxTransfer + 1, 1)));
    CHECK(refused(of(1, 8, 0)));
    CHECK(refused(of(1, 8, kMaxPingpongDepth + 1)));
    PingpongSettings settings = of(1, 8, 1);
    settings.modes = {};
    CHECK(refused(settings));
    settings.modes = {kPingpongModes.size()};
    CHECK(refused(settings));
}

TEST_CASE("pingpong: who is no client of it is refused, and the server serves on") {
    ProgramPair pair({});
    auto server = make_pingpong(of(1, 8, 1));
    ProgramRequest request{.target = kServerAddress, .port = kPingpongPort, .count = 1};
    auto stranger = find_program("echo")->make(request);
    REQUIRE(server);
    REQUIRE(stranger);
    REQUIRE(server->begin(pair.server, pair.now));
    REQUIRE(stranger->begin(pair.client, pair.now));
    for (std::size_t turn = 0; turn < 100'000 && !stranger->done(); ++turn)
        if (!pair.turn(&*server, &*stranger)) break;
    CHECK(stranger->done());
    CHECK(stranger->counts().failed == 1);
    CHECK_FALSE(server->done());
    CHECK(ProgramPair::queue_pairs(pair.server) == 0);
    const auto lines = server->take_lines();
    REQUIRE(lines.size() == 1);
    CHECK_THAT(lines[0], Catch::Matchers::Contains("not a pingpong client"));
}

TEST_CASE("pingpong: what both say survives, what is cut or cannot be is nothing") {
    using namespace qps::transport::live::pingpong;
    std::array<std::byte, kAnnouncedBytes> bytes{};
    const Announced announced{.signaled = GENERATE(true, false), .depth = 9, .bytes = 4097};
    write(bytes, announced);
    CHECK(read_announced(bytes) == announced);
    for (std::size_t length = 0; length < bytes.size(); ++length) CHECK_FALSE(read_announced(dissect::Bytes(bytes).first(length)));
    for (const std::size_t place : {0U, 4U, 6U, 8U}) {  // magic, version, depth, bytes
        auto wrong = bytes;
        wrong[place] ^= std::byte{0x80};
        CHECK_FALSE(read_announced(wrong));
    }
    std::array<std::byte, kReport> report{};
    write(report, ProcessorUse{.worked = microseconds(3), .lasted = microseconds(4)});
    const auto use = read_use(report);
    REQUIRE(use);
    CHECK(use->share() == Approx(0.75));
    report[0] = std::byte{0x80};  // negative
    CHECK_FALSE(read_use(report));
    CHECK_FALSE(read_use(dissect::Bytes(report).first(15)));
    CHECK(ProcessorUse{}.share() == 0);
}

TEST_CASE("pingpong: rows are ranked by their median, and those that are as good share a place") {
    const auto row = [](std::size_t mode, std::int64_t median) { return PingpongRow{.mode = mode, .median = microseconds(median)}; };
    const std::array rows{row(0, 1000), row(1, 2000), row(2, 1049), row(3, 1060)};
    const auto places = ranked(rows);
    REQUIRE(places.size() == 4);
    CHECK(places[0].row == 0);
    CHECK(places[0].place == 1);
    CHECK(places[0].with == std::vector<std::size_t>{2});
    CHECK(places[1].row == 2);
    CHECK(places[1].place == 1);
    CHECK(places[1].with == std::vector<std::size_t>{0});
    CHECK(places[2].row == 3);  // as good as the second of its like, but not as the first
    CHECK(places[2].place == 3);
    CHECK(places[2].with.empty());
    CHECK(places[3].row == 1);
    CHECK(places[3].place == 4);
    CHECK(ranked({}).empty());
}
