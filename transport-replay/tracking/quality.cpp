#include <dissect/base/types.hpp>
#include <transport-replay/tracking/quality.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr int kKeyBits = 48, kTimeBits = 48;
constexpr std::uint64_t kKeyMask = (std::uint64_t{1} << kKeyBits) - 1;
constexpr std::uint64_t kTimeMask = (std::uint64_t{1} << kTimeBits) - 1;
constexpr std::uint64_t kMostSeen = 255;

// The time that passed between two instants of kTimeBits bits, either way.
Duration elapsed_bits(std::uint64_t from, std::uint64_t to) {
    constexpr int kUnused = 64 - kTimeBits;
    return Duration{static_cast<std::int64_t>((to - from) << kUnused) >> kUnused};
}

}  // namespace

// Zeros are what an empty set is; from calloc() those of untouched pages cost nothing.
std::shared_ptr<RepetitionWindow::Sets> RepetitionWindow::empty_sets() {
    static_assert(std::is_trivially_copyable_v<Sets> && std::is_trivially_destructible_v<Sets>);
    std::size_t bytes = sizeof(Sets) + alignof(Sets);
    std::shared_ptr<void> room(std::calloc(1, bytes), std::free);
    void* place = room.get();
    if (place == nullptr || std::align(alignof(Sets), sizeof(Sets), place, bytes) == nullptr)
        return std::make_shared<Sets>();
    return {std::move(room), static_cast<Sets*>(place)};
}

void RepetitionWindow::own() {
    std::shared_ptr<Sets> sets = empty_sets();
    if (sets_) *sets = *sets_;
    sets_ = std::move(sets);
}

Met RepetitionWindow::observe(const Recorded& packet) {
    Entry seen;
    seen.key = packet.hash & kKeyMask;
    seen.interface = packet.interface;
    seen.time = static_cast<std::uint64_t>(std::to_underlying(packet.time)) & kTimeMask;
    seen.hops = packet.hops;
    seen.seen = 1;
    const auto age = [&](const Entry& entry) {
        return entry.seen == 0 ? Duration{kLongestTime} : elapsed_bits(entry.time, seen.time);
    };
    std::array<Entry, kMirrorWays>& entries = (*sets_)[set_of(packet.hash)].entries;
    Entry* oldest = entries.data();
    Duration greatest_age = age(*oldest);
    bool met = entries.front().key == seen.key;
    for (Entry& entry : std::span(entries).subspan(1)) {
        met |= entry.key == seen.key;
        if (const Duration old = age(entry); old > greatest_age) {
            greatest_age = old;
            oldest = &entry;
        }
    }
    const bool full = magnitude(greatest_age) <= kMirrorTime;
    if (!met) [[likely]] {
        *oldest = seen;
        return {.displaces = full};
    }
    Entry* mine = nullptr;  // of this tap
    const Entry* theirs = nullptr;
    for (Entry& entry : entries) {
        if (entry.key != seen.key || magnitude(age(entry)) > kMirrorTime) continue;
        if (entry.interface == seen.interface && entry.hops == seen.hops) mine = &entry;
        else if (theirs == nullptr || entry.seen > theirs->seen) theirs = &entry;
    }
    if (mine != nullptr) seen.seen = std::min<std::uint64_t>(mine->seen + 1U, kMostSeen) & kMostSeen;
    Repetition repetition = Repetition::none;
    if (theirs != nullptr && theirs->seen >= seen.seen) repetition = Repetition::other_tap;
    else if (mine != nullptr) repetition = packet.ip_id != 0 ? Repetition::same_bytes : Repetition::ambiguous;
    Met found{.repetition = repetition, .displaces = mine == nullptr && full};
    if (repetition != Repetition::none) found.distance = age(repetition == Repetition::other_tap ? *theirs : *mine);
    if (mine == nullptr) mine = oldest;
    *mine = seen;
    return found;
}

bool QualityTracker::systematic() const {
    return static_cast<std::uint32_t>(std::popcount(history_)) >= kSystematicShare;
}

bool QualityTracker::is_mirror_duplicate(Repetition repetition) const {
    return repetition == Repetition::other_tap || (repetition == Repetition::same_bytes && systematic());
}

// What the capture has of it, whichever tap it is from.
void QualityTracker::take_contents(const Observation& observation, Repetition repetition) {
    contents_.add(observation);
    if (is_faulty(observation)) take_fault(observation, repetition);
}

bool QualityTracker::is_faulty(const Observation& observation) {
    const bool rdma = observation.kind == ObservationKind::transport || observation.kind == ObservationKind::unreadable;
    return rdma && observation.fault != Fault::none && observation.fault != Fault::cut &&
           observation.fault != Fault::trimmed;
}

