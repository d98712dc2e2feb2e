// Responses of READs and ATOMICs as RequestStream takes them: which of them are due, late, missing, or of an earlier
// request.
#include <transport-replay/model/path_mtu.hpp>
#include <transport-replay/tracking/request_stream.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

// Neither seen again, nor asked for before the capture began.
bool asked_once(const Message& read) { return read.retransmissions == 0 && !read.restarting; }

// The request may have been seen before the path MTU was known: now it is told how many PSNs it takes.
void widen(Message& read, std::uint32_t pmtu) {
    if (read.verb == Verb::read_request && read.last == read.first && read.access && pmtu != 0)
        read.last = read.first + (packets_of(read.access->length, pmtu) - 1);
}

// Whether the network delayed it: its sender, who counts, sent a later one that passed before it.
bool overtaken(Message& run, const Observation& response) {
    const bool behind = run.newest_ip_id != 0 && static_cast<std::int16_t>(response.ip_id - run.newest_ip_id) < 0;
    if (response.ip_id != 0 && !behind) run.newest_ip_id = response.ip_id;
    return response.ip_id != 0 && behind;
}

}  // namespace

// READs are asked for in order: with this one, all before it had been asked for before the capture began.
void RequestStream::ask_again_through(Psn psn) {
    for (Message& read : open_runs()) {
        if (read.verb != Verb::read_request || psn.before(read.first)) continue;
        read.restarting = true;
    }
}

void RequestStream::perhaps_again(Psn psn) {
    const Index at = run_at_or_before(psn);
    if (at != kNone && runs_[at].covers(psn) && runs_[at].verb == Verb::read_request) runs_[at].restarting = true;
}

void RequestStream::doubled(Psn psn) {
    if (const Index at = run_at_or_before(psn); at != kNone && runs_[at].covers(psn)) runs_[at].doubled = true;
}

Responded RequestStream::respond(const Observation& response, std::uint32_t pmtu, Duration best,
                                 std::vector<Message>& done) {
    Responded result;
    if (inferred_pmtu_ != 0 && pmtu != 0 && pmtu != inferred_pmtu_) take_back(std::exchange(inferred_pmtu_, 0), pmtu);
    Index at = run_at_or_before(response.psn);
    if (at == kNone || !runs_[at].may_have_response()) return result;
    // To a sending before the capture began: what is asked for again is answered again.
    if (response.time < runs_[at].first_time) {
        // One that begins its READ may have been recorded before the request that it answers.
        if (response.psn != runs_[at].first || runs_[at].first_time - response.time > kLatestRequest)
            ask_again_through(response.psn);
        return result;
    }
    result.widened_from = runs_[at].last + 1;
    widen(runs_[at], pmtu);
    result.widened_to = runs_[at].last + 1;
    if (next_.before(runs_[at].last + 1)) next_ = runs_[at].last + 1;
    if (!runs_[at].covers(response.psn)) return result;
    result.matched = true;
    const Message& asked = runs_[at];
    if (at != head_ ||
        acknowledged_.before(asked.first)) {  // it acknowledges all that was sent before its request (9.7.5.1.2)
        result.before = advance(asked.first.previous(), asked.first_time, response, done);
        at = run_at_or_before(response.psn);
        if (at == kNone || !runs_[at].covers(response.psn)) return result;
    }
    Message& run = runs_[at];
    if (response.has_original) run.atomic_result = response.original;
    if (run.verb == Verb::read_request && answers_earlier(run, response)) {
        result.withdrawn = std::exchange(run.missing, 0);
        ask_again_through(response.psn);
        return result;
    }
    if (run.verb != Verb::read_request) run.response_next = run.last + 1;
    else if (!take_read_response(run, response, best, result)) return result;
    answered_ = true;
    if (acknowledged_.before(run.last + 1)) acknowledged_ = run.last + 1;
    // Behind a READ that lacks responses a requester takes none: whether it lacks them shows when it asks again, or
    // goes on.
    const auto earlier = open_runs().first(at - head_);
    result.passed_over = std::ranges::any_of(earlier, &Message::has_response);
    if (run.has_response() && result.passed_over) {
        run.passed = response.time;
        run.passed_frame = response.frame;
        return result;
    }
    complete(at, response, Outcome::completed, done);
    return result;
}

// A response inside of a READ, to what is asked for first: of a request that began before this one (9.7.5.1.3), and
// before the capture.
bool RequestStream::answers_earlier(const Message& run, const Observation& response) {
    return response.psn == run.first && !begins_message(info(response.opcode).place) && asked_once(run);
}

// Whether it was the last one, and no other is missing.
bool RequestStream::take_read_response(Message& run, const Observation& response, Duration best, Responded& result) {
    const std::int32_t distance = response.psn - run.response_next;
    const bool late = overtaken(run, response);
    if (distance < 0) {
        if (run.missing > 0 && asked_once(run) && response.ip_id != 0 && !late) {
            // Sent after those that passed before it: it was asked for again, and the capture lacks that request.
            result.withdrawn = std::exchange(run.missing, 0);
            run.response_next = response.psn + 1;
        } else if (run.missing > 0 && asked_once(run) &&
                   response.psn + 1 != run.response_next) {      // the one before it passed twice
            (run.doubled ? result.withdrawn : result.late) = 1;  // of the second request, or its first
            --run.missing;
            run.bytes += response.payload_length;
        } else {
            result.repeated = true;
            const bool answered = run.passed && run.missing == 0 && run.response_next == run.last + 1;
            if (!answered || run.passes == kProven || response.psn != run.asked_again) return false;
            run.passed.reset();  // all of them again: the first time, one of a READ before this was missing
            run.response_next = response.psn + 1;
        }
    } else if (asked_once(run)) {  // holes may be the tap's
        run.bytes += response.payload_length;
        result.skipped = static_cast<std::uint32_t>(distance);
        run.missing += result.skipped;
        run.response_next = response.psn + 1;
    } else if (!take_in_order(run, response, distance, late ? Duration{} : best, result)) {
        return false;
    }
    if (run.response_next != run.last + 1) return false;
    if (run.missing != 0) {
        run.passed = response.time;
        run.passed_frame = response.frame;
    }
    return run.missing == 0;
}

// A READ that was asked for again: its requester takes no response but the one that is due, and those of the earlier
// request may still come, until one begins the new ones (9.7.5.1.3) or came no sooner than an answer can, and was not
// overtaken.
bool RequestStream::take_in_order(Message& run, const Observation& response, std::int32_t distance, Duration best,
                                  Responded& result) {
    if (distance > 0) {
        if (!run.restarting && run.missing == 0) {
            run.missing = result.skipped = run.not_passed(static_cast<std::uint32_t>(distance));
            result.hole = true;
        }
        if (run.ahead++ == 0 || run.ahead_to.before(response.psn)) run.ahead_to = response.psn;
        return false;
    }
    // The first of all may be that of the earlier request, late.
    const bool begins = begins_message(info(response.opcode).place) && response.psn != run.first;
    if (begins || (best > Duration{} && response.time - run.last_time >= best)) run.restarting = false;
    result.withdrawn = std::exchange(run.missing, 0);
    run.bytes += response.payload_length;
    run.response_next = response.psn + 1;
    return true;
}

}  // namespace qps::transport
