// Judges of what was lost, late or refused for want of a receive, and of who gave up.
#include <tests/court/judges.hpp>
#include <tests/court/recovery_proof.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

namespace qps::court {

namespace {

constexpr double kMostRetries = 7;                                                     // 3 bits
constexpr std::array<double, 4> kFirstRnrTimers{655'360'000, 10'000, 20'000, 30'000};  // ns, table 45

double rnr_timer(std::uint32_t code) {
    // Table 45: codes 1 to 4 count up in 10 us; then each power of two has two steps.
    if (code < kFirstRnrTimers.size()) return kFirstRnrTimers[code];
    const double power = 10'000.0 * static_cast<double>(1U << (code / 2));
    return code % 2 == 0 ? power : power * 1.5;
}

// Where the NAKed packet was only late: IPv4 identification counts up with sending, and the packet that came after its
// successors has one from before theirs.
std::uint64_t only_late(const Way& way) {
    std::uint64_t late = 0;
    for (const Wire* nak : way.answers) {
        if (!nak->nak(0)) continue;
        const Wire *first = nullptr, *successor = nullptr;
        for (const Wire* request : way.requests) {
            if (first == nullptr && request->psn == nak->psn) first = request;
            if (successor == nullptr && psn_distance(nak->psn, request->psn) > 0 &&
                psn_distance(nak->psn, request->psn) < 64)
                successor = request;
        }
        if (first == nullptr || successor == nullptr || !first->ipv4 || first->frame < successor->frame) continue;
        const std::uint32_t earlier = (successor->identification - first->identification) & 0xffffU;
        if (earlier > 0 && earlier < 64) ++late;
    }
    return late;
}

// On which side of the tap: a go-back-N responder that stood at the tap (9.7.5.1.2) takes PSNs in order alone; what a
// NAK asks for and this one waits for too was lost before the tap, any other behind it.
struct Places {
    std::uint64_t before = 0, behind = 0, corrupt = 0;
};
Places places_of_loss(const Way& way, bool keeps) {
    constexpr std::uint32_t kPsnMask = 0xffffff;
    std::optional<std::uint32_t> awaited;  // nothing: whatever comes next, and who has seen a PSN may have taken it
    std::set<std::uint32_t> seen, spoiled;
    std::uint64_t before = 0, behind = 0, corrupt = 0;
    for (const Wire* wire : way.all) {
        if (wire->from == way.from && wire->request()) (wire->icrc_right ? seen : spoiled).insert(wire->psn);
        if (wire->from == way.from && wire->request() && wire->icrc_right && (!awaited || *awaited == wire->psn)) {
            awaited = (wire->psn + 1) & kPsnMask;
            if (wire->read_request()) awaited.reset();  // takes as many PSNs as its responses have packets
        }
        if (wire->from != way.to || !wire->nak(0)) continue;
        // One that keeps what comes out of order awaits every PSN that it has not seen.
        (awaited && !keeps ? *awaited == wire->psn : !seen.contains(wire->psn)) ? ++before : ++behind;
        corrupt += spoiled.contains(wire->psn) ? 1U : 0U;
        if (!awaited) awaited = wire->psn;
    }
    return {before, behind, corrupt};
}

void place_of_loss(Hearing& hearing, const Way& way, double events) {
    const auto [before, behind, corrupt] = places_of_loss(way, hearing.claim().id == "selective-repeat");
    double placed = 0;
    const auto part = [&](const std::string& name, std::uint64_t shown) {
        const auto said = hearing.number(name);
        if (!said) return;
        placed += *said;
        const bool all = events > 1 && *said == events;
        if (all) hearing.equal_fact(name, static_cast<double>(shown));
        else hearing.at_most_fact(name, static_cast<double>(shown));
    };
    part("corrupted_before_tap", corrupt);
    part("lost_before_tap", before);
    part("lost_behind_tap", behind);
    for (const std::string name : {"place_undecided", "discarded_behind_lost"})
        placed += hearing.number(name).value_or(0);
    if (hearing.number("discarded_behind_lost"))
        hearing.at_most_fact("discarded_behind_lost", static_cast<double>(behind));
    hearing.expect(placed <= events, "has more places than events");
}

// So many packets can have been lost: each that a NAK names, each that a new one passed over and, unless their sender
// repeats only what is asked for, each that was passed over while it sent again.
double most_lost(const Way& way, bool selective) {
    std::optional<std::uint32_t> before, highest, acknowledged;
    double most = 0;
    for (const Wire* wire : way.all) {
        if (wire->from == way.to && wire->nak(0)) ++most;
        if (wire->from == way.to && wire->acknowledge() && wire->positive()) acknowledged = wire->psn;
        if (wire->from != way.from || !wire->request()) continue;
        const bool newer = !highest || psn_distance(*highest, wire->psn) > 0;
        if (before && acknowledged && psn_distance(*before, *acknowledged) > 0) before = acknowledged;
        if (before && !selective) most += std::max(0, psn_distance(*before, wire->psn) - 1);
        else if (highest && newer) most += psn_distance(*highest, wire->psn) - 1;
        if (!wire->icrc_right) ++most;
        before = wire->psn;
        if (newer) highest = wire->psn;
    }
    return most;
}

// NAKs of all queue pairs of an end, where the requests were not captured.
template <class IsNak>
double naks_alone(const Hearing& hearing, const ClaimedEnd& from, const ClaimedEnd& to, IsNak is_nak) {
    return static_cast<double>(std::ranges::count_if(hearing.wires(), [&](const Wire& wire) {
        return wire.from == from.address && wire.to == to.address && is_nak(wire);
    }));
}

void lost(Hearing& hearing) {
    if (!hearing.number("loss_events")) {
        const auto from = hearing.end("responder"), to = hearing.end("requester");
        if (!from || !to) return hearing.object("does not say whose NAKs they are");
        return hearing.at_most_fact("sequence_naks",
                                    naks_alone(hearing, *from, *to, [](const Wire& wire) { return wire.nak(0); }));
    }
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    const auto naks =
        static_cast<double>(std::ranges::count_if(way->answers, [](const Wire* answer) { return answer->nak(0); }));
    const double events = *hearing.number("loss_events"), packets = hearing.number("lost").value_or(0);
    hearing.at_most_fact("loss_events", naks);
    hearing.expect(packets > 0, "lost nothing");
    hearing.at_most_fact("lost", most_lost(*way, hearing.claim().id == "selective-repeat"));
    const auto late = static_cast<double>(only_late(*way));
    if (late != 0 && hearing.flag("lost_proven") && packets + late > std::max(naks, packets))
        hearing.object(fmt::format("{} of {} NAKed packets arrived late and were not lost: IPv4 identification tells",
                                   late, naks));
    if (hearing.number("corrupt"))
        hearing.at_most_fact("corrupt", static_cast<double>(std::ranges::count_if(way->all, [&](const Wire* wire) {
                                 return wire->from == way->from && !wire->icrc_right;
                             })));
    place_of_loss(hearing, *way, events);
    double ended = 0;
    for (const std::string name : {"recoveries", "ended_in_timeout", "undecided"})
        ended += hearing.number(name).value_or(0);
    hearing.expect(ended == events, "its events and how they ended are not as many");
    prove_retransmitted(hearing, *way);
    prove_stall(hearing, *way);
    bool nak = hearing.claim().frames.empty();
    for (const std::size_t frame : hearing.claim().frames) {
        const Wire* wire = hearing.wire(frame);
        nak |= wire != nullptr && wire->nak(0) && wire->from == way->to;
    }
    hearing.expect(nak, "no frame of its evidence is a sequence NAK");
}

void retries_exceeded(Hearing& hearing) {
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    const auto psn = static_cast<std::uint32_t>(hearing.number("psn").value_or(0));
    std::vector<const Wire*> sent;
    bool later = false, answered = false;
    for (const Wire* wire : way->all) {
        if (wire->from == way->from && wire->request()) {
            if (wire->psn == psn) sent.push_back(wire);
            else if (!sent.empty() && sent.size() > 1 && psn_distance(psn, wire->psn) > 0 &&
                     wire->time > sent.back()->time)
                later = true;
        } else if (wire->from == way->to && wire->positive() && !sent.empty() && psn_distance(psn, wire->psn) >= 0) {
            answered = true;
        }
    }
    hearing.equal_fact("transmissions", static_cast<double>(sent.size()));
    if (!sent.empty()) hearing.equal_fact("stalled_ns", static_cast<double>(sent.back()->time - sent.front()->time));
    // Answers that were lost behind the tap: each was sent again all the same, and then nothing more.
    const bool lost_behind = hearing.word("silence") == "answered";
    hearing.expect(answered == lost_behind, answered ? "it was answered" : "it was not answered");
    hearing.expect(!later || hearing.claim().severity == Severity::note, "later PSNs follow the last transmission");
    prove_timer(hearing, go_backs(*way));
    if (hearing.number("negotiated_retries")) hearing.at_most_fact("negotiated_retries", kMostRetries);
    const std::string seen = hearing.word("silence").value_or("");
    const auto is_cnp = [&](const Wire& wire) { return wire.cnp() && wire.from == way->to && wire.to == way->from; };
    if (hearing.number("cnps"))
        hearing.at_most_fact("cnps", static_cast<double>(std::ranges::count_if(hearing.wires(), is_cnp)));
    if (seen == "absent") {
        const bool any = std::ranges::any_of(hearing.wires(), [&](const Wire& wire) {
            return wire.from == way->to && wire.to == way->from && !wire.management();
        });
        hearing.expect(!any, "packets of the other direction are in the capture");
    }
    if (seen == "fell_silent") hearing.expect(!way->answers.empty(), "no answer of this connection is in the capture");
}

void rnr_retries_exceeded(Hearing& hearing) {
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    const auto psn = static_cast<std::uint32_t>(hearing.number("psn").value_or(0));
    std::uint64_t naks = 0;
    for (const Wire* answer : way->answers) {
        if (answer->rnr_nak() && answer->psn == psn) ++naks;
        hearing.expect(!(naks != 0 && answer->positive() && psn_distance(psn, answer->psn) >= 0),
                       "it was answered in the end");
    }
    hearing.equal_fact("rnr_naks", static_cast<double>(naks));
}

// The timer is that of its code, and one that a NAK asked for.
void prove_rnr_timer(Hearing& hearing, const std::vector<const Wire*>& naks) {
    const auto code = hearing.number("rnr_code");
    if (!code) return;
    const auto said = static_cast<std::uint32_t>(*code);
    hearing.equal_fact("rnr_timer_ns", said < 32 ? rnr_timer(said) : 0);
    const bool asked =
        std::ranges::any_of(naks, [&](const Wire* nak) { return nak->rnr_nak() && (*nak->syndrome & 0x1fU) == said; });
    hearing.expect(asked, "no RNR NAK has that code");
}

void rnr_stall(Hearing& hearing) {
    if (!hearing.number("stalled_ns")) {
        const auto from = hearing.end("responder"), to = hearing.end("requester");
        if (!from || !to) return hearing.object("does not say whose NAKs they are");
        std::vector<const Wire*> naks;
        for (const Wire& wire : hearing.wires())
            if (wire.rnr_nak() && wire.from == from->address && wire.to == to->address) naks.push_back(&wire);
        hearing.at_most_fact("rnr_naks", static_cast<double>(naks.size()));
        if (hearing.number("refused_for_ns"))
            hearing.at_most_fact("refused_for_ns",
                                 naks.empty() ? 0 : static_cast<double>(naks.back()->time - naks.front()->time));
        return prove_rnr_timer(hearing, naks);
    }
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    hearing.at_most_fact("rnr_naks", static_cast<double>(std::ranges::count_if(
                                         way->answers, [](const Wire* answer) { return answer->rnr_nak(); })));
    prove_rnr_timer(hearing, way->answers);
    if (hearing.number("rnr_wait_ns")) {
        std::int64_t most = 0;  // from an RNR NAK until its PSN is sent again
        std::map<std::uint32_t, std::int64_t> asked;
        for (const Wire* wire : way->all) {
            if (wire->rnr_nak() && wire->from == way->to) asked[wire->psn] = wire->time;
            const auto nak = asked.find(wire->psn);
            if (wire->from == way->from && wire->request() && nak != asked.end())
                most = std::max(most, wire->time - nak->second), asked.erase(nak);
        }
        hearing.at_most_fact("rnr_wait_ns", static_cast<double>(most));
    }
    prove_stall(hearing, *way);
    prove_stop(hearing, *way);
}

void rnr_wait_too_short(Hearing& hearing) {
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    prove_rnr_timer(hearing, way->answers);
    hearing.at_most_fact("waited_ns", hearing.number("rnr_timer_ns").value_or(0));
    // So long after such a NAK its PSN was sent.
    bool found = false;
    std::map<std::uint32_t, std::int64_t> naks;
    for (const Wire* wire : way->all) {
        if (wire->rnr_nak() && wire->from == way->to) naks[wire->psn] = wire->time;
        const auto nak = naks.find(wire->psn);
        found |= wire->from == way->from && wire->request() && nak != naks.end() &&
                 hearing.number("waited_ns") == static_cast<double>(wire->time - nak->second);
    }
    hearing.expect(found, "nothing was sent again so long after an RNR NAK");
}

void reordered_not_lost(Hearing& hearing) {
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    hearing.at_most_fact("sequence_naks", static_cast<double>(std::ranges::count_if(
                                              way->answers, [](const Wire* answer) { return answer->nak(0); })));
    if (hearing.number("overtaken")) {
        std::uint64_t late = 0;
        std::int32_t farthest = 0;
        std::int64_t latest = 0;
        const Wire* newest = nullptr;
        std::map<std::uint32_t, std::int64_t> first;  // of each PSN
        for (const Wire* wire : way->requests) {
            first.try_emplace(wire->psn, wire->time);
            if (newest != nullptr && psn_distance(newest->psn, wire->psn) < 0) {
                ++late;
                farthest = std::max(farthest, -psn_distance(newest->psn, wire->psn));
                std::int64_t since = wire->time;
                for (const auto& [psn, time] : first)
                    if (psn_distance(wire->psn, psn) > 0) since = std::min(since, time);
                latest = std::max(latest, wire->time - since);
            } else {
                newest = wire;
            }
        }
        hearing.at_most_fact("overtaken", static_cast<double>(late));
        hearing.equal_fact("requests", static_cast<double>(way->requests.size()));
        if (hearing.number("farthest")) hearing.at_most_fact("farthest", farthest);
        if (hearing.number("latest_ns")) hearing.at_most_fact("latest_ns", static_cast<double>(latest));
    }
    prove_retransmitted(hearing, *way);
    prove_stall(hearing, *way);
}

constexpr std::array kRecoveryJudges{
    Judge{"transport-retries-exceeded", retries_exceeded},
    Judge{"rnr-retries-exceeded", rnr_retries_exceeded},
    Judge{"go-back-n-loss", lost},
    Judge{"selective-repeat", lost},
    Judge{"reordered-not-lost", reordered_not_lost},
    Judge{"rnr-stall", rnr_stall},
    Judge{"rnr-wait-too-short", rnr_wait_too_short},
};

}  // namespace

std::span<const Judge> recovery_judges() { return kRecoveryJudges; }

}  // namespace qps::court
