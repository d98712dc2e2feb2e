// The grammar of filters from left to right, as far as it takes to know what may come next.
#include <dissect/filter/completion.hpp>
#include <dissect/filter/field_index.hpp>
#include <dissect/filter/lexer.hpp>
#include <dissect/filter/literal.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include <fmt/format.h>

namespace qps::dissect {

namespace {

using namespace filter_language;

enum class Next : std::uint8_t {
    operand,    // a test begins
    relation,   // after the name of a field
    negated,    // after "not" behind a field
    value,      // after ==
    brace,      // after in
    member,     // between braces
    pattern,    // after contains, matches
    mask,       // after &
    ordinal,    // after #
    connector,  // after a whole test
};

struct Expected {
    Next next = Next::operand;
    const NameEntry* entry = nullptr;  // of the test that is being typed
};

bool is_relation(TokenKind kind) { return kind >= TokenKind::any_equal && kind <= TokenKind::greater_equal; }
bool is_connector(TokenKind kind) {
    return kind == TokenKind::logical_and || kind == TokenKind::logical_or || kind == TokenKind::logical_xor;
}
bool is_value(TokenKind kind) { return kind == TokenKind::word || kind == TokenKind::quoted; }

// What a connector, or the end of a group, leads to; both may follow a field (then its presence is asked) or a whole
// test.
std::optional<Next> after_test(TokenKind kind) {
    if (is_connector(kind)) return Next::operand;
    if (kind == TokenKind::close) return Next::connector;
    return std::nullopt;
}

std::optional<Next> after_field(TokenKind kind) {
    if (is_relation(kind)) return Next::value;
    switch (kind) {
        case TokenKind::in: return Next::brace;
        case TokenKind::contains:
        case TokenKind::matches: return Next::pattern;
        case TokenKind::hash: return Next::ordinal;
        case TokenKind::bit_and: return Next::mask;
        case TokenKind::slice: return Next::relation;
        case TokenKind::logical_not: return Next::negated;
        default: return after_test(kind);
    }
}

// Where a token leads, or nothing where it does not belong there.
std::optional<Next> after(Next next, TokenKind kind) {
    switch (next) {
        case Next::operand:
            if (kind == TokenKind::open || kind == TokenKind::logical_not) return Next::operand;
            return kind == TokenKind::word ? std::optional(Next::relation) : std::nullopt;
        case Next::relation: return after_field(kind);
        case Next::negated: return kind == TokenKind::in ? std::optional(Next::brace) : std::nullopt;
        case Next::value:
        case Next::pattern: return is_value(kind) ? std::optional(Next::connector) : std::nullopt;
        case Next::brace: return kind == TokenKind::open_set ? std::optional(Next::member) : std::nullopt;
        case Next::member:
            if (kind == TokenKind::close_set) return Next::connector;
            return is_value(kind) || kind == TokenKind::comma || kind == TokenKind::dots ? std::optional(Next::member)
                                                                                         : std::nullopt;
        case Next::mask:
        case Next::ordinal: return is_value(kind) ? std::optional(Next::relation) : std::nullopt;
        case Next::connector:
            if (kind == TokenKind::slice) return Next::connector;  // of a field on the right
            return after_test(kind);
    }
    return std::nullopt;
}

// What comes behind a whole number of tokens.
std::optional<Expected> expected_after(std::string_view before) {
    const auto tokens = tokenize(before);
    if (!tokens) return std::nullopt;
    Expected expected;
    for (const Token& token : *tokens) {
        if (token.kind == TokenKind::end) break;
        const std::string_view word = before.substr(token.offset, token.length);
        if (expected.next == Next::operand && (word == "any" || word == "all")) continue;
        if (expected.next == Next::operand && token.kind == TokenKind::word) {
            expected.entry = find_name(word);
            if (expected.entry == nullptr) return std::nullopt;
        }
        const auto next = after(expected.next, token.kind);
        if (!next) return std::nullopt;
        expected.next = *next;
    }
    return expected;
}

// How well a candidate fits what was typed, 0 the best: it begins so, a part of it does, it has it inside.
std::optional<int> fit(std::string_view candidate, std::string_view typed) {
    const std::string name = folded_name(candidate);
    const std::string part = folded_name(typed);
    const std::size_t at = name.find(part);
    if (at == std::string::npos) return std::nullopt;
    if (at == 0) return 0;
    for (std::size_t i = at; i != std::string::npos; i = name.find(part, i + 1))
        if (name[i - 1] == '.' || name[i - 1] == '_') return 1;
    return 2;
}

// Gathers what fits, then the best of it: by fit, then by rank, then in the order of the tables.
class Gathering {
public:
    explicit Gathering(std::string_view typed) : typed_(typed) {}

