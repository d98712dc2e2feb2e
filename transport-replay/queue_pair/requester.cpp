// What goes out: work requests queued, their packets in order, timers. requester_answers.cpp has what comes back.
#include <dissect/base/timers.hpp>
#include <transport-replay/queue_pair/requester.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Instant kAtOnce{std::numeric_limits<std::int64_t>::min()};

constexpr Verb verb_of(WorkKind kind) {
    switch (kind) {
        case WorkKind::send:
        case WorkKind::send_with_immediate:
        case WorkKind::send_with_invalidate: return Verb::send;
        case WorkKind::write:
        case WorkKind::write_with_immediate: return Verb::write;
        case WorkKind::read: return Verb::read_request;
        case WorkKind::fetch_add: return Verb::fetch_add;
        case WorkKind::compare_swap: return Verb::compare_swap;
        case WorkKind::atomic_write: return Verb::atomic_write;
        case WorkKind::flush: return Verb::flush;
        case WorkKind::local_invalidate:
        case WorkKind::bind_window:
        case WorkKind::register_region: break;
    }
    return Verb::notify;  // no packet
}

constexpr bool is_local(WorkKind kind) { return kind >= WorkKind::local_invalidate; }
constexpr bool sends_payload(WorkKind kind) {
    return kind <= WorkKind::write_with_immediate || kind == WorkKind::atomic_write;
}
constexpr bool with_immediate(WorkKind kind) {
    return kind == WorkKind::send_with_immediate || kind == WorkKind::write_with_immediate;
}

// Operation codes of every kind and place, looked up once by the headers they have.
constexpr auto kRequestCodes = [] {
    std::array<std::array<std::uint8_t, 4>, kWorkKindNames.size()> codes{};
    for (std::size_t kind = 0; kind < codes.size(); ++kind)
        for (const Operation& row : opcode_rows::kOperations) {
            const auto work = static_cast<WorkKind>(kind);
            const bool ends = ends_message(row.place);
            const auto has = [&](LayerKind header) { return row.headers[0] == header || row.headers[1] == header; };
            if (row.request && row.verb == verb_of(work) && has(LayerKind::immdt) == (ends && with_immediate(work)) &&
                has(LayerKind::ieth) == (ends && work == WorkKind::send_with_invalidate))
                codes[kind][static_cast<std::size_t>(row.place)] = row.code;
        }
    return codes;
}();

bool service_has(Service service, WorkKind kind) {
    if (is_acknowledged(service)) return true;
    if (kind == WorkKind::send || kind == WorkKind::send_with_immediate)
        return service == Service::uc || service == Service::ud;
    return service == Service::uc && (verb_of(kind) == Verb::write || is_local(kind));
}

Place place_of(std::uint32_t index, std::uint32_t packets) {
    if (packets == 1) return Place::only;
    return index == 0 ? Place::first : index + 1 == packets ? Place::last : Place::middle;
}

// The length of the message, or nothing where there is no such message.
std::optional<std::uint32_t> message_length(const WorkRequest& work) {
    constexpr std::uint64_t kMaxMessage = std::uint64_t{1} << 31;  // 9.7.4.1.6
    if (work.segments.size() > kMaxSegments || work.inlined.size() > kMaxInline) return std::nullopt;
    if (is_local(work.kind))
        return (work.kind == WorkKind::bind_window) == work.window.has_value() ? std::optional(0U) : std::nullopt;
    std::uint64_t length = length_of(work.segments);
    if (!work.inlined.empty()) {
        if (!sends_payload(work.kind)) return std::nullopt;
        length = work.inlined.size();
    }
    if (work.kind == WorkKind::flush || (work.kind == WorkKind::read && work.segments.empty()))
        length = work.remote.length;
    if (is_atomic(work.kind) && work.segments.empty()) length = kAtomicLength;
    if ((is_atomic(work.kind) || work.kind == WorkKind::atomic_write) && length != kAtomicLength && !work.unusable)
        return std::nullopt;
    if (length > kMaxMessage) return std::nullopt;
    return static_cast<std::uint32_t>(length);
}

}  // namespace

std::optional<Duration> ack_timeout_of(std::uint8_t code) {
    if (code == 0 || code > kMostTimeoutCode) return std::nullopt;
    return timeout_of(code);
}

Opcode request_opcode(Service service, WorkKind kind, Place place) {
    const std::uint8_t code = kRequestCodes[static_cast<std::size_t>(kind)][static_cast<std::size_t>(place)];
    return static_cast<Opcode>(std::to_underlying(service) << 5 | code);
}

bool Requester::Work::expects_response() const { return (request.kind >= WorkKind::read && !is_local(request.kind)); }
bool Requester::Work::takes_receive() const {
    return verb_of(request.kind) == Verb::send || with_immediate(request.kind);
}

