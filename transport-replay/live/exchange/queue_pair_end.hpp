// QueuePairEnd: what two programs tell each other of a queue pair before they use it, and how it is written on a TCP
// connection.
//
// Three formats are text of fixed length with a NUL at the end: that of ibv_*_pingpong, that of ibv_xsrq_pingpong,
// whose ends have two queue pairs and a shared receive queue, and the longer one of perftest, which has keys and an
// address too. Reading takes exactly what these programs write: fixed widths, hexadecimal digits, separators; whatever
// else a stranger sends is refused whole. The fourth is what perftest sends over rdma_cm, its structure as it is in
// memory.
#pragma once

#include <transport-replay/live/host/addresses.hpp>

#include <array>
#include <optional>

namespace qps::transport::live {

struct QueuePairEnd {
    std::uint16_t lid = 0;  // 0 on RoCE
    dissect::Qpn qpn{};     // 24 bits
    dissect::Psn psn{};     // of its first request
    Address gid{};          // in the space of RoCEv2
    // Of perftest alone:
    std::uint16_t out_reads = 0;  // READs and ATOMICs that may be outstanding
    dissect::Rkey rkey{};
    std::uint64_t address = 0;  // of the buffer that the peer may reach
    std::uint32_t srqn = 0;     // of ibv_xsrq_pingpong, too
    dissect::Qpn initiator{};   // of ibv_xsrq_pingpong: the queue pair that asks, where qpn is the one that serves
    [[nodiscard]] bool operator==(const QueuePairEnd&) const = default;
};

inline constexpr std::size_t kPingPongEndBytes = 52;     // "llll:qqqqqq:pppppp:" and 32 digits of a GID
inline constexpr std::size_t kXrcPingPongEndBytes = 66;  // "llll:qqqqqq:qqqqqq:pppppp:ssssss:" and 32 digits of a GID
inline constexpr std::size_t kPerftestEndBytes = 108;
inline constexpr std::size_t kPerftestWordsBytes = 56;  // over rdma_cm: struct pingpong_dest of perftest

[[nodiscard]] std::array<std::byte, kPingPongEndBytes> pingpong_text(const QueuePairEnd& end);
[[nodiscard]] std::array<std::byte, kXrcPingPongEndBytes> xrc_pingpong_text(const QueuePairEnd& end);
[[nodiscard]] std::array<std::byte, kPerftestEndBytes> perftest_text(const QueuePairEnd& end);

// Nothing where the bytes are not of that format.
[[nodiscard]] std::optional<QueuePairEnd> read_pingpong_text(dissect::Bytes text);
[[nodiscard]] std::optional<QueuePairEnd> read_xrc_pingpong_text(dissect::Bytes text);
[[nodiscard]] std::optional<QueuePairEnd> read_perftest_text(dissect::Bytes text);

// Over rdma_cm (perftest -R). Any bytes can be such words. The GID is not read: who connects by rdma_cm need not know
// any, and sends what was in its memory.
[[nodiscard]] std::array<std::byte, kPerftestWordsBytes> perftest_words(const QueuePairEnd& end);
[[nodiscard]] QueuePairEnd read_perftest_words(dissect::Bytes words);

}  // namespace qps::transport::live
