// tests/parity/differences.txt: where tshark and qpscope may differ, and why. An excuse that excuses nothing is stale.
#include <tests/parity/excuses.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include <fmt/format.h>

namespace qps::test {

namespace {

constexpr std::array<std::string_view, 4> kSideNames{"both", "ours", "theirs", "unreadable"};

std::optional<Side> side_of(std::string_view word) {
    for (const Side side : {Side::both, Side::ours, Side::theirs, Side::unreadable})
        if (name(side) == word) return side;
    return std::nullopt;
}

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, ',');) words.push_back(word);
    return words;
}

// A name, or the beginning of names where the pattern ends in ".*".
bool fits(std::string_view pattern, std::string_view field) {
    return pattern.ends_with(".*") ? field.starts_with(pattern.substr(0, pattern.size() - 1)) : field == pattern;
}

}  // namespace

std::string_view name(Side side) { return kSideNames[static_cast<std::size_t>(side)]; }

bool Excuses::excuse(std::string_view field, std::string_view name, Side side) {
    for (Excuse& excuse : list) {
        if (!fits(excuse.field, field) || excuse.side != side) continue;
        if (std::ranges::none_of(excuse.cases, [&](const std::string& word) { return word == "*" || word == name; }))
            continue;
        excuse.used.insert(std::string(name));
        return true;
    }
    return false;
}

std::vector<std::string> Excuses::stale() const {
    std::vector<std::string> sentences;
    for (const Excuse& excuse : list)
        for (const std::string& word : excuse.cases)
            if (word == "*" ? excuse.used.empty() : !excuse.used.contains(word))
                sentences.push_back(fmt::format("line {}: {} does not differ ({}) in {}", excuse.line, excuse.field,
                                                name(excuse.side), word == "*" ? "any capture" : word));
    return sentences;
}

Excuses read_excuses(std::string_view text) {
    Excuses excuses;
    std::istringstream lines{std::string(text)};
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.empty() || line.starts_with('#')) continue;
        std::istringstream words(line);
        std::string field, cases, side, reason;
        words >> field >> cases;
        if (field == "tshark") {
            excuses.tshark = cases;
            continue;
        }
        words >> side;
        std::getline(words >> std::ws, reason);
        const auto found = side_of(side);
        if (!found || reason.empty())
            excuses.problems.push_back(fmt::format("line {}: not FIELD CAPTURES SIDE REASON: {}", number, line));
        else excuses.list.push_back({field, words_of(cases), *found, reason, number, {}});
    }
    return excuses;
}

}  // namespace qps::test
