#include <transport-replay/analysis/message_ends.hpp>
#include <transport-replay/model/completion_status.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace qps::transport {

namespace {

CompletionStatus status_of(const Recovery& episode) {
    return episode.kind == RecoveryKind::rnr_nak ? CompletionStatus::rnr_retries_exceeded
                                                 : CompletionStatus::retries_exceeded;
}

}  // namespace

void name_statuses(std::span<EndedMessage> messages, const Tracked& tracked) {
    std::map<std::pair<ConnectionId, End>, CompletionStatus> given_up;
    for (const Recovery& episode : tracked.recoveries)
        if (episode.end == RecoveryEnd::gave_up) given_up[{episode.connection, episode.requester}] = status_of(episode);
    const auto was_refused = [&](ConnectionId uid) {
        const auto found = std::ranges::lower_bound(tracked.connections, uid, {}, &Connection::uid);
        return found != tracked.connections.end() && found->uid == uid && found->failed;
    };
    for (EndedMessage& ended : messages) {
        if (ended.message.outcome != Outcome::gave_up && ended.message.outcome != Outcome::abandoned) continue;
        const auto over = given_up.find({ended.connection, ended.requester});
        if (ended.message.outcome == Outcome::gave_up) {
            if (over != given_up.end()) set_status(ended.message, over->second);
        } else if (over != given_up.end() || was_refused(ended.connection)) {
            set_status(ended.message, CompletionStatus::flushed);
        }
    }
}

}  // namespace qps::transport
