// Requests of Lustre followed: each with its reply by the XID, immediate or by RDMA; early replies, failures, what
// another connection answers, what nobody answers.
#include <tests/support/catch.hpp>
#include <tests/support/delivered.hpp>
#include <tests/support/lustre.hpp>
#include <transport-replay/ulp/lnet_machine.hpp>

#include <algorithm>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

constexpr std::uint32_t kOstIo = 6, kOscReply = 4, kBehindEarly = 192;
constexpr std::uint32_t kReplyType = 4713, kErrorType = 4712;

Octets lustre_reply(std::uint32_t opcode, std::uint64_t xid, std::int32_t status = 0,
                    std::uint32_t offset = kBehindEarly, std::uint32_t type = kReplyType) {
    return lustre_put(lustre_message({.type = type, .opcode = opcode, .status = static_cast<std::uint32_t>(status)}),
                      xid, kOscReply, offset);
}

}  // namespace

TEST_CASE("Lustre: a write and its reply are an operation, with object, offset, bytes and latency") {
    Delivered dialogue;
    dialogue.send(End::a,
                  lustre_put(lustre_message({.opcode = 4, .buffers = lustre_extents(77, 0x100000, 2)}), 1001, kOstIo));
    CHECK(dialogue.operations.empty());
    dialogue.send(End::b, lustre_reply(4, 1001));
    REQUIRE(dialogue.operations.size() == 1);
    const UlpOperation& write = dialogue.operations[0];
    CHECK(lnet::operation_name(write.code) == "OST_WRITE");
    CHECK(lnet::describe(write) == "object 77, offset 1048576, 8192 bytes, XID 1001");
    CHECK(write.requester == End::a);
    CHECK(write.outcome == OperationOutcome::done);
    CHECK(write.bytes == 8192);
    CHECK(write.answered - write.asked == Duration{1'000'000});
}

TEST_CASE("Lustre: either end asks, requests that overlap find their own replies") {
    Delivered dialogue;
    dialogue.send(End::a, lustre_put(lustre_message({.opcode = 33}), 11, 12));
    dialogue.send(End::b,
                  lustre_put(lustre_message({.opcode = 104}), 11, 15));  // a server calls back, by chance with that XID
    dialogue.send(End::a, lustre_put(lustre_message({.opcode = 35}), 12, 12));
    dialogue.send(End::b, lustre_reply(35, 12));
    dialogue.send(End::a, lustre_reply(104, 11));
    dialogue.send(End::b, lustre_reply(33, 11));
    REQUIRE(dialogue.operations.size() == 3);
    CHECK(lnet::operation_name(dialogue.operations[0].code) == "MDS_CLOSE");
    CHECK(lnet::operation_name(dialogue.operations[1].code) == "LDLM_BL_CALLBACK");
    CHECK(dialogue.operations[1].requester == End::b);
    CHECK(lnet::operation_name(dialogue.operations[2].code) == "MDS_GETATTR");
    CHECK(lnet::describe(dialogue.operations[2]) == "XID 11");
    CHECK(dialogue.finish().conversations.at(0).unread == 0);
}

TEST_CASE("Lustre: an early reply ends nothing where the client knows them") {
    Delivered dialogue;
    dialogue.send(End::a, lustre_put(lustre_message({.opcode = 101}), 21, 12));
    dialogue.send(End::b, lustre_reply(101, 21, 0, 0));
    CHECK(dialogue.operations.empty());
    dialogue.send(End::b, lustre_reply(101, 21));
    CHECK(dialogue.operations.size() == 1);
    // of a client without adaptive timeouts that is the reply
    dialogue.send(End::a, lustre_put(lustre_message({.opcode = 400, .flags = 0}), 22, 12));
    dialogue.send(End::b, lustre_reply(400, 22, 0, 0));
    CHECK(dialogue.operations.size() == 2);
}

