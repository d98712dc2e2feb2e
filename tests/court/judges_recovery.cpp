// Judges of what was lost, sent again and given up.
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

namespace qps::court {

namespace {

constexpr double kAckTimeoutUnit = 4096;                                               // ns (9.7.6.1.3)
constexpr double kTimerSpread = 4;                                                     // a requester may wait up to four times the timeout
constexpr std::array<double, 4> kFirstRnrTimers{655'360'000, 10'000, 20'000, 30'000};  // ns, table 45

double rnr_timer(std::uint32_t code) {
    // Table 45: codes 1 to 4 count up in 10 us; then each power of two has two steps.
    if (code < kFirstRnrTimers.size()) return kFirstRnrTimers[code];
    const double power = 10'000.0 * static_cast<double>(1U << (code / 2));
    return code % 2 == 0 ? power : power * 1.5;
}

void stalled(Hearing& hearing, const Way& way) {
    if (const auto said = hearing.take("(?:stalled|recovery took) " + kQuantity + "(?: in total, " + kQuantity + " at worst)?")) {
        hearing.at_most("stalled", (*said)[1], static_cast<double>(way.life()));
        if ((*said)[2].empty()) return;
        hearing.at_most("stalled at worst", (*said)[2], static_cast<double>(way.life()));
        const auto total = quantity_of((*said)[1]), worst = quantity_of((*said)[2]);
        hearing.expect(total && worst && worst->least <= total->most, "stalled longer at worst than in total");
    }
}

// Where packets that do not advance begin, or leave one out: a requester may send again what was lost alone.
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

// READ requests that end where an earlier one does, and begin behind it, from a PSN that no request had before: all of them, and those
// that are ahead of all that was sent, since the READ that they ask for was sent last.
struct Rests {
    std::uint64_t all = 0;
    Repeated ahead;
};
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

void retransmitted(Hearing& hearing, const Way& way) {
    const auto said =
        hearing.take("retransmitted " + kNumber + " packets?(?: \\(" + kQuantity + "(?:, " + kNumber + " of them new to the tap)?(?:, " + kNumber +
                     " of them for the rest of a READ)?\\))?");
    if (!said) return;
    const Rests rests = rests_of_reads(way, hearing);
    Repeated shown = not_advancing(way, hearing);
    shown.packets += rests.ahead.packets;
    shown.bytes += rests.ahead.bytes;
    hearing.at_most("retransmitted packets", count_of((*said)[1]).value_or(0), shown.packets);
    if (!(*said)[2].empty()) hearing.at_most("retransmitted", (*said)[2], static_cast<double>(shown.bytes));
    if (!(*said)[4].empty())  // one for each time that it went back, at most
        hearing.at_most("requests for the rest of a READ", count_of((*said)[4]).value_or(0), std::min(rests.all, hearing.claim().count));
    if ((*said)[3].empty()) return;
    std::map<std::uint32_t, std::uint64_t> seen;
    for (const Wire* wire : way.requests) ++seen[wire->psn];
    const auto once = static_cast<std::uint64_t>(std::ranges::count_if(seen, [](const auto& psn) { return psn.second == 1; }));
    hearing.at_most("packets new to the tap", count_of((*said)[3]).value_or(0), once);
}

// One timer a queue pair: no wait between what was sent and its repetition may be longer than four times the longest that is named,
// and "at least" is the shortest of them.
void timer(Hearing& hearing, const std::vector<GoBack>& all) {
    std::vector<GoBack> named;
    for (const GoBack& back : all)
        if (std::ranges::count(hearing.claim().frames, back.packet->frame) != 0) named.push_back(back);
    if (const auto said = hearing.take("(?:at intervals of|after) at least " + kQuantity)) {
        const auto least = quantity_of((*said)[1]);
        const std::string& sentence = hearing.claim().sentence;
        const bool timeouts = sentence.find(" hit the ACK timeout ") != std::string::npos, once = sentence.find(" hit the ACK timeout once ") != std::string::npos;
        hearing.expect(!timeouts || once == (sentence.find(", after at least ") != std::string::npos), "one timeout has no intervals, several have");
        hearing.expect(!all.empty(), "names the interval of a timer, and nothing went back");
        const bool any = std::ranges::any_of(
            all, [&](const GoBack& back) { return least && static_cast<double>(std::max(back.silence, back.since)) >= least->least; });
        hearing.expect(all.empty() || any, fmt::format("waited {} at least, and none of them was as long", (*said)[1]));
    }
    const auto said = hearing.take("local ACK timeout exponent (\\d+)(?: to (\\d+))?");
    const auto timeout = [](const std::string& exponent) {
        return kAckTimeoutUnit * static_cast<double>(1ULL << std::min<std::uint64_t>(count_of(exponent).value_or(0), 31));
    };
    if (const auto agreed = hearing.take("CM negotiated (\\d+), " + kQuantity)) hearing.equal("as timeout of CM", (*agreed)[2], timeout((*agreed)[1]));
    if (const auto waits = hearing.take(", " + kQuantity + ": (\\d+) waits agree on it"); waits && said) {
        hearing.equal("as timeout", (*waits)[1], timeout((*said)[1]));
        hearing.at_most("waits", count_of((*waits)[2]).value_or(0), all.size());
    }
    if (!said) return;
    const std::uint64_t most = count_of((*said)[2].empty() ? (*said)[1] : (*said)[2]).value_or(0);
    const double longest = kAckTimeoutUnit * static_cast<double>(1ULL << std::min<std::uint64_t>(most, 31)) * kTimerSpread;
    for (const GoBack& back : named)
        if (static_cast<double>(back.silence) > longest * 1.01)
            hearing.object(fmt::format("says exponent {} at most, and before frame {} the requester was silent for {:.4g} ms", most,
                                       back.packet->frame, static_cast<double>(back.silence) / 1e6));
}

// Where the NAKed packet was only late: IPv4 identification counts up with sending, and the packet that came after its successors has
// one from before theirs.
std::uint64_t only_late(const Way& way) {
    std::uint64_t late = 0;
    for (const Wire* nak : way.answers) {
        if (!nak->nak(0)) continue;
        const Wire *first = nullptr, *successor = nullptr;
        for (const Wire* request : way.requests) {
            if (first == nullptr && request->psn == nak->psn) first = request;
            if (successor == nullptr && psn_distance(nak->psn, request->psn) > 0 && psn_distance(nak->psn, request->psn) < 64)
                successor = request;
        }
        if (first == nullptr || successor == nullptr || !first->ipv4 || first->frame < successor->frame) continue;
        const std::uint32_t earlier = (successor->identification - first->identification) & 0xffffU;
        if (earlier > 0 && earlier < 64) ++late;
    }
    return late;
}

// On which side of the tap: a go-back-N responder that stood at the tap (9.7.5.1.2) takes PSNs in order alone; what a NAK asks for and
// this one waits for too was lost before the tap, any other behind it.
void place_of_loss(Hearing& hearing, const Way& way, std::uint64_t events) {
    constexpr std::uint32_t kPsnMask = 0xffffff;
    std::optional<std::uint32_t> awaited;  // nothing: whatever comes next, and who has seen a PSN may have taken it
    const bool keeps = hearing.claim().id == "selective-repeat";
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
    if (hearing.take("all lost between " + kHost + " and this tap")) hearing.equal("lost before the tap", events, before);
    if (hearing.take("all corrupted before this tap")) hearing.equal("corrupted before the tap", events, corrupt);
    std::uint64_t placed = 0;
    const auto part = [&](const std::string& words, std::string_view what, std::uint64_t shown) {  // behind a comma: of the list
        const auto said = hearing.take(", " + kNumber + words);
        if (!said) return;
        placed += count_of((*said)[1]).value_or(0);
        hearing.at_most(what, count_of((*said)[1]).value_or(0), shown);
    };
    part(" corrupted before this tap", "corrupted before the tap", corrupt);
    if (hearing.take("all lost or reordered behind this tap")) hearing.equal("lost behind the tap", events, behind);
    part(" lost between " + kHost + " and this tap", "lost before the tap", before);
    part(" lost or reordered behind this tap", "lost behind the tap", behind);
    part(" discarded behind a lost one", "passed, and asked for all the same", behind);
    part(" undecided", "undecided", events);
    hearing.at_most("events with a place", placed, events);
}

// NAKs alone, where the requests were not captured.
bool lone_naks(Hearing& hearing) {
    const auto said = hearing.take("^" + kHost + " sent " + kNumber + " sequence NAKs? to " + kHost + kQp);
    if (!said) return false;
    std::uint64_t naks = 0;
    for (const Wire& wire : hearing.wires()) naks += wire.nak(0) && wire.from == (*said)[1] && wire.to == (*said)[3] ? 1U : 0U;
    hearing.at_most("sequence NAKs", count_of((*said)[2]).value_or(0), naks);
    return true;
}

void lost(Hearing& hearing) {
    if (lone_naks(hearing)) return;
    if (const auto said = hearing.take(kHost + " went back to an earlier PSN to " + kHost + kQp + " " + kTimes)) {
        const auto way = way_of(hearing, (*said)[1]);
        if (!way) return hearing.object("names no connection of its own");
        hearing.at_most("returns to an earlier PSN", count_of((*said)[4]).value_or(0), go_backs(*way).size());
        retransmitted(hearing, *way);
        return stalled(hearing, *way);
    }
    const auto said = hearing.must_say("^" + kHost + kQp + " (?:lost|missed|missed, lost or late,) " + kNumber + " packets? from " + kHost +
                                       " \\(" + kNumber + " events?");
    if (!said) return;
    const auto way = way_of(hearing, (*said)[4]);
    if (!way) return hearing.object("names no connection of its own");
    const auto naks = static_cast<std::uint64_t>(std::ranges::count_if(way->answers, [](const Wire* answer) { return answer->nak(0); }));
    const std::uint64_t events = count_of((*said)[5]).value_or(0), packets = count_of((*said)[3]).value_or(0);
    hearing.at_most("loss events", events, naks);
    const std::uint64_t late = only_late(*way);
    if (late != 0 && (*said)[0].find("missed") == std::string::npos && packets + late > std::max(naks, packets))
        hearing.object(fmt::format("{} of {} NAKed packets arrived late and were not lost: IPv4 identification tells", late, naks));
    if (const auto bad = hearing.take(kNumber + " packets? with a wrong ICRC")) {
        const auto wrong = std::ranges::count_if(way->all, [&](const Wire* wire) { return wire->from == way->from && !wire->icrc_right; });
        hearing.at_most("packets with a wrong ICRC", count_of((*bad)[1]).value_or(0), static_cast<std::uint64_t>(wrong));
    }
    place_of_loss(hearing, *way, events);
    (void)hearing.take("after " + kNumber + " of them");
    (void)hearing.take(kNumber + " ended in an ACK timeout");
    (void)hearing.take("; " + kNumber + " undecided");
    retransmitted(hearing, *way);
    stalled(hearing, *way);
    bool nak = hearing.claim().frames.empty();
    for (const std::size_t frame : hearing.claim().frames) {
        const Wire* wire = hearing.wire(frame);
        nak |= wire != nullptr && wire->nak(0) && wire->from == way->to;
    }
    hearing.expect(nak, "no frame of its evidence is a sequence NAK");
}

void ack_timeout(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " hit the ACK timeout " + kTimes + " waiting for " + kHost + kQp);
    if (!said) return;
    const auto way = way_of(hearing, (*said)[1]);
    if (!way) return hearing.object("names no connection of its own");
    const auto backs = go_backs(*way);
    hearing.at_most("ACK timeouts", count_of((*said)[2]).value_or(0), backs.size());
    retransmitted(hearing, *way);
    timer(hearing, backs);
    stalled(hearing, *way);
    if (hearing.claim().sentence.find("no RDMA packet from") != std::string::npos && hearing.claim().severity != Severity::note)
        hearing.object("nothing of the other direction was captured, so NAKs may have asked for what went back");
}

void retries_exceeded(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kHost + " sent PSN (\\d+) \\([A-Z &]+\\) " + kTimes + " to " + kHost + kQp + " within " + kQuantity);
    if (!said) return;
    const auto way = way_of(hearing, (*said)[1]);
    if (!way) return hearing.object("names no connection of its own");
    const auto psn = static_cast<std::uint32_t>(count_of((*said)[2]).value_or(0));
    std::vector<const Wire*> sent;
    bool later = false, answered = false;
    for (const Wire* wire : way->all) {
        if (wire->from == way->from && wire->request()) {
            if (wire->psn == psn) sent.push_back(wire);
            else if (!sent.empty() && sent.size() > 1 && psn_distance(psn, wire->psn) > 0 && wire->time > sent.back()->time) later = true;
        } else if (wire->from == way->to && wire->positive() && !sent.empty() && psn_distance(psn, wire->psn) >= 0) {
            answered = true;
        }
    }
    hearing.equal("transmissions", count_of((*said)[3]).value_or(0), sent.size());
    if (!sent.empty()) hearing.equal("passed", (*said)[6], static_cast<double>(sent.back()->time - sent.front()->time));
    hearing.expect(!answered, "it was answered");
    hearing.expect(!later || hearing.claim().severity == Severity::note, "later PSNs follow the last transmission");
    timer(hearing, go_backs(*way));
    (void)hearing.take("(\\d+) retries negotiated");
    if (hearing.take("no RDMA packet from " + kHost + " to " + kHost + " was captured")) {
        const bool any = std::ranges::any_of(
            hearing.wires(), [&](const Wire& wire) { return wire.from == way->to && wire.to == way->from && !wire.management(); });
        hearing.expect(!any, "packets of the other direction are in the capture");
    }
    if (hearing.take("had answered on this connection before"))
        hearing.expect(!way->answers.empty(), "no answer of this connection is in the capture");
}

void rnr_retries_exceeded(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kHost + kQp + " answered PSN (\\d+) \\([A-Z &]+\\) from " + kHost + " with " + kNumber + " RNR NAKs?");
    if (!said) return;
    const auto way = way_of(hearing, (*said)[4]);
    if (!way) return hearing.object("names no connection of its own");
    const auto psn = static_cast<std::uint32_t>(count_of((*said)[3]).value_or(0));
    std::uint64_t naks = 0;
    for (const Wire* answer : way->answers) {
        if (answer->rnr_nak() && answer->psn == psn) ++naks;
        hearing.expect(!(naks != 0 && answer->positive() && psn_distance(psn, answer->psn) >= 0), "it was answered in the end");
    }
    hearing.equal("RNR NAKs", count_of((*said)[5]).value_or(0), naks);
}

