// Virtual networks that use the same addresses and queue pair numbers: what each says is what it says alone. And what
// looks like two networks and is one: other tags each way, tags that a tap takes off, one flow over several links, both
// sides of a router.
#include <tests/simulator/simulation.hpp>
#include <tests/support/recordings.hpp>

#include <algorithm>
#include <functional>
#include <utility>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

void put16(std::vector<std::byte>& bytes, unsigned value) {
    bytes.push_back(std::byte(value >> 8));
    bytes.push_back(std::byte(value & 0xff));
}

void tag(Recording& one, unsigned vlan) {
    std::vector<std::byte> added;
    put16(added, 0x8100);
    put16(added, vlan);
    one.bytes.insert(one.bytes.begin() + kEtherType, added.begin(), added.end());
    one.wire_length += 4;
}

// Ethernet, IPv4, UDP and VXLAN in front of it (RFC 7348).
void tunnel(Recording& one, unsigned vni) {
    const auto length = static_cast<unsigned>(one.bytes.size());
    std::vector<std::byte> outer(12, std::byte{2});
    put16(outer, 0x0800);
    for (const unsigned word : {0x4500U, 36 + length, 0U, 0U, 0x4011U, 0U, 0xac10U, 1U, 0xac10U, 2U, 50'000U, 4789U,
                                16 + length, 0U, 0x0800U, 0U})
        put16(outer, word);
    put16(outer, vni >> 8);
    put16(outer, (vni & 0xff) << 8);
    one.bytes.insert(one.bytes.begin(), outer.begin(), outer.end());
    one.wire_length += static_cast<std::uint32_t>(outer.size());
}

Recordings played(std::uint64_t seed, std::uint32_t first_psn, Duration later = {}) {
    Scenario scenario;
    scenario.seed = seed;
    scenario.first_psn_a = Psn(first_psn);
    scenario.first_psn_b = Psn(first_psn);
    for (int i = 0; i < 40; ++i) {
        const WorkKind kind = i % 4 == 0 ? WorkKind::read : i % 4 == 1 ? WorkKind::write : WorkKind::send;
        scenario.messages.push_back({.kind = kind, .bytes = 5000, .from = i % 3 == 0 ? End::b : End::a});
    }
    scenario.between_posts = microseconds(60);
    scenario.link.a_to_b.loss = scenario.link.b_to_a.loss = 0.02;
    const Simulated simulated = simulate(scenario);
    Recordings all;
    for (const CapturedFrame& frame : simulated.frames)
        all.push_back({{frame.bytes.begin(), frame.bytes.end()}, frame.wire_length, frame.time + later});
    REQUIRE(all.size() > 100);
    return all;
}

bool is_from_a(const Recording& one) { return one.bytes[kIp + 15] == std::byte{1}; }  // 192.0.2.1

// A network for each way.
Recordings in(const std::function<void(Recording&, unsigned)>& put, Recordings all, unsigned there, unsigned back) {
    return each(std::move(all), [&](Recording& one) { put(one, is_from_a(one) ? there : back); });
}

void check_same(const Connection& connection, const Connection& alone) {
    for (const End end : {End::a, End::b}) {
        // Who was seen first is end a; that is the same host in both.
        REQUIRE(connection.end(end).address == alone.end(end).address);
        const Way &way = connection.way(end), &own = alone.way(end);
        CHECK(way.packets == own.packets);
        CHECK(way.requests == own.requests);
        CHECK(way.acks == own.acks);
        CHECK(way.completed == own.completed);
        CHECK(way.incidents->retransmitted == own.incidents->retransmitted);
        CHECK(way.incidents->sequence_naks == own.incidents->sequence_naks);
        CHECK(way.incidents->unmatched == own.incidents->unmatched);
        CHECK(way.incidents->gaps == own.incidents->gaps);
        CHECK(way.incidents->response_gaps == own.incidents->response_gaps);
    }
}

