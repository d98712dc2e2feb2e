// Random packets: transport packets of every opcode, management datagrams of every attribute, tags and tunnels in front
// of them; LLDP.
#include <dissect/mad/notice.hpp>
#include <dissect/packet/build.hpp>
#include <tests/differential/random_packets.hpp>
#include <tests/support/lldp.hpp>

#include <algorithm>
#include <set>

namespace qps::test {

using namespace dissect;

namespace {

// Fields that decide what follows, or what a header is.
bool decides(const Field& field) {
    static const std::set<std::string_view> names{"infiniband.bth.opcode",
                                                  "infiniband.bth.padcnt",
                                                  "infiniband.bth.tver",
                                                  "infiniband.bth.destqp",
                                                  "infiniband.deth.srcqp",
                                                  "infiniband.mad.baseversion",
                                                  "infiniband.mad.mgmtclass",
                                                  "infiniband.mad.classversion",
                                                  "infiniband.mad.attributeid",
                                                  "infiniband.rmpp.rmpptype",
                                                  "infiniband.sa.attributeoffset",
                                                  "infiniband.lrh.lnh",
                                                  "infiniband.lrh.pktlen",
                                                  "infiniband.lrh.vl",
                                                  "infiniband.lrh.lver",
                                                  "infiniband.grh.ipver",
                                                  "infiniband.grh.paylen",
                                                  "infiniband.grh.nxthdr",
                                                  "infiniband.cm.req.serviceid",
                                                  "infiniband.rmpp.rmppflags",
                                                  "infiniband.smpdirected.hopcount",
                                                  "lldp.tlv.type",
                                                  "lldp.tlv.len",
                                                  "lldp.orgtlv.oui",
                                                  "lldp.ieee.802_1.subtype",
                                                  "lldp.ieee.802_3.subtype",
                                                  "lldp.dcbx.proto",
                                                  "lldp.dcbx.type",
                                                  "lldp.dcbx.len"};
    return names.contains(field.name);
}

// One in eight is 0, one in eight all ones.
std::uint64_t number(Dice& dice, unsigned width) {
    constexpr unsigned kLongest = 64, kCases = 8;
    const std::uint64_t most = ~std::uint64_t{0} >> (kLongest - std::min(kLongest, width));
    const std::uint64_t which = below(dice, kCases);
    return which == 0 ? 0 : which == 1 ? most : dice.throw_once() & most;
}

void draw_fields(Dice& dice, HeaderSpec& header_spec) {
    for (const Field& field : header(header_spec.kind).fields) {
        if (field.computed() || field.is_part || field.name.empty() || decides(field)) continue;
        const ValueType type = value_type(field.format);
        if (type != ValueType::bytes && type != ValueType::ipv6 && type != ValueType::text) {
            (void)set(header_spec, field.name, number(dice, field.width));
            continue;
        }
        constexpr std::uint64_t kLetters = 26, kByte = 256;  // text of tshark's ends at bytes that are none
        std::vector<std::byte> bytes(field.width / 8U);
        for (std::byte& byte : bytes)
            byte = type == ValueType::text ? static_cast<std::byte>('a' + below(dice, kLetters))
                                           : static_cast<std::byte>(below(dice, kByte));
        (void)set(header_spec, field.name, Bytes(bytes));
    }
}

void draw_from(Dice& dice, PacketSpec& spec, LayerKind first) {
    for (HeaderSpec& header_spec : spec.headers)
        if (header_spec.kind >= first) draw_fields(dice, header_spec);
}

// Link, network and UDP, as far as a RoCE packet stays one.
void draw_route(Dice& dice, PacketSpec& spec) {
    constexpr unsigned kPort = 14, kMac = 48, kWord = 32, kShort = 16, kOctet = 8, kLabel = 20;
    constexpr std::uint64_t kFirstPort = 0xc000, kTagged = 8;
    for (const std::string_view name : {"eth.src", "eth.dst"}) set(spec, name, dice.throw_once() >> (64 - kMac));
    for (const std::string_view name : {"ip.src", "ip.dst"}) set(spec, name, number(dice, kWord));
    for (const std::string_view name : {"ip.dsfield", "ip.ttl", "ipv6.tclass", "ipv6.hlim"})
        set(spec, name, number(dice, kOctet));
    set(spec, "ip.id", number(dice, kShort));
    set(spec, "ipv6.flow", number(dice, kLabel));
    set(spec, "udp.srcport", kFirstPort + number(dice, kPort));
    for (const std::string_view name : {"ipv6.src", "ipv6.dst"}) {
        std::array<std::byte, 16> address{};
        for (std::byte& byte : address) byte = static_cast<std::byte>(number(dice, kOctet));
        set(spec, name, Bytes(address));
    }
    if (spec.link != LinkType::ethernet || spec.headers.front().kind != LayerKind::ethernet ||
        below(dice, kTagged) != 0)
        return;
    HeaderSpec tag{LayerKind::vlan};
    set(tag, "vlan.id", number(dice, 12));
    set(tag, "vlan.priority", number(dice, 3));
    set(tag, "vlan.dei", number(dice, 1));
    spec.headers.insert(spec.headers.begin() + 1, tag);
}

std::uint64_t user_qp(Dice& dice) {
    constexpr std::uint64_t kFirst = 2, kMulticast = 0xffffff;
    return kFirst + below(dice, kMulticast - kFirst);
}

// 0xa5 a while, then anything.
std::vector<std::byte> payload(Dice& dice, std::size_t length) {
    constexpr std::size_t kSame = 16;
    std::vector<std::byte> bytes(length, std::byte{0xa5});
    for (std::size_t i = kSame; i < length; ++i) bytes[i] = static_cast<std::byte>(dice.throw_once());
    return bytes;
}

PacketSpec drawn(Dice& dice, Opcode opcode, Network network, std::size_t length) {
    PacketSpec spec = transport_packet(opcode, network);
    draw_route(dice, spec);
    draw_from(dice, spec, LayerKind::lrh);
    set(spec, "infiniband.bth.destqp", user_qp(dice));
    set(spec, "infiniband.deth.srcqp", user_qp(dice));
    if (info(opcode).carries_payload) spec.payload = payload(dice, length);
    return spec;
}

// The opcodes that tshark 4.0 takes apart (the others: tests/parity/differences.txt).
bool known_to_tshark(std::size_t code) {
    constexpr std::size_t kFlush = 0x1c, kAtomicWrite = 0x1d;
    constexpr std::size_t kRd = 0x40, kUd = 0x60, kCnp = 0x80;
    return code != kFlush && code != kAtomicWrite && (code < kRd || (code >= kUd && code < kCnp));
}

Opcode any_opcode(Dice& dice, bool known) {
    while (true)
        if (const std::size_t code = below(dice, kOpcodes.size());
            kOpcodes[code].defined && known_to_tshark(code) == known)
            return static_cast<Opcode>(code);
}

Network any_network(Dice& dice) {
    return std::array{Network::roce_v2_ipv4, Network::roce_v2_ipv6, Network::roce_v1}[below(dice, 3)];
}

// Most are short, so that a million of them are drawn soon.
std::size_t any_length(Dice& dice) {
    constexpr std::size_t kLeast = 16, kShort = 200, kLong = 4097 - kLeast, kRare = 16;
    return kLeast + below(dice, below(dice, kRare) == 0 ? kLong : kShort);
}

void put(Frames& frames, const PacketSpec& spec) { frames.push_back({build(spec)}); }

void transport(Dice& dice, Frames& frames) {
    put(frames, drawn(dice, any_opcode(dice, true), any_network(dice), any_length(dice)));
}

void other_opcodes(Dice& dice, Frames& frames) {
    put(frames, drawn(dice, any_opcode(dice, false), any_network(dice), any_length(dice)));
}

// SENDs of less than 16 bytes, which tshark shows to RPC over RDMA.
void short_sends(Dice& dice, Frames& frames) {
    constexpr std::array<std::uint8_t, 4> kSends{0x04, 0x05, 0x24, 0x64};  // Only: RC, RC with immediate, UC, UD
    put(frames, drawn(dice, Opcode{kSends[below(dice, kSends.size())]}, any_network(dice), below(dice, 16)));
}

void native(Dice& dice, Frames& frames) {
    const Network network = below(dice, 2) == 0 ? Network::native_local : Network::native_global;
    PacketSpec spec = drawn(dice, any_opcode(dice, true), network, any_length(dice));
    spec.link = LinkType::erf;
    spec.headers.insert(spec.headers.begin(), {LayerKind::erf});
    put(frames, spec);
}

// A transport packet within VXLAN, GENEVE or GRE.
void tunnelled(Dice& dice, Frames& frames) {
    PacketSpec spec = drawn(dice, any_opcode(dice, true),
                            below(dice, 2) == 0 ? Network::roce_v2_ipv4 : Network::roce_v2_ipv6, any_length(dice));
    PacketSpec outer = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
    draw_route(dice, outer);
    std::vector<HeaderSpec> before(outer.headers.begin(),
                                   std::ranges::find(outer.headers, LayerKind::udp, &HeaderSpec::kind));
    constexpr unsigned kNetwork = 24, kKey = 32;
    switch (below(dice, 3)) {
        case 0:
            before.insert(before.end(), {{LayerKind::udp}, {LayerKind::vxlan}});
            set(before.back(), "vxlan.vni", number(dice, kNetwork));
            break;
        case 1:
            before.insert(before.end(), {{LayerKind::udp}, {LayerKind::geneve}});
            set(before.back(), "geneve.vni", number(dice, kNetwork));
            break;
        default:
            before.insert(before.end(), {{LayerKind::gre}, {LayerKind::gre_key}});
            set(before.back(), "gre.key", number(dice, kKey));
            break;
    }
    spec.headers.insert(spec.headers.begin(), before.begin(), before.end());
    put(frames, spec);
}

struct Datagram {
    ManagementClass management_class;
    const MadAttribute* row;
};
const std::vector<Datagram>& datagrams() {
    static const auto all = [] {
        std::vector<Datagram> out;
        for (const MadAttribute& row : kMadAttributes)
            for (unsigned code = 0; code < 256; ++code)
                if (const auto it = static_cast<ManagementClass>(code);
                    group_of(it) == row.group && row.data != LayerKind::mad_data)
                    out.push_back({it, &row});
        return out;
    }();
    return all;
}

// Trap 259, of which tshark reads two LIDs as GIDs: packets with it are of a kind of their own.
constexpr std::uint64_t kBadPKeyAtSwitch = 259;

PacketSpec management_datagram(Dice& dice, const Datagram& datagram) {
    PacketSpec spec = mad_packet(datagram.management_class, *datagram.row, any_network(dice));
    draw_route(dice, spec);
    for (const LayerKind inner : datagram.row->inner)
        if (inner != LayerKind::mad_data) spec.headers.push_back({inner});
    draw_from(dice, spec, LayerKind::mad);
    if (datagram.row->data == kind::notice) {
        set(spec, "infiniband.notice.isgeneric", 1);
        std::uint64_t trap = kBadPKeyAtSwitch;
        while (trap == kBadPKeyAtSwitch) trap = kTrapNumbers[below(dice, std::size(kTrapNumbers))].value;
        set(spec, "infiniband.notice.trapnumberdeviceid", trap);
    }
    return spec;
}

void management(Dice& dice, Frames& frames) {
    const Datagram& datagram = datagrams()[below(dice, datagrams().size())];
    PacketSpec spec = management_datagram(dice, datagram);
    if (datagram.row->group == MadGroup::administration &&
        below(dice, 2) == 0) {  // the first segment of RMPP, or the only one
        constexpr std::uint64_t kLeast = 20, kMost = 220;
        set(spec, "infiniband.rmpp.rmpptype", 1);
        set(spec, "infiniband.rmpp.data1", 1);
        set(spec, "infiniband.rmpp.data2", kLeast + below(dice, kMost - kLeast + 1));
    }
    put(frames, spec);
}

// Messages of the communication manager alone, for services that no dissector is for.
void communication(Dice& dice, Frames& frames) {
    while (true)
        if (const Datagram& datagram = datagrams()[below(dice, datagrams().size())];
            group_of(datagram.management_class) == MadGroup::communication) {
            PacketSpec spec = management_datagram(dice, datagram);
            constexpr std::uint64_t kService = 0xabcdef0000000000,
                                    kSdp = 0x10000;  // tshark takes that bit for the sockets direct protocol
            set(spec, "infiniband.cm.req.serviceid", kService | (dice.throw_once() & 0xffffffff & ~kSdp));
            put(frames, spec);
            return;
        }
}

void trap_259(Dice& dice, Frames& frames) {
    while (true)
        if (const Datagram& datagram = datagrams()[below(dice, datagrams().size())];
            datagram.row->data == kind::notice) {
            PacketSpec spec = management_datagram(dice, datagram);
            set(spec, "infiniband.notice.trapnumberdeviceid", kBadPKeyAtSwitch);
            put(frames, spec);
            return;
        }
}

// LLDP of a station with some of the TLVs of bridging, in any order.
void bridging(Dice& dice, Frames& frames) {
    using namespace qps::tests;
    constexpr unsigned kMac = 48;
    constexpr std::size_t kApplications = 6, kTlvs = 12,
                          kMost = 6;  // all of CEE six times still fits a packet's layers
    const auto octets = [&](std::size_t length) {
        std::vector<std::byte> bytes(length);
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(dice.throw_once());
        return bytes;
    };
    std::vector<HeaderSpec> tlvs = lldp_station(number(dice, kMac), "port", number(dice, 16));
    const auto draw = [&](HeaderSpec spec) {
        draw_fields(dice, spec);
        tlvs.push_back(std::move(spec));
    };
    for (std::size_t left = 1 + below(dice, kMost); left > 0; --left) switch (below(dice, kTlvs)) {
            case 0: draw(bridging_tlv(1, kind::lldp_port_vlan, {})); break;
            case 1: draw(bridging_tlv(2, kind::lldp_protocol_vlan, {})); break;
            case 2: draw(bridging_tlv(7, kind::lldp_aggregation, {})); break;
            case 3: draw(bridging_tlv(8, kind::lldp_congestion, {})); break;
            case 4: draw(bridging_tlv(9, kind::dcbx_ets, {})); break;
            case 5: draw(bridging_tlv(10, kind::dcbx_ets_recommended, {})); break;
            case 6: draw(bridging_tlv(11, kind::dcbx_pfc, {})); break;
            case 7: draw(bridging_tlv(12, kind::dcbx_applications, {}, octets(3 * below(dice, kApplications)))); break;
            case 8: draw(tlv(7, kind::lldp_capabilities)); break;
            case 9:
                draw(tlv(127, kind::lldp_max_frame,
                         {{"lldp.orgtlv.oui", kOuiEthernet}, {"lldp.ieee.802_3.subtype", 4}}));
                break;
            default:
                for (HeaderSpec& each :
                     cee({cee_tlv(1, kind::cee_control), cee_tlv(2, kind::cee_groups), cee_tlv(3, kind::cee_pfc)}))
                    draw(std::move(each));
        }
    frames.push_back({build(lldp_frame(number(dice, kMac), std::move(tlvs)))});
}

constexpr std::array kPacketKinds{
    Kind{"random_transport", "built_opcodes", LinkType::ethernet, 45, transport},
    Kind{"random_native", "built_erf", LinkType::erf, 8, native},
    Kind{"random_tunnels", "built_tunnels", LinkType::ethernet, 6, tunnelled},
    Kind{"random_short", "", LinkType::ethernet, 4, short_sends},
    Kind{"random_other_opcodes", "opcodes_roce", LinkType::ethernet, 5, other_opcodes},
    Kind{"random_mads", "built_mads", LinkType::ethernet, 9, management},
    Kind{"random_trap_259", "built_mads", LinkType::ethernet, 1, trap_259},
    Kind{"random_cm", "built_mads", LinkType::ethernet, 4, communication},
    Kind{"random_bridging", "bridging", LinkType::ethernet, 4, bridging},
};

}  // namespace

std::span<const Kind> packet_kinds() { return kPacketKinds; }

}  // namespace qps::test
