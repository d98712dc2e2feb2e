#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/rates.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

namespace {

// "12 of 40".
std::string of(RateSteps steps) { return fmt::format("{} of {}", grouped(steps.falls), grouped(steps.steps)); }

}  // namespace

std::string follows_text(const RateControl& rate, const RateVerdict& verdict) {
    const RateSteps rises = rate.after_rise + rate.after_both;
    switch (verdict.follows) {
        case RateFollows::notifications:
            return fmt::format("slows down at CNPs, as DCQCN does: at {}, before them at {} (certainty {} %)",
                               of(rate.at_cnp), grouped(rate.before_cnp.falls), verdict.certainty);
        case RateFollows::round_trips:
            return fmt::format(
                "slows down when the round-trip time rises, as TIMELY and Swift do: after {} rises, and at {} other times "
                "(certainty {} %)",
                of(rate.after_rise), of(rate.quiet), verdict.certainty);
        case RateFollows::grants:
            return fmt::format("is paced by the credits of its receiver: {} of {} began when one came (certainty {} %)",
                               grouped(rate.granted), counted(rate.granted + rate.unasked + rate.beyond, "SEND"),
                               verdict.certainty);
        case RateFollows::nothing:
            return fmt::format(
                "slows down neither at CNPs ({}) nor when the round-trip time rises ({}; certainty {} %)",
                of(rate.at_cnp), of(rises), verdict.certainty);
        case RateFollows::undecided: break;
    }
    return fmt::format("undecided: {}", verdict.why);
}

std::string sender_text(const RateControl& rate, const Timeline& timeline) {
    const Connection* const connection = timeline.find(rate.connection);
    if (connection == nullptr) return fmt::format("#{}", std::to_underlying(rate.connection));
    return fmt::format("{} to {} (#{})", text(connection->end(rate.from).address),
                       text(connection->end(other(rate.from))), std::to_underlying(rate.connection));
}

const RateControl* find_rate(const CongestionReport& congestion, ConnectionId connection, End from) {
    const auto way = [](const RateControl& one) { return std::pair(one.connection, one.from); };
    const auto found = std::ranges::lower_bound(congestion.rates, std::pair(connection, from), {}, way);
    return found != congestion.rates.end() && way(*found) == std::pair(connection, from) ? &*found : nullptr;
}

}  // namespace qps::transport
