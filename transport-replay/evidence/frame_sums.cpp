#include <transport-replay/evidence/frame_sums.hpp>
#include <transport-replay/evidence/internet_checksum.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

std::uint64_t FrameSum::over(Bytes frame) const {
    return word_sum(slice(frame, from, to - from), word_sum(slice(frame, addresses, addresses_to - addresses)));
}

void FrameSums::add(Bytes frame, FrameSum sum) {
    if (count == rows.size() || sum.checksum + 2 > sum.to || sum.to > frame.size()) return;
    sum.before = sum.over(frame);
    rows[count++] = sum;
}

FrameSums sums_of(const Packet& packet) {
    constexpr std::size_t kIpChecksum = 10, kUdpChecksum = 6, kTcpChecksum = 16;
    FrameSums sums;
    const Bytes frame = packet.frame.bytes;
    const auto layers = packet.layers();
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const bool ipv4 = layers[i].kind == LayerKind::ipv4;
        if (!ipv4 && layers[i].kind != LayerKind::ipv6) continue;
        const std::size_t ip = layers[i].offset;
        const std::size_t ip_end = ip + (ipv4 ? read_be<std::uint16_t>(frame, ip + 2) : 40U + read_be<std::uint16_t>(frame, ip + 4));
        if (ipv4) sums.add(frame, {.from = ip, .to = ip + layers[i].length, .checksum = ip + kIpChecksum});
        if (i + 1 == layers.size()) continue;
        const bool udp = layers[i + 1].kind == LayerKind::udp;
        if (!udp && layers[i + 1].kind != LayerKind::tcp) continue;
        const std::size_t start = layers[i + 1].offset, checksum = start + (udp ? kUdpChecksum : kTcpChecksum);
        if (udp && read_be<std::uint16_t>(frame, checksum) == 0) continue;
        const std::size_t addresses = ip + (ipv4 ? 12U : 8U);
        sums.add(frame, {.from = start,
                         .to = std::min(ip_end, frame.size()),
                         .addresses = addresses,
                         .addresses_to = addresses + (ipv4 ? 8U : 32U),
                         .checksum = checksum,
                         .zero_is_none = udp});
    }
    return sums;
}

void restore(const FrameSums& sums, MutableBytes frame) {
    constexpr std::uint64_t kModulus = 0xffff;
    for (std::size_t i = sums.count; i-- > 0;) {
        const FrameSum& sum = sums.rows[i];
        const std::uint64_t after = sum.over(frame) % kModulus, before = sum.before % kModulus;
        if (after == before) continue;
        std::uint64_t checksum = (read_be<std::uint16_t>(frame, sum.checksum) + before + kModulus - after) % kModulus;
        if (checksum == 0 && sum.zero_is_none) checksum = kModulus;
        write_bits(frame, sum.checksum * 8, 16, checksum);
    }
}

}  // namespace qps::transport
