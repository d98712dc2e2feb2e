// Queue pairs that UCX sets up by datagrams: what an address says of them, and connections that are sure from their
// first packet.
#include <dissect/ulp/ucx.hpp>
#include <dissect/ulp/ucx_address.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/message_libraries.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

constexpr std::uint32_t kWireupDatagram =
    0x0b000000;  // an active message, to endpoint 0, that asks for an acknowledgment
constexpr std::uint16_t kRcVerbs = 0x8a27, kUdVerbs = 0xd131;
constexpr std::uint8_t kLast = 0x80, kWithEndpoints = 0x40;

// Of a device with GID fd00::12: its transports follow.
WireBytes address_of_worker() {
    WireBytes wire = little();
    wire.put(std::uint8_t{0x20})
        .put(std::uint64_t{0x8f0b'60c3'5a84'e5a3})
        .put(std::uint8_t{0x21})
        .put(std::uint8_t{kLast | 17});
    wire.put(std::uint8_t{0x58}).put(std::uint8_t{0xfd}).zeros(14).put(std::uint8_t{0x12});
    return wire;
}
struct QueuePairOfLane {
    std::uint8_t lane = 0;
    std::uint32_t qpn = 0;
};
void add_transport(WireBytes& wire, std::uint16_t name, bool last, const std::vector<QueuePairOfLane>& lanes,
                   bool mlx5 = false) {
    wire.put(name).zeros(17).put(static_cast<std::uint8_t>((last ? kLast : 0) | (lanes.empty() ? 3 : kWithEndpoints)));
    if (lanes.empty()) wire.zeros(3);
    for (const QueuePairOfLane& one : lanes) {
        wire.put(std::uint8_t{4});
        if (!mlx5) wire.put(std::uint8_t{0});
        wire.put(static_cast<std::uint16_t>(one.qpn)).put(static_cast<std::uint8_t>(one.qpn >> 16U));
        if (mlx5) wire.put(std::uint8_t{9});
        wire.put(static_cast<std::uint8_t>(one.lane | (&one == &lanes.back() ? kLast : 0)));
    }
}
Octets datagram(std::uint8_t type, const Octets& address, std::size_t maps = 0) {
    WireBytes wire = little();
    wire.add(ucx_datagram_head(kWireupDatagram, 3, 1))
        .put(type)
        .zeros(3)
        .put(kUcxNear)
        .put(type == 1 ? std::uint64_t{0} : kUcxFar);
    return wire.zeros(maps).add(address).bytes;
}
// As soft-RoCE sends it: one queue pair, and datagrams beside.
Octets usual_address() {
    WireBytes wire = address_of_worker();
    add_transport(wire, kRcVerbs, false, {{0, 25}});
    add_transport(wire, kUdVerbs, true, {});
    return wire.bytes;
}

using Change = std::function<bool(Observation&, Octets&)>;  // false: it is left out
Timeline analysed(const char* sample, const Change& change) {
    Analysis analysis;
    Observation observation;
    for_each_packet((kSampleFolder / sample / "capture.pcapng").string(), [&](const Packet& packet) {
        observe(packet, observation);
        Octets payload(observation.payload.begin(), observation.payload.end());
        if (!change(observation, payload)) return;
        observation.payload = payload;
        analysis.observe(observation);
    });
    return analysis.finish();
}
const Connection& reliable(const Timeline& timeline) {
    const auto found = std::ranges::find_if(timeline.connections, &Connection::reliable);
    REQUIRE(found != timeline.connections.end());
    REQUIRE(std::ranges::count_if(timeline.connections, &Connection::reliable) == 1);
    return *found;
}

}  // namespace

TEST_CASE("UCX: connections are known from the wire-up on") {
    for (const char* sample : {"ucx_tag", "ucx_put"}) {
        INFO(sample);
        bool first = true;
        const auto whole = [](Observation&, Octets&) { return true; };
        // Nothing of the connection but its first packet.
        const auto first_alone = [&](Observation& packet, Octets&) {
            return packet.kind != ObservationKind::transport || packet.datagram || std::exchange(first, false);
        };
        for (const Change& change : {Change(whole), Change(first_alone)}) {
            const Timeline timeline = analysed(sample, change);
            const Connection& connection = reliable(timeline);
            CHECK(connection.joined_by == JoinedBy::exchange);
            CHECK(connection.confidence == Confidence::certain);
            CHECK((connection.ends[0].qpn && connection.ends[1].qpn));
        }
    }
}

TEST_CASE("UCX: a wire-up that is not whole, or is another one's, makes no connection sure") {
    const auto said = [](const Change& change) { return reliable(analysed("ucx_tag", change)).joined_by; };
    const auto without = [&](std::uint64_t frame) {
        return said([=](Observation& packet, Octets&) { return packet.frame != FrameIndex{frame}; });
    };
    const auto changed = [&](std::uint64_t frame, std::size_t byte) {
        return said([=](Observation& packet, Octets& payload) {
            if (packet.frame == FrameIndex{frame}) payload.at(byte) ^= std::byte{1};
            return true;
        });
    };
    constexpr std::uint64_t kRequest = 26, kReply = 37, kAck = 39;
    CHECK(without(2) == JoinedBy::exchange);
    for (const std::uint64_t frame : {kRequest, kReply, kAck}) CHECK(without(frame) == JoinedBy::traffic);
    constexpr std::size_t kNeth = 8, kSource = kNeth + 4, kDestination = kNeth + 12, kGid = kNeth + 20 + 12,
                          kQpn = kNeth + 20 + 50;
    CHECK(changed(kRequest, kNeth + 20 + 2) == JoinedBy::exchange);  // another worker
    CHECK(changed(kRequest, kSource) == JoinedBy::traffic);
    CHECK(changed(kRequest, kGid) == JoinedBy::traffic);
    CHECK(changed(kReply, kSource) == JoinedBy::traffic);
    CHECK(changed(kReply, kDestination) == JoinedBy::traffic);
    CHECK(changed(kReply, kGid) == JoinedBy::traffic);
    CHECK(changed(kReply, kQpn) == JoinedBy::traffic);  // the ACK goes to another queue pair
    CHECK(changed(kAck, 1) == JoinedBy::traffic);       // no acknowledgment
    CHECK(changed(kAck, 1 + 4) == JoinedBy::traffic);
    CHECK(changed(kAck, 1 + 12) == JoinedBy::traffic);
}

TEST_CASE("UCX: addresses name the queue pairs of their lanes") {
    for (const std::size_t maps : {std::size_t{0}, std::size_t{16}}) {
        const auto request = ucx::read_wireup(datagram(1, usual_address(), maps));
        REQUIRE(request);
        CHECK_FALSE(request->reply);
        CHECK(request->source == kUcxNear);
        CHECK(request->destination == 0);
        REQUIRE(request->count == 1);
        CHECK(request->lanes[0].lane == 0);
        CHECK(request->lanes[0].qpn == Qpn{25});
        CHECK(request->lanes[0].gid == std::array<std::uint64_t, 2>{0xfd00'0000'0000'0000, 0x12});
    }
    CHECK(ucx::read_wireup(datagram(2, usual_address()))->destination == kUcxFar);
    WireBytes several = address_of_worker();
    add_transport(several, kRcVerbs, true, {{0, 25}, {2, 0x12345}, {5, 27}});
    const auto lanes = ucx::read_wireup(datagram(2, several.bytes));
    REQUIRE((lanes && lanes->count == 3));
    CHECK(lanes->lanes[1].lane == 2);
    CHECK(lanes->lanes[1].qpn == Qpn{0x12345});
    // mlx5 has its queue pair first; CRC-16 (X.25) of its name.
    WireBytes mlx5 = address_of_worker();
    add_transport(mlx5, 0xd47a, true, {{1, 0xabcdef}}, true);
    const auto other = ucx::read_wireup(datagram(1, mlx5.bytes));
    REQUIRE((other && other->count == 1));
    CHECK(other->lanes[0].qpn == Qpn{0xabcdef});
}

TEST_CASE("UCX: an address is written with other GIDs, and nothing else but lists and queue pairs") {
    constexpr std::size_t kNeth = 8, kHeader = 20;
    const Octets whole = datagram(1, usual_address());
    Octets out(whole.begin(), whole.end());
    const auto other = [](const std::array<std::uint64_t, 2>& gid) {
        return std::array<std::uint64_t, 2>{gid[0] + 1, gid[1] + 2};
    };
    ucx::rewrite_wireup(Bytes(whole).subspan(kNeth), other, MutableBytes(out).subspan(kNeth));
    const auto read = ucx::read_wireup(out);
    REQUIRE((read && read->count == 1));
    CHECK(read->source == kUcxNear);
    CHECK(read->lanes[0].qpn == Qpn{25});
    CHECK(read->lanes[0].gid == std::array<std::uint64_t, 2>{0xfd00'0000'0000'0001, 0x14});
    WireBytes expected = little();
    expected.put(std::uint8_t{0x20})
        .put(std::uint64_t{1})
        .put(std::uint8_t{0x21})
        .put(std::uint8_t{kLast | 17})
        .put(std::uint8_t{0x58});
    expected.put(std::uint8_t{0xfd}).zeros(6).put(std::uint8_t{1}).zeros(7).put(std::uint8_t{0x14});
    expected.put(kRcVerbs)
        .zeros(17)
        .put(kWithEndpoints)
        .put(std::uint8_t{4})
        .zeros(1)
        .put(std::uint16_t{25})
        .zeros(1)
        .put(kLast);
    expected.put(kUdVerbs).zeros(17).put(std::uint8_t{kLast | 3}).zeros(3);
    CHECK(Octets(out.begin() + kNeth + kHeader, out.end()) == expected.bytes);
    const Octets ack = datagram(3, usual_address());
    Octets same = ack;
    ucx::rewrite_wireup(Bytes(ack).subspan(kNeth), other, MutableBytes(same).subspan(kNeth));
    CHECK(same == ack);
}

TEST_CASE("UCX: what is nearly an address names nothing") {
    const Octets whole = datagram(1, usual_address());
    for (std::size_t size = 0; size < whole.size(); ++size) CHECK_FALSE(ucx::read_wireup(Bytes(whole).first(size)));
    const auto with = [&](std::size_t byte, std::uint8_t value) {
        Octets bytes = whole;
        bytes.at(byte) = std::byte{value};
        return ucx::read_wireup(bytes);
    };
    constexpr std::size_t kAddress = 28, kTransport = kAddress + 28;
    CHECK_FALSE(with(3, 0x13));              // another active message
    CHECK_FALSE(with(3, 0x0a));              // none
    CHECK_FALSE(with(8, 3));                 // an acknowledgment
    CHECK_FALSE(with(kAddress, 0x21));       // version 2
    CHECK_FALSE(with(kAddress, 0x00));       // no worker
    CHECK_FALSE(with(kTransport, 0x28));     // another transport
    CHECK_FALSE(with(kAddress + 10, 0x80));  // a device without GID
    CHECK_FALSE(with(kAddress + 50, 1));     // the queue pair of management
    Octets longer = whole;
    longer.push_back(std::byte{0});
    CHECK_FALSE(ucx::read_wireup(longer));
    WireBytes many = address_of_worker();
    add_transport(many, kRcVerbs, true, std::vector<QueuePairOfLane>(40, {3, 25}));
    CHECK(ucx::read_wireup(datagram(1, many.bytes))->count == ucx::kMostLanes);
    std::mt19937 draw(5);
    for (int i = 0; i < 20'000; ++i) {
        Octets bytes = whole;
        for (int k = 0; k < 3; ++k) bytes[8 + draw() % (bytes.size() - 8)] = static_cast<std::byte>(draw());
        if (const auto read = ucx::read_wireup(bytes)) CHECK(read->count <= ucx::kMostLanes);
    }
}
