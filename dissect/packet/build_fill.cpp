#include <dissect/base/ethertypes.hpp>
#include <dissect/base/icrc.hpp>
#include <dissect/headers/icmp.hpp>
#include <dissect/headers/infiniband.hpp>
#include <dissect/headers/segment_routing.hpp>
#include <dissect/lldp/tlvs.hpp>
#include <dissect/omni_path/packets.hpp>
#include <dissect/packet/build_fill.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace qps::dissect {

namespace {

constexpr std::size_t kIcrcLength = 4;
constexpr std::size_t kVcrcLength = 2;

struct NextProtocol {
    LayerKind kind;
    std::uint64_t value;
};

constexpr std::array kEtherTypeOf{
    NextProtocol{LayerKind::vlan, ethertype::customer_tag},
    NextProtocol{LayerKind::ipv4, ethertype::ipv4},
    NextProtocol{LayerKind::ipv6, ethertype::ipv6},
    NextProtocol{LayerKind::mpls, ethertype::mpls},
    NextProtocol{LayerKind::grh, ethertype::roce1},
    NextProtocol{LayerKind::mac_control, ethertype::mac_control},
    NextProtocol{LayerKind::arp, ethertype::arp},
    NextProtocol{LayerKind::ethernet, ethertype::bridged},
    NextProtocol{LayerKind::erspan2, 0x88be},
    NextProtocol{LayerKind::erspan3, 0x22eb},
};
constexpr std::array kIpProtocolOf{
    NextProtocol{LayerKind::udp, 17},
    NextProtocol{LayerKind::tcp, 6},
    NextProtocol{LayerKind::gre, 47},
    NextProtocol{LayerKind::ipv4, 4},
    NextProtocol{LayerKind::ipv6, 41},
    NextProtocol{LayerKind::mpls, 137},
    NextProtocol{LayerKind::ipv6_hop_by_hop, 0},
    NextProtocol{LayerKind::ipv6_routing, 43},
    NextProtocol{kind::segment_routing, 43},
    NextProtocol{LayerKind::ipv6_fragment, 44},
    NextProtocol{LayerKind::ipv6_destination, 60},
};
constexpr std::array kUdpPortOf{
    NextProtocol{LayerKind::bth, kRocePort},
    NextProtocol{LayerKind::vxlan, kVxlanPort},
    NextProtocol{LayerKind::geneve, kGenevePort},
};

template <std::size_t N>
std::uint64_t protocol_of(const std::array<NextProtocol, N>& table, LayerKind kind, std::uint64_t otherwise = 0) {
    const auto row = std::ranges::find(table, kind, &NextProtocol::kind);
    return row == table.end() ? otherwise : row->value;
}

std::uint64_t ether_type_of(LayerKind kind) {
    constexpr std::uint64_t kLldp = 0x88cc, kCnm = 0x22e7;
    if (is_of(kind, LayerFamily::lldp)) return kind == kind::cnm ? kCnm : kLldp;
    return protocol_of(kEtherTypeOf, kind);
}

std::uint64_t ip_protocol_of(LayerKind kind, std::uint64_t otherwise = 0) {
    if (is_of(kind, LayerFamily::icmp))
        return std::to_underlying(kind < kind::icmpv6 ? IpProtocol::icmp : IpProtocol::icmpv6);
    return protocol_of(kIpProtocolOf, kind, otherwise);
}

std::uint64_t udp_port_of(LayerKind kind) {
    return is_of(kind, LayerFamily::ultra_ethernet) ? kUltraPort : protocol_of(kUdpPortOf, kind);
}

bool is_gre_option(LayerKind kind) {
    return kind == LayerKind::gre_checksum || kind == LayerKind::gre_key || kind == LayerKind::gre_sequence;
}

class Filler {
public:
    Filler(const PacketSpec& spec, const std::vector<PlacedHeader>& headers, std::vector<std::byte>& bytes)
        : spec_(spec), headers_(headers), bytes_(bytes) {}

    void run() {
        const auto bth =
            std::ranges::find(headers_, LayerKind::bth, [](const PlacedHeader& placed) { return placed.spec->kind; });
        if (bth != headers_.end()) append_pad(*bth);
        if (bth != headers_.end()) bytes_.resize(bytes_.size() + kIcrcLength);
        end_ = bytes_.size();
        for (std::size_t i = headers_.size(); i-- > 0;) fill_header(i);
        if (bth == headers_.end()) return;
        append_crcs(static_cast<std::size_t>(bth - headers_.begin()));
    }

private:
    [[nodiscard]] LayerKind kind(std::size_t i) const {
        return i < headers_.size() ? headers_[i].spec->kind : LayerKind::data;
    }
    [[nodiscard]] MutableBytes bytes_of(const PlacedHeader& placed) {
        return {bytes_.data() + placed.offset, placed.length};
    }
    [[nodiscard]] std::size_t rest(const PlacedHeader& placed) const { return end_ - placed.offset; }

