// iSER and SRP followed: operations with their data and status, logins, events, facts; and where they must not be
// recognised.
#include <tests/support/catch.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/scsi_ulp.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/ulp/iser_protocol.hpp>
#include <transport-replay/ulp/scsi_operation.hpp>
#include <transport-replay/ulp/srp_protocol.hpp>

#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

constexpr End kInitiator = End::b, kTarget = End::a;  // who is who must be found out

std::string name_of(const UlpOperation& operation) {
    return std::string(row_of(operation.protocol).operation_name(operation.code));
}
std::string about(const UlpOperation& operation) { return row_of(operation.protocol).describe(operation); }
std::string why(const UlpOperation& operation) { return row_of(operation.protocol).status(operation); }

Likeness likeness(UlpProtocol protocol, const Octets& bytes, std::uint64_t length = 0) {
    UlpMessage message;
    message.bytes = bytes;
    message.length = length == 0 ? bytes.size() : length;
    return row_of(protocol).message(message);
}

// An attempt at a connection with that private data.
CmAttempt attempt_with(const Octets& request, const Octets& reply, std::optional<std::uint16_t> port) {
    CmAttempt attempt;
    const auto put = [](PrivateData& data, const Octets& bytes) {
        data.room = static_cast<std::uint16_t>(bytes.size());
        std::ranges::copy(slice(bytes, 0, data.first.size()), data.first.begin());
        for (std::size_t i = 0; i < std::min(bytes.size(), data.first.size()); ++i)
            if (bytes[i] != std::byte{0}) data.used = static_cast<std::uint16_t>(i + 1);
    };
    put(attempt.active.private_data, request);
    put(attempt.passive.private_data, reply);
    attempt.requested = Instant{1000};
    attempt.answered = Instant{5000};
    if (port) attempt.ip = CmIpService{.protocol = 6, .port = *port};
    return attempt;
}

// A capture as the analysis sees it: what ended, and the report.
struct Followed {
    std::vector<UlpOperation> operations;
    UlpReport report;
};
Followed follow(const std::string& path) {
    Followed followed;
    AnalysisSettings settings;
    settings.operation = [&](const UlpOperation& operation) { followed.operations.push_back(operation); };
    Analysis analysis(settings);
    Observation observation;
    for_each_packet(path, [&](const Packet& packet) {
        observe(packet, observation);
        analysis.observe(observation);
    });
    followed.report = analysis.finish().ulp;
    return followed;
}

}  // namespace

TEST_CASE("an iSER command is an operation with its data and its status") {
    Delivered dialogue;
    const IserSpec memory{.read_stag = 7, .read_base = 0x1000};
    dialogue.send(kInitiator, iscsi_command(1, 4096, read_10(64, 8), memory));
    dialogue.transfer(kTarget, {0x1000, Rkey{7}, 4096});
    dialogue.send(kTarget, iscsi_response(1, 0));
    dialogue.send(kInitiator, iscsi_command(2, 8192, write_10(8, 16), {.write_stag = 9, .write_base = 0x2000}));
    dialogue.transfer(kTarget, {0x2000, Rkey{9}, 8192}, true);
    dialogue.send(kTarget, iscsi_response(2, 2, sense_fixed(7, 0x2700)));
    const UlpReport report = dialogue.finish();
    REQUIRE(dialogue.operations.size() == 2);
    const UlpOperation& read = dialogue.operations[0];
    CHECK(name_of(read) == "READ(10)");
    CHECK(about(read) == "LUN 0, LBA 64, 8 blocks");
    CHECK(read.outcome == OperationOutcome::done);
    CHECK(read.bytes == 4096);
    CHECK(read.written == 4096);
    CHECK(read.transfers == 1);
    CHECK(read.answered - read.asked == Duration{2'000'000});
    const UlpOperation& write = dialogue.operations[1];
    CHECK(name_of(write) == "WRITE(10)");
    CHECK(write.read == 8192);
    CHECK(write.outcome == OperationOutcome::failed);
    CHECK(why(write) == "CHECK CONDITION: data protect, write protected");
    REQUIRE(report.conversations.size() == 1);
    CHECK(report.conversations[0].protocol == UlpProtocol::iser);
    CHECK(report.conversations[0].basis == UlpBasis::content);
    CHECK(report.conversations[0].active == kInitiator);
    CHECK(report.conversations[0].failed == 1);
    CHECK(report.conversations[0].unread == 0);
}

