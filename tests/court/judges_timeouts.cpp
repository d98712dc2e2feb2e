// Judges of timeouts, of retransmissions for nothing, and of NAKs that nobody heeded.
#include <tests/court/judges.hpp>
#include <tests/court/recovery_proof.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace qps::court {

namespace {

void timeouts(Hearing& hearing) {
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    const auto backs = go_backs(*way);
    hearing.at_most_fact("timeouts", static_cast<double>(backs.size()));
    if (hearing.number("interval_ns"))
        hearing.expect((hearing.number("timeouts") == 1) == hearing.flag("single_wait"),
                       "one timeout has no intervals, several have");
    prove_retransmitted(hearing, *way);
    prove_timer(hearing, backs);
    prove_stall(hearing, *way);
    prove_stop(hearing, *way);
    const auto is_cnp = [&](const Wire& wire) { return wire.cnp() && wire.from == way->to && wire.to == way->from; };
    if (hearing.number("cnps"))
        hearing.at_most_fact("cnps", static_cast<double>(std::ranges::count_if(hearing.wires(), is_cnp)));
    if (hearing.word("silence") == "absent" && hearing.claim().severity != Severity::note)
        hearing.object("nothing of the other direction was captured, so NAKs may have asked for what went back");
}

void spurious(Hearing& hearing) {
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    const auto backs = go_backs(*way);
    hearing.at_most_fact("retries", static_cast<double>(backs.size()));
    hearing.expect(!way->answers.empty(), "no answer is in the capture");
    prove_timer(hearing, backs);
    const auto took = hearing.number("answer_took_ns");
    if (!took) return;
    // So long after a request of that way came an answer to it, with another sending of it between.
    bool found = false;
    for (const Wire* wire : way->requests)
        for (const GoBack& back : backs)
            for (const Wire* answer : way->answers)
                found |= back.packet->psn == wire->psn && wire->time < back.packet->time &&
                         back.packet->time < answer->time && *took == static_cast<double>(answer->time - wire->time);
    hearing.expect(found, "no answer came so long after a request that was sent again before it");
    const double timeout = ack_timeout(hearing.number("sufficient_exponent").value_or(0));
    hearing.equal_fact("sufficient_time_ns", timeout);
    hearing.expect(timeout > *took, "advises a timeout that is shorter than the answer took");
}

// The responses that follow the missing ones say how many PSNs were skipped, since the one before or since the READ was
// requested again.
std::uint64_t skipped_responses(const Way& way) {
    std::uint64_t skipped = 0;
    std::optional<std::uint32_t> before;
    for (const Wire* wire : way.all) {
        if (wire->read_request() && before && psn_distance(*before, wire->psn) <= 0) before = wire->psn - 1;
        if (wire->from != way.to || (!wire->read_response() && !wire->atomic_response())) continue;
        const std::int32_t step = before ? psn_distance(*before, wire->psn) : 1;
        if (step > 1) skipped += static_cast<std::uint64_t>(step - 1);
        before = wire->psn;
    }
    return skipped;
}

// Whether a response behind its PSN passed since it was asked for last, and its own did not.
bool lacks_response(const Way& way, const Wire& again) {
    bool later = false, own = false;
    for (const Wire* wire : way.all) {
        if (wire == &again) break;
        if (wire->from == way.from && (wire->read_request() || wire->atomic_request())) {
            if (psn_distance(wire->psn, again.psn) >= 0) later = own = false;
        } else if (wire->read_response() || wire->atomic_response()) {
            const std::int32_t behind = psn_distance(again.psn, wire->psn);
            later |= behind > 0;
            own |= behind == 0;
        }
    }
    return later && !own;
}

// Since the last packet of either end, in ns.
std::int64_t silence_before(const Way& way, const Wire& again) {
    const auto at = std::ranges::find(way.all, &again);
    return at == way.all.begin() || at == way.all.end() ? 0 : again.time - (*std::prev(at))->time;
}

// READs that were asked for again after a silence: at most all of them. A timer is no longer than the longest silence,
// so that it ran out in those that are about as long: at least those of them whose response is missing before a later
// one.
void prove_after_timer(Hearing& hearing, const Way& way) {
    constexpr std::int64_t kImpliedNak = 4'000'000;  // ns: what comes sooner, a response that is missing asked for
    constexpr std::int64_t kSlack = 16;              // part of the time
    if (!hearing.number("after_timer")) return;
    std::vector<std::pair<std::int64_t, bool>> silences;  // and whether a response is missing
    for (const GoBack& back : go_backs(way)) {
        if (!back.packet->read_request() && !back.packet->atomic_request()) continue;
        const std::int64_t silence = silence_before(way, *back.packet);
        if (silence >= kImpliedNak) silences.emplace_back(silence, lacks_response(way, *back.packet));
    }
    const std::int64_t longest = silences.empty() ? 0 : std::ranges::max(silences).first;
    const auto least = std::ranges::count_if(
        silences, [&](const auto& one) { return one.second && one.first >= longest - longest / kSlack; });
    hearing.at_most_fact("after_timer", static_cast<double>(silences.size()));
    hearing.expect(hearing.number("after_timer") >= static_cast<double>(least),
                   "more lacked a response when their timer ran out");
}

void read_response_lost(Hearing& hearing) {
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    std::uint64_t requests = 0, responses = 0;
    for (const Wire* wire : way->requests) requests += wire->read_request() || wire->atomic_request() ? 1U : 0U;
    for (const Wire* wire : way->answers) responses += wire->read_response() || wire->atomic_response() ? 1U : 0U;
    const Rests rests = rests_of_reads(*way, hearing);
    const double again = hearing.number("retries").value_or(0);
    hearing.expect(again < static_cast<double>(requests), "as many requests again as there are requests");
    hearing.at_most_fact("retries", static_cast<double>(repetitions(*way) + rests.ahead.packets));
    hearing.at_most_fact("from_middle", std::min(again, static_cast<double>(rests.all)));
    prove_after_timer(hearing, *way);
    prove_retransmitted(hearing, *way);
    prove_stall(hearing, *way);
    if (hearing.number("responses_missed")) {
        hearing.at_most_fact("responses_missed", static_cast<double>(skipped_responses(*way)));
        hearing.expect(responses != 0, "no response is in the capture");
    }
    if (hearing.number("responses_late")) hearing.at_most_fact("responses_late", static_cast<double>(responses));
}

// The NAK came, and what it asked for was sent only after a silence: the silence before the evidence is as long as is
// said.
void nak_ignored(Hearing& hearing) {
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    std::vector<double> waits;
    double total = 0;
    for (const GoBack& back : go_backs(*way))
        if (back.nak != nullptr) total += waits.emplace_back(static_cast<double>(back.packet->time - back.nak->time));
    const auto naks = std::ranges::count_if(way->answers, [](const Wire* answer) { return answer->nak(0); });
    hearing.at_most_fact("ignored_naks", static_cast<double>(waits.size()));
    hearing.at_most_fact("sequence_naks", static_cast<double>(naks));
    const auto shortest = hearing.number("shortest_wait_ns"), longest = hearing.number("longest_wait_ns");
    hearing.expect(
        longest && std::ranges::count(waits, *longest) != 0 && (!shortest || std::ranges::count(waits, *shortest) != 0),
        "no NAK was ignored for so long");
    hearing.at_most_fact("total_wait_ns", total);
}

void undecided(Hearing& hearing) {
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    prove_retransmitted(hearing, *way);
    const std::uint64_t returns = repetitions(*way) + rests_of_reads(*way, hearing).ahead.packets;
    hearing.at_most_fact("episodes", static_cast<double>(std::min(returns, hearing.claim().count)));
    for (const std::string name : {"shortest_wait_ns", "longest_wait_ns"}) {
        const auto said = hearing.number(name);
        const bool shown = std::ranges::any_of(way->requests, [&](const Wire* request) {
            return std::ranges::any_of(way->answers, [&](const Wire* answer) {
                return answer->nak(0) && said == static_cast<double>(request->time - answer->time);
            });
        });
        hearing.expect(!said || shown, fmt::format("nothing was sent {:.12g} ns after a NAK", said.value_or(0)));
    }
}

constexpr std::array kTimeoutJudges{
    Judge{"ack-timeout", timeouts},
    Judge{"spurious-retransmission", spurious},
    Judge{"read-response-lost", read_response_lost},
    Judge{"nak-ignored", nak_ignored},
    Judge{"retransmission-undecided", undecided},
};

}  // namespace

std::span<const Judge> timeout_judges() { return kTimeoutJudges; }

}  // namespace qps::court
