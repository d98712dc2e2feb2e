#include <dissect/base/types.hpp>
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/tracking/recovery_watch.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

// Bytes that the request carries, of a READ those that it asks for.
std::uint16_t payload_of(const Observation& request) {
    const bool asks = info(request.opcode).verb == Verb::read_request && request.access;
    return static_cast<std::uint16_t>(
        std::min<std::uint32_t>(asks ? request.access->length : request.payload_length, UINT16_MAX));
}

}  // namespace

// Every event is asked for where the machine has an edge for it.
void RecoveryWatch::move(RecoveryEvent event) { phase_ = step(kRecoveryMachine, phase_, event).value_or(phase_); }

void RecoveryWatch::begin(RecoveryKind kind, Psn psn, const Observation& packet, const RequestStream& stream) {
    Open& open = episodes_.made().open.emplace_back();
    open.episode.kind = kind;
    open.episode.psn = psn;
    open.episode.time = OrderedSpan{packet.time};
    open.episode.last = packet.frame;
    open.until = stream.next();
    open.trigger_time = packet.time;
    if (const Message* message = stream.covering(psn)) {
        open.episode.verb = message->verb;
        open.lacks_response = message->has_response();
        open.episode.original = message->first_frame;
    }
}

// What is sent again belongs to it.
Recovery& RecoveryWatch::sending() {
    Episodes& episodes = episodes_.made();
    return episodes.former.empty() ? episodes.open.front().episode : episodes.former.front();
}

bool RecoveryWatch::open() const {
    if (phase_ == RecoveryPhase::settled) return episodes_->open.front().episode.kind == RecoveryKind::timeout;
    return phase_ != RecoveryPhase::none;
}

std::optional<Psn> RecoveryWatch::awaits_receive() const {
    if (!is_open()) return std::nullopt;
    const Open& open = episodes_->open.front();
    if (open.episode.kind != RecoveryKind::rnr_nak) return std::nullopt;
    if (phase_ == RecoveryPhase::waiting) return open.episode.psn;
    return phase_ == RecoveryPhase::resending ? std::optional(open.resend_next) : std::nullopt;
}

void RecoveryWatch::hand_out_former(std::vector<Recovery>& ended) {
    if (!episodes_.there()) return;
    std::vector<Recovery>& former = episodes_.made().former;
    ended.insert(ended.end(), former.begin(), former.end());
    former.clear();
}

void RecoveryWatch::close(RecoveryEnd end, std::vector<Recovery>& ended) {
    hand_out_former(ended);
    Open& open = opened();
    open.episode.end = end;
    ended.push_back(open.episode);
    episodes_.made().open.clear();
    move(RecoveryEvent::closed);
}

void RecoveryWatch::withdraw() {
    if (!is_open()) return;
    episodes_.made().open.clear();
    episodes_.made().former.clear();
    move(RecoveryEvent::closed);
}

// A NAK of another PSN came, and the requester does not know it yet: what it sends now still belongs here.
void RecoveryWatch::set_aside(std::vector<Recovery>& ended) {
    const bool sends = phase_ == RecoveryPhase::resending;
    close(RecoveryEnd::recovered, ended);
    if (!sends) return;
    episodes_.made().former.push_back(ended.back());
    ended.pop_back();
}

// An RNR NAK sooner than its requester may send again: the network doubled it, or the request.
bool RecoveryWatch::answers_the_same(const Observation& nak) const {
    const Open& open = episodes_->open.front();
    if (phase_ != RecoveryPhase::waiting || open.episode.triggers == 0 || !open.episode.rnr_timer) return false;
    return nak.time - open.trigger_time < Duration{std::to_underlying(rnr_wait(*open.episode.rnr_timer)) / 2};
}

