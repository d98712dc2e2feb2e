// Recursive descent over the tokens; what nests is bounded by kMaxNesting, everything else loops.
//
// The filter is untrusted text. The first error ends the parse and is the one reported.
#include <dissect/base/parse_value.hpp>
#include <dissect/filter/field_index.hpp>
#include <dissect/filter/lexer.hpp>
#include <dissect/filter/parser.hpp>
#include <dissect/filter/test_compiler.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace qps::dissect::filter_language {

namespace {

// How an operator of the language compares: the comparison, for which values, and which way round.
struct Relation {
    TokenKind token;
    Comparison comparison;
    bool all;
    bool invert;
};

// For several values: == any equal, != none equal, === all equal, !== any not equal, the others any.
constexpr std::array kRelations{
    Relation{TokenKind::any_equal, Comparison::equal, false, false},
    Relation{TokenKind::all_not_equal, Comparison::equal, true, true},
    Relation{TokenKind::all_equal, Comparison::equal, true, false},
    Relation{TokenKind::any_not_equal, Comparison::equal, false, true},
    Relation{TokenKind::less, Comparison::less, false, false},
    Relation{TokenKind::less_equal, Comparison::less_equal, false, false},
    Relation{TokenKind::greater, Comparison::greater, false, false},
    Relation{TokenKind::greater_equal, Comparison::greater_equal, false, false},
};

const Relation* find_relation(TokenKind kind) {
    for (const Relation& relation : kRelations)
        if (relation.token == kind) return &relation;
    return nullptr;
}

// Functions of other filter languages, and what is here in their place.
struct OtherFunction {
    std::string_view name;
    std::string_view here;
};
constexpr std::array kOtherFunctions{
    OtherFunction{"len", "lengths are fields: frame.len, ip.len, udp.length, rdma.payload_bytes"},
    OtherFunction{"count", "name#2 is in the second layer of its kind"},
    OtherFunction{"lower", "matches \"(?i)text\" takes either case"},
    OtherFunction{"upper", "matches \"(?i)text\" takes either case"},
};

std::string no_function(std::string_view name) {
    const auto* const row = std::ranges::find(kOtherFunctions, name, &OtherFunction::name);
    if (row == kOtherFunctions.end()) return "filters have no functions";
    return fmt::format("filters have no functions: {}", row->here);
}

class Parser {
public:
    Parser(std::string_view filter, std::vector<Token> tokens, const SetReader& sets)
        : filter_(filter), tokens_(std::move(tokens)), sets_(sets) {}

    std::expected<Program, FilterError> run() {
        if (token().kind == TokenKind::end) return std::move(program_);
        if (parse_or() && token().kind != TokenKind::end) fail_unexpected();
        if (error_) return std::unexpected(std::move(*error_));
        return std::move(program_);
    }

private:
    // --- tokens and errors

    [[nodiscard]] const Token& token(std::size_t ahead = 0) const {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }
    [[nodiscard]] std::string_view raw(const Token& t) const { return filter_.substr(t.offset, t.length); }
    bool accept(TokenKind kind) {
        if (token().kind != kind) return false;
        ++at_;
        return true;
    }

    bool fail(const Token& where, std::string message, std::string suggestion = {}) {
        if (!error_) error_ = FilterError{where.offset + 1, where.length, std::move(message), std::move(suggestion)};
        return false;
    }
    bool fail(const Token& where, Misfit misfit) {
        return fail(where, std::move(misfit.message), std::move(misfit.suggestion));
    }

    bool fail_unexpected() {
        const Token& wrong = token();
        if (wrong.kind == TokenKind::end) return fail(wrong, "incomplete filter");
        if (find_relation(wrong.kind) != nullptr)
            return fail(wrong, "unexpected second comparison: join comparisons with \"and\"");
        if (wrong.kind == TokenKind::close) return fail(wrong, "unmatched closing parenthesis");
        if (wrong.kind == TokenKind::open && at_ > 0 && tokens_[at_ - 1].kind == TokenKind::word)
            return fail(wrong, "filters have no functions");
        if (wrong.kind == TokenKind::word || wrong.kind == TokenKind::quoted)
            return fail(wrong, fmt::format("unexpected {}: join tests with \"and\" or \"or\"", in_quotes(raw(wrong))));
        return fail(wrong, fmt::format("unexpected {}", in_quotes(raw(wrong))));
    }

    // --- steps

    std::uint32_t emit(Step step, std::size_t operand = 0) {
        program_.steps.push_back({step, static_cast<std::uint32_t>(operand)});
        return static_cast<std::uint32_t>(program_.steps.size() - 1);
    }
    void land(std::span<const std::uint32_t> jumps) {
        for (const std::uint32_t jump : jumps)
            program_.steps[jump].operand = static_cast<std::uint32_t>(program_.steps.size());
    }

    // --- logic

