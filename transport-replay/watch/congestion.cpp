#include <dissect/base/types.hpp>
#include <transport-replay/watch/congestion.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

bool within(Instant from, Instant to, Duration time) { return to - from <= time; }

std::int64_t bin_of(Instant time) {
    const std::int64_t width = std::to_underlying(kRateBin);
    const std::int64_t value = std::to_underlying(time);
    return value / width - (value % width < 0 ? 1 : 0);
}

bool is_cnp(Opcode opcode) { return opcode == Opcode::cnp || opcode == Opcode::cnp_native; }

// Whether a mark on it asks for a CNP: implementations leave out ACKs, multicast and management, and nobody takes a
// corrupt packet.
bool wants_cnp(const Observation& observation) {
    const OpcodeRow& row = info(observation.opcode);
    const bool is_ack = row.defined && (row.verb == Verb::acknowledge || row.verb == Verb::atomic_acknowledge);
    const bool taken = observation.icrc != CrcStatus::bad && !observation.management;
    return taken && !is_ack && observation.flow.destination_qp != kMulticastQpn;
}

FlowKey pair_key(const Address& source, const Address& destination) { return {source, destination, {}}; }

}  // namespace

void Distribution::add(Duration value) {
    least_ = count_ == 0 ? value : std::min(least_, value);
    most_ = count_ == 0 ? value : std::max(most_, value);
    if (count_++ % stride_ != 0) return;
    if (samples_.size() == kMaxSamples) {
        for (std::size_t i = 0; i < kMaxSamples / 2; ++i) samples_[i] = samples_[2 * i];
        samples_.resize(kMaxSamples / 2);
        stride_ *= 2;
        if ((count_ - 1) % stride_ != 0) return;
    }
    samples_.push_back(value);
}

std::optional<Duration> Distribution::median() const {
    if (samples_.empty()) return {};
    std::vector<Duration> sorted = samples_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle);
    return *middle;
}

std::optional<CongestionTracker::Index> CongestionTracker::pair_of(const Address& source, const Address& destination) {
    const FlowKey key = pair_key(source, destination);
    const auto found = pair_index_.find(key);
    if (found != pair_index_.end()) return found->second;
    if (pairs_.size() >= most_pairs_) return {};
    const auto index = static_cast<Index>(pairs_.size());
    pair_index_[key] = index;
    Pair& pair = pairs_.emplace_back();
    pair.sums.source = source;
    pair.sums.destination = destination;
    return index;
}

// Where all places are taken, of a few, drawn from all, that of the flow that is silent for longest; none of those that
// were marked, or whose rate was measured, since these are reported.
std::optional<CongestionTracker::Index> CongestionTracker::place_for_flow() {
    if (flows_.size() < most_flows_) return static_cast<Index>(flows_.size());
    constexpr std::size_t kLookedAt = 32;
    std::optional<Index> found;
    for (std::size_t i = 0; i < kLookedAt; ++i) {
        const auto index = static_cast<Index>(mix(++drawn_) % flows_.size());
        const Flow& flow = flows_[index];
        if (!flow.marks.there() && (!found || flow.last_bin < flows_[*found].last_bin)) found = index;
    }
    if (!found) return {};
    Flow& flow = flows_[*found];
    if (flow.packets != 0) pairs_[flow.pair].sums.packets += flow.packets;
    flow_index_.erase(flow.hash, *found);
    flow = {};
    return found;
}

FlowKey CongestionTracker::key_of(const Flow& flow) const {
    const PairCongestion& pair = pairs_[flow.pair].sums;
    return {pair.source, pair.destination, flow.destination_qp, flow.source_qp};
}

bool CongestionTracker::is_of(const Flow& flow, const FlowKey& key) const {
    const PairCongestion& pair = pairs_[flow.pair].sums;
    return flow.destination_qp == key.destination_qp && flow.source_qp == key.source_qp && pair.source == key.source &&
           pair.destination == key.destination;
}

