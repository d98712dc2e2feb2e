#include <dissect/base/parse_instant.hpp>
#include <dissect/base/parse_value.hpp>

#include <algorithm>
#include <chrono>

namespace qps::dissect {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;  // ns

// Takes what it reads from the front of `text`.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}
    // Exactly so many digits.
    std::optional<std::int64_t> digits(std::size_t count, std::uint64_t most) {
        if (rest_.size() < count) return std::nullopt;
        const auto number = parse_decimal(rest_.substr(0, count), most);
        if (!number) return std::nullopt;
        rest_.remove_prefix(count);
        return static_cast<std::int64_t>(*number);
    }
    bool letter(std::string_view any_of) {
        if (rest_.empty() || !any_of.contains(rest_.front())) return false;
        rest_.remove_prefix(1);
        return true;
    }
    // Decimals of a second in nanoseconds: one to nine.
    std::optional<std::int64_t> decimals() {
        const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
        constexpr std::size_t kMost = 9;
        if (count > kMost) return std::nullopt;
        auto number = digits(count, static_cast<std::uint64_t>(kSecond) - 1);
        for (std::size_t i = count; number && i < kMost; ++i) *number *= 10;
        return number;
    }
    [[nodiscard]] bool done() const { return rest_.empty(); }

private:
    std::string_view rest_;
};

// Of a day, in nanoseconds: 01:14, 01:14:08, 01:14:08.25.
std::optional<std::int64_t> time_of_day(Reader& in) {
    const auto hour = in.digits(2, 23);
    if (!hour || !in.letter(":")) return std::nullopt;
    const auto minute = in.digits(2, 59);
    if (!minute) return std::nullopt;
    std::int64_t time = (*hour * 60 + *minute) * 60 * kSecond;
    if (!in.letter(":")) return time;
    const auto second = in.digits(2, 59);
    if (!second) return std::nullopt;
    time += *second * kSecond;
    if (!in.letter(".,")) return time;
    const auto decimals = in.decimals();
    return decimals ? std::optional(time + *decimals) : std::nullopt;
}

// What a zone is ahead of UTC, in nanoseconds; 0 where none is named.
std::optional<std::int64_t> zone(Reader& in) {
    if (in.done() || in.letter("Zz")) return 0;
    const bool behind = in.letter("-");
    if (!behind && !in.letter("+")) return std::nullopt;
    const auto hours = in.digits(2, 14);
    if (!hours) return std::nullopt;
    const bool more = in.letter(":") || !in.done();
    const auto minutes = more ? in.digits(2, 59) : std::optional<std::int64_t>(0);
    if (!minutes) return std::nullopt;
    return (behind ? -1 : 1) * (*hours * 60 + *minutes) * 60 * kSecond;
}

}  // namespace

std::optional<Instant> parse_instant(std::string_view text) {
    Reader in(text);
    constexpr std::int64_t kLastYear = 2261;  // an Instant ends in April 2262
    const auto year = in.digits(4, kLastYear);
    if (!year || *year < 1970 || !in.letter("-")) return std::nullopt;
    const auto month = in.digits(2, 12);
    if (!month || !in.letter("-")) return std::nullopt;
    const auto day = in.digits(2, 31);
    if (!day) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(*year)},
                                           std::chrono::month{static_cast<unsigned>(*month)},
                                           std::chrono::day{static_cast<unsigned>(*day)}};
    if (!date.ok()) return std::nullopt;
    const std::int64_t time = std::chrono::sys_days(date).time_since_epoch().count() * 24 * 3600 * kSecond;
    if (in.done()) return Instant{time};
    if (!in.letter("Tt ")) return std::nullopt;
    const auto clock = time_of_day(in);
    const auto ahead = clock ? zone(in) : std::nullopt;
    if (!ahead || !in.done()) return std::nullopt;
    return Instant{time + *clock - *ahead};
}

}  // namespace qps::dissect
