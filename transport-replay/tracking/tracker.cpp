#include <dissect/base/types.hpp>
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/model/stable_order.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kLeastOpen = 2;  // messages a connection may have open however many connections there are

// A request that follows those before it.
bool goes_on(const PacketRecord& record) {
    return record.arrival && (*record.arrival == Arrival::in_order || *record.arrival == Arrival::ahead);
}

bool awaits_answer(const Observation& request) {
    const OpcodeRow& row = info(request.opcode);
    return request.ack_request || ends_message(row.place);
}

}  // namespace

FlowKey Tracker::flow_of(const Entry& entry, End from) const {
    const Endpoint& source = entry.connection.end(from);
    const Endpoint& destination = entry.connection.end(other(from));
    const bool datagram = entry.connection.service == Service::ud || entry.connection.service == Service::rd;
    return {source.address, destination.address, destination.qpn.value_or(Qpn{}),
            datagram ? source.qpn.value_or(Qpn{}) : entry.elsewhere[static_cast<std::size_t>(from)]};
}

std::size_t Tracker::most_open(const MemoryBudget& budget, std::size_t connections) {
    return std::clamp(budget.items(Share::messages) / std::max<std::size_t>(1, connections), kLeastOpen,
                      RequestStream::kMaxOpen);
}

// One more connection.
void Tracker::grown() {
    most_open_ = std::clamp(open_together_ / entries_.size(), kLeastOpen, RequestStream::kMaxOpen);
}

void Tracker::add_peaks(Peaks& peaks) const {
    peaks.add(Need::connections, entries_.size(), std::min(most_, kFewConnections));
    peaks.raise(Need::messages_of_way, longest_open_);
    peaks.add(Need::requests_waiting, waiting_.most_remembered(), waiting_.most());
    peaks.add(Need::pending_answers, most_pending_, kMaxPendingAnswersOfAll);
    peaks.add(Need::lone_flows, most_lone_, kMaxLone);
    peaks.add(Need::recoveries, tracked_.recoveries.size(), kMaxRecoveries);
    peaks.add(Need::fatalities, tracked_.fatalities.size(), kMaxFatalities);
    peaks.add(Need::candidates, told_.most() / ToldPairs::kEach, ToldPairs::kMost / ToldPairs::kEach);
}

Tracker::WayOf Tracker::way_of(const Observation& observation, Repetition repetition) {
    const FlowIndex::Slot* slot = index_.slot(observation.flow, observation.flow_hash);
    if (slot == nullptr) {
        const WayOf where = begin_or_adopt(observation);
        if (where.known()) index_.see_in(observation.flow, observation.network);
        return where;
    }
    if (slot->network == observation.network || observation.datagram) [[likely]]
        return WayOf(slot->where);
    return in_other_network(*slot, observation, repetition);
}

// A flow that was not seen before: the other way of a connection of datagrams, or a connection of its own.
Tracker::WayOf Tracker::begin(const Observation& observation) {
    const FlowKey& flow = observation.flow;
    const Service service = service_of(observation.opcode);
    if (observation.datagram) {
        const FlowKey back{flow.destination, flow.source, flow.source_qp, flow.destination_qp};
        if (const auto found = index_.find(back); found && back != flow) {
            const WayOf there(*found);
            const WayOf where(there.index(), other(there.from()));
            index_.set(flow, where.word());
            return where;
        }
    }
    const auto place = place_for_one();
    if (!place || !index_.set(flow, WayOf(*place, End::a).word())) {
        if (place) end(*place);
        ++tracked_.packets_left_out;
        return {};
    }
    const Index index = *place;
    Entry& entry = entries_[index];
    entry.connection.service = service;
    entry.connection.ends = {Endpoint{flow.source, observation.source_qp()},
                             Endpoint{flow.destination, flow.destination_qp}};
    if (observation.datagram) {
        entry.connection.confidence = Confidence::certain;
        entry.connection.joined_by = JoinedBy::datagram;
    } else {
        entry.elsewhere[0] = flow.source_qp;
        if (FlowIndex::is_in_network(flow)) entry.connection.ends[1].network = observation.network;
    }
    if (take_told(index, observation)) return WayOf(index, End::a);
    if (service == Service::uc) {
        join_lone_unreliable(index);
        return WayOf(index_.find(flow).value_or(WayOf(index, End::a).word()));
    }
    return WayOf(index, End::a);
}

