// IwarpWatch: the TCP connections of a capture that carry iWARP, for passive checks.
//
// A connection is one where a way begins with a key of MPA; or, in the middle, where the analysis found FPDUs whose CRC
// is right. What an attacker could feed: connections without end. Those that are watched, and those whose first
// segments are remembered in case their peer shows what they are, are bounded: others are counted. Bytes that wait for
// others are, too.
#pragma once

#include <transport-replay/checks/passive/iwarp_exchange.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/model/packet_record.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

namespace qps::transport::conformance {

class IwarpWatch {
public:
    explicit IwarpWatch(const MemoryBudget& budget);
    [[nodiscard]] static constexpr std::uint64_t memory_of(const MemoryBudget& budget) {
        return most(budget) * kWatched + most_held(budget);
    }

    // Only for ObservationKind::stream.
    void observe(const Observation& packet, const PacketRecord& record, HostTallies& tallies);
    // Nothing more comes.
    void finish(HostTallies& tallies);
    // What of its bounds is taken; what it may be, so that nothing is left out.
    [[nodiscard]] std::size_t streams() const { return std::max(watched_.size(), candidates_.size()); }
    [[nodiscard]] std::size_t held() const { return held_; }
    [[nodiscard]] static constexpr std::size_t most_streams(const MemoryBudget& budget) {
        return std::min<std::size_t>(most(budget), kMostCandidates);
    }
    [[nodiscard]] static constexpr std::uint64_t most_held(const MemoryBudget& budget) {
        return std::min(budget.bytes() / 64, std::uint64_t{64} << 20);
    }
    [[nodiscard]] std::uint64_t unwatched() const {
        return unwatched_;
    }  // packets of connections for which there was no room

private:
    // One, with the table that finds it, an FPDU under way each way, and its open READs: few connections have many.
    static constexpr std::size_t kWatched = 24576;
    static constexpr std::size_t kMostWatched = 1 << 12;
    static constexpr std::size_t kMostCandidates = 4096;  // past it, all of them are forgotten
    [[nodiscard]] static constexpr std::uint64_t most(const MemoryBudget& budget) {
        return std::min<std::uint64_t>(kMostWatched, budget.bytes() / 32 / kWatched);
    }

    struct Hash {
        [[nodiscard]] std::size_t operator()(const FlowKey& key) const { return FlowHash{}(key); }
    };
    // A connection whose beginning was seen.
    struct Candidate {
        FlowKey flow;                        // from who asked for it
        std::uint32_t begins = 0;            // of its stream, behind the SYN
        std::array<std::uint16_t, 2> mss{};  // of its SYN, and of that which answered; 0: not known
        std::optional<FirstSegment> first{};
    };

    [[nodiscard]] IwarpExchange* find(const Observation& packet, const TcpSegmentView& segment,
                                      const PacketRecord& record, HostTallies& tallies);
    [[nodiscard]] IwarpExchange* ask(const Observation& packet, const TcpSegmentView& segment, const FlowKey& key,
                                     HostTallies& tallies);
    [[nodiscard]] IwarpExchange* begin(const FlowKey& flow, const FlowKey& key);
    void end(std::unique_ptr<IwarpExchange>& exchange, HostTallies& tallies);

    std::unordered_map<FlowKey, std::unique_ptr<IwarpExchange>, Hash>
        watched_;  // by the key of both ways; nothing: it is over
    std::unordered_map<FlowKey, Candidate, Hash> candidates_;
    std::size_t most_;
    std::size_t most_held_;
    std::size_t live_ = 0;
    std::size_t held_ = 0;
    std::uint64_t unwatched_ = 0;
};

}  // namespace qps::transport::conformance
