#include <transport-replay/tracking/round_gaps.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

// Packets that ask for the PSNs from `first` up to before `end`: a READ is one.
std::uint32_t packets_between(const RequestStream& stream, Psn first, Psn end) {
    std::uint32_t packets = 0;
    for (Psn psn = first; psn.before(end); ++packets) {
        const Message* message = stream.covering(psn);
        psn = message != nullptr && message->verb == Verb::read_request ? message->last + 1 : psn + 1;
    }
    return packets;
}

}  // namespace

// Networks that reorder change neighbours, sooner than any timer starts a round anew.
bool RoundGaps::was_passed_over(const Sent& request) const {
    return !request.psn.before(last_first_) && request.psn.before(last_end_) &&
           request.time - last_time_ < kFastestTimeout;
}

void RoundGaps::sent(const Sent& request, const RequestStream& stream) {
    const bool follows_again = behind_again_ == request.due;
    const bool again =
        request.kind == Kind::again || (request.kind == Kind::perhaps_again && (request.named || follows_again));
    if (again) behind_again_ = request.behind;
    const bool behind_read = std::exchange(behind_read_, request.read);
    if (again && was_passed_over(request)) {
        count_ -= count_ != 0 ? 1U : 0U;
        last_end_ = last_first_;
        return;
    }
    if (again && request.psn.before(request.due)) {
        goes_back_ = false;
        interrupted_ = follows_again && request.named ? std::optional(request.due) : std::nullopt;
    }
    if (!follows_again || request.kind == Kind::overtaken) return;
    if (again && request.psn == request.due && !request.named) goes_back_ = true;
    if (behind_read || (again ? request.named : !goes_back_)) return;
    if (interrupted_ == request.psn) return;
    const Psn acknowledged = stream.acknowledged();  // what arrived need not be sent again
    const Psn first = request.due.before(acknowledged) ? acknowledged : request.due;
    const Psn end = request.newest.before(request.psn) ? request.newest : request.psn;
    if (!first.before(end) || end - first > kMostJump) return;
    last_first_ = first;
    last_end_ = end;
    last_time_ = request.time;
    count_ += packets_between(stream, first, end);
    if (corrupt_ && !corrupt_->before(first) && corrupt_->before(end)) --count_;
}

}  // namespace qps::transport
