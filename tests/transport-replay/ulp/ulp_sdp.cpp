// SDP recognised: by service and hello, not by its messages.
#include <tests/support/catch.hpp>
#include <tests/support/delivered.hpp>
#include <tests/support/sdp_messages.hpp>
#include <transport-replay/ulp/sdp_protocol.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

TEST_CASE("SDP: a connection request with its service and its hello") {
    CmAttempt attempt = attempt_with(sdp_hello(), sdp_hello_ack());
    attempt.ip.reset();
    attempt.service_id = 0x10000 + 5001;
    CHECK(sdp_protocol::private_data(attempt));
    Delivered dialogue;
    dialogue.connected(attempt);
    const UlpReport report = dialogue.finish();
    REQUIRE(report.conversations.size() == 1);
    CHECK(report.conversations[0].protocol == UlpProtocol::sdp);
    CHECK(report.conversations[0].basis == UlpBasis::private_data);
    attempt.service_id = 0x20000;
    CHECK_FALSE(sdp_protocol::private_data(attempt));
    attempt.service_id.reset();
    CHECK_FALSE(sdp_protocol::private_data(attempt));
    CmAttempt other = attempt_with(Octets(56));
    other.service_id = 0x10000 + 5001;
    CHECK_FALSE(sdp_protocol::private_data(other));
}

TEST_CASE("SDP: messages that are as long as they say prove nothing: those of many others are") {
    Delivered dialogue;
    for (int i = 0; i < 40; ++i) dialogue.send(End::a, sdp_message(0xff, Octets(static_cast<std::size_t>(10 + i))));
    CHECK(dialogue.finish().conversations.empty());
}
