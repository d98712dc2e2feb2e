// A listening endpoint under attack while somebody who keeps to the rules works with it: nothing outside of what it
// registered is read or written, what it holds stays bounded, the honest connection ends with every byte right, and all
// that came is counted.
#include <tests/support/catch.hpp>
#include <tests/support/forgery.hpp>
#include <tests/support/hub.hpp>
#include <tests/support/sanitized.hpp>
#include <transport-replay/live/endpoint.hpp>

#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::transport::verbs;
using dissect::Bytes;
using dissect::Instant;
using dissect::MutableBytes;
using dissect::Qpn;
using dissect::Rkey;
using qps::tests::Hub;
using qps::tests::HubDevice;
using qps::tests::WireBytes;

namespace {

constexpr Address kServer = ipv4_address(0xc0000201), kClient = ipv4_address(0xc0000202),
                  kInsider = ipv4_address(0xc0000203);
constexpr IpPort kPort{7777};
constexpr std::byte kSecret{0xee};
constexpr std::size_t kSecretBytes = 8192;  // before and behind what is shown
constexpr std::size_t kShownBytes = 65'536;
constexpr std::size_t kMostServed = 12;  // connections at a time
constexpr std::size_t kLeak = 8;         // bytes in a row that can only come from a secret

EndpointSettings settings_of(std::uint32_t last, const Address& address) {
    return {.host = {.mac = Mac{0x0200'0000'0000ULL + last}, .addresses = {{address, 24}}, .detect_duplicates = false},
            .seed = last};
}

bool leaks(Bytes frame) {
    std::size_t run = 0;
    for (const std::byte byte : frame) {
        run = byte == kSecret ? run + 1 : 0;
        if (run >= kLeak) return true;
    }
    return false;
}

// Accepts every request, up to a bound, and shows a region between secrets.
class Server {
public:
    explicit Server(Endpoint& endpoint)
        : endpoint_(&endpoint), memory_(2 * kSecretBytes + kShownBytes, kSecret), receives_(1 << 16, kSecret) {
        Adapter& adapter = endpoint.adapter();
        std::ranges::fill(shown(), std::byte{0});
        pd_ = *adapter.alloc_pd();
        mr = *adapter.reg_mr(pd_, shown(), kEveryAccess);
        receive_mr_ = *adapter.reg_mr(pd_, receives_, kLocalWrite);
        cq_ = *adapter.create_cq(1 << 14);
        REQUIRE(endpoint.connections().listen(PortSpace::tcp, kPort));
    }
    MutableBytes shown() { return MutableBytes(memory_).subspan(kSecretBytes, kShownBytes); }
    [[nodiscard]] bool secrets_kept() const {
        const auto secret = [](std::byte byte) { return byte == kSecret; };
        return std::ranges::all_of(Bytes(memory_).first(kSecretBytes), secret) &&
               std::ranges::all_of(Bytes(memory_).last(kSecretBytes), secret);
    }
    void poll(Instant now) {
        for (const ConnectionEvent& event : endpoint_->connections().take_events()) take(event, now);
        std::array<Wc, 32> some{};
        while (const std::size_t count = endpoint_->adapter().poll_cq(cq_, some))
            for (const Wc& wc : std::span(some).first(count))
                if (wc.status == WcStatus::success) post(wc.qp_num);
        static_cast<void>(endpoint_->connections().take_async_events());
    }
    [[nodiscard]] std::size_t served() const { return served_.size(); }
    bool lazy = false;  // decides on nothing
    Mr mr{};

private:
    void post(Qpn qp) {
        const Sge piece{.address = receive_mr_.address, .length = 4096, .lkey = receive_mr_.lkey};
        static_cast<void>(endpoint_->adapter().post_recv(qp, {.sg_list = {&piece, 1}}));
    }
    void take(const ConnectionEvent& event, Instant now) {
        if (event.kind == ConnectionEventKind::request && !lazy) {
            const auto qp = served_.size() < kMostServed
                                ? endpoint_->adapter().create_qp({.pd = pd_, .send_cq = cq_, .recv_cq = cq_})
                                : std::unexpected(VerbsError::too_many);
            if (qp && endpoint_->connections().accept(event.id, *qp, {}, now)) {
                served_[event.id] = *qp;
                for (int i = 0; i < 8; ++i) post(*qp);
                return;
            }
            if (qp) static_cast<void>(endpoint_->adapter().destroy_qp(*qp));
            static_cast<void>(endpoint_->connections().reject(event.id, {}, now));
        }
        if (!event.last) return;
        if (const auto found = served_.find(event.id); found != served_.end()) {
            static_cast<void>(endpoint_->adapter().destroy_qp(found->second));
            served_.erase(found);
        }
    }
    Endpoint* endpoint_;
    std::vector<std::byte> memory_;
    std::vector<std::byte> receives_;
    Pd pd_{};
    Mr receive_mr_{};
    Cq cq_{};
    std::map<CmId, Qpn> served_;
};

// Works by the rules: writes, reads back, counts, says something, again and again; of a part of the region that is its
// own.
class Client {
public:
    Client(Endpoint& endpoint, const Mr& theirs, Instant now)
        : endpoint_(&endpoint), theirs_(theirs), memory_(1 << 16) {
        Adapter& adapter = endpoint.adapter();
        pd_ = *adapter.alloc_pd();
        mr_ = *adapter.reg_mr(pd_, memory_, kEveryAccess);
        cq_ = *adapter.create_cq(256);
        qp_ = *adapter.create_qp({.pd = pd_, .send_cq = cq_, .recv_cq = cq_});
        id_ = *endpoint.connections().connect(qp_, {.address = kServer, .port = kPort}, {}, now);
    }
    void poll() {
        for (const ConnectionEvent& event : endpoint_->connections().take_events()) {
            if (event.id != id_) continue;
            if (event.kind == ConnectionEventKind::established) post();
            if (event.kind == ConnectionEventKind::released) released = true;
            const bool over = event.kind == ConnectionEventKind::rejected ||
                              event.kind == ConnectionEventKind::unreachable ||
                              event.kind == ConnectionEventKind::disconnected;
            if (over && !ending_) wrong = "the connection ended: " + std::string(name(event.kind));
        }
        std::array<Wc, 8> some{};
        while (const std::size_t count = endpoint_->adapter().poll_cq(cq_, some))
            for (const Wc& wc : std::span(some).first(count)) {
                if (ending_) continue;
                if (wc.status != WcStatus::success) wrong = "work ended in " + std::string(name(wc.status));
                else if (++done_ % 4 == 0) check();
            }
    }
    void end(Instant now) {
        ending_ = true;
        REQUIRE(endpoint_->connections().disconnect(id_, now));
    }
    [[nodiscard]] Qpn qp() const { return qp_; }
    std::uint64_t rounds = 0;
    std::string wrong;
    bool released = false;

private:
    static constexpr std::uint32_t kLength = 5000;
    [[nodiscard]] std::byte value(std::uint32_t i) const {
        return static_cast<std::byte>((i * 7 + rounds * 13) & 0x7f);
    }
    void post() {
        for (std::uint32_t i = 0; i < kLength; ++i) memory_[i] = value(i);
        const auto piece = [&](std::uint64_t at, std::uint32_t length) {
            return Sge{mr_.address + at, length, mr_.lkey};
        };
        const Sge from = piece(0, kLength), back = piece(16'384, kLength), count = piece(32'768, 8),
                  said = piece(0, 100);
        const auto one = [&](const Sge& sge, SendWr wr) {
            wr.sg_list = {&sge, 1};
            wr.send_flags.signaled = true;
            if (!endpoint_->adapter().post_send(qp_, wr)) wrong = "work was not taken";
        };
        one(from, {.opcode = WrOpcode::rdma_write, .remote = {theirs_.address + 64, theirs_.rkey}});
        one(back, {.opcode = WrOpcode::rdma_read, .remote = {theirs_.address + 64, theirs_.rkey}});
        one(count, {.opcode = WrOpcode::atomic_fetch_and_add,
                    .remote = {theirs_.address, theirs_.rkey},
                    .atomic = {.compare_add = 3}});
        one(said, {.opcode = WrOpcode::send_with_imm, .imm_data = 5});
    }
    void check() {
        for (std::uint32_t i = 0; i < kLength; ++i)
            if (memory_[16'384 + i] != value(i)) wrong = "a READ brought other bytes";
        std::uint64_t count = 0;
        std::memcpy(&count, memory_.data() + 32'768, sizeof count);
        if (count != 3 * rounds) wrong = "an ATOMIC happened more or less than once";
        ++rounds;
        if (!ending_ && wrong.empty()) post();
    }
    Endpoint* endpoint_;
    Mr theirs_;
    std::vector<std::byte> memory_;
    Pd pd_{};
    Mr mr_{};
    Cq cq_{};
    Qpn qp_{};
    CmId id_{};
    std::uint64_t done_ = 0;
    bool ending_ = false;
};

// Has connections of its own, and asks through them for what is not its to have.
class Insider {
public:
    Insider(Endpoint& endpoint, const Mr& theirs, std::uint64_t seed)
        : endpoint_(&endpoint), theirs_(theirs), memory_(1 << 17), draws_(seed) {
        pd_ = *endpoint.adapter().alloc_pd();
        mr_ = *endpoint.adapter().reg_mr(pd_, memory_, kEveryAccess);
        cq_ = *endpoint.adapter().create_cq(1 << 12);
    }
    void connect(Instant now) {
        const Qpn qp = *endpoint_->adapter().create_qp({.pd = pd_, .send_cq = cq_, .recv_cq = cq_});
        if (!endpoint_->connections().connect(qp, {.address = kServer, .port = kPort}, {}, now))
            wrong = "no connecting";
    }
    void poll() {
        for (const ConnectionEvent& event : endpoint_->connections().take_events())
            if (event.kind == ConnectionEventKind::established) ask(event.local_qpn);
        std::array<Wc, 8> some{};
        while (const std::size_t count = endpoint_->adapter().poll_cq(cq_, some))
            for (const Wc& wc : std::span(some).first(count)) {
                ++(wc.status == WcStatus::success ? allowed : refused);
                if (wc.status == WcStatus::success && !right_[wc.wr_id]) wrong = "what lies outside was reached";
                if (wc.status == WcStatus::success) ask(wc.qp_num);
            }
    }
    std::uint64_t allowed = 0, refused = 0;
    std::string wrong;

private:
    void ask(Qpn qp) {
        constexpr std::array kOpcodes{WrOpcode::rdma_write, WrOpcode::rdma_read, WrOpcode::atomic_fetch_and_add,
                                      WrOpcode::rdma_write_with_imm};
        SendWr wr{.wr_id = right_.size(),
                  .opcode = kOpcodes[draws_.below(kOpcodes.size())],
                  .send_flags = {.signaled = true}};
        const bool eight = wr.opcode == WrOpcode::atomic_fetch_and_add;
        const std::uint32_t length =
            eight ? 8 : 1 + static_cast<std::uint32_t>(draws_.below(draws_.chance(0.5) ? 64 : 100'000));
        // Of the part that the client does not use, around its end and before the region, anywhere.
        const std::uint64_t end = theirs_.address + theirs_.length;
        const bool behave = draws_.chance(0.6);
        const std::uint64_t edge =
            draws_.chance(0.5) ? end - 8 * draws_.below(16) : theirs_.address - 8 * draws_.below(16) - 8;
        const std::uint64_t wild = draws_.chance(0.2) ? ~std::uint64_t{0} - draws_.below(length) : edge;
        const std::uint64_t address = behave ? (end - length % 50'000 - draws_.below(8) * 8) & ~std::uint64_t{7} : wild;
        const bool other = !behave && draws_.chance(0.3);
        const Rkey key = other ? Rkey{static_cast<std::uint32_t>(draws_.below(0x2000))} : theirs_.rkey;
        const bool inside = address >= theirs_.address + 8192 && address <= end && length <= end - address;
        right_.push_back(key == theirs_.rkey && inside);
        if (!right_.back() && key == theirs_.rkey && address >= theirs_.address && address < theirs_.address + 8192)
            return ask(qp);
        wr.remote = {address, key};
        const Sge piece{mr_.address, length, mr_.lkey};
        wr.sg_list = {&piece, 1};
        if (!endpoint_->adapter().post_send(qp, wr)) wrong = "work was not taken";
    }
    Endpoint* endpoint_;
    Mr theirs_;
    std::vector<std::byte> memory_;
    Draws draws_;
    Pd pd_{};
    Mr mr_{};
    Cq cq_{};
    std::vector<bool> right_;
};

struct Scene {
    explicit Scene(std::uint64_t seed)
        : draws(seed),
          endpoint_server(HubDevice(hub, 0x0200'0000'0001), settings_of(1, kServer), now),
          endpoint_client(HubDevice(hub, 0x0200'0000'0002), settings_of(2, kClient), now),
          endpoint_insider(HubDevice(hub, 0x0200'0000'0003), settings_of(3, kInsider), now),
          server(endpoint_server),
          client(endpoint_client, server.mr, now),
          insider(endpoint_insider, server.mr, seed + 1) {
        hub->watch = [this](std::size_t port, Bytes frame) {
            if (port == 0) leaked = leaked || leaks(frame);
            if (port <= 1 && frame.size() > 60) seen[port].emplace_back(frame.begin(), frame.end());
        };
    }
    void turn(dissect::Duration step = microseconds(2)) {
        endpoint_server.poll(now);
        server.poll(now);
        endpoint_client.poll(now);
        client.poll();
        endpoint_insider.poll(now);
        insider.poll();
        now = now + step;
        most_served = std::max(most_served, server.served());
        most_half_open = std::max(most_half_open, endpoint_server.manager().half_open());
        most_ids = std::max(most_ids, endpoint_server.manager().size());
        most_neighbours = std::max(most_neighbours, endpoint_server.host().neighbours().size());
        most_waiting = std::max(most_waiting, endpoint_server.waiting());
    }
    void put(WireBytes frame) {
        ++injected;
        hub->put(0, frame);
    }
    // An old frame of the client or the server.
    WireBytes old(std::size_t port) {
        const std::size_t least = std::min<std::size_t>(seen[port].size(), 64);
        return seen[port].size() <= least ? WireBytes(64) : seen[port][draws.below(seen[port].size() - least)];
    }

    Draws draws;
    Instant now{1'700'000'000'000'000'000};
    std::shared_ptr<Hub> hub = std::make_shared<Hub>();
    std::array<std::vector<WireBytes>, 2> seen{};
    bool leaked = false;
    std::uint64_t injected = 0;
    Endpoint endpoint_server, endpoint_client, endpoint_insider;
    Server server;
    Client client;
    Insider insider;
    std::size_t most_served = 0, most_half_open = 0, most_ids = 0, most_neighbours = 0, most_waiting = 0;
};

void from_stranger(WireBytes& frame, Draws& draws) {
    const std::uint64_t host = draws.chance(0.5) ? 0x03 + draws.below(2) * 60 : 4 + draws.below(250);
    qps::tests::put_number(frame, 6, 6, 0x0200'0000'0000ULL + host);
    qps::tests::put_number(frame, qps::tests::kIpAt + 12, 4, 0xc0000200 + host);
}

bool of_management(const WireBytes& frame) { return qps::tests::number_at(frame, qps::tests::kBthAt + 5, 3) == 1; }

// --- the attacks ---

void noise(Scene& scene) {
    WireBytes frame(scene.draws.below(300));
    for (std::byte& byte : frame) byte = static_cast<std::byte>(scene.draws.below(256));
    if (scene.draws.chance(0.7)) qps::tests::put_number(frame, 0, 6, 0x0200'0000'0001);
    scene.put(frame);
}
// Anything of the session, changed; what names the client as its source keeps clear of the PSN that comes next.
void mutated(Scene& scene) {
    WireBytes frame = scene.old(1);
    if (frame.size() < 90) return;
    const auto psn = qps::tests::number_at(frame, qps::tests::kBthAt + 9, 3);
    const bool stranger = of_management(frame) || scene.draws.chance(0.3);
    qps::tests::mutate(frame, scene.draws, scene.draws.chance(0.1) ? 0 : qps::tests::kBthAt);
    qps::tests::put_number(frame, qps::tests::kBthAt + 9, 3, psn);
    if (of_management(frame) || stranger) from_stranger(frame, scene.draws);
    if (scene.draws.chance(0.9)) qps::tests::seal(frame, scene.draws.chance(0.9));
    scene.put(frame);
}
void far_psn(Scene& scene) {
    WireBytes frame = scene.old(1);
    if (frame.size() < 60 || of_management(frame)) return;
    const std::uint64_t psn = qps::tests::number_at(scene.seen[1].back(), qps::tests::kBthAt + 9, 3);
    const std::uint64_t away =
        scene.draws.chance(0.5) ? 5000 + scene.draws.below(1 << 22) : (1 << 24) - 5000 - scene.draws.below(1 << 22);
    qps::tests::put_number(frame, qps::tests::kBthAt + 9, 3, (psn + away) & 0xff'ffff);
    qps::tests::seal(frame);
    scene.put(frame);
}
void congestion(Scene& scene) {
    WireBytes frame = scene.old(1);
    if (frame.size() < 60 || of_management(frame)) return;
    frame.resize(qps::tests::kBthAt + 32);
    std::fill(frame.begin() + qps::tests::kBthAt + 12, frame.end(), std::byte{0});
    frame[qps::tests::kBthAt] = std::byte{0x81};
    frame[qps::tests::kBthAt + 1] = std::byte{0};
    if (scene.draws.chance(0.3)) from_stranger(frame, scene.draws);
    qps::tests::seal(frame);
    scene.put(frame);
}
void replayed(Scene& scene) {
    scene.put(scene.old(1));
    scene.hub->put(1, scene.old(0));
}
// A connection request of somebody who does not exist.
void request(Scene& scene) {
    const auto req = std::ranges::find_if(scene.seen[1], [](const WireBytes& frame) {
        return of_management(frame) && qps::tests::number_at(frame, qps::tests::kMadAt + 16, 2) == 0x10;
    });
    if (req == scene.seen[1].end()) return;
    WireBytes frame = *req;
    from_stranger(frame, scene.draws);
    const auto source = qps::tests::number_at(frame, qps::tests::kIpAt + 12, 4);
    for (const std::size_t at : {qps::tests::kMadAt + 8, qps::tests::kCmAt, qps::tests::kCmAt + 20})
        qps::tests::put_number(frame, at, 4, scene.draws.below(1ULL << 32));
    qps::tests::put_number(frame, qps::tests::kCmAt + 32, 3, 2 + scene.draws.below(0xfffff0));
    qps::tests::put_number(frame, qps::tests::kCmAt + 68, 4, source);
    if (scene.draws.chance(0.1))
        qps::tests::put_number(frame, qps::tests::kMadAt + 16, 2, 0x10 + scene.draws.below(12));  // DREQ, ...
    if (scene.draws.chance(0.1)) qps::tests::mutate(frame, scene.draws, qps::tests::kCmAt);
    qps::tests::seal(frame);
    scene.put(frame);
}
void neighbours(Scene& scene) {
    const Mac mac{0x0200'0000'1000 + scene.draws.below(0xffff)};
    const auto host = static_cast<std::uint32_t>(4 + scene.draws.below(4000));
    if (scene.draws.chance(0.5)) {
        const ArpMessage said{scene.draws.chance(0.5) ? ArpOperation::request : ArpOperation::reply, mac,
                              ipv4_address(0xc0000200 + host), Mac{}, kServer};
        const auto frame = arp_frame({mac, Mac{0x0200'0000'0001}}, said);
        return scene.put({frame.begin(), frame.end()});
    }
    const Address source = link_local_of(mac);
    const Address target = link_local_of(Mac{0x0200'0000'0001});
    const NeighbourMessage said{.target = target, .mac = mac};
    const auto frame = neighbour_frame({mac, Mac{0x0200'0000'0001}},
                                       {source, scene.draws.chance(0.5) ? target : solicited_node(target)}, said);
    scene.put({frame.begin(), frame.end()});
}
// Lengths that lie, fragments, frames that are too long or too short.
void shapes(Scene& scene) {
    WireBytes frame = scene.old(1);
    if (frame.size() < 60 || of_management(frame)) return;
    switch (scene.draws.below(5)) {
        case 0: frame.resize(scene.draws.below(frame.size())); break;
        case 1: frame.resize(9000 + scene.draws.below(3000), std::byte{0x44}); break;
        case 2: qps::tests::put_number(frame, qps::tests::kUdpAt + 4, 2, scene.draws.below(0x10000)); break;
        case 3: qps::tests::put_number(frame, qps::tests::kIpAt + 6, 2, 0x2000 | scene.draws.below(100)); break;
        default: qps::tests::put_number(frame, qps::tests::kIpAt + 2, 2, scene.draws.below(0x10000));
    }
    qps::tests::seal(frame, false);
    scene.put(frame);
}

constexpr std::array kAttacks{noise, mutated, mutated, far_psn, congestion, replayed, request, neighbours, shapes};

void check_counts(Endpoint& endpoint, std::uint64_t arrived) {
    const auto sum = [](const auto& counts) { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); };
    const HostCounts& host = endpoint.host().counts();
    const EndpointCounts& counts = endpoint.counts();
    const AdapterCounts& adapter = endpoint.adapter().counts();
    const DeviceCounts device = endpoint.device().counts();
    if (arrived != 0) CHECK(device.received + device.dropped >= arrived);
    CHECK(device.received == sum(host.frames));
    CHECK(host.frames[std::to_underlying(FrameDisposition::roce)] ==
          counts.packets_received + counts.wrong_icrc + counts.malformed);
    CHECK(adapter.arrivals == counts.packets_received);
    CHECK(adapter.arrivals + adapter.copies == adapter.accepted + sum(adapter.refused));
}

std::size_t resident_pages() {
    std::size_t size = 0, resident = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%zu %zu", &size, &resident) != 2) resident = 0;
        std::fclose(file);
    }
    return resident;
}

void finish(Scene& scene) {
    CHECK(scene.client.wrong == "");
    CHECK(scene.insider.wrong == "");
    CHECK_FALSE(scene.leaked);
    CHECK(scene.server.secrets_kept());
    CHECK(scene.most_served <= kMostServed);
    CHECK(scene.most_half_open <= kMaxHalfOpen);
    CHECK(scene.most_ids <= kMaxCmIds);
    CHECK(scene.most_neighbours <= kMaxNeighbours);
    CHECK(scene.most_waiting <= kMaxWaiting);
    check_counts(scene.endpoint_server, scene.injected);
    check_counts(scene.endpoint_client, 0);
}

}  // namespace

TEST_CASE("endpoint hostile: an honest client goes on under every attack at once", "[endpoint]") {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        INFO("seed " << seed);
        Scene scene(seed);
        for (int insiders = 0; insiders < 9; ++insiders) scene.insider.connect(scene.now);
        while (scene.client.rounds < 20 && scene.client.wrong.empty()) scene.turn();
        const std::size_t before = resident_pages();
        for (int turn = 0; turn < 2500 && scene.client.wrong.empty(); ++turn) {
            for (std::uint64_t left = scene.draws.below(12); left > 0; --left)
                kAttacks[scene.draws.below(kAttacks.size())](scene);
            scene.turn();
        }
        const std::uint64_t under_attack = scene.client.rounds;
        for (int turn = 0; turn < 300; ++turn) scene.turn();
        CHECK(under_attack > 40);
        CHECK(scene.client.rounds > under_attack);
        CHECK(scene.insider.refused > 3);
        CHECK(scene.insider.allowed > 3);
        // A sanitizer keeps what was freed.
        CHECK(
            (qps::tests::kSanitized || (resident_pages() - std::min(before, resident_pages())) * 4096 < (128U << 20)));
        finish(scene);
    }
}

TEST_CASE("endpoint hostile: a whole session again, while it lasts and when it is over", "[endpoint]") {
    Scene scene(50);
    while (scene.client.rounds < 30 && scene.client.wrong.empty()) scene.turn();
    const auto session = scene.seen[1];
    CHECK(session.size() > 200);
    const auto again = [&](std::size_t most) {
        for (std::size_t i = 0; i < std::min(most, session.size()); ++i) {
            scene.put(session[i]);
            if (i % 16 == 0) scene.turn();
        }
        for (int turn = 0; turn < 50; ++turn) scene.turn();
    };
    again(session.size() - std::min<std::size_t>(session.size(), 64));
    CHECK(scene.client.wrong == "");
    scene.client.end(scene.now);
    for (int turn = 0; turn < 100; ++turn) scene.turn();
    again(session.size());
    for (int turn = 0; turn < 400; ++turn) scene.turn(microseconds(100'000));
    CHECK(scene.client.released);
    const std::vector<std::byte> shown(scene.server.shown().begin(), scene.server.shown().end());
    again(session.size());  // its queue pair is gone
    CHECK(std::ranges::equal(shown, scene.server.shown()));
    for (int turn = 0; turn < 3000; ++turn) scene.turn(microseconds(100'000));
    CHECK(scene.server.served() == 0);
    finish(scene);
}

TEST_CASE("endpoint hostile: requests of many that do not exist, and nobody decides", "[endpoint]") {
    Scene scene(60);
    while (scene.client.rounds < 5 && scene.client.wrong.empty()) scene.turn();
    scene.server.lazy = true;
    for (int i = 0; i < 6000; ++i) {
        request(scene);
        if (i % 40 == 0) neighbours(scene);
        if (i % 8 == 0) scene.turn();
    }
    const std::uint64_t rounds = scene.client.rounds;
    for (int turn = 0; turn < 100; ++turn) scene.turn();
    CHECK(scene.client.rounds > rounds);
    CHECK(scene.most_half_open > kMaxHalfOpen / 2);
    for (int turn = 0; turn < 4000; ++turn) scene.turn(microseconds(200'000));
    CHECK(scene.endpoint_server.manager().half_open() == 0);
    CHECK(scene.endpoint_server.manager().size() == 1);  // the client's
    finish(scene);
}
