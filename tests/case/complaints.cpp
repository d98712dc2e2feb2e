// What the words of a complaint mean that no signature reads, and which lines of unknown programs are complaints.
#include <tests/case/case_folder.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/casework/case_reader.hpp>
#include <transport-replay/casework/complaint_words.hpp>

#include <algorithm>
#include <string>

#include <fmt/format.h>

using namespace qps;
using namespace qps::casework;
using namespace qps::testing;

namespace {

std::string_view means(std::string_view complaint) {
    const ComplaintMeaning* meaning = meaning_of(complaint);
    return meaning == nullptr ? std::string_view{} : meaning->means;
}

}  // namespace

TEST_CASE("words of complaints have a meaning, the most telling one first") {
    CHECK(means("Failed to register memory 0x7b37: Invalid argument").contains("could not be registered"));
    CHECK(means("ibv_open_device: Permission denied").contains("right is missing"));
    CHECK(means("module ib_core is in use").contains("holds"));
    CHECK(means("peer rejected the request").contains("refused"));
    CHECK(means("protocol version mismatch").contains("do not agree"));
    CHECK(means("create_qp: Resource temporarily unavailable").contains("used up"));
    CHECK(means("mlx5: no such device").contains("not there"));
    CHECK(means("rdma route to host unreachable").contains("no way"));
    CHECK(means("nvme command timed out").contains("in time"));
    CHECK(means("Failed to send message to node_storage_1").contains("connection"));
    CHECK(means("ODP is not supported").contains("not supported"));
    CHECK(means("Bad address").contains("argument"));
    CHECK(means("temperature alarm").contains("reading"));
    CHECK(means("all is well").empty());
}

TEST_CASE("numbers of errno are named where a text gives them as such") {
    CHECK(errno_text("SocketError. ErrCode: -70").contains("ECOMM"));
    CHECK(errno_text("rdma_create_qp failed with error 22: x").contains("EINVAL"));
    CHECK(errno_text("Failed to modify QP [110]").contains("ETIMEDOUT"));
    CHECK(errno_text("RC: -12").contains("ENOMEM"));
    CHECK(errno_text("ret=-99").contains("EADDRNOTAVAIL"));
    CHECK(errno_text("queue depth 110").empty());
    CHECK(errno_text("error -999").empty());
    CHECK(errno_text("error -99999999999999999999").empty());
}

TEST_CASE("a line complains where it speaks of a failure and of what RDMA needs") {
    CHECK(is_complaint("stored: ibv_post_recv failed, giving up"));
    CHECK(is_complaint("[mount] NFS over rdma: connection refused"));
    CHECK_FALSE(is_complaint("loss 2.31, 0 errors, rdma on"));
    CHECK_FALSE(is_complaint("failed to import flash_attn"));
    CHECK_FALSE(is_complaint("# rdma failed once"));
    CHECK_FALSE(is_complaint("rdma link up"));
    CHECK_FALSE(is_complaint("rdma failed " + std::string(2'000, 'x')));
}

TEST_CASE("what did not succeed is named by the text's own words") {
    CHECK(action_of("failed to modify QP from ERR to INIT state (ret = -3)") == "modify QP from ERR to INIT state");
    CHECK(action_of("Could not open device; giving up") == "open device");
    CHECK(action_of("[x] ibv_poll_cq failed with 2").ends_with("ibv_poll_cq"));
    CHECK(action_of("cxil_alloc_svc: Invalid argument") == "cxil_alloc_svc");
    CHECK(action_of("all is well").empty());
    CHECK(action_of("failed to " + std::string(5'000, 'x')).size() <= 100);
}

TEST_CASE("a short log of an unknown program may complain of anything") {
    CHECK(is_complaint("backend: store failed", true));
    CHECK_FALSE(is_complaint("backend: store failed"));
    CHECK_FALSE(is_complaint("backend: 0 errors", true));
    CHECK_FALSE(is_complaint("backend: store opened", true));
}

TEST_CASE("a program that says that it listens does not complain") {
    const std::string notice = "[2026-03-24 14:40:20.1] rdma.c:2743:nvmf_rdma_listen: *NOTICE*: *** NVMe/RDMA Target "
                               "Listening on 172.16.1.2 port 4420 ***\n";
    CHECK(judged({{"h1.log", notice}}).party != "host setting");
    CHECK(judged({{"h1.log", "rdma_listen() failed: Address already in use\n"}}).party == "host setting");
    CHECK(judged({{"h1.log", "rdma_bind_addr: Cannot assign requested address\n"}}).party == "host setting");
}

TEST_CASE("a complaint of an unknown program is said, and decides nothing") {
    const Judged said = judged({{"h1.log", "2026-01-02 10:11:12 stored: rdma_frob failed, error -12 (QP 17)\n"}});
    CHECK(said.party == "undecided");
    CHECK(said.text.contains("rdma_frob failed"));
    CHECK(said.text.contains("ENOMEM"));
    // Where something else explains, it is a remark.
    const Judged beside = judged({{"h1.log", "stored: rdma_frob failed, error -12\nIBV_WC_REM_ACCESS_ERR on QP 17\n"}});
    CHECK(beside.party == "remote host");
}

TEST_CASE("hostile complaints are kept within bounds") {
    std::string text;
    for (std::size_t i = 0; i < 3'000; ++i)
        text += "rdma failed " + std::string(1 + i % 900, static_cast<char>('a' + i % 26)) + '\n';
    text += std::string(500'000, 'r') + " rdma failed\n" + std::string("rdma failed \xff\0\x80\n", 16);
    CaseReader reader;
    reader.read("h1.log", text);
    const Case read = reader.end();
    CHECK(read.events.size() <= 512);
    CHECK(std::ranges::all_of(read.events, [](const Event& event) { return event.text.size() <= 256; }));
}

TEST_CASE("a host whose counters are clean rules the network out for no other") {
    const auto counters = [](int requests, int timeouts) {
        return fmt::format("link mlx5_0/1 rx_write_requests {} out_of_buffer 0 out_of_sequence 0 rnr_nak_retry_err 0 "
                           "local_ack_timeout_err {} packet_seq_err 0\n",
                           requests, timeouts);
    };
    using Files = std::vector<std::pair<std::string, std::string>>;
    const Files clean{{"a.t0", counters(1000, 0)}, {"a.t1", counters(1500, 0)}};
    CHECK(verdict_of(clean).not_network);
    Files with_timeouts = clean;
    with_timeouts.emplace_back("b.t0", counters(1000, 0));
    with_timeouts.emplace_back("b.t1", counters(1500, 3));
    CHECK_FALSE(verdict_of(with_timeouts).not_network);
    Files with_failure = clean;
    with_failure.emplace_back("b.log", "b:8:9 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
                                       "10.7.0.1<4000> with error 12, opcode 0, len 0, vendor err 129 (Send)\n");
    CHECK_FALSE(verdict_of(with_failure).not_network);
}