void RecoveryWatch::asked(RecoveryKind kind, const Observation& answer, const RequestStream& stream, std::uint32_t lost,
                          std::vector<Recovery>& ended) {
    if (is_open()) {
        Open& open = opened();
        const bool here = open.episode.psn == answer.psn && phase_ != RecoveryPhase::settled;
        // What came behind the request that found no receive is out of sequence; nothing is lost.
        if (here && kind == RecoveryKind::sequence_nak && open.episode.kind == RecoveryKind::rnr_nak &&
            phase_ == RecoveryPhase::waiting)
            return;
        if (!here || open.episode.kind != kind) {
            if (!open.episode.time.has_ended()) open.episode.time.end_at(answer.time);
            set_aside(ended);
        }
    }
    if (!is_open()) {
        begin(kind, answer.psn, answer, stream);
        opened().episode.trigger = answer.frame;
        const bool sequence = kind == RecoveryKind::sequence_nak;
        opened().episode.evidence.add(sequence ? RoundEvidence::asked : RoundEvidence::put_off);
        opened().nak_alone = sequence && progress_frame_ == answer.frame;
    }
    Open& open = opened();
    if (kind == RecoveryKind::rnr_nak && answers_the_same(answer)) return;
    ++open.episode.triggers;
    open.episode.lost = std::max(open.episode.lost, lost);
    open.episode.last = answer.frame;
    move(RecoveryEvent::asked);
    open.trigger_time = answer.time;
    if (kind == RecoveryKind::rnr_nak && answer.acknowledgment) open.episode.rnr_timer = answer.acknowledgment->code();
}

void RecoveryWatch::overtaken(const Observation& answer) { episodes_.made().overtaken = answer.time; }

void RecoveryWatch::passed_over(const Observation& answer) {
    if (!episodes_->overtaken) overtaken(answer);
}

void RecoveryWatch::resend(Recovery& episode, const Observation& request, const RequestArrival& arrived) const {
    ++episode.resent;
    if (!seen_) ++episode.first_seen;
    episode.resent_bytes += request.wire_length;
    episode.last = request.frame;
    episode.evidence.add_if(arrived.partial_read, RoundEvidence::from_middle);
    episode.evidence.add_if(arrived.holes != 0 && awaits_response(episode.verb) && !episode.answered(),
                            RoundEvidence::passed_over);
    episode.lost = std::max(episode.lost, arrived.holes);
}

// The answer passed the tap before its request came again: it may have been on its way when that was sent.
void RecoveryWatch::note_answered(const Observation& request, const RequestArrival& arrived,
                                  const RequestStream& stream) {
    Recovery& episode = opened().episode;
    episode.evidence.add(RoundEvidence::answer_passed);
    episode.evidence.add_if(!stream.answered().before(request.psn), RoundEvidence::oldest);
    episode.evidence.add_if(slow_answer_ && !arrived.partial_read && arrived.behind == stream.answered(),
                            RoundEvidence::slow_answer);
    if (!episode.since_answer) episode.since_answer = request.time - timer_from_;
}

// Sending begins again from this packet.
void RecoveryWatch::begin_round(const Observation& request, const RequestArrival& arrived, const RequestStream& stream,
                                Duration wait) {
    Open& open = opened();
    Recovery& episode = open.episode;
    if (episode.rounds == 0) {
        episode.resumed = request.frame;
        episode.resumed_time = request.time;
        episode.silence = request.time - last_sign_;
        episode.timer_ran = request.time - std::max(timer_from_, arrived.first_time.value_or(timer_from_));
        episode.evidence.add_if(open.nak_alone && request.psn == episode.psn, RoundEvidence::only_nak_tells);
        episode.evidence.add_if(request.psn.before(episode.psn), RoundEvidence::farther_back);
        if (episode.original == FrameIndex{}) episode.original = arrived.original;
        open.first_time = arrived.first_time;
        const Message* message = request.psn == episode.psn ? stream.covering(episode.psn) : nullptr;
        if (message != nullptr && message->first == episode.psn) episode.payload = payload_of(request);
    }
    ++episode.rounds;
    episode.waited = episode.waited + wait;
    episode.longest_wait = std::max(episode.longest_wait, wait);
    if (episode.kind == RecoveryKind::timeout) {
        ++episode.triggers;
        // What the timer can have run: from sending to sending, or since the progress that it began anew with.
        const Instant from = episode.rounds > 1
                                 ? open.round_time
                                 : std::max(timer_from_, arrived.first_time.value_or(episode.time.begin()));
        const Duration interval = std::max(wait, request.time - from);
        episode.interval = std::min(episode.interval.value_or(interval), interval);
    }
    if (arrived.answered) note_answered(request, arrived, stream);
    move(RecoveryEvent::retransmitted);
    open.round_time = request.time;
    open.last_wait = wait;
    open.resend_next = arrived.behind;
    timer_from_ = request.time;
    resend(episode, request, arrived);
}