void rnr_stall(Hearing& hearing) {
    if (const auto lone = hearing.take("^" + kHost + " had no receive posted for " + kHost + kQp + ": " + kNumber +
                                       " RNR NAKs? with a timer of " + kQuantity + " \\(code (\\d+)\\)")) {
        std::uint64_t shown = 0;
        for (const Wire& wire : hearing.wires()) shown += wire.rnr_nak() && wire.from == (*lone)[1] && wire.to == (*lone)[2] ? 1U : 0U;
        hearing.at_most("RNR NAKs", count_of((*lone)[4]).value_or(0), shown);
        (void)hearing.take("refused for " + kQuantity);
        return hearing.equal("as timer of its code", (*lone)[5], rnr_timer(static_cast<std::uint32_t>(count_of((*lone)[6]).value_or(0))));
    }
    const auto said =
        hearing.must_say("^" + kHost + kQp + " had no receive posted for " + kHost + ": " + kNumber + " RNR NAKs?");
    if (!said) return;
    const auto way = way_of(hearing, (*said)[3]);
    if (!way) return hearing.object("names no connection of its own");
    std::uint64_t naks = 0;
    double longest = 0;
    for (const Wire* answer : way->answers)
        if (answer->rnr_nak()) ++naks, longest = std::max(longest, rnr_timer(*answer->syndrome & 0x1fU));
    const std::uint64_t events = count_of((*said)[4]).value_or(0);
    hearing.at_most("RNR NAKs", events, naks);
    if (const auto asked = hearing.take("with a timer of " + kQuantity + " \\(code (\\d+)\\)")) {
        hearing.equal("as timer of its code", (*asked)[1], rnr_timer(static_cast<std::uint32_t>(count_of((*asked)[2]).value_or(0))));
        hearing.at_most("as timer", (*asked)[1], longest);
    }
    if (const auto waited = hearing.take("waited " + kQuantity)) {
        std::int64_t most = 0;  // from an RNR NAK until its PSN is sent again
        std::map<std::uint32_t, std::int64_t> asked;
        for (const Wire* wire : way->all) {
            if (wire->rnr_nak() && wire->from == way->to) asked[wire->psn] = wire->time;
            const auto nak = asked.find(wire->psn);
            if (wire->from == way->from && wire->request() && nak != asked.end()) most = std::max(most, wire->time - nak->second), asked.erase(nak);
        }
        hearing.at_most("waited", (*waited)[1], static_cast<double>(most));
    }
    stalled(hearing, *way);
}

