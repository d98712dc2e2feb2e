// The responder that stands at the tap, in the log of incidents: which PSN it would ask for, and what the real one
// asked for.
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/tracking/incident_log.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

// Whether its requester sent it once more, and it was not overtaken.
bool is_again(const RequestArrival& arrived) {
    if (arrived.arrival == Arrival::repeated)
        return arrived.sending == Sending::unknown || arrived.sending == Sending::newest;
    return arrived.arrival == Arrival::late && arrived.sending == Sending::newest;
}

RoundGaps::Kind kind_in_round(const RequestArrival& arrived) {
    if (is_again(arrived)) return RoundGaps::Kind::again;
    if (arrived.arrival == Arrival::late && arrived.sending == Sending::unknown) return RoundGaps::Kind::perhaps_again;
    const bool older = arrived.arrival == Arrival::late || arrived.arrival == Arrival::repeated;
    return older ? RoundGaps::Kind::overtaken : RoundGaps::Kind::newest;
}

}  // namespace

IncidentLog::Index IncidentLog::find(Psn psn) const {
    const std::vector<Subject>& subjects = records_->subjects;
    for (Index i = subjects.size(); i-- > 0;)
        if (subjects[i].psn == psn) return i;
    return kNone;
}

void IncidentLog::remember(const Subject& subject) {
    Records& records = records_.made();
    if (records.subjects.size() == kMaxSubjects) {
        const PsnCase first = case_of(Index{0});
        count(records, first, 1);
        if (const Subject& oldest = records.subjects.front(); oldest.episode != kNoEpisode)
            records.let.push_back({oldest.episode, first, oldest.late});
        records.subjects.erase(records.subjects.begin());
    }
    records.subjects.push_back(subject);
}

bool IncidentLog::was_named(Psn psn) const {
    const Index index = find(psn);
    return index != kNone && records_->subjects[index].named;
}

void IncidentLog::note_episode(Psn psn, std::uint32_t episode) {
    const Index index = find(psn);
    if (index == kNone) return;
    Records& records = records_.made();
    Subject& subject = records.subjects[index];
    if (subject.episode != kNoEpisode) records.let.push_back({subject.episode, case_of(index), 0});
    subject.episode = episode;
}

void IncidentLog::perhaps_again(Psn psn) {
    if (const Index index = find(psn); index != kNone) records_.made().subjects[index].sent_twice = true;
}

bool IncidentLog::is_first_sending(const Observation& request, const SendingOrder& order) {
    if (!records_.there()) return false;
    std::vector<Subject>& subjects = records_.made().subjects;
    const auto subject = std::ranges::find_if(subjects, [&](const Subject& one) {
        return one.psn == request.psn && one.filling == GapFilling::again && !one.corrupt && !one.first_came;
    });
    if (subject == subjects.end() || !order.is_original(subject->sides, request.ip_id, request.time)) return false;
    return subject->first_came = true;
}

bool IncidentLog::may_be_first_sending(const Observation& request) const {
    return std::ranges::any_of(records_->subjects, [&](const Subject& one) {
        return one.psn == request.psn && one.of_gap && SendingOrder::is_between(one.sides, request.ip_id, request.time);
    });
}

