// Statistics: how much of what there is in a capture, or among some of its packets: the census of `qpscope info`,
// lengths, how packets are marked for switches, and how source ports spread between two hosts, which is what ECMP
// chooses a path by.
//
// What an attacker could feed: any number of hosts, ports and queue pairs: past the bounds they are counted, not told
// apart.
#pragma once

#include <dissect/packet/census.hpp>
#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/index/packet_pass.hpp>
#include <transport-replay/index/row_set.hpp>
#include <transport-replay/model/address.hpp>
#include <transport-replay/model/observation.hpp>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>

namespace qps::transport::series {

struct Share {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;  // on the wire
    void add(const Share& more) {
        packets += more.packets;
        bytes += more.bytes;
    }
};

// Packets by their length on the wire: from the bound of a class up to, not including, that of the next. Doubling, as
// Wireshark's are; the last has no end.
inline constexpr std::array<std::uint32_t, 11> kLengthBounds{0, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480};

// How an RDMA packet over IP is marked for the switches on its way.
struct TrafficClass {
    std::uint8_t dscp = 0;
    std::uint8_t pcp = kNoPcp;  // of its VLAN tag
    std::uint8_t ecn = 0;
    [[nodiscard]] auto operator<=>(const TrafficClass&) const = default;
};
[[nodiscard]] std::string_view ecn_name(std::uint8_t ecn);  // "Not-ECT", "ECT(1)", "ECT(0)", "CE" (RFC 3168, 5)

// RoCEv2 packets from one host to another.
struct HostsPorts {
    Share all;
    std::map<std::uint16_t, std::uint64_t> packets;  // by UDP source port
    static constexpr std::size_t kMostQueuePairs = 4096;
    std::set<dissect::Qpn> queue_pairs;  // of the receiver
    bool more_queue_pairs = false;       // past kMostQueuePairs, or Statistics::kMostQueuePairs: not told apart
    std::uint64_t untold = 0;            // packets of ports past kMostPorts

    // Shannon's, in bits: 0 where one port has all packets, n where 2^n have the same number each.
    [[nodiscard]] double entropy() const;
    // Of the busiest port, 0 to 1.
    [[nodiscard]] double greatest_share() const;
};

struct Statistics {
    static constexpr std::size_t kMostPairs = 1U << 14;       // hosts of a large pod, all to all of 128
    static constexpr std::size_t kMostPorts = 1U << 19;       // over all pairs; some 25 MB
    static constexpr std::size_t kMostQueuePairs = 1U << 19;  // the same
    using Hosts = std::pair<Address, Address>;                // from, to

    dissect::Census census;
    std::array<Share, kLengthBounds.size()> lengths{};
    std::map<TrafficClass, Share> classes;
    std::map<Hosts, HostsPorts> ports;
    std::uint64_t untold_pairs = 0;  // packets of hosts past kMostPairs
    std::uint64_t unreadable = 0;    // packets that are no longer where they were

    void count(const dissect::Packet& packet);
    // Of the packets that follow.
    void add(Statistics&& next);

private:
    std::size_t told_ports_ = 0;
    std::size_t told_queue_pairs_ = 0;
    void count_port(const Observation& observation);
    void tell_queue_pair(HostsPorts& pair, dissect::Qpn queue_pair);
};

// Of the packets in `only`, nullptr: of all `packets`. Nothing where it was stopped.
[[nodiscard]] std::optional<Statistics> statistics(const std::shared_ptr<const CaptureIndex>& index,
                                                   std::uint64_t packets, const RowSet* only,
                                                   const PassWatch& watch = {});

}  // namespace qps::transport::series