TEST_CASE("immediate data counts as data in the message, and the memory behind it is the rest") {
    Delivered dialogue;
    dialogue.send(kInitiator, iscsi_command(3, 100, write_10(1, 1), {.write_stag = 9, .write_base = 0x100a},
                                            characters("0123456789")));
    dialogue.transfer(kTarget, {0x100a, Rkey{9}, 90}, true);
    dialogue.transfer(kTarget, {0x100a + 90, Rkey{9}, 8}, true);  // beyond what was named
    dialogue.send(kInitiator, iser_message({.opcode = 0x05, .tag = 3, .data = characters("01234")}));
    dialogue.send(kTarget, iscsi_response(3, 0));
    static_cast<void>(dialogue.finish());
    REQUIRE(dialogue.operations.size() == 1);
    CHECK(dialogue.operations[0].in_message == 15);
    CHECK(dialogue.operations[0].read == 90);
    CHECK(dialogue.operations[0].transfers == 1);
}

TEST_CASE("a login tells who it is, a failing one is an event with its status in words") {
    Delivered dialogue;
    using namespace std::string_view_literals;
    dialogue.send(kInitiator, iscsi_login_request(
                                  "InitiatorName=iqn.a\0TargetName=iqn.b\0SessionType=Normal\0MaxBurstLength=999\0"sv));
    dialogue.send(kTarget, iscsi_login_response(0, "MaxBurstLength=262144\0RDMAExtensions=Yes\0"sv));
    dialogue.send(kInitiator, iscsi_login_request("AuthMethod=None\0"sv));
    dialogue.send(kTarget, iscsi_login_response(0x0201));
    const UlpReport report = dialogue.finish();
    REQUIRE(report.conversations.size() == 1);
    const UlpConversation& conversation = report.conversations[0];
    CHECK(conversation.fact("initiator") == "iqn.a");
    CHECK(conversation.fact("target") == "iqn.b");
    CHECK(conversation.fact("session_type") == "Normal");
    CHECK(conversation.fact("max_burst_length") == "262144");
    CHECK(conversation.fact("rdma_extensions") == "Yes");
    REQUIRE(dialogue.operations.size() == 2);
    CHECK(name_of(dialogue.operations[0]) == "Login");
    CHECK(dialogue.operations[0].outcome == OperationOutcome::done);
    CHECK(why(dialogue.operations[1]) == "authentication failure");
    REQUIRE(report.events.size() == 1);
    CHECK(report.events[0].kind == UlpEventKind::login_failed);
    CHECK(report.events[0].words == "authentication failure");
    CHECK(report.events[0].number == 0x0201);
    CHECK_FALSE(report.events[0].by_active);
}

TEST_CASE("a login after which the target only closes the connection has failed") {
    for (const bool released : {true, false}) {
        INFO(released);
        CmReport cm;
        CmAttempt attempt = attempt_with({std::byte{0x80}, {}, {}, {}}, {}, 3260);
        attempt.uid = 7;
        Delivered dialogue;
        dialogue.connected(attempt);
        dialogue.send(End::a, iscsi_login_request(std::string_view("TargetName=iqn.nobody\0", 22)));
        attempt.outcome = released ? CmOutcome::disconnected : CmOutcome::established;
        attempt.ladder.push_back({.frame = FrameIndex{9}, .time = Instant{99}, .message = CmMessage::dreq});
        cm.attempts.push_back(attempt);
        const UlpReport report = dialogue.finish(cm);
        REQUIRE(dialogue.operations.size() == 1);
        CHECK(dialogue.operations[0].outcome == (released ? OperationOutcome::unanswered : OperationOutcome::open));
        REQUIRE(report.events.size() == (released ? 1U : 0U));
        if (!released) continue;
        CHECK(report.events[0].kind == UlpEventKind::login_failed);
        CHECK(report.events[0].words == "the target closed the connection without an answer");
        CHECK_FALSE(report.events[0].by_active);
    }
}

