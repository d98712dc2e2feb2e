// The judge of TCP and UDP in the class of RDMA: bytes to a host by class and millisecond, as the court reads IPv4.
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace qps::court {

namespace {

struct BesideInterval {
    std::uint64_t tcp = 0, udp = 0, rdma = 0, marks = 0, naks = 0;
};

void lossy_beside(Hearing& hearing) {
    const auto said = hearing.must_say("^TCP and UDP took ([\\d.]+) % of the bytes to " + kHost + " \\(" + kQuantity + " and " + kQuantity + ", beside " + kQuantity +
                                       " of RDMA\\) with DSCP (\\d+), in the " + kNumber + " intervals of 1 ms in which that class had (.*)\\.$");
    if (!said) return;
    const std::string& to = (*said)[2];
    const auto dscp = static_cast<std::uint32_t>(count_of((*said)[6]).value_or(64));
    std::map<std::int64_t, BesideInterval> intervals;
    bool begun = false;
    for (std::size_t i = 0; i < hearing.recording().records.size(); ++i) {
        const Record& record = hearing.recording().records[i];
        const Wire* const wire = hearing.wire(i + 1);
        const auto network = network_of(record.bytes);
        if (!network || network->type != 0x0800 || record.bytes.size() < network->place + 20) continue;
        begun |= wire == nullptr && record.wire >= 512;
        if (!begun || (record.bytes[network->place + 1] >> 2U) != dscp) continue;
        BesideInterval& one = intervals[record.time / 1'000'000];
        if (wire != nullptr && wire->from == to && wire->nak(0)) ++one.naks;
        if (destination_of(record.bytes) != to) continue;
        if (wire != nullptr) one.rdma += record.wire, one.marks += (wire->traffic_class & 3U) == 3 ? 1U : 0U;
        else if (record.bytes[network->place + 9] == 6) one.tcp += record.wire;
        else if (record.bytes[network->place + 9] == 17) one.udp += record.wire;
    }
    BesideInterval all;
    std::uint64_t events = 0, shared = 0;
    for (const auto& [time, one] : intervals) {
        if (one.marks + one.naks == 0) continue;
        ++events;
        shared += one.tcp + one.udp != 0 ? 1U : 0U;
        all.tcp += one.tcp, all.udp += one.udp, all.rdma += one.rdma, all.marks += one.marks, all.naks += one.naks;
    }
    hearing.share((*said)[1], all.tcp + all.udp, all.tcp + all.udp + all.rdma);
    hearing.equal("bytes of TCP", (*said)[3], static_cast<double>(all.tcp));
    hearing.equal("bytes of UDP", (*said)[4], static_cast<double>(all.udp));
    hearing.equal("bytes of RDMA", (*said)[5], static_cast<double>(all.rdma));
    hearing.equal("intervals", count_of((*said)[7]).value_or(0), events);
    hearing.equal("shared intervals", hearing.claim().count, shared);
    std::string said_events;
    if (all.marks != 0) said_events = fmt::format("{} CE mark{}", all.marks, all.marks == 1 ? "" : "s");
    if (all.naks != 0) said_events += fmt::format("{}{} sequence NAK{}", said_events.empty() ? "" : ", ", all.naks, all.naks == 1 ? "" : "s");
    hearing.expect((*said)[8] == said_events, "the class had " + said_events);
    hearing.expect(hearing.claim().party == "congestion", "blames another");
}

constexpr std::array kBesideJudges{Judge{"shared-traffic-class", lossy_beside}};

}  // namespace

std::span<const Judge> beside_judges() { return kBesideJudges; }

}  // namespace qps::court
