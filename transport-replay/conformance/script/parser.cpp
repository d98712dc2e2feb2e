#include <transport-replay/conformance/script/parsing.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance::script {

namespace {

constexpr std::array kGiven{
    GivenName{"dut.gid", "the device's GID: 16 bytes"},
    GivenName{"us.gid", "ours"},
    GivenName{"dut.ip", "the device's IPv4 address as a number; 0 with IPv6"},
    GivenName{"us.ip", "ours"},
    GivenName{"gsi.comm", "our communication ID of the last message we sent"},
    GivenName{"gsi.tid", "its transaction ID"},
    GivenName{"gsi.qpn", "the queue pair number of a REQ that names none"},
    GivenName{"gsi.psn", "the starting PSN of a REQ that names none"},
    GivenName{"patience", "how long a line waits that says nothing else"},
    GivenName{"port", "where the device listens, of the option --port; 0 where it was not said"},
    GivenName{"seed", "of all that is drawn"},
};
constexpr std::array kOfQp{
    GivenName{"qpn", "our queue pair number"},
    GivenName{"psn", "our first PSN"},
    GivenName{"dut", "the device's queue pair number"},
    GivenName{"dut_psn", "the device's first PSN"},
    GivenName{"mtu", "bytes of a full packet"},
    GivenName{"id", "of the queue pair at its agent"},
    GivenName{"srqn", "of XRC: the shared receive queue's number"},
    GivenName{"srq", "and at its agent"},
    GivenName{"xrcd", "of XRC: the domain at its agent"},
};
constexpr std::array kOfRegion{
    GivenName{"va", "its first address"},
    GivenName{"rkey", "its key for peers"},
    GivenName{"lkey", "its key for the device itself"},
    GivenName{"len", "its length"},
    GivenName{"id", "its name at the agent"},
    GivenName{"pd", "its protection domain at the agent"},
};
constexpr std::string_view kManagement = "gsi";  // the queue pair that every script has

std::string_view with_end(std::string_view text, std::size_t from) { return text.substr(std::min(from, text.size())); }

}  // namespace

std::span<const GivenName> given_names() { return kGiven; }

std::vector<Keyword> keywords() {
    std::vector<Keyword> all;
    for (const KeywordRow& row : keyword_rows()) all.push_back({row.word, row.meaning});
    return all;
}

Parsing::Parsing(const ParseOptions& options) : options_(options), open_(1) {
    for (const GivenName& row : kGiven) variables_.insert(std::string(row.name));
    for (const std::string& name : options.defined) variables_.insert(name);
    queue_pairs_.insert(std::string(kManagement));
}

std::unexpected<ScriptError> Parsing::fail(const Token& token, std::size_t offset, std::size_t length,
                                           std::string message, std::string suggestion) const {
    const std::size_t column = token.offset + (token.quoted ? 1 : 0) + offset + 1;
    return std::unexpected(ScriptError{.file = script_.files.empty() ? std::string{} : script_.files[place_.file].name,
                                       .line = place_.line,
                                       .column = static_cast<std::uint32_t>(column),
                                       .length = static_cast<std::uint32_t>(length),
                                       .message = std::move(message),
                                       .suggestion = std::move(suggestion),
                                       .source_line = std::string(raw_)});
}
std::unexpected<ScriptError> Parsing::fail(const Token& token, std::string message, std::string suggestion) const {
    return fail(token, 0, token.text.size(), std::move(message), std::move(suggestion));
}
std::unexpected<ScriptError> Parsing::missing(std::string message) const {
    const Token behind{.text = {}, .offset = line_.offset + line_.text.size(), .length = 0, .quoted = false};
    return fail(behind, std::move(message));
}
std::unexpected<ScriptError> Parsing::wrong_word(const WordError& error) const {
    if (error.token.length == 0) return missing(error.message);
    return fail(error.token, error.offset, error.length, error.message, error.suggestion);
}

