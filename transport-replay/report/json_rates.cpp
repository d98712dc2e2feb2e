// Writes for programs what the rates of senders follow.
#include <transport-replay/model/congestion_report.hpp>
#include <transport-replay/report/json.hpp>

#include <optional>
#include <utility>

namespace qps::transport {

namespace {

void add_steps(Document& document, std::string_view name, const RateSteps& steps) {
    document.open(name);
    document.add("steps", steps.steps);
    document.add("decreases", steps.falls);
    document.close();
}

std::optional<std::uint64_t> bits(double per_second) {
    return per_second > 0 && per_second < 1e18 ? std::optional(static_cast<std::uint64_t>(per_second)) : std::nullopt;
}

std::optional<std::int64_t> mean_round_trip(const RateControl& rate) {
    if (rate.round_trips == 0) return std::nullopt;
    return std::to_underlying(rate.all_round_trips) / static_cast<std::int64_t>(rate.round_trips);
}

}  // namespace

void add_rate(Document& document, const RateControl& rate) {
    const RateVerdict verdict = judge(rate);
    const bool measured = rate.round_trips != 0;
    document.add("connection", rate.connection);
    document.add("from", rate.from == End::a ? "a" : "b");
    document.add("follows", kRateFollowsNames[static_cast<std::size_t>(verdict.follows)]);
    document.add("certainty_percent", verdict.certainty == 0 ? std::nullopt : std::optional(verdict.certainty));
    document.add("reason", verdict.why.empty() ? std::nullopt : std::optional(verdict.why));
    document.add("first_frame", rate.first_frame);
    document.add("last_frame", rate.last_frame);
    document.add("packets", rate.packets);
    document.add("step_ns", rate.step);
    document.add("slowest_bits_per_second", bits(rate.slowest));
    document.add("fastest_bits_per_second", bits(rate.fastest));
    document.add("round_trips", rate.round_trips);
    document.add("round_trip_min_ns", measured ? std::optional(rate.least_round_trip) : std::nullopt);
    document.add("round_trip_mean_ns", mean_round_trip(rate));
    document.add("round_trip_max_ns", measured ? std::optional(rate.most_round_trip) : std::nullopt);
    document.add("cnps", rate.cnps);
    add_steps(document, "at_cnp", rate.at_cnp);
    add_steps(document, "before_cnp", rate.before_cnp);
    add_steps(document, "after_rise", rate.after_rise);
    add_steps(document, "after_rise_with_cnp", rate.after_both);
    add_steps(document, "other", rate.quiet);
    document.add("window_kept", rate.window_kept);
    document.add("disturbed", rate.disturbed);
    document.add("granted", rate.granted);
    document.add("without_waiting", rate.unasked);
    document.add("beyond_credits", rate.beyond);
}

}  // namespace qps::transport
