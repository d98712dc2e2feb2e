// ManagementEvents: notices, as traps to the subnet manager and as reports to who subscribed; the same notice again is
// counted.
//
// What an attacker could feed: notices without end, each another. They are bounded by kMaxEvents.
#pragma once

#include <transport-replay/management/management_datagram.hpp>

#include <map>

namespace qps::transport {

class ManagementEvents {
public:
    void observe(const ManagementDatagram& datagram, const Observation& observation);
    void finish(ManagementReport& report);

private:
    std::map<std::array<std::byte, 65>, std::size_t> index_;  // of the notice without toggle and count, and the method
    std::vector<ManagementEvent> events_;
    std::uint64_t dropped_ = 0;
};

}  // namespace qps::transport