bool Parsing::is_known(const std::string& name) const {
    return variables_.contains(name) || prefixes_.contains(name.substr(0, name.find('.')));
}

Parsed Parsing::known_variables(const Token& token, std::size_t offset, const Expression& expression) const {
    for (const Term& term : expression.terms) {
        if (term.operation != Operation::variable || is_known(term.name)) continue;
        const std::size_t in = expression.text.find("$" + term.name);
        std::string meant = nearest(term.name, variables_);
        return fail(token, offset + (in == std::string::npos ? 0 : in), term.name.size() + 1,
                    fmt::format("undefined variable ${}", term.name), meant.empty() ? meant : "$" + meant);
    }
    return {};
}

Parsed Parsing::known_variables(const Token& token, const Pattern& pattern) const {
    for (const Choice& choice : pattern.choices) {
        for (const std::optional<Expression>* expression : {&choice.first, &choice.last})
            if (*expression)
                if (auto known = known_variables(
                        token, std::min(token.text.find((*expression)->text), token.text.size()), **expression);
                    !known)
                    return known;
        if (!choice.bytes_of.empty() && !is_known(choice.bytes_of)) {
            std::string meant = nearest(choice.bytes_of, variables_);
            return fail(token, fmt::format("undefined variable ${}", choice.bytes_of),
                        meant.empty() ? meant : "$" + meant);
        }
    }
    return {};
}

std::expected<Expression, ScriptError> Parsing::expression(const Token& token, std::size_t offset,
                                                           std::size_t length) const {
    const std::string_view text = with_end(token.text, offset).substr(0, length);
    auto parsed = parse_expression(text);
    if (!parsed)
        return fail(token, offset + parsed.error().offset, parsed.error().length, parsed.error().message,
                    parsed.error().suggestion);
    if (auto known = known_variables(token, offset, *parsed); !known) return std::unexpected(known.error());
    return std::move(*parsed);
}

std::expected<Expression, ScriptError> Parsing::expression_between(std::size_t first, std::size_t end) const {
    if (first >= end || first >= tokens_.size()) return missing("missing expression");
    const std::size_t from = tokens_[first].offset;
    const std::size_t to = tokens_[end - 1].offset + tokens_[end - 1].length;
    return expression(
        {.text = std::string(raw_.substr(from, to - from)), .offset = from, .length = to - from, .quoted = false});
}

std::expected<PacketLine, ScriptError> Parsing::packet(std::size_t first, std::size_t end, Purpose purpose) {
    const auto words =
        tokens_.subspan(std::min(first, tokens_.size()), end > first ? std::min(end, tokens_.size()) - first : 0);
    auto packet = parse_packet(words, purpose);
    if (!packet) return wrong_word(packet.error());
    for (const PacketWord& word : packet->words) {
        const auto token = std::ranges::find(words, word.text, &Token::text);
        if (token != words.end())
            if (auto known = known_variables(*token, word.pattern); !known) return std::unexpected(known.error());
    }
    for (const Binding& binding : packet->bindings)
        if (auto defined = define(words.front(), binding.variable); !defined) return std::unexpected(defined.error());
    return std::move(*packet);
}

std::expected<Pattern, ScriptError> Parsing::pattern(const Token& token, std::size_t offset,
                                                     const dissect::Field* field) const {
    auto parsed = parse_pattern(token, offset, field);
    if (!parsed) return wrong_word(parsed.error());
    if (auto known = known_variables(token, *parsed); !known) return std::unexpected(known.error());
    return std::move(*parsed);
}

