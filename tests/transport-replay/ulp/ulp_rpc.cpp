// RPC over RDMA is recognised, and its operations are followed: data, failures, long messages, callbacks, credits.
#include <tests/support/catch.hpp>
#include <tests/support/rpc_messages.hpp>
#include <tests/support/smb_messages.hpp>
#include <tests/support/ulp_dialogue.hpp>
#include <transport-replay/ulp/rpc_protocol.hpp>

#include <random>

using namespace qps::dissect;
using namespace qps::transport;
using qps::tests::UlpDialogue;
namespace calls = qps::tests::rpc_messages;
namespace frames = qps::tests::smb_messages;

namespace {

std::string rpc_name(const UlpOperation& operation) { return std::string(rpc_operation_name(operation.code)); }

UlpMessage rpc_message(const std::vector<std::byte>& bytes) {
    UlpMessage message;
    message.bytes = bytes;
    message.length = bytes.size();
    return message;
}

}  // namespace

TEST_CASE("one call or reply of RPC over RDMA is enough to know it, and who is the client") {
    CHECK(rpc_likeness(rpc_message(calls::read_call(1))).percent >= kSure);
    CHECK(rpc_likeness(rpc_message(calls::read_call(1))).from_active);
    CHECK(rpc_likeness(rpc_message(calls::read_reply(1))).percent >= kSure);
    CHECK_FALSE(rpc_likeness(rpc_message(calls::read_reply(1))).from_active);
    CHECK_FALSE(rpc_likeness(rpc_message(calls::recall_call(1))).from_active);
    CHECK(rpc_likeness(rpc_message(calls::long_answer(1, 100))).percent >= kPlausible);
    CHECK(rpc_likeness(rpc_message(calls::error(1, 2))).percent >= kPlausible);

    UlpDialogue dialogue;
    dialogue.say(End::b, calls::read_call(5)).finish();
    REQUIRE(dialogue.report.conversations.size() == 1);
    CHECK(dialogue.report.conversations[0].protocol == UlpProtocol::rpc_rdma);
    CHECK(dialogue.report.conversations[0].basis == UlpBasis::content);
    CHECK(dialogue.report.conversations[0].active == End::b);
    CHECK(dialogue.report.conversations[0].fact("nfs version") == "4.2");
    CHECK(dialogue.report.conversations[0].fact("client") == "host");
}

TEST_CASE("plain data, random bytes and other protocols are not RPC over RDMA") {
    std::mt19937 random(7);  // NOLINT: the same every time
    for (int i = 0; i < 2000; ++i) {
        std::vector<std::byte> bytes(random() % 200);
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
        CHECK(rpc_likeness(rpc_message(bytes)).percent == 0);
    }
    CHECK(rpc_likeness(rpc_message(std::vector<std::byte>(256))).percent == 0);
    CHECK(rpc_likeness(rpc_message(std::vector<std::byte>(256, std::byte{1}))).percent == 0);
    CHECK(rpc_likeness(rpc_message(frames::negotiate_request())).percent == 0);
    CHECK(rpc_likeness(rpc_message(frames::data(frames::read_request(1, 4096, {{1, 2, 3}})))).percent == 0);
    std::vector<std::byte> other_xid = calls::read_call(1);
    other_xid[3] = std::byte{2};
    CHECK(rpc_likeness(rpc_message(other_xid)).percent == 0);

    UlpDialogue dialogue;
    for (int i = 0; i < 40; ++i)
        dialogue.say(i % 2 == 0 ? End::a : End::b, std::vector<std::byte>(64, static_cast<std::byte>(i)));
    dialogue.finish();
    CHECK(dialogue.report.conversations.empty());
}

