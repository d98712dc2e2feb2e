#include <cli/commands.hpp>
#include <cli/decoding_as.hpp>
#include <cli/options.hpp>
#include <cli/options/choice.hpp>
#include <cli/options/command_line.hpp>
#include <cli/options/input_options.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/quantity.hpp>

#include <vector>

namespace qps::cli {

using transport::IcrcPolicy;
using transport::Severity;

namespace {

constexpr int kMostJobs = 1024;

constexpr std::array kSeverities{NamedValue{"note", std::optional{Severity::note}},
                                 NamedValue{"warning", std::optional{Severity::warning}},
                                 NamedValue{"error", std::optional{Severity::error}}};
constexpr std::array kIcrcPolicies{NamedValue{"auto", IcrcPolicy::automatic}, NamedValue{"ignore", IcrcPolicy::ignore},
                                   NamedValue{"check", IcrcPolicy::check}};
constexpr std::array kEnds{NamedValue{"a", Whose::a}, NamedValue{"b", Whose::b}, NamedValue{"both", Whose::both}};
constexpr std::array kWhens{NamedValue{"auto", ColorMode::automatic}, NamedValue{"always", ColorMode::always},
                            NamedValue{"never", ColorMode::never}};

std::string check_jobs(const std::string& text) {
    const auto jobs = dissect::parse_decimal(text, kMostJobs);
    return jobs && *jobs != 0 ? std::string()
                              : fmt::format("invalid number of threads '{}': expected 1 to {}", text, kMostJobs);
}

void add_capture_options(CLI::App& app, Options& options) {
    app.add_option("files", options.files, "Capture files: pcap or pcapng, plain, .gz or .zst; - for standard input")
        ->type_name("");
    app.add_option("-r,--read", options.files, "Read this capture file")->type_name("FILE");
    app.add_option("-i,--interface", options.interface, "Capture live from this interface (needs CAP_NET_RAW)")
        ->type_name("NAME");
    app.add_option("-F,--capture-filter", options.capture_filter,
                   "Keep only frames that match this libpcap (BPF) expression")
        ->type_name("EXPRESSION");
    app.add_option("-Y,--filter", options.filter, "Print and analyse only packets that match this display filter")
        ->type_name("FILTER");
    add_quantity(app, "--since", "TIME", options.since,
                 "Drop earlier packets: '2026-11-21 01:14:08' (UTC), seconds since 1970, or 90s (from the first)",
                 [](const std::string& text) { return read_time_bound(text, ">=", "--since"); });
    add_quantity(app, "--until", "TIME", options.until,
                 "Drop packets from this time on, which is written as with --since",
                 [](const std::string& text) { return read_time_bound(text, "<", "--until"); });
    app.add_option("-c,--count", options.count, "Stop after N packets")
        ->check(CLI::Validator(check_count, ""))
        ->type_name("N");
    app.add_option("-j,--jobs", options.jobs,
                   "Use N threads (default: one per processor, at most 8; pipes and interfaces use one)")
        ->check(CLI::Validator(check_jobs, ""))
        ->type_name("N");
    add_quantity(app, "--link-speed", "SPEED", options.link_speed,
                 "Compute pause times for this link speed: 100G, 400G, ...", read_speed);
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
    add_choice(app, "--from", options.whose, kEnds,
               "Keep messages requested by this end: a, b or both (default: both)");
    app.add_option("--message", options.message_number, "Keep the Nth message only")->type_name("N");
}

void add_fail_on(CLI::App& app, Options& options) {
    add_choice(app, "--fail-on", options.fail_on, kSeverities,
               "Exit with 1 on findings this severe or worse: note, warning or error");
}

// Of `merge`: the words are those of the command that it prints as. CLI11 takes options in the order in which they were
// added: --as is known.
void add_merged_words(CLI::App& app, Options& options) {
    const auto is_check = [&options] { return options.part.as == MergedAs::check; };
    const auto format = [&options, is_check](const std::string& word) {
        if (is_check()) take_check_format(options.check, word);
        else take_choice("--format", word, options.format, kOutputFormats);
    };
    const auto fail_on = [&options, is_check](const std::string& word) {
        if (is_check()) take_check_level(options.check, word);
        else take_choice("--fail-on", word, options.fail_on, kSeverities);
    };
    app.add_option_function<std::string>(
           "--fail-on", fail_on,
           "Exit with 1 on findings this severe or worse: note, warning or error; with --as check as check does")
        ->type_name("WORD");
    app.add_option_function<std::string>(
           "-f,--format", format,
           "Print as table, json, ndjson, csv or tsv; with --as check as table, json, junit or html (default: table)")
        ->type_name("WORD");
}

void add_icrc(CLI::App& app, Options& options) {
    add_choice(
        app, "--icrc", options.icrc, kIcrcPolicies,
        "Treat wrong ICRCs as corruption (check), not at all (ignore), or by what else the sender sent (auto) (default: auto)");
}

void add_connections(CLI::App& app, Options& options) {
    app.add_option("-C,--connection", options.connections, "Show these connections only (see qpscope connections)")
        ->delimiter(',')
        ->check(CLI::Validator(check_connection, ""))
        ->type_name("N")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// "3=nvme"
void take_hint(UlpHints& hints, const std::string& text) {
    const std::size_t equals = text.find('=');
    const auto uid =
        dissect::parse_decimal(std::string_view(text).substr(0, equals), std::numeric_limits<std::uint32_t>::max());
    if (equals == std::string::npos || !uid)
        throw CLI::ValidationError(
            fmt::format("invalid --decode-as '{}': expected CONNECTION=PROTOCOL, such as 3=nvme", text));
    const auto protocol = read_protocol(std::string_view(text).substr(equals + 1));
    if (!protocol) throw CLI::ValidationError(protocol.error());
    if (!hints.emplace(static_cast<std::uint32_t>(*uid), *protocol).second)
        throw CLI::ValidationError(fmt::format("conflicting --decode-as for connection {}: give one protocol", *uid));
}

void add_decode_as(CLI::App& app, Options& options) {
    app.add_option_function<std::vector<std::string>>(
           "--decode-as",
           [&options](const std::vector<std::string>& texts) {
               for (const std::string& text : texts) take_hint(options.hints, text);
           },
           "Decode a connection as this protocol: 3=nvme; " + protocol_words(true))
        ->delimiter(',')
        ->type_name("N=NAME")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_analysis_options(CLI::App& app, const Takes& takes, Options& options) {
    if (!takes.followed) add_connections(app, options);
    if (takes.log_line)
        app.add_option("--match", options.log_line,
                       "List connections that this log line (NCCL, UCX, verbs, kernel) may be about, best match first")
            ->check(CLI::Validator(
                [](const std::string& text) { return text.empty() ? std::string("missing log line") : std::string(); },
                ""))
            ->type_name("LINE");
    if (takes.log_line) {
        app.add_option("--sort", options.sort, "Sort by this column of the table, or of TSV, largest first")
            ->type_name("COLUMN");
        app.add_flag("--performance", options.performance,
                     "Show latency, goodput, depth, stalls and congestion of each connection in the table");
        app.add_flag("--by-host", options.by_host, "Sum up connections by the two hosts: who sent how much to whom")
            ->excludes(app.get_option("--match"))
            ->excludes(app.get_option("--sort"))
            ->excludes(app.get_option("--performance"));
    }
    if (takes.interval)
        add_quantity(app, "--interval", "TIME", options.interval,
                     takes.tables
                         ? "Use intervals of this length: 100us, 1s, ... (default: 1ms)"
                         : "Use intervals of this length: 100us, 1s, ... (default: one that gives 20 to 60 rows)",
                     [](const std::string& text) { return read_time(text, "interval"); });
    if (takes.interval && !takes.tables)
        app.add_option("-e,--column", options.columns,
                       "Count the packets that match this display filter, in a column of its own")
            ->type_name("FILTER")
            ->allow_extra_args(false)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (takes.nccl_log) add_knowledge(app, options);
    if (takes.divided) add_part_option(app, options.part);
    if (takes.operations) add_operation_options(app, options.operations);
    if (takes.annotated) {
        app.add_flag("--findings-only", options.findings_only, "Comment only on packets that prove a finding");
        app.add_option("--hosts", options.hosts,
                       "Add the names of hosts in this file: lines of address and name, as /etc/hosts")
            ->type_name("FILE");
    }
    if (takes.anonymized) add_anonymize_options(app, options.anonymize);
    if (takes.extracted) add_extract_options(app, options.extract);
    add_fail_on(app, options);
}

// Of `merge`.
void add_parts_options(CLI::App& app, Options& options) {
    add_merge_options(app, options);
    add_connections(app, options);
    add_knowledge(app, options);
    add_merged_words(app, options);
    add_check_options(app, options.check, Judged::parts);
    add_memory(app, options);
    add_choice(app, "--color", options.color, kWhens, "Use colours: auto, always or never (default: auto)");
}

void add_columns(CLI::App& app, Options& options) {
    app.add_option("-e,--column", options.columns,
                   "Print this column: a field (see qpscope fields), source, destination, protocol or line")
        ->type_name("FIELD")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_frames(CLI::App& app, Options& options) {
    app.add_option("-n,--frames", options.frames, "Show these frames: 7, 3-9, 3-")
        ->delimiter(',')
        ->type_name("N")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_flag("--no-bytes", options.no_bytes, "Omit the hex dump");
    app.add_flag("--messages", options.messages,
                 "Read the files twice and show the message of each packet, with all its frames");
}

void add_ticket_options(CLI::App& app, Options& options) {
    app.add_flag("--list", options.list_findings, "List every finding with its meaning; needs no capture")
        ->excludes(app.get_option("files"))
        ->excludes(app.get_option("--interface"));
    app.add_option("--explain", options.explained,
                   "Print what a finding means, what else looks like it and what to do; needs no capture")
        ->type_name("ID")
        ->excludes(app.get_option("files"))
        ->excludes(app.get_option("--interface"))
        ->excludes(app.get_option("--list"));
    app.add_flag("--markdown", options.markdown,
                 "Print each finding as a Markdown ticket with evidence and capture quality")
        ->excludes(app.get_option("--format"))
        ->excludes(app.get_option("--list"));
}

void add_picture_options(CLI::App& app, Options& options) {
    app.add_flag("--dot", options.dot, "Print nodes and links as a Graphviz graph")
        ->excludes(app.get_option("--format"));
    constexpr int kBothEnds = 2;
    app.add_option("--route", options.route, "Print the way from a LID to a LID by the forwarding tables")
        ->expected(kBothEnds)
        ->allow_extra_args(false)
        ->excludes(app.get_option("--dot"))
        ->option_text("LID LID")
        ->check(CLI::Range(1, 0xbfff).description({}));  // a LID of one port (4.1.3)
    add_fail_on(app, options);
}

void add_table_options(CLI::App& app, Options& options) {
    app.add_option("--sqlite", options.sqlite, "Write an SQLite database to FILE, replacing what is there")
        ->type_name("FILE")
        ->excludes(app.get_option("--format"));
    app.add_flag("--packets", options.export_packets, "Add a row for each packet");
    app.add_flag("--schema", options.schema, "Print the tables and columns with their meaning; needs no capture")
        ->excludes(app.get_option("files"))
        ->excludes(app.get_option("--interface"));
}

// Where the results go.
void add_outputs(CLI::App& app, const Takes& takes, Options& options) {
    if (takes.saved) {
        app.add_option("-o,--output", options.capture,
                       "Write the packets to FILE: pcapng, or nanosecond pcap if it ends in .pcap")
            ->type_name("FILE");
        return;
    }
    if (takes.tables) {
        app.add_option("-o,--output", options.output,
                       "With -f: write the files into FOLDER, which is made where there is none")
            ->type_name("FOLDER");
        return;
    }
    add_output(app, options);
    if (takes.written)
        app.add_option("-w,--write", options.capture,
                       "Write the packets to FILE: pcapng, or nanosecond pcap if it ends in .pcap")
            ->type_name("FILE")
            ->excludes(app.get_option("--output"))
            ->excludes(app.get_option("--column"))
            ->excludes(app.get_option("--format"));
}

}  // namespace

// What the commands that read captures take, from their row of the table.
void add_reading_options(CLI::App& app, const Command& command, Options& options) {
    const Takes& takes = command.takes;
    if (takes.followed) add_followed_connection(app, options);
    if (takes.captures) add_capture_options(app, options);
    if (takes.followed) add_followed_options(app, options);
    if (takes.analysis) add_analysis_options(app, takes, options);
    if (takes.parts) add_parts_options(app, options);
    const bool reconstructs = takes.analysis || takes.columns || takes.frames || takes.verdicts || takes.picture;
    if (takes.captures && reconstructs) {
        add_decode_as(app, options);
        add_clocks(app, options);
        add_icrc(app, options);
        add_memory(app, options);
    }
    if (takes.columns) add_columns(app, options);
    if (takes.frames) add_frames(app, options);
    if (takes.long_report)
        app.add_flag("-l,--long", options.long_report, "Print the full report for each of several captures");
    if (takes.long_report)
        app.add_flag("--hash", options.hash, "Compute the SHA-256 of the file also where it has more than 64 MiB");
    if (takes.pattern) app.add_option("pattern", options.pattern, "Match name or meaning against this text");
    if (takes.verdicts) add_check_options(app, options.check, Judged::capture);
    else if (!takes.saved && !takes.page && !takes.parts)
        add_format(app, options,
                   takes.tables ? "Write files of this format, one a table: json, ndjson, csv or tsv"
                                : "Print as table, json, ndjson, csv or tsv (default: table)");
    if (takes.page)
        app.add_option("--pdf", options.pdf, "Print the report to FILE as PDF (needs Chromium); with -o, write both")
            ->type_name("FILE");
    if (takes.tickets) add_ticket_options(app, options);
    if (takes.picture) add_picture_options(app, options);
    if (takes.tables) add_table_options(app, options);
    add_outputs(app, takes, options);
    if (takes.sandbox)
        app.add_flag("--no-sandbox", options.no_sandbox, "Keep all system calls: for debuggers and profilers");
}
}  // namespace qps::cli
