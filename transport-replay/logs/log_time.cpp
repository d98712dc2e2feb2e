// Reads the times of lines of logs.
#include <dissect/base/parse_value.hpp>
#include <transport-replay/logs/log_time.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace qps::transport {

using dissect::Instant;
using dissect::kNanosecondsPerSecond;
using dissect::parse_decimal;

namespace {

constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

// The rest of a line, and what is taken from its front.
class Reader {
public:
    explicit Reader(std::string_view rest) : rest_(rest) {}

    [[nodiscard]] bool take(char wanted) {
        if (rest_.empty() || rest_[0] != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }
    [[nodiscard]] bool at(std::string_view any) const { return !rest_.empty() && any.contains(rest_[0]); }
    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }
    // From `least` to `most` digits.
    [[nodiscard]] std::optional<std::uint64_t> digits(std::size_t least, std::size_t most) {
        const std::size_t length = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
        if (length < least || length > most) return std::nullopt;
        const auto value = parse_decimal(rest_.substr(0, length));
        rest_.remove_prefix(length);
        return value;
    }
    // One of some words of three letters, by its place.
    template <std::size_t kSize>
    [[nodiscard]] std::optional<std::size_t> word(const std::array<std::string_view, kSize>& words) {
        const auto found = std::ranges::find(words, rest_.substr(0, std::min<std::size_t>(3, rest_.size())));
        if (found == words.end()) return std::nullopt;
        rest_.remove_prefix(3);
        return static_cast<std::size_t>(found - words.begin());
    }
    // ".5", ",123456": in nanoseconds, of at most nine digits; 0 where there is none.
    [[nodiscard]] std::int64_t fraction() {
        if (!at(".,") || rest_.size() < 2 || rest_[1] < '0' || rest_[1] > '9') return 0;
        rest_.remove_prefix(1);
        std::int64_t value = 0;
        std::size_t taken = 0;
        for (; taken < rest_.size() && rest_[taken] >= '0' && rest_[taken] <= '9'; ++taken)
            if (taken < 9) value = value * 10 + (rest_[taken] - '0');
        for (std::size_t i = taken; i < 9; ++i) value *= 10;
        rest_.remove_prefix(taken);
        return value;
    }

private:
    std::string_view rest_;
};

struct Civil {
    std::int64_t year = 0;
    std::uint64_t month = 0;  // from 1
    std::uint64_t day = 0;
    std::int64_t nanosecond = 0;  // of the day
};

std::optional<Instant> instant(const Civil& civil) {
    constexpr std::int64_t kLeastYear = 1970;
    constexpr std::int64_t kMostYear = 2200;  // 64 bits of nanoseconds end in 2262
    if (civil.year < kLeastYear || civil.year > kMostYear) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(civil.year)),
                                           std::chrono::month(static_cast<unsigned>(civil.month)),
                                           std::chrono::day(static_cast<unsigned>(civil.day))};
    if (!date.ok()) return std::nullopt;
    constexpr std::int64_t kDay = 24 * 60 * 60 * kNanosecondsPerSecond;
    return Instant{std::chrono::sys_days(date).time_since_epoch().count() * kDay + civil.nanosecond};
}

// "00:40:12.345", as nanoseconds of the day.
std::optional<std::int64_t> time_of_day(Reader& reader) {
    const auto hour = reader.digits(1, 2);
    if (!hour || *hour > 23 || !reader.take(':')) return std::nullopt;
    const auto minute = reader.digits(2, 2);
    if (!minute || *minute > 59 || !reader.take(':')) return std::nullopt;
    const auto second = reader.digits(2, 2);
    if (!second || *second > 60) return std::nullopt;
    const auto seconds = static_cast<std::int64_t>(*hour * 3600 + *minute * 60 + *second);
    return seconds * kNanosecondsPerSecond + reader.fraction();
}