TEST_CASE("a READ's data is WRITten into its chunk, a WRITE's data is READ from its chunk") {
    UlpDialogue dialogue;
    dialogue.say(End::a, calls::read_call(5))
        .move(End::a, false, {0x1000, Rkey{0x11}, 4096}, 4096)
        .say(End::b, calls::read_reply(5));
    dialogue.say(End::a, calls::write_call(6))
        .move(End::a, true, {0x2000, Rkey{0x22}, 8192}, 8192)
        .say(End::b, calls::write_reply(6, 0));
    dialogue.finish();
    REQUIRE(dialogue.operations.size() == 2);
    const UlpOperation& read = dialogue.operations[0];
    CHECK(rpc_name(read) == "READ");
    CHECK(rpc_description(read) == "offset 8192, 4096 bytes");
    CHECK(read.written == 4096);
    CHECK(read.in_message == 0);
    CHECK(read.outcome == OperationOutcome::done);
    CHECK(read.answered - read.asked == Duration{2 * UlpDialogue::kStep});
    const UlpOperation& write = dialogue.operations[1];
    CHECK(rpc_name(write) == "WRITE");
    CHECK(write.bytes == 8192);
    CHECK(write.read == 8192);
    CHECK(write.in_message == 0);
    CHECK(write.requester == End::a);
    CHECK(dialogue.report.conversations[0].most_credits == 32);
}

TEST_CASE("failures of NFS, RPC and the transport are told in words") {
    UlpDialogue dialogue;
    dialogue.say(End::a, calls::write_call(6)).say(End::b, calls::write_reply(6, 28));
    dialogue.say(End::a, calls::lookup3_call(7)).say(End::b, calls::status3_reply(7, 2));
    dialogue.say(End::a, calls::lookup3_call(8));
    qps::tests::MessageWriter refused = calls::inline_message(8, 32);
    dialogue.say(End::b, refused.words({8, 1, 1, 1, 13}).bytes());
    dialogue.say(End::a, calls::lookup3_call(9));
    qps::tests::MessageWriter unknown = calls::inline_message(9, 32);
    dialogue.say(End::b, unknown.add(calls::accepted(9, 1).bytes()).bytes());
    dialogue.say(End::a, calls::lookup3_call(10)).say(End::b, calls::error(10, 2));
    dialogue.finish();
    std::vector<std::string> words;
    for (const UlpOperation& operation : dialogue.operations) {
        CHECK(operation.outcome == OperationOutcome::failed);
        words.push_back(rpc_status(operation));
    }
    CHECK(words == std::vector<std::string>{"NOSPC: no space left", "NOENT: no such file or directory",
                                            "RPC denied: RPCSEC_GSS_CREDPROBLEM", "RPC not done: PROG_UNAVAIL",
                                            "RDMA_ERROR ERR_CHUNK"});
    REQUIRE(dialogue.report.events.size() == 1);
    CHECK(dialogue.report.events[0].kind == UlpEventKind::error_message);
    CHECK(dialogue.report.events[0].words == "RDMA_ERROR: chunks cannot be used");
    CHECK(dialogue.report.conversations[0].failed == 5);
}

TEST_CASE("an answer too long for a message is read from its reply chunk") {
    qps::tests::MessageWriter answer = calls::accepted(5);
    answer.words({20, 0, 2, 22, 0, 26, 20});
    UlpDialogue dialogue;
    dialogue.say(End::a, calls::long_answer_call(5))
        .move(End::a, false, {0x3000, Rkey{0x33}, 8192}, answer.bytes().size(), answer.bytes());
    dialogue.say(End::b, calls::long_answer(5, static_cast<std::uint32_t>(answer.bytes().size()))).finish();
    REQUIRE(dialogue.operations.size() == 1);
    CHECK(rpc_name(dialogue.operations[0]) == "READDIR");
    CHECK(dialogue.operations[0].outcome == OperationOutcome::failed);
    CHECK(rpc_status(dialogue.operations[0]) == "NOTDIR: not a directory");
}