TEST_CASE("Lustre: failures in words, and which are everyday") {
    Delivered dialogue;
    const auto fails = [&](std::int32_t status, std::uint32_t type = kReplyType) {
        dialogue.send(End::a, lustre_put(lustre_message({.opcode = 34}), 31, 12));
        dialogue.send(End::b, lustre_reply(34, 31, status, kBehindEarly, type));
        return dialogue.operations.back();
    };
    const UlpOperation missing = fails(-2);
    CHECK(missing.outcome == OperationOutcome::failed);
    CHECK(lnet::status(missing) == "no such file or object (-2)");
    CHECK(lnet::everyday(missing.status));
    const UlpOperation full = fails(-28);
    CHECK(lnet::status(full) == "no space (-28)");
    CHECK_FALSE(lnet::everyday(full.status));
    CHECK(fails(301).outcome == OperationOutcome::done);  // ELDLM_LOCK_ABORTED: an answer to an intent
    CHECK(fails(-107, kErrorType).outcome == OperationOutcome::failed);
    CHECK(fails(0, kErrorType).outcome == OperationOutcome::failed);
    CHECK_FALSE(lnet::everyday(static_cast<std::uint32_t>(-2)));  // of LNet itself: no matching receive
    // Servers ask too, by the same connection.
    dialogue.send(End::b, lustre_put(lustre_message({.opcode = 34}), 32, 12));
    dialogue.send(End::a, lustre_reply(34, 32, -28));
    const UlpReport report = dialogue.finish();
    const auto full_for = [&](End requester) {
        return std::ranges::count_if(report.failures, [&](const OperationFailures& failures) {
            return failures.requester == requester && failures.status == full.status && failures.count == 1;
        });
    };
    CHECK(full_for(End::a) == 1);
    CHECK(full_for(End::b) == 1);
}

TEST_CASE("Lustre: a reply by RDMA answers when its PUT is done") {
    Delivered dialogue;
    dialogue.send(End::a, lustre_put(lustre_message({.opcode = 36}), 41, 12));
    WireBytes rest{.bytes = {}, .little = true};
    rest.put(std::uint64_t{41}).put(std::uint64_t{0}).put(std::uint32_t{10}).put(kBehindEarly);
    dialogue.send(End::b, lnet_message(0xd2, joined({lnet_header(1, 9000, ~std::uint64_t{0}, rest.bytes),
                                                     octets_of(std::uint64_t{0xc1})})));
    dialogue.send(End::a, lnet_message(0xd4, joined({octets_of(std::uint64_t{0xc1}), octets_of(std::uint64_t{0xd1}),
                                                     lnet_memory(0x78, 9000, 0x2000)})));
    dialogue.transfer(End::b, {0x2000, Rkey{0x78}, 9000});
    CHECK(dialogue.operations.empty());
    dialogue.send(End::b, lnet_message(0xd5, joined({octets_of(std::uint64_t{0xd1}), octets_of(std::uint32_t{0})})));
    REQUIRE(dialogue.operations.size() == 2);
    CHECK(lnet::operation_name(dialogue.operations[0].code) == "MDS_REINT");
    CHECK(dialogue.operations[0].outcome == OperationOutcome::done);
    CHECK(dialogue.operations[1].code == lnet::kPut);
    // bulk data with the match bits of an open request is no reply
    dialogue.send(End::a, lustre_put(lustre_message({.opcode = 3, .buffers = lustre_extents(1, 0, 1)}), 42, kOstIo));
    WireBytes bulk{.bytes = {}, .little = true};
    bulk.put(std::uint64_t{42}).put(std::uint64_t{0}).put(std::uint32_t{8}).put(std::uint32_t{0});
    dialogue.send(End::b, lnet_message(0xd2, joined({lnet_header(1, 4096, ~std::uint64_t{0}, bulk.bytes),
                                                     octets_of(std::uint64_t{0xc2})})));
    dialogue.send(End::b, lnet_message(0xd5, joined({octets_of(std::uint64_t{0xc2}), octets_of(std::uint32_t{0})})));
    CHECK(dialogue.operations.size() == 3);
    dialogue.send(End::b, lustre_reply(3, 42));
    CHECK(dialogue.operations.size() == 4);
}

TEST_CASE("Lustre: a reply without its request is understood, a number that has no name too") {
    Delivered dialogue;
    dialogue.send(End::b, lustre_reply(400, 51));
    dialogue.send(End::a, lustre_put(lustre_message({.opcode = 2000}), 52, 12));
    dialogue.send(End::b, lustre_reply(2000, 52));
    REQUIRE(dialogue.operations.size() == 1);
    CHECK(lnet::operation_name(dialogue.operations[0].code) == "Lustre request");
    const UlpReport report = dialogue.finish();
    CHECK(report.conversations.at(0).unread == 0);
}
