// FrameWriter: a packet and its route become the bytes of a frame, without allocation: the way out of a live endpoint.
//
// It writes what to_frame() builds, byte for byte (a test walks every opcode over every network), only faster: places
// of fields are compile-time constants out of the same field tables. Nothing here comes from a wire; lengths are
// checked because a payload is as long as its caller says.
#pragma once

#include <dissect/base/bytes.hpp>
#include <transport-replay/queue_pair/transport_packet.hpp>

namespace qps::transport::live {

// How many bytes write_frame() writes, Ethernet's padding included; 0 where the packet is longer than its network's
// length fields can say.
[[nodiscard]] std::size_t frame_length(const TransportPacket& packet, const Route& route);

// Writes the frame, from Ethernet (native: from the LRH) to the ICRC (native: VCRC), to the front of `into` and says
// how long it is; 0, with nothing written, where it does not fit. Native InfiniBand is not on the packet path: it
// allocates.
[[nodiscard]] std::size_t write_frame(const TransportPacket& packet, const Route& route, dissect::MutableBytes into);

}  // namespace qps::transport::live
