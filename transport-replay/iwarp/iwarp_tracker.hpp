// IwarpTracker: TCP segments in the order of the capture become iWARP connections, with messages in the tables of all
// others.
//
// A connection is iWARP where a way of it begins with the set-up of MPA, or, in the middle, where segments begin with
// FPDUs whose CRC is right (or which fill them, with a CRC of zero, several times). Any other is asked kTries times and
// then forgotten, at the cost of a look into a table. What an attacker could feed: connections without end, segments
// far ahead. Candidates, what is held of all streams, and connections are bounded: of these the one that is silent for
// longest makes place.
#pragma once

#include <transport-replay/iwarp/iwarp_connection.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/model/peaks.hpp>

#include <deque>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

namespace qps::transport {

class IwarpTracker {
public:
    static constexpr std::uint8_t kTries = 8;          // segments with data that do not look like it
    static constexpr std::uint8_t kUncheckedRuns = 3;  // segments that FPDUs with a CRC of zero fill exactly
    static constexpr std::size_t kMaxCandidates =
        4096;  // connections that are asked at a time; past it all of them are asked anew
    static constexpr std::size_t kRemembered =
        1 << 17;  // connections that are none, of 8 bytes; past it all of them are asked anew

    explicit IwarpTracker(const MemoryBudget& budget = MemoryBudget{})
        : most_(budget.items(Share::streams)), most_held_(budget.bytes(Share::segments)) {}

    // Only for ObservationKind::stream.
    void observe(const Observation& observation, const IwarpListeners& listeners, PacketRecord& record);
    [[nodiscard]] IwarpReport finish(const IwarpListeners& listeners);
    void add_peaks(Peaks& peaks) const;

private:
    using Index = std::uint32_t;
    struct Candidate {
        std::uint8_t tries = 0;
        std::uint8_t unchecked = 0;
    };

    void ask(const Observation& observation, const TcpSegmentView& segment, const FlowKey& key,
             const IwarpListeners& listeners, PacketRecord& record);
    // Nothing where there is no room.
    [[nodiscard]] IwarpConnection* begin(const FlowKey& flow, const FlowKey& key, const IwarpListeners& listeners);
    void follow(IwarpConnection& connection, const Observation& observation, const TcpSegmentView& segment,
                const IwarpListeners& listeners, PacketRecord& record);
    [[nodiscard]] std::optional<Index> place_for_one(const IwarpListeners& listeners);
    void end(Index index, const IwarpListeners& listeners);
    void remember_none(std::uint64_t hash);

    boost::unordered_flat_map<FlowKey, Index, FlowHash> followed_;  // by the key that both ways have
    boost::unordered_flat_map<FlowKey, Candidate, FlowHash> candidates_;
    boost::unordered_flat_set<std::uint64_t> none_;  // hashes of connections that are none
    std::size_t most_none_ = 0;
    std::size_t most_candidates_ = 0;
    std::size_t longest_held_ = 0;
    std::size_t most_;       // connections that are followed
    std::size_t most_held_;  // bytes of segments that wait for others
    std::deque<std::optional<IwarpConnection>> connections_;
    std::vector<Index> free_;               // places in it
    std::uint64_t drawn_ = 0;               // places, in the search for one
    std::vector<IwarpConversation> ended_;  // whose ports were used anew, or which made place for others
    std::uint64_t ended_left_out_ = 0;
    std::size_t held_ = 0;
};

}  // namespace qps::transport
