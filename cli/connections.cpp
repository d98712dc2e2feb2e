// `connections`: a row each; with --match those that a line of a log may be about.
#include <transport-replay/logs/log_candidates.hpp>
#include <transport-replay/logs/log_line.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/connections.hpp>

#include <cstdio>

#include "analyzing.hpp"
#include "command.hpp"
#include "decoding.hpp"
#include "message.hpp"
#include "sheet.hpp"
#include <fmt/format.h>

namespace qps::cli {

using namespace transport;

namespace {

// Candidates, best first, with the reasons under each.
void show_candidates(const Options& options, const transport::Timeline& timeline, const LogLine& line, Sheet& sheet) {
    if (!options.quiet)
        for (const std::string& each : recognised(line)) say("qpscope: recognised {}\n", each);
    const auto over = given_up(timeline);
    for (const Candidate& candidate : candidates_for(line, timeline)) {
        if (!wanted(options, candidate.connection)) continue;
        const ConnectionRow row{*timeline.find(candidate.connection), over.contains(candidate.connection), candidate.reasons,
                                timeline.ulp.find(candidate.connection)};
        sheet.add(connection_columns(), row, tone_of(row));
        sheet.remark(fmt::format("   {}", candidate.reasons));
    }
    if (sheet.rows() == 0 && !options.quiet)
        say("qpscope: no connection matches that line{}\n",
                   line.empty() ? ": no address, queue pair or error found in it" : "");
}

void show_all(const Options& options, const transport::Timeline& timeline, Sheet& sheet) {
    const auto over = given_up(timeline);
    for (const Connection& connection : timeline.connections) {
        if (!wanted(options, connection.uid)) continue;
        const ConnectionRow row{connection, over.contains(connection.uid), {}, timeline.ulp.find(connection.uid)};
        sheet.add(connection_columns(), row, tone_of(row));
    }
    if (timeline.connections.empty()) report_none(options, "connections");
}

}  // namespace

ExitCode run_connections(const Options& options) {
    const auto filter = compile_filter(options);
    if (!filter) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    const Analyzed analyzed = analyze(options, *filter, output, {});
    if (analyzed.any) {
        Sheet sheet(options, output, "connections", connection_columns());
        if (options.log_line.empty()) show_all(options, analyzed.timeline, sheet);
        else show_candidates(options, analyzed.timeline, read_log_line(options.log_line), sheet);
        sheet.end();
    }
    return finish(options, analyzed, output);
}

}  // namespace qps::cli
