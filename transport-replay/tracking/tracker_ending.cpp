// What ends: messages and episodes that a way hands on, the ways of a connection that is over, the whole capture.
#include <dissect/base/types.hpp>
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/stable_order.hpp>
#include <transport-replay/tracking/giving_up.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

// The longest payload of a message's packets, which `sender` sent and the other end has.
void note_taken(Way& sender, const Message& message) {
    const std::uint64_t longest = message.packets > 1 ? sender.path_mtu : message.bytes;
    sender.longest_taken = static_cast<std::uint16_t>(
        std::max<std::uint64_t>(sender.longest_taken, std::min<std::uint64_t>(longest, UINT16_MAX)));
}

}  // namespace

void Tracker::hand_on(Entry& entry, End requester) {
    Way& way = entry.connection.way(requester);
    Direction& direction = entry.directions[static_cast<std::size_t>(requester)];
    for (const Message& message : done_) {
        ++way.messages[static_cast<std::size_t>(kind_of(message))];
        way.message_bytes += message.bytes;
        switch (message.outcome) {
            case Outcome::open: ++way.open; break;
            case Outcome::sent:
            case Outcome::completed: ++way.completed; break;
            case Outcome::failed: ++way.incidents.made().failed; break;
            case Outcome::gave_up:
            case Outcome::abandoned: ++way.incidents.made().abandoned; break;
        }
        if (message.outcome == Outcome::completed) {
            note_taken(message.has_response() ? entry.connection.way(other(requester)) : way, message);
            way.latency.add(message.answer_time - message.first_time);
            const Duration answered = message.answer_time - message.last_time;
            if (message.retransmissions == 0 && answered > Duration{} &&
                (direction.best_answer == Duration{} || answered < direction.best_answer))
                direction.best_answer = answered;
            if (message.access && (message.access->length != 0 || message.atomic)) {
                if (direction.last_good[0].access.key != message.access->key)
                    direction.last_good[1] = direction.last_good[0];
                direction.last_good[0] = {*message.access, message.first_frame};
            }
        }
        if (keeps_messages_ || entry.watched) ended_.push_back({entry.connection.uid, requester, message});
    }
    done_.clear();
}

void Tracker::record_episodes(Entry& entry, End requester) {
    Way& way = entry.connection.way(requester);
    entry.troubled |= !episodes_.empty();
    for (Recovery& record : episodes_) {
        record.connection = entry.connection.uid;
        record.requester = requester;
        if (tracked_.recoveries.size() < kMaxRecoveries) {
            if (record.asked() && record.trigger != FrameIndex{})
                entry.directions[static_cast<std::size_t>(requester)].log.note_episode(
                    record.psn, static_cast<std::uint32_t>(tracked_.recoveries.size()));
            tracked_.recoveries.push_back(record);  // it is added to the sums once it is known what caused it
            continue;
        }
        way.incidents.made().recovery(record.kind).add(record);
        ++tracked_.recoveries_left_out;
    }
    episodes_.clear();
}

// Requests of a flow without partner that are remembered whether they ask for an answer or not. Any may be answered, by
// a NAK at least; where connections are many, only those that ask for an answer are remembered.
std::uint64_t Tracker::remembered() const { return entries_.size() < kFewConnections ? 64 : 2; }

// Whether those who fell silent gave up: who has used up its retries did, unless its answers were not captured.
void Tracker::judge_ends(const Entry& entry, End requester) {
    const Connection& connection = entry.connection;
    for (Recovery& episode : episodes_) {
        if (episode.end != RecoveryEnd::gave_up) continue;
        if (connection.ambiguous || answered_unseen(connection, requester, episode.psn))
            episode.end = RecoveryEnd::open;
        else if (!used_up(episode, episode.triggers, entry.retries)) episode.end = RecoveryEnd::stopped;
    }
}

// A queue pair that begins anew with other PSNs had given up what was still unanswered, where its retries were used up.
// Else nothing is known: a stray PSN looks the same.
void Tracker::end_before_restart(Entry& entry, End requester, Instant time) {
    Direction& direction = entry.directions[static_cast<std::size_t>(requester)];
    if (!direction.watch.open()) return;
    const RecoveryWatch before = direction.watch;
    const std::vector<Recovery> ended = std::exchange(episodes_, {});
    direction.watch.finish(time, entry.retries, direction.requests, episodes_);
    judge_ends(entry, requester);
    const auto last = std::ranges::find(episodes_, RecoveryEnd::gave_up, &Recovery::end);
    if (last == episodes_.end()) {
        direction.watch = before;
        episodes_ = ended;
        return;
    }
    for (Message& message : done_)
        if (message.outcome == Outcome::open && !message.last.before(last->psn))
            message.outcome = message.covers(last->psn) ? Outcome::gave_up : Outcome::abandoned;
    episodes_.insert(episodes_.begin(), ended.begin(), ended.end());
}

void Tracker::finish_way(Entry& entry, End requester) {
    Direction& direction = entry.directions[static_cast<std::size_t>(requester)];
    Way& way = entry.connection.way(requester);
    count_classes(way, direction.classes);
    direction.watch.finish(entry.over.value_or(now_), entry.retries, direction.requests, episodes_);
    judge_ends(entry, requester);
    const auto last = std::ranges::find(episodes_, RecoveryEnd::gave_up, &Recovery::end);
    const std::optional<Psn> given_up = last == episodes_.end() ? std::nullopt : std::optional(last->psn);
    record_episodes(entry, requester);
    if (way.incidents.there()) {
        way.incidents.made().shortest_answer = direction.best_answer;
        way.incidents.made().shortest_turn = direction.watch.turn();
    }
    const bool over = entry.connection.released || entry.connection.failed;
    direction.requests.finish(!entry.connection.reliable() ? Outcome::sent
                              : over                       ? Outcome::abandoned
                                                           : Outcome::open,
                              done_, given_up);
    hand_on(entry, requester);
    judge_incidents(entry, requester);
    Seldom<Incidents>& of_responder = entry.connection.way(other(requester)).incidents;
    if (!of_responder.there()) return;
    Gaps& responses = of_responder.made().response_gaps;
    responses.undecided =
        responses.skipped - std::min(responses.skipped, responses.reordered + responses.network + responses.tap);
    responses.skipped = responses.reordered + responses.network + responses.tap + responses.undecided;
}

Tracked Tracker::finish(const std::function<void()>& drain) {
    settle_early();
    settle_pairs();
    join_what_is_left();
    settle_early();
    note_ambiguous();
    drain();
    waiting_ = WaitingRequests(1);
    refuse_unpaired();
    unpaired_ = {};
    entries_.consume([&](Entry& entry) {  // memory goes as it comes: a connection is there once
        if (entry.gone) return;
        if (!entry.stream)
            for (const End end : {End::a, End::b}) finish_way(entry, end);
        drain();
        judge_confidence(entry);
        tracked_.connections.push_back(std::move(entry.connection));
    });
    if (!std::ranges::is_sorted(tracked_.connections, {}, &Connection::uid))
        std::ranges::sort(tracked_.connections, {}, &Connection::uid);
    order_stably(tracked_.recoveries, [](const Recovery& r) {
        return std::tuple(r.time.begin(), r.connection, r.requester, r.psn.value());
    });
    return std::move(tracked_);
}

}  // namespace qps::transport