std::expected<Parsing::Tail, ScriptError> Parsing::window_at_end(std::size_t first) const {
    Tail tail{.begins = tokens_.size(), .window = {}};
    const auto time_at = [&](std::size_t at) -> std::expected<Expression, ScriptError> {
        if (at >= tokens_.size()) return missing("missing time, such as 50ms");
        return expression(tokens_[at]);
    };
    for (std::size_t at = first; at < tokens_.size(); ++at) {
        const std::string& word = tokens_[at].text;
        if (tokens_[at].quoted || (word != "within" && word != "after" && word != "between")) continue;
        tail.begins = std::min(tail.begins, at);
        auto time = time_at(at + 1);
        if (!time) return std::unexpected(time.error());
        (word == "within" ? tail.window.latest : tail.window.earliest) = std::move(*time);
        at += word == "between" ? 2U : 1U;
        if (word == "between") {
            time = time_at(at);
            if (!time) return std::unexpected(time.error());
            tail.window.latest = std::move(*time);
        }
        if (at + 1 < tokens_.size() && tokens_[at + 1].text != "within" && tokens_[at + 1].text != "after")
            return fail(tokens_[at + 1], "expected a time");
    }
    return tail;
}

std::expected<Settings, ScriptError> Parsing::settings(std::size_t first, std::size_t end,
                                                       std::span<const std::string_view> keys) const {
    Settings all;
    for (std::size_t at = first; at < std::min(end, tokens_.size()); ++at) {
        const Token& token = tokens_[at];
        const std::size_t equals = std::min(token.text.find('='), token.text.size());
        Setting setting{.key = token.text.substr(0, equals), .choices = {}};
        if (!keys.empty() && std::ranges::find(keys, setting.key) == keys.end())
            return fail(token, 0, equals, fmt::format("unknown setting '{}'", setting.key), nearest(setting.key, keys));
        for (std::size_t from = equals + 1; equals < token.text.size() && from <= token.text.size();) {
            std::size_t to = std::min(token.text.find('|', from), token.text.size());
            if (token.text.substr(to).starts_with("||")) to = token.text.size();  // of an expression
            SettingChoice choice{.text = token.text.substr(from, to - from)};
            // A number, or with variables or parentheses in it; anything else is a word.
            const bool computed = choice.text.find_first_of("$(") != std::string::npos;
            const bool plain = setting.key != "private" && !choice.text.empty() && choice.text.front() >= '0' &&
                               choice.text.front() <= '9' && parse_expression(choice.text);
            if (computed || plain) {
                auto value = expression(token, from, to - from);
                if (!value) return std::unexpected(value.error());
                choice.value = std::move(*value);
            }
            if (choice.text.empty()) return fail(token, from, 0, fmt::format("missing value of '{}'", setting.key));
            setting.choices.push_back(std::move(choice));
            from = to + 1;
        }
        if (equals + 1 == token.text.size()) return fail(token, fmt::format("missing value of '{}'", setting.key));
        all.push_back(std::move(setting));
    }
    return all;
}

Parsed Parsing::define(const Token& token, std::string name) {
    if (!is_name(name)) return fail(token, fmt::format("invalid name '{}': expected letters, digits, _", name));
    if (variables_.size() >= kMaxNames) return fail(token, fmt::format("more than {} variables", kMaxNames));
    variables_.insert(std::move(name));
    return {};
}

Parsed Parsing::define_qp(const Token& token, const std::string& name) {
    if (!is_name(name) || name.find('.') != std::string::npos || name == kManagement || name == "dut" || name == "us")
        return fail(
            token,
            fmt::format("invalid name of a queue pair '{}': expected letters, digits, _; not gsi, dut, us", name));
    for (const GivenName& row : kOfQp)
        if (auto defined = define(token, fmt::format("{}.{}", name, row.name)); !defined) return defined;
    queue_pairs_.insert(name);
    define_region(name + ".recv");
    define_region(name + ".send");
    return {};
}

void Parsing::define_region(const std::string& name) {
    for (const GivenName& row : kOfRegion)
        if (variables_.size() < kMaxNames) variables_.insert(fmt::format("{}.{}", name, row.name));
    regions_.insert(name);
}

