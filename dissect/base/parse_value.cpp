// Text to value.
#include <dissect/base/parse_value.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include <arpa/inet.h>

namespace qps::dissect {

namespace {

std::optional<std::uint64_t> digits_of(std::string_view text, int base, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
    return value;
}

struct TimeUnit {
    std::string_view name;
    double nanoseconds;
};
constexpr std::array kTimeUnits{TimeUnit{"ns", 1}, TimeUnit{"us", 1e3}, TimeUnit{"ms", 1e6}, TimeUnit{"s", 1e9}};

bool is_separator(char c) { return c == ':' || c == '-' || c == '.'; }

}  // namespace

std::optional<std::uint64_t> parse_decimal(std::string_view text, std::uint64_t most) {
    return digits_of(text, 10, most);
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t most) {
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    return hex ? digits_of(text.substr(2), 16, most) : digits_of(text, 10, most);
}

std::optional<std::pair<double, std::string_view>> parse_real(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
    return std::pair(value, text.substr(static_cast<std::size_t>(end - text.data())));
}

std::optional<Duration> parse_duration(std::string_view text) {
    constexpr double kLongest = 1e18;  // nanoseconds
    const auto number = parse_real(text);
    if (!number) return std::nullopt;
    const auto [value, unit] = *number;
    if (unit.empty() && value == 0) return Duration{};
    const auto* row = std::ranges::find(kTimeUnits, unit, &TimeUnit::name);
    if (row == kTimeUnits.end() || value * row->nanoseconds > kLongest) return std::nullopt;
    return Duration{std::llround(value * row->nanoseconds)};
}

std::optional<ParsedIp> parse_ip(std::string_view text) {
    std::array<char, INET6_ADDRSTRLEN> terminated{};  // inet_pton() wants it so
    if (text.size() >= terminated.size() || text.contains('\0')) return std::nullopt;
    std::ranges::copy(text, terminated.begin());
    ParsedIp ip;
    ip.ipv4 = inet_pton(AF_INET, terminated.data(), ip.bytes.data()) == 1;
    if (!ip.ipv4 && inet_pton(AF_INET6, terminated.data(), ip.bytes.data()) != 1) return std::nullopt;
    return ip;
}

std::optional<std::uint64_t> parse_mac(std::string_view text) {
    constexpr std::size_t kLength = 17;  // six pairs of digits and what stands between
    if (text.size() != kLength) return std::nullopt;
    std::uint64_t mac = 0;
    for (std::size_t i = 0; i < kLength; ++i) {
        if (i % 3 == 2) {
            if (text[i] != ':' && text[i] != '-') return std::nullopt;
            continue;
        }
        const auto digit = hex_digit(text[i]);
        if (!digit) return std::nullopt;
        mac = mac << 4 | *digit;
    }
    return mac;
}

std::optional<std::uint8_t> hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') return static_cast<std::uint8_t>(digit - '0');
    if (digit >= 'a' && digit <= 'f') return static_cast<std::uint8_t>(digit - 'a' + 10);
    if (digit >= 'A' && digit <= 'F') return static_cast<std::uint8_t>(digit - 'A' + 10);
    return std::nullopt;
}

std::optional<std::string> parse_hex_bytes(std::string_view text) {
    std::string bytes;
    char separator = 0;
    while (!text.empty()) {
        std::size_t digits = 0;
        while (digits < text.size() && hex_digit(text[digits])) ++digits;
        if (digits == 0 || (digits > 1 && digits % 2 != 0)) return std::nullopt;
        if (digits == 1) bytes += static_cast<char>(*hex_digit(text[0]));
        for (std::size_t i = 0; i + 1 < digits; i += 2)
            bytes += static_cast<char>(*hex_digit(text[i]) << 4 | *hex_digit(text[i + 1]));
        text.remove_prefix(digits);
        if (text.empty()) break;
        if (!is_separator(text[0]) || (separator != 0 && text[0] != separator)) return std::nullopt;
        separator = text[0];
        text.remove_prefix(1);
        if (text.empty()) return std::nullopt;
    }
    return bytes;
}

}  // namespace qps::dissect
