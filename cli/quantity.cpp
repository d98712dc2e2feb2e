#include <cli/quantity.hpp>
#include <dissect/base/bytes.hpp>
#include <dissect/base/parse_instant.hpp>
#include <dissect/base/parse_value.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace qps::cli {

namespace {

std::optional<std::uint32_t> read_size(std::string_view text, std::uint32_t largest) {
    unsigned shift = 0;
    constexpr unsigned kKibi = 10, kMebi = 20;
    if (!text.empty() && (text.back() == 'K' || text.back() == 'k')) shift = kKibi;
    if (!text.empty() && (text.back() == 'M' || text.back() == 'm')) shift = kMebi;
    if (shift != 0) text.remove_suffix(1);
    const auto number = dissect::parse_number(text, largest >> shift);
    if (!number) return std::nullopt;
    return static_cast<std::uint32_t>(*number << shift);
}

}  // namespace

std::expected<dissect::BitsPerSecond, std::string> read_speed(const std::string& text) {
    const auto wrong =
        std::unexpected(fmt::format("invalid link speed '{}': expected a number with G or M, such as 100G", text));
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
        return std::unexpected(
            fmt::format("invalid {} '{}': expected a time up to a day with ns, us, ms or s, such as 10ms", what, text));
    return *time;
}

std::expected<std::string, std::string> read_time_bound(const std::string& text, std::string_view comparison,
                                                        std::string_view option) {
    const auto condition = [&](std::string_view field, std::int64_t nanoseconds) {
        constexpr std::int64_t kSecond = dissect::kNanosecondsPerSecond;
        return fmt::format("frame.{} {} {}.{:09}", field, comparison, nanoseconds / kSecond, nanoseconds % kSecond);
    };
    if (const auto time = dissect::parse_instant(text)) return condition("time_epoch", std::to_underlying(*time));
    if (const auto duration = dissect::parse_duration(text); duration && text.ends_with('s'))
        return condition("time_relative", std::to_underlying(*duration));
    constexpr double kLast = 9e9;  // seconds since 1970 that an Instant holds
    if (const auto epoch = dissect::parse_real(text);
        epoch && epoch->second.empty() && epoch->first >= 1e8 && epoch->first < kLast) {
        const std::size_t point = std::min(text.find('.'), text.size());
        if (text.size() - point <= 10) return fmt::format("frame.time_epoch {} {}", comparison, text);
    }
    return std::unexpected(fmt::format(
        "invalid {} '{}': expected a time of day with its date such as '2026-11-21 01:14:08' (UTC), seconds since "
        "1970, or a time since the first packet such as 90s",
        option, text));
}

std::expected<std::pair<std::string, dissect::Duration>, std::string> read_offset(const std::string& text) {
    const auto wrong =
        std::unexpected(fmt::format("invalid offset '{}': expected FILE=TIME, such as b.pcap=-1.5ms", text));
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) return wrong;
    std::string_view typed = std::string_view(text).substr(equals + 1);
    const bool back = typed.starts_with('-');
    if (back || typed.starts_with('+')) typed.remove_prefix(1);
    auto time = dissect::parse_duration(typed);
    if (!time && !typed.empty() && typed.back() >= '0' && typed.back() <= '9')
        time = dissect::parse_duration(std::string(typed) + "s");
    if (!time || *time < dissect::Duration{}) return wrong;
    return std::pair(text.substr(0, equals), back ? -*time : *time);
}

std::expected<std::vector<std::uint32_t>, std::string> read_sizes(const std::string& text, std::uint32_t largest,
                                                                  std::size_t most) {
    const auto wrong = std::unexpected(fmt::format(
        "invalid sizes '{}': expected FIRST..LAST or up to {} sizes of at most {} bytes, such as 8..64K or 64,4K", text,
        most, largest));
    std::vector<std::uint32_t> sizes;
    const std::string_view typed = text;
    if (const std::size_t dots = typed.find(".."); dots != std::string_view::npos) {
        const auto first = read_size(typed.substr(0, dots), largest);
        const auto last = read_size(typed.substr(dots + 2), largest);
        if (!first || !last || *first == 0 || *first > *last) return wrong;
        for (std::uint64_t size = *first; size <= *last; size *= 2) sizes.push_back(static_cast<std::uint32_t>(size));
        return sizes;
    }
    for (std::size_t from = 0; from <= typed.size();) {
        const std::size_t comma = std::min(typed.find(',', from), typed.size());
        const auto size = read_size(typed.substr(from, comma - from), largest);
        if (!size || sizes.size() == most) return wrong;
        if (std::ranges::find(sizes, *size) == sizes.end()) sizes.push_back(*size);
        from = comma + 1;
    }
    return sizes;
}

std::optional<transport::Address> read_address(const std::string& text) {
    const auto ip = dissect::parse_ip(text);
    if (!ip) return std::nullopt;
    constexpr std::uint64_t kMapped = 0xffff'0000'0000;  // of the second half of ::ffff:a.b.c.d
    using enum transport::AddressSpace;
    if (ip->ipv4) return transport::Address{{0, kMapped | dissect::read_be<std::uint32_t>(ip->bytes, 0)}, roce_v2};
    return transport::Address{
        {dissect::read_be<std::uint64_t>(ip->bytes, 0), dissect::read_be<std::uint64_t>(ip->bytes, 8)}, roce_v2};
}

}  // namespace qps::cli
