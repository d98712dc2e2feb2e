#include <cli/input.hpp>
#include <cli/message.hpp>
#include <cli/options.hpp>
#include <cli/options/choice.hpp>
#include <cli/options/command_line.hpp>
#include <cli/options/fitted_help.hpp>
#include <cli/options/hints.hpp>
#include <cli/options/input_options.hpp>
#include <cli/options/refuse.hpp>
#include <cli/wrapped.hpp>
#include <dissect/base/parse_value.hpp>
#include <dissect/capture/saved_capture.hpp>
#include <transport-replay/model/large_blocks.hpp>
#include <transport-replay/model/memory_amount.hpp>
#include <transport-replay/model/renamed.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include <packaging/version/version.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace qps::cli {

namespace {

// Two sentences of CLI11 that do not say what is wrong with which word.
std::string in_our_words(const CLI::App& app, std::string_view sentence) {
    for (const std::string_view start :
         {"The following argument was not expected: ", "The following arguments were not expected: "})
        if (sentence.starts_with(start)) {
            const std::string_view word =
                sentence.substr(start.size(), sentence.find(' ', start.size()) - start.size());
            if (!word.starts_with('-')) return fmt::format("unexpected argument '{}'", word);
            return fmt::format("unknown option '{}'{}", word, option_hint(app, word));
        }
    constexpr std::string_view kRequired = " is required";
    if (sentence.ends_with(kRequired))
        return fmt::format("missing {}", sentence.substr(0, sentence.size() - kRequired.size()));
    return std::string(sentence);
}

std::string exit_code_text() {
    std::string text = "Exit codes:\n";
    for (const ExitCodeRow& row : kExitCodes)
        text += fmt::format("  {:<4}{}\n", static_cast<int>(row.code), row.meaning);
    return text;
}

// The headings under which --help shows options, by their long names; the first row that fits counts.
struct OptionGroup {
    std::string_view heading;
    std::string_view names;          // between spaces
    std::string_view commands = {};  // between spaces; empty: all
};
constexpr std::array kOptionGroups{
    OptionGroup{"Recorded connection", " --as --connection --connect --port --map-key --map-address --timeout ",
                " replay "},
    OptionGroup{"Packets", " --expect --within --count --from --frame ", " send "},
    OptionGroup{"Device under test",
                " --dut --agent --agent-secret --iwarp --nvme --nqn --host-nqn --port --timeout --recovery-time ",
                " conform "},
    OptionGroup{"Scripts", " --script --script-of --filter --set --list --coverage ", " conform "},
    OptionGroup{
        "Traffic",
        " --port --count --size --depth --clients --connections --ack-timeout --retry --rnr-retry --min-rnr-timer --no-verify --fast-registration --seconds --sizes "
        "--unsignaled --only ",
        " peer pingpong "},
    OptionGroup{"perftest and ibv_*_pingpong",
                " --tcp --service --qps --bidirectional --all-sizes --duration --gap --compare-swap "},
    OptionGroup{"Agent", " --secret --insecure "},
    OptionGroup{
        "Wire",
        " --interface --address --mac --gateway --via --vlan --priority --dscp --mtu --roce-v1 --rate-control --pause --link-speed ",
        " peer pingpong conform replay send "},
    OptionGroup{"Run", " --fault --trace --busy --for --seed "},
    OptionGroup{"Pace", " --speed --fast --loop "},
    OptionGroup{
        "Input",
        " --read --interface --capture-filter --count --by-time --in-order --offset --decode-as --icrc --nccl-log --out-of-order --part --host --checks --jobs --memory --link-speed --roce-port --uet-protocol --no-sandbox "},
    OptionGroup{
        "Filter",
        " --filter --since --until --connection --finding --around --everything --match --protocol --operation --failed --slower-than --from --message --frames --only --quick "},
    OptionGroup{"Verdicts", " --device --profile --compare --all ", " merge "},
    OptionGroup{"Verdicts", " --device --profile --evidence --compare --all --fail-on ", " check conform "},
    OptionGroup{
        "Output",
        " --as --format --output --write --column --color --interval --raw --decode --list --long --hash --sort --performance --by-host --no-bytes --messages --markdown "
        "--dot --route --pdf --sqlite --packets --schema --rewrite --key --key-file --keep-vendor --payload --map --shift-time --findings-only --hosts --fail-on --quiet --no-progress --help "},
};

bool is_listed(std::string_view list, std::string_view name) {
    return list.find(fmt::format(" {} ", name)) != std::string_view::npos;
}

// The name of an option as people type it: -o, --map.
std::string typed_name(const CLI::Option& option) {
    return option.get_snames().empty() ? "--" + option.get_lnames().front() : "-" + option.get_snames().front();
}

// Devices and pipes have nothing to lose.
bool may_be_lost(const std::string& path) {
    std::error_code error;
    return path != "-" && (!std::filesystem::exists(path, error) || std::filesystem::is_regular_file(path, error));
}

// No output takes the place of another one, nor of a file that an option names to be read: a key, a profile, a script.
// Captures of commands that only read are looked at where outputs are opened, for standard input is one of them.
void refuse_lost_files(const CLI::App& app, bool on_a_wire) {
    constexpr std::string_view kWritten = " --output --write --map --sqlite --pdf ";
    std::vector<std::string> read;
    std::vector<std::pair<std::string, std::string>> written;  // path, option
    for (const CLI::Option* option : app.get_options()) {
        const std::string name = option->get_lnames().empty() ? "" : "--" + option->get_lnames().front();
        const bool is_capture = option->get_positional() || name == "--read";
        if (is_listed(kWritten, name) && option->get_type_name() == "FILE")
            for (const std::string& path : option->results()) written.emplace_back(path, typed_name(*option));
        else if (is_capture ? on_a_wire : option->get_type_name() == "FILE" || option->get_type_name() == "CAPTURE")
            for (const std::string& path : option->results()) read.push_back(path);
    }
    std::ranges::sort(written, std::greater(),
                      [](const auto& each) { return std::string_view(each.second); });  // -o before --map
    for (const auto& [path, name] : written) {
        if (dissect::is_one_of(path, read))
            refuse(fmt::format("{} is also an input and would be overwritten: name another file with {}", path, name));
        for (const auto& [other_path, other_name] : written) {
            if (&other_name == &name) break;
            if (may_be_lost(path) && dissect::same_output(other_path, path))
                refuse(
                    fmt::format("{} and {} both name {}: name another file with one of them", other_name, name, path));
        }
    }
}

void group_options(CLI::App& app) {
    app.set_help_flag("-h,--help", "Print this help and exit");  // again, to come last
    for (CLI::Option* option : app.get_options()) {
        if (option->get_lnames().empty()) continue;
        const std::string name = "--" + option->get_lnames().front();
        const auto row = std::ranges::find_if(kOptionGroups, [&](const OptionGroup& group) {
            return is_listed(group.names, name) &&
                   (group.commands.empty() || is_listed(group.commands, app.get_name()));
        });
        if (row != kOptionGroups.end()) option->group(std::string(row->heading));
    }
}

// `named`: no other command than this one is meant: options of the others, a tenth of what a short run costs, are left
// out.
void add_command(CLI::App& app, const Program& program, const Command& command, std::string_view named,
                 Options& options, const Command*& chosen) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->group(std::string(command.group));
    sub->set_help_flag();
    if (!named.empty() && named != command.name) return;
    sub->footer(fmt::format("Examples:\n{}", command.examples));
    sub->callback([&chosen, &command] { chosen = &command; });
    program.add_options(*sub, command, options);
    sub->add_flag("-q,--quiet", options.quiet, "Suppress messages on stderr");
    group_options(*sub);
}

