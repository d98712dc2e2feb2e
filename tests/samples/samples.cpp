#include <tests/samples/bridging.hpp>
#include <tests/samples/fabric_sweep.hpp>
#include <tests/samples/incast.hpp>
#include <tests/samples/samples.hpp>
#include <tests/samples/ultra_ethernet.hpp>
#include <tests/samples/ultra_ethernet_paths.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace qps::tests {

using namespace dissect;

namespace {

using Packets = std::vector<SamplePacket>;

constexpr std::size_t kPayload = 22;  // needs two pad bytes

// Values that differ from packet to packet and from field to field, so that no two can be mistaken for each other.
void fill_transport(PacketSpec& spec, std::uint64_t number) {
    set(spec, "infiniband.bth.destqp", 0x100 + number);
    set(spec, "infiniband.bth.psn", 0xfffff0 + (number & 15));  // wraps
    set(spec, "infiniband.bth.a", number & 1);
    set(spec, "infiniband.deth.q_key", 0x11110000 + number);
    set(spec, "infiniband.deth.srcqp", 0x200 + number);
    set(spec, "infiniband.rdeth.eecnxt", 0x300 + number);
    set(spec, "infiniband.xrceth.xrcsrq", 0x400 + number);
    for (HeaderSpec& header_spec : spec.headers) {
        set(header_spec, "infiniband.reth.va", 0x7f0012340000 + number * 64);
        set(header_spec, "infiniband.reth.r_key", 0x5000 + number);
    }
    set(spec, "infiniband.reth.dmalen", kPayload);
    set(spec, "infiniband.atomiceth.swapdt", 0x1122334455667788 + number);
    set(spec, "infiniband.atomiceth.cmpdt", 0x8877665544332211 + number);
    set(spec, "infiniband.atomicacketh.origremdt", 0xaabbccdd00112233 + number);
    set(spec, "infiniband.aeth.syndrome", number);
    set(spec, "infiniband.aeth.msn", 0x600 + number);
    const std::array<std::byte, 4> key{std::byte{0xca}, std::byte{0xfe}, std::byte{0}, static_cast<std::byte>(number)};
    set(spec, "infiniband.immdt", Bytes(key));
    set(spec, "infiniband.ieth", Bytes(key));
}

PacketSpec opcode_packet(Opcode opcode, Network network, std::uint64_t number) {
    PacketSpec spec = transport_packet(opcode, network);
    fill_transport(spec, number);
    if (info(opcode).carries_payload)
        for (std::size_t i = 0; i < kPayload; ++i)
            spec.payload.push_back(static_cast<std::byte>(0xe0 + i));  // no known protocol
    return spec;
}

Packets every_opcode(std::initializer_list<Network> networks) {
    Packets packets;
    for (const Network network : networks)
        for (std::size_t code = 0; code < kOpcodes.size(); ++code)
            if (kOpcodes[code].defined)
                packets.push_back({opcode_packet(static_cast<Opcode>(code), network, packets.size() % 128)});
    return packets;
}

Packets opcodes_roce() { return every_opcode({Network::roce_v2_ipv4, Network::roce_v2_ipv6, Network::roce_v1}); }
Packets opcodes_native() { return every_opcode({Network::native_local, Network::native_global}); }

// Native packets as ERF records of type InfiniBand.
PacketSpec in_erf(PacketSpec spec) {
    spec.link = LinkType::erf;
    spec.headers.insert(spec.headers.begin(), {LayerKind::erf});
    return spec;
}

Packets opcodes_erf() {
    Packets packets = opcodes_native();
    for (SamplePacket& packet : packets) packet.spec = in_erf(std::move(packet.spec));
    return packets;
}

ManagementClass class_of(MadGroup group) {
    switch (group) {
        case MadGroup::subnet: return ManagementClass::subnet_lid_routed;
        case MadGroup::administration: return ManagementClass::subnet_administration;
        case MadGroup::communication: return ManagementClass::communication;
        case MadGroup::device: return ManagementClass::device_management;
        case MadGroup::congestion: return ManagementClass::congestion_control;
        case MadGroup::vendor: return ManagementClass::first_vendor;
        case MadGroup::vendor_rmpp: return ManagementClass::first_vendor_rmpp;
        case MadGroup::performance:
        case MadGroup::any: break;
    }
    return ManagementClass::performance;
}

// Every attribute that is decoded, its fields filled with counting bytes.
void fill_attribute(PacketSpec& spec, LayerKind kind, std::uint8_t seed) {
    HeaderSpec* attribute = find(spec, kind);
    if (attribute == nullptr) return;
    std::uint64_t value = seed;
    for (const Field& field : header(kind).fields) {
        if (field.computed() || field.is_part || field.name.empty()) continue;
        value = value * 131 + 7;
        const std::uint64_t fitting = field.width >= 64 ? value : value & ((std::uint64_t{1} << field.width) - 1);
        std::vector<std::byte> bytes;
        for (std::size_t i = 0; i < field.width / 8U; ++i)
            bytes.push_back(static_cast<std::byte>('A' + (seed + i) % 26));
        if (!set(*attribute, field.name, fitting)) set(*attribute, field.name, Bytes(bytes));
    }
}

Packets attributes() {
    Packets packets;
    for (const MadAttribute& row : kMadAttributes) {
        if (row.data == LayerKind::mad_data) continue;
        const auto seed = static_cast<std::uint8_t>(packets.size() + 1);
        PacketSpec spec = mad_packet(class_of(row.group), row, Network::native_local);
        fill_attribute(spec, row.data, seed);
        set(spec, "infiniband.mad.method", 0x81);
        set(spec, "infiniband.mad.transactionid", 0x1234567800000000 + seed);
        packets.push_back({in_erf(spec)});
        if (row.group != MadGroup::subnet) continue;
        PacketSpec directed = mad_packet(ManagementClass::subnet_directed, row, Network::native_local);
        fill_attribute(directed, row.data, seed);
        set(directed, "infiniband.mad.method", 1);
        set(directed, "infiniband.smpdirected.hopcount", 2);
        packets.push_back({in_erf(directed)});
    }
    return packets;
}

PacketSpec ordinary(Network network, std::uint64_t number) { return opcode_packet(Opcode{0x0a}, network, number); }

// A whole frame behind an outer Ethernet and IPv4 header and what stands between.
PacketSpec tunnelled(std::vector<HeaderSpec> between, std::uint64_t number) {
    PacketSpec spec = ordinary(Network::roce_v2_ipv4, number);
    const std::vector<HeaderSpec> outer{spec.headers[0], spec.headers[1]};
    spec.headers.insert(spec.headers.begin(), between.begin(), between.end());
    spec.headers.insert(spec.headers.begin(), outer.begin(), outer.end());
    return spec;
}

HeaderSpec vlan(std::uint64_t id, std::uint64_t priority) {
    HeaderSpec tag{LayerKind::vlan};
    set(tag, "vlan.id", id);
    set(tag, "vlan.priority", priority);
    return tag;
}

Packets tunnels() {
    Packets packets;
    std::uint64_t number = 1;
    const auto add = [&](PacketSpec spec) { packets.push_back({std::move(spec)}); };
    for (const auto& [network, first] :
         {std::pair{Network::roce_v2_ipv4, LayerKind::ipv4}, std::pair{Network::roce_v2_ipv6, LayerKind::ipv6},
          std::pair{Network::roce_v1, LayerKind::grh}}) {
        PacketSpec tagged = ordinary(network, number++);
        insert_before(tagged, first, {vlan(100, 3)});
        add(tagged);
    }
    PacketSpec qinq = ordinary(Network::roce_v2_ipv4, number++);
    insert_before(qinq, LayerKind::ipv4, {vlan(200, 5), vlan(100, 3)});
    set(qinq, "eth.type", 0x88a8);
    add(qinq);
    PacketSpec mpls = ordinary(Network::roce_v2_ipv4, number++);
    insert_before(mpls, LayerKind::ipv4, {{LayerKind::mpls}, {LayerKind::mpls}});
    set(mpls, "mpls.label", 1000);
    add(mpls);
    HeaderSpec vni{LayerKind::vxlan};
    set(vni, "vxlan.vni", 5001);
    add(tunnelled({{LayerKind::udp}, vni}, number++));
    HeaderSpec geneve{LayerKind::geneve};
    set(geneve, "geneve.vni", 5002);
    add(tunnelled({{LayerKind::udp}, geneve}, number++));
    add(tunnelled({{LayerKind::gre}}, number++));
    HeaderSpec key{LayerKind::gre_key};
    set(key, "gre.key", 77);
    add(tunnelled({{LayerKind::gre}, key, {LayerKind::gre_sequence}}, number++));
    HeaderSpec second{LayerKind::erspan2};
    set(second, "erspan.spanid", 11);
    add(tunnelled({{LayerKind::gre}, {LayerKind::gre_sequence}, second}, number++));
    HeaderSpec third{LayerKind::erspan3};
    set(third, "erspan.spanid", 12);
    add(tunnelled({{LayerKind::gre}, {LayerKind::gre_sequence}, third}, number++));
    add(tunnelled({{LayerKind::gre}, {LayerKind::gre_sequence}, third, {LayerKind::erspan3_platform}}, number++));
    return packets;
}

// Sends a packet the other way: from who received the data to who sent it.
void turn_round(PacketSpec& spec) {
    using Ends = std::pair<std::string_view, std::string_view>;
    constexpr std::array<Ends, 3> kEnds{Ends{"eth.src", "eth.dst"}, Ends{"ip.src", "ip.dst"},
                                        Ends{"ipv6.src", "ipv6.dst"}};
    for (HeaderSpec& header_spec : spec.headers)
        for (const auto& [source, destination] : kEnds) {
            const auto from = std::ranges::find(header_spec.settings, source,
                                                [](const FieldSetting& setting) { return setting.field->name; });
            const auto to = std::ranges::find(header_spec.settings, destination,
                                              [](const FieldSetting& setting) { return setting.field->name; });
            if (from == header_spec.settings.end() || to == header_spec.settings.end()) continue;
            std::swap(from->number, to->number);
            std::swap(from->bytes, to->bytes);
        }
}

PacketSpec pause_frame(LayerKind kind) {
    PacketSpec spec;
    spec.headers = {{LayerKind::ethernet}, {LayerKind::mac_control}, {kind}};
    set(spec, "eth.dst", 0x0180c2000001);  // 802.3 31B.1
    set(spec, "eth.src", 0x020000000009);
    spec.trailer.resize(kind == LayerKind::mac_pfc ? 26 : 42);
    return spec;
}

// Data marked by a switch, the notifications that answer, and the pauses of a switch that still has too much.
Packets congestion() {
    Packets packets;
    for (std::uint64_t i = 0; i < 16; ++i) {
        PacketSpec data = ordinary(i < 8 ? Network::roce_v2_ipv4 : Network::roce_v2_ipv6, i);
        set(data, "infiniband.bth.destqp", 0x21);
        set(data, "ip.dsfield.dscp", 26);
        set(data, "ip.dsfield.ecn", i % 4 == 3 ? 3 : 2);
        set(data, "ipv6.tclass.dscp", 26);
        set(data, "ipv6.tclass.ecn", i % 4 == 3 ? 3 : 2);
        packets.push_back({data});
        if (i % 4 != 3) continue;
        PacketSpec notification = transport_packet(Opcode::cnp, i < 8 ? Network::roce_v2_ipv4 : Network::roce_v2_ipv6);
        set(notification, "infiniband.bth.becn", 1);
        set(notification, "infiniband.bth.destqp", 0x22);
        set(notification, "ip.dsfield.dscp", 48);
        turn_round(notification);
        packets.push_back({notification});
    }
    PacketSpec stop = pause_frame(LayerKind::mac_pfc);
    set(stop, "macc.cbfc.enbv", 0x08);
    set(stop, "macc.cbfc.pause_time.c3", 0xffff);
    packets.push_back({stop});
    PacketSpec go = pause_frame(LayerKind::mac_pfc);
    set(go, "macc.cbfc.enbv", 0x08);
    packets.push_back({go});
    PacketSpec pause = pause_frame(LayerKind::mac_pause);
    set(pause, "macc.pause_time", 1000);
    packets.push_back({pause});
    return packets;
}

// What a tap at 100 Gbit/s keeps: the first 128 bytes.
Packets cut_128() {
    constexpr std::size_t kSnapLength = 128;
    Packets packets;
    for (const Network network : {Network::roce_v2_ipv4, Network::roce_v2_ipv6, Network::roce_v1})
        for (const unsigned code : {0x00U, 0x06U, 0x0aU, 0x0dU, 0x11U, 0x64U, 0xaaU}) {
            const auto opcode = static_cast<Opcode>(code);
            PacketSpec spec = opcode_packet(opcode, network, packets.size());
            if (info(opcode).carries_payload) spec.payload.resize(1024, std::byte{0xe5});
            packets.push_back({spec, kSnapLength});
        }
    return packets;
}

// Each packet is wrong in one way.
Packets wrong() {
    Packets packets;
    const auto add = [&](PacketSpec spec) { packets.push_back({std::move(spec)}); };
    const auto with = [](Network network, std::string_view field, std::uint64_t value) {
        PacketSpec spec = ordinary(network, 1);
        set(spec, field, value);
        return spec;
    };
    PacketSpec icrc = ordinary(Network::roce_v2_ipv4, 0);
    icrc.icrc = 0xdeadbeef;
    add(icrc);
    add(with(Network::roce_v2_ipv4, "infiniband.bth.tver", 1));
    add(with(Network::roce_v2_ipv4, "infiniband.bth.reserved6", 0x3f));
    add(with(Network::roce_v2_ipv4, "infiniband.bth.reserved7", 0x7f));
    add(with(Network::roce_v2_ipv4, "infiniband.bth.p_key", 0));
    add(with(Network::roce_v2_ipv4, "ip.len", 4000));
    add(with(Network::roce_v2_ipv4, "udp.length", 20));
    add(with(Network::roce_v2_ipv4, "udp.length", 4000));
    add(with(Network::roce_v2_ipv6, "ipv6.plen", 4000));
    add(with(Network::roce_v1, "infiniband.grh.paylen", 4000));
    add(with(Network::roce_v1, "infiniband.grh.nxthdr", 17));
    add(with(Network::roce_v2_ipv4, "ip.flags.mf", 1));
    add(with(Network::roce_v2_ipv4, "ip.frag_offset", 64));
    PacketSpec pad = transport_packet(Opcode::rc_acknowledge, Network::roce_v2_ipv4);
    set(pad, "infiniband.bth.padcnt", 3);
    add(pad);
    for (const unsigned code : {0x15U, 0x1fU, 0x66U, 0xc0U}) {
        PacketSpec unknown = transport_packet(static_cast<Opcode>(code), Network::roce_v2_ipv4);
        unknown.payload.resize(16, std::byte{0xe5});
        add(unknown);
    }
    PacketSpec with_payload = transport_packet(Opcode::rc_acknowledge, Network::roce_v2_ipv4);
    with_payload.payload.resize(8, std::byte{0xe5});
    add(with_payload);
    return packets;
}

constexpr std::array kSamples{
    Sample{"opcodes_roce", LinkType::ethernet, opcodes_roce},
    Sample{"opcodes_native", LinkType::infiniband, opcodes_native},
    Sample{"opcodes_erf", LinkType::erf, opcodes_erf},
    Sample{"attributes_erf", LinkType::erf, attributes},
    Sample{"tunnels", LinkType::ethernet, tunnels},
    Sample{"congestion", LinkType::ethernet, congestion},
    Sample{"cut_128", LinkType::ethernet, cut_128},
    Sample{"wrong", LinkType::ethernet, wrong},
    Sample{"fabric_sweep", LinkType::erf, fabric_sweep},
    Sample{"ultra_ethernet", LinkType::ethernet, ultra_ethernet},
    Sample{"bridging", LinkType::ethernet, bridging},
    Sample{"bridging_differs", LinkType::ethernet, bridging_differs},
    Sample{"ultra_ethernet_paths", LinkType::ethernet, ultra_ethernet_paths},
    Sample{"incast", LinkType::ethernet, incast_at_receiver, 0},
    Sample{"incast_sender", LinkType::ethernet, incast_at_sender, 0},
};

void append_le32(std::vector<std::byte>& bytes, std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::byte>(value >> shift));
}

}  // namespace

