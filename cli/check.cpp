// `check`: every rule that a capture alone can decide, with its verdict.
#include <cli/checking.hpp>
#include <cli/command.hpp>
#include <cli/decoding.hpp>
#include <cli/held_inputs.hpp>
#include <cli/message.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/model/memory_amount.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;
using namespace transport::conformance;

namespace {

PassiveSuite suite_of(const Options& options) {
    PassiveSuite suite(options.memory);
    if (options.check.device) suite.judge_only(*options.check.device);
    return suite;
}

// The packets that prove a failure. Files only: what came through a pipe is gone.
ExitCode write_evidence_of(const CheckResult& result, const Options& options) {
    return write_evidence(options, result.check->id, [&](SavedCapture& saved) -> std::expected<void, OutputProblem> {
        Input::SoFar before;
        for (std::size_t i = 0; i < Input::count(options); ++i) {
            auto input = Input::open(options, i);
            if (!input) continue;  // said when it was analysed
            input->go_on_from(before);
            Batch batch;
            while (input->read(batch))
                for (const Frame& frame : batch.frames)
                    if (std::ranges::binary_search(result.evidence, frame.index))
                        if (const auto written =
                                saved.write(frame, fmt::format("{}: {}", result.check->id, result.check->expected));
                            !written)
                            return written;
            before = input->so_far();
        }
        return {};
    });
}

bool can_read_again(const Options& options) {
    return options.interface.empty() && std::ranges::find(options.files, "-") == options.files.end();
}

Analyzed analyze_with(LaneSuites& suites, const Options& options, const Filter& filter, const Output& output) {
    Options beside = options;
    beside.memory = transport::beside(options.memory, PassiveSuite::memory_of(options.memory));
    return analyze(beside, filter, output, listening_of(suites));
}

}  // namespace

ExitCode run_check(const Options& options) {
    const auto filter = compile_filter(options, FilterSets::taken);
    const auto files = filter ? read_measure_files(options.check) : std::nullopt;
    if (!files) return ExitCode::usage;
    if (!options.check.evidence.empty() && !can_read_again(options)) {
        say("qpscope: --evidence reads the capture a second time and needs files, not a stream\n");
        return ExitCode::usage;
    }
    Output output(options);
    if (!output.ok()) return finish(output);
    static_cast<void>(HeldInputs::of(options));  // the sandbox: from here on, what strangers wrote is read
    const auto measures = measures_of(options.check, *files);
    if (!measures) return ExitCode::usage;
    LaneSuites suites([&options] { return suite_of(options); });
    const Analyzed analyzed = analyze_with(suites, options, *filter, output);
    ExitCode code = ExitCode::done;
    if (analyzed.any) {
        const Verdicts verdicts = write_verdicts(options, *measures, analyzed.timeline, suites.take(), output);
        code = verdicts.code;
        if (!options.check.evidence.empty())
            for (const CheckResult& result : verdicts.report.results)
                if (result.verdict == Verdict::fail && !result.evidence.empty())
                    code = worse(code, write_evidence_of(result, options));
    }
    return worse(code, finish(options, analyzed, output));
}

}  // namespace qps::cli
