// PassiveSuite: all checks that a capture alone can decide, in one walk beside the Analysis.
//
// Facts of single packets are made by any worker; observe() is called in the order of the capture with what the
// Analysis said of the packet; finish() judges with the whole Timeline, or take() hands out what was seen, of parts of
// a capture. Nothing is allocated and no text is made per packet.
//
// What an attacker could feed: any capture. What is kept of each connection has a fixed size (conversation_watch.hpp);
// connections are at most kMostWatched, and what fits into a quarter of the memory: packets of others are counted, and
// TRC-01 says so. Hosts that are told apart are at most kMostHosts, and what fits into a sixteenth. iWARP and NVMe have
// bounds of their own (iwarp_watch.hpp, nvme_watch.hpp).
#pragma once

#include <transport-replay/checks/passive/conversation_watch.hpp>
#include <transport-replay/checks/passive/management_watch.hpp>
#include <transport-replay/checks/passive/passive_record.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/model/paged.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace qps::transport::conformance {

class IwarpWatch;
class NvmeWatch;

// What a suite has taken of each of its bounds; suites of parts of a capture together took as much as one would have,
// or more.
struct SuiteNeeds {
    std::size_t watched = 0;     // connections, up to the last that it saw
    std::size_t remembered = 0;  // ways
    std::size_t hosts = 0;       // told apart
    std::size_t last = 0;        // the highest number of a connection in the whole
    std::size_t streams = 0;     // of TCP that are, or may be, iWARP
    std::size_t held = 0;        // bytes of them that waited for others
    std::size_t queues = 0;      // of NVMe
    std::size_t commands = 0;    // in flight on them
};

class PassiveSuite {
public:
    explicit PassiveSuite(const MemoryBudget& budget = MemoryBudget{});
    PassiveSuite(PassiveSuite&&) noexcept;
    PassiveSuite& operator=(PassiveSuite&&) noexcept;
    ~PassiveSuite();
    // One of these, before the first packet: judges this host alone, by its IP address, GID or LID: what others did
    // wrong is left out; or tells hosts apart, for who judges any of them by what take() hands out.
    void judge_only(const Address& device) { tallies_.tell_apart(*(device_ = device)); }
    void tell_hosts_apart(const MemoryBudget& budget) { tallies_.tell_apart(most_hosts(budget)); }
    // What CM sets up to that port is NVMe, too. Before the first packet.
    void has_nvme_at(std::uint16_t port);
    // What it keeps beside the Analysis; where hosts are told apart.
    [[nodiscard]] static constexpr std::uint64_t memory_of(const MemoryBudget& budget) {
        return most_watched(budget) * kWatched + memory_of_iwarp(budget) + memory_of_nvme(budget);
    }
    [[nodiscard]] static constexpr std::uint64_t memory_of_iwarp(const MemoryBudget& budget) {
        return std::min(budget.bytes() / 16, kMostOfIwarp);
    }
    [[nodiscard]] static constexpr std::uint64_t memory_of_nvme(const MemoryBudget& budget) {
        return std::min(budget.bytes() / 32, kMostOfNvme);
    }
    [[nodiscard]] static constexpr std::uint64_t memory_with_hosts(const MemoryBudget& budget) {
        return memory_of(budget) + std::uint64_t{most_hosts(budget)} * HostTallies::kHost;
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

    [[nodiscard]] SuiteNeeds needs() const {
        return {.watched = watches_.size(),
                .remembered = remembered_,
                .hosts = tallies_.told_apart(),
                .streams = streams_,
                .held = held_,
                .queues = nvme_queues_,
                .commands = nvme_commands_};
    }
    // Whether one suite like this would have left nothing out.
    [[nodiscard]] bool has_room_for(const SuiteNeeds& needs) const {
        return std::max(needs.watched, needs.last) < most_watched_ && needs.remembered < kRememberedWays &&
               tallies_.has_room_for(needs.hosts) && needs.streams < most_streams_ && needs.held < most_held_ &&
               needs.queues < most_queues_ && needs.commands < most_commands_;
    }

    // One of these, once: what was seen; or what it means, a result for each check of the catalogue that a capture can
    // decide, in its order.
    [[nodiscard]] PassiveRecord take();
    [[nodiscard]] std::vector<CheckResult> finish(const Timeline& timeline, const Profile& profile = {}) {
        return judge(take(), timeline, profile, device_);
    }

private:
    static constexpr std::size_t kMostWatched = 1 << 17;                // connections
    static constexpr std::size_t kWatched = sizeof(ConversationWatch);  // bytes of one
    static constexpr std::uint64_t kMostOfIwarp = std::uint64_t{192} << 20;
    static constexpr std::uint64_t kMostOfNvme = std::uint64_t{64} << 20;
    static constexpr std::size_t kMostHosts = 1 << 12;  // a large cluster; a capture of one host has fewer
    [[nodiscard]] static constexpr std::uint64_t most_watched(const MemoryBudget& budget) {
        return std::min<std::uint64_t>(kMostWatched, budget.bytes() / 4 / kWatched);
    }
    [[nodiscard]] static constexpr std::size_t most_hosts(const MemoryBudget& budget) {
        return std::min<std::size_t>(kMostHosts, budget.bytes() / 16 / HostTallies::kHost);
    }

    const std::array<std::uint64_t, kTraitSets>*
        looks_;  // bits of Passive by traits: which checks look at such packets
    HostTallies tallies_;
    std::optional<Address> device_;
    std::size_t most_watched_;
    Paged<ConversationWatch> watches_;  // by the number of their connection, less one
    std::uint64_t unwatched_ = 0;       // packets of others
    ManagementWatch management_;
    std::unique_ptr<IwarpWatch> iwarp_;
    std::size_t streams_ = 0;  // at most so far, as the next
    std::size_t held_ = 0;
    std::size_t most_streams_;
    std::size_t most_held_;
    std::size_t remembered_ = 0;
    std::unique_ptr<NvmeWatch> nvme_;
    std::size_t nvme_queues_ = 0;  // at most so far, as the next
    std::size_t nvme_commands_ = 0;
    std::size_t most_queues_;
    std::size_t most_commands_;
};

}  // namespace qps::transport::conformance