// Sent again, and no NAK asks for it.
void RecoveryWatch::begin_unasked(const Observation& request, const RequestArrival& arrived,
                                  const RequestStream& stream, Duration silent) {
    const Verb verb = info(request.opcode).verb;
    const std::optional<Instant> overtaken = episodes_->overtaken;
    const bool is_read = verb == Verb::read_request || (is_atomic(verb) && overtaken);
    RecoveryKind kind = RecoveryKind::timeout;
    // Nobody asks again at once for what is there: its timer had run out, and the answer was still on its way.
    const bool lacks = overtaken || !arrived.answered;
    if (is_read && lacks && silent < (overtaken ? kSlowestReaction : kFastestTimeout)) kind = RecoveryKind::read_retry;
    else if (is_read && !lacks) kind = RecoveryKind::timeout;
    else if (silent < kFastestTimeout) kind = RecoveryKind::sequence_nak;  // which the capture does not have
    begin(kind, request.psn, request, stream);
    Open& open = opened();
    if (open.episode.original == FrameIndex{}) open.episode.verb = verb;  // it had been answered
    // A responder answers in order: an answer to what was sent behind it shows that its own had been sent.
    if (overtaken && open.lacks_response) {
        open.episode.lost = std::max(open.episode.lost, 1U);
        open.episode.evidence.add(RoundEvidence::passed_over);
    }
    open.episode.evidence.add(RoundEvidence::unasked);
    open.episode.evidence.add_if(kind == RecoveryKind::read_retry, RoundEvidence::read_at_once);
    open.episode.time = OrderedSpan{kind == RecoveryKind::read_retry && overtaken ? *overtaken : last_sign_};
    if (kind == RecoveryKind::timeout) open.episode.trigger = request.frame;
    if (kind == RecoveryKind::read_retry) open.episode.triggers = 1;
    begin_round(request, arrived, stream, request.time - open.episode.time.begin());
}

void RecoveryWatch::go_on(const Observation& request, const RequestArrival& arrived, const RequestStream& stream,
                          Duration silent, std::vector<Recovery>& ended) {
    Open& open = opened();
    const bool back = request.psn.before(behind_);
    switch (phase_) {
        case RecoveryPhase::waiting:
            // What goes on in ascending order, or is overtaken on the way, is not what the NAK asked for.
            // Nor is what the NAK acknowledges: what is before a request that found no receive was taken (9.7.5.1.1).
            if (open.episode.kind == RecoveryKind::rnr_nak && request.psn.before(open.episode.psn) &&
                silent < kFastestTimeout)
                return resend(sending(), request, arrived);
            if (open.episode.psn.before(request.psn) && (!back || silent < kFastestTimeout))
                return resend(sending(), request, arrived);
            hand_out_former(ended);
            return begin_round(request, arrived, stream, request.time - open.trigger_time);
        case RecoveryPhase::resending:
            // The rest of a READ is asked for when responses were taken since, and another is missing.
            if (arrived.partial_read && request.psn != open.episode.psn) break;
            if (!request.psn.before(open.resend_next) || silent < kFastestTimeout) {
                open.resend_next = arrived.behind;
                return resend(open.episode, request, arrived);
            }
            if (open.episode.kind == RecoveryKind::timeout) return begin_round(request, arrived, stream, silent);
            if (open.episode.kind == RecoveryKind::rnr_nak)
                return begin_round(request, arrived, stream, silent);  // still no receive posted
            break;
        case RecoveryPhase::settled:
            if (!back && silent < kFastestTimeout) return resend(open.episode, request, arrived);
            break;
        case RecoveryPhase::none: break;
    }
    // What was sent again was not answered either, and now time has run out: another episode.
    if (!open.episode.time.has_ended()) open.episode.time.end_at(last_sign_);
    close(RecoveryEnd::recovered, ended);
    begin_unasked(request, arrived, stream, silent);
}

