#include <transport-replay/model/path_mtu.hpp>
#include <transport-replay/tracking/request_stream.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

// PSNs that a request takes (9.7.3.1): a READ as many as its response has packets.
std::uint32_t span_of(const Observation& request, std::uint32_t pmtu) {
    if (info(request.opcode).verb != Verb::read_request || !request.access || pmtu == 0) return 1;
    return packets_of(request.access->length, pmtu);
}

// The run of a single packet.
Message run_of(const Observation& request, std::uint32_t span) {
    const OpcodeRow& row = info(request.opcode);
    Message run;
    run.service = service_of(request.opcode);
    run.verb = row.verb;
    run.first = run.asked_again = run.response_next = request.psn;
    run.last = request.psn + (span - 1);
    run.starts = begins_message(row.place);
    run.ends = ends_message(row.place);
    run.bytes = row.carries_payload ? request.payload_length : 0;
    run.packets = 1;
    run.first_time = run.last_time = request.time;
    run.first_frame = run.last_frame = request.frame;
    run.access = request.access;
    run.atomic = request.atomic;
    run.immediate = request.immediate;
    run.invalidate = request.invalidate;
    return run;
}

// Adds the run that follows in PSN order to the one before it.
void absorb(Message& run, const Message& next) {
    run.last = next.last;
    run.ends = next.ends;
    run.bytes += next.bytes;
    run.packets += next.packets;
    run.retransmissions += next.retransmissions;
    run.missing += next.missing;
    if (next.first_time < run.first_time) {
        run.first_time = next.first_time;
        run.first_frame = next.first_frame;
    }
    if (run.last_time < next.last_time) {
        run.last_time = next.last_time;
        run.last_frame = next.last_frame;
    }
    if (!run.access) run.access = next.access;
    if (next.immediate) run.immediate = next.immediate;
    if (next.invalidate) run.invalidate = next.invalidate;
}

bool fit_together(const Message& run, const Message& next) {
    return !run.ends && !next.starts && run.verb == next.verb;
}
bool belong_together(const Message& run, const Message& next) {
    return fit_together(run, next) && run.last + 1 == next.first;
}

// Adds the packet that follows the run in the same message.
void extend(Message& run, const Observation& request, const OpcodeRow& row) {
    run.last = request.psn;
    run.ends = ends_message(row.place);
    if (row.carries_payload) run.bytes += request.payload_length;
    ++run.packets;
    run.last_time = request.time;
    run.last_frame = request.frame;
    if (request.immediate) run.immediate = request.immediate;
    if (request.invalidate) run.invalidate = request.invalidate;
}

}  // namespace

RequestStream::Index RequestStream::run_at_or_before(Psn psn) const {
    const auto begin = runs_.begin() + static_cast<std::ptrdiff_t>(head_);
    const auto after =
        std::upper_bound(begin, runs_.end(), psn, [](Psn a, const Message& run) { return a.before(run.first); });
    return after == begin ? kNone : static_cast<Index>(after - runs_.begin()) - 1;
}

const Message* RequestStream::covering(Psn psn) const {
    const Index run = run_at_or_before(psn);
    return run != kNone && runs_[run].covers(psn) ? &runs_[run] : nullptr;
}

bool RequestStream::may_reach(Psn psn, std::uint32_t pmtu) const {
    if (open() == 0 || pmtu == 0) return false;
    const Message& read = runs_.back();
    if (read.verb != Verb::read_request || !read.access || psn.before(read.first)) return false;
    return static_cast<std::uint32_t>(psn - read.first) < packets_of(read.access->length, pmtu);
}

bool RequestStream::waits_for(Psn psn) const { return covering(psn) != nullptr; }

void RequestStream::begin_at(Psn psn) {
    started_ = answered_ = announced_ = true;
    next_ = acknowledged_ = psn;
}

