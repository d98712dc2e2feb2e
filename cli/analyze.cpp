// `analyze`: what happened in a capture, and what was wrong with it; with --part, what a part of it found.
#include <cli/analyzing.hpp>
#include <cli/command.hpp>
#include <cli/decoding.hpp>
#include <cli/message.hpp>
#include <cli/parts.hpp>
#include <cli/report.hpp>
#include <cli/shown.hpp>
#include <cli/tone.hpp>
#include <transport-replay/report/json.hpp>

namespace qps::cli {

void show_analysis(const Options& options, const transport::Timeline& timeline, Output& output) {
    if (options.format == OutputFormat::table) write_summary(options, timeline, output, wants_color(options, output));
    else
        write_report(timeline, options.format, input_names(options), options.connections,
                     [&](std::string_view piece) { output.write(piece); });
}

ExitCode run_analyze(const Options& options) {
    if (options.part.any()) return write_part_of(options);
    if (options.part.checks) {
        say("qpscope: --checks goes with --part or --host: qpscope check judges a whole capture\n");
        return ExitCode::usage;
    }
    const auto filter = compile_filter(options, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    const Analyzed analyzed = analyze(options, *filter, output, {});
    if (analyzed.any) {
        show_analysis(options, analyzed.timeline, output);
        output.write(next_step(options, analyzed.timeline, output));
    }
    const ExitCode seen = analyzed.any ? say_nothing_seen(options, analyzed.timeline) : ExitCode::done;
    return worse(seen, finish(options, analyzed, output));
}

}  // namespace qps::cli
