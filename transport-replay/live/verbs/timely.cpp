#include <transport-replay/live/verbs/timely.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::verbs {

using namespace dissect;

namespace {

// Parts of one, in 2^-16: rates of 400 Gbit/s times a part stay below 2^63.
constexpr unsigned kPartBits = 16;
constexpr std::int64_t kOne = std::int64_t{1} << kPartBits;
constexpr std::int64_t kLongest = 10'000'000'000;  // nanoseconds: of a round trip; what is longer counts as that

// What a cut takes of the rate for a gradient or an excess: beta = 0.8.
constexpr std::uint64_t beta_of(std::int64_t part) {
    return static_cast<std::uint64_t>(std::clamp(part, std::int64_t{0}, kOne)) * 4 / 5;
}

}  // namespace

Timely::Timely(const TimelySettings& settings) : settings_(settings) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 47;  // bits per second
    const auto least = std::clamp<std::uint64_t>(std::to_underlying(settings.min_rate), 1, kMost);
    settings_.min_rate = BitsPerSecond{least};
    settings_.line_rate = BitsPerSecond{std::clamp(std::to_underlying(settings.line_rate), least, kMost)};
    settings_.additive = BitsPerSecond{std::clamp<std::uint64_t>(std::to_underlying(settings.additive), 1, kMost)};
    settings_.low = Duration{std::clamp<std::int64_t>(std::to_underlying(settings.low), 0, kLongest)};
    settings_.high = Duration{
        std::clamp<std::int64_t>(std::to_underlying(settings.high), std::to_underlying(settings_.low), kLongest)};
    settings_.hyper_after = std::clamp(settings.hyper_after, 1U, 1024U);
    rate_ = std::to_underlying(settings_.line_rate);
}

void Timely::on_round_trip(Duration took, Instant now) {
    const std::int64_t found = std::clamp<std::int64_t>(std::to_underlying(took), 1, kLongest);
    if (shortest_ == 0) shortest_ = raw_ = last_ = found;
    const std::int64_t trip = std::min(found, std::exchange(raw_, found));
    shortest_ = std::min(shortest_, found);
    measure(now);
    difference_ += (trip - std::exchange(last_, trip) - difference_) * 7 / 8;
    falling_ = difference_ <= 0 ? std::min(falling_ + 1, settings_.hyper_after) : 0;
    const std::int64_t low = shortest_ + std::to_underlying(settings_.low),
                       high = shortest_ + std::to_underlying(settings_.high);
    if (trip < low) return raise(1);
    if (trip > high) return cut(beta_of(kOne - high * kOne / trip), now);
    if (difference_ <= 0) return raise(falling_ == settings_.hyper_after ? settings_.hyper_after : 1);
    cut(beta_of(std::min(difference_, low) * kOne / low), now);
}

// Half, as the deepest cut of Swift (Kumar et al., SIGCOMM 2020). Losses of one round trip are one.
void Timely::on_loss(Instant now) {
    if (lost_ && now - *lost_ < Duration{raw_}) return;
    lost_ = now;
    measure(now);
    cut(static_cast<std::uint64_t>(kOne / 2), now);
}

// What was sent since the last time, while nothing limited it.
void Timely::measure(Instant now) {
    constexpr std::uint64_t kSecond = 1'000'000'000,
                            kMostBytes = std::uint64_t{1} << 30;  // bits times nanoseconds stay below 2^63
    const std::int64_t lasted = std::to_underlying(now - since_);
    if (lasted > 0 && sent_ > 0 && since_ != Instant{})
        sending_ = std::min(sent_, kMostBytes) * 8 * kSecond / static_cast<std::uint64_t>(lasted);
    sent_ = 0;
    since_ = now;
}

void Timely::raise(std::uint64_t steps) {
    if (!limited_) return;
    rate_ += steps * std::to_underlying(settings_.additive);
    if (rate_ < std::to_underlying(settings_.line_rate)) return;
    rate_ = std::to_underlying(settings_.line_rate);
    limited_ = false;
    pacing_.end();
}

// Of the rate that was sent twice as much at first, and ten steps at least: who sends little is not slowed down to that
// by a single long trip.
void Timely::cut(std::uint64_t part, Instant now) {
    constexpr std::uint64_t kLeastSteps = 10;
    const std::uint64_t additive = std::to_underlying(settings_.additive);
    if (!limited_ && sending_ != 0)
        rate_ = std::min(rate_, std::max(2 * std::min(sending_, rate_), kLeastSteps * std::min(additive, rate_)));
    rate_ = std::max(rate_ - (rate_ * part >> kPartBits), std::to_underlying(settings_.min_rate));
    if (!std::exchange(limited_, true)) pacing_.begin(now);
}

}  // namespace qps::transport::verbs
