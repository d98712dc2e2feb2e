#include <tests/support/agent_walk.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace qps::tests {

namespace agent = transport::conformance::agent;

namespace {

// As it stands in a line.
std::string value_of(const agent::Field& field) {
    std::string text;
    agent::text_of::append_field(text, field);
    return text.substr(text.find('=') + 1);
}

std::vector<std::string> values_of(const agent::ParsedAnswer& answer, agent::Verb verb, std::string_view name) {
    std::vector<std::string> all;
    const agent::Use* use = agent::find_use(agent::row_of(verb).answers, name);
    for (const agent::Field& field : answer.fields.all())
        if (use != nullptr && field.key == use->key) all.push_back(value_of(field));
    return all;
}

std::string said(const agent::ParsedAnswer& answer) {
    if (!answer.ok) return fmt::format("refused: {} {}", answer.error, answer.text);
    std::string line = agent::write_answer(answer.sequence, answer.fields);
    line.pop_back();
    return line;
}

}  // namespace

std::string AgentWalk::with_values(std::string_view text) const {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '$') {
            out += text[i];
            continue;
        }
        std::size_t end = i + 1;
        while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
            ++end;
        const auto found = values.find(std::string(text.substr(i + 1, end - i - 1)));
        out += found == values.end() ? "?" : found->second;
        i = end - 1;
    }
    return out;
}

std::string AgentWalk::judge(std::string_view expectation, const agent::ParsedAnswer& answer, agent::Verb verb) {
    if (expectation == "any") return {};
    if (expectation.starts_with("error==")) {
        if (!answer.ok && answer.error == expectation.substr(7)) return {};
        return fmt::format("wanted {}, got {}", expectation, said(answer));
    }
    if (!answer.ok) return said(answer);
    if (expectation.starts_with('$')) {
        const std::size_t equals = expectation.find('=');
        const auto found = values_of(answer, verb, expectation.substr(equals + 1));
        if (found.empty()) return fmt::format("there is no {} in {}", expectation.substr(equals + 1), said(answer));
        values[std::string(expectation.substr(1, equals - 1))] = found.front();
        return {};
    }
    const std::string wanted = with_values(expectation);
    const std::string_view view = wanted;
    const std::size_t is = view.find("==");
    const std::size_t has = view.find('~');
    const bool count = view.starts_with('#');
    const bool equal = is != std::string_view::npos;
    const std::string_view name = view.substr(count ? 1 : 0, (equal ? is : has) - (count ? 1 : 0));
    const std::string_view value = view.substr(equal ? is + 2 : has + 1);
    const auto found = values_of(answer, verb, name);
    if (count && std::to_string(found.size()) == value) return {};
    for (const std::string& each : found)
        if (!count && (equal ? each == value : each.contains(value))) return {};
    return fmt::format("wanted {}, got {}", wanted, said(answer));
}

// A sentence where there is no such feature, or no answer.
std::expected<bool, std::string> AgentWalk::both_have(std::string_view feature, const Ask& ask) {
    const auto word = std::ranges::find(agent::kFeatureWords, feature);
    if (word == agent::kFeatureWords.end()) return std::unexpected(fmt::format("no feature is called {}", feature));
    const auto place = static_cast<std::size_t>(word - agent::kFeatureWords.begin());
    bool all = true;
    for (const char side : {'a', 'b'}) {
        const auto answer = ask(side, {.verb = agent::Verb::hello, .fields = {}});
        if (!answer) return std::unexpected(answer.error());
        all = all && (answer->fields.number_or(agent::Key::features, 0) >> place & 1) != 0;
    }
    return all;
}

std::vector<std::string> AgentWalk::go(std::string_view text, const Ask& ask) {
    std::vector<std::string> wrong;
    std::istringstream lines{std::string(text)};
    std::string line;
    bool skips = false;
    for (std::size_t number = 1; std::getline(lines, line); ++number) {
        line.resize(std::min(line.find('#') == 0 ? 0 : line.size(), line.size()));
        if (line.find_first_not_of(' ') == std::string::npos) continue;
        if (line.starts_with("if ")) {
            const auto has = both_have(std::string_view(line).substr(3), ask);
            if (!has) wrong.push_back(fmt::format("{}: {}", number, has.error()));
            skips = !has.value_or(false);
        }
        if (line == "end") skips = false;
        if (skips || line == "end" || line.starts_with("if ")) continue;
        const std::size_t arrow = line.find(" -> ");
        const std::string request = "1 " + with_values(std::string_view(line).substr(0, arrow).substr(2));
        const agent::ParsedRequest parsed = agent::parse_request(request);
        const auto fail = [&](const std::string& why) {
            wrong.push_back(fmt::format("{}: {}: {}", number, request, why));
        };
        if (!parsed.request) {
            fail(agent::write_refusal(parsed));
            continue;
        }
        ++asked;
        const auto answer = ask(line[0], *parsed.request);
        if (!answer) {
            fail(answer.error());
            return wrong;
        }
        if (arrow == std::string::npos) {
            if (!answer->ok) fail(said(*answer));
            continue;
        }
        std::istringstream expectations(line.substr(arrow + 4));
        std::string each;
        while (expectations >> each)
            if (const std::string why = judge(each, *answer, parsed.request->verb); !why.empty()) fail(why);
    }
    return wrong;
}

agent::Request drawn_request(std::mt19937& draw, std::string_view address) {
    agent::Request request{.verb = static_cast<agent::Verb>(draw() % agent::kVerbCount)};
    while (request.verb == agent::Verb::quit) request.verb = static_cast<agent::Verb>(draw() % agent::kVerbCount);
    for (const agent::Use& use : agent::row_of(request.verb).asks) {
        if (use.key == agent::Key::wait || (use.need == agent::Need::optional && draw() % 3 != 0)) continue;
        const agent::KeyRow& key = agent::row_of(use.key);
        const std::uint64_t most = std::min<std::uint64_t>(use.most, 1U << 20);
        if (key.type == agent::KeyType::text) request.fields.add(use.key, draw() % 4 == 0 ? "x" : address);
        else if (key.type == agent::KeyType::hex) request.fields.add(use.key, std::string_view("abcd"));
        else if (key.type == agent::KeyType::word)
            request.fields.add(use.key, std::uint64_t{draw() % key.words.size()});
        else if (key.type == agent::KeyType::words)
            request.fields.add(use.key, std::uint64_t{draw() % (std::size_t{1} << key.words.size())});
        else if (draw() % 5 == 0) request.fields.add(use.key, std::max(use.least, most - draw() % 3));
        else request.fields.add(use.key, std::clamp<std::uint64_t>(draw() % 4, use.least, most));
    }
    return request;
}

std::string agent_walk_text() {
    std::ifstream file(QPSCOPE_SOURCE_DIR "/tests/conformance/agent.walk");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace qps::tests
