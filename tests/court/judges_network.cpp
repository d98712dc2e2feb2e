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
void icrc_not_judged(Hearing& hearing, const std::string& why) {
    std::map<std::string, std::uint64_t> right;  // by sender
    std::uint64_t wrong = 0, all = 0, zero = 0;
    for (const Wire& wire : hearing.wires()) {
        right[wire.from] += wire.icrc_right ? 1U : 0U;
        all += wire.icrc ? 1U : 0U;
        wrong += wire.icrc_right ? 0U : 1U;
        zero += !wire.icrc_right && number_at(hearing.recording().records[wire.frame - 1].bytes, *wire.icrc, 4) == 0
                    ? 1U
                    : 0U;
    }
    hearing.equal_fact("packets", static_cast<double>(wrong));
    hearing.at_most_fact("all_packets", static_cast<double>(hearing.wires().size()));
    if (why == "none_right") hearing.equal("wrong ICRCs of all", wrong, all);
    if (why == "cleared") hearing.equal("ICRCs of 0", zero, wrong);
    if (why == "by_sender")
        hearing.expect(std::ranges::any_of(right, [](const auto& sender) { return sender.second == 0; }),
                       "every sender has right ones");
}

// What stays the same of a packet on its way: everything but the link, hops and what the hops change with them.
Octets lasting(const Record& record, const Wire& wire) {
    Octets bytes(record.bytes.begin() + static_cast<std::ptrdiff_t>(wire.ip), record.bytes.end());
    const std::array<std::size_t, 4> ipv4{1, 8, 10, 11}, ipv6{0, 1, 7, 7};
    for (const std::size_t at : wire.ipv4 ? ipv4 : ipv6) bytes[at] = 0;
    return bytes;
}

// Packets of a host with a wrong ICRC, each once, and all of them.
std::pair<std::uint64_t, std::uint64_t> wrong_icrcs(const Hearing& hearing, const std::string& host) {
    constexpr std::int64_t kSoonest = 100'000;  // ns: no requester sends the same again so soon
    std::uint64_t wrong = 0, all = 0;
    std::map<Octets, std::int64_t> before;
    for (const Wire& wire : hearing.wires()) {
        if (wire.from != host || wire.cnp()) continue;
        ++all;
        if (wire.icrc_right) continue;
        const auto [place, fresh] =
            before.try_emplace(lasting(hearing.recording().records[wire.frame - 1], wire), wire.time);
        // Doubled, or recorded twice: who counts sends no datagram again.
        const bool copy = !fresh && ((wire.ipv4 && wire.identification != 0) || wire.time - place->second < kSoonest);
        place->second = wire.time;
        wrong += copy ? 0U : 1U;
    }
    return {wrong, all};
}

void icrc_wrong(Hearing& hearing) {
    if (const auto why = hearing.word("not_judged")) return icrc_not_judged(hearing, *why);
    const auto host = hearing.word("host");
    if (!host)
        return hearing.at_most_fact("packets",
                                    static_cast<double>(std::ranges::count(hearing.wires(), false, &Wire::icrc_right)));
    const auto [wrong, all] = wrong_icrcs(hearing, *host);
    const double part = hearing.number("packets").value_or(0), whole = hearing.number("all_packets").value_or(0);
    hearing.equal_fact("packets", static_cast<double>(wrong));
    hearing.at_most_fact("all_packets", static_cast<double>(all));
    hearing.near_fact("share", whole == 0 ? 0 : part / whole);
    std::set<std::pair<std::string, std::uint32_t>> queue_pairs;
    std::uint64_t to_it = 0;
    for (const Wire& wire : hearing.wires()) {
        if (wire.from == *host && !wire.icrc_right) queue_pairs.emplace(wire.to, wire.to_qp);
        to_it += wire.to == *host && !wire.icrc_right ? 1U : 0U;
    }
    if (hearing.number("connections")) hearing.at_most_fact("connections", static_cast<double>(queue_pairs.size()));
    if (hearing.number("wrong_of_peer")) hearing.at_most_fact("wrong_of_peer", static_cast<double>(to_it));
    const double taken = hearing.number("acknowledged").value_or(0),
                 again = hearing.number("requested_again").value_or(0);
    hearing.expect(taken + again <= part, "knows of more than all what became of them");
    hearing.expect(hearing.flag("all_acknowledged") == (taken != 0 && taken == part),
                   "all were acknowledged, or not all");
    const std::string verdict = hearing.word("icrc_verdict").value_or("");
    hearing.expect((verdict == "corrupted" || verdict == "corrupted_or_damaged") == (hearing.claim().party == "fabric"),
                   "blames the network, and does not say why");
    for (const std::size_t frame : hearing.claim().frames)
        hearing.expect(hearing.wire(frame) != nullptr && !hearing.wire(frame)->icrc_right,
                       fmt::format("the ICRC of frame {} is right", frame));
}

