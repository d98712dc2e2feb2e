// The ways to write values.
//
// The text is a user's; sizes are bounded by the filter's length, and numbers that overflow are errors, not wraps.
#include <dissect/base/bytes.hpp>
#include <dissect/base/parse_instant.hpp>
#include <dissect/base/parse_value.hpp>
#include <dissect/filter/field_index.hpp>
#include <dissect/filter/lexer.hpp>
#include <dissect/filter/literal.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace qps::dissect::filter_language {

namespace {

constexpr std::size_t kNamesListed = 8;    // in a message; more are a wall of text
constexpr std::size_t kLongestShown = 48;  // bytes of a literal in a message
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

enum class NumberError : std::uint8_t { not_a_number, too_large };

// Decimal, 0x hexadecimal, 0b binary, 0 octal: the ways of C.
std::expected<std::uint64_t, NumberError> parse_number(std::string_view text) {
    int base = 10;
    std::string_view digits = text;
    const auto prefixed = [&](char letter) { return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == letter; };
    if (prefixed('x')) base = 16;
    if (prefixed('b')) base = 2;
    if (base != 10) {
        digits = text.substr(2);
    } else if (text.size() > 1 && text[0] == '0') {
        base = 8;
    }
    std::uint64_t number = 0;
    const auto [end, problem] = std::from_chars(digits.begin(), digits.end(), number, base);
    if (end != digits.end() || problem == std::errc::invalid_argument)
        return std::unexpected(NumberError::not_a_number);
    if (problem == std::errc::result_out_of_range) return std::unexpected(NumberError::too_large);
    return number;
}

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t number = 0;
    for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
    return number;
}

struct Prefixed {
    std::string_view address;
    unsigned bits;
};

// An address with or without /bits.
std::optional<Prefixed> split_prefix(std::string_view text, unsigned all) {
    const std::size_t stroke = text.find('/');
    if (stroke == std::string_view::npos) return Prefixed{text, all};
    const auto bits = parse_decimal(text.substr(stroke + 1), all);
    if (!bits) return std::nullopt;
    return Prefixed{text.substr(0, stroke), static_cast<unsigned>(*bits)};
}

std::optional<NumberRange> parse_ipv4(std::string_view text) {
    const auto parts = split_prefix(text, 32);
    if (!parts) return std::nullopt;
    const auto address = parse_ip(parts->address);
    if (!address || !address->ipv4) return std::nullopt;
    const std::uint64_t number = read_be<std::uint32_t>(address->bytes, 0);
    const std::uint64_t host = (std::uint64_t{1} << (32 - parts->bits)) - 1;
    return NumberRange{number & ~host, number | host};
}

std::optional<ByteRange> parse_ipv6(std::string_view text) {
    const auto parts = split_prefix(text, 128);
    if (!parts) return std::nullopt;
    const auto address = parse_ip(parts->address);
    if (!address || address->ipv4) return std::nullopt;
    std::string low;
    std::string high;
    for (unsigned i = 0; i < 16; ++i) {
        const unsigned covered = std::clamp(parts->bits, i * 8, i * 8 + 8) - i * 8;
        const unsigned host = 0xffU >> covered;
        low += static_cast<char>(std::to_integer<unsigned>(address->bytes[i]) & ~host);
        high += static_cast<char>(std::to_integer<unsigned>(address->bytes[i]) | host);
    }
    return ByteRange{std::move(low), std::move(high)};
}

// A signed decimal fraction in units of 10^-digits; nothing where it has other digits or does not fit.
std::optional<std::int64_t> parse_fixed_point(std::string_view text, unsigned digits) {
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    const std::size_t point = std::min(text.find('.'), text.size());
    std::string_view fraction = point < text.size() ? text.substr(point + 1) : std::string_view{};
    while (fraction.size() > digits && fraction.ends_with('0')) fraction.remove_suffix(1);
    if (fraction.size() > digits || (point == 0 && fraction.empty())) return std::nullopt;
    std::string all(text.substr(0, point));
    all += fraction;
    all.append(digits - fraction.size(), '0');
    std::int64_t number = 0;
    if (!all.empty() && hex_digit(all[0]).value_or(10) > 9) return std::nullopt;
    const auto [end, problem] = std::from_chars(all.data(), all.data() + all.size(), number);
    if (problem != std::errc{} || end != all.data() + all.size()) return std::nullopt;
    return negative ? -number : number;
}

