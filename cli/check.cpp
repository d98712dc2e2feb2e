// `check`: every rule that a capture alone can decide, with its verdict.
#include <cli/checking.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/held_inputs.hpp>
#include <cli/message.hpp>
#include <cli/options/check_options.hpp>
#include <cli/options/reading_options.hpp>
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

struct CheckingOptions {
    ListingOptions listing;
    CheckOptions check;

    void add(OptionTable& table) {
        listing.reading.add_captures(table, listing.output);
        listing.reading.add_known(table);
        check.add(table, Judged::capture);
        listing.end(table);
    }
};

PassiveSuite suite_of(const CheckingOptions& options) {
    PassiveSuite suite(options.listing.reading.analysis.memory);
    if (options.check.device) suite.judge_only(*options.check.device);
    return suite;
}

// The packets that prove a failure. Files only: what came through a pipe is gone.
ExitCode write_evidence_of(const CheckResult& result, const CheckOptions& options, const InputOptions& inputs) {
    return write_evidence(
        options.evidence, result.check->id, inputs.files,
        [&](SavedCapture& saved) -> std::expected<void, OutputProblem> {
            Input::SoFar before;
            for (std::size_t i = 0; i < Input::count(inputs); ++i) {
                auto input = Input::open(inputs, i);
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

bool can_read_again(const InputOptions& input) {
    return input.interface.empty() && std::ranges::find(input.files, "-") == input.files.end();
}

Analyzed analyze_with(LaneSuites& suites, const ReadingOptions& options, const Filter& filter, const Output& output) {
    ReadingOptions beside = options;
    const MemoryBudget& memory = options.analysis.memory;
    beside.analysis.memory = transport::beside(memory, PassiveSuite::memory_of(memory));
    return analyze(beside, filter, output, listening_of(suites));
}

ExitCode run_check(const CheckingOptions& options) {
    const auto& [reading, shown] = options.listing;
    const auto filter = compile_filter(reading.filter, FilterSets::taken);
    const auto files = filter ? read_measure_files(options.check) : std::nullopt;
    if (!files) return ExitCode::usage;
    if (!options.check.evidence.empty() && !can_read_again(reading.input)) {
        say("qpscope: --evidence reads the capture a second time and needs files, not a stream\n");
        return ExitCode::usage;
    }
    Output output(shown.path, reading.input.files);
    if (!output.ok()) return finish(output);
    static_cast<void>(HeldInputs::of(reading.input));  // the sandbox: from here on, what strangers wrote is read
    const auto measures = measures_of(options.check, *files);
    if (!measures) return ExitCode::usage;
    LaneSuites suites([&options] { return suite_of(options); });
    const Analyzed analyzed = analyze_with(suites, reading, *filter, output);
    ExitCode code = ExitCode::done;
    if (analyzed.any) {
        const Verdicts verdicts =
            write_verdicts(options.listing, options.check, *measures, analyzed.timeline, suites.take(), output);
        code = verdicts.code;
        if (!options.check.evidence.empty())
            for (const CheckResult& result : verdicts.report.results)
                if (result.verdict == Verdict::fail && !result.evidence.empty())
                    code = worse(code, write_evidence_of(result, options.check, reading.input));
    }
    return worse(code, finish(reading.analysis, analyzed, output));
}

}  // namespace

const Command kCheckCommand{
    "check", kAnalyse, "Check a capture against every protocol rule that a capture can decide",
    "  qpscope check trace.pcap\n"
    "  qpscope check --all --only FMT,RSP-02 trace.pcap\n"
    "  qpscope check --profile nic.profile --fail-on high trace.pcap || echo broken\n"
    "  qpscope check --device 10.0.0.2 trace.pcap                          # what this host did, not its peers\n"
    "  qpscope check -f html -o report.html --evidence packets trace.pcap\n"
    "  qpscope check -f json -o new.json --compare old.json trace.pcap     # between two firmwares\n\n"
    "A profile has lines such as: name My NIC; declares ooo; deviation FMT-08 = ticket 4711",
    prepared<CheckingOptions, run_check>};

}  // namespace qps::cli
