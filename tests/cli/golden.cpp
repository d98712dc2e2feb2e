// Text for people, held word for word: tests/cli/golden/NAME.txt. QPSCOPE_REWRITE_GOLDEN=1 writes the files instead;
// read their difference before it is committed.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace qps::test;

namespace {

struct Golden {
    std::string name;
    std::vector<std::string> words;  // run in the folder captures/
};

const std::vector<Golden> kGolden{
    {"info_many_opcodes", {"info", "err_mixed/capture.pcap"}},
    {"info_bad_icrc", {"info", "corrupt_send/capture.pcap"}},
    {"info_several",
     {"info", "rping_v6_gzip/capture.pcap.gz", "err_rnr_pcapng/capture.pcapng",
      "err_bad_rkey_big_endian/capture.pcap"}},
    {"info_iwarp", {"info", "iwarp_rping_crc/capture.pcapng"}},
    {"packets_iwarp", {"packets", "-c", "14", "iwarp_rping/capture.pcapng"}},
    {"cm_iwarp", {"cm", "iwarp_peer_to_peer/capture.pcapng"}},
    {"packets_cm", {"packets", "rping_v4/capture.pcap"}},
    {"packets_ipv6", {"packets", "-c", "30", "rping_v6/capture.pcap"}},
    {"packets_rnr", {"packets", "err_rnr/capture.pcap"}},
    {"packets_mixed", {"packets", "-Y", "infiniband.bth", "err_mixed/capture.pcap"}},
    {"packets_columns",
     {"packets", "-e", "frame.number", "-e", "infiniband.bth.opcode", "-e", "infiniband.aeth.syndrome.timer",
      "err_rnr/capture.pcap"}},
    {"show_cm_request", {"show", "-n", "1", "cm_reject_noport/capture.pcap"}},
    {"show_cm_reject", {"show", "-n", "2", "cm_reject_noport/capture.pcap"}},
    {"show_atomic",
     {"show", "-Y", "infiniband.atomiceth or infiniband.atomicacketh", "-c", "2", "atomic_cas/capture.pcap"}},
    {"show_bad_icrc", {"show", "-Y", "rdma.icrc.status == bad", "-c", "1", "--no-bytes", "corrupt_send/capture.pcap"}},
    {"show_read_ipv6", {"show", "-Y", "infiniband.reth", "-c", "2", "rping_v6/capture.pcap"}},
    {"show_tcp_arp", {"show", "-n", "3-4", "cm_reject_noport/capture.pcap"}},
    {"export_schema", {"export", "--schema"}},
    {"fields_aeth", {"fields", "aeth"}},
    {"analyze_loss", {"analyze", "loss_write/capture.pcap"}},
    {"analyze_rnr", {"analyze", "err_rnr/capture.pcap"}},
    {"analyze_connections", {"analyze", "ucmatose/capture.pcap"}},
    {"analyze_json", {"analyze", "-f", "json", "rping_v4/capture.pcap"}},
    {"analyze_rows", {"analyze", "-f", "tsv", "err_bad_rkey/capture.pcap"}},
    {"connections", {"connections", "ucmatose/capture.pcap"}},
    {"connections_match",
     {"connections", "-q", "--match", "Got completion from peer 10.77.0.12<4711> with status=13",
      "err_rnr/capture.pcap", "rping_v4/capture.pcap"}},
    {"messages_mixed", {"messages", "err_mixed/capture.pcap"}},
    {"messages_cm", {"messages", "rping_v4/capture.pcap"}},
    {"messages_failed", {"messages", "err_bad_rkey/capture.pcap"}},
    {"findings_rnr", {"findings", "err_rnr/capture.pcap"}},
    {"findings_list", {"findings", "--list"}},
    {"findings_markdown", {"findings", "--markdown", "err_rnr/capture.pcap"}},
    {"findings_markdown_many", {"findings", "--markdown", "corrupt_send/capture.pcap"}},
    {"analyze_nvme", {"analyze", "nvme_rdma/capture.pcap"}},
    {"operations_nvme", {"operations", "nvme_rdma/capture.pcap"}},
    {"series_waterfall", {"series", "waterfall", "--slowest", "3", "loss_write/capture.pcap"}},
    {"series_losses", {"series", "losses", "loss_write/capture.pcap"}},
    {"series_heat_map", {"series", "heat-map", "--interval", "50ms", "loss_write/capture.pcap"}},
    {"series_incast", {"series", "incast", "--interval", "200us", "incast/capture.pcap"}},
    {"operations_list", {"operations", "--list", "--slower-than", "5ms", "-C", "3,4", "nvme_rdma/capture.pcap"}},
    {"messages_nvme", {"messages", "-C", "4", "nvme_rdma/capture.pcap"}},
    {"follow_decoded", {"follow", "3", "--decode", "--message", "1", "nvme_rdma/capture.pcap"}},
    {"packets_nvme", {"packets", "-Y", "nvme", "-c", "4", "nvme_rdma/capture.pcap"}},
    {"check_nvme", {"check", "--fail-on", "never", "nvme_rdma/capture.pcap"}},
    {"check_all", {"check", "--all", "--fail-on", "never", "loss_write/capture.pcap"}},
    {"cm_connect", {"cm", "rping_v4/capture.pcap"}},
    {"cm_reject", {"cm", "cm_reject_noport/capture.pcap"}},
    {"cm_json", {"cm", "-f", "json", "cm_reject_noport/capture.pcap"}},
    {"fabric", {"fabric", "fabric_sweep/capture.pcap"}},
    {"fabric_ports", {"fabric", "-f", "csv", "fabric_sweep/capture.pcap"}},
    {"fabric_json", {"fabric", "-f", "json", "fabric_sweep/capture.pcap"}},
    {"fabric_dot", {"fabric", "--dot", "fabric_sweep/capture.pcap"}},
    {"show_notice", {"show", "-Y", "infiniband.notice", "-c", "1", "--no-bytes", "fabric_sweep/capture.pcap"}},
    {"timeline_loss", {"timeline", "--interval", "10ms", "loss_write/capture.pcap"}},
    {"timeline_congestion", {"timeline", "congestion/capture.pcap"}},
    {"case_help", {"case", "--help"}},
    {"collect_help", {"collect", "--help"}},
    {"doctor_help", {"doctor", "--help"}},
    {"anonymize_help", {"anonymize", "--help"}},
    {"extract_help", {"extract", "--help"}},
    {"annotate_help", {"annotate", "--help"}},
    {"report_help", {"report", "--help"}},
    {"merge_help", {"merge", "--help"}},
    {"send_help", {"send", "--help"}},
    {"follow_message", {"follow", "1", "--message", "1", "rping_v4/capture.pcap"}},
};

}  // namespace

