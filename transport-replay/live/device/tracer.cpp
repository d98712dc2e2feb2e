#include <dissect/packet/notation.hpp>
#include <transport-replay/live/device/tracer.hpp>

namespace qps::transport::live {

using namespace dissect;

void Tracer::trace(Way way, Bytes bytes, Instant time) {
    Frame frame;
    frame.bytes = bytes;
    frame.wire_length = static_cast<std::uint32_t>(bytes.size());
    frame.time = time;
    Packet packet;
    decode(frame, packet);
    line_.clear();
    append_line(line_, packet);
    sink_(way, time, line_);
}

std::span<const ReceivedFrame> Tracer::receive(Instant now) {
    const auto frames = inside_.receive(now);
    for (const ReceivedFrame& frame : frames) trace(Way::in, frame.bytes, frame.time);
    return frames;
}

void Tracer::commit(std::size_t bytes, Instant now) {
    const MutableBytes lent = std::exchange(lent_, MutableBytes{});
    if (bytes >= kEthernetHeader && bytes <= lent.size()) trace(Way::out, lent.first(bytes), now);
    inside_.commit(bytes, now);
}

}  // namespace qps::transport::live
