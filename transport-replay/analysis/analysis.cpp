#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/findings/findings.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

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

Analysis::Analysis(AnalysisSettings settings)
    : settings_(std::move(settings)), tracker_(static_cast<bool>(settings_.message)), ulp_(settings_.hints) {}

PacketStory Analysis::observe(const Observation& observation) {
    PacketStory story;
    ++packets_;
    bytes_ += observation.wire_length;
    if (observation.has_time) {
        first_ = std::min(first_.value_or(observation.time), observation.time);
        last_ = std::max(last_.value_or(observation.time), observation.time);
    }
    const Repetition repetition = quality_.observe(observation);
    if (quality_.is_mirror_duplicate(repetition)) {
        tracker_.name(observation, story);
        story.mirror_copy = true;
        return story;
    }
    const bool stream = observation.kind == ObservationKind::stream;
    if ((stream || observation.kind == ObservationKind::other) && observation.flow.source != Address{} && heard_.size() < kMaxHeard)
        heard_.insert(FlowKey{observation.flow.source, observation.flow.destination, {}, {}});
    if (stream) {
        // Time goes on for those who wait: a queue pair that stays silent while TCP is heard has given up.
        PacketStory none;
        tracker_.observe(observation, repetition, quality_.last_distance(), none);
        iwarp_.observe(observation, {tracker_, ulp_, settings_.operation}, story);
        drain();
        return story;
    }
    congestion_.observe(observation);
    if (observation.management) {
        ++management_;
        datagrams_.observe(observation);
    }
    if (const CmNews news = cm_.observe(observation); news.kind != CmNews::Kind::none) take_cm(news, story);
    tracker_.observe(observation, repetition, quality_.last_distance(), story);
    if (story.connection && ulp_.wants(*story.connection)) {
        ulp_.observe(observation, story, tracker_, settings_.operation);
        story.ulp = ulp_.hint(*story.connection, story.from);
    }
    collectives_.observe(observation, story);
    drain();
    return story;
}

void Analysis::take_cm(const CmNews& news, PacketStory& story) {
    const CmAttempt& attempt = cm_.attempt(news.uid);
    story.ulp = {ulp_.protocol_of(attempt), news.from_active};
    if (news.kind == CmNews::Kind::paired) {
        tracker_.connect(attempt);
        if (const auto connection = tracker_.connection_of(attempt)) ulp_.connected(*connection, attempt, tracker_, settings_.operation);
    } else if (news.kind == CmNews::Kind::released) {
        tracker_.release(attempt);
    }
}

// Messages that ended, to who listens; those of upper protocols with what they were for.
void Analysis::drain() {
    for (EndedMessage& ended : tracker_.ended()) {
        ulp_.ended(ended);
        if (settings_.message) settings_.message(ended.connection, ended.requester, ended.message);
    }
    tracker_.ended().clear();
}

Timeline Analysis::so_far(const dissect::Drops& drops) const {
    Analysis copy = *this;
    copy.settings_.message = {};
    copy.settings_.operation = {};
    return copy.finish(drops);
}

Timeline Analysis::finish(const Drops& drops) {
    Timeline timeline;
    timeline.packets = packets_;
    timeline.bytes = bytes_;
    timeline.first = first_;
    timeline.last = last_;
    timeline.quality = quality_.finish(drops);
    timeline.cm = cm_.finish();
    timeline.congestion = congestion_.finish();
    timeline.management = datagrams_.finish(last_.value_or(Instant{}));
    timeline.iwarp = iwarp_.finish({tracker_, ulp_, settings_.operation});
    drain();
    Tracked tracked = tracker_.finish([this] { drain(); });
    timeline.ulp = ulp_.finish(timeline.cm, settings_.operation);
    timeline.collectives = collectives_.finish(timeline.ulp);
    timeline.connections = std::move(tracked.connections);
    std::erase_if(timeline.connections, [&](const Connection& connection) { return is_idea_only(connection, timeline.cm); });
    timeline.recoveries = std::move(tracked.recoveries);
    timeline.fatalities = std::move(tracked.fatalities);
    judge_silence(timeline, heard_);
    timeline.left_out.packets_of_connections = tracked.packets_left_out;
    timeline.left_out.messages = tracked.messages_left_out;
    timeline.left_out.recoveries = tracked.recoveries_left_out;
    timeline.left_out.fatalities = tracked.fatalities_left_out;
    for (const Connection& connection : timeline.connections) add(timeline.totals, connection);
    timeline.totals.management = management_;
    timeline.totals.ce_marked = timeline.congestion.marked;
    timeline.totals.cnps = timeline.congestion.cnps;
    draw_findings(timeline);
    return timeline;
}

}  // namespace qps::transport