// Those that were alike, in a row.
void Tracker::count_classes(Way& way, Classes& classes) {
    const std::uint32_t packets = std::exchange(classes.packets, 0);
    if (packets == 0) return;
    way.pkeys.add(classes.pkey, packets);
    way.dscps.add(classes.dscp, packets);
    way.pcps.add(classes.pcp, packets);
    if (classes.has_udp_port) way.udp_ports.add(classes.udp_port, packets);
}

void Tracker::describe(Entry& entry, End from, const Observation& observation) {
    Way& way = entry.connection.way(from);
    if (way.packets == 0) {
        way.first_time = observation.time;
        way.first_frame = observation.frame;
        way.network = observation.network;
    }
    ++way.packets;
    way.bytes += observation.wire_length;
    way.last_time = observation.time;
    way.last_frame = observation.frame;
    Classes& before = entry.directions[static_cast<std::size_t>(from)].classes;
    const bool has_udp_port = observation.encapsulation == Encapsulation::roce_v2;
    const Classes classes{observation.pkey, has_udp_port ? observation.udp_source_port : std::uint16_t{0},
                          observation.dscp, observation.pcp, has_udp_port};
    if (!before.alike(classes) || before.packets == UINT32_MAX) [[unlikely]] {
        count_classes(way, before);
        before = classes;
    }
    ++before.packets;
    if (observation.congestion_experienced) ++way.incidents.made().congestion_experienced;
    if (observation.icrc == CrcStatus::bad) {
        ++way.incidents.made().corrupt;
        way.incidents.made().note(Oddity::corrupt, observation.frame);
    } else if (observation.icrc == CrcStatus::good) {
        ++way.intact;
    }
}

void Tracker::name(const Observation& observation, PacketRecord& record) const {
    const auto where = find(observation);
    if (!where) return;
    record.connection = entries_[where->index()].connection.uid;
    record.from = where->from();
}

void Tracker::observe(const Observation& observation, Repetition repetition, Duration distance, PacketRecord& record) {
    now_ = std::max(now_, observation.time);
    if (observation.kind != ObservationKind::transport || observation.management) return;
    const OpcodeRow& row = info(observation.opcode);
    if (!row.defined) return;
    if (row.verb == Verb::notify) {
        name(observation, record);
        if (const auto where = find(observation)) {
            Incidents& had = entries_[where->index()].connection.way(record.from).incidents.made();
            ++had.cnps;
            had.cnp_bytes += observation.wire_length;
        }
        return;
    }
    if (observation.psn == Psn(0) && row.request && !(told_.empty() && shown_.empty())) leave_for_another(observation);
    WayOf where = way_of(observation, repetition);
    if (!where.known()) return;
    if (entries_[where.index()].suitor != ConnectionId{}) where = take_suitor(where);
    const bool names_nobody =
        observation.icrc == CrcStatus::bad && entries_[where.index()].connection.way(where.from()).packets == 0;
    if (!row.request && !names_nobody && entries_[where.index()].connection.joined_by == JoinedBy::nothing) {
        if (const WayOf joined = find_partner(where, observation); joined.known()) where = joined;
    }
    if (!early_.empty())
        for (const End from : {End::a, End::b})
            settle_early(WayOf(where.index(), from), Settle::overdue, observation.time);
    Entry& entry = entries_[where.index()];
    describe(entry, where.from(), observation);
    record.connection = entry.connection.uid;
    record.from = where.from();
    const Repeated repeated =
        repetition == Repetition::perhaps_other_tap ? Repeated::perhaps_by_tap
        : repetition == Repetition::same_bytes || (repetition == Repetition::ambiguous && distance < kFastestTimeout)
            ? Repeated::soon
            : Repeated::no;
    if (observation.icrc == CrcStatus::bad) take_corrupt(where, observation, record);
    else if (!row.request) take_answer(where, observation, record);
    else if (entry.connection.service == Service::ud) take_datagram(where, observation);
    else take_request(where, observation, repeated, record);
    const End requester = row.request ? where.from() : other(where.from());
    if (!done_.empty()) {
        for (const Message& message : done_) {
            if (message.outcome != Outcome::completed && message.outcome != Outcome::sent) continue;
            ++record.completed;
            if (message.outcome == Outcome::completed) record.latency = message.answer_time - message.first_time;
        }
        hand_on(entry, requester);
    }
    if (!episodes_.empty()) record_episodes(entry, requester);
    if (!early_.empty() && row.request)
        settle_early(WayOf(where.index(), other(where.from())), goes_on(record) ? Settle::asked : Settle::sent_again,
                     observation.time);
}