void IncidentLog::passed_otherwise(const Observation& request, const RequestArrival& arrived, Psn due,
                                   const RequestStream& stream, const SendingOrder& order) {
    last_ = request.time;
    const Psn previous_behind = last_behind_;
    const bool neighbours = last_behind_ == expected_;  // what is missing was due right behind the request before
    const GapSides sides{std::exchange(last_id_, request.ip_id), request.ip_id, request.time};
    const bool newest = arrived.arrival == Arrival::in_order || arrived.arrival == Arrival::ahead;
    const bool in_round = neighbours && last_behind_.before(due) && last_behind_ == again_behind_;
    const bool went_back = in_round && !was_named(last_psn_);  // sent again because of one before it
    last_psn_ = request.psn;
    const Psn behind = last_behind_ = newest ? stream.next() : arrived.behind;
    if (started_ && (!newest || records_.there()))
        records_.made().round.sent({.psn = request.psn,
                                    .behind = behind,
                                    .due = previous_behind,
                                    .newest = newest ? due : stream.next(),
                                    .time = request.time,
                                    .kind = kind_in_round(arrived),
                                    .named = was_named(request.psn),
                                    .read = info(request.opcode).verb == Verb::read_request},
                                   stream);
    if (is_again(arrived)) again_behind_ = behind;
    if (!started_ || arrived.arrival == Arrival::first || arrived.arrival == Arrival::restart) {
        started_ = true;
        expected_ = stream.next();
        return;
    }
    if (!newest) note_resent(request, order);
    if (request.psn == expected_ || (arrived.arrival == Arrival::in_order && expected_ == due)) {
        expected_ = behind;
        return;
    }
    if (!expected_.before(request.psn)) return;                  // a duplicate
    if (records_->keeps && stream.waits_for(expected_)) return;  // it passed before its turn, and the responder has it
    const Index known = find(expected_);
    if (known != kNone && !records_->subjects[known].resent) return;  // missed already
    Subject missed{.psn = expected_};
    // A requester that goes back sends every PSN again: one that does not pass between its neighbours is missing once
    // more.
    missed.of_round = (arrived.arrival == Arrival::repeated || went_back) && stream.waits_for(expected_);
    // Likewise where it goes on with new PSNs; unless it repeats selectively.
    missed.discarded = !missed.of_round && !in_round && stream.waits_for(expected_);
    if (neighbours) missed.sides = sides;
    missed.corrupt = records_->corrupt == expected_;
    remember(missed);
}

// A request whose PSN is not the newest: what was missed of it passes now.
void IncidentLog::note_resent(const Observation& request, const SendingOrder& order) {
    const Index index = find(request.psn);
    if (index == kNone) return;
    Subject& subject = records_.made().subjects[index];
    const bool open = !subject.corrupt && subject.filling.value_or(GapFilling::undecided) == GapFilling::undecided;
    if (subject.of_round && !subject.resent && open && order.counts()) {
        subject.first_came = order.is_original(subject.sides, request.ip_id, request.time);
        subject.filling = GapFilling::again_unproven;
        subject.rest_came = true;
    }
    subject.resent = true;
}

bool IncidentLog::only_time_tells(Index index) const {
    if (index == kNone) return false;
    const Subject& subject = records_->subjects[index];
    return subject.of_gap && subject.filling == GapFilling::again_unproven && !subject.corrupt && !subject.first_came &&
           !subject.doubtful && !subject.named_since;
}

// Whether what is sent again goes on behind what filled the gap, all of it or what was not lost once more: then a
// go-back began there.
void IncidentLog::goes_on(const Observation* request, bool repeated) {
    Records& records = records_.made();
    const Begun begun = *std::exchange(records.begun, std::nullopt);
    if (request == nullptr || !repeated || request->psn.before(begun.behind)) return;
    if (request->psn != begun.behind && was_named(request->psn)) return;  // what a NAK names is sent again by itself
    for (Subject& subject : records.subjects)
        if (subject.filling == GapFilling::again_unproven && !subject.psn.before(begun.first) &&
            subject.psn.before(begun.behind))
            subject.rest_came = true;
}

