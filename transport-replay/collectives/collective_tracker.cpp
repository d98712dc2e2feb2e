#include <transport-replay/collectives/collective_shape.hpp>
#include <transport-replay/collectives/collective_tracker.hpp>
#include <transport-replay/collectives/collective_verdicts.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint8_t kByLibraryAndSteps = 95, kByLibrary = 80, kBySteps = 75;
constexpr Duration kLongestPacket{1'000'000};  // 1 ms from one to the next: longer is a stop, no rate
constexpr std::uint32_t kFewestByShape = 3;    // ranks: two that talk are anything

}  // namespace

CollectiveTracker::Followed* CollectiveTracker::known(ConnectionId connection) {
    const std::uint32_t place = places_.get(connection, kNone);
    return place == kNone ? nullptr : &followed_[place];
}

CollectiveTracker::Followed* CollectiveTracker::followed(ConnectionId connection) {
    if (Followed* found = known(connection)) return found;
    if (free_.empty()) {
        if (followed_.size() == kMaxFollowed) return nullptr;
        free_.push_back(static_cast<std::uint32_t>(followed_.size()));
        followed_.emplace_back();
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    places_.at(connection, kNone) = place;
    return &followed_[place];
}

void CollectiveTracker::retire(ConnectionId connection) {
    if (Followed* found = known(connection)) {
        *found = {};
        free_.push_back(places_.get(connection, kNone));
    }
    places_.forget(connection, kNone);
}

std::uint32_t CollectiveTracker::way_of(const Address& source, const Address& destination, FrameIndex frame) {
    const FlowKey hosts{source, destination, {}, {}};
    if (const auto found = index_.find(hosts); found != index_.end()) return found->second;
    if (ways_.size() == kMaxWays) return kNone;
    const auto made = static_cast<std::uint32_t>(ways_.size());
    ways_.push_back({.hosts = hosts, .first = frame, .list = {}, .known = 0, .channels = {}});
    index_.emplace(hosts, made);
    return made;
}

void CollectiveTracker::observe(const Observation& observation, const PacketRecord& record) {
    if (!record.connection || record.mirror_copy || record.corrupt || record.ulp.protocol != UlpProtocol::none) return;
    if (!observation.has_time || record.arrival == Arrival::repeated) return;
    const OpcodeRow& row = info(observation.opcode);
    if (row.verb == Verb::acknowledge) return follow_acknowledge(observation, record);
    const bool carries = row.verb == Verb::send || row.verb == Verb::write || row.verb == Verb::read_response;
    if (!carries && row.verb != Verb::read_request) return;
    Followed* connection = followed(*record.connection);
    if (connection == nullptr) {
        ++left_out_;
        return;
    }
    if (row.request) connection->signature.take(observation, record.from);
    if (!carries) return;
    const auto from = static_cast<std::size_t>(record.from);
    const bool inside =
        row.place == Place::middle && connection->writing[from].message == kNone;  // of no message of it
    if (row.verb == Verb::write && !inside) follow_nccl(observation, record.from, *connection);
    const bool alone = row.place == Place::only;
    if (alone && observation.payload_length <= kLongestControl) return;
    if (connection->ways[from] == kNone)
        connection->ways[from] = way_of(observation.flow.source, observation.flow.destination, observation.frame);
    if (connection->ways[from] == kNone) {
        ++left_out_;
        return;
    }
    Way& way = ways_[connection->ways[from]];
    const Duration since = observation.time - connection->last[from];
    if ((row.place == Place::middle || row.place == Place::last) && connection->bytes[from] != 0 &&
        since < kLongestPacket) {
        way.rated += observation.payload_length;
        way.sending = way.sending + since;
    }
    connection->last[from] = observation.time;
    connection->bytes[from] += observation.payload_length;
    way.list.add(observation.time, observation.frame, observation.payload_length);
}

// The hosts of all ways that matter, which ways these are, and which hosts belong together.
struct CollectiveTracker::Groups {
    std::vector<Address> hosts;
    std::vector<CollectiveFlow> flows;  // by place in `hosts`
    std::vector<std::uint32_t> group;   // by host
};

CollectiveTracker::Groups CollectiveTracker::groups() const {
    Groups groups;
    std::vector<const Way*> ways;
    for (const Way& way : ways_)
        if (way.hosts.source != way.hosts.destination && way.known * 2 <= way.list.bytes() &&
            (way.nccl || (way.list.bytes() >= kLeastData && way.known * 2 != way.list.bytes())))
            ways.push_back(&way);
    for (const Way* way : ways) {
        groups.hosts.push_back(way->hosts.source);
        groups.hosts.push_back(way->hosts.destination);
    }
    std::ranges::sort(groups.hosts);
    groups.hosts.erase(std::ranges::unique(groups.hosts).begin(), groups.hosts.end());
    const auto place = [&](const Address& host) {
        return static_cast<std::uint32_t>(std::ranges::lower_bound(groups.hosts, host) - groups.hosts.begin());
    };
    std::vector<CollectiveEdge> edges;
    for (const Way* way : ways) edges.push_back({place(way->hosts.source), place(way->hosts.destination)});
    const auto hosts = static_cast<std::uint32_t>(groups.hosts.size());
    const std::vector<std::uint32_t> first = groups_of(hosts, edges);
    std::vector<std::uint64_t> largest(hosts);
    for (std::size_t i = 0; i < ways.size(); ++i)
        largest[first[edges[i].source]] = std::max(largest[first[edges[i].source]], ways[i]->list.bytes());
    std::vector<CollectiveEdge> kept;
    for (std::size_t i = 0; i < ways.size(); ++i) {
        if (!ways[i]->nccl && ways[i]->list.bytes() * kNegligible < largest[first[edges[i].source]]) continue;
        kept.push_back(edges[i]);
        groups.flows.push_back({edges[i], &ways[i]->list});
    }
    groups.group = groups_of(hosts, kept);
    return groups;
}

// Of each group of hosts: how many connections go between them, by the library that they show.
std::vector<CollectiveTracker::Votes> CollectiveTracker::votes_of(const Groups& groups) const {
    const auto group_of = [&](const Address& host) {
        const auto found = std::ranges::lower_bound(groups.hosts, host);
        const bool known = found != groups.hosts.end() && *found == host;
        return known ? groups.group[static_cast<std::size_t>(found - groups.hosts.begin())] : kNone;
    };
    std::vector<std::uint32_t> by_way;
    for (const Way& way : ways_) {
        const std::uint32_t group = group_of(way.hosts.source);
        by_way.push_back(group == group_of(way.hosts.destination) ? group : kNone);
    }
    std::vector<Votes> votes(groups.group.size());
    for (const Followed& connection : followed_) {
        std::uint32_t way = connection.ways[0] != kNone ? connection.ways[0] : connection.ways[1];
        for (const std::uint32_t channel : connection.channels)
            if (way == kNone && channel != kNone) way = channels_[channel].way;
        if (way == kNone || by_way[way] == kNone) continue;
        ++votes[by_way[way]][static_cast<std::size_t>(connection.signature.library())];
    }
    return votes;
}

// How many connections carry it, and which library they show.
void CollectiveTracker::count_connections(Collective& collective, const Votes& votes) {
    collective.connections = std::accumulate(votes.begin(), votes.end(), std::uint64_t{});
    const auto most = std::ranges::max_element(votes.begin() + 1, votes.end());
    constexpr std::uint64_t kEnough = 4;  // one in so many: not every queue pair of a connection has offers
    if (*most != 0 && *most * kEnough >= collective.connections)
        collective.made_by = static_cast<CollectiveLibrary>(most - votes.begin());
}

// How fast each rank sends while it sends.
void CollectiveTracker::rate_ranks(Collective& collective, const std::deque<Way>& ways) {
    constexpr std::uint64_t kFewestRated = 64 * 1024;  // bytes
    for (CollectiveRank& rank : collective.ranks) {
        std::uint64_t bytes = 0;
        Duration time{};
        for (const Way& way : ways) {
            if (way.hosts.source != rank.address) continue;
            bytes += way.rated;
            time = time + way.sending;
        }
        if (bytes >= kFewestRated && time > Duration{})
            rank.rate = 8e9 * static_cast<double>(bytes) / static_cast<double>(std::to_underlying(time));
    }
}

namespace {

// A rank sends so many bytes for each of the result of an all-reduce in a ring: 2 (n-1) of n parts.
double sent_for_result(double ranks) { return 2 * (ranks - 1) / ranks; }

// Of each byte on the wire: how much of it is data, and not a flag of the low-latency protocols.
double data_of(NcclProtocol protocol) {
    switch (protocol) {
        case NcclProtocol::ll: return 0.5;
        case NcclProtocol::ll128: return 120.0 / 128;
        default: return 1;
    }
}

// Ranks whose data the capture has, on average over the ways of a ring that it sees.
double senders_of(const Collective& collective) {
    const auto sends =
        std::ranges::count_if(collective.ranks, [](const CollectiveRank& rank) { return rank.sent != 0; });
    return static_cast<double>(std::max<std::ptrdiff_t>(1, sends));
}

// What each rank sends in steps, and the size of the result.
void rate(Collective& collective) {
    if (collective.steps.empty()) return;
    std::vector<std::uint64_t> sizes;
    for (const CollectiveStep& step : collective.steps) sizes.push_back(step.bytes);
    std::ranges::nth_element(sizes, sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2));
    collective.step_bytes = sizes[sizes.size() / 2];
    std::int64_t busy = 0;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < collective.steps.size(); ++i) {
        const CollectiveStep& step = collective.steps[i];
        collective.step_length.add(step.length);
        if (step.bytes * 2 >= collective.step_bytes) {  // a barrier of a byte moves nothing, and takes as long
            busy += std::max<std::int64_t>(1, std::to_underlying(step.length));
            bytes += step.bytes;
        }
        if (i != 0) {
            const CollectiveStep& before = collective.steps[i - 1];
            collective.between.add(step.begin - (before.begin + before.length));
        }
    }
    if (busy <= 0) return;
    collective.bus_rate = 8e9 * static_cast<double>(bytes) / static_cast<double>(busy) / senders_of(collective);
    const double ranks = std::max<double>(collective.members, static_cast<double>(collective.ranks.size()));
    switch (collective.pattern) {
        case CollectivePattern::ring:
        case CollectivePattern::ring_both_ways:
        case CollectivePattern::tree:
            collective.algorithm_rate = collective.bus_rate / sent_for_result(ranks) * data_of(collective.protocol);
            break;
        case CollectivePattern::all_to_all:
            collective.algorithm_rate = collective.bus_rate * ranks / (ranks - 1);
            break;
        case CollectivePattern::recursive_doubling:
            collective.algorithm_rate = collective.bus_rate / std::log2(ranks);
            break;
        default: break;
    }
}

}  // namespace

