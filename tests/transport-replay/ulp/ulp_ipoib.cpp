// IPoIB followed: pings to their answers, the rest one way; datagrams of whole packets; what is no IPoIB.
#include <dissect/ulp/ipoib.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/delivered.hpp>
#include <tests/support/packets.hpp>
#include <tests/support/small_ulp.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/ulp/ipoib_machine.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

TEST_CASE("IPoIB: a ping ends with its answer, everything else is one way") {
    Delivered dialogue;
    dialogue.send(End::a, ipoib_arp(false));
    dialogue.send(End::b, ipoib_arp(true));
    dialogue.send(End::a, ipoib_ipv4(1, ping(false, 1)));
    dialogue.send(End::a, ipoib_ipv4(17, udp_datagram(7, 9, 11)));
    dialogue.send(End::b, ipoib_ipv4(1, ping(true, 1), true));
    dialogue.send(End::b, ipoib_ipv4(1, ping(true, 2), true));  // its request was before
    REQUIRE(dialogue.operations.size() == 4);
    CHECK(dialogue.operations[0].code == ipoib::kArpRequest);
    CHECK(ipoib::describe(dialogue.operations[0]) == "10.0.0.1 asks for 10.0.0.2");
    CHECK(dialogue.operations[1].code == ipoib::kArpReply);
    CHECK(ipoib::describe(dialogue.operations[2]) == "10.0.0.1:7 to 10.0.0.2:9");
    CHECK(dialogue.operations[2].bytes == 20 + 8 + 11);
    CHECK(dialogue.operations[3].code == ipoib::kPing);
    CHECK(dialogue.operations[3].outcome == OperationOutcome::done);
    CHECK(dialogue.operations[3].answered - dialogue.operations[3].asked == Duration{2'000'000});
    const UlpReport report = dialogue.finish();
    REQUIRE(report.conversations.size() == 1);
    CHECK(report.conversations[0].unread == 0);
}

TEST_CASE("IPoIB: datagrams of a capture are followed, though nothing acknowledges them") {
    Analysis analysis;
    Observation observation;
    std::uint64_t frame = 0;
    const auto sees = [&](const Octets& payload, bool back) {
        PacketSpec spec = transport_packet(Opcode{0x64}, Network::native_local);
        set(spec, "infiniband.lrh.slid", back ? 2 : 1);
        set(spec, "infiniband.lrh.dlid", back ? 1 : 2);
        set(spec, "infiniband.bth.destqp", back ? 0x48 : 0x49);
        set(spec, "infiniband.deth.srcqp", back ? 0x49 : 0x48);
        set(spec, "infiniband.deth.q_key", 0x0b1b);
        set(spec, "infiniband.bth.psn", frame);
        spec.payload = payload;
        Decoded decoded(spec);
        decoded.packet.frame.index = FrameIndex{++frame};
        decoded.packet.frame.time = Instant{static_cast<std::int64_t>(frame) * 1000};
        observe(decoded.packet, observation);
        return analysis.observe(observation);
    };
    CHECK(sees(ipoib_ipv4(1, ping(false, 1)), false).ulp.protocol == UlpProtocol::ipoib);
    CHECK(sees(ipoib_ipv4(1, ping(true, 1), true), true).ulp.protocol == UlpProtocol::ipoib);
    const Timeline timeline = analysis.finish();
    REQUIRE(timeline.ulp.conversations.size() == 1);
    CHECK(timeline.ulp.conversations[0].protocol == UlpProtocol::ipoib);
    CHECK(timeline.ulp.conversations[0].operations == 1);
    CHECK(timeline.ulp.conversations[0].latency.count == 1);
}

