#include <transport-replay/findings/evidence.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

namespace {

using Place = std::pair<ConnectionId, End>;
Place place_of(const Recovery* story) { return {story->connection, story->requester}; }

}  // namespace

std::vector<Case> cases(const Timeline& timeline, RecoveryKind kind) {
    std::vector<const Recovery*> stories;
    for (const Recovery& story : timeline.recoveries)
        if (story.kind == kind) stories.push_back(&story);
    // Pointers into one vector: those of a place stay in their order.
    std::ranges::sort(stories, {}, [](const Recovery* story) { return std::pair{place_of(story), story}; });
    std::vector<Case> found;
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const RecoverySum& sum = connection.way(end).recovery(kind);
            if (sum.stories == 0) continue;
            const auto own = std::ranges::equal_range(stories, Place{connection.uid, end}, {}, place_of);
            found.push_back({connection, end, sum, {own.begin(), own.end()}});
        }
    return found;
}

void append_evidence(std::vector<dissect::FrameIndex>& packets, const Recovery& story) {
    packets.insert(packets.end(), {story.original, story.trigger, story.resumed, story.last});
}

const CmAttempt* attempt_of(const Timeline& timeline, const Connection& connection) {
    if (!connection.cm_attempt || *connection.cm_attempt >= timeline.cm.attempts.size()) return nullptr;
    return &timeline.cm.attempts[*connection.cm_attempt];
}

std::optional<std::uint32_t> agreed_depth(const Timeline& timeline, const Connection& connection, End requester) {
    const CmAttempt* attempt = attempt_of(timeline, connection);
    if (attempt == nullptr) return {};
    const bool active = connection.end(requester).address == attempt->active.address &&
                        (attempt->active.address != attempt->passive.address || connection.end(requester).qpn == attempt->active.qpn);
    const CmSide& asks = active ? attempt->active : attempt->passive;
    const CmSide& answers = active ? attempt->passive : attempt->active;
    if (!asks.initiator_depth || !answers.responder_resources) return {};
    return std::min(*asks.initiator_depth, *answers.responder_resources);
}

Heard::Heard(const Timeline& timeline) {
    const auto add = [&](const Address& source, const Address& destination, dissect::FrameIndex first) {
        rows_.push_back({source.bits, destination.bits, source.space, first});
    };
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b})
            if (connection.way(end).packets != 0)
                add(connection.end(end).address, connection.end(other(end)).address, connection.way(end).first_frame);
    for (const CmAttempt& attempt : timeline.cm.attempts)
        for (const CmRung& rung : attempt.ladder) {
            if (rung.from_active) add(attempt.active.address, attempt.passive.address, rung.frame);
            else add(attempt.passive.address, attempt.active.address, rung.frame);
        }
    std::ranges::sort(rows_);
}

bool Heard::any(const Address& source, const Address& destination) const {
    const auto row = std::ranges::lower_bound(rows_, Row{source.bits, destination.bits, {}, {}});
    return row != rows_.end() && row->source == source.bits && row->destination == destination.bits;
}

dissect::FrameIndex Heard::first(const Address& source, const Address& destination) const {
    const auto row = std::ranges::lower_bound(rows_, Row{source.bits, destination.bits, source.space, {}});
    const bool there =
        row != rows_.end() && row->source == source.bits && row->destination == destination.bits && row->space == source.space;
    return there ? row->first : dissect::FrameIndex{};
}

}  // namespace qps::transport
