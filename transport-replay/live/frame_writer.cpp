#include <dissect/base/icrc.hpp>
#include <dissect/headers/infiniband.hpp>
#include <dissect/packet/build.hpp>
#include <transport-replay/evidence/internet_checksum.hpp>
#include <transport-replay/live/device/device.hpp>
#include <transport-replay/live/field_place.hpp>
#include <transport-replay/live/frame_writer.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::size_t kLongestIpv4 = 0xffff;  // ip.len counts its own header
constexpr std::size_t kLongestRest = 0xffff;  // ipv6.plen and the GRH's payload length do not

// Hands out headers from the front of a frame whose length was checked.
class Cursor {
public:
    explicit Cursor(std::byte* at) : at_(at) {}
    template <std::size_t N> std::span<std::byte, N> take() {
        const std::span<std::byte, N> header(at_, N);
        at_ += N;
        return header;
    }
    [[nodiscard]] std::byte* at() const { return at_; }

private:
    std::byte* at_;
};

// What is known of a frame before its first byte is written.
struct Layout {
    std::size_t link = 0;       // Ethernet and its tag
    std::size_t network = 0;    // from there to the BTH
    std::size_t transport = 0;  // BTH and extended headers
    std::size_t pad = 0;
    std::size_t body = 0;  // from the BTH to the end of the ICRC
    [[nodiscard]] std::size_t end() const { return link + network + body; }
    [[nodiscard]] std::size_t total() const { return std::max(end(), kShortestFrame); }
};

bool native(Network network) { return network == Network::native_local || network == Network::native_global; }

// Whether the length fields can say it.
bool expressible(const Layout& layout, Network network) {
    if (network == Network::roce_v2_ipv4) return layout.network + layout.body <= kLongestIpv4;
    if (network == Network::roce_v2_ipv6) return kUdpLength + layout.body <= kLongestRest;
    return layout.body <= kLongestRest;
}

Layout lay_out(const TransportPacket& packet, const Route& route) {
    Layout layout;
    layout.link = kEthernetLength + (route.vlan ? kVlanLength : 0);
    switch (route.network) {
        case Network::roce_v2_ipv4: layout.network = kIpv4Length + kUdpLength; break;
        case Network::roce_v2_ipv6: layout.network = kIpv6Length + kUdpLength; break;
        default: layout.network = kGrhLength;
    }
    layout.transport = kBthLength;
    const OpcodeRow& row = info(packet.opcode);
    for (std::size_t i = 0; i < row.header_count; ++i)
        layout.transport += kTransportLengths[static_cast<std::size_t>(row.headers[i])];
    layout.pad = (4 - packet.payload.size() % 4) % 4;
    layout.body = layout.transport + packet.payload.size() + layout.pad + kIcrcLength;
    return layout;
}

std::uint64_t ethertype_of(Network network) {
    switch (network) {
        case Network::roce_v2_ipv4: return number_of(kEtherTypes, "IPv4");
        case Network::roce_v2_ipv6: return number_of(kEtherTypes, "IPv6");
        default: return number_of(kEtherTypes, "RoCE");
    }
}

void write_link(Cursor& cursor, const Route& route) {
    const auto ethernet = cursor.take<kEthernetLength>();
    put<place(kEthernetFields, "eth.dst")>(ethernet, route.destination_mac);
    put<place(kEthernetFields, "eth.src")>(ethernet, route.source_mac);
    const std::uint64_t type = ethertype_of(route.network);
    put<place(kEthernetFields, "eth.type")>(ethernet, route.vlan ? number_of(kEtherTypes, "VLAN") : type);
    if (!route.vlan) return;
    const auto tag = cursor.take<kVlanLength>();
    put<place(kVlanFields, "vlan.priority")>(tag, *route.vlan >> 13U);
    put<place(kVlanFields, "vlan.dei")>(tag, *route.vlan >> 12U);
    put<place(kVlanFields, "vlan.id")>(tag, *route.vlan);
    put<place(kVlanFields, "vlan.etype")>(tag, type);
}

