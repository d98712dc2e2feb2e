// What NCCL tells its peer of queue pairs over TCP before it uses them (net_ib): who connects says hello, then both may
// name their devices, and then both send what they have, in memory's order of a little-endian processor. Its layout
// differs by version; that a GID is the address of who sends it shows which one it is.
//
// Sources: NCCL of 2022 to 2026, src/misc/socket.cc (socketFinalizeConnect, NCCL_SOCKET_MAGIC, ncclSocketTypeNetIb),
// src/transport/net_ib.cc and src/transport/net_ib/connect.h (ncclIbQpInfo, ncclIbDevInfo, ncclIbConnectionMetadata),
// connect.cc (ncclIbQpRtr: all PSNs begin with 0).
#pragma once

#include <dissect/base/bytes.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/model/address.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kNcclMagic = 8;       // bytes
inline constexpr std::size_t kNcclHello = 12;      // with the kind of the connection
inline constexpr std::size_t kLongestNccl = 4096;  // of one side

struct NcclQueuePair {
    std::uint8_t index = 0;  // its peer has the same
    dissect::Qpn qpn{};
    dissect::Rkey key{};  // of memory on its device: of who connects, for what the peer writes first
};

// Whether a stream begins so, as far as there are bytes; at least kNcclMagic of them.
[[nodiscard]] bool begins_nccl(dissect::Bytes stream);

// The first queue pairs that a side names, on the device that has its address; `stream`: what it said, behind the
// hello. None where that is not there, or not yet.
[[nodiscard]] std::vector<NcclQueuePair> read_nccl(dissect::Bytes stream, const Address& own);

}  // namespace qps::transport
