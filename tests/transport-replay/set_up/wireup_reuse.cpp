// Wire-ups of UCX that look alike: workers whose endpoints have the same numbers, queue pairs that are used anew,
// wire-ups of both sides, late and doubled ones. Host 1 has queue pairs from 101 on, host 2 from 201 on.
#include <tests/support/catch.hpp>
#include <tests/support/message_libraries.hpp>
#include <tests/support/told_programs.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

constexpr std::uint8_t kWireupRequest = 1, kWireupReply = 2, kWireupAck = 3;

// A worker: its queue pairs of datagrams and of a connection, its endpoint.
struct Worker {
    std::uint32_t host = 1, datagrams = 0, qp = 0;
    std::uint64_t endpoint = 3;
};

struct Workers : Programs {
    std::uint64_t seconds = 0;

    static Octets said(std::uint8_t type, const Worker& from, std::uint64_t destination) {
        WireBytes wire = little();
        wire.add(ucx_datagram_head(0x0b000000, 3, 1)).put(type).zeros(3).put(from.endpoint).put(destination);
        wire.put(std::uint8_t{0x20})
            .put(std::uint64_t{9})
            .put(std::uint8_t{0})
            .put(std::uint8_t{0x80 | 17})
            .put(std::uint8_t{0x58});
        const auto [high, low] = AnalysedWire::host(from.host).bits;
        wire.add(WireBytes{}.put(high).put(low).bytes);
        wire.put(std::uint16_t{0x8a27}).zeros(17).put(std::uint8_t{0x80 | 0x40}).put(std::uint8_t{4}).zeros(1);
        wire.put(static_cast<std::uint16_t>(from.qp)).zeros(1).put(std::uint8_t{0x80});
        return wire.bytes;
    }
    void datagram(const Worker& from, const Worker& to, const Octets& payload) {
        Observation made;
        made.kind = ObservationKind::transport;
        made.encapsulation = Encapsulation::roce_v2;
        made.frame = FrameIndex{++wire.clock};
        made.time = Instant{static_cast<std::int64_t>(wire.clock * 1000 + seconds * 1'000'000'000)};
        made.datagram = true;
        made.flow = {AnalysedWire::host(from.host), AnalysedWire::host(to.host), Qpn{to.datagrams},
                     Qpn{from.datagrams}};
        made.flow_hash = FlowHash{}(made.flow);
        made.packet_hash = mix(wire.clock);
        made.opcode = Opcode{0x64};
        made.psn = Psn(static_cast<std::uint32_t>(wire.clock));
        made.payload = payload;
        made.payload_length = static_cast<std::uint32_t>(payload.size());
        wire.analysis.observe(made);
    }
    void request(const Worker& from, const Worker& to) { datagram(from, to, said(kWireupRequest, from, 0)); }
    void reply(const Worker& from, const Worker& to) { datagram(from, to, said(kWireupReply, from, to.endpoint)); }
    // The first request of a connection, some more, and their ACKs.
    void use(const Worker& from, const Worker& to, std::uint32_t psn = 0) {
        const Octets ack = ucx_active(1).add(ucx_wireup(kWireupAck, from.endpoint, to.endpoint)).bytes;
        wire.nanoseconds = (++wire.clock) * 1000 + seconds * 1'000'000'000;
        for (std::uint32_t i = 0; i < 4; ++i) {
            wire.payload = i == 0 ? Bytes(ack) : Bytes{};
            wire.payload_length = i == 0 ? static_cast<std::uint32_t>(ack.size()) : 0;
            wire.packet(from.host, to.host, to.qp, kRcSendOnly, psn + i);
            wire.packet(to.host, from.host, from.qp, kRcAcknowledge, psn + i);
        }
    }
    void set_up(const Worker& from, const Worker& to) {
        request(from, to);
        reply(to, from);
    }
};

constexpr Worker kA1{1, 24, 101}, kA2{1, 25, 102}, kB1{2, 34, 201}, kB2{2, 35, 202};

}  // namespace

TEST_CASE("UCX: workers whose endpoints have the same numbers are told by their queue pairs of datagrams") {
    Workers workers;
    workers.request(kA1, kB1);
    workers.request(kA2, kB2);
    workers.reply(kB1, kA1);
    workers.reply(kB2, kA2);
    workers.use(kA1, kB1);
    workers.use(kA2, kB2);
    CHECK(host_pairs(workers.finish()) ==
          HostPairNames{"101-201 exchange", "102-202 exchange", "24-34 datagram", "25-35 datagram"});
}

TEST_CASE("UCX: queue pairs that are used anew are another connection") {
    const auto reliable = [](const Timeline& timeline) {
        std::vector<const Connection*> found;
        for (const Connection& connection : timeline.connections)
            if (connection.reliable()) found.push_back(&connection);
        return found;
    };
    constexpr Worker kAgainA{1, 24, 101, 7}, kAgainB{2, 34, 201, 9};
    for (const bool captured : {true, false}) {
        INFO("second wire-up captured: " << captured);
        Workers workers;
        workers.set_up(kA1, kB1);
        workers.use(kA1, kB1);
        workers.seconds = 10;
        if (captured) workers.set_up(kAgainA, kAgainB);
        workers.use(kAgainA, kAgainB);
        const Timeline timeline = workers.finish();
        const auto found = reliable(timeline);
        REQUIRE(found.size() == 2);
        for (const Connection* one : found) {
            CHECK(one->ways[0].incidents->retransmitted + one->ways[1].incidents->retransmitted == 0);
            CHECK(one->packets() == 8);
        }
        CHECK(found[0]->confidence == Confidence::certain);
        CHECK((found[1]->confidence == Confidence::certain) == captured);
        for (const Finding& finding : timeline.findings) {
            INFO(finding.summary);
            if (finding.summary.find("P_Key") == std::string::npos)
                CHECK(finding.severity == Severity::note);  // packets made here have 0
        }
    }
    // Wire-ups and their acknowledgments that come again are no other ones.
    Workers again;
    again.set_up(kA1, kB1);
    again.use(kA1, kB1);
    again.set_up(kA1, kB1);
    again.use(kA1, kB1);
    const Timeline timeline = again.finish();
    REQUIRE(reliable(timeline).size() == 1);
    CHECK(reliable(timeline)[0]->ways[0].incidents->retransmitted == 4);
    CHECK(reliable(timeline)[0]->confidence == Confidence::certain);
}

TEST_CASE("UCX: PSNs that come to 0 again begin nothing, but what a wire-up says does") {
    for (const bool told : {false, true}) {
        Workers workers;
        workers.set_up(kA1, kB1);
        workers.use(kA1, kB1);
        workers.wire.payload = {};
        // A capture that lacks most of them.
        for (std::uint32_t psn = 4; psn < 0xffffff; psn += 0x40000) workers.wire.packet(1, 2, 201, kRcSendOnly, psn);
        constexpr Worker kAgainA{1, 24, 101, 7}, kAgainB{2, 34, 201, 9};
        if (told) workers.set_up(kAgainA, kAgainB);
        if (told) workers.use(kAgainA, kAgainB);
        else workers.wire.packet(1, 2, 201, kRcSendOnly, 0);
        const Timeline timeline = workers.finish();
        CHECK(std::ranges::count_if(timeline.connections, &Connection::reliable) == (told ? 2 : 1));
    }
}

TEST_CASE("UCX: where both sides ask and reply, either acknowledgment shows it") {
    for (const bool first : {true, false}) {
        Workers workers;
        workers.request(kA1, kB1);
        workers.request(kB1, kA1);
        workers.reply(kB1, kA1);
        workers.reply(kA1, kB1);
        first ? workers.use(kA1, kB1) : workers.use(kB1, kA1);
        const auto said = host_pairs(workers.finish());
        CHECK(std::ranges::find(said, "101-201 exchange") != said.end());
    }
}

TEST_CASE("UCX: a wire-up counts for ten minutes") {
    for (const std::uint64_t seconds : {599U, 601U}) {
        Workers workers;
        workers.set_up(kA1, kB1);
        workers.seconds = seconds;
        workers.use(kA1, kB1);
        const auto said = host_pairs(workers.finish());
        CHECK((std::ranges::find(said, "101-201 exchange") != said.end()) == (seconds < 600));
    }
}

TEST_CASE("UCX: wire-ups without end are forgotten, and cost no more than they may") {
    Workers workers;
    for (std::uint32_t i = 0; i < 30'000; ++i) workers.request({1, 24 + i % 5, 101, 1000 + i}, kB1);
    workers.set_up(kA1, kB1);
    workers.use(kA1, kB1);
    const auto said = host_pairs(workers.finish());
    CHECK(std::ranges::find(said, "101-201 exchange") != said.end());
}
