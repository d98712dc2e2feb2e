// Neighbours under a virtual clock: asking, answers, ageing, and what a flood of lies does to them.
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <transport-replay/live/host/neighbours.hpp>

using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::dissect;

namespace {

constexpr Address kPeer = ipv4_address(0xc0000202);
constexpr Mac kPeerMac{0x0200'0000'0002};
constexpr Mac kLiarMac{0x0266'6666'6666};
constexpr Duration kSecond = microseconds(1'000'000);

constexpr Mac peer_mac(std::uint64_t number) { return Mac{0x0200'0001'0000 + number}; }

struct Clock {
    Instant now{1'700'000'000'000'000'000};
    void pass(std::int64_t milliseconds) { now = now + microseconds(milliseconds * 1000); }
};

// A neighbour that is known and verified.
void resolve(Neighbours& neighbours, const Address& address, Mac mac, Instant now) {
    CHECK(neighbours.find(address, now).resolution != Resolution::unreachable);
    while (neighbours.due(now)) {
    }
    neighbours.answered(address, mac, now);
    REQUIRE(neighbours.find(address, now).mac == mac);
}

std::size_t questions_due(Neighbours& neighbours, Instant now) {
    std::size_t count = 0;
    while (neighbours.due(now)) ++count;
    return count;
}

}  // namespace

TEST_CASE("the grid of a neighbour's states and events") {
    qps::tests::check_golden("transport-replay/golden/neighbours.txt", grid(kNeighbourMachine));
}

TEST_CASE("an unknown neighbour is asked for, and known once it answers") {
    Clock clock;
    Neighbours neighbours;
    CHECK_FALSE(neighbours.due_at());
    CHECK(neighbours.find(kPeer, clock.now).resolution == Resolution::resolving);
    REQUIRE(neighbours.due_at());
    CHECK(*neighbours.due_at() <= clock.now);
    const auto question = neighbours.due(clock.now);
    REQUIRE(question);
    CHECK(question->target == kPeer);
    CHECK_FALSE(question->to);  // everybody is asked
    CHECK_FALSE(neighbours.due(clock.now));
    CHECK(neighbours.due_at() == clock.now + kAskAgain);
    neighbours.answered(kPeer, kPeerMac, clock.now);
    const Neighbour known = neighbours.find(kPeer, clock.now);
    CHECK(known.resolution == Resolution::resolved);
    CHECK(known.mac == kPeerMac);
    CHECK(neighbours.counts().asked == 1);
}

TEST_CASE("a neighbour that does not answer is asked three times, is unreachable for a while, and then asked anew") {
    Clock clock;
    Neighbours neighbours;
    CHECK(neighbours.find(kPeer, clock.now).resolution == Resolution::resolving);
    std::size_t asked = 0;
    for (int i = 0; i < 29; ++i) {
        asked += questions_due(neighbours, clock.now);
        CHECK(neighbours.find(kPeer, clock.now).resolution == Resolution::resolving);
        clock.pass(100);
    }
    CHECK(asked == kMaxQuestions);
    clock.pass(200);
    CHECK(questions_due(neighbours, clock.now) == 0);
    CHECK(neighbours.find(kPeer, clock.now).resolution == Resolution::unreachable);
    CHECK(neighbours.counts().unreachable == 1);
    clock.pass(2900);
    CHECK(questions_due(neighbours, clock.now) == 0);
    CHECK(neighbours.find(kPeer, clock.now).resolution == Resolution::unreachable);
    clock.pass(200);
    CHECK(questions_due(neighbours, clock.now) == 0);  // nobody wants it
    CHECK(neighbours.find(kPeer, clock.now).resolution == Resolution::resolving);
    CHECK(questions_due(neighbours, clock.now) == 1);
}