// Copies

void duplicated(Hearing& hearing) {
    const auto way = way_between(hearing, "sender", "receiver");
    if (!way) return;
    std::map<Octets, std::uint64_t> seen;
    std::uint64_t twice = 0;
    for (const Wire* wire : way->requests)
        twice += seen[lasting(hearing.recording().records[wire->frame - 1], *wire)]++ != 0 ? 1U : 0U;
    const double part = hearing.number("packets").value_or(0), whole = hearing.number("all_packets").value_or(0);
    hearing.at_most_fact("packets", static_cast<double>(twice));
    hearing.equal_fact("all_packets", static_cast<double>(way->requests.size()));
    hearing.near_fact("share", whole == 0 ? 0 : part / whole);
}

// Order

void out_of_order(Hearing& hearing) {
    const auto way = way_between(hearing, "sender", "receiver");
    if (!way) return;
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
        late +=
            highest[kind] && psn_distance(*highest[kind], wire->psn) < 0 && !seen[kind].contains(wire->psn) ? 1U : 0U;
        seen[kind].insert(wire->psn);
        if (!highest[kind] || psn_distance(*highest[kind], wire->psn) > 0) highest[kind] = wire->psn;
    }
    const double part = hearing.number("packets").value_or(0);
    hearing.at_most_fact("packets", static_cast<double>(late));
    hearing.equal_fact("all_packets", static_cast<double>(all));
    hearing.near_fact("share", all == 0 ? 0 : part / static_cast<double>(all));
    hearing.at_most_fact("requested_retransmissions", static_cast<double>(naks + repeated_reads));
}

// Refusals

// An access of these facts, of a request of any packet that is asked about.
bool is_access(Hearing& hearing, const Reth& reth, const std::string& prefix) {
    return hearing.number(prefix + "length") == reth.length &&
           hearing.number(prefix + "address") == static_cast<double>(reth.address) &&
           hearing.number(prefix + "r_key") == reth.key;
}
bool names_access(Hearing& hearing, const std::string& prefix) {
    const bool length = hearing.number(prefix + "length").has_value(),
               address = hearing.number(prefix + "address").has_value();
    return hearing.number(prefix + "r_key").has_value() && length && address;
}

// What was refused: the last request with an address that is not beyond the PSN of the NAK, or the message around it.
void refused_request(Hearing& hearing, const Way& way, const Wire& nak) {
    const bool by_address = names_access(hearing, "");
    const Wire* request = nullptr;
    for (const Wire* wire : way.requests)
        if (wire->frame < nak.frame && psn_distance(wire->psn, nak.psn) >= 0 &&
            (by_address ? wire->reth.has_value() : wire->begins()))
            request = wire;
    if (by_address) {
        if (request == nullptr) return hearing.object("no request with an address precedes the NAK");
        hearing.expect(is_access(hearing, *request->reth, ""),
                       fmt::format("the request is one of {} bytes at 0x{:x} with R_Key 0x{:08x}",
                                   request->reth->length, request->reth->address, request->reth->key));
    }
    std::map<std::uint32_t, std::uint64_t> bytes;  // by PSN: each is of the message once
    bool over = false;
    for (const Wire* wire : way.requests) {
        if (request == nullptr || over || wire->frame < request->frame || psn_distance(request->psn, wire->psn) < 0)
            continue;
        bytes.try_emplace(wire->psn, wire->payload);
        over = wire->ends();
    }
    std::uint64_t payload = 0;
    for (const auto& [psn, size] : bytes) payload += size;
    if (!by_address && hearing.number("length")) hearing.equal_fact("length", static_cast<double>(payload));
    if (hearing.number("payload")) hearing.equal_fact("payload", static_cast<double>(payload));
    if (hearing.number("first_psn"))
        hearing.equal_fact("first_psn", request == nullptr ? -1.0 : static_cast<double>(request->psn));
}

