// Messages out of decoded frames; everything here comes from strangers.
#include <transport-replay/evidence/internet_checksum.hpp>
#include <transport-replay/live/host/messages.hpp>

#include <algorithm>

namespace qps::transport::live {

using namespace dissect;

namespace {

template <std::size_t N> std::span<const std::byte, N> front(Bytes bytes) { return bytes.first<N>(); }

Address address_of(const std::array<std::uint64_t, 2>& bits) { return {bits, AddressSpace::roce_v2}; }

// The MAC address in the option of that type; nothing where there is none. `ok` becomes false where options are
// malformed: then the whole message is to be dropped (RFC 4861, 7.1).
std::optional<Mac> mac_option(Bytes options, NeighbourOption wanted, bool& ok) {
    constexpr std::size_t kOptionHead = 2;
    std::optional<Mac> mac;
    while (!options.empty()) {
        if (options.size() < kOptionHead) return ok = false, std::nullopt;
        const auto type = static_cast<NeighbourOption>(options[0]);
        const std::size_t length =
            std::to_integer<std::size_t>(options[1]) * place(kMacOptionFields, "icmpv6.opt.length").factor;
        if (length == 0 || length > options.size()) return ok = false, std::nullopt;
        if (type == wanted && length == kMacOptionLength)
            mac = Mac{get<place(kMacOptionFields, "icmpv6.opt.linkaddr")>(front<kMacOptionLength>(options))};
        options = options.subspan(length);
    }
    return mac;
}

bool sound_icmpv6(const IpDatagram& datagram, std::size_t shortest) {
    return datagram.protocol == std::to_underlying(IpProtocol::icmpv6) &&
           family_of(datagram.ends.destination) == Family::ipv6 && datagram.payload.size() >= shortest &&
           checksum_of(word_sum(datagram.payload, pseudo_header_sum(datagram.ends, datagram.payload.size()))) == 0;
}

// ICMP and IGMP.
bool sound_ipv4(const IpDatagram& datagram, std::uint8_t protocol, std::size_t shortest) {
    return datagram.protocol == protocol && family_of(datagram.ends.destination) == Family::ipv4 &&
           datagram.payload.size() >= shortest && checksum_of(word_sum(datagram.payload)) == 0;
}

std::uint64_t type_of(const IpDatagram& datagram) {
    return get<place(kIcmpFields, "icmp.type")>(front<kIcmpLength>(datagram.payload));
}
std::uint64_t code_of(const IpDatagram& datagram) {
    return get<place(kIcmpFields, "icmp.code")>(front<kIcmpLength>(datagram.payload));
}

// Mantissa and exponent of times from 128 on (RFC 3376, 4.1.1), and of MLD from 32768 on (RFC 3810, 5.1.3).
std::int64_t floating(std::uint64_t code, unsigned mantissa_bits) {
    const std::uint64_t limit = std::uint64_t{1} << (mantissa_bits + 3);
    if (code < limit) return static_cast<std::int64_t>(code);
    const std::uint64_t mantissa = code & ((std::uint64_t{1} << mantissa_bits) - 1);
    const std::uint64_t exponent = code >> mantissa_bits & 7U;
    return static_cast<std::int64_t>((mantissa | std::uint64_t{1} << mantissa_bits) << (exponent + 3));
}

std::optional<GroupQuery> read_igmp(const IpDatagram& datagram) {
    if (!sound_ipv4(datagram, kIgmpProtocol, kIgmpLength)) return std::nullopt;
    const auto fixed = front<kIgmpLength>(datagram.payload);
    if (get<place(kIgmpFields, "igmp.type")>(fixed) != std::to_underlying(IgmpType::query)) return std::nullopt;
    constexpr std::int64_t kTenth = 100'000'000;  // nanoseconds
    constexpr std::uint64_t kVersion1 = 100;      // a query of version 1 says 0 and means ten seconds (RFC 2236, 4)
    const std::uint64_t code = get<place(kIgmpFields, "igmp.max_resp")>(fixed);
    const bool current = datagram.payload.size() >= kIgmp3QueryLength;
    const std::int64_t tenths = current ? floating(code, 4) : static_cast<std::int64_t>(code == 0 ? kVersion1 : code);
    const Address group = ipv4_address(static_cast<std::uint32_t>(get<place(kIgmpFields, "igmp.maddr")>(fixed)));
    return GroupQuery{current ? QueryVersion::current : QueryVersion::older, group, nanoseconds(tenths * kTenth)};
}

std::optional<GroupQuery> read_mld(const IpDatagram& datagram) {
    if (!sound_icmpv6(datagram, kMldLength) || type_of(datagram) != std::to_underlying(Icmpv6Type::mld_query))
        return std::nullopt;
    if (!is_link_local(datagram.ends.source) || datagram.hops != 1) return std::nullopt;  // RFC 3810, 6.2
    const bool current = datagram.payload.size() >= kMld2QueryLength;
    if (!current && datagram.payload.size() != kMldLength) return std::nullopt;
    const auto fixed = front<kMldLength>(datagram.payload);
    constexpr std::int64_t kMillisecond = 1'000'000;  // nanoseconds
    const std::uint64_t code = get<place(kMldFields, "mld.max_resp")>(fixed);
    const std::int64_t milliseconds = current ? floating(code, 12) : static_cast<std::int64_t>(code);
    return GroupQuery{current ? QueryVersion::current : QueryVersion::older,
                      address_of(get_wide<place(kMldFields, "mld.maddr")>(fixed)),
                      nanoseconds(milliseconds * kMillisecond)};
}

}  // namespace

const Layer* first_behind_link(const Packet& packet) {
    const std::span<const Layer> layers = packet.layers();
    std::size_t at = 1;  // behind the frame itself
    if (layers.size() <= at || layers[at].kind != LayerKind::ethernet) return nullptr;
    ++at;
    if (at < layers.size() && layers[at].kind == LayerKind::vlan) ++at;
    return at < layers.size() ? &layers[at] : nullptr;
}

std::optional<ArpMessage> read_arp(const Packet& packet) {
    const Layer* layer = first_behind_link(packet);
    if (layer == nullptr || layer->kind != LayerKind::arp || layer->fault != Fault::none) return std::nullopt;
    const Bytes bytes = packet.bytes_of(*layer);
    if (bytes.size() < kArpLength) return std::nullopt;
    const auto arp = front<kArpLength>(bytes);
    constexpr std::uint64_t kEthernetHardware = 1;
    if (get<place(kArpFields, "arp.hw.type")>(arp) != kEthernetHardware) return std::nullopt;
    if (get<place(kArpFields, "arp.proto.type")>(arp) != number_of(kEtherTypes, "IPv4")) return std::nullopt;
    if (get<place(kArpFields, "arp.hw.size")>(arp) != place(kArpFields, "arp.src.hw_mac").width / 8)
        return std::nullopt;
    if (get<place(kArpFields, "arp.proto.size")>(arp) != place(kArpFields, "arp.src.proto_ipv4").width / 8)
        return std::nullopt;
    const auto operation = static_cast<ArpOperation>(get<place(kArpFields, "arp.opcode")>(arp));
    if (operation != ArpOperation::request && operation != ArpOperation::reply) return std::nullopt;
    ArpMessage message;
    message.operation = operation;
    message.sender_mac = Mac{get<place(kArpFields, "arp.src.hw_mac")>(arp)};
    message.sender = ipv4_address(static_cast<std::uint32_t>(get<place(kArpFields, "arp.src.proto_ipv4")>(arp)));
    message.target_mac = Mac{get<place(kArpFields, "arp.dst.hw_mac")>(arp)};
    message.target = ipv4_address(static_cast<std::uint32_t>(get<place(kArpFields, "arp.dst.proto_ipv4")>(arp)));
    return message;
}

std::optional<IpDatagram> read_datagram(const Packet& packet) {
    const Layer* layer = first_behind_link(packet);
    if (layer == nullptr) return std::nullopt;
    const std::span<const Layer> layers = packet.layers();
    for (const Layer& each : layers.subspan(static_cast<std::size_t>(layer - layers.data())))
        if (each.fault != Fault::none) return std::nullopt;
    const Bytes bytes = packet.bytes_of(*layer);
    IpDatagram datagram;
    std::size_t next = static_cast<std::size_t>(layer - layers.data()) + 1;
    if (layer->kind == LayerKind::ipv4 && bytes.size() >= kIpv4Length) {
        const auto ip = front<kIpv4Length>(bytes);
        if (checksum_of(word_sum(bytes)) != 0) return std::nullopt;
        datagram.ends.source = ipv4_address(static_cast<std::uint32_t>(get<place(kIpv4Fields, "ip.src")>(ip)));
        datagram.ends.destination = ipv4_address(static_cast<std::uint32_t>(get<place(kIpv4Fields, "ip.dst")>(ip)));
        datagram.protocol = static_cast<std::uint8_t>(get<place(kIpv4Fields, "ip.proto")>(ip));
        datagram.hops = static_cast<std::uint8_t>(get<place(kIpv4Fields, "ip.ttl")>(ip));
    } else if (layer->kind == LayerKind::ipv6 && bytes.size() >= kIpv6Length) {
        const auto ip = front<kIpv6Length>(bytes);
        datagram.ends.source = address_of(get_wide<place(kIpv6Fields, "ipv6.src")>(ip));
        datagram.ends.destination = address_of(get_wide<place(kIpv6Fields, "ipv6.dst")>(ip));
        datagram.protocol = static_cast<std::uint8_t>(get<place(kIpv6Fields, "ipv6.nxt")>(ip));
        datagram.hops = static_cast<std::uint8_t>(get<place(kIpv6Fields, "ipv6.hlim")>(ip));
        if (next < layers.size() && layers[next].kind == LayerKind::ipv6_hop_by_hop)
            datagram.protocol = read_be<std::uint8_t>(packet.bytes_of(layers[next++]), 0);
        // IPv4 addresses mapped into IPv6 are for tables, never for a wire.
        if (family_of(datagram.ends.source) == Family::ipv4 || family_of(datagram.ends.destination) == Family::ipv4)
            return std::nullopt;
    } else {
        return std::nullopt;
    }
    const auto has_message = [](LayerKind kind) { return kind == LayerKind::data || is_of(kind, LayerFamily::icmp); };
    if (next >= layers.size() || !has_message(layers[next].kind)) return std::nullopt;
    const std::size_t end = std::size_t{layers.back().offset} + layers.back().length;  // layers tile what IP carries
    datagram.payload = slice(packet.frame.bytes, layers[next].offset, end - layers[next].offset);
    return datagram;
}

std::optional<NeighbourMessage> read_neighbour(const IpDatagram& datagram) {
    constexpr std::uint8_t kNeighbourHops = 255;
    if (!sound_icmpv6(datagram, kNeighbourLength) || datagram.hops != kNeighbourHops || code_of(datagram) != 0)
        return std::nullopt;
    NeighbourMessage message;
    message.type = static_cast<Icmpv6Type>(type_of(datagram));
    const bool solicitation = message.type == Icmpv6Type::neighbour_solicitation;
    if (!solicitation && message.type != Icmpv6Type::neighbour_advertisement) return std::nullopt;
    const auto fixed = front<kNeighbourLength>(datagram.payload);
    message.solicited = get<place(kNeighbourFields, "icmpv6.nd.na.flag.s")>(fixed) != 0;
    message.overrides = get<place(kNeighbourFields, "icmpv6.nd.na.flag.o")>(fixed) != 0;
    message.target = address_of(get_wide<place(kNeighbourFields, "icmpv6.nd.target")>(fixed));
    bool ok = !is_multicast_group(message.target);
    message.mac = mac_option(datagram.payload.subspan(kNeighbourLength),
                             solicitation ? NeighbourOption::source_mac : NeighbourOption::target_mac, ok);
    // Nobody who has no address yet may name a MAC address; an answer to several was not asked for (RFC 4861, 7.1).
    if (solicitation && is_unspecified(datagram.ends.source) && message.mac) ok = false;
    if (!solicitation && message.solicited && is_multicast_group(datagram.ends.destination)) ok = false;
    return ok ? std::optional(message) : std::nullopt;
}

bool is_echo_request(const IpDatagram& datagram) {
    constexpr std::size_t kEchoLength = 8;
    if (sound_ipv4(datagram, kIcmpProtocol, kEchoLength))
        return type_of(datagram) == std::to_underlying(IcmpType::echo_request) && code_of(datagram) == 0;
    return sound_icmpv6(datagram, kEchoLength) && type_of(datagram) == std::to_underlying(Icmpv6Type::echo_request) &&
           code_of(datagram) == 0;
}

bool is_unreachable(const IpDatagram& datagram) {
    if (sound_ipv4(datagram, kIcmpProtocol, kIcmpLength))
        return type_of(datagram) == std::to_underlying(IcmpType::unreachable);
    return sound_icmpv6(datagram, kIcmpLength) && type_of(datagram) == std::to_underlying(Icmpv6Type::unreachable);
}

std::optional<GroupQuery> read_query(const IpDatagram& datagram) {
    return family_of(datagram.ends.destination) == Family::ipv4 ? read_igmp(datagram) : read_mld(datagram);
}

}  // namespace qps::transport::live