std::vector<std::pair<std::string, std::uint64_t>> told(const Timeline& timeline,
                                                        std::optional<ConnectionId> connection) {
    std::vector<std::pair<std::string, std::uint64_t>> found;
    for (const Finding& finding : timeline.findings)
        if (finding.connection && (!connection || finding.connection == connection))
            found.emplace_back(finding.id, finding.count);
    std::ranges::sort(found);
    return found;
}

// Two tenants, each as it is alone.
void check_apart(const Recordings& one, const Recordings& two, const Recordings& both) {
    const Timeline first = analyse_twice(one), second = analyse_twice(two), timeline = analyse_twice(both);
    REQUIRE(first.connections.size() == 1);
    REQUIRE(second.connections.size() == 1);
    REQUIRE(timeline.connections.size() == 2);
    const bool in_order = timeline.connections[0].first_time() == first.connections[0].first_time();
    check_same(timeline.connections[in_order ? 0 : 1], first.connections[0]);
    check_same(timeline.connections[in_order ? 1 : 0], second.connections[0]);
    CHECK(told(timeline, timeline.connections[in_order ? 0 : 1].uid) == told(first, {}));
    CHECK(told(timeline, timeline.connections[in_order ? 1 : 0].uid) == told(second, {}));
}

// One connection, whatever is in front of its packets.
void check_one(const Recordings& plain, const Recordings& derived) {
    const Timeline alone = analyse_twice(plain), timeline = analyse_twice(derived);
    REQUIRE(timeline.connections.size() == 1);
    check_same(timeline.connections[0], alone.connections[0]);
    CHECK(told(timeline, {}) == told(alone, {}));
}

}  // namespace

TEST_CASE("tenants with the same addresses and queue pair numbers are told apart by their VNI or VLAN") {
    for (const auto& put : {tunnel, tag})
        for (const std::uint32_t psn : {900U, 9'000'000U})
            for (const std::int64_t later : {0, 37, 700}) {
                INFO("first PSN " << psn << ", " << later << " us later");
                const Recordings one = played(1, 512), two = played(2, psn, microseconds(later));
                check_apart(one, two, merged(in(put, one, 100, 100), in(put, two, 200, 200)));
            }
}

// The second begins so near that one reading alone takes it for more of the first.
TEST_CASE("tenants whose PSNs are near are told apart by a second reading") {
    for (const auto& put : {tunnel, tag})
        for (const std::uint32_t ahead : {1U, 5U, 15U, 40U})
            for (const std::int64_t later : {0, 37, 700}) {
                INFO(ahead << " PSNs ahead, " << later << " us later");
                const Recordings one = played(1, 512), two = played(2, 512 + ahead, microseconds(later));
                check_apart(one, two, merged(in(put, one, 100, 100), in(put, two, 200, 200)));
                check_apart(one, two, merged(one, in(put, two, 200, 200)));
                check_apart(one, two, merged(in(put, one, 100, 101), in(put, two, 200, 201)));
            }
}

namespace {

// One SEND after the other, each with its ACK, of senders that do not count datagrams: ACKs of two tenants with the
// same PSNs have the same bytes.
Recordings sends(std::uint64_t seed, std::uint32_t first_psn, std::size_t count, Duration later) {
    Scenario scenario;
    scenario.seed = seed;
    scenario.first_psn_a = scenario.first_psn_b = Psn(first_psn);
    scenario.counts_identifications = false;
    scenario.messages.assign(count, {.kind = WorkKind::send, .bytes = 200 + static_cast<std::uint32_t>(seed)});
    scenario.between_posts = microseconds(60);
    const Simulated simulated = simulate(scenario);
    Recordings all;
    for (const CapturedFrame& frame : simulated.frames)
        all.push_back({{frame.bytes.begin(), frame.bytes.end()}, frame.wire_length, frame.time + later});
    return all;
}

}  // namespace

