// Which priorities a packet may have in a switch or NIC, by what it announces (802.1Q clause 38, CEE DCBX).
#pragma once

#include <transport-replay/model/bridging_report.hpp>

#include <optional>

namespace qps::transport {

// 0: nobody can tell. Whether it goes by VLAN tags or by DSCPs is not announced, so a tag alone says nothing where the
// DSCP may be meant: where it is not 0. A DSCP that is mapped here may be read by its upper three bits there. Without a
// tag, the priority is 0 as a rule.
constexpr PriorityBits possible_priorities(const BridgingAnnouncement& announced, std::optional<unsigned> pcp,
                                           unsigned dscp) {
    const PriorityBits mapped = dscp < announced.dscp.size() ? announced.dscp[dscp] : PriorityBits{};
    if (mapped == 0 && (dscp != 0 || !pcp)) return 0;
    return static_cast<PriorityBits>(mapped | 1U << pcp.value_or(0) | 1U << dscp / kLinkPriorities);
}

}  // namespace qps::transport
