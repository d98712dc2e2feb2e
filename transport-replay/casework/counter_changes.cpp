// Pairs dumps of counters: before and after by what their files or headers say, else by growth.
#include <transport-replay/casework/counter_changes.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace qps::casework {

namespace {

constexpr std::uint64_t kUnreadable = ~std::uint64_t{0};  // ionic: all ones where it cannot be read
constexpr std::uint64_t kWrap = std::uint64_t{1} << 32U;  // of mlx5's queue counters

// Dumps of one port by one tool, whichever files they stand in.
using Key = std::tuple<std::string, std::string, std::uint32_t, std::string, std::string>;
Key key_of(const CounterDump& dump) { return {dump.host, dump.device, dump.port, dump.source, dump.group}; }

struct Sides {
    std::vector<const CounterDump*> before;
    std::vector<const CounterDump*> after;
    std::vector<const CounterDump*> unknown;
};

// Whether most counters of `later` are at least what `earlier` has, and one is more.
int growth(const CounterDump& earlier, const CounterDump& later) {
    int more = 0;
    for (const auto& [name, value] : later.values)
        if (const auto found = earlier.values.find(name); found != earlier.values.end() && !is_gauge(name))
            more += value > found->second ? 1 : value < found->second ? -1 : 0;
    return more;
}

CounterChange change_of(const CounterDump& dump, const std::string& name, std::uint64_t value) {
    CounterChange change;
    change.what = canonical(name);
    if (dump.source == "hw_counters" && (name == "rx_bytes" || name == "tx_bytes"))
        change.what = {Counter::rdma_bytes, -1};  // of bnxt_re and EFA; ethtool's are of the netdev
    change.vendor_name = name;
    change.host = dump.host;
    change.device = dump.device;
    change.port = dump.port;
    change.source = dump.source;
    change.after = value;
    change.place = dump.places.at(name);
    return change;
}

bool saturates(std::string_view source, std::uint64_t value) {
    return source == "perfquery" && (value == 0xff || value == 0xffff || value == 0xf || value == 0xffffffff);
}

// Whether the dates before them say that the first was made later.
bool dated_later(const CounterDump& one, const CounterDump& other) {
    return !one.zone.empty() && one.zone == other.zone && one.local_time > other.local_time;
}

void add_pair(const CounterDump& before, const CounterDump& after, std::vector<CounterChange>& changes,
              bool swapped = false) {
    for (const auto& [name, value] : after.values) {
        if (is_gauge(name) || value == kUnreadable) continue;
        CounterChange change = change_of(after, name, value);
        change.swapped = swapped;
        const auto found = before.values.find(name);
        if (found != before.values.end() && found->second != kUnreadable) {
            change.paired = true;
            change.before = found->second;
            change.place_before = before.places.at(name);
            change.saturated = value == change.before && saturates(after.source, value);
            if (value >= change.before) change.grown = value - change.before;
            else if (change.before < kWrap && change.before > kWrap / 2 && value < kWrap / 2) {
                change.wrapped = true;
                change.grown = value + kWrap - change.before;
            } else {
                change.reset = true;
            }
        }
        changes.push_back(std::move(change));
    }
}

void add_alone(const CounterDump& dump, std::vector<CounterChange>& changes) {
    for (const auto& [name, value] : dump.values)
        if (!is_gauge(name) && value != kUnreadable) changes.push_back(change_of(dump, name, value));
}

// Dumps of one side joined: a tree of files has one counter in each. Of what stands in several, such as in archives of
// several days, the first reading counts before, the last one after.
CounterDump joined(const std::vector<const CounterDump*>& dumps, bool first = false) {
    CounterDump all = *dumps.front();
    for (const CounterDump* dump : dumps)
        for (const auto& [name, value] : dump->values) {
            if (first && all.values.contains(name)) continue;
            all.values.insert_or_assign(name, value);
            all.places.insert_or_assign(name, dump->places.at(name));
        }
    return all;
}

}  // namespace

std::vector<CounterChange> counter_changes(const Case& read) {
    std::map<Key, Sides> groups;
    for (const CounterDump& dump : read.counters) {
        Sides& sides = groups[key_of(dump)];
        (dump.phase == Phase::before  ? sides.before
         : dump.phase == Phase::after ? sides.after
                                      : sides.unknown)
            .push_back(&dump);
    }
    std::vector<CounterChange> changes;
    for (auto& [key, sides] : groups) {
        if (!sides.before.empty() && !sides.after.empty()) {
            const CounterDump first = joined(sides.before, true);
            const CounterDump last = joined(sides.after);
            // Dates and counters together outweigh the names of files.
            const bool swapped = dated_later(first, last) && growth(last, first) > 0;
            if (swapped) add_pair(last, first, changes, true);
            else add_pair(first, last, changes);
            continue;
        }
        std::vector<const CounterDump*> all = sides.unknown;
        all.insert(all.end(), sides.before.begin(), sides.before.end());
        all.insert(all.end(), sides.after.begin(), sides.after.end());
        // Two of the same counters: in one file their order is the order in time; in two, growth tells.
        const bool repeated = all.size() >= 2 && all.front()->values.size() == all.back()->values.size() &&
                              std::ranges::equal(all.front()->values, all.back()->values, {},
                                                 &std::pair<const std::string, std::uint64_t>::first,
                                                 &std::pair<const std::string, std::uint64_t>::first);
        if (!repeated) {
            if (!all.empty()) add_alone(joined(all), changes);
            continue;
        }
        const CounterDump* first = all.front();
        const CounterDump* last = all.back();
        const bool dated = dated_later(*first, *last) || dated_later(*last, *first);
        if (dated_later(*first, *last) ||
            (!dated && first->place.file != last->place.file && growth(*first, *last) < 0))
            std::swap(first, last);
        add_pair(*first, *last, changes);
    }
    return changes;
}

}  // namespace qps::casework