TEST_CASE("an old neighbour is verified by unicast while traffic goes on, and doubted where it is silent") {
    Clock clock;
    Neighbours neighbours;
    resolve(neighbours, kPeer, kPeerMac, clock.now);
    clock.pass(30'001);
    CHECK(questions_due(neighbours, clock.now) == 0);  // old, but nobody wants it
    CHECK(neighbours.state_of(kPeer) == NeighbourState::stale);
    CHECK(neighbours.find(kPeer, clock.now).resolution == Resolution::resolved);
    auto question = neighbours.due(clock.now);
    REQUIRE(question);
    CHECK(question->to == kPeerMac);
    SECTION("it answers") {
        neighbours.answered(kPeer, kPeerMac, clock.now);
        CHECK(neighbours.state_of(kPeer) == NeighbourState::reachable);
    }
    SECTION("it has moved: three questions to it alone, then everybody is asked, then the new one counts") {
        for (int i = 0; i < 3; ++i) {
            CHECK(neighbours.find(kPeer, clock.now).mac == kPeerMac);
            clock.pass(1001);
            question = neighbours.due(clock.now);
        }
        CHECK(neighbours.state_of(kPeer) == NeighbourState::doubted);
        clock.pass(1);
        if (!question) question = neighbours.due(clock.now);
        REQUIRE(question);
        CHECK_FALSE(question->to);
        neighbours.answered(kPeer, kLiarMac, clock.now);
        CHECK(neighbours.find(kPeer, clock.now).mac == kPeerMac);  // the old one may still answer
        clock.pass(1001);
        CHECK(questions_due(neighbours, clock.now) == 0);
        CHECK(neighbours.find(kPeer, clock.now).mac == kLiarMac);
    }
    SECTION("it is gone") {
        for (int i = 0; i < 80; ++i) {
            CHECK(questions_due(neighbours, clock.now) <= 1);
            clock.pass(100);
        }
        CHECK(neighbours.find(kPeer, clock.now).resolution == Resolution::unreachable);
    }
}

TEST_CASE("what is told unasked never replaces what is known: it is a reason to ask") {
    Clock clock;
    Neighbours neighbours;
    resolve(neighbours, kPeer, kPeerMac, clock.now);
    neighbours.announced(kPeer, kLiarMac, clock.now);
    CHECK(neighbours.state_of(kPeer) == NeighbourState::doubted);
    CHECK(neighbours.find(kPeer, clock.now).mac == kPeerMac);
    const auto question = neighbours.due(clock.now);
    REQUIRE(question);
    CHECK_FALSE(question->to);
    SECTION("the liar answers first: the old one still wins") {
        neighbours.answered(kPeer, kLiarMac, clock.now);
        CHECK(neighbours.find(kPeer, clock.now).mac == kPeerMac);
        neighbours.answered(kPeer, kPeerMac, clock.now);
        CHECK(neighbours.state_of(kPeer) == NeighbourState::reachable);
        CHECK(neighbours.find(kPeer, clock.now).mac == kPeerMac);
    }
    SECTION("an answer that nobody asked for is as if told") {
        neighbours.answered(kPeer, kPeerMac, clock.now);
        neighbours.answered(kPeer, kLiarMac, clock.now);
        CHECK(neighbours.find(kPeer, clock.now).mac == kPeerMac);
        CHECK(neighbours.counts().contradicted == 2);
    }
}

TEST_CASE("a flood of announcements and questions evicts no neighbour in use, and is bounded") {
    Clock clock;
    Neighbours neighbours;
    std::vector<Address> peers;
    for (std::uint32_t i = 0; i < 100; ++i) {
        peers.push_back(ipv4_address(0x0a010000 + i));
        resolve(neighbours, peers.back(), peer_mac(i), clock.now);
    }
    std::size_t asked = 0;
    for (std::uint32_t i = 0; i < 200'000; ++i) {
        const Address liar = ipv4_address(0x0a010000 + i % 70'000);
        neighbours.announced(liar, kLiarMac, clock.now);
        neighbours.asked_us(liar, kLiarMac, clock.now);
        neighbours.answered(liar, kLiarMac, clock.now);
        if (i % 1000 == 0) {
            for (std::uint32_t p = 0; p < peers.size(); ++p) {
                const Neighbour known = neighbours.find(peers[p], clock.now);
                REQUIRE(known.resolution == Resolution::resolved);
                REQUIRE(known.mac == peer_mac(p));
            }
            while (const auto question = neighbours.due(clock.now)) {  // they are there, and answer
                ++asked;
                neighbours.answered(question->target, peer_mac(ipv4_bits(question->target) % 0x10000), clock.now);
            }
            clock.pass(10);
        }
    }
    CHECK(neighbours.size() <= peers.size() + kMaxUnsolicited);
    CHECK(asked <= 100 * 200);  // no more than once a pass
    clock.pass(700'000);
    while (neighbours.due(clock.now)) {
    }
    clock.pass(700'000);
    while (neighbours.due(clock.now)) {
    }
    CHECK(neighbours.size() == 0);  // forgotten
    CHECK_FALSE(neighbours.due_at());
}

TEST_CASE("a full cache gives up who is unused, and refuses where all are in use") {
    Clock clock;
    Neighbours neighbours;
    for (std::uint32_t i = 0; i < kMaxNeighbours; ++i)
        resolve(neighbours, ipv4_address(0x0a000000 + i), kPeerMac, clock.now);
    CHECK(neighbours.find(kPeer, clock.now).resolution == Resolution::unreachable);
    CHECK(neighbours.counts().refused == 1);
    neighbours.asked_us(kPeer, kPeerMac, clock.now);
    CHECK(neighbours.state_of(kPeer) == NeighbourState::none);
    clock.pass(61'000);
    CHECK(neighbours.find(kPeer, clock.now).resolution == Resolution::resolving);
    CHECK(neighbours.size() == kMaxNeighbours);
    static_assert(kInUse > kSecond);
}