std::optional<Collective> CollectiveTracker::judge(const std::vector<Address>& hosts,
                                                   const std::vector<std::uint32_t>& members,
                                                   const std::vector<CollectiveFlow>& flows, const Votes& votes) const {
    Collective collective;
    std::map<std::uint32_t, std::uint32_t> rank_of;
    for (const std::uint32_t member : members) {
        rank_of.emplace(member, static_cast<std::uint32_t>(collective.ranks.size()));
        collective.ranks.push_back({.address = hosts[member]});
    }
    std::vector<CollectiveFlow> own;
    std::vector<CollectiveEdge> edges;
    collective.first_frame = FrameIndex{UINT64_MAX};
    for (const CollectiveFlow& flow : flows) {
        const CollectiveEdge edge{rank_of[flow.edge.source], rank_of[flow.edge.destination]};
        own.push_back({edge, flow.list});
        edges.push_back(edge);
        collective.ranks[edge.source].sent += flow.list->bytes();
        collective.ranks[edge.destination].received += flow.list->bytes();
        collective.bytes += flow.list->bytes();
        if (!flow.list->bursts().empty())
            collective.first_frame = std::min(collective.first_frame, flow.list->bursts().front().frame);
    }
    const auto ranks = static_cast<std::uint32_t>(collective.ranks.size());
    const auto shape = shape_of(ranks, edges);
    count_connections(collective, votes);
    const bool library = collective.made_by != CollectiveLibrary::unknown;
    if (!library && (!shape || ranks < kFewestByShape)) return std::nullopt;
    collective.pattern = shape.value_or(CollectivePattern::in_part);
    if (collective.made_by == CollectiveLibrary::nccl) judge_nccl(collective);
    const bool judged = !collective.steps.empty();
    if (!judged) collective.steps = steps_of(own, ranks);
    if (!library && collective.steps.empty()) return std::nullopt;
    collective.certainty = !library ? kBySteps : collective.steps.empty() ? kByLibrary : kByLibraryAndSteps;
    rate(collective);
    rate_ranks(collective, ways_);
    if (judged) judge_waits(collective);
    else judge_stragglers(collective, own);
    judge_incast(collective, own);
    return collective;
}

