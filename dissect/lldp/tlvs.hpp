// Field tables of LLDP: the TLVs of IEEE 802.1AB and those of 802.1Q for VLANs, and the congestion notification message
// of 802.1Qau. Names are Wireshark's where it has them.
#pragma once

#include <dissect/base/field.hpp>

#include <array>
#include <optional>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind lldp_chassis = kind_in(LayerFamily::lldp, 0);
inline constexpr LayerKind lldp_chassis_mac = kind_in(LayerFamily::lldp, 1);
inline constexpr LayerKind lldp_chassis_address = kind_in(LayerFamily::lldp, 2);
inline constexpr LayerKind lldp_port = kind_in(LayerFamily::lldp, 3);
inline constexpr LayerKind lldp_port_mac = kind_in(LayerFamily::lldp, 4);
inline constexpr LayerKind lldp_port_address = kind_in(LayerFamily::lldp, 5);
inline constexpr LayerKind lldp_time_to_live = kind_in(LayerFamily::lldp, 6);
inline constexpr LayerKind lldp_port_description = kind_in(LayerFamily::lldp, 7);
inline constexpr LayerKind lldp_system_name = kind_in(LayerFamily::lldp, 8);
inline constexpr LayerKind lldp_system_description = kind_in(LayerFamily::lldp, 9);
inline constexpr LayerKind lldp_capabilities = kind_in(LayerFamily::lldp, 10);
inline constexpr LayerKind lldp_management_address = kind_in(LayerFamily::lldp, 11);
inline constexpr LayerKind lldp_end = kind_in(LayerFamily::lldp, 12);
inline constexpr LayerKind lldp_other = kind_in(LayerFamily::lldp, 13);
inline constexpr LayerKind lldp_organization = kind_in(LayerFamily::lldp, 14);
inline constexpr LayerKind lldp_port_vlan = kind_in(LayerFamily::lldp, 15);
inline constexpr LayerKind lldp_protocol_vlan = kind_in(LayerFamily::lldp, 16);
inline constexpr LayerKind lldp_vlan_name = kind_in(LayerFamily::lldp, 17);
inline constexpr LayerKind lldp_aggregation = kind_in(LayerFamily::lldp, 18);
inline constexpr LayerKind lldp_congestion = kind_in(LayerFamily::lldp, 19);
inline constexpr LayerKind lldp_max_frame = kind_in(LayerFamily::lldp, 24);
inline constexpr LayerKind cnm = kind_in(LayerFamily::lldp, 31);
}  // namespace kind

namespace lldp_computed {
// Of a management address: what stands behind the address, which has any length.
std::optional<Value> management_address(const Packet&, const Layer&);
std::optional<Value> interface_subtype(const Packet&, const Layer&);
std::optional<Value> interface_number(const Packet&, const Layer&);
std::optional<Value> object_length(const Packet&, const Layer&);
// Of a congestion notification message: how long the queue is beyond what it should be, and how it grows; signed.
std::optional<Value> queue_offset(const Packet&, const Layer&);
std::optional<Value> queue_delta(const Packet&, const Layer&);
}  // namespace lldp_computed

inline constexpr std::array kLldpTypes{
    ValueName{0, "End of LLDPDU"},
    ValueName{1, "Chassis ID"},
    ValueName{2, "Port ID"},
    ValueName{3, "Time to live"},
    ValueName{4, "Port description"},
    ValueName{5, "System name"},
    ValueName{6, "System description"},
    ValueName{7, "System capabilities"},
    ValueName{8, "Management address"},
    ValueName{127, "Organization specific"},
};
inline constexpr std::array kLldpStart{
    row::decimal("lldp.tlv.type", "Type", at(0), 7).named(kLldpTypes),
    row::decimal("lldp.tlv.len", "Length", at(0, 7), 9).in("bytes"),
};

