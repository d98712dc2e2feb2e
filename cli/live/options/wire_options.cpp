#include <cli/commands.hpp>
#include <cli/live/live_commands.hpp>
#include <cli/live/options/wire_options.hpp>
#include <cli/options.hpp>
#include <cli/options/choice.hpp>
#include <cli/options/command_line.hpp>
#include <transport-replay/live/replay/replayer.hpp>

namespace qps::cli {

namespace {

// "0.5", "10": a factor of time.
std::string check_speed(const std::string& text) {
    const auto factor = dissect::parse_real(text);
    if (factor && factor->second.empty() && factor->first >= transport::live::kSlowest &&
        factor->first <= transport::live::kFastest)
        return {};
    return fmt::format("invalid speed '{}': expected a number such as 2.5, or use --fast", text);
}

void add_replay_options(CLI::App& app, Options& options) {
    app.add_option("files", options.files,
                   "Capture files, one after the other: pcap or pcapng, plain, .gz or .zst; - for standard input")
        ->type_name("");
    app.add_option("-r,--read", options.files, "Read this capture file")->type_name("FILE");
    app.add_option("-i,--interface", options.wire->send_by,
                   "Send by this Ethernet interface (needs root or CAP_NET_RAW)")
        ->type_name("NAME");
    app.add_option("-w,--write", options.capture, "Write the frames to FILE; without -i, instead of sending them")
        ->type_name("FILE");
    CLI::Option* speed =
        app.add_option("--speed", options.wire->speed, "Send at FACTOR times the recorded speed (default: 1)")
            ->check(CLI::Validator(check_speed, ""))
            ->type_name("FACTOR");
    app.add_flag("--fast", options.wire->fast, "Send as fast as possible, ignoring recorded times")->excludes(speed);
    app.add_option("--loop", options.wire->loops, "Send N times; 0: until interrupted (default: 1)")
        ->check(CLI::Validator(check_count, ""))
        ->type_name("N");
    app.add_option("--rewrite", options.wire->rewrites, "Rewrite frames by this rule (see below)")
        ->type_name("RULE")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("-F,--capture-filter", options.capture_filter,
                   "Keep only frames that match this libpcap (BPF) expression")
        ->type_name("EXPRESSION");
    app.add_option("-Y,--filter", options.filter, "Keep only packets that match this display filter")
        ->type_name("FILTER");
    app.add_option("-c,--count", options.count, "Stop after N frames")
        ->check(CLI::Validator(check_count, ""))
        ->type_name("N");
    app.add_flag("--no-progress", options.no_progress, "Show no progress on stderr");
}

}  // namespace

void add_wire_options(CLI::App& app, const Command& command, Options& options) {
    const Takes& takes = command.takes;
    WireOptions& wire = *options.wire;
    if (takes.program) app.footer(program_list() + "\n" + app.get_footer());
    if (takes.replayed) {
        add_replay_options(app, options);
        add_conversation_options(app, wire.conversation);
        add_memory(app, options);
        add_live_settings(app, wire.live);
    }
    if (takes.program) add_program_options(app, wire.live);
    if (takes.pingpong) add_pingpong_options(app, wire.live);
    if (takes.sent) add_send_options(app, wire.send);
    if (takes.conform) {
        add_conform_options(app, wire.conform);
        app.add_option("-Y,--filter", options.filter,
                       "With --script-of: keep only packets that match this display filter")
            ->type_name("FILTER");
    }
    if (takes.live) add_live_options(app, wire.live);
    if (takes.verdicts) add_check_options(app, options.check, Judged::device);
    else add_format(app, options, "Print as table, json, ndjson, csv or tsv (default: table)");
    add_output(app, options);
}

void check_wire_options(const CLI::App& app, const Command& command, const Options& options) {
    if (command.takes.conform) refuse_beside_other_suites(app, options.wire->conform);
}

}  // namespace qps::cli
