// The direction of the tracker that takes answers: whose requests they answer, and what they tell of them.
#include <dissect/base/types.hpp>
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/model/starting_psn.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

bool Tracker::is_fatal(const Observation& answer) {
    return answer.acknowledgment && info(answer.opcode).verb == Verb::acknowledge &&
           static_cast<SyndromeType>(answer.acknowledgment->type()) == SyndromeType::nak &&
           answer.acknowledgment->code() != kOutOfSequence;
}

bool Tracker::is_rnr_nak(const Observation& answer) {
    return answer.acknowledgment && info(answer.opcode).verb == Verb::acknowledge &&
           static_cast<SyndromeType>(answer.acknowledgment->type()) == SyndromeType::rnr_nak;
}

void Tracker::count_answer(Way& way, const Observation& answer) {
    const OpcodeRow& row = info(answer.opcode);
    if (row.verb == Verb::read_response) ++way.read_responses;
    if (row.verb == Verb::atomic_acknowledge) ++way.atomic_responses;
    if (row.verb != Verb::acknowledge) return;
    if (!answer.acknowledgment) {
        if (answer.cut) ++way.incidents.made().unread_answers;
        return;
    }
    switch (static_cast<SyndromeType>(answer.acknowledgment->type())) {
        case SyndromeType::ack: ++way.acks; break;
        case SyndromeType::rnr_nak:
            ++way.incidents.made().rnr_naks;
            way.incidents.made().rnr.add(answer.psn, answer.time, answer.acknowledgment->code());
            way.incidents.made().note(Oddity::rnr_nak, answer.frame);
            break;
        case SyndromeType::nak:
            if (is_fatal(answer)) {
                ++way.incidents.made().fatal_naks;
            } else {
                ++way.incidents.made().sequence_naks;
                // What was under way behind a request that found no receive is out of sequence, and not lost.
                if (!way.incidents->rnr.timer || way.incidents->rnr.psn != answer.psn)
                    way.incidents.made().note(Oddity::sequence_nak, answer.frame);
            }
            break;
        case SyndromeType::reserved: break;
    }
}

void Tracker::take_answer(WayOf where, const Observation& observation, PacketRecord& record) {
    Entry& entry = entries_[where.index()];
    Way& way = entry.connection.way(where.from());
    const OpcodeRow& row = info(observation.opcode);
    count_answer(way, observation);
    if (row.verb == Verb::read_response && (row.place == Place::first || row.place == Place::middle))
        way.note_path_mtu(observation.payload_length);
    const End requester = other(where.from());
    if (entry.connection.joined_by == JoinedBy::nothing) {
        std::vector<Observation>& answers = unpaired_[where.index()].answers;
        if (answers.size() < kMaxPendingAnswers && pending_answers_ < kMaxPendingAnswersOfAll) {
            most_pending_ = std::max(most_pending_, ++pending_answers_);
            answers.push_back(observation);
            answers.back().payload = {};
        } else {
            ++way.incidents.made().unmatched;
            // A fatal NAK ends the connection, the last response of READs tells which were asked for: more than another
            // ACK.
            const bool tells_more =
                !answers.empty() &&
                (is_fatal(observation) || (row.verb == Verb::read_response && !is_fatal(answers.back()) &&
                                           answers.back().psn.before(observation.psn)));
            if (tells_more) {
                answers.back() = observation;
                answers.back().payload = {};
            }
        }
        record.unmatched = true;
        return;
    }
    if (wait_early(where, observation)) return;
    apply_answer(entry, requester, observation, record);
}

