// What passive checks conclude at the end of a capture: from its reconstruction, and from what each connection was
// watched for.
#pragma once

#include <transport-replay/checks/passive/tally.hpp>
#include <transport-replay/checks/passive/watched.hpp>
#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/model/connection.hpp>

#include <deque>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::transport::conformance {

// By family, in the order they must run: how whole the capture is comes first.
// `unwatched`: packets of connections that there was no room to watch.
void conclude_trace(const Timeline& timeline, const WatchedConnections& watched, std::uint64_t unwatched,
                    Tallies& tallies);
void conclude_format(const Timeline& timeline, const WatchedConnections& watched, Tallies& tallies);
void conclude_requester(const Timeline& timeline, const WatchedConnections& watched, Tallies& tallies);
void conclude_responder(const Timeline& timeline, const WatchedConnections& watched, Tallies& tallies);
void conclude_management(const Timeline& timeline, Tallies& tallies);
void conclude_congestion(const Timeline& timeline, const WatchedConnections& watched, Tallies& tallies);
void conclude_iwarp(const Timeline& timeline, Tallies& tallies);

// The capture lacks packets that were on the wire, or may.
[[nodiscard]] bool lacks_packets(const Timeline& timeline);

// What CM told of a connection; nothing where it was not seen.
[[nodiscard]] const CmAttempt* attempt_of(const Timeline& timeline, const Connection& connection);
[[nodiscard]] inline const CmSide& side_of(const CmAttempt& attempt, End end) {
    return end == End::a ? attempt.active : attempt.passive;
}

// Calls visit(connection, watched) for each connection that was watched; both lists are by number.
template <class Visit>
void for_each_watched(const std::deque<Connection>& connections, const WatchedConnections& watched, Visit&& visit) {
    auto at = watched.begin();
    for (const Connection& connection : connections) {
        while (at != watched.end() && at->number < connection.uid) ++at;
        if (at != watched.end() && at->number == connection.uid) visit(connection, *at);
    }
}

}  // namespace qps::transport::conformance
