// NvmeWatch: the queues of NVMe over RDMA of a capture, for passive checks: set up by CM to a port of NVMe, or with its
// private data.
//
// Only a queue whose set-up the capture has is watched: what it is, is known then, not guessed. What an attacker could
// feed: set-ups without end. Queues and the commands in flight of all of them are bounded; what there is no room for is
// counted.
#pragma once

#include <transport-replay/checks/passive/nvme_queue.hpp>
#include <transport-replay/model/memory_budget.hpp>

#include <algorithm>
#include <memory>

namespace qps::transport {
struct CmDatagram;
}  // namespace qps::transport

namespace qps::transport::conformance {

class NvmeWatch {
public:
    explicit NvmeWatch(const MemoryBudget& budget);
    [[nodiscard]] static constexpr std::uint64_t memory_of(const MemoryBudget& budget) {
        return most_queues(budget) * kQueue + most_commands(budget) * kCommand;
    }
    [[nodiscard]] static constexpr std::size_t most_queues(const MemoryBudget& budget) {
        return std::min<std::uint64_t>(kMostQueues, budget.bytes() / 64 / kQueue);
    }
    [[nodiscard]] static constexpr std::size_t most_commands(const MemoryBudget& budget) {
        return std::min<std::uint64_t>(kMostCommands, budget.bytes() / 64 / kCommand);
    }

    // What is set up to that port of rdma_cm is a queue of NVMe, too.
    void also_at(std::uint16_t port) { another_port_ = port; }
    // A management datagram.
    void set_up(const Observation& datagram, HostTallies& tallies);
    // A packet of a connection.
    void observe(const Observation& packet, const PacketRecord& record, HostTallies& tallies);
    [[nodiscard]] bool any() const { return !ways_.empty(); }
    // What of its bounds is taken.
    [[nodiscard]] std::size_t queues() const { return queues_.size(); }
    [[nodiscard]] std::size_t commands() const { return room_.commands; }
    [[nodiscard]] std::uint64_t unwatched() const { return unwatched_ + room_.unwatched; }

private:
    static constexpr std::size_t kMostQueues = 1 << 11;
    static constexpr std::size_t kMostCommands = 1 << 16;
    static constexpr std::size_t kQueue =
        16384;  // with its READs, suspicions, a controller, and the tables that find it
    static constexpr std::size_t kCommand = 192;  // as vectors grow

    // Who asked, by the number it gave the exchange.
    struct Asked {
        Address host;
        Address target;
        std::uint32_t id = 0;
        [[nodiscard]] bool operator==(const Asked&) const = default;
    };
    struct AskedHash {
        [[nodiscard]] std::size_t operator()(const Asked& asked) const {
            return mix(hash_of(asked.host) + 3 * hash_of(asked.target) + asked.id);
        }
    };
    struct Hash {
        [[nodiscard]] std::size_t operator()(const FlowKey& key) const { return FlowHash{}(key); }
    };
    struct Pending {
        NvmeSetUp set_up;
        dissect::Qpn host_qp{};
        std::uint64_t digest = 0;  // of the REQ
        bool answered = false;
    };
    struct Watched {
        std::unique_ptr<NvmeQueue> queue;
        std::array<FlowKey, 2> ways;
    };
    struct WayOf {
        std::size_t queue = 0;
        bool from_host = false;
    };

    void request(const CmDatagram& message, const Observation& datagram, HostTallies& tallies);
    void reply(const CmDatagram& message, const Observation& datagram, HostTallies& tallies);
    void reject(const CmDatagram& message, const Observation& datagram, HostTallies& tallies);
    void begin(const Pending& pending, dissect::Qpn target_qp);
    void drop(const FlowKey& way);

    std::unordered_map<Asked, Pending, AskedHash> pending_;
    std::unordered_map<std::size_t, Watched> queues_;
    std::unordered_map<FlowKey, WayOf, Hash> ways_;
    NvmeRoom room_;
    std::size_t next_ = 0;
    std::size_t most_;
    std::uint64_t unwatched_ = 0;
    std::uint16_t another_port_ = 0;  // none
};

}  // namespace qps::transport::conformance
