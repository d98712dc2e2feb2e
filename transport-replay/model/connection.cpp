#include <dissect/base/timers.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/recovery.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace qps::transport {

using namespace dissect;

void DurationSummary::add(Duration value) {
    least = count == 0 ? value : std::min(least, value);
    most = count == 0 ? value : std::max(most, value);
    sum = sum + value;
    ++count;
}

void DurationSummary::add(const DurationSummary& others) {
    if (others.count == 0) return;
    least = count == 0 ? others.least : std::min(least, others.least);
    most = count == 0 ? others.most : std::max(most, others.most);
    sum = sum + others.sum;
    count += others.count;
}

Duration DurationSummary::mean() const {
    return count == 0 ? Duration{} : Duration{std::to_underlying(sum) / static_cast<std::int64_t>(count)};
}

RecoverySum& Incidents::recovery(RecoveryKind kind) {
    if (recoveries.empty()) recoveries.resize(kRecoveryKindNames.size());
    return recoveries[static_cast<std::size_t>(kind)];
}

const RecoverySum& Incidents::recovery(RecoveryKind kind) const {
    static constexpr RecoverySum kNone;
    return recoveries.empty() ? kNone : recoveries[static_cast<std::size_t>(kind)];
}

void RecoverySum::add(const Recovery& episode) {
    ++episodes;
    triggers += episode.triggers;
    resent += episode.resent;
    first_seen += episode.first_seen;
    resent_bytes += episode.resent_bytes;
    lost = lost + episode.lost_time();
    waited = waited + episode.waited;
    most_lost = std::max(most_lost, episode.lost_time());
}

void RnrNaks::add(Psn refused, Instant time, std::uint8_t code) {
    if (!timer || refused != psn) first = time;
    psn = refused;
    timer = code;
    longest = std::max(longest, time - first);
}

bool Connection::clocks_apart() const {
    constexpr std::uint64_t kFewest = 8;      // fewer may have come from another queue
    constexpr Duration kOfQueues{1'000'000};  // what queues exchange is nearer
    return std::ranges::any_of(ways, [](const Way& way) {
        const std::uint64_t early = way.incidents->early_answers,
                            all = way.acks + way.read_responses + way.atomic_responses;
        return early >= kFewest && early * (way.incidents->earliest_answer > kOfQueues ? 16 : 2) >= all;
    });
}

void Incidents::note(Oddity oddity, FrameIndex frame) {
    if (std::ranges::count(odd, oddity, &Odd::oddity) < static_cast<std::ptrdiff_t>(kMostOdd))
        odd.push_back({oddity, frame});
}

std::vector<FrameIndex> Incidents::frames(Oddity oddity) const {
    std::vector<FrameIndex> found;
    for (const Odd& one : odd)
        if (one.oddity == oddity) found.push_back(one.frame);
    return found;
}

std::uint64_t Way::all_messages() const { return std::accumulate(messages.begin(), messages.end(), std::uint64_t{0}); }

Instant Connection::first_time() const {
    if (ways[0].packets == 0) return ways[1].first_time;
    return ways[1].packets == 0 ? ways[0].first_time : std::min(ways[0].first_time, ways[1].first_time);
}

Instant Connection::last_time() const {
    if (ways[0].packets == 0) return ways[1].last_time;
    return ways[1].packets == 0 ? ways[0].last_time : std::max(ways[0].last_time, ways[1].last_time);
}

FrameIndex Connection::first_frame() const {
    if (ways[0].packets == 0) return ways[1].first_frame;
    return ways[1].packets == 0 ? ways[0].first_frame : std::min(ways[0].first_frame, ways[1].first_frame);
}

std::string text(const Endpoint& end) {
    const std::string network = text(end.network);
    return text(end.address) + ":" + (end.qpn ? std::to_string(std::to_underlying(*end.qpn)) : std::string("?")) +
           (network.empty() ? network : " (" + network + ")");
}

std::optional<TimeoutExponents> timeout_exponents(Duration interval) {
    const std::int64_t units = std::to_underlying(interval) / std::to_underlying(dissect::timeout_of(0));
    if (units < 2) return std::nullopt;
    const auto bits = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(units)));
    const auto most = static_cast<std::uint8_t>(std::min<std::uint64_t>(bits - 1, dissect::kMostTimeoutCode));
    return TimeoutExponents{static_cast<std::uint8_t>(most > 2 ? most - 2 : 1), most};
}

std::uint64_t Connection::timeouts(End requester) const {
    if (way(other(requester)).incidents->unread_answers != 0) return 0;
    return way(requester).incidents->recovery(RecoveryKind::timeout).triggers;
}

const Connection* Timeline::find(ConnectionId uid) const {
    const auto found = std::ranges::lower_bound(connections, uid, {}, &Connection::uid);
    return found == connections.end() || found->uid != uid ? nullptr : &*found;
}

Connection* Timeline::find(ConnectionId uid) {
    const auto found = std::ranges::lower_bound(connections, uid, {}, &Connection::uid);
    return found == connections.end() || found->uid != uid ? nullptr : &*found;
}

}  // namespace qps::transport
