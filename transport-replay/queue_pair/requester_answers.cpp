// What comes back: acknowledgments, responses, NAKs; and what becomes of the work requests they are about.
#include <dissect/base/timers.hpp>
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/queue_pair/requester.hpp>

#include <algorithm>
#include <array>
#include <bit>

namespace qps::transport {

using namespace dissect;

namespace {

// Answered by a READ response without payload (A19).
constexpr bool is_confirmed(WorkKind kind) { return kind == WorkKind::atomic_write || kind == WorkKind::flush; }

}  // namespace

void Requester::process(const TransportPacket& response, Instant now) {
    const OpcodeRow& row = info(response.opcode);
    // The first bit of the syndrome is reserved: what has it is no answer that anybody defined (9.7.5.2.1).
    constexpr std::uint8_t kReservedBit = 0x80;
    const bool reserved = response.acknowledgment && (response.acknowledgment->syndrome & kReservedBit) != 0;
    const bool answers =
        row.defined && !row.request && row.service == settings_.service && state_ != RequesterState::error && !reserved;
    const bool outstanding = !response.psn.before(unacknowledged_) && response.psn.before(sent_);
    // Of the last one acknowledged: says nothing new but the credits (9.7.7.2).
    const bool repeats = response.psn + 1 == unacknowledged_ && row.verb == Verb::acknowledge;
    if (answers && response.acknowledgment && (outstanding || repeats)) take_credits(*response.acknowledgment);
    if (!answers || !outstanding) {
        ++counts_.ghosts;
        return;
    }
    if (row.verb == Verb::read_response) return on_read_response(response, now);
    if (row.verb == Verb::atomic_acknowledge) return on_atomic_acknowledgment(response, now);
    if (!response.acknowledgment) return;
    switch (static_cast<SyndromeType>(response.acknowledgment->type())) {
        case SyndromeType::ack: return on_acknowledgment(response, now);
        case SyndromeType::rnr_nak: return on_rnr(response, now);
        case SyndromeType::nak: return on_negative(response, now);
        case SyndromeType::reserved: ++counts_.ghosts;
    }
}

// The limit only rises: an older acknowledgment that comes late takes nothing back.
void Requester::take_credits(const Acknowledgment& acknowledgment) {
    if (!limited_ || acknowledgment.type() != static_cast<std::uint8_t>(SyndromeType::ack)) return;
    if (acknowledgment.code() == kUnlimitedCredits) {
        limited_ = false;
        return;
    }
    const Psn limit(static_cast<std::uint32_t>(acknowledgment.msn) + kCredits[acknowledgment.code()]);
    if (Psn(limit_).before(limit)) limit_ = limit.value();
}

// A response at `psn` says that everything before it was executed; a READ or ATOMIC on the way whose response is
// missing is thereby refused (implied NAK, 9.7.5.1.1). True where `psn` is now the oldest outstanding.
bool Requester::acknowledge_before(Psn psn, Instant now) {
    Psn reached = unacknowledged_;
    while (reached.before(psn) && !work_.empty() && !work_.front().expects_response()) {
        if (psn.before(work_.front().end())) {
            reached = psn;
        } else {
            reached = work_.front().end();
            complete_front(CompletionStatus::success);
        }
    }
    if (reached != unacknowledged_) progress(reached, now);
    return reached == psn;
}

void Requester::progress(Psn unacknowledged, Instant now) {
    unacknowledged_ = unacknowledged;
    if (probe_ && !unacknowledged_.before(probe_->behind)) probe_.reset();
    if (next_.before(unacknowledged)) next_ = unacknowledged;
    reading_again_ = false;
    retries_left_ = settings_.retries;
    rnr_retries_left_ = settings_.rnr_retries;
    move(work_.empty() ? RequesterEvent::all_acknowledged : RequesterEvent::acknowledged);
    deadline_.reset();
    if (state_ == RequesterState::active && unacknowledged_ != next_) arm(now);
}

void Requester::on_acknowledgment(const TransportPacket& response, Instant now) {
    const auto probe = probe_;
    if (!acknowledge_before(response.psn + 1, now)) return implied_nak(now);
    if (probe && !probe_) round_trip_ = now - probe->sent;
}

void Requester::on_rnr(const TransportPacket& response, Instant now) {
    if (!acknowledge_before(response.psn, now)) return implied_nak(now);
    if (!step(kRequesterMachine, state_, RequesterEvent::rnr_nak)) {
        ++counts_.ghosts;
        return;
    }
    ++counts_.rnr_naks;
    if (rnr_retries_left_ == 0) return fail(CompletionStatus::rnr_retry_exceeded);
    if (settings_.rnr_retries != kInfiniteRnrRetries) --rnr_retries_left_;
    rewind();
    deadline_.reset();
    rnr_until_ = now + rnr_wait(response.acknowledgment->code());  // not earlier (C9-130)
    move(RequesterEvent::rnr_nak);
}

void Requester::on_negative(const TransportPacket& response, Instant now) {
    constexpr std::array kFatal{CompletionStatus::remote_invalid_request, CompletionStatus::remote_access_error,
                                CompletionStatus::remote_operational_error};
    const std::uint8_t code = response.acknowledgment->code();
    if (code == 0) {
        if (!acknowledge_before(response.psn, now)) return implied_nak(now);
        if (!step(kRequesterMachine, state_, RequesterEvent::go_back) || next_ == unacknowledged_) {
            ++counts_.ghosts;  // waiting, or going back already
            return;
        }
        ++counts_.sequence_naks;
        return go_back(now);
    }
    if (code > kFatal.size()) {  // reserved, or of RD: never a success
        ++counts_.ghosts;
        return;
    }
    ++counts_.fatal_naks;
    static_cast<void>(acknowledge_before(response.psn, now));
    fail_at(response.psn, kFatal[code - 1U]);
}

void Requester::on_read_response(const TransportPacket& response, Instant now) {
    if (!acknowledge_before(response.psn, now)) return implied_nak(now);
    const Work& work = work_.front();
    const Place place = info(response.opcode).place;
    const bool last = response.psn + 1 == work.end();
    if (last != ends_message(place)) return fail(CompletionStatus::bad_response);
    if (is_confirmed(work.request.kind)) {
        if (place != Place::only || !response.payload.empty()) return fail(CompletionStatus::bad_response);
    } else if (work.request.kind == WorkKind::read) {
        const std::uint32_t offset = work.first.steps_to(response.psn) * bytes_of(settings_.mtu);
        if (response.payload.size() != std::min(bytes_of(settings_.mtu), work.length - offset))
            return fail(CompletionStatus::local_length_error);
        scatter(work.request.segments, offset, response.payload);
    } else {
        return fail(CompletionStatus::bad_response);
    }
    if (last) complete_front(CompletionStatus::success);
    progress(response.psn + 1, now);
}

void Requester::on_atomic_acknowledgment(const TransportPacket& response, Instant now) {
    if (!acknowledge_before(response.psn, now)) return implied_nak(now);
    if (!is_atomic(work_.front().request.kind) || !response.atomic_result) return fail(CompletionStatus::bad_response);
    const auto original = std::bit_cast<std::array<std::byte, sizeof(std::uint64_t)>>(*response.atomic_result);
    scatter(work_.front().request.segments, 0, original);
    complete_front(CompletionStatus::success);
    progress(response.psn + 1, now);
}

// The responses still on their way say it again and again; the first one counts until something arrives that was
// missing.
void Requester::implied_nak(Instant now) {
    if (reading_again_ || next_ == unacknowledged_ || !step(kRequesterMachine, state_, RequesterEvent::go_back)) {
        ++counts_.ghosts;
        return;
    }
    ++counts_.implied_naks;
    reading_again_ = true;
    go_back(now);
}

void Requester::go_back(Instant now) {
    if (retries_left_ == 0) return fail(CompletionStatus::retry_exceeded);
    --retries_left_;
    rewind();
    move(RequesterEvent::go_back);
    arm(now);
}

// The oldest outstanding PSN is the next one: it always belongs to the front of the queue.
void Requester::rewind() {
    next_ = unacknowledged_;
    at_ = 0;
    awaited_ = 0;
    probe_.reset();
}

void Requester::finish_front(CompletionStatus status) {
    const Work& work = work_.front();
    completions_.push_back(
        {work.request.id, work.request.kind, status, work.first, work.end() + Psn::kMask, work.length});
    if (at_ > 0) {
        --at_;
        if (work.expects_response()) --awaited_;
    }
    work_.pop_front();
}

// What was done locally and waited only for its turn completes with it.
void Requester::complete_front(CompletionStatus status) {
    finish_front(status);
    complete_local();
}

// The request at the front has the status.
void Requester::fail(CompletionStatus status) {
    complete_front(status);
    flush_all();
}

// The request at fault has the status; everything else is flushed (C9-220).
void Requester::fail_at(Psn psn, CompletionStatus status) {
    bool found = false;
    while (!work_.empty()) {
        const Work& work = work_.front();
        const bool at_fault = !found && !psn.before(work.first) && psn.before(work.end());
        found = found || at_fault;
        complete_front(at_fault ? status : CompletionStatus::flushed);
    }
    flush_all();
}

}  // namespace qps::transport
