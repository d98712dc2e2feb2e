// Clients that do not keep to the rules, against every server: their connection ends, the server goes on.
#include <tests/support/catch.hpp>
#include <tests/support/program_pair.hpp>
#include <transport-replay/live/peers/fair_share.hpp>
#include <transport-replay/live/peers/offer.hpp>
#include <transport-replay/live/peers/pattern.hpp>

#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::live;
using qps::tests::kServerAddress;
using qps::tests::kServerAddress6;
using qps::tests::ProgramPair;

namespace {

Program made(std::string_view name, const ProgramRequest& request = {}) {
    auto program = find_program(name)->make(request);
    REQUIRE(program);
    return std::move(*program);
}

// A client by hand, and a server that is watched.
class Scene {
public:
    explicit Scene(std::string_view server, const ProgramRequest& serves = {}) : server_(made(server, serves)) {
        REQUIRE(server_.begin(pair.server, pair.now));
        pd_ = *pair.client.adapter().alloc_pd();
        memory_.resize(1U << 17);
        mr_ = *pair.client.adapter().reg_mr(pd_, memory_, verbs::kEveryAccess);
        cq_ = *pair.client.adapter().create_cq(1U << 16);
    }
    ~Scene() { (void)pair.client.adapter().dereg_mr(mr_.lkey); }
    Scene(const Scene&) = delete;
    Scene& operator=(const Scene&) = delete;

