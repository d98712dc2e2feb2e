// Where the requests of an end begin, beside the PSN that the other one announced for them in its REQ or REP (12.7.31).
#pragma once

#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/model/connection.hpp>

#include <optional>

namespace qps::transport {

struct StartingPsn {
    dissect::Psn announced;
    dissect::Psn seen;
    bool may_be_missing = false;  // what is between them, where it begins ahead
    [[nodiscard]] bool differs() const { return seen != announced; }
};

// Nothing where the other end announced none, or no request was seen.
[[nodiscard]] inline std::optional<StartingPsn> starting_psn(const Connection& connection, const CmAttempt& attempt, End end) {
    const auto& announced = (end == End::a ? attempt.passive : attempt.active).starting_psn;
    const Way& way = connection.way(end);
    if (!announced || way.requests == 0) return std::nullopt;
    const dissect::Psn seen(way.first_psn);
    const std::int32_t ahead = seen - *announced;
    return StartingPsn{*announced, seen, ahead > 0 && way.incidents->gaps.skipped >= static_cast<std::uint64_t>(ahead)};
}

}  // namespace qps::transport
