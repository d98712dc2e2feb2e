#include <dissect/headers/infiniband.hpp>
#include <transport-replay/model/instant.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kLeastOpen = 16;  // messages a connection may have open however many connections there are

bool is_acknowledged(Service service) { return service == Service::rc || service == Service::xrc || service == Service::rd; }

bool awaits_answer(const Observation& request) {
    const OpcodeRow& row = info(request.opcode);
    return request.ack_request || ends_message(row.place);
}

}  // namespace

FlowKey Tracker::flow_of(const Entry& entry, End from) const {
    const Endpoint& source = entry.told.end(from);
    const Endpoint& destination = entry.told.end(other(from));
    const bool datagram = entry.told.service == Service::ud || entry.told.service == Service::rd;
    return {source.address, destination.address, destination.qpn.value_or(Qpn{}), datagram ? source.qpn.value_or(Qpn{}) : Qpn{}};
}

// One more connection.
void Tracker::grown() {
    most_open_ = std::clamp(kOpenTogether / entries_.size(), kLeastOpen, RequestStream::kMaxOpen);
    // Any request may be answered, by a NAK at least; where connections are many, only those that ask for an answer are
    // remembered.
    constexpr std::size_t kFew = 4096;
    expected_ = entries_.size() <= kFew ? 64 : 2;
}

std::uint32_t Tracker::path_mtu(const Entry& entry) const {
    const std::uint32_t seen = std::max(entry.told.ways[0].path_mtu, entry.told.ways[1].path_mtu);
    if (seen != 0) return seen;
    if (entry.told.cm_path_mtu) return *entry.told.cm_path_mtu;
    return std::max(entry.halves[0].requests.inferred_pmtu(), entry.halves[1].requests.inferred_pmtu());
}

Tracker::WayOf Tracker::way_of(const Observation& observation) {
    if (const auto found = index_.find(observation.flow, observation.flow_hash)) return WayOf(*found);
    if (const WayOf adopted = adopt(observation); adopted.known()) return adopted;
    return begin(observation);
}

// A flow that was not seen before: the other way of a connection of datagrams, or a connection of its own.
Tracker::WayOf Tracker::begin(const Observation& observation) {
    const FlowKey& flow = observation.flow;
    const Service service = service_of(observation.opcode);
    if (observation.source_qp) {
        const FlowKey back{flow.destination, flow.source, flow.source_qp, flow.destination_qp};
        if (const auto found = index_.find(back); found && back != flow) {
            const WayOf there(*found);
            const WayOf where(there.index(), other(there.from()));
            index_.set(flow, where.word());
            return where;
        }
    }
    const auto index = static_cast<Index>(entries_.size());
    if (index == kMaxConnections || !index_.set(flow, WayOf(index, End::a).word())) {
        ++tracked_.packets_left_out;
        return {};
    }
    Entry& entry = entries_.emplace_back();
    grown();
    entry.told.uid = ConnectionId{index + 1};
    entry.told.service = service;
    entry.told.ends = {Endpoint{flow.source, observation.source_qp}, Endpoint{flow.destination, flow.destination_qp}};
    if (observation.source_qp) {
        entry.told.confidence = Confidence::certain;
        entry.told.joined_by = JoinedBy::datagram;
    }
    if (service == Service::uc) {
        join_lone_unreliable(index);
        return WayOf(index_.find(flow).value_or(WayOf(index, End::a).word()));
    }
    return WayOf(index, End::a);
}

void Tracker::describe(Way& way, const Observation& observation) const {
    if (way.packets == 0) {
        way.first_time = observation.time;
        way.first_frame = observation.frame;
    }
    ++way.packets;
    way.bytes += observation.wire_length;
    way.last_time = observation.time;
    way.last_frame = observation.frame;
    way.pkeys.add(observation.pkey);
    way.dscps.add(observation.dscp);
    way.pcps.add(observation.pcp);
    if (observation.encapsulation == Encapsulation::roce_v2) way.udp_ports.add(observation.udp_source_port);
    if (observation.congestion_experienced) ++way.congestion_experienced;
    if (observation.icrc == CrcStatus::bad) {
        ++way.corrupt;
        way.note(Oddity::corrupt, observation.frame);
    }
}

