// UlpHint: what somebody who followed a connection says of the payload of its packets.
#pragma once

#include <cstdint>

namespace qps::dissect {

// In the order of their rows (dissect/ulp/ulp.cpp).
enum class UlpProtocol : std::uint8_t {
    none,
    nvme,
    iser,
    srp,
    rpc_rdma,
    smb_direct,
    rds,
    ipoib,
    rsockets,
    lnet,
    ucx,
    ucx_datagram,
    rxm,
    rxd,
    sdp,
    count_
};

// Where iWARP stands in the bytes that a TCP segment carries: who follows the stream knows, the segment does not say.
struct IwarpPlace {
    enum class What : std::uint8_t { none, set_up, fpdus };
    What what = What::none;       // none: no iWARP, or nothing that begins in this segment
    bool crc = false;             // the ends agreed on CRCs, or they were seen to be right
    bool markers = false;         // this way has markers
    std::uint16_t first = 0;      // where the first FPDU, or the set-up frame, begins in the segment's bytes
    std::uint16_t to_marker = 0;  // from the first of the segment's bytes to the first marker, where this way has them
};

struct UlpHint {
    UlpProtocol protocol = UlpProtocol::none;
    bool from_active = false;  // sent by the end that asked for the connection: host, client, initiator
    std::uint8_t detail = 0;   // what else the protocol's own machine says of this packet to its walks; 0: nothing
    IwarpPlace iwarp{};        // what carries it, where that is TCP
};

}  // namespace qps::dissect
