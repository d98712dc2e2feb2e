#include <dissect/ultra_ethernet/names.hpp>
#include <transport-replay/ultra_ethernet/uet_messages.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint8_t kSyncWrite = 0x10;

Verb verb_of(const UetSemantics& said) {
    switch (static_cast<SesOpcode>(said.code)) {
        case SesOpcode::write: return Verb::write;
        case SesOpcode::read: return Verb::read_request;
        case SesOpcode::atomic:
        case SesOpcode::fetching_atomic:
        case SesOpcode::tagged_send_atomic:
        case SesOpcode::tagged_send_fetching_atomic: {
            const bool swaps = said.atomic && *said.atomic >= kUetFirstSwap && *said.atomic <= kUetMaskedSwap;
            return swaps ? Verb::compare_swap : Verb::fetch_add;
        }
        default: return said.code == kSyncWrite ? Verb::write : Verb::send;
    }
}
bool fetches(const UetSemantics& said) {
    const auto operation = static_cast<SesOpcode>(said.code);
    return operation == SesOpcode::read || operation == SesOpcode::fetching_atomic ||
           operation == SesOpcode::tagged_send_fetching_atomic;
}
// Whether the length of the request is what its packets carry: others carry a part of it (rendezvous), or something
// else.
bool carries(const UetSemantics& said) {
    const auto operation = static_cast<SesOpcode>(said.code);
    return operation == SesOpcode::write || operation == SesOpcode::send || operation == SesOpcode::tagged_send;
}
Psn shortened(LongPsn psn) { return Psn(static_cast<std::uint32_t>(psn) & Psn::kMask); }

}  // namespace

UetMessages::Open* UetMessages::find(Serial serial) {
    const Serial at = serial - first_;
    if (serial == 0 || at >= size()) return nullptr;
    Open& open = open_[head_ + at];
    return open.over ? nullptr : &open;
}

UetMessages::Serial UetMessages::gathering(const UetSemantics& said) {
    for (std::size_t i = gathering_.size(); i-- > 0;)
        if (const Open* open = find(gathering_[i]);
            open != nullptr && open->id == said.message && open->job == said.job)
            return gathering_[i];
    return 0;
}

UetMessages::Serial UetMessages::begin(const Observation& observation, const UetSemantics& said, LongPsn psn,
                                       const UetListener& listener) {
    if (size() == kMostOpen) give_up_oldest(listener);
    Open& open = open_.emplace_back();
    const auto serial = static_cast<Serial>(first_ + size() - 1);
    Message& message = open.message;
    message.service = Service::uet;
    message.verb = verb_of(said);
    message.first_time = observation.time;
    message.first_frame = observation.frame;
    open.id = said.message;
    open.job = said.job;
    open.has_id = said.form == SesForm::standard;
    open.fetches = fetches(said);
    open.first = open.last = psn;
    if (carries(said) || open.fetches) open.length = said.length;
    if (open.has_id && !(said.starts && said.ends)) {
        if (gathering_.size() == kMostGathering) gathering_.erase(gathering_.begin());
        gathering_.push_back(serial);
    }
    return serial;
}

UetMessages::Serial UetMessages::take(const Observation& observation, const UetSemantics& said, LongPsn psn,
                                      const UetListener& listener) {
    const bool alone = said.form != SesForm::standard || (said.starts && said.ends);
    Serial serial = alone ? 0 : gathering(said);
    // The number is used anew.
    if (Open* open = find(serial);
        open != nullptr && ((said.starts && open->message.starts) || (said.ends && open->message.ends))) {
        end(*open, Outcome::open, listener, nullptr);
        serial = 0;
    }
    if (serial == 0) serial = begin(observation, said, psn, listener);
    Open& open = *find(serial);
    Message& message = open.message;
    message.starts |= said.starts;
    message.ends |= said.ends;
    if (!open.length && carries(said)) open.length = said.length;
    if (!open.fetches) message.bytes += observation.payload_length;
    open.largest = std::max(open.largest, observation.payload_length);
    open.first = std::min(open.first, psn);
    open.last = std::max(open.last, psn);
    message.first = shortened(open.first);
    message.last = shortened(open.last);
    ++message.packets;
    ++open.waiting;
    message.last_time = std::max(message.last_time, observation.time);
    message.last_frame = std::max(message.last_frame, observation.frame);
    if (!alone && message.starts && message.ends && open.length && message.bytes >= *open.length)
        std::erase(gathering_, serial);
    return serial;
}