    // Sets a field by name, unless the specification set it, a part of it, or what it is a part of.
    void fill(const PlacedHeader& placed, std::string_view name, std::uint64_t value) {
        const auto fields = header(placed.spec->kind).fields;
        const auto field = std::ranges::find(fields, name, &Field::name);
        if (field == fields.end()) return;
        for (const FieldSetting& setting : placed.spec->settings)
            if (setting.field->bit < field->bit + field->width &&
                field->bit < setting.field->bit + setting.field->width)
                return;
        const std::uint64_t largest = field->width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << field->width) - 1;
        set_value(bytes_of(placed), *field, {std::min(value, largest * field->factor), {}});
    }

    void append_pad(const PlacedHeader& bth) {
        std::size_t headers_end = bth.offset + bth.length;
        for (const PlacedHeader& placed : headers_)
            if (placed.spec->kind != LayerKind::mad &&
                kTransportLengths[static_cast<std::size_t>(placed.spec->kind)] != 0)
                headers_end = std::max(headers_end, placed.offset + placed.length);
        const std::size_t body = bytes_.size() - headers_end;
        const std::size_t pad = spec_.pad_bytes.value_or(static_cast<std::uint8_t>((4 - body % 4) % 4));
        bytes_.resize(bytes_.size() + pad);
        fill(bth, "infiniband.bth.padcnt", pad % 4);
    }

    void fill_header(std::size_t i) {
        const PlacedHeader& placed = headers_[i];
        const LayerKind next = kind(i + 1);
        if (placed.spec->kind == kind::segment_routing)
            return fill_extension(placed, "ipv6.routing.nxt", "ipv6.routing.len", next);
        switch (placed.spec->kind) {
            case LayerKind::ethernet: return fill(placed, "eth.type", ether_type_of(next));
            case LayerKind::vlan: return fill(placed, "vlan.etype", ether_type_of(next));
            case LayerKind::linux_cooked:
            case LayerKind::linux_cooked_v2: return fill(placed, "sll.etype", ether_type_of(next));
            case LayerKind::erf: return fill_erf(i);
            case LayerKind::mpls:
                fill(placed, "mpls.bottom", next != LayerKind::mpls ? 1 : 0);
                return fill(placed, "mpls.ttl", kTtl);
            case LayerKind::mac_control:
                return fill(placed, "macc.opcode", next == LayerKind::mac_pfc ? 0x0101 : 0x0001);
            case LayerKind::ipv4: return fill_ipv4(placed, next);
            case LayerKind::ipv6: return fill_ipv6(placed, next);
            case LayerKind::ipv6_hop_by_hop:
                return fill_extension(placed, "ipv6.hopopts.nxt", "ipv6.hopopts.len", next);
            case LayerKind::ipv6_routing: return fill_extension(placed, "ipv6.routing.nxt", "ipv6.routing.len", next);
            case LayerKind::ipv6_destination:
                return fill_extension(placed, "ipv6.dstopts.nxt", "ipv6.dstopts.len", next);
            case LayerKind::ipv6_fragment: return fill(placed, "ipv6.fraghdr.nxt", ip_protocol_of(next, kNoNext));
            case LayerKind::udp:
                fill(placed, "udp.dstport", udp_port_of(next));
                return fill(placed, "udp.length", rest(placed));
            case LayerKind::tcp: return fill(placed, "tcp.hdr_len", placed.length);
            case LayerKind::vxlan: return fill(placed, "vxlan.flag_i", 1);
            case LayerKind::geneve:
                fill(placed, "rdma.geneve.options_length", placed.spec->tail.size());
                return fill(placed, "geneve.proto_type", protocol_of(kEtherTypeOf, next));
            case LayerKind::gre: return fill_gre(i);
            case LayerKind::erspan2: return fill(placed, "erspan.version", 1);
            case LayerKind::erspan3:
                fill(placed, "erspan.version", 2);
                return fill(placed, "erspan.o", next == LayerKind::erspan3_platform ? 1 : 0);
            case LayerKind::lrh:
                fill(placed, "infiniband.lrh.lnh",
                     std::to_underlying(next == LayerKind::grh   ? LinkNextHeader::grh
                                        : next == LayerKind::bth ? LinkNextHeader::transport
                                                                 : LinkNextHeader::raw));
                return fill(placed, "infiniband.lrh.pktlen", rest(placed) / 4);
            case LayerKind::grh:
                fill(placed, "infiniband.grh.ipver", 6);
                fill(placed, "infiniband.grh.paylen", rest(placed) - placed.length);
                return fill(placed, "infiniband.grh.nxthdr", std::to_underlying(IpProtocol::infiniband));
            case LayerKind::rwh: return fill(placed, "infiniband.rwh.etype", protocol_of(kEtherTypeOf, next));
            case LayerKind::mad: return fill(placed, "infiniband.mad.baseversion", kMadBaseVersion);
            default: return;
        }
    }

