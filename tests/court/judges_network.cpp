// Judges of what the network did to order, number and bits of packets, of refusals and of congestion.
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace qps::court {

namespace {

// ICRC

// Wrong ICRCs that say nothing of the network.
void icrc_not_judged(Hearing& hearing, const Groups& said) {
    std::map<std::string, std::uint64_t> right;  // by sender
    std::uint64_t wrong = 0, all = 0, zero = 0;
    for (const Wire& wire : hearing.wires()) {
        right[wire.from] += wire.icrc_right ? 1U : 0U;
        all += wire.icrc ? 1U : 0U;
        wrong += wire.icrc_right ? 0U : 1U;
        zero += !wire.icrc_right && number_at(hearing.recording().records[wire.frame - 1].bytes, *wire.icrc, 4) == 0 ? 1U : 0U;
    }
    hearing.equal("wrong ICRCs", count_of(said[1]).value_or(0), wrong);
    hearing.at_most("packets", count_of(said[2]).value_or(0), hearing.wires().size());
    if (hearing.take("and right in none")) hearing.equal("wrong ICRCs of all", wrong, all);
    if (hearing.take("which have (0) there")) hearing.equal("ICRCs of 0", zero, wrong);
    if (hearing.take("in none of a sender's packets right"))
        hearing.expect(std::ranges::any_of(right, [](const auto& sender) { return sender.second == 0; }), "every sender has right ones");
}

// What stays the same of a packet on its way: everything but the link, hops and what the hops change with them.
Octets lasting(const Record& record, const Wire& wire) {
    Octets bytes(record.bytes.begin() + static_cast<std::ptrdiff_t>(wire.ip), record.bytes.end());
    const std::array<std::size_t, 4> ipv4{1, 8, 10, 11}, ipv6{0, 1, 7, 7};
    for (const std::size_t at : wire.ipv4 ? ipv4 : ipv6) bytes[at] = 0;
    return bytes;
}

void icrc_wrong(Hearing& hearing) {
    if (const auto said = hearing.take("^The ICRC is not judged: it is wrong in " + kNumber + " of " + kNumber + " RDMA packets?"))
        return icrc_not_judged(hearing, *said);
    if (const auto said = hearing.take("^" + kNumber + " packets? outside of any connection(?:, or recorded by a tap that is not followed,)? (?:has|have) a wrong ICRC")) {
        const auto wrong = std::ranges::count(hearing.wires(), false, &Wire::icrc_right);
        return hearing.at_most("wrong ICRCs", count_of((*said)[1]).value_or(0), static_cast<std::uint64_t>(wrong));
    }
    const auto said = hearing.must_say("^" + kNumber + " of " + kNumber + " packets? from " + kHost + " \\(([\\d.]+) %\\)");
    if (!said) return;
    constexpr std::int64_t kSoonest = 100'000;  // ns: no requester sends the same again so soon
    std::uint64_t wrong = 0, all = 0;
    std::map<Octets, std::int64_t> before;
    for (const Wire& wire : hearing.wires()) {
        if (wire.from != (*said)[3] || wire.cnp()) continue;
        ++all;
        if (wire.icrc_right) continue;
        const auto [place, fresh] = before.try_emplace(lasting(hearing.recording().records[wire.frame - 1], wire), wire.time);
        // Doubled, or recorded twice: who counts sends no datagram again.
        const bool copy = !fresh && ((wire.ipv4 && wire.identification != 0) || wire.time - place->second < kSoonest);
        place->second = wire.time;
        wrong += copy ? 0U : 1U;
    }
    const std::uint64_t part = count_of((*said)[1]).value_or(0), whole = count_of((*said)[2]).value_or(0);
    hearing.equal("wrong ICRCs", part, wrong);
    hearing.at_most("packets", whole, all);
    hearing.share((*said)[4], part, whole);
    (void)hearing.take("in " + kNumber + " connections?");
    if (const auto taken = hearing.take(kNumber + " of them (?:was|were) acknowledged without a NAK or a retransmission"))
        hearing.at_most("acknowledged", count_of((*taken)[1]).value_or(0), wrong);
    if (const auto again = hearing.take(kNumber + " of them (?:was|were) requested again by a NAK"))
        hearing.at_most("requested again", count_of((*again)[1]).value_or(0), wrong);
    const std::string& sentence = hearing.claim().sentence;
    const bool on_the_way = sentence.find("corrupted on the way") != std::string::npos && sentence.find("whether") == std::string::npos;
    hearing.expect(on_the_way == (hearing.claim().party == "fabric"), "blames the network, and does not say why");
    for (const std::size_t frame : hearing.claim().frames)
        hearing.expect(hearing.wire(frame) != nullptr && !hearing.wire(frame)->icrc_right,
                       fmt::format("the ICRC of frame {} is right", frame));
}

// Copies

void duplicated(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kNumber + " of " + kNumber + " request packets? from " + kHost + " to " + kHost + kQp + " \\(([\\d.]+) %\\)");
    if (!said) return;
    const auto way = way_of(hearing, (*said)[3]);
    if (!way) return hearing.object("names no connection of its own");
    std::map<Octets, std::uint64_t> seen;
    std::uint64_t twice = 0;
    for (const Wire* wire : way->requests) twice += seen[lasting(hearing.recording().records[wire->frame - 1], *wire)]++ != 0 ? 1U : 0U;
    const std::uint64_t part = count_of((*said)[1]).value_or(0), whole = count_of((*said)[2]).value_or(0);
    hearing.at_most("duplicates", part, twice);
    // Of copies that the network made, others may be among what is left out, which nobody knows whose they are.
    const bool all = hearing.claim().sentence.ends_with("is undecided.");
    if (all) hearing.equal("request packets", whole, way->requests.size() - part);
    hearing.expect(whole + part <= way->requests.size() && whole + twice >= way->requests.size(), "leaves out more or less than copies");
    hearing.share((*said)[6], part, whole);
}

// Order

void out_of_order(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kNumber + " of " + kNumber + " packets? from " + kHost + " to " + kHost + kQp +
                                       " arrived after packets sent later \\(([\\d.]+) %\\)");
    if (!said) return;
    const auto way = way_of(hearing, (*said)[3]);
    if (!way) return hearing.object("names no connection of its own");
    std::uint64_t late = 0, all = 0, naks = 0, repeated_reads = 0;
    // Requests of one end and responses to the other have PSNs of their own.
    std::array<std::optional<std::uint32_t>, 2> highest;
    std::array<std::set<std::uint32_t>, 2> seen;
    for (const Wire* wire : way->all) {
        if (wire->from != way->from) {
            naks += wire->nak(0) ? 1U : 0U;
            repeated_reads += wire->read_request() || wire->atomic_request() ? 1U : 0U;
            continue;
        }
        all += wire->cnp() ? 0U : 1U;
        if (wire->acknowledge() || !wire->reliable()) continue;
        const std::size_t kind = wire->answer() ? 1U : 0U;
        late += highest[kind] && psn_distance(*highest[kind], wire->psn) < 0 && !seen[kind].contains(wire->psn) ? 1U : 0U;
        seen[kind].insert(wire->psn);
        if (!highest[kind] || psn_distance(*highest[kind], wire->psn) > 0) highest[kind] = wire->psn;
    }
    const std::uint64_t part = count_of((*said)[1]).value_or(0), whole = count_of((*said)[2]).value_or(0);
    hearing.at_most("late packets", part, late);
    hearing.equal("packets", whole, all);
    hearing.share((*said)[6], part, whole);
    if (const auto asked = hearing.take(kHost + " requested retransmission (?:never|(once|twice|\\d+ times|0 times))"))
        hearing.at_most("requests of retransmission", count_of((*asked)[2]).value_or(0), naks + repeated_reads);
}

