#include <transport-replay/tracking/quality_sums.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

void ContentSums::add(const Observation& observation) {
    ++packets;
    bytes += observation.wire_length;
    if (observation.cut && observation.fault == Fault::trimmed) [[unlikely]] {
        ++cut;  // before it was captured: how long it was on the wire is not known
    } else if (observation.cut) {
        ++cut;
        if (shortest_cut == 0 || observation.wire_length < shortest_cut) shortest_cut = observation.wire_length;
    } else {
        longest_whole = std::max(longest_whole, observation.wire_length);
    }
    if (observation.kind == ObservationKind::unreadable) {
        ++rdma_packets;
        ++unreadable;
    }
    if (observation.kind != ObservationKind::transport) return;
    ++rdma_packets;
    icrc_good += observation.icrc == CrcStatus::good ? 1U : 0U;
    icrc_bad += observation.icrc == CrcStatus::bad ? 1U : 0U;
    icrc_not_checkable += observation.icrc == CrcStatus::not_checkable ? 1U : 0U;
}

void ContentSums::append(const ContentSums& later) {
    packets += later.packets;
    bytes += later.bytes;
    cut += later.cut;
    rdma_packets += later.rdma_packets;
    unreadable += later.unreadable;
    icrc_good += later.icrc_good;
    icrc_bad += later.icrc_bad;
    icrc_not_checkable += later.icrc_not_checkable;
    longest_whole = std::max(longest_whole, later.longest_whole);
    if (later.shortest_cut != 0 && (shortest_cut == 0 || later.shortest_cut < shortest_cut))
        shortest_cut = later.shortest_cut;
}

void ClockSums::step(Instant to, FrameIndex frame) {
    const Duration step = to - last;
    if (step >= Duration{}) return;
    ++backwards;
    if (magnitude(step) <= largest_step_back) return;
    largest_step_back = magnitude(step);
    largest_step_frame = frame;
}

void ClockSums::add(const Observation& observation, bool other_clock) {
    const std::int64_t time = std::to_underlying(observation.time);
    while (resolution > 1 && time % resolution != 0) resolution /= 10;
    if (!any) first = observation.time;
    else if (!other_clock) step(observation.time, observation.frame);
    any = true;
    last = observation.time;
}

void ClockSums::append(const ClockSums& later, FrameIndex start) {
    if (!later.any) return;
    if (!any) {
        *this = later;
        return;
    }
    step(later.first, start);
    backwards += later.backwards;
    if (later.largest_step_back > largest_step_back) {
        largest_step_back = later.largest_step_back;
        largest_step_frame = later.largest_step_frame;
    }
    last = later.last;
    resolution = std::min(resolution, later.resolution);
}

bool HeardPair::is_told_of(const Observation& observation) {
    return observation.is_numbered() && observation.flow.destination_qp != kMulticastQpn;
}

bool HeardPair::is_of(const Observation& observation) const {
    const FlowKey& flow = observation.flow;
    return (first == flow.source && second == flow.destination) || (first == flow.destination && second == flow.source);
}

void HeardPair::add(const Observation& observation) {
    const FlowKey& flow = observation.flow;
    ++packets[flow.source == first ? 0 : 1];
    if (flow.source == flow.destination) ++packets[1];  // a host that talks to itself
    if (observation.kind == ObservationKind::ultra_ethernet) {
        reliable |= flow.source_qp != Qpn{} || flow.destination_qp != Qpn{};  // what names a context is acknowledged
        return;
    }
    const OpcodeRow& row = info(observation.opcode);
    if (row.defined && (row.service == Service::rc || row.service == Service::xrc)) reliable = true;
}

bool HeardPair::is_same(const HeardPair& other) const {
    return (first == other.first && second == other.second) || (first == other.second && second == other.first);
}

void HeardPair::append(const HeardPair& later) {
    const bool turned = !(first == later.first);
    packets[0] += later.packets[turned ? 1 : 0];
    packets[1] += later.packets[turned ? 0 : 1];
    reliable |= later.reliable;
}

void HeardPairs::clear() {
    if (pairs_.empty()) return;
    pairs_.clear();
    std::ranges::fill(places_, std::uint16_t{0});
}

bool HeardPairs::add(const Observation& observation) {
    std::size_t at = observation.hosts_hash % kPlaces;
    while (places_[at] != 0) {
        HeardPair& pair = pairs_[places_[at] - 1U];
        if (pair.hash == observation.hosts_hash && pair.is_of(observation)) {
            pair.add(observation);
            return true;
        }
        at = (at + 1) % kPlaces;
    }
    if (pairs_.size() == kMost) return false;
    pairs_.push_back(
        {.hash = observation.hosts_hash, .first = observation.flow.source, .second = observation.flow.destination});
    pairs_.back().add(observation);
    places_[at] = static_cast<std::uint16_t>(pairs_.size());
    return true;
}

}  // namespace qps::transport
