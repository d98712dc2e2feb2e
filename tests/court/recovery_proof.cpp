#include <tests/court/recovery_proof.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace qps::court {

double ack_timeout(double exponent) {
    constexpr double kUnit = 4096, kMost = 31;
    return std::ldexp(kUnit, static_cast<int>(std::min(exponent, kMost)));
}

std::uint64_t repetitions(const Way& way) {
    std::uint64_t count = 0;
    std::optional<std::uint32_t> highest, before;
    for (const Wire* wire : way.requests) {
        const bool repeats = highest && psn_distance(*highest, wire->psn) <= 0;
        if (repeats && psn_distance(*before, wire->psn) != 1) ++count;
        if (!repeats) highest = wire->psn;
        before = wire->psn;
    }
    return count;
}

Rests rests_of_reads(const Way& way, const Hearing& hearing) {
    Rests rests;
    std::set<std::uint32_t> seen;
    std::optional<std::uint32_t> highest;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> longest;  // bytes, by key and end
    for (const Wire* wire : way.requests) {
        const bool fresh = seen.insert(wire->psn).second;
        const bool ahead = !highest || psn_distance(*highest, wire->psn) > 0;
        if (ahead) highest = wire->psn;
        if (!wire->read_request() || !wire->reth) continue;
        std::uint64_t& length = longest[{wire->reth->key, wire->reth->address + wire->reth->length}];
        if (fresh && wire->reth->length < length) {
            ++rests.all;
            rests.ahead.packets += ahead ? 1U : 0U;
            rests.ahead.bytes += ahead ? hearing.recording().records[wire->frame - 1].wire : 0U;
        }
        length = std::max<std::uint64_t>(length, wire->reth->length);
    }
    return rests;
}

void prove_stall(Hearing& hearing, const Way& way) {
    const auto stalled = hearing.number("stalled_ns"), longest = hearing.number("longest_stall_ns");
    if (stalled) hearing.at_most_fact("stalled_ns", static_cast<double>(way.life()));
    if (longest)
        hearing.at_most_fact("longest_stall_ns", std::min(stalled.value_or(0), static_cast<double>(way.life())));
}

void prove_stop(Hearing& hearing, const Way& way) {
    const auto stopped = hearing.number("stopped_after");
    const bool refused = hearing.number("rnr_naks").has_value();
    const auto allowed = hearing.number("allowed_transmissions");
    const bool endless = hearing.flag("endless_retries");
    if (!stopped) return hearing.expect(!allowed && !endless, "says how often it might have been sent, and no more");
    std::map<std::uint32_t, std::uint64_t> times;
    for (const Wire* wire : way.all) {
        const bool counts =
            refused ? wire->rnr_nak() && wire->from == way.to : wire->request() && wire->from == way.from;
        if (counts) ++times[wire->psn];
    }
    std::uint64_t most = 0;
    for (const auto& [psn, count] : times) most = std::max(most, count);
    hearing.at_most_fact("stopped_after", static_cast<double>(most));
    hearing.expect(!allowed || *allowed > *stopped, "stopped after as many as there may be");
}

void prove_retransmitted(Hearing& hearing, const Way& way) {
    if (!hearing.number("retransmitted")) return;
    const Rests rests = rests_of_reads(way, hearing);
    const Repeated shown = not_advancing(way, hearing);
    hearing.at_most_fact("retransmitted", static_cast<double>(shown.packets + rests.ahead.packets));
    hearing.at_most_fact("retransmitted_bytes", static_cast<double>(shown.bytes + rests.ahead.bytes));
    if (hearing.number("rests_of_reads"))  // one for each time that it went back, at most
        hearing.at_most_fact("rests_of_reads", static_cast<double>(std::min(rests.all, hearing.claim().count)));
    if (!hearing.number("new_to_tap")) return;
    std::map<std::uint32_t, std::uint64_t> seen;
    for (const Wire* wire : way.requests) ++seen[wire->psn];
    const auto once = std::ranges::count_if(seen, [](const auto& psn) { return psn.second == 1; });
    hearing.at_most_fact("new_to_tap", static_cast<double>(once));
}

void prove_timer(Hearing& hearing, const std::vector<GoBack>& all) {
    constexpr double kSpread = 4;  // a requester may wait up to four times the timeout
    if (const auto interval = hearing.number("interval_ns")) {
        const bool any = std::ranges::any_of(all, [&](const GoBack& back) {
            return static_cast<double>(std::max(back.silence, back.since)) >= *interval;
        });
        hearing.expect(any, fmt::format("waited {:.12g} ns at least, and none of them was as long", *interval));
    }
    if (hearing.number("negotiated_exponent"))
        hearing.equal_fact("negotiated_time_ns", ack_timeout(*hearing.number("negotiated_exponent")));
    const auto least = hearing.number("exponent"), longest = hearing.number("longest_exponent");
    if (!least) return hearing.expect(!longest, "has a longest exponent alone");
    if (hearing.number("exponent_time_ns")) {
        hearing.equal_fact("exponent_time_ns", ack_timeout(*least));
        hearing.at_most_fact("agreeing_waits", static_cast<double>(all.size()));
    }
    const double most = longest.value_or(*least);
    hearing.expect(*least <= most, "has a longest exponent that is not");
    for (const GoBack& back : all) {
        const bool named = std::ranges::count(hearing.claim().frames, back.packet->frame) != 0;
        if (named && static_cast<double>(back.silence) > ack_timeout(most) * kSpread * 1.01)
            hearing.object(
                fmt::format("says exponent {} at most, and before frame {} the requester was silent for {:.4g} ms",
                            most, back.packet->frame, static_cast<double>(back.silence) / 1e6));
    }
}

}  // namespace qps::court
