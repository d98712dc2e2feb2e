// RateControl: what limits the rate of one queue pair, DCQCN by its peer's CNPs or TIMELY by its round trips. A value.
#pragma once

#include <transport-replay/live/verbs/dcqcn.hpp>
#include <transport-replay/live/verbs/timely.hpp>

#include <variant>

namespace qps::transport::verbs {

class RateControl {
public:
    explicit RateControl(const DcqcnSettings& settings) : by_(Dcqcn(settings)) {}
    explicit RateControl(const TimelySettings& settings) : by_(Timely(settings)) {}

    void on_cnp(dissect::Instant now) {
        if (Dcqcn* by = std::get_if<Dcqcn>(&by_)) by->on_cnp(now);
    }
    void on_round_trip(dissect::Duration took, dissect::Instant now) {
        if (Timely* by = std::get_if<Timely>(&by_)) by->on_round_trip(took, now);
    }
    void on_loss(dissect::Instant now) {
        if (Timely* by = std::get_if<Timely>(&by_)) by->on_loss(now);
    }
    void on_sent(std::uint64_t bytes, dissect::Instant now) {
        std::visit([&](auto& by) { by.on_sent(bytes, now); }, by_);
    }
    void advance(dissect::Instant now) {
        if (Dcqcn* by = std::get_if<Dcqcn>(&by_)) by->advance(now);
    }
    [[nodiscard]] bool limited() const {
        return std::visit([](const auto& by) { return by.limited(); }, by_);
    }
    [[nodiscard]] dissect::BitsPerSecond rate() const {
        return std::visit([](const auto& by) { return by.rate(); }, by_);
    }
    [[nodiscard]] dissect::Instant next_send() const {
        return std::visit([](const auto& by) { return by.next_send(); }, by_);
    }

private:
    std::variant<Dcqcn, Timely> by_;
};

}  // namespace qps::transport::verbs