// Nobody took it: only its PSN counts, as one that was on the wire.
void Tracker::take_corrupt(WayOf where, const Observation& observation, PacketRecord& record) {
    record.corrupt = true;
    Entry& entry = entries_[where.index()];
    if (!info(observation.opcode).request || entry.connection.service == Service::ud) return;
    Direction& direction = entry.directions[static_cast<std::size_t>(where.from())];
    Way& way = entry.connection.way(where.from());
    const Psn next = direction.requests.started() ? direction.requests.next() : observation.psn;
    ++way.requests;
    const RequestArrival arrived = direction.requests.send_corrupt(observation);
    direction.log.corrupted(observation.psn);
    direction.watch.alive(observation.time);
    if (entry.connection.joined_by == JoinedBy::nothing)
        waiting_.expect(observation.flow, observation.psn, FlowId{std::to_underlying(entry.connection.uid)},
                        observation.time);  // by a NAK
    if (arrived.arrival == Arrival::ahead) {
        const GapSides sides = direction.order.advance(observation.ip_id, observation.time);
        direction.log.skip(next, arrived.missing, {sides, way.requests});
        direction.log.skip(observation.psn, static_cast<std::uint32_t>(direction.requests.next() - observation.psn), {},
                           true);
    } else if (arrived.arrival == Arrival::repeated ||
               (arrived.arrival == Arrival::late && direction.log.was_corrupt(observation.psn))) {
        record.retransmission = true;
        ++way.incidents.made().retransmitted;
        way.incidents.made().retransmitted_bytes += observation.wire_length;
        direction.watch.corrupt_retransmission(observation);
    } else if (arrived.arrival == Arrival::late) {
        direction.log.mark_corrupt(observation.psn);
    }
}

// UD: every packet is a message, and PSNs count over all destinations of the sender.
void Tracker::take_datagram(WayOf where, const Observation& observation) {
    Way& way = entries_[where.index()].connection.way(where.from());
    ++way.requests;
    RequestStream alone;
    alone.send(observation, 0, done_);
    alone.finish(Outcome::sent, done_);
}

bool Tracker::was_sent(const Direction& direction, Psn psn) {
    return direction.requests.waits_for(psn) || psn.before(direction.requests.acknowledged());
}

// Whether the network doubled a request that came again: while nothing makes the requester send again.
bool Tracker::is_doubled(const Entry& entry, const Direction& direction, const Observation& observation) const {
    if (observation.ip_id != 0) return !direction.log.was_corrupt(observation.psn);
    if (!was_sent(direction, observation.psn)) return false;
    // Without an IP identification only haste tells: a requester waits for a NAK or a timeout.
    if (direction.log.was_named(observation.psn)) return false;
    // Nor does a READ that lacks responses: the one behind them is an implied NAK (9.7.5.1.1).
    if (const Message* read = direction.requests.covering(observation.psn);
        read != nullptr && read->has_response() && read->missing != 0)
        return false;
    return entry.connection.reliable() && !direction.watch.open();
}

