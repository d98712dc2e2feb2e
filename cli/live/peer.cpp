// `peer`: a live endpoint on a wire that runs one program: what happens as lines, what it came to at the end.
#include <cli/live/driving.hpp>
#include <cli/live/line_limit.hpp>
#include <cli/live/live_commands.hpp>
#include <cli/live/options/exchange_options.hpp>
#include <cli/live/options/number.hpp>
#include <cli/live/options/secret_file.hpp>
#include <cli/live/options/target_options.hpp>
#include <cli/live/options/wire_options.hpp>
#include <cli/live/pause_remarks.hpp>
#include <cli/live/system_addresses.hpp>
#include <cli/message.hpp>
#include <cli/options/hints.hpp>
#include <cli/options/output_options.hpp>
#include <cli/output.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/conformance/agent/agent_program.hpp>
#include <transport-replay/live/exchange/perftest_session.hpp>
#include <transport-replay/live/host/addresses.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/json.hpp>

#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport;
using namespace transport::live;
using dissect::Duration;
using dissect::Instant;
using live::Endpoint;

struct PeerOptions {
    std::string program;
    TargetOptions target;
    std::optional<std::uint32_t> connections;
    bool fast_registration = false;
    std::string folder;  // of rcopy
    ExchangeOptions exchange;
    std::string secret;  // of the agent, itself, not the name of its file
    bool insecure = false;
    WireOptions wire;
    OutputOptions output;

    void add(OptionTable& table);
};