std::uint64_t largest(const Field& field) {
    if (field.computed() || field.width >= 64) return kMost;
    return ((std::uint64_t{1} << field.width) - 1) * field.factor;
}

Misfit wrong_kind(const Field* field, bool sliced, const Literal& literal) {
    if (field == nullptr || sliced)
        return {fmt::format("invalid byte string {}: expected 0a:0b:0c or \"text\"", in_quotes(literal.text))};
    return {fmt::format("invalid value {}: {} is {}", in_quotes(literal.text), field->name, noun(field, sliced))};
}

Misfit unknown_name(const Field& field, const Literal& literal) {
    std::string message = fmt::format("{} is not a value of {}", in_quotes(literal.text), field.name);
    if (field.names.size() <= kNamesListed) {
        message += " (";
        for (const ValueName& row : field.names)
            message += fmt::format("{}{}", &row == field.names.data() ? "" : ", ", row.name);
        message += ')';
    }
    const std::string folded = folded_name(literal.text);
    std::size_t limit = std::min<std::size_t>(4, folded.size() / 3 + 1);
    std::string suggestion;
    for (const ValueName& row : field.names) {
        const auto distance = edit_distance(folded, folded_name(row.name), limit);
        if (!distance || *distance >= limit + (suggestion.empty() ? 1 : 0)) continue;
        suggestion = row.name;
        limit = *distance;
    }
    if (suggestion.empty() && folded.size() > 2)
        for (const ValueName& row : field.names)
            if (suggestion.empty() && folded_name(row.name).contains(folded)) suggestion = row.name;
    if (suggestion.contains(' ') || suggestion.contains('(')) suggestion = fmt::format("\"{}\"", suggestion);
    return {std::move(message), std::move(suggestion)};
}

Meant<std::vector<NumberRange>> named_or(const Field& field, const Literal& literal, Misfit otherwise) {
    if (field.names.empty()) return std::unexpected(std::move(otherwise));
    const std::string folded = folded_name(literal.text);
    auto values = values_named(field, [&](std::string_view name) { return folded_name(name) == folded; });
    if (values.empty()) return std::unexpected(unknown_name(field, literal));
    return values;
}

Misfit too_large(const Field& field, const Literal& literal) {
    Misfit misfit{fmt::format("value {} out of range: {} is at most {}", literal.text.substr(0, kLongestShown),
                              field.name, largest(field))};
    if (std::ranges::find(field.names, literal.text, &ValueName::name) != field.names.end())
        misfit.suggestion = fmt::format("\"{}\"", literal.text);
    return misfit;
}

Meant<std::vector<NumberRange>> integer_meant(const Field& field, const Literal& literal) {
    if (literal.quoted) {
        Misfit misfit = wrong_kind(&field, false, literal);
        if (field.names.empty() && parse_number(literal.text))
            misfit = {"numbers are written without quotes", std::string(literal.text)};
        return named_or(field, literal, std::move(misfit));
    }
    const std::string_view digits = literal.text.starts_with('-') ? literal.text.substr(1) : literal.text;
    const auto number = parse_number(digits);
    if (!number && number.error() == NumberError::not_a_number) {
        Misfit misfit = wrong_kind(&field, false, literal);
        const std::size_t zeros = digits.find_first_not_of('0');
        if (digits.starts_with('0') && digits.find_first_not_of("0123456789") == std::string_view::npos)
            misfit = {"a number with a leading 0 is octal", std::string(digits.substr(zeros))};
        return named_or(field, literal, std::move(misfit));
    }
    if (digits.size() != literal.text.size() && number != 0U)
        return std::unexpected(Misfit{fmt::format("{} cannot be negative", field.name)});
    if (!number || *number > largest(field)) return std::unexpected(too_large(field, literal));
    return std::vector{NumberRange{*number, *number}};
}

