#include <dissect/headers/infiniband.hpp>
#include <transport-replay/requester.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint32_t kAtomicLength = 8;
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
    }
    return Verb::send;
}

constexpr bool is_atomic(WorkKind kind) { return kind == WorkKind::fetch_add || kind == WorkKind::compare_swap; }
constexpr bool with_immediate(WorkKind kind) { return kind == WorkKind::send_with_immediate || kind == WorkKind::write_with_immediate; }

bool service_has(Service service, WorkKind kind) {
    const Verb verb = verb_of(kind);
    if (service == Service::rc) return true;
    if (service == Service::uc) return (verb == Verb::send || verb == Verb::write) && kind != WorkKind::send_with_invalidate;
    return service == Service::ud && verb == Verb::send && kind != WorkKind::send_with_invalidate;
}

std::uint32_t distance(Psn from, Psn to) { return (to.value() - from.value()) & Psn::kMask; }

Place place_of(std::uint32_t index, std::uint32_t packets) {
    if (packets == 1) return Place::only;
    return index == 0 ? Place::first : index + 1 == packets ? Place::last : Place::middle;
}

}  // namespace

std::optional<Duration> ack_timeout_of(std::uint8_t code) {
    if (code == 0 || code > 31) return std::nullopt;
    return nanoseconds(kAckTimeoutUnit << code);
}

Duration rnr_wait_of(std::uint8_t code) {
    constexpr std::int64_t kHundredthOfMillisecond = 10'000;
    return nanoseconds(kRnrTimer[code & 31U] * kHundredthOfMillisecond);
}

Opcode request_opcode(Service service, WorkKind kind, Place place) {
    const bool ends = place == Place::last || place == Place::only;
    const auto has = [](const Operation& row, LayerKind header) { return std::ranges::find(row.headers, header) != row.headers.end(); };
    for (const Operation& row : opcode_rows::kOperations)
        if (row.request && row.verb == verb_of(kind) && row.place == place &&
            has(row, LayerKind::immdt) == (ends && with_immediate(kind)) &&
            has(row, LayerKind::ieth) == (ends && kind == WorkKind::send_with_invalidate))
            return static_cast<Opcode>(std::to_underlying(service) << 5 | row.code);
    return Opcode{};
}

Requester::Requester(const RequesterSettings& settings)
    : settings_(settings),
      unacknowledged_(settings.first),
      next_(settings.first),
      sent_(settings.first),
      posted_(settings.first),
      retries_left_(std::min(settings.retries, kMaxRetries)),
      rnr_retries_left_(std::min(settings.rnr_retries, kInfiniteRnrRetries)) {
    settings_.retries = retries_left_;
    settings_.rnr_retries = rnr_retries_left_;
    settings_.window = std::max(settings_.window, 1U);
}

void Requester::move(RequesterEvent event) { state_ = step(kRequesterMachine, state_, event).value_or(state_); }

bool Requester::post(WorkRequest work) {
    const bool reads = work.kind == WorkKind::read;
    const std::size_t size = reads ? work.remote.length : work.data.size();
    constexpr std::size_t kMaxMessage = std::size_t{1} << 31;  // 9.7.4.1.6
    if (!step(kRequesterMachine, state_, RequesterEvent::post) || !service_has(settings_.service, work.kind)) return false;
    if (size > kMaxMessage || work_.size() + completions_.size() >= kMaxWork) return false;
    if (work.kind >= WorkKind::read && settings_.initiator_depth == 0) return false;
    Work row{.request = std::move(work), .first = posted_};
    row.length = is_atomic(row.request.kind) ? kAtomicLength : static_cast<std::uint32_t>(size);
    row.packets = is_atomic(row.request.kind) ? 1 : packets_of(row.length, settings_.mtu);
    if (settings_.service == Service::ud && row.packets > 1) return false;
    if (distance(unacknowledged_, posted_) + row.packets >= kMaxOutstanding) return false;
    posted_ = row.end();
    work_.push_back(std::move(row));
    move(RequesterEvent::post);
    return true;
}