    bool parse_or() {
        std::vector<std::uint32_t> jumps;
        if (!parse_xor()) return false;
        while (accept(TokenKind::logical_or)) {
            jumps.push_back(emit(Step::jump_if_true));
            if (!parse_xor()) return false;
        }
        land(jumps);
        return true;
    }

    bool parse_xor() {
        if (!parse_and()) return false;
        while (accept(TokenKind::logical_xor)) {
            emit(Step::push);
            if (!parse_and()) return false;
            emit(Step::exclusive_or);
        }
        return true;
    }

    bool parse_and() {
        std::vector<std::uint32_t> jumps;
        if (!parse_not()) return false;
        while (accept(TokenKind::logical_and)) {
            jumps.push_back(emit(Step::jump_if_false));
            if (!parse_not()) return false;
        }
        land(jumps);
        return true;
    }

    bool parse_not() {
        bool negate = false;
        while (accept(TokenKind::logical_not)) negate = !negate;
        const Token& opening = token();
        if (accept(TokenKind::open)) {
            if (++nesting_ > kMaxNesting)
                return fail(opening, fmt::format("more than {} nested parentheses", kMaxNesting));
            if (!parse_or()) return false;
            if (token().kind == TokenKind::end) return fail(opening, "unclosed parenthesis");
            if (!accept(TokenKind::close)) return fail_unexpected();
            --nesting_;
        } else if (at_set() ? !parse_named_set() : !parse_test()) {
            return false;
        }
        if (negate) emit(Step::negate);
        return true;
    }

    // --- tests

    [[nodiscard]] bool at_set() const {
        if (std::ranges::find(sets_.names, raw(token())) == sets_.names.end()) return false;
        const TokenKind next = token(1).kind;
        return find_name(raw(token())) == nullptr || next == TokenKind::any_equal || next == TokenKind::all_not_equal;
    }

    bool parse_named_set() {
        Token blamed = token();
        ++at_;
        NamedSet& set = program_.sets.emplace_back(std::string(raw(blamed)));
        const bool negate = token().kind == TokenKind::all_not_equal;
        if (accept(TokenKind::any_equal) || accept(TokenKind::all_not_equal)) {
            const auto value = parse_value();
            if (!value) return false;
            set.value = value->text;
            blamed = last_value_;
        }
        const auto frames = sets_.frames(set);
        if (!frames) return fail(blamed, frames.error());
        TestCompiler compiler(program_);
        if (auto ok = compiler.operand(*find_name("frame.number"), false); !ok) return fail(blamed, ok.error());
        compiler.relate(Comparison::equal, false, false);
        compiler.among(*frames);
        if (auto test = compiler.finish(); !test) return fail(blamed, test.error());
        emit(Step::test, program_.tests.size() - 1);
        if (negate) emit(Step::negate);
        return true;
    }

    bool parse_test() {
        std::optional<bool> all;
        if (token().kind == TokenKind::word && token(1).kind == TokenKind::word &&
            (raw(token()) == "any" || raw(token()) == "all")) {
            all = raw(token()) == "all";
            ++at_;
        }
        TestCompiler compiler(program_);
        Token name = token();
        if (!parse_operand(compiler, false)) return false;
        if (!parse_relation(compiler, all)) return false;
        if (auto test = compiler.finish(); !test) return fail(name, std::move(test.error()));
        emit(Step::test, program_.tests.size() - 1);
        if (std::exchange(negate_test_, false)) emit(Step::negate);
        return true;
    }

    bool parse_relation(TestCompiler& compiler, std::optional<bool> all) {
        const Token op = token();
        if (const Relation* const relation = find_relation(op.kind)) {
            ++at_;
            compiler.relate(relation->comparison, all.value_or(relation->all), relation->invert);
            return parse_right_side(compiler);
        }
        const bool not_in = op.kind == TokenKind::logical_not && token(1).kind == TokenKind::in;
        if (not_in) ++at_;
        if (accept(TokenKind::in)) {
            // "a not in {..}" is "not (a in {..})": true where there is no such field, as with "not" before it
            if (!parse_set(compiler, all.value_or(false))) return false;
            negate_test_ = not_in;
            return true;
        }
        if (accept(TokenKind::contains)) return parse_search(compiler, all.value_or(false), &TestCompiler::contains);
        if (accept(TokenKind::matches)) return parse_search(compiler, all.value_or(false), &TestCompiler::matches);
        if (all) return fail(op, "\"any\" and \"all\" apply to comparisons only");
        return true;
    }