void RequestStream::append(const Observation& request, std::uint32_t span) {
    next_ = request.psn + span;
    const OpcodeRow& row = info(request.opcode);
    if (open() != 0) {
        Message& back = runs_.back();
        if (!back.ends && !begins_message(row.place) && back.verb == row.verb && back.last + 1 == request.psn)
            return extend(back, request, row);
    }
    if (runs_.size() == runs_.capacity() && head_ >= open()) let_go_of_removed();  // rather than grow
    runs_.push_back(run_of(request, span));
    if (runs_.back().has_response()) ++reads_open_;
}

// Each message moves once, on average, if no fewer were removed than are left.
void RequestStream::let_go_of_removed() {
    runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
}

// Joins a run with its neighbours where they are one message.
void RequestStream::join(Index run) {
    if (run + 1 < runs_.size() && belong_together(runs_[run], runs_[run + 1])) {
        absorb(runs_[run], runs_[run + 1]);
        runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(run) + 1);
    }
    if (run > head_ && belong_together(runs_[run - 1], runs_[run])) {
        absorb(runs_[run - 1], runs_[run]);
        runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(run));
    }
}

// Returns the PSN behind it.
Psn RequestStream::insert_late(const Observation& request, std::uint32_t span) {
    const Index before = run_at_or_before(request.psn);
    const Index at = before == kNone ? head_ : before + 1;
    const Psn limit = at < runs_.size() ? runs_[at].first : next_;
    if (limit.before(request.psn + span)) span = static_cast<std::uint32_t>(std::max(1, limit - request.psn));
    runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(at), run_of(request, span));
    if (runs_[at].has_response()) ++reads_open_;
    join(at);
    return request.psn + span;
}

void RequestStream::restart(const Observation& request, std::uint32_t span, std::vector<Message>& done) {
    finish(Outcome::abandoned, done);
    done_reads_.clear();  // of the queue pair that was
    acknowledged_ = request.psn;
    answered_ = false;
    append(request, span);
}

RequestArrival RequestStream::repeat(const Observation& request) {
    RequestArrival arrived{
        .arrival = Arrival::repeated, .answered = request.psn.before(acknowledged_), .behind = request.psn + 1};
    const Index index = run_at_or_before(request.psn);
    if (index == kNone || !runs_[index].covers(request.psn)) {
        for (DoneRead& read : done_reads_) {
            if (request.psn.before(read.first) || read.last.before(request.psn)) continue;
            arrived.behind = read.last + 1;
            arrived.partial_read = request.psn != read.first && request.psn != read.asked_again;
            // Asked for once more from its middle: what passed before answered an earlier request, and did not arrive.
            if (request.psn != read.first && request.psn == read.asked_again) {
                arrived.answered = false;
                arrived.holes = 1;
            }
            read.asked_again = request.psn;
            arrived.missed_after_all = std::exchange(read.missing, 0);
        }
        return arrived;
    }
    Message& run = runs_[index];
    arrived.original = run.first_frame;
    if (request.psn == run.first) arrived.first_time = run.first_time;
    ++run.retransmissions;
    run.last_time = request.time;
    run.last_frame = request.frame;
    if (run.has_response()) {
        arrived.answered = false;  // or it would not be open
        arrived.behind = run.last + 1;
        arrived.partial_read = request.psn != run.first && request.psn != run.asked_again;
        run.asked_again = request.psn;
        if (request.psn != run.first) took_all_before(index, request);
        arrived.holes = std::exchange(run.missing, 0);
        run.passed.reset();
        run.passes = 0;
        run.passed_last = {};
        run.restarting = true;
        run.ahead = 0;
        run.response_next = request.psn;
    }
    return arrived;
}

// Responses are taken in order: who has the beginning of this READ has every response before it, seen here or not
// (9.7.5.1.2).
void RequestStream::took_all_before(Index index, const Observation& request) {
    if (!answered_) return;  // of a capture without answers nothing is said of them
    for (Message& earlier : open_runs().first(index - head_)) {
        if (!earlier.has_response()) continue;
        if (!earlier.passed) {
            earlier.passed = request.time;
            earlier.passed_frame = request.frame;
        }
        earlier.passes = kProven;
        if (earlier.retransmissions == 0) continue;
        earlier.missing = 0;  // an earlier round may have had them
        earlier.response_next = earlier.last + 1;
    }
}

