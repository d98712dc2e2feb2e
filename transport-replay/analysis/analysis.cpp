#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/cm/cm_ladder.hpp>
#include <transport-replay/collectives/collective_tracker.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/iwarp/iwarp_tracker.hpp>
#include <transport-replay/management/management_tracker.hpp>
#include <transport-replay/tracking/congestion.hpp>
#include <transport-replay/tracking/quality.hpp>
#include <transport-replay/tracking/tracker.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

namespace qps::transport {

using namespace dissect;

namespace {

// Pairs of hosts, each way, of which something else than RDMA was heard: TCP beside it, say.
using HostPairs = boost::unordered_flat_set<FlowKey, FlowHash>;
constexpr std::size_t kMaxHeard = 1 << 14;

void add(Totals& totals, const Connection& connection) {
    for (const Way& way : connection.ways) {
        for (std::size_t kind = 0; kind < totals.messages.size(); ++kind) totals.messages[kind] += way.messages[kind];
        totals.message_bytes += way.message_bytes;
        totals.retransmitted_packets += way.retransmitted;
        totals.duplicated_packets += way.duplicated;
        totals.sequence_naks += way.sequence_naks;
        totals.rnr_naks += way.rnr_naks;
        totals.fatal_naks += way.fatal_naks;
        totals.acks += way.acks;
        totals.timeouts += way.recovery(RecoveryKind::timeout).triggers;
    }
}

// Silence is an answer where the tap hears the other host at all.
void judge_silence(Timeline& timeline, const HostPairs& heard) {
    for (Recovery& recovery : timeline.recoveries) {
        if (!recovery.inferred) continue;
        const Connection* connection = timeline.find(recovery.connection);
        if (connection == nullptr) continue;
        const Address& source = connection->end(recovery.requester).address;
        const Address& destination = connection->end(other(recovery.requester)).address;
        // one_way is sorted, and both lists may be long
        const auto hosts = [](const OneWay& way) { return std::pair(way.source, way.destination); };
        recovery.inferred = !heard.contains(FlowKey{destination, source, {}, {}}) &&
                            std::ranges::binary_search(timeline.quality.one_way, std::pair(source, destination), {}, hosts);
    }
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
        : settings(std::move(given)), tracker(static_cast<bool>(settings.message)), ulp(settings.hints) {}

    PacketStory observe(const Observation& observation);
    [[nodiscard]] Timeline so_far(const Drops& drops) const;
    [[nodiscard]] Timeline finish(const Drops& drops);
    void take_cm(const CmNews& news, PacketStory& story);
    void drain();

    AnalysisSettings settings;
    QualityTracker quality;
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

PacketStory Analysis::observe(const Observation& observation) { return state_->observe(observation); }
Timeline Analysis::so_far(const Drops& drops) const { return state_->so_far(drops); }
Timeline Analysis::finish(const Drops& drops) { return state_->finish(drops); }
void Analysis::prefetch(const Observation& far, const Observation& nearer, const Observation& near) const {
    state_->quality.prefetch(near);
    state_->congestion.prefetch_index(nearer);
    state_->congestion.prefetch(near);
    state_->tracker.prefetch(far, nearer, near);
}

PacketStory Analysis::State::observe(const Observation& observation) {
    PacketStory story;
    ++packets;
    bytes += observation.wire_length;
    if (observation.has_time) {
        first = std::min(first.value_or(observation.time), observation.time);
        last = std::max(last.value_or(observation.time), observation.time);
    }
    const Repetition repetition = quality.observe(observation);
    if (quality.is_mirror_duplicate(repetition)) {
        tracker.name(observation, story);
        story.mirror_copy = true;
        return story;
    }
    const bool stream = observation.kind == ObservationKind::stream;
    if ((stream || observation.kind == ObservationKind::other) && observation.flow.source != Address{} && heard.size() < kMaxHeard)
        heard.insert(FlowKey{observation.flow.source, observation.flow.destination, {}, {}});
    if (stream) {
        // Time goes on for those who wait: a queue pair that stays silent while TCP is heard has given up.
        PacketStory none;
        tracker.observe(observation, repetition, quality.last_distance(), none);
        iwarp.observe(observation, {tracker, ulp, settings.operation}, story);
        drain();
        return story;
    }
    congestion.observe(observation);
    if (observation.management) {
        ++management;
        datagrams.observe(observation);
    }
    if (const CmNews news = cm.observe(observation); news.kind != CmNews::Kind::none) take_cm(news, story);
    tracker.observe(observation, repetition, quality.last_distance(), story);
    if (story.connection && ulp.wants(*story.connection)) {
        ulp.observe(observation, story, tracker, settings.operation);
        story.ulp = ulp.hint(*story.connection, story.from);
    }
    collectives.observe(observation, story);
    drain();
    return story;
}

void Analysis::State::take_cm(const CmNews& news, PacketStory& story) {
    const CmAttempt& attempt = cm.attempt(news.uid);
    story.ulp = {ulp.protocol_of(attempt), news.from_active};
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
    timeline.cm = cm.finish();
    timeline.congestion = congestion.finish();
    timeline.management = datagrams.finish(last.value_or(Instant{}));
    timeline.iwarp = iwarp.finish({tracker, ulp, settings.operation});
    drain();
    Tracked tracked = tracker.finish([this] { drain(); });
    timeline.ulp = ulp.finish(timeline.cm, settings.operation);
    timeline.collectives = collectives.finish(timeline.ulp);
    timeline.connections = std::move(tracked.connections);
    std::erase_if(timeline.connections, [&](const Connection& connection) { return is_idea_only(connection, timeline.cm); });
    timeline.recoveries = std::move(tracked.recoveries);
    timeline.fatalities = std::move(tracked.fatalities);
    judge_silence(timeline, heard);
    timeline.left_out.packets_of_connections = tracked.packets_left_out;
    timeline.left_out.messages = tracked.messages_left_out;
    timeline.left_out.recoveries = tracked.recoveries_left_out;
    timeline.left_out.fatalities = tracked.fatalities_left_out;
    for (const Connection& connection : timeline.connections) add(timeline.totals, connection);
    timeline.totals.management = management;
    timeline.totals.ce_marked = timeline.congestion.marked;
    timeline.totals.cnps = timeline.congestion.cnps;
    draw_findings(timeline);
    return timeline;
}

}  // namespace qps::transport