CongestionTracker::Flow* CongestionTracker::flow_of(const Observation& observation) {
    const FlowKey& key = observation.flow;
    const auto found = flow_index_.find(observation.flow_hash, [&](Index index) { return is_of(flows_[index], key); });
    if (found) return &flows_[*found];
    const auto pair = pair_of(key.source, key.destination);
    const auto place = pair ? place_for_flow() : std::nullopt;
    if (!place || !flow_index_.insert(observation.flow_hash, *place)) return nullptr;
    if (*place == flows_.size()) flows_.emplace_back();
    Flow& flow = flows_[*place];
    flow.destination_qp = key.destination_qp;
    flow.source_qp = key.source_qp;
    flow.hash = observation.flow_hash;
    flow.pair = *pair;
    flow.first_bin = flow.last_bin = bin_of(observation.time);
    return &flow;
}

void CongestionTracker::prefetch(const Observation& observation) const {
    const auto index = flow_index_.likely(observation.flow_hash);
    if (!index) return;
    const Flow& flow = flows_[*index];
    __builtin_prefetch(&flow.pair);
    __builtin_prefetch(&flow.bytes);
}

void CongestionTracker::observe(const Observation& observation) {
    if (observation.kind != ObservationKind::transport) return;
    if (is_cnp(observation.opcode)) take_cnp(observation);
    else take_data(observation);
}

void CongestionTracker::take_data(const Observation& observation) {
    if (observation.congestion_experienced) ++report_.marked;
    Flow* flow = flow_of(observation);
    if (flow == nullptr) {
        ++report_.packets_dropped;
        return;
    }
    Pair& pair = pairs_[flow->pair];
    const std::int64_t bin = bin_of(observation.time);
    if (flow->bursts_measured != pair.bursts && bin > pair.burst_bin + kRateBins) measure(*flow, pair, bin);
    if (bin > flow->last_bin && bin == pair.burst_bin + 2 * kRateBins + 1 && pair.bursts != 0) [[unlikely]]
        measure_long(*flow, pair);
    count(*flow, bin, observation.wire_length);
    ++flow->packets;
    flow->bytes += observation.wire_length;
    if (observation.congestion_experienced) take_mark(observation, *flow, pair);
}

std::uint32_t& CongestionTracker::bytes_of(Flow& flow, std::int64_t bin) {
    constexpr auto kBins = static_cast<std::int64_t>(kRing);
    return flow.bins[static_cast<std::size_t>((bin % kBins + kBins) % kBins)];
}

void CongestionTracker::count(Flow& flow, std::int64_t bin, std::uint32_t bytes) {
    if (bin > flow.last_bin) {
        const std::int64_t passed = std::min<std::int64_t>(bin - flow.last_bin, kRing);
        for (std::int64_t i = 0; i < passed; ++i) bytes_of(flow, bin - i) = 0;
        flow.last_bin = bin;
    }
    if (flow.last_bin - bin < static_cast<std::int64_t>(kRing)) bytes_of(flow, bin) += bytes;
}

void CongestionTracker::take_mark(const Observation& observation, Flow& flow, Pair& pair) {
    Flow::Marks& marks = flow.marks.made();
    const TimedFrame here{observation.frame, observation.time};
    if (marks.count++ == 0) marks.first = here;
    marks.last = here;
    ++pair.sums.ce_marked;
    if (!wants_cnp(observation)) return;
    ++pair.sums.marked;
    pair.last_mark = observation.time;
    expire(pair, observation.time);
    constexpr auto kMoments =
        static_cast<std::size_t>(std::to_underlying(kCnpDeadline) / std::to_underlying(kMarkMerging) + 1);
    const bool merges = !pair.pending.empty() && (within(pair.pending.back().time, observation.time, kMarkMerging) ||
                                                  pair.pending.size() > kMoments);
    if (merges) ++pair.pending.back().marks;
    else
        pair.pending.push_back(
            {observation.time, 1, pair.last_cnp && within(*pair.last_cnp, observation.time, kCnpPacing)});
    Moment& moment = pair.pending.back();
    moment.last = here;
    std::vector<TimedFrame>& kept = pair.sums.unanswered_marks.first;
    if (moment.paced || kept.size() >= KeptPackets::kMost) return;
    kept.push_back(here);
    ++moment.kept;
}