std::span<const Sample> samples() { return kSamples; }

// Written by hand rather than with the project's writer, so that the reader's tests have another opinion: nanosecond
// pcap, from 2026-01-01 on a packet each step of the sample, and later where it pauses.
std::vector<std::byte> capture_of(const Sample& sample) {
    constexpr std::uint32_t kMagic = 0xa1b23c4d;
    constexpr std::uint32_t kVersion = 4U << 16 | 2U;  // 2.4
    constexpr std::uint32_t kSnapLength = 262144;
    constexpr std::uint32_t kStart = 1767225600;
    constexpr std::uint64_t kSecond = 1'000'000'000;
    std::vector<std::byte> file;
    for (const std::uint32_t word : {kMagic, kVersion, 0U, 0U, kSnapLength, std::to_underlying(sample.link)})
        append_le32(file, word);
    std::uint64_t time = 0;
    for (const SamplePacket& packet : sample.make()) {
        time += packet.pause;
        const std::vector<std::byte> bytes = build(packet.spec);
        const std::size_t captured = std::min(packet.captured, bytes.size());
        for (const std::uint32_t word :
             {static_cast<std::uint32_t>(kStart + time / kSecond), static_cast<std::uint32_t>(time % kSecond),
              static_cast<std::uint32_t>(captured), static_cast<std::uint32_t>(bytes.size())})
            append_le32(file, word);
        time += sample.step;
        file.insert(file.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(captured));
    }
    return file;
}

}  // namespace qps::tests
