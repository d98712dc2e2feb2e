#include <dissect/base/types.hpp>
#include <transport-replay/analysis/lane.hpp>
#include <transport-replay/analysis/message_ends.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint8_t kNak = 3;  // type of a syndrome, 9.7.5.1

// Connections that became part of others are not reported.
void keep_told(std::vector<RateControl>& rates, const std::deque<Connection>& connections) {
    std::erase_if(rates, [&](const RateControl& rate) {
        const auto found = std::ranges::lower_bound(connections, rate.connection, {}, &Connection::uid);
        return found == connections.end() || found->uid != rate.connection;
    });
}

}  // namespace

Lane::Lane(AnalysisSettings settings, std::uint16_t recording, std::uint32_t numbered)
    : settings_(std::move(settings)),
      recording_(recording),
      cm_(settings_.memory),
      congestion_(settings_.memory),
      rates_(settings_.memory),
      incasts_({}, settings_.memory),
      tracker_(static_cast<bool>(settings_.message), settings_.memory, numbered),
      ulp_(settings_.hints, settings_.memory, settings_.sums_apart),
      iwarp_(settings_.memory),
      uet_(settings_.memory) {
    tracker_.keep_apart(settings_.traits.tenants);
}

void Lane::listen(AnalysisSettings&& listeners) {
    settings_.message = std::move(listeners.message);
    settings_.operation = std::move(listeners.operation);
    settings_.retired = std::move(listeners.retired);
}

bool Lane::carries_data(const Observation& observation) {
    const bool notification = observation.opcode == Opcode::cnp || observation.opcode == Opcode::cnp_native;
    return observation.kind == ObservationKind::transport && observation.payload_length > 0 && !notification;
}

PacketRecord Lane::leave_out_copy(const Observation& observation) const {
    PacketRecord record;
    if (observation.kind != ObservationKind::ultra_ethernet) tracker_.name(observation, record);
    record.mirror_copy = true;
    return record;
}

PacketRecord Lane::follow(const Observation& observation, const Sight& sight) {
    if (sight.handling == Handling::no_hosts) return {};
    if (!sight.icrc_not_judged) [[likely]]
        return follow_believed(observation, sight);
    believed_ = observation;
    believed_.icrc = CrcStatus::not_checkable;
    PacketRecord record = follow_believed(believed_, sight);
    record.icrc_not_judged = true;
    return record;
}

PacketRecord Lane::follow_believed(const Observation& observation, const Sight& sight) {
    if (sight.handling == Handling::copy) return leave_out_copy(observation);
    // Time goes on for those who wait: a queue pair that stays silent while others are heard has given up.
    tracker_.advance(sight.now);
    const bool other = observation.kind == ObservationKind::other || observation.kind == ObservationKind::stream ||
                       observation.kind == ObservationKind::ultra_ethernet;
    if (other) {
        if (observation.flow.source != Address{} && heard_.size() < kMaxHeard)
            heard_.insert(heard_pair(observation.flow.source, observation.flow.destination, recording_));
        if (observation.kind == ObservationKind::stream) return follow_stream(observation);
        if (observation.kind == ObservationKind::ultra_ethernet) return follow_context(observation, sight);
    }
    PacketRecord record;
    congestion_.observe(observation);
    if (const CmNews news = cm_.observe(observation); news.kind == CmNews::Kind::matched)
        take_match(news.uid, observation);
    else if (news.kind != CmNews::Kind::none) take_cm(news, record);
    if (observation.datagram) wireups_.observe(observation, tracker_);
    tracker_.observe(observation, sight.repetition, sight.distance, record);
    record.round_trip = rates_.observe(observation, record);
    if (observation.acknowledgment && observation.acknowledgment->type() == kNak)
        if (const Fatality* fatality = tracker_.fatality_at(observation.frame)) ulp_.refused(*fatality);
    if (record.connection && ulp_.wants(*record.connection, observation.opcode)) {
        ulp_.observe(observation, record, tracker_, settings_.operation);
        record.ulp = ulp_.hint(*record.connection, record.from);
    }
    collectives_.observe(observation, record);
    if (!tracker_.ended().empty() || !tracker_.retired().empty()) drain();
    return record;
}

