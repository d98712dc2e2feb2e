#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/cm/cm_ladder.hpp>
#include <transport-replay/collectives/collective_tracker.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/iwarp/iwarp_tracker.hpp>
#include <transport-replay/management/management_tracker.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/tracking/congestion.hpp>
#include <transport-replay/tracking/copy_filter.hpp>
#include <transport-replay/tracking/copy_sampler.hpp>
#include <transport-replay/tracking/quality.hpp>
#include <transport-replay/tracking/retransmission_causes.hpp>
#include <transport-replay/tracking/tracker.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

namespace qps::transport {

using namespace dissect;

namespace {

// Pairs of hosts, each way, of which something else than RDMA was heard: TCP beside it, say.
using HostPairs = boost::unordered_flat_set<FlowKey, FlowHash>;
constexpr std::size_t kMaxHeard = 1 << 14;

constexpr std::uint8_t kNak = 3;  // type of a syndrome, 9.7.5.1

constexpr std::size_t kMaxCorrupt = 1 << 14;  // packets that are told from their copies: of 10 bytes

constexpr std::uint64_t kFewestWrong = 4;     // packets; below, chance cannot be told from a rule
constexpr std::uint64_t kFewestAccepted = 8;  // requests that are not sent again

// Silence is an answer where the tap hears the other host at all.
void judge_silence(Timeline& timeline, const HostPairs& heard) {
    for (Recovery& recovery : timeline.recoveries) {
        if (!recovery.inferred) continue;
        const Connection* connection = timeline.find(recovery.connection);
        if (connection == nullptr) continue;
        const Address& source = connection->end(recovery.requester).address;
        const Address& destination = connection->end(other(recovery.requester)).address;
        recovery.inferred = !heard.contains(FlowKey{destination, source, {}, {}}) && timeline.quality.only_heard(source, destination);
    }
}

// The set-ups of iWARP stand behind those of CM.
void add_iwarp_attempts(Timeline& timeline) {
    for (IwarpConversation& iwarp : timeline.iwarp.conversations) {
        if (!iwarp.attempt) continue;
        const auto uid = static_cast<std::uint32_t>(timeline.cm.attempts.size());
        const auto connection = std::ranges::lower_bound(timeline.connections, iwarp.connection, {}, &Connection::uid);
        if (connection != timeline.connections.end() && connection->uid == iwarp.connection) connection->cm_attempt = uid;
        timeline.cm.attempts.push_back(std::move(*iwarp.attempt));
        timeline.cm.attempts.back().uid = uid;
        iwarp.attempt.reset();
    }
}

// Senders whose every ICRC is wrong, and whose packets are accepted all the same, or all where nobody's is right: it is not the wire that
// made them wrong.
std::vector<Address> icrcs_not_judged(const Timeline& timeline) {
    struct Sender {
        std::uint64_t wrong = 0;
        std::uint64_t right = 0;
        bool accepted = false;  // or nobody could be heard who would say so
    };
    std::map<Address, Sender> senders;
    if (timeline.quality.icrc_bad == 0) return {};
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            const Way& back = connection.way(other(end));
            if (way.packets == 0) continue;
            Sender& sender = senders[connection.end(end).address];
            sender.wrong += way.corrupt;
            sender.right += way.intact;
            // Its requests are answered; or the other end, whose requests it answers, does not send them again.
            const bool answered = way.requests != 0 && back.packets > back.requests;
            const bool content = way.packets > way.requests && back.requests >= kFewestAccepted && back.retransmitted * 4 <= back.requests;
            sender.accepted |= answered || content || timeline.quality.only_heard(connection.end(end).address, connection.end(other(end)).address);
        }
    const bool all = timeline.quality.no_icrc_right();
    std::vector<Address> found;
    for (const auto& [address, sender] : senders)
        if (sender.wrong != 0 && sender.right == 0 && (all || (sender.wrong >= kFewestWrong && sender.accepted))) found.push_back(address);
    return found;
}

// CM speaks of connections that never came to be.
bool is_idea_only(const Connection& connection, const CmReport& cm) {
    if (connection.packets() != 0 || !connection.cm_attempt) return false;
    const CmOutcome outcome = cm.attempts[*connection.cm_attempt].outcome;
    return outcome != CmOutcome::established && outcome != CmOutcome::disconnected;
}

}  // namespace

