// LNet over o2iblnd followed: PUT and GET with their memory, immediate messages, refusals; what is no LNet.
#include <tests/support/catch.hpp>
#include <tests/support/delivered.hpp>
#include <tests/support/small_ulp.hpp>
#include <transport-replay/ulp/lnet_machine.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

Octets completion(std::uint64_t cookie, std::int32_t status, bool little = true) {
    return joined({octets_of(cookie, little), octets_of(static_cast<std::uint32_t>(status), little)});
}

constexpr std::uint8_t kImmediate = 0xd1, kPutRequest = 0xd2, kPutNak = 0xd3, kPutAck = 0xd4, kPutDone = 0xd5,
                       kGetRequest = 0xd6, kGetDone = 0xd7;

}  // namespace

TEST_CASE("LNet: a PUT is accepted, its memory written by who asked, and ended by it") {
    for (const bool little : {true, false}) {
        Delivered dialogue;
        dialogue.send(End::a, lnet_message(kPutRequest,
                                           joined({lnet_header(1, 4096, 3, lnet_put_rest(little), little),
                                                   octets_of(std::uint64_t{0xc1}, little)}),
                                           little));
        dialogue.send(
            End::b, lnet_message(kPutAck,
                                 joined({octets_of(std::uint64_t{0xc1}, little), octets_of(std::uint64_t{0xd1}, little),
                                         lnet_memory(0x78, 4096, 0x2000, little)}),
                                 little));
        dialogue.transfer(End::a, {0x2000, Rkey{0x78}, 4096});
        dialogue.send(End::a, lnet_message(kPutDone, completion(0xd1, 0, little), little));
        REQUIRE(dialogue.operations.size() == 1);
        const UlpOperation& put = dialogue.operations[0];
        CHECK(put.code == lnet::kPut);
        CHECK(put.requester == End::a);
        CHECK(put.outcome == OperationOutcome::done);
        CHECK(put.bytes == 4096);
        CHECK(put.written == 4096);
        CHECK(put.transfers == 1);
        CHECK(lnet::describe(put) == "OST_BULK, match bits 0xabcdef");
        CHECK(put.answered - put.asked == Duration{3'000'000});
    }
}

TEST_CASE("LNet: a GET names memory of who asked, which the other side writes") {
    Delivered dialogue;
    const Octets get = joined(
        {lnet_header(2, 0, 3, lnet_get_rest(8192)), octets_of(std::uint64_t{0xc2}), lnet_memory(0x77, 8192, 0x1000)});
    dialogue.send(End::b, lnet_message(kGetRequest, get));
    dialogue.transfer(End::a, {0x1000, Rkey{0x77}, 8192});
    dialogue.transfer(End::a, {0x1000, Rkey{0x78}, 8192});  // another's
    dialogue.send(End::a, lnet_message(kGetDone, completion(0xc2, 8192)));
    REQUIRE(dialogue.operations.size() == 1);
    CHECK(dialogue.operations[0].code == lnet::kGet);
    CHECK(dialogue.operations[0].requester == End::b);
    CHECK(dialogue.operations[0].written == 8192);
    CHECK(dialogue.operations[0].outcome == OperationOutcome::done);
    CHECK(lnet::describe(dialogue.operations[0]) == "OST_REQUEST, match bits 0xabcdef");
}

TEST_CASE("LNet: failures in words") {
    Delivered dialogue;
    dialogue.send(
        End::a,
        lnet_message(kPutRequest, joined({lnet_header(1, 4096, 3, lnet_put_rest()), octets_of(std::uint64_t{0xc1})})));
    dialogue.send(End::b, lnet_message(kPutNak, completion(0xc1, -12)));
    REQUIRE(dialogue.operations.size() == 1);
    CHECK(dialogue.operations[0].outcome == OperationOutcome::failed);
    CHECK(lnet::status(dialogue.operations[0]) == "out of memory (-12)");
    const UlpReport report = dialogue.finish();
    REQUIRE(report.failures.size() == 1);
    CHECK(report.failures[0].count == 1);
}

TEST_CASE("LNet: immediate messages, with an answer and without") {
    Delivered dialogue;
    dialogue.send(End::a,
                  lnet_message(kImmediate, joined({lnet_header(1, 5, ~std::uint64_t{0}, lnet_put_rest()), Octets(5)})));
    REQUIRE(dialogue.operations.size() == 1);
    CHECK(dialogue.operations[0].code == lnet::kShortPut);
    CHECK(dialogue.operations[0].one_way);
    dialogue.send(End::a, lnet_message(kImmediate, joined({lnet_header(1, 5, 0x501, lnet_put_rest()), Octets(5)})));
    dialogue.send(End::a, lnet_message(kImmediate, lnet_header(2, 0, 0x502, lnet_get_rest(100))));
    dialogue.send(End::b, lnet_message(kImmediate, lnet_header(0, 0, 0x501, {})));
    dialogue.send(End::b, lnet_message(kImmediate, joined({lnet_header(3, 100, 0x502, {}), Octets(100)})));
    REQUIRE(dialogue.operations.size() == 3);
    CHECK(dialogue.operations[1].code == lnet::kShortPut);
    CHECK(dialogue.operations[1].outcome == OperationOutcome::done);
    CHECK(dialogue.operations[2].code == lnet::kShortGet);
    CHECK(dialogue.operations[2].in_message == 100);
    const UlpReport report = dialogue.finish();
    CHECK(report.conversations.at(0).unread == 0);
    CHECK(report.conversations[0].certainty >= kSure);
}

TEST_CASE("LNet: what both sides agree on, and why one refuses") {
    const auto connect = [](std::uint8_t type, std::uint16_t depth) {
        return lnet_message(type,
                            joined({octets_of(depth), octets_of(std::uint16_t{256}), octets_of(std::uint32_t{4096})}));
    };
    CmAttempt attempt = attempt_with(connect(0xc0, 128), connect(0xc1, 8));
    CHECK(lnet::is_private_data(attempt));
    Delivered dialogue;
    dialogue.connected(attempt);
    UlpReport report = dialogue.finish();
    REQUIRE(report.conversations.size() == 1);
    CHECK(report.conversations[0].fact("queue depth") == "8");
    CHECK(report.conversations[0].most_credits == 8);

    CmRejection& rejection = attempt.rejection.emplace();
    rejection.private_data.room = 148;
    const Octets said =
        joined({octets_of(std::uint32_t{0x0be91b91}), octets_of(std::uint16_t{0x12}), octets_of(std::uint8_t{5})});
    std::ranges::copy(said, rejection.private_data.first.begin());
    UlpReport refused;
    lnet::attempt(attempt, refused);
    REQUIRE(refused.events.size() == 1);
    CHECK(refused.events[0].kind == UlpEventKind::refused);
    CHECK(refused.events[0].words == "stale: the peer has restarted");
}

TEST_CASE("LNet: what is too short or of no type is not understood, plain data is no LNet") {
    for (const Octets& plain : plain_messages()) {
        UlpMessage message;
        message.bytes = plain;
        message.length = plain.size();
        CHECK(lnet::likeness(message).percent == 0);
    }
    Delivered dialogue;
    for (int i = 0; i < 8; ++i) dialogue.send(End::a, lnet_message(kGetRequest, Octets(20)));
    const UlpReport report = dialogue.finish();
    CHECK(report.conversations.empty());  // given up
}
