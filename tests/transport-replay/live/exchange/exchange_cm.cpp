// perftest over rdma_cm (-R): the exchange as perftest 4.5 was heard to have it, both ends of ours over a simulated
// link, strangers.
#include <tests/support/catch.hpp>
#include <tests/support/program_pair.hpp>
#include <transport-replay/live/exchange/perftest_session.hpp>
#include <transport-replay/live/peers/pattern.hpp>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::live;
using qps::tests::kServerAddress;
using qps::tests::kServerAddress6;
using qps::tests::PairSettings;
using qps::tests::ProgramPair;

namespace {

using CmWords = std::vector<std::byte>;

CmWords cm_message(std::initializer_list<unsigned> bytes, std::size_t size = 0) {
    CmWords message;
    for (const unsigned byte : bytes) message.push_back(static_cast<std::byte>(byte));
    message.resize(std::max(size, message.size()));
    return message;
}
// Heard from the client of ib_write_bw -R -n 20 -s 4096: queue pair 0x16, key 0x71a.
CmWords cm_keys() {
    return cm_message({0,    0, 0, 0, 0,    0,    0,    1,    0,    0,    0,    0x16, 0, 0x82, 0x51, 0x72, 0, 0, 7,
                       0x1a, 0, 0, 0, 0,    0,    0,    0x55, 0xdb, 0xff, 0xca, 0x20, 0, 0,    0,    0,    0, 0, 0,
                       0,    0, 0, 0, 0xff, 0xff, 0x0a, 0x4d, 0,    0x0c, 0,    0,    0, 0,    0,    0,    0, 1});
}
// By tokens: V version, P page, L cache line, M path MTU, z keys that are not there yet, k keys, r a report.
std::vector<CmWords> cm_messages(std::string_view tokens) {
    std::vector<CmWords> messages;
    for (const char token : tokens) {
        if (token == 'V') messages.push_back(cm_message({'6', '.', '0', '6'}, 16));
        if (token == 'P') messages.push_back(cm_message({0, 0, 0x10, 0}));
        if (token == 'L') messages.push_back(cm_message({0, 0, 0, 0x40}));
        if (token == 'M') messages.push_back(cm_message({'5', 0}));
        if (token == 'z') messages.push_back(CmWords(kPerftestWordsBytes));
        if (token == 'k') messages.push_back(cm_keys());
        if (token == 'r')
            for (int i = 0; i < 5; ++i) messages.push_back(CmWords(8));
    }
    return messages;
}
std::string cm_stops(PerftestSession& session, const std::vector<CmWords>& peer, std::vector<CmWords>& said) {
    std::string stops;
    const auto go_on = [&] {
        for (;;) {
            for (CmWords message = session.take_output(); !message.empty(); message = session.take_output())
                said.push_back(message);
            if (session.awaits() == Awaits::bytes || session.awaits() == Awaits::nothing) return;
            stops += session.awaits() == Awaits::connect ? 'c' : session.awaits() == Awaits::receives ? 'r' : 't';
            session.proceed();
        }
    };
    go_on();
    for (const CmWords& message : peer) {
        session.process(message);
        go_on();
    }
    return stops;
}
PerftestSettings cm_settings(PerftestTest test) {
    PerftestSettings settings{.test = test, .mtu = PathMtu::bytes_4096, .over_cm = true};
    if (test >= PerftestTest::atomic_bw) settings.size = 8;
    return settings;
}
std::vector<QueuePairEnd> cm_ends(std::size_t count) {
    std::vector<QueuePairEnd> ends(count, QueuePairEnd{.gid = ipv4_address(0xc000'0201)});
    for (std::size_t i = 0; i < count; ++i) ends[i].qpn = dissect::Qpn{static_cast<std::uint32_t>(i + 40)};
    return ends;
}

struct CmRow {
    std::string_view name;
    ProgramRequest request{};
    std::uint64_t client_messages = 0;
    std::uint64_t server_messages = 0;
    std::uint64_t size = 0;
};
ProgramRequest over_cm(ProgramRequest request, ExchangeOptions options = {}) {
    request.exchange = std::move(options);
    request.exchange.rdma_cm = true;
    return request;
}
std::vector<CmRow> cm_rows() {
    const ExchangeOptions both{.queue_pairs = 3, .both_ways = true};
    return {
        {"ib_send_bw", over_cm({.count = 40}), 40, 40, 65'536},
        {"ib_send_bw", over_cm({.count = 10, .size = 1025}, {.queue_pairs = 4}), 40, 40, 1025},
        {"ib_send_bw", over_cm({.count = 20, .size = 5000}, both), 120, 120, 5000},
        {"ib_send_lat", over_cm({.count = 50}), 100, 100, 2},
        {"ib_write_bw", over_cm({.count = 40, .size = 333}), 40, 40, 333},
        {"ib_write_bw", over_cm({.count = 20, .size = 5000}, both), 60, 60, 5000},
        {"ib_write_lat", over_cm({.count = 300}), 600, 600, 2},
        {"ib_read_bw", over_cm({.count = 40}), 40, 40, 65'536},
        {"ib_read_lat", over_cm({.count = 40, .size = 7}), 40, 0, 7},
        {"ib_atomic_bw", over_cm({.count = 40}), 40, 40, 8},
        {"ib_atomic_lat", over_cm({.count = 40}), 40, 0, 8},
    };
}

struct CmOutcome {
    bool through = false;
    ProgramCounts server;
    ProgramCounts client;
    std::vector<std::string> lines;
    std::size_t left = 0;
    [[nodiscard]] std::string text() const { return fmt::format("{}", fmt::join(lines, "\n")); }
};
CmOutcome cm_play(std::string_view name, ProgramRequest serves, ProgramRequest connects,
                  const PairSettings& settings = {}, const Address& to = kServerAddress) {
    ProgramPair pair(settings);
    serves.clients = 1;
    connects.target = to;
    auto server = find_program(name)->make(serves);
    auto client = find_program(name)->make(connects);
    REQUIRE(server);
    REQUIRE(client);
    CmOutcome outcome;
    outcome.through = pair.run(*server, *client);
    outcome.server = server->counts();
    outcome.client = client->counts();
    for (std::string& line : server->take_lines()) outcome.lines.push_back("server: " + line);
    for (std::string& line : client->take_lines()) outcome.lines.push_back("client: " + line);
    outcome.left = ProgramPair::queue_pairs(pair.server) + ProgramPair::queue_pairs(pair.client);
    return outcome;
}
void cm_all_is_right(const CmRow& row, const PairSettings& settings, const Address& to = kServerAddress) {
    const CmOutcome outcome = cm_play(row.name, row.request, row.request, settings, to);
    INFO(row.name << ", " << row.size << " bytes, seed " << settings.seed << "\n" << outcome.text());
    CHECK(outcome.through);
    CHECK(outcome.client.connections == 1);
    CHECK(outcome.server.connections == 1);
    CHECK(outcome.client.failed + outcome.server.failed == 0);
    CHECK(outcome.client.wrong + outcome.server.wrong == 0);
    CHECK(outcome.client.messages == row.client_messages);
    CHECK(outcome.client.bytes == row.client_messages * row.size);
    CHECK(outcome.server.messages == row.server_messages);
    CHECK(outcome.left == 0);
}

// A peer by hand, which connects and says what it likes.
class CmStranger {
public:
    CmStranger(ProgramPair& pair, Program& server) : pair_(&pair), server_(&server) {
        verbs::Adapter& adapter = pair.client.adapter();
        pd_ = *adapter.alloc_pd();
        mr_ = *adapter.reg_mr(pd_, memory_, verbs::kEveryAccess);
        cq_ = *adapter.create_cq(64);
        qp_ = *adapter.create_qp({.pd = pd_, .send_cq = cq_, .recv_cq = cq_});
        REQUIRE(adapter.modify_qp(
            qp_, {.qp_state = verbs::QpState::init, .pkey = kDefaultPkey, .access = verbs::kEveryAccess}));
        const verbs::Sge piece{.address = mr_.address + 512, .length = 256, .lkey = mr_.lkey};
        for (std::uint32_t i = 0; i < 8; ++i) REQUIRE(adapter.post_recv(qp_, {.wr_id = i, .sg_list = {&piece, 1}}));
    }
    ~CmStranger() { (void)pair_->client.adapter().dereg_mr(mr_.lkey); }
    CmStranger(const CmStranger&) = delete;
    CmStranger& operator=(const CmStranger&) = delete;

    std::optional<ConnectionEventKind> connect() {
        const Target target{.address = kServerAddress, .port = IpPort{kExchangePort}};
        REQUIRE(pair_->client.connections().connect(qp_, target, {}, pair_->now));
        return wait();
    }
    std::optional<ConnectionEventKind> wait(int turns = 20'000) {
        for (int i = 0; i < turns; ++i) {
            (void)pair_->turn(server_, nullptr);
            for (const ConnectionEvent& event : pair_->client.connections().take_events())
                if (event.kind != ConnectionEventKind::released) return event.kind;
        }
        return std::nullopt;
    }
    void say(const CmWords& message) {
        std::ranges::copy(message, memory_.begin());
        const verbs::Sge piece{
            .address = mr_.address, .length = static_cast<std::uint32_t>(message.size()), .lkey = mr_.lkey};
        verbs::SendWr wr{.send_flags = {.signaled = true}};
        if (!message.empty()) wr.sg_list = {&piece, 1};
        REQUIRE(pair_->client.adapter().post_send(qp_, wr));
        for (int i = 0; i < 200; ++i) (void)pair_->turn(server_, nullptr);
    }

private:
    ProgramPair* pair_;
    Program* server_;
    std::vector<std::byte> memory_ = std::vector<std::byte>(1024);
    verbs::Pd pd_{};
    verbs::Mr mr_{};
    verbs::Cq cq_{};
    dissect::Qpn qp_{};
};

constexpr LinkFaults kCmPoor{.loss = 0.03, .duplication = 0.02, .reordering = 0.02, .corruption = 0.01};

}  // namespace

TEST_CASE("keys over rdma_cm are the words that perftest was heard to send") {
    const QueuePairEnd end = read_perftest_words(cm_keys());
    CHECK(end.qpn == dissect::Qpn{0x16});
    CHECK(end.psn == dissect::Psn(0x82'5172));
    CHECK(end.rkey == dissect::Rkey{0x71a});
    CHECK(end.address == 0x55db'ffca'2000);
    CHECK(end.out_reads == 1);
    QueuePairEnd with_gid = end;
    with_gid.gid = ipv4_address(0x0a4d'000c);
    const auto words = perftest_words(with_gid);
    CmWords heard = cm_keys();
    heard.back() = std::byte{0};  // the index of its GID
    CHECK(CmWords(words.begin(), words.end()) == heard);
}

TEST_CASE("perftest's exchanges over rdma_cm, as they were heard, in both roles") {
    using enum PerftestTest;
    struct Heard {
        PerftestTest test;
        std::uint32_t queue_pairs;
        std::string_view tokens;
        std::string_view client_stops;
        std::string_view server_stops;
    };
    for (const Heard& heard :
         {Heard{write_bw, 1, "VPLMzzkkkkrk", "ct", "c"}, Heard{send_lat, 1, "VPLMzzkkkkk", "crt", "crt"},
          Heard{write_lat, 1, "VPLMzzkkkk", "ct", "ct"}, Heard{read_bw, 1, "VPLMzzkkkkrk", "ct", "c"},
          Heard{send_bw, 3, "VPLMzzkkkkkkkkk", "crt", "crt"}}) {
        INFO(heard.tokens);
        PerftestSettings settings = cm_settings(heard.test);
        settings.queue_pairs = heard.queue_pairs;
        const auto peer = cm_messages(heard.tokens);
        for (const ExchangeRole role : {ExchangeRole::client, ExchangeRole::server}) {
            PerftestSession session(role, settings, cm_ends(heard.queue_pairs));
            std::vector<CmWords> said;
            CHECK(cm_stops(session, peer, said) ==
                  (role == ExchangeRole::client ? heard.client_stops : heard.server_stops));
            CHECK(session.problem().empty());
            CHECK(session.awaits() == Awaits::nothing);
            REQUIRE(said.size() == peer.size());
            for (std::size_t i = 0; i < said.size(); ++i) CHECK(said[i].size() == peer[i].size());
            CHECK(session.remote()[0].rkey == dissect::Rkey{0x71a});
        }
    }
}

TEST_CASE("perftest's exchange over rdma_cm with strangers ends with a sentence") {
    const auto problem_after = [](const std::vector<CmWords>& peer) {
        PerftestSession session(ExchangeRole::server, cm_settings(PerftestTest::write_bw), cm_ends(1));
        std::vector<CmWords> said;
        (void)cm_stops(session, peer, said);
        return session.problem();
    };
    const auto right = cm_messages("VPLMzzk");
    CHECK(problem_after(right).empty());
    CHECK(problem_after({right[0], CmWords(5)}).starts_with("the peer's message has 5 bytes where 4 are expected"));
    CHECK(problem_after({right[0], right[1], right[2], right[3], CmWords(108)})
              .starts_with("the peer's message has 108 bytes where 56"));
    CHECK(problem_after({CmWords{}}) == "the peer sends more than perftest does");
    CHECK(problem_after({CmWords(16)}) == "the peer announces no perftest version");
    auto changed = cm_messages("VPLMzzkk");
    changed.back()[11] = std::byte{0x17};
    CHECK(problem_after(changed).starts_with("the peer's keys have changed"));
    // Two ahead.
    PerftestSession session(ExchangeRole::server, cm_settings(PerftestTest::write_bw), cm_ends(1));
    for (std::size_t i = 0; i < 5; ++i) session.process(right[i]);
    REQUIRE(session.awaits() == Awaits::connect);
    session.process(right[5]);
    CHECK(session.problem().empty());
    session.process(right[6]);
    CHECK(session.problem() == "the peer sends more than perftest does");
    CHECK(refusal([] {
              PerftestSettings settings = cm_settings(PerftestTest::send_bw);
              settings.service = dissect::Service::ud;
              return settings;
          }()) == "ib_send_bw over rdma_cm uses RC only");
}

TEST_CASE("programs of perftest over rdma_cm come to an end with every byte right") {
    for (const CmRow& row : cm_rows()) {
        cm_all_is_right(row, {});
        for (const std::uint64_t seed : {5U, 6U}) cm_all_is_right(row, {.faults = kCmPoor, .seed = seed});
    }
    cm_all_is_right(cm_rows()[3], {}, kServerAddress6);
    cm_all_is_right(cm_rows()[3], {.roce_v1 = true});
}

TEST_CASE("perftest over rdma_cm runs all sizes, and for a duration") {
    const ProgramRequest sizes = over_cm({.count = 2}, {.all_sizes = true});
    const CmOutcome all = cm_play("ib_write_lat", sizes, sizes);
    INFO(all.text());
    CHECK(all.through);
    CHECK(all.client.failed + all.server.failed + all.client.wrong + all.server.wrong == 0);
    CHECK(std::ranges::count_if(all.lines, [](const std::string& line) { return line.starts_with("client"); }) == 23);
    for (const std::string_view name : {"ib_send_bw", "ib_write_lat", "ib_read_bw"}) {
        const ProgramRequest request = over_cm({.size = 64}, {.duration = microseconds(3000)});
        const CmOutcome timed = cm_play(name, request, request);
        INFO(name << "\n" << timed.text());
        CHECK(timed.through);
        CHECK(timed.client.failed + timed.server.failed == 0);
        CHECK(timed.client.messages > 10);
    }
}

TEST_CASE("who was given other options of perftest over rdma_cm than the peer is told so") {
    const CmOutcome pairs =
        cm_play("ib_send_bw", over_cm({}, {.queue_pairs = 2}), over_cm({.count = 3}, {.queue_pairs = 1}));
    INFO(pairs.text());
    CHECK(pairs.through);
    CHECK(pairs.server.failed + pairs.client.failed >= 1);
    CHECK(pairs.left == 0);
    const CmOutcome nobody = [] {
        ProgramPair pair({});
        ProgramRequest request = over_cm({.target = kServerAddress});
        auto client = find_program("ib_send_bw")->make(request);
        REQUIRE(client);
        REQUIRE(client->begin(pair.client, pair.now));
        for (int i = 0; i < 100'000 && !client->done(); ++i) (void)pair.turn(nullptr, &*client);
        CHECK(client->done());
        CmOutcome outcome;
        outcome.client = client->counts();
        outcome.lines = client->take_lines();
        outcome.left = ProgramPair::queue_pairs(pair.client);
        return outcome;
    }();
    CHECK(nobody.text() == "192.0.2.1: the peer rejected the connection, reason 8");
    CHECK(nobody.client.failed == 1);
    CHECK(nobody.left == 0);
}

TEST_CASE("strangers that connect to perftest over rdma_cm end their own session alone") {
    ProgramPair pair({});
    auto server = find_program("ib_write_bw")->make(over_cm({}));
    REQUIRE(server);
    REQUIRE(server->begin(pair.server, pair.now));
    struct Stranger {
        std::vector<CmWords> says;
        std::string_view line;
    };
    for (const Stranger& row :
         {Stranger{{CmWords(3)}, "192.0.2.2: the peer's message has 3 bytes where 16 are expected"},
          Stranger{{CmWords{}}, "192.0.2.2: the peer sends more than perftest does"},
          Stranger{{CmWords(257)}, "192.0.2.2: a receive failed: loc_len_err"},
          Stranger{{}, "192.0.2.2: it does not announce its queue pairs, or does not connect them"},
          Stranger{cm_messages("VPLMz"),
                   "192.0.2.2: it does not announce its queue pairs, or does not connect them"}}) {
        INFO(row.line);
        const std::uint64_t failed = server->counts().failed;
        CmStranger stranger(pair, *server);
        REQUIRE(stranger.connect() == ConnectionEventKind::established);
        for (const CmWords& message : row.says) stranger.say(message);
        (void)stranger.wait();
        CHECK(server->counts().failed == failed + 1);
        std::string all;
        for (const std::string& line : server->take_lines()) all += line;
        CHECK(all.starts_with(row.line));
        CHECK(server->counts().connections == 0);
    }
    for (int i = 0; i < 2000; ++i) (void)pair.turn(&*server, nullptr);
    CHECK(ProgramPair::queue_pairs(pair.server) == 0);
    // It still serves who keeps to the rules.
    ProgramRequest asks = over_cm({.target = kServerAddress, .count = 3});
    auto right = find_program("ib_write_bw")->make(asks);
    REQUIRE(right);
    REQUIRE(right->begin(pair.client, pair.now));
    for (int i = 0; i < 200'000 && !right->done(); ++i) (void)pair.turn(&*server, &*right);
    CHECK(right->done());
    CHECK(right->counts().failed == 0);
}

TEST_CASE("what cannot be asked of perftest over rdma_cm is refused") {
    const auto refused = [](std::string_view name, const ProgramRequest& request) {
        const auto made = find_program(name)->make(request);
        return made ? std::string("made") : made.error();
    };
    CHECK(refused("ib_send_bw", over_cm({}, {.service = dissect::Service::uc})) ==
          "ib_send_bw over rdma_cm uses RC only");
    CHECK(refused("ib_send_bw", over_cm({}, {.tcp = "127.0.0.1"})) == "--rdma-cm and --tcp exclude each other");
    CHECK(refused("ibv_rc_pingpong", over_cm({})) ==
          "ibv_*_pingpong programs exchange their queue pairs over TCP only");
}
