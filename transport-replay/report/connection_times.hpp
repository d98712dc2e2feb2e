// ConnectionTimes: how long the messages of each connection took, and how many of them were outstanding at once. Fed
// with messages in the order in which they ended, which the command line hears while it reads and the window reads from
// an index.
//
// What an attacker could feed: any number of connections, any times. All of it is within Beside::latencies of the
// memory: a connection that there is no room for has no times, and is counted. A part of its times would be no measure
// of it.
#pragma once

#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/latency_sketch.hpp>
#include <transport-replay/model/memory_budget.hpp>

#include <array>
#include <unordered_map>
#include <vector>

namespace qps::transport {

// Times of one end's requests.
struct WayTimes {
    LatencySketch latencies;   // first packet to completion, of messages that completed
    dissect::Duration most{};  // of them
    std::uint32_t depth = 0;   // messages outstanding at once, of those that were answered; 0: not known
};

class ConnectionTimes {
public:
    explicit ConnectionTimes(const MemoryBudget& memory = MemoryBudget{});

    void add(ConnectionId connection, End requester, Outcome outcome, dissect::Instant first, dissect::Instant answer);
    // nullptr: no message of it ended, or there was no room for it.
    [[nodiscard]] const std::array<WayTimes, 2>* find(ConnectionId connection) const;
    // Messages of connections that there was no room for.
    [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
    // Memory that they take.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

private:
    // Answers that came after the first packet of the last message, oldest first.
    struct Answers {
        std::vector<dissect::Instant> all;
        std::size_t gone = 0;  // of them, from the beginning

        void pop_until(dissect::Instant first);
        [[nodiscard]] bool has_room() const { return all.size() < all.capacity(); }
        [[nodiscard]] std::size_t bytes() const { return all.capacity() * sizeof(dissect::Instant); }
    };
    struct Entry {
        std::array<WayTimes, 2> ways;
        std::array<Answers, 2> answers;
        std::uint64_t messages = 0;
        bool dropped = false;  // for want of room
        [[nodiscard]] std::uint64_t bytes() const;
    };
    static constexpr std::uint64_t kEntryCost =
        sizeof(Entry) + 128;  // with its node, its place in a table that doubles, and what the heap adds to each piece

    std::unordered_map<ConnectionId, Entry> entries_;
    std::uint64_t most_;
    std::uint64_t bytes_ = 0;
    std::uint64_t left_out_ = 0;
};

// Both ways together.
[[nodiscard]] LatencySketch latencies_of(const std::array<WayTimes, 2>& times);

}  // namespace qps::transport