void rnr_wait_too_short(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " retransmitted " + kQuantity + " after an RNR NAK from " + kHost + kQp +
                                       " with a timer of " + kQuantity + " \\(code (\\d+)\\)");
    if (!said) return;
    const double asked = rnr_timer(static_cast<std::uint32_t>(count_of((*said)[6]).value_or(0)));
    hearing.equal("as timer of its code", (*said)[5], asked);
    hearing.at_most("waited", (*said)[2], asked);
    // So long after such a NAK its PSN was sent.
    const auto named = quantity_of((*said)[2]);
    bool found = false;
    std::map<std::uint32_t, std::int64_t> naks;  // by PSN: queue pairs have others
    for (const Wire& wire : hearing.wires()) {
        const bool out = wire.from == (*said)[1] && wire.to == (*said)[3] && wire.request();
        if (wire.rnr_nak() && wire.from == (*said)[3] && wire.to == (*said)[1]) naks[wire.psn] = wire.time;
        const auto nak = naks.find(wire.psn);
        found |= out && nak != naks.end() && named && named->has(static_cast<double>(wire.time - nak->second));
    }
    hearing.expect(found, "nothing was sent again so long after an RNR NAK");
}

void spurious(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " retransmitted " + kTimes);
    if (!said) return;
    const auto way = way_of(hearing, (*said)[1]);
    if (!way) return hearing.object("names no connection of its own");
    const auto backs = go_backs(*way);
    hearing.at_most("retransmissions", count_of((*said)[2]).value_or(0), backs.size());
    hearing.expect(!way->answers.empty(), "no answer is in the capture");
    timer(hearing, backs);
    const auto took = hearing.take(" came (?:up to )?" + kQuantity + " after");
    if (!took) return;
    const auto named = quantity_of((*took)[1]);
    // So long after a request of that way, and no less, came an answer to it, with another sending of it between.
    bool found = false;
    for (const Wire* wire : way->requests)
        for (const GoBack& back : backs)
            for (const Wire* answer : way->answers)
                found |= named && back.packet->psn == wire->psn && wire->time < back.packet->time && back.packet->time < answer->time &&
                         named->has(static_cast<double>(answer->time - wire->time));
    hearing.expect(found, "no answer came so long after a request that was sent again before it");
    if (const auto advised = hearing.advised("to at least exponent (\\d+), " + kQuantity)) {
        const double timeout = kAckTimeoutUnit * static_cast<double>(1ULL << std::min<std::uint64_t>(count_of((*advised)[1]).value_or(0), 31));
        hearing.equal("as timeout", (*advised)[2], timeout);
        hearing.expect(named && timeout >= named->least, "advises a timeout that is shorter than the answer took");
    }
}