// An answer of whom is known whose requests it answers.
void Tracker::apply_answer(Entry& entry, End requester, const Observation& observation, PacketRecord& record) {
    Direction& direction = entry.directions[static_cast<std::size_t>(requester)];
    Way& responder = entry.connection.way(other(requester));
    if (entry.connection.way(requester).requests == 0) {  // the capture has this way only
        ++responder.incidents.made().unmatched;
        record.unmatched = true;
        if (is_fatal(observation)) refuse(entry, requester, observation);
        return;
    }
    if (info(observation.opcode).verb == Verb::acknowledge) {
        if (!observation.acknowledgment && !observation.cut) return;  // malformed
        if (direction.requests.waits_for(observation.psn)) ++entry.connection.matches;
        if (observation.acknowledgment) apply_acknowledgment(entry, requester, observation);
        else apply_unread(entry, requester, observation);
        return;
    }
    direction.order.may_go_back(direction.requests.answered());  // a response out of order is an implied NAK
    const Psn next = direction.requests.next();
    const Responded responded = direction.requests.respond(observation, path_mtu(entry), direction.best_answer, done_);
    if (responded.widened_from != responded.widened_to)
        direction.watch.takes(direction.log.fill_rest(responded.widened_from, responded.widened_to));
    if (responded.matched) {
        ++entry.connection.matches;
        apply_acknowledged(entry, requester, responded.before, next, observation);
        if (responded.skipped != 0 || responded.hole) {
            responder.incidents.made().response_gaps.skipped += responded.skipped;
            responder.incidents.made().note(Oddity::gap, observation.frame);
            direction.watch.overtaken(observation);
        }
        if (responded.passed_over) direction.watch.passed_over(observation);
        if (responded.late != 0) {
            responder.incidents.made().response_gaps.reordered += responded.late;
            responder.incidents.made().note(Oddity::late, observation.frame);
        }
        if (Incidents* had = responder.incidents.get())
            had->response_gaps.skipped -= std::min<std::uint64_t>(had->response_gaps.skipped, responded.withdrawn);
        direction.log.acknowledged(direction.requests.acknowledged(), observation.time, direction.requests);
    } else {
        ++responder.incidents.made().unmatched;
        record.unmatched = true;
    }
    direction.watch.answered(observation, direction.requests, responded.repeated || !responded.matched, episodes_);
}

// PSNs acknowledged past the newest one seen. Where the capture begins in the middle of a connection, the requester may
// have sent them before: what comes first may be what it sends again.
void Tracker::skip_unseen(const Entry& entry, Direction& direction, Psn next, std::uint32_t count, Instant time) {
    if (!entry.connection.cm_attempt && time - entry.made <= kSlowestReaction) direction.log.leave_undecided(count);
    else direction.log.skip(next, count);
}

void Tracker::apply_acknowledged(Entry& entry, End requester, const Acknowledged& acknowledged, Psn next,
                                 const Observation& observation) {
    Direction& direction = entry.directions[static_cast<std::size_t>(requester)];
    skip_unseen(entry, direction, next, acknowledged.beyond, observation.time);
    direction.log.acknowledged(direction.requests.acknowledged(), observation.time, direction.requests);
    if (acknowledged.unseen_tail + acknowledged.unseen_responses != 0) {
        Gaps& responses = entry.connection.way(other(requester)).incidents.made().response_gaps;
        responses.skipped += acknowledged.unseen_tail;
        responses.tap += acknowledged.unseen_responses;
    }
    if (!acknowledged.passed_response) return;
    ++entry.connection.way(requester).incidents.made().implied_naks;
    direction.watch.overtaken(observation);
}

// A responder counts the messages of a connection that it took (9.7.7.1). An ACK that counts as many as were seen, of
// which none was missed or sent again, shows that there was none before them: their requester began ahead of what CM
// announced.
void Tracker::doubt_start(Entry& entry, End requester, const Acknowledged& acknowledged, const Observation& ack) {
    Way& way = entry.connection.way(requester);
    Direction& direction = entry.directions[static_cast<std::size_t>(requester)];
    const Incidents& seen = *way.incidents;
    const bool smooth =
        seen.corrupt + seen.retransmitted + seen.duplicated + seen.partial_reads == 0 && entry.connection.cm_attempt;
    const std::uint64_t messages = way.completed + acknowledged.messages;
    if (!smooth || acknowledged.messages == 0) return;  // a late ACK counts less than were answered since
    const std::uint32_t missing = std::exchange(direction.missing_before, 0);
    if (messages != std::to_underlying(ack.acknowledgment->msn) ||
        !direction.log.withdraw_only(Psn(way.first_psn), missing))
        return;
    way.incidents.made().begun_ahead = true;
}

