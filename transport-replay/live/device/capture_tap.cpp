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

void CaptureTap::record(Bytes bytes, Instant time, bool outbound) {
    if (problem_) return;
    Frame frame;
    frame.bytes = bytes;
    frame.wire_length = static_cast<std::uint32_t>(bytes.size());
    frame.index = FrameIndex{++frames_};
    frame.time = time;
    frame.options = outbound ? kOutbound : kInbound;
    if (auto written = write_(frame); !written) problem_ = Problem{written.error().file, written.error().sentence};
}

std::span<const ReceivedFrame> CaptureTap::receive(Instant now) {
    const auto frames = inside_.receive(now);
    for (const ReceivedFrame& frame : frames) record(frame.bytes, frame.time, false);
    return frames;
}

void CaptureTap::commit(std::size_t bytes, Instant now) {
    const MutableBytes lent = std::exchange(lent_, MutableBytes{});
    if (bytes >= kEthernetHeader && bytes <= lent.size()) record(lent.first(bytes), now, true);
    inside_.commit(bytes, now);
}

}  // namespace qps::transport::live