std::uint64_t services(const Route& route) { return std::uint64_t{route.dscp} << 2U; }
std::uint64_t traffic_class(const Route& route) { return services(route) | std::to_underlying(route.ecn); }

void write_ipv4(Cursor& cursor, const Route& route, std::size_t length) {
    const auto ip = cursor.take<kIpv4Length>();
    put<place(kIpv4Fields, "ip.version")>(ip, 4);
    put<place(kIpv4Fields, "ip.hdr_len")>(ip, kIpv4Length);
    put<place(kIpv4Fields, "ip.dsfield")>(ip, traffic_class(route));
    put<place(kIpv4Fields, "ip.len")>(ip, length);
    put<place(kIpv4Fields, "ip.id")>(ip, route.identification);
    put<place(kIpv4Fields, "ip.flags.df")>(ip, 1);
    put<place(kIpv4Fields, "ip.ttl")>(ip, route.hops);
    put<place(kIpv4Fields, "ip.proto")>(ip, std::to_underlying(IpProtocol::udp));
    put<place(kIpv4Fields, "ip.src")>(ip, route.source.bits[1]);
    put<place(kIpv4Fields, "ip.dst")>(ip, route.destination.bits[1]);
    put<place(kIpv4Fields, "ip.checksum")>(ip, checksum_of(word_sum(ip)));
}

void write_ipv6(Cursor& cursor, const Route& route, std::size_t length) {
    const auto ip = cursor.take<kIpv6Length>();
    put<place(kIpv6Fields, "ipv6.version")>(ip, 6);
    put<place(kIpv6Fields, "ipv6.tclass")>(ip, traffic_class(route));
    put<place(kIpv6Fields, "ipv6.flow")>(ip, route.flow_label);
    put<place(kIpv6Fields, "ipv6.plen")>(ip, length);
    put<place(kIpv6Fields, "ipv6.nxt")>(ip, std::to_underlying(IpProtocol::udp));
    put<place(kIpv6Fields, "ipv6.hlim")>(ip, route.hops);
    put_wide<place(kIpv6Fields, "ipv6.src")>(ip, route.source.bits);
    put_wide<place(kIpv6Fields, "ipv6.dst")>(ip, route.destination.bits);
}

void write_udp(Cursor& cursor, const Route& route, std::size_t length) {
    const auto udp = cursor.take<kUdpLength>();
    put<place(kUdpFields, "udp.srcport")>(udp, route.udp_source_port);
    put<place(kUdpFields, "udp.dstport")>(udp, kRocePort);
    put<place(kUdpFields, "udp.length")>(udp, length);
}

void write_grh(Cursor& cursor, const Route& route, std::size_t length) {
    const auto grh = cursor.take<kGrhLength>();
    put<place(kGrhFields, "infiniband.grh.ipver")>(grh, 6);
    put<place(kGrhFields, "infiniband.grh.tclass")>(grh, services(route));  // RoCEv1 has no ECN
    put<place(kGrhFields, "infiniband.grh.flowlabel")>(grh, route.flow_label);
    put<place(kGrhFields, "infiniband.grh.paylen")>(grh, length);
    put<place(kGrhFields, "infiniband.grh.nxthdr")>(grh, std::to_underlying(IpProtocol::infiniband));
    put<place(kGrhFields, "infiniband.grh.hoplmt")>(grh, route.hops);
    put_wide<place(kGrhFields, "infiniband.grh.sgid")>(grh, route.source.bits);
    put_wide<place(kGrhFields, "infiniband.grh.dgid")>(grh, route.destination.bits);
}

void write_network(Cursor& cursor, const Route& route, const Layout& layout) {
    const std::size_t datagram = kUdpLength + layout.body;
    switch (route.network) {
        case Network::roce_v2_ipv4:
            write_ipv4(cursor, route, kIpv4Length + datagram);
            write_udp(cursor, route, datagram);
            break;
        case Network::roce_v2_ipv6:
            write_ipv6(cursor, route, datagram);
            write_udp(cursor, route, datagram);
            break;
        default: write_grh(cursor, route, layout.body);
    }
}