RequestArrival RequestStream::send(const Observation& request, std::uint32_t pmtu, std::vector<Message>& done,
                                   std::size_t most_open) {
    if (inferred_pmtu_ != 0 && request.psn != next_) pmtu = correct_guess(request, pmtu);
    const std::uint32_t span = span_of(request, pmtu);
    const bool elsewhere = std::exchange(announced_, false) && request.psn.before(next_);
    if (!started_ || elsewhere) {
        begin_at(request.psn);
        answered_ = announced_ = false;
        append(request, span);
        return {.arrival = Arrival::first};
    }
    std::int32_t distance = request.psn - next_;
    if (distance == 0) [[likely]] {
        append(request, span);
    } else if (std::abs(distance) > kRestartDistance) {
        restart(request, span, done);
        return {.arrival = Arrival::restart};
    } else if (distance < 0) {
        if (waits_for(request.psn) || (answered_ && request.psn.before(acknowledged_))) return repeat(request);
        if (request.psn.before(acknowledged_))
            acknowledged_ = request.psn;  // the stream began before the first packet seen
        const Psn behind = insert_late(request, span);
        drop_oldest(most_open, done);
        return {.arrival = Arrival::late, .behind = behind};
    } else {
        const bool explained =
            pmtu == 0 && reads_explain(request, distance);  // else it is known how many PSNs the READ takes
        if (explained && request.psn.before(next_)) return repeat(request);  // the rest of the READ before it
        distance = explained ? 0 : widen_last_read(distance, pmtu);
        append(request, span);
    }
    drop_oldest(most_open, done);
    return {.arrival = distance == 0 ? Arrival::in_order : Arrival::ahead,
            .missing = static_cast<std::uint32_t>(distance)};
}

void RequestStream::drop_oldest(std::size_t most_open, std::vector<Message>& done) {
    while (open() > most_open) {
        ++dropped_;
        done.push_back(runs_[head_]);
        remove(head_);
    }
}

RequestArrival RequestStream::send_corrupt(const Observation& request) {
    constexpr std::int32_t kPlausible = 1024;  // farther, and the PSN itself is likely what is wrong
    if (!started_) {
        begin_at(request.psn);
        answered_ = false;
    }
    announced_ = false;
    const std::int32_t distance = request.psn - next_;
    if (distance >= kPlausible || distance < -kRestartDistance) return {};
    if (distance >= 0) {
        next_ = request.psn + 1;  // its length may be what is wrong
        return {.arrival = Arrival::ahead, .missing = static_cast<std::uint32_t>(distance)};
    }
    const bool there = waits_for(request.psn) || (answered_ && request.psn.before(acknowledged_));
    return {.arrival = there ? Arrival::repeated : Arrival::late, .answered = request.psn.before(acknowledged_)};
}

void RequestStream::remove(Index run) {
    if (runs_[run].has_response()) --reads_open_;
    if (run != head_) {
        runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(run));
    } else if (++head_ == runs_.size()) {
        runs_.clear();
        head_ = 0;
        if (runs_.capacity() > kKeptRoom) std::vector<Message>().swap(runs_);  // assigning {} keeps the memory
    } else if (head_ >= kKeptRoom && head_ >= open()) {
        let_go_of_removed();
        if (runs_.capacity() > kKeptRoom && runs_.capacity() / 4 > runs_.size()) runs_.shrink_to_fit();
    }
}

void RequestStream::complete(Index run, const Observation& answer, Outcome outcome, std::vector<Message>& done) {
    Message& message = done.emplace_back(runs_[run]);
    if (message.outcome == Outcome::open) {
        message.outcome = outcome;
        if (message.ends || message.answer_frame == FrameIndex{}) {
            message.answer_time = answer.time;
            message.answer_frame = answer.frame;
        }
    }
    if (message.has_response() && (message.first != message.last || message.missing != 0)) {
        if (done_reads_.size() == kDoneReads) done_reads_.erase(done_reads_.begin());
        done_reads_.push_back({message.first, message.last, message.asked_again, message.missing});
    }
    if (message.verb == Verb::read_request && message.access)  // what was sent again counts once
        message.bytes = message.missing == 0 ? message.access->length
                                             : std::min<std::uint64_t>(message.bytes, message.access->length);
    remove(run);
}

