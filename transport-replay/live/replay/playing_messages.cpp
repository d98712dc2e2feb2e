#include <dissect/base/types.hpp>
#include <transport-replay/live/replay/playing.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::live {

using namespace dissect;
using verbs::Wc;
using verbs::WcStatus;

namespace {

verbs::WrOpcode opcode_of(const Message& message) {
    switch (message.verb) {
        case Verb::write: return message.immediate ? verbs::WrOpcode::rdma_write_with_imm : verbs::WrOpcode::rdma_write;
        case Verb::read_request: return verbs::WrOpcode::rdma_read;
        case Verb::compare_swap: return verbs::WrOpcode::atomic_cmp_and_swp;
        case Verb::fetch_add: return verbs::WrOpcode::atomic_fetch_and_add;
        case Verb::flush: return verbs::WrOpcode::flush;
        case Verb::atomic_write: return verbs::WrOpcode::atomic_write;
        default: break;
    }
    if (message.invalidate) return verbs::WrOpcode::send_with_inv;
    return message.immediate ? verbs::WrOpcode::send_with_imm : verbs::WrOpcode::send;
}

}  // namespace

// What arrives.

// Our side refused a request of the peer: the queue pair is in error.
void Playing::take_refusals(Endpoint& endpoint, Instant now) {
    for (const verbs::AsyncEvent& event : endpoint.connections().take_async_events()) {
        const bool access = event.type == verbs::AsyncEventType::qp_access_err;
        if (event.qp != qp || !connected() || (!access && event.type != verbs::AsyncEventType::qp_req_err)) continue;
        const auto asked_wrong = std::ranges::find_if(part.peers, [&](std::uint32_t i) {
            return compared(i).progress != Progress::done && recorded(i).message.outcome == Outcome::failed;
        });
        if (asked_wrong != part.peers.end()) {
            compared(*asked_wrong).progress = Progress::done;
            compared(*asked_wrong).ending = recorded_ending(recorded(*asked_wrong));
            compared(*asked_wrong).done = now;
            pass_peers();
            conclude(endpoint, ReplayEnd::complete, {}, now);
            continue;
        }
        const auto next = std::ranges::find_if(
            part.peers, [&](std::uint32_t i) { return compared(i).progress == Progress::waiting; });
        if (next != part.peers.end()) {
            compared(*next).ending = access ? Ending::remote_access : Ending::invalid_request;
            compare_answer(recorded(*next), compared(*next));
        }
        conclude(endpoint, ReplayEnd::failed, "a request from the peer was refused", now);
    }
}

void Playing::count_naks(Endpoint& endpoint) {
    const auto status = endpoint.adapter().query_qp(qp);
    if (!status) return;
    const std::uint64_t rnr = std::exchange(rnr_seen, status->counts.rnr_naks);
    if (!outstanding.empty())
        compared(part.posts[outstanding.front().post].message).rnr_naks += static_cast<std::uint32_t>(rnr_seen - rnr);
    result.sequence_naks += status->counts.sequence_naks - std::exchange(sequence_seen, status->counts.sequence_naks);
}

void Playing::drain(Endpoint& endpoint, Instant now) {
    std::array<Wc, 64> done;
    while (const std::size_t count = endpoint.adapter().poll_cq(cq, done))
        for (const Wc& wc : std::span(done).first(count)) {
            if (wc.wr_id & kReceiveRequest) take_arrival(wc, now);
            else if (wc.wr_id & kBindRequest) take_bind(endpoint, wc, now);
            else take_answer(endpoint, wc, now);
        }
}

void Playing::take_bind(Endpoint& endpoint, const Wc& wc, Instant now) {
    if (wc.status == WcStatus::success || wc.status == WcStatus::wr_flush_err || !connected()) return;
    conclude(endpoint, ReplayEnd::failed, fmt::format("cannot bind a memory window: {}", verbs::name(wc.status)), now);
}

// Of a READ that is answered: what requests posted behind it may have changed before it was executed.
std::vector<ByteRange> Playing::changed_meanwhile(const Message& read) const {
    std::vector<ByteRange> ranges;
    if (read.verb != Verb::read_request) return ranges;
    for (const Outstanding& behind : outstanding) {
        const RecordedMessage& each = recorded(part.posts[behind.post].message);
        const bool changes =
            each.is_atomic() || each.message.verb == Verb::write || each.message.verb == Verb::atomic_write;
        if (!changes || !each.message.access) continue;
        const ByteRange range{each.message.access->address, behind.bytes.size()};
        const ByteRange asked{read.access->address, read.access->length};
        if (!overlap(range, asked)) continue;
        const std::uint64_t begin = std::max(range.offset, asked.offset);
        ranges.push_back({begin - asked.offset, std::min(range.end(), asked.end()) - begin});
    }
    return ranges;
}

