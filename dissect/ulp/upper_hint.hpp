// UpperHint: what somebody who followed a connection says of the payload of its packets.
#pragma once

#include <cstdint>

namespace qps::dissect {

// In the order of their rows (dissect/ulp/upper.cpp).
enum class UpperProtocol : std::uint8_t { none, nvme, iser, srp, rpc_rdma, smb_direct, rds, ipoib, rsockets, lnet, count_ };

struct UpperHint {
    UpperProtocol protocol = UpperProtocol::none;
    bool from_active = false;  // sent by the end that asked for the connection: host, client, initiator
    std::uint8_t detail = 0;   // what else the protocol's own machine says of this packet to its walks; 0: nothing
};

}  // namespace qps::dissect
