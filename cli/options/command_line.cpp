// The one source that reads CLI11: makes its application of the commands and their tables of options, and says in our
// words what is wrong with a line.
#include <CLI/CLI.hpp>
#include <cli/input.hpp>
#include <cli/message.hpp>
#include <cli/options/command_line.hpp>
#include <cli/options/fitted_help.hpp>
#include <cli/options/hints.hpp>
#include <cli/options/input_options.hpp>
#include <cli/options/option_table.hpp>
#include <cli/options/refuse.hpp>
#include <cli/wrapped.hpp>
#include <transport-replay/model/large_blocks.hpp>
#include <transport-replay/model/renamed.hpp>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <functional>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <packaging/version/version.hpp>

namespace qps::cli {

namespace {

// "--format", ...
std::vector<std::string> long_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

// Two sentences of CLI11 that do not say what is wrong with which word.
std::string in_our_words(const CLI::App& app, std::string_view sentence) {
    for (const std::string_view start :
         {"The following argument was not expected: ", "The following arguments were not expected: "})
        if (sentence.starts_with(start)) {
            const std::string_view word =
                sentence.substr(start.size(), sentence.find(' ', start.size()) - start.size());
            if (!word.starts_with('-')) return fmt::format("unexpected argument '{}'", word);
            return fmt::format("unknown option '{}'{}", word, option_hint(word, long_names(app)));
        }
    constexpr std::string_view kRequired = " is required";
    if (sentence.ends_with(kRequired))
        return fmt::format("missing {}", sentence.substr(0, sentence.size() - kRequired.size()));
    const std::size_t colon = sentence.find(": ");
    if (colon == std::string_view::npos) return std::string(sentence);
    // Of an option: how often it was given, or what it lacks.
    const std::string_view option = sentence.substr(0, colon), rest = sentence.substr(colon + 2);
    if (rest.starts_with("At Most 1 required but received "))
        return fmt::format("option '{}' is given {} times: expected once", option, rest.substr(rest.rfind(' ') + 1));
    if (rest.ends_with(" missing")) return fmt::format("missing value of '{}'", option);
    return std::string(sentence);
}

std::string exit_code_text() {
    std::string text = "Exit codes:\n";
    for (const ExitCodeRow& row : kExitCodes)
        text += fmt::format("  {:<4}{}\n", static_cast<int>(row.code), row.meaning);
    return text;
}

// A command of the line, with its options.
struct Prepared {
    explicit Prepared(const Command& row, std::vector<std::string> words) : command(row), table(std::move(words)) {}
    const Command& command;
    OptionTable table;
    std::function<ExitCode()> run;
};

// What CLI11 makes of a row.
CLI::Option* add_row(CLI::App& app, OptionRow& row) {
    const auto store = [&](auto& target) -> CLI::Option* {
        using Target = std::remove_reference_t<decltype(target)>;
        if constexpr (std::is_same_v<Target, bool*>) return app.add_flag(row.names, *target, row.meaning);
        else if constexpr (std::is_same_v<Target, TakeWord>)
            return app.add_option_function<std::string>(row.names, target, row.meaning);
        else if constexpr (std::is_same_v<Target, TakeWords>)
            return app.add_option_function<std::vector<std::string>>(row.names, target, row.meaning);
        else return app.add_option(row.names, *target, row.meaning);
    };
    CLI::Option* option = std::visit(store, row.target);
    if (!row.by_place() && !row.heading.empty()) option->group(std::string(row.heading));
    if (std::holds_alternative<bool*>(row.target)) return option;
    if (row.words != 0) option->expected(row.words)->allow_extra_args(false)->option_text(row.type);
    else option->type_name(row.type);
    if (row.check) option->transform(CLI::Validator(row.check, ""));
    if (row.splits) option->delimiter(',');
    if (row.required) option->required();
    if (row.given != OptionRow::Given::once)
        option->allow_extra_args(false)->multi_option_policy(
            row.given == OptionRow::Given::each ? CLI::MultiOptionPolicy::TakeAll : CLI::MultiOptionPolicy::TakeLast);
    return option;
}

// Words between spaces, one after the other; empty at the end.
std::string_view next_word(std::string_view& words) {
    words.remove_prefix(std::min(words.find_first_not_of(' '), words.size()));
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(word.size());
    return word;
}

void add_rows(CLI::App& app, OptionTable& table) {
    std::vector<CLI::Option*> options;
    for (OptionRow& row : table.rows()) options.push_back(add_row(app, row));
    for (std::size_t i = 0; i < options.size(); ++i) {
        std::string_view bars = table.rows()[i].bars;
        for (std::string_view name = next_word(bars); !name.empty(); name = next_word(bars))
            options[i]->excludes(app.get_option(std::string(name)));
    }
}

void keep_typed(const CLI::App& app, OptionTable& table) {
    for (OptionRow& row : table.rows()) {
        const std::string name(row.long_name());
        row.typed = app.get_option(row.by_place() ? name : "--" + name)->results();
    }
}

// Options cost more than a short run: those of commands that are not meant are left out.
enum class WithOptions : std::uint8_t { no, yes };
void add_command(CLI::App& app, Prepared& prepared, WithOptions options, bool& quiet, Prepared*& chosen) {
    const Command& command = prepared.command;
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->group(std::string(command.group));
    sub->set_help_flag();
    if (options == WithOptions::no) return;
    sub->callback([&chosen, &prepared] { chosen = &prepared; });
    prepared.run = command.prepare(prepared.table);
    const std::string& preface = prepared.table.preface();
    sub->footer(fmt::format("{}{}Examples:\n{}", preface, preface.empty() ? "" : "\n", command.examples));
    prepared.table.under(headings::kOutput).flag("-q,--quiet", quiet, "Suppress messages on stderr");
    add_rows(*sub, prepared.table);
    sub->set_help_flag("-h,--help", "Print this help and exit")->group(std::string(headings::kOutput));
}

// The names of all commands, also of those that another program runs.
std::vector<std::string_view> names_of(const Program& program) {
    std::vector<std::string_view> names;
    for (const Command* command : program.commands) names.push_back(command->name);
    for (const CommandName& command : program.elsewhere) names.push_back(command.name);
    return names;
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
    const std::vector<std::string> typed(argv + std::min(argc, 1), argv + argc);
    std::deque<Prepared> prepared;  // stay where they are
    Prepared* chosen = nullptr;
    bool quiet = false;
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
    const bool known = !words.empty() && std::ranges::any_of(program.commands, [&](const Command* command) {
        return command->name == words.front();
    });
    const std::string named = known ? words.front() : "";
    rename_options(named, words);
    // One word that is no command asks for the help or the version.
    const auto is_meant = [&](const Command& command) { return known ? named == command.name : words.size() > 1; };
    for (const Command* command : program.commands)
        add_command(app, prepared.emplace_back(*command, typed),
                    is_meant(*command) ? WithOptions::yes : WithOptions::no, quiet, chosen);
    for (const CommandName& command : program.elsewhere)
        app.add_subcommand(std::string(command.name), std::string(command.summary))->group(std::string(command.group));
    const std::string help = named.empty() ? "--help" : named + " --help";
    std::ranges::reverse(words);  // CLI11 takes them from the back
    try {
        app.parse(words);
        if (chosen != nullptr) keep_typed(*app.get_subcommands().front(), chosen->table);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        const CLI::App* command = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
        return refuse_use(help, in_our_words(*command, error.what()));
    } catch (const Refusal& refusal) {
        return refuse_use(help, refusal.sentence);
    }
    if (chosen == nullptr) return refuse_use(help, "missing capture file or command");
    if (const std::string wrong = lost_file(chosen->table, program.on_a_wire); !wrong.empty())
        return refuse_use(help, wrong);
    for (const auto& check : chosen->table.checks())
        if (const std::string wrong = check(); !wrong.empty()) return refuse_use(help, wrong);
    set_quiet(quiet);
    catch_interrupts();
    return static_cast<int>(chosen->run());
}

}  // namespace

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
