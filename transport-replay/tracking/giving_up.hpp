// What a requester that fell silent had done: used up its retries, and so given up (completion status 12 or 13), or
// stopped before, because its queue pair was destroyed. Only the number of its transmissions tells: a job that hangs is
// usually killed, and the silence behind it is the same.
//
// What an attacker could feed: any numbers. Nothing is kept.
#pragma once

#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/recovery.hpp>

#include <algorithm>
#include <optional>

namespace qps::transport {

// How often a requester tries again before it gives up, as CM negotiated it; nothing where that was not captured.
struct Retries {
    static constexpr std::uint8_t kMost = 7;  // 3 bits (C9-142 of the compliance tests); of RNR NAKs: for ever
    std::optional<std::uint8_t> transport{};
    std::optional<std::uint8_t> rnr{};
    [[nodiscard]] std::uint8_t most_transport() const { return std::min(transport.value_or(kMost), kMost); }
    [[nodiscard]] bool is_endless_rnr() const { return rnr.value_or(kMost) >= kMost; }
};
[[nodiscard]] inline Retries negotiated(const CmAttempt& attempt) {
    Retries retries{.transport = attempt.retry_count};
    if (attempt.active.rnr_retry_count && attempt.passive.rnr_retry_count)
        retries.rnr = std::max(*attempt.active.rnr_retry_count, *attempt.passive.rnr_retry_count);
    return retries;
}

// Whether a requester has tried as often as it may: it retries as often as CM says, or as queue pairs do at most. Of
// RNR NAKs without CM only the greatest number that is not infinite tells: what exceeds it has no limit.
[[nodiscard]] inline bool used_up(const Recovery& episode, std::uint64_t rnr_naks, const Retries& retries) {
    if (episode.kind == RecoveryKind::rnr_nak) {
        if (retries.rnr) return !retries.is_endless_rnr() && rnr_naks > *retries.rnr;
        return rnr_naks == Retries::kMost;
    }
    return episode.rounds >= retries.most_transport();
}

// Whether a requester goes back to a PSN although none of its answers was captured: all before it was acknowledged
// (9.7.5.1.1), so answers exist, and take a way that the tap does not see. Of a queue pair that began anew between the
// two, most PSNs between are missing.
[[nodiscard]] inline bool answered_unseen(const Connection& connection, End requester, dissect::Psn psn) {
    constexpr std::uint64_t kSmallPart = 2;
    const Way& way = connection.way(requester);
    const Way& answers = connection.way(other(requester));
    if (answers.packets > answers.incidents->cnps || way.requests <= way.incidents->corrupt) return false;
    const std::int32_t behind = psn - dissect::Psn(way.first_psn);
    return behind > 0 && behind < kFarPsn &&
           way.incidents->gaps.skipped * kSmallPart < static_cast<std::uint64_t>(behind);
}

}  // namespace qps::transport