// Refusals

void refused(Hearing& hearing, std::optional<std::uint32_t> code) {
    const auto said = hearing.must_say("^" + kHost + kQp + " (?:refused|failed to execute) (an? .*?) from " + kHost + " at PSN (\\d+)");
    if (!said) return;
    const auto way = way_of(hearing, (*said)[4]);
    if (!way) return hearing.object("names no connection of its own");
    const auto psn = static_cast<std::uint32_t>(count_of((*said)[5]).value_or(0));
    if (const auto undefined = hearing.take("with NAK code (\\d+)"))
        code = static_cast<std::uint32_t>(count_of((*undefined)[1]).value_or(0));
    const auto nak =
        std::ranges::find_if(way->answers, [&](const Wire* answer) { return code && answer->nak(*code) && answer->psn == psn; });
    if (nak == way->answers.end()) return hearing.object(fmt::format("no NAK of this code has PSN {}", psn));
    hearing.expect(std::ranges::count(hearing.claim().frames, (*nak)->frame) != 0,
                   fmt::format("frame {}, the NAK, is not in its evidence", (*nak)->frame));
    const std::string what = (*said)[3];
    const auto with_address = what.find(" at 0x");
    if (with_address == std::string::npos) return;
    // The last RETH that is not beyond the PSN of the NAK.
    const Wire* request = nullptr;
    for (const Wire* wire : way->requests)
        if (wire->reth && wire->frame < (*nak)->frame && psn_distance(wire->psn, psn) >= 0) request = wire;
    if (request == nullptr) return hearing.object("no request with an address precedes the NAK");
    const std::string shown =
        fmt::format("of {} bytes at 0x{:x} with R_Key 0x{:08x}", request->reth->length, request->reth->address, request->reth->key);
    hearing.expect(what.ends_with(shown), fmt::format("the request is one {}", shown));
}
// "64 bytes at 0x1000 with R_Key 0x00000055": of a request of either host.
void last_valid(Hearing& hearing) {
    const auto said = hearing.take("the last valid access was (\\d+) bytes at 0x([0-9a-f]+) with R_Key 0x([0-9a-f]+)");
    if (!said) return;
    const auto is_it = [&](const Wire& wire) {
        return wire.reth && wire.reth->length == count_of((*said)[1]) && wire.reth->address == std::stoull((*said)[2], nullptr, 16) &&
               wire.reth->key == std::stoul((*said)[3], nullptr, 16);
    };
    hearing.expect(std::ranges::any_of(hearing.wires(), is_it), "no request has the last valid access");
}
void remote_access(Hearing& hearing) {
    refused(hearing, 2);
    (void)hearing.take("offered for an open operation \\(\\d+ bytes at 0x[0-9a-f]+ with R_Key 0x[0-9a-f]+\\)");
    (void)hearing.take("with this R_Key \\(\\d+ bytes at 0x[0-9a-f]+ with R_Key 0x[0-9a-f]+\\)");
    (void)hearing.take("None of " + kNumber + " memory ranges?");
    last_valid(hearing);
}
void remote_invalid(Hearing& hearing) {
    refused(hearing, 1);
    last_valid(hearing);
}
void remote_operational(Hearing& hearing) { refused(hearing, 3); }
void unknown_nak(Hearing& hearing) { refused(hearing, {}); }