    bool parse_operand(TestCompiler& compiler, bool right) {
        const Token word = token();
        if (word.kind == TokenKind::end) return fail(word, "missing test");
        if (word.kind == TokenKind::quoted) return fail(word, "a test must start with a field name");
        if (word.kind != TokenKind::word)
            return fail(word, fmt::format("expected a test, found {}", in_quotes(raw(word))));
        const NameEntry* const entry = find_name(raw(word));
        if (entry == nullptr) return fail_name(word);
        ++at_;
        if (auto ok = compiler.operand(*entry, right); !ok) return fail(word, std::move(ok.error()));
        if (accept(TokenKind::hash)) {
            const auto nth = parse_decimal(raw(token()), std::numeric_limits<std::uint8_t>::max());
            if (!nth || *nth == 0) return fail(token(), "\"#\" takes a layer number, from 1");
            ++at_;
            compiler.nth(static_cast<std::uint8_t>(*nth));
        }
        if (token().kind == TokenKind::slice) {
            const auto slice = parse_slice(token().text);
            if (!slice)
                return fail(token(),
                            "invalid slice: expected [first:length], [first-last], [first], [:length] or [first:]");
            if (auto ok = compiler.slice(*slice); !ok) return fail(token(), std::move(ok.error()));
            ++at_;
        }
        if (!right && accept(TokenKind::bit_and)) {
            const auto mask = parse_value();
            if (!mask) return false;
            if (!mask->quoted && find_name(mask->text) != nullptr)
                return fail(last_value_, "\"&\" takes a mask: join tests with \"&&\"");
            if (auto ok = compiler.mask(*mask); !ok) return fail(last_value_, std::move(ok.error()));
        }
        return true;
    }

    bool fail_name(const Token& word) {
        const std::string_view name = raw(word);
        if (token(1).kind == TokenKind::open) return fail(word, no_function(name));
        if (name[0] >= '0' && name[0] <= '9')
            return fail(word, fmt::format("a test must start with a field name: {} is a value", in_quotes(name)));
        return fail(word, fmt::format("unknown field {}", in_quotes(name)), nearest_name(name));
    }

    bool parse_right_side(TestCompiler& compiler) {
        const NameEntry* const entry = token().kind == TokenKind::word ? find_name(raw(token())) : nullptr;
        if (entry != nullptr && !entry->fields.empty()) {
            const Token name = token();
            if (!parse_operand(compiler, true)) return false;
            auto ok = compiler.compare_fields();
            return ok ? true : fail(name, std::move(ok.error()));
        }
        const auto value = parse_value();
        if (!value) return false;
        auto ok = compiler.compare(*value);
        return ok ? true : fail(last_value_, std::move(ok.error()));
    }

    bool parse_set(TestCompiler& compiler, bool all) {
        const Token opening = token();
        if (!accept(TokenKind::open_set)) return fail(opening, "\"in\" takes values in braces: {1, 3, 5..8}");
        compiler.relate(Comparison::equal, all, false);
        bool after_comma = true;
        while (after_comma || token().kind != TokenKind::close_set) {
            if (token().kind == TokenKind::end) return fail(opening, "unclosed brace");
            const auto low = parse_value();
            if (!low) return false;
            const Token low_token = last_value_;
            if (accept(TokenKind::dots)) {
                const auto high = parse_value();
                if (!high) return false;
                if (auto ok = compiler.add(*low, *high); !ok)
                    return fail(ok.error().of_high ? last_value_ : low_token, ok.error().misfit);
            } else if (auto ok = compiler.add(*low); !ok) {
                return fail(low_token, std::move(ok.error()));
            }
            after_comma = accept(TokenKind::comma);
        }
        ++at_;
        return true;
    }

    bool parse_search(TestCompiler& compiler, bool all, Meant<void> (TestCompiler::*search)(const Literal&)) {
        compiler.relate(Comparison::equal, all, false);
        const auto value = parse_value();
        if (!value) return false;
        auto ok = (compiler.*search)(*value);
        return ok ? true : fail(last_value_, std::move(ok.error()));
    }

    // A word or a quoted text. The literal borrows from the filter and from its token.
    std::optional<Literal> parse_value() {
        const Token& value = token();
        if (value.kind == TokenKind::word || value.kind == TokenKind::quoted) {
            ++at_;
            last_value_ = {value.kind, value.offset, value.length};
            const bool quoted = value.kind == TokenKind::quoted;
            return Literal{quoted ? std::string_view(value.text) : raw(value), quoted};
        }
        if (value.kind == TokenKind::end) {
            fail(value, "missing value");
        } else {
            fail(value, fmt::format("expected a value, found {}", in_quotes(raw(value))));
        }
        return std::nullopt;
    }

    std::string_view filter_;
    std::vector<Token> tokens_;
    const SetReader& sets_;
    std::size_t at_ = 0;
    std::size_t nesting_ = 0;
    bool negate_test_ = false;  // "not in"
    Token last_value_{};
    Program program_;
    std::optional<FilterError> error_;
};

}  // namespace

std::expected<Program, FilterError> parse(std::string_view filter, const SetReader& sets) {
    auto tokens = tokenize(filter);
    if (!tokens) return std::unexpected(std::move(tokens.error()));
    return Parser(filter, std::move(*tokens), sets).run();
}

}  // namespace qps::dissect::filter_language
