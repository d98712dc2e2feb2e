#include <dissect/headers/icmp.hpp>
#include <transport-replay/evidence/frame_sums.hpp>
#include <transport-replay/evidence/internet_checksum.hpp>

#include <algorithm>
#include <optional>

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

namespace {

// What follows IP, with where its checksum is; nothing where it has none that we know.
struct Summed {
    std::size_t checksum = 0;
    bool pseudo_header = true;
    bool zero_is_none = false;
};
std::optional<Summed> summed(LayerKind kind) {
    constexpr std::size_t kUdpChecksum = 6, kTcpChecksum = 16, kIcmpChecksum = 2;
    if (kind == LayerKind::udp) return Summed{.checksum = kUdpChecksum, .zero_is_none = true};
    if (kind == LayerKind::tcp) return Summed{.checksum = kTcpChecksum};
    if (is_of(kind, LayerFamily::icmp)) return Summed{.checksum = kIcmpChecksum, .pseudo_header = kind >= kind::icmpv6};
    return std::nullopt;
}

}  // namespace

FrameSums sums_of(const Packet& packet) {
    constexpr std::size_t kIpChecksum = 10;
    FrameSums sums;
    const Bytes frame = packet.frame.bytes;
    const auto layers = packet.layers();
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const std::size_t ip = layers[i].offset;
        const bool ipv4 = layers[i].kind == LayerKind::ipv4;
        if (ipv4 || layers[i].kind == kind::quoted_ipv4)
            sums.add(frame, {.from = ip, .to = ip + layers[i].length, .checksum = ip + kIpChecksum});
        if ((!ipv4 && layers[i].kind != LayerKind::ipv6) || i + 1 == layers.size()) continue;
        const auto what = summed(layers[i + 1].kind);
        if (!what) continue;
        const std::size_t start = layers[i + 1].offset, checksum = start + what->checksum;
        if (what->zero_is_none && read_be<std::uint16_t>(frame, checksum) == 0) continue;
        const std::size_t ip_end = ip + (ipv4 ? read_be<std::uint16_t>(frame, ip + 2) : 40U + read_be<std::uint16_t>(frame, ip + 4));
        const std::size_t addresses = what->pseudo_header ? ip + (ipv4 ? 12U : 8U) : start;
        sums.add(frame, {.from = start,
                         .to = std::min(ip_end, frame.size()),
                         .addresses = addresses,
                         .addresses_to = addresses + (!what->pseudo_header ? 0U : ipv4 ? 8U : 32U),
                         .checksum = checksum,
                         .zero_is_none = what->zero_is_none});
    }
    return sums;
}

void restore(const FrameSums& sums, MutableBytes frame) { restore(sums, frame, {.from = 0, .to = frame.size()}); }

void restore(const FrameSums& sums, MutableBytes frame, const FrameStretch& stretch) {
    constexpr std::uint64_t kModulus = 0xffff;
    for (std::size_t i = sums.count; i-- > 0;) {
        const FrameSum& sum = sums.rows[i];
        if (sum.from < stretch.from || sum.from >= stretch.to) continue;
        const std::uint64_t after = sum.over(frame) % kModulus, before = sum.before % kModulus;
        if (after == before) continue;
        std::uint64_t checksum = (read_be<std::uint16_t>(frame, sum.checksum) + before + kModulus - after) % kModulus;
        if (checksum == 0 && sum.zero_is_none) checksum = kModulus;
        write_bits(frame, sum.checksum * 8, 16, checksum);
    }
}

}  // namespace qps::transport
