// `conform --script-of CAPTURE`: the script that plays a recorded conversation again.
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/live/live_commands.hpp>
#include <cli/live/options/wire_options.hpp>
#include <cli/message.hpp>
#include <cli/output.hpp>
#include <transport-replay/conformance/script/script_writer.hpp>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;

ExitCode write_script_of(const ConformingOptions& given) {
    InputOptions inputs = given.input;
    inputs.files = {given.conform.script_of};
    inputs.jobs = 1;  // packets in their order
    const auto filter = compile_filter(given.filter);
    if (!filter) return ExitCode::usage;
    std::optional<transport::Annotator> annotator;
    if (filter->needs_annotation()) annotator.emplace(known_settings(inputs, {}, look_ahead_for(*filter)));
    Output output(given.output.path, inputs.files);
    if (!output.ok()) return finish(output);
    transport::conformance::script::ScriptWriter writer;
    const ExitCode code = for_each_input(inputs, [&](Input& input, Progress& progress) {
        decode_all(input, progress, jobs_for(inputs, input),
                   {*filter,
                    {},
                    [](std::size_t) {},
                    [&](std::size_t, const Packet& packet) { writer.add(packet); },
                    [](std::size_t) { return true; },
                    annotator ? &*annotator : nullptr,
                    {},
                    {},
                    0,
                    false});
        return ExitCode::done;
    });
    if (code == ExitCode::done && writer.packets() == 0) {
        say("qpscope: {} contains no RDMA packets{}\n", given.conform.script_of,
            given.filter.text.empty() ? "" : " that match the filter");
        return ExitCode::usage;
    }
    const bool read = code == ExitCode::done || (code == ExitCode::damaged && writer.packets() != 0);
    if (read) output.write(writer.finish(given.conform.script_of));
    return worse(code, finish(output, read));
}

}  // namespace qps::cli