// Whether so many PSNs behind the newest request cannot have been sent since its message began: the responder counts
// from another start, and nothing is missing.
bool Tracker::had_no_time(const Direction& direction, Psn through, const Observation& answer) {
    constexpr std::int32_t kFewest = 512;  // below, clocks of recorders are no judges
    if (!direction.requests.started() || !answer.has_time) return false;
    const Psn next = direction.requests.next();
    const std::int32_t beyond = through - next;
    const Message* newest = direction.requests.covering(next.previous());
    if (beyond < kFewest || newest == nullptr) return false;
    return answer.time - newest->first_time < Duration{beyond * static_cast<std::int64_t>(kShortestPacket)};
}

void Tracker::apply_acknowledgment(Entry& entry, End requester, const Observation& observation) {
    Direction& direction = entry.directions[static_cast<std::size_t>(requester)];
    const Duration best = direction.best_answer;
    const auto type = static_cast<SyndromeType>(observation.acknowledgment->type());
    if (type == SyndromeType::reserved) return;
    const Psn next = direction.requests.next();
    const Psn through = type == SyndromeType::ack ? observation.psn : observation.psn.previous();
    direction.counts_elsewhere |= had_no_time(direction, through, observation);
    if (direction.counts_elsewhere && !through.before(next)) {
        ++entry.connection.way(other(requester)).incidents.made().unmatched;
        return;
    }
    const Acknowledged acknowledged = direction.requests.acknowledge(through, observation, done_);
    if (type == SyndromeType::ack && direction.missing_before != 0)
        doubt_start(entry, requester, acknowledged, observation);
    apply_acknowledged(entry, requester, acknowledged, next, observation);
    if (type != SyndromeType::ack || acknowledged.passed_response)
        direction.order.may_go_back(direction.requests.answered());
    const bool stale =
        observation.psn.before(direction.requests.acknowledged());  // of a NAK: what it asks for was acknowledged since
    if (type == SyndromeType::ack || stale) {
        direction.watch.answered(observation, direction.requests, acknowledged.again, episodes_);
        return;
    }
    direction.watch.answered(observation, direction.requests, false, episodes_);
    if (type == SyndromeType::rnr_nak) {
        direction.log.put_off(observation.psn);
        direction.watch.asked(RecoveryKind::rnr_nak, observation, direction.requests, 0, episodes_);
    } else if (observation.acknowledgment->code() == kOutOfSequence) {
        const std::uint32_t lost =
            std::max<std::uint32_t>(1, direction.log.named(observation, direction.requests, best));
        direction.watch.asked(RecoveryKind::sequence_nak, observation, direction.requests, lost, episodes_);
    } else {
        refuse(entry, requester, observation);
    }
}

// An ACK or a NAK, the capture cut off which. Whatever it is, all before its PSN arrived, and what was seen of that PSN
// is answered. What was not seen a NAK may ask for; what it asked for comes again and is counted as that.
void Tracker::apply_unread(Entry& entry, End requester, const Observation& observation) {
    Direction& direction = entry.directions[static_cast<std::size_t>(requester)];
    const Psn next = direction.requests.next();
    const Psn through = direction.requests.waits_for(observation.psn) ? observation.psn : observation.psn.previous();
    const Acknowledged acknowledged = direction.requests.acknowledge(through, observation, done_);
    skip_unseen(entry, direction, next, acknowledged.beyond, observation.time);
    direction.log.acknowledged(observation.psn, observation.time, direction.requests);
    direction.watch.answered(observation, direction.requests, acknowledged.again, episodes_);
}

