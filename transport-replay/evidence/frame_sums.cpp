#include <dissect/headers/icmp.hpp>
#include <dissect/headers/segment_routing.hpp>
#include <dissect/ulp/rds.hpp>
#include <transport-replay/evidence/frame_sums.hpp>
#include <transport-replay/evidence/internet_checksum.hpp>

#include <algorithm>
#include <optional>

namespace qps::transport {

using namespace dissect;

std::uint64_t FrameSum::over(Bytes frame) const {
    return word_sum(slice(frame, from, to - from), word_sum(slice(frame, addresses, addresses_to - addresses)));
}

namespace {

constexpr std::uint64_t kModulus = 0xffff;

std::uint16_t found_in(const FrameSum& sum, Bytes frame) { return read_be<std::uint16_t>(frame, sum.checksum); }

SumState state_of(const FrameSum& sum, Bytes frame) {
    if (!sum.whole) return found_in(sum, frame) == 0 ? SumState::zero : SumState::undecided;
    const std::uint64_t all = sum.before + sum.rest_of_pseudo_header;
    if (all != 0 && all % kModulus == 0 && !(sum.zero_is_none && found_in(sum, frame) == 0)) return SumState::right;
    return found_in(sum, frame) == 0 ? SumState::zero : SumState::wrong;
}

}  // namespace

void FrameSums::add(Bytes frame, FrameSum sum) {
    if (count == rows.size() || sum.checksum + 2 > sum.to || sum.to > frame.size()) return;
    sum.before = sum.over(frame);
    sum.state = state_of(sum, frame);
    rows[count++] = sum;
}

namespace {

// What follows IP, with where its checksum is; nothing where it has none that we know.
struct Summed {
    std::size_t checksum = 0;
    std::uint8_t protocol = 0;  // of the pseudo header; 0: there is none
    bool zero_is_none = false;
};
std::optional<Summed> summed(const Layer& layer, const Layer* next) {
    constexpr std::size_t kUdpChecksum = 6, kTcpChecksum = 16, kIcmpChecksum = 2, kGreChecksum = 4;
    constexpr std::uint8_t kTcp = 6, kUdp = 17, kIcmpv6 = 58;
    const LayerKind kind = layer.kind;
    if (kind == LayerKind::udp || kind == kind::quoted_udp)
        return Summed{.checksum = kUdpChecksum, .protocol = kUdp, .zero_is_none = true};
    if (kind == LayerKind::tcp) return Summed{.checksum = kTcpChecksum, .protocol = kTcp};
    if (kind == LayerKind::gre && next != nullptr && next->kind == LayerKind::gre_checksum)
        return Summed{.checksum = kGreChecksum};
    if (is_of(kind, LayerFamily::icmp))
        return Summed{.checksum = kIcmpChecksum, .protocol = kind >= kind::icmpv6 ? kIcmpv6 : std::uint8_t{0}};
    return std::nullopt;
}

bool is_ipv4(LayerKind kind) { return kind == LayerKind::ipv4 || kind == kind::quoted_ipv4; }
bool is_ipv6(LayerKind kind) { return kind == LayerKind::ipv6 || kind == kind::quoted_ipv6; }
bool is_extension(LayerKind kind) {
    return (kind >= LayerKind::ipv6_hop_by_hop && kind <= LayerKind::ipv6_destination) ||
           is_of(kind, LayerFamily::segment_routing);
}

// Whether an IPv4 header begins a datagram of which other fragments have the rest.
bool is_fragment(Bytes frame, const Layer& ipv4) {
    constexpr std::uint16_t kMoreOrOffset = 0x3fff;
    return (read_be<std::uint16_t>(frame, ipv4.offset + std::size_t{6}) & kMoreOrOffset) != 0;
}

// The checksum of what is in the IP packet whose header is layer `at`.
void add_inside(FrameSums& sums, const Packet& packet, std::size_t at) {
    const Bytes frame = packet.frame.bytes;
    const auto layers = packet.layers();
    const std::size_t ip = layers[at].offset;
    const bool ipv4 = is_ipv4(layers[at].kind);
    std::size_t upper = at + 1;
    while (upper < layers.size() && is_extension(layers[upper].kind)) ++upper;
    if (upper == layers.size()) return;
    const bool quoted = layers[at].kind == kind::quoted_ipv4 || layers[at].kind == kind::quoted_ipv6;
    if (quoted && layers[upper].kind != kind::quoted_udp) return;  // the next option
    const auto what = summed(layers[upper], upper + 1 == layers.size() ? nullptr : &layers[upper + 1]);
    if (!what) return;
    const std::size_t start = layers[upper].offset;
    // A header that ends before its checksum has none: what lies there nothing explains.
    if (what->protocol != 0 && layers[upper].length < what->checksum + 2) return;
    const std::size_t says =
        ip + (ipv4 ? read_be<std::uint16_t>(frame, ip + 2) : 40U + read_be<std::uint16_t>(frame, ip + 4));
    // UDP says how long it is; what lies behind it in the IP packet is not summed up.
    const std::size_t udp = what->zero_is_none ? start + read_be<std::uint16_t>(frame, start + 4) : says;
    const std::size_t end = udp >= start + 8 && udp < says ? udp : says;
    const bool pseudo = what->protocol != 0;
    const std::size_t addresses = pseudo ? ip + (ipv4 ? 12U : 8U) : start;
    const bool behind_extensions = upper != at + 1;
    sums.add(frame, {.from = start,
                     .to = end > start + what->checksum ? std::min(end, frame.size()) : frame.size(),
                     .addresses = addresses,
                     .addresses_to = addresses + (!pseudo ? 0U
                                                  : ipv4  ? 8U
                                                          : 32U),
                     .rest_of_pseudo_header = pseudo && end > start ? what->protocol + std::uint64_t{end - start} : 0U,
                     .checksum = start + what->checksum,
                     .zero_is_none = what->zero_is_none,
                     .whole = end > start + what->checksum && end <= frame.size() && !behind_extensions &&
                              !(ipv4 && is_fragment(frame, layers[at])),
                     .changes_with = !behind_extensions});
}

}  // namespace

FrameSums sums_of(const Packet& packet) {
    constexpr std::size_t kIpChecksum = 10, kRdsChecksum = 30;
    FrameSums sums;
    const Bytes frame = packet.frame.bytes;
    const auto layers = packet.layers();
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const std::size_t start = layers[i].offset;
        if (is_ipv4(layers[i].kind))
            sums.add(frame, {.from = start, .to = start + layers[i].length, .checksum = start + kIpChecksum});
        if (layers[i].kind == kind::rds_header)
            sums.add(frame, {.from = start, .to = start + kRdsHeader, .checksum = start + kRdsChecksum});
        if (is_ipv4(layers[i].kind) || is_ipv6(layers[i].kind)) add_inside(sums, packet, i);
    }
    return sums;
}