    void fill_ipv4(const PlacedHeader& placed, LayerKind next) {
        fill(placed, "ip.version", 4);
        fill(placed, "ip.hdr_len", placed.length);
        fill(placed, "ip.len", rest(placed));
        fill(placed, "ip.flags.df", 1);
        fill(placed, "ip.ttl", kTtl);
        fill(placed, "ip.proto", ip_protocol_of(next));
        const Bytes header_bytes = bytes_of(placed);
        std::uint32_t sum = 0;  // RFC 1071; the checksum itself is still zero, or as the specification wants it
        for (std::size_t at = 0; at + 1 < header_bytes.size(); at += 2)
            if (at != 10) sum += read_be<std::uint16_t>(header_bytes, at);
        while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
        fill(placed, "ip.checksum", ~sum & 0xffff);
    }

    void fill_ipv6(const PlacedHeader& placed, LayerKind next) {
        fill(placed, "ipv6.version", 6);
        fill(placed, "ipv6.plen", rest(placed) - placed.length);
        fill(placed, "ipv6.nxt", ip_protocol_of(next, kNoNext));
        fill(placed, "ipv6.hlim", kTtl);
    }

    void fill_extension(const PlacedHeader& placed, std::string_view nxt, std::string_view length, LayerKind next) {
        fill(placed, nxt, ip_protocol_of(next, kNoNext));
        fill(placed, length, placed.length / 8 - 1);
    }

    void fill_gre(std::size_t i) {
        const PlacedHeader& placed = headers_[i];
        std::size_t after = i + 1;
        for (; is_gre_option(kind(after)); ++after) {
            if (kind(after) == LayerKind::gre_checksum) fill(placed, "gre.flags.checksum", 1);
            if (kind(after) == LayerKind::gre_key) fill(placed, "gre.flags.key", 1);
            if (kind(after) == LayerKind::gre_sequence) fill(placed, "gre.flags.sequence_number", 1);
        }
        fill(placed, "gre.proto", protocol_of(kEtherTypeOf, kind(after)));
    }

    void fill_erf(std::size_t i) {
        const PlacedHeader& placed = headers_[i];
        std::size_t packet = i + 1;
        while (kind(packet) == LayerKind::erf_extension || kind(packet) == LayerKind::erf_ethernet_pad) ++packet;
        if (packet > i + 1 && kind(i + 1) == LayerKind::erf_extension) fill(placed, "erf.types.ext_header", 1);
        const bool native = kind(packet) == LayerKind::lrh;
        fill(placed, "erf.types.type",
             native                          ? 21
             : kind(packet) == kind::opa_snc ? 28
             : kind(packet) == kind::opa_9b  ? 29
                                             : 2);
        const std::size_t vcrc = native && spec_.with_vcrc ? kVcrcLength : 0;
        const std::size_t start = packet < headers_.size() ? headers_[packet].offset : end_;
        fill(placed, "erf.wlen", end_ - start + vcrc);
        fill(placed, "erf.rlen", rest(placed) + vcrc);
    }

    // The header that the ICRC coverage starts with: what stands before the BTH, or before its UDP header.
    void append_crcs(std::size_t bth) {
        if (bth == 0) return;
        const std::size_t network = kind(bth - 1) == LayerKind::udp && bth >= 2 ? bth - 2 : bth - 1;
        const IcrcCoverage coverage = kind(network) == LayerKind::lrh    ? IcrcCoverage::native_local
                                      : kind(network) == LayerKind::ipv4 ? IcrcCoverage::roce_v2_ipv4
                                      : kind(network) == LayerKind::ipv6 ? IcrcCoverage::roce_v2_ipv6
                                                                         : IcrcCoverage::grh;
        const std::size_t start = headers_[network].offset;
        const Bytes covered = Bytes(bytes_).subspan(start, end_ - kIcrcLength - start);
        const std::uint32_t icrc = spec_.icrc.value_or(invariant_crc(coverage, covered));
        write_bits(bytes_, (end_ - kIcrcLength) * 8, 32, icrc);
        const auto lrh =
            std::ranges::find(headers_, LayerKind::lrh, [](const PlacedHeader& placed) { return placed.spec->kind; });
        if (lrh == headers_.end() || !spec_.with_vcrc) return;
        const std::uint16_t vcrc = spec_.vcrc.value_or(variant_crc(Bytes(bytes_).subspan(lrh->offset)));
        bytes_.resize(end_ + kVcrcLength);
        write_bits(bytes_, end_ * 8, 16, vcrc);
    }

    static constexpr std::uint64_t kTtl = 64;
    static constexpr std::uint64_t kNoNext = 59;  // RFC 8200: no next header

    const PacketSpec& spec_;
    const std::vector<PlacedHeader>& headers_;
    std::vector<std::byte>& bytes_;
    std::size_t end_ = 0;  // of the ICRC, or of the payload where there is none
};

}  // namespace

void fill_in(const PacketSpec& spec, const std::vector<PlacedHeader>& headers, std::vector<std::byte>& bytes) {
    Filler(spec, headers, bytes).run();
}

}  // namespace qps::dissect
