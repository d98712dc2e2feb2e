// `pingpong`: serves, or measures round trips with a server, by RDMA and by sockets of the system.
#include <cli/live/driving.hpp>
#include <cli/live/live_commands.hpp>
#include <cli/live/options/target_options.hpp>
#include <cli/live/options/wire_options.hpp>
#include <cli/live/pause_remarks.hpp>
#include <cli/live/pingpong_report.hpp>
#include <cli/message.hpp>
#include <cli/options/choice.hpp>
#include <cli/options/output_options.hpp>
#include <cli/output.hpp>
#include <transport-replay/live/pingpong/pingpong.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport;
using namespace transport::live;
using dissect::Instant;
using live::Endpoint;

namespace {

std::string mode_names() {
    std::string names;
    for (const PingpongMode& mode : kPingpongModes) names += fmt::format("{}{}", names.empty() ? "" : ", ", mode.name);
    return names;
}

struct PingpongOptions {
    TargetOptions target;
    std::vector<std::string> only;               // rows, by their names; none: all
    std::optional<dissect::Duration> row_lasts;  // --seconds
    std::vector<std::uint32_t> sizes;            // --sizes; none: that of --size
    bool signaled = true;
    WireOptions wire;
    OutputOptions output;

    void add(OptionTable& table) {
        target.add(table);
        table.add("--only", "MODE,MODE", only, fmt::format("Run only these modes: {}", mode_names())).each_of_list();
        table
            .add("--sizes", "SIZES",
                 into(sizes, [](const std::string& text) { return read_sizes(text, kMaxTransfer, kMaxPingpongSizes); }),
                 "Run each mode with messages of these sizes: 8..64K (doubled from one to the next) or 64,1000,4K")
            .not_with("--size");
        table.add(
            "--seconds", "N", [this](const std::string& text) { take_seconds(text); },
            "Run each mode for at most N seconds (without -n: for all of it)");
        table.flag("!--unsignaled", signaled, "Signal only some of the SENDs and WRITEs");
        wire.add(table);
        output.add_format(table);
        output.add_path(table);
    }

private:
    void take_seconds(const std::string& text) {
        const auto time = read_time(text + "s");
        if (!time) refuse(fmt::format("invalid number of seconds '{}'", text));
        row_lasts = *time;
    }
};

std::expected<std::vector<std::size_t>, std::string> modes_of(const std::vector<std::string>& only) {
    std::vector<std::size_t> modes;
    for (std::size_t mode = 0; mode < kPingpongModes.size(); ++mode)
        if (only.empty() || std::ranges::find(only, kPingpongModes[mode].name) != only.end()) modes.push_back(mode);
    for (const std::string& each : only)
        if (std::ranges::find(kPingpongModes, each, &PingpongMode::name) == kPingpongModes.end())
            return std::unexpected(fmt::format("invalid mode '{}': expected one of {}", each, mode_names()));
    return modes;
}

PingpongSettings settings_of(const PingpongOptions& options) {
    const TargetOptions& target = options.target;
    PingpongSettings settings{.row_lasts = options.row_lasts,
                              .signaled = options.signaled,
                              .processor =
                                  [] {
                                      const ProcessTime time = processor_time();
                                      return ProcessorTime{.worked = time.worked, .kernel = time.kernel};
                                  },
                              .clock = [clock = SteadyTime{}] { return clock.now(); }};
    settings.request = {.target = target.target,
                        .port = target.port,
                        .count = target.count,
                        .size = target.size.value_or(kPingpongBytes)};
    settings.request.depth = target.depth.value_or(1);
    settings.request.clients = target.clients;
    target.set_timers(settings.request.connect);
    settings.request.verify = target.verify;
    settings.sizes = options.sizes;
    return settings;
}

// A number that a stranger does not guess: of the system's own source, not of a seed.
std::uint64_t draw_token() {
    std::random_device source;
    constexpr unsigned kHalf = 32;
    return std::uint64_t{source()} << kHalf | source();
}

// Sockets use the system's addresses, so where the endpoint has those and no own.
PingpongSockets sockets_of(const WireOptions& live, const OpenEndpoint& opened) {
    PingpongSockets sockets{.interface = live.interface};
    if (!opened.of_system)
        sockets.unreachable =
            fmt::format("{} is an address of this endpoint alone, which no socket of the system has",
                        opened.addresses.empty() ? std::string("it") : text(opened.addresses.front()));
    else
        for (const Address& each : opened.addresses)
            if (family_of(each) == Family::ipv4 || !is_link_local(each))
                sockets.addresses.push_back(text(each));  // of those a socket wants the interface, too
    sockets.draw = draw_token;
    return sockets;
}

// What goes over sockets is the system's: the ring hands it to us as well, and looking at it would cost the rows that
// are to be compared.
WireOptions with_filter(WireOptions live, const TargetOptions& target) {
    live.unheard = fmt::format("tcp port {0} or (udp port {0} and not udp port 4791)",
                               std::to_underlying(target.port.value_or(kPingpongPort)));
    return live;
}

// What the program says as it goes: of a server that is all there is; beside a client's rows it is a remark.
void print_lines(Program& program, Output& output, bool serves) {
    for (const std::string& line : program.take_lines()) {
        if (serves) {
            output.write(line + "\n");
            output.flush();
        } else {
            remark("{}\n", line);
        }
    }
}

ExitCode code_of(Ending ending, const ProgramCounts& counts, bool all_there, bool measured) {
    if (ending == Ending::device_gone) return ExitCode::unreadable;
    if (ending == Ending::interrupted && !all_there) return ExitCode::interrupted;
    if (counts.failed > 0 || counts.wrong > 0 || !all_there) return ExitCode::findings;
    return measured ? ExitCode::done : ExitCode::unjudged;
}

ExitCode run_pingpong(const PingpongOptions& options) {
    const WireOptions& live = options.wire;
    const auto& target = options.target.target;
    const bool serves = !target;
    std::vector<PingpongRow> rows;
    PingpongSettings settings = settings_of(options);
    std::vector<PingpongLeftOut> left_out;
    settings.on_row = [&rows](const PingpongRow& row) { rows.push_back(row); };
    settings.on_left_out = [&left_out](const PingpongLeftOut& row) { left_out.push_back(row); };
    const auto modes = modes_of(options.only);
    if (!modes) return fail({ExitCode::usage, modes.error()});
    settings.modes = *modes;
    if (const auto possible = make_pingpong(settings); !possible) return fail({ExitCode::usage, possible.error()});
    Output output(options.output.path);
    if (!output.ok()) return fail({ExitCode::output_failed, output.problem()});
    const SteadyTime clock;
    auto opened = open_endpoint(with_filter(live, options.target), clock.now());
    if (!opened) return fail(opened.error());
    settings.sockets = sockets_of(live, *opened);
    auto program = make_pingpong(settings);
    if (!program) return fail({ExitCode::usage, program.error()});
    Endpoint& endpoint = opened->endpoint;
    if (auto settled = settle(endpoint, clock); !settled) return fail(settled.error());
    if (auto begun = program->begin(endpoint, clock.now()); !begun) return fail({ExitCode::unreadable, begun.error()});
    if (serves && !is_quiet() && !opened->addresses.empty())
        say("serving pingpong at {}\n", text(opened->addresses.front()));
    PauseRemarks remarks;
    const Ending ending = drive(endpoint, *program, live, clock, [&](Instant now) {
        print_lines(*program, output, serves);
        if (!is_quiet()) remarks.say_new(endpoint, now);
    });
    const std::size_t wanted = settings.modes.size() * std::max<std::size_t>(1, settings.sizes.size());
    const auto whole = static_cast<std::size_t>(std::ranges::count(rows, false, &PingpongRow::interrupted));
    const bool all_there = serves || whole + left_out.size() == wanted;
    if (!serves)
        print_pingpong(
            options.output, settings,
            {.rows = rows, .left_out = left_out, .counts = program->counts(), .faults = !live.faults.empty()}, output);
    output.commit();
    for (const std::string& sentence : sentences_of(left_out)) remark("qpscope: {}\n", sentence);
    if (!serves && ending == Ending::time_is_up && program->counts().connections == 0)
        say("qpscope: no answer from {} before the time was up\n", text(*target));
    else if (!all_there && ending == Ending::time_is_up)
        say("qpscope: the time was up after {} of {} rows\n", whole, wanted);
    if (const auto problem = endpoint.device().problem()) say("qpscope: {}: {}\n", problem->device, problem->sentence);
    if (opened->capture)
        if (auto saved = opened->capture->commit(); !saved)
            return fail({ExitCode::output_failed, fmt::format("{}: {}", saved.error().file, saved.error().sentence)});
    if (!output.ok()) return fail({ExitCode::output_failed, output.problem()});
    const bool measured =
        serves || std::ranges::any_of(rows, [](const PingpongRow& row) { return row.round_trips > 0; });
    return code_of(ending, program->counts(), all_there, measured);
}

}  // namespace

const Command kPingpongCommand = wire_command(
    "pingpong",
    "  qpscope pingpong -i eth1 -a 10.77.0.9/24                          # serve\n"
    "  qpscope pingpong -i eth1 -a 10.77.0.10/24 10.77.0.9               # measure all modes\n"
    "  qpscope pingpong -i eth1 10.77.0.9                                # with the system's address: TCP and UDP too\n"
    "  qpscope pingpong -i eth1 --sizes 8..64K -f csv 10.77.0.9 > sizes.csv\n"
    "  qpscope pingpong -i eth1 --only send-poll --seconds 10 -s 8 -f json 10.77.0.9\n"
    "  qpscope pingpong --via udp -a 127.0.0.2 127.0.0.1                 # without root\n\n"
    "The server listens on TCP and UDP too, at the same port number, where its address is the system's; where it is not, those\n"
    "modes are left out.",
    prepared<PingpongOptions, run_pingpong>);

}  // namespace qps::cli