// A message of which everything seen is acknowledged, and its end was not seen. True where what follows belongs to it,
// and it is to be looked at again; false where it can only wait, or is complete as far as anybody will see.
bool RequestStream::bridge_gap(Index index, Psn end, Acknowledged& result) {
    Message& run = runs_[index];
    const Message& following = runs_[index + 1];
    if (end.before(following.first)) return false;
    const auto gap = static_cast<std::uint32_t>(std::max(0, following.first - acknowledged_));
    result.unseen += gap;
    run.missing += static_cast<std::uint32_t>(following.first - run.last) - 1;
    acknowledged_ = following.first;
    absorb(run, following);
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
    return true;
}

// An answer to what was sent after a READ or ATOMIC that waits for its response. Returns the run to look at next.
RequestStream::Index RequestStream::pass(Index index, std::optional<Instant> asked_at, const Observation& answer,
                                         Acknowledged& result, std::vector<Message>& done) {
    Message& run = runs_[index];
    if (acknowledged_.before(run.last + 1)) acknowledged_ = run.last + 1;
    // It answers what was sent before the capture began, and this is asked for again: whether it waits for a response
    // does not show yet.
    if (answer.time < run.first_time) return index + 1;
    // The requester goes on to new work without asking again: it has the response, the capture does not. Slow
    // requesters send and receive for a while before they notice that a response is missing.
    if (run.passes < kConvincing && run.passed && asked_at && *asked_at > std::max(*run.passed, run.passed_last)) {
        run.passed_last = answer.time;
        ++run.passes;
    }
    if (run.passes == kProven || (run.passes == kConvincing && answer.time - *run.passed >= kSlowestReaction)) {
        const std::uint32_t tail = run.not_passed(static_cast<std::uint32_t>(run.last + 1 - run.response_next));
        run.missing += tail;
        result.unseen_tail += tail;
        result.unseen_responses += run.missing;
        ++result.messages;
        const bool is_head = index == head_;
        const bool was_whole = tail == 0;
        const Instant passed = *run.passed;
        const FrameIndex passed_frame = run.passed_frame;
        complete(index, answer, Outcome::completed, done);
        if (was_whole) {
            done.back().answer_time = passed;
            done.back().answer_frame = passed_frame;
        }
        return is_head ? head_ : index;
    }
    if (!run.passed) {
        run.passed = answer.time;
        run.passed_frame = answer.frame;
        result.passed_response = true;
    }
    return index + 1;
}

Acknowledged RequestStream::acknowledge(Psn through, const Observation& answer, std::vector<Message>& done) {
    const Message* asked = covering(through);
    return advance(through, asked != nullptr ? std::optional(asked->first_time) : std::nullopt, answer, done);
}

Psn RequestStream::answered() const {
    return runs_.size() == head_ ? acknowledged_ : answered_from(runs_[head_].first);
}

Psn RequestStream::answered_from(Psn first) const {
    if (reads_open_ == 0) return acknowledged_;
    for (Index i = head_; i < runs_.size(); ++i)
        if (runs_[i].has_response() && !runs_[i].last.before(first))
            return runs_[i].first.before(acknowledged_) ? runs_[i].first : acknowledged_;
    return acknowledged_;
}