// A fatal NAK.
void Tracker::refuse(Entry& entry, End requester, const Observation& observation) {
    Direction& direction = entry.directions[static_cast<std::size_t>(requester)];
    Fatality fatality;
    fatality.connection = entry.connection.uid;
    fatality.requester = requester;
    fatality.nak_code = observation.acknowledgment->code();
    fatality.psn = observation.psn;
    fatality.frame = observation.frame;
    fatality.time = observation.time;
    fatality.reads_outstanding = direction.requests.reads_open();
    fatality.request = direction.requests.fail(observation.psn, observation);
    const bool same_key = fatality.request && fatality.request->access &&
                          direction.last_good[1].frame != FrameIndex{} &&
                          direction.last_good[1].access.key == fatality.request->access->key;
    if (const Good& good = direction.last_good[same_key ? 1 : 0]; good.frame != FrameIndex{}) {
        fatality.last_good = good.access;
        fatality.last_good_frame = good.frame;
    }
    direction.watch.failed(observation, episodes_);
    entry.troubled = true;
    const bool first = !std::exchange(entry.connection.failed, true);
    if (!entry.over) entry.over = observation.time;
    if (!first) return;  // said again
    if (tracked_.fatalities.size() < kMaxFatalities) tracked_.fatalities.push_back(fatality);
    else ++tracked_.fatalities_left_out;
}

// Answers whose requests were not captured: a fatal NAK among them says all by itself.
void Tracker::refuse_unpaired() {
    std::vector<Index> order;
    for (const auto& [index, unpaired] : unpaired_) order.push_back(index);
    std::ranges::sort(order);
    for (const Index index : order) refuse_unpaired(index, unpaired_[index].answers);
}

void Tracker::refuse_unpaired(Index index, const std::vector<Observation>& answers) {
    entries_[index].connection.ways[0].incidents.made().unmatched += answers.size();
    for (const Observation& answer : answers)
        if (is_fatal(answer)) refuse(entries_[index], End::b, answer);
}

// Answers that were kept until it was known whose requests they answer.
void Tracker::apply_kept_answers(Index index, End requester) {
    const auto found = unpaired_.find(index);
    if (found == unpaired_.end()) return;
    const std::vector<Observation> answers = std::move(found->second.answers);
    pending_answers_ -= answers.size();
    unpaired_.erase(found);
    return apply_kept_answers(index, answers, requester);
}

void Tracker::apply_kept_answers(Index index, const std::vector<Observation>& answers, End requester) {
    Entry& entry = entries_[index];
    const WayOf where(index, other(requester));
    const Instant first = entry.connection.way(requester).first_time;
    const bool lead = lead_requests(where, answers);
    // What was sent again without them was asked for by them, so far.
    if (std::ranges::any_of(answers, is_rnr_nak))
        entry.directions[static_cast<std::size_t>(requester)].watch.withdraw();
    for (Observation answer : answers) {
        if (lead && wait_early(where, answer)) continue;
        // The first request may have been recorded behind its answer.
        if (answer.time < first && first - answer.time <= kLatestRequest) {
            const Message* asked = entry.directions[static_cast<std::size_t>(requester)].requests.covering(answer.psn);
            if (asked != nullptr && (asked->verb != Verb::read_request || asked->first == answer.psn))
                answer.time = first;
        }
        PacketRecord record;
        apply_answer(entry, requester, answer, record);
        hand_on(entry, requester);
        record_episodes(entry, requester);
    }
    if (!answers.empty()) settle_early(where, Settle::asked, answers.back().time);
}

// The queue pair that the only packet of a flow names may be what is corrupt of it.
bool Tracker::is_lone_corrupt(const Entry& entry) {
    const Way& way = entry.connection.ways[0];
    return entry.connection.joined_by == JoinedBy::nothing && way.packets == 1 && way.incidents->corrupt == 1;
}