std::vector<Completion> Requester::take_completions() { return std::exchange(completions_, {}); }

// The work request that owns a PSN; nullptr where none does yet.
const Requester::Work* Requester::work_at(Psn psn) const {
    const auto found = std::ranges::partition_point(work_, [&](const Work& work) { return !psn.before(work.end()); });
    return found == work_.end() ? nullptr : &*found;
}

bool Requester::may_send(const Work& work) const {
    if (distance(unacknowledged_, next_) >= settings_.window) return false;
    if (!work.expects_response() && !work.request.fence) return true;
    std::uint32_t open = 0;
    for (const Work& before : work_) {
        if (&before == &work) break;
        if (before.expects_response()) ++open;
    }
    if (work.request.fence && open > 0) return false;
    return !work.expects_response() || open < settings_.initiator_depth;
}

std::optional<TransportPacket> Requester::poll(Instant now) {
    expire(now);
    if (state_ == RequesterState::rnr_wait && now >= rnr_until_) move(RequesterEvent::rnr_elapsed);
    if (state_ != RequesterState::active) return std::nullopt;
    const Work* work = work_at(next_);
    if (work == nullptr || !may_send(*work)) return std::nullopt;
    TransportPacket packet = packet_at(*work, next_);
    packet.ack_request = wants_acknowledgment(*work, next_);
    const Psn after = work->request.kind == WorkKind::read ? work->end() : next_ + 1;
    const bool ends = after == work->end();
    ++counts_.packets;
    if (next_.before(sent_)) ++counts_.retransmitted;
    next_ = after;
    if (sent_.before(after)) sent_ = after;
    if (settings_.service == Service::rc) {
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
    if (const Work* work = work_at(next_); work != nullptr && may_send(*work)) return kAtOnce;
    return deadline_;
}

// Every end of a message asks for an acknowledgment, so does every n-th packet, and the one that fills the window.
bool Requester::wants_acknowledgment(const Work& work, Psn psn) {
    if (settings_.service != Service::rc) return false;
    const bool ends = work.request.kind == WorkKind::read || psn + 1 == work.end();
    const bool full = distance(unacknowledged_, psn) + 1 >= settings_.window;
    ++unrequested_;
    if (!ends && !full && (settings_.ack_request_every == 0 || unrequested_ < settings_.ack_request_every)) return false;
    unrequested_ = 0;
    return true;
}

TransportPacket Requester::packet_at(const Work& work, Psn psn) const {
    const WorkRequest& request = work.request;
    const std::uint32_t index = distance(work.first, psn);
    const bool single = work.expects_response();
    const Place place = single ? Place::only : place_of(index, work.packets);
    const bool ends = place == Place::last || place == Place::only;
    const std::uint32_t skipped = index * bytes_of(settings_.mtu);
    TransportPacket packet;
    packet.opcode = request_opcode(settings_.service, request.kind, place);
    packet.dest_qp = settings_.peer;
    packet.psn = psn;
    packet.datagram = settings_.datagram;
    if (request.kind == WorkKind::read)  // from the first byte still missing
        packet.access = RemoteAccess{request.remote.address + skipped, request.remote.key, work.length - skipped};
    else if (is_atomic(request.kind)) packet.access = RemoteAccess{request.remote.address, request.remote.key, kAtomicLength};
    else if (verb_of(request.kind) == Verb::write && index == 0)
        packet.access = RemoteAccess{request.remote.address, request.remote.key, work.length};
    if (is_atomic(request.kind)) packet.atomic = request.atomic;
    if (ends && with_immediate(request.kind)) packet.immediate = request.immediate;
    if (ends && request.kind == WorkKind::send_with_invalidate) packet.invalidate = request.invalidate;
    packet.solicited = ends && request.solicited && (verb_of(request.kind) == Verb::send || with_immediate(request.kind));
    const Bytes payload = single ? Bytes{} : slice(request.data, skipped, bytes_of(settings_.mtu));
    packet.payload.assign(payload.begin(), payload.end());
    return packet;
}

void Requester::process(const TransportPacket& response, Instant now) {
    const OpcodeRow& row = info(response.opcode);
    const bool outstanding = !response.psn.before(unacknowledged_) && response.psn.before(sent_);
    if (!row.defined || row.request || row.service != settings_.service || state_ == RequesterState::error || !outstanding) {
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

// A response at `psn` says that everything before it was executed; a READ or ATOMIC on the way whose response is missing is
// thereby refused (implied NAK, 9.7.5.1.1). True where `psn` is now the oldest outstanding.
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
    if (next_.before(unacknowledged)) next_ = unacknowledged;
    reading_again_ = false;
    retries_left_ = settings_.retries;
    rnr_retries_left_ = settings_.rnr_retries;
    move(work_.empty() ? RequesterEvent::all_acknowledged : RequesterEvent::acknowledged);
    deadline_.reset();
    if (state_ == RequesterState::active && unacknowledged_ != next_) arm(now);
}

void Requester::arm(Instant now) {
    const auto timeout = ack_timeout_of(settings_.ack_timeout);
    if (timeout && settings_.service == Service::rc) deadline_ = later(now, *timeout);
}

void Requester::on_acknowledgment(const TransportPacket& response, Instant now) {
    if (!acknowledge_before(response.psn + 1, now)) implied_nak(now);
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
    next_ = unacknowledged_;
    deadline_.reset();
    rnr_until_ = later(now, rnr_wait_of(response.acknowledgment->code()));  // not earlier (C9-130)
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
    Work& work = work_.front();
    if (work.request.kind != WorkKind::read) return fail(CompletionStatus::bad_response);
    const std::uint32_t offset = distance(work.first, response.psn) * bytes_of(settings_.mtu);
    const bool last = response.psn + 1 == work.end();
    const Place place = info(response.opcode).place;
    if (last != (place == Place::last || place == Place::only)) return fail(CompletionStatus::bad_response);
    if (response.payload.size() != std::min(bytes_of(settings_.mtu), work.length - offset))
        return fail(CompletionStatus::local_length_error);
    work.data.insert(work.data.end(), response.payload.begin(), response.payload.end());
    if (last) complete_front(CompletionStatus::success);
    progress(response.psn + 1, now);
}

void Requester::on_atomic_acknowledgment(const TransportPacket& response, Instant now) {
    if (!acknowledge_before(response.psn, now)) return implied_nak(now);
    if (!is_atomic(work_.front().request.kind) || !response.atomic_result) return fail(CompletionStatus::bad_response);
    work_.front().original = *response.atomic_result;
    complete_front(CompletionStatus::success);
    progress(response.psn + 1, now);
}

// The responses still on their way say it again and again; the first one counts until something arrives that was missing.
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
    next_ = unacknowledged_;
    move(RequesterEvent::go_back);
    arm(now);
}

void Requester::expire(Instant now) {
    if (state_ != RequesterState::active || !deadline_ || now < *deadline_) return;
    deadline_.reset();
    reading_again_ = false;
    ++counts_.timeouts;
    go_back(now);
}

void Requester::complete_front(CompletionStatus status) {
    Work& work = work_.front();
    completions_.push_back(
        {work.request.id, work.request.kind, status, work.first, work.end() + Psn::kMask, std::move(work.data), work.original});
    work_.pop_front();
}

void Requester::fail(CompletionStatus status) { fail_at(unacknowledged_, status); }

// The request at fault has the status; everything else is flushed (C9-220).
void Requester::fail_at(Psn psn, CompletionStatus status) {
    while (!work_.empty()) {
        const bool at_fault = !psn.before(work_.front().first) && psn.before(work_.front().end());
        complete_front(at_fault ? status : CompletionStatus::flushed);
    }
    deadline_.reset();
    move(RequesterEvent::fatal);
}

}  // namespace qps::transport