void write_bth(Cursor& cursor, const TransportPacket& packet, std::size_t pad) {
    const auto bth = cursor.take<kBthLength>();
    put<place(kBthFields, "infiniband.bth.opcode")>(bth, std::to_underlying(packet.opcode));
    put<place(kBthFields, "infiniband.bth.se")>(bth, packet.solicited ? 1 : 0);
    put<place(kBthFields, "infiniband.bth.m")>(bth, usual_migreq(packet.opcode) ? 1 : 0);
    put<place(kBthFields, "infiniband.bth.padcnt")>(bth, pad);
    put<place(kBthFields, "infiniband.bth.p_key")>(bth, std::to_underlying(packet.pkey));
    put<place(kBthFields, "infiniband.bth.becn")>(bth, packet.opcode == Opcode::cnp ? 1 : 0);  // A17.9.3
    put<place(kBthFields, "infiniband.bth.destqp")>(bth, std::to_underlying(packet.dest_qp));
    put<place(kBthFields, "infiniband.bth.a")>(bth, packet.ack_request ? 1 : 0);
    put<place(kBthFields, "infiniband.bth.psn")>(bth, packet.psn.value());
}

// RETH; and the first part of the AtomicETH.
void write_reth(Cursor& cursor, const RemoteAccess& access) {
    const auto reth = cursor.take<kTransportLengths[std::to_underlying(LayerKind::reth)]>();
    put<place(kRethFields, "infiniband.reth.va")>(reth, access.address);
    put<place(kRethFields, "infiniband.reth.r_key")>(reth, std::to_underlying(access.key));
    put<place(kRethFields, "infiniband.reth.dmalen")>(reth, access.length);
}

void write_atomiceth(Cursor& cursor, const RemoteAccess& access, const AtomicOperands& operands) {
    const auto atomiceth = cursor.take<kTransportLengths[std::to_underlying(LayerKind::atomiceth)]>();
    put<place(kAtomicethFields, "infiniband.reth.va")>(atomiceth, access.address);
    put<place(kAtomicethFields, "infiniband.reth.r_key")>(atomiceth, std::to_underlying(access.key));
    put<place(kAtomicethFields, "infiniband.atomiceth.swapdt")>(atomiceth, operands.swap_or_add);
    put<place(kAtomicethFields, "infiniband.atomiceth.cmpdt")>(atomiceth, operands.compare);
}

void write_deth(Cursor& cursor, const Datagram& datagram) {
    const auto deth = cursor.take<kTransportLengths[std::to_underlying(LayerKind::deth)]>();
    put<place(kDethFields, "infiniband.deth.q_key")>(deth, std::to_underlying(datagram.key));
    put<place(kDethFields, "infiniband.deth.srcqp")>(deth, std::to_underlying(datagram.source_qp));
}

void write_aeth(Cursor& cursor, const Acknowledgment& acknowledgment) {
    const auto aeth = cursor.take<kTransportLengths[std::to_underlying(LayerKind::aeth)]>();
    put<place(kAethFields, "infiniband.aeth.syndrome")>(aeth, acknowledgment.syndrome);
    put<place(kAethFields, "infiniband.aeth.msn")>(aeth, std::to_underlying(acknowledgment.msn));
}

void write_feth(Cursor& cursor, const Flush& flush) {
    const auto feth = cursor.take<kTransportLengths[std::to_underlying(LayerKind::feth)]>();
    put<place(kFethFields, "infiniband.feth.selectivity_level")>(feth, std::to_underlying(flush.selectivity));
    put<place(kFethFields, "infiniband.feth.placement_type")>(feth, flush.placement);
}

