// `messages`: a row each, as soon as nothing more can happen to it.
#include <cli/analyzing.hpp>
#include <cli/command.hpp>
#include <cli/decoding.hpp>
#include <cli/sheet.hpp>
#include <transport-replay/report/known_ends.hpp>
#include <transport-replay/report/messages.hpp>

#include <optional>

namespace qps::cli {

using namespace dissect;
using namespace transport;

ExitCode run_messages(const Options& options) {
    const auto filter = compile_filter(options, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    std::optional<Sheet> sheet;
    KnownEnds ends;
    std::optional<Instant> start;
    const auto begin = [&]() -> Sheet& {
        return sheet ? *sheet : sheet.emplace(options, output, "messages", message_columns());
    };
    const auto packet = [&](const Observation& observation, const PacketRecord& record) {
        if (!start && observation.has_time) start = observation.time;
        ends.learn(observation, record);
    };
    std::uint64_t number = 0;
    const auto message = [&](ConnectionId connection, End requester, const Message& ended) {
        ++number;
        if (!wanted(options, connection)) return;
        const ReportedMessage row{connection,
                                  requester,
                                  ends.end(connection, requester),
                                  ends.end(connection, other(requester)),
                                  ended,
                                  start.value_or(Instant{}),
                                  number};
        begin().add(message_columns(), row, tone_of(ended));
    };
    const Analyzed analyzed = analyze(options, *filter, output,
                                      {.packet = packet,
                                       .message = message,
                                       .retired = [&](ConnectionId connection) { ends.forget(connection); },
                                       .pause = [&] { begin().show_now(); }});
    if (analyzed.any) begin().end();
    if (analyzed.any && begin().rows() == 0) report_none(options, "messages");
    return finish(options, analyzed, output);
}

}  // namespace qps::cli
