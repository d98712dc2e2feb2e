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
    {"NET/IB: Got completion with status=13 opcode=2 len=32 vendor err 135 qp_num 4242",
     {},
     {4242},
     Complaint::rnr_retries_exceeded},
    {"NCCL WARN NET/IB : Got completion from peer 10.1.2.3<44206> with status=12 opcode=129 len=65536 vendor err 129 (Recv) localGid "
     "::ffff:10.0.0.1 remoteGids::ffff:10.0.0.2",
     {"10.1.2.3", "10.0.0.1", "10.0.0.2"},
     {},
     Complaint::retries_exceeded},
    {"NET/IB : Got completion from peer 10.1.2.3<4242> with error 13, opcode 129, len 0, vendor err 135 (Send)",
     {"10.1.2.3"},
     {},
     Complaint::rnr_retries_exceeded},
    {"NET/IB: Got completion from peer 10.1.2.3<4242> with status=IBV_WC_LOC_PROT_ERR(4) opcode=IBV_WC_SEND(0) vendor_err=81 hca mlx5_0",
     {"10.1.2.3"},
     {},
     Complaint::local},
    {"NET/IB : mlx5_0:1 Got async event : port error", {}, {}, Complaint::port},
    // UCX
    {"UCX ERROR Receive-no-ready retry count exceeded on mlx5_0:1/RoCE (synd 0x16 vend 0x87 hw_synd 0/0)",
     {},
     {},
     Complaint::rnr_retries_exceeded},
    {"UCX ERROR Bad response on mlx5_0:1/RoCE (synd 0x10 vend 0x0 hw_synd 0/0)", {}, {}, Complaint::bad_response},
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
    {"IBV_WC_REM_OP_ERR on QPN=0x00012f peer [2001:db8::17]:4420",
     {"2001:db8::17"},
     {0x12f},
     Complaint::remote_operation},
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
    {"mlx5_0/1: QP 51291 error: fatal error (0x88 0x0 0x0)",
     {},
     {51291},
     Complaint::remote_access},  // the name of another enumeration
    {"mlx5_0/1: QP 51291 error: local length error (0x8e 0x0 0x0)", {}, {51291}, Complaint::local},
    {"mlx5_0/1: QP 51291 error: unrecognized status (0x3a 0x0 0x0)", {}, {51291}, Complaint::queue_pair_error},
    {"QP 51291: fatal error of somebody", {}, {51291}, {}},
    {"nvmet_rdma: received IB QP event: QP access error (3)", {}, {}, Complaint::own_access},
    {"irdma 0000:3b:00.0: abnormal ae_id = 0x50f bool qp=1 qp_id = 42, ae_src=5",
     {},
     {42},
     Complaint::rnr_retries_exceeded},
    // CM reasons are no completion statuses
    {"nvme nvme0: Connect rejected: status 10 (stale connection).", {}, {}, Complaint::rejected},
    {"Expected RDMA_CM_EVENT_ESTABLISHED but received RDMA_CM_EVENT_REJECTED (8) from CM event channel (status = 10)",
     {},
     {},
     Complaint::rejected},
    {"nvme nvme0: rdma connection establishment failed (-110)", {}, {}, Complaint::unreachable},
    {"rpcrdma: connection to 192.0.2.12:20049 rejected: stale conn", {"192.0.2.12"}, {}, Complaint::rejected},
    {"iser: iser_cma_handler: rejected (8): status 10 conn 0000000012345678 id 0", {}, {}, Complaint::rejected},
    {"CIFS: smbd_conn_upcall: event=rejected status=10", {}, {}, Complaint::rejected},
    {"iser: iser_cma_handler: unreachable (7): status -110 conn 0000000012345678", {}, {}, Complaint::unreachable},
    {"iw_cxgb4: AE qpid 1064 opcode 0 status 0x6 type 0 len 0x0 wrid.hi 0x2", {}, {1064}, {}},
    {"Unexpected CM event bl blka 8", {}, {}, Complaint::rejected},
    {"sd 7:0:0:0: rejected I/O to offline device", {}, {}, {}},
    {"target: a command was rejected: status 2", {}, {}, Complaint::local},
    // an error CQE of mlx5: the last row, all of it as words, as bytes of the kernel; rows that are none
    {"00000000 00008813 10012abe 0dd0c1d3", {}, {0x12abe}, Complaint::remote_access},
    {"mlx5: node1: got completion with error: 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000004 00000000 "
     "00000000 00000000 00000000 93005204 0a0019a1 c0921cd2",
     {},
     {0x19a1},
     Complaint::local},
    {"cqe_dump: 00000030: 00 00 00 00 a9 00 56 04 00 00 01 e9 00 54 e8 e2", {}, {0x1e9}, Complaint::local},
    {"00000000 00008813 10012abe 0dd0c103", {}, {}, {}},  // no error CQE by its last byte
    {"00000000 00008877 10012abe 0dd0c1d3", {}, {}, {}},  // no syndrome
    {"00000001 00008813 10012abe 0dd0c1d3", {}, {}, {}},  // reserved bytes are set
    {"00008813 10012abe 0dd0c1d3", {}, {}, {}},           // three words
    // The middle of a row, of a log that was cut: believed of a line that names a CQE.
    {"infiniband mlx5_0: dump_cqe:272:(pid 0): dump error cqe 00 00 87 16 0a 00 00 44",
     {},
     {0x44},
     Complaint::rnr_retries_exceeded},
    {"dump error cqe 00008813 10012abe", {}, {0x12abe}, Complaint::remote_access},
    {"00 00 87 16 0a 00 00 44", {}, {}, {}},
    {"dump error cqe 00 00 87 17 0a 00 00 44", {}, {}, {}},  // no such syndrome
    {"dump error cqe 00 00 87 16 0c 00 00 44", {}, {}, {}},  // no such operation
    {"dump error cqe 00 01 87 16 0a 00 00 44", {}, {}, {}},  // reserved bytes are set
    {"dump error cqe 87 16 0a 00 00 44", {}, {}, {}},        // less than half
    // libfabric, Open MPI
    {"The InfiniBand retry count between two MPI processes has been exceeded.", {}, {}, Complaint::retries_exceeded},
    {"The InfiniBand \"receiver not ready\" retry count between two MPI processes has been exceeded.",
     {},
     {},
     Complaint::rnr_retries_exceeded},
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
          std::vector<std::string>{
              "addresses: 10.0.0.1", "queue pairs: 17 (0x11)",
              "error: remote access error (status 10): the peer refused the R_Key, address or permission"});
    CHECK(recognised({}).empty());
    CHECK(recognised(read_log_line("Connect rejected: status 10 (stale connection).")) ==
          std::vector<std::string>{"error: connection rejected (CM REJ): Stale connection"});
    CHECK(recognised(read_log_line("00000000 00008813 10012abe 0dd0c1d3")) ==
          std::vector<std::string>{
              "queue pairs: 76478 (0x12abe)",
              "error CQE of a requester (mlx5): RDMA READ, syndrome 0x13, vendor syndrome 0x88, WQE 3536",
              "error: remote access error (status 10): the peer refused the R_Key, address or permission",
              "vendor syndrome 0x88 (mlx5): the responder refused the R_Key, the address range or the permission"});
}

