// What `follow` writes is what the packets carried: compared with a reassembly that knows nothing of ours, and with
// what the programs that were captured are known to send.
#include <dissect/base/opcode.hpp>
#include <dissect/base/packet.hpp>
#include <dissect/capture/capture_file.hpp>
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/model/observation.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

using namespace qps::dissect;
using namespace qps::test;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

std::string hex_of(Bytes bytes) {
    std::string text;
    for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    return text;
}

std::string text_of(const std::string& hex) {
    std::string text;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        text += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return text;
}

// The messages of a capture by brute force: all packets with a payload of each way by their PSN, the first good one of
// each, glued from FIRST to LAST. PSNs of these captures do not wrap.
std::multiset<std::string> reassembled(const std::string& path) {
    struct Part {
        Place place;
        std::string hex;
    };
    using Way = std::tuple<qps::transport::Address, qps::transport::Address, std::uint32_t, bool>;
    std::map<Way, std::map<std::uint32_t, Part>> ways;
    auto file = CaptureFile::open(path);
    REQUIRE(file.has_value());
    Batch batch;
    Packet packet;
    qps::transport::Observation seen;
    while (file->read(batch))
        for (const Frame& frame : batch.frames) {
            decode(frame, packet);
            qps::transport::observe(packet, seen);
            const OpcodeRow& row = info(packet.opcode);
            if (seen.kind != qps::transport::ObservationKind::transport || seen.management || !row.carries_payload)
                continue;
            if (packet.icrc.status == CrcStatus::bad) continue;
            const Way way{seen.flow.source, seen.flow.destination, static_cast<std::uint32_t>(seen.flow.destination_qp),
                          row.request};
            ways[way].try_emplace(seen.psn.value(), Part{row.place, hex_of(seen.payload)});
        }
    std::multiset<std::string> messages;
    for (const auto& [way, parts] : ways) {
        std::string message;
        for (const auto& [psn, part] : parts) {
            if (begins_message(part.place)) message.clear();
            message += part.hex;
            if (ends_message(part.place) && !message.empty()) messages.insert(message);
        }
    }
    return messages;
}

// Payloads of all messages of all connections, as hex.
std::vector<Json> followed(const std::string& path) {
    std::vector<Json> messages;
    const Json connections = Json::parse(qpscope({"connections", "-f", "json", path}).out)["connections"];
    for (const Json& connection : connections) {
        const Ending ending = qpscope({"follow", std::to_string(connection["uid"].get<int>()), "-f", "ndjson", path});
        CHECK(ending.code == kDone);
        CHECK(ending.err.empty());
        for (const std::string& line : lines_of(ending.out)) messages.push_back(Json::parse(line));
    }
    return messages;
}

std::vector<std::string> texts(const std::vector<Json>& messages, const std::string& verb) {
    std::vector<std::string> found;
    for (const Json& message : messages)
        if (message["verb"] == verb) found.push_back(text_of(message["payload"]));
    return found;
}

// As rping fills its buffer: "rdma-ping-N: ", then letters from 'A' + N on, 'A' behind 'z', and a zero at the end.
std::string rping_buffer(int ping, std::size_t size) {
    std::string text = fmt::format("rdma-ping-{}: ", ping);
    char c = static_cast<char>('A' + ping);
    while (text.size() < size) {
        text += c;
        c = c == 'z' ? 'A' : static_cast<char>(c + 1);
    }
    text.back() = '\0';
    return text;
}

}  // namespace

TEST_CASE("follow writes what the packets carried, each message once") {
    for (const char* name :
         {"rping_v4",    "rping_v6", "err_mixed", "nvme_rdma",   "iser",        "nfs_rdma",      "rds",
          "send_8k",     "write_8k", "read_8k",   "loss_write",  "loss_read",   "dup_write",     "corrupt_send",
          "uc_pingpong", "ucmatose", "multi_qp",  "ud_pingpong", "rc_pingpong", "write_bidir_cm"}) {
        INFO(name);
        std::multiset<std::string> payloads;
        for (const Json& message : followed(sample(name)))
            if (const std::string payload = message["payload"]; !payload.empty()) payloads.insert(payload);
        const auto expected = reassembled(sample(name));
        CHECK(!expected.empty());
        CHECK(payloads.size() == expected.size());
        CHECK((payloads == expected));
    }
}