TEST_CASE("IPoIB: in connected mode the answer comes on the other connection") {
    // Host 1 sends on the connection to queue pair 0x49, host 2 on that to 0x48: each is acknowledged the other way.
    const auto sees = [](std::uint16_t second_ping) {
        Analysis analysis;
        Observation observation;
        std::uint64_t frame = 0;
        const auto packet = [&](std::uint8_t opcode, bool back, std::uint64_t qp, std::uint64_t psn,
                                const Octets& payload) {
            PacketSpec spec = transport_packet(Opcode{opcode}, Network::native_local);
            set(spec, "infiniband.lrh.slid", back ? 2 : 1);
            set(spec, "infiniband.lrh.dlid", back ? 1 : 2);
            set(spec, "infiniband.bth.destqp", qp);
            set(spec, "infiniband.bth.psn", psn);
            spec.payload = payload;
            Decoded decoded(spec);
            decoded.packet.frame.index = FrameIndex{++frame};
            decoded.packet.frame.time = Instant{static_cast<std::int64_t>(frame) * 1000};
            observe(decoded.packet, observation);
            static_cast<void>(analysis.observe(observation));
        };
        packet(0x04, false, 0x49, 100, ipoib_ipv4(1, ping(false, 1)));
        packet(0x11, true, 0x148, 100, {});
        packet(0x04, true, 0x48, 7000, ipoib_ipv4(1, ping(true, second_ping), true));
        packet(0x11, false, 0x149, 7000, {});
        return analysis.finish();
    };
    const auto answered = [](const Timeline& timeline) {
        std::uint64_t count = 0;
        for (const UlpConversation& conversation : timeline.ulp.conversations) count += conversation.latency.count;
        return count;
    };
    const Timeline timeline = sees(1);
    CHECK(timeline.connections.size() == 2);
    CHECK(answered(timeline) == 1);
    CHECK(answered(sees(2)) == 0);  // an answer to another ping
}

TEST_CASE(
    "IPoIB on InfiniBand has its layers in every packet, on RoCE and where it does not agree with itself it has none") {
    const auto decoded = [](Network network, const Octets& payload) {
        PacketSpec spec = transport_packet(Opcode{0x04}, network);
        spec.payload = payload;
        const Decoded made(spec);
        return find(made.packet, LayerKind::ipv4) != nullptr && find(made.packet, kind::ipoib_header) != nullptr;
    };
    const Octets echo = ipoib_ipv4(1, ping(false, 1));
    CHECK(decoded(Network::native_local, echo));
    CHECK(decoded(Network::native_global, echo));
    CHECK_FALSE(decoded(Network::roce_v2_ipv4, echo));
    Octets spoiled = echo;
    spoiled[4 + 10] ^= std::byte{1};  // the checksum of its IP header
    CHECK_FALSE(decoded(Network::native_local, spoiled));
}

TEST_CASE("IPoIB: connected mode is known by its service and its MTU") {
    CmAttempt attempt =
        attempt_with(joined({octets_of(std::uint32_t{0x49}, false), octets_of(std::uint32_t{65520}, false)}));
    attempt.ip.reset();
    attempt.service_id = 0x1000'0000'0000'0049;
    CHECK(ipoib::is_private_data(attempt));
    Delivered dialogue;
    dialogue.connected(attempt);
    dialogue.send(End::a, ipoib_ipv4(17, udp_datagram(7, 9, 2000)));
    const UlpReport report = dialogue.finish();
    REQUIRE(report.conversations.size() == 1);
    CHECK(report.conversations[0].basis == UlpBasis::private_data);
    CHECK(report.conversations[0].fact("MTU of the active side") == "65520");
    attempt.service_id = 0x1000'0001'0000'0049;
    CHECK_FALSE(ipoib::is_private_data(attempt));
    attempt.service_id = 0x1000'0000'0000'0049;
    attempt.active.private_data.first = {};
    CHECK_FALSE(ipoib::is_private_data(attempt));
}

TEST_CASE("IPoIB: what does not agree with itself is no IPoIB") {
    const auto percent = [](const Octets& bytes) {
        UlpMessage message;
        message.bytes = bytes;
        message.length = bytes.size();
        return ipoib::likeness(message).percent;
    };
    for (const Octets& plain : plain_messages()) CHECK(percent(plain) == 0);
    Octets message = ipoib_ipv4(17, udp_datagram(7, 9, 11));
    CHECK(percent(message) == kSure);
    message.push_back({});
    CHECK(percent(message) == 0);  // longer than IP says
    message = ipoib_ipv4(17, udp_datagram(7, 9, 11));
    message[4 + 16] ^= std::byte{1};
    CHECK(percent(message) == 0);  // its checksum
    message = ipoib_arp(false);
    message[4 + 4] = std::byte{6};  // Ethernet's addresses
    CHECK(percent(message) == 0);
}
