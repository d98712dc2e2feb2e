// What a wire-up of UCX says of queue pairs: behind its header stands the address of a worker (ucp_address, version 1),
// with each device and its transports; those on connections (rc_verbs, rc_mlx5) have a queue pair for each lane.
//
// Sources: UCX 1.12 to 1.19, src/ucp/wireup/address.c (ucp_address_do_pack, ucp_address_unpack), src/uct/ib/rc
// (uct_rc_verbs_ep_address, uct_rc_mlx5_ep_address), src/uct/ib/base/ib_iface.c (uct_ib_address).
#pragma once

#include <dissect/base/bytes.hpp>
#include <dissect/base/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace qps::dissect::ucx {

inline constexpr std::size_t kMostLanes = 16;  // UCP_MAX_LANES

struct LaneEnd {
    std::uint8_t lane = 0;  // of who asked, in an answer as well
    Qpn qpn{};
    std::array<std::uint64_t, 2> gid{};  // of its device
};

struct WireupMessage {
    bool reply = false;             // else a request
    std::uint64_t source = 0;       // endpoint of the sender
    std::uint64_t destination = 0;  // endpoint of the receiver; of a first request 0
    std::array<LaneEnd, kMostLanes> lanes{};
    std::size_t count = 0;  // of `lanes`
};

// The request or reply that a datagram (UD) has; nothing where it is none, is not whole, or names no queue pair.
[[nodiscard]] std::optional<WireupMessage> read_wireup(Bytes datagram);

// Writes the address of a request or reply that names queue pairs: its lists, transports and queue pairs as they are,
// with other GIDs; the rest of it becomes zero. `wireup`: from its header on; `out` has its size, and keeps the header.
// Writes nothing where that is not there.
using OtherGid = std::function<std::array<std::uint64_t, 2>(const std::array<std::uint64_t, 2>&)>;
void rewrite_wireup(Bytes wireup, const OtherGid& other, MutableBytes out);

// Whether a message on a connection acknowledges a wire-up, as the one of these endpoints to the other.
[[nodiscard]] bool acknowledges_wireup(Bytes message, std::uint64_t source, std::uint64_t destination);

}  // namespace qps::dissect::ucx
