// THE table of programs.
#include <transport-replay/live/peers/roles.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport::live {

namespace {

using namespace peers;

constexpr IpPort kTcpPort{kExchangePort};

template <PerftestTest test>
constexpr ProgramRow perftest_row(std::string_view summary) {
    return {kPerftestPrograms[std::to_underlying(test)], summary, kTcpPort, true, true, make_perftest_of<test>};
}

constexpr std::array kPrograms{
    ProgramRow{"rping", "ping with READ and WRITE, as rping of librdmacm", kRpingPort, true, true, make_rping},
    ProgramRow{"echo", "sends every message back; as a client, sends and compares", kRdmaCmPort, true, true, make_echo},
    ProgramRow{"rdma_client", "sends one message and wants one back, as rdma_client of librdmacm", kRdmaCmPort, false, true,
               make_rdma_client},
    ProgramRow{"rdma_server", "answers one message and leaves, as rdma_server of librdmacm", kRdmaCmPort, true, false, make_rdma_server},
    ProgramRow{"ucmatose", "messages there and back over many connections, as ucmatose of librdmacm", kRdmaCmPort, true, true,
               make_ucmatose},
    ProgramRow{"rstream", "a stream of bytes over rsockets, as rstream of librdmacm", kRdmaCmPort, true, true, make_rstream},
    ProgramRow{"udaddy", "datagrams there and back, as udaddy of librdmacm", kRpingPort, true, true, make_udaddy},
    ProgramRow{"mckey", "receives what is sent to a multicast group, as mckey of librdmacm", IpPort{}, false, true, make_mckey},
    ProgramRow{"mckey-sender", "sends to a multicast group, as mckey -s of librdmacm", IpPort{}, false, true, make_mckey_sender},
    ProgramRow{"sink", "receives everything, and says how fast it came", kSinkPort, true, false, make_sink},
    ProgramRow{"source", "sends messages to a sink, by SEND", kSinkPort, false, true, make_source},
    ProgramRow{"source-write", "sends messages to a sink, by WRITE", kSinkPort, false, true, make_source_write},
    ProgramRow{"source-imm", "sends messages to a sink, by WRITE with immediate", kSinkPort, false, true, make_source_imm},
    ProgramRow{"memory", "memory to READ, WRITE and do atomics on; as a client, does all of it and compares", kMemoryPort, true, true,
               make_memory},
    ProgramRow{"ibv_rc_pingpong", "a message there and back over RC, as that of rdma-core", kTcpPort, true, true, make_rc_pingpong},
    ProgramRow{"ibv_uc_pingpong", "likewise over UC", kTcpPort, true, true, make_uc_pingpong},
    ProgramRow{"ibv_ud_pingpong", "likewise over UD", kTcpPort, true, true, make_ud_pingpong},
    ProgramRow{"ibv_srq_pingpong", "likewise over several queue pairs of RC", kTcpPort, true, true, make_srq_pingpong},
    perftest_row<PerftestTest::send_bw>("SENDs as many as go, as that of perftest"),
    perftest_row<PerftestTest::send_lat>("SENDs in turns"),
    perftest_row<PerftestTest::write_bw>("WRITEs as many as go"),
    perftest_row<PerftestTest::write_lat>("WRITEs in turns"),
    perftest_row<PerftestTest::read_bw>("READs as many as go"),
    perftest_row<PerftestTest::read_lat>("READs, one at a time"),
    perftest_row<PerftestTest::atomic_bw>("FETCH ADDs as many as go"),
    perftest_row<PerftestTest::atomic_lat>("FETCH ADDs, one at a time"),
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
        return std::unexpected(fmt::format("a size of {} bytes is not between {} and {}", *request.size, least, most));
    if (request.depth == 0 || request.depth > kMaxDepth)
        return std::unexpected(fmt::format("a depth of {} is not between 1 and {}", request.depth, kMaxDepth));
    if (request.connections == 0 || request.connections > kMaxClients)
        return std::unexpected(fmt::format("{} connections are not between 1 and {}", request.connections, kMaxClients));
    return {};
}

}  // namespace peers

}  // namespace qps::transport::live
