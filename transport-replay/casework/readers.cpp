// The table of readers, and what they share: bounds, and which dump a counter belongs to.
#include <transport-replay/casework/readers.hpp>

#include <array>
#include <string>
#include <utility>

namespace qps::casework {

namespace {

// What has a form of its own comes before what takes any name and value. A command line is behind these: "# ..." is a
// comment for all others. What nobody takes may still complain.
constexpr std::array kReaders{
    Reader{"error CQEs", take_error_cqe},
    Reader{"blocked tasks", take_blocked_task},
    Reader{"logs", take_log_line},
    Reader{"GID tables", take_gid},
    Reader{"queue pairs", take_queue_pair},
    Reader{"RAS dumps", take_rank_state},
    Reader{"RAS dumps in JSON", take_ras_json},
    Reader{"inspectors", take_inspector},
    Reader{"flight recorders", take_flight_record},
    Reader{"mlxlink", take_mlxlink},
    Reader{"switch ports", take_switch_ports},
    Reader{"switch tables", take_switch_table},
    Reader{"counters", take_counter},
    Reader{"benchmarks", take_measurement},
    Reader{"dates", take_date},
    Reader{"settings", take_setting},
    Reader{"command lines", take_command},
    Reader{"complaints", take_complaint},
};

}  // namespace

std::span<const Reader> readers() { return kReaders; }

void say_host(Case& found, const LineState& state, const std::string& host, std::uint64_t lines) {
    constexpr std::size_t kMostHosts = 4096;  // of a file
    if (host.empty() || state.file >= found.hosts_said.size()) return;
    auto& said = found.hosts_said[state.file];
    if (const auto known = said.find(host); known != said.end()) known->second += lines;
    else if (said.size() < kMostHosts) said.emplace(host, lines);
}

namespace {

// Whether one more fits beside so many; else it is counted.
bool fits(Case& found, CaseShare share, std::size_t kept) {
    if (kept < found.memory.items(share)) return true;
    ++found.left_out;
    return false;
}

std::size_t states_of(const Case& found) {
    return found.ranks.size() + found.blocked.size() + found.measurements.size() + found.addresses.size();
}

}  // namespace

void add(Case& found, Event event) {
    if (fits(found, CaseShare::events, found.events.size())) found.events.push_back(std::move(event));
}
void add(Case& found, Setting setting) {
    if (fits(found, CaseShare::settings, found.settings.size())) found.settings.push_back(std::move(setting));
}
void add(Case& found, RankState state) {
    if (fits(found, CaseShare::states, states_of(found))) found.ranks.push_back(std::move(state));
}
void add(Case& found, BlockedTask task) {
    if (fits(found, CaseShare::states, states_of(found))) found.blocked.push_back(std::move(task));
}
void add(Case& found, Measurement measurement) {
    if (fits(found, CaseShare::states, states_of(found))) found.measurements.push_back(std::move(measurement));
}
void add_address(Case& found, const std::string& address, const std::string& host) {
    if (!found.addresses.contains(address) && fits(found, CaseShare::states, states_of(found)))
        found.addresses.emplace(address, host);
}

void add_counter(Case& found, CounterDump& dump, std::string_view name, std::uint64_t value, Place place) {
    if (dump.values.size() >= kMostCounters || !fits(found, CaseShare::counters, found.counted))
        return void(found.left_out += dump.values.size() >= kMostCounters ? 1U : 0U);
    const std::string kept(name.substr(0, kMostWord));
    if (dump.values.emplace(kept, value).second) ++found.counted;
    dump.places.emplace(kept, place);
}

CounterDump* dump_for(Case& found, LineState& state, std::string_view source, std::string_view device,
                      std::uint32_t port, std::string_view counter) {
    if (state.dump < found.counters.size()) {
        CounterDump& dump = found.counters[state.dump];
        const bool same = dump.source == source && dump.device == device && dump.port == port;
        if (same && !dump.values.contains(counter)) return &dump;
    }
    // The rows of two ports may stand mixed: any dump of this file may go on.
    constexpr std::size_t kLooked = 64;
    for (std::size_t back = 0; back < kLooked && back < found.counters.size(); ++back) {
        const std::size_t index = found.counters.size() - 1 - back;
        CounterDump& dump = found.counters[index];
        if (dump.place.file != state.file) break;
        if (dump.source != source || dump.device != device || dump.port != port || dump.values.contains(counter))
            continue;
        if (dump.phase != state.phase && state.phase != Phase::unknown) continue;
        state.dump = index;
        return &dump;
    }
    constexpr std::size_t kCountersOfDump = 4;  // its own cost, in those of counters
    if (!fits(found, CaseShare::counters, found.counted)) return nullptr;
    found.counted += kCountersOfDump;
    CounterDump made;
    made.host = state.host;
    made.device = std::string(device.substr(0, kMostWord));
    made.port = port;
    made.source = std::string(source);
    made.phase = state.phase;
    made.zone = state.zone;
    made.local_time = state.local_time;
    made.place = state.place();
    found.counters.push_back(std::move(made));
    state.dump = found.counters.size() - 1;
    return &found.counters.back();
}

}  // namespace qps::casework
