#include <dissect/ulp/fpdu.hpp>
#include <dissect/ulp/iwarp.hpp>

#include <algorithm>

namespace qps::dissect::mpa {

namespace {

constexpr std::uint8_t kNoQueue = 0xff;

// Where a message of that opcode may go, and what its ULPDU has besides the DDP header.
struct Carrier {
    bool tagged;
    std::uint8_t queue;
    std::uint8_t least;  // bytes behind the DDP header
};
constexpr std::array<Carrier, 12> kCarriers{{
    {true, kNoQueue, 0},  // WRITE
    {false, 1, 28},       // READ request
    {true, kNoQueue, 0},  // READ response
    {false, 0, 0},        // SEND, in four kinds
    {false, 0, 0},
    {false, 0, 0},
    {false, 0, 0},
    {false, 2, 4},  // Terminate
    {false, 0, 8},  // immediate data
    {false, 0, 8},
    {false, 1, 52},  // atomic request
    {false, 3, 12},  // atomic response
}};

constexpr Field kTaggedFlag = named(kDdpTaggedFields, "iwarp_ddp.tagged_flag");
constexpr Field kLastFlag = named(kDdpTaggedFields, "iwarp_ddp.last_flag");
constexpr Field kDdpReserved = named(kDdpTaggedFields, "iwarp_ddp.rsvd");
constexpr Field kDdpVersion = named(kDdpTaggedFields, "iwarp_ddp.dv");
constexpr Field kQueue = named(kDdpUntaggedFields, "iwarp_ddp.qn");

}  // namespace

std::optional<Heading> heading(Bytes ulpdu, std::size_t ulpdu_length) {
    if (ulpdu.size() < 2) return std::nullopt;
    const Bytes control = ulpdu.subspan(1);
    if (read(ulpdu, kDdpReserved) != 0 || read(ulpdu, kDdpVersion) != 1) return std::nullopt;
    if (read(control, rdmap_rows::kVersion) > 1 || read(control, rdmap_rows::kReserved) != 0) return std::nullopt;
    const Heading found{read(ulpdu, kTaggedFlag) != 0, read(ulpdu, kLastFlag) != 0,
                        static_cast<std::uint8_t>(read(control, rdmap_rows::kOpcode))};
    if (found.opcode >= kCarriers.size()) return std::nullopt;
    const Carrier& carrier = kCarriers[found.opcode];
    if (found.tagged != carrier.tagged || ulpdu_length < found.length() + carrier.least) return std::nullopt;
    if (!found.tagged && ulpdu.size() >= kToDecide && read(ulpdu, kQueue) != carrier.queue) return std::nullopt;
    return found;
}

std::optional<TcpSegment> tcp_segment(const Packet& packet) {
    const auto layers = packet.layers();
    std::size_t tcp = layers.size();
    while (tcp > 0 && layers[tcp - 1].kind != LayerKind::tcp) --tcp;
    if (tcp == 0) return std::nullopt;
    const Layer& header = layers[--tcp];
    if (header.fault != Fault::none) return std::nullopt;
    std::size_t ip = tcp;
    while (ip > 0 && layers[ip].kind != LayerKind::ipv4 && layers[ip].kind != LayerKind::ipv6) --ip;
    const Layer& network = layers[ip];
    if (network.fault != Fault::none) return std::nullopt;  // a fragment; a length that lies
    const Bytes bytes = packet.bytes_of(network);
    constexpr std::size_t kIpv6Length = 40;
    std::size_t end = packet.frame.wire_length;  // where the length is left out: an offloading sender
    if (network.kind == LayerKind::ipv4) {
        if (const auto total = read_be<std::uint16_t>(bytes, 2); total != 0) end = std::size_t{network.offset} + total;
    } else if (const auto length = read_be<std::uint16_t>(bytes, 4); length != 0) {
        end = std::size_t{network.offset} + kIpv6Length + length;
    }
    TcpSegment segment{static_cast<std::uint8_t>(tcp), std::size_t{header.offset} + header.length, 0, 0};
    if (end < segment.offset) return std::nullopt;
    segment.length = static_cast<std::uint32_t>(end - segment.offset);
    segment.captured = static_cast<std::uint32_t>(slice(packet.frame.bytes, segment.offset, segment.length).size());
    return segment;
}

}  // namespace qps::dissect::mpa
