// CollectiveTracker: sees the data of all connections go from host to host, and concludes at the end which hosts work
// in steps together. Sans I/O: packets and what the tracker said of them are arguments.
//
// Short messages control, they carry no data; those of NCCL, whose offers count themselves, are followed one by one.
// Connections whose upper protocol is known are storage, or anything but a collective, and left out. What an attacker
// could feed: any number of hosts; pairs of hosts and connections have bounds, what is past them is counted.
#pragma once

#include <transport-replay/collectives/burst_list.hpp>
#include <transport-replay/collectives/collective_steps.hpp>
#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/collectives/nccl_operations.hpp>
#include <transport-replay/collectives/traffic_signature.hpp>
#include <transport-replay/model/collective_report.hpp>
#include <transport-replay/model/connection_map.hpp>
#include <transport-replay/model/packet_record.hpp>
#include <transport-replay/model/peaks.hpp>
#include <transport-replay/model/ulp_report.hpp>

#include <deque>
#include <functional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

class CollectiveTracker {
public:
    static constexpr std::size_t kMaxWays =
        1 << 12;  // of pairs of hosts: all-to-all of 64; each at most 16 KiB of bursts
    static constexpr std::size_t kMaxFollowed = 1 << 14;    // connections
    static constexpr std::uint32_t kLongestControl = 512;   // bytes of a message that carries no data
    static constexpr std::uint64_t kLeastData = 64 * 1024;  // bytes of a way that is looked at
    static constexpr std::uint64_t kNegligible = 20;        // ways with less than that part of the largest are left out
    static constexpr std::size_t kMostOfWay =
        64;  // connections of NCCL between two hosts: channels and their queue pairs

    // A packet of a connection, after the tracker had it.
    void observe(const Observation& observation, const PacketRecord& record);
    // Nothing more comes of that connection.
    void retire(ConnectionId connection);
    // The end of a part: what its connections were used for is known.
    void settle(const UlpReport& ulp);
    // What another part of the pairs of hosts has; both are settled.
    void absorb(CollectiveTracker&& part);
    // Nothing of these hosts is told by it; settled.
    void leave_out(const std::function<bool(const FlowKey& hosts)>& unwanted);
    void add_peaks(Peaks& peaks) const;
    // Whether no number in it points past a list: as always, unless it was read from a file.
    [[nodiscard]] bool is_sound() const;
    // What is settled becomes a report: the tracker is then as new.
    [[nodiscard]] CollectiveReport conclude(const NcclLog& log);
    // Hands everything out; `upper` knows what connections were used for, `log` what ranks they have.
    [[nodiscard]] CollectiveReport finish(const UlpReport& ulp, const NcclLog& log = {});

private:
    friend struct PrivateMembers;  // parts/private_members.hpp
    static constexpr std::uint32_t kNone = UINT32_MAX;
    struct Way {
        FlowKey hosts;                // without queue pairs
        dissect::FrameIndex first{};  // that was seen of it
        BurstList list;
        std::uint64_t known = 0;              // bytes of connections whose protocol is known
        std::uint64_t rated = 0;              // bytes of packets that follow another of the same message,
        dissect::Duration sending{};          // and the time from that one to them
        std::vector<std::uint32_t> channels;  // of NCCL
        bool nccl = false;                    // a connection on it is NCCL's
    };
    struct Writing {  // a message of NCCL that has begun
        std::uint32_t channel = kNone;
        std::uint32_t message = kNone;
    };
    struct Followed {
        std::array<std::uint32_t, 2> ways{kNone, kNone};  // of what each end sends
        std::array<std::uint64_t, 2> bytes{};
        std::array<dissect::Instant, 2> last{};               // packet of data
        std::array<std::uint32_t, 2> channels{kNone, kNone};  // that each end sends on, where the other end offers
        std::array<Writing, 2> writing{};
        TrafficSignature signature;
    };

    [[nodiscard]] Followed* followed(ConnectionId connection);
    [[nodiscard]] Followed* known(ConnectionId connection);
    [[nodiscard]] std::uint32_t way_of(const Address& source, const Address& destination, dissect::FrameIndex frame);
    void put_in_order();
    void follow_acknowledge(const Observation& observation, const PacketRecord& record);
    void follow_nccl(const Observation& observation, End from, Followed& connection);
    void follow_offer(const Observation& observation, const NcclOffer& offer, End from, Followed& connection);
    void begin_message(const Observation& observation, End from, Followed& connection);
    void mark_nccl();
    [[nodiscard]] std::vector<NcclFlow> nccl_flows(const Collective& collective) const;
    void judge_nccl(Collective& collective) const;
    struct Groups;
    [[nodiscard]] Groups groups() const;
    static void rate_ranks(Collective& collective, const std::deque<Way>& ways);
    using Votes = std::array<std::uint64_t, kCollectiveLibraryNames.size()>;  // connections, by library
    [[nodiscard]] std::vector<Votes> votes_of(const Groups& groups) const;
    [[nodiscard]] std::optional<Collective> judge(const std::vector<Address>& hosts,
                                                  const std::vector<std::uint32_t>& members,
                                                  const std::vector<CollectiveFlow>& flows, const Votes& votes) const;
    static void count_connections(Collective& collective, const Votes& votes);

    ConnectionMap<std::uint32_t> places_;  // in followed_, or kNone
    std::deque<Followed> followed_;
    std::vector<std::uint32_t> free_;  // places in it
    std::deque<Way> ways_;
    boost::unordered_flat_map<FlowKey, std::uint32_t, FlowHash> index_;
    struct OfWay {
        std::uint32_t way = 0;
        dissect::FrameIndex first{};
        NcclChannel channel;
    };
    std::deque<OfWay> channels_;
    NcclEvents events_;
    std::uint64_t left_out_ = 0;
};

}  // namespace qps::transport
