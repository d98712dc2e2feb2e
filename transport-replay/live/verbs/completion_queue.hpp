// CompletionQueue: work completions in the order in which they happened, and the one notification somebody asked for.
//
// Invariant: at most `depth` completions wait. One more is an overrun: it and all later ones are lost, and the queue
// says so; its owner tells the application and stops the queue pairs. Peers cause completions only by what the
// application posted.
#pragma once

#include <transport-replay/live/verbs/verbs.hpp>
#include <transport-replay/queue_pair/ring.hpp>

#include <algorithm>

namespace qps::transport::verbs {

class CompletionQueue {
public:
    enum class Notify : std::uint8_t { none, solicited, next };

    CompletionQueue(Cq handle, std::uint32_t depth) : handle_(handle), depth_(depth) {}

    // False: the queue is overrun. `solicited` is of a receive whose sender asked for an event; a failure always is
    // one.
    [[nodiscard]] bool push(const Wc& wc, bool solicited);
    std::size_t poll(std::span<Wc> into);

    void notify(Notify when) { notify_ = std::max(notify_, when); }
    // Whether the notification asked for is due now; it is given once.
    [[nodiscard]] bool take_notification();

    [[nodiscard]] bool resize(std::uint32_t depth);  // false: more than that wait
    [[nodiscard]] bool overrun() const { return overrun_; }
    [[nodiscard]] Cq handle() const { return handle_; }

    std::uint32_t users = 0;  // queue pairs, twice where both of their queues complete here
    bool listed = false;      // among those whose notification is due

private:
    Cq handle_;
    std::uint32_t depth_;
    Notify notify_ = Notify::none;
    bool due_ = false;
    bool overrun_ = false;
    Ring<Wc> waiting_;
};

}  // namespace qps::transport::verbs
