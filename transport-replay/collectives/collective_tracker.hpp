// CollectiveTracker: sees the data of all connections go from host to host, and concludes at the end which hosts work in steps
// together. Sans I/O: packets and what the tracker said of them are arguments.
//
// Short messages control, they carry no data. Connections whose upper protocol is known are storage, or anything but a collective,
// and left out. What an attacker could feed: any number of hosts; pairs of hosts and connections have bounds, what is past them
// is counted.
#pragma once

#include <transport-replay/collectives/burst_list.hpp>
#include <transport-replay/collectives/collective_report.hpp>
#include <transport-replay/collectives/collective_steps.hpp>
#include <transport-replay/collectives/traffic_signature.hpp>
#include <transport-replay/model/packet_story.hpp>
#include <transport-replay/ulp/ulp_report.hpp>

#include <deque>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

class CollectiveTracker {
public:
    static constexpr std::size_t kMaxWays = 1 << 12;        // of pairs of hosts: all-to-all of 64; each at most 16 KiB of bursts
    static constexpr std::size_t kMaxFollowed = 1 << 14;    // connections
    static constexpr std::uint32_t kLongestControl = 512;   // bytes of a message that carries no data
    static constexpr std::uint64_t kLeastData = 64 * 1024;  // bytes of a way that is looked at
    static constexpr std::uint64_t kNegligible = 20;        // ways with less than that part of the largest are left out

    // A packet of a connection, after the tracker had it.
    void observe(const Observation& observation, const PacketStory& story);
    // Hands everything out; `upper` knows what connections were used for.
    [[nodiscard]] CollectiveReport finish(const UlpReport& ulp);

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    struct Way {
        FlowKey hosts;  // without queue pairs
        BurstList list;
        std::uint64_t known = 0;      // bytes of connections whose protocol is known
        std::uint64_t rated = 0;      // bytes of packets that follow another of the same message,
        dissect::Duration sending{};  // and the time from that one to them
    };
    struct Followed {
        std::array<std::uint32_t, 2> ways{kNone, kNone};  // of what each end sends
        std::array<std::uint64_t, 2> bytes{};
        std::array<dissect::Instant, 2> last{};  // packet of data
        TrafficSignature signature;
    };

    [[nodiscard]] Followed* followed(ConnectionId connection);
    [[nodiscard]] std::uint32_t way_of(const Observation& observation);
    struct Groups;
    [[nodiscard]] Groups groups() const;
    static void rate_ranks(Collective& collective, const std::deque<Way>& ways);
    [[nodiscard]] std::optional<Collective> judge(const std::vector<Address>& hosts, const std::vector<std::uint32_t>& members,
                                                  const std::vector<CollectiveFlow>& flows) const;
    void count_connections(Collective& collective) const;

    std::vector<Followed> followed_;  // by ConnectionId
    std::deque<Way> ways_;
    boost::unordered_flat_map<FlowKey, std::uint32_t, FlowHash> index_;
    std::uint64_t left_out_ = 0;
};

}  // namespace qps::transport
