// What programs tell each other of their queue pairs over TCP before they use them, as text: the examples of libibverbs
// (ibv_rc_pingpong and the like) and perftest (ib_send_bw and the like).
//
// Sources: rdma-core, libibverbs/examples/rc_pingpong.c (pp_client_exch_dest), xsrq_pingpong.c (send_local_dest) and
// pingpong.c (gid_to_wire_gid); perftest, src/perftest_communication.h (KEY_PRINT_FMT_GID, KEY_MSG_SIZE_GID). perftest
// without GIDs names LIDs, whose hosts are not those of TCP.
#pragma once

#include <dissect/base/bytes.hpp>
#include <transport-replay/tracking/told_pairs.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace qps::transport {

inline constexpr std::size_t kShortestExchange = 52;  // bytes
inline constexpr std::size_t kLongestExchange = 108;
inline constexpr std::size_t kTellingStart = 20;  // of a text, that nothing else begins with

struct ExchangeText {
    ToldEnd end;                              // its address is that of its GID, as RoCEv2 has it
    std::optional<dissect::Qpn> initiator{};  // of XRC: the queue pair that asks, where that of `end` serves
    std::size_t size = 0;
};

// What the bytes begin with; nothing where that is not all of one. Each ends with a zero, as a string in memory does.
[[nodiscard]] std::optional<ExchangeText> read_exchange(dissect::Bytes bytes);
// Whether the bytes may be the beginning of one.
[[nodiscard]] bool begins_exchange(dissect::Bytes bytes);
// Writes the one that `bytes` begin with to `out`, which has its size: with another GID, and zeros for what
// ExchangeText does not have.
void rewrite_exchange(dissect::Bytes bytes, const std::array<std::uint64_t, 2>& gid, dissect::MutableBytes out);

}  // namespace qps::transport
