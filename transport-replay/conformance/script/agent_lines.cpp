// Lines that ask an agent: `dut` the device's, `us` our own adapter's.
#include <transport-replay/conformance/agent/protocol.hpp>
#include <transport-replay/conformance/script/parsing.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport::conformance::script {

namespace {

constexpr std::array<std::string_view, 5> kRegionKeys{"len", "access", "fill", "pd", "at"};
constexpr std::array<std::string_view, 3> kReceiveKeys{"count", "len", "at"};
constexpr std::array<std::string_view, 20> kPostKeys{
    "len",   "fill",       "at",    "va",        "rkey",   "imm", "inv", "add",  "compare", "swap",
    "count", "unsignaled", "fence", "solicited", "inline", "to",  "qpn", "qkey", "mr",      "srqn"};
constexpr std::array<std::string_view, 6> kCompletionKeys{"op", "status", "len", "imm", "wr", "count"};
constexpr std::array<std::string_view, 11> kOperations{"send",      "send_imm", "send_inv",    "write",
                                                       "write_imm", "read",     "fetch_add",   "cmp_swap",
                                                       "local_inv", "flush",    "atomic_write"};
constexpr std::array<std::string_view, 7> kStates{"reset", "init", "rtr", "rts", "sqd", "sqe", "err"};

std::expected<Token, ScriptError> token_at(const Parsing& at, std::size_t place, std::string_view what) {
    if (place >= at.tokens().size()) return at.missing(fmt::format("missing {}", what));
    return at.tokens()[place];
}

template <std::size_t N>
Parsed one_of(const Parsing& at, const Token& token, const std::array<std::string_view, N>& names,
              std::string_view what) {
    if (std::ranges::find(names, token.text) != names.end()) return {};
    return at.fail(token, fmt::format("invalid {} '{}'", what, token.text), nearest(token.text, names));
}

// a..b, a.., a: of a region, of a count.
std::expected<std::optional<Choice>, ScriptError> range_at(const Parsing& at, std::size_t place) {
    if (place >= at.tokens().size()) return std::nullopt;
    auto pattern = at.pattern(at.tokens()[place], 0, nullptr);
    if (!pattern) return std::unexpected(pattern.error());
    if (pattern->any || pattern->negated || pattern->choices.size() != 1)
        return at.fail(at.tokens()[place], "expected one range, such as 0..64");
    return std::move(pattern->choices.front());
}

Parsed take_region(Parsing& at, AgentLine line) {
    const auto name = token_at(at, 2, "the region's name");
    if (!name) return std::unexpected(name.error());
    if (!is_name(name->text) || name->text.find('.') != std::string::npos)
        return at.fail(*name, fmt::format("invalid name '{}': expected letters, digits, _", name->text));
    line.object = name->text;
    auto settings = at.settings(3, at.tokens().size(), kRegionKeys);
    if (!settings) return std::unexpected(settings.error());
    line.settings = std::move(*settings);
    at.define_region(line.object);
    return at.add(std::move(line));
}

// dut fill m 0..100 with 9
Parsed take_fill(Parsing& at, AgentLine line) {
    const auto name = token_at(at, 2, "the region's name");
    if (!name) return std::unexpected(name.error());
    if (auto known = at.known_region(*name, name->text); !known) return known;
    line.object = name->text;
    std::size_t next = 3;
    if (next < at.tokens().size() && at.tokens()[next].text != "with") {
        auto range = range_at(at, next++);
        if (!range) return std::unexpected(range.error());
        line.range = std::move(*range);
    }
    if (next + 2 != at.tokens().size() || at.tokens()[next].text != "with")
        return at.missing("expected: fill NAME 0..100 with 9");
    auto seed = at.expression(at.tokens()[next + 1]);
    if (!seed) return std::unexpected(seed.error());
    line.number = std::move(*seed);
    return at.add(std::move(line));
}

// dut memory m 0..64 is fill 7 | is data 00ff | is unchanged
Parsed take_memory(Parsing& at, AgentLine line) {
    const auto name = token_at(at, 2, "the region's name");
    if (!name) return std::unexpected(name.error());
    if (auto known = at.known_region(*name, name->text); !known) return known;
    line.object = name->text;
    std::size_t next = 3;
    if (next < at.tokens().size() && at.tokens()[next].text != "is") {
        auto range = range_at(at, next++);
        if (!range) return std::unexpected(range.error());
        line.range = std::move(*range);
    }
    const auto content = token_at(at, next + 1, "content: is fill 7, is data 00ff, is unchanged");
    if (!content) return std::unexpected(content.error());
    if (at.tokens()[next].text != "is") return at.fail(at.tokens()[next], "expected: memory NAME 0..64 is fill 7");
    if (content->text == "unchanged") {
        line.content = Content::unchanged;
        return next + 2 == at.tokens().size() ? at.add(std::move(line))
                                              : at.fail(at.tokens()[next + 2], "nothing may stand here");
    }
    const auto value = token_at(at, next + 2, "seed or bytes");
    if (!value) return std::unexpected(value.error());
    if (content->text == "data") {
        line.content = Content::bytes;
        auto bytes = read_hex(value->text);
        if (!bytes)
            return at.fail(*value, fmt::format("invalid bytes '{}': expected hex digits in pairs", value->text));
        line.bytes = std::move(*bytes);
    } else if (content->text == "fill") {
        auto seed = at.expression(*value);
        if (!seed) return std::unexpected(seed.error());
        line.number = std::move(*seed);
        if (next + 3 < at.tokens().size()) {  // from OFFSET of the pattern
            if (next + 5 != at.tokens().size() || at.tokens()[next + 3].text != "from")
                return at.fail(at.tokens()[next + 3], "expected: is fill 7 from 1024");
            auto from = at.expression(at.tokens()[next + 4]);
            if (!from) return std::unexpected(from.error());
            line.settings.push_back({.key = "from", .choices = {{.text = from->text, .value = std::move(*from)}}});
        }
    } else {
        return at.fail(*content, fmt::format("invalid content '{}': expected fill, data or unchanged", content->text));
    }
    return at.add(std::move(line));
}

// dut counter out_of_sequence rises by 1.. | as NAME
Parsed take_counter(Parsing& at, AgentLine line) {
    const auto name = token_at(at, 2, "the counter's name");
    if (!name) return std::unexpected(name.error());
    line.object = name->text;
    if (at.tokens().size() == 5 && at.tokens()[3].text == "as") {
        line.variable = at.tokens()[4].text;
        if (auto defined = at.define(at.tokens()[4], line.variable); !defined) return defined;
        return at.add(std::move(line));
    }
    if (at.tokens().size() < 6 || at.tokens()[3].text != "rises" || at.tokens()[4].text != "by")
        return at.missing("expected: counter NAME rises by 1..");
    auto range = range_at(at, 5);
    if (!range) return std::unexpected(range.error());
    line.range = std::move(*range);
    return at.tokens().size() == 6 ? at.add(std::move(line)) : at.fail(at.tokens()[6], "nothing may stand here");
}

// dut ask VERB key=value ... [as NAME]
Parsed take_ask(Parsing& at, AgentLine line) {
    const auto verb = token_at(at, 2, "verb of the agent's protocol");
    if (!verb) return std::unexpected(verb.error());
    line.object = verb->text;
    const agent::VerbRow* row = agent::find_verb(verb->text);
    if (row == nullptr) {
        std::vector<std::string_view> names;
        for (const agent::VerbRow& each : agent::kVerbs) names.push_back(each.name);
        return at.fail(*verb, fmt::format("unknown verb '{}' of the agent's protocol", verb->text),
                       nearest(verb->text, names));
    }
    std::vector<std::string_view> keys{"?"};  // where a verb takes none, none is right
    for (const agent::Use& use : row->asks) keys.push_back(agent::row_of(use.key).name);
    std::size_t end = at.tokens().size();
    if (end >= 5 && at.tokens()[end - 2].text == "as") {
        line.variable = at.tokens()[end - 1].text;
        if (!is_name(line.variable) || line.variable.find('.') != std::string::npos)
            return at.fail(at.tokens()[end - 1],
                           fmt::format("invalid name '{}': expected letters, digits, _", line.variable));
        end -= 2;
    }
    auto settings = at.settings(3, end, keys);
    if (!settings) return std::unexpected(settings.error());
    line.settings = std::move(*settings);
    if (!line.variable.empty()) at.define_all_of(line.variable);
    return at.add(std::move(line));
}

Parsed take_receive(Parsing& at, AgentLine line) {
    auto settings = at.settings(3, at.tokens().size(), kReceiveKeys);
    if (!settings) return std::unexpected(settings.error());
    line.settings = std::move(*settings);
    return at.add(std::move(line));
}

Parsed take_post(Parsing& at, AgentLine line) {
    const auto operation = token_at(at, 3, "operation: send, write, read, ...");
    if (!operation) return std::unexpected(operation.error());
    if (auto known = one_of(at, *operation, kOperations, "operation"); !known) return known;
    line.object = operation->text;
    auto settings = at.settings(4, at.tokens().size(), kPostKeys);
    if (!settings) return std::unexpected(settings.error());
    line.settings = std::move(*settings);
    return at.add(std::move(line));
}

Parsed take_completion(Parsing& at, AgentLine line) {
    auto tail = at.window_at_end(3);
    if (!tail) return std::unexpected(tail.error());
    auto settings = at.settings(3, tail->begins, kCompletionKeys);
    if (!settings) return std::unexpected(settings.error());
    line.settings = std::move(*settings);
    line.window = std::move(tail->window);
    return at.add(std::move(line));
}

// dut a no completion for 20ms
Parsed take_no_completion(Parsing& at, AgentLine line) {
    if (at.tokens().size() != 6 || at.tokens()[3].text != "completion" || at.tokens()[4].text != "for")
        return at.missing("expected: no completion for 20ms");
    auto time = at.expression(at.tokens()[5]);
    if (!time) return std::unexpected(time.error());
    line.window.latest = std::move(*time);
    return at.add(std::move(line));
}

// dut a state err [within 500ms], dut a event qp_access_err [within 500ms]
template <std::size_t N>
Parsed take_word(Parsing& at, AgentLine line, const std::array<std::string_view, N>& words, std::string_view example,
                 std::string_view what) {
    const auto word = token_at(at, 3, example);
    if (!word) return std::unexpected(word.error());
    if (auto known = one_of(at, *word, words, what); !known) return known;
    line.object = word->text;
    auto tail = at.window_at_end(4);
    if (!tail) return std::unexpected(tail.error());
    if (tail->begins > 4) return at.fail(at.tokens()[4], "expected a time");
    line.window = std::move(tail->window);
    return at.add(std::move(line));
}
Parsed take_state(Parsing& at, AgentLine line) {
    return take_word(at, std::move(line), kStates, "a state: rts, err, ...", "state of a queue pair");
}
Parsed take_event(Parsing& at, AgentLine line) {
    return take_word(at, std::move(line), agent::kAsyncWords, "an event: qp_access_err, qp_req_err, ...",
                     "asynchronous event");
}

struct ActRow {
    std::string_view word;
    Act act;
    bool of_qp;  // dut QP WORD; else dut WORD
    Parsed (*take)(Parsing& at, AgentLine line);
};
constexpr std::array kActs{
    ActRow{"mr", Act::region, false, take_region},
    ActRow{"fill", Act::fill, false, take_fill},
    ActRow{"memory", Act::memory, false, take_memory},
    ActRow{"counter", Act::counter, false, take_counter},
    ActRow{"ask", Act::ask, false, take_ask},
    ActRow{"recv", Act::receive, true, take_receive},
    ActRow{"post", Act::post, true, take_post},
    ActRow{"completion", Act::completion, true, take_completion},
    ActRow{"no", Act::no_completion, true, take_no_completion},
    ActRow{"state", Act::state, true, take_state},
    ActRow{"event", Act::event, true, take_event},
};

}  // namespace

Parsed take_agent_line(Parsing& at, Side side) {
    const auto first = token_at(at, 1, "object: mr, memory, ..., or a queue pair");
    if (!first) return std::unexpected(first.error());
    AgentLine line{.side = side};
    std::size_t word = 1;
    if (at.is_qp(first->text)) {
        line.qp = first->text;
        word = 2;
    }
    const auto act = token_at(at, word, "recv, post, completion, no completion, state or event");
    if (!act) return std::unexpected(act.error());
    std::vector<std::string_view> names;
    for (const ActRow& row : kActs) {
        if (row.of_qp != (word == 2)) continue;
        if (row.word == act->text) {
            line.act = row.act;
            return row.take(at, std::move(line));
        }
        names.push_back(row.word);
    }
    if (word == 1)
        return at.fail(*act, fmt::format("unknown '{}': neither a queue pair nor a request to an agent", act->text),
                       nearest(act->text, names));
    return at.fail(*act, fmt::format("unknown request '{}' to a queue pair", act->text), nearest(act->text, names));
}

}  // namespace qps::transport::conformance::script
