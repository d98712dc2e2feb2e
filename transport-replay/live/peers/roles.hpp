// What the table of programs makes; each in the file of its name.
#pragma once

#include <transport-replay/live/exchange/perftest_session.hpp>
#include <transport-replay/live/peers/program.hpp>

namespace qps::transport::live::peers {

using Made = std::expected<Program, std::string>;

[[nodiscard]] Made make_rping(const ProgramRequest& request);
[[nodiscard]] Made make_echo(const ProgramRequest& request);         // echo.cpp
[[nodiscard]] Made make_rdma_client(const ProgramRequest& request);  // echo.cpp
[[nodiscard]] Made make_rdma_server(const ProgramRequest& request);  // echo.cpp
[[nodiscard]] Made make_ucmatose(const ProgramRequest& request);
[[nodiscard]] Made make_sink(const ProgramRequest& request);
[[nodiscard]] Made make_source(const ProgramRequest& request);        // by SEND
[[nodiscard]] Made make_source_write(const ProgramRequest& request);  // by WRITE
[[nodiscard]] Made make_source_imm(const ProgramRequest& request);    // by WRITE with immediate
[[nodiscard]] Made make_memory(const ProgramRequest& request);
[[nodiscard]] Made make_rstream(const ProgramRequest& request);
[[nodiscard]] Made make_riostream(const ProgramRequest& request);
[[nodiscard]] Made make_rcopy(const ProgramRequest& request);
[[nodiscard]] Made make_udaddy(const ProgramRequest& request);
[[nodiscard]] Made make_mckey(const ProgramRequest& request);  // receives
[[nodiscard]] Made make_mckey_sender(const ProgramRequest& request);
[[nodiscard]] Made make_rc_pingpong(const ProgramRequest& request);  // pingpong.cpp, all four
[[nodiscard]] Made make_uc_pingpong(const ProgramRequest& request);
[[nodiscard]] Made make_ud_pingpong(const ProgramRequest& request);
[[nodiscard]] Made make_srq_pingpong(const ProgramRequest& request);
[[nodiscard]] Made make_xsrq_pingpong(const ProgramRequest& request);
[[nodiscard]] Made make_perftest(PerftestTest test, const ProgramRequest& request);
template <PerftestTest test> [[nodiscard]] Made make_perftest_of(const ProgramRequest& request) {
    return make_perftest(test, request);
}

inline constexpr IpPort kRpingPort{7174};   // librdmacm: rping, udaddy
inline constexpr IpPort kRdmaCmPort{7471};  // librdmacm: ucmatose, rdma_client, rdma_server, rstream, riostream
inline constexpr IpPort kRcopyPort{7427};   // librdmacm
inline constexpr IpPort kSinkPort{7472};    // ours
inline constexpr IpPort kMemoryPort{7473};  // ours

inline constexpr std::uint32_t kMaxDepth =
    4096;  // messages under way that a user may ask for; below kMaxQpWr with all that is beside them

// What of a request no program can do: sizes beyond `most` or below `least`, a depth or a number of connections of 0 or
// too many.
[[nodiscard]] std::expected<void, std::string> sound(const ProgramRequest& request, std::uint32_t least,
                                                     std::uint32_t most);

}  // namespace qps::transport::live::peers