TEST_CASE("a call too long for a message is read when the other side READ it") {
    qps::tests::MessageWriter call = calls::call(5, calls::kNfs, 4, 1);
    call.words({0, 1, 2});
    calls::put_handle(call);
    call.words({6, 2}).opaque("new").words({0, 0});
    const auto length = static_cast<std::uint32_t>(call.bytes().size());
    UlpDialogue dialogue;
    dialogue.say(End::a, calls::read_call(4)).say(End::b, calls::read_reply(4));
    dialogue.say(End::a, calls::long_call(5, length))
        .move(End::a, true, {0x4000, Rkey{0x44}, length}, length, call.bytes());
    dialogue.say(End::b, calls::write_reply(5, 17)).finish();
    REQUIRE(dialogue.operations.size() == 2);
    CHECK(rpc_name(dialogue.operations[1]) == "CREATE");
    CHECK(rpc_status(dialogue.operations[1]) == "EXIST: the file exists");

    UlpDialogue unseen;
    unseen.say(End::a, calls::read_call(4))
        .say(End::a, calls::long_call(5, 4096))
        .say(End::b, calls::write_reply(5, 0))
        .finish();
    CHECK(rpc_name(unseen.operations[0]) == "long call");
}

TEST_CASE("callbacks are asked by the server") {
    UlpDialogue dialogue;
    dialogue.say(End::a, calls::read_call(5))
        .say(End::b, calls::recall_call(5))
        .say(End::a, calls::recall_reply(5))
        .say(End::b, calls::read_reply(5));
    dialogue.finish();
    REQUIRE(dialogue.operations.size() == 2);
    CHECK(rpc_name(dialogue.operations[0]) == "CB_RECALL");
    CHECK(dialogue.operations[0].requester == End::b);
    CHECK(dialogue.operations[0].outcome == OperationOutcome::done);
    CHECK(rpc_name(dialogue.operations[1]) == "READ");
    CHECK(dialogue.report.conversations[0].active == End::a);
}

namespace {

// An answer to a call that grants so many credits.
std::vector<std::byte> answer_granting(std::uint32_t xid, std::uint32_t credits) {
    qps::tests::MessageWriter granting = calls::inline_message(xid, credits);
    return granting.add(calls::accepted(xid).bytes()).words({0, 0}).bytes();
}

}  // namespace

TEST_CASE("more calls than credits are told once, and the least and most that were granted") {
    UlpDialogue dialogue;
    dialogue.say(End::a, calls::lookup3_call(1)).say(End::b, answer_granting(1, 2));
    for (std::uint32_t xid = 2; xid < 6; ++xid) dialogue.say(End::a, calls::lookup3_call(xid));
    dialogue.finish();
    REQUIRE(dialogue.report.events.size() == 1);
    CHECK(dialogue.report.events[0].kind == UlpEventKind::credits_exhausted);
    CHECK(dialogue.report.events[0].words == kMoreThanGranted);
    CHECK(dialogue.report.events[0].number == 2);
    CHECK(dialogue.report.conversations[0].least_credits == 2);
    CHECK(dialogue.report.conversations[0].unanswered == 4);
}

TEST_CASE("a client waited for credits where its next call came right behind the answer that gave one back") {
    const auto events_of = [](bool another) {
        UlpDialogue dialogue;
        dialogue.say(End::a, calls::lookup3_call(1)).say(End::b, answer_granting(1, 2));
        dialogue.say(End::a, calls::lookup3_call(2))
            .say(End::a, calls::lookup3_call(3))
            .say(End::b, answer_granting(2, 2));
        if (another) dialogue.say(End::a, calls::lookup3_call(4));
        dialogue.finish();
        return dialogue.report.events;
    };
    REQUIRE(events_of(true).size() == 1);
    CHECK(events_of(true)[0].words == kWaitedForCredits);
    CHECK(events_of(false).empty());  // both used, and nothing more to ask
}