// The names of all commands, also of those that another program runs.
std::vector<std::string_view> names_of(const Program& program) {
    std::vector<std::string_view> names;
    for (const Command& command : program.commands) names.push_back(command.name);
    for (const CommandName& command : program.elsewhere) names.push_back(command.name);
    return names;
}

// Standard input is a file or what another program writes. (A device is none: /dev/null of a service, a terminal.)
bool has_standard_input() {
    struct stat status{};
    return fstat(STDIN_FILENO, &status) == 0 && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode));
}

// The hint before the sentence: the last line is what is wrong.
int refuse_use(std::string_view help, std::string_view sentence) {
    say("Try 'qpscope {}'.\nqpscope: {}\n", help, sentence);
    return static_cast<int>(ExitCode::usage);
}

// What is wrong with the first words; empty: nothing.
std::string misplaced(const std::vector<std::string>& words, std::span<const std::string_view> names) {
    std::error_code error;
    const auto is_command = [&](std::string_view word) { return std::ranges::find(names, word) != names.end(); };
    if (words.front().starts_with('-'))
        for (const std::string& word : words)
            if (const std::string_view here = tshark_hint(word); !here.empty())
                return fmt::format("unknown option '{}': {}", word, here);
    const auto later = std::ranges::find_if(
        words, [&](const std::string& word) { return is_command(word) && !std::filesystem::exists(word, error); });
    if (later != words.end()) return fmt::format("the command must come first: qpscope {} ...", *later);
    const std::string& first = words.front();
    if (first.starts_with('-') || std::filesystem::exists(first, error)) return {};
    const std::string_view meant = command_meant(first, names);
    if (!meant.empty()) return fmt::format("no such command or file '{}': did you mean {}?", first, meant);
    if (first.find_first_of("./") == std::string::npos) return fmt::format("no such command or file '{}'", first);
    return {};
}