Meant<std::vector<NumberRange>> truth_meant(const Field& field, const Literal& literal) {
    const std::string folded = folded_name(literal.text);
    if (folded == "true") return std::vector{NumberRange{1, kMost}};
    if (folded == "false") return std::vector{NumberRange{0, 0}};
    const auto number = literal.quoted ? std::unexpected(NumberError::not_a_number) : parse_number(literal.text);
    if (!number) return named_or(field, literal, wrong_kind(&field, false, literal));
    return std::vector{*number != 0 ? NumberRange{1, kMost} : NumberRange{0, 0}};
}

Meant<std::vector<NumberRange>> address_meant(const Field& field, const Literal& literal) {
    const Misfit misfit = wrong_kind(&field, false, literal);
    if (literal.quoted) return named_or(field, literal, misfit);
    if (field.format == Format::ipv4) {
        const auto range = parse_ipv4(literal.text);
        return range ? Meant<std::vector<NumberRange>>{std::vector{*range}} : named_or(field, literal, misfit);
    }
    const auto bytes = parse_hex_bytes(literal.text);
    if (bytes && bytes->size() == address_bytes(field))
        return std::vector{NumberRange{big_endian(*bytes), big_endian(*bytes)}};
    const auto number =
        field.format == Format::guid ? parse_number(literal.text) : std::unexpected(NumberError::not_a_number);
    if (number) return std::vector{NumberRange{*number, *number}};
    return named_or(field, literal, misfit);
}

Meant<std::vector<NumberRange>> fraction_meant(const Field& field, const Literal& literal) {
    const auto number = literal.quoted ? std::nullopt : parse_fixed_point(literal.text, field.digits);
    const bool clock = field.format == Format::instant;
    if (!number && clock)
        if (const auto time = parse_instant(literal.text)) {
            const std::uint64_t turned = static_cast<std::uint64_t>(std::to_underlying(*time)) ^ sign_flip(field);
            return std::vector{NumberRange{turned, turned}};
        }
    if (!number)
        return named_or(field, literal,
                        {fmt::format("invalid value {}: {} is a number with at most {} decimals{}",
                                     in_quotes(literal.text), field.name, field.digits,
                                     clock ? ", or a time such as \"2026-11-21 01:14:08.5\" (UTC)" : "")});
    const std::uint64_t turned = static_cast<std::uint64_t>(*number) ^ sign_flip(field);
    return std::vector{NumberRange{turned, turned}};
}

// Nanoseconds of one unit of a field; 0: it counts something else than time.
std::uint64_t nanoseconds_of(std::string_view unit) {
    struct Unit {
        std::string_view name;
        std::uint64_t nanoseconds;
    };
    constexpr std::array kUnits{Unit{"s", 1'000'000'000}, Unit{"ms", 1'000'000}, Unit{"us", 1'000}, Unit{"ns", 1}};
    const auto row = std::ranges::find(kUnits, unit, &Unit::name);
    return row == kUnits.end() ? 0 : row->nanoseconds;
}

// "5ms" of a field that counts time, in whatever unit it counts; nothing where the literal is none.
std::optional<Meant<std::vector<NumberRange>>> duration_meant(const Field& field, const Literal& literal) {
    const std::uint64_t unit = nanoseconds_of(field.unit);
    if (unit == 0 || literal.quoted || !literal.text.ends_with('s')) return std::nullopt;
    const auto duration = parse_duration(literal.text);
    if (!duration) return std::nullopt;
    std::uint64_t parts = 1;  // that the number counts, of a unit
    for (unsigned i = 0; i < field.digits; ++i) parts *= 10;
    const auto time = static_cast<std::uint64_t>(std::to_underlying(*duration));
    const std::uint64_t least = std::max<std::uint64_t>(unit / parts, 1);  // nanoseconds
    const std::uint64_t more = std::max<std::uint64_t>(parts / unit, 1);  // of parts that are shorter than a nanosecond
    if (time % least != 0 || time / least > largest(field) / more)
        return std::unexpected(
            Misfit{fmt::format("invalid value {}: {} counts in {}", in_quotes(literal.text), field.name, field.unit)});
    const std::uint64_t turned =
        (time / least * more) ^ (value_type(field.format) == ValueType::fixed_point ? sign_flip(field) : 0);
    return std::vector{NumberRange{turned, turned}};
}

}  // namespace