void read_response_lost(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " requested READ or ATOMIC data from " + kHost + kQp + " again " + kTimes + ", " +
                                       kNumber + " of them from the middle of a READ");
    if (!said) return;
    const auto way = way_of(hearing, (*said)[1]);
    if (!way) return hearing.object("names no connection of its own");
    std::uint64_t requests = 0, responses = 0;
    for (const Wire* wire : way->requests) requests += wire->read_request() || wire->atomic_request() ? 1U : 0U;
    for (const Wire* wire : way->answers) responses += wire->read_response() || wire->atomic_response() ? 1U : 0U;
    const std::uint64_t again = count_of((*said)[4]).value_or(0);
    hearing.expect(again < requests, "as many requests again as there are requests");
    hearing.at_most("from the middle", count_of((*said)[5]).value_or(0), again);
    hearing.at_most("requested again", again, repetitions(*way) + rests_of_reads(*way, hearing).ahead.packets);
    retransmitted(hearing, *way);
    stalled(hearing, *way);
    if (const auto gone = hearing.take(kNumber + " response packets? had not passed this tap by then")) {
        // The responses that follow the missing ones say how many PSNs were skipped, since the one before or since the READ was
        // requested again.
        std::uint64_t skipped = 0;
        std::optional<std::uint32_t> before;
        for (const Wire* wire : way->all) {
            if (wire->read_request() && before && psn_distance(*before, wire->psn) <= 0) before = wire->psn - 1;
            if (wire->from != way->to || (!wire->read_response() && !wire->atomic_response())) continue;
            const std::int32_t step = before ? psn_distance(*before, wire->psn) : 1;
            if (step > 1) skipped += static_cast<std::uint64_t>(step - 1);
            before = wire->psn;
        }
        hearing.at_most("missing responses", count_of((*gone)[1]).value_or(0), skipped);
        hearing.expect(responses != 0, "no response is in the capture");
    }
    if (const auto late = hearing.take(kNumber + " response packets? passed it late")) hearing.at_most("late responses", count_of((*late)[1]).value_or(0), responses);
}