inline constexpr std::array kLldpChassisSubtypes{
    ValueName{1, "Chassis component"}, ValueName{2, "Interface alias"}, ValueName{3, "Port component"},
    ValueName{4, "MAC address"},       ValueName{5, "Network address"}, ValueName{6, "Interface name"},
    ValueName{7, "Locally assigned"},
};
inline constexpr std::array kLldpPortSubtypes{
    ValueName{1, "Interface alias"},  ValueName{2, "Port component"}, ValueName{3, "MAC address"},
    ValueName{4, "Network address"},  ValueName{5, "Interface name"}, ValueName{6, "Agent circuit ID"},
    ValueName{7, "Locally assigned"},
};
inline constexpr std::array kLldpAddressFamilies{ValueName{1, "IPv4"}, ValueName{2, "IPv6"}};
inline constexpr std::array kLldpChassisSubtype{
    row::decimal("lldp.chassis.subtype", "Kind of chassis ID", at(2), 8).named(kLldpChassisSubtypes)};
inline constexpr std::array kLldpPortSubtype{
    row::decimal("lldp.port.subtype", "Kind of port ID", at(2), 8).named(kLldpPortSubtypes)};

inline constexpr auto kLldpChassisFields = joined(
    kLldpStart, kLldpChassisSubtype, std::array{row::text("rdma.lldp.chassis.name", "Chassis ID", at(3), kToEnd)});
static_assert(tiles(kLldpChassisFields, 3));
inline constexpr auto kLldpChassisMacFields =
    joined(kLldpStart, kLldpChassisSubtype, std::array{row::mac("lldp.chassis.id.mac", "Chassis ID", at(3))});
static_assert(tiles(kLldpChassisMacFields, 9));
inline constexpr auto kLldpChassisAddressFields = joined(
    kLldpStart, kLldpChassisSubtype,
    std::array{
        row::decimal("lldp.network_address.subtype", "Family of the address", at(3), 8).named(kLldpAddressFamilies),
        row::bytes("rdma.lldp.chassis.address", "Address", at(4), kToEnd),
        row::ipv4("lldp.chassis.id.ip4", "Chassis ID", at(4)).part().only_if(at(3), 8, 1),
        row::ipv6("lldp.chassis.id.ip6", "Chassis ID", at(4)).part().only_if(at(3), 8, 2)});
static_assert(tiles(kLldpChassisAddressFields, 4));
inline constexpr auto kLldpPortFields =
    joined(kLldpStart, kLldpPortSubtype, std::array{row::text("lldp.port.id", "Port ID", at(3), kToEnd)});
static_assert(tiles(kLldpPortFields, 3));
inline constexpr auto kLldpPortMacFields =
    joined(kLldpStart, kLldpPortSubtype, std::array{row::mac("lldp.port.id.mac", "Port ID", at(3))});
static_assert(tiles(kLldpPortMacFields, 9));
inline constexpr auto kLldpPortAddressFields = joined(
    kLldpStart, kLldpPortSubtype,
    std::array{
        row::decimal("lldp.network_address.subtype", "Family of the address", at(3), 8).named(kLldpAddressFamilies),
        row::bytes("rdma.lldp.port.address", "Address", at(4), kToEnd),
        row::ipv4("lldp.port.id.ip4", "Port ID", at(4)).part().only_if(at(3), 8, 1),
        row::ipv6("lldp.port.id.ip6", "Port ID", at(4)).part().only_if(at(3), 8, 2)});
static_assert(tiles(kLldpPortAddressFields, 4));

inline constexpr auto kLldpTimeToLiveFields = joined(
    kLldpStart,
    std::array{row::decimal("lldp.time_to_live", "Time to live, 0: forget what was announced", at(2), 16).in("s")});
static_assert(tiles(kLldpTimeToLiveFields, 4));
inline constexpr auto kLldpPortDescriptionFields =
    joined(kLldpStart, std::array{row::text("lldp.port.desc", "Port description", at(2), kToEnd)});
inline constexpr auto kLldpSystemNameFields =
    joined(kLldpStart, std::array{row::text("lldp.tlv.system.name", "System name", at(2), kToEnd)});