// An extended header; what the packet does not set is zero, as in to_spec().
void write_extended(Cursor& cursor, LayerKind kind, const TransportPacket& packet) {
    switch (kind) {
        case LayerKind::deth: return write_deth(cursor, packet.datagram.value_or(Datagram{}));
        case LayerKind::reth: return write_reth(cursor, packet.access.value_or(RemoteAccess{}));
        case LayerKind::atomiceth:
            return write_atomiceth(cursor, packet.access.value_or(RemoteAccess{}),
                                   packet.atomic.value_or(AtomicOperands{}));
        case LayerKind::aeth: return write_aeth(cursor, packet.acknowledgment.value_or(Acknowledgment{}));
        case LayerKind::feth: return write_feth(cursor, packet.flush.value_or(Flush{}));
        case LayerKind::atomicacketh:
            return put<place(kAtomicacketh, "infiniband.atomicacketh.origremdt")>(
                cursor.take<kTransportLengths[std::to_underlying(LayerKind::atomicacketh)]>(),
                packet.atomic_result.value_or(0));
        case LayerKind::immdt:
            return put<place(kImmdtFields, "infiniband.immdt")>(
                cursor.take<kTransportLengths[std::to_underlying(LayerKind::immdt)]>(), packet.immediate.value_or(0));
        case LayerKind::ieth:
            return put<place(kIethFields, "infiniband.ieth")>(
                cursor.take<kTransportLengths[std::to_underlying(LayerKind::ieth)]>(),
                std::to_underlying(packet.invalidate.value_or(Rkey{})));
        case LayerKind::rdeth: cursor.take<kTransportLengths[std::to_underlying(LayerKind::rdeth)]>(); return;
        case LayerKind::xrceth:
            return put<place(kXrcethFields, "infiniband.xrceth.xrcsrq")>(
                cursor.take<kTransportLengths[std::to_underlying(LayerKind::xrceth)]>(),
                std::to_underlying(packet.srq.value_or(Srqn{})));
        default: cursor.take<kTransportLengths[std::to_underlying(LayerKind::cnp_reserved)]>(); return;
    }
}

IcrcCoverage coverage_of(Network network) {
    switch (network) {
        case Network::roce_v2_ipv4: return IcrcCoverage::roce_v2_ipv4;
        case Network::roce_v2_ipv6: return IcrcCoverage::roce_v2_ipv6;
        default: return IcrcCoverage::grh;
    }
}

std::size_t write_native(const TransportPacket& packet, const Route& route, MutableBytes into) {
    const std::vector<std::byte> frame = to_frame(packet, route);
    if (frame.size() > into.size()) return 0;
    std::ranges::copy(frame, into.begin());
    return frame.size();
}

}  // namespace

std::size_t frame_length(const TransportPacket& packet, const Route& route) {
    if (native(route.network)) return to_frame(packet, route).size();
    const Layout layout = lay_out(packet, route);
    return expressible(layout, route.network) ? layout.total() : 0;
}

std::size_t write_frame(const TransportPacket& packet, const Route& route, MutableBytes into) {
    if (native(route.network)) return write_native(packet, route, into);
    const Layout layout = lay_out(packet, route);
    if (layout.total() > into.size() || !expressible(layout, route.network)) return 0;
    std::byte* const frame = into.data();
    std::memset(frame, 0, layout.link + layout.network + layout.transport);
    Cursor cursor(frame);
    write_link(cursor, route);
    write_network(cursor, route, layout);
    write_bth(cursor, packet, layout.pad);
    const OpcodeRow& row = info(packet.opcode);
    for (std::size_t i = 0; i < row.header_count; ++i) write_extended(cursor, row.headers[i], packet);
    std::byte* const pad = std::ranges::copy(packet.payload, cursor.at()).out;
    std::fill_n(pad, layout.pad, std::byte{0});
    const Bytes covered(frame + layout.link, layout.network + layout.body - kIcrcLength);
    const std::span<std::byte, kIcrcLength> icrc(frame + layout.end() - kIcrcLength, kIcrcLength);
    put<place(kIcrcFields, "infiniband.invariant.crc")>(icrc, invariant_crc(coverage_of(route.network), covered));
    std::fill(frame + layout.end(), frame + layout.total(), std::byte{0});
    return layout.total();
}

}  // namespace qps::transport::live
