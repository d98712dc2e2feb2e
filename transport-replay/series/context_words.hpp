// What a packet of Ultra Ethernet of an open capture is, in words. A row keeps little of it: the frame is read and
// decoded again.
#pragma once

#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/model/uet_packet.hpp>

#include <optional>
#include <string>

namespace qps::transport::series {

// Nothing where the frame is gone, or too little of it was captured.
[[nodiscard]] std::optional<UetPacket> uet_packet_of(const CaptureIndex& index, dissect::FrameIndex number);

// "RUD request, PSN 7", "ACK, PSN 7", "NACK TRIMMED, PSN 7".
[[nodiscard]] std::string context_words(const UetPacket& packet);

}  // namespace qps::transport::series