// Another tap's recording of a malformed packet is no second one; nor can it be told from a retransmission, so both are
// called the same bytes.
void QualityTracker::take_fault(const Observation& observation, Repetition repetition) {
    if (observation.fault == Fault::fragment) {
        quality_.fragments += repetition == Repetition::none ? 1 : 0;
        return;
    }
    ++quality_.faulty;
    if (faulty_.contains(observation.packet_hash)) ++quality_.faulty_again;
    else if (faulty_.size() < kMaxFaulty) faulty_.insert(observation.packet_hash);
}

void QualityTracker::leave_out(const Observation& observation) {
    take_contents(observation, Repetition::other_tap);
    ++quality_.left_out;
}

Repetition QualityTracker::observe(const Observation& observation, bool timed) {
    if (!observation.is_numbered()) return observe(observation, timed, {});
    window_.begin();
    return observe(observation, timed, window_.observe(Recorded::of(observation)));
}

Repetition QualityTracker::observe(const Observation& observation, bool timed, const Met& met) {
    // Files that are read one after the other begin anew where they are several taps' of the same time.
    if (timed) clock_.add(observation, clocks_by_file_ && observation.file != file_);
    if (timed) file_ = observation.file;
    take_contents(observation, met.repetition);
    if (!observation.is_numbered()) return Repetition::none;
    if (HeardPair::is_told_of(observation)) {
        HeardPair pair{
            .hash = observation.hosts_hash, .first = observation.flow.source, .second = observation.flow.destination};
        pair.add(observation);
        take_pair(pair);
    }
    return take(met);
}

void QualityTracker::take(const ContentSums& contents, const ClockSums& clock, FrameIndex start,
                          const HeardPairs& pairs) {
    contents_.append(contents);
    clock_.append(clock, start);
    for (const HeardPair& pair : pairs.pairs()) take_pair(pair);
}

Repetition QualityTracker::take(const Met& met) {
    const Repetition repetition = met.repetition;
    history_ = history_ << 1 | (repetition == Repetition::same_bytes ? 1U : 0U);
    if (met.displaces) ++quality_.window_displaced;
    if (repetition == Repetition::none) return repetition;
    last_distance_ = met.distance;
    if (repetition == Repetition::ambiguous) {
        ++quality_.ambiguous_repetitions;
        return repetition;
    }
    const Duration distance = magnitude(met.distance);
    const bool first = quality_.copies() == 0;
    quality_.least_copy_distance = first ? distance : std::min(quality_.least_copy_distance, distance);
    quality_.most_copy_distance = std::max(quality_.most_copy_distance, distance);
    ++(repetition == Repetition::other_tap ? quality_.copies_of_other_taps : quality_.copies_of_same_tap);
    quality_.same_tap_systematic |= systematic();
    return repetition;
}

HeardPair* QualityTracker::pair_of(const HeardPair& like) {
    const auto found = pair_index_.find(like.hash, [&](FlowTable::Index index) { return pairs_[index].is_same(like); });
    if (found) return &pairs_[*found];
    const bool room = pairs_.size() < budget_.items(Share::pairs) &&
                      pair_index_.insert(like.hash, static_cast<FlowTable::Index>(pairs_.size()));
    return room ? &pairs_.emplace_back(HeardPair{.hash = like.hash, .first = like.first, .second = like.second})
                : nullptr;
}

void QualityTracker::take_pair(const HeardPair& pair) {
    const bool to_itself = pair.first == pair.second;
    if (HeardPair* known = pair_of(pair)) known->append(pair);
    else quality_.pairs_dropped += to_itself ? pair.packets[0] : pair.packets[0] + pair.packets[1];
}

CaptureQuality QualityTracker::finish(const Drops& drops) {
    quality_.packets = contents_.packets;
    quality_.rdma_packets = contents_.rdma_packets;
    quality_.cut = contents_.cut;
    quality_.longest_whole = contents_.longest_whole;
    quality_.shortest_cut = contents_.shortest_cut;
    quality_.unreadable = contents_.unreadable;
    quality_.icrc_good = contents_.icrc_good;
    quality_.icrc_bad = contents_.icrc_bad;
    quality_.icrc_not_checkable = contents_.icrc_not_checkable;
    quality_.backwards = clock_.backwards;
    quality_.largest_step_back = clock_.largest_step_back;
    quality_.largest_step_frame = clock_.largest_step_frame;
    for (const HeardPair& pair : pairs_) {  // the one that was heard first was heard
        if (pair.packets[1] == 0) quality_.one_way.push_back({pair.first, pair.second, pair.packets[0], pair.reliable});
    }
    std::ranges::sort(quality_.one_way, {}, [](const OneWay& row) { return std::tie(row.source, row.destination); });
    quality_.host_pairs = pairs_.size();
    if (quality_.packets >= kClockSamples) quality_.clock_resolution = Duration{clock_.resolution};
    quality_.drops = drops;
    return std::exchange(*this, QualityTracker{budget_}).quality_;
}

}  // namespace qps::transport
