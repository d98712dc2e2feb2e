// PortCounters: what the counters of ports did between the answers of performance management that tell them.
//
// What an attacker could feed: any numbers of any ports. Ports are bounded by kMaxCounterPorts; sums of steps wrap at
// 64 bits at worst.
#pragma once

#include <transport-replay/management/management_datagram.hpp>

#include <map>
#include <tuple>

namespace qps::transport {

class PortCounters {
public:
    void observe(const ManagementDatagram& datagram, const Observation& observation);
    void finish(ManagementReport& report);

private:
    std::map<std::tuple<Address, std::uint8_t, dissect::LayerKind>, std::size_t> index_;
    std::vector<PortCounterHistory> histories_;
    std::uint64_t dropped_ = 0;
};

}  // namespace qps::transport