// `qpscope FILE` is short for the default command, and so is `qpscope < FILE`. What looks like a command in the wrong
// place or with a slip is said so, rather than taken for a file. A sentence where the line cannot be meant.
std::expected<std::vector<std::string>, std::string> arguments(const Program& program, int argc, char** argv) {
    const std::vector<std::string_view> names = names_of(program);
    std::vector<std::string> words(argv + 1, argv + argc);
    if (!words.empty() && words.front() == "help") words.front() = "--help";
    const auto first =
        std::ranges::find_if(words, [](const std::string& word) { return word == "-" || !word.starts_with('-'); });
    const bool asks = std::ranges::any_of(words, [](const std::string& word) {
        return word == "-h" || word == "--help" || word == "--version" || word == "-V";
    });
    if (asks || (first == words.begin() && first != words.end() && std::ranges::find(names, *first) != names.end()))
        return words;
    if (!words.empty())
        if (std::string wrong = misplaced(words, names); !wrong.empty()) return std::unexpected(std::move(wrong));
    if (!program.default_command.empty() && (first != words.end() || has_standard_input()))
        words.insert(words.begin(), std::string(program.default_command));
    return words;
}

// `show 10 FILE`: a number that is no file is that of a frame.
void take_frames(Options& options) {
    const auto is_frames = [](const std::string& word) {
        std::error_code error;
        return dissect::parse_decimal(word.substr(0, word.find_first_of("-,"))) &&
               word.find_first_not_of("0123456789-,") == std::string::npos && !std::filesystem::exists(word, error);
    };
    const auto word = std::ranges::find_if(options.files, is_frames);
    if (!options.frames.empty() || word == options.files.end()) return;
    for (std::size_t at = 0; at <= word->size();) {
        const std::size_t end = std::min(word->find(',', at), word->size());
        options.frames.push_back(word->substr(at, end - at));
        at = end + 1;
    }
    options.files.erase(word);
}

// Options by the names of today: --old TIME and --old=TIME of an earlier release are accepted, and said so unless `-q`
// is among them. Behind
// `--` there are no options.
void rename_options(std::string_view command, std::vector<std::string>& words) {
    const auto end = std::ranges::find(words, "--");
    const bool quiet =
        std::any_of(words.begin(), end, [](const std::string& word) { return word == "-q" || word == "--quiet"; });
    for (auto word = words.begin(); word != end; ++word) {
        const std::size_t length = std::min(word->find('='), word->size());
        const transport::Renamed* old = transport::renamed_option(command, std::string_view(*word).substr(0, length));
        if (old == nullptr) continue;
        word->replace(0, length, old->new_name);
        if (!quiet) say("qpscope: {}\n", sentence(*old));
    }
}