// One more packet of such a flow: its queue pair is there, and so are its answers. The way of the flow after that.
Tracker::WayOf Tracker::take_suitor(WayOf where) {
    const auto suitor = place_of(std::exchange(entries_[where.index()].suitor, {}));
    const auto is_alone = [&](Index index) {
        return !entries_[index].gone && entries_[index].connection.joined_by == JoinedBy::nothing;
    };
    if (!suitor || *suitor == where.index() || !is_alone(*suitor) || !is_alone(where.index())) return where;
    return join(where.index(), *suitor, JoinedBy::traffic);
}

void Tracker::released(Entry& entry) const {
    entry.connection.released = true;
    if (!entry.over) entry.over = now_;
}

void Tracker::retire(const FlowKey& flow, std::uint32_t attempt) {
    const auto found = index_.find(flow);
    if (!found) return;
    Entry& entry = entries_[WayOf(*found).index()];
    if (entry.connection.cm_attempt == attempt) return;
    released(entry);
    for (const End end : {End::a, End::b}) index_.forget(flow_of(entry, end));
    index_.forget(flow);
}

void Tracker::connect(const CmAttempt& attempt) {
    if (!attempt.active.qpn || !attempt.passive.qpn || attempt.service == CmService::datagram) return;
    const FlowKey there =
        keyed({attempt.active.address, attempt.passive.address, *attempt.passive.qpn, {}}, attempt.active.network);
    const FlowKey back =
        keyed({attempt.passive.address, attempt.active.address, *attempt.active.qpn, {}}, attempt.passive.network);
    retire(there, attempt.uid);
    retire(back, attempt.uid);
    if (index_.contains(there) || index_.contains(back)) return;
    const auto place = place_for_one();
    if (!place) return;
    const Index index = *place;
    Entry& entry = entries_[index];
    entry.connection.service = attempt.service == CmService::uc    ? Service::uc
                               : attempt.service == CmService::xrc ? Service::xrc
                                                                   : Service::rc;
    entry.connection.ends = {Endpoint{attempt.active.address, attempt.active.qpn},
                             Endpoint{attempt.passive.address, attempt.passive.qpn}};
    entry.connection.confidence = Confidence::certain;
    entry.connection.joined_by = JoinedBy::connection_manager;
    entry.connection.cm_attempt = attempt.uid;
    entry.connection.cm_path_mtu = attempt.path_mtu;
    entry.retries = negotiated(attempt);
    // A starting PSN is where the other side is to begin (12.7.31).
    if (attempt.passive.starting_psn) entry.directions[0].requests.begin_at(*attempt.passive.starting_psn);
    if (attempt.active.starting_psn) entry.directions[1].requests.begin_at(*attempt.active.starting_psn);
    entry.elsewhere = {there.source_qp, back.source_qp};
    if (FlowIndex::is_in_network(there))
        entry.connection.ends[1].network = attempt.active.network.value_or(NetworkId{});
    if (FlowIndex::is_in_network(back))
        entry.connection.ends[0].network = attempt.passive.network.value_or(NetworkId{});
    index_.set(there, WayOf(index, End::a).word());
    index_.set(back, WayOf(index, End::b).word());
    if (attempt.active.network) index_.see_in(there, *attempt.active.network);
    if (attempt.passive.network) index_.see_in(back, *attempt.passive.network);
}

// One queue pair is enough: a DREQ names that of who receives it, where the rest was not captured.
void Tracker::release(const CmAttempt& attempt) {
    const auto release_to = [&](const CmSide& from, const CmSide& to) {
        if (!to.qpn) return;
        if (const auto found = index_.find(keyed({from.address, to.address, *to.qpn, {}}, from.network)))
            released(entries_[WayOf(*found).index()]);
    };
    release_to(attempt.active, attempt.passive);
    release_to(attempt.passive, attempt.active);
}

}  // namespace qps::transport
