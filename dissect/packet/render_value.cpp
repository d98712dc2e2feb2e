#include <dissect/packet/render_value.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <arpa/inet.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace qps::dissect {

namespace {

constexpr std::size_t kShownBytes = 32;  // of a byte string in a line for people; the rest is counted

void append_mac(std::string& out, std::uint64_t mac) {
    for (int shift = 40; shift >= 0; shift -= 8)
        fmt::format_to(std::back_inserter(out), "{}{:02x}", shift == 40 ? "" : ":", mac >> shift & 0xff);
}

void append_ipv4(std::string& out, std::uint64_t address) {
    fmt::format_to(std::back_inserter(out), "{}.{}.{}.{}", address >> 24 & 0xff, address >> 16 & 0xff,
                   address >> 8 & 0xff, address & 0xff);
}

void append_ipv6(std::string& out, Bytes address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.size() == 16 && inet_ntop(AF_INET6, address.data(), text.data(), text.size()) != nullptr)
        out += text.data();
}

void append_guid(std::string& out, std::uint64_t guid) { fmt::format_to(std::back_inserter(out), "0x{:016x}", guid); }

std::uint64_t power_of_ten(unsigned digits) {
    std::uint64_t power = 1;
    while (digits-- > 0) power *= 10;
    return power;
}

void append_fixed(std::string& out, const Field& field, std::uint64_t number) {
    const auto value = static_cast<std::int64_t>(number);
    const std::uint64_t scale = power_of_ten(field.digits);
    const std::uint64_t magnitude = value < 0 ? ~number + 1 : number;
    fmt::format_to(std::back_inserter(out), "{}{}.{:0{}}", value < 0 ? "-" : "", magnitude / scale, magnitude % scale,
                   field.digits);
}

// Length of the UTF-8 sequence at the start of `text`; 0 where it is none.
std::size_t utf8_length(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xc2 && first < 0xe0 ? 2
                               : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xf0 && first < 0xf5 ? 4
                                                               : 0;
    if (length == 0 || length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
    const auto second = length > 1 ? static_cast<unsigned char>(text[1]) : 0U;
    const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool out_of_range = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
    return overlong || out_of_range ? 0 : length;
}

char32_t character_of(std::string_view text, std::size_t length) {
    constexpr std::array<unsigned, 5> kFirst{0, 0x7f, 0x1f, 0x0f, 0x07};  // its bits in the first byte
    char32_t character = static_cast<unsigned char>(text[0]) & kFirst[length];
    for (std::size_t i = 1; i < length; ++i) character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
    return character;
}

// What acts where it is shown rather than being seen: controls that terminals obey, marks that turn the direction of
// what follows, breaks of lines, and what takes no room. The last of them all may hide text, or make two names look
// alike.
bool acts(char32_t c) {
    struct Range {
        char32_t first;
        char32_t last;
    };
    constexpr std::array kActing{
        Range{0x00, 0x1f},     Range{0x7f, 0x9f},     Range{0xad, 0xad},       Range{0x61c, 0x61c},
        Range{0x180e, 0x180e}, Range{0x200b, 0x200f}, Range{0x2028, 0x202e},   Range{0x2060, 0x206f},
        Range{0xfeff, 0xfeff}, Range{0xfff9, 0xfffb}, Range{0xe0000, 0xe0fff},
    };
    return std::ranges::any_of(kActing, [&](const Range& range) { return c >= range.first && c <= range.last; });
}

// Characters up to the padding, as they are.
std::string_view text_of(Bytes bytes) {
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return all.substr(0, all.find('\0'));
}

}  // namespace

void append_printable(std::string& out, std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0 || acts(character_of(text, length))) {
            const std::size_t bad = length == 0 ? 1 : length;
            for (std::size_t i = 0; i < bad; ++i)
                fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[i]));
            text.remove_prefix(bad);
        } else {
            out.append(text.substr(0, length));
            text.remove_prefix(length);
        }
    }
}

std::string printable(std::string_view text) {
    std::string out;
    append_printable(out, text);
    return out;
}

std::string_view name_of(const Field& field, std::uint64_t value) {
    const auto row = std::ranges::find(field.names, value, &ValueName::value);
    return row == field.names.end() ? std::string_view{} : row->name;
}

std::string_view label(const Field& field) {
    const std::size_t end = std::min(field.meaning.find(", "), field.meaning.find(": "));
    return field.meaning.substr(0, end);
}

std::string utc(Instant time) {
    const std::int64_t nanoseconds = std::to_underlying(time);
    std::int64_t seconds = nanoseconds / kNanosecondsPerSecond;
    if (nanoseconds % kNanosecondsPerSecond < 0) --seconds;
    return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:09} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)),
                       nanoseconds - seconds * kNanosecondsPerSecond);
}

