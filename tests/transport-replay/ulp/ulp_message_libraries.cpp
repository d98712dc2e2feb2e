// UCX and libfabric recognised: in the captures that have them, by messages made to order, and not without their
// opening.
#include <dissect/ulp/ulp.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/delivered.hpp>
#include <tests/support/message_libraries.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

// What the conversations of a sample capture speak, by service.
std::vector<std::pair<Service, UlpProtocol>> spoken_in(const std::string& name) {
    for (const std::string& path : sample_captures()) {
        if (path.find("/" + name + "/") == std::string::npos) continue;
        Analysis analysis;
        Observation observation;
        for_each_packet(path, [&](const Packet& packet) {
            observe(packet, observation);
            analysis.observe(observation);
        });
        const Timeline timeline = analysis.finish();
        std::vector<std::pair<Service, UlpProtocol>> spoken;
        for (const UlpConversation& conversation : timeline.ulp.conversations) {
            CHECK(conversation.basis == UlpBasis::content);
            CHECK(conversation.certainty >= kSure);
            spoken.emplace_back(timeline.find(conversation.connection)->service, conversation.protocol);
        }
        return spoken;
    }
    FAIL("no capture " << name);
    return {};
}

UlpReport report_of(const std::vector<Octets>& messages) {
    Delivered dialogue;
    for (const Octets& message : messages) dialogue.send(End::a, message);
    return dialogue.finish();
}

}  // namespace

TEST_CASE("message libraries: UCX on a connection and in the datagrams that set it up, rxd in datagrams") {
    using Spoken = std::vector<std::pair<Service, UlpProtocol>>;
    const Spoken ucx{{Service::ud, UlpProtocol::ucx_datagram}, {Service::rc, UlpProtocol::ucx}};
    CHECK(spoken_in("ucx_tag") == ucx);
    CHECK(spoken_in("ucx_put") == ucx);
    CHECK(spoken_in("libfabric_reliable") == Spoken{{Service::ud, UlpProtocol::rxd}});
}

TEST_CASE("message libraries: known by their opening, not by what follows alone") {
    const Octets eager = ucx_active(2).put(std::uint64_t{0x1337}).zeros(40).bytes;
    const Octets opening = ucx_active(1).add(ucx_wireup()).bytes;
    const UlpReport known = report_of({opening, eager, eager});
    REQUIRE(known.conversations.size() == 1);
    CHECK(known.conversations[0].protocol == UlpProtocol::ucx);
    CHECK(known.conversations[0].messages == 3);
    CHECK(report_of(std::vector<Octets>(30, eager)).conversations.empty());

    const Octets datagram = ucx_datagram_head(0x13000000, 5, 4);
    CHECK(report_of(std::vector<Octets>(30, datagram)).conversations.empty());
    const UlpReport later = report_of({datagram, ucx_connection(1)});
    REQUIRE(later.conversations.size() == 1);
    CHECK(later.conversations[0].protocol == UlpProtocol::ucx_datagram);

    const Octets credit = rxm_message({.type = 6, .size = 0, .data = {}});
    CHECK(report_of(std::vector<Octets>(30, credit)).conversations.empty());
    const UlpReport eagerly = report_of({credit, rxm_message({})});
    REQUIRE(eagerly.conversations.size() == 1);
    CHECK(eagerly.conversations[0].protocol == UlpProtocol::rxm);

    const Octets segment = rxd_base(12).zeros(64).bytes;
    CHECK(report_of(std::vector<Octets>(30, segment)).conversations.empty());
    const UlpReport opened = report_of({rxd_ready_to_send(), segment});
    REQUIRE(opened.conversations.size() == 1);
    CHECK(opened.conversations[0].protocol == UlpProtocol::rxd);
}
