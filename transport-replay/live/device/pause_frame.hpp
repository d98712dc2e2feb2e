// PAUSE and PFC frames, read and written: what asks an end of a link not to send for a while.
//
// Both are MAC control frames (802.3, clause 31) without a VLAN tag. PAUSE (annex 31B) has one timer for the whole
// link; PFC (802.1Q, priority-based flow control) has eight and a vector that says which of them count. Timers are in
// quanta of 512 bit times; 0 ends a pause.
//
// What an attacker could feed: any frame. Lengths are checked; what is cut, for another address, or of another opcode
// asks for nothing.
#pragma once

#include <dissect/base/bytes.hpp>
#include <dissect/base/ethertypes.hpp>

#include <array>
#include <cstdint>
#include <expected>
#include <optional>

namespace qps::transport::live {

inline constexpr std::size_t kPriorities = 8;
inline constexpr std::uint64_t kPauseGroup = 0x0180'c200'0001;  // the MAC address of both, which bridges do not forward
inline constexpr std::size_t kPauseFrameBytes = 60;             // what is written: the shortest frame

struct PauseDemand {
    bool whole_link = false;                          // PAUSE: the first timer, for everything
    std::uint8_t priorities = 0;                      // PFC: bit n: the timer of priority n counts
    std::array<std::uint16_t, kPriorities> quanta{};  // 0: resume
    std::uint64_t source = 0;                         // MAC address
    [[nodiscard]] bool operator==(const PauseDemand&) const = default;
};

// Why a MAC control frame asks us for nothing.
enum class NoPause : std::uint8_t { other_address, other_opcode, cut, from_us };

[[nodiscard]] inline bool is_mac_control(dissect::Bytes frame) {
    constexpr std::size_t kAt = 12;
    return frame.size() >= kAt + 2 && dissect::read_be<std::uint16_t>(frame, kAt) == dissect::ethertype::mac_control;
}

// Of a MAC control frame; `mac`: our address, which PAUSE may be sent to as well. Some devices hand back what we send:
// that stops nobody.
[[nodiscard]] std::expected<PauseDemand, NoPause> read_pause(dissect::Bytes frame, std::uint64_t mac);

// Writes the frame, padded; nothing where `into` has less than kPauseFrameBytes.
void write_pause(const PauseDemand& demand, dissect::MutableBytes into);

// The priority that a frame is sent with: that of its outer VLAN tag; without one, the upper three bits of its DSCP, as
// NICs and switches that trust the DSCP have it. What is neither tagged nor IP has 0. Nothing of MAC control frames: no
// pause stops them.
[[nodiscard]] std::optional<std::uint8_t> priority_of(dissect::Bytes frame);

}  // namespace qps::transport::live
