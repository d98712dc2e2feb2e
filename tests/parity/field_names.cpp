// The fields that tshark and qpscope both know, and the one form in which their values are compared.
#include <tests/parity/field_names.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>

#include <arpa/inet.h>

namespace qps::test {

namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

std::optional<std::uint64_t> number(std::string_view text, int base) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// Where tshark has bytes, theirs are hex digits and ours a number.
std::string canonical_number(std::string_view text, bool bytes) {
    constexpr int kHex = 16;
    constexpr int kDecimal = 10;
    if (text == "True") return "1";
    if (text == "False") return "0";
    const bool prefixed = text.starts_with("0x");
    const auto value = prefixed ? number(text.substr(2), kHex) : number(text, bytes ? kHex : kDecimal);
    return value ? std::to_string(*value) : std::string(text);
}

std::string hex(std::string_view text) {
    std::string digits = lower(text);
    std::erase(digits, ':');
    return digits;
}

// Two digits a byte.
std::string digits_of(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    constexpr unsigned kHigh = 4, kLow = 0xf;
    std::string digits;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        digits += kDigits[byte >> kHigh];
        digits += kDigits[byte & kLow];
    }
    return digits;
}

std::string address_bytes(std::string_view text) {
    std::string bytes(sizeof(in6_addr), '\0');
    return inet_pton(AF_INET6, std::string(text).c_str(), bytes.data()) == 1 ? digits_of(bytes) : hex(text);
}

std::string canonical(const SharedField& field, Writer writer, std::string_view text) {
    if (field.our_type == "integer" || field.our_type == "boolean" || field.our_type == "guid")
        return canonical_number(text, writer == Writer::tshark && field.their_type == "FT_BYTES");
    if (field.our_type == "bytes") return hex(text);
    if (field.our_type == "ipv6" && field.their_type == "FT_BYTES") return address_bytes(text);
    if (field.our_type == "decimal" && text.contains('.')) {
        text = text.substr(0, text.find_last_not_of('0') + 1);
        return std::string(text.substr(0, text.find_last_not_of('.') + 1));
    }
    if (field.our_type != "text") return lower(text);
    if (field.their_type != "FT_BYTES") return std::string(text);
    return writer == Writer::qpscope ? digits_of(text) : hex(text);
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

std::vector<SharedField> shared_fields(std::string_view ours, std::string_view theirs) {
    std::map<std::string_view, std::string_view> their_types;
    for (const std::string_view line : split(theirs, '\n'))
        if (line.starts_with("F\t"))
            if (const auto cells = split(line, '\t'); cells.size() > 3) their_types.emplace(cells[2], cells[3]);
    std::vector<SharedField> fields;
    for (const std::string_view line : split(ours, '\n')) {
        const auto cells = split(line, '\t');
        // A field that is known from earlier packets has the payloads decoded that connections are known for, which
        // tshark does not do.
        if (cells.size() < 4 || cells[1] == "presence" || cells[3].ends_with("known from earlier packets")) continue;
        if (const auto found = their_types.find(cells[0]); found != their_types.end())
            fields.push_back({std::string(cells[0]), std::string(cells[1]), std::string(found->second)});
    }
    return fields;
}

std::vector<std::string> canonical_values(const SharedField& field, Writer writer, std::string_view cell) {
    std::vector<std::string> values;
    if (cell.empty()) return values;
    for (const std::string_view text : field.our_type == "text" ? std::vector{cell} : split(cell, ','))
        values.push_back(canonical(field, writer, text));
    return values;
}

}  // namespace qps::test
