// OrderedSpan: a time that cannot run backwards. Clocks of two taps disagree, and recorders step back; what is computed
// from such records must not end before it begins all the same, so that no sum of durations can become negative.
#pragma once

#include <dissect/base/types.hpp>

#include <algorithm>

namespace qps::transport {

class OrderedSpan {
public:
    constexpr OrderedSpan() = default;
    explicit constexpr OrderedSpan(dissect::Instant begin) : begin_(begin), end_(begin) {}

    [[nodiscard]] constexpr dissect::Instant begin() const { return begin_; }
    // The beginning, until end_at() was called.
    [[nodiscard]] constexpr dissect::Instant end() const { return end_; }
    [[nodiscard]] constexpr bool has_ended() const { return has_ended_; }
    // Never negative.
    [[nodiscard]] constexpr dissect::Duration length() const { return end_ - begin_; }

    // A time before the beginning counts as the beginning.
    constexpr void end_at(dissect::Instant time) {
        end_ = std::max(begin_, time);
        has_ended_ = true;
    }

private:
    friend struct PrivateMembers;  // parts/private_members.hpp
    dissect::Instant begin_{};
    dissect::Instant end_{};
    bool has_ended_ = false;
};

}  // namespace qps::transport