TEST_CASE("tenants whose acknowledgments have the same bytes keep their own") {
    for (const auto& put : {tunnel, tag})
        for (const std::size_t count : {6UZ, 60UZ})
            for (const std::int64_t later : {7, 333, 20'000}) {
                INFO(count << " messages, " << later << " us later");
                const Recordings one = sends(1, 512, count, {}), two = sends(2, 512, count, microseconds(later));
                check_apart(one, two, merged(in(put, one, 100, 100), in(put, two, 200, 200)));
            }
}

// A packet of the second that has the bytes of the first one's ties the two, until others follow.
TEST_CASE("tenants that begin with the same bytes are two as soon as others follow") {
    for (const auto& put : {tunnel, tag})
        for (const std::int64_t later : {37, 700}) {
            INFO(later << " us later");
            const Recordings one = played(1, 512), two = played(2, 900, microseconds(later));
            const Timeline first = analyse_twice(one), second = analyse_twice(two);
            Recordings begun = two;
            begun.insert(begun.begin(), one.front());
            begun.front().time = two.front().time + Duration{-1000};
            const Timeline timeline = analyse_twice(merged(in(put, one, 100, 100), in(put, begun, 200, 200)));
            REQUIRE(timeline.connections.size() == 2);
            check_same(timeline.connections[1], second.connections[0]);
            for (const End end : {End::a, End::b}) {
                const Way &way = timeline.connections[0].way(end), &own = first.connections[0].way(end);
                CHECK(way.packets <= own.packets + 1);
                // What came too late for a copy was taken for a retransmission.
                CHECK(way.incidents->retransmitted <= own.incidents->retransmitted + (later > 100 ? 1 : 0));
                CHECK(way.incidents->duplicated == own.incidents->duplicated);
                CHECK(way.incidents->sequence_naks == own.incidents->sequence_naks);
            }
        }
}

TEST_CASE("each way of a tenant may have a VNI of its own") {
    const Recordings one = played(3, 70'000), two = played(4, 4'000'000, microseconds(50));
    check_apart(one, two, merged(in(tunnel, one, 100, 101), in(tunnel, two, 200, 201)));
}

TEST_CASE("a VLAN or VNI for each way, or a tag on one of them only, is one connection") {
    for (std::uint64_t seed = 5; seed < 10; ++seed) {
        const Recordings plain = played(seed, 512);
        check_one(plain, in(tunnel, plain, 100, 100));
        check_one(plain, in(tunnel, plain, 100, 200));
        check_one(plain, in(tag, plain, 10, 20));
        check_one(plain, each(plain, [](Recording& one) {
                      if (is_from_a(one)) tag(one, 10);
                  }));
        check_one(plain, each(plain, [](Recording& one) {
                      if (!is_from_a(one)) tunnel(one, 100);
                  }));
    }
}

TEST_CASE("one flow over links with different VLANs is one connection") {
    for (std::uint64_t seed = 11; seed < 14; ++seed) {
        const Recordings plain = played(seed, 512);
        unsigned number = 0;
        check_one(plain, each(plain, [&](Recording& one) { tag(one, ++number < 300 ? 10 : 11); }));
        check_one(plain, each(plain, [&](Recording& one) { tag(one, 10 + ++number % 3); }));
        for (const unsigned burst : {8U, 64U, 200U})
            CHECK(analyse_once(each(plain, [&](Recording& one) {
                      tag(one, 10 + ++number / burst % 2);
                  })).learned.tenants.empty());
    }
}

// A router between two VLANs, of which a mirror sends both.
TEST_CASE("both sides of a router are one connection, recorded twice") {
    for (const auto& put : {tunnel, tag}) {
        const Recordings plain = played(15, 512);
        Recordings behind = by_clock(each(plain, lower_ttl), microseconds(3), 0);
        const Timeline timeline = analyse_twice(merged(in(put, plain, 10, 20), in(put, behind, 20, 10)));
        CHECK(timeline.connections.size() == 1);
        CHECK(timeline.totals.retransmitted_packets == analyse_twice(plain).totals.retransmitted_packets);
    }
}