RecoveryWatch::Sent RecoveryWatch::sent_otherwise(const Observation& request, const RequestArrival& arrived, bool seen,
                                                  const RequestStream& stream, std::vector<Recovery>& ended) {
    const Duration silent = request.time - last_sign_;
    seen_ = seen;
    if (arrived.arrival == Arrival::repeated || arrived.arrival == Arrival::late) heard_last_ = false;
    else note_turn(request.time);
    const auto late_before = episodes_.there() ? std::exchange(episodes_.made().late, std::nullopt) : std::nullopt;
    Sent result;
    if (arrived.arrival == Arrival::repeated || arrived.arrival == Arrival::late) {
        const bool merely_late =
            arrived.arrival == Arrival::late && silent < kFastestTimeout && arrived.sending == Sending::unknown;
        // Nothing of the episode before it makes its requester send again.
        if (merely_late && phase_ == RecoveryPhase::settled && request.psn.before(behind_))
            close(RecoveryEnd::recovered, ended);
        if (is_open()) {
            go_on(request, arrived, stream, silent, ended);
            result.again = true;
        } else if (merely_late) {
            episodes_.made().late =
                Late{request.psn, arrived.behind, request.frame, request.time, silent, request.wire_length, seen};
        } else {
            begin_unasked(request, arrived, stream, late_before ? late_before->silent : silent);
            result.again = true;
            if (late_before && late_before->behind == request.psn) {  // the episode began with that one
                Recovery& episode = opened().episode;
                episode.psn = late_before->psn;
                episode.payload = 0;
                episode.resumed = late_before->frame;
                episode.resumed_time = late_before->time;
                ++episode.resent;
                if (!late_before->seen) ++episode.first_seen;
                episode.resent_bytes += late_before->wire_length;
                result.late_was_again = true;
            }
        }
        behind_ = arrived.behind;
    } else if (is_open()) {
        note_newest(request, stream);
        hand_out_former(ended);
        Open& open = opened();
        if (phase_ == RecoveryPhase::waiting)
            open.until = stream.next();  // what was under way before the NAK came to the requester
        if (phase_ == RecoveryPhase::resending) {
            open.episode.time.end_at(request.time);
            open.episode.last = request.frame;
        }
        move(RecoveryEvent::new_data);
    } else {
        note_newest(request, stream);
        if (episodes_.there()) episodes_.made().overtaken.reset();
    }
    last_sign_ = request.time;
    return result;
}

void RecoveryWatch::late_original(const Observation& request) { last_sign_ = request.time; }

void RecoveryWatch::late_retransmission(const Observation& request, bool seen) {
    last_sign_ = request.time;
    if (!is_open() || phase_ == RecoveryPhase::waiting) return;
    Recovery& episode = opened().episode;
    ++episode.resent;
    if (!seen) ++episode.first_seen;
    episode.resent_bytes += request.wire_length;
    episode.last = request.frame;
}

void RecoveryWatch::corrupt_retransmission(const Observation& request) {
    if (!is_open()) return;
    Recovery& episode = sending();
    ++episode.resent;
    episode.resent_bytes += request.wire_length;
    episode.last = request.frame;
}

void RecoveryWatch::takes(std::uint32_t psns) {
    if (psns == 0 || !is_open()) return;
    Recovery& episode = opened().episode;
    episode.lost -= std::min(episode.lost, psns);
}