void UetMessages::resent(Serial serial) {
    if (Open* open = find(serial); open != nullptr) ++open->message.retransmissions;
}

void UetMessages::acknowledged(Serial serial, LongPsn cumulative, const Observation& answer,
                               const UetListener& listener) {
    Open* open = find(serial);
    if (open == nullptr) return;
    if (open->waiting != 0) --open->waiting;
    try_to_complete(*open, cumulative, answer, listener);
    drop_over();
}

void UetMessages::arrived(LongPsn cumulative, const Observation& answer, const UetListener& listener) {
    for (std::size_t i = gathering_.size(); i-- > 0;)
        if (Open* open = find(gathering_[i]); open != nullptr) try_to_complete(*open, cumulative, answer, listener);
    std::erase_if(gathering_, [&](Serial serial) { return find(serial) == nullptr; });
    drop_over();
}

void UetMessages::try_to_complete(Open& open, LongPsn cumulative, const Observation& answer,
                                  const UetListener& listener) {
    if (open.fetches || open.waiting != 0 || !open.message.ends) return;
    const bool known = open.length.has_value();
    const bool whole = known ? open.message.bytes >= *open.length : open.message.starts;
    if (!whole && cumulative < open.last) return;
    if (known && !whole) {
        const std::uint64_t lacks = *open.length - open.message.bytes;
        open.message.missing = open.largest == 0 ? 1
                                                 : static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                                       (lacks + open.largest - 1) / open.largest, UINT32_MAX));
    } else if (!whole) {
        open.message.missing = 1;
    }
    end(open, Outcome::completed, listener, &answer);
}

UetMessages::Open* UetMessages::find_request(const UetSemantics& said, LongPsn request) {
    for (Open& open : std::span(open_).subspan(head_)) {
        if (open.over) continue;
        if (said.form == SesForm::response_data_small ? open.first == request
                                                      : open.has_id && open.id == said.message && open.job == said.job)
            return &open;
    }
    return nullptr;
}

void UetMessages::respond(const UetSemantics& said, LongPsn request, std::uint32_t bytes, const Observation& answer,
                          const UetListener& listener) {
    const bool failed = said.refuses();
    if (!failed && !said.has_data()) return;  // a default response: acknowledgments tell
    Open* open = find_request(said, request);
    if (open == nullptr) return;
    if (failed) {
        open->message.nak_code = said.code;
        end(*open, Outcome::failed, listener, &answer);
    } else if (open->fetches) {
        open->responded += bytes;
        open->message.bytes = open->responded;
        const std::uint64_t due =
            std::min<std::uint64_t>(open->length.value_or(UINT32_MAX), said.length.value_or(UINT32_MAX));
        if (open->responded >= due || (!open->length && !said.length))
            end(*open, Outcome::completed, listener, &answer);
    }
    drop_over();
}

void UetMessages::end(Open& open, Outcome outcome, const UetListener& listener, const Observation* answer) {
    open.message.outcome = outcome;
    if (answer != nullptr) {
        open.message.answer_time = answer->time;
        open.message.answer_frame = answer->frame;
    }
    if (answer != nullptr && outcome == Outcome::completed) {
        ++listener.record.completed;
        listener.record.latency = answer->time - open.message.first_time;
    }
    open.over = true;
    listener.tracker.end_stream_message(listener.connection, listener.requester, open.message);
}

void UetMessages::drop_over() {
    constexpr std::size_t kFew = 16;
    while (head_ < open_.size() && open_[head_].over) {
        ++head_;
        ++first_;
    }
    if (head_ == open_.size()) {
        open_.clear();
        head_ = 0;
    }
    if (head_ < kFew || head_ * 2 < open_.size()) return;
    open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
}

void UetMessages::give_up_oldest(const UetListener& listener) {
    drop_over();
    if (size() == 0) return;
    if (Open& oldest = open_[head_]; !oldest.over) end(oldest, Outcome::open, listener, nullptr);
    std::erase(gathering_, first_);
    drop_over();
}

void UetMessages::finish(const UetListener& listener) {
    for (Open& open : std::span(open_).subspan(head_))
        if (!open.over) end(open, Outcome::open, listener, nullptr);
    std::vector<Open>().swap(open_);
    gathering_.clear();
    head_ = 0;
}

}  // namespace qps::transport
