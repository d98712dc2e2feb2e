// What follows from the fields of an Ultra Ethernet packet: PSNs from signed offsets (all of them modulo 2^32), what
// was trimmed, the CRC.
#include <dissect/headers/internet.hpp>
#include <dissect/ultra_ethernet/pds.hpp>
#include <dissect/ultra_ethernet/ses.hpp>
#include <dissect/ultra_ethernet/ultra_ethernet.hpp>

#include <algorithm>

namespace qps::dissect::uet_computed {

namespace {

constexpr Field kPsn = named(kUetRequestFields, "uet.pds.psn");
constexpr Field kClearOffset = named(kUetRequestFields, "uet.pds.clear_psn_offset");
constexpr Field kPsnOffset = named(kUetRequestSynFields, "uet.pds.psn_offset");
constexpr Field kCumulative = named(kUetAckFields, "uet.pds.cack_psn");
constexpr Field kAckOffset = named(kUetAckFields, "uet.pds.ack_psn_offset");
constexpr Field kSackOffset = named(kUetAckNsccFields, "uet.pds.ack.sack_offset");
constexpr Field kServiceTime = named(kUetAckNsccFields, "uet.pds.ack.cc_state.service_time");
constexpr Field kUdpSays = named(kUdpFields, "udp.length");
constexpr Field kIpv4Says = named(kIpv4Fields, "ip.len");
constexpr Field kIpv6Says = named(kIpv6Fields, "ipv6.plen");

bool has(Bytes header, const Field& field) { return (std::size_t{field.bit} + field.width + 7) / 8 <= header.size(); }

// A PSN and a signed offset of 16 bits.
std::optional<Value> moved(Bytes psn_header, const Field& psn, Bytes offset_header, const Field& offset) {
    if (!has(psn_header, psn) || !has(offset_header, offset)) return std::nullopt;
    const auto by = static_cast<std::int16_t>(read(offset_header, offset));
    return Value{static_cast<std::uint32_t>(read(psn_header, psn)) + static_cast<std::uint32_t>(by)};
}

// The layer before one of a packet.
const Layer* before(const Packet& packet, const Layer& layer) {
    const auto layers = packet.layers();
    const auto found = std::ranges::find(layers, &layer, [](const Layer& each) { return &each; });
    return found == layers.begin() || found == layers.end() ? nullptr : &*std::prev(found);
}

}  // namespace

std::optional<Value> clear_psn(const Packet& packet, const Layer& layer) {
    const Bytes bytes = packet.bytes_of(layer);
    return moved(bytes, kPsn, bytes, kClearOffset);
}

std::optional<Value> start_psn(const Packet& packet, const Layer& layer) {
    const Bytes bytes = packet.bytes_of(layer);
    if (!has(bytes, kPsn) || !has(bytes, kPsnOffset)) return std::nullopt;
    return Value{static_cast<std::uint32_t>(read(bytes, kPsn) - read(bytes, kPsnOffset))};
}

std::optional<Value> ack_psn(const Packet& packet, const Layer& layer) {
    const Bytes bytes = packet.bytes_of(layer);
    return moved(bytes, kCumulative, bytes, kAckOffset);
}

std::optional<Value> sack_base(const Packet& packet, const Layer& layer) {
    const Layer* ack = before(packet, layer);
    if (ack == nullptr) return std::nullopt;
    return moved(packet.bytes_of(*ack), kCumulative, packet.bytes_of(layer), kSackOffset);
}

std::optional<Value> service_time(const Packet& packet, const Layer& layer) {
    constexpr std::uint64_t kUnit = 128, kInvalid = 0, kMost = 0xffff;
    const Bytes bytes = packet.bytes_of(layer);
    if (!has(bytes, kServiceTime)) return std::nullopt;
    const auto units = read(bytes, kServiceTime);
    if (units == kInvalid || units == kMost) return std::nullopt;
    return Value{units * kUnit};
}

std::optional<Value> trimmed_bytes(const Packet& packet, const Layer& layer) {
    const Layer* udp = before(packet, layer);
    if (udp == nullptr || udp->kind != LayerKind::udp) return std::nullopt;
    for (const Layer* ip = before(packet, *udp); ip != nullptr; ip = before(packet, *ip)) {
        if (ip->kind != LayerKind::ipv4 && ip->kind != LayerKind::ipv6) continue;
        if (ip->fault != Fault::none) return std::nullopt;
        const bool v4 = ip->kind == LayerKind::ipv4;
        const std::uint64_t says = read(packet.bytes_of(*ip), v4 ? kIpv4Says : kIpv6Says);
        if (says == 0) return std::nullopt;
        const std::uint64_t end = ip->offset + (v4 ? 0U : header(LayerKind::ipv6).length) + says;
        const std::uint64_t said = udp->offset + read(packet.bytes_of(*udp), kUdpSays);
        if (said <= end) return std::nullopt;
        return Value{said - end};
    }
    return std::nullopt;
}

std::optional<Value> crc_status(const Packet& packet, const Layer& layer) {
    const auto layers = packet.layers();
    const auto first =
        std::ranges::find_if(layers, [](const Layer& each) { return is_of(each.kind, LayerFamily::ultra_ethernet); });
    if (first == layers.end() || layer.length < uet::kCrcLength) return std::nullopt;
    return Value{uet::crc_fits(packet, first->offset, layer.offset) ? 1U : 0U};
}

}  // namespace qps::dissect::uet_computed
