// qpscope: the command line of each sub-command, from the table of commands.
#include <CLI/CLI.hpp>
#include <dissect/parse_value.hpp>
#include <dissect/filter/field_index.hpp>
#include <packaging/version/version.hpp>
#include <transport-replay/live/replay/replayer.hpp>
#include <transport-replay/model/large_blocks.hpp>
#include <transport-replay/model/memory_amount.hpp>

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
#include "commands.hpp"
#include "decoding_as.hpp"
#include "input.hpp"
#include "input_options.hpp"
#include "message.hpp"
#include "options.hpp"
#include "provenance.hpp"
#include "quantity.hpp"
#include <fmt/format.h>

namespace {

using namespace qps::cli;
using qps::transport::IcrcPolicy;
using qps::transport::Severity;

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
constexpr std::array kIcrcPolicies{NamedValue{"ignore", IcrcPolicy::ignore}, NamedValue{"check", IcrcPolicy::check}};
constexpr std::array kEnds{NamedValue{"a", Whose::a}, NamedValue{"b", Whose::b}, NamedValue{"both", Whose::both}};
constexpr std::array kWhens{NamedValue{"auto", ColorMode::automatic}, NamedValue{"always", ColorMode::always}, NamedValue{"never", ColorMode::never}};

// One of a few words.
template <class T, std::size_t N>
void take_choice(std::string_view option, const std::string& text, T& target, const std::array<NamedValue<T>, N>& choices) {
    const auto choice = std::ranges::find(choices, text, &NamedValue<T>::name);
    if (choice == choices.end()) {
        std::string all;
        for (const NamedValue<T>& each : choices) all += fmt::format("{}{}", all.empty() ? "" : ", ", each.name);
        throw CLI::ValidationError(fmt::format("invalid {} '{}': expected one of {}", option, text, all));
    }
    target = choice->value;
}

// Adds an option that takes one of a few words.
template <class T, std::size_t N>
void add_choice(CLI::App& app, const std::string& names, T& target, const std::array<NamedValue<T>, N>& choices,
                const std::string& description) {
    const auto take = [&target, &choices, names](const std::string& text) { take_choice(names.substr(names.rfind(',') + 1), text, target, choices); };
    app.add_option_function<std::string>(names, take, description)->type_name("WORD");
}

// Digits only, as far as 64 bits go.
std::string check_count(const std::string& text) {
    if (qps::dissect::parse_decimal(text)) return {};
    return fmt::format("invalid count '{}': expected a number", text);
}

std::string check_jobs(const std::string& text) {
    const auto jobs = qps::dissect::parse_decimal(text, kMostJobs);
    return jobs && *jobs != 0 ? std::string() : fmt::format("invalid number of threads '{}': expected 1 to {}", text, kMostJobs);
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

// Two sentences of CLI11 that do not say what is wrong with which word.
std::string in_our_words(std::string_view sentence) {
    for (const std::string_view start : {"The following argument was not expected: ", "The following arguments were not expected: "})
        if (sentence.starts_with(start)) {
            const std::string_view word = sentence.substr(start.size(), sentence.find(' ', start.size()) - start.size());
            return fmt::format("{} '{}'", word.starts_with('-') ? "unknown option" : "unexpected argument", word);
        }
    constexpr std::string_view kRequired = " is required";
    if (sentence.ends_with(kRequired)) return fmt::format("missing {}", sentence.substr(0, sentence.size() - kRequired.size()));
    return std::string(sentence);
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
    app.add_option("-Y,--filter", options.filter, "Print and analyse only packets that match this display filter")->type_name("FILTER");
    app.add_option("-c,--count", options.count, "Stop after N packets")->check(CLI::Validator(check_count, ""))->type_name("N");
    app.add_option("-j,--jobs", options.jobs, "Use N threads (default: one per processor, at most 8; pipes and interfaces use one)")
        ->check(CLI::Validator(check_jobs, ""))
        ->type_name("N");
    add_quantity(app, "--link-speed", "SPEED", options.link_speed, "Compute pause times for this link speed: 100G, 400G, ...", read_speed);
    add_protocol_numbers(app, options);
    add_choice(app, "--color", options.color, kWhens, "Use colours: auto, always or never (default: auto)");
    app.add_flag("--no-progress", options.no_progress, "Show no progress on stderr");
}

// Before the files: the connection is the first word.
void add_followed_connection(CLI::App& app, Options& options) {
    app.add_option("connection", options.followed, "Connection number (see qpscope connections)")
        ->required()
        ->check(CLI::Validator(check_connection, ""))
        ->type_name("N");
}

void add_followed_options(CLI::App& app, Options& options) {
    app.add_flag("--raw", options.raw, "Write the raw bytes of all messages");
    app.add_flag("--decode", options.decode, "Print messages of known protocols as field trees");
    add_choice(app, "--from", options.whose, kEnds, "Keep messages requested by this end: a, b or both (default: both)");
    app.add_option("--message", options.message_number, "Keep the Nth message only")->type_name("N");
}

void add_fail_on(CLI::App& app, Options& options) {
    add_choice(app, "--fail-on", options.fail_on, kSeverities, "Exit with 1 on findings this severe or worse: note, warning or error");
}

// Of `merge`: the words are those of the command that it prints as. CLI11 takes options in the order in which they were added: --as is known.
void add_merged_words(CLI::App& app, Options& options) {
    const auto is_check = [&options] { return options.part.as == MergedAs::check; };
    const auto format = [&options, is_check](const std::string& word) {
        if (is_check()) take_check_format(options.check, word);
        else take_choice("--format", word, options.format, kFormats);
    };
    const auto fail_on = [&options, is_check](const std::string& word) {
        if (is_check()) take_check_level(options.check, word);
        else take_choice("--fail-on", word, options.fail_on, kSeverities);
    };
    app.add_option_function<std::string>(
           "--fail-on", fail_on, "Exit with 1 on findings this severe or worse: note, warning or error; with --as check as check does")
        ->type_name("WORD");
    app.add_option_function<std::string>(
           "-f,--format", format, "Print as table, json, ndjson, csv or tsv; with --as check as table, json, junit or html (default: table)")
        ->type_name("WORD");
}

void add_memory(CLI::App& app, Options& options) {
    add_quantity(app, "--memory", "SIZE", options.memory,
                 "Keep at most this much in memory: 2GiB, 512MiB, ... (default: a quarter of the machine's)", qps::transport::read_memory);
}

void add_icrc(CLI::App& app, Options& options) {
    add_choice(
        app, "--icrc", options.icrc, kIcrcPolicies,
        "Treat a wrong ICRC as corruption always (check) or never (ignore) (default: unless it is 0 or no ICRC of that sender is right)");
}

void add_connections(CLI::App& app, Options& options) {
    app.add_option("-C,--connection", options.connections, "Show these connections only (see qpscope connections)")
        ->delimiter(',')
        ->check(CLI::Validator(check_connection, ""))
        ->type_name("N")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_analysis_options(CLI::App& app, const Takes& takes, Options& options) {
    if (!takes.followed) add_connections(app, options);
    if (takes.log_line)
        app.add_option("--match", options.log_line,
                       "List connections that this log line (NCCL, UCX, verbs, kernel) may be about, best match first")
            ->check(
                CLI::Validator([](const std::string& text) { return text.empty() ? std::string("missing log line") : std::string(); }, ""))
            ->type_name("LINE");
    if (takes.log_line) {
        app.add_option("--sort", options.sort, "Sort by this column of the table, or of TSV, largest first")->type_name("COLUMN");
        app.add_flag("--performance", options.performance, "Show latency, goodput, depth, stalls and congestion of each connection in the table");
    }
    if (takes.interval)
        add_quantity(app, "--interval", "TIME", options.interval,
                     takes.tables ? "Use intervals of this length: 100us, 1s, ... (default: 1ms)"
                                  : "Use intervals of this length: 100us, 1s, ... (default: one that gives 20 to 60 rows)",
                     [](const std::string& text) { return read_time(text, "interval"); });
    if (takes.nccl_log) add_knowledge(app, options);
    if (takes.divided) add_part_option(app, options.part);
    if (takes.operations) add_operation_options(app, options.operations);
    if (takes.annotated) {
        app.add_flag("--findings-only", options.findings_only, "Comment only on packets that prove a finding");
        app.add_option("--hosts", options.hosts, "Add the names of hosts in this file: lines of address and name, as /etc/hosts")->type_name("FILE");
    }
    if (takes.anonymized) add_anonymize_options(app, options.anonymize);
    if (takes.extracted) add_extract_options(app, options.extract);
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
    app.add_option("files", options.files, "Capture files, one after the other: pcap or pcapng, plain, .gz or .zst; - for standard input")
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
    OptionGroup{"Packets", " --expect --within --count --from --frame ", " send "},
    OptionGroup{"Device under test", " --dut --agent --agent-secret --iwarp --nvme --nqn --host-nqn --port --patience --comes-back ", " conform "},
    OptionGroup{"Scripts", " --script --script-of --filter --set --list --coverage ", " conform "},
    OptionGroup{"Traffic", " --port --count --size --depth --clients --connections --ack-timeout --retry --rnr-retry --min-rnr-timer --no-verify --fast-registration --seconds --sizes "
                "--unsignaled --only ",
                " peer pingpong "},
    OptionGroup{"perftest and ibv_*_pingpong",
                " --tcp --service --qps --bidirectional --all-sizes --duration --gap --compare-swap "},
    OptionGroup{"Agent", " --secret --insecure "},
    OptionGroup{"Wire", " --interface --address --mac --gateway --via --vlan --priority --dscp --mtu --roce-v1 --rate-control --pause --link-speed ",
                " peer pingpong conform replay send "},
    OptionGroup{"Run", " --fault --trace --busy --for --seed "},
    OptionGroup{"Pace", " --speed --fast --loop "},
    OptionGroup{"Input", " --read --interface --capture-filter --count --by-time --offset --decode-as --icrc --nccl-log --out-of-order --part --host --checks --jobs --memory --link-speed --roce-port --uet-protocol --no-sandbox "},
    OptionGroup{"Filter", " --filter --connection --finding --around --everything --match --protocol --operation --failed --slower-than --from --message --frames --only "},
    OptionGroup{"Verdicts", " --device --profile --compare --all ", " merge "},
    OptionGroup{"Verdicts", " --device --profile --evidence --compare --all --fail-on ", " check conform "},
    OptionGroup{"Output", " --as --format --output --write --column --color --interval --raw --decode --list --long --sort --performance --no-bytes --messages --markdown "
                          "--dot --route --pdf --sqlite --packets --schema --rewrite --key --keep-vendor --payload --map --shift-time --findings-only --hosts --fail-on --quiet --no-progress --help "},
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

// `named`: no other command than this one is meant: options of the others, a tenth of what a short run costs, are left out.
void add_command(CLI::App& app, const Command& command, std::string_view named, Options& options, const Command*& chosen) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->group(std::string(command.group));
    sub->set_help_flag();
    if (!named.empty() && named != command.name) return;
    sub->footer(fmt::format("{}Examples:\n{}", command.takes.program ? program_list() + "\n" : "", command.examples));
    sub->callback([&chosen, &command, &options, sub] {
        chosen = &command;
        if (command.takes.conform) refuse_beside_other_suites(*sub, options.conform);
    });
    if (command.takes.followed) add_followed_connection(*sub, options);
    if (command.takes.captures) add_capture_options(*sub, options);
    if (command.takes.followed) add_followed_options(*sub, options);
    if (command.takes.replayed) add_replay_options(*sub, options);
    if (command.takes.replayed) {
        add_conversation_options(*sub, options.conversation);
        add_memory(*sub, options);
        add_live_settings(*sub, options.live);
    }
    if (command.takes.analysis) add_analysis_options(*sub, command.takes, options);
    if (command.takes.parts) {
        add_merge_options(*sub, options);
        add_connections(*sub, options);
        add_knowledge(*sub, options);
        add_merged_words(*sub, options);
        add_check_options(*sub, options.check, Judged::parts);
        add_memory(*sub, options);
        add_choice(*sub, "--color", options.color, kWhens, "Use colours: auto, always or never (default: auto)");
    }
    const bool reconstructs = command.takes.analysis || command.takes.columns || command.takes.frames || command.takes.verdicts ||
                              command.takes.picture;
    if (command.takes.captures && reconstructs) add_decode_as(*sub, options);
    if (command.takes.captures && reconstructs) add_clocks(*sub, options);
    if (command.takes.captures && reconstructs) {
        add_icrc(*sub, options);
        add_memory(*sub, options);
    }
    if (command.takes.columns)
        sub->add_option("-e,--column", options.columns, "Print this column: a field (see qpscope fields), source, destination, protocol or line")
            ->type_name("FIELD")
            ->allow_extra_args(false)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (command.takes.program) add_program_options(*sub, options.live);
    if (command.takes.pingpong) add_pingpong_options(*sub, options.live);
    if (command.takes.sent) add_send_options(*sub, options.send);
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
        sub->add_flag("--messages", options.messages, "Read the files twice and show the message of each packet, with all its frames");
    }
    if (command.takes.long_report)
        sub->add_flag("-l,--long", options.long_report, "Print the full report for each of several captures");
    if (command.takes.pattern) sub->add_option("pattern", options.pattern, "Match name or meaning against this text");
    if (command.takes.verdicts) add_check_options(*sub, options.check, command.takes.captures ? Judged::capture : Judged::device);
    else if (!command.takes.saved && !command.takes.page && !command.takes.parts)
        add_choice(*sub, "-f,--format", options.format, kFormats,
                   command.takes.tables ? "Write files of this format, one a table: json, ndjson, csv or tsv"
                                        : "Print as table, json, ndjson, csv or tsv (default: table)");
    if (command.takes.page)
        sub->add_option("--pdf", options.pdf, "Print the report to FILE as PDF (needs Chromium); with -o, write both")->type_name("FILE");
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
        constexpr int kBothEnds = 2;
        sub->add_option("--route", options.route, "Print the way from a LID to a LID by the forwarding tables")
            ->expected(kBothEnds)
            ->allow_extra_args(false)
            ->excludes(sub->get_option("--dot"))
            ->option_text("LID LID")
            ->check(CLI::Range(1, 0xbfff).description({}));  // a LID of one port (4.1.3)
        add_fail_on(*sub, options);
    }
    if (command.takes.tables) {
        sub->add_option("--sqlite", options.sqlite, "Write an SQLite database to FILE, replacing what is there")
            ->type_name("FILE")
            ->excludes(sub->get_option("--format"));
        sub->add_flag("--packets", options.export_packets, "Add a row for each packet");
        sub->add_flag("--schema", options.schema, "Print the tables and columns with their meaning; needs no capture")
            ->excludes(sub->get_option("files"))
            ->excludes(sub->get_option("--interface"));
    }
    CLI::Option* output =
        command.takes.saved
            ? sub->add_option("-o,--output", options.capture, "Write the packets to FILE: pcapng, or nanosecond pcap if it ends in .pcap")
            : sub->add_option("-o,--output", options.output,
                              command.takes.tables ? "With -f: write the files into FOLDER, which is made where there is none" : "Write to FILE instead of stdout");
    output->type_name(command.takes.tables ? "FOLDER" : "FILE");
    if (command.takes.written)
        sub->add_option("-w,--write", options.capture,
                        "Write the packets to FILE: pcapng, or nanosecond pcap if it ends in .pcap")
            ->type_name("FILE")
            ->excludes(output)
            ->excludes(sub->get_option("--column"))
            ->excludes(sub->get_option("--format"));
    if (command.takes.sandbox)
        sub->add_flag("--no-sandbox", options.no_sandbox, "Keep all system calls: for debuggers and profilers");
    sub->add_flag("-q,--quiet", options.quiet, "Suppress messages on stderr");
    group_options(*sub);
}

bool is_command(const std::string& word) {
    return std::ranges::any_of(commands(), [&](const Command& command) { return command.name == word; });
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
        say("qpscope: the command must come first: qpscope {} ...\n", *later);
        return std::nullopt;
    }
    if (first == words.begin() && *first != "-" && !std::filesystem::exists(*first, error))
        for (const Command& command : commands())
            if (qps::dissect::edit_distance(*first, command.name, 2)) {
                say("qpscope: no such file or command '{}': did you mean {}?\n", *first, command.name);
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
                if (const std::size_t gap = line.find("  ", 2); gap < kMeaning)
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
    if (argc > 0) options.command_line = command_line_of(argc, argv);
    const Command* chosen = nullptr;
    CLI::App app{"qpscope: RDMA packet analyser and live protocol peer", "qpscope"};
    app.formatter_fn([](const CLI::App* command, std::string name, CLI::AppFormatMode mode) {
        return tidied(CLI::Formatter().make_help(command, std::move(name), mode));
    });
    app.set_version_flag("-V,--version", fmt::format("qpscope {}", qps::version_text()));
    app.footer(fmt::format("qpscope FILE is short for qpscope {} FILE. See qpscope COMMAND --help for options and examples.\n\n{}", kDefaultCommand,
                           exit_code_text()));
    app.require_subcommand(0, 1);  // that there is one is said in our own words
    auto line = arguments(argc, argv);
    if (!line) return static_cast<int>(ExitCode::usage);
    std::vector<std::string>& words = *line;
    const std::string named = !words.empty() && is_command(words.front()) ? words.front() : "";
    for (const Command& command : commands()) add_command(app, command, named, options, chosen);
    const std::string help = named.empty() ? "--help" : named + " --help";
    std::ranges::reverse(words);  // CLI11 takes them from the back
    try {
        app.parse(words);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        say("qpscope: {}\nTry 'qpscope {}'.\n", in_our_words(error.what()), help);
        return static_cast<int>(ExitCode::usage);
    }
    if (chosen == nullptr) {
        say("qpscope: missing capture file or command\n\n{}", app.help());
        return static_cast<int>(ExitCode::usage);
    }
    if (chosen->takes.captures && !options.list_findings && !options.schema && options.files.empty() == options.interface.empty()) {
        say("qpscope: {}\n",
                   options.files.empty() ? "missing input: name a capture file, - for standard input, or an interface with -i"
                                         : "conflicting input: capture files and --interface exclude each other");
        return static_cast<int>(ExitCode::usage);
    }
    if (const std::string wrong = wrong_clocks(options); !wrong.empty()) {
        say("qpscope: {}\n", wrong);
        return static_cast<int>(ExitCode::usage);
    }
    options.sandbox = chosen->takes.sandbox;
    use_protocol_numbers(options);
    catch_interrupts();
    return static_cast<int>(chosen->run(options));
}

}  // namespace

int main(int argc, char** argv) {
    qps::transport::return_large_blocks();
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        std::fputs("qpscope: out of memory\n", stderr);
    } catch (const std::exception& error) {
        say("qpscope: internal error: {}\n", error.what());
    }
    constexpr int kInternalError = 70;
    return kInternalError;
}
