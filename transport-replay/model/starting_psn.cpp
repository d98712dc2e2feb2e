#include <transport-replay/model/starting_psn.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace qps::transport {

namespace {

using PlaceOfWay = std::pair<ConnectionId, End>;

// What the episodes of a way say of its first PSN.
struct Seen {
    std::uint32_t rounds = 0;         // times that it went back there
    bool before = false;              // or to a PSN before it, which it had sent too
    const Recovery* asked = nullptr;  // a NAK of a PSN before it
};

// Where they follow each other at once, they are one episode: each repeats at most all that was sent.
std::uint32_t go_backs_of(const Way& way, const Recovery& episode) {
    const std::uint64_t sent = way.requests - std::min(way.requests, way.incidents->retransmitted);
    return sent == 0 ? 0 : static_cast<std::uint32_t>(episode.resent / sent);
}

std::map<PlaceOfWay, Seen> seen_of(const Timeline& timeline) {
    std::map<PlaceOfWay, Seen> found;
    for (const Recovery& episode : timeline.recoveries) {
        const Connection* connection = timeline.find(episode.connection);
        if (connection == nullptr) continue;
        const Way& way = connection->way(episode.requester);
        const dissect::Psn first(way.first_psn);
        Seen& seen = found[{episode.connection, episode.requester}];
        if (episode.psn == first) seen.rounds += std::max(episode.rounds, go_backs_of(way, episode));
        else if (!episode.psn.before(first)) continue;
        else if (episode.asked() && episode.rounds == 0) seen.asked = seen.asked == nullptr ? &episode : seen.asked;
        else seen.before = true;
    }
    return found;
}

bool took_anything(const Way& answers) {
    return answers.acks + answers.read_responses + answers.atomic_responses + answers.incidents->rnr_naks +
               answers.incidents->fatal_naks !=
           0;
}

const CmAttempt* attempt_of(const Timeline& timeline, const Connection& connection) {
    if (!connection.cm_attempt || *connection.cm_attempt >= timeline.cm.attempts.size()) return nullptr;
    return &timeline.cm.attempts[*connection.cm_attempt];
}

}  // namespace

std::vector<RefusedStart> refused_starts(const Timeline& timeline) {
    constexpr std::uint32_t kFewest = 2;  // go-backs: the first may answer what the capture lacks
    std::vector<RefusedStart> found;
    for (const auto& [place, seen] : seen_of(timeline)) {
        const Connection& connection = *timeline.find(place.first);
        const Way& way = connection.way(place.second);
        if (!connection.reliable() || connection.ambiguous || seen.before || seen.rounds < kFewest) continue;
        if (way.requests <= way.incidents->corrupt || took_anything(connection.way(other(place.second)))) continue;
        RefusedStart start{.connection = place.first,
                           .requester = place.second,
                           .seen = dissect::Psn(way.first_psn),
                           .go_backs = seen.rounds};
        if (seen.asked != nullptr) {
            start.expected = seen.asked->psn;
            start.nak = seen.asked->trigger;
            start.nak_time = seen.asked->time.begin();
            found.push_back(start);
            continue;
        }
        // Without a NAK the other end must be heard, and nothing else be missing.
        const CmAttempt* attempt = attempt_of(timeline, connection);
        const auto announced = attempt == nullptr ? std::nullopt : starting_psn(connection, *attempt, place.second);
        if (!announced || !attempt->answered || !announced->may_be_missing) continue;
        const std::int32_t ahead = announced->seen - announced->announced;
        if (ahead <= 0 || ahead >= kFarPsn || way.incidents->gaps.skipped != static_cast<std::uint64_t>(ahead))
            continue;
        start.expected = announced->announced;
        found.push_back(start);
    }
    return found;
}

const RefusedStart* find(const std::vector<RefusedStart>& starts, ConnectionId connection, End requester) {
    const PlaceOfWay place{connection, requester};
    const auto of = [](const RefusedStart& start) { return PlaceOfWay{start.connection, start.requester}; };
    const auto found = std::ranges::lower_bound(starts, place, {}, of);
    return found == starts.end() || of(*found) != place ? nullptr : &*found;
}

}  // namespace qps::transport
