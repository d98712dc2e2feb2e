// ShardedAnalysis: an Analysis that is shared out among lanes, which threads follow side by side, a batch of packets at
// a time. The result does not depend on how many lanes there are (docs/dev/architecture.md, "An analysis that is shared
// out").
//
// For each batch, in the order of the capture: add() by any one thread, sift() of each sieve by any, gate() by one,
// follow() of each lane by any, one batch after the other, and then visit(). Different sieves, different lanes, and
// different batches in add(), need not wait for each other.
#pragma once

#include <dissect/capture/drops.hpp>
#include <transport-replay/analysis/analysis_settings.hpp>
#include <transport-replay/analysis/capture_gate.hpp>
#include <transport-replay/analysis/gate_summary.hpp>
#include <transport-replay/model/message.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/packet_record.hpp>
#include <transport-replay/model/straight_path.hpp>
#include <transport-replay/model/ulp_operation.hpp>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace qps::transport {

struct PartReport;
struct ShardedState;
struct Timeline;

// Part `number`, from 1 on, of so many parts of all pairs of hosts.
inline constexpr std::uint32_t kMostParts = 4096;
struct PartOf {
    std::uint32_t number = 1;
    std::uint32_t parts = 1;
};

// Messages and operations that ended with a packet, or at the end of the capture, as its lane reports them.
struct LaneEvents {
    template <class T> struct At {
        std::uint32_t place = 0;  // in the batch
        T what;
    };
    struct Ended {
        ConnectionId connection{};
        End requester{};
        Message message;
    };
    std::vector<std::uint32_t> begun;  // connections: the places of the packets that began them
    std::vector<At<Ended>> messages;
    std::vector<At<UlpOperation>> operations;
    std::vector<At<ConnectionId>> retired;
    Peaks peaks;
    void clear() {
        begun.clear();
        messages.clear();
        operations.clear();
        retired.clear();
    }
};

// A listener hears what one lane follows, in the thread that follows it, while the other lanes go on. Connections have
// the numbers of that lane, ShardedAnalysis::numbers(). At the end of the capture in the thread that finishes.
struct LaneListener {
    // By its place in the batch, which the caller of follow() gave that name.
    std::function<void(std::size_t batch, std::size_t place, const Observation&, const PacketRecord&)> packet;
    std::function<void(ConnectionId, End requester, const Message&)> message;  // after the packet that ended it
};

// A batch on its way. Kept from one to the next, so that nothing is allocated anew.
class ShardedBatch {
public:
    explicit ShardedBatch(std::size_t lanes, PartOf part = {})
        : part_(part), sifted_(sieves_of(lanes)), events_(lanes) {}
    void clear() {
        used_ = 0;
        summary_.clear();
    }
    // `file`: which of those that are read together.
    void add(const dissect::Packet& packet, std::uint16_t file = 0);
    // Where the frame goes the straight path; else nothing is added.
    std::optional<StraightPlaces> add_straight(const dissect::Frame& frame, std::uint16_t file = 0);
    void add(const Observation& observation);
    [[nodiscard]] std::size_t size() const { return used_; }
    // Whether the last one is of hosts that this part follows.
    [[nodiscard]] bool follows_last() const;
    [[nodiscard]] const Observation& last() const { return all_[used_ - 1]; }
    // Forgets what is behind the first so many.
    void cut(std::size_t size) { used_ = std::min(used_, size); }

private:
    friend class ShardedAnalysis;
    friend struct ShardedState;
    // The more there are, the more often each packet is looked at, to see whose it is; for few lanes the gate is fast
    // enough.
    static constexpr std::size_t kMostSieves = 8, kFewLanes = 4;
    [[nodiscard]] static std::size_t sieves_of(std::size_t lanes) {
        if (lanes < kFewLanes) return 1;
        return lanes < kMostSieves ? lanes : kMostSieves;
    }
    void share_out(std::size_t place);