Parsed Parsing::known_qp(const Token& token, std::string_view name) const {
    if (queue_pairs_.contains(std::string(name))) return {};
    return fail(token, fmt::format("no such queue pair '{}'", name), nearest(name, queue_pairs_));
}

Parsed Parsing::known_region(const Token& token, std::string_view name) const {
    if (regions_.contains(std::string(name))) return {};
    return fail(token, fmt::format("no such region '{}'", name), nearest(name, regions_));
}

Statement Parsing::statement(Body body) {
    return {place_, std::string(line_.text), delay_, std::move(delay_by_), std::move(body)};
}

Parsed Parsing::add(Body body) {
    if (++statements_ > kMaxStatements)
        return fail(line_.tokens.front(), fmt::format("more than {} lines", kMaxStatements));
    open_.back().body.push_back(statement(std::move(body)));
    return {};
}

Parsed Parsing::open(Body body) {
    if (open_.size() > kMaxNesting)
        return fail(tokens_.front(), fmt::format("more than {} nested blocks", kMaxNesting));
    open_.push_back({.statement = statement(std::move(body)), .body = {}});
    return {};
}

// A branch of an `either` has to begin with what decides whether it is taken.
std::optional<std::string> Parsing::misplaced(const Block& branch) const {
    if (!branch.empty() && branch.front().delay == DelayKind::none &&
        (std::holds_alternative<Expect>(branch.front().body) || std::holds_alternative<Nothing>(branch.front().body)))
        return std::nullopt;
    return "a branch of \"either\" must start with an expected packet: < ...";
}

Parsed Parsing::next_branch() {
    OpenBlock& block = open_.back();
    const Token& token = tokens_.front();
    if (auto* either = open_.size() > 1 && token.text == "or" ? std::get_if<Either>(&block.statement.body) : nullptr) {
        if (const auto why = misplaced(block.body)) return fail(token, *why);
        if (either->branches.size() + 1 >= kMaxAlternatives)
            return fail(token, fmt::format("more than {} branches", kMaxAlternatives));
        either->branches.push_back(std::move(block.body));
    } else if (auto* condition = open_.size() > 1 && token.text == "else" && !block.second
                                     ? std::get_if<If>(&block.statement.body)
                                     : nullptr) {
        condition->then = std::move(block.body);
        block.second = true;
    } else {
        return fail(
            token, token.text == "or" ? "\"or\" outside of \"either\"" : "\"else\" outside of \"if\", or a second one");
    }
    block.body = {};
    return {};
}

Parsed Parsing::close() {
    const Token& token = tokens_.front();
    if (open_.size() == 1) return fail(token, "\"end\" without a block");
    OpenBlock block = std::move(open_.back());
    open_.pop_back();
    if (auto* either = std::get_if<Either>(&block.statement.body)) {
        if (const auto why = misplaced(block.body)) return fail(token, *why);
        either->branches.push_back(std::move(block.body));
    } else if (auto* repeat = std::get_if<Repeat>(&block.statement.body)) {
        repeat->body = std::move(block.body);
    } else if (auto* each = std::get_if<ForEach>(&block.statement.body)) {
        each->body = std::move(block.body);
    } else if (auto* given = std::get_if<GivenThat>(&block.statement.body)) {
        given->body = std::move(block.body);
    } else if (auto* condition = std::get_if<If>(&block.statement.body)) {
        (block.second ? condition->otherwise : condition->then) = std::move(block.body);
    }
    ++statements_;
    open_.back().body.push_back(std::move(block.statement));
    return {};
}