Meant<std::vector<NumberRange>> numbers_meant(const Field& field, const Literal& literal) {
    if (auto duration = duration_meant(field, literal)) return *std::move(duration);
    switch (value_type(field.format)) {
        case ValueType::boolean: return truth_meant(field, literal);
        case ValueType::mac:
        case ValueType::ipv4:
        case ValueType::guid: return address_meant(field, literal);
        case ValueType::fixed_point: return fraction_meant(field, literal);
        default: return integer_meant(field, literal);
    }
}

Meant<ByteRange> bytes_meant(const Field* field, bool sliced, const Literal& literal) {
    if (field != nullptr && field->format == Format::text && !(sliced && !literal.quoted)) {
        std::string text(literal.text);
        return ByteRange{text, text};
    }
    if (field != nullptr && field->format == Format::ipv6 && !sliced) {
        const auto range = literal.quoted ? std::nullopt : parse_ipv6(literal.text);
        return range ? Meant<ByteRange>{*range} : std::unexpected(wrong_kind(field, sliced, literal));
    }
    auto bytes = byte_string(literal);
    if (!bytes)
        return std::unexpected(bytes.error().suggestion.empty() ? wrong_kind(field, sliced, literal) : bytes.error());
    return ByteRange{*bytes, *bytes};
}

Meant<std::uint64_t> mask_meant(const Field& field, const Literal& literal) {
    if (const auto number = parse_number(literal.text); number && !literal.quoted) return *number;
    const auto meant = address_bytes(field) != 0 ? address_meant(field, literal) : std::unexpected(Misfit{});
    if (meant && meant->size() == 1 && meant->front().low == meant->front().high) return meant->front().low;
    return std::unexpected(Misfit{fmt::format("{} is not a mask for {}", in_quotes(literal.text), field.name)});
}

Meant<std::string> byte_string(const Literal& literal) {
    if (literal.quoted) return std::string(literal.text);
    if (literal.text.starts_with("0x") || literal.text.starts_with("0X")) {
        const auto bytes = parse_hex_bytes(literal.text.substr(2));
        if (bytes && bytes->size() == 1) return *bytes;
        std::string suggestion;
        for (const char byte : bytes.value_or("").substr(0, kNamesListed))
            suggestion += fmt::format("{}{:02x}", suggestion.empty() ? "" : ":", static_cast<unsigned char>(byte));
        return std::unexpected(Misfit{"write several bytes in wire order", std::move(suggestion)});
    }
    if (auto bytes = parse_hex_bytes(literal.text); bytes && !bytes->empty()) return *bytes;
    return std::unexpected(wrong_kind(nullptr, false, literal));
}

std::string folded_name(std::string_view name) {
    std::string folded(name);
    for (char& c : folded) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == '-' || c == ' ') c = '_';
    }
    return folded;
}

std::string typed_text(std::string_view text) {
    std::string typed = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') typed.append({'\\', c});
        else if (c >= 0x20 && c < 0x7f) typed += c;
        else typed += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return typed += '"';
}

// Bare is what is no number, no operator, no field and no several words.
std::string typed_name(std::string_view name) {
    const auto tokens = tokenize(name);
    const bool word = tokens && tokens->size() == 2 && tokens->front().kind == TokenKind::word;
    const bool number = !name.empty() && name[0] >= '0' && name[0] <= '9';
    return word && !number && find_name(name) == nullptr ? std::string(name) : typed_text(name);
}

std::string in_quotes(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text.substr(0, kLongestShown))
        quoted += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
    quoted += text.size() > kLongestShown ? "...'" : "'";
    return quoted;
}

std::string_view noun(const Field* field, bool sliced) {
    if (field == nullptr || sliced) return "a string of bytes";
    switch (value_type(field->format)) {
        case ValueType::unsigned_integer: return "a number";
        case ValueType::boolean: return "true or false";
        case ValueType::mac: return "a MAC address";
        case ValueType::ipv4: return "an IPv4 address";
        case ValueType::ipv6: return "an IPv6 address";
        case ValueType::guid: return "a GUID";
        case ValueType::bytes: return "a string of bytes";
        case ValueType::text: return "a text";
        case ValueType::fixed_point: return "a number with decimals";
    }
    return "a value";
}

}  // namespace qps::dissect::filter_language
