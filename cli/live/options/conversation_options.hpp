// What a user may say of the replay of a recorded connection by one of its ends.
#pragma once

#include <cli/options/option_table.hpp>
#include <transport-replay/live/replay/conversation_player.hpp>
#include <transport-replay/model/connection.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qps::cli {

enum class Part : std::uint8_t { requester, responder };

struct ConversationOptions {
    std::optional<Part> part;  // none: frames are replayed, not a connection
    std::optional<transport::ConnectionId> connection;
    std::optional<transport::Address> peer;       // --connect
    std::optional<transport::live::IpPort> port;  // of the peer, or ours; none: as recorded
    std::optional<dissect::Duration> patience;
    std::vector<transport::live::KeyMapping> keys;
    std::vector<transport::live::AddressMapping> addresses;

    // Something of it was said.
    [[nodiscard]] bool any() const {
        return connection || peer || port || patience || !keys.empty() || !addresses.empty();
    }
    void add(OptionTable& table);
};

// "10.77.0.11:7174", "10.77.0.11", "[fd00::11]:7174", "fd00::11"; nothing where it is none.
struct PeerName {
    transport::Address address;
    std::optional<transport::live::IpPort> port;
};
[[nodiscard]] std::optional<PeerName> read_peer_name(const std::string& text);

}  // namespace qps::cli