Parsed Parsing::include(const Token& token) {
    if (!options_.read) return fail(token, "include is not possible here");
    if (script_.files.size() >= kMaxIncludes) return fail(token, fmt::format("more than {} files", kMaxIncludes));
    if (include_depth_ >= kMaxIncludeDepth)
        return fail(token, fmt::format("more than {} nested includes", kMaxIncludeDepth));
    const auto text = options_.read(token.text);
    if (!text) return fail(token, text.error());
    const SourcePosition place = place_;
    const std::string name = token.text;
    const std::size_t open = open_.size();
    ++include_depth_;
    if (auto taken = take_file(name, *text); !taken) return taken;
    --include_depth_;
    place_ = place;
    if (open_.size() != open) {
        const Token behind{.text = {}, .offset = 0, .length = 0, .quoted = false};
        return fail(behind, fmt::format("unclosed block in {}", name));
    }
    return {};
}

Parsed Parsing::take_line(std::string_view line) {
    raw_ = line;
    auto split = split_line(line);
    if (!split) {
        const Token at{.text = {}, .offset = split.error().offset, .length = 0, .quoted = false};
        return fail(at, 0, split.error().length, split.error().message);
    }
    line_ = std::move(*split);
    tokens_ = line_.tokens;
    delay_ = DelayKind::none;
    delay_by_.reset();
    if (tokens_.empty()) return {};
    if (const Token& token = tokens_.front(); !token.quoted && token.text.starts_with('@')) {
        const bool relative = token.text.starts_with("@+");
        auto time = expression(token, relative ? 2 : 1);
        if (!time) return std::unexpected(time.error());
        delay_ = relative ? DelayKind::after_line : DelayKind::after_start;
        delay_by_ = std::move(*time);
        tokens_ = tokens_.subspan(1);
        if (tokens_.empty()) return missing("missing line after the time: @+10ms > a ...");
        if (tokens_.front().text != ">")
            return fail(tokens_.front(), "a time in front applies to sent packets only; see `wait`, `within`, `after`");
    }
    const auto rows = keyword_rows();
    const auto row = std::ranges::find(rows, tokens_.front().text, &KeywordRow::word);
    if (row != rows.end() && !tokens_.front().quoted) return row->take(*this);
    std::vector<std::string_view> names;
    for (const KeywordRow& each : rows) names.push_back(each.word);
    return fail(tokens_.front(), fmt::format("unknown keyword '{}'", tokens_.front().text),
                nearest(tokens_.front().text, names));
}

Parsed Parsing::take_file(std::string_view name, std::string_view text) {
    const auto file = static_cast<std::uint32_t>(script_.files.size());
    script_.files.push_back({std::string(name), {}});
    if (text.size() > kMaxScriptBytes)
        return std::unexpected(
            ScriptError{.file = std::string(name), .message = fmt::format("longer than {} bytes", kMaxScriptBytes)});
    script_.files.back().text = text;
    // Errors and names borrow from a copy that stays: files may move as more are included.
    const std::string kept(text);
    std::uint32_t number = 0;
    for (std::size_t at = 0; at < kept.size();) {
        const std::size_t end = std::min(kept.find('\n', at), kept.size());
        place_ = {file, ++number};
        if (auto taken = take_line(std::string_view(kept).substr(at, end - at)); !taken) return taken;
        at = end + 1;
    }
    raw_ = {};
    tokens_ = {};
    line_ = {};
    return {};
}

Parsed Parsing::finish() {
    if (open_.size() > 1) {
        const Statement& statement = open_.back().statement;
        return std::unexpected(ScriptError{.file = script_.files[statement.place.file].name,
                                           .line = statement.place.line,
                                           .column = 1,
                                           .length = static_cast<std::uint32_t>(statement.text.size()),
                                           .message = "missing \"end\" of this block",
                                           .source_line = statement.text});
    }
    script_.body = std::move(open_.front().body);
    return {};
}

std::expected<Script, ScriptError> parse_script(std::string_view name, std::string_view text,
                                                const ParseOptions& options) {
    Parsing parsing(options);
    if (auto taken = parsing.take_file(name, text); !taken) return std::unexpected(taken.error());
    if (auto finished = parsing.finish(); !finished) return std::unexpected(finished.error());
    return parsing.take_script();
}

}  // namespace qps::transport::conformance::script