struct Analysis::State {
    explicit State(AnalysisSettings given)
        : settings(std::move(given)), copies(settings.traits), quality(settings.memory), cm(settings.memory), congestion({}, settings.memory), tracker(static_cast<bool>(settings.message), settings.memory), ulp(settings.hints, settings.memory), iwarp(settings.memory) {
        if (settings.traits.vantage.by_file) quality.expect_clocks_by_file();
    }

    PacketRecord observe(const Observation& observation);
    [[nodiscard]] Timeline so_far(const Drops& drops) const;
    [[nodiscard]] Timeline finish(const Drops& drops);
    void take_cm(const CmNews& news, PacketRecord& record);
    void take_match(std::uint32_t uid, const Observation& observation);
    void drain();
    [[nodiscard]] bool believes(const Observation& observation) const;
    PacketRecord follow(const Observation& observation, Repetition repetition);
    [[nodiscard]] bool was_corrupt(const Observation& observation, Repetition repetition);
    [[nodiscard]] PacketRecord leave_out_copy(const Observation& observation) const;
    void learn(Timeline& timeline) const;

    AnalysisSettings settings;
    CopySampler sampler;
    CopyFilter copies;
    QualityTracker quality;
    std::uint64_t icrc_not_judged = 0;
    std::uint64_t icrc_zero = 0;                         // of those
    boost::unordered_flat_set<std::uint64_t> corrupt;  // hashes of packets
    Observation believed;  // what is followed of a packet whose ICRC says nothing
    CmTracker cm;
    CongestionTracker congestion;
    Tracker tracker;
    UlpTracker ulp;
    CollectiveTracker collectives;
    ManagementTracker datagrams;
    IwarpTracker iwarp;
    HostPairs heard;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t management = 0;
    std::optional<dissect::Instant> first;
    std::optional<dissect::Instant> last;
};

Analysis::Analysis(AnalysisSettings settings) : state_(std::make_unique<State>(std::move(settings))) {}
Analysis::Analysis(const Analysis& other) : state_(std::make_unique<State>(*other.state_)) {}
Analysis& Analysis::operator=(const Analysis& other) {
    if (this != &other) state_ = std::make_unique<State>(*other.state_);
    return *this;
}
Analysis::Analysis(Analysis&&) noexcept = default;
Analysis& Analysis::operator=(Analysis&&) noexcept = default;
Analysis::~Analysis() = default;

PacketRecord Analysis::observe(const Observation& observation) { return state_->observe(observation); }
Timeline Analysis::so_far(const Drops& drops) const { return state_->so_far(drops); }
Timeline Analysis::finish(const Drops& drops) { return state_->finish(drops); }
void Analysis::prefetch(const Observation& far, const Observation& nearer, const Observation& near) const {
    state_->quality.prefetch(near);
    state_->congestion.prefetch_index(nearer);
    state_->congestion.prefetch(near);
    state_->tracker.prefetch(far, nearer, near);
}

// Whether a wrong ICRC of its sender is no reason to take it for corrupted. One of 0 is a field that was not filled in: a right one is 0
// in one of 2^32 packets.
bool Analysis::State::believes(const Observation& observation) const {
    if (settings.icrc != IcrcPolicy::automatic) return settings.icrc == IcrcPolicy::ignore;
    return observation.icrc_found == 0 || std::ranges::binary_search(settings.traits.icrc_not_judged, observation.flow.source);
}

