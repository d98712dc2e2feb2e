#include <transport-replay/model/rate_control.hpp>

#include <algorithm>
#include <cmath>

namespace qps::transport {

namespace {

// How much it takes to say anything. Shares are those of Wilson's interval at 95 % (one-sided 97.5 %), on the side that
// is against us.
constexpr std::uint64_t kFewestSteps = 12;  // of each kind
constexpr std::uint64_t kFewestGrants = 24;
constexpr std::uint64_t kFewestPackets = 512;
constexpr double kFallsOften = 0.5;   // of the steps after a signal, at least
constexpr double kFallsSeldom = 0.3;  // of the steps without, at most
constexpr double kApart = 0.25;       // and so far apart, at least
constexpr double kSteady = 1.5;       // between the slowest and the fastest of who follows nothing
constexpr double kHardly = 0.25;      // where a signal has no effect, at most

struct Interval {
    double low = 0;
    double high = 1;
};

Interval wilson(RateSteps all) {
    if (all.steps == 0) return {};
    constexpr double kZ = 1.96;
    const auto n = static_cast<double>(all.steps);
    const double share = static_cast<double>(all.falls) / n;
    const double middle = share + kZ * kZ / (2 * n);
    const double half = kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
    const double scale = 1 + kZ * kZ / n;
    return {std::max(0.0, (middle - half) / scale), std::min(1.0, (middle + half) / scale)};
}

bool enough(RateSteps all) { return all.steps >= kFewestSteps; }

bool makes_fall(RateSteps with, RateSteps without) {
    if (!enough(with) || !enough(without)) return false;
    const double low = wilson(with).low, high = wilson(without).high;
    return low >= kFallsOften && high <= kFallsSeldom && low - high >= kApart;
}

// What obeys CNPs alone is steady else.
bool is_steady(RateSteps without) { return without.falls * 20 <= without.steps; }

bool without_effect(RateSteps with) { return enough(with) && wilson(with).high <= kHardly; }

std::uint8_t percent(double share) { return static_cast<std::uint8_t>(std::lround(100 * std::clamp(share, 0.0, 1.0))); }

// How surely a fall tells a signal from none: half of the ways to be right about each.
std::uint8_t certainty(RateSteps with, RateSteps without) {
    return percent((wilson(with).low + 1 - wilson(without).high) / 2);
}

RateVerdict undecided(std::string_view why) { return {RateFollows::undecided, 0, why}; }

bool paced_by_grants(const RateControl& control) {
    return control.granted >= kFewestGrants && control.granted >= 2 * control.unasked &&
           control.beyond * 20 <= control.granted;
}

}  // namespace

RateVerdict judge(const RateControl& control) {
    if (paced_by_grants(control)) {
        const RateSteps waited{control.granted + control.unasked + control.beyond, control.granted};
        return {RateFollows::grants, percent(wilson(waited).low), {}};
    }
    const bool by_cnp =
        makes_fall(control.at_cnp, control.before_cnp) && is_steady(control.before_cnp) && is_steady(control.quiet);
    const bool by_rise = makes_fall(control.after_rise, control.quiet);
    if (by_cnp && by_rise) return undecided("it fell at CNPs, and after rises of the round-trip time without one");
    if (by_cnp) return {RateFollows::notifications, certainty(control.at_cnp, control.before_cnp), {}};
    if (by_rise) {
        if (control.window_kept * 5 > control.after_rise.falls * 3)
            return undecided("it keeps as much under way, so the round-trip time alone sets its rate");
        return {RateFollows::round_trips, certainty(control.after_rise, control.quiet), {}};
    }
    if (control.granted * 4 >= control.unasked + 4)
        return undecided("it waited for some credits of the receiver, and not for others");
    const RateSteps rises = control.after_rise + control.after_both;
    if (without_effect(control.at_cnp) && without_effect(rises) && control.fastest <= control.slowest * kSteady)
        return {RateFollows::nothing, percent(1 - std::max(wilson(control.at_cnp).high, wilson(rises).high)), {}};
    if (control.packets < kFewestPackets) return undecided("too few packets of long messages");
    if (control.round_trips == 0 && control.cnps == 0)
        return undecided("neither acknowledgments nor CNPs are in the capture");
    if (!enough(control.at_cnp) && !enough(rises)) return undecided("too few CNPs and rises of the round-trip time");
    if (!enough(control.at_cnp))
        return undecided("too few CNPs, and its rate and the round-trip time show no clear rule");
    if (!enough(rises))
        return undecided("too few rises of the round-trip time, and its rate and the CNPs show no clear rule");
    if (!enough(control.after_rise)) return undecided("CNPs and rises of the round-trip time came together");
    return undecided("its rate shows no clear rule");
}

}  // namespace qps::transport
