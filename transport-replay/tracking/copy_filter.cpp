#include <transport-replay/tracking/copy_filter.hpp>
#include <transport-replay/tracking/timing.hpp>

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

}  // namespace

CopyFilter::CopyFilter(const CaptureTraits& traits)
    : other_taps_(traits.other_taps),
      twice_(traits.twice),
      active_(!other_taps_.empty() ||
              std::ranges::any_of(twice_, [](const RecordedTwice& one) { return one.doubtful_way == 0; })) {
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

// The lowest bit tells PSNs and identifications of a flow apart.
std::uint64_t CopyFilter::place_of(const Observation& observation, bool counted) {
    return std::max<std::uint64_t>((FlowHash{}(observation.flow) & ~std::uint64_t{1}) | (counted ? 0U : 1U), 2);
}

const CopyFilter::Heads* CopyFilter::known_heads(std::uint64_t place) const {
    for (std::size_t i = 0; i < kHeadPlaces; ++i)
        if (const Heads& heads = heads_[(place + 2 * i) % kHeads]; heads.flow == place) return &heads;
    return nullptr;
}

// A counter passes 0.
bool CopyFilter::is_counted(const Observation& observation) const {
    return observation.ip_id != 0 || known_heads(place_of(observation, true)) != nullptr;
}

// `count` is that of the sender, or the PSN where it does not count. Few flows share a place, and then they use those
// next to it.
CopyFilter::Heads& CopyFilter::heads_of(const Observation& observation, std::uint16_t count, bool counted) {
    const std::uint64_t place = place_of(observation, counted);
    Heads* free = &heads_[place % kHeads];
    for (std::size_t i = 0; i < kHeadPlaces; ++i) {
        Heads& heads = heads_[(place + 2 * i) % kHeads];
        if (heads.flow == place) return heads;
        if (heads.flow == 0 && free->flow != 0) free = &heads;
    }
    *free = {.flow = place,
             .first = count,
             .second = count,
             .second_began = false,
             .newest = {},
             .recorded = 0,
             .first_time = {},
             .second_time = {}};
    return *free;
}

// A request without identification that is no copy: whether it stands where the second tap has just come to, and the
// first one is beyond.
bool CopyFilter::follows_second_tap(const Observation& observation, Duration apart, bool copy) {
    if (observation.kind != ObservationKind::transport || !info(observation.opcode).request) return false;
    const auto psn = static_cast<std::uint16_t>(observation.psn.value());
    Heads& heads = heads_of(observation, psn, false);
    if (copy) {
        advance(heads.second, psn);
        heads.second_time = observation.time;
        return false;
    }
    const Duration pause =
        std::max(kLongestPathDelay, std::min(kLongestQuiet, Duration{std::to_underlying(magnitude(apart)) / 4}));
    const bool here = heads.second_time && observation.time - *heads.second_time <= pause &&
                      distance(psn, heads.second) <= kFarBehind;
    const auto idle = heads.first_time ? observation.time - *heads.first_time : Duration{};
    const auto behind_first = static_cast<std::int16_t>(static_cast<std::uint16_t>(heads.first) - psn);
    const bool beyond = behind_first >= static_cast<std::int16_t>(kFarBehind);
    // Who sends again goes back; what is new to the second tap, and the first one passed, is not sent again.
    const bool goes_on =
        behind_first >= 0 && static_cast<std::int16_t>(psn - static_cast<std::uint16_t>(heads.second)) > 0;
    if (here && (beyond || goes_on || idle + idle >= magnitude(apart)) && magnitude(apart) > kLongestPathDelay)
        return true;
    advance(heads.first, psn);
    heads.first_time = observation.time;
    return false;
}

// A packet that was not seen before. Of one that the network delayed on its way to the first tap the next one has just
// passed. One from before all that is known of the first tap may be the second's, which began to record earlier.
CopyFilter::Copy CopyFilter::of_second_tap(const Heads& heads, const Observation& observation, Duration apart) const {
    const std::uint32_t from_first = distance(observation.ip_id, heads.first),
                        from_second = distance(observation.ip_id, heads.second);
    if (heads.second_began &&
        static_cast<std::int32_t>(heads.first - heads.second) >= static_cast<std::int32_t>(kFarBehind) &&
        kMuchNearer * from_second < from_first)
        return Copy::yes;
    const auto kept = std::span(heads.newest).first(std::min<std::size_t>(heads.recorded, heads.newest.size()));
    const Passed* next = nullptr;
    bool reaches_back = known_heads(place_of(observation, false)) != nullptr;  // the flow began with the count of 0
    for (const Passed& one : kept) {
        const auto ahead = static_cast<std::int16_t>(one.ip_id - observation.ip_id);
        reaches_back |= ahead < 0;
        if (ahead > 0 && (next == nullptr || ahead < static_cast<std::int16_t>(next->ip_id - observation.ip_id)))
            next = &one;
    }
    const Duration delayed = next == nullptr ? Duration{} : observation.time - next->time;
    if (delayed <= kLongestPathDelay || delayed + delayed <= apart) return Copy::no;
    return reaches_back ? Copy::yes : Copy::perhaps;
}

CopyFilter::Copy CopyFilter::came_before(const Observation& observation, const RecordedTwice& twice) {
    const ClockOffset& offset = twice.offset;
    const std::uint64_t key = std::max<std::uint64_t>(observation.packet_hash >> 1, 1) & kKnownKeyMask;
    // Two sets to choose from, so that packets sent many times over do not fill the one they share.
    const std::array<Set*, 2> sets{&sets_[observation.packet_hash & (sets_.size() - 1)],
                                   &sets_[observation.packet_hash >> 32 & (sets_.size() - 1)]};
    Waiting* place = &sets[0]->waiting[0];
    Waiting* original = nullptr;
    bool same_datagram = false, twin = false;
    Duration nearest = offset.tolerance;
    const bool counted = is_counted(observation);
    for (Set* set : sets)
        for (Waiting& one : set->waiting) {
            if (worth(one) < worth(*place)) place = &one;
            if (one.key != key) continue;
            // A sender that counts its identification on sends no datagram twice: a second recording is a copy.
            same_datagram |= counted;
            const Duration wrong = magnitude(observation.time - one.time - offset.at(one.time));
            twin |=
                one.met != 0 &&
                wrong <= offset.tolerance;  // what the second tap recorded just before may have been taken for its copy
            if (one.met != 0 || wrong > nearest) continue;
            nearest = wrong;
            original = &one;
        }
    if (original != nullptr) original->met = 1;
    const bool doubtful = twice.doubtful_way != 0;
    const bool copy = original != nullptr || (same_datagram && !doubtful);
    bool perhaps = false;
    if (counted && !doubtful) {
        Heads& heads = heads_of(observation, observation.ip_id, true);
        const Copy alone = copy ? Copy::no : of_second_tap(heads, observation, offset.at(observation.time));
        // What the network doubled may be either tap's.
        if (original != nullptr || alone == Copy::yes) {
            heads.second_began |= original != nullptr;
            advance(heads.second, observation.ip_id);
        } else if (!copy) {
            advance(heads.first, observation.ip_id);
        }
        if (!copy && alone != Copy::yes)
            heads.newest[heads.recorded++ % heads.newest.size()] = {observation.ip_id, observation.time};
        if (alone == Copy::yes) return alone;
        perhaps = alone == Copy::perhaps;
    }
    perhaps = perhaps || (twin && magnitude(offset.at(observation.time)) > kLongestPathDelay) ||
              (!counted && !doubtful && follows_second_tap(observation, offset.at(observation.time), copy));
    if (copy) return doubtful ? Copy::perhaps : Copy::yes;
    if (place->key != 0 && place->met == 0) ++displaced_;
    *place = {.key = key & kKnownKeyMask, .met = 0, .time = observation.time};
    return perhaps ? Copy::perhaps : Copy::no;
}

bool CopyFilter::any_alone() const {
    return displaced_ != 0 || std::ranges::any_of(sets_, [](const Set& set) {
               return std::ranges::any_of(set.waiting, [](const Waiting& one) { return one.key != 0 && one.met == 0; });
           });
}

CopyFilter::Copy CopyFilter::look(const Observation& observation) {
    if (knows_nothing()) return Copy::no;
    if (!observation.has_hosts() && observation.kind != ObservationKind::unreadable) return Copy::no;
    const HostsHash hosts = hosts_of(observation.flow);
    if (is_other_tap(observation, hosts.way)) return Copy::yes;
    if (twice_.empty() || !observation.has_hosts()) return Copy::no;
    const auto found = std::ranges::lower_bound(twice_, hosts.both, {}, &RecordedTwice::hosts);
    if (found == twice_.end() || found->hosts != hosts.both ||
        (found->doubtful_way != 0 && found->doubtful_way != hosts.way))
        return Copy::no;
    return came_before(observation, *found);
}

}  // namespace qps::transport
