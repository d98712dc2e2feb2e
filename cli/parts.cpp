#include <cli/checking.hpp>
#include <cli/decoding.hpp>
#include <cli/message.hpp>
#include <cli/parts.hpp>
#include <cli/report.hpp>
#include <dissect/headers/roce_ports.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/model/memory_amount.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/parts/part.hpp>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport;

namespace {

// Options that a part cannot have: they go with the whole.
std::string_view misplaced(const Options& options) {
    if (!options.interface.empty()) return "--part and --host exclude --interface: a capture has parts when it is over";
    if (options.output.empty()) return "missing --output: where the part goes";
    if (!options.connections.empty())
        return "--connection goes with qpscope merge: a part does not know the numbers of connections";
    if (!options.hints.empty())
        return "--part and --host exclude --decode-as: a part does not know the numbers of connections";
    if (options.fail_on) return "--fail-on goes with qpscope merge: a part has no findings yet";
    if (!options.nccl_log.empty()) return "--nccl-log goes with qpscope merge";
    if (options.format != OutputFormat::table) return "--format goes with qpscope merge";
    return {};
}

// With what the passive suite sees, of each host apart: which of them is judged is said when parts are merged.
Analyzed analyze_with_checks(const Options& options, const dissect::Filter& filter, const Output& output, PartOf part,
                             CapturePart& capture) {
    const auto anew = [&] {
        conformance::PassiveSuite suite(options.memory);
        suite.tell_hosts_apart(options.memory);
        return suite;
    };
    LaneSuites suites(anew);
    Options beside = options;
    beside.memory = transport::beside(options.memory, conformance::PassiveSuite::memory_with_hosts(options.memory));
    Analyzed analyzed = analyze_part(beside, filter, output, listening_of(suites), part, capture.report);
    capture.checks = suites.take();
    return analyzed;
}

// What parts must have had alike to be parts of the same.
std::string settings_of(const Options& options) {
    std::string text = fmt::format("--icrc {}", static_cast<int>(options.icrc));
    if (!options.filter.empty()) text += fmt::format(" --filter '{}'", options.filter);
    if (const std::string times = with_times(options, {}); !times.empty())
        text += fmt::format(" --since/--until '{}'", times);
    if (!options.capture_filter.empty()) text += fmt::format(" --capture-filter '{}'", options.capture_filter);
    if (options.count != 0) text += fmt::format(" --count {}", options.count);
    if (options.link_speed != dissect::BitsPerSecond{})
        text += fmt::format(" --link-speed {}", std::to_underlying(options.link_speed));
    if (options.by_time) text += " --by-time";
    if (options.in_order) text += " --in-order";
    for (const auto& [file, offset] : options.offsets)
        text += fmt::format(" --offset {}={}", file, std::to_underlying(offset));
    if (!options.roce_ports.empty())
        text += fmt::format(" --roce-port {}", dissect::roce_ports_text(options.roce_ports));
    if (options.uet_protocol) text += fmt::format(" --uet-protocol {}", *options.uet_protocol);
    return text;
}

}  // namespace

ExitCode write_part_of(const Options& options) {
    if (const std::string_view wrong = misplaced(options); !wrong.empty()) {
        say("qpscope: {}\n", wrong);
        return ExitCode::usage;
    }
    const auto filter = compile_filter(options, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    const auto [number, parts] = options.part.one.value_or(PartOptions::OneOf{});
    AnalysisPart part;
    CapturePart& capture = part.captures.emplace_back();
    capture.numbers = {number};
    const PartOf which{number, parts};
    const Analyzed analyzed = options.part.checks ? analyze_with_checks(options, *filter, output, which, capture)
                                                  : analyze_part(options, *filter, output, {}, which, capture.report);
    if (!analyzed.any || analyzed.code == ExitCode::interrupted) return worse(analyzed.code, finish(output, false));
    capture.origin = {.host = options.part.host,
                      .inputs = input_names(options),
                      .frames = analyzed.frames,
                      .settings = settings_of(options),
                      .of = parts,
                      .damaged = analyzed.code != ExitCode::done};
    output.write(write_part(part, QPSCOPE_VERSION));
    return worse(worse(analyzed.code, say_unjudged(options, conclude(std::move(part), {}))), finish(output));
}

}  // namespace qps::cli