TEST_CASE("text for people is what it was") {
    for (const Golden& golden : kGolden) {
        const Ending ending = qpscope(golden.words, {.folder = QPSCOPE_SOURCE_DIR "/captures"});
        INFO(fmt::format("qpscope {}", fmt::join(golden.words, " ")));
        CHECK(ending.code == kDone);
        CHECK(ending.err.empty());
        const std::string path = QPSCOPE_SOURCE_DIR "/tests/cli/golden/" + golden.name + ".txt";
        if (const char* rewrite = std::getenv("QPSCOPE_REWRITE_GOLDEN"); rewrite != nullptr && *rewrite != '\0')
            std::ofstream(path) << ending.out;
        std::ifstream file(path);
        const std::string expected{std::istreambuf_iterator<char>(file), {}};
        INFO("expected in " << path);
        CHECK(ending.out == expected);
    }
}

TEST_CASE("every sub-command has a golden") {
    std::vector<std::string> files;  // NAME.txt or NAME_WHAT.txt
    for (const auto& entry : std::filesystem::directory_iterator(QPSCOPE_SOURCE_DIR "/tests/cli/golden"))
        files.push_back(entry.path().stem().string());
    for (const std::string& command : all_commands()) {
        INFO(command);
        CHECK(std::ranges::any_of(
            files, [&](const std::string& file) { return file == command || file.starts_with(command + "_"); }));
    }
}