Requester::Requester(const RequesterSettings& settings)
    : settings_(settings),
      limited_(settings.end_to_end_credits),
      unacknowledged_(settings.first),
      next_(settings.first),
      sent_(settings.first),
      posted_(settings.first),
      retries_left_(std::min(settings.retries, kMaxRetries)),
      rnr_retries_left_(std::min(settings.rnr_retries, kInfiniteRnrRetries)) {
    settings_.retries = retries_left_;
    settings_.rnr_retries = rnr_retries_left_;
    settings_.window = std::clamp(settings.window, 1U, kMaxOutstanding / 2);
}

void Requester::move(RequesterEvent event) { state_ = step(kRequesterMachine, state_, event).value_or(state_); }

bool Requester::post(WorkRequest work) {
    const auto length = message_length(work);
    if (!step(kRequesterMachine, state_, RequesterEvent::post) || !service_has(settings_.service, work.kind))
        return false;
    if (!length || work_.size() + completions_.size() >= kMaxWork) return false;
    Work row{.request = std::move(work), .first = posted_, .length = *length};
    if (row.expects_response() && settings_.initiator_depth == 0) return false;
    const bool one = is_atomic(row.request.kind) || row.request.kind == WorkKind::flush;
    row.packets = one ? 1 : packets_of(row.length, settings_.mtu);
    if (is_local(row.request.kind)) row.packets = 0;
    if (row.packets >= kMaxOutstanding || (settings_.service == Service::ud && row.packets > 1)) return false;
    if (row.request.unusable) {
        row.packets = 0;
        row.fails = CompletionStatus::local_protection_error;
    }
    if (!row.local()) posted_messages_ = (posted_messages_ + 1) & Psn::kMask;
    row.sequence = posted_messages_;
    posted_ = row.end();
    work_.push_back(std::move(row));
    move(RequesterEvent::post);
    return true;
}

std::vector<Completion> Requester::take_completions() {
    std::vector<Completion> all;
    all.reserve(completions_.size());
    while (auto completion = take_completion()) all.push_back(*completion);
    return all;
}

std::optional<Completion> Requester::take_completion() {
    if (completions_.empty()) return std::nullopt;
    const Completion completion = completions_.front();
    completions_.pop_front();
    return completion;
}

// The work request that owns the next PSN; nullptr where none does yet.
const Requester::Work* Requester::current() const { return at_ < work_.size() ? &work_[at_] : nullptr; }

bool Requester::may_begin(const Work& work) const {
    const bool again = next_.before(sent_);
    if (draining_ && next_ == work.first && !again) return false;
    return !work.request.fence || awaited_ == 0;
}

bool Requester::may_send(const Work& work) const {
    if (work.local() || !may_begin(work) || !has_credit(work)) return false;
    const std::uint32_t open = unacknowledged_.steps_to(next_);
    if (open >= settings_.window) return false;
    if (!work.expects_response()) return true;
    return awaited_ < settings_.initiator_depth && open + next_.steps_to(work.end()) < kMaxOutstanding;
}

// 9.7.7.2: up to the limit, and one packet beyond it, which finds out whether there is a receive after all.
bool Requester::has_credit(const Work& work) const {
    if (!limited_ || !work.takes_receive()) return true;
    const std::int32_t beyond = Psn(work.sequence) - Psn(limit_);
    return beyond <= 0 || (beyond == 1 && (next_ == work.first || work.first.before(unacknowledged_)));
}

std::optional<TransportPacket> Requester::poll(Instant now) {
    expire(now);
    if (state_ == RequesterState::rnr_wait && now >= rnr_until_) move(RequesterEvent::rnr_elapsed);
    if (state_ != RequesterState::active) return std::nullopt;
    if (fails_now()) fail(work_.front().fails);
    const Work* work = current();
    if (work == nullptr || !may_send(*work)) return std::nullopt;
    const bool whole = work->expects_response();
    const Psn after = whole ? work->end() : next_ + 1;
    const bool ends = after == work->end();
    TransportPacket packet = packet_at(*work, next_);
    packet.ack_request = wants_acknowledgment(*work, next_);
    polled_ = work->request.id;
    ++counts_.packets;
    if (next_.before(sent_)) ++counts_.retransmitted;
    else if (packet.ack_request && !whole && !probe_) probe_ = Probe{after, now};
    next_ = after;
    if (sent_.before(after)) sent_ = after;
    if (ends) {
        ++at_;
        if (whole) ++awaited_;
        step_over_local();
    }
    if (is_acknowledged(settings_.service)) {
        arm(now);
    } else {  // nothing comes back: what is sent is done
        if (ends) complete_front(CompletionStatus::success);
        progress(next_, now);
    }
    return packet;
}

std::optional<Instant> Requester::poll_at() const {
    if (state_ == RequesterState::rnr_wait) return rnr_until_;
    if (state_ != RequesterState::active) return std::nullopt;
    if (fails_now() || local_due() != nullptr) return kAtOnce;
    if (const Work* work = current(); work != nullptr && may_send(*work)) return kAtOnce;
    return deadline_;
}

// What cannot be carried out fails when everything before it is complete.
bool Requester::fails_now() const {
    return !work_.empty() && work_.front().fails != CompletionStatus::success && !draining_;
}

