// SMB Direct is recognised, and its commands are followed: fragments, chains, data by RDMA, failures, credits.
#include <tests/support/catch.hpp>
#include <tests/support/rpc_messages.hpp>
#include <tests/support/smb_messages.hpp>
#include <tests/support/ulp_dialogue.hpp>
#include <transport-replay/ulp/smb_protocol.hpp>

#include <algorithm>
#include <bit>
#include <random>
#include <utility>

using namespace qps::dissect;
using namespace qps::transport;
using qps::tests::UlpDialogue;
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
    UlpDialogue dialogue;
    for (int i = 0; i < 40; ++i) dialogue.say(i % 2 == 0 ? End::a : End::b, std::vector<std::byte>(64));
    dialogue.finish();
    CHECK(dialogue.report.conversations.empty());
}

TEST_CASE("READ and WRITE of SMB2 are followed with the memory that they name") {
    UlpDialogue dialogue;
    dialogue.say(End::a, frames::negotiate_request()).say(End::b, frames::negotiate_response());
    dialogue.say(End::b, frames::data(frames::negotiate_dialect(0, 0x311), {.granted = 10}));
    dialogue.say(End::a, frames::data(frames::tree_connect(1)))
        .say(End::b, frames::data(frames::response({.command = 3, .id = 1}, 16, 14)));
    dialogue.say(End::a, frames::data(frames::read_request(2, 8192, {{0x1000, 0x11, 4096}, {0x9000, 0x12, 4096}})));
    dialogue.move(End::a, false, {0x1000, Rkey{0x11}, 4096}, 4096)
        .move(End::a, false, {0x9000, Rkey{0x12}, 4096}, 4096);
    dialogue.say(End::b, frames::data(frames::response({.command = 8, .id = 2}, 17, 14)));
    dialogue.say(End::a, frames::data(frames::write_request(3, 4096, {0x2000, 0x21, 4096})));
    dialogue.move(End::a, true, {0x2000, Rkey{0x21}, 4096}, 4096);
    dialogue.say(End::b, frames::data(frames::response({.command = 9, .status = 0x103, .id = 3}, 9, 7)));  // pending
    dialogue.say(End::b, frames::data(frames::response({.command = 9, .status = 0xc000007f, .id = 3}, 9, 7)));
    dialogue.finish();
    REQUIRE(dialogue.operations.size() == 3);
    CHECK(smb_name(dialogue.operations[0]) == "TREE_CONNECT");
    const UlpOperation& read = dialogue.operations[1];
    CHECK(smb_name(read) == "READ");
    CHECK(smb_description(read) == "offset 65536, 8192 bytes");
    CHECK(read.written == 8192);
    CHECK(read.transfers == 2);
    CHECK(read.outcome == OperationOutcome::done);
    const UlpOperation& write = dialogue.operations[2];
    CHECK(write.read == 4096);
    CHECK(write.outcome == OperationOutcome::failed);
    CHECK(smb_status(write) == "STATUS_DISK_FULL");
    CHECK(write.answered - write.asked == Duration{3 * UlpDialogue::kStep});
    const UlpConversation& conversation = dialogue.report.conversations.at(0);
    CHECK(conversation.protocol == UlpProtocol::smb_direct);
    CHECK(conversation.fact("dialect") == "SMB 3.1.1");
    CHECK(conversation.fact("share") == "\\\\s\\share");
    CHECK(conversation.active == End::a);
}

TEST_CASE("operations of SMB2 bear the name of the file that CREATE opened") {
    UlpDialogue dialogue;
    dialogue.say(End::a, frames::negotiate_request()).say(End::b, frames::negotiate_response());
    const auto about = [&](std::uint16_t command, std::uint64_t id) -> std::string {
        const auto found = std::ranges::find_if(dialogue.operations, [&](const UlpOperation& operation) {
            return std::to_underlying(operation.code) == command && operation.tag == id;
        });
        REQUIRE(found != dialogue.operations.end());
        return found->about.empty() ? "none" : found->about;
    };
    const auto ask = [&](const std::vector<std::byte>& request, const std::vector<std::byte>& answer) {
        dialogue.say(End::a, frames::data(request)).say(End::b, frames::data(answer));
    };
    const auto done = [](std::uint16_t command, std::uint64_t id, std::uint32_t status = 0) {
        return frames::response({.command = command, .status = status, .id = id}, 9, 14);
    };
    ask(frames::create_request(2, "docs\\a.txt"), frames::create_response(2, 0x70));
    ask(frames::create_request(3, ""), frames::create_response(3, 0x80));
    ask(frames::create_request(4, "missing"), done(5, 4, 0xc0000034));
    ask(frames::query_directory(5, 0x70), done(14, 5));
    ask(frames::query_directory(6, 0x90), done(14, 6));  // opened before the capture
    ask(frames::close_request(7, 0x70), done(6, 7));
    ask(frames::query_directory(8, 0x70), done(14, 8));  // closed
    // A chain: CREATE, and a command on what it opens.
    std::vector<std::byte> chain = frames::create_request(9, "dir/");
    chain.resize((chain.size() + 7) / 8 * 8);
    write_bits(chain, 20 * 8, 32, std::byteswap(static_cast<std::uint32_t>(chain.size())));
    const auto second = frames::query_directory(10, ~std::uint64_t{0});
    chain.insert(chain.end(), second.begin(), second.end());
    dialogue.say(End::a, frames::data(chain)).say(End::b, frames::data(frames::create_response(9, 0xa0)));
    dialogue.say(End::b, frames::data(done(14, 10)));
    dialogue.finish();
    CHECK(about(5, 2) == "docs\\a.txt");
    CHECK(about(5, 3) == "\\");
    CHECK(about(5, 4) == "missing");
    CHECK(about(14, 5) == "docs\\a.txt");
    CHECK(about(14, 6) == "none");
    CHECK(about(6, 7) == "docs\\a.txt");
    CHECK(about(14, 8) == "none");
    CHECK(about(5, 9) == "dir/");
    CHECK(about(14, 10) == "dir/");
}

