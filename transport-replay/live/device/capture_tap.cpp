#include <transport-replay/live/device/capture_tap.hpp>

#include <array>

namespace qps::transport::live {

using namespace dissect;

namespace {

// The option epb_flags of pcapng, little-endian: its lowest two bits are the way.
constexpr std::array<std::byte, 8> flags_option(std::uint8_t way) {
    constexpr std::byte kFlags{2}, kLength{4};
    return {kFlags, std::byte{0}, kLength, std::byte{0}, std::byte{way}};
}
constexpr auto kInbound = flags_option(1), kOutbound = flags_option(2);

}  // namespace

void CaptureTap::see(Way way, Bytes bytes, Instant time) {
    if (problem_) return;
    Frame frame;
    frame.bytes = bytes;
    frame.wire_length = static_cast<std::uint32_t>(bytes.size());
    frame.index = FrameIndex{++frames_};
    frame.time = time;
    frame.options = way == Way::out ? kOutbound : kInbound;
    if (auto written = write_(frame); !written) problem_ = Problem{written.error().file, written.error().sentence};
}

}  // namespace qps::transport::live
