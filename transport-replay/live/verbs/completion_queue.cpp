#include <transport-replay/live/verbs/completion_queue.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::verbs {

bool CompletionQueue::push(const Wc& wc, bool solicited) {
    if (overrun_ || waiting_.size() >= depth_) {
        overrun_ = true;
        return false;
    }
    waiting_.push_back(wc);
    const bool asked =
        notify_ == Notify::next || (notify_ == Notify::solicited && (solicited || wc.status != WcStatus::success));
    if (asked) {
        notify_ = Notify::none;
        due_ = true;
    }
    return true;
}

std::size_t CompletionQueue::poll(std::span<Wc> into) {
    const std::size_t count = std::min(into.size(), waiting_.size());
    for (std::size_t i = 0; i < count; ++i) {
        into[i] = waiting_.front();
        waiting_.pop_front();
    }
    return count;
}

bool CompletionQueue::take_notification() { return std::exchange(due_, false); }

bool CompletionQueue::resize(std::uint32_t depth) {
    if (waiting_.size() > depth) return false;
    depth_ = depth;
    return true;
}

}  // namespace qps::transport::verbs
