// open_sim_device(): one end of a simulated link (sim_link.hpp) as a device, under virtual time.
//
// Both ends share the link; one thread drives both. A send queue holds what the line takes kSendAhead to send; then
// reserve() lends nothing until poll_at(). Nothing here comes from a wire. Frames that nobody receives are bounded by
// kMaxInbox.
#pragma once

#include <transport-replay/live/device/device.hpp>
#include <transport-replay/live/sim_link.hpp>

#include <array>
#include <deque>
#include <memory>

namespace qps::transport::live {

inline constexpr dissect::Duration kSendAhead = microseconds(10);
inline constexpr std::size_t kMaxInbox = 1U << 16;  // frames that arrived and wait, of one end: far above a window

// The link and what arrived at its ends. Also for looking at the recording of its tap.
struct SimWire {
    SimLink link;
    std::array<std::deque<Delivery>, 2> inbox{};
    std::array<std::uint64_t, 2> overflowed{};
};

[[nodiscard]] std::shared_ptr<SimWire> make_wire(const LinkSettings& link, const TapSettings& tap,
                                                 dissect::Instant start);

// The wire is shared by the devices of both ends. `frame_bytes`: the longest frame, within what Ethernet and
// kLongestFrame allow.
[[nodiscard]] Device open_sim_device(std::shared_ptr<SimWire> wire, End end, std::size_t frame_bytes = kLongestFrame);

}  // namespace qps::transport::live
