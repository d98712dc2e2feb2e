// RDS followed: messages until they are acknowledged, congestion maps, what is not RDS; and a real capture.
#include <tests/support/catch.hpp>
#include <tests/support/delivered.hpp>
#include <tests/support/observations.hpp>
#include <tests/support/small_ulp.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/ulp/rds_machine.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

TEST_CASE("RDS: a message is done when the other side has received it or a later one") {
    Delivered dialogue;
    dialogue.send(End::a, rds_message({.sequence = 5, .length = 6000}, 4096));
    dialogue.send(End::a, rds_message({.sequence = 5, .length = 6000}, 1904));  // the rest of it
    dialogue.send(End::a, rds_message({.sequence = 6, .length = 10, .destination = 0}, 10));
    dialogue.send(End::b, rds_message({.sequence = 1, .ack = 5, .length = 100}, 100));
    REQUIRE(dialogue.operations.size() == 1);
    CHECK(dialogue.operations[0].tag == 5);
    CHECK(dialogue.operations[0].code == rds::kMessage);
    CHECK(dialogue.operations[0].in_message == 6000);
    CHECK(dialogue.operations[0].bytes == 6000);
    CHECK(dialogue.operations[0].answered - dialogue.operations[0].asked == Duration{3'000'000});
    CHECK(rds::describe(dialogue.operations[0]) == "port 5000 to 6000");
    dialogue.send(End::b, rds_message({.sequence = 0, .ack = 6, .length = 0}, 0));
    REQUIRE(dialogue.operations.size() == 2);
    CHECK(dialogue.operations[1].code == rds::kPing);
    const UlpReport report = dialogue.finish();
    REQUIRE(report.conversations.size() == 1);
    CHECK(report.conversations[0].protocol == UlpProtocol::rds);
    CHECK(report.conversations[0].basis == UlpBasis::content);
    CHECK(report.conversations[0].unread == 0);
    CHECK(report.conversations[0].operations == 3);
    CHECK(dialogue.operations.back().outcome == OperationOutcome::open);
}

TEST_CASE("RDS: a congestion map says how many ports are full") {
    Delivered dialogue;
    Octets first = rds_message({.sequence = 0, .length = 8192, .source = 0, .destination = 0, .flags = 1}, 4096);
    first[48 + 100] = std::byte{0x07};
    dialogue.send(End::a, first);
    CHECK(dialogue.operations.empty());
    dialogue.send(End::a,
                  rds_message({.sequence = 0, .length = 8192, .source = 0, .destination = 0, .flags = 1}, 4096));
    REQUIRE(dialogue.operations.size() == 1);
    CHECK(dialogue.operations[0].code == rds::kCongestionMap);
    CHECK(dialogue.operations[0].one_way);
    CHECK(rds::describe(dialogue.operations[0]) == "3 ports full");
}

TEST_CASE("RDS: sequence numbers that jump cost nothing") {
    Delivered dialogue;
    dialogue.send(End::a, rds_message({.sequence = 1}, 100));
    dialogue.send(End::a, rds_message({.sequence = UINT64_MAX - 1}, 100));
    dialogue.send(End::b, rds_message({.sequence = 1, .ack = UINT64_MAX - 1}, 100));
    CHECK(dialogue.operations.size() == 1);
    dialogue.send(End::a, rds_message({.sequence = UINT64_MAX}, 100));
    dialogue.send(End::b, rds_message({.sequence = 2, .ack = UINT64_MAX}, 100));
    CHECK(dialogue.operations.size() == 2);
    dialogue.send(End::b, rds_message({.sequence = 3, .ack = UINT64_MAX}, 100));
    static_cast<void>(dialogue.finish());
}

TEST_CASE("RDS: plain data and other protocols are not RDS") {
    for (const Octets& plain : plain_messages()) {
        UlpMessage message;
        message.bytes = plain;
        message.length = plain.size();
        CHECK(rds::likeness(message).percent == 0);
    }
    CHECK_FALSE(rds::is_private_data(attempt_with(rsockets_private())));
    CHECK_FALSE(rds::is_private_data(attempt_with(Octets(56))));
}

TEST_CASE("RDS: the real capture speaks it, as its private data says") {
    std::vector<UlpOperation> operations;
    Analysis analysis({.message = {},
                       .operation = [&](const UlpOperation& operation) { operations.push_back(operation); },
                       .hints = {}});
    for_each_observation("rds", [&](const Observation& observation) { analysis.observe(observation); });
    const Timeline timeline = analysis.finish();
    const UlpConversation* conversation = nullptr;
    for (const UlpConversation& one : timeline.ulp.conversations)
        if (one.protocol == UlpProtocol::rds && one.basis == UlpBasis::private_data) conversation = &one;
    REQUIRE(conversation != nullptr);
    CHECK(conversation->unread == 0);
    CHECK(conversation->fact("version") == "3.1");
    CHECK(conversation->fact("flow control") == "none");
    const auto of = [&](OperationCode code) { return std::ranges::count(operations, code, &UlpOperation::code); };
    CHECK(of(rds::kCongestionMap) == 2);
    CHECK(of(rds::kMessage) == 6);
    CHECK(std::ranges::count(operations, OperationOutcome::unanswered, &UlpOperation::outcome) == 0);
    CHECK(timeline.collectives.collectives.empty());
}
