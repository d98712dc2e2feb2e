// Over all sample captures: RDS, UCX and libfabric are found in those that have them, IPoIB, LNet and collectives in
// none.
#include <tests/support/catch.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

TEST_CASE("sample captures: neither small protocols nor collectives are seen where there are none") {
    for (const std::string& path : sample_captures()) {
        INFO(path);
        Analysis analysis;
        Observation observation;
        for_each_packet(path, [&](const Packet& packet) {
            observe(packet, observation);
            analysis.observe(observation);
        });
        const Timeline timeline = analysis.finish();
        CHECK(timeline.collectives.collectives.empty());
        const bool rds = path.find("/rds") != std::string::npos;
        const bool ucx = path.find("/ucx_") != std::string::npos,
                   libfabric = path.find("/libfabric") != std::string::npos;
        const bool rsockets = path.find("/rsockets") != std::string::npos;
        for (const UlpConversation& conversation : timeline.ulp.conversations) {
            CHECK((rds || conversation.protocol != UlpProtocol::rds));
            CHECK(conversation.protocol != UlpProtocol::ipoib);
            CHECK((rsockets || conversation.protocol != UlpProtocol::rsockets));
            CHECK(conversation.protocol != UlpProtocol::lnet);
            CHECK((ucx ||
                   (conversation.protocol != UlpProtocol::ucx && conversation.protocol != UlpProtocol::ucx_datagram)));
            CHECK((libfabric || conversation.protocol != UlpProtocol::rxd));
            CHECK(conversation.protocol != UlpProtocol::rxm);
        }
    }
}
