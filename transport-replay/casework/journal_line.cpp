// Reads members of an object by name: a journal has each once, and texts without objects within.
#include <dissect/base/parse_value.hpp>
#include <transport-replay/casework/journal_line.hpp>

#include <chrono>
#include <cstdint>

#include <fmt/format.h>

namespace qps::casework {

namespace {

// The text of a member, with its escapes undone; what is not ASCII becomes '?'.
std::optional<std::string> member(std::string_view line, std::string_view name) {
    const std::string key = fmt::format("\"{}\"", name);
    std::size_t at = line.find(key);
    if (at == std::string_view::npos) return std::nullopt;
    at = line.find_first_not_of(" :", at + key.size());
    if (at == std::string_view::npos || line[at] != '"') return std::nullopt;
    std::string text;
    for (++at; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] != '\\') {
            text += line[at];
            continue;
        }
        if (++at == line.size()) break;
        const char c = line[at];
        if (c == 'u') {
            const std::string_view digits = line.substr(at + 1, 4);
            unsigned value = 0;
            for (const char digit : digits)
                value = value << 4U | static_cast<unsigned>(dissect::hex_digit(digit).value_or(0));
            text += value >= 0x20 && value < 0x7f ? static_cast<char>(value) : value == 0x1b ? '\x1b' : '?';
            at += digits.size();
        } else {
            text += c == 'n' || c == 't' || c == 'r' ? ' ' : c;
        }
    }
    return text;
}

}  // namespace

std::optional<std::string> journal_line(std::string_view line) {
    if (!line.starts_with('{') || !line.contains("\"MESSAGE\"") || !line.contains("\"__REALTIME_TIMESTAMP\""))
        return std::nullopt;
    const auto message = member(line, "MESSAGE");
    const auto stamp = member(line, "__REALTIME_TIMESTAMP");
    const auto micros = stamp ? dissect::parse_decimal(*stamp, INT64_MAX / 1000) : std::nullopt;
    if (!message || !micros) return std::nullopt;
    const auto host = member(line, "_HOSTNAME");
    const bool kernel = member(line, "_TRANSPORT") == "kernel";
    const auto name = member(line, "SYSLOG_IDENTIFIER");
    const std::chrono::sys_seconds second{std::chrono::seconds(*micros / 1'000'000)};
    const auto day = std::chrono::floor<std::chrono::days>(second);
    const std::chrono::year_month_day date{day};
    const auto rest = (second - day).count();
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z {} {}: {}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), rest / 3600,
                       rest / 60 % 60, rest % 60, *micros % 1'000'000, host.value_or("-"),
                       kernel ? "kernel" : name.value_or("journal"), *message);
}

}  // namespace qps::casework