// Congestion

bool marked(const Wire& wire) { return (wire.traffic_class & 3U) == 3; }
// No answer without data and no MAD does, nor what the receiver drops (A17.9.3).
bool triggers_cnp(const Wire& wire) {
    return !wire.acknowledge() && !wire.atomic_response() && !wire.management() && wire.to_qp != 0xffffff && wire.icrc_right;
}

// CNPs by queue pair: how long after the last mark those of the first came, within a millisecond, and how close any two came.
void pace(Hearing& hearing, const std::string& from, const std::string& to) {
    constexpr std::int64_t kDeadline = 1'000'000;  // ns
    std::map<std::uint32_t, std::vector<std::int64_t>> delays, gaps;
    std::map<std::uint32_t, std::int64_t> before;
    std::optional<std::int64_t> mark;
    for (const Wire& wire : hearing.wires()) {
        if (wire.from == from && wire.to == to && !wire.cnp() && marked(wire) && triggers_cnp(wire)) mark = wire.time;
        if (!wire.cnp() || wire.from != to || wire.to != from) continue;
        if (const auto last = before.find(wire.to_qp); last != before.end()) gaps[wire.to_qp].push_back(wire.time - last->second);
        before[wire.to_qp] = wire.time;
        if (mark && wire.time - *mark <= kDeadline) delays[wire.to_qp].push_back(wire.time - *mark);
    }
    if (hearing.number("cnp_delay_ns")) {
        if (delays.empty()) return hearing.object("no CNP follows a mark");
        std::vector<std::int64_t>& all = delays.begin()->second;
        std::ranges::sort(all);
        hearing.equal_fact("cnp_delay_ns", static_cast<double>(all[all.size() / 2]));
    }
    if (hearing.number("cnp_gap_ns")) {
        std::int64_t least = INT64_MAX;
        for (const auto& [qp, all] : gaps) least = std::min(least, *std::ranges::min_element(all));
        hearing.equal_fact("cnp_gap_ns", static_cast<double>(least));
    }
}

