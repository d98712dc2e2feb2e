// THE table of MAD attributes: management class x attribute id -> name, field table and place.
//
// To add a MAD: one field table and one row. Rows whose kind is mad_data only give the attribute its name.
#pragma once

#include <dissect/mad/forwarding.hpp>
#include <dissect/mad/mad.hpp>
#include <dissect/mad/notice.hpp>
#include <dissect/mad/records.hpp>

#include <array>
#include <string_view>

namespace qps::dissect {

// Which rows a management class looks at. Every class but subnet management asks `any` last.
enum class MadGroup : std::uint8_t {
    subnet,
    administration,
    performance,
    device,
    communication,
    congestion,
    vendor,
    vendor_rmpp,
    any
};

[[nodiscard]] constexpr MadGroup group_of(ManagementClass management_class) {
    switch (management_class) {
        case ManagementClass::subnet_lid_routed:
        case ManagementClass::subnet_directed: return MadGroup::subnet;
        case ManagementClass::subnet_administration: return MadGroup::administration;
        case ManagementClass::performance: return MadGroup::performance;
        case ManagementClass::device_management: return MadGroup::device;
        case ManagementClass::communication: return MadGroup::communication;
        case ManagementClass::congestion_control: return MadGroup::congestion;
        default: break;
    }
    if (management_class >= ManagementClass::first_vendor && management_class <= ManagementClass::last_vendor)
        return MadGroup::vendor;
    if (management_class >= ManagementClass::first_vendor_rmpp && management_class <= ManagementClass::last_vendor_rmpp)
        return MadGroup::vendor_rmpp;
    return MadGroup::any;
}

struct MadAttribute {
    MadGroup group;
    std::uint16_t id;
    std::string_view name;
    LayerKind data;        // mad_data: named, not decoded
    std::uint16_t offset;  // of the data in the MAD
    bool record = false;   // a table response holds many of them
    // What follows the data at once: a NodeRecord has a NodeInfo and a NodeDescription. mad_data: nothing.
    std::array<LayerKind, 2> inner{LayerKind::mad_data, LayerKind::mad_data};
};

namespace mad_places {
inline constexpr std::uint16_t kCm = 24, kSmp = 64, kSa = 56, kGmp = 64, kVendor = 24, kVendorRmpp = 40;
}

inline constexpr std::array kMadAttributes = [] {
    using enum MadGroup;
    using enum LayerKind;
    using namespace kind;
    using namespace mad_places;
    return std::array{
        // 14.2.5
        MadAttribute{subnet, 0x0002, "Notice", notice, kSmp},
        MadAttribute{subnet, 0x0010, "NodeDescription", node_description, kSmp},
        MadAttribute{subnet, 0x0011, "NodeInfo", node_info, kSmp},
        MadAttribute{subnet, 0x0012, "SwitchInfo", switch_info, kSmp},
        MadAttribute{subnet, 0x0014, "GUIDInfo", guid_info, kSmp},
        MadAttribute{subnet, 0x0015, "PortInfo", port_info, kSmp},
        MadAttribute{subnet, 0x0016, "P_KeyTable", p_key_table, kSmp},
        MadAttribute{subnet, 0x0017, "SLtoVLMappingTable", sl_to_vl_table, kSmp},
        MadAttribute{subnet, 0x0018, "VLArbitrationTable", vl_arbitration_table, kSmp},
        MadAttribute{subnet, 0x0019, "LinearForwardingTable", linear_forwarding_table, kSmp},
        MadAttribute{subnet, 0x001a, "RandomForwardingTable", mad_data, kSmp},
        MadAttribute{subnet, 0x001b, "MulticastForwardingTable", multicast_forwarding_table, kSmp},
        MadAttribute{subnet, 0x001c, "LinkSpeedWidthPairsTable", mad_data, kSmp},
        MadAttribute{subnet, 0x001d, "VendorSpecificMadsTable", mad_data, kSmp},  // unverified
        MadAttribute{subnet, 0x001e, "HierarchyInfo", mad_data, kSmp},            // unverified
        MadAttribute{subnet, 0x0020, "SMInfo", sm_info, kSmp},
        MadAttribute{subnet, 0x0030, "VendorDiag", mad_data, kSmp},
        MadAttribute{subnet, 0x0031, "LedInfo", mad_data, kSmp},
        MadAttribute{subnet, 0x0032, "CableInfo", mad_data, kSmp},         // unverified
        MadAttribute{subnet, 0x0033, "PortInfoExtended", mad_data, kSmp},  // unverified
        // 15.2.5
        MadAttribute{administration, 0x0001, "ClassPortInfo", class_port_info, kSa},
        MadAttribute{administration, 0x0002, "Notice", notice, kSa},
        MadAttribute{administration, 0x0003, "InformInfo", inform_info, kSa},
        MadAttribute{administration, 0x0011, "NodeRecord", lid_record, kSa, true, {node_info, node_description}},
        MadAttribute{administration, 0x0012, "PortInfoRecord", port_info_record, kSa, true, {port_info, mad_data}},
        MadAttribute{administration, 0x0013, "SLtoVLMappingTableRecord", mad_data, kSa, true},
        MadAttribute{administration, 0x0014, "SwitchInfoRecord", lid_record, kSa, true, {switch_info, mad_data}},
        MadAttribute{administration,
                     0x0015,
                     "LinearForwardingTableRecord",
                     linear_forwarding_record,
                     kSa,
                     true,
                     {linear_forwarding_table, mad_data}},
        MadAttribute{administration, 0x0016, "RandomForwardingTableRecord", mad_data, kSa, true},
        MadAttribute{administration,
                     0x0017,
                     "MulticastForwardingTableRecord",
                     multicast_forwarding_record,
                     kSa,
                     true,
                     {multicast_forwarding_table, mad_data}},
        MadAttribute{administration, 0x0018, "SMInfoRecord", lid_record, kSa, true, {sm_info, mad_data}},
        MadAttribute{administration, 0x0019, "LinkSpeedWidthPairsTableRecord", mad_data, kSa, true},
        MadAttribute{administration, 0x0020, "LinkRecord", link_record, kSa, true},
        MadAttribute{administration, 0x0030, "GUIDInfoRecord", guid_info_record, kSa, true, {guid_info, mad_data}},
        MadAttribute{administration, 0x0031, "ServiceRecord", service_record, kSa, true},
        MadAttribute{
            administration, 0x0033, "P_KeyTableRecord", p_key_table_record, kSa, true, {p_key_table, mad_data}},
        MadAttribute{administration, 0x0035, "PathRecord", path_record, kSa, true},
        MadAttribute{administration, 0x0036, "VLArbitrationTableRecord", mad_data, kSa, true},
        MadAttribute{administration, 0x0038, "MCMemberRecord", mc_member_record, kSa, true},
        MadAttribute{administration, 0x0039, "TraceRecord", trace_record, kSa, true},
        MadAttribute{administration, 0x003a, "MultiPathRecord", multi_path_record, kSa, true},
        MadAttribute{administration, 0x003b, "ServiceAssociationRecord", mad_data, kSa, true},
        MadAttribute{
            administration, 0x00f3, "InformInfoRecord", inform_info_record, kSa, true, {inform_info, mad_data}},
        // 16.1.2
        MadAttribute{performance, 0x0010, "PortSamplesControl", mad_data, kGmp},
        MadAttribute{performance, 0x0011, "PortSamplesResult", mad_data, kGmp},
        MadAttribute{performance, 0x0012, "PortCounters", port_counters, kGmp},
        MadAttribute{performance, 0x0015, "PortRcvErrorDetails", mad_data, kGmp},
        MadAttribute{performance, 0x0016, "PortXmitDiscardDetails", mad_data, kGmp},
        MadAttribute{performance, 0x0017, "PortOpRcvCounters", mad_data, kGmp},
        MadAttribute{performance, 0x0018, "PortFlowCtlCounters", mad_data, kGmp},
        MadAttribute{performance, 0x0019, "PortVLOpPackets", mad_data, kGmp},
        MadAttribute{performance, 0x001a, "PortVLOpData", mad_data, kGmp},
        MadAttribute{performance, 0x001b, "PortVLXmitFlowCtlUpdateErrors", mad_data, kGmp},
        MadAttribute{performance, 0x001c, "PortVLXmitWaitCounters", mad_data, kGmp},
        MadAttribute{performance, 0x001d, "PortCountersExtended", port_counters_extended, kGmp},
        MadAttribute{performance, 0x001e, "PortSamplesResultExtended", mad_data, kGmp},
        MadAttribute{performance, 0x001f, "PortExtendedSpeedsCounters", mad_data, kGmp},
        MadAttribute{performance, 0x0030, "SwPortVLCongestion", mad_data, kGmp},
        MadAttribute{performance, 0x0031, "PortRcvConCtrl", mad_data, kGmp},
        MadAttribute{performance, 0x0032, "PortSLRcvFECN", mad_data, kGmp},
        MadAttribute{performance, 0x0033, "PortSLRcvBECN", mad_data, kGmp},
        MadAttribute{performance, 0x0034, "PortXmitConCtrl", mad_data, kGmp},
        MadAttribute{performance, 0x0035, "PortVLXmitTimeCong", mad_data, kGmp},
        MadAttribute{performance, 0x0036, "PortXmitDataSL", mad_data, kGmp},
        MadAttribute{performance, 0x0037, "PortRcvDataSL", mad_data, kGmp},
        // 16.3.3
        MadAttribute{device, 0x0002, "Notice", mad_data, kGmp},
        MadAttribute{device, 0x0010, "IOUnitInfo", mad_data, kGmp},
        MadAttribute{device, 0x0011, "IOControllerProfile", mad_data, kGmp},
        MadAttribute{device, 0x0012, "ServiceEntries", mad_data, kGmp},
        MadAttribute{device, 0x0020, "DiagnosticTimeout", mad_data, kGmp},
        MadAttribute{device, 0x0021, "PrepareToTest", mad_data, kGmp},
        MadAttribute{device, 0x0022, "TestDeviceOnce", mad_data, kGmp},
        MadAttribute{device, 0x0023, "TestDeviceLoop", mad_data, kGmp},
        MadAttribute{device, 0x0024, "DiagCode", mad_data, kGmp},
        // 12.6, 12.8, 12.11, by the names of the messages
        MadAttribute{communication, 0x0001, "ClassPortInfo", class_port_info, kCm},
        MadAttribute{communication, 0x0010, "REQ", cm_req, kCm},
        MadAttribute{communication, 0x0011, "MRA", cm_mra, kCm},
        MadAttribute{communication, 0x0012, "REJ", cm_rej, kCm},
        MadAttribute{communication, 0x0013, "REP", cm_rep, kCm},
        MadAttribute{communication, 0x0014, "RTU", cm_rtu, kCm},
        MadAttribute{communication, 0x0015, "DREQ", cm_dreq, kCm},
        MadAttribute{communication, 0x0016, "DREP", cm_drep, kCm},
        MadAttribute{communication, 0x0017, "SIDR_REQ", cm_sidr_req, kCm},
        MadAttribute{communication, 0x0018, "SIDR_REP", cm_sidr_rep, kCm},
        MadAttribute{communication, 0x0019, "LAP", cm_lap, kCm},
        MadAttribute{communication, 0x001a, "APR", cm_apr, kCm},
        MadAttribute{communication, 0x001b, "SAP", mad_data, kCm},
        MadAttribute{communication, 0x001c, "SPR", mad_data, kCm},
        // A10
        MadAttribute{congestion, 0x0002, "Notice", mad_data, kGmp},
        MadAttribute{congestion, 0x0011, "CongestionInfo", mad_data, kGmp},
        MadAttribute{congestion, 0x0012, "CongestionKeyInfo", mad_data, kGmp},
        MadAttribute{congestion, 0x0013, "CongestionLog", mad_data, kGmp},
        MadAttribute{congestion, 0x0014, "SwitchCongestionSetting", mad_data, kGmp},
        MadAttribute{congestion, 0x0015, "SwitchPortCongestionSetting", mad_data, kGmp},
        MadAttribute{congestion, 0x0016, "CACongestionSetting", mad_data, kGmp},
        MadAttribute{congestion, 0x0017, "CongestionControlTable", mad_data, kGmp},
        MadAttribute{congestion, 0x0018, "TimeStamp", mad_data, kGmp},
        // 16.5: vendor classes, whose data follows the common header or, from class 0x30, RMPP and an OUI
        MadAttribute{vendor, 0x0001, "ClassPortInfo", class_port_info, kVendor},           // unverified place
        MadAttribute{vendor_rmpp, 0x0001, "ClassPortInfo", class_port_info, kVendorRmpp},  // unverified place
        // 13.4.8: every general services class
        MadAttribute{any, 0x0001, "ClassPortInfo", class_port_info, kGmp},
    };
}();

// The row of an attribute; nullptr where the table has none.
[[nodiscard]] constexpr const MadAttribute* find_attribute(ManagementClass management_class, std::uint16_t id) {
    const MadGroup group = group_of(management_class);
    const MadAttribute* general = nullptr;
    for (const MadAttribute& row : kMadAttributes) {
        if (row.id != id) continue;
        if (row.group == group) return &row;
        if (row.group == MadGroup::any && group != MadGroup::subnet) general = &row;
    }
    return general;
}

}  // namespace qps::dissect