void CollectiveTracker::settle(const UlpReport& ulp) {
    for (const UlpConversation& conversation : ulp.conversations) {
        Followed* connection = known(conversation.connection);
        if (connection == nullptr) continue;
        for (std::size_t end = 0; end < 2; ++end)
            if (connection->ways[end] != kNone) ways_[connection->ways[end]].known += connection->bytes[end];
        *connection = {};
    }
    mark_nccl();
}

void CollectiveTracker::add_peaks(Peaks& peaks) const {
    peaks.add(Need::collective_ways, ways_.size(), kMaxWays);
    peaks.add(Need::collective_connections, followed_.size(), kMaxFollowed);
    peaks.add(Need::nccl_events, NcclEvents::kMost - events_.left, NcclEvents::kMost);
}

// Numbers of ways and channels are places in lists, behind which those of the other part come.
void CollectiveTracker::absorb(CollectiveTracker&& part) {
    const auto ways = static_cast<std::uint32_t>(ways_.size()), channels = static_cast<std::uint32_t>(channels_.size());
    const auto behind = [](std::uint32_t& number, std::uint32_t before) {
        if (number != kNone) number += before;
    };
    for (Way& way : part.ways_) {
        for (std::uint32_t& channel : way.channels) behind(channel, channels);
        ways_.push_back(std::move(way));
    }
    for (OfWay& channel : part.channels_) {
        behind(channel.way, ways);
        channels_.push_back(std::move(channel));
    }
    for (Followed& connection : part.followed_) {
        for (std::uint32_t& way : connection.ways) behind(way, ways);
        for (std::uint32_t& channel : connection.channels) behind(channel, channels);
        followed_.push_back(std::move(connection));
    }
    left_out_ += part.left_out_;
    events_.left_out += part.events_.left_out;
    part = {};
}

