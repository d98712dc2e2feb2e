// `messages`: a row each, as soon as nothing more can happen to it.
#include <cli/analyzing.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/sheet.hpp>
#include <transport-replay/report/known_ends.hpp>
#include <transport-replay/report/messages.hpp>

#include <optional>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

ExitCode run_messages(const ListingOptions& options) {
    ReadingOptions reading = options.reading;
    const auto filter = compile_filter(reading.filter, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(options.output.path, reading.input.files);
    if (!output.ok()) return finish(output);
    std::optional<Sheet> sheet;
    KnownEnds ends;
    std::optional<Instant> start;
    const auto begin = [&]() -> Sheet& {
        return sheet ? *sheet : sheet.emplace(options.output, output, "messages", message_columns());
    };
    const auto packet = [&](const Observation& observation, const PacketRecord& record) {
        if (!start && observation.has_time) start = observation.time;
        ends.learn(observation, record);
    };
    std::uint64_t number = 0;
    const auto again = [&] {
        sheet.reset();
        ends = {};
        start.reset();
        number = 0;
    };
    const auto message = [&](ConnectionId connection, End requester, const Message& ended) {
        ++number;
        if (!wanted(reading.analysis, connection)) return;
        const ReportedMessage row{connection,
                                  requester,
                                  ends.end(connection, requester),
                                  ends.end(connection, other(requester)),
                                  ended,
                                  start.value_or(Instant{}),
                                  number};
        begin().add(message_columns(), row, tone_of(ended));
    };
    leave_room_for_rows(reading);
    const Analyzed analyzed = analyze(reading, *filter, output,
                                      {.packet = packet,
                                       .message = message,
                                       .retired = [&](ConnectionId connection) { ends.forget(connection); },
                                       .pause = [&] { begin().show_now(); },
                                       .names_connections = true,
                                       .rows = &output,
                                       .again = again});
    if (analyzed.any) begin().end();
    if (analyzed.any && begin().rows() == 0) report_none(options.output.format, "messages");
    const ExitCode seen = analyzed.any ? say_nothing_seen(reading, analyzed.timeline) : ExitCode::done;
    return worse(seen, finish(reading.analysis, analyzed, output));
}

}  // namespace

const Command kMessagesCommand{
    "messages", kAnalyse, "List messages: type, size, latency, outcome",
    "  qpscope messages -C 3 trace.pcap\n  qpscope messages -f tsv trace.pcap > messages.tsv\n\n"
    "Rows are in the order in which messages end; open ones come last.",
    prepared<ListingOptions, run_messages>};

}  // namespace qps::cli
