// The options of a command as a table: what each is called, what --help says of it, where its value goes. A block of
// options writes its rows into it; command_line.cpp alone makes CLI11 of them, which costs a source that reads it five
// seconds.
//
// Rows point into the blocks, which stay where they are as long as the table.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace qps::transport {
enum class ConnectionId : std::uint32_t;
}

namespace qps::cli {

// The headings of options in --help, in no order: that is the one in which a table first has them.
namespace headings {
inline constexpr std::string_view kInput = "Input";
inline constexpr std::string_view kFilter = "Filter";
inline constexpr std::string_view kVerdicts = "Verdicts";
inline constexpr std::string_view kOutput = "Output";
}  // namespace headings

// What becomes of the words of an option: they are read into a value, or handed to a function that refuse()s what they
// cannot be. TakeWords has all of them at once.
using TakeWord = std::function<void(const std::string& word)>;
using TakeWords = std::function<void(const std::vector<std::string>& words)>;
using OptionTarget =
    std::variant<bool*, std::string*, std::uint64_t*, double*, std::optional<std::uint32_t>*,
                 std::optional<std::uint64_t>*, std::optional<transport::ConnectionId>*, std::vector<std::string>*,
                 std::vector<std::uint16_t>*, std::vector<transport::ConnectionId>*, TakeWord, TakeWords>;

// What the program does with the file that an option names. No output may take the place of another one, or of a file
// that is read; the sandbox has rights for what is left to be done in it.
enum class PathUse : std::uint8_t {
    none,
    capture,         // an input
    read,            // a key, a profile, a script
    held,            // read too, but in the sandbox: it is opened before
    written,         // takes its name at the end
    folder_written,  // its files do
    folder_filled,   // its files are made as results come
};

struct OptionRow {
    std::string names;  // "-f,--format"; "files", without a dash, by its place; "!--no-verify" turns something off
    std::string type;   // of its value, in --help; of a flag, empty
    std::string meaning;
    OptionTarget target;
    std::string_view heading;
    std::function<std::string(std::string& word)> check;  // what is wrong; it may put the word into its usual form
    enum class Given : std::uint8_t { once, each, last } given = Given::once;
    bool splits = false;  // words between commas
    bool required = false;
    int words = 0;          // that it takes; 0: as many as its target holds
    std::string_view bars;  // names of rows, between spaces, that exclude it
    PathUse path = PathUse::none;
    std::vector<std::string> typed;  // once the command line was read

    // How a row goes on where it is written.
    OptionRow& checked(std::function<std::string(std::string&)> wrong) { return check = std::move(wrong), *this; }
    OptionRow& each() { return given = Given::each, *this; }  // every time that it is given one more
    OptionRow& each_of_list() { return splits = true, each(); }
    OptionRow& last() { return given = Given::last, *this; }  // the last time counts
    OptionRow& exactly(int number) { return words = number, *this; }
    OptionRow& needed() { return required = true, *this; }
    OptionRow& not_with(std::string_view names_of_rows) { return bars = names_of_rows, *this; }
    OptionRow& is(PathUse use) { return path = use, *this; }

    [[nodiscard]] bool by_place() const { return !names.starts_with('-') && !names.starts_with('!'); }
    // The name of an option as people type it: -o, --map.
    [[nodiscard]] std::string typed_name() const;
    // Without its dashes: "output".
    [[nodiscard]] std::string_view long_name() const;
};

class OptionTable {
public:
    // `command_line`: the words behind the name of the program, as they were typed.
    explicit OptionTable(std::vector<std::string> command_line) : command_line_(std::move(command_line)) {}
    OptionTable(const OptionTable&) = delete;  // rows and checks have the addresses of others
    OptionTable& operator=(const OptionTable&) = delete;

    // Rows from now on stand under it.
    OptionTable& under(std::string_view heading) { return heading_ = heading, *this; }
    // `target`: a value, or a function that takes the word, or all words.
    template <class Target> OptionRow& add(std::string names, std::string type, Target&& target, std::string meaning) {
        return put(std::move(names), std::move(type), made(std::forward<Target>(target)), std::move(meaning));
    }
    OptionRow& flag(std::string names, bool& target, std::string meaning) {
        return put(std::move(names), {}, &target, std::move(meaning));
    }
    // Asked in their order when all options are read: what is wrong with them together, or empty.
    void check(std::function<std::string()> wrong) { checks_.push_back(std::move(wrong)); }
    // Stands above the examples.
    void preface(std::string text) { preface_ = std::move(text); }

    [[nodiscard]] std::deque<OptionRow>& rows() { return rows_; }
    [[nodiscard]] const std::deque<OptionRow>& rows() const { return rows_; }
    [[nodiscard]] const std::vector<std::function<std::string()>>& checks() const { return checks_; }
    [[nodiscard]] const std::string& preface() const { return preface_; }
    [[nodiscard]] const std::vector<std::string>& command_line() const { return command_line_; }

private:
    template <class Target> static OptionTarget made(Target&& target) {
        using Value = std::remove_cvref_t<Target>;
        if constexpr (std::is_invocable_v<Value, const std::string&>) return TakeWord(std::forward<Target>(target));
        else if constexpr (std::is_invocable_v<Value, const std::vector<std::string>&>)
            return TakeWords(std::forward<Target>(target));
        else return &target;
    }
    OptionRow& put(std::string names, std::string type, OptionTarget target, std::string meaning);

    std::vector<std::string> command_line_;
    std::string_view heading_;
    std::deque<OptionRow> rows_;  // stay where they are
    std::vector<std::function<std::string()>> checks_;
    std::string preface_;
};

// No output takes the place of another one, nor of a file that an option names to be read: a sentence, or empty.
// Captures of commands that only read are looked at where outputs are opened, for standard input is one of them.
[[nodiscard]] std::string lost_file(const OptionTable& table, bool on_a_wire);

}  // namespace qps::cli
