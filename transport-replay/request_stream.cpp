#include <transport-replay/request_stream.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

// PSNs that a request takes (9.7.3.1): a READ as many as its response has packets.
std::uint32_t span_of(const Observation& request, std::uint32_t pmtu) {
    if (info(request.opcode).verb != Verb::read_request || !request.access || pmtu == 0) return 1;
    return std::max<std::uint32_t>(1, (request.access->length + pmtu - 1) / pmtu);
}

bool begins(const Observation& request) {
    const Place place = info(request.opcode).place;
    return place == Place::first || place == Place::only;
}

bool finishes(const Observation& request) {
    const Place place = info(request.opcode).place;
    return place == Place::last || place == Place::only;
}

// The run of a single packet.
Message run_of(const Observation& request, std::uint32_t span) {
    Message run;
    run.service = service_of(request.opcode);
    run.verb = info(request.opcode).verb;
    run.first = request.psn;
    run.last = request.psn + (span - 1);
    run.starts = begins(request);
    run.ends = finishes(request);
    run.bytes = info(request.opcode).carries_payload ? request.payload_length : 0;
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
void absorb(Message& run, Message&& next) {
    run.last = next.last;
    run.ends = next.ends;
    run.bytes += next.bytes;
    run.packets += next.packets;
    run.retransmissions += next.retransmissions;
    if (next.first_time < run.first_time) {
        run.first_time = next.first_time;
        run.first_frame = next.first_frame;
    }
    if (run.last_time < next.last_time) {
        run.last_time = next.last_time;
        run.last_frame = next.last_frame;
    }
    if (next.immediate) run.immediate = next.immediate;
    if (next.invalidate) run.invalidate = next.invalidate;
}

bool belongs_together(const Message& run, const Message& next) {
    return !run.ends && !next.starts && run.verb == next.verb && run.last + 1 == next.first;
}

}  // namespace

RequestStream::Runs::iterator RequestStream::run_at_or_before(Psn psn) {
    const auto after = std::ranges::upper_bound(open_, psn, [](Psn a, Psn b) { return a.before(b); }, &Message::first);
    return after == open_.begin() ? open_.end() : after - 1;
}

bool RequestStream::waits_for(Psn psn) const {
    const auto after = std::ranges::upper_bound(open_, psn, [](Psn a, Psn b) { return a.before(b); }, &Message::first);
    return after != open_.begin() && (after - 1)->covers(psn);
}

void RequestStream::append(const Observation& request, std::uint32_t span) {
    Message run = run_of(request, span);
    next_ = run.last + 1;
    if (!open_.empty() && belongs_together(open_.back(), run)) absorb(open_.back(), std::move(run));
    else open_.push_back(std::move(run));
}

// Joins a run with its neighbours where they are one message.
void RequestStream::join(const Runs::iterator& run) {
    if (run + 1 != open_.end() && belongs_together(*run, *(run + 1))) {
        absorb(*run, std::move(*(run + 1)));
        open_.erase(run + 1);
    }
    if (run != open_.begin() && belongs_together(*(run - 1), *run)) {
        absorb(*(run - 1), std::move(*run));
        open_.erase(run);
    }
}

void RequestStream::insert_late(const Observation& request) {
    const auto after = std::ranges::upper_bound(open_, request.psn, [](Psn a, Psn b) { return a.before(b); }, &Message::first);
    join(open_.insert(after, run_of(request, 1)));
}

Arrived RequestStream::send(const Observation& request, std::uint32_t pmtu, std::vector<Message>& done) {
    const std::uint32_t span = span_of(request, pmtu);
    if (!started_) {
        started_ = true;
        acknowledged_ = request.psn;
        append(request, span);
        return {Arrival::first, 0};
    }
    const std::int32_t distance = request.psn - next_;
    if (std::abs(distance) > kRestartDistance) {
        finish(Outcome::abandoned, done);
        acknowledged_ = request.psn;
        append(request, span);
        return {Arrival::restart, 0};
    }
    if (distance >= 0) {
        append(request, span);
        while (open_.size() > kMaxOpen) {
            ++dropped_;
            done.push_back(std::move(open_.front()));
            open_.pop_front();
        }
        return {distance == 0 ? Arrival::in_order : Arrival::ahead, static_cast<std::uint32_t>(distance)};
    }
    const auto run = run_at_or_before(request.psn);
    if (run != open_.end() && run->covers(request.psn)) {
        ++run->retransmissions;
        run->last_time = request.time;
        run->last_frame = request.frame;
        return {Arrival::repeated, 0};
    }
    if (request.psn.before(acknowledged_)) return {Arrival::repeated, 0};  // answered already: a duplicate request
    insert_late(request);
    return {Arrival::late, 0};
}

