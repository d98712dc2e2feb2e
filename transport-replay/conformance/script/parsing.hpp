// The parser of scripts from inside: where it stands, which names it knows, which blocks are open. Of script/ alone.
#pragma once

#include <transport-replay/conformance/script/packet_words.hpp>
#include <transport-replay/conformance/script/parser.hpp>

#include <boost/unordered/unordered_flat_set.hpp>

namespace qps::transport::conformance::script {

using Parsed = std::expected<void, ScriptError>;

// A block whose `end` has not come.
struct OpenBlock {
    Statement statement;  // what it belongs to; the outermost: nothing
    Block body;           // of the branch that is read now
    bool second = false;  // behind `else`
};

class Parsing {
public:
    explicit Parsing(const ParseOptions& options);

    Parsed take_file(std::string_view name, std::string_view text);
    Parsed finish();
    [[nodiscard]] Script take_script() { return std::move(script_); }

    // Of the statements' functions: the line they are to read.
    [[nodiscard]] std::span<const Token> tokens() const { return tokens_; }

    [[nodiscard]] std::unexpected<ScriptError> fail(const Token& token, std::size_t offset, std::size_t length,
                                                    std::string message, std::string suggestion = {}) const;
    [[nodiscard]] std::unexpected<ScriptError> fail(const Token& token, std::string message,
                                                    std::string suggestion = {}) const;
    [[nodiscard]] std::unexpected<ScriptError> missing(std::string message) const;  // behind the last token
    [[nodiscard]] std::unexpected<ScriptError> wrong_word(const WordError& error) const;

    // An expression of part of a token, whose variables all have values.
    [[nodiscard]] std::expected<Expression, ScriptError> expression(const Token& token, std::size_t offset = 0,
                                                                    std::size_t length = std::string::npos) const;
    // Of all from one token to before another, blanks and all.
    [[nodiscard]] std::expected<Expression, ScriptError> expression_between(std::size_t first, std::size_t end) const;
    [[nodiscard]] std::expected<PacketLine, ScriptError> packet(std::size_t first, std::size_t end, Purpose purpose);
    [[nodiscard]] std::expected<Pattern, ScriptError> pattern(const Token& token, std::size_t offset,
                                                              const dissect::Field* field) const;
    // within T, after T, between A B at the end of the line: where it begins, and what it says.
    struct Tail {
        std::size_t begins;
        Window window;
    };
    [[nodiscard]] std::expected<Tail, ScriptError> window_at_end(std::size_t first) const;
    // key=value words; keys empty: any.
    [[nodiscard]] std::expected<Settings, ScriptError> settings(std::size_t first, std::size_t end,
                                                                std::span<const std::string_view> keys) const;

    Parsed define(const Token& token, std::string name);  // a variable
    Parsed define_qp(const Token& token, const std::string& name);
    void define_region(const std::string& name);
    void define_all_of(const std::string& prefix) { prefixes_.insert(prefix); }
    [[nodiscard]] Parsed known_qp(const Token& token, std::string_view name) const;
    [[nodiscard]] Parsed known_region(const Token& token, std::string_view name) const;
    [[nodiscard]] bool is_qp(std::string_view name) const { return queue_pairs_.contains(std::string(name)); }
    Parsed add(Body body);
    Parsed open(Body body);
    Parsed next_branch();
    Parsed close();
    Parsed include(const Token& token);
    [[nodiscard]] Script& script() { return script_; }

private:
    Parsed take_line(std::string_view line);
    [[nodiscard]] Parsed known_variables(const Token& token, std::size_t offset, const Expression& expression) const;
    [[nodiscard]] Parsed known_variables(const Token& token, const Pattern& pattern) const;
    [[nodiscard]] bool is_known(const std::string& name) const;
    [[nodiscard]] Statement statement(Body body);
    [[nodiscard]] std::optional<std::string> misplaced(const Block& branch) const;

    const ParseOptions& options_;
    Script script_;
    std::vector<OpenBlock> open_;
    std::size_t statements_ = 0;
    std::size_t include_depth_ = 0;
    boost::unordered_flat_set<std::string> variables_;
    boost::unordered_flat_set<std::string> prefixes_;
    boost::unordered_flat_set<std::string> queue_pairs_;
    boost::unordered_flat_set<std::string> regions_;
    // Of the line that is read:
    SourcePosition place_;
    std::string_view raw_;
    SourceLine line_;
    std::span<const Token> tokens_;  // without the time in front
    DelayKind delay_ = DelayKind::none;
    std::optional<Expression> delay_by_;
};

struct KeywordRow {
    std::string_view word;
    std::string_view meaning;
    Parsed (*take)(Parsing& at);
};
[[nodiscard]] std::span<const KeywordRow> keyword_rows();

// `dut ...` and `us ...`.
[[nodiscard]] Parsed take_agent_line(Parsing& at, Side side);

}  // namespace qps::transport::conformance::script