void Tracker::prefetch(const Observation& far, const Observation& nearer, const Observation& near) const {
    index_.prefetch_table(far.flow_hash);
    index_.prefetch_slot(nearer.flow_hash);
    const auto where = index_.likely(near.flow_hash);
    if (!where || WayOf(*where).index() >= entries_.size()) return;
    const Entry& entry = entries_[WayOf(*where).index()];
    const auto lines = [](const void* from, std::size_t bytes) {
        constexpr std::size_t kLine = 64;
        for (std::size_t i = 0; i < bytes; i += kLine) __builtin_prefetch(static_cast<const char*>(from) + i);
    };
    constexpr std::size_t kCounts = 256;  // of a way: what every packet counts
    lines(&entry.told.way(WayOf(*where).from()), kCounts);
    lines(&entry.halves[0].requests, sizeof(RequestStream));
    lines(&entry.halves[1].requests, sizeof(RequestStream));
}

void Tracker::name(const Observation& observation, PacketStory& story) const {
    const auto found = index_.find(observation.flow, observation.flow_hash);
    if (!found) return;
    const WayOf where(*found);
    story.connection = entries_[where.index()].told.uid;
    story.from = where.from();
}

void Tracker::observe(const Observation& observation, Repetition repetition, Duration distance, PacketStory& story) {
    now_ = std::max(now_, observation.time);
    if (observation.kind != ObservationKind::transport || observation.management) return;
    const OpcodeRow& row = info(observation.opcode);
    if (!row.defined) return;
    if (row.verb == Verb::notify) {
        name(observation, story);
        if (story.connection) ++entries_[std::to_underlying(*story.connection) - 1].told.way(story.from).cnps;
        return;
    }
    WayOf where = way_of(observation);
    if (!where.known()) return;
    if (!row.request && entries_[where.index()].told.joined_by == JoinedBy::nothing) {
        if (const WayOf joined = find_partner(where, observation); joined.known()) where = joined;
    }
    Entry& entry = entries_[where.index()];
    describe(entry.told.way(where.from()), observation);
    story.connection = entry.told.uid;
    story.from = where.from();
    const bool again = repetition == Repetition::same_bytes || (repetition == Repetition::ambiguous && distance < kFastestTimeout);
    if (observation.icrc == CrcStatus::bad) take_corrupt(where, observation, story);
    else if (!row.request) take_answer(where, observation, story);
    else if (entry.told.service == Service::ud) take_datagram(where, observation);
    else take_request(where, observation, again, story);
    const End requester = row.request ? where.from() : other(where.from());
    if (!done_.empty()) {
        for (const Message& message : done_) {
            if (message.outcome != Outcome::completed && message.outcome != Outcome::sent) continue;
            ++story.completed;
            if (message.outcome == Outcome::completed) story.latency = elapsed(message.first_time, message.answer_time);
        }
        hand_on(entry, requester);
    }
    if (!stories_.empty()) tell(entry, requester);
}

