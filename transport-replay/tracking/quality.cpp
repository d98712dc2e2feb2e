#include <dissect/types.hpp>
#include <transport-replay/tracking/quality.hpp>

#include <algorithm>
#include <bit>
#include <span>
#include <tuple>
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

bool RepetitionWindow::systematic() const { return static_cast<std::uint32_t>(std::popcount(history_)) >= kSystematicShare; }

Repetition RepetitionWindow::observe(const Observation& observation) {
    if (observation.kind != ObservationKind::transport) return Repetition::none;
    if (sets_.use_count() != 1) own();
    Entry seen;
    seen.key = observation.packet_hash & kKeyMask;
    seen.interface = std::to_underlying(observation.interface) & 0xffffU;
    seen.time = static_cast<std::uint64_t>(std::to_underlying(observation.time)) & kTimeMask;
    seen.hops = observation.hops;
    seen.seen = 1;
    const auto age = [&](const Entry& entry) { return entry.seen == 0 ? Duration{kLongestTime} : elapsed_bits(entry.time, seen.time); };
    std::array<Entry, kMirrorWays>& entries = (*sets_)[set_of(observation)].entries;
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
    if (!met) [[likely]] {
        if (magnitude(greatest_age) <= kMirrorTime) ++displaced_;
        *oldest = seen;
        history_ <<= 1;
        return Repetition::none;
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
    else if (mine != nullptr) repetition = observation.ip_id != 0 ? Repetition::same_bytes : Repetition::ambiguous;
    if (repetition != Repetition::none) last_distance_ = age(repetition == Repetition::other_tap ? *theirs : *mine);
    if (mine == nullptr) {
        if (magnitude(greatest_age) <= kMirrorTime) ++displaced_;
        mine = oldest;
    }
    *mine = seen;
    history_ = history_ << 1 | (repetition == Repetition::same_bytes ? 1U : 0U);
    return repetition;
}

bool RepetitionWindow::is_mirror_duplicate(const Observation& observation) {
    const Repetition repetition = observe(observation);
    return repetition == Repetition::other_tap || (repetition == Repetition::same_bytes && systematic());
}

bool QualityTracker::is_mirror_duplicate(Repetition repetition) const {
    return repetition == Repetition::other_tap || (repetition == Repetition::same_bytes && window_.systematic());
}

// What the capture has of it, whichever tap it is from.
void QualityTracker::take_contents(const Observation& observation) {
    ++quality_.packets;
    if (observation.cut) {
        ++quality_.cut;
        const bool shortest = quality_.shortest_cut == 0 || observation.wire_length < quality_.shortest_cut;
        if (shortest) quality_.shortest_cut = observation.wire_length;
    } else {
        quality_.longest_whole = std::max(quality_.longest_whole, observation.wire_length);
    }
    if (observation.kind != ObservationKind::transport && observation.kind != ObservationKind::unreadable) return;
    ++quality_.rdma_packets;
    if (observation.fault != Fault::none && observation.fault != Fault::cut) take_fault(observation);
    if (observation.kind == ObservationKind::unreadable) {
        ++quality_.unreadable;
        return;
    }
    if (observation.icrc == CrcStatus::good) ++quality_.icrc_good;
    if (observation.icrc == CrcStatus::bad) ++quality_.icrc_bad;
    if (observation.icrc == CrcStatus::not_checkable) ++quality_.icrc_not_checkable;
}

// Another tap's recording of a malformed packet is no second one; nor can it be told from a retransmission, so both are called the same
// bytes.
void QualityTracker::take_fault(const Observation& observation) {
    ++quality_.faulty;
    if (faulty_.contains(observation.packet_hash)) ++quality_.faulty_again;
    else if (faulty_.size() < kMaxFaulty) faulty_.insert(observation.packet_hash);
}

void QualityTracker::leave_out(const Observation& observation) {
    take_contents(observation);
    ++quality_.left_out;
}

Repetition QualityTracker::observe(const Observation& observation, bool timed) {
    if (timed) take_time(observation);
    take_contents(observation);
    if (observation.kind != ObservationKind::transport) return Repetition::none;
    take_pair(observation);
    const Repetition repetition = window_.observe(observation);
    take_repetition(repetition);
    return repetition;
}

void QualityTracker::take_time(const Observation& observation) {
    const std::int64_t time = std::to_underlying(observation.time);
    while (resolution_ > 1 && time % resolution_ != 0) resolution_ /= 10;
    // Files that are read one after the other begin anew where they are several taps' of the same time.
    const bool other_clock = clocks_by_file_ && observation.file != file_;
    file_ = observation.file;
    const Duration step = other_clock ? Duration{} : observation.time - last_;
    if (quality_.packets > quality_.left_out && step < Duration{}) {
        ++quality_.backwards;
        if (magnitude(step) > quality_.largest_step_back) {
            quality_.largest_step_back = magnitude(step);
            quality_.largest_step_frame = observation.frame;
        }
    }
    last_ = observation.time;
}

void QualityTracker::take_repetition(Repetition repetition) {
    if (repetition == Repetition::none) return;
    if (repetition == Repetition::ambiguous) {
        ++quality_.ambiguous_repetitions;
        return;
    }
    const Duration distance = magnitude(window_.last_distance());
    const bool first = quality_.copies() == 0;
    quality_.least_copy_distance = first ? distance : std::min(quality_.least_copy_distance, distance);
    quality_.most_copy_distance = std::max(quality_.most_copy_distance, distance);
    ++(repetition == Repetition::other_tap ? quality_.copies_of_other_taps : quality_.copies_of_same_tap);
    quality_.same_tap_systematic |= window_.systematic();
}

QualityTracker::Pair* QualityTracker::pair_of(const Observation& observation) {
    const FlowKey& flow = observation.flow;
    const auto found = pair_index_.find(observation.hosts_hash, [&](FlowTable::Index index) {
        const Pair& pair = pairs_[index];
        return (pair.first == flow.source && pair.second == flow.destination) ||
               (pair.first == flow.destination && pair.second == flow.source);
    });
    if (found) return &pairs_[*found];
    const bool room =
        pairs_.size() < budget_.items(Share::pairs) && pair_index_.insert(observation.hosts_hash, static_cast<FlowTable::Index>(pairs_.size()));
    return room ? &pairs_.emplace_back(flow.source, flow.destination) : nullptr;
}

void QualityTracker::take_pair(const Observation& observation) {
    const FlowKey& flow = observation.flow;
    if (flow.destination_qp == kMulticastQpn) return;  // nobody answers from a group's address
    Pair* pair = pair_of(observation);
    if (pair == nullptr) {
        ++quality_.pairs_dropped;
        return;
    }
    ++pair->packets[flow.source == pair->first ? 0 : 1];
    if (flow.source == flow.destination) ++pair->packets[1];  // a host that talks to itself
    const OpcodeRow& row = info(observation.opcode);
    if (row.defined && (row.service == Service::rc || row.service == Service::xrc)) pair->reliable = true;
}

CaptureQuality QualityTracker::finish(const Drops& drops) {
    for (const Pair& pair : pairs_) {  // the one that was heard first was heard
        if (pair.packets[1] == 0) quality_.one_way.push_back({pair.first, pair.second, pair.packets[0], pair.reliable});
    }
    std::ranges::sort(quality_.one_way, {}, [](const OneWay& row) { return std::tie(row.source, row.destination); });
    quality_.host_pairs = pairs_.size();
    quality_.window_displaced = window_.displaced();
    if (quality_.packets >= kClockSamples) quality_.clock_resolution = Duration{resolution_};
    quality_.drops = drops;
    return std::exchange(*this, QualityTracker{budget_}).quality_;
}

}  // namespace qps::transport