// CLI11's help without what it says beyond option, type and meaning: which options exclude each other, how a flag is
// stored, empty lines in pairs.
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
            if (line.size() + 2 <= kMeaning && at < help.size() &&
                help.compare(at, kMeaning, std::string(kMeaning, ' ')) == 0) {
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

std::string shell_word(std::string_view word) {
    constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,@%+-";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
    std::string out = "'";
    for (const char each : word) out += each == '\'' ? "'\\''" : std::string(1, each);
    return out + "'";
}

int run(const Program& program, int argc, char** argv) {
    Options options;
    options.wire = program.wire;
    if (argc > 0) options.command_line.assign(argv + 1, argv + argc);
    const Command* chosen = nullptr;
    CLI::App app{"qpscope: RDMA packet analyser and live protocol peer", "qpscope"};
    app.formatter_fn([](const CLI::App* command, std::string name, CLI::AppFormatMode mode) {
        const std::string help = tidied(CLI::Formatter().make_help(command, std::move(name), mode));
        const auto columns = terminal_width();
        return columns ? fitted_help(help, *columns) : help;
    });
    app.set_version_flag("-V,--version", fmt::format("qpscope {}", version_text()));
    const std::string short_form =
        program.default_command.empty()
            ? ""
            : fmt::format("qpscope FILE is short for qpscope {} FILE. ", program.default_command);
    app.footer(
        fmt::format("{}See qpscope COMMAND --help for options and examples.\n\n{}", short_form, exit_code_text()));
    app.require_subcommand(0, 1);  // that there is one is said in our own words
    auto line = arguments(program, argc, argv);
    if (!line) return refuse_use("--help", line.error());
    std::vector<std::string>& words = *line;
    const bool known =
        !words.empty() && std::ranges::find(program.commands, words.front(), &Command::name) != program.commands.end();
    const std::string named = known ? words.front() : "";
    rename_options(named, words);
    for (const Command& command : program.commands) add_command(app, program, command, named, options, chosen);
    for (const CommandName& command : program.elsewhere)
        app.add_subcommand(std::string(command.name), std::string(command.summary))->group(std::string(command.group));
    const std::string help = named.empty() ? "--help" : named + " --help";
    std::ranges::reverse(words);  // CLI11 takes them from the back
    try {
        app.parse(words);
        if (chosen != nullptr) refuse_lost_files(*app.get_subcommands().front(), program.wire != nullptr);
        if (chosen != nullptr && program.check != nullptr)
            program.check(*app.get_subcommands().front(), *chosen, options);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        const CLI::App* command = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
        return refuse_use(help, in_our_words(*command, error.what()));
    }
    if (chosen == nullptr) return refuse_use(help, "missing capture file or command");
    const bool reads = chosen->takes.captures && !options.list_findings && options.explained.empty() && !options.schema;
    if (chosen->takes.frames) take_frames(options);
    if (reads && options.files.empty() && options.interface.empty() && has_standard_input())
        options.files.emplace_back("-");
    if (reads && options.files.empty() == options.interface.empty())
        return refuse_use(help,
                          options.files.empty()
                              ? "missing input: name a capture file, - for standard input, or an interface with -i"
                              : "conflicting input: capture files and --interface exclude each other");
    if (const std::string wrong = wrong_clocks(options); !wrong.empty()) return refuse_use(help, wrong);
    if (options.output.empty())
        if (const auto columns = terminal_width()) set_line_width(*columns);
    options.sandbox = chosen->takes.sandbox;
    use_protocol_numbers(options);
    catch_interrupts();
    return static_cast<int>(chosen->run(options));
}

}  // namespace

void add_memory(CLI::App& app, Options& options) {
    add_quantity(app, "--memory", "SIZE", options.memory,
                 "Keep at most this much in memory: 2GiB, 512MiB, ... (default: a quarter of the machine's)",
                 transport::read_memory);
}

void add_format(CLI::App& app, Options& options, const std::string& meaning) {
    add_choice(app, "-f,--format", options.format, kOutputFormats, meaning);
}

void add_output(CLI::App& app, Options& options) {
    app.add_option("-o,--output", options.output, "Write to FILE instead of stdout")->type_name("FILE");
}

std::string command_text(std::span<const std::string> words) {
    std::string line = "qpscope";
    for (const std::string& word : words) line += ' ' + shell_word(word);
    return line;
}

int run_program(const Program& program, int argc, char** argv) {
    transport::return_large_blocks();
    try {
        return run(program, argc, argv);
    } catch (const std::bad_alloc&) {
        std::fputs("qpscope: out of memory\n", stderr);
    } catch (const std::exception& error) {
        say("qpscope: internal error: {}\n", error.what());
    }
    constexpr int kInternalError = 70;
    return kInternalError;
}

}  // namespace qps::cli
