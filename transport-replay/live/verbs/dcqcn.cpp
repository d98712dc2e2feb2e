#include <transport-replay/live/verbs/dcqcn.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::verbs {

using namespace dissect;

namespace {

// A raise halves the way to the target; 64 of them leave nothing of any 64-bit rate. Then only steps are taken, and
// each is one bit per second at least: who slept longer than that many periods is at its target.
constexpr int kMaxCatchUp = 4096;

}  // namespace

Dcqcn::Dcqcn(const DcqcnSettings& settings) : settings_(settings) {
    const auto least = std::max<std::uint64_t>(std::to_underlying(settings.min_rate), 1);
    const auto line = std::max(std::to_underlying(settings.line_rate), least);
    settings_.min_rate = BitsPerSecond{least};
    settings_.line_rate = BitsPerSecond{line};
    settings_.gain_shift = std::clamp<std::uint32_t>(settings.gain_shift, 1, 16);
    settings_.alpha_period = std::max(settings.alpha_period, microseconds(1));
    settings_.rate_period = std::max(settings.rate_period, microseconds(1));
    settings_.bytes_per_raise = std::max<std::uint64_t>(settings.bytes_per_raise, 1);
    release();
}

void Dcqcn::release() {
    limited_ = false;
    rate_ = target_ = std::to_underlying(settings_.line_rate);
    alpha_ = kAlphaOne;
    pacing_.end();
}

void Dcqcn::on_cnp(Instant now) {
    advance(now);
    if (limited_ && now - last_cut_ < settings_.cut_gap) return;
    target_ = rate_;
    const std::uint64_t cut =
        (rate_ >> (kAlphaBits + 1)) * alpha_ + ((rate_ & (2 * kAlphaOne - 1)) * alpha_ >> (kAlphaBits + 1));
    rate_ = std::max(rate_ - cut, std::to_underlying(settings_.min_rate));
    alpha_ += (kAlphaOne - alpha_) >> settings_.gain_shift;
    raises_by_time_ = raises_by_bytes_ = 0;
    bytes_ = 0;
    last_cut_ = now;
    alpha_due_ = now + settings_.alpha_period;
    rate_due_ = now + settings_.rate_period;
    if (!limited_) pacing_.begin(now);
    limited_ = true;
    ++cuts_;
}

void Dcqcn::advance(Instant now) {
    for (int i = 0; limited_ && alpha_due_ <= now; ++i) {
        if (i == kMaxCatchUp) alpha_due_ = now;
        alpha_ -= alpha_ >> settings_.gain_shift;
        alpha_due_ = alpha_due_ + settings_.alpha_period;
    }
    for (int i = 0; limited_ && rate_due_ <= now; ++i) {
        if (i == kMaxCatchUp) rate_due_ = now;
        rate_due_ = rate_due_ + settings_.rate_period;
        raise(++raises_by_time_, raises_by_bytes_);
    }
}

// One raise, however it came about: fast recovery first, hyper increase once both ways have passed it.
void Dcqcn::raise(std::uint32_t by_time, std::uint32_t by_bytes) {
    const std::uint32_t fast = settings_.fast_recovery_raises;
    const auto line = std::to_underlying(settings_.line_rate);
    const std::uint64_t step = [&]() -> std::uint64_t {
        if (std::max(by_time, by_bytes) <= fast) return 0;
        const std::uint32_t both = std::min(by_time, by_bytes);
        return both <= fast ? std::to_underlying(settings_.additive)
                            : (both - fast) * std::to_underlying(settings_.hyper);
    }();
    target_ = step > line - std::min(target_, line) ? line : target_ + step;
    rate_ += (target_ - rate_ + 1) / 2;
    if (rate_ >= line) release();
}

void Dcqcn::on_sent(std::uint64_t bytes, Instant now) {
    if (!limited_) return;
    advance(now);
    bytes_ += bytes;
    while (limited_ && bytes_ >= settings_.bytes_per_raise) {
        bytes_ -= settings_.bytes_per_raise;
        raise(raises_by_time_, ++raises_by_bytes_);
    }
    if (limited_) pacing_.on_sent(bytes, rate_, settings_.burst, now);
}

bool CnpPacer::allow(Instant now) {
    if (sent_ && now - last_ < kCnpGap) return false;
    sent_ = true;
    last_ = now;
    return true;
}

}  // namespace qps::transport::verbs
