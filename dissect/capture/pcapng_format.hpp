// The numbers of pcapng that its reader and its writer share (draft-ietf-opsawg-pcapng).
#pragma once

#include <cstdint>

namespace qps::dissect {

// Block types.
inline constexpr std::uint32_t kInterfaceBlock = 1;
inline constexpr std::uint32_t kPacketBlock = 2;  // obsolete, still read
inline constexpr std::uint32_t kSimplePacketBlock = 3;
inline constexpr std::uint32_t kNameBlock = 4;
inline constexpr std::uint32_t kStatisticsBlock = 5;
inline constexpr std::uint32_t kEnhancedPacketBlock = 6;
inline constexpr std::uint32_t kSecretsBlock = 0x0000000a;
inline constexpr std::uint32_t kCustomBlock = 0x00000bad;
inline constexpr std::uint32_t kCustomBlockNoCopy = 0x40000bad;

// Option codes.
inline constexpr std::uint16_t kInterfaceName = 2;
inline constexpr std::uint16_t kInterfaceSpeed = 8;
inline constexpr std::uint16_t kTimeResolution = 9;
inline constexpr std::uint16_t kTimeOffset = 14;
inline constexpr std::uint16_t kReceived = 4;
inline constexpr std::uint16_t kDropped = 5;
inline constexpr std::uint16_t kDroppedBySystem = 7;

}  // namespace qps::dissect