namespace {

template <class Write> void from_the_innermost(const FrameSums& sums, const FrameStretch& stretch, Write&& write) {
    for (std::size_t i = sums.count; i-- > 0;)
        if (sums.rows[i].from >= stretch.from && sums.rows[i].from < stretch.to) write(sums.rows[i]);
}

}  // namespace

void restore(const FrameSums& sums, MutableBytes frame) { restore(sums, frame, {.from = 0, .to = frame.size()}); }

void restore(const FrameSums& sums, MutableBytes frame, const FrameStretch& stretch) {
    from_the_innermost(sums, stretch, [&](const FrameSum& sum) {
        const std::uint64_t after = sum.over(frame) % kModulus, before = sum.before % kModulus;
        if (after == before || !sum.changes_with || (sum.zero_is_none && found_in(sum, frame) == 0)) return;
        std::uint64_t checksum = (found_in(sum, frame) + before + kModulus - after) % kModulus;
        if (checksum == 0 && sum.zero_is_none) checksum = kModulus;
        write_bits(frame, sum.checksum * 8, 16, checksum);
    });
}

void reseal(const FrameSums& sums, MutableBytes frame, const FrameStretch& stretch, std::uint16_t difference) {
    from_the_innermost(sums, stretch, [&](const FrameSum& sum) {
        write_bits(frame, sum.checksum * 8, 16, 0);
        if (sum.state == SumState::zero) return;
        std::uint64_t checksum = checksum_of(sum.over(frame) + sum.rest_of_pseudo_header);
        if (sum.state == SumState::wrong) checksum = (checksum + difference) % kModulus;
        // 0 and 0xffff are one number here, but 0 is what was not filled in.
        if (checksum == 0 && (sum.zero_is_none || sum.state == SumState::wrong)) checksum = kModulus;
        write_bits(frame, sum.checksum * 8, 16, checksum);
    });
}

}  // namespace qps::transport
