// Posted receives, of one queue pair or shared by several (10.2.9).
//
// Invariant: they are taken in the order in which they were posted. The memory of a receive is borrowed until its
// message completes. What grows: the queue, up to the depth it was made for (kMaxReceives at most). Only the local user
// posts; a peer can but take what is there.
#pragma once

#include <transport-replay/queue_pair/memory.hpp>
#include <transport-replay/queue_pair/ring.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace qps::transport {

struct PostedReceive {
    std::uint64_t id = 0;  // comes back with the message
    Segments segments{};
    bool usable = true;  // false: its segments lie in no region (a wrong local key); who takes it is at fault (NAK
                         // remote operational error)
};

inline constexpr std::size_t kMaxReceives = 1U << 15;  // the largest number of credits there is a code for (9.7.7.2)

class ReceiveQueue {
public:
    explicit ReceiveQueue(std::size_t depth = kMaxReceives, bool shared = false)
        : depth_(std::min(depth, kMaxReceives)), shared_(shared) {}

    // False: full, or more segments than a request may have.
    [[nodiscard]] bool post(PostedReceive receive);
    [[nodiscard]] std::optional<PostedReceive> take();
    // The one that take() gives next; nullptr where there is none.
    [[nodiscard]] const PostedReceive* next() const { return receives_.empty() ? nullptr : &receives_.front(); }

    [[nodiscard]] std::size_t size() const { return receives_.size(); }
    [[nodiscard]] std::size_t depth() const { return depth_; }
    // Who shares a queue cannot promise anything of it: no credits (AETH code 31).
    [[nodiscard]] bool shared() const { return shared_; }

private:
    Ring<PostedReceive> receives_;
    std::size_t depth_;
    bool shared_;
};

}  // namespace qps::transport
