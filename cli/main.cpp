// qpscope: the table of sub-commands and the command line of each.
#include <CLI/CLI.hpp>
#include <dissect/parse_value.hpp>
#include <dissect/filter/field_index.hpp>
#include <transport-replay/live/replay/replayer.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "decoding_as.hpp"
#include "input.hpp"
#include "options.hpp"
#include "quantity.hpp"
#include <fmt/format.h>

namespace {

using namespace qps::cli;
using qps::transport::Severity;

constexpr std::string_view kVersion = QPSCOPE_VERSION;

// Which options a command has.
struct Takes {
    bool captures = false;
    bool columns = false;
    bool written = false;
    bool frames = false;
    bool pattern = false;
    bool long_report = false;
    bool analysis = false;
    bool log_line = false;
    bool interval = false;
    bool followed = false;
    bool tickets = false;
    bool picture = false;
    bool live = false;
    bool program = false;
    bool pingpong = false;
    bool conform = false;
    bool replayed = false;
    bool verdicts = false;
    bool operations = false;
};

// What one wants of a command: the headings of --help.
constexpr std::string_view kAnalyse = "Analyse a capture";
constexpr std::string_view kLookAt = "Look at packets";
constexpr std::string_view kOnAWire = "Work on a wire";

struct Command {
    std::string_view name;
    std::string_view group;
    std::string_view summary;
    std::string_view examples;
    Takes takes;
    ExitCode (*run)(const Options&);
};

constexpr std::array kCommands{
    Command{"analyze", kAnalyse,
            "Summarise a capture: quality, connections, messages, losses, findings",
            "  qpscope analyze trace.pcapng\n"
            "  qpscope analyze -f json ring_00001.pcap ring_00002.pcap    # rotated files of one capture\n"
            "  qpscope analyze --fail-on error trace.pcap || echo broken\n"
            "  qpscope analyze -i eth0                                    # until Ctrl-C",
            {.captures = true, .analysis = true},
            run_analyze},
    Command{"findings", kAnalyse,
            "List what went wrong, with evidence and advice; --list shows all findings known",
            "  qpscope findings trace.pcap\n"
            "  qpscope findings --fail-on warning -f ndjson trace.pcap\n"
            "  qpscope findings --markdown -C 3 trace.pcap > ticket.md    # a ticket for each finding\n"
            "  qpscope findings -i eth0                                   # each as it happens\n"
            "  qpscope findings --list                                    # every finding and what it means",
            {.captures = true, .analysis = true, .tickets = true},
            run_findings},
    Command{"connections", kAnalyse,
            "List connections; --match finds those that a log line is about",
            "  qpscope connections trace.pcap\n"
            "  qpscope connections --match 'Got completion from peer 10.1.2.3<34543> with status=12 vendor err 129' trace.pcap",
            {.captures = true, .analysis = true, .log_line = true},
            run_connections},
    Command{"messages", kAnalyse,
            "List messages: type, size, latency, outcome",
            "  qpscope messages -C 3 trace.pcap\n  qpscope messages -f tsv trace.pcap > messages.tsv\n\n"
            "Rows are in the order in which messages end; open ones come last.",
            {.captures = true, .analysis = true},
            run_messages},
    Command{"operations", kAnalyse,
            "Count and time operations of storage and file protocols (NVMe, iSER, NFS, ...)",
            "  qpscope operations trace.pcap\n"
            "  qpscope operations --list --slower-than 10ms trace.pcap\n"
            "  qpscope operations --list --failed --protocol nvme -f csv trace.pcap > failed.csv\n"
            "  qpscope operations --decode-as 3=nvme,4=nvme --operation Read trace.pcap\n\n"
            "The latency of an operation that moved data has three parts: wait (until its data starts), transfer, complete (until the answer).",
            {.captures = true, .analysis = true, .operations = true},
            run_operations},
    Command{"timeline", kAnalyse,
            "Count per interval: bytes, retransmissions, NAKs, CE, CNPs, pauses",
            "  qpscope timeline trace.pcap\n  qpscope timeline --interval 100us -f csv -C 3 trace.pcap > rate.csv",
            {.captures = true, .analysis = true, .interval = true},
            run_timeline},
    Command{"cm", kAnalyse,
            "Show how connections were set up and torn down",
            "  qpscope cm trace.pcap\n  qpscope cm -C 3 -f json trace.pcap",
            {.captures = true, .analysis = true},
            run_cm},
    Command{"fabric", kAnalyse,
            "Map the fabric from management datagrams: nodes, links, managers, counters, traps",
            "  qpscope fabric sweep.pcap\n"
            "  qpscope fabric -f csv sweep.pcap > ports.csv\n"
            "  qpscope fabric --dot sweep.pcap | dot -Tsvg > fabric.svg",
            {.captures = true, .picture = true},
            run_fabric},
    Command{"check", kAnalyse,
            "Check a capture against every protocol rule that a capture can decide",
            "  qpscope check trace.pcap\n"
            "  qpscope check --all --only FMT,RSP-02 trace.pcap\n"
            "  qpscope check --profile nic.profile --fail-on high trace.pcap || echo broken\n"
            "  qpscope check -f html -o report.html --evidence packets trace.pcap\n"
            "  qpscope check -f json -o new.json --compare old.json trace.pcap     # between two firmwares\n\n"
            "A profile has lines such as: name My NIC; declares ooo; deviation FMT-08 = ticket 4711",
            {.captures = true, .verdicts = true},
            run_check},
    Command{"info", kLookAt,
            "Print the format, packet counts and ICRC verdicts of captures",
            "  qpscope info trace.pcapng\n  qpscope info -f json *.pcap\n  tcpdump -w - | qpscope info -",
            {.captures = true, .long_report = true},
            run_info},
    Command{"packets", kLookAt,
            "Print packets, one line each, or write them to a capture",
            "  qpscope packets trace.pcap\n"
            "  qpscope packets -Y 'infiniband.aeth.syndrome.opcode == NAK' trace.pcap\n"
            "  qpscope packets -f tsv -e frame.number -e infiniband.bth.psn trace.pcap > psn.tsv\n"
            "  qpscope packets -i eth0 --capture-filter 'udp port 4791'\n"
            "  qpscope packets -Y 'rdma.retransmission or rdma.psn_missing' trace.pcap\n"
            "  qpscope packets -Y 'rdma.connection == 3' -w three.pcapng trace.pcap\n\n"
            "rdma.connection, rdma.retransmission and the like (`qpscope fields 'earlier packets'`) have what is known when the packet\n"
            "is read. They need a single thread, and make several files pieces of one capture.",
            {.captures = true, .columns = true, .written = true},
            run_packets},
    Command{"show", kLookAt,
            "Print the field tree and bytes of selected packets",
            "  qpscope show -n 17 trace.pcap\n  qpscope show -n 3-5 -f json trace.pcap\n  qpscope show -Y 'rdma.icrc.status == bad' trace.pcap",
        {.captures = true, .frames = true},
        run_show},
    Command{"follow", kLookAt,
            "Print the payload of a connection's messages",
            "  qpscope follow 3 trace.pcap\n  qpscope follow 3 --raw --from a -o sent.bin trace.pcap",
            {.captures = true, .analysis = true, .followed = true},
            run_follow},
    Command{"fields", kLookAt,
            "List the fields for filters and columns, with type and meaning",
            "  qpscope fields\n  qpscope fields aeth\n  qpscope fields -f tsv psn",
            {.pattern = true},
            run_fields},
    Command{"peer", kOnAWire,
            "Run a live endpoint: serve or call rping, perftest and others",
            "  qpscope peer -i eth1 --address 10.77.0.9/24 rping                 # serve: rping -c -a 10.77.0.9\n"
        "  qpscope peer -i eth1 --address 10.77.0.9/24 rping 10.77.0.12 -n 10\n"
        "  qpscope peer -i eth1 -w session.pcapng --fault loss=3%,seed=7 sink\n"
        "  qpscope peer -i eth1 --address 10.77.0.9/24 ib_write_bw -s 4096    # serve: ib_write_bw -s 4096 -x 1 HOST\n"
        "  qpscope peer --via udp --address 127.0.0.1 echo                   # without root",
        {.live = true, .program = true},
        run_peer},
    Command{"pingpong", kOnAWire,
            "Measure round-trip times of a live peer and their CPU cost",
            "  qpscope pingpong -i eth1 -a 10.77.0.9/24                          # serve\n"
            "  qpscope pingpong -i eth1 -a 10.77.0.10/24 10.77.0.9               # measure all four modes\n"
            "  qpscope pingpong -i eth1 --only send-poll --seconds 10 -s 8 -f json 10.77.0.9\n"
            "  qpscope pingpong --via udp -a 127.0.0.2 127.0.0.1                 # without root",
            {.live = true, .pingpong = true},
            run_pingpong},
    Command{"replay", kOnAWire,
            "Send a capture's frames, or play one end of a recorded connection against a live peer",
            "  qpscope replay -i eth1 trace.pcap                          # as it was recorded, frame by frame\n"
            "  qpscope replay -i eth1 --fast --loop 10 -Y 'infiniband.bth' trace.pcap\n"
            "  qpscope replay -i eth1 --speed 0.5 --rewrite 'ip 10.0.0.1=10.77.0.11' --rewrite 'dst-mac *=02:00:00:00:00:0b' trace.pcap\n"
            "  qpscope replay --rewrite 'qpn 0x11=0x42 at 10.0.0.2' --rewrite 'psn 0x11+1000' -w other.pcapng trace.pcap\n"
            "  qpscope replay --as requester -C 3 -i eth1 --address 10.77.0.9/24 --connect 10.77.0.12:4420 trace.pcap\n"
            "  qpscope replay --as responder -C 1 -i eth1 --address 10.77.0.9/24 --fast -f json trace.pcap\n\n"
            "With --as, the messages of that end are replayed in their order, with keys and addresses of the live peer in place of\n"
            "the recorded ones. Its answers are compared; differences make the exit code 1.\n\n"
            "Rewrite rules are OLD=NEW, where OLD may be * for any:\n"
            "  mac, src-mac, dst-mac      02:00:00:00:00:01=02:00:00:00:00:0b\n"
            "  ip, src-ip, dst-ip         10.0.0.1=10.77.0.11, 10.0.0.0/24=10.77.0.0/24; also in GIDs, ARP and CM messages\n"
            "  vlan                       5=7, none=7 (add a tag), *=none (remove it)\n"
            "  qpn, rkey                  17=0x42 or, for one host only, \"17=0x42 at 10.0.0.1\"\n"
            "  pkey                       0xffff=0x8001\n"
            "  psn                        17+1000 for packets to queue pair 17; *-5 for all\n"
            "Rules apply to packets as recorded; the first that matches wins. Checksums and ICRC are updated: right ones stay right.",
            {.replayed = true},
            run_replay},
    Command{"conform", kOnAWire,
            "Test a device for conformance with the suite or with scripts",
            "  qpscope conform --dut 10.77.0.11 -i eth1 --agent 10.77.0.11                       # the suite\n"
            "  qpscope conform --dut 10.77.0.11 -i eth1 --agent 10.77.0.11 --only RSP --profile nic.profile\n"
            "  qpscope conform ... --comes-back 3m --evidence packets -f html -o report.html\n"
            "  qpscope conform ... -f json -o new.json --compare old.json                        # between two firmwares\n"
            "  qpscope conform --coverage\n"
            "  qpscope conform --script rsp-05.script --dut 10.77.0.11 -i eth1 --agent 10.77.0.11\n"
            "  qpscope conform --script cm-05.script --dut 127.0.0.1 --via udp -a 127.0.0.2      # without root or agent\n"
            "  qpscope conform --list --script rsp-05.script\n"
            "  qpscope conform --script-of trace.pcapng -Y 'infiniband.bth.destqp in {17, 18}' -o again.script",
            {.live = true, .conform = true, .verdicts = true},
            run_conform},
};

// The command for a line that names files only.
constexpr std::string_view kDefaultCommand = "analyze";

constexpr int kMostJobs = 1024;

template <class T>
struct NamedValue {
    std::string_view name;
    T value;
};
constexpr std::array kFormats{
    NamedValue{"table", OutputFormat::table}, NamedValue{"json", OutputFormat::json}, NamedValue{"ndjson", OutputFormat::ndjson},
    NamedValue{"csv", OutputFormat::csv},     NamedValue{"tsv", OutputFormat::tsv},
};
constexpr std::array kSeverities{NamedValue{"note", std::optional{Severity::note}}, NamedValue{"warning", std::optional{Severity::warning}},
                                 NamedValue{"error", std::optional{Severity::error}}};
constexpr std::array kEnds{NamedValue{"a", Whose::a}, NamedValue{"b", Whose::b}, NamedValue{"both", Whose::both}};
constexpr std::array kWhens{NamedValue{"auto", ColorMode::automatic}, NamedValue{"always", ColorMode::always}, NamedValue{"never", ColorMode::never}};

// Adds an option that takes one of a few words.
template <class T, std::size_t N>
void add_choice(CLI::App& app, const std::string& names, T& target, const std::array<NamedValue<T>, N>& choices,
                const std::string& description) {
    const auto take = [&target, &choices, names](const std::string& text) {
        const auto choice = std::ranges::find(choices, text, &NamedValue<T>::name);
        if (choice == choices.end()) {
            std::string all;
            for (const NamedValue<T>& each : choices) all += fmt::format("{}{}", all.empty() ? "" : ", ", each.name);
            throw CLI::ValidationError(fmt::format("invalid {} '{}': expected one of {}", names.substr(names.rfind(',') + 1), text, all));
        }
        target = choice->value;
    };
    app.add_option_function<std::string>(names, take, description)->type_name("WORD");
}

// Digits only, as far as 64 bits go.
std::string check_count(const std::string& text) {
    if (qps::dissect::parse_decimal(text)) return {};
    return fmt::format("invalid count '{}': expected a number", text);
}

// The number of a connection. A capture file in its place is what one types first.
std::string check_connection(const std::string& text) {
    if (qps::dissect::parse_decimal(text, std::numeric_limits<std::uint32_t>::max())) return {};
    return fmt::format("invalid connection '{}': expected a number (see qpscope connections)", text);
}

// An option whose text becomes a quantity, or a sentence that says why it does not.
template <class Quantity, class Read>
void add_quantity(CLI::App& app, const std::string& names, const std::string& type, Quantity& target, const std::string& description,
                  Read read) {
    app.add_option_function<std::string>(
           names,
           [&target, read](const std::string& text) {
               const auto quantity = read(text);
               if (!quantity) throw CLI::ValidationError(quantity.error());
               target = *quantity;
           },
           description)
        ->type_name(type);
}

std::string exit_code_text() {
    std::string text = "Exit codes:\n";
    for (const ExitCodeRow& row : kExitCodes) text += fmt::format("  {:<4}{}\n", static_cast<int>(row.code), row.meaning);
    return text;
}

void add_capture_options(CLI::App& app, Options& options) {
    app.add_option("files", options.files, "Capture files: pcap or pcapng, plain, .gz or .zst; - for standard input")->type_name("");
    app.add_option("-r,--read", options.files, "Read this capture file")->type_name("FILE");
    app.add_option("-i,--interface", options.interface, "Capture live from this interface (needs CAP_NET_RAW)")->type_name("NAME");
    app.add_option("-F,--capture-filter", options.capture_filter, "Keep only frames that match this libpcap (BPF) expression")
        ->type_name("EXPRESSION");
    app.add_option("-Y,--filter", options.filter,
                   "Keep only packets that match this display filter, also for the analysis")
        ->type_name("FILTER");
    app.add_option("-c,--count", options.count, "Stop after N packets")->check(CLI::Validator(check_count, ""))->type_name("N");
    app.add_option("-j,--jobs", options.jobs,
                   "Use N threads (default: one per processor, at most 8; pipes and interfaces use one)")
        ->check(CLI::Range(1, kMostJobs).description(""))
        ->type_name("N");
    add_quantity(app, "--link-speed", "SPEED", options.link_speed, "Compute pause times for this link speed: 100G, 400G, ...", read_speed);
    add_choice(app, "--color", options.color, kWhens, "Use colours: auto, always or never (default: auto)");
    app.add_flag("--no-progress", options.no_progress, "Show no progress on stderr");
}

// Before the files: the connection is the first word.
void add_followed_options(CLI::App& app, Options& options) {
    app.add_option("connection", options.followed, "Connection number (see qpscope connections)")
        ->required()
        ->check(CLI::Validator(check_connection, ""))
        ->type_name("N");
    app.add_flag("--raw", options.raw, "Write the raw bytes of all messages");
    app.add_flag("--decode", options.decode, "Print messages of known protocols as field trees");
    add_choice(app, "--from", options.whose, kEnds, "Keep messages requested by this end: a, b or both (default: both)");
    app.add_option("--message", options.message_number, "Keep the Nth message only")->type_name("N");
}

void add_fail_on(CLI::App& app, Options& options) {
    add_choice(app, "--fail-on", options.fail_on, kSeverities, "Exit with 1 on findings this severe or worse: note, warning or error");
}

void add_analysis_options(CLI::App& app, const Takes& takes, Options& options) {
    if (!takes.followed)
        app.add_option("-C,--connection", options.connections,
                       "Show these connections only (see qpscope connections)")
            ->delimiter(',')
            ->check(CLI::Validator(check_connection, ""))
            ->type_name("N")
            ->allow_extra_args(false)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (takes.log_line)
        app.add_option("--match", options.log_line,
                       "List connections that this log line (NCCL, UCX, verbs, kernel) may be about, best match first")
            ->type_name("LINE");
    if (takes.interval)
        add_quantity(app, "--interval", "TIME", options.interval, "Interval length: 100us, 1s, ... (default: 1ms)",
                     [](const std::string& text) { return read_time(text, "interval"); });
    if (takes.operations) add_operation_options(app, options.operations);
    add_fail_on(app, options);
}

// "0.5", "10": a factor of time.
std::string check_speed(const std::string& text) {
    const auto factor = qps::dissect::parse_real(text);
    if (factor && factor->second.empty() && factor->first >= qps::transport::live::kSlowest && factor->first <= qps::transport::live::kFastest)
        return {};
    return fmt::format("invalid speed '{}': expected a number such as 2.5, or use --fast", text);
}

void add_replay_options(CLI::App& app, Options& options) {
    app.add_option("files", options.files, "Capture files, one after the other: pcap or pcapng, plain, .gz or .zst; - is standard input")
        ->type_name("");
    app.add_option("-r,--read", options.files, "Read this capture file")->type_name("FILE");
    app.add_option("-i,--interface", options.send_by, "Send by this Ethernet interface (needs root or CAP_NET_RAW)")->type_name("NAME");
    app.add_option("-w,--write", options.capture,
                   "Write the frames to FILE; without -i, instead of sending them")
        ->type_name("FILE");
    CLI::Option* speed = app.add_option("--speed", options.speed, "Send at FACTOR times the recorded speed (default: 1)")
                             ->check(CLI::Validator(check_speed, ""))
                             ->type_name("FACTOR");
    app.add_flag("--fast", options.fast, "Send as fast as possible, ignoring recorded times")->excludes(speed);
    app.add_option("--loop", options.loops, "Send N times; 0: until interrupted (default: 1)")->check(CLI::Validator(check_count, ""))->type_name("N");
    app.add_option("--rewrite", options.rewrites, "Rewrite frames by this rule (see below)")
        ->type_name("RULE")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("-F,--capture-filter", options.capture_filter, "Keep only frames that match this libpcap (BPF) expression")
        ->type_name("EXPRESSION");
    app.add_option("-Y,--filter", options.filter, "Keep only packets that match this display filter")
        ->type_name("FILTER");
    app.add_option("-c,--count", options.count, "Stop after N frames")->check(CLI::Validator(check_count, ""))->type_name("N");
    app.add_flag("--no-progress", options.no_progress, "Show no progress on stderr");
}

// The headings under which --help shows options, by their long names; the first row that fits counts.
struct OptionGroup {
    std::string_view heading;
    std::string_view names;          // between spaces
    std::string_view commands = {};  // between spaces; empty: all
};
constexpr std::array kOptionGroups{
    OptionGroup{"Recorded connection", " --as --connection --connect --port --map-key --map-address --patience ", " replay "},
    OptionGroup{"Device under test", " --dut --agent --port --patience --comes-back ", " conform "},
    OptionGroup{"Scripts", " --script --script-of --filter --set --list --coverage ", " conform "},
    OptionGroup{"Traffic", " --port --count --size --depth --clients --connections --no-verify --seconds --unsignaled --only ",
                " peer pingpong "},
    OptionGroup{"perftest and ibv_*_pingpong",
                " --tcp --service --qps --bidirectional --all-sizes --duration --gap --compare-swap "},
    OptionGroup{"Wire", " --interface --address --mac --gateway --via --vlan --priority --dscp --mtu --roce-v1 --rate-control ",
                " peer pingpong conform replay "},
    OptionGroup{"Run", " --fault --trace --busy --for --seed "},
    OptionGroup{"Pace", " --speed --fast --loop "},
    OptionGroup{"Input", " --read --interface --capture-filter --count --decode-as --jobs --link-speed "},
    OptionGroup{"Filter", " --filter --connection --match --protocol --operation --failed --slower-than --from --message --frames --only "},
    OptionGroup{"Verdicts", " --profile --evidence --compare --all --fail-on ", " check conform "},
    OptionGroup{"Output", " --format --output --write --column --color --interval --raw --decode --list --long --no-bytes --markdown "
                          "--dot --rewrite --fail-on --quiet --no-progress --help "},
};

bool is_listed(std::string_view list, std::string_view name) { return list.find(fmt::format(" {} ", name)) != std::string_view::npos; }

void group_options(CLI::App& app) {
    app.set_help_flag("-h,--help", "Print this help and exit");  // again, to come last
    for (CLI::Option* option : app.get_options()) {
        if (option->get_lnames().empty()) continue;
        const std::string name = "--" + option->get_lnames().front();
        const auto row = std::ranges::find_if(kOptionGroups, [&](const OptionGroup& group) {
            return is_listed(group.names, name) && (group.commands.empty() || is_listed(group.commands, app.get_name()));
        });
        if (row != kOptionGroups.end()) option->group(std::string(row->heading));
    }
}

void add_command(CLI::App& app, const Command& command, Options& options, const Command*& chosen) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->group(std::string(command.group));
    sub->set_help_flag();
    sub->footer(fmt::format("{}Examples:\n{}", command.takes.program ? program_list() + "\n" : "", command.examples));
    sub->callback([&chosen, &command] { chosen = &command; });
    if (command.takes.followed) add_followed_options(*sub, options);
    if (command.takes.captures) add_capture_options(*sub, options);
    if (command.takes.replayed) add_replay_options(*sub, options);
    if (command.takes.replayed) {
        add_conversation_options(*sub, options.conversation);
        add_live_settings(*sub, options.live);
    }
    if (command.takes.analysis) add_analysis_options(*sub, command.takes, options);
    const bool reconstructs = command.takes.analysis || command.takes.columns || command.takes.frames || command.takes.verdicts;
    if (command.takes.captures && reconstructs) add_decode_as(*sub, options);
    if (command.takes.columns)
        sub->add_option("-e,--column", options.columns, "Print this column: a field (see qpscope fields), source, destination, protocol or line")
            ->type_name("FIELD")
            ->allow_extra_args(false)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (command.takes.program) add_program_options(*sub, options.live);
    if (command.takes.pingpong) add_pingpong_options(*sub, options.live);
    if (command.takes.conform) {
        add_conform_options(*sub, options.conform);
        sub->add_option("-Y,--filter", options.filter, "With --script-of: keep only packets that match this display filter")
            ->type_name("FILTER");
    }
    if (command.takes.live) add_live_options(*sub, options.live);
    if (command.takes.frames) {
        sub->add_option("-n,--frames", options.frames, "Show these frames: 7, 3-9, 3-")
            ->delimiter(',')
            ->type_name("N")
            ->allow_extra_args(false)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        sub->add_flag("--no-bytes", options.no_bytes, "Omit the hex dump");
    }
    if (command.takes.long_report)
        sub->add_flag("-l,--long", options.long_report, "Print the full report for each of several captures");
    if (command.takes.pattern) sub->add_option("pattern", options.pattern, "Match name or meaning against this text");
    if (command.takes.verdicts) add_check_options(*sub, options.check);
    else add_choice(*sub, "-f,--format", options.format, kFormats, "Print as table, json, ndjson, csv or tsv (default: table)");
    if (command.takes.tickets) {
        sub->add_flag("--list", options.list_findings, "List every finding with its meaning; needs no capture")
            ->excludes(sub->get_option("files"))
            ->excludes(sub->get_option("--interface"));
        sub->add_flag("--markdown", options.markdown,
                      "Print each finding as a Markdown ticket with evidence and capture quality")
            ->excludes(sub->get_option("--format"))
            ->excludes(sub->get_option("--list"));
    }
    if (command.takes.picture) {
        sub->add_flag("--dot", options.dot, "Print nodes and links as a Graphviz graph")->excludes(sub->get_option("--format"));
        add_fail_on(*sub, options);
    }
    CLI::Option* output =
        sub->add_option("-o,--output", options.output, "Write to FILE instead of stdout")->type_name("FILE");
    if (command.takes.written)
        sub->add_option("-w,--write", options.capture,
                        "Write the packets to FILE: pcapng, or nanosecond pcap if it ends in .pcap")
            ->type_name("FILE")
            ->excludes(output)
            ->excludes(sub->get_option("--column"))
            ->excludes(sub->get_option("--format"));
    sub->add_flag("-q,--quiet", options.quiet, "Suppress messages on stderr");
    group_options(*sub);
}

