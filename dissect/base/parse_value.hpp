// Text to value: the inverse of render_value, for whatever people type: options, rules, scripts, filters. A text is
// taken whole or not at all; blanks are the caller's to cut off. Nothing here knows what the value is for, so limits
// and sentences are the caller's too. Filters have ways of their own besides (octal and binary numbers, as in
// Wireshark): filter/literal.cpp.
#pragma once

#include <dissect/base/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace qps::dissect {

// Digits alone, up to and with `most`: "17".
[[nodiscard]] std::optional<std::uint64_t> parse_decimal(
    std::string_view text, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
// The same, or 0x and hexadecimal digits: "17", "0x11".
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text,
                                                        std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
// A finite number that is not negative, without an exponent, and what stands behind it: "1.5ms" is 1.5 and "ms".
[[nodiscard]] std::optional<std::pair<double, std::string_view>> parse_real(std::string_view text);
// With a unit, ns, us, ms or s, or 0 alone: "10ms", "1.5s". Up to 10^18 ns, thirty years; rounded to a nanosecond.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);

// An IP address. Of IPv4 the first four bytes are it.
struct ParsedIp {
    bool ipv4 = false;
    std::array<std::byte, 16> bytes{};
};
[[nodiscard]] std::optional<ParsedIp> parse_ip(std::string_view text);
// Six pairs of hexadecimal digits with colons or hyphens between, as 48 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_mac(std::string_view text);

[[nodiscard]] std::optional<std::uint8_t> hex_digit(char digit);
// Hexadecimal digits in groups of bytes, one kind of separator (: - .) between the groups: "0a:0b", "0a0b.0c0d". A lone
// digit is a byte.
[[nodiscard]] std::optional<std::string> parse_hex_bytes(std::string_view text);

}  // namespace qps::dissect
