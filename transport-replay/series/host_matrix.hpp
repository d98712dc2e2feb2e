// HostMatrix: who sent how much to whom, and how it went: a cell for each pair of hosts that a connection joins, in the
// direction of the packets; stalls and latencies are those of requests in that direction. Sums over the connections of
// a timeline.
//
// What an attacker could feed: any number of hosts: past kMostHosts, by their bytes, they are left out and counted.
#pragma once

#include <transport-replay/model/connection.hpp>
#include <transport-replay/report/connection_times.hpp>

#include <span>
#include <vector>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::transport::series {

struct HostPair {
    std::uint32_t from = 0;  // by their places among the hosts
    std::uint32_t to = 0;
    std::uint32_t connections = 0;
    std::uint64_t bytes = 0;  // on the wire
    std::uint64_t lost = 0;   // Losses::lost()
    dissect::Duration stalled{};
    dissect::Duration p99{};  // of the latency of messages; 0: none completed
};

class HostMatrix {
public:
    static constexpr std::size_t kMostHosts = 4096;

    // Of the same capture.
    HostMatrix() = default;
    HostMatrix(const Timeline& timeline, const ConnectionTimes& times);

    [[nodiscard]] std::span<const Address> hosts() const { return hosts_; }          // in order
    [[nodiscard]] std::span<const HostPair> pairs() const { return pairs_; }         // by from, to
    [[nodiscard]] const HostPair* find(std::uint32_t from, std::uint32_t to) const;  // nullptr: nothing joins them
    [[nodiscard]] std::size_t left_out() const { return left_out_; }                 // hosts

private:
    std::vector<Address> hosts_;
    std::vector<HostPair> pairs_;
    std::size_t left_out_ = 0;
};

}  // namespace qps::transport::series
