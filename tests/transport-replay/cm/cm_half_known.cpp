// Attempts of which the REP was not captured: whose flow it is, and whose it is not.
#include <dissect/packet/build.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/durations.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>

#include <string_view>
#include <utility>
#include <vector>

using namespace qps::dissect;
using namespace qps::transport;
using qps::tests::kMillisecond;

namespace {

constexpr std::uint64_t kHalfActive = 0xc0000201, kHalfPassive = 0xc0000202;  // 192.0.2.1 and .2
using HalfSetting = std::pair<std::string_view, std::uint64_t>;

// REQ and RTU without the REP, then answers of the active side with that PSN to that queue pair.
Timeline without_rep(std::uint64_t psn, bool before = false) {
    Analysis analysis;
    std::uint64_t frame = 0;
    const auto put = [&](PacketSpec spec) {
        set(spec, "ip.src", kHalfActive);
        set(spec, "ip.dst", kHalfPassive);
        const std::vector<std::byte> bytes = build(spec);
        Frame one = frame_of(spec, bytes);
        one.index = FrameIndex{++frame};
        one.time = Instant{static_cast<std::int64_t>(frame) * kMillisecond};
        Packet packet;
        decode(one, packet);
        Observation observation;
        observe(packet, observation);
        static_cast<void>(analysis.observe(observation));
    };
    const auto message = [&](CmMessage which, std::initializer_list<HalfSetting> settings) {
        PacketSpec spec = mad_packet(ManagementClass::communication,
                                     *find_attribute(ManagementClass::communication,
                                                     static_cast<std::uint16_t>(0x10 + std::to_underlying(which))),
                                     Network::roce_v2_ipv4);
        set(spec, "infiniband.mad.method", 3);
        set(spec, "infiniband.mad.classversion", 2);
        for (const auto& [field, value] : settings) REQUIRE(set(spec, field, value));
        put(std::move(spec));
    };
    const auto packet = [&](std::uint8_t opcode, std::uint64_t at) {
        PacketSpec spec = transport_packet(Opcode{opcode}, Network::roce_v2_ipv4);
        set(spec, "infiniband.bth.destqp", 0x22);
        set(spec, "infiniband.bth.psn", at);
        put(std::move(spec));
    };
    if (before) packet(0x04, 5000);
    message(
        CmMessage::req,
        {{"infiniband.cm.req", 0xa1}, {"infiniband.cm.req.localqpn", 0x21}, {"infiniband.cm.req.startpsn", 0xfffffe}});
    message(CmMessage::rtu, {{"infiniband.cm.rtu.localcommid", 0xa1}, {"infiniband.cm.rtu.remotecommid", 0xb2}});
    packet(0x04, 5001);
    packet(0x11, psn);
    return analysis.finish();
}

}  // namespace

TEST_CASE("REQ and RTU without the REP: the PSNs that the active side answers name the queue pair") {
    const Timeline timeline = without_rep(1);  // numbers wrap
    REQUIRE(timeline.cm.attempts.size() == 1);
    CHECK(timeline.cm.attempts[0].passive.qpn == Qpn{0x22});
    REQUIRE(timeline.connections.size() == 1);
    const Connection& connection = timeline.connections[0];
    CHECK(connection.cm_attempt == 0U);
    CHECK(connection.ends[0].qpn == Qpn{0x21});
    CHECK(connection.ends[1].qpn == Qpn{0x22});
    CHECK(connection.joined_by == JoinedBy::connection_manager);
    CHECK(connection.confidence == Confidence::strong);
}

TEST_CASE("a flow with other PSNs, or older than the attempt, is not that of the REQ") {
    for (const Timeline& timeline : {without_rep(0x4000), without_rep(0xfffffd), without_rep(1, true)}) {
        REQUIRE(timeline.cm.attempts.size() == 1);
        CHECK_FALSE(timeline.cm.attempts[0].passive.qpn);
        REQUIRE(timeline.connections.size() == 1);
        CHECK_FALSE(timeline.connections[0].cm_attempt);
        CHECK_FALSE(timeline.connections[0].ends[0].qpn);
    }
}