// Nobody took it: only its PSN counts, as one that was on the wire.
void Tracker::take_corrupt(WayOf where, const Observation& observation, PacketStory& story) {
    story.corrupt = true;
    Entry& entry = entries_[where.index()];
    if (!info(observation.opcode).request || entry.told.service == Service::ud) return;
    Half& half = entry.halves[static_cast<std::size_t>(where.from())];
    Way& way = entry.told.way(where.from());
    const Psn next = half.requests.started() ? half.requests.next() : observation.psn;
    ++way.requests;
    const Arrived arrived = half.requests.send_corrupt(observation, path_mtu(entry));
    half.watch.alive(observation.time);
    if (entry.told.joined_by == JoinedBy::nothing)
        waiting_.expect(observation.flow, observation.psn, FlowId{where.index()}, observation.time);  // by a NAK
    if (arrived.arrival == Arrival::ahead) {
        half.gaps.skip(next, arrived.missing);
        half.gaps.skip(observation.psn, static_cast<std::uint32_t>(half.requests.next() - observation.psn), true);
    } else if (arrived.arrival == Arrival::repeated || (arrived.arrival == Arrival::late && half.gaps.was_corrupt(observation.psn))) {
        story.retransmission = true;
        ++way.retransmitted;
        way.retransmitted_bytes += observation.wire_length;
    } else if (arrived.arrival == Arrival::late) {
        half.gaps.mark_corrupt(observation.psn);
    }
}

// UD: every packet is a message, and PSNs count over all destinations of the sender.
void Tracker::take_datagram(WayOf where, const Observation& observation) {
    Way& way = entries_[where.index()].told.way(where.from());
    ++way.requests;
    RequestStream alone;
    alone.send(observation, 0, done_);
    alone.finish(Outcome::sent, done_);
}

// Whether the network doubled a request that came again: while nothing makes the requester send again.
bool Tracker::is_doubled(const Entry& entry, const Half& half, const Observation& observation) const {
    if (observation.ip_id != 0) return !half.gaps.was_corrupt(observation.psn);
    if (!half.requests.waits_for(observation.psn) && !observation.psn.before(half.requests.acknowledged())) return false;
    // Without an IP identification only haste tells: a requester waits for a NAK or a timeout.
    return is_acknowledged(entry.told.service) && !half.watch.open();
}

// The fate of a request's PSN into the counts.
void Tracker::place(WayOf where, const Observation& observation, const Arrived& arrived, Psn next, PacketStory& story) {
    Entry& entry = entries_[where.index()];
    Half& half = entry.halves[static_cast<std::size_t>(where.from())];
    Way& way = entry.told.way(where.from());
    Gaps& responses = entry.told.way(other(where.from())).response_gaps;
    const RecoveryWatch::Sent sent = half.watch.sent(observation, arrived, half.requests, stories_);
    switch (arrived.arrival) {
        case Arrival::first:
        case Arrival::in_order: break;
        case Arrival::ahead:
            half.gaps.skip(next, arrived.missing);
            way.note(Oddity::gap, observation.frame);
            break;
        case Arrival::late: {
            const auto filled = half.gaps.fill(observation.psn, sent.again);
            if (!sent.again) way.note(Oddity::late, observation.frame);
            story.retransmission = filled && filled->corrupt;
            for (Psn psn = observation.psn + 1; psn.before(arrived.behind); psn = psn + 1)
                half.gaps.fill(psn, sent.again, filled);  // of a READ
            break;
        }
        case Arrival::repeated:
            story.retransmission = !arrived.partial_read;
            if (arrived.partial_read) ++way.partial_reads;
            if (sent.late_was_again) half.gaps.last_was_sent_again();
            if (arrived.answered) ++way.already_answered;
            responses.network += arrived.holes + arrived.missed_after_all;
            responses.tap -= std::min<std::uint64_t>(responses.tap, arrived.missed_after_all);
            break;
        case Arrival::restart: half.gaps.forget(); break;
    }
    if (!story.retransmission) return;
    ++way.retransmitted;
    way.retransmitted_bytes += observation.wire_length;
}