PacketRecord Analysis::State::observe(const Observation& observation) {
    ++packets;
    bytes += observation.wire_length;
    if (copies.is_copy(observation)) {
        quality.leave_out(observation);
        return leave_out_copy(observation);
    }
    sampler.observe(observation);
    // Of two taps, what names no hosts may be from either: its time means nothing beside that of the others.
    const bool timed = !copies.active() || observation.has_hosts();
    if (observation.has_time && timed) {
        first = std::min(first.value_or(observation.time), observation.time);
        last = std::max(last.value_or(observation.time), observation.time);
    }
    const Repetition repetition = quality.observe(observation, timed);
    if (!timed) {
        congestion.observe(observation);
        return {};
    }
    if (observation.icrc != CrcStatus::bad) return follow(observation, repetition);
    if (!believes(observation)) return was_corrupt(observation, repetition) ? leave_out_copy(observation) : follow(observation, repetition);
    ++icrc_not_judged;
    if (observation.icrc_found == 0) ++icrc_zero;
    believed = observation;
    believed.icrc = CrcStatus::not_checkable;
    PacketRecord record = follow(believed, repetition);
    record.icrc_not_judged = true;
    return record;
}

// Whether a corrupt packet is a recording of one that was corrupted before: a sender that counts its IPv4 identification on sends no
// datagram twice, and no two are damaged alike. Where it does not count, the same bytes come again sooner than any requester repeats them.
bool Analysis::State::was_corrupt(const Observation& observation, Repetition repetition) {
    if (observation.ip_id == 0) return repetition == Repetition::ambiguous && magnitude(quality.last_distance()) < kFastestTimeout;
    if (corrupt.contains(observation.packet_hash)) return true;
    if (corrupt.size() < kMaxCorrupt) corrupt.insert(observation.packet_hash);
    return false;
}

PacketRecord Analysis::State::leave_out_copy(const Observation& observation) const {
    PacketRecord record;
    tracker.name(observation, record);
    record.mirror_copy = true;
    return record;
}

PacketRecord Analysis::State::follow(const Observation& observation, Repetition repetition) {
    if (quality.is_mirror_duplicate(repetition)) return leave_out_copy(observation);
    PacketRecord record;
    const bool stream = observation.kind == ObservationKind::stream;
    if ((stream || observation.kind == ObservationKind::other) && observation.flow.source != Address{} && heard.size() < kMaxHeard)
        heard.insert(FlowKey{observation.flow.source, observation.flow.destination, {}, {}});
    congestion.observe(observation);
    if (stream) {
        // Time goes on for those who wait: a queue pair that stays silent while TCP is heard has given up.
        PacketRecord none;
        tracker.observe(observation, repetition, quality.last_distance(), none);
        iwarp.observe(observation, {tracker, ulp, settings.operation}, record);
        drain();
        return record;
    }
    if (observation.management) {
        ++management;
        datagrams.observe(observation);
    }
    if (const CmNews news = cm.observe(observation); news.kind == CmNews::Kind::matched) take_match(news.uid, observation);
    else if (news.kind != CmNews::Kind::none) take_cm(news, record);
    tracker.observe(observation, repetition, quality.last_distance(), record);
    if (observation.acknowledgment && observation.acknowledgment->type() == kNak)
        if (const Fatality* fatality = tracker.fatality_at(observation.frame)) ulp.refused(*fatality);
    if (record.connection && ulp.wants(*record.connection)) {
        ulp.observe(observation, record, tracker, settings.operation);
        record.ulp = ulp.hint(*record.connection, record.from);
    }
    collectives.observe(observation, record);
    drain();
    return record;
}

void Analysis::State::take_match(std::uint32_t uid, const Observation& observation) {
    if (!tracker.attach(cm.attempt(uid), observation.flow)) return;
    cm.name_passive(uid, observation.flow);
    const CmAttempt& attempt = cm.attempt(uid);
    if (const auto connection = tracker.connection_of(attempt)) ulp.connected(*connection, attempt, tracker, settings.operation);
}