void ecn_congestion(Hearing& hearing) {
    const std::string from = hearing.word("from_host").value_or(""), to = hearing.word("to_host").value_or("");
    std::uint64_t all = 0, ce = 0, notified = 0, cnps = 0;
    for (const Wire& wire : hearing.wires()) {
        if (wire.from == from && wire.to == to && !wire.cnp()) ++all, ce += marked(wire) ? 1U : 0U;
        if (wire.from == from && wire.to == to && !wire.cnp() && marked(wire)) notified += triggers_cnp(wire) ? 1U : 0U;
        if (wire.from == to && wire.to == from) cnps += wire.cnp() ? 1U : 0U;
    }
    hearing.equal_fact("ce_marked", static_cast<double>(ce));
    hearing.equal_fact("all_packets", static_cast<double>(all));
    hearing.near_fact("ce_share", static_cast<double>(ce) / static_cast<double>(all));
    hearing.equal("marked packets that trigger CNPs", static_cast<std::uint64_t>(hearing.number("cnp_triggers").value_or(static_cast<double>(ce))), notified);
    hearing.equal_fact("returned_cnps", static_cast<double>(cnps));
    pace(hearing, from, to);
}

void cnp_without_mark(Hearing& hearing) {
    constexpr std::int64_t kDeadline = 1'000'000;  // ns
    std::uint64_t cnps = 0, without = 0;
    std::map<std::string, std::int64_t> marks;  // the last of two hosts
    std::set<std::pair<std::string, std::uint32_t>> streams;
    for (const Wire& wire : hearing.wires()) {
        if (!wire.cnp() && marked(wire) && triggers_cnp(wire)) marks[wire.from + " " + wire.to] = wire.time;
        if (!wire.cnp()) continue;
        ++cnps;
        streams.emplace(wire.from + " " + wire.to, wire.to_qp);
        const auto mark = marks.find(wire.to + " " + wire.from);
        without += mark == marks.end() || wire.time - mark->second > kDeadline ? 1U : 0U;
    }
    hearing.equal_fact("all_cnps", static_cast<double>(cnps));
    // Of more streams than are followed marks are not looked for, which analysis-bounded says.
    constexpr std::size_t kFollowed = 65536;
    if (streams.size() > kFollowed) hearing.at_most_fact("cnps_without_mark", static_cast<double>(without));
    else hearing.equal_fact("cnps_without_mark", static_cast<double>(without));
}

