#include <transport-replay/tracking/copy_filter.hpp>

#include <algorithm>
#include <bit>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kFewestWaiting = 8192;
constexpr std::uint64_t kRoom = 8;  // places for each that waits: sets of eight with one in them on average do not overflow
constexpr std::uint64_t kKnownKeyMask = UINT64_MAX >> 1;

}  // namespace

CopyFilter::CopyFilter(const CaptureTraits& traits) : other_taps_(traits.other_taps), twice_(traits.twice) {
    if (twice_.empty()) return;
    const std::uint64_t reach = std::min<std::uint64_t>(traits.reach, kMostWaiting / kRoom);
    sets_.resize(std::max(kFewestWaiting, std::bit_ceil(kRoom * reach)) / kSetSize);
}

bool CopyFilter::is_other_tap(const Observation& observation, std::uint64_t way) const {
    const TapLabel label = label_of(observation);
    const auto found = std::ranges::equal_range(other_taps_, way, {}, &OtherTap::way);
    return std::ranges::any_of(found, [&](const OtherTap& tap) { return part(label, tap.mask) == tap.label; });
}

bool CopyFilter::came_before(const Observation& observation, const ClockOffset& offset) {
    const std::uint64_t key = std::max<std::uint64_t>(observation.packet_hash >> 1, 1) & kKnownKeyMask;
    Set& set = sets_[observation.packet_hash & (sets_.size() - 1)];
    Waiting* place = &set.waiting[0];
    Waiting* original = nullptr;
    bool same_datagram = false;
    Duration nearest = offset.tolerance;
    for (Waiting& one : set.waiting) {
        if (one.key == 0 || (place->key != 0 && one.time < place->time)) place = &one;
        if (one.key != key) continue;
        // A sender that counts its identification on sends no datagram twice: whoever sees it again sees a copy.
        same_datagram |= observation.ip_id != 0;
        const Duration wrong = magnitude(observation.time - one.time - offset.at(one.time));
        if (one.met != 0 || wrong > nearest) continue;
        nearest = wrong;
        original = &one;
    }
    if (original != nullptr) original->met = 1;
    if (original != nullptr || same_datagram) return true;
    if (place->key != 0 && place->met == 0) ++displaced_;
    *place = {.key = key & kKnownKeyMask, .met = 0, .time = observation.time};
    return false;
}

bool CopyFilter::any_alone() const {
    return displaced_ != 0 || std::ranges::any_of(sets_, [](const Set& set) {
               return std::ranges::any_of(set.waiting, [](const Waiting& one) { return one.key != 0 && one.met == 0; });
           });
}

bool CopyFilter::is_copy(const Observation& observation) {
    if (!active() || (!observation.has_hosts() && observation.kind != ObservationKind::unreadable)) return false;
    const HostsHash hosts = hosts_of(observation.flow);
    if (is_other_tap(observation, hosts.way)) return true;
    if (twice_.empty() || !observation.has_hosts()) return false;
    const auto found = std::ranges::lower_bound(twice_, hosts.both, {}, &RecordedTwice::hosts);
    return found != twice_.end() && found->hosts == hosts.both && came_before(observation, found->offset);
}

}  // namespace qps::transport