bool is_command(const std::string& word) {
    return std::ranges::any_of(kCommands, [&](const Command& command) { return command.name == word; });
}

// `qpscope FILE` is short for the default command. What looks like a command in the wrong place or with a slip is said
// so, rather than taken for a file. Nothing where the line cannot be meant.
std::optional<std::vector<std::string>> arguments(int argc, char** argv) {
    std::vector<std::string> words(argv + 1, argv + argc);
    if (!words.empty() && words.front() == "help") words.front() = "--help";
    const auto first = std::ranges::find_if(words, [](const std::string& word) { return word == "-" || !word.starts_with('-'); });
    const bool asks = std::ranges::any_of(
        words, [](const std::string& word) { return word == "-h" || word == "--help" || word == "--version" || word == "-V"; });
    if (asks || first == words.end() || (first == words.begin() && is_command(*first))) return words;
    std::error_code error;
    const auto later =
        std::ranges::find_if(words, [&](const std::string& word) { return is_command(word) && !std::filesystem::exists(word, error); });
    if (later != words.end()) {
        fmt::print(stderr, "qpscope: the command must come first: qpscope {} ...\n", *later);
        return std::nullopt;
    }
    if (first == words.begin() && *first != "-" && !std::filesystem::exists(*first, error))
        for (const Command& command : kCommands)
            if (qps::dissect::edit_distance(*first, command.name, 2)) {
                fmt::print(stderr, "qpscope: no such file or command '{}': did you mean {}?\n", *first, command.name);
                return std::nullopt;
            }
    words.insert(words.begin(), std::string(kDefaultCommand));
    return words;
}