TEST_CASE("a lower grant does not accuse calls that an earlier one allowed, and no grant at all is told") {
    UlpDialogue dialogue;
    dialogue.say(End::a, calls::lookup3_call(1)).say(End::b, answer_granting(1, 4));
    for (std::uint32_t xid = 2; xid < 5; ++xid) dialogue.say(End::a, calls::lookup3_call(xid));
    dialogue.say(End::b, answer_granting(2, 1)).say(End::a, calls::lookup3_call(5));
    dialogue.finish();
    CHECK(dialogue.report.events.empty());

    UlpDialogue none;
    none.say(End::a, calls::lookup3_call(1))
        .say(End::b, answer_granting(1, 4))
        .say(End::a, calls::lookup3_call(2))
        .say(End::b, answer_granting(2, 0));
    none.finish();
    REQUIRE(none.report.events.size() == 1);
    CHECK(none.report.events[0].words == kNoCredits);
}

TEST_CASE(
    "messages that break the format of RPC over RDMA are told, each with its reason, where the protocol is sure") {
    const auto with = [](std::size_t at, std::uint32_t word) {
        std::vector<std::byte> message = calls::read_call(2);
        for (std::size_t i = 0; i < 4; ++i) message[at + i] = static_cast<std::byte>(word >> (24 - 8 * i));
        return message;
    };
    const auto events_of = [](const std::vector<std::byte>& broken, bool known) {
        UlpDialogue dialogue;
        if (known) dialogue.say(End::a, calls::read_call(1)).say(End::b, calls::read_reply(1));
        dialogue.say(End::a, broken).finish();
        return dialogue.report.events;
    };
    std::vector<std::byte> cut = calls::read_call(2);
    cut.resize(20);  // in the read list
    const std::vector<std::byte> error = qps::tests::MessageWriter().words({2, 1, 32, 4, 9}).bytes();
    const std::vector<std::pair<std::vector<std::byte>, std::string_view>> all{
        {with(4, 2), "version 2, not 1"},
        {with(12, 7), "message type 7, which does not exist"},
        {with(16, 5), "chunk lists that do not end within the message"},
        {with(0, 9), "another XID than the RPC header behind it"},
        {cut, "chunk lists that do not end within the message"},
        {error, "an RDMA_ERROR without an error code that exists"},
        {std::vector<std::byte>(7), "shorter than their header"},
    };
    for (const auto& [message, words] : all) {
        INFO(words);
        const auto events = events_of(message, true);
        REQUIRE(events.size() == 1);
        CHECK(events[0].kind == UlpEventKind::malformed);
        CHECK(events[0].words == words);
        CHECK(events[0].by_active);
        CHECK(events_of(message, false).empty());
    }
    CHECK(events_of({}, true).empty());
    CHECK(events_of(calls::read_call(2), true).empty());
}

TEST_CASE("private data of RFC 8797 says that a connection is for RPC over RDMA") {
    CmAttempt attempt;
    CHECK_FALSE(is_rpc_private_data(attempt));
    const qps::tests::MessageWriter data = qps::tests::MessageWriter().words({0xf6ab0e18, 0x01010303});
    std::ranges::copy(data.bytes(), attempt.active.private_data.first.begin());
    attempt.active.private_data.used = 8;
    CHECK(is_rpc_private_data(attempt));
}

TEST_CASE("messages of RPC over RDMA that end anywhere are followed without harm") {
    for (const auto& message : {calls::read_call(1), calls::read_reply(1), calls::write_call(1),
                                calls::long_call(1, 64), calls::long_answer(1, 64), calls::error(1, 1)})
        for (std::size_t length = 0; length < message.size(); ++length) {
            const std::vector<std::byte> part(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(length));
            UlpDialogue dialogue;
            dialogue.say(End::a, calls::read_call(1)).say(End::b, part).say(End::a, part).finish();
            CHECK(dialogue.report.conversations.size() == 1);
        }
}
