#include <transport-replay/watch/beside.hpp>

#include <algorithm>
#include <tuple>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kPlaces = 2 * kMaxBeside;  // a power of 2
constexpr std::size_t kMostTried = 8;
constexpr std::uint8_t kSequenceError = 0x60;  // an AETH's syndrome: NAK, PSN sequence error

// The first of an interval.
void note(TimedFrame& first, const Observation& observation) {
    if (first.frame == FrameIndex{}) first = {observation.frame, observation.time};
}

std::int64_t interval_of(Instant time) { return std::to_underlying(time) / std::to_underlying(kBesideInterval); }

}  // namespace

BesideTracker::Class* BesideTracker::find(const Address& destination, std::uint8_t pcp, std::uint8_t dscp, bool make) {
    std::size_t place = mix(hash_of(destination) + (std::uint64_t{pcp} << 8U | dscp)) % kPlaces;
    for (std::size_t tried = 0; tried < kMostTried; ++tried, place = (place + 1) % kPlaces) {
        Class& one = classes_[place];
        if (!one.taken) {
            if (!make) return nullptr;
            one.taken = true;
            one.sums.destination = destination;
            one.sums.pcp = pcp;
            one.sums.dscp = dscp;
            return &one;
        }
        if (one.sums.dscp == dscp && one.sums.pcp == pcp && one.sums.destination == destination) return &one;
    }
    return nullptr;
}

void BesideTracker::observe(const Observation& observation) {
    if (!observation.has_time) return;
    if (!any_) {
        if (!is_bulk(observation)) return;
        any_ = true;
        classes_.resize(kPlaces);
    }
    if (observation.kind == ObservationKind::pause || observation.kind == ObservationKind::pfc)
        return take_pause(observation);
    const bool rdma = observation.kind == ObservationKind::transport;
    const bool udp = observation.kind == ObservationKind::other && observation.udp_source_port != 0;
    if (!rdma && !udp && observation.kind != ObservationKind::stream) return;
    Class* const one = find(observation.flow.destination, observation.pcp, observation.dscp, true);
    if (one == nullptr) {
        ++dropped_;
        return;
    }
    begin(*one, observation.time);
    one->port = observation.link_destination;
    (rdma ? one->rdma : udp ? one->udp : one->tcp) += observation.wire_length;
    if (!rdma) {
        note(one->beside, observation);
        return;
    }
    if (observation.congestion_experienced) {
        ++one->marks;
        note(one->event, observation);
    }
    if (!observation.acknowledgment || observation.acknowledgment->syndrome != kSequenceError) return;
    // What went to who sends the NAK was lost.
    if (Class* const lost = find(observation.flow.source, observation.pcp, observation.dscp, false)) {
        begin(*lost, observation.time);
        ++lost->naks;
        note(lost->event, observation);
    }
}

// Of a class that its tag names, or of all where the whole link is paused. It is rare, and they are few.
void BesideTracker::take_pause(const Observation& observation) {
    const bool link = observation.kind == ObservationKind::pause;
    constexpr std::size_t kQuanta = 2;  // of PFC: behind the vector, eight times; 802.3 PAUSE has one
    const unsigned enabled = read_be<std::uint16_t>(observation.payload, 0);
    for (Class& one : classes_) {
        if (!one.taken || one.port != observation.flow.source.bits[1]) continue;
        const std::uint8_t pcp = one.sums.pcp;
        if (!link && (pcp > 7 || (enabled >> pcp & 1U) == 0)) continue;
        const auto quanta = read_be<std::uint16_t>(observation.payload, link ? 0 : kQuanta + 2U * pcp);
        if (quanta == 0) continue;  // it resumes
        begin(one, observation.time);
        ++one.pauses;
        note(one.event, observation);
    }
}

void BesideTracker::begin(Class& one, Instant time) {
    const std::int64_t interval = interval_of(time);
    if (interval == one.interval) [[likely]]
        return;
    close(one);
    one.interval = interval;
}

void BesideTracker::close(Class& one) {
    LossyBeside& sums = one.sums;
    if (one.event.frame != FrameIndex{}) {
        ++sums.intervals;
        sums.tcp_bytes += one.tcp;
        sums.udp_bytes += one.udp;
        sums.rdma_bytes += one.rdma;
        sums.marks += one.marks;
        sums.naks += one.naks;
        sums.pauses += one.pauses;
        if (one.beside.frame != FrameIndex{}) {
            const std::size_t place = 2 * sums.shared;
            if (place + 1 < kBesideFrames) {
                sums.frames[place] = one.event.frame, sums.frames[place + 1] = one.beside.frame;
                sums.times[place] = one.event.time, sums.times[place + 1] = one.beside.time;
            }
            ++sums.shared;
        }
    }
    one.tcp = one.udp = one.rdma = 0;
    one.marks = one.naks = one.pauses = 0;
    one.event = one.beside = {};
}

std::vector<LossyBeside> BesideTracker::finish(std::uint64_t& dropped) {
    std::vector<LossyBeside> found;
    for (Class& one : classes_) {
        close(one);
        if (one.sums.shared != 0 && one.sums.intervals >= kFewestBesideIntervals) found.push_back(one.sums);
    }
    std::ranges::sort(found, {}, [](const LossyBeside& one) { return std::tuple(one.destination, one.pcp, one.dscp); });
    dropped += dropped_;
    return found;
}

}  // namespace qps::transport