// The disposition of a request's PSN into the counts.
void Tracker::place(WayOf where, const Observation& observation, RequestArrival& arrived, Psn next,
                    PacketRecord& record) {
    Entry& entry = entries_[where.index()];
    Direction& direction = entry.directions[static_cast<std::size_t>(where.from())];
    Way& way = entry.connection.way(where.from());
    GapSides sides;
    const bool newest = arrived.arrival != Arrival::late && arrived.arrival != Arrival::repeated;
    const bool doubtful = arrived.perhaps_other_tap && !newest;
    if (newest) sides = direction.order.advance(observation.ip_id, observation.time);
    else if (!doubtful) arrived.sending = sending_of(direction, way, observation, arrived.arrival);
    const bool straggler = arrived.sending == Sending::original || arrived.sending == Sending::overtaken;
    const bool seen = arrived.arrival != Arrival::late || direction.log.was_corrupt(observation.psn);
    if (arrived.arrival == Arrival::restart) end_before_restart(entry, where.from(), observation.time);
    const RecoveryWatch::Sent sent =
        straggler || doubtful ? RecoveryWatch::Sent{.again = arrived.sending == Sending::overtaken}
                              : direction.watch.sent(observation, arrived, seen, direction.requests, episodes_);
    switch (arrived.arrival) {
        case Arrival::first:
        case Arrival::in_order: break;
        case Arrival::ahead:
            skip(direction, Psn(observation.psn.value() - arrived.missing), arrived.missing, {sides, way.requests});
            way.incidents.made().note(Oddity::gap, observation.frame);
            break;
        case Arrival::late: {
            const auto gap = direction.log.gap(observation.psn);
            const bool unknown = arrived.sending == Sending::unknown;
            if (!gap) direction.requests.perhaps_again(observation.psn);
            // Else a NAK may have asked for it, one that the capture lacks where it comes so late.
            const bool hears = entry.connection.joined_by != JoinedBy::nothing &&
                               (!gap || observation.time - gap->passing.sides.time <= kLatestOvertaken);
            const bool asked = gap && gap->asked_for;
            // What passed twice before it may be the start of a go-back that this one goes on with.
            const bool doubled_before = direction.last_was_doubled || doubtful;
            const GapFilling filling = !unknown              ? sent.again ? GapFilling::again : GapFilling::first
                                       : sent.again || asked ? GapFilling::again_unproven
                                       : doubled_before      ? GapFilling::undecided
                                       : hears || !entry.connection.reliable() ? GapFilling::late
                                                                               : GapFilling::undecided;
            const auto filled = direction.log.fill(observation.psn, observation.time, arrived.behind, filling);
            direction.last_was_late = filling == GapFilling::late && filled;
            if (filled && (filling == GapFilling::late || filling == GapFilling::first))
                note_late(way, observation, filled, arrived.sending == Sending::original);
            record.retransmission = filled && filled->corrupt;
            direction.watch.takes(direction.log.fill_rest(observation.psn + 1, arrived.behind));
            break;
        }
        case Arrival::repeated:
            record.retransmission = !arrived.partial_read;
            if (arrived.partial_read) ++way.incidents.made().partial_reads;
            if (sent.late_was_again && std::exchange(direction.last_was_late, false)) {
                direction.log.began_recovery(observation.psn.previous());
                --way.incidents.made().ordering.made().overtaken;
            }
            if (arrived.sending == Sending::original) note_late(way, observation, {}, true);
            if (arrived.answered) ++way.incidents.made().already_answered;
            if (arrived.holes + arrived.missed_after_all != 0) {
                Gaps& responses = entry.connection.way(other(where.from())).incidents.made().response_gaps;
                responses.network += arrived.holes + arrived.missed_after_all;
                responses.tap -= std::min<std::uint64_t>(responses.tap, arrived.missed_after_all);
            }
            break;
        case Arrival::restart:
            direction.log.forget();
            note_restart(where, observation, next);
            break;
    }
    if (arrived.sending == Sending::unknown && !doubtful)
        direction.order.follow(observation.psn, newest ? direction.requests.next() : arrived.behind, observation.time,
                               awaits_response(info(observation.opcode).verb)
                                   ? Duration{}
                                   : kSlowestReaction);  // implied NAKs are not told apart
    direction.last_was_doubled = false;
    if (direction.log.any())
        direction.log.look_back(&observation,
                                arrived.arrival == Arrival::repeated && arrived.sending == Sending::unknown);
    direction.log.passed(observation, arrived, next, direction.requests, direction.order);
    if (!record.retransmission) return;
    ++way.incidents.made().retransmitted;
    way.incidents.made().retransmitted_bytes += observation.wire_length;
}

