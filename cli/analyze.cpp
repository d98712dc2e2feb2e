// `analyze`: what happened in a capture, and what was wrong with it; with --part, what a part of it found.
#include <cli/analyzing.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/message.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/parts.hpp>
#include <cli/report.hpp>
#include <cli/shown.hpp>
#include <cli/tone.hpp>
#include <transport-replay/report/json.hpp>

namespace qps::cli {

void show_analysis(const ListingOptions& options, const transport::Timeline& timeline, Output& output) {
    const OutputOptions& shown = options.output;
    if (shown.format == OutputFormat::table)
        write_summary(options.reading, timeline, output, wants_color(shown.color, output));
    else
        write_report(timeline, shown.format, input_names(options.reading.input), options.reading.analysis.connections,
                     [&](std::string_view piece) { output.write(piece); });
}

namespace {

struct AnalyzeOptions {
    ListingOptions listing;
    PartOptions part;

    void add(OptionTable& table) {
        listing.begin(table);
        listing.reading.analysis.add_knowledge(table);
        part.add(table);
        listing.known(table);
        listing.output.add_format(table);
        listing.end(table);
    }
};

ExitCode run_analyze(const AnalyzeOptions& options) {
    const auto& [reading, shown] = options.listing;
    if (options.part.any()) return write_part_of(options.listing, options.part);
    if (options.part.checks) {
        say("qpscope: --checks goes with --part or --host: qpscope check judges a whole capture\n");
        return ExitCode::usage;
    }
    const auto filter = compile_filter(reading.filter, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(shown.path, reading.input.files);
    if (!output.ok()) return finish(output);
    const Analyzed analyzed = analyze(reading, *filter, output, {});
    if (analyzed.any) {
        show_analysis(options.listing, analyzed.timeline, output);
        output.write(next_step(options.listing, analyzed.timeline, output));
    }
    const ExitCode seen = analyzed.any ? say_nothing_seen(reading, analyzed.timeline) : ExitCode::done;
    return worse(seen, finish(reading.analysis, analyzed, output));
}

}  // namespace

const Command kAnalyzeCommand{
    "analyze", kAnalyse, "Summarise a capture: quality, connections, messages, losses, findings",
    "  qpscope analyze trace.pcapng\n"
    "  qpscope analyze -f json ring_00001.pcap ring_00002.pcap    # rotated files of one capture\n"
    "  qpscope analyze --fail-on error trace.pcap || echo broken\n"
    "  qpscope analyze -i eth0                                    # until Ctrl-C\n"
    "  qpscope analyze --part 1/4 -o part-1.qpp trace.pcap        # a quarter of the work: see qpscope merge",
    prepared<AnalyzeOptions, run_analyze>};

}  // namespace qps::cli
