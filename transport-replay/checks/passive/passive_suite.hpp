// PassiveSuite: all checks that a capture alone can decide, in one walk beside the Analysis.
//
// Facts of single packets are made by any worker; observe() is called in the order of the capture with what the Analysis said of the
// packet; finish() judges with the whole Timeline. Nothing is allocated and no text is made per packet.
//
// What an attacker could feed: any capture. What is kept of each connection has a fixed size (conversation_watch.hpp); connections are
// at most kMostWatched, and what fits into a quarter of the memory: packets of others are counted, and TRC-01 says so.
#pragma once

#include <transport-replay/checks/passive/conclusions.hpp>
#include <transport-replay/checks/passive/management_watch.hpp>
#include <transport-replay/checks/profile.hpp>
#include <transport-replay/model/memory_budget.hpp>

#include <algorithm>
#include <vector>

namespace qps::transport::conformance {

class PassiveSuite {
public:
    explicit PassiveSuite(const MemoryBudget& budget = MemoryBudget{})
        : traits_(kTraitSets), most_watched_(std::min<std::size_t>(kMostWatched, memory_of(budget) / kWatched)) {}
    // Judges this host alone, by its IP address, GID or LID: what others did wrong is left out. Before the first packet.
    void judge_only(const Address& device) { tallies_.judge_only(device); }
    // Packets that were judged.
    [[nodiscard]] std::uint64_t packets() const { return packets_; }
    // What it keeps beside the Analysis.
    [[nodiscard]] static constexpr std::uint64_t memory_of(const MemoryBudget& budget) {
        return std::min(budget.bytes() / 4, std::uint64_t{kMostWatched} * kWatched);
    }

    // The next packet of the capture.
    void observe(const Observation& packet, const PacketFacts& facts, const PacketRecord& record);
    // A message to which nothing more can happen (AnalysisSettings::message).
    void message(ConnectionId connection, End requester, const Message& message);
    // Asks for what observe() will touch of that connection.
    void prefetch(ConnectionId connection) const {
        const std::size_t index = std::to_underlying(connection) - 1;
        if (index < watches_.size()) __builtin_prefetch(&watches_[index]);
    }

    // A result for each check of the catalogue that a capture can decide, in its order. Call it once.
    [[nodiscard]] std::vector<CheckResult> finish(const Timeline& timeline, const Profile& profile = {});

private:
    static constexpr std::size_t kMostWatched = 1 << 17;               // connections
    static constexpr std::size_t kWatched = sizeof(ConversationWatch);  // bytes of one

    void count_packets();

    Tallies tallies_;
    std::vector<std::uint64_t> traits_;  // packets, by what they are
    std::size_t most_watched_;
    Watches watches_;
    std::uint64_t unwatched_ = 0;  // packets of others
    ManagementWatch management_;
    std::size_t remembered_ = 0;
    std::uint64_t packets_ = 0;
    std::uint64_t icrc_not_judged_ = 0;  // wrong ones
};

// The checks that it decides.
[[nodiscard]] bool is_decided_passively(const CheckRow& check);

}  // namespace qps::transport::conformance