inline constexpr auto kLldpSystemDescriptionFields =
    joined(kLldpStart, std::array{row::text("lldp.tlv.system.desc", "System description", at(2), kToEnd)});

inline constexpr auto kLldpCapabilitiesFields = joined(
    kLldpStart, std::array{
                    row::hex("lldp.tlv.system_cap", "Capabilities", at(2), 16),
                    row::flag("lldp.tlv.system_cap.station_only", "Station only", at(3, 0)).part(),
                    row::flag("lldp.tlv.system_cap.docsis_cable_device", "DOCSIS cable device", at(3, 1)).part(),
                    row::flag("lldp.tlv.system_cap.telephone", "Telephone", at(3, 2)).part(),
                    row::flag("lldp.tlv.system_cap.router", "Router", at(3, 3)).part(),
                    row::flag("lldp.tlv.system_cap.wlan_access_pt", "WLAN access point", at(3, 4)).part(),
                    row::flag("lldp.tlv.system_cap.bridge", "Bridge", at(3, 5)).part(),
                    row::flag("lldp.tlv.system_cap.repeater", "Repeater", at(3, 6)).part(),
                    row::flag("lldp.tlv.system_cap.other", "Other", at(3, 7)).part(),
                    row::hex("lldp.tlv.enable_system_cap", "Enabled capabilities", at(4), 16),
                    row::flag("lldp.tlv.enable_system_cap.station_only", "Station only", at(5, 0)).part(),
                    row::flag("lldp.tlv.enable_system_cap.docsis_cable_device", "DOCSIS cable device", at(5, 1)).part(),
                    row::flag("lldp.tlv.enable_system_cap.telephone", "Telephone", at(5, 2)).part(),
                    row::flag("lldp.tlv.enable_system_cap.router", "Router", at(5, 3)).part(),
                    row::flag("lldp.tlv.enable_system_cap.wlan_access_pt", "WLAN access point", at(5, 4)).part(),
                    row::flag("lldp.tlv.enable_system_cap.bridge", "Bridge", at(5, 5)).part(),
                    row::flag("lldp.tlv.enable_system_cap.repeater", "Repeater", at(5, 6)).part(),
                    row::flag("lldp.tlv.enable_system_cap.other", "Other", at(5, 7)).part(),
                });
static_assert(tiles(kLldpCapabilitiesFields, 6));

inline constexpr std::array kLldpInterfaceSubtypes{ValueName{1, "Unknown"}, ValueName{2, "Interface index"},
                                                   ValueName{3, "System port number"}};
inline constexpr auto kLldpManagementAddressFields = joined(
    kLldpStart,
    std::array{
        row::decimal("lldp.mgn.address.len", "Length of the address with its family", at(2), 8).in("bytes"),
        row::decimal("lldp.mgn.address.subtype", "Family of the address", at(3), 8).named(kLldpAddressFamilies),
        row::bytes("rdma.lldp.mgn.rest", "Address, interface and object", at(4), kToEnd),
        row::ipv4("lldp.mgn.addr.ip4", "Management address", at(4)).part().only_if(at(2), 16, 0x0501),
        row::ipv6("lldp.mgn.addr.ip6", "Management address", at(4)).part().only_if(at(2), 16, 0x1102),
        row::computed("lldp.mgn.addr.hex", "Management address", Format::bytes, lldp_computed::management_address),
        row::computed("lldp.mgn.interface.subtype", "Kind of interface number", Format::decimal,
                      lldp_computed::interface_subtype)
            .named(kLldpInterfaceSubtypes),
        row::computed("lldp.mgn.interface.number", "Interface number", Format::decimal,
                      lldp_computed::interface_number),
        row::computed("lldp.mgn.obj.len", "Length of the object identifier", Format::decimal,
                      lldp_computed::object_length)
            .in("bytes"),
    });
static_assert(tiles(kLldpManagementAddressFields, 4));

