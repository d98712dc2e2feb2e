#include <cli/checking.hpp>
#include <cli/decoding.hpp>
#include <cli/message.hpp>
#include <cli/options/refuse.hpp>
#include <cli/parts.hpp>
#include <cli/report.hpp>
#include <dissect/base/parse_value.hpp>
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

// "3/8".
PartOptions::OneOf read_part_of(const std::string& text) {
    const std::size_t slash = text.find('/');
    const auto number = dissect::parse_decimal(std::string_view(text).substr(0, slash), transport::kMostParts);
    const auto parts = slash == std::string::npos
                           ? std::nullopt
                           : dissect::parse_decimal(std::string_view(text).substr(slash + 1), transport::kMostParts);
    if (!number || !parts || *number == 0 || *number > *parts)
        refuse(
            fmt::format("invalid part '{}': expected K/N such as 1/4, with N up to {}", text, transport::kMostParts));
    return {static_cast<std::uint32_t>(*number), static_cast<std::uint32_t>(*parts)};
}

std::string read_host(const std::string& name) {
    if (name.empty() || name.size() > transport::kLongestHostName)
        refuse(fmt::format("invalid host '{}': expected a name of up to {} bytes", name.substr(0, 32),
                           transport::kLongestHostName));
    return name;
}

// Options that a part cannot have: they go with the whole.
std::string_view misplaced(const ListingOptions& options) {
    const auto& [input, filter, analysis] = options.reading;
    if (!input.interface.empty()) return "--part and --host exclude --interface: a capture has parts when it is over";
    if (options.output.path.empty()) return "missing --output: where the part goes";
    if (!analysis.connections.empty())
        return "--connection goes with qpscope merge: a part does not know the numbers of connections";
    if (!analysis.hints.empty())
        return "--part and --host exclude --decode-as: a part does not know the numbers of connections";
    if (analysis.fail_on) return "--fail-on goes with qpscope merge: a part has no findings yet";
    if (!analysis.nccl_log.empty()) return "--nccl-log goes with qpscope merge";
    if (options.output.format != OutputFormat::table) return "--format goes with qpscope merge";
    return {};
}

// With what the passive suite sees, of each host apart: which of them is judged is said when parts are merged.
Analyzed analyze_with_checks(const ReadingOptions& options, const dissect::Filter& filter, const Output& output,
                             PartOf part, CapturePart& capture) {
    const auto anew = [&] {
        conformance::PassiveSuite suite(options.analysis.memory);
        suite.tell_hosts_apart(options.analysis.memory);
        return suite;
    };
    LaneSuites suites(anew);
    ReadingOptions beside = options;
    MemoryBudget& memory = beside.analysis.memory;
    memory = transport::beside(memory, conformance::PassiveSuite::memory_with_hosts(memory));
    Analyzed analyzed = analyze_part(beside, filter, output, listening_of(suites), part, capture.report);
    capture.checks = suites.take();
    return analyzed;
}

// What parts must have had alike to be parts of the same.
std::string settings_of(const ReadingOptions& options) {
    const auto& [input, filter, analysis] = options;
    std::string text = fmt::format("--icrc {}", static_cast<int>(analysis.icrc));
    if (!filter.text.empty()) text += fmt::format(" --filter '{}'", filter.text);
    if (const std::string times = with_times(filter, {}); !times.empty())
        text += fmt::format(" --since/--until '{}'", times);
    if (!input.capture_filter.empty()) text += fmt::format(" --capture-filter '{}'", input.capture_filter);
    if (input.count != 0) text += fmt::format(" --count {}", input.count);
    if (input.link_speed != dissect::BitsPerSecond{})
        text += fmt::format(" --link-speed {}", std::to_underlying(input.link_speed));
    if (input.by_time) text += " --by-time";
    if (input.in_order) text += " --in-order";
    for (const auto& [file, offset] : input.offsets)
        text += fmt::format(" --offset {}={}", file, std::to_underlying(offset));
    if (!input.roce_ports.empty()) text += fmt::format(" --roce-port {}", dissect::roce_ports_text(input.roce_ports));
    if (input.uet_protocol) text += fmt::format(" --uet-protocol {}", *input.uet_protocol);
    return text;
}

}  // namespace

void PartOptions::add(OptionTable& table) {
    table.under(headings::kInput);
    table.add(
        "--part", "K/N", [this](const std::string& text) { one = read_part_of(text); },
        "Follow only the Kth of N parts of all pairs of hosts, and write what is found to -o, for qpscope merge");
    table.add(
        "--host", "NAME", [this](const std::string& name) { host = read_host(name); },
        "These are captures of that host alone: write what is found to -o, for qpscope merge with those of other hosts");
    table.flag("--checks", checks, "With --part or --host: record also what qpscope merge --as check needs");
}

ExitCode write_part_of(const ListingOptions& options, const PartOptions& asked) {
    if (const std::string_view wrong = misplaced(options); !wrong.empty()) {
        say("qpscope: {}\n", wrong);
        return ExitCode::usage;
    }
    ReadingOptions reading = options.reading;
    reading.analysis.sums_apart = !asked.host.empty();
    const auto filter = compile_filter(reading.filter, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(options.output.path, reading.input.files);
    if (!output.ok()) return finish(output);
    const auto [number, parts] = asked.one.value_or(PartOptions::OneOf{});
    AnalysisPart part;
    CapturePart& capture = part.captures.emplace_back();
    capture.numbers = {number};
    const PartOf which{number, parts};
    const Analyzed analyzed = asked.checks ? analyze_with_checks(reading, *filter, output, which, capture)
                                           : analyze_part(reading, *filter, output, {}, which, capture.report);
    if (!analyzed.any || analyzed.code == ExitCode::interrupted) return worse(analyzed.code, finish(output, false));
    capture.origin = {.host = asked.host,
                      .inputs = input_names(reading.input),
                      .frames = analyzed.frames,
                      .settings = settings_of(reading),
                      .of = parts,
                      .damaged = analyzed.code != ExitCode::done};
    output.write(write_part(part, QPSCOPE_VERSION));
    return worse(worse(analyzed.code, say_unjudged(conclude(std::move(part), {}))), finish(output));
}

}  // namespace qps::cli
