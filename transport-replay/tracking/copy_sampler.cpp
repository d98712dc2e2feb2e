#include <transport-replay/tracking/copy_sampler.hpp>

#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kFinest =
    (std::uint64_t{1} << 30) - 1;  // one of so many: no capture has more than 10^13 packets by chance

// The low bits of sampled hashes are zero, and the table wants those that differ.
std::uint64_t place_of(std::uint64_t hash) { return hash >> 32; }

}  // namespace

void CopySampler::take(const Observation& observation) {
    const auto same = [&](FlowTable::Index index) { return packets_[index].hash == observation.packet_hash; };
    const auto found = index_.find(place_of(observation.packet_hash), same);
    if (!found) {
        if (packets_.size() == kMostSampled) {
            if (mask_ >= kFinest) return;
            thin();
            if ((observation.packet_hash & mask_) != 0 || packets_.size() == kMostSampled) return;
        }
        if (!index_.insert(place_of(observation.packet_hash), static_cast<FlowTable::Index>(packets_.size()))) return;
        const bool transport = observation.kind == ObservationKind::transport;
        packets_.push_back({.hash = observation.packet_hash,
                            .hosts = hosts_of(observation.flow),
                            .flow = FlowHash{}(observation.flow),
                            .msn = observation.acknowledgment ? std::to_underlying(observation.acknowledgment->msn) : 0,
                            .ip_id = observation.ip_id,
                            .answer = transport && !info(observation.opcode).request,
                            .acknowledges = transport && observation.acknowledgment &&
                                            info(observation.opcode).verb == Verb::acknowledge});
    }
    SampledPacket& packet = found ? packets_[*found] : packets_.back();
    if (packet.recorded < SampledPacket::kMostKept)
        packet.kept[packet.recorded] = {observation.time, order_, label_of(observation)};
    if (packet.recorded != UINT32_MAX) ++packet.recorded;
}

void CopySampler::thin() {
    mask_ = mask_ << 1 | 1;
    std::erase_if(packets_, [&](const SampledPacket& packet) { return (packet.hash & mask_) != 0; });
    index_ = {};
    for (std::size_t i = 0; i < packets_.size(); ++i)
        if (!index_.insert(place_of(packets_[i].hash), static_cast<FlowTable::Index>(i)))
            packets_[i].recorded = 0;  // it is not found again
}

}  // namespace qps::transport