TEST_CASE("pings of both sides, task management, logout, rejects and asynchronous messages are understood") {
    Delivered dialogue;
    const auto with = [](std::uint8_t opcode, std::uint32_t tag, const Octets& rest = {}, std::uint8_t flags = 0x80,
                         std::uint8_t third = 0) {
        return iser_message({.opcode = opcode, .flags = flags, .third = third, .tag = tag, .rest = rest});
    };
    const Octets no_tag = WireBytes{}.put(std::uint32_t{0xffffffff}).bytes;
    dialogue.send(kInitiator, with(0x00, 5, no_tag));
    dialogue.send(kTarget, with(0x20, 5, no_tag));
    dialogue.send(kTarget, with(0x20, 0xffffffff, WireBytes{}.put(std::uint32_t{77}).bytes));
    dialogue.send(kInitiator, with(0x00, 0xffffffff, WireBytes{}.put(std::uint32_t{77}).bytes));
    dialogue.send(kTarget, with(0x20, 0xffffffff, no_tag));  // no question: it moves the window
    dialogue.send(kInitiator, with(0x02, 6, WireBytes{}.put(std::uint32_t{1}).bytes, 0x81));
    dialogue.send(kTarget, with(0x22, 6, {}, 0x80, 1));
    dialogue.send(kInitiator, iscsi_command(8, 512, read_10(0, 1), {}));
    Octets rejected = iser_message({.opcode = 0x3f, .third = 9, .tag = 0xffffffff, .data = Octets(48)});
    rejected[28 + 48 + 19] = std::byte{8};  // the task tag of what is rejected
    dialogue.send(kTarget, rejected);
    dialogue.send(kTarget, with(0x32, 0xffffffff, WireBytes{}.zeros(16).put(std::uint8_t{2}).bytes));
    dialogue.send(kInitiator, with(0x06, 9, {}, 0x80));
    dialogue.send(kTarget, with(0x26, 9));
    const UlpReport report = dialogue.finish();
    CHECK(report.conversations.at(0).unread == 0);
    std::vector<std::string> names;
    for (const UlpOperation& operation : dialogue.operations) names.push_back(name_of(operation));
    CHECK(names == std::vector<std::string>{"NOP-Out", "NOP-In", "ABORT TASK", "READ(10)", "Logout"});
    CHECK(dialogue.operations[1].requester == kTarget);
    CHECK(why(dialogue.operations[2]) == "task does not exist");
    CHECK(why(dialogue.operations[3]) == "rejected: invalid PDU field");
    CHECK(about(dialogue.operations[4]) == "close the session");
    REQUIRE(report.events.size() == 2);
    CHECK(report.events[0].kind == UlpEventKind::error_message);
    CHECK(report.events[1].kind == UlpEventKind::terminated);
    CHECK(report.events[1].words == "target will drop the connection");
}

TEST_CASE("one SRP command with memory is enough, response, sense and request limit are followed") {
    Delivered dialogue;
    const SrpMemory memory{0x10000, 7, 4096};
    dialogue.send(kInitiator, srp_command(1, read_10(8, 8), {}, {memory}));
    dialogue.transfer(kTarget, {memory.address, Rkey{memory.key}, 4096});
    dialogue.send(kTarget, srp_response(1, 0));
    dialogue.send(kInitiator, srp_command(2, write_10(16, 16), {memory, {0x90000, 8, 4096}}, {}));
    dialogue.transfer(kTarget, {memory.address, Rkey{7}, 4096}, true);
    dialogue.transfer(kTarget, {0x90000, Rkey{8}, 4096}, true);
    dialogue.send(kTarget, srp_response(2, 2, sense_fixed(5, 0x2100)));
    dialogue.send(kTarget, srp_short(0x80, 1, 0));
    dialogue.send(kInitiator, srp_short(0x03, 0, 5));
    const UlpReport report = dialogue.finish();
    REQUIRE(dialogue.operations.size() == 3);
    CHECK(dialogue.operations[0].bytes == 4096);
    CHECK(dialogue.operations[0].written == 4096);
    CHECK(dialogue.operations[1].bytes == 8192);
    CHECK(dialogue.operations[1].read == 8192);
    CHECK(why(dialogue.operations[1]) == "CHECK CONDITION: illegal request, logical block address out of range");
    CHECK(name_of(dialogue.operations[2]) == "Logout");
    CHECK(dialogue.operations[2].one_way);
    REQUIRE(report.events.size() == 1);
    CHECK(report.events[0].kind == UlpEventKind::terminated);
    CHECK(report.conversations.at(0).active == kInitiator);
    CHECK(report.conversations.at(0).unread == 0);
}

