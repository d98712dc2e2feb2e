// The order of sending as the tracker learns it: which requests came late, and which were sent once more.
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <cstdlib>

namespace qps::transport {

using namespace dissect;

// A request that was overtaken by others, and by how much where the gap is known that it fills.
void Tracker::note_late(Way& way, const Observation& observation, const std::optional<IncidentLog::Gap>& gap,
                        bool proven) {
    way.incidents.made().note(Oddity::late, observation.frame);
    Ordering& ordering = way.incidents.made().ordering.made();
    ++ordering.overtaken;
    ordering.proven = ordering.proven || proven;
    if (!gap || gap->passing.request == 0) return;
    ordering.farthest = std::max(ordering.farthest, static_cast<std::uint32_t>(way.requests - gap->passing.request));
    ordering.longest = std::max(ordering.longest, observation.time - gap->passing.sides.time);
}

// PSNs that come back soon to what they left: a queue pair that begins anew does not.
void Tracker::note_restart(WayOf where, const Observation& observation, Psn next) {
    constexpr std::int32_t kNear = 4096;  // of 2^24 PSNs: chance finds them once in 2,000 times
    const LeftPsns here{next,
                        observation.time,
                        observation.frame,
                        observation.interface,
                        observation.file,
                        observation.vlan,
                        observation.encapsulation};
    Connection& connection = entries_[where.index()].connection;
    // Whose queue pairs these are now, no exchange says.
    if (connection.joined_by == JoinedBy::exchange)
        connection.confidence = std::min(connection.confidence, Confidence::strong);
    const auto found = left_.find(where.word());
    if (found == left_.end()) {
        if (left_.size() < kMaxLeft) left_.emplace(where.word(), here);
        return;
    }
    LeftPsns& left = found->second;
    const bool soon = observation.time >= left.time && observation.time - left.time <= kSoonBack;
    const bool same_clock = observation.interface == left.interface && observation.file == left.file;
    if (!soon || !same_clock) {
        left = here;
    } else if (std::abs(observation.psn - left.next) <= kNear) {
        // Networks that use the same addresses side by side: the packets themselves tell them apart.
        const bool same_network = observation.vlan == left.vlan && observation.encapsulation == left.encapsulation;
        if (!same_network) {
            left_.erase(found);
            return;
        }
        Way& way = connection.way(where.from());
        ++way.incidents.made().psn_returns;
        way.incidents.made().note(Oddity::stray, left.stray);
        left_.erase(found);
    }
}

// PSNs that a request passed. Some of them may be those of a READ before them, of which nothing is known where it was
// corrupted.
void Tracker::skip(Direction& direction, Psn first, std::uint32_t count, const GapPassing& by) {
    if (direction.log.was_corrupt(first.previous())) direction.log.skip_behind_read(first, count, by);
    else direction.log.skip(first, count, by);
}

// When a request that came late or once more was sent, and what that tells of those that were taken for lost.
Sending Tracker::sending_of(Direction& direction, Way& way, const Observation& observation, Arrival arrival) {
    if (!direction.order.counts()) {
        if (observation.ip_id == 0) return Sending::unknown;
        const auto gap = direction.log.gap(observation.psn);
        if (gap ? SendingOrder::is_between(gap->passing.sides, observation.ip_id, observation.time)
                : direction.log.may_be_first_sending(observation))
            direction.order.doubt();
        return Sending::unknown;
    }
    if (arrival == Arrival::late) {
        const auto gap = direction.log.gap(observation.psn);
        if (gap && direction.order.is_original(gap->passing.sides, observation.ip_id, observation.time)) {
            direction.watch.late_original(observation);
            return Sending::original;
        }
        if (!gap || !direction.order.is_after(gap->passing.sides, observation.ip_id)) return Sending::unknown;
    } else if (direction.log.is_first_sending(observation, direction.order)) {
        direction.watch.late_original(observation);
        return Sending::original;
    }
    if (!direction.order.is_overtaken(observation.ip_id, observation.time)) return Sending::newest;
    direction.watch.late_retransmission(observation, arrival != Arrival::late);
    Ordering& ordering = way.incidents.made().ordering.made();
    ++ordering.overtaken;
    ordering.proven = true;
    return Sending::overtaken;
}

// What became of the requests of a way, with all that is known of it.
void Tracker::judge_incidents(Entry& entry, End requester) {
    Direction& direction = entry.directions[static_cast<std::size_t>(requester)];
    Way& way = entry.connection.way(requester);
    if (direction.order.strays()) way.incidents.made().ordering.made().strays = true;
    if (!direction.log.any()) return;
    const Judgement judged = direction.log.judge({.reorders = way.reorders(),
                                                  .farthest = way.incidents->ordering->farthest,
                                                  .from_beginning = entry.connection.cm_attempt.has_value(),
                                                  .requests = way.requests,
                                                  .until = entry.over.value_or(now_)});
    tracked_.contradictions += judged.contradictions;
    if (judged.gaps != Gaps{}) way.incidents.made().gaps = judged.gaps;
    if (judged.corrupt_again + judged.corrupt_taken != 0) {
        way.incidents.made().corrupt_again = judged.corrupt_again;
        way.incidents.made().corrupt_taken = judged.corrupt_taken;
    }
    if (std::ranges::any_of(judged.naks, [](std::uint64_t count) { return count != 0; }))
        way.incidents.made().ordering.made().naks = judged.naks;
    for (const auto& [episode, verdict, late] : judged.episodes) {
        Recovery& recovery = tracked_.recoveries[episode];
        const NakCause cause = recovery.cause = cause_of(verdict);
        recovery.left = verdict.left;
        const std::uint32_t rest = recovery.lost - std::min(recovery.lost, late);
        recovery.lost = is_of_order(cause) ? 0 : std::max(rest, std::min(recovery.lost, 1U));
    }
}

}  // namespace qps::transport
