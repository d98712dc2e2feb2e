// ManagementTracker: datagrams of management in the order of the capture go in, a ManagementReport comes out.
//
// It is a value, like the Analysis that has it. The connection manager's datagrams are left to CmTracker. Each part
// says what an attacker could feed it and by what it is bounded.
#pragma once

#include <transport-replay/management/exchanges.hpp>
#include <transport-replay/management/fabric_builder.hpp>
#include <transport-replay/management/management_events.hpp>
#include <transport-replay/management/port_counters.hpp>
#include <transport-replay/management/rmpp.hpp>

namespace qps::transport {

class ManagementTracker {
public:
    // A packet with Observation::management.
    void observe(const Observation& observation);
    // `now`: of the last packet of any kind.
    [[nodiscard]] ManagementReport finish(dissect::Instant now);

private:
    RmppTransfers rmpp_;
    Exchanges exchanges_;
    PortCounters counters_;
    ManagementEvents events_;
    FabricBuilder fabric_;
    std::uint64_t datagrams_ = 0;
    std::uint64_t unreadable_ = 0;
};

}  // namespace qps::transport