// Everything up to `through` was answered by an answer to what was asked at `asked_at`.
Acknowledged RequestStream::advance(Psn through, std::optional<Instant> asked_at, const Observation& answer,
                                    std::vector<Message>& done) {
    Acknowledged result;
    if (!started_ || through - next_ > kRestartDistance) return result;
    if (!std::exchange(answered_, true) && through.before(acknowledged_)) acknowledged_ = through + 1;
    result.again = through.before(acknowledged_);
    if (result.again && (open() == 0 || !runs_[head_].first.before(through + 1))) return result;
    const bool beyond = !through.before(next_);
    if (beyond) result.beyond = static_cast<std::uint32_t>(through - next_) + 1;
    const Psn end = beyond ? next_ : through + 1;
    Index at = head_;
    while (at < runs_.size() && runs_[at].first.before(end)) {
        Message& run = runs_[at];
        if (acknowledged_.before(run.first)) {
            result.unseen += static_cast<std::uint32_t>(run.first - acknowledged_);
            acknowledged_ = run.first;
        }
        if (run.has_response()) {
            if (run.covers(through)) break;  // only its own response completes it
            at = pass(at, asked_at, answer, result, done);
            continue;
        }
        if (!run.last.before(end)) {  // not all of it yet
            if (acknowledged_.before(end)) acknowledged_ = end;
            break;
        }
        if (acknowledged_.before(run.last + 1)) acknowledged_ = run.last + 1;
        if (!run.ends) {
            const bool is_last = at + 1 == runs_.size();
            if (!is_last && fit_together(run, runs_[at + 1]) && bridge_gap(at, end, result)) continue;
            if (is_last || end == run.last + 1 || fit_together(run, runs_[at + 1])) {  // the rest of it may still come
                if (acknowledged_.before(end)) {                                       // and the tap missed some of it
                    result.unseen += static_cast<std::uint32_t>(end - acknowledged_);
                    acknowledged_ = end;
                }
                run.answer_time = answer.time;
                run.answer_frame = answer.frame;
                break;
            }
            ++run.missing;  // one at least
        }
        ++result.messages;
        const bool is_head = at == head_;
        complete(at, answer, Outcome::completed, done);
        if (is_head) at = head_;
    }
    if (acknowledged_.before(end) && (at >= runs_.size() || !runs_[at].first.before(end))) {
        result.unseen += static_cast<std::uint32_t>(end - acknowledged_);
        acknowledged_ = end;
    }
    if (beyond) {
        result.unseen += result.beyond;
        next_ = acknowledged_ = through + 1;
    }
    return result;
}

std::optional<Message> RequestStream::fail(Psn psn, const Observation& answer) {
    const Index at = run_at_or_before(psn);
    if (at == kNone || !runs_[at].covers(psn)) return std::nullopt;
    Message& run = runs_[at];  // it stays, and what is behind it: packets of both may be under way
    run.outcome = Outcome::failed;
    run.nak_code = answer.acknowledgment ? answer.acknowledgment->code() : 0;
    run.answer_time = answer.time;
    run.answer_frame = answer.frame;
    return run;
}

void RequestStream::finish(Outcome outcome, std::vector<Message>& done, std::optional<Psn> given_up) {
    const std::span<Message> runs = open_runs();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        Message run = runs[i];
        while (i + 1 < runs.size() && fit_together(run, runs[i + 1])) {
            run.missing += static_cast<std::uint32_t>(runs[i + 1].first - run.last) - 1;
            absorb(run, runs[++i]);
        }
        // A READ that was answered to its last packet, with holes: the requester would have asked again by now.
        if (run.outcome == Outcome::open) {
            const bool answered = run.verb == Verb::read_request && run.passed && run.response_next == run.last + 1;
            const bool acknowledged = !run.has_response() && (run.last + 1).before(acknowledged_);
            if (acknowledged && !run.ends) ++run.missing;  // one at least
            run.outcome = (answered || acknowledged) && outcome == Outcome::open ? Outcome::completed : outcome;
            // With what its requester gave up for went those behind it.
            if (given_up && run.outcome == outcome && !run.last.before(*given_up))
                run.outcome = run.covers(*given_up) ? Outcome::gave_up : Outcome::abandoned;
            if (answered) {
                run.answer_time = *run.passed;
                run.answer_frame = run.passed_frame;
            }
            if (run.verb == Verb::read_request && run.access)
                run.bytes = std::min<std::uint64_t>(run.bytes, run.access->length);
        }
        done.push_back(run);
    }
    runs_.clear();
    head_ = 0;
    reads_open_ = 0;
}

}  // namespace qps::transport