    std::vector<Observation> all_;
    std::size_t used_ = 0;
    GateSummary summary_;
    PartOf part_;                         // hosts of others are nobody's
    std::vector<std::uint8_t> hosts_;     // the lane of each packet's hosts, or kNobody
    std::vector<std::uint8_t> receiver_;  // and of its receiver, or kNobody
    // By sieve: what was met in its share of the window, and whether it looked. Who is told of the batch again, because
    // the file became shorter, has the packets that it had, or fewer: clear() leaves this to the gate.
    struct Sifted {
        std::vector<MetAt> met;
        bool done = false;
    };
    std::vector<Sifted> sifted_;
    std::vector<MetAt> met_;  // of all of them, in order
    std::vector<Sight> sights_;
    std::vector<PacketRecord> records_;   // where somebody wants them
    std::vector<LaneEvents> events_;      // by lane
    std::uint64_t first_ = 0;             // number of its first packet in the capture
    std::shared_ptr<ShardedState> copy_;  // what is known behind it, where somebody wants to see that
};

class ShardedAnalysis {
public:
    static constexpr std::size_t kMostLanes = 64;

    // `records`: visit() hands out what each packet was. Messages and operations are told by visit() and finish(), in
    // that thread. `part`: finish_part() will be called, not finish(). `listeners`: of each lane, or of none.
    ShardedAnalysis(AnalysisSettings settings, std::size_t lanes, bool records, bool part = false,
                    std::vector<LaneListener> listeners = {});
    ~ShardedAnalysis();
    ShardedAnalysis(const ShardedAnalysis&) = delete;
    ShardedAnalysis& operator=(const ShardedAnalysis&) = delete;

    [[nodiscard]] std::size_t lanes() const;
    // How many share the look-up of repetitions, 0 where gate() does it alone; what sift() was not called for it does,
    // too.
    [[nodiscard]] std::size_t sieves() const;
    void sift(ShardedBatch& batch, std::size_t sieve);
    // `name`: what listeners of lanes know the batch by. `copies`: somebody will call so_far() of this batch.
    void gate(ShardedBatch& batch, bool copies = false);
    void follow(ShardedBatch& batch, std::size_t number, std::size_t name = 0);
    // Each packet with its record, the first messages that ended with it behind it; false stops. Without records
    // messages alone are told.
    using Visit = std::function<bool(const Observation&, const PacketRecord&, std::size_t place)>;
    // `after`: after each packet, when all that it ended was told. `from`: of packets before that place nothing is
    // told. Where over(), nothing is.
    void visit(ShardedBatch& batch, const Visit& visit, const std::function<void()>& after = {}, std::size_t from = 0);

    // Somebody shows the numbers that packets are given, and nothing can be read again: the timeline has these, too.
    void keep_numbers();

    // The next batch does not continue what was followed: it is another recording, judged apart. Where every batch was
    // visited.
    void end_recording();
    // Whether that packet continues it.
    [[nodiscard]] bool continues(const Observation& observation) const;
    // When the last packet so far was recorded.
    [[nodiscard]] std::optional<dissect::Instant> last() const;

    // Whether the result may depend on the number of lanes, because together they needed more than there is: then it
    // counts for nothing, and the capture is to be followed in one lane. Always false for one.
    [[nodiscard]] bool over() const;

    // The timeline so far, as if the capture ended here. Not while lanes follow.
    [[nodiscard]] Timeline so_far(const dissect::Drops& drops = {}) const;
    // The same as if it ended behind that batch, for whose gate() it was asked, once that was visited, while lanes
    // follow those behind it.
    [[nodiscard]] Timeline so_far(ShardedBatch& batch, const dissect::Drops& drops = {}) const;
    // The end of the capture. Call one of them once: the second for who concludes later.
    [[nodiscard]] Timeline finish(const dissect::Drops& drops = {});
    [[nodiscard]] PartReport finish_part(const dissect::Drops& drops = {});
    // The numbers that connections of that lane have among all, by those that they have in it, which count from 1.
    // After the end.
    [[nodiscard]] std::vector<std::uint32_t> numbers(std::size_t lane) const;

private:
    [[nodiscard]] std::span<const MetAt> take_met(ShardedBatch& batch);
    std::unique_ptr<ShardedState> state_;
};

}  // namespace qps::transport