void Analysis::State::take_cm(const CmNews& news, PacketRecord& record) {
    const CmAttempt& attempt = cm.attempt(news.uid);
    record.ulp = {ulp.protocol_of(attempt), news.from_active};
    if (news.kind == CmNews::Kind::paired) {
        tracker.connect(attempt);
        if (const auto connection = tracker.connection_of(attempt)) ulp.connected(*connection, attempt, tracker, settings.operation);
    } else if (news.kind == CmNews::Kind::released) {
        tracker.release(attempt);
    }
}

// Messages that ended, to who listens; those of upper protocols with what they were for.
void Analysis::State::drain() {
    for (EndedMessage& ended : tracker.ended()) {
        ulp.ended(ended);
        if (settings.message) settings.message(ended.connection, ended.requester, ended.message);
    }
    tracker.ended().clear();
    if (tracker.retired().empty()) return;
    for (const ConnectionId connection : tracker.retired()) {
        ulp.retire(connection, settings.operation);
        collectives.retire(connection);
    }
    tracker.forget_retired();
}

Timeline Analysis::State::so_far(const Drops& drops) const {
    State copy = *this;
    copy.settings.message = {};
    copy.settings.operation = {};
    return copy.finish(drops);
}

Timeline Analysis::State::finish(const Drops& drops) {
    Timeline timeline;
    timeline.packets = packets;
    timeline.bytes = bytes;
    timeline.first = first;
    timeline.last = last;
    timeline.quality = quality.finish(drops);
    timeline.quality.icrc_not_judged = icrc_not_judged;
    timeline.quality.icrc_zero = icrc_zero;
    timeline.quality.icrc_policy = settings.icrc;
    timeline.cm = cm.finish();
    timeline.congestion = congestion.finish();
    timeline.management = datagrams.finish(last.value_or(Instant{}));
    timeline.iwarp = iwarp.finish({tracker, ulp, settings.operation});
    drain();
    Tracked tracked = tracker.finish([this] { drain(); });
    timeline.ulp = ulp.finish(timeline.cm, settings.operation);
    timeline.collectives = collectives.finish(timeline.ulp, settings.nccl_log);
    timeline.connections = std::move(tracked.connections);
    timeline.retired = tracked.retired;
    timeline.totals = timeline.retired.totals;
    std::erase_if(timeline.connections, [&](const Connection& connection) { return is_idea_only(connection, timeline.cm); });
    add_iwarp_attempts(timeline);
    timeline.recoveries = std::move(tracked.recoveries);
    timeline.fatalities = std::move(tracked.fatalities);
    judge_silence(timeline, heard);
    judge_causes(timeline, copies.any_alone() ? settings.traits.clocks_apart() : dissect::Duration{});
    timeline.left_out.packets_of_connections = tracked.packets_left_out;
    timeline.left_out.messages = tracked.messages_left_out;
    timeline.left_out.recoveries = tracked.recoveries_left_out;
    timeline.left_out.fatalities = tracked.fatalities_left_out;
    for (const Connection& connection : timeline.connections) timeline.totals.add(connection);
    timeline.totals.management = management;
    timeline.totals.ce_marked = timeline.congestion.marked;
    timeline.totals.cnps = timeline.congestion.cnps;
    learn(timeline);
    draw_findings(timeline);
    return timeline;
}

// What this pass found out of the capture as a whole, and did not know before.
void Analysis::State::learn(Timeline& timeline) const {
    if (copies.active()) {
        timeline.quality.vantage = settings.traits.vantage;
        timeline.quality.window_displaced += copies.displaced();
    } else {
        timeline.learned = learn_taps(sampler.sampled());
        timeline.quality.vantage = timeline.learned.vantage;
    }
    if (settings.icrc == IcrcPolicy::automatic && settings.traits.icrc_not_judged.empty())
        timeline.learned.icrc_not_judged = icrcs_not_judged(timeline);
}

}  // namespace qps::transport
