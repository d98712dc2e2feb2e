// Judges of who cannot be reached: ARP (RFC 826) and ICMP errors about RoCEv2 (RFC 792), of IPv4, as the court reads them.
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::court {

namespace {

struct Arp {
    std::size_t frame = 0;
    std::int64_t time = 0;
    bool asks = false;
    std::string sender, target;
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
        out.push_back(std::move(arp));
    }
    return out;
}

void in_vain(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " asked " + kTimes + " for the MAC address of " + kHost + " by ARP, within " + kQuantity +
                                       ", and nobody answered in the " + kQuantity + " that the capture goes on");
    if (!said) return;
    const std::string &asker = (*said)[1], &target = (*said)[3];
    std::vector<Arp> asked;
    bool answered = false;
    for (const Arp& arp : read_arps(hearing.recording())) {
        if (arp.sender == target) asked.clear();  // it is there
        if (arp.asks && arp.sender == asker && arp.target == target) asked.push_back(arp);
        answered |= !arp.asks && arp.target == asker;
    }
    if (asked.empty()) return hearing.object("it was answered");
    hearing.equal("requests", count_of((*said)[2]).value_or(0), asked.size());
    hearing.equal("within", (*said)[4], static_cast<double>(asked.back().time - asked.front().time));
    hearing.equal("rest", (*said)[5], static_cast<double>(hearing.recording().records.back().time - asked.back().time));
    hearing.expect(asked.size() >= 3, "twice is too few");
    bool peer = false, speaks = false, hears = answered;
    for (const Wire& wire : hearing.wires()) {
        peer |= wire.from == target || wire.to == target;
        speaks |= wire.from == asker || wire.to == asker;
        hears |= wire.to == asker;
        hearing.expect(wire.from != target || wire.time < asked.front().time, "it sends RoCE");
    }
    hearing.expect(hears, "the tap does not hear what goes to it");
    if (hearing.take("is a RoCE peer in this capture")) hearing.expect(peer, "it is no peer");
    else if (hearing.must_say("speaks RoCE, with others")) hearing.expect(speaks && !peer, "it does not speak RoCE");
}

// ICMP errors of type 3 that quote a datagram to port 4791.
struct Complaint {
    std::string reporter, source, destination;
    std::uint32_t code = 0, mtu = 0;
};
std::vector<Complaint> read_complaints(const Recording& recording) {
    std::vector<Complaint> out;
    for (const Record& record : recording.records) {
        const Octets& bytes = record.bytes;
        if (bytes.size() < 66 || number_at(bytes, 12, 2) != 0x0800 || bytes[14] != 0x45 || bytes[23] != 1 || bytes[34] != 3) continue;
        if (bytes[42] != 0x45 || bytes[51] != 17 || number_at(bytes, 64, 2) != 4791) continue;
        out.push_back({ipv4_text(bytes, 26), ipv4_text(bytes, 54), ipv4_text(bytes, 58), bytes[35], number_at(bytes, 40, 2)});
    }
    return out;
}

void unreachable(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " told " + kHost + " by " + kNumber + " ICMP errors? that its RoCEv2 packets do not reach " + kHost +
                                       ": ([a-zA-Z ]+?)\\.$");
    if (!said) return;
    constexpr std::array<std::string_view, 4> kReasons{"network unreachable", "host unreachable", "protocol unreachable", "port unreachable"};
    std::uint64_t count = 0;
    for (const Complaint& one : read_complaints(hearing.recording()))
        if (one.reporter == (*said)[1] && one.source == (*said)[2] && one.destination == (*said)[4])
            count += one.code < kReasons.size() && kReasons[one.code] == (*said)[5] ? 1U : 0U;
    hearing.equal("errors", count_of((*said)[3]).value_or(0), count);
    hearing.expect((hearing.claim().party == "responder") == ((*said)[1] == (*said)[4]), "blames the wrong one");
}

void too_big(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " told " + kHost + " by " + kNumber + " ICMP errors? that its RoCEv2 packets to " + kHost +
                                       " exceed an MTU(?: of ([\\d,]+) bytes)? on their path");
    if (!said) return;
    std::uint64_t count = 0;
    std::uint32_t mtu = 0;
    for (const Complaint& one : read_complaints(hearing.recording())) {
        if (one.reporter != (*said)[1] || one.source != (*said)[2] || one.destination != (*said)[4] || one.code != 4) continue;
        ++count;
        if (one.mtu != 0) mtu = mtu == 0 ? one.mtu : std::min(mtu, one.mtu);
    }
    hearing.equal("errors", count_of((*said)[3]).value_or(0), count);
    hearing.equal("MTU", count_of((*said)[5]).value_or(0), mtu);
}

constexpr std::array kReachabilityJudges{
    Judge{"neighbour-unanswered", in_vain},
    Judge{"icmp-unreachable", unreachable},
    Judge{"path-mtu-exceeded", too_big},
};

}  // namespace

std::span<const Judge> reachability_judges() { return kReachabilityJudges; }

}  // namespace qps::court
