// Reads dates that stand alone on a line, as `date` prints them: they date the dumps that follow.
#include <transport-replay/casework/line_pattern.hpp>
#include <transport-replay/casework/readers.hpp>

#include <array>
#include <chrono>
#include <string>

namespace qps::casework {

namespace {

struct Clock {
    int hours = 0, minutes = 0, seconds = 0;
};

// Seconds since 1970, as if the date were of UTC; nothing where there is no such day.
std::optional<std::int64_t> seconds_of(int year, int month, int day, const Clock& clock) {
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return std::nullopt;
    const auto days = std::chrono::sys_days(date).time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(days).count() + std::int64_t{clock.hours} * 3600 +
           clock.minutes * 60 + clock.seconds;
}

int month_of(std::string_view name) {
    constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const std::size_t at = kMonths.find(name);
    return at == std::string_view::npos || at % 3 != 0 ? 0 : static_cast<int>(at / 3) + 1;
}

}  // namespace

std::string_view take_date(std::string_view line, LineState& state, Case&) {
    static const RE2 usual(
        R"(^(?:[Dd]ate: *)?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (\w{3}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) (?:([AP])M )?([A-Z]\w{1,5}|[+-]\d{2,4}) (\d{4})\s*$)");
    static const RE2 iso(
        R"(^(?:[Dd]ate: *)?(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,]\d+)? ?(Z|UTC|[+-]\d\d:?\d\d|)\s*$)");
    constexpr std::size_t kShortest = 19, kLongest = 80;
    if (line.size() < kShortest || line.size() > kLongest) return {};
    std::string month, half, zone;
    int year = 0, number = 0, day = 0;
    Clock clock;
    if (finds(line, usual, &month, &day, &clock.hours, &clock.minutes, &clock.seconds, &half, &zone, &year)) {
        number = month_of(month);
        if (!half.empty()) clock.hours = clock.hours % 12 + (half == "P" ? 12 : 0);
    } else if (!finds(line, iso, &year, &number, &day, &clock.hours, &clock.minutes, &clock.seconds, &zone)) {
        return {};
    }
    const auto seconds = number == 0 ? std::nullopt : seconds_of(year, number, day, clock);
    if (!seconds) return {};
    state.zone = zone.empty() ? "local" : zone == "Z" ? "UTC" : zone;
    state.local_time = *seconds;
    state.dump = SIZE_MAX;  // what follows is another reading
    return "date";
}

}  // namespace qps::casework
