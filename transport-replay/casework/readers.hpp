// The table of readers: each takes the lines of the kinds of evidence that it knows, by what is in them, and turns them
// into values of the case. A line goes to the first reader that takes it; what none takes is counted as unrecognised.
//
// A reader sees one line at a time and keeps what it must remember in LineState, which is bounded.
#pragma once

#include <transport-replay/casework/evidence.hpp>

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qps::casework {

// The entry of a flight recorder that is being read, of which a line may hold a part or many.
struct FlightEntry {
    std::string group, operation, state;
    std::uint64_t sequence = 0;
    std::uint64_t elements = 0;  // of the input: the product of its sizes
    bool in_sizes = false;
    bool in_group = false;
};

// The rank of a RAS dump in JSON that is being read.
struct RasRank {
    bool any = false;
    std::uint32_t number = 0;
    std::string host, process;
    bool silent = false, dead = false;
    bool counting = false;  // its counts of operations have begun
    std::vector<std::pair<std::string, std::uint64_t>> counts;
    Place place{};
};
struct RasDump {
    bool open = false;
    bool missing = false;  // the ranks that follow are missing
    std::string communicator;
    RasRank rank;
};

// What readers remember of a file from line to line.
struct LineState {
    std::uint32_t file = 0;
    std::uint32_t line = 0;
    std::string_view name;  // of the file
    std::string host;       // of a prompt or a header; else empty
    std::string command;    // last command line that the file quotes
    std::string device;     // of the block that goes on
    std::uint32_t port = 0;
    std::uint32_t priority = 0;
    std::vector<std::string> columns;  // of the table that goes on
    std::uint32_t block = 0;           // what the reader at work is in; readers number their own
    std::string_view reader;           // whose block it is
    std::string subject;               // of the block
    FlightEntry entry;
    RasDump ras;
    std::string rows;  // hex rows of a dump so far
    std::uint32_t rows_line = 0;
    std::set<std::string> noted;       // settings that logs repeat
    std::set<std::string> complaints;  // forms of complaints that no signature reads
    std::size_t dump = SIZE_MAX;       // index of the counter dump that goes on
    Phase phase = Phase::unknown;      // that a header names
    std::string zone;                  // of the last date that stands alone on a line
    std::int64_t local_time = 0;       // that date, in seconds
    [[nodiscard]] Place place() const { return {file, line}; }
};

// The kind of evidence that the line is, "NCCL log"; empty: not of this reader.
using TakeLine = std::string_view (*)(std::string_view line, LineState& state, Case& found);
struct Reader {
    std::string_view family;
    TakeLine take;
};

[[nodiscard]] std::span<const Reader> readers();

// One for each family of formats.
[[nodiscard]] std::string_view take_log_line(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_error_cqe(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_blocked_task(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_counter(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_switch_table(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_gid(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_queue_pair(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_setting(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_rank_state(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_ras_json(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_inspector(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_mlxlink(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_switch_ports(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_flight_record(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_measurement(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_date(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_complaint(std::string_view line, LineState& state, Case& found);
[[nodiscard]] std::string_view take_command(std::string_view line, LineState& state, Case& found);

// Lists are bounded by Case::memory; what finds no place is counted in Case::left_out.
inline constexpr std::size_t kMostWord = 256;        // bytes of a value that is kept
inline constexpr std::size_t kMostCounters = 4'096;  // of a dump

// A line of the file is of this host.
void say_host(Case& found, const LineState& state, const std::string& host, std::uint64_t lines = 1);
void add(Case& found, Event event);
void add(Case& found, Setting setting);
void add(Case& found, RankState state);
void add(Case& found, BlockedTask task);
void add(Case& found, Measurement measurement);
void add_address(Case& found, const std::string& address, const std::string& host);
void add_counter(Case& found, CounterDump& dump, std::string_view name, std::uint64_t value, Place place);
// The dump that a counter belongs to: the one that goes on, or a new one where its source, device or port changes, or
// the name stands in it already.
[[nodiscard]] CounterDump* dump_for(Case& found, LineState& state, std::string_view source, std::string_view device,
                                    std::uint32_t port, std::string_view counter);

}  // namespace qps::casework
