// Judges of who cannot be reached: ARP (RFC 826) and ICMP errors about RoCEv2 (RFC 792), of IPv4, as the court reads
// them.
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace qps::court {

namespace {

constexpr std::int64_t kCopy = 900'000'000;  // ns

struct Arp {
    std::size_t frame = 0;
    std::int64_t time = 0;
    bool asks = false;
    std::string sender, target;
    std::string to;  // bytes of the MAC address that the frame is for
    std::string by;  // of who sends, in ARP
};

std::string ipv4_text(const Octets& bytes, std::size_t at) {
    return fmt::format("{}.{}.{}.{}", bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
}

std::vector<Arp> read_arps(const Recording& recording) {
    std::vector<Arp> out;
    for (std::size_t i = 0; i < recording.records.size(); ++i) {
        const Octets& bytes = recording.records[i].bytes;
        if (bytes.size() < 42 || number_at(bytes, 12, 2) != 0x0806 || number_at(bytes, 16, 2) != 0x0800) continue;
        Arp arp;
        arp.frame = i + 1;
        arp.time = recording.records[i].time;
        arp.asks = number_at(bytes, 20, 2) == 1;
        arp.sender = ipv4_text(bytes, 28);
        arp.target = ipv4_text(bytes, 38);
        arp.to.assign(bytes.begin(), bytes.begin() + 6);
        arp.by.assign(bytes.begin() + 22, bytes.begin() + 28);
        out.push_back(std::move(arp));
    }
    return out;
}

void in_vain(Hearing& hearing) {
    const std::string asker = hearing.word("host").value_or(""), target = hearing.word("peer").value_or("");
    hearing.expect(hearing.word("asked_by") == "ARP", "by another protocol, which the court does not read");
    std::vector<Arp> asked;
    const std::vector<Arp> all = read_arps(hearing.recording());
    for (const Arp& arp : all) {
        if (arp.sender == target) asked.clear();  // it is there
        const bool copy = !asked.empty() && arp.time - asked.back().time < kCopy;
        if (arp.asks && arp.sender == asker && arp.target == target && !copy) asked.push_back(arp);
    }
    if (asked.empty()) return hearing.object("it was answered");
    std::set<std::string> heard;
    for (const Arp& arp : all)
        if (arp.to == asked[0].by && arp.by != arp.to) heard.insert(arp.by);
    hearing.equal_fact("neighbour_requests", static_cast<double>(asked.size()));
    hearing.equal_fact("asked_for_ns", static_cast<double>(asked.back().time - asked.front().time));
    hearing.expect(asked.size() >= 3, "twice is too few");
    const bool came =
        std::ranges::any_of(hearing.wires(),
                            [&](const Wire& wire) { return wire.from == target && wire.to == asker; }) ||
        std::ranges::any_of(all, [&](const Arp& arp) { return arp.sender == target && arp.to == asked[0].by; });
    hearing.expect(heard.size() >= 2 || came, "the capture may not have what goes to it");
    hearing.expect(hearing.claim().party == "undecided", "blames somebody");
    bool speaks = false;
    for (const Wire& wire : hearing.wires()) {
        for (const std::string& one : {asker, target}) speaks |= wire.from == one || wire.to == one;
        hearing.expect(wire.from != target || wire.time < asked.front().time, "it sends RoCE");
    }
    hearing.expect(speaks, "neither speaks RoCE");
}

// ICMP errors of type 3 that quote a datagram to port 4791.
struct Complaint {
    std::string reporter, source, destination;
    std::uint32_t code = 0, mtu = 0, length = 0;  // of the packet that is quoted
};
std::vector<Complaint> read_complaints(const Recording& recording) {
    std::vector<Complaint> out;
    for (const Record& record : recording.records) {
        const Octets& bytes = record.bytes;
        if (bytes.size() < 66 || number_at(bytes, 12, 2) != 0x0800 || bytes[14] != 0x45 || bytes[23] != 1 ||
            bytes[34] != 3)
            continue;
        if (bytes[42] != 0x45 || (number_at(bytes, 48, 2) & 0x1fffU) != 0 || bytes[51] != 17 ||
            number_at(bytes, 64, 2) != 4791)
            continue;
        out.push_back({ipv4_text(bytes, 26), ipv4_text(bytes, 54), ipv4_text(bytes, 58), bytes[35],
                       number_at(bytes, 40, 2), number_at(bytes, 44, 2)});
    }
    return out;
}

bool talk(Hearing& hearing, const std::string& one, const std::string& other) {
    return std::ranges::any_of(hearing.wires(), [&](const Wire& wire) {
        return (wire.from == one && wire.to == other) || (wire.from == other && wire.to == one);
    });
}

void again(Hearing& hearing, const std::string& source, const std::string& destination) {
    const auto packets = static_cast<std::uint64_t>(hearing.number("retransmitted").value_or(0));
    hearing.expect((hearing.claim().severity == Severity::note) == (packets == 0),
                   "a warning without a retransmitted packet, or a note with one");
    hearing.expect((hearing.word("retransmission") == "missed") == (packets != 0),
                   "packets that nobody missed, or none that somebody did");
    std::set<std::pair<std::uint32_t, std::uint32_t>> asked;  // queue pairs and PSNs
    std::uint64_t count = 0;
    std::optional<std::uint32_t> refused;  // by an RNR NAK, from that PSN on, until something new is asked for
    for (const Wire& wire : hearing.wires()) {
        if (wire.rnr_nak() && wire.from == destination && wire.to == source) refused = wire.psn;
        if (wire.from != source || wire.to != destination || !wire.request()) continue;
        if (asked.emplace(wire.to_qp, wire.psn).second) refused.reset();
        else if (!refused || psn_distance(*refused, wire.psn) < 0) ++count;
    }
    hearing.equal("retransmitted packets", packets, count);
}

// Who told whom of packets to which host.
struct Reported {
    std::string by, to, of;
};
Reported reported(Hearing& hearing) {
    Reported found{hearing.word("reporter").value_or(""), hearing.word("from_host").value_or(""),
                   hearing.word("to_host").value_or("")};
    hearing.expect(talk(hearing, found.to, found.of), "no RoCE between both");
    return found;
}

void unreachable(Hearing& hearing) {
    const Reported said = reported(hearing);
    constexpr std::array<std::string_view, 4> kReasons{"network unreachable", "host unreachable",
                                                       "protocol unreachable", "port unreachable"};
    const bool itself = hearing.flag("refused");
    hearing.expect(itself == (said.of == said.by), "who tells it got the packets, or did not");
    const auto code = static_cast<std::uint32_t>(hearing.number("icmp_code").value_or(255));
    hearing.expect(code < kReasons.size() && hearing.word("icmp_reason") == kReasons[code],
                   "the code has another meaning");
    std::uint64_t count = 0;
    for (const Complaint& one : read_complaints(hearing.recording()))
        count += one.reporter == said.by && one.source == said.to && one.destination == said.of && one.code == code
                     ? 1U
                     : 0U;
    hearing.equal_fact("icmp_errors", static_cast<double>(count));
    hearing.expect((hearing.claim().party == "responder") == itself, "blames the wrong one");
    again(hearing, said.to, said.of);
}

void too_big(Hearing& hearing) {
    const Reported said = reported(hearing);
    std::uint64_t count = 0;
    std::uint32_t mtu = 0;
    for (const Complaint& one : read_complaints(hearing.recording())) {
        if (one.reporter != said.by || one.source != said.to || one.destination != said.of || one.code != 4) continue;
        if (one.mtu != 0 && one.mtu >= one.length) continue;
        ++count;
        if (one.mtu != 0) mtu = mtu == 0 ? one.mtu : std::min(mtu, one.mtu);
    }
    hearing.equal_fact("icmp_errors", static_cast<double>(count));
    hearing.equal("MTU", static_cast<std::uint64_t>(hearing.number("smallest_mtu").value_or(0)), mtu);
    again(hearing, said.to, said.of);
}

constexpr std::array kReachabilityJudges{
    Judge{"neighbour-unanswered", in_vain},
    Judge{"icmp-unreachable", unreachable},
    Judge{"path-mtu-exceeded", too_big},
};

}  // namespace

std::span<const Judge> reachability_judges() { return kReachabilityJudges; }

}  // namespace qps::court
