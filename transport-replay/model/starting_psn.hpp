// Where the requests of an end begin, beside the PSN that the other one announced for them in its REQ or REP (12.7.31).
#pragma once

#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/model/connection.hpp>

#include <optional>

namespace qps::transport {

inline constexpr dissect::Duration kShortestPacket{5};  // on one queue pair: 200 million packets a second

struct StartingPsn {
    dissect::Psn announced;
    dissect::Psn seen;
    bool may_be_missing = false;  // what is between them
    [[nodiscard]] bool differs() const { return seen != announced; }
};

// Nothing where the other end announced none, or no request was seen. What looks as if it was behind may be ahead by almost all PSNs, where
// there was time for so many packets since the REP.
[[nodiscard]] inline std::optional<StartingPsn> starting_psn(const Connection& connection, const CmAttempt& attempt, End end) {
    const auto& announced = (end == End::a ? attempt.passive : attempt.active).starting_psn;
    const Way& way = connection.way(end);
    if (!announced || way.requests == 0) return std::nullopt;
    const dissect::Psn seen(way.first_psn);
    const std::int32_t ahead = seen - *announced;
    if (ahead > 0 && ahead <= kFarPsn) return StartingPsn{*announced, seen, way.incidents->gaps.skipped >= static_cast<std::uint64_t>(ahead)};
    // Of an end that answered as well, nobody knows when it asked first.
    const dissect::Instant begun = way.acks + way.read_responses == 0 ? way.first_time : way.last_time;
    const dissect::Duration least{std::int64_t{announced->steps_to(seen)} * static_cast<std::int64_t>(kShortestPacket)};
    const bool time_enough = attempt.answered && begun - *attempt.answered >= least;
    return StartingPsn{*announced, seen, ahead != 0 && time_enough};
}

}  // namespace qps::transport
