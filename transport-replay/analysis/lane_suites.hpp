// LaneSuites: the passive suite beside an analysis that is shared out: a suite for each lane, so that threads watch
// side by side, and what they saw together is what one suite would have seen.
//
// The facts of a batch are made by any thread (FactBatch); lanes take them by the place of a packet in it.
#pragma once

#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/checks/passive/passive_suite.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace qps::transport {

// Facts of the packets of a batch, kept from one batch to the next so that nothing is allocated anew.
class FactBatch {
public:
    void clear() {
        used_ = 0;
        not_judged_.clear();
    }
    void add(const dissect::Packet& packet);
    void add(const conformance::StraightPacket& packet);
    void skip() { next(); }  // a packet that nobody will ask for
    // The packet at that place, as the analysis decided of ICRCs, with what it said of the packet.
    void follow(std::size_t place, const Observation& observation, const PacketRecord& record,
                conformance::PassiveSuite& suite) const;

private:
    conformance::PacketFacts& next() {
        if (used_ == all_.size()) all_.emplace_back();
        return all_[used_++];
    }

    dissect::CrcShift shift_;
    std::vector<conformance::PacketFacts> all_;
    std::size_t used_ = 0;
    // Packets whose ICRC is wrong, should it not count; by place.
    std::vector<std::pair<std::size_t, conformance::PacketFacts>> not_judged_;
};

class LaneSuites {
public:
    // `anew`: makes a suite that has seen nothing.
    explicit LaneSuites(std::function<conformance::PassiveSuite()> anew) : anew_(std::move(anew)) {}

    // Before the first packet: for so many batches under way, whose names are below that, and so many lanes. What was
    // seen is forgotten.
    void make_room(std::size_t batches) { facts_.resize(std::max(facts_.size(), batches)); }
    [[nodiscard]] std::vector<LaneListener> begin(std::size_t count);
    void forget() { lanes_.clear(); }
    [[nodiscard]] FactBatch& facts(std::size_t batch) { return facts_[batch]; }
    // Whether the lanes together kept more than one suite has room for: what they saw counts for nothing, and the
    // capture is to be followed in one lane. By the thread that visits batches; for the last time when all numbers are
    // known.
    [[nodiscard]] bool over() const;
    // Maps the numbers of a lane's connections to those among all, at the end.
    void number(std::size_t lane, std::span<const std::uint32_t> numbers) {
        lanes_[lane]->numbers.assign(numbers.begin(), numbers.end());
    }
    // The record of what the suites saw. Call it once, behind that.
    [[nodiscard]] conformance::PassiveRecord take();

private:
    // Away from the others' lines: each is written by the thread that follows its lane.
    struct alignas(128) Watching {
        explicit Watching(conformance::PassiveSuite&& made) : suite(std::move(made)) {}
        conformance::PassiveSuite suite;
        std::atomic<std::size_t> watched = 0;  // its needs, for the thread that visits
        std::atomic<std::size_t> remembered = 0;
        std::atomic<std::size_t> hosts = 0;
        std::atomic<std::size_t> streams = 0;
        std::atomic<std::size_t> held = 0;
        std::atomic<std::size_t> queues = 0;
        std::atomic<std::size_t> commands = 0;
        std::vector<std::uint32_t> numbers;  // of connections, among all, at the end
    };

    std::function<conformance::PassiveSuite()> anew_;
    std::vector<FactBatch> facts_;
    std::vector<std::unique_ptr<Watching>> lanes_;
};

}  // namespace qps::transport