inline constexpr std::array kLldpEndFields{kLldpStart[0], kLldpStart[1]};
static_assert(tiles(kLldpEndFields, 2));
inline constexpr auto kLldpOtherFields =
    joined(kLldpStart, std::array{row::bytes("rdma.lldp.value", "Value", at(2), kToEnd)});
static_assert(tiles(kLldpOtherFields, 2));

// TLVs of organizations.
inline constexpr std::uint32_t kOuiBridging = 0x0080c2;  // IEEE 802.1
inline constexpr std::uint32_t kOuiEthernet = 0x00120f;  // IEEE 802.3
inline constexpr std::uint32_t kOuiCee = 0x001b21;       // DCBX before 802.1Qaz
inline constexpr std::array kLldpOrganizations{
    ValueName{kOuiBridging, "IEEE 802.1"},
    ValueName{kOuiEthernet, "IEEE 802.3"},
    ValueName{kOuiCee, "CEE DCBX"},
    ValueName{0x0012bb, "TIA"},
};
inline constexpr auto kLldpOrganizationStart =
    joined(kLldpStart, std::array{row::hex("lldp.orgtlv.oui", "Organization", at(2), 24).named(kLldpOrganizations)});
inline constexpr std::array kBridgingSubtypes{
    ValueName{1, "Port VLAN ID"},       ValueName{2, "Port and protocol VLAN ID"},
    ValueName{3, "VLAN name"},          ValueName{4, "Protocol identity"},
    ValueName{5, "VID usage digest"},   ValueName{6, "Management VID"},
    ValueName{7, "Link aggregation"},   ValueName{8, "Congestion notification"},
    ValueName{9, "ETS configuration"},  ValueName{10, "ETS recommendation"},
    ValueName{11, "PFC configuration"}, ValueName{12, "Application priority"},
};
inline constexpr auto kLldpOrganizationFields = joined(
    kLldpOrganizationStart,
    std::array{row::decimal("rdma.lldp.organization.subtype", "Subtype", at(5), 8),
               row::decimal("lldp.ieee.802_1.subtype", "Subtype", at(5), 8)
                   .named(kBridgingSubtypes)
                   .part()
                   .only_if(at(2), 24, kOuiBridging),
               row::decimal("lldp.ieee.802_3.subtype", "Subtype", at(5), 8).part().only_if(at(2), 24, kOuiEthernet),
               row::bytes("rdma.lldp.organization.value", "Value", at(6), kToEnd)});
static_assert(tiles(kLldpOrganizationFields, 6));

inline constexpr auto kBridgingStart =
    joined(kLldpOrganizationStart,
           std::array{row::decimal("lldp.ieee.802_1.subtype", "Subtype", at(5), 8).named(kBridgingSubtypes)});

inline constexpr auto kLldpPortVlanFields =
    joined(kBridgingStart, std::array{row::decimal("lldp.ieee.802_1.port_vlan.id",
                                                   "Port VLAN ID, 0: untagged packets are not taken", at(6), 16)});
static_assert(tiles(kLldpPortVlanFields, 8));
inline constexpr auto kLldpProtocolVlanFields = joined(
    kBridgingStart, std::array{
                        row::hex("lldp.ieee.802_1.port_and_vlan_id_flag", "Flags", at(6), 8),
                        row::flag("lldp.ieee.802_1.port_and_vlan_id_flag.enabled", "Enabled", at(6, 5)).part(),
                        row::flag("lldp.ieee.802_1.port_and_vlan_id_flag.supported", "Supported", at(6, 6)).part(),
                        row::decimal("lldp.ieee.802_1.port_proto_vlan.id", "Port and protocol VLAN ID", at(7), 16),
                    });
static_assert(tiles(kLldpProtocolVlanFields, 9));
inline constexpr auto kLldpVlanNameFields = joined(
    kBridgingStart, std::array{
                        row::decimal("lldp.ieee.802_1.vlan.id", "VLAN ID", at(6), 16),
                        row::decimal("lldp.ieee.802_1.vlan.name_len", "Length of the name", at(8), 8).in("bytes"),
                        row::text("lldp.ieee.802_1.vlan.name", "VLAN name", at(9), kToEnd),
                    });
