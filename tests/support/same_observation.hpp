// Whether two observations are of the same packet in every member, for who makes them in two ways. Without Catch:
// fuzzers ask too.
#pragma once

#include <transport-replay/model/observation.hpp>

#include <algorithm>
#include <string_view>

namespace qps::tests {

// The first member that differs; empty where none does.
[[nodiscard]] inline std::string_view difference(const transport::Observation& a, const transport::Observation& b) {
    static_assert(sizeof(transport::Observation) == 256);  // a new member is compared here
    std::string_view differs;
    const auto compare = [&](bool same, std::string_view member) {
        if (!same && differs.empty()) differs = member;
    };
#define QPS_SAME(member) compare(a.member == b.member, #member)
    QPS_SAME(frame);
    QPS_SAME(time);
    QPS_SAME(flow);
    QPS_SAME(flow_hash);
    QPS_SAME(packet_hash);
    QPS_SAME(hosts_hash);
    QPS_SAME(psn);
    QPS_SAME(wire_length);
    QPS_SAME(payload_length);
    QPS_SAME(interface);
    QPS_SAME(ip_id);
    QPS_SAME(udp_source_port);
    QPS_SAME(pkey);
    QPS_SAME(kind);
    QPS_SAME(fault);
    QPS_SAME(opcode);
    QPS_SAME(icrc);
    QPS_SAME(encapsulation);
    QPS_SAME(cut);
    QPS_SAME(has_time);
    QPS_SAME(datagram);
    QPS_SAME(ack_request);
    QPS_SAME(solicited);
    QPS_SAME(congestion_experienced);
    QPS_SAME(becn);
    QPS_SAME(management);
    QPS_SAME(about_hosts);
    QPS_SAME(capture_port);
    QPS_SAME(has_original);
    QPS_SAME(plain_link);
    QPS_SAME(dscp);
    QPS_SAME(pcp);
    QPS_SAME(hops);
    QPS_SAME(vlan);
    QPS_SAME(file);
    QPS_SAME(icrc_found);
    QPS_SAME(network);
    QPS_SAME(access);
    QPS_SAME(immediate);
    QPS_SAME(invalidate);
    QPS_SAME(atomic);
    QPS_SAME(atomic_result());
    QPS_SAME(link_speed);
    QPS_SAME(link_destination);
    QPS_SAME(payload.size());
#undef QPS_SAME
    compare(a.payload.empty() || a.payload.data() == b.payload.data(), "payload");
    compare(a.acknowledgment.has_value() == b.acknowledgment.has_value() &&
                (!a.acknowledgment || (a.acknowledgment->syndrome == b.acknowledgment->syndrome &&
                                       a.acknowledgment->msn == b.acknowledgment->msn)),
            "acknowledgment");
    return differs;
}

}  // namespace qps::tests
