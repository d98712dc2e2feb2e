// Sums over the connections of a capture.
#pragma once

#include <transport-replay/model/connection.hpp>

#include <array>
#include <cstdint>

namespace qps::transport {

struct Totals {
    std::array<std::uint64_t, kMessageKindNames.size()> messages{};  // distinct ones, management datagrams left out
    std::uint64_t message_bytes = 0;                                 // payload
    std::uint64_t management = 0;                                    // datagrams of queue pairs 0 and 1
    // Request packets whose PSN had been on the wire before, without those below.
    std::uint64_t retransmitted_packets = 0;
    std::uint64_t duplicated_packets = 0;  // copies of them that came too soon to be retransmissions
    std::uint64_t sequence_naks = 0;
    std::uint64_t rnr_naks = 0;
    std::uint64_t fatal_naks = 0;
    std::uint64_t acks = 0;
    std::uint64_t ce_marked = 0;
    std::uint64_t cnps = 0;
    std::uint64_t timeouts = 0;  // retransmissions that no NAK asked for
    [[nodiscard]] std::uint64_t messages_of(MessageKind kind) const { return messages[static_cast<std::size_t>(kind)]; }
    void add(const Connection& connection);
    void add(const Totals& others);
};

// Connections that were brought to their end to make place for others, and are in sums alone.
struct Retired {
    std::uint64_t connections = 0;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;          // on the wire
    std::uint64_t under_way = 0;      // of the connections: nothing said that they were over
    std::uint64_t with_problems = 0;  // of the connections: there was no place for their problems
    Totals totals;
    void add(const Connection& connection);
    void add(const Retired& others);
};

}  // namespace qps::transport
