// The table of readers, and what they share: bounds, and which dump a counter belongs to.
#include <transport-replay/casework/readers.hpp>

#include <array>
#include <string>
#include <utility>

namespace qps::casework {

namespace {

// What has a form of its own comes before what takes any name and value. A command line is last: "# ..." is a comment
// for all others.
constexpr std::array kReaders{
    Reader{"error CQEs", take_error_cqe},
    Reader{"blocked tasks", take_blocked_task},
    Reader{"logs", take_log_line},
    Reader{"GID tables", take_gid},
    Reader{"queue pairs", take_queue_pair},
    Reader{"RAS dumps", take_rank_state},
    Reader{"flight recorders", take_flight_record},
    Reader{"switch tables", take_switch_table},
    Reader{"counters", take_counter},
    Reader{"benchmarks", take_measurement},
    Reader{"settings", take_setting},
    Reader{"command lines", take_command},
};

}  // namespace

std::span<const Reader> readers() { return kReaders; }

void say_host(Case& found, const LineState& state, const std::string& host) {
    constexpr std::size_t kMostHosts = 4096;  // of a file
    if (host.empty() || state.file >= found.hosts_said.size()) return;
    auto& said = found.hosts_said[state.file];
    if (const auto known = said.find(host); known != said.end()) ++known->second;
    else if (said.size() < kMostHosts) said.emplace(host, 1);
}

void add(Case& found, Event event) {
    if (found.events.size() >= kMostEvents) ++found.left_out;
    else found.events.push_back(std::move(event));
}

void add(Case& found, Setting setting) {
    if (found.settings.size() >= kMostSettings) ++found.left_out;
    else found.settings.push_back(std::move(setting));
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
    if (found.counters.size() >= kMostDumps) return nullptr;
    CounterDump made;
    made.host = state.host;
    made.device = std::string(device.substr(0, kMostWord));
    made.port = port;
    made.source = std::string(source);
    made.phase = state.phase;
    made.place = state.place();
    found.counters.push_back(std::move(made));
    state.dump = found.counters.size() - 1;
    return &found.counters.back();
}

}  // namespace qps::casework
