// `pingpong`: serves, or measures round trips with a server: rows as a table, the best first, or as JSON.
#include <transport-replay/live/pingpong/pingpong.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/json.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "command.hpp"
#include "driving.hpp"
#include "message.hpp"
#include "output.hpp"
#include <fmt/format.h>

namespace qps::cli {

using namespace transport;
using namespace transport::live;
using dissect::Instant;
using live::Endpoint;

namespace {

std::string_view name_of(const PingpongRow& row) { return kPingpongModes[row.mode].name; }

std::string mode_names() {
    std::string names;
    for (const PingpongMode& mode : kPingpongModes) names += fmt::format("{}{}", names.empty() ? "" : ", ", mode.name);
    return names;
}

std::expected<std::vector<std::size_t>, std::string> modes_of(const std::vector<std::string>& only) {
    std::vector<std::size_t> modes;
    for (std::size_t mode = 0; mode < kPingpongModes.size(); ++mode)
        if (only.empty() || std::ranges::find(only, kPingpongModes[mode].name) != only.end()) modes.push_back(mode);
    for (const std::string& each : only)
        if (std::ranges::find(kPingpongModes, each, &PingpongMode::name) == kPingpongModes.end())
            return std::unexpected(fmt::format("invalid mode '{}': expected one of {}", each, mode_names()));
    return modes;
}

std::string percent(const ProcessorUse& use) { return fmt::format("{:.0f} %", use.share() * 100); }

std::string names_of(std::span<const PingpongRow> rows, const std::vector<std::size_t>& which) {
    std::string names;
    for (const std::size_t row : which) names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(rows[row]));
    return names;
}

std::string for_people(const PingpongSettings& settings, std::span<const PingpongRow> rows) {
    std::string text = fmt::format("{}, depth {}, {}\n", counted(settings.request.size.value_or(kPingpongBytes), "byte"),
                                   settings.request.depth, settings.signaled ? "all SENDs signaled" : "some SENDs signaled");
    constexpr std::string_view kLine = "{:>5}  {:<13}{:>12}{:>12}{:>12}{:>12}{:>12}{:>8}{:>10}  {}\n";
    text += fmt::format(kLine, "place", "mode", "rounds", "min", "p50", "p99", "max", "CPU", "peer CPU", "ties with");
    for (const PingpongPlace& place : ranked(rows)) {
        const PingpongRow& row = rows[place.row];
        text += fmt::format(kLine, place.place, name_of(row), grouped(row.round_trips), duration_text(row.least), duration_text(row.median),
                            duration_text(row.most_of), duration_text(row.longest), percent(row.here), percent(row.there),
                            names_of(rows, place.with));
    }
    std::string trimmed;  // no blanks at the ends of lines
    for (const char each : text) {
        if (each == '\n')
            while (trimmed.ends_with(' ')) trimmed.pop_back();
        trimmed += each;
    }
    return trimmed;
}

void add_use(Document& document, std::string_view name, const ProcessorUse& use) {
    document.open(name);
    document.add("processor_ns", static_cast<std::int64_t>(use.worked));
    document.add("lasted_ns", static_cast<std::int64_t>(use.lasted));
    document.add("processor_per_million", static_cast<std::int64_t>(use.share() * 1e6));
    document.close();
}

std::string for_programs(OutputFormat format, const PingpongSettings& settings, std::span<const PingpongRow> rows,
                         const ProgramCounts& counts) {
    std::string text;
    Document document(format, text);
    document.open();
    document.add("schema", kSchema);
    document.add("size_bytes", settings.request.size.value_or(kPingpongBytes));
    document.add("depth", settings.request.depth);
    document.add("signaled", settings.signaled);
    document.add("wrong", counts.wrong);
    document.add("failed", counts.failed);
    document.open_list("rows");
    for (const PingpongPlace& place : ranked(rows)) {
        const PingpongRow& row = rows[place.row];
        document.open();
        document.add("place", place.place);
        document.add("row", name_of(row));
        std::vector<std::string> ties;
        for (const std::size_t other : place.with) ties.emplace_back(name_of(rows[other]));
        document.add_texts("as_good_as", ties);
        document.add("round_trips", row.round_trips);
        document.add("min_ns", static_cast<std::int64_t>(row.least));
        document.add("p50_ns", static_cast<std::int64_t>(row.median));
        document.add("p99_ns", static_cast<std::int64_t>(row.most_of));
        document.add("max_ns", static_cast<std::int64_t>(row.longest));
        add_use(document, "here", row.here);
        add_use(document, "there", row.there);
        document.close();
    }
    document.close_list();
    document.close();
    text += '\n';
    return text;
}

PingpongSettings settings_of(const LiveOptions& live) {
    PingpongSettings settings{
        .row_lasts = live.row_lasts, .signaled = live.signaled, .processor = processor_time, .clock = [clock = SteadyTime{}] {
            return clock.now();
        }};
    settings.request = {.target = live.target, .port = live.port, .count = live.count, .size = live.size.value_or(kPingpongBytes)};
    settings.request.depth = live.depth.value_or(1);
    settings.request.clients = live.clients;
    set_timers(live, settings.request.connect);
    settings.request.verify = live.verify;
    return settings;
}

// What the program says as it goes: of a server that is all there is; beside a client's rows it is a remark.
void print_lines(Program& program, Output& output, bool serves, bool quiet) {
    for (const std::string& line : program.take_lines()) {
        if (serves) {
            output.write(line + "\n");
            output.flush();
        } else if (!quiet) {
            say("{}\n", line);
        }
    }
}

ExitCode code_of(Ending ending, const ProgramCounts& counts, bool all_there) {
    if (ending == Ending::device_gone) return ExitCode::unreadable;
    if (ending == Ending::interrupted && !all_there) return ExitCode::interrupted;
    return counts.failed > 0 || counts.wrong > 0 || !all_there ? ExitCode::findings : ExitCode::done;
}

}  // namespace

