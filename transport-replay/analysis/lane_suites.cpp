#include <transport-replay/analysis/lane_suites.hpp>
#include <transport-replay/checks/passive/packet_facts.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;
using namespace conformance;

void FactBatch::add(const Packet& packet) {
    PacketFacts& facts = next();
    look_at(packet, facts);
    if (packet.icrc.status != CrcStatus::bad) return;
    Packet as_right = packet;
    as_right.icrc.status = CrcStatus::not_checkable;
    look_at(as_right, not_judged_.emplace_back(used_ - 1, PacketFacts{}).second);
}

void FactBatch::add(const StraightPacket& packet) {
    if (look_at(packet, shift_, next())) return;
    --used_;
    Packet decoded;
    decode(packet.frame, decoded);
    add(decoded);
}

void FactBatch::follow(std::size_t place, const Observation& observation, const PacketRecord& record,
                       PassiveSuite& suite) const {
    if (!record.icrc_not_judged) return suite.observe(observation, all_[place], record);
    Observation as_right = observation;
    as_right.icrc = CrcStatus::not_checkable;
    const auto facts = std::ranges::lower_bound(not_judged_, place, {}, &std::pair<std::size_t, PacketFacts>::first);
    suite.observe(as_right, facts->second, record);
}

std::vector<LaneListener> LaneSuites::begin(std::size_t count) {
    lanes_.clear();
    std::vector<LaneListener> listeners;
    for (std::size_t lane = 0; lane < count; ++lane) {
        Watching& watching = *lanes_.emplace_back(std::make_unique<Watching>(anew_()));
        const auto packet = [this, &watching](std::size_t batch, std::size_t place, const Observation& observation,
                                              const PacketRecord& record) {
            facts_[batch].follow(place, observation, record, watching.suite);
            const SuiteNeeds needs = watching.suite.needs();
            watching.watched.store(needs.watched, std::memory_order_relaxed);
            watching.remembered.store(needs.remembered, std::memory_order_relaxed);
            watching.hosts.store(needs.hosts, std::memory_order_relaxed);
            watching.streams.store(needs.streams, std::memory_order_relaxed);
            watching.held.store(needs.held, std::memory_order_relaxed);
            watching.queues.store(needs.queues, std::memory_order_relaxed);
            watching.commands.store(needs.commands, std::memory_order_relaxed);
        };
        const auto ended = [&watching](ConnectionId connection, End requester, const Message& message) {
            watching.suite.message(connection, requester, message);
        };
        listeners.push_back({.packet = packet, .message = ended});
    }
    return listeners;
}

// Whether it matters that there are several: one suite would have been full.
bool LaneSuites::over() const {
    SuiteNeeds all;
    for (const auto& lane : lanes_) {
        const std::size_t watched = lane->watched.load(std::memory_order_relaxed);
        all.watched += watched;
        all.remembered += lane->remembered.load(std::memory_order_relaxed);
        all.hosts += lane->hosts.load(std::memory_order_relaxed);
        all.streams += lane->streams.load(std::memory_order_relaxed);
        all.held += lane->held.load(std::memory_order_relaxed);
        all.queues += lane->queues.load(std::memory_order_relaxed);
        all.commands += lane->commands.load(std::memory_order_relaxed);
        if (watched != 0 && watched <= lane->numbers.size())
            all.last = std::max<std::size_t>(all.last, lane->numbers[watched - 1]);
    }
    return !lanes_.empty() && !lanes_.front()->suite.has_room_for(all);
}

PassiveRecord LaneSuites::take() {
    std::vector<PassiveRecord> records;
    for (const auto& lane : lanes_) {
        records.push_back(lane->suite.take());
        if (lanes_.size() > 1) renumber(records.back(), lane->numbers);
    }
    lanes_.clear();
    if (records.empty()) records.push_back(anew_().take());
    return merge(std::move(records));
}

}  // namespace qps::transport