TEST_CASE("what programs expect to be told is no failure worth a warning") {
    CHECK(smb_everyday(0xc0000034));        // no such name
    CHECK(smb_everyday(0xc0000011));        // end of file
    CHECK_FALSE(smb_everyday(0xc0000022));  // access denied
    CHECK_FALSE(smb_everyday(0xc000007f));  // disk full
}

TEST_CASE("fragments are put together, and a lost one loses that message only") {
    const std::vector<std::byte> whole = frames::read_request(2, 4096, {{0x1000, 0x11, 4096}});
    const std::vector<std::byte> first(whole.begin(), whole.begin() + 80);
    const std::vector<std::byte> second(whole.begin() + 80, whole.end());
    const auto left = static_cast<std::uint32_t>(second.size());
    UlpDialogue dialogue;
    dialogue.say(End::a, frames::negotiate_request())
        .say(End::a, frames::data(first, {.remaining = left}))
        .say(End::a, frames::data(second));
    dialogue.move(End::a, false, {0x1000, Rkey{0x11}, 4096}, 4096)
        .say(End::b, frames::data(frames::response({.command = 8, .id = 2}, 17, 14)));
    dialogue.say(End::a, frames::data(first, {.remaining = left}));  // its second is lost
    dialogue.say(End::a, frames::data(frames::write_request(4, 64, {0x2000, 0x21, 64})));
    dialogue.say(End::b, frames::data(frames::response({.command = 9, .id = 4}, 17, 14)));
    dialogue.finish();
    REQUIRE(dialogue.operations.size() == 2);
    CHECK(dialogue.operations[0].written == 4096);
    CHECK(smb_name(dialogue.operations[1]) == "WRITE");
}

TEST_CASE("a failed log-in and credits that are used up are events") {
    UlpDialogue dialogue;
    dialogue.say(End::a, frames::negotiate_request()).say(End::b, frames::negotiate_response(2));
    dialogue.say(End::a, frames::data(frames::header({.command = 1, .id = 1}).little(25, 2).zeros(22).bytes()));
    dialogue.say(End::b, frames::data(frames::response({.command = 1, .status = 0xc0000016, .id = 1}, 9, 7)));
    dialogue.say(End::a, frames::data(frames::header({.command = 1, .id = 2}).little(25, 2).zeros(22).bytes()));
    dialogue.say(End::b, frames::data(frames::response({.command = 1, .status = 0xc000006d, .id = 2}, 9, 7)));
    dialogue.say(End::a, frames::data(frames::header({.command = 1, .id = 3}).little(25, 2).zeros(22).bytes()));
    dialogue.finish();
    REQUIRE(dialogue.report.events.size() == 2);
    CHECK(dialogue.report.events[0].kind == UlpEventKind::login_failed);
    CHECK(dialogue.report.events[0].words == "STATUS_LOGON_FAILURE");
    CHECK(dialogue.report.events[1].kind == UlpEventKind::credits_exhausted);
    CHECK(dialogue.report.conversations.at(0).failed == 1);
}

TEST_CASE("messages of SMB Direct that end anywhere are followed without harm") {
    for (const auto& message : {frames::negotiate_response(), frames::data(frames::read_request(1, 4096, {{1, 2, 3}})),
                                frames::data(frames::tree_connect(1))})
        for (std::size_t length = 0; length < message.size(); ++length) {
            const std::vector<std::byte> part(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(length));
            UlpDialogue dialogue;
            dialogue.say(End::a, frames::negotiate_request()).say(End::b, part).say(End::a, part).finish();
            CHECK(dialogue.report.conversations.size() == 1);
        }
}