TEST_CASE("a vendor syndrome is explained where it fits the error, decimal or hexadecimal as its program prints it") {
    CHECK(read_log_line("Got completion with status=12 vendor err 129").vendor_syndrome == 0x81);
    CHECK(read_log_line("Got completion with status=4 vendor err 81").vendor_syndrome == 0x51);
    CHECK(read_log_line("iser: local protection error (4) vend_err 51").vendor_syndrome == 0x51);
    CHECK(read_log_line("(synd 0x15 vend 0x81 hw_synd 0/0)").vendor_syndrome == 0x81);
    CHECK(!read_log_line("Got completion with status=12 vendor err 81").vendor_syndrome);  // of another error
    CHECK(!read_log_line("Got completion with status=12 vendor err 10").vendor_syndrome);  // another vendor's
}

TEST_CASE("a REJ has its reason by number, by name, or none") {
    CHECK(read_log_line("Connect rejected: status 10 (stale connection).").reject_reason == 10);
    CHECK(read_log_line("received RDMA_CM_EVENT_REJECTED (8) from CM event channel (status = 28)").reject_reason == 28);
    CHECK(read_log_line("cma event RDMA_CM_EVENT_REJECTED, error 8").reject_reason == 8);
    CHECK(read_log_line("iser: Connection rejected: invalid service ID").reject_reason == 8);
    CHECK(read_log_line("rpcrdma: connection to 192.0.2.12:20049 rejected: stale conn").reject_reason == 10);
    CHECK(read_log_line("scsi host7: ib_srp:   REJ reason 0xa").reject_reason == 10);
    CHECK(read_log_line("scsi host7:   REJ reason: stale connection").reject_reason == 10);
    CHECK(read_log_line("LNet: kiblnd_rejected()) 192.0.2.12@o2ib rejected: reason 28, size 148").reject_reason == 28);
    CHECK(read_log_line("CIFS: smbd_conn_upcall: event=rejected status=10").reject_reason == 10);
    CHECK(read_log_line("iser: iser_cma_handler: rejected (8): status 28 conn 0000000012345678").reject_reason == 28);
    CHECK(read_log_line("nvme nvme3: Connect rejected: status 27 (insufficient resp resources).").reject_reason == 27);
    CHECK(read_log_line("iser: Connection rejected: consumer defined").reject_reason == 28);
    CHECK(read_log_line("Connection rejected: unsupported class version").reject_reason == 31);
    CHECK(!read_log_line("nvme nvme0: Connect rejected: status -111 (unrecognized reason).").reject_reason);
}

TEST_CASE("any beginning of a line of a log can be read") {
    for (const Line& line : kLines)
        for (std::size_t length = 0; length < line.text.size(); ++length)
            (void)read_log_line(std::string_view(line.text).substr(0, length));
}