// The NAK came, and what it asked for was sent only after a silence: the silence before the evidence is as long as is said.
void nak_ignored(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " ignored " + kNumber + " of " + kNumber + " sequence NAKs? from " + kHost + kQp);
    if (!said) return;
    const auto way = way_of(hearing, (*said)[1]);
    if (!way) return hearing.object("names no connection of its own");
    const auto backs = go_backs(*way);
    const auto answering = std::ranges::count_if(backs, [](const GoBack& back) { return back.nak != nullptr; });
    const auto naks = std::ranges::count_if(way->answers, [](const Wire* answer) { return answer->nak(0); });
    hearing.at_most("NAKs ignored", count_of((*said)[2]).value_or(0), static_cast<std::uint64_t>(answering));
    hearing.at_most("sequence NAKs", count_of((*said)[3]).value_or(0), static_cast<std::uint64_t>(naks));
    const auto waits = hearing.take(kQuantity + "(?: to " + kQuantity + ")? after the NAK");
    std::int64_t longest = 0;
    for (const GoBack& back : backs)
        if (back.nak != nullptr) longest = std::max(longest, back.packet->time - back.nak->time);
    if (waits) hearing.at_most("waited", (*waits)[2].empty() ? (*waits)[1] : (*waits)[2], static_cast<double>(longest));
    if (waits) {
        const auto is_wait = [&](const std::string& words) {
            const auto named = quantity_of(words);
            return std::ranges::any_of(backs, [&](const GoBack& back) {
                return back.nak != nullptr && named && named->has(static_cast<double>(back.packet->time - back.nak->time));
            });
        };
        hearing.expect(is_wait((*waits)[1]) && ((*waits)[2].empty() || is_wait((*waits)[2])), "no NAK was ignored for so long");
    }
    if (const auto cost = hearing.take("waited " + kQuantity + "(?: in total, " + kQuantity + " at worst)?")) {
        std::int64_t total = 0;
        for (const GoBack& back : backs)
            if (back.nak != nullptr) total += back.packet->time - back.nak->time;
        hearing.at_most("waited", (*cost)[1], static_cast<double>(total));
        if (!(*cost)[2].empty()) hearing.at_most("waited at worst", (*cost)[2], static_cast<double>(longest));
    }
}

