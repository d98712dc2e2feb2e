// rsockets followed: WRITEs with immediates on a wire, between two of our own peers.
#include <tests/support/catch.hpp>
#include <tests/support/delivered.hpp>
#include <tests/support/played_conversations.hpp>
#include <tests/support/small_ulp.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/live/peers/program.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/ulp/rsockets_machine.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

TEST_CASE("rsockets: private data is told from others'") {
    CHECK(rsockets::is_private_data(attempt_with(rsockets_private())));
    CHECK_FALSE(rsockets::is_private_data(attempt_with(Octets(56))));
    for (const Octets& plain : plain_messages()) CHECK_FALSE(rsockets::is_private_data(attempt_with(plain)));
}

TEST_CASE("rsockets: a stream between two peers is data, credits and farewells, and every byte is counted") {
    PlayWire stage;
    auto server = live::find_program("rstream")->make({.clients = 1});
    auto client =
        live::find_program("rstream")->make({.target = PlayWire::address(End::b), .count = 100, .size = 4096});
    REQUIRE(server.has_value());
    REQUIRE(client.has_value());
    REQUIRE(server->begin(stage.b, stage.now).has_value());
    REQUIRE(client->begin(stage.a, stage.now).has_value());
    REQUIRE(stage.run(*client, *server));
    std::vector<UlpOperation> operations;
    std::size_t labelled = 0;
    Analysis analysis({.message =
                           [&](ConnectionId, End, const Message& message) {
                               if (message.ulp && message.ulp->protocol == UlpProtocol::rsockets) ++labelled;
                           },
                       .operation = [&](const UlpOperation& operation) { operations.push_back(operation); },
                       .hints = {}});
    Observation observation;
    packets_of(stage.wire->link.take_recording())([&](const Packet& packet) {
        observe(packet, observation);
        analysis.observe(observation);
    });
    const Timeline timeline = analysis.finish();
    REQUIRE(timeline.ulp.conversations.size() == 1);
    const UlpConversation& conversation = timeline.ulp.conversations[0];
    CHECK(conversation.protocol == UlpProtocol::rsockets);
    CHECK(conversation.basis == UlpBasis::private_data);
    CHECK(conversation.unread == 0);
    CHECK_FALSE(conversation.fact("buffer of the active side").empty());
    std::array<std::uint64_t, 2> bytes{};
    for (const UlpOperation& operation : operations)
        if (operation.code == rsockets::kData) bytes[static_cast<std::size_t>(operation.requester)] += operation.bytes;
    CHECK(bytes[0] >= 100 * 4096);
    CHECK(bytes[0] == bytes[1]);
    const auto of = [&](OperationCode code) { return std::ranges::count(operations, code, &UlpOperation::code); };
    CHECK(of(rsockets::kOffer) > 0);
    CHECK(of(rsockets::kShutdown) + of(rsockets::kDisconnect) > 0);
    CHECK(labelled == operations.size());
    CHECK(timeline.collectives.collectives.empty());
}