PacketRecord Lane::follow_stream(const Observation& observation) {
    PacketRecord record;
    tails_.note(observation);
    exchanges_.observe(observation, tracker_);
    iwarp_.observe(observation, {tracker_, ulp_, settings_.operation}, record);
    drain();
    return record;
}

PacketRecord Lane::follow_context(const Observation& observation, const Sight& sight) {
    PacketRecord record;
    uet_.observe(observation, sight.repetition, tracker_, record);
    drain();
    return record;
}

void Lane::take_match(std::uint32_t uid, const Observation& observation) {
    if (!tracker_.attach(cm_.attempt(uid), observation.flow)) return;
    cm_.name_passive(uid, observation.flow);
    const CmAttempt& attempt = cm_.attempt(uid);
    if (const auto connection = tracker_.connection_of(attempt))
        ulp_.connected(*connection, attempt, tracker_, settings_.operation);
}

void Lane::take_cm(const CmNews& news, PacketRecord& record) {
    const CmAttempt& attempt = cm_.attempt(news.uid);
    record.ulp = {ulp_.protocol_of(attempt), news.from_active};
    if (news.kind == CmNews::Kind::paired) {
        tracker_.connect(attempt);
        if (const auto connection = tracker_.connection_of(attempt))
            ulp_.connected(*connection, attempt, tracker_, settings_.operation);
    } else if (news.kind == CmNews::Kind::released) {
        tracker_.release(attempt);
    }
}

// Messages that ended, to who listens; those of upper protocols with what they were for.
void Lane::drain() {
    for (EndedMessage& ended : tracker_.ended()) {
        ulp_.ended(ended);
        if (settings_.message) settings_.message(ended.connection, ended.requester, ended.message);
    }
    tracker_.ended().clear();
    if (tracker_.retired().empty()) return;
    for (const ConnectionId connection : tracker_.retired()) {
        ulp_.retire(connection, settings_.operation);
        collectives_.retire(connection);
        rates_.retire(connection);
        if (settings_.retired) settings_.retired(connection);
    }
    tracker_.forget_retired();
}

Peaks Lane::peaks() const {
    Peaks peaks;
    tracker_.add_peaks(peaks);
    cm_.add_peaks(peaks);
    congestion_.add_peaks(peaks);
    rates_.add_peaks(peaks);
    incasts_.add_peaks(peaks);
    ulp_.add_peaks(peaks);
    collectives_.add_peaks(peaks);
    iwarp_.add_peaks(peaks);
    exchanges_.add_peaks(peaks);
    wireups_.add_peaks(peaks);
    uet_.add_peaks(peaks);
    peaks.add(Need::heard, heard_.size(), kMaxHeard);
    return peaks;
}

// Open messages end now; how, is known when all of them have ended.
Tracked Lane::finish_tracker() {
    std::vector<EndedMessage> last;
    auto listener = std::exchange(settings_.message, {});
    if (listener)
        settings_.message = [&](ConnectionId connection, End requester, const Message& message) {
            last.push_back({connection, requester, message});
        };
    Tracked tracked = tracker_.finish([this] { drain(); });
    settings_.message = std::move(listener);
    name_statuses(last, tracked);
    for (const EndedMessage& ended : last) settings_.message(ended.connection, ended.requester, ended.message);
    return tracked;
}

LaneReport Lane::finish(const GateReport& gate) {
    LaneReport report;
    tracker_.advance(gate.now);
    cm_.advance(gate.now_transport);
    report.peaks = peaks();
    report.cm = cm_.finish();
    report.congestion = congestion_.finish(gate.now_link);
    report.incasts = incasts_.finish();
    report.congestion.incasts_dropped = incasts_.dropped();
    report.iwarp = iwarp_.finish({tracker_, ulp_, settings_.operation});
    report.uet = uet_.finish(tracker_);
    drain();
    report.congestion.rates_left_out = rates_.left_out();
    report.congestion.rates = rates_.finish();
    report.tracked = finish_tracker();
    for (Connection& connection : report.tracked.connections) connection.recording = recording_;
    keep_told(report.congestion.rates, report.tracked.connections);
    report.ulp = ulp_.finish(report.cm, settings_.operation);
    collectives_.settle(report.ulp);
    report.collectives = std::move(collectives_);
    report.heard = std::move(heard_);
    return report;
}

}  // namespace qps::transport
