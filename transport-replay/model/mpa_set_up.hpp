// MpaSetUp: what one end of an iWARP connection said when it was set up. A value.
#pragma once

#include <dissect/base/types.hpp>

#include <cstdint>
#include <optional>

namespace qps::transport {

// What one end said in its MPA request or reply (RFC 5044 7.1, RFC 6581 for revision 2).
struct MpaSetUp {
    dissect::FrameIndex frame{};
    dissect::Instant time{};
    std::uint8_t revision = 0;
    bool markers = false;  // it wants to receive them
    bool crc = false;
    bool rejected = false;                 // of a reply
    std::optional<std::uint16_t> ird{};    // enhanced: READs it takes at a time; 0x3fff: not negotiated
    std::optional<std::uint16_t> ord{};    // enhanced: READs it wants to have outstanding
    bool peer_to_peer = false;             // enhanced: the initiator sends first
    std::uint16_t private_data_bytes = 0;  // of the consumer
};

}  // namespace qps::transport