TEST_CASE("SRP task management is answered by its response code") {
    Delivered dialogue({{1, UlpProtocol::srp}});
    WireBytes task;
    task.put(std::uint8_t{1})
        .zeros(7)
        .put(std::uint64_t{9})
        .zeros(14)
        .put(std::uint8_t{8})
        .zeros(1)
        .put(std::uint64_t{3})
        .zeros(8);
    dialogue.send(kInitiator, task.bytes);
    dialogue.send(kTarget, srp_response(9, 0, {}, 0, WireBytes{}.zeros(3).put(std::uint8_t{5}).bytes));
    const UlpReport report = dialogue.finish();
    REQUIRE(dialogue.operations.size() == 1);
    CHECK(name_of(dialogue.operations[0]) == "LOGICAL UNIT RESET");
    CHECK(about(dialogue.operations[0]) == "LUN 0, task 0x3");
    CHECK(why(dialogue.operations[0]) == "task management function failed");
    CHECK(report.conversations.at(0).basis == UlpBasis::user);
}

TEST_CASE("an SRP login is known by its private data, in both forms, and grants the request limit") {
    for (const bool rdma : {true, false}) {
        INFO(rdma);
        const auto port = rdma ? std::optional<std::uint16_t>(5555) : std::nullopt;
        const CmAttempt attempt = attempt_with(srp_login_request(rdma), srp_login_response(2), port);
        REQUIRE(row_of(UlpProtocol::srp).private_data(attempt));
        Delivered dialogue;
        dialogue.connected(attempt);
        dialogue.send(End::a, srp_command(1, read_10(8, 8), {}, {}));
        dialogue.send(End::b, srp_response(1, 0));
        dialogue.send(End::a, srp_command(2, read_10(8, 8), {}, {}));
        dialogue.send(End::a, srp_command(3, read_10(8, 8), {}, {}));
        dialogue.send(End::b, srp_response(2, 0));
        dialogue.send(End::a, srp_command(4, read_10(8, 8), {}, {}));
        const UlpReport report = dialogue.finish();
        REQUIRE(report.conversations.size() == 1);
        const UlpConversation& conversation = report.conversations[0];
        CHECK(conversation.basis == UlpBasis::private_data);
        CHECK(conversation.fact("initiator_port") == "00000000000000010000000000000002");
        CHECK(conversation.fact("target_port") == "00000000000000030000000000000004");
        CHECK(conversation.least_credits == 2);
        REQUIRE(dialogue.operations.size() == 5);
        CHECK(name_of(dialogue.operations[0]) == "Login");
        CHECK(dialogue.operations[0].outcome == OperationOutcome::done);
        CHECK(dialogue.operations[0].answered - dialogue.operations[0].asked == Duration{4000});
        REQUIRE(report.events.size() == 1);
        CHECK(report.events[0].kind == UlpEventKind::credits_exhausted);
        CHECK(report.events[0].number == 2);
    }
}

