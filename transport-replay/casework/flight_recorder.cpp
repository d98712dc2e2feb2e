// Reader of PyTorch's flight recorder as JSON, on lines of its own or on one: what a rank enqueued and completed last,
// and how large the collectives are that did not complete.
#include <transport-replay/casework/line_pattern.hpp>
#include <transport-replay/casework/readers.hpp>

#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace qps::casework {

namespace {

const RE2& rank_of_name() {
    static const RE2 rank(R"((\d+)(?:\.\w+)?$)");
    return rank;
}

// A collective that this rank did not complete: subject "collective of GROUP", device the rank.
void put_entry(const FlightEntry& entry, const LineState& state, Case& found) {
    std::string rank;
    if (entry.operation.empty() || entry.elements == 0 || entry.state == "completed" ||
        !finds(state.name, rank_of_name(), &rank))
        return;
    add(found, Setting{{},
                       rank,
                       "collective of " + entry.group,
                       fmt::format("{} {}", entry.operation, entry.sequence),
                       fmt::format("{}", entry.elements),
                       state.place()});
}

// Members come in the order in which PyTorch writes them: the sequence first, is_p2p last.
void read_entries(std::string_view line, LineState& state, Case& found) {
    static const RE2 token(
        R"x("(record_id|process_group|collective_seq_id|profiling_name|input_sizes|state|is_p2p|\w+)"\s*:\s*("[^"]*"|[\w-]+)?|"([^"]*)"|(\d+))x");
    FlightEntry& entry = state.entry;
    re2::StringPiece left(piece(line));
    std::string key, value, word, digits;
    while (RE2::FindAndConsume(&left, token, &key, &value, &word, &digits)) {
        if (value.starts_with('"')) value = value.substr(1, value.size() - 2);
        std::uint64_t number = 0;
        const std::string& text = digits.empty() ? value : digits;
        std::from_chars(text.data(), text.data() + text.size(), number);
        if (!key.empty()) entry.in_sizes = entry.in_group = false;
        if (key == "record_id") entry = {};
        else if (key == "process_group") entry.in_group = true;
        else if (key == "collective_seq_id") entry.sequence = number;
        else if (key == "profiling_name") entry.operation = value.substr(0, kMostWord);
        else if (key == "state") entry.state = value.substr(0, kMostWord);
        else if (key == "input_sizes") entry.in_sizes = true;
        else if (key == "is_p2p" && value == "false") put_entry(entry, state, found);
        else if (key.empty() && entry.in_group && entry.group.empty()) entry.group = word.substr(0, kMostWord);
        else if (key.empty() && entry.in_sizes && !digits.empty()) {
            const std::uint64_t before = entry.elements == 0 ? 1 : entry.elements;
            const bool fits = number == 0 || before <= std::numeric_limits<std::uint64_t>::max() / number;
            entry.elements = fits ? before * number : std::numeric_limits<std::uint64_t>::max();
        }
    }
}

}  // namespace

// The flight recorder of PyTorch as JSON: what a rank enqueued and completed last, of each process group. The rank
// stands in the name of the file alone.
std::string_view take_flight_record(std::string_view line, LineState& state, Case& found) {
    constexpr std::string_view kName = "flight recorder";
    static const RE2 status(
        R"x("last_enqueued_collective"\s*:\s*"?(\d+)"?.*?"last_completed_collective"\s*:\s*"?(\d+))x");
    static const RE2 enqueued(R"x("last_enqueued_collective"\s*:\s*"?(\d+))x");
    static const RE2 member(
        R"x("(?:last_\w+_collective|pg_status|pg_config|collective_seq_id|record_id|profiling_name|input_sizes|process_group|is_p2p|time_created_ns|comm_lib_version)"\s*:)x");
    const bool going_on = state.reader == kName && (state.entry.in_sizes || state.entry.in_group);
    if (!finds(line, member) && !going_on) return {};
    state.reader = kName;
    read_entries(line, state, found);
    std::string id;
    std::uint64_t last = 0, completed = 0;
    const bool both = finds(line, status, &last, &completed);
    if (!both && !finds(line, enqueued, &last)) return kName;
    if (!finds(state.name, rank_of_name(), &id)) return kName;
    Event event;
    event.kind = EventKind::watchdog;
    event.place = state.place();
    event.process = id;
    event.number = last;
    event.operation = both ? std::to_string(completed) : "";
    event.text =
        fmt::format("last enqueued work: {}{}", last, both ? fmt::format(", last completed work: {}", completed) : "");
    add(found, std::move(event));
    return kName;
}

}  // namespace qps::casework