void CongestionTracker::expire(Pair& pair, Instant now) {
    const auto still = std::ranges::find_if(
        pair.pending, [&](const Moment& moment) { return within(moment.time, now, kCnpDeadline); });
    for (auto moment = pair.pending.begin(); moment != still; ++moment) {
        (moment->paced ? pair.sums.undecided : pair.sums.unanswered) += moment->marks;
        pair.settled += moment->kept;
        if (!moment->paced) pair.sums.unanswered_marks.last = moment->last;
        if (moment->paced || (pair.last_silence && within(*pair.last_silence, moment->time, kCnpDeadline))) continue;
        ++pair.sums.silences;
        pair.last_silence = moment->time;
    }
    pair.pending.erase(pair.pending.begin(), still);
}

// What may still be answered, and no longer will.
void CongestionTracker::forget_pending(Pair& pair) {
    pair.pending.clear();
    pair.sums.unanswered_marks.first.resize(pair.settled);
}

void CongestionTracker::take_cnp(const Observation& observation) {
    ++report_.cnps;
    const FlowKey& flow = observation.flow;
    const auto data = pair_of(flow.destination, flow.source);
    const auto known = stream_index_.find(flow);
    if (!data || (known == stream_index_.end() && report_.notifications.size() >= most_pairs_)) {
        ++report_.packets_dropped;
        return;
    }
    const Index index = known != stream_index_.end() ? known->second : static_cast<Index>(report_.notifications.size());
    if (known == stream_index_.end()) {
        stream_index_[flow] = index;
        report_.notifications.push_back({.flow = flow,
                                         .first_frame = observation.frame,
                                         .gaps = {},
                                         .delays = {},
                                         .first_time = observation.time,
                                         .unmarked = {}});
    }
    CnpStream& stream = report_.notifications[index];
    Pair& pair = pairs_[*data];
    if (stream.count++ != 0) stream.gaps.add(observation.time - stream.last_time);
    stream.last_time = observation.time;
    stream.last_frame = observation.frame;
    if (pair.last_mark && within(*pair.last_mark, observation.time, kCnpDeadline))
        stream.delays.add(observation.time - *pair.last_mark);
    else ++stream.without_mark, stream.unmarked.add({observation.frame, observation.time});
    expire(pair, observation.time);
    for (const Moment& moment : pair.pending) pair.sums.answered += moment.marks;
    forget_pending(pair);
    ++pair.sums.notifications;
    if (!pair.last_cnp ||
        std::to_underlying(observation.time - *pair.last_cnp) >= kRateBins * std::to_underlying(kRateBin)) {
        ++pair.bursts;
        pair.burst_cnps = 0;
        pair.burst_bin = bin_of(observation.time);
    }
    ++pair.burst_cnps;
    pair.last_cnp = observation.time;
}

// Takes the bins around the pair's last burst into account; `now_bin` is the last that was observed. A burst that came
// and went while the flow was silent is not measured.
void CongestionTracker::measure(Flow& flow, const Pair& pair, std::int64_t now_bin) {
    flow.bursts_measured = pair.bursts;
    const auto bytes_in = [&](std::int64_t bin) -> std::uint64_t {
        const bool kept = bin <= flow.last_bin && flow.last_bin - bin < static_cast<std::int64_t>(kRing);
        return kept ? bytes_of(flow, bin) : 0;
    };
    Reaction found;
    for (std::int64_t i = 1; i <= kRateBins; ++i) {
        if (pair.burst_bin - i > flow.first_bin) {  // the first bin is not a whole one
            found.bytes_before += bytes_in(pair.burst_bin - i);
            ++found.bins_before;
        }
        if (pair.burst_bin + i < now_bin) {  // nor is the last
            found.bytes_after += bytes_in(pair.burst_bin + i);
            ++found.bins_after;
        }
    }
    if (found.bytes_before == 0 || found.bins_after == 0) return;
    Reaction& sum = flow.marks.made().reaction;
    ++sum.bursts;
    sum.bytes_before += found.bytes_before;
    sum.bytes_after += found.bytes_after;
    sum.bins_before += found.bins_before;
    sum.bins_after += found.bins_after;
}