TEST_CASE("an SRP login that is rejected is told with its reason") {
    CmReport cm;
    CmAttempt& attempt = cm.attempts.emplace_back(attempt_with(srp_login_request(true), {}, 5555));
    attempt.uid = 4;
    CmRejection rejection;
    std::ranges::copy(srp_login_reject(0x00010006), rejection.private_data.first.begin());
    rejection.private_data.room = 148;
    attempt.rejection = rejection;
    Delivered dialogue;
    const UlpReport report = dialogue.finish(cm);
    REQUIRE(report.events.size() == 1);
    CHECK(report.events[0].kind == UlpEventKind::refused);
    CHECK(report.events[0].cm_attempt == 4U);
    CHECK(report.events[0].words == "login rejected: RDMA channel limit reached for this initiator");
    CHECK(report.events[0].number == 0x00010006);
}

TEST_CASE("an iSER connection is known by its port, and by Linux' private data there") {
    const auto is_iser = [](std::uint8_t flags, std::uint16_t port) {
        return row_of(UlpProtocol::iser).private_data(attempt_with({std::byte{flags}, {}, {}, {}}, {}, port));
    };
    CHECK(is_iser(0x80, 3260));
    CHECK(is_iser(0xc0, 860));
    CHECK_FALSE(is_iser(0x81, 3260));
    CHECK_FALSE(is_iser(0x80, 4420));
    Delivered dialogue;
    dialogue.connected(attempt_with({std::byte{0x80}, {}, {}, {}}, {std::byte{0x80}, {}, {}, {}}, 3260));
    const UlpReport report = dialogue.finish();
    CHECK(report.conversations.at(0).fact("initiator_iser") == "no zero-based addresses");
}

TEST_CASE("plain data, and each other's messages, are neither iSER nor SRP") {
    std::vector<Octets> messages = plain_messages();
    for (const std::uint32_t first :
         {0x10000000U, 0x14000000U, 0x02000000U, 0xc1000000U, 0x00000000U, 0x03000000U, 0x20000000U})
        for (const std::size_t length : {16UL, 28UL, 36UL, 48UL, 64UL, 76UL, 80UL, 512UL})
            messages.push_back(WireBytes{}.put(first).zeros(length - 4).bytes);
    Delivered dialogue;
    for (const Octets& message : messages) {
        INFO(message.size() << " bytes, the first " << std::to_integer<int>(message.front()));
        CHECK(likeness(UlpProtocol::iser, message).percent < kPlausible);
        CHECK(likeness(UlpProtocol::srp, message).percent < kPlausible);
        dialogue.send(kInitiator, message);
    }
    CHECK(dialogue.finish().conversations.empty());
    CHECK(likeness(UlpProtocol::srp, iscsi_command(1, 512, read_10(0, 1), {})).percent == 0);
    CHECK(likeness(UlpProtocol::iser, srp_command(1, read_10(0, 1), {}, {{1, 2, 3}})).percent == 0);
    CHECK(likeness(UlpProtocol::srp, srp_response(1, 0)).percent == kSure);
    CHECK(likeness(UlpProtocol::srp, srp_command(1, read_10(0, 1), {}, {{1, 2, 3}}), 300).percent ==
          0);  // lengths that do not agree
    CHECK(likeness(UlpProtocol::iser, iscsi_command(1, 512, read_10(0, 1), {}), 300).percent == 0);
}

TEST_CASE("a service that speaks something else on the port of iSCSI is given up") {
    Delivered dialogue;
    dialogue.connected(attempt_with({}, {}, 3260));
    for (int i = 0; i < 10; ++i)
        dialogue.send(kInitiator,
                      characters("a service of my own, which is not iSCSI at all, of some length or other"));
    CHECK(dialogue.finish().conversations.empty());
}