    dissect::Qpn queue_pair(std::uint32_t receives = 4) {
        verbs::Adapter& adapter = pair.client.adapter();
        const dissect::Qpn qp = *adapter.create_qp({.pd = pd_, .send_cq = cq_, .recv_cq = cq_});
        REQUIRE(adapter.modify_qp(
            qp, {.qp_state = verbs::QpState::init, .pkey = kDefaultPkey, .access = verbs::kEveryAccess}));
        const verbs::Sge piece{.address = mr_.address, .length = 4096, .lkey = mr_.lkey};
        for (std::uint32_t i = 0; i < receives; ++i)
            REQUIRE(adapter.post_recv(qp, {.wr_id = 1000, .sg_list = {&piece, 1}}));
        return qp;
    }
    CmId connect(dissect::Qpn qp, IpPort port, dissect::Bytes said = {}, const Address& to = kServerAddress) {
        ConnectOptions options;
        options.private_data = said;
        const auto id = pair.client.connections().connect(qp, {.address = to, .port = port}, options, pair.now);
        REQUIRE(id);
        return *id;
    }
    // Turns of both until the client hears an event of that kind.
    std::optional<ConnectionEvent> wait_for(ConnectionEventKind kind, int turns = 20'000) {
        for (int i = 0; i < turns; ++i) {
            (void)pair.turn(&server_, nullptr);
            for (const ConnectionEvent& event : pair.client.connections().take_events())
                if (event.kind == kind) return event;
        }
        return std::nullopt;
    }
    bool established(dissect::Qpn qp, IpPort port, dissect::Bytes said = {}) {
        connect(qp, port, said);
        return wait_for(ConnectionEventKind::established).has_value();
    }
    void settle(int turns = 2000) {
        for (int i = 0; i < turns; ++i) (void)pair.turn(&server_, nullptr);
    }
    void post(dissect::Qpn qp, verbs::SendWr wr, std::size_t length) {
        const verbs::Sge piece{.address = mr_.address, .length = static_cast<std::uint32_t>(length), .lkey = mr_.lkey};
        if (length != 0) wr.sg_list = {&piece, 1};
        wr.send_flags.signaled = true;
        REQUIRE(pair.client.adapter().post_send(qp, wr));
    }
    // The status of the next completion of ours that is no flush.
    verbs::WcStatus status() {
        std::array<verbs::Wc, 1> wc{};
        while (pair.client.adapter().poll_cq(cq_, wc) == 1)
            if (wc[0].status != verbs::WcStatus::wr_flush_err) return wc[0].status;
        return verbs::WcStatus::wr_flush_err;
    }
    dissect::MutableBytes memory() { return memory_; }
    [[nodiscard]] const verbs::Mr& mr() const { return mr_; }
    Program& server() { return server_; }
    std::string line() {
        const auto lines = server_.take_lines();
        return lines.empty() ? std::string() : lines.front();
    }
    // The server still serves who keeps to the rules.
    void goes_on(std::string_view client, const ProgramRequest& request = {}) {
        ProgramRequest asks = request;
        asks.target = kServerAddress;
        Program right = made(client, asks);
        REQUIRE(right.begin(pair.client, pair.now));
        for (int i = 0; i < 200'000 && !right.done(); ++i) (void)pair.turn(&server_, &right);
        CHECK(right.done());
        CHECK(right.counts().failed == 0);
        CHECK(right.counts().connections == 1);
    }

    ProgramPair pair{{}};

private:
    Program server_;
    verbs::Pd pd_{};
    verbs::Cq cq_{};
    std::vector<std::byte> memory_;
    verbs::Mr mr_{};
};

constexpr IpPort kRping{7174};
constexpr IpPort kRdma{7471};
constexpr IpPort kSink{7472};
constexpr IpPort kMemory{7473};

// Memory that this process has from the system, not what it only has addresses for.
std::size_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::size_t addresses = 0;
    std::size_t pages = 0;
    statm >> addresses >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void write_shown(dissect::MutableBytes into, std::uint64_t address, std::uint32_t key, std::uint32_t length) {
    peers::write_be(into, 0, address);
    peers::write_be(into, 8, key);
    peers::write_be(into, 12, length);
}

}  // namespace

TEST_CASE("rping ends the connection of who says too little, too much, or shows what cannot be") {
    struct Row {
        std::size_t length;
        std::uint64_t address;
        std::uint32_t key;
        std::uint32_t size;
        std::string_view line;
    };
    const std::vector<Row> rows{
        {3, 0, 0, 0, "192.0.2.2: sent 3 bytes where 16 are expected"},
        {0, 0, 0, 0, "192.0.2.2: sent 0 bytes where 16 are expected"},
        {16, 0, 0, 0, "192.0.2.2: advertised 0 bytes of memory"},
        {16, 0, 0, 0xffff'ffff, "192.0.2.2: advertised 4,294,967,295 bytes of memory"},
        {16, 0, 0, (1U << 20) + 1, "192.0.2.2: advertised 1,048,577 bytes of memory"},
        {16, ~std::uint64_t{0}, 0x1234'5678, 64, "192.0.2.2: a request failed: rem_access_err"},
        {17, 0, 0, 0, "192.0.2.2: a receive failed: loc_len_err"},  // longer than it is
    };
    Scene scene("rping");
    for (const Row& row : rows) {
        INFO(row.line);
        const dissect::Qpn qp = scene.queue_pair();
        REQUIRE(scene.established(qp, kRping));
        write_shown(scene.memory(), row.address, row.key, row.size);
        scene.post(qp, {}, row.length);
        CHECK(scene.wait_for(ConnectionEventKind::disconnected));
        scene.settle();
        CHECK(scene.line() == row.line);
        CHECK(ProgramPair::queue_pairs(scene.pair.server) == 0);
        (void)scene.server().take_lines();
        (void)scene.pair.client.adapter().destroy_qp(qp);
    }
    CHECK(scene.server().counts().failed == rows.size());
    scene.goes_on("rping", {.count = 3});
}

TEST_CASE("rping refuses a second advertisement before it has gone on") {
    Scene scene("rping");
    const dissect::Qpn qp = scene.queue_pair();
    REQUIRE(scene.established(qp, kRping));
    write_shown(scene.memory(), scene.mr().address, static_cast<std::uint32_t>(scene.mr().rkey), 100'000);
    for (int i = 0; i < 3; ++i) scene.post(qp, {}, 16);
    CHECK(scene.wait_for(ConnectionEventKind::disconnected));
    scene.settle();
    CHECK(scene.line() == "192.0.2.2: advertised memory out of turn");
    scene.goes_on("rping", {.count = 1});
}

TEST_CASE("who connects and vanishes costs a server his connection alone") {
    Scene scene("echo");
    REQUIRE(scene.established(scene.queue_pair(), kRdma));
    // He is never heard of again. Another comes by the same wire, and the server is stopped: its farewell finds nobody.
    scene.goes_on("echo", {.count = 20});
    CHECK(ProgramPair::queue_pairs(scene.pair.server) == 1);
    scene.server().stop(scene.pair.server, scene.pair.now);
    for (int i = 0; i < 10'000 && !scene.server().done(); ++i) {
        scene.pair.server.poll(scene.pair.now);
        scene.server().poll(scene.pair.server, scene.pair.now);
        const auto due = scene.pair.server.poll_at();
        if (due) scene.pair.now = std::max(scene.pair.now, *due);
    }
    CHECK(scene.server().done());
    CHECK(ProgramPair::queue_pairs(scene.pair.server) == 0);
}

TEST_CASE("who asks for a connection and says nothing more is forgotten") {
    Scene scene("echo");
    scene.connect(scene.queue_pair(), kRdma);
    // Its request goes out, and then it is dead.
    for (int i = 0; i < 50 && ProgramPair::queue_pairs(scene.pair.server) == 0; ++i) {
        scene.pair.server.poll(scene.pair.now);
        scene.server().poll(scene.pair.server, scene.pair.now);
        scene.pair.client.poll(scene.pair.now);
        scene.pair.now = scene.pair.now + microseconds(1);
    }
    CHECK(ProgramPair::queue_pairs(scene.pair.server) == 1);
    for (int i = 0; i < 10'000 && ProgramPair::queue_pairs(scene.pair.server) == 1; ++i) {
        scene.pair.server.poll(scene.pair.now);
        scene.server().poll(scene.pair.server, scene.pair.now);
        const auto due = scene.pair.server.poll_at();
        if (due) scene.pair.now = std::max(scene.pair.now, *due);
    }
    CHECK(ProgramPair::queue_pairs(scene.pair.server) == 0);
    CHECK(scene.server().counts().connections == 0);
    CHECK(scene.server().counts().failed == 1);
}

TEST_CASE("echo ends the connection of a message longer than its receives") {
    Scene scene("echo", {.size = 100});
    const dissect::Qpn qp = scene.queue_pair();
    REQUIRE(scene.established(qp, kRdma));
    scene.post(qp, {}, 101);
    CHECK(scene.wait_for(ConnectionEventKind::disconnected));
    CHECK(scene.status() == verbs::WcStatus::rem_inv_req_err);
    scene.goes_on("echo", {.size = 100});
}

TEST_CASE("sink refuses announcements that nobody has memory for, and counts that cannot be") {
    Scene scene("sink");
    using peers::Announcement;
    using peers::Way;
    const auto huge = peers::private_bytes(Announcement{.way = Way::write, .depth = 0xffff, .bytes = 0xffff'ffff},
                                           peers::kAnnouncementBytes);
    scene.connect(scene.queue_pair(), kSink, huge.bytes());
    CHECK(scene.wait_for(ConnectionEventKind::rejected));
    const auto many =
        peers::private_bytes(Announcement{.way = Way::send, .depth = 16, .bytes = 1U << 30}, peers::kAnnouncementBytes);
    scene.connect(scene.queue_pair(), kSink, many.bytes());
    CHECK(scene.wait_for(ConnectionEventKind::rejected));
    CHECK(scene.line() == "192.0.2.2: refused: it announces messages of 4 GiB");

    const auto right =
        peers::private_bytes(Announcement{.way = Way::write, .depth = 4, .bytes = 64}, peers::kAnnouncementBytes);
    const dissect::Qpn qp = scene.queue_pair();
    REQUIRE(scene.established(qp, kSink, right.bytes()));
    peers::write_be(scene.memory(), 0, std::uint64_t{1} << 40);
    scene.post(qp, {}, 8);
    CHECK(scene.wait_for(ConnectionEventKind::disconnected));
    CHECK(scene.server().counts().failed == 1);
    CHECK(scene.server().counts().messages == 0);

    // What was announced as filled by ours, and is not: it is counted, and nothing ends.
    const dissect::Qpn liar = scene.queue_pair();
    REQUIRE(scene.established(liar, kSink));
    peers::fill(scene.memory().first(500), 1, 0);
    scene.memory()[400] ^= std::byte{1};
    scene.post(liar, {}, 500);
    scene.settle(200);
    CHECK(scene.server().counts().wrong == 1);
    scene.goes_on("source-imm", {.count = 10});
}

TEST_CASE("memory lends what it offered and not a byte more, and tells strangers where it is") {
    Scene scene("memory", {.size = 4096});
    const dissect::Qpn qp = scene.queue_pair();
    scene.connect(qp, kMemory);
    const auto event = scene.wait_for(ConnectionEventKind::established);
    REQUIRE(event);
    const auto offer = peers::read_offer(event->private_data.bytes());
    REQUIRE(offer);
    CHECK(offer->length == 4096);
    scene.post(qp, {}, 1);  // a question
    scene.settle(200);
    CHECK(peers::read_offer(scene.memory().first(peers::kOfferBytes)) == offer);
    CHECK(scene.status() == verbs::WcStatus::success);
    scene.post(qp, {.opcode = verbs::WrOpcode::rdma_write, .remote = {offer->address + 4000, offer->key}}, 97);
    CHECK(scene.wait_for(ConnectionEventKind::disconnected));
    while (scene.status() == verbs::WcStatus::success) {
    }
    CHECK(scene.server().counts().failed == 1);
    scene.goes_on("memory", {.size = 512});
}

TEST_CASE("rstream refuses who does not speak rsockets, and ends who claims more than was offered") {
    Scene scene("rstream");
    scene.connect(scene.queue_pair(), kRdma);
    CHECK(scene.wait_for(ConnectionEventKind::rejected));
    CHECK(scene.line() == "192.0.2.2: refused: it does not use rsockets version 1");
    std::array<std::byte, 40> said{};
    said[0] = std::byte{1};
    scene.connect(scene.queue_pair(), kRdma, said);  // no places for offers
    CHECK(scene.wait_for(ConnectionEventKind::rejected));
    (void)scene.server().take_lines();

    peers::write_be(said, 2, std::uint16_t{10});
    peers::write_be(said, 8, scene.mr().address);
    peers::write_be(said, 16, static_cast<std::uint32_t>(scene.mr().rkey));
    peers::write_be(said, 20, std::uint32_t{2});
    peers::write_be(said, 24, scene.mr().address);
    peers::write_be(said, 32, static_cast<std::uint32_t>(scene.mr().rkey));
    peers::write_be(said, 36, std::uint32_t{4096});
    for (const std::uint32_t message : {0x1fff'ffffU, 0x0000'0001U, 0x0000'0000U, 0x6000'0000U, 0xa000'0000U}) {
        INFO(message);
        const std::uint64_t failed = scene.server().counts().failed;
        const dissect::Qpn qp = scene.queue_pair(16);
        REQUIRE(scene.established(qp, kRdma, said));
        scene.post(qp, {.opcode = verbs::WrOpcode::rdma_write_with_imm, .imm_data = message}, 0);
        CHECK(scene.wait_for(ConnectionEventKind::disconnected));
        CHECK(scene.server().counts().failed == failed + 1);
        (void)scene.pair.client.adapter().destroy_qp(qp);
    }
    const dissect::Qpn qp = scene.queue_pair();
    REQUIRE(scene.established(qp, kRdma, said));
    scene.post(qp, {}, 0);  // a SEND without immediate
    CHECK(scene.wait_for(ConnectionEventKind::disconnected));
    scene.settle();
    CHECK(ProgramPair::queue_pairs(scene.pair.server) == 0);
    scene.goes_on("rstream", {.count = 5, .size = 100});
}

TEST_CASE("who announces a megabyte and sends nothing takes none of a server's memory, however often") {
    Scene scene("sink");
    constexpr std::size_t kConnections = 1000;
    constexpr std::size_t kEach = std::size_t{1} << 20;
    constexpr int kWaves = 3;  // what went before leaves nothing behind that those who come fill
    const auto says = peers::private_bytes(
        peers::Announcement{.way = peers::Way::send, .depth = 16, .bytes = kEach / 16}, peers::kAnnouncementBytes);
    const std::size_t before = resident_bytes();
    for (int wave = 0; wave < kWaves; ++wave) {
        std::vector<CmId> ids;
        std::vector<dissect::Qpn> queue_pairs;
        for (std::size_t i = 0; i < kConnections; ++i) {
            queue_pairs.push_back(scene.queue_pair(1));
            ids.push_back(scene.connect(queue_pairs.back(), kSink, says.bytes()));
        }
        std::size_t established = 0;
        for (int i = 0; i < 200'000 && established < kConnections; ++i) {
            (void)scene.pair.turn(&scene.server(), nullptr);
            for (const ConnectionEvent& event : scene.pair.client.connections().take_events())
                established += event.kind == ConnectionEventKind::established ? 1U : 0U;
        }
        CHECK(established == kConnections);
        // Queue pairs of both ends, and under AddressSanitizer an eighth of the blocks for their shadow.
        CHECK(resident_bytes() - std::min(before, resident_bytes()) < kConnections * kEach / 4);
        for (const CmId id : ids) (void)scene.pair.client.connections().disconnect(id, scene.pair.now);
        for (int i = 0; i < 200'000 && ProgramPair::queue_pairs(scene.pair.server) != 0; i += 100) scene.settle(100);
        CHECK(ProgramPair::queue_pairs(scene.pair.server) == 0);
        for (const dissect::Qpn queue_pair : queue_pairs) (void)scene.pair.client.adapter().destroy_qp(queue_pair);
    }
}

TEST_CASE("a server has kMaxClients connections and refuses the next") {
    Scene scene("rping");
    std::vector<CmId> ids;
    for (std::size_t i = 0; i < kMaxClients + 3; ++i) ids.push_back(scene.connect(scene.queue_pair(1), kRping));
    std::size_t established = 0;
    std::size_t rejected = 0;
    for (int i = 0; i < 200'000 && established + rejected < ids.size(); ++i) {
        (void)scene.pair.turn(&scene.server(), nullptr);
        for (const ConnectionEvent& event : scene.pair.client.connections().take_events()) {
            established += event.kind == ConnectionEventKind::established ? 1U : 0U;
            rejected += event.kind == ConnectionEventKind::rejected ? 1U : 0U;
        }
    }
    CHECK(established == kMaxClients);
    CHECK(rejected == 3);
    for (const CmId id : ids) (void)scene.pair.client.connections().disconnect(id, scene.pair.now);
    for (int i = 0; i < 200'000 && ProgramPair::queue_pairs(scene.pair.server) != 0; i += 100) scene.settle(100);
    CHECK(ProgramPair::queue_pairs(scene.pair.server) == 0);
    scene.goes_on("rping", {.count = 1});
}

TEST_CASE("one address cannot fill a server for good with silent connections") {
    Scene scene("echo");
    const dissect::Qpn spoke = scene.queue_pair();
    REQUIRE(scene.established(spoke, kRdma));
    scene.post(spoke, {}, 10);
    scene.settle(200);
    REQUIRE(scene.server().counts().messages > 0);
    std::size_t established = 1;
    std::size_t rejected = 0;
    std::size_t parted = 0;
    const auto hear = [&] {
        (void)scene.pair.turn(&scene.server(), nullptr);
        for (const ConnectionEvent& event : scene.pair.client.connections().take_events()) {
            established += event.kind == ConnectionEventKind::established ? 1U : 0U;
            rejected += event.kind == ConnectionEventKind::rejected ? 1U : 0U;
            parted += event.kind == ConnectionEventKind::disconnected ? 1U : 0U;
        }
    };
    for (std::size_t i = 1; i < kMaxClients; ++i) scene.connect(scene.queue_pair(1), kRdma);
    for (int i = 0; i < 200'000 && established < kMaxClients; ++i) hear();
    REQUIRE(established == kMaxClients);
    // Those that have just come may still speak, as far as nobody comes but who has them all.
    scene.connect(scene.queue_pair(1), kRdma);
    for (int i = 0; i < 20'000 && rejected == 0; ++i) hear();
    CHECK(rejected == 1);
    CHECK(scene.server().counts().failed == 0);
    // Another address has a place at once, and one more.
    for (std::size_t other = 1; other <= 2; ++other) {
        scene.connect(scene.queue_pair(1), kRdma, {}, kServerAddress6);
        for (int i = 0; i < 20'000 && (established < kMaxClients + other || parted < other); ++i) hear();
        CHECK(established == kMaxClients + other);
        CHECK(parted == other);
        CHECK(rejected == 1);
    }

    scene.pair.now = scene.pair.now + kProvingTime;
    for (int i = 0; i < 10; ++i) scene.connect(scene.queue_pair(1), kRdma);
    for (int i = 0; i < 20'000 && (established < kMaxClients + 12 || parted < 12); ++i) hear();
    CHECK(established == kMaxClients + 12);
    CHECK(rejected == 1);
    CHECK(parted == 12);  // who has to go is told
    CHECK(scene.server().counts().failed == 12);
    const std::uint64_t messages = scene.server().counts().messages;
    scene.post(spoke, {}, 10);  // who has spoken stays
    for (int i = 0; i < 2000; ++i) hear();
    CHECK(scene.server().counts().messages > messages);
    CHECK(parted == 12);
}

TEST_CASE("who makes room in a full server is the address with more than its share, for somebody with less") {
    using Idle = std::map<std::string, std::size_t>;
    const auto who = [](const Idle& idle, const std::string& newcomer, std::size_t places) {
        const std::string* const found = peers::who_makes_room(idle, newcomer, places);
        return found == nullptr ? std::string() : *found;
    };
    CHECK(who({{"a", 64}}, "b", 64) == "a");
    CHECK(who({{"a", 64}}, "a", 64).empty());
    CHECK(who({}, "b", 64).empty());           // all places are of who has done something
    CHECK(who({{"a", 32}}, "b", 64).empty());  // its share
    CHECK(who({{"a", 33}}, "b", 64) == "a");
    CHECK(who({{"a", 33}, {"b", 31}}, "b", 64) == "a");
    CHECK(who({{"a", 32}, {"b", 32}}, "b", 64).empty());
    CHECK(who({{"a", 32}, {"b", 32}}, "c", 64) == "a");  // three share them
    CHECK(who({{"a", 20}, {"b", 44}}, "c", 64) == "b");
    CHECK(who({{"a", 8}, {"b", 8}, {"c", 8}}, "d", 64).empty());
}

TEST_CASE("a program that serves datagrams answers anything, and nobody more than he sent") {
    Scene scene("udaddy");
    verbs::Adapter& adapter = scene.pair.client.adapter();
    ProgramRequest asks{.target = kServerAddress, .count = 50, .size = 1};
    scene.goes_on("udaddy", asks);
    CHECK(scene.server().counts().messages == 50);
    CHECK(adapter.counts().of(verbs::Refusal::no_receive) == 0);
    scene.server().stop(scene.pair.server, scene.pair.now);
    scene.settle(10);
    CHECK(scene.server().done());
    CHECK(ProgramPair::queue_pairs(scene.pair.server) == 0);
}