void CollectiveTracker::leave_out(const std::function<bool(const FlowKey& hosts)>& unwanted) {
    std::vector<std::uint32_t> ways(ways_.size(), kNone),
        channels(channels_.size(), kNone);  // new numbers, by those before
    std::deque<Way> kept_ways;
    for (std::size_t i = 0; i < ways.size(); ++i) {
        if (unwanted(ways_[i].hosts)) continue;
        ways[i] = static_cast<std::uint32_t>(kept_ways.size());
        kept_ways.push_back(std::move(ways_[i]));
    }
    if (kept_ways.size() == ways.size()) {
        ways_ = std::move(kept_ways);
        return;
    }
    std::deque<OfWay> kept_channels;
    for (std::size_t i = 0; i < channels.size(); ++i) {
        OfWay& channel = channels_[i];
        if (channel.way != kNone && ways[channel.way] == kNone) continue;
        channels[i] = static_cast<std::uint32_t>(kept_channels.size());
        if (channel.way != kNone) channel.way = ways[channel.way];
        kept_channels.push_back(std::move(channel));
    }
    for (Way& way : kept_ways) {
        for (std::uint32_t& channel : way.channels) channel = channels[channel];
        std::erase(way.channels, kNone);
    }
    for (Followed& connection : followed_) {
        const auto gone = [&](std::uint32_t way) { return way != kNone && ways[way] == kNone; };
        if (std::ranges::any_of(connection.ways, gone)) connection = {};
        for (std::uint32_t& way : connection.ways)
            if (way != kNone) way = ways[way];
        for (std::uint32_t& channel : connection.channels)
            if (channel != kNone) channel = channels[channel];
    }
    ways_ = std::move(kept_ways);
    channels_ = std::move(kept_channels);
}

