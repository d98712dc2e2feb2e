#include <transport-replay/queue_pair/receive_queue.hpp>

#include <utility>

namespace qps::transport {

bool ReceiveQueue::post(PostedReceive receive) {
    if (receives_.size() >= depth_ || receive.segments.size() > kMaxSegments) return false;
    receives_.push_back(std::move(receive));
    return true;
}

std::optional<PostedReceive> ReceiveQueue::take() {
    if (receives_.empty()) return std::nullopt;
    std::optional<PostedReceive> receive(std::move(receives_.front()));
    receives_.pop_front();
    return receive;
}

}  // namespace qps::transport