TEST_CASE("follow finds the pattern of rping in its READs and WRITEs") {
    constexpr std::size_t kSize = 9000;  // rping -S
    const auto messages = followed(sample("rping_v4"));
    for (const char* verb : {"READ", "WRITE"}) {
        const auto buffers = texts(messages, verb);
        REQUIRE(buffers.size() == 4);
        for (int ping = 0; ping < 4; ++ping)
            CHECK((buffers[static_cast<std::size_t>(ping)] == rping_buffer(ping, kSize)));
    }
    for (const std::string& send : texts(messages, "SEND"))
        CHECK(send.size() == 16);  // address, R_Key and size of a buffer
}

TEST_CASE("follow finds NVMe capsules") {
    const auto messages = followed(sample("nvme_rdma"));
    const auto sends = texts(messages, "SEND");
    constexpr std::size_t kCommand = 64;
    constexpr char kFabrics = 0x7f;
    const auto fabrics = std::ranges::count_if(
        sends, [](const std::string& send) { return send.size() >= kCommand && send[0] == kFabrics; });
    CHECK(fabrics > 0);
    const bool named = std::ranges::any_of(messages, [](const Json& message) {
        return text_of(message["payload"]).find("nqn.2014-08.org.nvmexpress") != std::string::npos;
    });
    CHECK(named);
}

TEST_CASE("raw bytes are those of the messages, one after the other") {
    const TemporaryFolder folder;
    const std::string path = folder.file("bytes");
    for (const char* whose : {"a", "b", "both"}) {
        INFO(whose);
        std::string expected;
        for (const std::string& line :
             lines_of(qpscope({"follow", "1", "--from", whose, "-f", "ndjson", sample("rping_v4")}).out))
            expected += text_of(Json::parse(line)["payload"]);
        const Ending ending = qpscope({"follow", "1", "--raw", "--from", whose, "-o", path, sample("rping_v4")});
        CHECK(ending.code == kDone);
        CHECK(ending.out.empty());
        CHECK((hex_of(read_file(path)) == hex_of(std::as_bytes(std::span(expected)))));
        CHECK(!expected.empty());
    }
}

TEST_CASE("one message of many can be followed") {
    const auto all = lines_of(qpscope({"follow", "1", "-f", "ndjson", sample("rping_v4")}).out);
    CHECK(lines_of(qpscope({"follow", "1", "--message", "3", "-f", "ndjson", sample("rping_v4")}).out) ==
          std::vector{all[2]});
    const Ending none = qpscope({"follow", "1", "--message", "1000", sample("rping_v4")});
    CHECK(none.out.empty());
    CHECK_THAT(none.err, Contains("has 24 messages"));
    CHECK_THAT(qpscope({"follow", "99", sample("rping_v4")}).err, Contains("connection 99"));
}

TEST_CASE("what the capture lacks of a message is said, not made up") {
    const auto rows = lines_of(qpscope({"packets", "-f", "tsv", "-e", "frame.number", "-Y",
                                        "infiniband.bth.opcode == 1", "-c", "1", sample("send_8k")})
                                   .out);
    const std::string without = "frame.number != " + rows.at(1);  // a SEND Middle of 1 KiB
    const Ending ending = qpscope({"follow", "1", "-f", "ndjson", "-Y", without, sample("send_8k")});
    const Ending whole = qpscope({"follow", "1", "-f", "ndjson", sample("send_8k")});
    CHECK(ending.code == kDone);
    CHECK(whole.err.empty());
    CHECK(lines_of(ending.out).size() == lines_of(whole.out).size());
    CHECK(Json::parse(lines_of(whole.out)[0])["bytes"] == 8192);
    CHECK(Json::parse(lines_of(ending.out)[0])["bytes"] == 7168);
    CHECK_THAT(ending.err, Contains("qpscope: message 1 ") && Contains("1 packet not captured"));
}

TEST_CASE("bytes that the capture cut off are counted") {
    const Ending ending = qpscope({"follow", "1", "-f", "ndjson", sample("cut_128")});
    CHECK_THAT(ending.err, Contains("truncated by the capture"));
}