// READs and ATOMICs of the way that had no response when the NAK came; the refused one is among them.
std::uint64_t outstanding(const Way& way, const Wire& nak) {
    std::set<std::uint32_t> open;
    for (const Wire* wire : way.all) {
        if (wire->frame >= nak.frame) break;
        if (wire->from == way.from && (wire->read_request() || wire->atomic_request())) open.insert(wire->psn);
        if (wire->from == way.to && ((wire->read_response() && wire->ends()) || wire->atomic_response()))
            std::erase_if(open, [&](std::uint32_t psn) { return psn_distance(psn, wire->psn) >= 0; });
    }
    return open.size();
}

void refused(Hearing& hearing, std::optional<std::uint32_t> code) {
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    const auto psn = static_cast<std::uint32_t>(hearing.number("psn").value_or(0));
    if (const auto undefined = hearing.number("nak_code")) code = static_cast<std::uint32_t>(*undefined);
    const auto nak = std::ranges::find_if(
        way->answers, [&](const Wire* answer) { return code && answer->nak(*code) && answer->psn == psn; });
    if (nak == way->answers.end()) return hearing.object(fmt::format("no NAK of this code has PSN {}", psn));
    hearing.expect(std::ranges::count(hearing.claim().frames, (*nak)->frame) != 0,
                   fmt::format("frame {}, the NAK, is not in its evidence", (*nak)->frame));
    refused_request(hearing, *way, **nak);
    if (hearing.number("reads_outstanding"))
        hearing.equal_fact("reads_outstanding", static_cast<double>(outstanding(*way, **nak)));
    if (const auto again = hearing.number("repeated_read")) {
        const Wire* const read = hearing.wire(static_cast<std::size_t>(*again));
        hearing.expect(
            read != nullptr && read->read_request() && read->from == way->from && read->frame < (*nak)->frame,
            "no READ was asked for again there");
    }
}
// The last valid access is of a request of either host.
void last_valid(Hearing& hearing) {
    if (!names_access(hearing, "last_valid_")) return;
    const auto is_it = [&](const Wire& wire) { return wire.reth && is_access(hearing, *wire.reth, "last_valid_"); };
    hearing.expect(std::ranges::any_of(hearing.wires(), is_it), "no request has the last valid access");
}
void remote_access(Hearing& hearing) {
    refused(hearing, 2);
    last_valid(hearing);
    // What upper protocols offered the court does not read: only how the access lies to it.
    const std::string offer = hearing.word("offer").value_or("");
    if (!names_access(hearing, "offered_"))
        return hearing.expect(offer.empty() || hearing.number("offers").value_or(0) > 0, "names no offer");
    const double begin = *hearing.number("offered_address"), end = begin + *hearing.number("offered_length");
    const double from = hearing.number("address").value_or(0), to = from + hearing.number("length").value_or(0);
    hearing.expect(*hearing.number("offered_r_key") == hearing.number("r_key"), "the offer has another R_Key");
    hearing.expect((offer == "inside") == (begin <= from && to <= end), "the access lies otherwise to the offer");
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
    return !wire.acknowledge() && !wire.atomic_response() && !wire.management() && wire.to_qp != 0xffffff &&
           wire.icrc_right;
}

// CNPs by queue pair: how long after the last mark those of the first came, within a millisecond, and how close any two
// came.
void pace(Hearing& hearing, const std::string& from, const std::string& to) {
    constexpr std::int64_t kDeadline = 1'000'000;  // ns
    std::map<std::uint32_t, std::vector<std::int64_t>> delays, gaps;
    std::map<std::uint32_t, std::int64_t> before;
    std::optional<std::int64_t> mark;
    for (const Wire& wire : hearing.wires()) {
        if (wire.from == from && wire.to == to && !wire.cnp() && marked(wire) && triggers_cnp(wire)) mark = wire.time;
        if (!wire.cnp() || wire.from != to || wire.to != from) continue;
        if (const auto last = before.find(wire.to_qp); last != before.end())
            gaps[wire.to_qp].push_back(wire.time - last->second);
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
    hearing.equal("marked packets that trigger CNPs",
                  static_cast<std::uint64_t>(hearing.number("cnp_triggers").value_or(static_cast<double>(ce))),
                  notified);
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
        const bool is_mark =
            wire != nullptr && marked(*wire) && triggers_cnp(*wire) && wire->from == from && wire->to == to;
        hearing.expect(is_mark && !is_answered(*wire),
                       fmt::format("frame {} bears no mark, or one that was answered", frame));
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