// CLI11's help without what it says beyond option, type and meaning: which options exclude each other, how a flag is stored,
// empty lines in pairs.
std::string tidied(const std::string& help) {
    constexpr std::string_view kNoise[]{" Excludes:", "{false}"};
    constexpr std::size_t kMeaning = 30;  // the column where meanings begin
    std::string out;
    std::size_t blank = 0;
    for (std::size_t at = 0; at < help.size();) {
        const std::size_t end = std::min(help.find('\n', at), help.size());
        std::string line = help.substr(at, end - at);
        at = end + 1;
        if (line.starts_with("  ")) {
            for (const std::string_view noise : kNoise) {
                const std::size_t from = line.find(noise);
                if (from == std::string::npos || from > line.find("  ", 2)) continue;
                std::size_t to = from + noise.size();
                if (noise == kNoise[0]) to = std::min(line.find("  ", to), line.size());
                line.erase(from, to - from);
                if (const std::size_t gap = line.find("  ", 2); gap != std::string::npos && gap < kMeaning)
                    line.insert(gap, kMeaning - std::min(kMeaning, line.find_first_not_of(' ', gap)), ' ');
            }
            // A name that fits beside its meaning again.
            if (line.size() + 2 <= kMeaning && at < help.size() && help.compare(at, kMeaning, std::string(kMeaning, ' ')) == 0) {
                line.resize(kMeaning, ' ');
                const std::size_t next = std::min(help.find('\n', at), help.size());
                line += help.substr(at + kMeaning, next - at - kMeaning);
                at = next + 1;
            }
        }
        blank = line.empty() ? blank + 1 : 0;
        if (blank < 2) out += line + '\n';
    }
    return out;
}

