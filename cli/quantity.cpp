#include "quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace qps::cli {

std::expected<dissect::BitsPerSecond, std::string> read_speed(const std::string& text) {
    const auto wrong = std::unexpected(fmt::format("invalid link speed '{}': expected a number with G or M, such as 100G", text));
    std::size_t end = 0;
    double number = 0;
    try {
        number = std::stod(text, &end);
    } catch (const std::exception&) {
        return wrong;
    }
    const std::string unit = text.substr(end);
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
    struct Unit {
        std::string_view name;
        std::int64_t nanoseconds;
    };
    constexpr std::array kUnits{Unit{"ns", 1}, Unit{"us", 1'000}, Unit{"ms", 1'000'000}, Unit{"s", 1'000'000'000}};
    constexpr std::int64_t kMost = 86'400;  // of any unit; a day of seconds
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    const auto unit = std::ranges::find(kUnits, std::string_view(end, text.data() + text.size()), &Unit::name);
    if (error != std::errc{} || count < 1 || count > kMost || unit == kUnits.end())
        return std::unexpected(fmt::format("invalid {} '{}': expected a number up to {} with ns, us, ms or s, such as 10ms", what, text, kMost));
    return dissect::Duration{count * unit->nanoseconds};
}

}  // namespace qps::cli