void Tracker::take_request(WayOf where, const Observation& observation, bool again, PacketStory& story) {
    Entry& entry = entries_[where.index()];
    Half& half = entry.halves[static_cast<std::size_t>(where.from())];
    Way& way = entry.told.way(where.from());
    if (way.requests++ == 0) way.first_psn = observation.psn.value();
    const Place place_in_message = info(observation.opcode).place;
    if (place_in_message == Place::first || place_in_message == Place::middle)
        way.path_mtu = std::max(way.path_mtu, observation.payload_length);
    if (again && is_doubled(entry, half, observation)) {
        story.arrival = Arrival::repeated;
        story.retransmission = story.duplicated = true;
        ++way.retransmitted;
        ++way.duplicated;
        way.note(Oddity::duplicated, observation.frame);
        way.retransmitted_bytes += observation.wire_length;
        return;
    }
    const Psn next = half.requests.next();
    const std::uint32_t reads_before = half.requests.reads_open();
    const std::uint64_t dropped_before = half.requests.dropped();
    const bool is_read = info(observation.opcode).verb == Verb::read_request;  // others take one PSN whatever the path MTU is
    const Arrived arrived = half.requests.send(observation, is_read ? path_mtu(entry) : 0, done_, most_open_);
    tracked_.messages_left_out += half.requests.dropped() - dropped_before;
    story.arrival = arrived.arrival;
    story.missing = arrived.missing;
    place(where, observation, arrived, next, story);
    if (const std::uint32_t reads = half.requests.reads_open(); reads > reads_before) {
        if (reads > way.most_reads) {
            way.most_reads = reads;
            way.reads_at_most = 0;
        }
        if (reads == way.most_reads) ++way.reads_at_most;
    }
    if (!is_acknowledged(entry.told.service)) {
        static_cast<void>(half.requests.acknowledge(observation.psn, observation, done_));  // nobody else will
        for (Message& message : done_) message.outcome = Outcome::sent;
    } else if (entry.told.joined_by == JoinedBy::nothing && (way.requests <= expected_ || awaits_answer(observation))) {
        waiting_.expect(observation.flow, observation.psn, FlowId{where.index()}, observation.time);
    }
}

void Tracker::hand_on(Entry& entry, End requester) {
    Way& way = entry.told.way(requester);
    Half& half = entry.halves[static_cast<std::size_t>(requester)];
    for (const Message& message : done_) {
        ++way.messages[static_cast<std::size_t>(kind_of(message))];
        way.message_bytes += message.bytes;
        switch (message.outcome) {
            case Outcome::open: ++way.open; break;
            case Outcome::sent:
            case Outcome::completed: ++way.completed; break;
            case Outcome::failed: ++way.failed; break;
            case Outcome::abandoned: ++way.abandoned; break;
        }
        if (message.outcome == Outcome::completed) {
            way.latency.add(elapsed(message.first_time, message.answer_time));
            const Duration answered = elapsed(message.last_time, message.answer_time);
            if (message.retransmissions == 0 && answered > Duration{} && (half.best_answer == Duration{} || answered < half.best_answer))
                half.best_answer = answered;
            if (message.access && (message.access->length != 0 || message.atomic)) {
                if (half.last_good[0].access.key != message.access->key) half.last_good[1] = half.last_good[0];
                half.last_good[0] = {*message.access, message.first_frame};
            }
        }
        if (tells_ || entry.watched) ended_.push_back({entry.told.uid, requester, message});
    }
    done_.clear();
}

void Tracker::tell(Entry& entry, End requester) {
    Way& way = entry.told.way(requester);
    for (Recovery& story : stories_) {
        story.connection = entry.told.uid;
        story.requester = requester;
        story.inferred = entry.told.way(other(requester)).packets == 0;
        if (story.spurious) ++way.spurious;
        RecoverySum& sums = way.recovery(story.kind);
        ++sums.stories;
        sums.triggers += story.triggers;
        sums.resent += story.resent;
        sums.resent_bytes += story.resent_bytes;
        sums.lost = sum(sums.lost, story.lost_time());
        sums.waited = sum(sums.waited, story.waited);
        sums.most_lost = std::max(sums.most_lost, story.lost_time());
        if (tracked_.recoveries.size() < kMaxRecoveries) tracked_.recoveries.push_back(story);
        else ++tracked_.recoveries_left_out;
    }
    stories_.clear();
}

