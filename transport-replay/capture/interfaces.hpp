// The interfaces that libpcap can capture from, RDMA devices with a sniffer among them.
#pragma once

#include <string>
#include <vector>

namespace qps::transport {

// By name, sorted; none where the system does not tell.
[[nodiscard]] std::vector<std::string> capture_sources();

}  // namespace qps::transport
