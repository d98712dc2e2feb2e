// Sums, growth and words of counters.
#include <transport-replay/casework/claim_rows.hpp>
#include <transport-replay/casework/counter_words.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::casework {

using transport::grouped;

Changes of(const Facts& facts, std::initializer_list<Counter> counters, const std::string* host) {
    Changes found;
    const auto take = [&](const CounterChange& change) {
        if (std::ranges::find(counters, change.what.counter) != counters.end()) found.push_back(&change);
    };
    if (host == nullptr) {
        for (const CounterChange& change : facts.changes) take(change);
    } else if (const auto its = facts.of_host.find(*host); its != facts.of_host.end()) {
        for (const CounterChange* change : its->second) take(*change);
    }
    return found;
}

std::uint64_t growth(const Changes& changes) {
    std::uint64_t sum = 0;
    for (const CounterChange* change : changes) sum += change->grown;
    return sum;
}

bool paired(const Changes& changes) {
    return std::ranges::any_of(changes, [](const CounterChange* change) { return change->paired && !change->reset; });
}

std::string grown_text(Changes changes, std::size_t most) {
    std::erase_if(changes, [](const CounterChange* change) { return change->grown == 0; });
    std::ranges::stable_sort(changes, std::ranges::greater{}, &CounterChange::grown);
    // Of several devices each is named, and of a switch every port.
    const bool several = std::ranges::any_of(changes, [&](const CounterChange* change) {
        return change->device != changes.front()->device || change->port != changes.front()->port ||
               change->source.starts_with("switch port");
    });
    std::vector<std::string> parts;
    for (const CounterChange* change : changes) {
        if (parts.size() == most) break;
        parts.push_back(fmt::format("{}{} grew by {} ({} to {}{})", change->vendor_name,
                                    several && !change->device.empty() ? " of " + change->device : "",
                                    grouped(change->grown), grouped(change->before), grouped(change->after),
                                    change->wrapped ? ", over a wrap of 32 bits" : ""));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

transport::Facts grown_facts(const Changes& changes) {
    constexpr std::size_t kMost = 16;
    std::vector<std::string> grown;
    for (const CounterChange* change : changes)
        if (change->grown != 0 && grown.size() < kMost)
            grown.push_back(fmt::format("{} {}", change->vendor_name, change->grown));
    return {{facts::kGrown, std::move(grown)}};
}

std::vector<Place> evidence_of(Changes changes, std::size_t most) {
    std::erase_if(changes, [](const CounterChange* change) { return change->grown == 0; });
    std::vector<Place> places;
    for (const CounterChange* change : changes) {
        if (places.size() + 2 > most) break;
        if (change->paired) places.push_back(change->place_before);
        places.push_back(change->place);
    }
    return places;
}

std::set<std::string> hosts_of(const Facts& facts) {
    std::set<std::string> hosts;
    for (const auto& [host, changes] : facts.of_host) hosts.insert(host);
    return hosts;
}

Priorities priorities_of(const Facts& facts, const std::string& host) {
    Priorities found;
    for (const CounterChange* change : of(facts, {Counter::priority_volume}, &host)) {
        if (!change->paired) continue;
        found.counted.insert(change->what.priority);
        if (change->grown > 0) found.used.insert(change->what.priority);
    }
    return found;
}

}  // namespace qps::casework
