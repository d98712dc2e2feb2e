#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

namespace {

using Place = std::pair<ConnectionId, End>;
Place place_of(const Recovery* episode) { return {episode->connection, episode->requester}; }

}  // namespace

std::vector<Episodes> all_episodes(const Timeline& timeline) {
    std::vector<const Recovery*> episodes;
    for (const Recovery& episode : timeline.recoveries) episodes.push_back(&episode);
    // Pointers into one vector: those of a place stay in their order.
    std::ranges::sort(episodes, {}, [](const Recovery* episode) { return std::pair{place_of(episode), episode}; });
    std::vector<Episodes> found;
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            // Why something was sent again only answers tell that can be read.
            if (connection.way(end).incidents->recoveries.empty() ||
                connection.way(other(end)).incidents->unread_answers != 0)
                continue;
            const auto own = std::ranges::equal_range(episodes, Place{connection.uid, end}, {}, place_of);
            found.push_back({connection, end, {own.begin(), own.end()}});
        }
    return found;
}

bool accepts_any_order(const Timeline& timeline, const Address& host) {
    return std::ranges::find(timeline.unordered, host.bits, &Address::bits) != timeline.unordered.end();
}

std::vector<Case> cases(const Timeline& timeline, RecoveryKind kind) {
    std::vector<Case> found;
    for (Episodes& all : all_episodes(timeline)) {
        const RecoverySum& sum = all.way().incidents->recovery(kind);
        if (sum.episodes == 0) continue;
        std::erase_if(all.episodes, [&](const Recovery* episode) { return episode->kind != kind; });
        found.push_back({std::move(all), sum});
    }
    return found;
}

std::uint64_t rests_of_reads(const std::vector<const Recovery*>& episodes) {
    return static_cast<std::uint64_t>(std::ranges::count_if(episodes, &Recovery::partial_read));
}

std::vector<std::uint32_t> places_of(const Timeline& timeline, const std::vector<const Recovery*>& episodes) {
    std::vector<std::uint32_t> places;
    places.reserve(episodes.size());
    for (const Recovery* episode : episodes)
        places.push_back(static_cast<std::uint32_t>(episode - timeline.recoveries.data()));
    return places;
}

void add_events(FindingDraft& draft, const Way& way, Oddity oddity, EventRole role) {
    for (const dissect::FrameIndex frame : way.incidents->frames(oddity)) draft.events.push_back({frame, role});
}

const CmAttempt* attempt_of(const Timeline& timeline, const Connection& connection) {
    if (!connection.cm_attempt || *connection.cm_attempt >= timeline.cm.attempts.size()) return nullptr;
    return &timeline.cm.attempts[*connection.cm_attempt];
}

namespace {

bool is_active(const CmAttempt& attempt, const Endpoint& end) {
    return end.address == attempt.active.address &&
           (attempt.active.address != attempt.passive.address || end.qpn == attempt.active.qpn);
}

}  // namespace

const CmRung* own_disconnect(const Timeline& timeline, const Connection& connection, End end) {
    const CmAttempt* attempt = attempt_of(timeline, connection);
    if (attempt == nullptr || attempt->service == CmService::iwarp) return nullptr;
    const auto dreq = std::ranges::find(attempt->ladder, CmMessage::dreq, &CmRung::message);
    const bool found = dreq != attempt->ladder.end() && dreq->from_active == is_active(*attempt, connection.end(end));
    return found ? &*dreq : nullptr;
}

std::optional<std::uint32_t> agreed_depth(const Timeline& timeline, const Connection& connection, End requester) {
    const CmAttempt* attempt = attempt_of(timeline, connection);
    if (attempt == nullptr) return {};
    const bool active = is_active(*attempt, connection.end(requester));
    const CmSide& asks = active ? attempt->active : attempt->passive;
    const CmSide& answers = active ? attempt->passive : attempt->active;
    if (!asks.initiator_depth || !answers.responder_resources) return {};
    return std::min(*asks.initiator_depth, *answers.responder_resources);
}

Heard::Heard(const Timeline& timeline) {
    boost::unordered_flat_map<FlowKey, std::size_t, FlowHash> places;  // in rows_
    const auto add = [&](const Address& source, const Address& destination, dissect::FrameIndex first,
                         dissect::Instant time) {
        const Row row{source.bits, destination.bits, source.space, first, time};
        const Address of_that_space{destination.bits, source.space};
        const auto [place, is_new] = places.try_emplace(hosts_key(source, of_that_space), rows_.size());
        if (is_new) rows_.push_back(row);
        else rows_[place->second] = std::min(rows_[place->second], row);
    };
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b})
            if (connection.way(end).packets != 0)
                add(connection.end(end).address, connection.end(other(end)).address, connection.way(end).first_frame,
                    connection.way(end).first_time);
    for (const CmAttempt& attempt : timeline.cm.attempts)
        for (const CmRung& rung : attempt.ladder) {
            if (rung.from_active) add(attempt.active.address, attempt.passive.address, rung.frame, rung.time);
            else add(attempt.passive.address, attempt.active.address, rung.frame, rung.time);
        }
    std::ranges::sort(rows_);
}

bool Heard::any(const Address& source, const Address& destination) const {
    const auto row = std::ranges::lower_bound(rows_, Row{source.bits, destination.bits, {}, {}, {}});
    return row != rows_.end() && row->source == source.bits && row->destination == destination.bits;
}

FindingEvent Heard::first_event(const Address& source, const Address& destination) const {
    const auto row = std::ranges::lower_bound(rows_, Row{source.bits, destination.bits, source.space, {}, {}});
    const bool there = row != rows_.end() && row->source == source.bits && row->destination == destination.bits &&
                       row->space == source.space;
    return there ? FindingEvent{row->first, EventRole::evidence, row->time} : FindingEvent{};
}

}  // namespace qps::transport
