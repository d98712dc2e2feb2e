#include <tests/samples/bridging.hpp>
#include <tests/support/lldp.hpp>

#include <array>

namespace qps::tests {

using namespace dissect;

namespace {

constexpr std::uint64_t kNic = 0x020000000001, kSwitch = 0x0200000000f1;
constexpr std::uint64_t kLossless = 0x08;  // priority 3

std::vector<std::byte> octets(std::initializer_list<unsigned> values) {
    std::vector<std::byte> bytes;
    for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

HeaderSpec ets() {
    return bridging_tlv(9, kind::dcbx_ets,
                        {{"lldp.dcbx.ieee.willing", 1},
                         {"lldp.dcbx.ieee.ets.maxtcs", 3},
                         {"lldp.dcbx.feature.pg.pgid_prio3", 1},
                         {"lldp.dcbx.feature.pg.pgid_prio6", 2},
                         {"lldp.dcbx.feature.pg.per0", 50},
                         {"lldp.dcbx.feature.pg.per1", 50},
                         {"lldp.dcbx.ieee.ets.tsa0", 2},
                         {"lldp.dcbx.ieee.ets.tsa1", 2}});
}

// Another number in every place.
HeaderSpec ets_recommended() {
    constexpr std::array<std::uint64_t, 8> kBandwidth{5, 7, 11, 13, 15, 16, 14, 19};
    constexpr std::array<std::uint64_t, 8> kSelection{2, 2, 2, 2, 0, 0, 1, 255};
    TlvFields fields;
    for (std::size_t i = 0; i < 8; ++i) {
        fields.emplace_back(kGroupOfPriorityNames[i], 7 - i);
        fields.emplace_back(kBandwidthNames[i], kBandwidth[i]);
        fields.emplace_back(kSelectionNames[i], kSelection[i]);
    }
    return bridging_tlv(10, kind::dcbx_ets_recommended, fields);
}

// RoCEv2's port to priority 3, DSCP 48 to 6.
HeaderSpec applications() {
    return bridging_tlv(12, kind::dcbx_applications, {}, octets({0x63, 0x12, 0xb7, 0xc5, 0x00, 0x30}));
}

PacketSpec from_nic() {
    std::vector<HeaderSpec> tlvs = lldp_station(kNic, "enp1s0f0");
    tlvs.push_back(tlv(5, kind::lldp_system_name, {}, octets_of_text("node-1")));
    tlvs.push_back(ets());
    tlvs.push_back(pfc_tlv(kLossless, true));
    tlvs.push_back(applications());
    return lldp_frame(kNic, tlvs);
}

PacketSpec from_switch() {
    std::vector<HeaderSpec> tlvs = lldp_station(kSwitch, "Ethernet12");
    tlvs.push_back(tlv(4, kind::lldp_port_description, {}, octets_of_text("to node-1")));
    tlvs.push_back(tlv(5, kind::lldp_system_name, {}, octets_of_text("leaf-1")));
    tlvs.push_back(tlv(6, kind::lldp_system_description, {}, octets_of_text("a switch made to order")));
    tlvs.push_back(
        tlv(7, kind::lldp_capabilities, {{"lldp.tlv.system_cap", 0x14}, {"lldp.tlv.enable_system_cap", 0x14}}));
    // An IPv4 address, interface index 12, no object.
    tlvs.push_back(tlv(8, kind::lldp_management_address, {{"lldp.mgn.address.len", 5}, {"lldp.mgn.address.subtype", 1}},
                       octets({192, 0, 2, 254, 2, 0, 0, 0, 12, 0})));
    tlvs.push_back(bridging_tlv(1, kind::lldp_port_vlan, {{"lldp.ieee.802_1.port_vlan.id", 100}}));
    tlvs.push_back(
        bridging_tlv(2, kind::lldp_protocol_vlan,
                     {{"lldp.ieee.802_1.port_and_vlan_id_flag", 0x06}, {"lldp.ieee.802_1.port_proto_vlan.id", 100}}));
    tlvs.push_back(bridging_tlv(3, kind::lldp_vlan_name,
                                {{"lldp.ieee.802_1.vlan.id", 100}, {"lldp.ieee.802_1.vlan.name_len", 7}},
                                octets_of_text("storage")));
    tlvs.push_back(bridging_tlv(7, kind::lldp_aggregation, {{"lldp.ieee.802_1.aggregation_status", 1}}));
    tlvs.push_back(
        bridging_tlv(8, kind::lldp_congestion, {{"rdma.lldp.cnpv", kLossless}, {"rdma.lldp.cnpv.ready", kLossless}}));
    tlvs.push_back(tlv(
        127, kind::lldp_max_frame,
        {{"lldp.orgtlv.oui", kOuiEthernet}, {"lldp.ieee.802_3.subtype", 4}, {"lldp.ieee.802_3.max_frame_size", 9216}}));
    tlvs.push_back(ets());
    tlvs.push_back(ets_recommended());
    tlvs.push_back(pfc_tlv(kLossless, false));
    tlvs.push_back(applications());
    return lldp_frame(kSwitch, tlvs);
}

// The same in the words of CEE.
PacketSpec from_older_switch() {
    std::vector<HeaderSpec> tlvs = lldp_station(kSwitch + 1, "Ethernet1/12");
    const std::vector<HeaderSpec> features =
        cee({cee_tlv(1, kind::cee_control, {{"lldp.dcbx.control.seq", 7}, {"lldp.dcbx.control.ack", 6}}),
             cee_tlv(2, kind::cee_groups,
                     {{"lldp.dcbx.feature.enabled", 1},
                      {"lldp.dcbx.feature.pg.pgid_prio3", 1},
                      {"lldp.dcbx.feature.pg.per0", 50},
                      {"lldp.dcbx.feature.pg.per1", 50},
                      {"lldp.dcbx.feature.pg.numtcs", 8}}),
             cee_tlv(3, kind::cee_pfc,
                     {{"lldp.dcbx.feature.enabled", 1},
                      {"lldp.dcbx.feature.willing", 1},
                      {"rdma.lldp.pfc.enabled", kLossless},
                      {"lldp.dcbx.feature.pfc.numtcs", 8}}),
             cee_tlv(4, kind::cee_applications, {{"lldp.dcbx.feature.enabled", 1}},
                     octets({0x89, 0x15, 0x00, 0x1b, 0x21, 0x08}))});
    tlvs.insert(tlvs.end(), features.begin(), features.end());
    return lldp_frame(kSwitch + 1, tlvs);
}

// Stations that name themselves otherwise, and TLVs that are kept as bytes.
PacketSpec from_address() {
    const std::vector<HeaderSpec> tlvs{
        tlv(1, kind::lldp_chassis_address, {{"lldp.chassis.subtype", 5}, {"lldp.network_address.subtype", 1}},
            octets({192, 0, 2, 7})),
        tlv(2, kind::lldp_port_mac, {{"lldp.port.subtype", 3}, {"lldp.port.id.mac", kNic + 6}}),
        tlv(3, kind::lldp_time_to_live, {{"lldp.time_to_live", 3601}}),
        tlv(8, kind::lldp_management_address, {{"lldp.mgn.address.len", 17}, {"lldp.mgn.address.subtype", 2}},
            octets({0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 3, 0, 0, 1, 2, 0})),
        tlv(127, kind::lldp_organization, {{"lldp.orgtlv.oui", kOuiEthernet}, {"rdma.lldp.organization.subtype", 1}},
            octets({3, 0x6c, 0x01, 0, 0x1e})),
    };
    return lldp_frame(kNic + 6, tlvs);
}
PacketSpec from_name() {
    const std::vector<HeaderSpec> tlvs{
        tlv(1, kind::lldp_chassis, {{"lldp.chassis.subtype", 7}}, octets_of_text("rack 3")),
        tlv(2, kind::lldp_port_address, {{"lldp.port.subtype", 4}, {"lldp.network_address.subtype", 2}},
            octets({0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8})),
        tlv(3, kind::lldp_time_to_live, {{"lldp.time_to_live", 20}}),
    };
    PacketSpec spec = lldp_frame(kNic + 7, tlvs);
    spec.trailer.resize(8);
    return spec;
}

PacketSpec congestion_message() {
    PacketSpec spec;
    HeaderSpec message{kind::cnm};
    message.tail = octets({0xc0, 0xff, 0xee, 0, 1, 2, 3, 4});
    spec.headers = {{LayerKind::ethernet}, {LayerKind::vlan}, message};
    set(spec, "eth.dst", kNic);
    set(spec, "eth.src", kSwitch);
    set(spec, "vlan.priority", 6);
    set(spec, "rdma.cnm.quantized_feedback", 17);
    set(spec, "rdma.cnm.cpid", kSwitch << 16U | 12U);
    set(spec, "rdma.cnm.offset", 0xffd8);
    set(spec, "rdma.cnm.delta", 12);
    set(spec, "rdma.cnm.priority", 3);
    set(spec, "rdma.cnm.destination", 0x020000000002);
    set(spec, "rdma.cnm.msdu_length", message.tail.size());
    return spec;
}

constexpr std::uint64_t kSecondOfPause = 1'000'000'000;

// Of a link: a switch with one lossless priority, and a NIC that has another plan and takes nothing.
SamplePacket announced(bool is_switch, std::uint64_t pause) {
    std::vector<HeaderSpec> tlvs = lldp_station(is_switch ? kSwitch : kNic, is_switch ? "Ethernet12" : "enp1s0f0");
    tlvs.push_back(tlv(5, kind::lldp_system_name, {}, octets_of_text(is_switch ? "leaf-1" : "node-1")));
    if (is_switch)
        tlvs.push_back(
            tlv(7, kind::lldp_capabilities, {{"lldp.tlv.system_cap", 0x14}, {"lldp.tlv.enable_system_cap", 0x14}}));
    const std::uint64_t percent = is_switch ? 50 : 80;
    tlvs.push_back(bridging_tlv(9, kind::dcbx_ets,
                                {{"lldp.dcbx.feature.pg.pgid_prio3", 1},
                                 {"lldp.dcbx.feature.pg.per0", 100 - percent},
                                 {"lldp.dcbx.feature.pg.per1", percent},
                                 {"lldp.dcbx.ieee.ets.tsa0", 2},
                                 {"lldp.dcbx.ieee.ets.tsa1", 2}}));
    tlvs.push_back(pfc_tlv(is_switch ? kLossless : kLossless | 0x10, false));
    tlvs.push_back(bridging_tlv(12, kind::dcbx_applications, {}, octets({is_switch ? 0x63U : 0x83U, 0x12, 0xb7})));
    return {.spec = lldp_frame(is_switch ? kSwitch : kNic, tlvs), .pause = pause};
}

// A SEND of the NIC's host, or its acknowledgment, with priority 4.
SamplePacket of_priority_4(std::uint64_t number, bool acknowledges) {
    constexpr std::uint64_t kHost = 0xc0000201, kPeer = 0xc0000202;
    PacketSpec spec =
        transport_packet(Opcode{static_cast<std::uint8_t>(acknowledges ? 0x11 : 0x04)}, Network::roce_v2_ipv4);
    spec.headers.insert(spec.headers.begin() + 1, {LayerKind::vlan});
    set(spec, "eth.src", acknowledges ? kSwitch : kNic);
    set(spec, "eth.dst", acknowledges ? kNic : kSwitch);
    set(spec, "vlan.id", 100);
    set(spec, "vlan.priority", 4);
    set(spec, "ip.src", acknowledges ? kPeer : kHost);
    set(spec, "ip.dst", acknowledges ? kHost : kPeer);
    set(spec, "infiniband.bth.destqp", acknowledges ? 0x11 : 0x22);
    set(spec, "infiniband.bth.psn", 0x100 + number);
    set(spec, "infiniband.bth.a", acknowledges ? 0 : 1);
    set(spec, "infiniband.aeth.syndrome", 0x1f);
    set(spec, "infiniband.aeth.msn", number + 1);
    if (!acknowledges) spec.payload.resize(256);
    return {.spec = spec};
}

}  // namespace

std::vector<SamplePacket> bridging_differs() {
    constexpr std::uint64_t kRounds = 3, kSends = 4;
    std::vector<SamplePacket> packets;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        packets.push_back(announced(true, round == 0 ? 0 : 28 * kSecondOfPause));
        packets.push_back(announced(false, kSecondOfPause));
        for (std::uint64_t i = 0; i < kSends; ++i)
            for (const bool acknowledges : {false, true})
                packets.push_back(of_priority_4(round * kSends + i, acknowledges));
    }
    return packets;
}

std::vector<SamplePacket> bridging() {
    PacketSpec leaves = lldp_frame(kNic, lldp_station(kNic, "enp1s0f0", 0));
    leaves.trailer.resize(26);
    return {{from_nic()},           {from_switch()}, {from_older_switch()}, {from_address()}, {from_name()},
            {congestion_message()}, {leaves}};
}

}  // namespace qps::tests
