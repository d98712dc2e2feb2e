#include <transport-replay/live/peers/perftest_traffic.hpp>

#include <algorithm>

namespace qps::transport::live::peers {

using dissect::Duration;
using dissect::Instant;

namespace {

constexpr Duration kDraining{
    1'000'000'000};  // after a duration, for what is under way: the peer may take nothing any more

}  // namespace

void Latencies::add(Duration each) {
    least = std::min(least, each);
    most = std::max(most, each);
    all = all + each;
    ++count;
}

void PerftestTraffic::begin(const PerftestPart& part, std::uint32_t queue_pairs, Instant now) {
    part_ = part;
    pairs_.assign(queue_pairs, {});
    begun_ = now;
    if (part.sends) note(now);
}

void PerftestTraffic::end() {
    sent_ = completed_ = received_ = 0;
    pairs_.clear();
    first_.reset();
    last_sent_.reset();
    latencies_ = {};
}

void PerftestTraffic::note(Instant now) {
    if (!first_) first_ = now;
    last_ = now;
}

Duration PerftestTraffic::took() const { return first_ ? last_ - *first_ : Duration{}; }

Instant PerftestTraffic::deadline() const { return begun_ + part_.duration.value_or(Duration{}); }

bool PerftestTraffic::may_send(std::uint32_t queue_pair, Instant now) const {
    if (!part_.sends || queue_pair >= pairs_.size()) return false;
    const Pair& pair = pairs_[queue_pair];
    if (timed() ? now >= deadline() : !part_.duration && pair.sent >= part_.iterations) return false;
    if (pair.sent - pair.completed >= part_.depth) return false;
    if (last_sent_ && now - *last_sent_ < part_.gap) return false;
    if (!part_.turns) return true;
    return part_.begins ? sent_ == received_ : sent_ < received_;
}

void PerftestTraffic::sent(std::uint32_t queue_pair, Instant now) {
    ++pairs_[queue_pair].sent;
    ++sent_;
    last_sent_ = now;
}

// A READ or an ATOMIC takes from being sent to being completed; with turns, the peer's answer says when.
void PerftestTraffic::completed(std::uint32_t queue_pair, Instant now) {
    if (queue_pair >= pairs_.size()) return;
    ++pairs_[queue_pair].completed;
    ++completed_;
    note(now);
    if (!part_.turns && part_.depth == 1 && last_sent_) latencies_.add(now - *last_sent_);
}

void PerftestTraffic::received(Instant now) {
    ++received_;
    note(now);
    if (part_.turns && last_sent_) latencies_.add(now - *last_sent_);
}

bool PerftestTraffic::complete() const {
    const std::uint64_t pairs = pairs_.size();
    const std::uint64_t all = part_.iterations == kNoLimit ? kNoLimit : part_.iterations * pairs;
    return (!part_.sends || completed_ >= all) && (!part_.receives || received_ >= all);
}

// Who has only to answer leaves the time to the other.
bool PerftestTraffic::timed() const { return part_.duration && part_.sends && (!part_.turns || part_.begins); }

bool PerftestTraffic::through(Instant now, bool peer_went_on) const {
    const bool open_end = part_.duration || part_.iterations == kNoLimit;
    if (peer_went_on && (open_end || outstanding() == 0)) return true;
    if (!timed()) return !open_end && complete();
    return now >= deadline() && (outstanding() == 0 || now >= deadline() + kDraining);
}

std::optional<Instant> PerftestTraffic::due(Instant now) const {
    std::optional<Instant> due;
    if (timed()) due = now < deadline() ? deadline() : deadline() + kDraining;
    if (!last_sent_ || now - *last_sent_ >= part_.gap) return due;
    const Instant next = *last_sent_ + part_.gap;
    return due ? std::min(*due, next) : next;
}

}  // namespace qps::transport::live::peers
