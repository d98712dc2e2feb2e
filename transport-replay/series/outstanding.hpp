// Outstanding: what requesters had on the wire unanswered, in bytes and in messages, as steps over time.
//
// A message is outstanding from its first request packet until it was answered; one that never was, until its
// connection was last heard of. Messages that nobody answers (UC, UD) are not. What an attacker could feed: answers
// before their requests, by a clock that runs backwards: such a message was outstanding for no time.
#pragma once

#include <transport-replay/series/latency.hpp>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::transport::series {

// One step for each time at which something changed. y holds from there to the next.
struct Outstanding {
    std::vector<Point> bytes;  // payload as far as it was seen; of READs that of their responses
    std::vector<Point> messages;
    [[nodiscard]] bool empty() const { return bytes.empty(); }
};

// Of messages of these kinds. Nothing where it was stopped.
[[nodiscard]] std::optional<Outstanding> outstanding(const CaptureIndex& index, const Timeline& timeline,
                                                     const Scope& scope, MessageKinds kinds = kAllMessageKinds,
                                                     const Stop& stop = {});

}  // namespace qps::transport::series