// "Z", "+01:00", "-0500", "+01" as seconds east of UTC; nothing where none of them stands there.
std::optional<std::int64_t> zone(Reader& reader) {
    if (reader.take('Z')) return 0;
    if (!reader.at("+-")) return std::nullopt;
    const bool west = reader.take('-');
    if (!west) static_cast<void>(reader.take('+'));
    const std::int64_t sign = west ? -1 : 1;
    if (const auto both = reader.digits(4, 4))
        return static_cast<std::int64_t>(*both / 100 * 3600 + *both % 100 * 60) * sign;
    const auto hours = reader.digits(2, 2);
    if (!hours) return std::nullopt;
    const auto minutes = reader.take(':') ? reader.digits(2, 2) : std::optional<std::uint64_t>(0);
    if (!minutes) return std::nullopt;
    return static_cast<std::int64_t>(*hours * 3600 + *minutes * 60) * sign;
}

// "2026-11-25T00:40:12.5+01:00", "2026/11/25 00:40:12"
std::optional<LogTime> iso(Reader reader) {
    const auto year = reader.digits(4, 4);
    if (!year || !reader.at("-/")) return std::nullopt;
    const char between = reader.take('-') ? '-' : '/';
    if (between == '/') static_cast<void>(reader.take('/'));
    const auto month = reader.digits(2, 2);
    if (!month || !reader.take(between)) return std::nullopt;
    const auto day = reader.digits(2, 2);
    if (!day || !(reader.take('T') || reader.take(' '))) return std::nullopt;
    const auto time = time_of_day(reader);
    if (!time) return std::nullopt;
    const auto read = instant({static_cast<std::int64_t>(*year), *month, *day, *time});
    if (!read) return std::nullopt;
    const auto east = zone(reader);
    if (!east) return LogTime{LogClock::local, *read};
    return LogTime{LogClock::utc, *read - dissect::Duration{*east * kNanosecondsPerSecond}};
}

// "Nov 25 00:40:12.5", and a year behind it or none.
std::optional<LogTime> by_month(Reader reader, Instant around) {
    const auto month = reader.word(kMonths);
    if (!month || !reader.take(' ')) return std::nullopt;
    reader.skip_blanks();
    const auto day = reader.digits(1, 2);
    if (!day || !reader.take(' ')) return std::nullopt;
    const auto time = time_of_day(reader);
    if (!time) return std::nullopt;
    Civil civil{0, *month + 1, *day, *time};
    Reader behind = reader;
    if (const auto year = behind.take(' ') ? behind.digits(4, 4) : std::nullopt) {
        civil.year = static_cast<std::int64_t>(*year);
        const auto read = instant(civil);
        return read ? std::optional(LogTime{LogClock::local, *read}) : std::nullopt;
    }
    const auto days = std::chrono::floor<std::chrono::days>(
        std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(std::to_underlying(around))));
    const int present = static_cast<int>(std::chrono::year_month_day(days).year());
    std::optional<Instant> best;
    for (const int year : {present - 1, present, present + 1}) {
        civil.year = year;
        const auto read = instant(civil);
        if (read && (!best || magnitude(*read - around) < magnitude(*best - around))) best = read;
    }
    return best ? std::optional(LogTime{LogClock::local, *best}) : std::nullopt;
}

// "[12345.678901]", "1732495212.123456": seconds since boot, or since 1970 where they are that many.
std::optional<LogTime> seconds(Reader reader, bool bracket) {
    constexpr std::uint64_t kLeastEpoch = 800'000'000;  // 1995; no machine runs for 25 years
    reader.skip_blanks();
    const auto whole = reader.digits(1, 10);
    if (!whole || !reader.at(".")) return std::nullopt;
    const Instant time{static_cast<std::int64_t>(*whole) * kNanosecondsPerSecond + reader.fraction()};
    if (bracket ? !reader.take(']') : !reader.at(" \t:")) return std::nullopt;
    if (*whole >= kLeastEpoch) return LogTime{LogClock::utc, time};
    return bracket ? std::optional(LogTime{LogClock::boot, time}) : std::nullopt;  // a number alone may be anything
}

}  // namespace

std::optional<LogTime> read_log_time(std::string_view line, Instant around) {
    Reader reader(line);
    if (Reader level = reader; level.take('<') && level.digits(1, 3) && level.take('>')) reader = level;  // of syslog
    reader.skip_blanks();
    const bool bracket = reader.take('[');
    if (const auto read = iso(reader)) return read;
    if (const auto read = seconds(reader, bracket)) return read;
    if (Reader day = reader; day.word(kDays) && day.take(' ')) reader = day;  // "Wed Nov 25 00:40:12 2026"
    return by_month(reader, around);
}

}  // namespace qps::transport
