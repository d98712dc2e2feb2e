#include <dissect/packet/notation.hpp>
#include <transport-replay/live/device/tracer.hpp>

namespace qps::transport::live {

using namespace dissect;

void Tracer::see(Way way, Bytes bytes, Instant time) {
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

}  // namespace qps::transport::live
