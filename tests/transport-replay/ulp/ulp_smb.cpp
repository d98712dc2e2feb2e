// SMB Direct is recognised, and its commands are followed: fragments, chains, data by RDMA, failures, credits.
#include <tests/support/catch.hpp>
#include <tests/support/rpc_messages.hpp>
#include <tests/support/smb_messages.hpp>
#include <tests/support/ulp_talk.hpp>
#include <transport-replay/ulp/smb_protocol.hpp>

#include <random>

using namespace qps::dissect;
using namespace qps::transport;
using qps::tests::UlpTalk;
namespace calls = qps::tests::rpc_messages;
namespace frames = qps::tests::smb_messages;

namespace {

UlpMessage smb_message(const std::vector<std::byte>& bytes) {
    UlpMessage message;
    message.bytes = bytes;
    message.length = bytes.size();
    return message;
}

std::string smb_name(const UlpOperation& operation) { return std::string(smb_operation_name(operation.code)); }

}  // namespace

TEST_CASE("SMB Direct is known by its negotiation and by SMB2 in it") {
    CHECK(smb_likeness(smb_message(frames::negotiate_request())).percent >= kSure);
    CHECK(smb_likeness(smb_message(frames::negotiate_request())).from_active);
    CHECK_FALSE(smb_likeness(smb_message(frames::negotiate_response())).from_active);
    CHECK(smb_likeness(smb_message(frames::data(frames::tree_connect(1)))).percent >= kSure);
    CHECK(smb_likeness(smb_message(frames::data({}))).percent < kPlausible);
}

TEST_CASE("plain data, random bytes and other protocols are not SMB Direct") {
    std::mt19937 random(9);  // NOLINT: the same every time
    for (int i = 0; i < 2000; ++i) {
        std::vector<std::byte> bytes(random() % 200);
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
        CHECK(smb_likeness(smb_message(bytes)).percent < kPlausible);
    }
    for (const auto& message : {calls::read_call(1), calls::read_reply(1), calls::error(1, 2)})
        CHECK(smb_likeness(smb_message(message)).percent == 0);
    UlpTalk talk;
    for (int i = 0; i < 40; ++i) talk.say(i % 2 == 0 ? End::a : End::b, std::vector<std::byte>(64));
    talk.finish();
    CHECK(talk.report.conversations.empty());
}

TEST_CASE("READ and WRITE of SMB2 are followed with the memory that they name") {
    UlpTalk talk;
    talk.say(End::a, frames::negotiate_request()).say(End::b, frames::negotiate_response());
    talk.say(End::b, frames::data(frames::negotiate_dialect(0, 0x311), {.granted = 10}));
    talk.say(End::a, frames::data(frames::tree_connect(1))).say(End::b, frames::data(frames::response({.command = 3, .id = 1}, 16, 14)));
    talk.say(End::a, frames::data(frames::read_request(2, 8192, {{0x1000, 0x11, 4096}, {0x9000, 0x12, 4096}})));
    talk.move(End::a, false, {0x1000, Rkey{0x11}, 4096}, 4096).move(End::a, false, {0x9000, Rkey{0x12}, 4096}, 4096);
    talk.say(End::b, frames::data(frames::response({.command = 8, .id = 2}, 17, 14)));
    talk.say(End::a, frames::data(frames::write_request(3, 4096, {0x2000, 0x21, 4096})));
    talk.move(End::a, true, {0x2000, Rkey{0x21}, 4096}, 4096);
    talk.say(End::b, frames::data(frames::response({.command = 9, .status = 0x103, .id = 3}, 9, 7)));  // pending
    talk.say(End::b, frames::data(frames::response({.command = 9, .status = 0xc000007f, .id = 3}, 9, 7)));
    talk.finish();
    REQUIRE(talk.operations.size() == 3);
    CHECK(smb_name(talk.operations[0]) == "TREE_CONNECT");
    const UlpOperation& read = talk.operations[1];
    CHECK(smb_name(read) == "READ");
    CHECK(smb_description(read) == "offset 65536, 8192 bytes");
    CHECK(read.written == 8192);
    CHECK(read.transfers == 2);
    CHECK(read.outcome == OperationOutcome::done);
    const UlpOperation& write = talk.operations[2];
    CHECK(write.read == 4096);
    CHECK(write.outcome == OperationOutcome::failed);
    CHECK(smb_status(write) == "STATUS_DISK_FULL");
    CHECK(elapsed(write.asked, write.answered) == Duration{3 * UlpTalk::kStep});
    const UlpConversation& told = talk.report.conversations.at(0);
    CHECK(told.protocol == UlpProtocol::smb_direct);
    CHECK(told.fact("dialect") == "SMB 3.1.1");
    CHECK(told.fact("share") == "\\\\s\\share");
    CHECK(told.active == End::a);
}