void RecoveryWatch::answered(const Observation& answer, const RequestStream& stream, bool again,
                             std::vector<Recovery>& ended) {
    const Duration silent = answer.time - last_sign_;
    last_sign_ = answer.time;
    heard_last_ = true;
    if (progress_ != stream.acknowledged()) {
        progress_ = stream.acknowledged();
        progress_frame_ = answer.frame;
        timer_from_ = answer.time;
        slow_answer_ = silent >= kFastestTimeout;
    }
    if (!is_open()) return;
    Open& open = opened();
    Recovery& episode = open.episode;
    const Psn behind = stream.answered_from(episode.psn);
    const bool reached = episode.psn.before(behind);
    if (phase_ == RecoveryPhase::resending && !answer.psn.before(episode.psn)) open.heard_time = answer.time;
    if (phase_ == RecoveryPhase::waiting) open.nak_alone = false;  // this answer may have told the requester as well
    if (phase_ == RecoveryPhase::settled) {
        // A second answer to the same: one for the first sending, one for the one after it. Or the network doubled it,
        // or it answers what was sent twice again.
        // An ACK that comes again answers what was sent behind a READ: it says nothing of the responses that it lacked.
        const bool answers_it = !open.lacks_response || info(answer.opcode).verb != Verb::acknowledge;
        // Nor does it of one that was passed over.
        const bool counts = answers_it && !episode.answered() && !episode.has(RoundEvidence::passed_over);
        episode.evidence.add_if(again && counts, RoundEvidence::answered_twice);
        // What goes on from there is of this episode still.
        if (open.until.before(behind)) close(RecoveryEnd::recovered, ended);
        return;
    }
    if (!reached) return;
    if (phase_ == RecoveryPhase::waiting && again) return;  // of something before the NAK
    if (phase_ == RecoveryPhase::resending && !episode.answered() && !episode.answered_after) {
        episode.answered_after = answer.time - open.round_time;
        if (open.first_time && *open.first_time < answer.time) episode.answer_took = answer.time - *open.first_time;
    }
    if (phase_ == RecoveryPhase::waiting || !behind.before(open.until)) {
        episode.time.end_at(answer.time);
        episode.last = answer.frame;
        move(RecoveryEvent::answered);
    }
}

void RecoveryWatch::failed(const Observation& answer, std::vector<Recovery>& ended) {
    if (!is_open()) return;
    if (phase_ == RecoveryPhase::settled) return close(RecoveryEnd::recovered, ended);
    opened().episode.time.end_at(answer.time);
    close(RecoveryEnd::failed, ended);
}

namespace {

bool is_exhausted(const Recovery& episode, Retries retries) {
    if (episode.kind == RecoveryKind::rnr_nak) return !retries.is_endless_rnr() && episode.triggers > *retries.rnr;
    return episode.kind == RecoveryKind::timeout && episode.rounds >= retries.most_transport();
}

}  // namespace

// How long a requester that did not give up would have been silent at most. Who asks for patience, gets twice of it:
// the timer of an RNR NAK, or as long as the requester took before. What came quicker than a timer says nothing of how
// long that is.
Duration RecoveryWatch::patience() const {
    const Open& open = episodes_->open.front();
    const Recovery& episode = open.episode;
    const Duration least = episode.kind == RecoveryKind::timeout ? kFastestTimeout : kSlowestReaction;
    if (phase_ != RecoveryPhase::waiting) return std::max(open.last_wait, least);
    const Duration asked = episode.rnr_timer ? rnr_wait(*episode.rnr_timer) : Duration{};
    return std::max({episode.longest_wait, kFastestTimeout, asked});
}

void RecoveryWatch::finish(Instant until, Retries retries, const RequestStream& stream, std::vector<Recovery>& ended) {
    if (!is_open()) return;
    Open& open = opened();
    Recovery& episode = open.episode;
    if (phase_ == RecoveryPhase::settled) return close(RecoveryEnd::recovered, ended);
    const Instant last = std::max(open.trigger_time, open.round_time);
    episode.time.end_at(last);
    const bool silent = until - last > patience() + patience();
    const bool exhausted = is_exhausted(episode, retries);
    const bool rnr = episode.kind == RecoveryKind::rnr_nak;
    // Taken: a receive was posted. Or a READ before it lacks its response: that may be what the requester gave up for.
    const bool other = rnr && (episode.psn.before(stream.acknowledged()) || stream.answered().before(episode.psn));
    // An answer to the last round, of which the capture may lack a part: nobody need send again.
    const bool heard = !rnr && open.heard_time > open.round_time && !exhausted;
    const bool sequence =
        episode.kind == RecoveryKind::sequence_nak && episode.rounds == 0;  // nobody gives up for one NAK
    close(!sequence && !heard && !other && !open.perhaps_sent && (silent || exhausted) ? RecoveryEnd::gave_up
                                                                                       : RecoveryEnd::open,
          ended);
}

}  // namespace qps::transport
