// THE table of the words that a line may begin with, and what each reads.
#include <transport-replay/conformance/script/parsing.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport::conformance::script {

namespace {

// The text of the token in that place, or an error that says what is missing.
std::expected<Token, ScriptError> token_in_place(const Parsing& at, std::size_t place, std::string_view what) {
    if (place >= at.tokens().size()) return at.missing(fmt::format("missing {}", what));
    return at.tokens()[place];
}

Parsed nothing_behind(const Parsing& at, std::size_t place) {
    if (place < at.tokens().size()) return at.fail(at.tokens()[place], "unexpected word");
    return {};
}

Parsed take_check(Parsing& at) {
    if (at.tokens().size() < 2) return at.missing("missing check id, such as RSP-05");
    for (const Token& token : at.tokens().subspan(1)) at.script().checks.push_back(token.text);
    return {};
}

Parsed take_title(Parsing& at) {
    const auto title = token_in_place(at, 1, "the title in quotes");
    if (!title) return std::unexpected(title.error());
    at.script().title = title->text;
    return nothing_behind(at, 2);
}

Parsed take_needs(Parsing& at) {
    if (at.tokens().size() < 2) return at.missing("missing need: agent, cm, ipv4, ...");
    for (const Token& token : at.tokens().subspan(1)) at.script().needs.push_back(token.text);
    return {};
}

Parsed take_dangerous(Parsing& at) {
    at.script().dangerous = true;
    return nothing_behind(at, 1);
}

Parsed take_breaks(Parsing& at) {
    if (at.tokens().size() < 2) return at.missing("missing check id, such as FMT-01");
    for (const Token& token : at.tokens().subspan(1)) at.script().breaks.push_back(token.text);
    return {};
}

Parsed take_include(Parsing& at) {
    const auto name = token_in_place(at, 1, "the name of a file in quotes");
    if (!name) return std::unexpected(name.error());
    if (auto behind = nothing_behind(at, 2); !behind) return behind;
    return at.include(*name);
}

Parsed take_let(Parsing& at) {
    const auto name = token_in_place(at, 1, "a name");
    if (!name) return std::unexpected(name.error());
    if (at.tokens().size() < 3 || at.tokens()[2].text != "=") return at.fail(*name, "expected: let NAME = EXPRESSION");
    auto value = at.expression_between(3, at.tokens().size());
    if (!value) return std::unexpected(value.error());
    if (auto defined = at.define(*name, name->text); !defined) return defined;
    return at.add(Let{name->text, std::move(*value)});
}

constexpr std::array<std::string_view, 26> kQpKeys{
    "mtu",   "recv",      "recv_len", "recv_count", "send", "timeout", "retry",   "rnr_retry", "min_rnr",
    "depth", "resources", "access",   "pd",         "srq",  "psn",     "dut_psn", "qkey",      "port",
    "sq",    "rq",        "inline",   "private",    "dut",  "us",      "xrcd",    "srqn"};

struct ServiceRow {
    std::string_view word;
    dissect::Service service;
    bool serves;
};
constexpr std::array kServices{
    ServiceRow{"rc", dissect::Service::rc, false}, ServiceRow{"uc", dissect::Service::uc, false},
    ServiceRow{"ud", dissect::Service::ud, false}, ServiceRow{"xrc_send", dissect::Service::xrc, false},
    ServiceRow{"xrc_recv", dissect::Service::xrc, true}};

// recv=4x1024: two settings.
Parsed split_receives(Parsing& at, Settings& settings) {
    const auto recv = std::ranges::find(settings, "recv", &Setting::key);
    if (recv == settings.end()) return {};
    // "recv" alone is a setting too, without a value.
    const auto token = std::ranges::find_if(
        at.tokens(), [](const Token& each) { return each.text == "recv" || each.text.starts_with("recv="); });
    const std::size_t cross = token->text.find('x');
    if (cross == std::string::npos) return at.fail(*token, "expected COUNTxBYTES, such as recv=4x1024");
    for (const bool second : {false, true}) {
        const std::size_t from = second ? cross + 1 : token->text.find('=') + 1;
        auto value = at.expression(*token, from, second ? std::string::npos : cross - from);
        if (!value) return std::unexpected(value.error());
        settings.push_back({.key = second ? "recv_len" : "recv_count",
                            .choices = {{.text = value->text, .value = std::move(*value)}}});
    }
    std::erase_if(settings, [](const Setting& each) { return each.key == "recv"; });
    return {};
}

// What only XRC has, and what it has not.
Parsed extended_settings(const Parsing& at, const Token& service, const MakeQp& made) {
    const auto says = [&](std::string_view key) {
        return std::ranges::find(made.settings, key, &Setting::key) != made.settings.end();
    };
    if (made.service != dissect::Service::xrc) {
        for (const std::string_view key : {"xrcd", "srqn"})
            if (says(key)) return at.fail(service, fmt::format("{}= is for queue pairs of XRC", key));
        return {};
    }
    if (made.kind == EndKind::managed)
        return at.fail(service, "the connection manager here connects no queue pair of XRC");
    if (says("srq"))
        return at.fail(service, "the shared receive queue of XRC is made with its domain: xrcd=N names another one's");
    if (says("xrcd") && !made.serves) return at.fail(service, "xrcd= is for xrc_recv: the half that serves");
    if (says("srqn") && made.serves && made.kind != EndKind::known)
        return at.fail(service, "the agent says which srqn it is");
    return {};
}

Parsed take_qp(Parsing& at) {
    const auto name = token_in_place(at, 1, "the queue pair's name");
    if (!name) return std::unexpected(name.error());
    const auto service = token_in_place(at, 2, "rc, uc, ud, xrc_send or xrc_recv");
    if (!service) return std::unexpected(service.error());
    const auto* const row = std::ranges::find(kServices, std::string_view(service->text), &ServiceRow::word);
    if (row == kServices.end())
        return at.fail(*service,
                       fmt::format("invalid service '{}': expected rc, uc, ud, xrc_send or xrc_recv", service->text));
    MakeQp made{
        .name = name->text, .service = row->service, .kind = EndKind::raw, .settings = {}, .serves = row->serves};
    std::size_t first = 3;
    constexpr std::array<std::pair<std::string_view, EndKind>, 3> kKinds{
        {{"verbs", EndKind::verbs}, {"cm", EndKind::managed}, {"known", EndKind::known}}};
    for (const auto& [word, kind] : kKinds)
        if (first == 3 && at.tokens().size() > 3 && at.tokens()[3].text == word) {
            made.kind = kind;
            ++first;
        }
    auto settings = at.settings(first, at.tokens().size(), kQpKeys);
    if (!settings) return std::unexpected(settings.error());
    made.settings = std::move(*settings);
    if (auto split = split_receives(at, made.settings); !split) return split;
    for (const std::string_view number : {"dut", "us"}) {
        const bool there = std::ranges::find(made.settings, number, &Setting::key) != made.settings.end();
        if (there && made.kind != EndKind::known)
            return at.fail(*service,
                           fmt::format("{}= is for a queue pair that is known: qp NAME rc known dut=N", number));
        if (!there && made.kind == EndKind::known && number == "dut")
            return at.fail(*service, "missing dut=N: the number of the queue pair that is known");
    }
    if (auto right = extended_settings(at, *service, made); !right) return right;
    if (auto defined = at.define_qp(*name, name->text); !defined) return defined;
    return at.add(std::move(made));
}

Parsed take_free(Parsing& at) {
    const auto name = token_in_place(at, 1, "the queue pair's name");
    if (!name) return std::unexpected(name.error());
    if (auto known = at.known_qp(*name, name->text); !known) return known;
    if (auto behind = nothing_behind(at, 2); !behind) return behind;
    return at.add(Release{name->text});
}

// The queue pair that a line of packets is about.
std::expected<std::string, ScriptError> qp_of(const Parsing& at, std::size_t place = 1) {
    const auto name = token_in_place(at, place, "the queue pair");
    if (!name) return std::unexpected(name.error());
    if (auto known = at.known_qp(*name, name->text); !known) return std::unexpected(known.error());
    return name->text;
}

Parsed take_inject(Parsing& at) {
    auto qp = qp_of(at);
    if (!qp) return std::unexpected(qp.error());
    auto packet = at.packet(2, at.tokens().size(), Purpose::inject);
    if (!packet) return std::unexpected(packet.error());
    return at.add(Inject{std::move(*qp), std::move(*packet)});
}

Parsed take_nothing(Parsing& at, std::string qp, std::size_t word) {
    const auto preposition = token_in_place(at, word + 1, "\"for\" and a time");
    if (!preposition) return std::unexpected(preposition.error());
    if (preposition->text != "for") return at.fail(*preposition, "expected: nothing for 50ms");
    const auto time = token_in_place(at, word + 2, "a time");
    if (!time) return std::unexpected(time.error());
    auto lasting = at.expression(*time);
    if (!lasting) return std::unexpected(lasting.error());
    if (auto behind = nothing_behind(at, word + 3); !behind) return behind;
    return at.add(Nothing{std::move(qp), std::move(*lasting)});
}

Parsed take_expect(Parsing& at) {
    if (at.tokens().size() > 1 && at.tokens()[1].text == "nothing") return take_nothing(at, {}, 1);
    auto qp = qp_of(at);
    if (!qp) return std::unexpected(qp.error());
    if (at.tokens().size() > 2 && at.tokens()[2].text == "nothing") return take_nothing(at, std::move(*qp), 2);
    auto tail = at.window_at_end(2);
    if (!tail) return std::unexpected(tail.error());
    auto packet = at.packet(2, tail->begins, Purpose::expect);
    if (!packet) return std::unexpected(packet.error());
    return at.add(Expect{std::move(*qp), std::move(*packet), std::move(tail->window)});
}

Parsed take_allow(Parsing& at) {
    auto qp = qp_of(at);
    if (!qp) return std::unexpected(qp.error());
    auto packet = at.packet(2, at.tokens().size(), Purpose::expect);
    if (!packet) return std::unexpected(packet.error());
    return at.add(Allow{std::move(*qp), std::move(*packet)});
}

Parsed take_either(Parsing& at) {
    if (auto behind = nothing_behind(at, 1); !behind) return behind;
    return at.open(Either{});
}

Parsed take_repeat(Parsing& at) {
    const auto count = token_in_place(at, 1, "count");
    if (!count) return std::unexpected(count.error());
    auto often = at.expression(*count);
    if (!often) return std::unexpected(often.error());
    Repeat repeat{.count = std::move(*often), .variable = {}, .body = {}};
    if (at.tokens().size() > 2) {
        if (at.tokens().size() != 4 || at.tokens()[2].text != "as")
            return at.fail(at.tokens()[2], "expected: repeat 5 as i");
        repeat.variable = at.tokens()[3].text;
        if (auto defined = at.define(at.tokens()[3], repeat.variable); !defined) return defined;
    }
    return at.open(std::move(repeat));
}

Parsed take_for(Parsing& at) {
    const auto name = token_in_place(at, 1, "a name");
    if (!name) return std::unexpected(name.error());
    if (at.tokens().size() < 4 || at.tokens()[2].text != "in") return at.fail(*name, "expected: for NAME in 1 2 3");
    ForEach each{.variable = name->text, .values = {}, .body = {}};
    for (const Token& token : at.tokens().subspan(3)) {
        auto value = at.expression(token);
        if (!value) return std::unexpected(value.error());
        each.values.push_back(std::move(*value));
    }
    if (auto defined = at.define(*name, name->text); !defined) return defined;
    return at.open(std::move(each));
}

Parsed take_if(Parsing& at) {
    auto condition = at.expression_between(1, at.tokens().size());
    if (!condition) return std::unexpected(condition.error());
    return at.open(If{std::move(*condition), {}, {}});
}

Parsed take_given(Parsing& at) {
    const auto check = token_in_place(at, 1, "check id, such as NVME-52");
    if (!check) return std::unexpected(check.error());
    if (auto behind = nothing_behind(at, 2); !behind) return behind;
    return at.open(GivenThat{check->text, {}});
}

Parsed take_branch(Parsing& at) {
    if (auto behind = nothing_behind(at, 1); !behind) return behind;
    return at.next_branch();
}

Parsed take_end(Parsing& at) {
    if (auto behind = nothing_behind(at, 1); !behind) return behind;
    return at.close();
}

// EXPRESSION "reason"
struct Condition {
    Expression expression;
    std::string reason;
};
std::expected<Condition, ScriptError> condition(const Parsing& at) {
    const std::size_t last = at.tokens().size() - 1;
    if (last < 2 || !at.tokens()[last].quoted) return at.missing("missing expression or reason in quotes");
    auto expression = at.expression_between(1, last);
    if (!expression) return std::unexpected(expression.error());
    return Condition{std::move(*expression), at.tokens()[last].text};
}

Parsed take_require(Parsing& at) {
    auto read = condition(at);
    if (!read) return std::unexpected(read.error());
    return at.add(Require{std::move(read->expression), std::move(read->reason)});
}

Parsed take_assert(Parsing& at) {
    auto read = condition(at);
    if (!read) return std::unexpected(read.error());
    return at.add(Assert{std::move(read->expression), std::move(read->reason)});
}

Parsed take_trust(Parsing& at) {
    auto read = condition(at);
    if (!read) return std::unexpected(read.error());
    return at.add(Trust{std::move(read->expression), std::move(read->reason)});
}

Parsed take_fail(Parsing& at) {
    const auto reason = token_in_place(at, 1, "the reason in quotes");
    if (!reason) return std::unexpected(reason.error());
    if (auto behind = nothing_behind(at, 2); !behind) return behind;
    return at.add(Fail{reason->text});
}

Parsed take_wait(Parsing& at) {
    const auto time = token_in_place(at, 1, "a time");
    if (!time) return std::unexpected(time.error());
    auto lasting = at.expression(*time);
    if (!lasting) return std::unexpected(lasting.error());
    if (auto behind = nothing_behind(at, 2); !behind) return behind;
    return at.add(Wait{std::move(*lasting)});
}

Parsed take_mark(Parsing& at) {
    const auto name = token_in_place(at, 1, "a name");
    if (!name) return std::unexpected(name.error());
    if (auto behind = nothing_behind(at, 2); !behind) return behind;
    if (auto defined = at.define(*name, name->text); !defined) return defined;
    return at.add(Mark{name->text});
}

Parsed take_alive(Parsing& at) {
    if (at.tokens().size() == 1) return at.add(Alive{});
    auto qp = qp_of(at);
    if (!qp) return std::unexpected(qp.error());
    if (auto behind = nothing_behind(at, 2); !behind) return behind;
    return at.add(Alive{std::move(*qp)});
}

constexpr std::array kRows{
    KeywordRow{"check", "the checks of the catalogue that the script judges", take_check},
    KeywordRow{"title", "what it shows, in a sentence", take_title},
    KeywordRow{"needs", "what must be there, or the script is not applicable", take_needs},
    KeywordRow{"dangerous", "devices were seen to die of it: it runs last", take_dangerous},
    KeywordRow{"breaks", "the checks that what the script sends fails, on purpose", take_breaks},
    KeywordRow{"include", "the lines of another file, in this place", take_include},
    KeywordRow{"let", "a variable gets a value", take_let},
    KeywordRow{"qp", "a queue pair of the device, and our end of it", take_qp},
    KeywordRow{"free", "a queue pair is given back", take_free},
    KeywordRow{">", "a packet is sent", take_inject},
    KeywordRow{"<", "a packet is expected, or nothing for a time", take_expect},
    KeywordRow{"allow", "packets that may come at any time, and are not looked at", take_allow},
    KeywordRow{"either", "alternatives: the first whose first line holds is taken", take_either},
    KeywordRow{"or", "the next of them", take_branch},
    KeywordRow{"repeat", "lines so many times", take_repeat},
    KeywordRow{"for", "lines once for each value", take_for},
    KeywordRow{"given", "lines of another check's rule: where they fail, this one is blocked by it", take_given},
    KeywordRow{"if", "lines where an expression is not 0", take_if},
    KeywordRow{"else", "lines where it is", take_branch},
    KeywordRow{"end", "of either, repeat, for, given, if", take_end},
    KeywordRow{"require", "else the script is not applicable", take_require},
    KeywordRow{"assert", "else the device fails", take_assert},
    KeywordRow{"trust", "else nothing is said of the device: the script is inconclusive", take_trust},
    KeywordRow{"fail", "the device fails here", take_fail},
    KeywordRow{"wait", "so long nothing is done", take_wait},
    KeywordRow{"mark", "a variable gets the time of the line before", take_mark},
    KeywordRow{"alive", "the queue pair, or the device, still answers", take_alive},
    KeywordRow{"dut", "asked of the device's agent", [](Parsing& at) { return take_agent_line(at, Side::device); }},
    KeywordRow{"us", "asked of our own adapter", [](Parsing& at) { return take_agent_line(at, Side::us); }},
};

}  // namespace

std::span<const KeywordRow> keyword_rows() { return kRows; }

}  // namespace qps::transport::conformance::script