// A mark is answered by a CNP that the other host sends within a millisecond.
void ecn_not_answered(Hearing& hearing) {
    constexpr std::int64_t kDeadline = 1'000'000;  // ns
    const std::string from = hearing.word("from_host").value_or(""), to = hearing.word("to_host").value_or("");
    std::vector<std::int64_t> cnps;
    for (const Wire& wire : hearing.wires())
        if (wire.cnp() && wire.from == to && wire.to == from) cnps.push_back(wire.time);
    const auto is_answered = [&](const Wire& wire) {
        const auto next = std::ranges::lower_bound(cnps, wire.time);
        return next != cnps.end() && *next - wire.time <= kDeadline;
    };
    std::uint64_t all = 0, unanswered = 0;
    for (const Wire& wire : hearing.wires()) {
        if (!marked(wire) || !triggers_cnp(wire) || wire.from != from || wire.to != to) continue;
        ++all;
        unanswered += is_answered(wire) ? 0U : 1U;
    }
    hearing.at_most_fact("unanswered_marks", static_cast<double>(unanswered));
    hearing.at_most_fact("judged_marks", static_cast<double>(all));
    hearing.equal_fact("cnp_deadline_ns", kDeadline);
    hearing.equal("CNPs", static_cast<std::uint64_t>(hearing.number("returned_cnps").value_or(0)), cnps.size());
    for (const std::size_t frame : hearing.claim().frames) {
        const Wire* const wire = hearing.wire(frame);
        const bool is_mark = wire != nullptr && marked(*wire) && triggers_cnp(*wire) && wire->from == from && wire->to == to;
        hearing.expect(is_mark && !is_answered(*wire), fmt::format("frame {} bears no mark, or one that was answered", frame));
    }
}

// Bits of what differs, weighted by bytes: UDP source ports, and queue pairs, which could each have one.
void entropy(Hearing& hearing, const std::string& from, const std::string& to) {
    std::map<std::uint32_t, double> ports, pairs;
    double all = 0;
    for (const Wire& wire : hearing.wires()) {
        if (wire.from != from || wire.to != to || wire.management()) continue;
        const double bytes = hearing.recording().records[wire.frame - 1].wire;
        ports[wire.port] += bytes, pairs[wire.to_qp] += bytes, all += bytes;
    }
    const auto bits = [&](const std::map<std::uint32_t, double>& parts) {
        double sum = 0;
        for (const auto& [value, bytes] : parts) sum -= bytes / all * std::log2(bytes / all);
        return sum;
    };
    constexpr double kUnknown = 0.3;  // queue pairs of answers and of requests may be of one connection
    hearing.near_fact("port_entropy", bits(ports));
    hearing.at_most_fact("possible_entropy", bits(pairs) + kUnknown);
}

void udp_port_entropy(Hearing& hearing) {
    const std::string from = hearing.word("host").value_or(""), to = hearing.word("peer").value_or("");
    std::set<std::uint32_t> ports, pairs;
    for (const Wire& wire : hearing.wires())
        if (wire.from == from && wire.to == to && !wire.management()) ports.insert(wire.port), pairs.insert(wire.to_qp);
    hearing.equal_fact("udp_ports", static_cast<double>(ports.size()));
    hearing.at_most_fact("connections", static_cast<double>(pairs.size()));
    entropy(hearing, from, to);
    (void)hearing.number("other_host_pairs");
}

constexpr std::array kNetworkJudges{
    Judge{"icrc-wrong", icrc_wrong},
    Judge{"duplicated-by-network", duplicated},
    Judge{"out-of-order-delivery", out_of_order},
    Judge{"remote-access-error", remote_access},
    Judge{"remote-invalid-request", remote_invalid},
    Judge{"remote-operational-error", remote_operational},
    Judge{"unknown-nak", unknown_nak},
    Judge{"ecn-congestion", ecn_congestion},
    Judge{"ecn-not-answered", ecn_not_answered},
    Judge{"cnp-without-mark", cnp_without_mark},
    Judge{"udp-port-entropy", udp_port_entropy},
};

}  // namespace

std::span<const Judge> network_judges() { return kNetworkJudges; }

}  // namespace qps::court