void undecided(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " (?=retransmitted)");
    if (!said) return;
    const auto way = way_of(hearing, (*said)[1]);
    if (!way) return hearing.object("names no connection of its own");
    retransmitted(hearing, *way);
    if (const auto episodes = hearing.take("in " + kNumber + " episodes?"))
        hearing.at_most("episodes", count_of((*episodes)[1]).value_or(0), std::min(repetitions(*way) + rests_of_reads(*way, hearing).ahead.packets, hearing.claim().count));
    if (const auto waits = hearing.take(kQuantity + "(?: to " + kQuantity + ")? after a sequence NAK"))
        for (const std::string& words : {(*waits)[1], (*waits)[2]}) {
            const auto named = quantity_of(words);
            const bool shown = std::ranges::any_of(way->requests, [&](const Wire* request) {
                return std::ranges::any_of(way->answers, [&](const Wire* answer) {
                    return answer->nak(0) && named && named->has(static_cast<double>(request->time - answer->time));
                });
            });
            hearing.expect(words.empty() || shown, "nothing was sent " + words + " after a NAK");
        }
}

void reordered_not_lost(Hearing& hearing) {
    const auto naks = hearing.must_say(kHost + " sent " + kNumber + " sequence NAKs? of packets that were late(, or discarded behind late ones,)? and not lost");
    if (!naks || !hearing.claim().ends) return;
    const auto& ends = *hearing.claim().ends;
    const auto way = way_of(hearing, ends[ends[0].address == (*naks)[1] ? 1 : 0].address);
    if (!way) return hearing.object("names no connection of its own");
    const auto shown = std::ranges::count_if(way->answers, [](const Wire* answer) { return answer->nak(0); });
    hearing.at_most("sequence NAKs", count_of((*naks)[2]).value_or(0), static_cast<std::uint64_t>(shown));
    if (const auto order = hearing.take("^" + kNumber + " of " + kNumber + " requests?")) {
        std::uint64_t late = 0;
        std::optional<std::uint32_t> highest;
        for (const Wire* wire : way->requests) {
            late += highest && psn_distance(*highest, wire->psn) < 0 ? 1U : 0U;
            if (!highest || psn_distance(*highest, wire->psn) > 0) highest = wire->psn;
        }
        hearing.at_most("late requests", count_of((*order)[1]).value_or(0), late);
        hearing.equal("requests", count_of((*order)[2]).value_or(0), way->requests.size());
    }
    (void)hearing.take("by up to " + kNumber + " packets? and " + kQuantity);
    if (const auto again = hearing.take(kNumber + " packets? \\(" + kQuantity + "\\) (?:was|were) retransmitted for them")) {
        const Repeated repeated = not_advancing(*way, hearing);
        hearing.at_most("retransmitted packets", count_of((*again)[1]).value_or(0), repeated.packets);
        hearing.at_most("retransmitted", (*again)[2], static_cast<double>(repeated.bytes));
    }
    stalled(hearing, *way);
}

constexpr std::array kRecoveryJudges{
    Judge{"transport-retries-exceeded", retries_exceeded},
    Judge{"rnr-retries-exceeded", rnr_retries_exceeded},
    Judge{"go-back-n-loss", lost},
    Judge{"nak-ignored", nak_ignored},
    Judge{"retransmission-undecided", undecided},
    Judge{"selective-repeat", lost},
    Judge{"reordered-not-lost", reordered_not_lost},
    Judge{"rnr-stall", rnr_stall},
    Judge{"rnr-wait-too-short", rnr_wait_too_short},
    Judge{"ack-timeout", ack_timeout},
    Judge{"spurious-retransmission", spurious},
    Judge{"read-response-lost", read_response_lost},
};

}  // namespace

std::span<const Judge> recovery_judges() { return kRecoveryJudges; }

}  // namespace qps::court