// Ways and channels as they came, whichever part had them.
bool CollectiveTracker::is_sound() const {
    const auto below = [](std::uint32_t number, std::size_t size) { return number == kNone || number < size; };
    const auto known_channel = [&](std::uint32_t channel) { return below(channel, channels_.size()); };
    const auto known_way = [&](std::uint32_t way) { return below(way, ways_.size()); };
    return std::ranges::all_of(ways_,
                               [&](const Way& way) { return std::ranges::all_of(way.channels, known_channel); }) &&
           std::ranges::all_of(channels_, [&](const OfWay& channel) { return channel.way < ways_.size(); }) &&
           std::ranges::all_of(followed_, [&](const Followed& connection) {
               return std::ranges::all_of(connection.ways, known_way) &&
                      std::ranges::all_of(connection.channels, known_channel);
           });
}

void CollectiveTracker::put_in_order() {
    const auto order = [](auto& list) {
        std::vector<std::uint32_t> places(list.size());  // by number before
        std::vector<std::uint32_t> sorted(list.size());
        for (std::uint32_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
        std::ranges::stable_sort(sorted, {}, [&](std::uint32_t i) { return list[i].first; });
        std::remove_reference_t<decltype(list)> ordered;
        for (const std::uint32_t i : sorted) {
            places[i] = static_cast<std::uint32_t>(ordered.size());
            ordered.push_back(std::move(list[i]));
        }
        list = std::move(ordered);
        return places;
    };
    const auto renumber = [](std::uint32_t& number, const std::vector<std::uint32_t>& places) {
        if (number != kNone) number = places[number];
    };
    const std::vector<std::uint32_t> ways = order(ways_), channels = order(channels_);
    for (OfWay& channel : channels_) renumber(channel.way, ways);
    for (Way& way : ways_)
        for (std::uint32_t& channel : way.channels) renumber(channel, channels);
    for (Followed& connection : followed_) {
        for (std::uint32_t& way : connection.ways) renumber(way, ways);
        for (std::uint32_t& channel : connection.channels) renumber(channel, channels);
    }
}

CollectiveReport CollectiveTracker::finish(const UlpReport& ulp, const NcclLog& log) {
    settle(ulp);
    return conclude(log);
}

CollectiveReport CollectiveTracker::conclude(const NcclLog& log) {
    CollectiveReport report;
    put_in_order();
    const Groups groups = this->groups();
    std::map<std::uint32_t, std::pair<std::vector<std::uint32_t>, std::vector<CollectiveFlow>>> parts;
    for (const CollectiveFlow& flow : groups.flows) parts[groups.group[flow.edge.source]].second.push_back(flow);
    for (std::uint32_t host = 0; host < groups.group.size(); ++host)
        if (const auto part = parts.find(groups.group[host]); part != parts.end()) part->second.first.push_back(host);
    const std::vector<Votes> votes = votes_of(groups);
    for (const auto& [group, part] : parts) {
        if (part.first.size() > kMaxCollectiveRanks || report.collectives.size() == kMaxCollectives) {
            ++report.left_out;
            continue;
        }
        if (auto collective = judge(groups.hosts, part.first, part.second, votes[group])) {
            join_log(*collective, log);
            report.collectives.push_back(std::move(*collective));
        }
    }
    std::ranges::stable_sort(report.collectives, std::greater{}, &Collective::bytes);
    report.packets_left_out = left_out_ + events_.left_out;
    *this = {};
    return report;
}

}  // namespace qps::transport
