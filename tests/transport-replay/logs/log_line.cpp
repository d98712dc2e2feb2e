// Lines as they stand in logs, and what is read from them.
#include <tests/support/catch.hpp>
#include <transport-replay/logs/log_line.hpp>

using namespace qps::transport;
using qps::dissect::Qpn;

namespace {

struct Line {
    std::string text;
    std::vector<std::string> addresses{};
    std::vector<std::uint32_t> qpns{};
    std::optional<Complaint> complaint{};
};

const std::vector<Line> kLines{
    // NCCL
    {"node1:4711:4790 [0] NCCL WARN NET/IB : Got completion from peer 10.1.2.3<34543> with status=12 opcode=0 len=0 vendor err 129 (Recv) "
     "localGid ::ffff:10.0.0.1 remoteGids ::ffff:10.0.0.2",
     {"10.1.2.3", "10.0.0.1", "10.0.0.2"},
     {},
     Complaint::retries_exceeded},
    {"NET/IB : Got completion from peer fe80::ba59:9fff:fe12:3456%eth0<4242> with error 12, opcode 1, len 0, vendor err 129",
     {"fe80::ba59:9fff:fe12:3456"},
     {},
     Complaint::retries_exceeded},
    {"NET/IB: Got completion with status=13 opcode=2 len=32 vendor err 135 qp_num 4242", {}, {4242}, Complaint::rnr_retries_exceeded},
    // UCX
    {"[1650.1] [n2:99 :0] ib_mlx5_log.c:171 UCX ERROR Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)",
     {},
     {},
     Complaint::retries_exceeded},
    {"ib_mlx5_log.c:177 UCX ERROR RC QP 0x1b3c wqe[0]: SEND --e [inl len 26] [rqpn 0x2f1 dlid=7 sl=0 port=1 src_path_bits=0]",
     {"lid 7"},
     {0x1b3c, 0x2f1},
     {}},
    {"UCX ERROR Remote access error on mlx5_bond_0:1/RoCE (synd 0x13 vend 0x88 hw_synd 0/0) RC QP 0x5a17 wqe[12]: RDMA_WRITE s-- [rva "
     "0x7f00 rkey 0x1fe] [rqpn 0x77 dgid=::ffff:192.168.7.9 sgid_index=3 traffic_class=106]",
     {"192.168.7.9"},
     {0x5a17, 0x77},
     Complaint::remote_access},
    {"UCX ERROR Receiver-not-ready retry count exceeded on mlx5_1:1/IB", {}, {}, Complaint::rnr_retries_exceeded},
    // libibverbs in programs
    {"Failed status transport retry counter exceeded (12) for wr_id 2", {}, {}, Complaint::retries_exceeded},
    {"Completion with error at client: Failed status 10: wr_id 0 syndrom 0x88", {}, {}, Complaint::remote_access},
    {"wc.status: remote invalid request error (9), qp: 17", {}, {17}, Complaint::remote_invalid_request},
    {"IBV_WC_REM_OP_ERR on QPN=0x00012f peer [2001:db8::17]:4420", {"2001:db8::17"}, {0x12f}, Complaint::remote_operation},
    {"Work Request Flushed Error (5)", {}, {}, Complaint::flushed},
    // perftest
    {" remote address: LID 0000 QPN 0x0045 PSN 0x74eb4a RKey 0x00021a VAddr 0x007f", {}, {0x45}, {}},
    {" GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:77:00:12", {"10.77.0.12"}, {}, {}},
    // the kernel
    {"nvme nvme0: RECV for CQE 0x00000000f1a5c0de failed with status transport retry counter exceeded (12)",
     {},
     {},
     Complaint::retries_exceeded},
    {"nvme nvme1: failed to connect, addr 10.9.8.7:4420, status 13", {"10.9.8.7"}, {}, Complaint::rnr_retries_exceeded},
    {"infiniband mlx5_0: dump_cqe:272:(pid 0): dump error cqe", {}, {}, {}},
    {"mlx5_0: CQE error on qpn 0x1a2, syndrome 0x12, vendor_err 0x8a", {}, {0x1a2}, Complaint::remote_invalid_request},
    {"iser: iser_err_comp: memreg failure: local protection error (4) vend_err 51", {}, {}, Complaint::local},
    {"ib_srpt receiving failed for ioctx 00000000 with status 5", {}, {}, Complaint::flushed},
    {"rds: RDS/IB: send completion <10.0.4.4,10.0.4.5,0> status 12 (remote unreachable), vendor err 0x81",
     {"10.0.4.4", "10.0.4.5"},
     {},
     Complaint::retries_exceeded},
    // libfabric, Open MPI
    {"libfabric:4711:verbs:cq:vrb_poll_cq():412<warn> wc error: IBV_WC_RETRY_EXC_ERR (12) qp_num: 0x3e9 vendor_err: 129",
     {},
     {1001},
     Complaint::retries_exceeded},
    {"The InfiniBand retry count between two MPI processes has been exceeded. Local host: n1 Remote host: n2 Local QP number: 300 qp_num "
     "301 error polling LP CQ with status RETRY EXCEEDED ERROR status number 12",
     {},
     {300, 301},
     Complaint::retries_exceeded},
    // Nothing of ours
    {"12:34:56.789 eth0 52:54:00:12:34:56 link up, std::vector, version 3.14", {}, {}, {}},
    {"qp_state 3, qps 17, status 0", {}, {}, {}},
    {"", {}, {}, {}},
};

}  // namespace

TEST_CASE("lines of logs name hosts, queue pairs and errors") {
    for (const Line& expected : kLines) {
        INFO(expected.text);
        const LogLine line = read_log_line(expected.text);
        std::vector<std::string> addresses;
        for (const auto& address : line.addresses) addresses.push_back(qps::transport::text(address));
        std::vector<std::uint32_t> qpns;
        for (const Qpn qpn : line.qpns) qpns.push_back(static_cast<std::uint32_t>(qpn));
        CHECK(addresses == expected.addresses);
        CHECK(qpns == expected.qpns);
        CHECK(line.complaint == expected.complaint);
        CHECK(line.empty() == (addresses.empty() && qpns.empty() && !expected.complaint));
    }
}

TEST_CASE("what was recognised in a line of a log is said in words") {
    CHECK(recognised(read_log_line("QP 0x11 of 10.0.0.1: remote access error")) ==
          std::vector<std::string>{"addresses: 10.0.0.1", "queue pairs: 17 (0x11)",
                                   "error: remote access error (status 10): the peer refused the R_Key, address or permission"});
    CHECK(recognised({}).empty());
}

TEST_CASE("any beginning of a line of a log can be read") {
    for (const Line& line : kLines)
        for (std::size_t length = 0; length < line.text.size(); ++length)
            (void)read_log_line(std::string_view(line.text).substr(0, length));
}
