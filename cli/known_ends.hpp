// Who is at the ends of each connection, learned while the capture is read: before the timeline is there to ask.
#pragma once

#include <transport-replay/connection.hpp>
#include <transport-replay/packet_story.hpp>

#include <array>
#include <vector>

namespace qps::cli {

class KnownEnds {
public:
    void learn(const transport::Observation& observation, const transport::PacketStory& story);
    [[nodiscard]] const transport::Endpoint& end(transport::ConnectionId connection, transport::End end) const;

private:
    std::vector<std::array<transport::Endpoint, 2>> ends_;  // by uid
};

}  // namespace qps::cli