int run(int argc, char** argv) {
    Options options;
    const Command* chosen = nullptr;
    CLI::App app{"qpscope: RDMA packet analyser and live protocol peer", "qpscope"};
    app.formatter_fn([](const CLI::App* command, std::string name, CLI::AppFormatMode mode) {
        return tidied(CLI::Formatter().make_help(command, std::move(name), mode));
    });
    app.set_version_flag("-V,--version", fmt::format("qpscope {}", kVersion));
    app.footer(fmt::format("qpscope FILE is short for qpscope {} FILE. See qpscope COMMAND --help for options and examples.\n\n{}", kDefaultCommand,
                           exit_code_text()));
    app.require_subcommand(0, 1);  // that there is one is said in our own words
    for (const Command& command : kCommands) add_command(app, command, options, chosen);
    auto line = arguments(argc, argv);
    if (!line) return static_cast<int>(ExitCode::usage);
    std::vector<std::string>& words = *line;
    const std::string help = !words.empty() && is_command(words.front()) ? words.front() + " --help" : "--help";
    std::ranges::reverse(words);  // CLI11 takes them from the back
    try {
        app.parse(words);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        fmt::print(stderr, "qpscope: {}\nTry 'qpscope {}'.\n", error.what(), help);
        return static_cast<int>(ExitCode::usage);
    }
    if (chosen == nullptr) {
        fmt::print(stderr, "qpscope: missing capture file or command\n\n{}", app.help());
        return static_cast<int>(ExitCode::usage);
    }
    if (chosen->takes.captures && !options.list_findings && options.files.empty() == options.interface.empty()) {
        fmt::print(stderr, "qpscope: {}\n",
                   options.files.empty() ? "missing input: name a capture file, - for standard input, or an interface with -i"
                                         : "conflicting input: capture files and --interface exclude each other");
        return static_cast<int>(ExitCode::usage);
    }
    catch_interrupts();
    return static_cast<int>(chosen->run(options));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        std::fputs("qpscope: out of memory\n", stderr);
    } catch (const std::exception& error) {
        fmt::print(stderr, "qpscope: internal error: {}\n", error.what());
    }
    constexpr int kInternalError = 70;
    return kInternalError;
}
