// Who is at the ends of each connection, learned while the capture is read: before the timeline is there to ask.
#pragma once

#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/packet_record.hpp>

#include <array>
#include <vector>

namespace qps::transport {

class KnownEnds {
public:
    void learn(const Observation& observation, const PacketRecord& record);
    [[nodiscard]] const Endpoint& end(ConnectionId connection, End end) const;

private:
    std::vector<std::array<Endpoint, 2>> ends_;  // by uid
};

}  // namespace qps::transport