void Tracker::finish_way(Entry& entry, End requester) {
    Half& half = entry.halves[static_cast<std::size_t>(requester)];
    Way& way = entry.told.way(requester);
    half.watch.finish(now_, entry.told.released, entry.retries, stories_);
    tell(entry, requester);
    const bool over = entry.told.released || entry.told.failed;
    half.requests.finish(!is_acknowledged(entry.told.service) ? Outcome::sent : over ? Outcome::abandoned : Outcome::open, done_);
    Gaps& responses = entry.told.way(other(requester)).response_gaps;
    hand_on(entry, requester);
    way.gaps = half.gaps.counts();
    responses.undecided = responses.skipped - std::min(responses.skipped, responses.reordered + responses.network + responses.tap);
    responses.skipped = responses.reordered + responses.network + responses.tap + responses.undecided;
}

const Tracker::Entry* Tracker::entry_of(ConnectionId connection) const {
    const std::size_t at = std::to_underlying(connection) - std::size_t{1};
    return at < entries_.size() ? &entries_[at] : nullptr;
}

void Tracker::watch(ConnectionId connection) {
    const std::size_t at = std::to_underlying(connection) - std::size_t{1};
    if (at < entries_.size()) entries_[at].watched = true;
}

std::optional<ConnectionId> Tracker::connection_of(const CmAttempt& attempt) const {
    if (!attempt.active.qpn || !attempt.passive.qpn) return std::nullopt;
    const auto found = index_.find(FlowKey{attempt.active.address, attempt.passive.address, *attempt.passive.qpn, {}});
    if (!found) return std::nullopt;
    const Entry& entry = entries_[WayOf(*found).index()];
    if (entry.told.cm_attempt != attempt.uid) return std::nullopt;
    return entry.told.uid;
}

std::optional<ConnectionId> Tracker::begin_stream(const Endpoint& a, const Endpoint& b) {
    if (entries_.size() == kMaxConnections) return std::nullopt;
    Entry& entry = entries_.emplace_back();
    grown();
    entry.stream = true;
    entry.told.uid = ConnectionId{static_cast<Index>(entries_.size())};
    entry.told.service = Service::iwarp;
    entry.told.ends = {a, b};
    entry.told.confidence = Confidence::certain;  // packets name both ports
    entry.told.joined_by = JoinedBy::datagram;
    return entry.told.uid;
}

Connection& Tracker::stream(ConnectionId connection) { return entries_[std::to_underlying(connection) - std::size_t{1}].told; }

void Tracker::end_stream_message(ConnectionId connection, End requester, const Message& message) {
    done_.push_back(message);
    hand_on(entries_[std::to_underlying(connection) - std::size_t{1}], requester);
}

Tracked Tracker::finish(const std::function<void()>& drain) {
    join_what_is_left();
    drain();
    waiting_ = {};
    for (const auto& [index, unpaired] : unpaired_) entries_[index].told.ways[0].unmatched += unpaired.answers.size();
    unpaired_ = {};
    for (; !entries_.empty(); entries_.pop_front()) {  // memory goes as it comes: a connection is there once
        Entry& entry = entries_.front();
        if (entry.gone) continue;
        if (!entry.stream)
            for (const End end : {End::a, End::b}) finish_way(entry, end);
        drain();
        constexpr std::uint32_t kStrong = 3;  // answers that fitted
        if (entry.told.joined_by == JoinedBy::traffic)
            entry.told.confidence = entry.told.matches >= kStrong && !entry.guessed ? Confidence::strong : Confidence::likely;
        tracked_.connections.push_back(std::move(entry.told));
    }
    const auto order = [](const Recovery& r) { return std::tuple(r.began, r.connection, r.requester, r.psn.value()); };
    std::ranges::sort(tracked_.recoveries, {}, order);
    return std::move(tracked_);
}

}  // namespace qps::transport
