// `analyze`: what happened in a capture, and what was wrong with it.
#include <transport-replay/report/json.hpp>

#include "analyzing.hpp"
#include "command.hpp"
#include "decoding.hpp"
#include "report.hpp"
#include "tone.hpp"

namespace qps::cli {

ExitCode run_analyze(const Options& options) {
    const auto filter = compile_filter(options, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    const Analyzed analyzed = analyze(options, *filter, output, {});
    if (analyzed.any) {
        if (options.format == OutputFormat::table) write_summary(options, analyzed.timeline, output, wants_color(options, output));
        else
            write_report(analyzed.timeline, options.format, input_names(options), options.connections,
                         [&](std::string_view piece) { output.write(piece); });
    }
    return finish(options, analyzed, output);
}

}  // namespace qps::cli
