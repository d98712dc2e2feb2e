#include <transport-replay/tracking/copy_filter.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <span>
#include <tuple>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kFewestWaiting = 8192;
constexpr std::uint64_t kRoom = 8;  // places for each that waits: sets with two in them on average do not overflow
constexpr std::uint64_t kKnownKeyMask = UINT64_MAX >> 1;

// What is given up first: an empty place, one whose copy came, and of the others the oldest.
auto worth(const auto& one) { return std::tuple(one.key != 0, one.key != 0 && one.met == 0, one.time); }

std::uint32_t distance(std::uint16_t id, std::uint32_t head) {
    return static_cast<std::uint32_t>(std::abs(static_cast<std::int16_t>(id - head)));
}
void advance(std::uint32_t& head, std::uint16_t id) {
    const auto by = static_cast<std::int16_t>(id - head);
    if (by > 0) head += static_cast<std::uint32_t>(by);
}
// So far behind that no packet that the network delayed is taken for one of the second tap.
constexpr std::uint32_t kFarBehind = 32;
constexpr std::uint32_t kMuchNearer = 8;
constexpr Duration kLongestDelay{250'000};  // of a path

}  // namespace

CopyFilter::CopyFilter(const CaptureTraits& traits) : other_taps_(traits.other_taps), twice_(traits.twice) {
    if (twice_.empty()) return;
    const std::uint64_t reach = std::min<std::uint64_t>(traits.reach, kMostWaiting / kRoom);
    heads_.resize(kHeads);
    sets_.resize(std::max(kFewestWaiting, std::bit_ceil(kRoom * reach)) / kSetSize);
}

bool CopyFilter::is_other_tap(const Observation& observation, std::uint64_t way) const {
    const TapLabel label = label_of(observation);
    const auto found = std::ranges::equal_range(other_taps_, way, {}, &OtherTap::way);
    return std::ranges::any_of(found, [&](const OtherTap& tap) { return part(label, tap.mask) == tap.label; });
}

CopyFilter::Heads& CopyFilter::heads_of(const Observation& observation) {
    const std::uint64_t flow = std::max<std::uint64_t>(FlowHash{}(observation.flow), 1);
    Heads& heads = heads_[flow % kHeads];
    if (heads.flow != flow) heads = {.flow = flow, .first = observation.ip_id, .second = observation.ip_id, .newest = {}, .recorded = 0};
    return heads;
}

// A packet that was not seen before. Of one that the network delayed on its way to the first tap the next one has just passed.
bool CopyFilter::is_of_second_tap(const Heads& heads, const Observation& observation, Duration apart) {
    const std::uint32_t from_first = distance(observation.ip_id, heads.first), from_second = distance(observation.ip_id, heads.second);
    if (heads.first - heads.second >= kFarBehind && kMuchNearer * from_second < from_first) return true;
    const auto kept = std::span(heads.newest).first(std::min<std::size_t>(heads.recorded, heads.newest.size()));
    const Passed* next = nullptr;
    bool reaches_back = false;
    for (const Passed& one : kept) {
        const auto ahead = static_cast<std::int16_t>(one.ip_id - observation.ip_id);
        reaches_back |= ahead < 0;
        if (ahead > 0 && (next == nullptr || ahead < static_cast<std::int16_t>(next->ip_id - observation.ip_id))) next = &one;
    }
    const Duration delayed = next == nullptr ? Duration{} : observation.time - next->time;
    return reaches_back && delayed > kLongestDelay && delayed + delayed > apart;
}

bool CopyFilter::came_before(const Observation& observation, const ClockOffset& offset) {
    const std::uint64_t key = std::max<std::uint64_t>(observation.packet_hash >> 1, 1) & kKnownKeyMask;
    // Two sets to choose from, so that packets sent many times over do not fill the one they share.
    const std::array<Set*, 2> sets{&sets_[observation.packet_hash & (sets_.size() - 1)], &sets_[observation.packet_hash >> 32 & (sets_.size() - 1)]};
    Waiting* place = &sets[0]->waiting[0];
    Waiting* original = nullptr;
    bool same_datagram = false;
    Duration nearest = offset.tolerance;
    for (Set* set : sets)
        for (Waiting& one : set->waiting) {
            if (worth(one) < worth(*place)) place = &one;
            if (one.key != key) continue;
            // A sender that counts its identification on sends no datagram twice: a second recording is a copy.
            same_datagram |= observation.ip_id != 0;
            const Duration wrong = magnitude(observation.time - one.time - offset.at(one.time));
            if (one.met != 0 || wrong > nearest) continue;
            nearest = wrong;
            original = &one;
        }
    if (original != nullptr) original->met = 1;
    const bool copy = original != nullptr || same_datagram;
    if (observation.ip_id != 0) {
        Heads& heads = heads_of(observation);
        const bool of_second_tap = !copy && is_of_second_tap(heads, observation, offset.at(observation.time));
        advance(copy || of_second_tap ? heads.second : heads.first, observation.ip_id);
        if (!copy && !of_second_tap) heads.newest[heads.recorded++ % heads.newest.size()] = {observation.ip_id, observation.time};
        if (of_second_tap) return true;
    }
    if (copy) return true;
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