std::string human_time(double seconds) {
    const double size = std::abs(seconds);
    if (size >= 1 || size == 0) return fmt::format("{:.4g} s", seconds);
    if (size >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
    if (size >= 1e-6) return fmt::format("{:.4g} us", seconds * 1e6);
    return fmt::format("{:.4g} ns", seconds * 1e9);
}

void append_hex(std::string& out, Bytes bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (const std::byte byte : bytes) {
        out += kDigits[std::to_integer<unsigned>(byte) >> 4];
        out += kDigits[std::to_integer<unsigned>(byte) & 15];
    }
}

void append_plain(std::string& out, const Field& field, const Value& value) {
    switch (value_type(field.format)) {
        case ValueType::unsigned_integer:
        case ValueType::boolean: fmt::format_to(std::back_inserter(out), "{}", value.number); break;
        case ValueType::mac: append_mac(out, value.number); break;
        case ValueType::ipv4: append_ipv4(out, value.number); break;
        case ValueType::ipv6: append_ipv6(out, value.bytes); break;
        case ValueType::guid: append_guid(out, value.number); break;
        case ValueType::bytes: append_hex(out, value.bytes); break;
        case ValueType::text: out += text_of(value.bytes); break;
        case ValueType::fixed_point: append_fixed(out, field, value.number); break;
    }
}

namespace {

// As JSON has it: beyond the first 2^16 as a surrogate pair (RFC 8259 7).
void append_unicode_escape(std::string& out, char32_t character) {
    constexpr char32_t kFirstBeyond = 0x10000;
    const auto add = [&](char32_t unit) {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(unit));
    };
    if (character < kFirstBeyond) return add(character);
    add(0xd800 + ((character - kFirstBeyond) >> 10));
    add(0xdc00 + ((character - kFirstBeyond) & 0x3ff));
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const char c = text[0];
        const std::size_t length = utf8_length(text);
        if (c == '"' || c == '\\') out.append({'\\', c});
        else if (length == 0) out += "\\ufffd";
        else if (const char32_t character = character_of(text, length); acts(character))
            append_unicode_escape(out, character);
        else out.append(text.substr(0, length));
        text.remove_prefix(length == 0 ? 1 : length);
    }
    out += '"';
}

void append_json(std::string& out, const Field& field, const Value& value) {
    switch (value_type(field.format)) {
        case ValueType::unsigned_integer: fmt::format_to(std::back_inserter(out), "{}", value.number); break;
        case ValueType::boolean: out += value.number != 0 ? "true" : "false"; break;
        case ValueType::fixed_point: append_fixed(out, field, value.number); break;
        default: {
            std::string text;
            append_plain(text, field, value);
            append_json_string(out, text);
        }
    }
}

void append_words(std::string& out, const Field& field, const Value& value) {
    const std::string_view name = name_of(field, value.number);
    switch (field.format) {
        case Format::hexadecimal: {
            const int digits = field.width == 0 ? 8 : (field.width + 3) / 4;
            if (!name.empty()) fmt::format_to(std::back_inserter(out), "{} (0x{:0{}x})", name, value.number, digits);
            else fmt::format_to(std::back_inserter(out), "0x{:0{}x}", value.number, digits);
            break;
        }
        case Format::decimal:
            if (!name.empty()) fmt::format_to(std::back_inserter(out), "{} ({})", name, value.number);
            else fmt::format_to(std::back_inserter(out), "{}", value.number);
            break;
        case Format::flag: out += value.number != 0 ? "yes" : "no"; break;
        case Format::instant: out += utc(Instant{static_cast<std::int64_t>(value.number)}); break;
        case Format::exponent: {
            if (!name.empty()) {
                fmt::format_to(std::back_inserter(out), "{} ({})", name, value.number);
                break;
            }
            constexpr double kUnit = 4.096e-6;  // 4.096 us * 2^t
            fmt::format_to(std::back_inserter(out), "{} ({})", value.number,
                           human_time(kUnit * std::exp2(static_cast<double>(value.number))));
            break;
        }
        case Format::text: append_printable(out, text_of(value.bytes)); break;
        case Format::bytes:
            append_hex(out, value.bytes.first(std::min(kShownBytes, value.bytes.size())));
            if (value.bytes.size() > kShownBytes)
                fmt::format_to(std::back_inserter(out), "... ({} bytes)", value.bytes.size());
            break;
        default: append_plain(out, field, value);
    }
    if (!field.unit.empty()) fmt::format_to(std::back_inserter(out), " {}", field.unit);
}

}  // namespace qps::dissect