static_assert(tiles(kLldpVlanNameFields, 9));
inline constexpr auto kLldpAggregationFields = joined(
    kBridgingStart, std::array{
                        row::hex("lldp.ieee.802_1.aggregation_status", "Status", at(6), 8),
                        row::flag("lldp.ieee.802_1.aggregation_status.enabled", "Aggregated", at(6, 6)).part(),
                        row::flag("lldp.ieee.802_1.aggregation_status.cap", "Can be aggregated", at(6, 7)).part(),
                        row::decimal("lldp.ieee.802_1.aggregated_port_id", "Aggregated port ID", at(7), 32),
                    });
static_assert(tiles(kLldpAggregationFields, 11));
inline constexpr auto kLldpMaxFrameFields =
    joined(kLldpOrganizationStart,
           std::array{
               row::decimal("lldp.ieee.802_3.subtype", "Subtype", at(5), 8),
               row::decimal("lldp.ieee.802_3.max_frame_size", "Maximum frame size", at(6), 16).in("bytes"),
           });
static_assert(tiles(kLldpMaxFrameFields, 8));

// Priorities as bits: that of priority 7 is the most significant.
[[nodiscard]] consteval std::array<Field, 8> priority_bits(const std::array<std::string_view, 8>& names,
                                                           std::string_view meaning, unsigned byte) {
    std::array<Field, 8> rows{};
    for (unsigned i = 0; i < 8; ++i) rows[i] = row::flag(names[7 - i], meaning, at(byte, i)).part();
    return rows;
}

inline constexpr std::array<std::string_view, 8> kCnpvNames{
    "lldp.ieee.802_1qau.cnpv.prio0", "lldp.ieee.802_1qau.cnpv.prio1", "lldp.ieee.802_1qau.cnpv.prio2",
    "lldp.ieee.802_1qau.cnpv.prio3", "lldp.ieee.802_1qau.cnpv.prio4", "lldp.ieee.802_1qau.cnpv.prio5",
    "lldp.ieee.802_1qau.cnpv.prio6", "lldp.ieee.802_1qau.cnpv.prio7"};
inline constexpr std::array<std::string_view, 8> kCnpvReadyNames{
    "lldp.ieee.802_1qau.ready.prio0", "lldp.ieee.802_1qau.ready.prio1", "lldp.ieee.802_1qau.ready.prio2",
    "lldp.ieee.802_1qau.ready.prio3", "lldp.ieee.802_1qau.ready.prio4", "lldp.ieee.802_1qau.ready.prio5",
    "lldp.ieee.802_1qau.ready.prio6", "lldp.ieee.802_1qau.ready.prio7"};
inline constexpr auto kLldpCongestionFields =
    joined(kBridgingStart, std::array{row::hex("rdma.lldp.cnpv", "Congestion notification priorities", at(6), 8)},
           priority_bits(kCnpvNames, "Congestion notification priority", 6),
           std::array{row::hex("rdma.lldp.cnpv.ready", "Priorities that are ready", at(7), 8)},
           priority_bits(kCnpvReadyNames, "Ready for congestion notification", 7));
static_assert(tiles(kLldpCongestionFields, 8));

