#include <transport-replay/model/memory_beside.hpp>
#include <transport-replay/report/connection_times.hpp>

#include <algorithm>

namespace qps::transport {

using dissect::Instant;

void ConnectionTimes::Answers::pop_until(Instant first) {
    while (gone < all.size() && all[gone] <= first) ++gone;
    if (gone < all.size() - gone) return;  // half of them or more are gone: each is moved once at most
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(gone));
    gone = 0;
}

std::uint64_t ConnectionTimes::Entry::bytes() const {
    std::uint64_t sum = 0;
    for (const WayTimes& way : ways) sum += way.latencies.bytes();
    for (const Answers& each : answers) sum += each.bytes();
    return sum;
}

ConnectionTimes::ConnectionTimes(const MemoryBudget& memory) : most_(bytes_beside(memory, Beside::latencies)) {}

// Requests of a way begin, and are answered, in the order of their PSNs: those before this message whose answer came
// after it began were outstanding together with it.
void ConnectionTimes::add(ConnectionId connection, End requester, Outcome outcome, Instant first, Instant answer) {
    if (outcome != Outcome::completed && outcome != Outcome::failed) return;
    auto found = entries_.find(connection);
    if (found == entries_.end()) {
        if (bytes_ + kEntryCost > most_) {
            ++left_out_;
            return;
        }
        found = entries_.try_emplace(connection).first;
        bytes_ += kEntryCost;
    }
    Entry& entry = found->second;
    ++entry.messages;
    if (entry.dropped) {
        ++left_out_;
        return;
    }
    WayTimes& way = entry.ways[static_cast<std::size_t>(requester)];
    Answers& answers = entry.answers[static_cast<std::size_t>(requester)];
    answers.pop_until(first);
    const bool completed = outcome == Outcome::completed;
    const std::uint64_t before = entry.bytes();
    // A growing vector doubles: as much again, at most.
    std::uint64_t more = 0;
    if (completed && !way.latencies.has_room_for(answer - first))
        more += std::max<std::uint64_t>(way.latencies.bytes(), sizeof(std::uint64_t));
    if (!answers.has_room()) more += std::max<std::uint64_t>(answers.bytes(), sizeof(Instant));
    if (more != 0 && bytes_ + more > most_) {
        left_out_ += entry.messages;
        bytes_ -= before;
        entry = Entry{.ways = {}, .answers = {}, .messages = entry.messages, .dropped = true};
        return;
    }
    if (completed) {
        way.latencies.add(answer - first);
        way.most = std::max(way.most, answer - first);
    }
    answers.all.push_back(answer);
    way.depth = std::max(way.depth, static_cast<std::uint32_t>(answers.all.size() - answers.gone));
    bytes_ += entry.bytes() - before;
}

const std::array<WayTimes, 2>* ConnectionTimes::find(ConnectionId connection) const {
    const auto entry = entries_.find(connection);
    return entry == entries_.end() || entry->second.dropped ? nullptr : &entry->second.ways;
}

LatencySketch latencies_of(const std::array<WayTimes, 2>& times) {
    LatencySketch both = times[0].latencies;
    both.add(times[1].latencies);
    return both;
}

}  // namespace qps::transport
