// KnownEnds learns who is at the ends of each connection while the capture is read, before there is a timeline to ask.
// As many as are followed at a time, some 100 bytes each: within the share of connections, whose items cost a multiple
// of what they take.
#pragma once

#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/packet_record.hpp>

#include <array>
#include <unordered_map>

namespace qps::transport {

class KnownEnds {
public:
    void learn(const Observation& observation, const PacketRecord& record);
    // Nothing more is told of it: it made place for others.
    void forget(ConnectionId connection) { ends_.erase(connection); }
    [[nodiscard]] std::size_t size() const { return ends_.size(); }
    [[nodiscard]] const Endpoint& end(ConnectionId connection, End end) const;

private:
    std::unordered_map<ConnectionId, std::array<Endpoint, 2>> ends_;
};

}  // namespace qps::transport
