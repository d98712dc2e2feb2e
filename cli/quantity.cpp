#include "quantity.hpp"

#include <dissect/parse_value.hpp>

#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace qps::cli {

std::expected<dissect::BitsPerSecond, std::string> read_speed(const std::string& text) {
    const auto wrong = std::unexpected(fmt::format("invalid link speed '{}': expected a number with G or M, such as 100G", text));
    const auto real = dissect::parse_real(text);
    if (!real) return wrong;
    const auto [number, unit] = *real;
    const double factor = unit.empty()                 ? 1
                          : unit == "G" || unit == "g" ? 1e9
                          : unit == "M" || unit == "m" ? 1e6
                          : unit == "K" || unit == "k" ? 1e3
                                                       : 0;
    constexpr double kMost = 1e15;
    if (factor == 0 || !(number > 0) || number * factor > kMost) return wrong;
    return dissect::BitsPerSecond{static_cast<std::uint64_t>(std::llround(number * factor))};
}

std::expected<dissect::Duration, std::string> read_time(const std::string& text, std::string_view what) {
    constexpr dissect::Duration kLongest{86'400 * dissect::kNanosecondsPerSecond};
    const auto time = dissect::parse_duration(text);
    if (!time || *time <= dissect::Duration{} || *time > kLongest)
        return std::unexpected(fmt::format("invalid {} '{}': expected a time up to a day with ns, us, ms or s, such as 10ms", what, text));
    return *time;
}

std::expected<std::pair<std::string, dissect::Duration>, std::string> read_offset(const std::string& text) {
    const auto wrong = std::unexpected(fmt::format("invalid offset '{}': expected FILE=TIME, such as b.pcap=-1.5ms", text));
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) return wrong;
    std::string_view typed = std::string_view(text).substr(equals + 1);
    const bool back = typed.starts_with('-');
    if (back || typed.starts_with('+')) typed.remove_prefix(1);
    auto time = dissect::parse_duration(typed);
    if (!time && !typed.empty() && typed.back() >= '0' && typed.back() <= '9') time = dissect::parse_duration(std::string(typed) + "s");
    if (!time || *time < dissect::Duration{}) return wrong;
    return std::pair(text.substr(0, equals), back ? -*time : *time);
}

}  // namespace qps::cli
