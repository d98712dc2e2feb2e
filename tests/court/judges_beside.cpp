// The judge of TCP and UDP in the class of RDMA: bytes to a host by class and millisecond, as the court reads IPv4.
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace qps::court {

namespace {

struct BesideInterval {
    std::uint64_t tcp = 0, udp = 0, rdma = 0, marks = 0, naks = 0;
};

void lossy_beside(Hearing& hearing) {
    const std::string to = hearing.word("to_host").value_or("");
    const double dscp = hearing.number("dscp").value_or(64);
    hearing.expect(!hearing.number("vlan_priority"), "names a VLAN priority, which the court does not read");
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
    const auto lossy = static_cast<double>(all.tcp + all.udp), rdma = static_cast<double>(all.rdma);
    hearing.near_fact("lossy_share", lossy / (lossy + rdma));
    hearing.equal_fact("tcp_bytes", static_cast<double>(all.tcp));
    hearing.equal_fact("udp_bytes", static_cast<double>(all.udp));
    hearing.equal_fact("rdma_bytes", rdma);
    hearing.equal_fact("intervals", static_cast<double>(events));
    hearing.equal_fact("shared_intervals", static_cast<double>(shared));
    hearing.equal_fact("interval_length_ns", 1e6);
    hearing.equal("shared intervals", hearing.claim().count, shared);
    const auto said = [&](const std::string& name) {
        return static_cast<std::uint64_t>(hearing.number(name).value_or(0));
    };
    hearing.equal("CE marks", said("class_marks"), all.marks);
    hearing.equal("sequence NAKs", said("class_naks"), all.naks);
    hearing.equal("pause frames", said("class_pauses"), 0);
    hearing.expect(hearing.claim().party == "congestion", "blames another");
}

constexpr std::array kBesideJudges{Judge{"shared-traffic-class", lossy_beside}};

}  // namespace

std::span<const Judge> beside_judges() { return kBesideJudges; }

}  // namespace qps::court
