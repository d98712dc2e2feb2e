// CmTracker: every attempt at a connection that the CM messages of a capture tell of, as a ladder of messages with what
// both sides asked for and what came of it; resolutions of datagram services (SIDR) and joins of multicast groups too.
//
// Observations in the order of the capture go in; finish() hands out the attempts. A message belongs to the attempt
// whose communication ids and addresses it bears; ids are reused, so a REQ that is not a repetition begins a new
// attempt. What was not captured is nothing, not zero. Copies of a mirror look like repetitions: leave them out before
// (quality.hpp).
//
// What an attacker could feed: any messages at any rate with any ids. Attempts, rungs, joins and refusals are bounded
// by the constants below; what is past them is counted. An impossible message is a refusal, a value, and changes
// nothing. One that was possible before and comes again, byte for byte, is none: ends repeat until they are answered,
// and networks double and delay.
#pragma once

#include <transport-replay/cm/cm_machine.hpp>
#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/peaks.hpp>

#include <algorithm>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

inline constexpr std::size_t kMaxCmRungs = 64;           // of an attempt: 15 retries (4 bits) of each of its messages
inline constexpr std::size_t kMaxCmRefusals = 1024;      // more of them are the same record
inline constexpr std::size_t kMaxMulticastJoins = 4096;  // a host joins a handful of groups
inline constexpr std::uint8_t kDefaultCmTimeout = 20;    // exponent where the REQ was not seen: what Linux sends, 4.3 s
inline constexpr std::uint32_t kHalfKnownWindow = 1024;  // PSNs: a strange flow has one of these once in 16,384 times
inline constexpr std::size_t kMaxHalfKnown = 64;         // attempts between two hosts whose REP was not captured
inline constexpr dissect::Duration kCmReordering{10'000'000};  // a REQ this much after its answer was overtaken by it

// What a message changed that others should know at once.
struct CmNews {
    enum class Kind : std::uint8_t {
        none,     // no message of an attempt
        message,  // one that changed nothing others must know
        paired,   // the queue pairs of both sides are known now
        matched,  // the REP was not captured, but this packet answers the PSN that the REQ lets the passive side begin
                  // with
        released,
    } kind = Kind::none;
    std::uint32_t uid = 0;  // of the attempt
    bool from_active = false;
};

class CmTracker {
public:
    explicit CmTracker(const MemoryBudget& budget = MemoryBudget{}) : most_attempts_(budget.items(Share::attempts)) {}
    CmNews observe(const Observation& observation) {
        const bool told = observation.management || !awaiting_data_.empty() || !half_known_.empty();
        if (told) return take(observation);
        if (observation.kind == ObservationKind::transport) now_ = std::max(now_, observation.time);
        return {};
    }
    [[nodiscard]] const CmAttempt& attempt(std::uint32_t uid) const { return report_.attempts[uid]; }
    // Whether it is a message of an attempt that is known.
    [[nodiscard]] bool continues(const Observation& observation) const;
    // The packet that matched goes to the passive side's queue pair.
    void name_passive(std::uint32_t uid, const FlowKey& flow);
    // It is that late: of a capture of which this tracker follows a part.
    void advance(dissect::Instant now) { now_ = std::max(now_, now); }
    void add_peaks(Peaks& peaks) const;
    // Decides what became of the attempts that are still open, and hands everything out: the tracker is then as new.
    [[nodiscard]] CmReport finish();

private:
    [[nodiscard]] CmNews take(const Observation& observation);
    using Index = std::uint32_t;
    // A communication id that a host gave to what it has with its peer, or the transaction of a join.
    struct IdKey {
        Address host;
        Address peer;
        std::uint64_t id = 0;
        [[nodiscard]] bool operator==(const IdKey&) const = default;
    };
    struct IdHash {
        using is_avalanching = void;
        [[nodiscard]] std::size_t operator()(const IdKey& key) const;
    };

    // What only the tracker needs of an attempt.
    struct Memory {
        std::uint64_t lap_transaction = 0;
        std::array<std::uint64_t, kCmEvents> digests{};  // of the first message of each, to tell a repetition; 0: none
        std::array<std::uint32_t, 2> seen{};             // bits of the events of the passive and the active side
    };

    [[nodiscard]] std::optional<Index> find(const CmDatagram& datagram, const Observation& observation) const;
    [[nodiscard]] std::optional<Index> find_request(const CmDatagram& datagram, const Observation& observation) const;
    [[nodiscard]] std::optional<Index> begin(const CmDatagram& datagram, const Observation& observation);
    void learn_ids(Index index, const CmDatagram& datagram, bool from_active);
    [[nodiscard]] CmNews take(Index index, const CmDatagram& datagram, bool from_active,
                              const Observation& observation);
    bool advance(CmAttempt& attempt, CmEvent event, bool from_active, dissect::FrameIndex frame);
    void watch_for_data(Index index);
    void take_data(const Observation& observation);
    void watch_for_answers(Index index);
    [[nodiscard]] CmNews match(const Observation& observation) const;
    void take_join(const Observation& observation);

    std::size_t most_attempts_;
    CmReport report_;
    std::vector<Memory> memories_;  // one an attempt
    boost::unordered_flat_map<IdKey, Index, IdHash> by_id_;
    boost::unordered_flat_map<IdKey, Index, IdHash> open_joins_;
    boost::unordered_flat_map<FlowKey, Index, FlowHash>
        awaiting_data_;  // flows whose first packet would replace an RTU
    boost::unordered_flat_map<FlowKey, std::vector<Index>, FlowHash> half_known_;  // by active and passive host
    dissect::Instant now_{};
};

}  // namespace qps::transport
