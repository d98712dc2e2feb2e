#include <transport-replay/analysis/gate_summary.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

void GateSummary::clear() {
    entries_.clear();
    contents_ = {};
    clock_ = {};
    pairs_.clear();
    earliest_.reset();
    latest_.reset();
    several_networks_ = false;
    whole_ = true;
}

void GateSummary::add(const Observation& observation) {
    if (entries_.empty()) {
        start_ = observation.frame;
        network_ = observation.network;
    }
    several_networks_ |= observation.network != network_;
    const bool plain = observation.kind == ObservationKind::transport && !QualityTracker::is_faulty(observation) &&
                       observation.icrc != CrcStatus::bad;
    entries_.push_back({Recorded::of(observation), plain, observation.is_numbered()});
    contents_.add(observation);
    clock_.add(observation);
    if (observation.has_time) {
        earliest_ = std::min(earliest_.value_or(observation.time), observation.time);
        latest_ = std::max(latest_.value_or(observation.time), observation.time);
    }
    if (HeardPair::is_told_of(observation)) whole_ &= pairs_.add(observation);
}

}  // namespace qps::transport