void Tracker::take_request(WayOf where, const Observation& observation, Repeated repeated, PacketRecord& record) {
    Entry& entry = entries_[where.index()];
    Direction& direction = entry.directions[static_cast<std::size_t>(where.from())];
    Way& way = entry.connection.way(where.from());
    const Place place_in_message = info(observation.opcode).place;
    ++way.requests;
    const bool first = !std::exchange(direction.begun, true);
    if (first) way.first_psn = observation.psn.value();
    if (place_in_message == Place::first || place_in_message == Place::middle)
        way.note_path_mtu(observation.payload_length);
    if (repeated == Repeated::perhaps_by_tap && was_sent(direction, observation.psn)) {  // nothing is concluded from it
        record.arrival = Arrival::repeated;
        record.retransmission = true;
        ++way.incidents.made().retransmitted;
        way.incidents.made().retransmitted_bytes += observation.wire_length;
        direction.watch.perhaps_sent();
        direction.log.perhaps_again(observation.psn);
        return;
    }
    if (repeated == Repeated::soon && is_doubled(entry, direction, observation)) {
        record.arrival = Arrival::repeated;
        record.retransmission = record.duplicated = true;
        ++way.incidents.made().duplicated;
        // A sender that counts its packets shows that it did not send it again; of others that is likely at most.
        if (observation.ip_id != 0 && direction.order.counts()) {
            way.incidents.made().doubled.add(way.requests);
        } else {
            ++way.incidents.made().retransmitted;
            way.incidents.made().retransmitted_bytes += observation.wire_length;
        }
        way.incidents.made().note(Oddity::duplicated, observation.frame);
        direction.requests.doubled(observation.psn);
        direction.last_was_doubled = observation.ip_id == 0;
        return;
    }
    if (observation.psn.before(direction.requests.acknowledged()) &&
        direction.log.came_behind_answer(observation.psn, observation.time)) {
        record.arrival = Arrival::late;
        return note_late(way, observation, {}, false);
    }
    const Psn next = direction.requests.next();
    const std::uint32_t reads_before = direction.requests.reads_open();
    const std::uint64_t dropped_before = direction.requests.dropped();
    const bool is_read = info(observation.opcode).verb == Verb::read_request;
    if (is_read && !observation.access && observation.cut)
        ++entry.connection.way(other(where.from())).incidents.made().unread_answers;
    // Others take one PSN whatever the path MTU is, unless they tell how many a READ before them took.
    const std::uint32_t pmtu = is_read || observation.psn != next ? path_mtu(entry) : 0;
    RequestArrival arrived = direction.requests.send(observation, pmtu, done_, most_open_);
    tracked_.messages_left_out += direction.requests.dropped() - dropped_before;
    longest_open_ = std::max(longest_open_, direction.requests.open());
    arrived.perhaps_other_tap = repeated == Repeated::perhaps_by_tap;
    record.arrival = arrived.arrival;
    record.missing = arrived.missing;
    if (first && arrived.arrival == Arrival::ahead && begins_message(place_in_message))
        direction.missing_before = arrived.missing;
    place(where, observation, arrived, next, record);
    if (const std::uint32_t reads = direction.requests.reads_open(); reads > reads_before) {
        if (reads > way.most_reads) {
            way.most_reads = reads;
            way.reads_at_most = 0;
        }
        if (reads == way.most_reads) ++way.reads_at_most;
    }
    if (!entry.connection.reliable()) {
        static_cast<void>(direction.requests.acknowledge(observation.psn, observation, done_));  // nobody else will
        for (Message& message : done_) message.outcome = Outcome::sent;
    } else if (entry.connection.joined_by == JoinedBy::nothing &&
               (way.requests <= remembered() || awaits_answer(observation))) {
        waiting_.expect(observation.flow, observation.psn, FlowId{std::to_underlying(entry.connection.uid)},
                        observation.time);
    }
}

const Fatality* Tracker::fatality_at(FrameIndex nak) const {
    return tracked_.fatalities.empty() || tracked_.fatalities.back().frame != nak ? nullptr
                                                                                  : &tracked_.fatalities.back();
}

void Tracker::watch(ConnectionId connection) {
    if (const auto place = place_of(connection)) entries_[*place].watched = true;
}

std::optional<ConnectionId> Tracker::begin_stream(const Endpoint& a, const Endpoint& b, Service service) {
    const auto place = place_for_one();
    if (!place) return std::nullopt;
    Entry& entry = entries_[*place];
    entry.stream = true;
    entry.connection.service = service;
    entry.connection.ends = {a, b};
    entry.connection.confidence = Confidence::certain;  // packets name both ends
    entry.connection.joined_by = JoinedBy::datagram;
    return entry.connection.uid;
}

Connection& Tracker::stream(ConnectionId connection) { return entries_[places_.get(connection, 0)].connection; }

void Tracker::end_stream(ConnectionId connection) {
    if (const auto place = place_of(connection)) entries_[*place].stream_over = true;
}

void Tracker::end_stream_message(ConnectionId connection, End requester, const Message& message) {
    done_.push_back(message);
    hand_on(entries_[places_.get(connection, 0)], requester);
}

}  // namespace qps::transport