ExitCode run_pingpong(const Options& options) {
    const LiveOptions& live = options.live;
    const bool serves = !live.target;
    std::vector<PingpongRow> rows;
    PingpongSettings settings = settings_of(live);
    settings.on_row = [&rows](const PingpongRow& row) { rows.push_back(row); };
    const auto modes = modes_of(live.only);
    if (!modes) return fail({ExitCode::usage, modes.error()});
    settings.modes = *modes;
    auto program = make_pingpong(settings);
    if (!program) return fail({ExitCode::usage, program.error()});
    Output output(options);
    if (!output.ok()) return fail({ExitCode::output_failed, output.problem()});
    const SteadyTime clock;
    auto opened = open_endpoint(live, clock.now());
    if (!opened) return fail(opened.error());
    Endpoint& endpoint = opened->endpoint;
    if (auto settled = settle(endpoint, clock); !settled) return fail(settled.error());
    if (auto begun = program->begin(endpoint, clock.now()); !begun) return fail({ExitCode::unreadable, begun.error()});
    if (serves && !options.quiet && !opened->addresses.empty())
        say("serving pingpong at {}\n", text(opened->addresses.front()));
    const Ending ending = drive(endpoint, *program, live, clock, [&](Instant) { print_lines(*program, output, serves, options.quiet); });
    const bool all_there = serves || rows.size() == settings.modes.size();
    if (!serves)
        output.write(options.format == OutputFormat::table ? for_people(settings, rows)
                                                           : for_programs(options.format, settings, rows, program->counts()));
    output.flush();
    if (const auto problem = endpoint.device().problem()) say("qpscope: {}: {}\n", problem->device, problem->sentence);
    if (opened->capture)
        if (auto saved = opened->capture->commit(); !saved)
            return fail({ExitCode::output_failed, fmt::format("{}: {}", saved.error().file, saved.error().sentence)});
    if (!output.ok()) return fail({ExitCode::output_failed, output.problem()});
    return code_of(ending, program->counts(), all_there);
}

}  // namespace qps::cli