// Takes a burst into account that has gone on for twice kRateBins whole bins: the flow's last bin is the last of them.
void CongestionTracker::measure_long(Flow& flow, const Pair& pair) {
    const std::int64_t behind = pair.burst_bin + 2 * kRateBins;
    if (!pair.last_cnp || bin_of(*pair.last_cnp) < behind || flow.first_bin > pair.burst_bin || flow.last_bin != behind)
        return;
    Reaction& sum = flow.marks.made().reaction;
    ++sum.long_bursts;
    sum.cnps += pair.burst_cnps;
    for (std::int64_t i = 1; i <= kRateBins; ++i) {
        sum.bytes_first += bytes_of(flow, pair.burst_bin + i);
        sum.bytes_then += bytes_of(flow, pair.burst_bin + kRateBins + i);
    }
}

void CongestionTracker::add_peaks(Peaks& peaks) const {
    peaks.add(Need::flows, flows_.size(), most_flows_);
    peaks.add(Need::pairs, pairs_.size(), most_pairs_);
    peaks.add(Need::notifications, report_.notifications.size(), most_pairs_);
}

CongestionReport CongestionTracker::finish(Instant now) {
    flows_.for_each([&](const Flow& flow) { pairs_[flow.pair].sums.packets += flow.packets; });
    for (Pair& pair : pairs_) {
        expire(pair, now);
        for (const Moment& moment : pair.pending) pair.sums.undecided += moment.marks;
        forget_pending(pair);
        const auto other = pair_index_.find(pair_key(pair.sums.destination, pair.sums.source));
        pair.sums.other_way_seen =
            pair.sums.notifications > 0 || (other != pair_index_.end() && pairs_[other->second].sums.packets > 0);
        if (pair.sums.marked == 0 && pair.sums.notifications == 0) continue;
        report_.pairs.push_back(pair.sums);
        pair.sums.unanswered_marks = {};
    }
    flows_.consume([&](Flow& flow) {
        const Pair& pair = pairs_[flow.pair];
        if (flow.bursts_measured != pair.bursts) measure(flow, pair, bin_of(now));
        const Flow::Marks& marks = *flow.marks;
        if (marks.count == 0 && pair.sums.marked == 0 && pair.sums.notifications == 0) return;
        report_.flows.push_back({key_of(flow), flow.packets, flow.bytes, marks.count, marks.first.frame,
                                 marks.last.frame, marks.first.time, marks.last.time, marks.reaction});
    });
    std::ranges::sort(report_.pairs, {},
                      [](const PairCongestion& pair) { return std::tie(pair.source, pair.destination); });
    std::ranges::sort(report_.flows, {}, &FlowCongestion::flow);
    std::ranges::sort(report_.notifications, {}, &CnpStream::flow);
    CongestionTracker fresh;
    fresh.most_flows_ = most_flows_;
    fresh.most_pairs_ = most_pairs_;
    return std::exchange(*this, std::move(fresh)).report_;
}

std::vector<ThrottledFlow> attribute(const CongestionReport& report, const Pairing& pairing) {
    std::vector<ThrottledFlow> throttled;
    for (std::size_t i = 0; i < report.notifications.size(); ++i) {
        const FlowKey& stream = report.notifications[i].flow;
        ThrottledFlow row{i, {}, Attribution::undecided};
        const std::optional<FlowKey> data = pairing ? pairing(stream) : std::nullopt;
        std::size_t marked = 0;
        // Flows are sorted: those between the hosts of the CNP, the other way, stand together.
        const auto first = std::ranges::lower_bound(report.flows, FlowKey{stream.destination, stream.source, {}}, {},
                                                    &FlowCongestion::flow);
        for (auto flow = first; flow != report.flows.end(); ++flow) {
            if (flow->flow.source != stream.destination || flow->flow.destination != stream.source) break;
            const auto index = static_cast<std::size_t>(flow - report.flows.begin());
            if (data == flow->flow) {
                row = {i, index, Attribution::paired};
                break;
            }
            if (flow->marked == 0 || data) continue;
            ++marked;
            row = marked == 1 ? ThrottledFlow{i, index, Attribution::only_flow}
                              : ThrottledFlow{i, {}, Attribution::undecided};
        }
        throttled.push_back(row);
    }
    return throttled;
}

}  // namespace qps::transport
