// `replay --as`: one end's part of a recorded connection, played against a live peer, whose answers are compared with
// the recorded ones.
#include <cli/analyzing.hpp>
#include <cli/decoding.hpp>
#include <cli/live/driving.hpp>
#include <cli/live/live_commands.hpp>
#include <cli/live/options/wire_options.hpp>
#include <cli/live/pause_remarks.hpp>
#include <cli/message.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/sheet.hpp>
#include <transport-replay/live/replay/comparison_report.hpp>
#include <transport-replay/live/replay/conversation_collector.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport;
using namespace transport::live;
using dissect::Instant;

namespace {

// The player as a program, which the loop wants to own.
class Played {
public:
    explicit Played(ConversationPlayer& player) : player_(&player) {}
    [[nodiscard]] std::expected<void, std::string> begin(live::Endpoint& endpoint, Instant now) {
        return player_->begin(endpoint, now);
    }
    void poll(live::Endpoint& endpoint, Instant now) { player_->poll(endpoint, now); }
    [[nodiscard]] std::optional<Instant> poll_at() const { return player_->poll_at(); }
    void stop(live::Endpoint& endpoint, Instant now) { player_->stop(endpoint, now); }
    [[nodiscard]] bool done() const { return player_->done(); }
    [[nodiscard]] std::vector<std::string> take_lines() { return player_->take_lines(); }
    [[nodiscard]] ProgramCounts counts() const { return player_->counts(); }

private:
    ConversationPlayer* player_;
};

ExitCode fail_session(ExitCode code, std::string_view sentence) {
    say("qpscope: {}\n", sentence);
    return code;
}

// What is wrong with the options together; empty where nothing is.
std::string_view session_contradiction(const ReplayOptions& options) {
    const ConversationOptions& asked = options.conversation;
    const std::vector<std::string>& files = options.reading.input.files;
    if (files.empty()) return "missing input: name a capture file";
    if (std::ranges::find(files, "-") != files.end()) return "--as needs a file: standard input can be read only once";
    if (!asked.connection) return "missing connection: choose one with -C N (see qpscope connections)";
    if (*asked.part == Part::requester && !asked.peer)
        return "missing --connect ADDRESS[:PORT]: the requester connects";
    if (*asked.part == Part::responder && asked.peer)
        return "--connect applies to --as requester only: the responder waits for a connection";
    if (options.loops != 1 || !options.rewrites.empty()) return "--loop and --rewrite do not apply to --as";
    return {};
}

struct Recording {
    ExitCode code = ExitCode::done;
    std::expected<RecordedConversation, std::string> conversation;
};

// Twice through the inputs: which connections there are, then what that one carried. Of the memory an analysis has a
// quarter, and what is known from the first one too.
Recording read_recording(const ReadingOptions& asked, ConnectionId uid, const dissect::Filter& filter,
                         const Output& output) {
    constexpr std::uint32_t kAnalyses = 4;
    ReadingOptions options = asked;
    options.analysis.memory = asked.analysis.memory.part_of(kAnalyses);
    const Analyzed first = analyze(options, filter, output, {});
    if (!first.any || first.code == ExitCode::unreadable)
        return {worse(first.code, ExitCode::unreadable), std::unexpected(std::string())};
    ConversationCollector collector(first.timeline, uid, asked.analysis.memory);
    Listening listening;
    listening.packet = [&](const Observation& observation, const PacketRecord& record) {
        collector.packet(observation, record);
    };
    listening.message = [&](ConnectionId connection, End requester, const Message& message) {
        collector.message(connection, requester, message);
    };
    listening.names_connections = true;
    const Analyzed second = analyze(options, filter, output, listening);
    return {second.code, collector.finish()};
}

PlayerSettings settings_of(const ReplayOptions& options, const RecordedConversation& conversation) {
    const ConversationOptions& asked = options.conversation;
    PlayerSettings settings{
        .speed = options.speed, .fast = options.fast, .keys = asked.keys, .addresses = asked.addresses};
    if (asked.port) settings.port = *asked.port;
    else if (conversation.port) settings.port = IpPort{*conversation.port};
    if (asked.peer) settings.connect = Target{.address = *asked.peer, .port = settings.port};
    if (asked.patience) settings.patience = *asked.patience;
    return settings;
}

void report(const OutputOptions& options, Output& output, const RecordedConversation& conversation,
            const ReplayComparison& comparison, End ours) {
    if (options.format == OutputFormat::json) {
        std::string text;
        Document document(options.format, text);
        add_comparison(document, conversation, comparison, ours);
        output.write(text + "\n");
        return;
    }
    Sheet sheet(options, output, "messages", compared_columns());
    for (std::size_t i = 0; i < comparison.messages.size(); ++i) {
        const ComparedRow row{conversation, comparison, ours, i};
        sheet.add(compared_columns(), row, tone_of(row));
    }
    sheet.end();
    const std::string summary = summary_text(conversation, comparison, ours);
    if (options.format == OutputFormat::table) output.write(summary);
    else remark("{}", summary);
}

void show_lines(live::Program& program) {
    for (const std::string& line : program.take_lines()) remark("qpscope: {}\n", line);
}

ExitCode play(const ReplayOptions& options, Output& output, const RecordedConversation& conversation) {
    const End ours =
        *options.conversation.part == Part::requester ? conversation.requester : other(conversation.requester);
    const PlayerSettings settings = settings_of(options, conversation);
    if (settings.port == IpPort{})
        return fail_session(ExitCode::usage, "port unknown from the capture: set it with --port");
    auto part = part_of(conversation, ours, options.reading.analysis.memory);
    if (!part) return fail_session(ExitCode::usage, part.error());
    if (part->too_long != 0)
        remark("qpscope: {} not played: longer than {}, the part of the memory for what is posted (--memory)\n",
               counted(part->too_long, "message"), bytes_text(part->most_posted));
    ConversationPlayer player(conversation, std::move(*part), settings);
    live::Program program = Played(player);
    const SteadyTime clock;
    auto opened = open_endpoint(options.wire, clock.now());
    if (!opened) return fail_session(opened.error().code, opened.error().sentence);
    if (auto settled = settle(opened->endpoint, clock); !settled)
        return fail_session(settled.error().code, settled.error().sentence);
    if (auto begun = program.begin(opened->endpoint, clock.now()); !begun)
        return fail_session(ExitCode::unreadable, begun.error());
    if (!settings.connect) remark("qpscope: waiting for a peer at port {}\n", static_cast<unsigned>(settings.port));
    PauseRemarks remarks;
    const Ending ending = drive(opened->endpoint, program, options.wire, clock, [&](Instant now) {
        show_lines(program);
        if (!is_quiet()) remarks.say_new(opened->endpoint, now);
    });
    report(options.output, output, conversation, player.comparison(), ours);
    output.commit();
    if (const auto problem = opened->endpoint.device().problem())
        say("qpscope: {}: {}\n", problem->device, problem->sentence);
    if (opened->capture)
        if (auto saved = opened->capture->commit(); !saved)
            return fail_session(ExitCode::output_failed,
                                fmt::format("{}: {}", saved.error().file, saved.error().sentence));
    if (ending == Ending::device_gone) return ExitCode::unreadable;
    if (ending == Ending::interrupted) return ExitCode::interrupted;
    const bool as_recorded = player.comparison().differences() == 0 && player.comparison().end == ReplayEnd::complete;
    return as_recorded ? ExitCode::done : ExitCode::findings;
}

}  // namespace

ExitCode run_replay_conversation(const ReplayOptions& options) {
    if (const std::string_view wrong = session_contradiction(options); !wrong.empty()) {
        say("Try 'qpscope replay --help'.\nqpscope: {}\n", wrong);
        return ExitCode::usage;
    }
    const auto filter = compile_filter(options.reading.filter);
    if (!filter) return ExitCode::usage;
    Output output(options.output.path, options.reading.input.files);
    if (!output.ok()) return finish(output);
    const Recording recording = read_recording(options.reading, *options.conversation.connection, *filter, output);
    if (!recording.conversation) {
        if (recording.code == ExitCode::unreadable) return recording.code;
        return fail_session(ExitCode::usage, recording.conversation.error());
    }
    const ExitCode played = play(options, output, *recording.conversation);
    return worse(played, worse(recording.code, finish(output, false)));  // what there is to report was committed
}

}  // namespace qps::cli
