#include <tests/court/sentence.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace qps::court {

namespace {

constexpr double kRounding = 0.0006;         // of four digits
constexpr double kPercentRounding = 0.0051;  // of three

std::string digits_of(std::string_view words) {
    std::string out;
    for (const char c : words) {
        if ((c >= '0' && c <= '9') || c == '.') out += c;
        else if (c != ',') break;
    }
    return out;
}

}  // namespace

std::optional<std::uint64_t> count_of(std::string_view words) {
    if (words == "once") return 1;
    if (words == "twice") return 2;
    const std::string digits = digits_of(words);
    if (digits.empty() || digits.find('.') != std::string::npos) return {};
    return std::strtoull(digits.c_str(), nullptr, 10);
}

std::optional<std::uint64_t> number_before(std::string_view sentence, std::string_view noun) {
    for (std::size_t at = sentence.find(noun); at != std::string_view::npos && at > 1; at = sentence.find(noun, at + 1)) {
        std::string_view before = sentence.substr(0, at - 1);
        if (before.ends_with(" times")) before.remove_suffix(6);
        const std::size_t space = before.rfind(' ');
        std::string_view word = before.substr(space == std::string_view::npos ? 0 : space + 1);
        if (word.starts_with('(')) word.remove_prefix(1);
        if (const auto count = count_of(word)) return count;
    }
    return {};
}

std::optional<Range> quantity_of(std::string_view words) {
    static constexpr std::array<std::pair<std::string_view, double>, 14> kUnits{{{"ns", 1},
                                                                                 {"us", 1e3},
                                                                                 {"ms", 1e6},
                                                                                 {"s", 1e9},
                                                                                 {"min", 60e9},
                                                                                 {"h", 3600e9},
                                                                                 {"bytes", 1},
                                                                                 {"byte", 1},
                                                                                 {"KiB", 0x1p10},
                                                                                 {"MiB", 0x1p20},
                                                                                 {"GiB", 0x1p30},
                                                                                 {"TiB", 0x1p40},
                                                                                 {"%", 1},
                                                                                 {"Gbit/s", 1}}};
    const std::size_t space = words.find(' ');
    if (space == std::string_view::npos) return {};
    const auto unit = std::ranges::find(kUnits, words.substr(space + 1), &std::pair<std::string_view, double>::first);
    const std::string digits = digits_of(words);
    if (unit == kUnits.end() || digits.empty()) return {};
    const double value = std::strtod(digits.c_str(), nullptr) * unit->second;
    const double part = unit->first == "%" ? kPercentRounding : kRounding;
    const double slack = value * part + (unit->second > 1 ? 0 : 1e-9);
    return Range{value - slack, value + slack};
}

}  // namespace qps::court
