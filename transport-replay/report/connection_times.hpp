// ConnectionTimes: how long the messages of each connection took, and how many of them were outstanding at once. Fed with messages in
// the order in which they ended, which the command line hears while it reads and the window reads from an index.
//
// What an attacker could feed: any number of connections, any times. Past kMostConnections, and kMostOpen, nothing more is kept.
#pragma once

#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/latency_bins.hpp>

#include <array>
#include <deque>
#include <unordered_map>

namespace qps::transport {

// Of one end's requests.
struct WayTimes {
    LatencyBins latencies;      // first packet to completion, of messages that completed
    dissect::Duration most{};   // of them
    std::uint32_t depth = 0;    // messages outstanding at once, of those that were answered; 0: not known
};

class ConnectionTimes {
public:
    static constexpr std::size_t kMostConnections = std::size_t{1} << 16;  // 64 MB at worst, 10 MB usually
    static constexpr std::size_t kMostOpen = std::size_t{1} << 20;         // answers remembered of all ways: 8 MB

    void add(ConnectionId connection, End requester, Outcome outcome, dissect::Instant first, dissect::Instant answer);
    // nullptr: no message of it ended.
    [[nodiscard]] const std::array<WayTimes, 2>* find(ConnectionId connection) const;

private:
    struct Entry {
        std::array<WayTimes, 2> ways;
        std::array<std::deque<dissect::Instant>, 2> answers;  // that came after the first packet of the last message
    };
    std::unordered_map<ConnectionId, Entry> entries_;
    std::size_t open_ = 0;
};

// Both ways together.
[[nodiscard]] LatencyBins latencies_of(const std::array<WayTimes, 2>& times);

}  // namespace qps::transport
