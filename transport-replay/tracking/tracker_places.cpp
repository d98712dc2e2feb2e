// Places for connections: where all are taken, the connection that matters least is brought to its end, as at the end
// of the capture.
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#include <boost/container/static_vector.hpp>

namespace qps::transport {

using namespace dissect;

namespace {

// Nothing that a finding could be drawn from.
bool is_quiet(const Way& way) {
    const Incidents& had = *way.incidents;
    return had.failed + had.abandoned + way.open + had.corrupt + had.retransmitted + had.spurious + had.unmatched +
                   had.unread_answers + had.sequence_naks + had.rnr_naks + had.fatal_naks + had.implied_naks ==
               0 &&
           had.gaps == Gaps{} && had.response_gaps == Gaps{} && !had.ordering.there() && had.odd.empty() &&
           way.pkeys.one() && way.dscps.one() && way.pcps.one();
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

// Of a few places, drawn from all: one that is over, before one of a few packets that nobody answered, before others
// that are silent; and of these one of the half that has been so for longest. To look at all of them would take too
// long. Not the one that has been silent for longest: where more connections are in use in turn than there are places,
// that would be the one whose turn is next. One that goes on as it did makes no place: the first ones are then followed
// to their end rather than all of them in pieces.
std::optional<Tracker::Index> Tracker::least_worth() {
    constexpr std::size_t kLookedAt = 32;
    using Worth = std::tuple<int, Instant, Index>;
    boost::container::static_vector<Worth, kLookedAt> found;
    for (std::size_t i = 0; found.size() < kLookedAt && i < (found.empty() ? 4 : 1) * kLookedAt; ++i) {
        const auto index = static_cast<Index>(mix(++drawn_) % entries_.size());
        const Entry& entry = entries_[index];
        if (entry.gone) return index;
        const Connection& connection = entry.connection;
        if (const auto tier = tier_of(entry))
            found.emplace_back(*tier, connection.packets() == 0 ? entry.made : connection.last_time(), index);
    }
    if (found.empty()) return {};
    std::ranges::sort(found);
    const int tier = std::get<0>(found.front());
    const auto alike = static_cast<std::size_t>(
        std::ranges::count(found, tier, [](const Worth& worth) { return std::get<0>(worth); }));
    return std::get<2>(found[mix(++drawn_) % std::max<std::size_t>(1, (alike + 1) / 2)]);
}

// The lower, the sooner it makes place; nothing where it does not.
std::optional<int> Tracker::tier_of(const Entry& entry) const {
    constexpr std::uint64_t kFew = 4, kYoung = 8;
    constexpr std::int64_t kSilent = 16;  // times as long as from one of its packets to the next
    const Connection& connection = entry.connection;
    if (entry.stream && !entry.stream_over) return {};
    if (connection.released || connection.failed || entry.stream_over) return 0;
    const std::uint64_t packets = connection.packets();
    if (connection.joined_by == JoinedBy::nothing && packets <= kFew) return 1;
    if (packets < kYoung) return 2;
    const Instant first =
        std::min(connection.ways[0].packets == 0 ? Instant{INT64_MAX} : connection.ways[0].first_time,
                 connection.ways[1].packets == 0 ? Instant{INT64_MAX} : connection.ways[1].first_time);
    const auto step = std::to_underlying(connection.last_time() - first) / static_cast<std::int64_t>(packets);
    return std::to_underlying(now_ - connection.last_time()) / kSilent > step ? std::optional(2) : std::nullopt;
}

bool Tracker::continues(const Observation& observation) const {
    constexpr std::int32_t kNear = 64;  // PSNs that a recording may lack between two files
    if (observation.kind != ObservationKind::transport || observation.datagram || !info(observation.opcode).defined)
        return false;
    if (told_.find(observation.flow, observation.psn, now_)) return true;
    const auto found = index_.find(observation.flow, observation.flow_hash);
    if (!found) return false;
    const WayOf where(*found);
    const bool request = info(observation.opcode).request;
    const Direction& requester =
        entries_[where.index()].directions[static_cast<std::size_t>(request ? where.from() : other(where.from()))];
    if (!requester.requests.started()) return false;
    const std::int32_t ahead = observation.psn - requester.requests.next();
    if (request && ahead >= 0 && ahead < kNear) return true;
    // What is sent again goes on for as long as its requester tries: in between nothing may have been recorded.
    return observation.time - now_ <= kLongestTimer && requester.requests.waits_for(observation.psn);
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
        for (const End from : {End::a, End::b}) {
            settle_early(WayOf(index, from), Settle::all, now_);
            early_.erase(WayOf(index, from).word());
            left_.erase(WayOf(index, from).word());
        }
        shown_.erase(entry.connection.uid);
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
    const bool quiet =
        !entry.troubled && !entry.watched && is_quiet(connection.ways[0]) && is_quiet(connection.ways[1]);
    if (!quiet && tracked_.connections.size() < most_kept_)
        return tracked_.connections.push_back(std::move(entry.connection));
    if (connection.packets() == 0 && !connection.cm_attempt) return;  // it never came to be
    tracked_.retired.add(connection);
    if (!quiet) ++tracked_.retired.with_problems;
    if (!connection.released && !connection.failed) ++tracked_.retired.under_way;
}

std::uint64_t Tracker::hosts_of(ConnectionId connection) const {
    const auto place = place_of(connection);
    if (!place) return 0;
    const Connection& known = entries_[*place].connection;
    return hash_of(known.ends[0].address) + hash_of(known.ends[1].address);
}

std::uint32_t Tracker::path_mtu(const Entry& entry) const {
    const std::uint32_t seen = std::max(entry.connection.ways[0].path_mtu, entry.connection.ways[1].path_mtu);
    if (seen != 0) return seen;
    if (entry.connection.cm_path_mtu) return *entry.connection.cm_path_mtu;
    return std::max(entry.directions[0].requests.inferred_pmtu(), entry.directions[1].requests.inferred_pmtu());
}

}  // namespace qps::transport
