#include <dissect/base/ethertypes.hpp>
#include <transport-replay/live/device/datagram_headers.hpp>

#include <algorithm>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::uint8_t kUdp = 17;
constexpr std::uint16_t kDontFragment = 0x4000, kFragment = 0x3fff;  // "more fragments" and the offset

void put(MutableBytes bytes, std::size_t offset, std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) bytes[offset + i] = static_cast<std::byte>(value >> 8 * (width - 1 - i));
}

void copy_address(Bytes from, SocketAddress& to) {
    std::copy(from.begin(), from.end(), to.bytes.end() - static_cast<std::ptrdiff_t>(from.size()));
}
void copy_address(const SocketAddress& from, MutableBytes to) {
    std::copy(from.bytes.end() - static_cast<std::ptrdiff_t>(to.size()), from.bytes.end(), to.begin());
}

}  // namespace

std::optional<CarriedDatagram> datagram_in(Bytes frame) {
    std::size_t type_at = 12;
    auto type = read_be<std::uint16_t>(frame, type_at);
    for (int tags = 0; tags < 2 && ethertype::is_tag(type); ++tags) type = read_be<std::uint16_t>(frame, type_at += 4);
    if (type != ethertype::ipv4 && type != ethertype::ipv6) return std::nullopt;
    CarriedDatagram found;
    SocketEnds& ends = found.ends;
    ends.ipv6 = type == ethertype::ipv6;
    found.ip = type_at + 2;
    const Bytes ip = slice(frame, found.ip);
    const std::size_t header = ip_header(ends.ipv6), address = ends.ipv6 ? 16 : 4;
    if (ip.size() < header + kUdpHeader) return std::nullopt;
    if (ends.ipv6 ? read_bits(ip, 0, 4) != 6 : read_bits(ip, 0, 8) != 0x45) return std::nullopt;
    if (!ends.ipv6 && (read_be<std::uint16_t>(ip, 6) & kFragment) != 0) return std::nullopt;
    if (read_be<std::uint8_t>(ip, ends.ipv6 ? 6 : 9) != kUdp) return std::nullopt;
    ends.traffic_class = static_cast<std::uint8_t>(read_bits(ip, ends.ipv6 ? 4 : 8, 8));
    ends.hops = read_be<std::uint8_t>(ip, ends.ipv6 ? 7 : 8);
    copy_address(ip.subspan(header - 2 * address, address), ends.source);
    copy_address(ip.subspan(header - address, address), ends.destination);
    ends.source.port = read_be<std::uint16_t>(ip, header);
    ends.destination.port = read_be<std::uint16_t>(ip, header + 2);
    const std::size_t length = read_be<std::uint16_t>(ip, header + 4);
    if (length < kUdpHeader || length > ip.size() - header) return std::nullopt;
    found.payload = found.ip + header + kUdpHeader;
    found.end = found.ip + header + length;
    return found;
}

void write_headers(const SocketEnds& ends, MutableBytes frame) {
    const std::size_t header = ip_header(ends.ipv6), address = ends.ipv6 ? 16 : 4;
    if (frame.size() < headers_before_payload(ends.ipv6)) return;
    std::ranges::fill(frame.first(headers_before_payload(ends.ipv6)), std::byte{0});
    put(frame, 0, mac_for(ends.destination), 6);
    put(frame, 6, mac_for(ends.source), 6);
    put(frame, 12, ends.ipv6 ? ethertype::ipv6 : ethertype::ipv4, 2);
    const MutableBytes ip = frame.subspan(14);
    if (ends.ipv6) {
        put(ip, 0, 0x6000'0000U | std::uint32_t{ends.traffic_class} << 20, 4);
        put(ip, 4, ip.size() - header, 2);
        put(ip, 6, kUdp, 1);
        put(ip, 7, ends.hops, 1);
    } else {
        put(ip, 0, 0x4500U | ends.traffic_class, 2);
        put(ip, 2, ip.size(), 2);
        put(ip, 6, kDontFragment, 2);
        put(ip, 8, ends.hops, 1);
        put(ip, 9, kUdp, 1);
    }
    copy_address(ends.source, ip.subspan(header - 2 * address, address));
    copy_address(ends.destination, ip.subspan(header - address, address));
    put(ip, header, ends.source.port, 2);
    put(ip, header + 2, ends.destination.port, 2);
    put(ip, header + 4, ip.size() - header, 2);
}

}  // namespace qps::transport::live