void IncidentLog::look_back(const Observation* request, bool repeated) {
    if (!records_.there()) return;
    Records& records = records_.made();
    if (records.begun && (request == nullptr || request->psn != records.begun->last)) goes_on(request, repeated);
    if (records.filled && (request == nullptr || request->psn != records.filled->psn)) {
        const Filled filled = *std::exchange(records.filled, std::nullopt);
        const Index index = find(filled.psn);
        if (repeated && only_time_tells(index) && request->time - last_ < kFastestTimeout) {
            Subject& subject = records.subjects[index];
            // The requester can have known of that answer, if what filled the gap came because of the NAK.
            const bool knew = subject.answered && request->time - *subject.answered >= filled.time - subject.named_at;
            if (request->psn == filled.due || (knew && filled.psn.before(request->psn))) {
                subject.doubtful = true;
                return;
            }
        }
    }
    if (!repeated && !records.twice) return;
    if (const auto alone = std::exchange(records.twice, std::nullopt)) {
        const bool goes_on = repeated && request->psn == last_behind_ && request->time - last_ < kFastestTimeout;
        if (const Index index = find(*alone); !goes_on && only_time_tells(index)) {
            records.subjects[index].doubtful = true;
            return;
        }
    }
    if (!repeated || request->time - last_ >= kFastestTimeout) return;
    const Index index = find(request->psn);
    if (!only_time_tells(index)) return;
    // Nobody sends a packet twice in a row; a READ may be asked for again when a response is missing.
    if (last_psn_ == request->psn && !awaits_response(info(request->opcode).verb))
        records.subjects[index].doubtful = true;
    else records.twice = request->psn;
}

// The responder acknowledged what came before its turn: it keeps that. A go-back-N responder would have discarded what
// passed before the PSN that was sent again just before. READs that are asked for again it answers, though.
void IncidentLog::note_keeps(Psn end, const RequestStream& stream) {
    if (!expected_.before(end)) return;
    if (stream.reads_open() == 0 && records_.there() && records_->round.behind_again() == expected_ && !gap(expected_))
        keep_early();
    expected_ = end;
}

// What came since does not tell whether what it asked for was only late.
void IncidentLog::keep_early() {
    Records& records = records_.made();
    if (std::exchange(records.keeps, true)) return;
    for (Subject& subject : records.subjects) subject.sent_twice |= subject.passed_once;
}

void IncidentLog::acknowledged(Psn end, Instant time, const RequestStream& stream) {
    if (started_) note_keeps(end, stream);
    if (!records_.there()) return;
    Records& records = records_.made();
    if (started_) {
        for (Subject& subject : records.subjects) {
            if (!subject.psn.before(end)) continue;
            if (subject.of_gap && !subject.answered) subject.answered = time;
            const bool passed = subject.in_turn || (subject.passed_once && records.keeps && !subject.sent_twice);
            if (passed && !subject.resent && !subject.sent_twice && !subject.crossed) subject.acknowledged_first = true;
        }
        std::erase_if(records.subjects,
                      [&](const Subject& one) { return !one.named && !one.of_gap && one.psn.before(end); });
    }
    take(end, time);
}

void IncidentLog::put_off(Psn psn) {
    if (records_.there()) records_.made().filled.reset();
    if (started_ && psn.before(expected_)) expected_ = psn;
}

std::uint32_t IncidentLog::named(const Observation& nak, const RequestStream& stream, Duration best) {
    const Psn psn = nak.psn;
    acknowledged(psn, nak.time, stream);
    Records& records = records_.made();
    records.filled.reset();
    records.round.asked();
    for (Subject& subject : records.subjects)
        if (subject.of_gap && !subject.psn.before(psn)) subject.named_since = true;
    const Message* message = stream.covering(psn);
    const bool was_due = nak.time >= last_ && !gap(psn) && started_ && psn.before(stream.next());
    const bool before_turn = !psn.before(expected_);
    if (!before_turn) expected_ = psn;
    if (const Index index = find(psn); index != kNone) {
        Subject& known = records.subjects[index];
        const bool first = !std::exchange(known.named, true);
        known.named_at = nak.time;
        known.passed_once = first && was_due && message != nullptr && !known.of_round && !known.resent;
        known.sent_twice = true;  // what comes does not tell whether it was only late
        return ask_for(psn);
    }
    Subject subject{.psn = psn};
    subject.named = true;
    subject.named_at = nak.time;
    subject.in_turn = was_due && !before_turn;
    subject.passed_once = was_due && message != nullptr;
    subject.crossed = message != nullptr && (best == Duration{} || nak.time - message->last_time < best);
    // The second one may be behind the tap already.
    subject.sent_twice = message == nullptr || message->retransmissions != 0;
    remember(subject);
    return ask_for(psn);
}

}  // namespace qps::transport