void Playing::take_answer(Endpoint& endpoint, const Wc& wc, Instant now) {
    if (outstanding.empty() || outstanding.front().post != wc.wr_id) return;
    const Outstanding mine = std::move(outstanding.front());
    outstanding.pop_front();
    posted_bytes -= mine.bytes.size();
    const std::uint32_t message = part.posts[mine.post].message;
    ComparedMessage& live = compared(message);
    live.ending = ending_of(wc.status);
    if (live.ending != Ending::flushed) {
        live.progress = Progress::done;
        live.done = last_progress = now;
        compare_answer(recorded(message), live);
        if (wc.status == WcStatus::success) {
            compare_result(recorded(message), mine.bytes, changed_meanwhile(recorded(message).message), live);
            ++counts.messages;
            counts.bytes += mine.bytes.size();
        }
    }
    if (mine.mr) (void)endpoint.adapter().dereg_mr(mine.mr->lkey);
    finished[mine.post] = true;
    while (own_done < finished.size() && finished[own_done]) ++own_done;
    if (wc.status == WcStatus::success || live.ending == Ending::flushed || !connected()) return;
    const bool as_recorded = recorded_ending(recorded(message)) == live.ending;
    conclude(endpoint, as_recorded ? ReplayEnd::complete : ReplayEnd::failed,
             fmt::format("a request failed: {}", name(live.ending)), now);
}

// Where a WRITE of the peer was recorded to go, what is there now.
Bytes Playing::written(std::uint32_t message) const {
    const auto& touches = part.memory.touches;
    const auto touch = std::ranges::lower_bound(touches, message, {}, &MemoryTouch::message);
    return touch == touches.end() || touch->message != message ? Bytes{} : memory->at(*touch);
}

void Playing::take_arrival(const Wc& wc, Instant now) {
    if (wc.status != WcStatus::success) {
        memory->release(wc.wr_id);
        return;
    }
    last_progress = now;
    const bool write = wc.opcode == verbs::WcOpcode::recv_rdma_with_imm;
    const Bytes bytes = write ? Bytes{} : memory->received(wc.wr_id, wc.byte_len);
    std::optional<Rkey> invalidated;
    if (wc.flags.with_inv) {
        invalidated = memory->recorded_key(wc.invalidated_rkey).value_or(wc.invalidated_rkey);
        memory->invalidated(wc.invalidated_rkey);
    }
    if (next_arrival < part.receives.size()) {
        const std::uint32_t message = part.receives[next_arrival++].message;
        std::vector<ByteRange> left_out = recorded(message).payload.holes;
        add_learned(left_out, message);
        learn(message, write ? written(message) : bytes);
        ComparedMessage& live = compared(message);
        live.progress = Progress::done;
        live.ending = Ending::completed;
        live.done = now;
        compare_arrival(recorded(message), wc, invalidated, bytes, left_out, live);
        last_arrived = message;
        pass_peers();
    } else {
        ++result.extra_count;
        if (result.extra.size() < kMaxExtra) result.extra.push_back({wc.flags.with_imm, write, wc.byte_len, now});
        spare -= std::min(spare, 1U);
    }
    ++counts.messages;
    counts.bytes += wc.byte_len;
    memory->release(wc.wr_id);
}

void Playing::pass_peers() {
    for (; peer_position < part.peers.size(); ++peer_position) {
        const std::uint32_t message = part.peers[peer_position];
        const ComparedMessage& live = compared(message);
        const RecordedMessage& each = recorded(message);
        if (each.is_visible() && each.succeeded() && live.progress != Progress::done) return;
        const Instant before = passed.empty() ? started : passed.back();
        passed.push_back(each.is_visible() && live.progress == Progress::done ? std::max(before, live.done) : before);
    }
}

// What is to be done.

