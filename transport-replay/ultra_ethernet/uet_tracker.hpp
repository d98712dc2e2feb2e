// UetTracker: packets of Ultra Ethernet in the order of the capture become packet delivery contexts (PDCs), which are
// connections in the tables of all others.
//
// A context has a number at each end, unique among those of the two hosts; packets that open it name the initiator's
// alone. Numbers are used again: a new first PSN, or a peer that contradicts, begins another context. What an attacker
// could feed: contexts without end. All that is kept is charged to one share of the memory; where it is used up, the
// context that is silent for longest makes place.
#pragma once

#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/model/peaks.hpp>
#include <transport-replay/ultra_ethernet/uet_context.hpp>

#include <algorithm>
#include <deque>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

class UetTracker {
public:
    explicit UetTracker(const MemoryBudget& budget = MemoryBudget{}) : share_(budget.bytes(Share::contexts)) {}

    // Only for ObservationKind::ultra_ethernet.
    void observe(const Observation& observation, Repetition repetition, Tracker& tracker, PacketRecord& record);
    [[nodiscard]] UetReport finish(Tracker& tracker);
    // With the room that the next context is made in; half of the share is for those that are over.
    void add_peaks(Peaks& peaks) const {
        peaks.add(Need::contexts, std::max(share_.most_used(), 2 * ended_bytes_) + kOne, share_.most());
    }

private:
    using Index = std::uint32_t;
    static constexpr std::size_t kOne = 2 * sizeof(UetContext);  // with what its first packets bring
    struct Where {
        Index index = 0;
        End from{};
    };
    struct Ended {
        UetConversation conversation{};
        Charge charge{};
    };

    [[nodiscard]] std::optional<Where> find(const FlowKey& flow, const UetPacket& packet, Tracker& tracker);
    [[nodiscard]] std::optional<Where> begin(const FlowKey& flow, const UetPacket& packet, Tracker& tracker);
    void learn(const Where& where, const FlowKey& flow, const UetPacket& packet, Tracker& tracker);
    void name(const Where& where, End end, const FlowKey& key, std::uint16_t id, Tracker& tracker);
    [[nodiscard]] std::optional<Index> place_for_one(Tracker& tracker);
    void end(Index index, Tracker& tracker);
    [[nodiscard]] UetContext& context(Index index) { return *contexts_[index]; }

    ByteShare share_;
    boost::unordered_flat_map<FlowKey, Where, FlowHash> ends_;  // by who has the number, of whom, and the number
    std::deque<std::optional<UetContext>> contexts_;
    std::vector<Index> free_;  // places in it
    std::vector<Ended> ended_;
    std::size_t ended_bytes_ = 0;
    std::uint64_t drawn_ = 0;  // places, in the search for one
    UetReport report_;
};

}  // namespace qps::transport