namespace {

// A count and its name, where it is not 0.
struct Named {
    std::string_view name;
    std::uint64_t count;
};

template <std::size_t N>
void add_named(std::vector<Named>& all, const std::array<std::string_view, N>& names,
               const std::array<std::uint64_t, N>& counts) {
    for (std::size_t i = 0; i < N; ++i)
        if (counts[i] > 0) all.push_back({names[i], counts[i]});
}

// Everything that arrived and was not taken, by the reason.
std::vector<Named> refusals_of(Endpoint& endpoint) {
    std::vector<Named> all;
    const EndpointCounts& counts = endpoint.counts();
    for (const Named& each : {Named{"wrong_icrc", counts.wrong_icrc}, Named{"malformed", counts.malformed}})
        if (each.count > 0) all.push_back(each);
    add_named(all, verbs::kRefusalNames, endpoint.adapter().counts().refused);
    add_named(all, kCmRefusalNames, endpoint.manager().counts().refused);
    return all;
}

constexpr Duration kSilence{3'000'000'000};
constexpr Duration kOneSecond{1'000'000'000};

// Whether callers exchange queue pairs with it over TCP: the port of its row is that of all such programs. The
// agent's is another.
bool over_tcp(const ProgramRow& row, bool rdma_cm) { return row.port == IpPort{kExchangePort} && !rdma_cm; }
bool over_tcp(const ProgramRow& row, const ProgramRequest& request) { return over_tcp(row, request.exchange.rdma_cm); }

IpPort agent_port() { return transport::conformance::agent::agent_program().port; }

class Reporting {
public:
    Reporting(const PeerOptions& options, const ProgramRow& row, Output& output, const SteadyTime& clock)
        : options_(options), row_(row), output_(output), clock_(clock) {}

    // The lines of the program so far. Machines get them on standard error: standard output is one document.
    void show(Program& program, Instant now) {
        for (const std::string& line : program.take_lines())
            if (limit_.admit(line, now)) print(line, now);
        for (const std::string& sum : limit_.take_sums(now)) print(sum, now);
    }

    void print_start(const std::vector<Address>& addresses, const ProgramRequest& request, Instant now) {
        std::string where;
        if (request.target) where = text(*request.target);
        else
            for (const Address& each : addresses) where += (where.empty() ? "" : " and ") + text(each);
        if (!request.target && over_tcp(row_, request)) {
            const bool one_place =
                std::ranges::any_of(addresses, [&](const Address& each) { return text(each) == request.exchange.tcp; });
            return print_tcp_start(one_place ? request.exchange.tcp : where, request, now);
        }
        const std::string port =
            row_.port == agent_port() ? "" : port_text(request);  // the agent says itself where it listens
        print(fmt::format("{} {} at {}{}", request.target ? "connecting to" : "serving", row_.name, where, port), now);
    }

    // A client that met nobody: what its user would look for next.
    void print_no_answer(const ProgramRequest& request, Instant now) {
        print(fmt::format("no answer: check that {} is on this wire and that {} serves there{}", text(*request.target),
                          row_.name, port_text(request)),
              now);
    }

    void watch_pauses(const Endpoint& endpoint, Instant now) {
        for (const std::string& line : pauses_.take(endpoint, now)) print(line, now);
    }

    // A client whose peer says nothing: said after kSilence, and every second from then on, with what is known of the
    // reason.
    void watch_silence(const Endpoint& endpoint, const ProgramRequest& request, Instant now) {
        if (!request.target || verbs::is_multicast(*request.target))
            return;  // who only serves, or listens to a group, may hear nothing
        const std::uint64_t received = endpoint.counts().packets_received;
        if (received != heard_ || !heard_at_) {
            heard_ = received;
            sent_ = endpoint.counts().packets_sent;
            heard_at_ = now;
            say_next_ = now + kSilence;
        }
        if (now < say_next_) return;
        // One that was heard owes nothing while nothing is sent to it; a last ACK is not answered.
        if (heard_ > 0 && endpoint.counts().packets_sent < sent_ + 2) return;
        say_next_ = say_next_ + kOneSecond;
        std::string_view why = "packets are sent, none came back";
        if (endpoint.pauses().running()) why = "PAUSE or PFC frames hold back our packets";
        else if (heard_ > 0) why = "nothing more came from it";
        else if (endpoint.waiting() + endpoint.counts().unroutable > 0)
            why = "its address is not resolved, nobody on this wire has it";
        else if (endpoint.counts().packets_sent == 0) why = "no packet was sent to it yet";
        const std::int64_t seconds = std::to_underlying(now - *heard_at_) / std::to_underlying(kOneSecond);
        print(fmt::format("{} has not answered for {} s: {}", text(*request.target), seconds, why), now);
    }

    void summarize(Endpoint& endpoint, const Program& program, Instant now) {
        for (const std::string& sum : limit_.take_all(now)) print(sum, now);
        if (options_.output.format == OutputFormat::table) summarize_for_people(endpoint, program, now);
        else summarize_for_programs(endpoint, program, now);
        output_.flush();
    }

private:
    // What callers type is where TCP listens, which is not always where RDMA goes.
    void print_tcp_start(const std::string& where, const ProgramRequest& request, Instant now) {
        const std::string& tcp = request.exchange.tcp;
        const std::string port = port_text(request);
        if (tcp == where) return print(fmt::format("serving {} at {}{}", row_.name, where, port), now);
        const std::string caller = tcp == "0.0.0.0" || tcp == "::" ? "any address of this system" : tcp;
        print(fmt::format("serving {} at {}{}: callers connect there over TCP, RDMA goes to {}", row_.name, caller,
                          port, where),
              now);
    }

    [[nodiscard]] std::string port_text(const ProgramRequest& request) const {
        const auto port = static_cast<unsigned>(request.port.value_or(row_.port));
        return port == 0 ? "" : fmt::format(", port {}", port);
    }

    void print(const std::string& line, Instant now) {
        const std::string shown = fmt::format("{:>12}  {}\n", seconds_text(now - clock_.start()), line);
        if (options_.output.format == OutputFormat::table) {
            output_.write(shown);
            output_.flush();
        } else if (!is_quiet()) {
            std::fputs(shown.c_str(), stderr);
        }
    }

    void summarize_for_people(Endpoint& endpoint, const Program& program, Instant now) {
        const ProgramCounts done = program.counts();
        const EndpointCounts& counts = endpoint.counts();
        const verbs::AdapterCounts& adapter = endpoint.adapter().counts();
        std::string text = fmt::format("{}, {} s\n", row_.name, seconds_text(now - clock_.start()));
        text += fmt::format("    connections   {}{}\n", done.connections,
                            done.failed > 0 ? fmt::format(", {} failed", done.failed) : "");
        text += fmt::format("    messages      {}, {}{}\n", grouped(done.messages), bytes_text(done.bytes),
                            done.wrong > 0           ? fmt::format(", {} WRONG", done.wrong)
                            : options_.target.verify ? ""
                                                     : ", not verified");
        text += fmt::format("    packets       {} received, {} sent\n", counts.packets_received, counts.packets_sent);
        if (adapter.marked + adapter.cnps_sent + adapter.cnps_received > 0)
            text += fmt::format("    congestion    {} marked, {} CNPs sent, {} received\n", adapter.marked,
                                adapter.cnps_sent, adapter.cnps_received);
        for (const std::string& sum : pause_sums(endpoint.pauses(), now))
            text += fmt::format("    pauses        {}\n", sum);
        std::string refused;
        for (const Named& each : refusals_of(endpoint))
            refused += fmt::format("{}{} {}", refused.empty() ? "" : ", ", each.name, each.count);
        if (!refused.empty()) text += fmt::format("    refused       {}\n", refused);
        if (counts.unroutable > 0)
            text += fmt::format("    unroutable    {} packets: address not resolved\n", counts.unroutable);
        const DeviceCounts device = endpoint.device().counts();
        if (device.dropped + device.refused > 0)
            text += fmt::format("    dropped here  {} frames received, {} to send\n", device.dropped, device.refused);
        output_.write(text);
    }

    static void add_pauses(Document& document, const LinkPauses& pauses, Instant now) {
        document.open_list("pauses");
        const auto timers = pauses.timers();
        for (std::size_t i = 0; i < timers.size(); ++i) {
            const PauseTimer& timer = timers[i];
            if (timer.stops + timer.resumes == 0) continue;
            const Duration running = running_for(timer, now);
            document.open();
            document.add("kind", i < kPriorities ? "pfc" : "pause");
            if (i < kPriorities) document.add("priority", static_cast<std::uint64_t>(i));
            document.add("stops", timer.stops);
            document.add("resumes", timer.resumes);
            document.add("periods", timer.periods);
            document.add("paused_ns", static_cast<std::int64_t>(timer.paused + running));
            document.add("longest_ns", static_cast<std::int64_t>(std::max(timer.longest, running)));
            document.close();
        }
        document.close_list();
    }

    void summarize_for_programs(Endpoint& endpoint, const Program& program, Instant now) {
        const ProgramCounts done = program.counts();
        const EndpointCounts& counts = endpoint.counts();
        std::string text;
        Document document(options_.output.format, text);
        document.open();
        document.add("schema", kSchema);
        document.add("program", row_.name);
        document.add("duration_ns", static_cast<std::uint64_t>(now - clock_.start()));
        document.add("connections", done.connections);
        document.add("failed", done.failed);
        document.add("messages", done.messages);
        document.add("bytes", done.bytes);
        document.add("wrong", done.wrong);
        document.add("packets_received", counts.packets_received);
        document.add("packets_sent", counts.packets_sent);
        document.add("unroutable", counts.unroutable);
        document.open("refused");
        for (const Named& each : refusals_of(endpoint)) document.add(each.name, each.count);
        document.close();
        add_pauses(document, endpoint.pauses(), now);
        document.close();
        text += '\n';
        output_.write(text);
    }

    const PeerOptions& options_;
    const ProgramRow& row_;
    Output& output_;
    const SteadyTime& clock_;
    LineLimit limit_{};
    PauseRemarks pauses_{};
    std::uint64_t heard_ = 0;  // packets
    std::uint64_t sent_ = 0;   // when the last of them came
    std::optional<Instant> heard_at_{};
    Instant say_next_{};
};

// Which way a program can be used that the user wants another way.
std::optional<std::string> misuse(const ProgramRow& row, const ProgramRequest& request) {
    if (request.target && !row.connects) return fmt::format("{} only serves: omit the address", row.name);
    if (!request.target && !row.serves) return fmt::format("{} only connects: name the address of a peer", row.name);
    return std::nullopt;
}

// Where a server listens for TCP, unless the user says it: at an address of the system that callers of the endpoint can
// reach. Nothing where it has none. The agent does what its callers ask, so it stays at the loopback (empty).
std::optional<std::string> tcp_of(const ProgramRow& row, const PeerOptions& asked) {
    const auto& [tcp, rdma_cm] = std::tie(asked.exchange.tcp, asked.exchange.rdma_cm);
    const WireOptions& options = asked.wire;
    if (!tcp.empty() || asked.target.target || rdma_cm) return tcp;
    if (options.via == Via::udp && options.addresses.size() == 1)
        return text(options.addresses.front().address);  // a socket's, so it is the system's
    if (!over_tcp(row, rdma_cm)) return tcp;
    const std::vector<SystemAddress> systems = system_addresses();
    std::vector<TypedAddress> own = options.addresses;
    for (const SystemAddress& each : systems)
        if (options.addresses.empty() && each.interface == options.interface)
            own.push_back({each.address, each.prefix_length});
    for (const TypedAddress& each : own) {
        const std::uint8_t usual = family_of(each.address) == Family::ipv4 ? 24 : 64;
        if (const auto place =
                listening_place(systems, options.interface, each.address, each.prefix_length.value_or(usual)))
            return text(*place);
    }
    return std::nullopt;
}

std::string without_place(const ProgramRow& row, const WireOptions& options) {
    return fmt::format(
        "{}: callers exchange queue pairs with it over TCP, and this system has no address on {}{}: name one with --tcp "
        "(0.0.0.0: all)",
        row.name, options.interface,
        options.addresses.empty() ? "" : " or in the network of " + text(options.addresses.front().address));
}

ProgramRequest request_of(const PeerOptions& options) {
    const TargetOptions& target = options.target;
    const ExchangeOptions& exchange = options.exchange;
    ProgramRequest request{.target = target.target, .port = target.port, .count = target.count, .size = target.size};
    request.depth = target.depth.value_or(request.depth);
    request.connections = options.connections.value_or(request.connections);
    request.clients = target.clients;
    target.set_timers(request.connect);
    request.verify = target.verify;
    request.fast_registration = options.fast_registration;
    request.folder = options.folder;
    request.secret = options.secret;
    request.insecure = options.insecure;
    request.exchange = {.rdma_cm = exchange.rdma_cm,
                        .tcp = exchange.tcp,
                        .mtu = options.wire.mtu,
                        .service = exchange.service,
                        .queue_pairs = exchange.queue_pairs,
                        .both_ways = exchange.both_ways,
                        .all_sizes = exchange.all_sizes,
                        .duration = exchange.duration,
                        .gap = exchange.gap,
                        .compare_swap = exchange.compare_swap};
    request.seed = options.wire.seed.value_or(request.seed);
    return request;
}

// A client that came to nothing, for which no program has words: it was ended while it waited.
bool met_nobody(const ProgramRequest& request, const ProgramCounts& counts) {
    return request.target && counts.connections == 0 && counts.messages == 0 && counts.failed == 0;
}

ExitCode code_of(Ending ending, const ProgramRequest& request, const ProgramCounts& counts) {
    if (ending == Ending::device_gone) return ExitCode::unreadable;
    if (counts.failed > 0 || counts.wrong > 0 || met_nobody(request, counts)) return ExitCode::findings;
    return ExitCode::done;  // a server is ended by the user, and that is no failure
}

// All that `peer` can be: the programs of live peers, and the agent that stands in for one beside a device.
std::vector<ProgramRow> all_programs() {
    std::vector<ProgramRow> rows(programs().begin(), programs().end());
    rows.push_back(transport::conformance::agent::agent_program());
    return rows;
}

// The programs of `peer`, a line each.
std::string program_list() {
    std::string text = "Programs:\n";
    const std::vector<ProgramRow> rows = all_programs();
    const std::size_t width =
        std::ranges::max(rows, {}, [](const ProgramRow& row) { return row.name.size(); }).name.size() + 2;
    for (const ProgramRow& row : rows)
        text += fmt::format("  {:<{}}{}{}\n", row.name, width, row.summary,
                            row.serves && row.connects ? ""
                            : row.serves               ? " (serves)"
                                                       : " (connects)");
    return text;
}

ExitCode no_such_program(const std::string& typed, const std::vector<ProgramRow>& rows) {
    std::vector<std::string_view> names;
    for (const ProgramRow& row : rows) names.push_back(row.name);
    const std::string_view near = nearest_of(typed, names);
    if (near.empty()) say("{}", program_list());
    return fail({ExitCode::usage, fmt::format("no such program '{}'{}", typed,
                                              near.empty() ? "" : fmt::format(": did you mean {}?", near))});
}

ExitCode run_peer(const PeerOptions& options) {
    const std::vector<ProgramRow> rows = all_programs();
    const auto row = std::ranges::find(rows, options.program, &ProgramRow::name);
    if (row == rows.end()) return no_such_program(options.program, rows);
    ProgramRequest request = request_of(options);
    const std::optional<std::string> tcp = tcp_of(*row, options);
    request.exchange.tcp = tcp.value_or("");
    if (const auto wrong = misuse(*row, request)) return fail({ExitCode::usage, *wrong});
    auto program = row->make(request);
    if (!program) return fail({ExitCode::usage, program.error()});
    Output output(options.output.path);
    if (!output.ok()) return fail({ExitCode::output_failed, output.problem()});
    const SteadyTime clock;
    auto opened = open_endpoint(options.wire, clock.now());
    if (!opened) return fail(opened.error());
    if (!tcp) return fail({ExitCode::usage, without_place(*row, options.wire)});
    Endpoint& endpoint = opened->endpoint;
    if (auto settled = settle(endpoint, clock); !settled) return fail(settled.error());
    if (auto begun = program->begin(endpoint, clock.now()); !begun) return fail({ExitCode::unreadable, begun.error()});
    Reporting reporting(options, *row, output, clock);
    reporting.print_start(opened->addresses, request, clock.now());
    const Ending ending = drive(endpoint, *program, options.wire, clock, [&](Instant now) {
        reporting.show(*program, now);
        reporting.watch_pauses(endpoint, now);
        reporting.watch_silence(endpoint, request, now);
    });
    if (met_nobody(request, program->counts())) reporting.print_no_answer(request, clock.now());
    reporting.summarize(endpoint, *program, clock.now());
    if (const auto problem = endpoint.device().problem()) say("qpscope: {}: {}\n", problem->device, problem->sentence);
    if (opened->capture)
        if (auto saved = opened->capture->commit(); !saved)
            return fail({ExitCode::output_failed, fmt::format("{}: {}", saved.error().file, saved.error().sentence)});
    output.commit();
    if (!output.ok()) return fail({ExitCode::output_failed, output.problem()});
    return code_of(ending, request, program->counts());
}

}  // namespace

void PeerOptions::add(OptionTable& table) {
    table.preface(program_list());
    table.add("program", "", program, "Program to run (see below)").needed();
    target.add(table);
    table.add("--connections", "N",
              number_into(connections, std::uint32_t{1}, std::uint32_t{kMaxClients}, "number of connections"),
              "Open N connections");
    table.flag("--fast-registration", fast_registration,
               "Offer memory under a new key for each question, registered by a work request (memory)");
    table.under({}).add("--folder", "DIR", folder,
                        "Write received files into the folder DIR; none there is replaced (rcopy)");
    exchange.add(table);
    table.under("Agent");
    table
        .add(
            "--secret", "FILE", [this](const std::string& path) { secret = read_secret_file(path); },
            "Serve only clients that know the secret in FILE, which only you can read (agent)")
        .is(PathUse::read);
    table.flag("--insecure", insecure, "Serve other machines without a secret (agent)");
    wire.add(table);
    output.add_format(table);
    output.add_path(table);
}

const Command kPeerCommand = wire_command(
    "peer",
    "  qpscope peer -i eth1 --address 10.77.0.9/24 rping                 # serve: rping -c -a 10.77.0.9\n"
    "  qpscope peer -i eth1 --address 10.77.0.9/24 rping 10.77.0.12 -n 10\n"
    "  qpscope peer -i eth1 -w session.pcapng --fault loss=3%,seed=7 sink\n"
    "  qpscope peer -i eth1 --address 10.77.0.9/24 ib_write_bw -s 4096    # serve: ib_write_bw -s 4096 -x 1 HOST\n"
    "  qpscope peer --via udp --address 127.0.0.1 echo                   # without root",
    prepared<PeerOptions, run_peer>);

}  // namespace qps::cli
