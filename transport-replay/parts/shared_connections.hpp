// Which connections several captures have, and which of these captures is followed.
#pragma once

#include <transport-replay/parts/part.hpp>

#include <map>
#include <span>
#include <utility>
#include <vector>

namespace qps::transport {

// Two hosts that talk, the lesser address first.
using TalkingHosts = std::pair<Address, Address>;
[[nodiscard]] inline TalkingHosts talking(const Address& one, const Address& two) {
    return one < two ? TalkingHosts{one, two} : TalkingHosts{two, one};
}

// A connection of a capture that is not told, since another capture has it too.
struct SharedConnection {
    std::uint32_t capture = 0;
    const Connection* view = nullptr;
    std::uint32_t followed_capture = 0;
    const Connection* followed = nullptr;
    bool turned = false;  // end a of one is end b of the other
    [[nodiscard]] End end_of(End of_followed) const { return turned ? other(of_followed) : of_followed; }
};

struct SharedConnections {
    std::vector<SharedConnection> all;  // by the capture and number of what is not told
    // Whose packets of two hosts are told; of hosts that share a connection.
    std::map<TalkingHosts, std::uint32_t> followed;

    [[nodiscard]] bool tells(std::uint32_t capture, const Address& one, const Address& two) const {
        const auto found = followed.find(talking(one, two));
        return found == followed.end() || found->second == capture;
    }
};

// It borrows the connections. Independent of the order of the captures but for ties, which the first of them wins.
[[nodiscard]] SharedConnections find_shared(std::span<const CapturePart> captures);

}  // namespace qps::transport