void RequestStream::complete_front(const Observation& answer, Outcome outcome, std::vector<Message>& done) {
    Message& message = open_.front();
    message.outcome = outcome;
    message.answer_time = answer.time;
    message.answer_frame = answer.frame;
    done.push_back(std::move(message));
    open_.pop_front();
}

Acknowledged RequestStream::acknowledge(Psn through, const Observation& answer, std::vector<Message>& done) {
    Acknowledged result;
    if (!started_ || through.before(acknowledged_)) return result;
    result.beyond = !through.before(next_);
    const Psn end = result.beyond ? next_ : through + 1;
    while (!open_.empty() && open_.front().first.before(end)) {
        Message& message = open_.front();
        if (message.has_response()) {  // only its own response completes it; what is behind it was not acknowledged by this
            result.passed_response = !message.covers(through);
            return result;
        }
        if (acknowledged_.before(message.first)) result.unseen += static_cast<std::uint32_t>(message.first - acknowledged_);
        if (!message.last.before(end)) {  // not all of it yet
            acknowledged_ = end;
            break;
        }
        acknowledged_ = message.last + 1;
        if (!message.ends) {
            if (acknowledged_ == end) break;  // the rest of it may still come
            // Acknowledged beyond its last packet seen: the tap missed the rest, up to the next run of it or its end.
            if (open_.size() > 1 && !open_[1].starts && open_[1].verb == message.verb && open_[1].first.before(end)) {
                const auto gap = static_cast<std::uint32_t>(open_[1].first - acknowledged_);
                result.unseen += gap;
                message.missing += gap;
                acknowledged_ = open_[1].first;
                absorb(message, std::move(open_[1]));
                open_.erase(open_.begin() + 1);
                continue;
            }
            ++message.missing;
        }
        ++result.messages;
        complete_front(answer, Outcome::completed, done);
    }
    if (acknowledged_.before(end)) {
        if (open_.empty() || end.before(open_.front().first) || end == open_.front().first) {
            result.unseen += static_cast<std::uint32_t>(end - acknowledged_);
            acknowledged_ = end;
        }
    }
    if (result.beyond) {
        result.unseen += static_cast<std::uint32_t>(through + 1 - next_);
        next_ = acknowledged_ = through + 1;
        open_.clear();
    }
    return result;
}

bool RequestStream::respond(const Observation& response, std::uint32_t pmtu, std::vector<Message>& done) {
    auto run = run_at_or_before(response.psn);
    if (run == open_.end() || !run->has_response()) return false;
    if (run->verb == Verb::read_request && run->last == run->first && run->access && pmtu != 0) {
        // The request may have been seen before the path MTU was known: now it is told how many PSNs it takes.
        const std::uint32_t span = std::max<std::uint32_t>(1, (run->access->length + pmtu - 1) / pmtu);
        run->last = run->first + (span - 1);
        if (next_.before(run->last + 1)) next_ = run->last + 1;
    }
    if (!run->covers(response.psn)) return false;
    // A response acknowledges all that was sent before its request (9.7.5.1.2).
    const Psn first = run->first;
    if (open_.front().first.before(first)) {
        constexpr std::uint32_t kMinusOne = Psn::kMask;  // modulo 2^24
        static_cast<void>(acknowledge(first + kMinusOne, response, done));
        run = run_at_or_before(response.psn);
        if (run == open_.end()) return false;
    }
    if (run->verb == Verb::read_request) run->bytes += response.payload_length;
    if (response.atomic_result) run->atomic_result = response.atomic_result;
    const bool last = run->verb != Verb::read_request || response.psn == run->last;
    if (!last) return true;
    if (acknowledged_.before(run->last + 1)) acknowledged_ = run->last + 1;
    run->outcome = Outcome::completed;
    run->answer_time = response.time;
    run->answer_frame = response.frame;
    done.push_back(std::move(*run));
    open_.erase(run);
    return true;
}

std::optional<Message> RequestStream::fail(Psn psn, const Observation& answer, std::vector<Message>& done) {
    const auto run = run_at_or_before(psn);
    if (run == open_.end() || !run->covers(psn)) return std::nullopt;
    run->outcome = Outcome::failed;
    run->nak_code = answer.acknowledgment ? answer.acknowledgment->code() : 0;
    run->answer_time = answer.time;
    run->answer_frame = answer.frame;
    Message failed = *run;
    finish(Outcome::abandoned, done);
    return failed;
}

void RequestStream::finish(Outcome outcome, std::vector<Message>& done) {
    for (Message& message : open_) {
        if (message.outcome == Outcome::open) message.outcome = outcome;
        done.push_back(std::move(message));
    }
    open_.clear();
}

}  // namespace qps::transport
