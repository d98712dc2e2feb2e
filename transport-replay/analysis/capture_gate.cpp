#include <transport-replay/analysis/capture_gate.hpp>
#include <transport-replay/analysis/gate_summary.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kLinesAhead = 8;        // packets from one line that is asked for to the next
constexpr std::size_t kMaxCorrupt = 1 << 14;  // packets that are told from their copies: of 10 bytes

}  // namespace

CaptureGate::CaptureGate(const AnalysisSettings& settings)
    : traits_(settings.traits), icrc_(settings.icrc), copies_(settings.traits), quality_(settings.memory) {
    if (traits_.vantage.by_file) quality_.expect_clocks_by_file();
}

// Whether a wrong ICRC of its sender is no reason to take it for corrupted. One of 0 is a field that was not filled in:
// a right one is 0 in one of 2^32 packets.
bool CaptureGate::believes(const Observation& observation) const {
    if (icrc_ != IcrcPolicy::automatic) return icrc_ == IcrcPolicy::ignore;
    return observation.icrc_found == 0 || std::ranges::binary_search(traits_.icrc_not_judged, observation.flow.source);
}

// Whether a corrupt packet is a recording of one that was corrupted before: a sender that counts its IPv4
// identification on sends no datagram twice, and no two are damaged alike. Where it does not count, the same bytes come
// again sooner than any requester repeats them.
bool CaptureGate::was_corrupt(const Observation& observation, Repetition repetition) {
    const bool known = corrupt_.contains(observation.packet_hash);
    if (!known && corrupt_.size() < kMaxCorrupt) corrupt_.insert(observation.packet_hash);
    if (observation.ip_id != 0) return known;
    return known && repetition == Repetition::ambiguous && magnitude(quality_.last_distance()) < kFastestTimeout;
}

Sight CaptureGate::pass(const Observation& observation) {
    ++report_.packets;
    report_.bytes += observation.wire_length;
    const CopyFilter::Copy copy = copies_.knows_nothing() ? CopyFilter::Copy::no : copies_.look(observation);
    if (copy == CopyFilter::Copy::yes) {
        quality_.leave_out(observation);
        return {.now = report_.now, .handling = Handling::copy};
    }
    sampler_.observe(observation);
    const bool timed = !copies_.active() || observation.has_hosts();
    if (timed) take_time(observation);
    const Repetition repetition = quality_.observe(observation, timed);
    if (!timed) {
        pass_link(observation.time);
        return {.now = report_.now, .handling = Handling::no_hosts};
    }
    return decide(observation, repetition, copy);
}

// The window of repetitions is another's, and found `met`.
Sight CaptureGate::pass(const Observation& observation, const Met& met) {
    ++report_.packets;
    report_.bytes += observation.wire_length;
    sampler_.observe(observation);
    take_time(observation);
    return decide(observation, quality_.observe(observation, true, met), CopyFilter::Copy::no);
}

void CaptureGate::take_time(const Observation& observation) {
    if (!observation.has_time) return;
    report_.first = std::min(report_.first.value_or(observation.time), observation.time);
    report_.last = std::max(report_.last.value_or(observation.time), observation.time);
}

Sight CaptureGate::decide(const Observation& observation, Repetition repetition, CopyFilter::Copy copy) {
    if (tenants_.wants(observation.network)) [[unlikely]]
        tenants_.observe(observation);
    Sight sight{.distance = quality_.last_distance(),
                .repetition = copy == CopyFilter::Copy::perhaps ? Repetition::perhaps_other_tap : repetition};
    if (observation.icrc == CrcStatus::bad) sight.icrc_not_judged = believes(observation);
    if (sight.icrc_not_judged) {
        ++icrc_not_judged_;
        if (observation.icrc_found == 0) ++icrc_zero_;
    }
    const bool damaged_before =
        observation.icrc == CrcStatus::bad && !sight.icrc_not_judged && was_corrupt(observation, repetition);
    if (damaged_before || quality_.is_mirror_duplicate(repetition)) {
        sight.now = report_.now;
        sight.handling = Handling::copy;
        return sight;
    }
    pass_link(observation.time);
    sight.now = report_.now = std::max(report_.now, observation.time);
    if (observation.kind == ObservationKind::transport)
        report_.now_transport = std::max(report_.now_transport, observation.time);
    return sight;
}

void CaptureGate::pass(const GateSummary& summary, std::span<const Observation> batch, std::span<const MetAt> met,
                       std::span<Sight> sights) {
    if (!looks_up_all()) {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            quality_.prefetch(batch[std::min(i + kLinesAhead, batch.size() - 1)]);
            sights[i] = pass(batch[i]);
        }
        return;
    }
    auto next = met.begin();
    const auto met_at = [&](std::size_t place) {
        return next != met.end() && next->place == place ? (next++)->met : Met{};
    };
    if (!summary.is_of(batch.size())) {
        for (std::size_t i = 0; i < batch.size(); ++i) sights[i] = pass(batch[i], met_at(i));
        return;
    }
    report_.packets += summary.contents().packets;
    report_.bytes += summary.contents().bytes;
    if (summary.earliest()) {
        report_.first = std::min(report_.first.value_or(*summary.earliest()), *summary.earliest());
        report_.last = std::max(report_.last.value_or(*summary.latest()), *summary.latest());
    }
    quality_.take(summary.contents(), summary.clock(), summary.start(), summary.pairs());
    const std::span entries(summary.entries());
    const bool one_network = summary.network() && !tenants_.wants(*summary.network());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto& [packet, plain, numbered] = entries[i];
        if (!sampler_.passes_over(packet.hash)) sampler_.observe(batch[i]);
        const Repetition repetition = numbered ? quality_.take(met_at(i)) : Repetition::none;
        if (!plain && QualityTracker::is_faulty(batch[i])) quality_.take_fault(batch[i], repetition);
        if (!plain || repetition != Repetition::none) [[unlikely]] {
            sights[i] = decide(batch[i], repetition, CopyFilter::Copy::no);
            continue;
        }
        if (!one_network && tenants_.wants(batch[i].network)) tenants_.observe(batch[i]);
        pass_link(packet.time);
        report_.now = std::max(report_.now, packet.time);
        report_.now_transport = std::max(report_.now_transport, packet.time);
        sights[i] = {.now = report_.now, .distance = quality_.last_distance()};
    }
}

void CaptureGate::pass_link(Instant time) {
    report_.now_link = report_.packets_on_links == 0 ? time : std::max(report_.now_link, time);
    ++report_.packets_on_links;
}

GateReport CaptureGate::finish(const Drops& drops) {
    report_.quality = quality_.finish(drops);
    report_.quality.icrc_not_judged = icrc_not_judged_;
    report_.quality.icrc_zero = icrc_zero_;
    report_.quality.icrc_policy = icrc_;
    learn_taps();
    return std::move(report_);
}

// Reports the taps that were found, and adjusts the quality to them.
void CaptureGate::learn_taps() {
    if (copies_.any_alone()) report_.clocks_apart = traits_.clocks_apart();
    if (copies_.active()) {
        report_.quality.vantage = traits_.vantage;
        report_.quality.window_displaced += copies_.displaced();
    } else {
        const std::vector<std::uint64_t> tenants = tenants_.tenants();
        report_.learned = transport::learn_taps(sampler_.sampled(), tenants);
        report_.learned.tenants = tenants;
        report_.quality.vantage = report_.learned.vantage;
    }
}

}  // namespace qps::transport
