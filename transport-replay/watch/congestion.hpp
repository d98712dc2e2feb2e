// CongestionTracker: CE marks, and the CNPs that answer them. Who follows a part of all pairs of hosts has a part of
// them.
//
// Observations in the order of the capture go in; finish() hands out the report. A CNP goes from the receiver of marked
// data to its sender and names the sender's queue pair, which the data itself does not bear: CNPs are kept by (source,
// destination, queue pair), and attribute() joins them to flows once somebody knows which flows belong together. Delays
// are those between the hosts: from the last mark in one direction to the CNP in the other, as the tap saw both.
//
// What an attacker could feed: any number of flows, hosts, priorities. Every table has a bound below and a count of the
// packets past it; memory is that of the flows, not of the packets.
#pragma once

#include <transport-replay/model/congestion_report.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/paged.hpp>
#include <transport-replay/model/peaks.hpp>
#include <transport-replay/model/seldom.hpp>
#include <transport-replay/tracking/flow_table.hpp>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

inline constexpr dissect::Duration kMarkMerging{
    10'000};                                             // marks this close count as one moment: 100 moments a deadline
inline constexpr dissect::Duration kRateBin{1'000'000};  // 1 ms
inline constexpr std::int64_t kRateBins = 4;  // before and after a burst of CNPs; also how long it is quiet before

class CongestionTracker {
public:
    explicit CongestionTracker(const MemoryBudget& budget = MemoryBudget{})
        : most_flows_(budget.items(Share::flows)), most_pairs_(budget.items(Share::pairs)) {}
    // Of ObservationKind::transport; others change nothing.
    void observe(const Observation& observation);
    // Ask for the lines that observe() will want of a packet that comes soon: first for where its flow is, then, some
    // packets later, for the flow.
    void prefetch_index(const Observation& observation) const { flow_index_.prefetch(observation.flow_hash); }
    void prefetch(const Observation& observation) const;
    // Hands everything out: the tracker is then as new. `now`: the latest time of any packet.
    [[nodiscard]] CongestionReport finish(dissect::Instant now);
    void add_peaks(Peaks& peaks) const;

private:
    using Index = FlowTable::Index;
    static constexpr std::size_t kRing =
        2 * kRateBins + 2;  // bins of a flow: before a burst, its own, after it, and the one begun

    struct Moment {
        dissect::Instant time{};
        std::uint64_t marks = 0;
        bool paced = false;      // so soon after a CNP that it may bring no other
        std::uint32_t kept = 0;  // of its marks, at the end of Pair::sums.unanswered_marks
        TimedFrame last{};
    };
    // By cache lines: which flow it is and what every packet changes, what few do. Its hosts are those of its pair.
    struct alignas(64) Flow {
        Index pair = 0;
        dissect::Qpn destination_qp{};
        std::uint64_t packets = 0;
        std::int64_t last_bin = 0;
        std::array<std::uint32_t, kRing> bins{};

        std::uint64_t bytes = 0;
        std::uint32_t bursts_measured = 0;
        dissect::Qpn source_qp{};
        std::int64_t first_bin = 0;
        std::uint64_t hash = 0;  // under which it is found
        struct Marks {
            std::uint64_t count = 0;
            TimedFrame first;
            TimedFrame last;
            Reaction reaction;
        };
        Seldom<Marks> marks;
    };
    static_assert(sizeof(Flow) == 128, "a flow of every queue pair, each way: two lines");
    // What every packet of data reads comes first.
    struct alignas(64) Pair {
        std::uint32_t bursts = 0;      // of CNPs
        std::uint32_t burst_cnps = 0;  // of the last of them
        std::int64_t burst_bin = 0;
        PairCongestion sums;  // its hosts first; packets: counted by its flows
        std::optional<dissect::Instant> last_mark;
        std::optional<dissect::Instant> last_cnp;
        std::optional<dissect::Instant> last_silence;
        std::vector<Moment> pending;  // marks that may still be answered
        std::size_t settled = 0;      // of sums.unanswered_marks: the others are pending
    };

    [[nodiscard]] std::optional<Index> pair_of(const Address& source, const Address& destination);
    [[nodiscard]] FlowKey key_of(const Flow& flow) const;
    [[nodiscard]] bool is_of(const Flow& flow, const FlowKey& key) const;
    [[nodiscard]] Flow* flow_of(const Observation& observation);
    [[nodiscard]] std::optional<Index> place_for_flow();
    void take_data(const Observation& observation);
    void take_mark(const Observation& observation, Flow& flow, Pair& pair);
    void take_cnp(const Observation& observation);
    static void expire(Pair& pair, dissect::Instant now);
    static void forget_pending(Pair& pair);
    static void measure(Flow& flow, const Pair& pair, std::int64_t now_bin);
    static void measure_long(Flow& flow, const Pair& pair);
    static void count(Flow& flow, std::int64_t bin, std::uint32_t bytes);
    [[nodiscard]] static std::uint32_t& bytes_of(Flow& flow, std::int64_t bin);

    std::size_t most_flows_;
    std::size_t most_pairs_;   // of hosts, each way; and streams of CNPs
    std::uint64_t drawn_ = 0;  // places, in the search for one
    CongestionReport report_;
    FlowTable flow_index_;                                            // by flow_hash
    boost::unordered_flat_map<FlowKey, Index, FlowHash> pair_index_;  // queue pair 0
    boost::unordered_flat_map<FlowKey, Index, FlowHash> stream_index_;
    Paged<Flow> flows_;
    std::vector<Pair> pairs_;
};

// The flow the other way of the same connection, where it is known.
using Pairing = std::function<std::optional<FlowKey>(const FlowKey&)>;

enum class Attribution : std::uint8_t {
    paired,     // by the pairing
    only_flow,  // the only flow between the hosts that was marked
    undecided,
};

struct ThrottledFlow {
    std::size_t notification = 0;     // index into CongestionReport::notifications
    std::optional<std::size_t> flow;  // index into CongestionReport::flows: whose sender was told to slow down
    Attribution attribution = Attribution::undecided;
};

// One row a stream of CNPs, in their order.
[[nodiscard]] std::vector<ThrottledFlow> attribute(const CongestionReport& report, const Pairing& pairing);

}  // namespace qps::transport
