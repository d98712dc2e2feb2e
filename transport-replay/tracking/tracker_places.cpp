// Places for connections: where all are taken, the connection that matters least is brought to its end, as at the end of the capture.
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

// Nothing that a finding could be drawn from.
bool is_quiet(const Way& way) {
    return way.failed + way.abandoned + way.open + way.corrupt + way.retransmitted + way.spurious + way.unmatched + way.unread_answers +
                   way.sequence_naks + way.rnr_naks + way.fatal_naks + way.implied_naks ==
               0 &&
           way.gaps == Gaps{} && way.response_gaps == Gaps{} && way.orderings.empty() && way.odd.empty() && way.pkeys.one() &&
           way.dscps.one() && way.pcps.one();
}

}  // namespace

std::optional<Tracker::Index> Tracker::place_of(ConnectionId connection) const {
    const Index index = places_.get(connection, kNowhere);
    return index == kNowhere ? std::nullopt : std::optional(index);
}

// A place with a number of its own. Nothing where every place is needed.
std::optional<Tracker::Index> Tracker::place_for_one() {
    std::optional<Index> index;
    if (entries_.size() < most_) {
        index = static_cast<Index>(entries_.size());
        entries_.emplace_back();
        grown();
    } else {
        index = least_worth();
        if (!index) return {};
        end(*index);
    }
    Entry& entry = entries_[*index];
    entry.made = now_;
    entry.connection.uid = ConnectionId{next_uid_++};
    places_.at(entry.connection.uid, kNowhere) = *index;
    return index;
}

// Of a few places, drawn from all: one that is over, before one of a few packets that nobody answered, before others; and of these the
// one that has been silent for longest. To look at all of them would take too long, and one that is busy is hardly ever the most
// silent of a few.
std::optional<Tracker::Index> Tracker::least_worth() {
    constexpr std::size_t kLookedAt = 32;
    constexpr std::uint64_t kFew = 4;
    using Worth = std::tuple<int, Instant>;
    std::optional<Index> found;
    Worth least{};
    for (std::size_t i = 0; i < kLookedAt || (!found && i < 2 * entries_.size()); ++i) {
        const auto index = static_cast<Index>(mix(++drawn_) % entries_.size());
        const Entry& entry = entries_[index];
        if (entry.gone) return index;
        if (entry.stream && !entry.stream_over) continue;
        const Connection& connection = entry.connection;
        const bool over = connection.released || connection.failed || entry.stream_over;
        const bool alone = connection.joined_by == JoinedBy::nothing && connection.packets() <= kFew;
        const Instant last = connection.packets() == 0 ? entry.made : connection.last_time();
        const Worth worth{over ? 0 : alone ? 1 : 2, last};
        if (found && worth >= least) continue;
        found = index;
        least = worth;
    }
    return found;
}

// What its flows bring from now on is another connection.
void Tracker::forget_flows(Index index) {
    for (const End from : {End::a, End::b}) {
        const FlowKey flow = flow_of(entries_[index], from);
        if (const auto where = index_.find(flow); where && WayOf(*where).index() == index) index_.forget(flow);
    }
}

// The connection is brought to its end, and its place is free.
void Tracker::end(Index index) {
    Entry& entry = entries_[index];
    if (!entry.gone) {
        forget_flows(index);
        if (const auto found = unpaired_.find(index); found != unpaired_.end()) {
            const std::vector<Observation> answers = std::move(found->second.answers);
            pending_answers_ -= answers.size();
            unpaired_.erase(found);
            refuse_unpaired(index, answers);
        }
        std::erase(lone_unreliable_, index);
        if (!entry.stream)
            for (const End from : {End::a, End::b}) finish_way(entry, from);
        judge_confidence(entry);
        const ConnectionId uid = entry.connection.uid;
        keep_retired(entry);
        places_.forget(uid, kNowhere);
        retired_.push_back(uid);
    }
    entry = Entry{};
}

// Those with problems stay as they are, for findings; of the others nothing but their counts is of interest.
void Tracker::keep_retired(Entry& entry) {
    const Connection& connection = entry.connection;
    const bool quiet = !entry.troubled && !entry.watched && is_quiet(connection.ways[0]) && is_quiet(connection.ways[1]);
    if (!quiet && tracked_.connections.size() < most_kept_) return tracked_.connections.push_back(std::move(entry.connection));
    if (connection.packets() == 0 && !connection.cm_attempt) return;  // it never came to be
    tracked_.retired.add(connection);
    if (!quiet) ++tracked_.retired.with_problems;
    if (!connection.released && !connection.failed) ++tracked_.retired.under_way;
}

}  // namespace qps::transport