const WorkRequest* Requester::local_due() const {
    const Work* work = current();
    if (state_ != RequesterState::active || work == nullptr || !work->local() ||
        work->fails != CompletionStatus::success)
        return nullptr;
    return may_begin(*work) ? &work->request : nullptr;
}

void Requester::done_locally(CompletionStatus status, Instant now) {
    if (local_due() == nullptr) return;
    if (status != CompletionStatus::success) {
        work_[at_].fails = status;
        return;
    }
    work_[at_].done = true;
    step_over_local();
    const std::size_t before = work_.size();
    complete_local();
    if (before != work_.size()) progress(unacknowledged_, now);
}

void Requester::step_over_local() {
    while (at_ < work_.size() && work_[at_].done) ++at_;
}

void Requester::complete_local() {
    while (!work_.empty() && work_.front().done) finish_front(CompletionStatus::success);
}

bool Requester::drained() const {
    return unacknowledged_ == next_ && next_ == sent_ && (work_.empty() || work_.front().first == next_);
}

void Requester::adjust(const RequesterSettings& settings) {
    settings_.initiator_depth = settings.initiator_depth;
    settings_.ack_timeout = settings.ack_timeout;
    settings_.retries = retries_left_ = std::min(settings.retries, kMaxRetries);
    settings_.rnr_retries = rnr_retries_left_ = std::min(settings.rnr_retries, kInfiniteRnrRetries);
}

void Requester::flush_all() {
    while (!work_.empty()) complete_front(CompletionStatus::flushed);
    deadline_.reset();
    move(RequesterEvent::fatal);
}

// Every end of a message asks for an acknowledgment, so does every n-th packet, the one that fills the window, and the
// one beyond the credits.
bool Requester::wants_acknowledgment(const Work& work, Psn psn) {
    if (!is_acknowledged(settings_.service)) return false;
    const bool ends = work.expects_response() || psn + 1 == work.end();
    const bool full = unacknowledged_.steps_to(psn) + 1 >= settings_.window;
    const bool probes = limited_ && work.takes_receive() && psn == work.first && Psn(limit_).before(Psn(work.sequence));
    ++unrequested_;
    if (!ends && !full && !probes && (settings_.ack_request_every == 0 || unrequested_ < settings_.ack_request_every))
        return false;
    unrequested_ = 0;
    return true;
}

TransportPacket Requester::packet_at(const Work& work, Psn psn) {
    const WorkRequest& request = work.request;
    const std::uint32_t index = work.first.steps_to(psn);
    const Place place = work.expects_response() ? Place::only : place_of(index, work.packets);
    const bool ends = ends_message(place);
    const bool begins = begins_message(place);
    const std::uint32_t skipped = index * bytes_of(settings_.mtu);  // of a READ: what came already
    TransportPacket packet;
    packet.opcode = request_opcode(settings_.service, request.kind, place);
    packet.pkey = settings_.pkey;
    packet.dest_qp = settings_.peer;
    packet.psn = psn;
    packet.srq = request.srq;
    packet.datagram = settings_.datagram;
    if (request.datagram) {
        packet.dest_qp = request.datagram->qp;
        packet.datagram = Datagram{request.datagram->key, settings_.datagram.value_or(Datagram{}).source_qp};
    }
    if (begins && (work.expects_response() || verb_of(request.kind) == Verb::write))
        packet.access = RemoteAccess{request.remote.address + skipped, request.remote.key, work.length - skipped};
    if (is_atomic(request.kind)) packet.atomic = request.atomic;
    if (request.kind == WorkKind::flush) packet.flush = request.flush;
    if (ends && with_immediate(request.kind)) packet.immediate = request.immediate;
    if (ends && request.kind == WorkKind::send_with_invalidate) packet.invalidate = request.invalidate;
    packet.solicited = ends && request.solicited && work.takes_receive();
    if (sends_payload(request.kind)) packet.payload = payload_at(work, skipped);
    return packet;
}

// In one segment it is sent from where it lies. Inlined bytes are copied: the request may be complete, and gone, at
// once.
Bytes Requester::payload_at(const Work& work, std::uint32_t skipped) {
    const std::uint32_t size = std::min(bytes_of(settings_.mtu), work.length - skipped);
    const bool inlined = !work.request.inlined.empty();
    if (scratch_.empty() && (inlined || work.request.segments.size() > 1)) scratch_.resize(bytes_of(settings_.mtu));
    if (!inlined) return gather(work.request.segments, skipped, size, scratch_);
    const Bytes bytes = slice(Bytes(work.request.inlined), skipped, size);
    if (!bytes.empty()) std::memcpy(scratch_.data(), bytes.data(), bytes.size());
    return Bytes(scratch_).first(bytes.size());
}

void Requester::arm(Instant now) {
    const auto timeout = ack_timeout_of(settings_.ack_timeout);
    if (timeout && is_acknowledged(settings_.service)) deadline_ = now + *timeout;
}

void Requester::expire(Instant now) {
    if (state_ != RequesterState::active || !deadline_ || now < *deadline_) return;
    deadline_.reset();
    reading_again_ = false;
    ++counts_.timeouts;
    go_back(now);
}

}  // namespace qps::transport
