// THE table of programs.
#include <transport-replay/live/peers/roles.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport::live {

namespace {

using namespace peers;

constexpr IpPort kTcpPort{kExchangePort};

template <PerftestTest test> constexpr ProgramRow perftest_row(std::string_view summary) {
    return {kPerftestPrograms[std::to_underlying(test)], summary, kTcpPort, true, true, make_perftest_of<test>};
}

constexpr std::array kPrograms{
    ProgramRow{"rping", "ping with READ and WRITE, as rping of librdmacm", kRpingPort, true, true, make_rping},
    ProgramRow{"echo", "return every message; as a client, send and compare", kRdmaCmPort, true, true, make_echo},
    ProgramRow{"rdma_client", "send one message and expect one back, as rdma_client of librdmacm", kRdmaCmPort, false,
               true, make_rdma_client},
    ProgramRow{"rdma_server", "answer one message and exit, as rdma_server of librdmacm", kRdmaCmPort, true, false,
               make_rdma_server},
    ProgramRow{"ucmatose", "exchange messages over many connections, as ucmatose of librdmacm", kRdmaCmPort, true, true,
               make_ucmatose},
    ProgramRow{"rstream", "stream bytes over rsockets, as rstream of librdmacm", kRdmaCmPort, true, true, make_rstream},
    ProgramRow{"riostream", "write into mapped memory over rsockets, as riostream of librdmacm", kRdmaCmPort, true,
               true, make_riostream},
    ProgramRow{"rcopy", "receive files over rsockets, as rcopy of librdmacm", kRcopyPort, true, false, make_rcopy},
    ProgramRow{"udaddy", "exchange datagrams, as udaddy of librdmacm", kRpingPort, true, true, make_udaddy},
    ProgramRow{"mckey", "receive from a multicast group, as mckey of librdmacm", IpPort{}, false, true, make_mckey},
    ProgramRow{"mckey-sender", "send to a multicast group, as mckey -s of librdmacm", IpPort{}, false, true,
               make_mckey_sender},
    ProgramRow{"sink", "receive everything and report the rate", kSinkPort, true, false, make_sink},
    ProgramRow{"source", "send messages to a sink by SEND", kSinkPort, false, true, make_source},
    ProgramRow{"source-write", "send messages to a sink by WRITE", kSinkPort, false, true, make_source_write},
    ProgramRow{"source-imm", "send messages to a sink by WRITE with immediate", kSinkPort, false, true,
               make_source_imm},
    ProgramRow{"memory", "offer memory for READ, WRITE and atomics; as a client, use all of them and compare",
               kMemoryPort, true, true, make_memory},
    ProgramRow{"ibv_rc_pingpong", "exchange messages over RC, as ibv_rc_pingpong of rdma-core", kTcpPort, true, true,
               make_rc_pingpong},
    ProgramRow{"ibv_uc_pingpong", "the same over UC", kTcpPort, true, true, make_uc_pingpong},
    ProgramRow{"ibv_ud_pingpong", "the same over UD", kTcpPort, true, true, make_ud_pingpong},
    ProgramRow{"ibv_srq_pingpong", "the same over several RC queue pairs", kTcpPort, true, true, make_srq_pingpong},
    ProgramRow{"ibv_xsrq_pingpong", "the same over XRC, and the server sends first", kTcpPort, true, true,
               make_xsrq_pingpong},
    perftest_row<PerftestTest::send_bw>("SEND bandwidth, as ib_send_bw of perftest"),
    perftest_row<PerftestTest::send_lat>("SEND latency"),
    perftest_row<PerftestTest::write_bw>("WRITE bandwidth"),
    perftest_row<PerftestTest::write_lat>("WRITE latency"),
    perftest_row<PerftestTest::read_bw>("READ bandwidth"),
    perftest_row<PerftestTest::read_lat>("READ latency"),
    perftest_row<PerftestTest::atomic_bw>("FETCH ADD bandwidth"),
    perftest_row<PerftestTest::atomic_lat>("FETCH ADD latency"),
};

}  // namespace

std::span<const ProgramRow> programs() { return kPrograms; }

const ProgramRow* find_program(std::string_view name) {
    const auto found = std::ranges::find(kPrograms, name, &ProgramRow::name);
    return found == kPrograms.end() ? nullptr : &*found;
}

namespace peers {

std::expected<void, std::string> sound(const ProgramRequest& request, std::uint32_t least, std::uint32_t most) {
    if (request.size && (*request.size < least || *request.size > most))
        return std::unexpected(fmt::format("invalid size {}: expected {} to {}", *request.size, least, most));
    if (request.depth == 0 || request.depth > kMaxDepth)
        return std::unexpected(fmt::format("invalid depth {}: expected 1 to {}", request.depth, kMaxDepth));
    if (request.connections == 0 || request.connections > kMaxClients)
        return std::unexpected(
            fmt::format("invalid number of connections {}: expected 1 to {}", request.connections, kMaxClients));
    return {};
}

}  // namespace peers

}  // namespace qps::transport::live
