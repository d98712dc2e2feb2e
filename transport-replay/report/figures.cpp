// Numbers and names as people read them in reports.

#include <dissect/headers/infiniband.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <ranges>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {
constexpr double kNanosecondsInSecond = 1e9;

using Prefixes = std::array<std::string_view, 6>;

// "12.5 M" of 12'500'000.
std::string scaled(double number, double step, const Prefixes& prefixes, std::string_view unit) {
    std::size_t prefix = 0;
    while (number >= step && prefix + 1 < prefixes.size()) {
        number /= step;
        ++prefix;
    }
    return fmt::format("{:.4g} {}{}", number, prefixes[prefix], unit);
}

char to_lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
}  // namespace

std::string grouped(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(digits.begin() + at, ',');
    return digits;
}

std::string plural(std::string_view noun) {
    // The head of a phrase is what stands before its first preposition.
    constexpr std::array<std::string_view, 6> kPrepositions{" of ", " from ", " to ", " in ", " with ", " without "};
    std::size_t head = noun.size();
    for (const std::string_view preposition : kPrepositions) head = std::min(head, noun.find(preposition));
    const std::string_view word = noun.substr(0, head);
    const std::string_view rest = noun.substr(head);

    struct Irregular {
        std::string_view one;
        std::string_view many;
    };
    constexpr std::array kIrregular{Irregular{"matrix", "matrices"}, Irregular{"index", "indices"}};
    for (const auto& [one, many] : kIrregular)
        if (word.ends_with(one)) return fmt::format("{}{}{}", word.substr(0, word.size() - one.size()), many, rest);

    constexpr std::string_view kVowels = "aeiou";
    const bool hissing = word.ends_with('s') || word.ends_with('x') || word.ends_with("ch") || word.ends_with("sh");
    const bool in_y =
        word.size() > 1 && word.ends_with('y') && kVowels.find(word[word.size() - 2]) == std::string_view::npos;
    if (in_y) return fmt::format("{}ies{}", word.substr(0, word.size() - 1), rest);
    return fmt::format("{}{}{}", word, hissing ? "es" : "s", rest);
}

std::string counted(std::uint64_t number, std::string_view noun) {
    return fmt::format("{} {}", grouped(number), number == 1 ? std::string(noun) : plural(noun));
}

std::string duration_text(Duration duration) {
    return human_time(static_cast<double>(std::to_underlying(duration)) / kNanosecondsInSecond);
}

std::string seconds_text(Duration since_start) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    constexpr std::int64_t kMicrosecond = 1'000;
    const std::int64_t nanoseconds = std::to_underlying(since_start);
    const bool before = nanoseconds < 0;
    const std::uint64_t size =
        before ? 0 - static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
    return fmt::format("{}{}.{:06}", before ? "-" : "", size / kSecond, size % kSecond / kMicrosecond);
}

std::string bytes_text(std::uint64_t bytes) {
    constexpr Prefixes kBinary{"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    if (bytes < 1024) return counted(bytes, "byte");
    return scaled(static_cast<double>(bytes), 1024, kBinary, "B");
}

std::string rate_text(double bits_per_second) {
    constexpr Prefixes kDecimal{"", "k", "M", "G", "T", "P"};
    return scaled(bits_per_second, 1000, kDecimal, "bit/s");
}

double per_second(std::uint64_t count, Duration during) {
    const auto nanoseconds = static_cast<double>(std::to_underlying(during));
    return nanoseconds > 0 ? static_cast<double>(count) * kNanosecondsInSecond / nanoseconds : 0;
}

std::string_view service_name(Service service) {
    constexpr std::array<std::string_view, 10> kNames{"RC",  "UC",       "RD",       "UD",    "CNP",
                                                      "XRC", "vendor 6", "vendor 7", "iWARP", "UET"};
    return kNames[static_cast<std::size_t>(service) % kNames.size()];
}

std::string ends_text(const Connection& connection) {
    return fmt::format("{} <-> {}", text(connection.ends[0]), text(connection.ends[1]));
}

std::string nak_text(std::uint8_t code) {
    for (const ValueName& row : kNakCodes) {
        if (row.value != code) continue;
        std::string text;
        for (const auto word : std::views::split(row.name, '_')) {
            if (!text.empty()) text += ' ';
            const std::string_view letters(word);
            if (letters == "PSN" || letters == "RD") text += letters;  // short for something
            else std::ranges::transform(letters, std::back_inserter(text), to_lower);
        }
        return text;
    }
    return fmt::format("reserved code {}", code);
}

}  // namespace qps::transport
