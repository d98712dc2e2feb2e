// What passive checks conclude at the end of a capture: from its reconstruction, and from what each connection was watched for.
#pragma once

#include <transport-replay/checks/passive/conversation_watch.hpp>
#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/model/connection.hpp>

#include <deque>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::transport::conformance {

using Watches = std::deque<ConversationWatch>;  // by the number of their connection, less one

// By family, in the order they must run: how whole the capture is comes first.
// `unwatched`: packets of connections that there was no room to watch.
void conclude_trace(const Timeline& timeline, const Watches& watches, std::uint64_t unwatched, Tallies& tallies);
void conclude_format(const Timeline& timeline, const Watches& watches, Tallies& tallies);
void conclude_requester(const Timeline& timeline, const Watches& watches, Tallies& tallies);
void conclude_responder(const Timeline& timeline, const Watches& watches, Tallies& tallies);
void conclude_management(const Timeline& timeline, Tallies& tallies);
void conclude_congestion(const Timeline& timeline, const Watches& watches, Tallies& tallies);

// The capture lacks packets that were on the wire, or may.
[[nodiscard]] bool lacks_packets(const Timeline& timeline);

// What CM told of a connection; nothing where it was not seen.
[[nodiscard]] const CmAttempt* attempt_of(const Timeline& timeline, const Connection& connection);
[[nodiscard]] inline const CmSide& side_of(const CmAttempt& attempt, End end) { return end == End::a ? attempt.active : attempt.passive; }

// Calls visit(connection, watch) for each connection that was watched.
template <class Visit>
void for_each_watched(const std::deque<Connection>& connections, const Watches& watches, Visit&& visit) {
    for (const Connection& connection : connections) {
        const std::size_t index = std::to_underlying(connection.uid) - 1;
        if (index < watches.size()) visit(connection, watches[index]);
    }
}

}  // namespace qps::transport::conformance
