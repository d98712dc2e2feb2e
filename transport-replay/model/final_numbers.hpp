// FinalNumbers: which connection a flow turned out to be a part of that had a number of its own before. A packet that
// was shown until then has the number of the flow; who knows the end of the capture names the connection instead.
//
// What an attacker could feed: any number of flows. Those past kMost keep the numbers that they were given.
#pragma once

#include <transport-replay/model/connection.hpp>

#include <utility>
#include <vector>

namespace qps::transport {

// All that the flow sent, as end a of a connection of its own, was sent by end b of the other.
struct JoinedFlow {
    ConnectionId given{};
    ConnectionId connection{};
};

class FinalNumbers {
public:
    static constexpr std::uint32_t kMost = (1U << 20) - 1;  // as many as rows name (PacketRow::kMaxConnection)
    [[nodiscard]] static bool has_room_for(ConnectionId given) { return std::to_underlying(given) <= kMost; }

    FinalNumbers() = default;
    // Sorted by the number given, each once.
    explicit FinalNumbers(std::vector<JoinedFlow> flows) : flows_(std::move(flows)) {}

    [[nodiscard]] bool any() const { return !flows_.empty(); }
    // Whether the flow of that number became part of another connection.
    [[nodiscard]] bool is_part(ConnectionId given) const { return find(given) != nullptr; }
    // Says which connection and which of its ends that is.
    void settle(ConnectionId& connection, End& end) const;

private:
    [[nodiscard]] const JoinedFlow* find(ConnectionId given) const;
    std::vector<JoinedFlow> flows_;
};

}  // namespace qps::transport
