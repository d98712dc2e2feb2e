// IPoIB followed: pings to their answers, the rest one way; datagrams of whole packets; what is no IPoIB.
#include <tests/support/catch.hpp>
#include <tests/support/delivered.hpp>
#include <tests/support/packets.hpp>
#include <tests/support/small_ulp.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/ulp/ipoib_machine.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

TEST_CASE("IPoIB: a ping ends with its answer, everything else is one way") {
    Delivered talk;
    talk.send(End::a, ipoib_arp(false));
    talk.send(End::b, ipoib_arp(true));
    talk.send(End::a, ipoib_ipv4(1, ping(false, 1)));
    talk.send(End::a, ipoib_ipv4(17, udp_datagram(7, 9, 11)));
    talk.send(End::b, ipoib_ipv4(1, ping(true, 1), true));
    talk.send(End::b, ipoib_ipv4(1, ping(true, 2), true));  // its request was before
    REQUIRE(talk.operations.size() == 4);
    CHECK(talk.operations[0].code == ipoib::kArpRequest);
    CHECK(ipoib::describe(talk.operations[0]) == "10.0.0.1 asks for 10.0.0.2");
    CHECK(talk.operations[1].code == ipoib::kArpReply);
    CHECK(ipoib::describe(talk.operations[2]) == "10.0.0.1:7 to 10.0.0.2:9");
    CHECK(talk.operations[2].bytes == 20 + 8 + 11);
    CHECK(talk.operations[3].code == ipoib::kPing);
    CHECK(talk.operations[3].outcome == OperationOutcome::done);
    CHECK(elapsed(talk.operations[3].asked, talk.operations[3].answered) == Duration{2'000'000});
    const UlpReport report = talk.finish();
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

TEST_CASE("IPoIB: connected mode is known by its service and its MTU") {
    CmAttempt attempt = attempt_with(joined({octets_of(std::uint32_t{0x49}, false), octets_of(std::uint32_t{65520}, false)}));
    attempt.ip.reset();
    attempt.service_id = 0x1000'0000'0000'0049;
    CHECK(ipoib::is_private_data(attempt));
    Delivered talk;
    talk.connected(attempt);
    talk.send(End::a, ipoib_ipv4(17, udp_datagram(7, 9, 2000)));
    const UlpReport report = talk.finish();
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
