// The two ends of a connection and the tap between: see conversation.hpp. Reads nothing from outside.
#include "conversation.hpp"

#include <algorithm>

namespace qps::bench {

void Conversation::answer(Turn::Kind kind, std::uint64_t number) {
    if (waiting_ == answers_.size()) return;
    answers_[waiting_++] = {turn_ + kRoundTrip, {kind, number, expected_ / kMessagePackets}};
}

void Conversation::receive(std::uint64_t number) {
    if (number == expected_) {
        ++expected_;
        nak_sent_ = false;
        if (expected_ % kMessagePackets == 0) answer(Turn::Kind::ack, number);
    } else if (number > expected_ && !nak_sent_) {
        nak_sent_ = true;
        answer(Turn::Kind::nak, expected_);
    }
}

Turn Conversation::take_answer(Truth& truth) {
    const Turn turn = answers_.front().turn;
    std::shift_left(answers_.begin(), answers_.end(), 1);
    --waiting_;
    if (turn.kind == Turn::Kind::ack) {
        ++truth.acks;
        acknowledged_ = std::max(acknowledged_, turn.number + 1);
    } else {
        ++truth.naks;
        acknowledged_ = std::max(acknowledged_, turn.number);
        next_ = turn.number;
    }
    return turn;
}

std::optional<Turn> Conversation::next(std::uint32_t loss, Dice& dice, Truth& truth) {
    ++turn_;
    if (waiting_ > 0 && answers_.front().due <= turn_) return take_answer(truth);
    if (turn_ < silent_until_) return {};
    if (next_ - acknowledged_ == kWindow) {
        if (waiting_ > 0) return {};
        if (silent_until_ == 0) {
            silent_until_ = turn_ + kTimeout;
            return {};
        }
        silent_until_ = 0;
        ++truth.timeouts;
        next_ = acknowledged_;
    }
    const std::uint64_t number = next_++;
    const std::uint64_t bit = std::uint64_t{1} << number % kWindow;
    const std::uint64_t thrown = dice.throw_once();
    const bool lost = (thrown & 0xffffffff) < loss;
    const bool before_tap = lost && (thrown >> 32 & 1) != 0;
    if (number >= sent_) {
        sent_ = number + 1;
        seen_ &= ~bit;
    }
    if (lost) ++truth.lost;
    else receive(number);
    if (before_tap) {
        ++truth.lost_before_tap;
        return {};
    }
    if ((seen_ & bit) != 0) ++truth.retransmitted;
    seen_ |= bit;
    return Turn{Turn::Kind::data, number, 0};
}

}  // namespace qps::bench