// 802.1Qau: from the switch whose queue grows to the station that sent the frame.
inline constexpr std::array kCnmFields{
    row::decimal("rdma.cnm.version", "Version", at(0), 4),
    row::hex("rdma.cnm.reserved", "Reserved", at(0, 4), 6),
    row::decimal("rdma.cnm.quantized_feedback", "Quantized feedback: how much slower to send", at(1, 2), 6),
    row::hex("rdma.cnm.cpid", "Congestion point", at(2), 64),
    row::hex("rdma.cnm.offset", "Queue offset, signed, in 64 bytes", at(10), 16),
    row::computed("rdma.cnm.queue_offset",
                  "Queue offset: how far the queue is below its set point, negative where above", Format::decimal,
                  lldp_computed::queue_offset)
        .with_digits(4)
        .in("KiB"),
    row::hex("rdma.cnm.delta", "Queue delta, signed, in 64 bytes", at(12), 16),
    row::computed("rdma.cnm.queue_delta", "Queue delta: growth since the sample before", Format::decimal,
                  lldp_computed::queue_delta)
        .with_digits(4)
        .in("KiB"),
    row::decimal("rdma.cnm.priority", "Priority of the frame that is complained of", at(14), 3),
    row::reserved(at(14, 3), 13),
    row::mac("rdma.cnm.destination", "Destination of the frame that is complained of", at(16)),
    row::decimal("rdma.cnm.msdu_length", "Length of what is quoted", at(22), 16).in("bytes"),
    row::bytes("rdma.cnm.msdu", "Beginning of the frame that is complained of", at(24), kToEnd),
};
static_assert(tiles(kCnmFields, 24));

inline constexpr std::array kLldpHeaders{
    Header{kind::lldp_chassis, "lldp", "LLDP: Chassis ID", 3, kLldpChassisFields},
    Header{kind::lldp_chassis_mac, "lldp", "LLDP: Chassis ID, MAC Address", 9, kLldpChassisMacFields},
    Header{kind::lldp_chassis_address, "lldp", "LLDP: Chassis ID, Network Address", 4, kLldpChassisAddressFields},
    Header{kind::lldp_port, "lldp", "LLDP: Port ID", 3, kLldpPortFields},
    Header{kind::lldp_port_mac, "lldp", "LLDP: Port ID, MAC Address", 9, kLldpPortMacFields},
    Header{kind::lldp_port_address, "lldp", "LLDP: Port ID, Network Address", 4, kLldpPortAddressFields},
    Header{kind::lldp_time_to_live, "lldp", "LLDP: Time to Live", 4, kLldpTimeToLiveFields},
    Header{kind::lldp_port_description, "lldp", "LLDP: Port Description", 2, kLldpPortDescriptionFields},
    Header{kind::lldp_system_name, "lldp", "LLDP: System Name", 2, kLldpSystemNameFields},
    Header{kind::lldp_system_description, "lldp", "LLDP: System Description", 2, kLldpSystemDescriptionFields},
    Header{kind::lldp_capabilities, "lldp", "LLDP: System Capabilities", 6, kLldpCapabilitiesFields},
    Header{kind::lldp_management_address, "lldp", "LLDP: Management Address", 4, kLldpManagementAddressFields},
    Header{kind::lldp_end, "lldp", "LLDP: End", 2, kLldpEndFields},
    Header{kind::lldp_other, "lldp", "LLDP: another TLV", 2, kLldpOtherFields},
    Header{kind::lldp_organization, "lldp", "LLDP: of an Organization", 6, kLldpOrganizationFields},
    Header{kind::lldp_port_vlan, "lldp", "LLDP: Port VLAN ID", 8, kLldpPortVlanFields},
    Header{kind::lldp_protocol_vlan, "lldp", "LLDP: Port and Protocol VLAN ID", 9, kLldpProtocolVlanFields},
    Header{kind::lldp_vlan_name, "lldp", "LLDP: VLAN Name", 9, kLldpVlanNameFields},
    Header{kind::lldp_aggregation, "lldp", "LLDP: Link Aggregation", 11, kLldpAggregationFields},
    Header{kind::lldp_congestion, "lldp", "LLDP: Congestion Notification", 8, kLldpCongestionFields},
    Header{kind::lldp_max_frame, "lldp", "LLDP: Maximum Frame Size", 8, kLldpMaxFrameFields},
    Header{kind::cnm, "cnm", "Congestion Notification Message", 24, kCnmFields},
};

}  // namespace qps::dissect
