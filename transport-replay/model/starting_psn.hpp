// Where the requests of an end begin, beside the PSN that the other one announced for them in its REQ or REP (12.7.31).
#pragma once

#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/model/connection.hpp>

#include <optional>
#include <vector>

namespace qps::transport {

inline constexpr dissect::Duration kShortestPacket{5};  // on one queue pair: 200 million packets a second

struct Timeline;

struct StartingPsn {
    dissect::Psn announced;
    dissect::Psn seen;
    bool may_be_missing = false;  // what is between them: nothing shows that the first request seen was the first
    [[nodiscard]] bool differs() const { return seen != announced; }
};

// Whether a request so far behind the announced PSN shows that its end began there. What looks as if it was behind may
// be ahead by almost all PSNs, where there was time for so many packets since the REP; or a corrupt PSN, from which the
// next one is as far away.
[[nodiscard]] inline bool begun_behind(const Way& way, const CmAttempt& attempt, std::int32_t behind) {
    if (!attempt.requested || !attempt.answered || behind > kFarPsn) return false;
    // Of an end that answered as well, nobody knows when it asked first.
    const dissect::Instant begun = way.acks + way.read_responses == 0 ? way.first_time : way.last_time;
    const dissect::Duration least{(std::int64_t{dissect::Psn::kMask} + 1 - behind) *
                                  static_cast<std::int64_t>(kShortestPacket)};
    const bool in_time = way.first_time >= *attempt.answered && begun - *attempt.answered < least;
    return in_time && way.incidents->gaps.skipped < static_cast<std::uint64_t>(behind);
}

// Nothing where the other end announced none, or no request was seen but corrupt ones.
[[nodiscard]] inline std::optional<StartingPsn> starting_psn(const Connection& connection, const CmAttempt& attempt,
                                                             End end) {
    const auto& announced = (end == End::a ? attempt.passive : attempt.active).starting_psn;
    const Way& way = connection.way(end);
    if (!announced || way.requests <= way.incidents->corrupt) return std::nullopt;
    const dissect::Psn seen(way.first_psn);
    const std::int32_t ahead = seen - *announced;
    const bool proven = ahead > 0 ? way.incidents->begun_ahead : begun_behind(way, attempt, -ahead);
    return StartingPsn{*announced, seen, ahead != 0 && !proven};
}

// A way whose requester went back to its first PSN again and again, and to none before it, although the responder took
// nothing and waits for an earlier one: so its NAK says, or CM. A requester goes back to the oldest request that is not
// acknowledged (9.7.5.1.1), so nothing was before that PSN.
struct RefusedStart {
    ConnectionId connection{};
    End requester{};
    dissect::Psn seen;
    dissect::Psn expected{};
    std::uint32_t go_backs = 0;
    dissect::FrameIndex nak{};  // that named the expected one; 0: none was captured
    dissect::Instant nak_time{};
};
[[nodiscard]] std::vector<RefusedStart> refused_starts(const Timeline& timeline);  // by connection and end
// nullptr: none of that way.
[[nodiscard]] const RefusedStart* find(const std::vector<RefusedStart>& starts, ConnectionId connection, End requester);

}  // namespace qps::transport
