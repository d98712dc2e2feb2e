// PacketRecord: what one packet was to its connection, told from the past alone.
#pragma once

#include <dissect/base/annotation.hpp>
#include <transport-replay/model/connection.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace qps::transport {

using Arrival = dissect::Annotation::Arrival;
inline constexpr std::array<std::string_view, 6> kArrivalNames{"first", "in_order", "ahead",
                                                               "late",  "repeated", "restart"};

struct PacketRecord {
    std::optional<ConnectionId>
        connection;                  // nothing: no packet of a connection (management, CNP, no RDMA, past a bound)
    End from{};                      // which end of the connection sent it
    std::optional<Arrival> arrival;  // of a request that is right
    bool mirror_copy = false;        // another recording of a packet seen before; not followed
    bool retransmission = false;     // a request whose PSN had been on the wire before
    bool duplicated = false;         // of those: doubled by the network
    bool corrupt = false;            // ICRC wrong; not followed
    bool unmatched = false;          // an answer that no request waits for
    bool icrc_not_judged = false;    // ICRC wrong, and followed all the same
    std::uint32_t missing = 0;       // PSNs skipped before it
    std::uint32_t completed = 0;     // messages that it completed or failed
    std::optional<dissect::Duration> latency;  // of the last of these: first request packet to this one
    std::optional<dissect::Duration>
        round_trip;        // of an ACK, since the request that it names: where the rate of its sender is watched
    dissect::UlpHint ulp;  // what its payload is
    std::optional<std::uint16_t> link_credits;  // of InfiniBand flow control: blocks that the other end may still send
};

}  // namespace qps::transport