TEST_CASE("fragments are put together, and a lost one loses that message only") {
    const std::vector<std::byte> whole = frames::read_request(2, 4096, {{0x1000, 0x11, 4096}});
    const std::vector<std::byte> first(whole.begin(), whole.begin() + 80);
    const std::vector<std::byte> second(whole.begin() + 80, whole.end());
    const auto left = static_cast<std::uint32_t>(second.size());
    UlpTalk talk;
    talk.say(End::a, frames::negotiate_request()).say(End::a, frames::data(first, {.remaining = left})).say(End::a, frames::data(second));
    talk.move(End::a, false, {0x1000, Rkey{0x11}, 4096}, 4096).say(End::b, frames::data(frames::response({.command = 8, .id = 2}, 17, 14)));
    talk.say(End::a, frames::data(first, {.remaining = left}));  // its second is lost
    talk.say(End::a, frames::data(frames::write_request(4, 64, {0x2000, 0x21, 64})));
    talk.say(End::b, frames::data(frames::response({.command = 9, .id = 4}, 17, 14)));
    talk.finish();
    REQUIRE(talk.operations.size() == 2);
    CHECK(talk.operations[0].written == 4096);
    CHECK(smb_name(talk.operations[1]) == "WRITE");
}

TEST_CASE("a failed log-in and credits that are used up are events") {
    UlpTalk talk;
    talk.say(End::a, frames::negotiate_request()).say(End::b, frames::negotiate_response(2));
    talk.say(End::a, frames::data(frames::header({.command = 1, .id = 1}).little(25, 2).zeros(22).bytes()));
    talk.say(End::b, frames::data(frames::response({.command = 1, .status = 0xc0000016, .id = 1}, 9, 7)));
    talk.say(End::a, frames::data(frames::header({.command = 1, .id = 2}).little(25, 2).zeros(22).bytes()));
    talk.say(End::b, frames::data(frames::response({.command = 1, .status = 0xc000006d, .id = 2}, 9, 7)));
    talk.finish();
    REQUIRE(talk.report.events.size() == 2);
    CHECK(talk.report.events[0].kind == UlpEventKind::credits_used_up);
    CHECK(talk.report.events[1].kind == UlpEventKind::login_failed);
    CHECK(talk.report.events[1].words == "STATUS_LOGON_FAILURE");
    CHECK(talk.report.conversations.at(0).failed == 1);
}

TEST_CASE("messages of SMB Direct that end anywhere are followed without harm") {
    for (const auto& message :
         {frames::negotiate_response(), frames::data(frames::read_request(1, 4096, {{1, 2, 3}})), frames::data(frames::tree_connect(1))})
        for (std::size_t length = 0; length < message.size(); ++length) {
            const std::vector<std::byte> part(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(length));
            UlpTalk talk;
            talk.say(End::a, frames::negotiate_request()).say(End::b, part).say(End::a, part).finish();
            CHECK(talk.report.conversations.size() == 1);
        }
}