TEST_CASE("the iSER capture's commands are those that the machines counted") {
    const Followed followed = follow(QPSCOPE_SOURCE_DIR "/captures/iser/capture.pcap");
    REQUIRE(followed.report.conversations.size() == 1);
    const UlpConversation& conversation = followed.report.conversations[0];
    CHECK(conversation.protocol == UlpProtocol::iser);
    CHECK(conversation.unread == 0);
    CHECK(conversation.fact("initiator") == "iqn.2026-11.lab:i1");
    CHECK(conversation.fact("target") == "iqn.2026-11.lab:t1");
    std::map<std::string, std::size_t> counted;
    std::uint64_t written = 0, read = 0;
    for (const UlpOperation& operation : followed.operations) {
        ++counted[name_of(operation)];
        CHECK(operation.outcome != OperationOutcome::open);
        written += operation.written;
        read += operation.read;
    }
    CHECK(counted["INQUIRY"] == 4);
    CHECK(counted["READ(10)"] == 7);
    CHECK(counted["WRITE(10)"] == 2);
    CHECK(counted["Login"] == 1);
    CHECK(counted["Logout"] == 1);
    CHECK(read + written > 200'000);
    REQUIRE(followed.report.failures.size() == 1);
    CHECK(qps::transport::scsi::status(followed.report.failures[0].status) ==
          "CHECK CONDITION: illegal request, invalid command operation code");
}

TEST_CASE("commands and their status are those that the initiator's kernel counted") {
    const std::map<std::string, std::uint8_t> opcodes{
        {"TEST_UNIT_READY", 0x00}, {"INQUIRY", 0x12},       {"MODE_SENSE", 0x1a},           {"READ_10", 0x28},
        {"WRITE_10", 0x2a},        {"MODE_SENSE_10", 0x5a}, {"SERVICE_ACTION_IN_16", 0x9e}, {"REPORT_LUNS", 0xa0},
        {"MAINTENANCE_IN", 0xa3}};
    for (const std::string_view name : {"srp_io", "srp_large", "iser_io", "iser_large", "iser_chap"}) {
        INFO(name);
        const std::string folder = QPSCOPE_SOURCE_DIR "/captures/" + std::string(name);
        const Followed followed = follow(folder + "/capture.pcapng");
        const auto counts = nlohmann::json::parse(std::ifstream(folder + "/counts.json"))["counts"];
        REQUIRE(followed.report.conversations.size() == 1);
        CHECK(followed.report.conversations[0].unread == 0);
        std::map<std::uint8_t, std::uint64_t> seen;
        std::uint64_t good = 0, failed = 0, moved = 0;
        for (const UlpOperation& operation : followed.operations) {
            if (qps::transport::scsi::family_of(operation.code) != qps::transport::scsi::Family::command) continue;
            ++seen[qps::transport::scsi::opcode_of(operation.code)];
            ++(operation.outcome == OperationOutcome::done ? good : failed);
            const std::uint8_t opcode = qps::transport::scsi::opcode_of(operation.code);
            if (opcode == 0x28 || opcode == 0x2a) moved += operation.read + operation.written + operation.in_message;
        }
        for (const auto& [word, count] : counts["scsi"].items()) {
            INFO(word);
            REQUIRE(opcodes.contains(word));
            CHECK(seen[opcodes.at(word)] == count.get<std::uint64_t>());
            seen.erase(opcodes.at(word));
        }
        CHECK(seen.empty());
        CHECK(good == counts["scsi_status"]["SAM_STAT_GOOD"].get<std::uint64_t>());
        CHECK(failed == counts["scsi_status"]["SAM_STAT_CHECK_CONDITION"].get<std::uint64_t>());
        if (!counts.contains("block_sda")) continue;
        CHECK(moved == counts["block_sda"]["read_bytes"].get<std::uint64_t>() +
                           counts["block_sda"]["written_bytes"].get<std::uint64_t>());
    }
}

TEST_CASE("logins that fail in captures are events in the protocol's words") {
    struct Case {
        std::string_view capture;
        UlpEventKind kind;
        std::string_view words;
    };
    for (const Case& expected :
         {Case{"iser_chap_wrong", UlpEventKind::login_failed, "authentication failure"},
          Case{"iser_no_target", UlpEventKind::login_failed, "the target closed the connection without an answer"},
          Case{"srp_login_rejected", UlpEventKind::refused,
               "login rejected: RDMA channel limit reached for this initiator"}}) {
        INFO(expected.capture);
        const Followed followed =
            follow(QPSCOPE_SOURCE_DIR "/captures/" + std::string(expected.capture) + "/capture.pcapng");
        CHECK(std::ranges::any_of(followed.report.events, [&](const UlpEvent& event) {
            return event.kind == expected.kind && event.words == expected.words;
        }));
    }
}