    void offer(std::string_view name, std::string text, std::string meaning, std::ptrdiff_t rank = 0) {
        const auto how = fit(name, typed_);
        if (!how || name == typed_ || text == typed_) return;
        if (std::ranges::any_of(found_, [&](const Found& f) { return f.completion.text == text; })) return;
        found_.push_back({*how, rank, found_.size(), {std::move(text), std::move(meaning)}});
    }
    [[nodiscard]] std::string_view typed() const { return typed_; }
    [[nodiscard]] std::vector<Completion> best() {
        std::ranges::sort(found_, {}, [](const Found& f) { return std::tuple(f.fit, f.rank, f.order); });
        std::vector<Completion> list;
        for (Found& found : found_)
            if (list.size() < kMaxCompletions) list.push_back(std::move(found.completion));
        return list;
    }

private:
    struct Found {
        int fit;
        std::ptrdiff_t rank;
        std::size_t order;
        Completion completion;
    };
    std::string_view typed_;
    std::vector<Found> found_;
};

std::string meaning_of(const NameEntry& entry) {
    if (entry.alias) {
        std::string names;
        for (const FieldPlace& place : entry.fields)
            if (!names.contains(place.field->name))
                names += fmt::format("{}{}", names.empty() ? "" : " or ", place.field->name);
        return names;
    }
    if (!entry.fields.empty()) return std::string(entry.fields.front().field->meaning);
    return entry.group ? fmt::format("Any header of {}", entry.name) : std::string(header(entry.layers.front()).title);
}

// The shallow before the deep, and before the headers of a depth those that stand for many.
std::ptrdiff_t rank_of(const NameEntry& entry) {
    return 2 * std::ranges::count(entry.name, '.') + (entry.group ? 0 : 1);
}

void offer_names(Gathering& found) {
    for (const NameEntry& entry : all_names())
        if (is_meant(entry, found.typed()))
            found.offer(entry.name, std::string(entry.name), meaning_of(entry), rank_of(entry));
}

void offer_values(Gathering& found, const NameEntry& entry) {
    for (const FieldPlace& place : entry.fields) {
        for (const ValueName& row : place.field->names)
            found.offer(row.name, typed_name(row.name), std::to_string(row.value));
        if (place.field->format != Format::flag) continue;
        found.offer("true", "true", "1");
        found.offer("false", "false", "0");
    }
}

enum class Suits : std::uint8_t { everything, fields, searchable };

struct Operator {
    std::string_view text;
    std::string_view meaning;
    Suits suits;
};

constexpr std::array kOperators{
    Operator{"==", "equal", Suits::fields},
    Operator{"!=", "not equal, for all values", Suits::fields},
    Operator{"in", "one of: in {1, 3, 5..8}", Suits::fields},
    Operator{"<", "less", Suits::fields},
    Operator{">", "greater", Suits::fields},
    Operator{"<=", "less or equal", Suits::fields},
    Operator{">=", "greater or equal", Suits::fields},
    Operator{"contains", "contains the text, the bytes or part of the name", Suits::searchable},
    Operator{"matches", "matches the regular expression", Suits::searchable},
};
constexpr std::array kConnectors{
    Operator{"and", "both", Suits::everything},
    Operator{"&&", "both", Suits::everything},
    Operator{"or", "one of both, or both", Suits::everything},
    Operator{"||", "one of both, or both", Suits::everything},
    Operator{"xor", "one of both", Suits::everything},
};

// Texts, bytes (of headers too) and values with names are searched.
bool searchable(const NameEntry& entry) {
    if (entry.fields.empty()) return true;
    return std::ranges::any_of(entry.fields,
                               [](const FieldPlace& p) { return !is_number(p.field) || !p.field->names.empty(); });
}

void offer_operators(Gathering& found, const NameEntry& entry) {
    for (const Operator& row : kOperators)
        if (row.suits == Suits::fields ? !entry.fields.empty() : searchable(entry))
            found.offer(row.text, std::string(row.text), std::string(row.meaning));
}

void offer_connectors(Gathering& found) {
    for (const Operator& row : kConnectors) found.offer(row.text, std::string(row.text), std::string(row.meaning));
}

// What is being typed: where it begins, and what of it is compared with the candidates.
struct Typed {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string_view text;
    bool quoted = false;
};

// The opening quote that is not closed before the cursor.
std::optional<std::size_t> open_quote(std::string_view before) {
    std::optional<std::size_t> open;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (open && before[i] == '\\') ++i;
        else if (open && before[i] == before[*open]) open.reset();
        else if (!open && (before[i] == '"' || before[i] == '\'')) open = i;
    }
    return open;
}

Typed typed_at(std::string_view filter, std::size_t cursor) {
    const std::string_view before = filter.substr(0, cursor);
    if (const auto quote = open_quote(before)) {
        const std::size_t close = filter.find(filter[*quote], cursor);
        return {*quote, close == std::string_view::npos ? cursor : close + 1, before.substr(*quote + 1), true};
    }
    Typed typed{cursor, cursor, {}};
    while (typed.begin > 0 && is_word(filter[typed.begin - 1])) --typed.begin;
    while (typed.end < filter.size() && is_word(filter[typed.end])) ++typed.end;
    // "1..GOOD": what is typed is behind the dots.
    if (const std::size_t dots = before.substr(typed.begin).rfind(".."); dots != std::string_view::npos)
        typed.begin += dots + 2;
    typed.text = before.substr(typed.begin);
    return typed;
}

// An operator of signs that is being typed: "=" or "&" behind what takes one.
std::optional<Typed> signs_at(std::string_view filter, std::size_t cursor) {
    constexpr std::string_view kSigns = "=!<>&|";
    Typed typed{cursor, cursor, {}};
    while (typed.begin > 0 && kSigns.contains(filter[typed.begin - 1])) --typed.begin;
    typed.text = filter.substr(typed.begin, cursor - typed.begin);
    return typed.text.empty() ? std::nullopt : std::optional(typed);
}

void offer_next(Gathering& found, const Expected& expected, bool quoted) {
    const bool values = expected.next == Next::value || expected.next == Next::member;
    if (values && expected.entry != nullptr) offer_values(found, *expected.entry);
    if (quoted) return;
    if (expected.next == Next::operand) offer_names(found);
    if (expected.next == Next::relation && expected.entry != nullptr) offer_operators(found, *expected.entry);
    if (expected.next == Next::relation || expected.next == Next::connector) offer_connectors(found);
    if (expected.next == Next::negated) found.offer("in", "in", "none of: not in {1, 3, 5..8}");
    if (expected.next == Next::brace) found.offer("{", "{", "the first of the values");
}

}  // namespace

Completions completions(std::string_view filter, std::size_t cursor) {
    cursor = std::min(cursor, filter.size());
    Typed typed = typed_at(filter, cursor);
    std::optional<Expected> expected = expected_after(filter.substr(0, typed.begin));
    if (const auto signs = typed.text.empty() && !typed.quoted ? signs_at(filter, cursor) : std::nullopt) {
        const auto before = expected_after(filter.substr(0, signs->begin));
        if (before && (before->next == Next::relation || before->next == Next::connector)) {
            typed = *signs;
            expected = before;
        }
    }
    if (!expected) return {cursor, 0, {}};
    Gathering found(typed.text);
    offer_next(found, *expected, typed.quoted);
    return {typed.begin, typed.end - typed.begin, found.best()};
}

}  // namespace qps::dissect
