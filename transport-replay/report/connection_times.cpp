#include <transport-replay/report/connection_times.hpp>

#include <algorithm>

namespace qps::transport {

using dissect::Instant;

// Requests of a way begin, and are answered, in the order of their PSNs: those before this message whose answer came after it began
// were outstanding together with it.
void ConnectionTimes::add(ConnectionId connection, End requester, Outcome outcome, Instant first, Instant answer) {
    if (outcome != Outcome::completed && outcome != Outcome::failed) return;
    auto entry = entries_.find(connection);
    if (entry == entries_.end()) {
        if (entries_.size() == kMostConnections) return;
        entry = entries_.try_emplace(connection).first;
    }
    WayTimes& way = entry->second.ways[static_cast<std::size_t>(requester)];
    if (outcome == Outcome::completed) {
        way.latencies.add(answer - first);
        way.most = std::max(way.most, answer - first);
    }
    std::deque<Instant>& answers = entry->second.answers[static_cast<std::size_t>(requester)];
    while (!answers.empty() && answers.front() <= first) {
        answers.pop_front();
        --open_;
    }
    if (open_ == kMostOpen) return;
    answers.push_back(answer);
    ++open_;
    way.depth = std::max(way.depth, static_cast<std::uint32_t>(answers.size()));
}

const std::array<WayTimes, 2>* ConnectionTimes::find(ConnectionId connection) const {
    const auto entry = entries_.find(connection);
    return entry == entries_.end() ? nullptr : &entry->second.ways;
}

LatencyBins latencies_of(const std::array<WayTimes, 2>& times) {
    LatencyBins both = times[0].latencies;
    both.add(times[1].latencies);
    return both;
}

}  // namespace qps::transport