std::optional<Instant> Playing::due_at(const Due& due, std::optional<Instant> previous, bool keeps_time) const {
    if (phase != Phase::running || own_done < due.after_own || peer_position < due.after_peer) return std::nullopt;
    Instant base = std::max(started, previous.value_or(started));
    if (due.after_own > 0) base = std::max(base, result.messages[part.posts[due.after_own - 1].message].done);
    if (due.after_peer > 0) base = std::max(base, passed[due.after_peer - 1]);
    if (settings.fast && !keeps_time) return base;
    const double speed = settings.fast ? 1 : settings.speed;
    return base + Duration{static_cast<std::int64_t>(static_cast<double>(std::to_underlying(due.delay)) / speed)};
}

void Playing::advance(Endpoint& endpoint, Instant now) {
    pass_peers();
    post_receives(endpoint.adapter(), now);
    do_fills(now);
    post_messages(endpoint, now);
    if (phase != Phase::running) return;
    if (complete(now)) {
        phase = Phase::lingering;
        linger_until = now + kLinger;
        return;
    }
    if (wake) return;  // something of ours is due
    const Instant patience_ends = last_progress + settings.patience;
    if (now >= patience_ends) conclude(endpoint, ReplayEnd::timed_out, "the peer was silent", now);
    else wake_at(patience_ends);
}

void Playing::post_receives(verbs::Adapter& adapter, Instant now) {
    while (memory->free_slots() != 0) {
        if (next_receive < part.receives.size()) {
            const PlannedReceive& receive = part.receives[next_receive];
            if (receive.never) return;
            if (receive.held) {
                const auto at = due_at(*receive.held, std::nullopt, true);
                if (at && *at > now) wake_at(*at);
                if (!at || *at > now) return;
            }
            if (!memory->post_receive(adapter, qp, receive.room)) return;
            ++next_receive;
        } else {
            if (spare == kSpareReceives || !memory->post_receive(adapter, qp, memory->slot_bytes())) return;
            ++spare;
        }
    }
}

void Playing::do_fills(Instant now) {
    for (; next_fill < part.fills.size(); ++next_fill) {
        const auto at = due_at(part.fills[next_fill].due, std::nullopt, false);
        if (at && *at > now) wake_at(*at);
        if (!at || *at > now) return;
        memory->fill(part.memory.fills[part.fills[next_fill].fill]);
    }
}

// Whether the peer's WRITEs are there; those that do not come, or are something else, are differences.
bool Playing::look_at(std::span<const std::uint32_t> touches, Instant now) {
    for (const std::uint32_t i : touches) {
        if (looked[i]) continue;
        const MemoryTouch& touch = part.memory.touches[i];
        ComparedMessage& live = compared(touch.message);
        std::vector<ByteRange> left_out = holes_of(conversation, touch);
        add_learned(left_out, touch.message);
        const auto difference = compare_bytes(expected_bytes(conversation, touch), memory->at(touch), left_out);
        if (difference && !(last_arrived && *last_arrived > touch.message)) {
            if (!looking_since) looking_since = now;
            const Instant until = *looking_since + Duration{std::to_underlying(settings.patience) / 2};
            if (now < until) {
                wake_at(until);
                return false;
            }
        }
        looked[i] = true;
        live.progress = Progress::done;
        live.done = now;
        if (difference) live.differences.push_back(*difference);
        else last_progress = now;
    }
    looking_since.reset();
    return true;
}

bool Playing::complete(Instant now) {
    if (next_post != part.posts.size() || !outstanding.empty() || peer_position != part.peers.size()) return false;
    return next_fill == part.fills.size() && look_at(part.last_touches, now);
}

void Playing::post_messages(Endpoint& endpoint, Instant now) {
    for (; next_post < part.posts.size() && outstanding.size() < kMostOutstanding; ++next_post) {
        const PlannedPost& next = part.posts[next_post];
        if (!next.playable) {
            compared(next.message).progress = Progress::unplayable;
            finished[next_post] = true;
            while (own_done < finished.size() && finished[own_done]) ++own_done;
            continue;
        }
        if (posted_bytes + recorded(next.message).bytes_to_post() > part.most_posted)
            return;  // once others are answered
        const auto at = due_at(next.due, last_post, false);
        if (at && *at > now) wake_at(*at);
        if (!at || *at > now || !look_at(next.touches, now)) return;
        for (const std::uint32_t fill : next.fills) memory->fill(part.memory.fills[fill]);
        if (const auto posted = post(endpoint.adapter(), static_cast<std::uint32_t>(next_post), now); !posted) {
            if (posted.error() == verbs::VerbsError::queue_full && !outstanding.empty())
                return;  // binds fill it: later
            const auto why = verbs::kVerbsErrorNames[static_cast<std::size_t>(posted.error())];
            conclude(endpoint, ReplayEnd::failed, fmt::format("cannot post message {}: {}", next.message + 1, why),
                     now);
            return;
        }
        last_post = last_progress = now;
    }
}

