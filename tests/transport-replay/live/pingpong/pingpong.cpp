// Pingpong over a simulated link: every round trip is measured and there, rows wait as they say, hostile ends change
// nothing.
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

// Virtual time passes where everybody sleeps; where somebody polls, by `turn` in each turn, which costs a processor as
// much.
Played play(PingpongSettings settings, const qps::tests::PairSettings& link = {}, Duration turn = kTurn) {
    ProgramPair pair(link);
    Played played;
    std::int64_t worked = 0;
    settings.processor = [&worked] {
        return ProcessorTime{.worked = Duration{worked}, .kernel = Duration{worked / 4}};
    };
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
    CHECK(played.client.messages == 6 * (40 + kWarmUp));
    CHECK(played.server.messages == 2 * (40 + kWarmUp));  // rows of WRITE and READ are the adapter's
    REQUIRE(played.rows.size() == 6);
    for (std::size_t i = 0; i < played.rows.size(); ++i) {
        const PingpongRow& row = played.rows[i];
        CHECK(row.mode == i);
        CHECK(row.round_trips == 40);
        CHECK(row.least > Duration{});
        CHECK(row.least <= row.median);
        CHECK(row.median <= row.longest);
        if (row.most_of_ten) CHECK((*row.most_of_ten >= row.median && *row.most_of_ten <= row.longest));
        CHECK(row.here.lasted >= row.longest);
        CHECK(row.there.lasted > Duration{});
        CHECK(row.size == size);
        CHECK(row.lost == 0);
        REQUIRE(row.here.kernel);
        REQUIRE(row.there.kernel);
        CHECK(std::abs(*row.here.kernel_share() - row.here.share() / 4) < 0.01);
        CHECK(*row.there.user_share() + *row.there.kernel_share() == Approx(row.there.share()));
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
    CHECK(played.rows.size() == 6);
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
    settings = of(1, 8, 1);
    settings.sizes.assign(kMaxPingpongSizes, 8);
    CHECK_FALSE(refused(settings));
    settings.sizes.push_back(8);
    CHECK(refused(settings));
    settings.sizes = {8, kMaxTransfer + 1};
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
    const Announced announced{
        .signaled = GENERATE(true, false), .depth = 9, .bytes = 4097, .long_report = GENERATE(true, false)};
    write(bytes, announced);
    CHECK(read_announced(bytes) == announced);
    for (std::size_t length = 0; length < bytes.size(); ++length)
        CHECK_FALSE(read_announced(dissect::Bytes(bytes).first(length)));
    for (const std::size_t place : {0U, 4U, 6U, 8U}) {  // magic, version, depth, bytes
        auto wrong = bytes;
        wrong[place] ^= std::byte{0x80};
        CHECK_FALSE(read_announced(wrong));
    }
}

TEST_CASE("pingpong: a report that cannot be is none, and an earlier one has two numbers") {
    using namespace qps::transport::live::pingpong;
    std::array<std::byte, kReport> report{};
    write(report, ProcessorUse{.worked = microseconds(4), .lasted = microseconds(16), .kernel = microseconds(1)});
    const auto use = read_use(report);
    REQUIRE(use);
    CHECK(use->share() == Approx(0.25));
    CHECK(*use->kernel_share() == Approx(0.0625));
    CHECK(*use->user_share() == Approx(0.1875));
    const auto earlier = read_use(dissect::Bytes(report).first(kShortReport));
    REQUIRE(earlier);
    CHECK(earlier->share() == Approx(0.25));
    CHECK_FALSE(earlier->kernel_share());
    CHECK_FALSE(earlier->user_share());
    for (const std::size_t place : {0U, 8U, 16U}) {
        auto wrong = report;
        wrong[place] = std::byte{0x80};  // negative
        CHECK_FALSE(read_use(wrong));
        wrong[place] = std::byte{0x7f};  // centuries
        CHECK_FALSE(read_use(wrong));
    }
    write(report, ProcessorUse{.worked = microseconds(4), .lasted = microseconds(16), .kernel = microseconds(5)});
    CHECK_FALSE(read_use(report));  // more in the kernel than at all
    for (const std::size_t length : {0U, 15U, 17U, 23U}) CHECK_FALSE(read_use(dissect::Bytes(report).first(length)));
    CHECK(ProcessorUse{}.share() == 0);
}

TEST_CASE("pingpong: an extension is there where a server has one") {
    using namespace qps::transport::live::pingpong;
    std::array<std::byte, kLentBytes> bytes{};
    const Extension extension{.there = true, .sockets = Served::yes, .port = 7474, .token = 0x0123'4567'89ab'cdef};
    write(bytes, Lent{.offer = {.slots = 3, .length = 4096}, .extension = extension});
    CHECK(read_extension(bytes) == extension);
    CHECK(peers::read_offer(bytes)->slots == 3);
    CHECK_FALSE(read_extension(dissect::Bytes(bytes).first(kLentBytes - 1)).there);
    auto wrong = bytes;
    wrong[peers::kOfferBytes] = std::byte{2};  // a version to come
    CHECK_FALSE(read_extension(wrong).there);
    wrong = bytes;
    wrong[peers::kOfferBytes + 1] = std::byte{3};  // a word that is none
    CHECK_FALSE(read_extension(wrong).there);
    std::array<std::byte, 196> earlier{};  // zeros behind the offer, as a REP has them
    peers::write(dissect::MutableBytes(earlier), peers::Offer{.slots = 1});
    CHECK_FALSE(read_extension(earlier).there);
}

TEST_CASE("pingpong: rows are ranked by their median, and tie with those that they cannot be told from") {
    const auto row = [](std::size_t mode, std::int64_t median, std::int64_t doubt = 0, std::int64_t drift = 0) {
        return PingpongRow{.mode = mode,
                           .round_trips = 100,
                           .median = microseconds(median),
                           .median_low = microseconds(median - doubt),
                           .median_high = microseconds(median + doubt),
                           .drift = microseconds(drift)};
    };
    using Rows = std::vector<std::size_t>;
    const std::array rows{row(0, 1000), row(1, 2000), row(2, 1049), row(3, 1060)};
    const auto places = ranked(rows);
    REQUIRE(places.size() == 4);
    CHECK(places[0].row == 0);
    CHECK(places[0].place == 1);
    CHECK(places[0].with == Rows{2});
    CHECK(places[1].row == 2);
    CHECK(places[1].place == 1);
    CHECK(places[1].with == Rows{0, 3});
    CHECK(places[2].row == 3);  // as good as the second, but not as the first
    CHECK(places[2].place == 2);
    CHECK(places[2].with == Rows{2});
    CHECK(places[3].row == 1);
    CHECK(places[3].place == 4);
    CHECK(ranked({}).empty());
    // Further apart than 5 %, but the medians may be the same, or a row differs from itself by as much.
    CHECK(ranked(std::array{row(0, 20, 6), row(1, 30, 6)})[1].place == 1);
    CHECK(ranked(std::array{row(0, 20, 4), row(1, 30, 4)})[1].place == 2);
    CHECK(ranked(std::array{row(0, 20, 0, 11), row(1, 30)})[1].with == Rows{0});
    // Of which nothing came back is no rival of those that did.
    const auto empty = ranked(std::array{PingpongRow{.mode = 8}, row(0, 20)});
    CHECK(empty[0].row == 1);
    CHECK(empty[0].with.empty());
    CHECK(empty[1].place == 2);
}

TEST_CASE("pingpong: rows that pour are ranked by their rate, beside the others") {
    const auto stream = [](std::int64_t lasted) {
        return PingpongRow{.mode = 10, .size = 100, .round_trips = 1000, .poured = microseconds(lasted)};
    };
    const std::array rows{stream(300), PingpongRow{.mode = 0, .round_trips = 100, .median = microseconds(9)},
                          stream(100), stream(102)};
    CHECK(rows[2].bits_per_second() == Approx(8e9));
    const auto places = ranked(rows);
    REQUIRE(places.size() == 4);
    CHECK(places[0].row == 1);
    CHECK(places[0].with.empty());
    CHECK(places[1].row == 2);
    CHECK(places[1].place == 1);
    CHECK(places[1].with == std::vector<std::size_t>{3});
    CHECK(places[3].row == 0);
    CHECK(places[3].place == 3);
}

TEST_CASE("pingpong: each size has all rows, and WRITEs pour") {
    PingpongSettings settings = of(50, 8, 3, GENERATE(true, false));
    settings.modes = {10, 5, 0};
    settings.sizes = {1, 700, 5000};
    std::vector<PingpongLeftOut> left_out;
    settings.on_left_out = [&](const PingpongLeftOut& row) { left_out.push_back(row); };
    const Played played = play(settings);
    REQUIRE(played.through);
    CHECK(left_out.empty());
    CHECK(played.client.wrong + played.client.failed + played.server.failed == 0);
    REQUIRE(played.rows.size() == 9);
    for (std::size_t i = 0; i < 9; ++i) {
        CHECK(played.rows[i].mode == settings.modes[i % 3]);
        CHECK(played.rows[i].size == settings.sizes[i / 3]);
        CHECK(played.rows[i].round_trips == 50);
        CHECK(played.rows[i].poured.has_value() == (i % 3 == 0));
        CHECK((played.rows[i].bits_per_second() > 0) == (i % 3 == 0));
        CHECK(played.rows[i].histogram.empty() == (i % 3 == 0));
    }
    CHECK(played.client.bytes == (50 + 2 * (50 + kWarmUp)) * (1 + 700 + 5000));
}

TEST_CASE("pingpong: WRITEs pour for as long as they may") {
    PingpongSettings settings = of(kMaxRounds, 2000, 1);
    settings.modes = {10};
    settings.row_lasts = microseconds(3000);
    const Played played = play(settings);
    REQUIRE(played.through);
    REQUIRE(played.rows.size() == 1);
    CHECK(played.rows[0].round_trips > 0);
    CHECK(played.rows[0].round_trips < kMaxRounds);
    CHECK(*played.rows[0].poured >= microseconds(3000));
    CHECK(*played.rows[0].poured < microseconds(5000));
}

TEST_CASE("pingpong: what no socket reaches is left out, and that is no failure") {
    PingpongSettings settings = of(20, 8, 1);
    settings.modes = {6, 0, 9, 11};
    settings.sockets.unreachable = GENERATE("", "it is on the moon");
    std::vector<PingpongLeftOut> left_out;
    settings.on_left_out = [&](const PingpongLeftOut& row) { left_out.push_back(row); };
    const Played played = play(settings);
    REQUIRE(played.through);
    CHECK(played.client.failed + played.server.failed == 0);
    REQUIRE(played.rows.size() == 1);
    CHECK(played.rows[0].mode == 0);
    REQUIRE(left_out.size() == 3);
    CHECK(left_out[0].mode == 6);
    CHECK(left_out[2].size == 8);
    for (const PingpongLeftOut& row : left_out)
        CHECK_THAT(row.why, settings.sockets.unreachable.empty() ? Catch::Matchers::Contains("no address that sockets")
                                                                 : Catch::Matchers::Contains("on the moon"));
}

TEST_CASE("pingpong: a server that is gone is not waited for, and its row is told as far as it came") {
    ProgramPair pair({});
    PingpongSettings settings = of(kMaxRounds, 64, 1);
    settings.modes = {1};
    auto server = make_pingpong(settings);
    std::vector<PingpongRow> rows;
    settings.on_row = [&rows](const PingpongRow& row) { rows.push_back(row); };
    settings.request.target = kServerAddress;
    auto client = make_pingpong(settings);
    REQUIRE(server);
    REQUIRE(client);
    REQUIRE(server->begin(pair.server, pair.now));
    REQUIRE(client->begin(pair.client, pair.now));
    for (int i = 0; i < 10'000 && client->counts().messages < 50; ++i) REQUIRE(pair.turn(&*server, &*client));
    REQUIRE(client->counts().messages >= 50);
    std::optional<dissect::Instant> failed;
    for (int i = 0; i < 100'000; ++i) {
        pair.client.poll(pair.now);
        client->poll(pair.client, pair.now);
        if (client->done()) break;
        if (!failed && client->counts().failed > 0) failed = pair.now;
        const auto own = pair.client.poll_at(), due = client->poll_at();
        if (!own && !due) break;
        pair.now =
            std::max(pair.now + kTurn, std::min(own.value_or(*(due ? due : own)), due.value_or(*(own ? own : due))));
    }
    CHECK(client->done());
    REQUIRE(failed);
    CHECK(pair.now - *failed < microseconds(4'000'000));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].interrupted);
    CHECK(rows[0].round_trips == client->counts().messages - kWarmUp);
    CHECK(rows[0].median > Duration{});
}
