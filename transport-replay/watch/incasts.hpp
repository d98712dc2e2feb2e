// IncastTracker: bursts of many senders to one receiver.
//
// Packets of data in the order of the capture go in. A burst of one receiver says nothing of another's: who follows a
// part of all receivers has a part of all bursts. What an attacker could feed: any number of hosts. Tables have a bound
// and a count of what is past it.
#pragma once

#include <transport-replay/model/congestion_report.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/peaks.hpp>
#include <transport-replay/tracking/flow_table.hpp>

#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

inline constexpr std::size_t kMaxIncasts = 4096;  // listed; more are counted

struct IncastRule {
    std::uint32_t senders = 4;
    dissect::Duration window{50'000};  // they start within, having been silent for as long
    std::uint64_t bytes = 64 * 1024;
    dissect::Duration longest{1'000'000};  // what comes later is no longer the burst
};

// A burst, and when it was known to be over: bursts are told in that order.
struct EndedIncast {
    IncastBurst burst;
    std::uint64_t packet = 0;  // that came after it; UINT64_MAX: the end of the capture
};

class IncastTracker {
public:
    explicit IncastTracker(IncastRule rule = {}, const MemoryBudget& budget = MemoryBudget{})
        : rule_(rule), most_pairs_(budget.items(Share::pairs)) {}
    // A packet of data, which is `packet` among all of the capture.
    void observe(const Observation& observation, std::uint64_t packet);
    // Hands everything out: the tracker is then as new.
    [[nodiscard]] std::vector<EndedIncast> finish();
    [[nodiscard]] std::uint64_t dropped() const { return dropped_; }  // bursts that are not listed
    void add_peaks(Peaks& peaks) const { peaks.add(Need::incast_pairs, pairs_.size(), most_pairs_); }

private:
    using Index = FlowTable::Index;
    struct Pair {
        std::optional<dissect::Instant> last_data;
        Index destination = 0;
        std::uint32_t incast = 0;  // number of the destination's burst it was counted for
        Address source;
    };
    struct Start {
        dissect::Instant time{};
        dissect::FrameIndex frame{};
        Index pair = 0;
        std::uint64_t bytes = 0;  // of the destination before it
        std::uint64_t marked = 0;
    };
    struct alignas(64) Destination {
        dissect::Instant last_time{};
        std::uint64_t bytes = 0;
        std::uint64_t marked = 0;
        std::uint32_t burst_number = 0;
        std::uint32_t senders = 0;
        std::optional<Start> burst;
        std::vector<Start> starts;  // within the window
        Address address;
    };
    [[nodiscard]] std::optional<Index> pair_of(const Observation& observation);
    void take_start(const Observation& observation, Index pair_index, Destination& destination);
    void close(Destination& destination, std::uint64_t packet);

    IncastRule rule_;
    std::size_t most_pairs_;
    FlowTable pair_index_;                                                   // by hosts_hash
    boost::unordered_flat_map<FlowKey, Index, FlowHash> destination_index_;  // no source, queue pair 0
    std::vector<Pair> pairs_;
    std::vector<Destination> destinations_;
    std::vector<EndedIncast> ended_;
    std::uint64_t dropped_ = 0;
};

// Bursts of all parts in the order in which they were over; past the bound they are counted.
void tell_incasts(std::vector<EndedIncast> ended, std::uint64_t dropped, CongestionReport& report);

}  // namespace qps::transport