verbs::Result<void> Playing::post(verbs::Adapter& adapter, std::uint32_t index, Instant now) {
    const PlannedPost& next = part.posts[index];
    const RecordedMessage& each = recorded(next.message);
    const Message& message = each.message;
    Outstanding mine{.post = index, .bytes = {}, .mr = {}};
    if (message.verb == Verb::read_request || each.is_atomic()) mine.bytes.resize(each.bytes_to_post());
    else mine.bytes = each.payload.bytes;
    for (const std::uint32_t place : next.advertises) {
        if (auto bound = memory->bind(adapter, qp, &part.advertised[place]); !bound) return bound;
        if (const auto live = memory->live(part.advertised[place]))
            write_place(mine.bytes, part.advertised[place], *live);
    }
    verbs::Sge piece{};
    if (!mine.bytes.empty()) {
        const auto mr = adapter.reg_mr(pd, mine.bytes, verbs::kLocalWrite);
        if (!mr) return std::unexpected(mr.error());
        mine.mr = *mr;
        piece = {mr->address, static_cast<std::uint32_t>(mine.bytes.size()), mr->lkey};
    }
    verbs::SendWr wr{.wr_id = index,
                     .sg_list = {&piece, mine.bytes.empty() ? 0U : 1U},
                     .opcode = opcode_of(message),
                     .send_flags = {.signaled = true, .solicited = each.solicited},
                     .imm_data = message.immediate.value_or(0)};
    if (message.invalidate) wr.invalidate_rkey = translated(next, *message.invalidate, 0).rkey;
    const bool keyless =
        message.access && message.access->length == 0 && !each.is_atomic() && message.verb != Verb::flush;
    if (keyless)
        wr.remote = {message.access->address, message.access->key};  // no memory is meant: nobody looks at it (C9-88)
    else if (message.access) wr.remote = translated(next, message.access->key, message.access->address);
    if (message.atomic && message.verb == Verb::fetch_add) wr.atomic = {.compare_add = message.atomic->swap_or_add};
    else if (message.atomic) wr.atomic = {.compare_add = message.atomic->compare, .swap = message.atomic->swap_or_add};
    if (message.verb == Verb::flush) wr.flush = {.length = message.access->length, .global_visibility = true};
    if (auto posted = adapter.post_send(qp, wr); !posted) {
        if (mine.mr) (void)adapter.dereg_mr(mine.mr->lkey);
        return posted;
    }
    posted_bytes += mine.bytes.size();
    outstanding.push_back(std::move(mine));
    compared(next.message).progress = Progress::posted;
    compared(next.message).posted = now;
    return {};
}

// What of the peer's memory is meant: the user's word, then the peer's, else as recorded.
verbs::Remote Playing::translated(const PlannedPost& next, Rkey key, std::uint64_t address) {
    verbs::Remote remote{address, key};
    bool known = false;
    if (next.target && learned[*next.target]) {
        const Advertisement& place = part.learned[*next.target];
        const LiveMemory& live = *learned[*next.target];
        known = true;
        remote.rkey = live.key;
        if (live.address && place.address_offset) remote.address = *live.address + (address - place.address);
    }
    if (const auto mapped = std::ranges::find(settings.keys, key, &KeyMapping::recorded);
        mapped != settings.keys.end()) {
        remote.rkey = mapped->live;
        known = true;
    }
    const AddressMapping* nearest = nullptr;
    for (const AddressMapping& each : settings.addresses)
        if (each.recorded <= address && (nearest == nullptr || each.recorded > nearest->recorded)) nearest = &each;
    if (nearest != nullptr) remote.address = nearest->live + (address - nearest->recorded);
    if (!known && result.unmapped.size() < kMaxUnmapped &&
        std::ranges::find(result.unmapped, key) == result.unmapped.end())
        result.unmapped.push_back(key);
    return remote;
}

}  // namespace qps::transport::live
