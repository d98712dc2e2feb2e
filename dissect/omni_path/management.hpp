// Field tables of Omni-Path's management datagrams: base version 0x80, 2048 bytes, LIDs of 32 bits; and THE table of
// their attributes.
//
// Attributes that have no table are named. Lengths and numbers of records are the sender's word.
#pragma once

#include <dissect/mad/names.hpp>

#include <array>
#include <optional>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind opa_mad = kind_in(LayerFamily::omni_path, 7);
inline constexpr LayerKind opa_mad_directed = kind_in(LayerFamily::omni_path, 8);
inline constexpr LayerKind opa_smp_lid_routed = kind_in(LayerFamily::omni_path, 9);
inline constexpr LayerKind opa_smp_directed = kind_in(LayerFamily::omni_path, 10);
inline constexpr LayerKind opa_rmpp = kind_in(LayerFamily::omni_path, 11);
inline constexpr LayerKind opa_sa = kind_in(LayerFamily::omni_path, 12);
inline constexpr LayerKind opa_lid_record = kind_in(LayerFamily::omni_path, 13);
inline constexpr LayerKind opa_node_description = kind_in(LayerFamily::omni_path, 14);
inline constexpr LayerKind opa_node_info = kind_in(LayerFamily::omni_path, 15);
inline constexpr LayerKind opa_port_info = kind_in(LayerFamily::omni_path, 16);
inline constexpr LayerKind opa_port_status = kind_in(LayerFamily::omni_path, 17);
}  // namespace kind

inline constexpr std::uint8_t kOpaBaseVersion = 0x80;
inline constexpr std::size_t kOpaMadLength = 2048;
inline constexpr std::size_t kOpaMadHeaderLength = 24;

namespace opa_computed {
std::optional<Value> attribute(const Packet&, const Layer&);  // its name by kOpaAttributes
}  // namespace opa_computed

// Both kinds of the common header: a directed route has its direction in the status and its hops behind it.
inline constexpr std::array kOpaMadFields{
    row::hex("opa.mad.baseversion", "Base version", at(0), 8),
    row::hex("opa.mad.mgmtclass", "Management class", at(1), 8).named(kManagementClasses),
    row::hex("opa.mad.classversion", "Class version", at(2), 8),
    row::hex("opa.mad.method", "Method", at(3), 8).named(kMethods),
    row::hex("opa.mad.status", "Status", at(4), 16),
    row::hex("opa.mad.status.classspecific", "Status of the class", at(4), 8).part(),
    row::hex("opa.mad.status.reserved", "Reserved", at(5), 3).part(),
    row::decimal("opa.mad.status.invalidfield", "Invalid field", at(5, 3), 3).named(kMadStatusCodes).part(),
    row::flag("opa.mad.status.redirectrqrd", "Redirection required", at(5, 6)).part(),
    row::flag("opa.mad.status.busy", "Busy", at(5, 7)).part(),
    row::reserved(at(6), 16),
    row::hex("opa.mad.transactionid", "Transaction ID", at(8), 64),
    row::hex("opa.mad.attributeid", "Attribute ID", at(16), 16),
    row::computed("opa.mad.attribute", "Attribute", Format::text, opa_computed::attribute),
    row::reserved(at(18), 16),
    row::hex("opa.mad.attributemodifier", "Attribute modifier", at(20), 32),
};
static_assert(tiles(kOpaMadFields, kOpaMadHeaderLength));

inline constexpr std::array kOpaMadDirectedFields{
    row::hex("opa.mad.baseversion", "Base version", at(0), 8),
    row::hex("opa.mad.mgmtclass", "Management class", at(1), 8).named(kManagementClasses),
    row::hex("opa.mad.classversion", "Class version", at(2), 8),
    row::hex("opa.mad.method", "Method", at(3), 8).named(kMethods),
    row::decimal("opa.mad.dr.direction", "Direction: set on the way back", at(4), 1),
    row::hex("opa.mad.status", "Status without the direction", at(4, 1), 15),
    row::decimal("opa.mad.dr.hoppointer", "Hop pointer", at(6), 8),
    row::decimal("opa.mad.dr.hopcounter", "Hop count", at(7), 8),
    row::hex("opa.mad.transactionid", "Transaction ID", at(8), 64),
    row::hex("opa.mad.attributeid", "Attribute ID", at(16), 16),
    row::computed("opa.mad.attribute", "Attribute", Format::text, opa_computed::attribute),
    row::reserved(at(18), 16),
    row::hex("opa.mad.attributemodifier", "Attribute modifier", at(20), 32),
};
static_assert(tiles(kOpaMadDirectedFields, kOpaMadHeaderLength));

inline constexpr std::array kOpaSmpLidRoutedFields{
    row::hex("opa.sm.lid.mkey", "M_Key", at(0), 64),
};
static_assert(tiles(kOpaSmpLidRoutedFields, 8));

inline constexpr std::array kOpaSmpDirectedFields{
    row::hex("opa.sm.lid.mkey", "M_Key", at(0), 64),
    row::decimal("opa.sm.dr.slid", "Directed route source LID", at(8), 32),
    row::decimal("opa.sm.dr.dlid", "Directed route destination LID", at(12), 32),
    row::bytes("opa.sm.dr.initialpath", "Initial path", at(16), 512),
    row::bytes("opa.sm.dr.returnpath", "Return path", at(80), 512),
    row::hex("opa.sm.dr.reserved", "Reserved", at(144), 64),
};
static_assert(tiles(kOpaSmpDirectedFields, 152));

inline constexpr std::array kOpaRmppFields{
    row::decimal("opa.rmpp.rmppversion", "RMPP version", at(0), 8),
    row::decimal("opa.rmpp.rmpptype", "RMPP type", at(1), 8).named(kRmppTypes),
    row::exponent("opa.rmpp.rresptime", "Response time", at(2), 5),
    row::flag("opa.rmpp.flags.last", "Last segment", at(2, 5)),
    row::flag("opa.rmpp.flags.first", "First segment", at(2, 6)),
    row::flag("opa.rmpp.flags.active", "RMPP active", at(2, 7)),
    row::decimal("opa.rmpp.rmppstatus", "RMPP status", at(3), 8).named(kRmppStatus),
    row::hex("opa.rmpp.data1", "RMPP data 1", at(4), 32),
    row::decimal("opa.rmpp.segmentnumber", "Segment number", at(4), 32).part().only_if(at(1), 8, 1),
    row::decimal("opa.rmpp.segmentnumber", "Segment number", at(4), 32).part().only_if(at(1), 8, 2),
    row::hex("opa.rmpp.data2", "RMPP data 2", at(8), 32),
    row::decimal("opa.rmpp.payloadlength", "Payload length, class headers included", at(8), 32)
        .part()
        .only_if(at(1), 8, 1)
        .in("bytes"),
    row::decimal("opa.rmpp.newwindowlast", "New window last", at(8), 32).part().only_if(at(1), 8, 2),
};
static_assert(tiles(kOpaRmppFields, 12));

inline constexpr std::array kOpaSaFields{
    row::hex("opa.sa.smkey", "SM_Key", at(0), 64),
    row::decimal("opa.sa.attributeoffset", "Attribute offset, in 8 bytes", at(8), 16),
    row::reserved(at(10), 16),
    row::hex("opa.sa.componentmask", "Component mask", at(12), 64),
};
static_assert(tiles(kOpaSaFields, 20));

inline constexpr std::array kOpaLidRecordFields{
    row::decimal("opa.sa.lid", "LID", at(0), 32),
    row::reserved(at(4), 32),
};
static_assert(tiles(kOpaLidRecordFields, 8));

inline constexpr std::array kOpaNodeDescriptionFields{
    row::text("opa.nodedescription.nodestring", "Node string", at(0), 512),
};
static_assert(tiles(kOpaNodeDescriptionFields, 64));

inline constexpr std::array kOpaNodeInfoFields{
    row::decimal("opa.nodeinfo.baseversion", "Base version", at(0), 8),
    row::decimal("opa.nodeinfo.classversion", "Class version", at(1), 8),
    row::decimal("opa.nodeinfo.nodetype", "Node type", at(2), 8).named(kNodeTypes),
    row::decimal("opa.nodeinfo.numports", "Number of ports", at(3), 8),
    row::reserved(at(4), 32),
    row::guid("opa.nodeinfo.systemimageguid", "System image GUID", at(8)),
    row::guid("opa.nodeinfo.nodeguid", "Node GUID", at(16)),
    row::guid("opa.nodeinfo.portguid", "Port GUID", at(24)),
    row::decimal("opa.nodeinfo.partitioncap", "Entries of the partition table", at(32), 16),
    row::hex("opa.nodeinfo.deviceid", "Device ID", at(34), 16),
    row::hex("opa.nodeinfo.revision", "Revision", at(36), 32),
    row::decimal("opa.nodeinfo.localportnum", "Local port number", at(40), 8),
    row::hex("opa.nodeinfo.vendorid", "Vendor ID", at(41), 24),
};
static_assert(tiles(kOpaNodeInfoFields, 44));

// The first half of it; buffers, credits and neighbours behind are bytes.
inline constexpr std::array kOpaPortInfoFields{
    row::decimal("opa.portinfo.lid", "LID", at(0), 32),
    row::hex("opa.portinfo.flowcontrolmask", "VLs with flow control", at(4), 32),
    row::decimal("opa.portinfo.vl.preemptcap", "VLs that can preempt", at(8), 8),
    row::hex("opa.portinfo.vl.reserved", "Reserved", at(9), 3),
    row::decimal("opa.portinfo.vl.cap", "VLs supported", at(9, 3), 5),
    row::decimal("opa.portinfo.vl.highlimit", "Limit of high priority", at(10), 16),
    row::decimal("opa.portinfo.vl.preemptinglimit", "Limit of preempting", at(12), 16),
    row::decimal("opa.portinfo.vl.arbitrationhighcap", "Entries of the table of high priority", at(14), 8),
    row::decimal("opa.portinfo.vl.arbitrationlowcap", "Entries of the table of low priority", at(15), 8),
    row::hex("opa.portstates.reserved", "Reserved", at(16), 9),
    row::flag("opa.portstates.ledenabled", "LED enabled", at(17, 1)),
    row::flag("opa.portstates.issmconfigurationstarted", "The SM began to configure it", at(17, 2)),
    row::flag("opa.portstates.neighbornormal", "The neighbour is normal", at(17, 3)),
    row::decimal("opa.portstates.offlinedisabledreason", "Reason to be offline", at(17, 4), 4),
    row::decimal("opa.portstates.portunsleepstates", "Ways out of sleep", at(18), 4),
    row::decimal("opa.portstates.downdefaultstate", "State to fall back to when down", at(18, 4), 4),
    row::decimal("opa.portstates.portphysicalstate", "Port physical state", at(19), 4),
    row::decimal("opa.portstates.portstate", "Port state", at(19, 4), 4).named(kPortStates),
    row::hex("opa.portinfo.portphysconfig.reserved", "Reserved", at(20), 4),
    row::decimal("opa.portinfo.portphysconfig.porttype", "Port type", at(20, 4), 4),
    row::hex("opa.portinfo.multicollectmask.reserved", "Reserved", at(21), 2),
    row::decimal("opa.portinfo.multicollectmask.collectivemask", "Collective mask", at(21, 2), 3),
    row::decimal("opa.portinfo.multicollectmask.multicastmask", "Multicast mask", at(21, 5), 3),
    row::decimal("opa.portinfo.mkeyprotectbits", "M_Key protection", at(22), 2),
    row::hex("opa.portinfo.s1.reserved", "Reserved", at(22, 2), 2),
    row::decimal("opa.portinfo.lmc", "LMC", at(22, 4), 4),
    row::hex("opa.portinfo.s2.reserved", "Reserved", at(23), 3),
    row::decimal("opa.portinfo.mastersml", "SL to the master SM", at(23, 3), 5),
    row::decimal("opa.portinfo.linkinitreason", "Reason of the last initialization", at(24), 4),
    row::flag("opa.portinfo.partitionenforcementinbound", "Partition enforcement inbound", at(24, 4)),
    row::flag("opa.portinfo.partitionenforcementoutbound", "Partition enforcement outbound", at(24, 5)),
    row::hex("opa.portinfo.s3.reserved2", "Reserved", at(24, 6), 2),
    row::hex("opa.portinfo.s4.reserved", "Reserved", at(25), 3),
    row::decimal("opa.portinfo.operationalvl", "Operational VLs", at(25, 3), 5),
    row::hex("opa.portinfo.pkey8", "P_Key of 8B packets", at(26), 16),
    row::hex("opa.portinfo.pkey10", "P_Key of 10B packets", at(28), 16),
    row::decimal("opa.portinfo.m_keyviolations", "M_Key violations", at(30), 16),
    row::decimal("opa.portinfo.p_keyviolations", "P_Key violations", at(32), 16),
    row::decimal("opa.portinfo.q_keyviolations", "Q_Key violations", at(34), 16),
    row::hex("opa.portinfo.trapqpair.reserved", "Reserved", at(36), 8),
    row::decimal("opa.portinfo.trapqpair", "QP of traps", at(37), 24),
    row::hex("opa.portinfo.saqpair.reserved", "Reserved", at(40), 8),
    row::decimal("opa.portinfo.saqpair", "QP of subnet administration", at(41), 24),
    row::decimal("opa.portinfo.neighborportnum", "Port number of the neighbour", at(44), 8),
    row::decimal("opa.portinfo.linkdownreason", "Reason why the link went down", at(45), 8),
    row::decimal("opa.portinfo.neighborlinkdownreason", "The neighbour's reason why the link went down", at(46), 8),
    row::flag("opa.portinfo.clientreregister", "Clients shall register again", at(47)),
    row::decimal("opa.portinfo.multicastpkeytrapenabled", "Traps of multicast P_Keys", at(47, 1), 2),
    row::exponent("opa.portinfo.timeout", "Subnet timeout", at(47, 3), 5),
    row::hex("opa.portinfo.linkspeedsupported", "Link speeds supported", at(48), 16),
    row::hex("opa.portinfo.linkspeedenabled", "Link speeds enabled", at(50), 16),
    row::hex("opa.portinfo.linkspeedactive", "Link speed active", at(52), 16),
    row::hex("opa.portinfo.linkwidthsupported", "Link widths supported", at(54), 16),
    row::hex("opa.portinfo.linkwidthenabled", "Link widths enabled", at(56), 16),
    row::hex("opa.portinfo.linkwidthactive", "Link width active", at(58), 16),
    row::hex("opa.portinfo.linkwidthdowngradesupported", "Downgraded widths supported", at(60), 16),
    row::hex("opa.portinfo.linkwidthdowngradeenabled", "Downgraded widths enabled", at(62), 16),
    row::hex("opa.portinfo.linkwidthdowngradetxactive", "Width active, sending", at(64), 16),
    row::hex("opa.portinfo.linkwidthdowngraderxactive", "Width active, receiving", at(66), 16),
    row::bytes("opa.portinfo.modes", "Modes of link, CRC, port, packets and flits", at(68), 160),
    row::reserved(at(88), 32),
    row::hex("opa.portinfo.porterroraction", "Errors that bounce the port", at(92), 32),
    row::hex("opa.portinfo.passthroughcontrol.egressport", "Egress port of pass-through", at(96), 8),
    row::hex("opa.portinfo.passthroughcontrol.reserved", "Reserved", at(97), 7),
    row::flag("opa.portinfo.passthroughcontrol.drcontrol", "Directed routes pass through", at(97, 7)),
    row::decimal("opa.portinfo.m_keyleaseperiod", "M_Key lease period", at(98), 16).in("s"),
    row::hex("opa.portinfo.bufferunits.reserved", "Reserved", at(100), 9),
    row::decimal("opa.portinfo.bufferunits.vl15init", "Initial units of VL15", at(101, 1), 12),
    row::decimal("opa.portinfo.bufferunits.vl15credit", "Credit rate of VL15", at(102, 5), 5),
    row::decimal("opa.portinfo.bufferunits.creditack", "Unit of returned credits", at(103, 2), 3),
    row::decimal("opa.portinfo.bufferunits.bufferalloc", "Unit of buffers", at(103, 5), 3),
    row::reserved(at(104), 32),
    row::decimal("opa.portinfo.mastersmlid", "LID of the master SM", at(108), 32),
    row::hex("opa.portinfo.mkey", "M_Key", at(112), 64),
    row::hex("opa.portinfo.subnetprefix", "Subnet prefix", at(120), 64),
};
static_assert(tiles(kOpaPortInfoFields, 128));

// Without the counters of each VL, which follow.
inline constexpr std::array kOpaPortStatusFields{
    row::decimal("opa.pm.portstatus.portnumber", "Port number", at(0), 8),
    row::reserved(at(1), 24),
    row::hex("opa.pm.portstatus.vlselectmask", "VLs whose counters follow", at(4), 32),
    row::decimal("opa.pm.portstatus.portxmitdata", "Data sent, in 8 bytes", at(8), 64),
    row::decimal("opa.pm.portstatus.portrcvdata", "Data received, in 8 bytes", at(16), 64),
    row::decimal("opa.pm.portstatus.portxmitpkts", "Packets sent", at(24), 64),
    row::decimal("opa.pm.portstatus.portrcvpkts", "Packets received", at(32), 64),
    row::decimal("opa.pm.portstatus.portmulticastxmitpkts", "Multicast packets sent", at(40), 64),
    row::decimal("opa.pm.portstatus.portmulticastrcvpkts", "Multicast packets received", at(48), 64),
    row::decimal("opa.pm.portstatus.portxmitwait", "Times with data and no credit to send", at(56), 64),
    row::decimal("opa.pm.portstatus.swportcongestion", "Packets discarded for congestion", at(64), 64),
    row::decimal("opa.pm.portstatus.portrecvfecn", "Packets received with FECN", at(72), 64),
    row::decimal("opa.pm.portstatus.portrecvbecn", "Packets received with BECN", at(80), 64),
    row::decimal("opa.pm.portstatus.portxmittimecong", "Time congested", at(88), 64),
    row::decimal("opa.pm.portstatus.portxmitwastedbw", "Bandwidth wasted", at(96), 64),
    row::decimal("opa.pm.portstatus.portxmitwaitdata", "Bandwidth waited for", at(104), 64),
    row::decimal("opa.pm.portstatus.portrcvbubble", "Bubbles received", at(112), 64),
    row::decimal("opa.pm.portstatus.portmarkfecn", "Packets marked with FECN", at(120), 64),
    row::decimal("opa.pm.portstatus.portrcvconstrainterrors", "Inbound packets discarded, constraints", at(128), 64),
    row::decimal("opa.pm.portstatus.portrcvswitchrelayerrors", "Packets the switch could not relay", at(136), 64),
    row::decimal("opa.pm.portstatus.portxmitdiscards", "Outbound packets discarded", at(144), 64),
    row::decimal("opa.pm.portstatus.portxmitconstrainterrors", "Outbound packets not sent, constraints", at(152), 64),
    row::decimal("opa.pm.portstatus.portrcvremotephysicalerrors", "Packets received marked bad", at(160), 64),
    row::decimal("opa.pm.portstatus.locallinkintegrityerrors", "Local link integrity errors", at(168), 64),
    row::decimal("opa.pm.portstatus.portrcverrors", "Packets received with errors", at(176), 64),
    row::decimal("opa.pm.portstatus.excessivebufferoverruns", "Excessive buffer overruns", at(184), 64),
    row::decimal("opa.pm.portstatus.fmconfigerrors", "Errors of configuration", at(192), 64),
    row::decimal("opa.pm.portstatus.linkerrorrecovery", "Link error recoveries", at(200), 32),
    row::decimal("opa.pm.portstatus.linkdowned", "Link downed", at(204), 32),
    row::decimal("opa.pm.portstatus.uncorrectableerrors", "Uncorrectable errors", at(208), 8),
    row::hex("opa.pm.portstatus.reserved", "Reserved", at(209), 5),
    row::decimal("opa.pm.portstatus.linkqualityindicator", "Quality of the link, 0 to 5", at(209, 5), 3),
    row::reserved(at(210), 48),
};
static_assert(tiles(kOpaPortStatusFields, 216));

struct OpaAttribute {
    std::uint8_t management_class;  // LID-routed where subnet management
    std::uint16_t id;
    std::string_view name;
    std::array<LayerKind, 3> layers{};  // one after the other, up to the first `frame`; none: only named
};

inline constexpr std::array kOpaAttributes = [] {
    using namespace kind;
    constexpr std::uint8_t kSm = 0x01, kSa = 0x03, kPm = 0x04;
    return std::array{
        OpaAttribute{kSm, 0x02, "Notice"},
        OpaAttribute{kSm, 0x10, "NodeDescription", {opa_node_description}},
        OpaAttribute{kSm, 0x11, "NodeInfo", {opa_node_info}},
        OpaAttribute{kSm, 0x12, "SwitchInfo"},
        OpaAttribute{kSm, 0x15, "PortInfo", {opa_port_info}},
        OpaAttribute{kSm, 0x16, "PartitionTable"},
        OpaAttribute{kSm, 0x17, "SLtoSCMappingTable"},
        OpaAttribute{kSm, 0x18, "VLArbitrationTable"},
        OpaAttribute{kSm, 0x19, "LinearForwardingTable"},
        OpaAttribute{kSm, 0x1b, "MulticastForwardingTable"},
        OpaAttribute{kSm, 0x20, "SMInfo"},
        OpaAttribute{kSm, 0x31, "LedInfo"},
        OpaAttribute{kSm, 0x32, "CableInfo"},
        OpaAttribute{kSm, 0x80, "Aggregate"},
        OpaAttribute{kSm, 0x81, "SCtoSCMappingTable"},
        OpaAttribute{kSm, 0x82, "SCtoSLMappingTable"},
        OpaAttribute{kSm, 0x83, "SCtoVLrMappingTable"},
        OpaAttribute{kSm, 0x84, "SCtoVLtMappingTable"},
        OpaAttribute{kSm, 0x85, "SCtoVLntMappingTable"},
        OpaAttribute{kSm, 0x87, "PortStateInfo"},
        OpaAttribute{kSm, 0x88, "PortGroupForwardingTable"},
        OpaAttribute{kSm, 0x89, "PortGroupTable"},
        OpaAttribute{kSm, 0x8a, "BufferControlTable"},
        OpaAttribute{kSm, 0x8b, "CongestionInfo"},
        OpaAttribute{kSm, 0x8c, "SwitchCongestionLog"},
        OpaAttribute{kSm, 0x8d, "SwitchCongestionSetting"},
        OpaAttribute{kSm, 0x8e, "SwitchPortCongestionSetting"},
        OpaAttribute{kSm, 0x8f, "HFICongestionLog"},
        OpaAttribute{kSm, 0x90, "HFICongestionSetting"},
        OpaAttribute{kSm, 0x91, "HFICongestionControlTable"},
        OpaAttribute{kSa, 0x01, "ClassPortInfo"},
        OpaAttribute{kSa, 0x02, "Notice"},
        OpaAttribute{kSa, 0x03, "InformInfo"},
        OpaAttribute{kSa, 0x11, "NodeRecord", {opa_lid_record, opa_node_info, opa_node_description}},
        OpaAttribute{kSa, 0x12, "PortInfoRecord"},
        OpaAttribute{kSa, 0x14, "SwitchInfoRecord"},
        OpaAttribute{kSa, 0x15, "LinearForwardingTableRecord"},
        OpaAttribute{kSa, 0x17, "MulticastForwardingTableRecord"},
        OpaAttribute{kSa, 0x18, "SMInfoRecord"},
        OpaAttribute{kSa, 0x20, "LinkRecord"},
        OpaAttribute{kSa, 0x31, "ServiceRecord"},
        OpaAttribute{kSa, 0x33, "P_KeyTableRecord"},
        OpaAttribute{kSa, 0x35, "PathRecord"},
        OpaAttribute{kSa, 0x36, "VLArbitrationTableRecord"},
        OpaAttribute{kSa, 0x38, "MCMemberRecord"},
        OpaAttribute{kSa, 0x39, "TraceRecord"},
        OpaAttribute{kSa, 0x3a, "MultiPathRecord"},
        OpaAttribute{kSa, 0x88, "CableInfoRecord"},
        OpaAttribute{kSa, 0x89, "VFInfoRecord"},
        OpaAttribute{kSa, 0x8d, "FabricInfoRecord"},
        OpaAttribute{kSa, 0x90, "QuarantinedNodeRecord"},
        OpaAttribute{kSa, 0x91, "CongestionInfoRecord"},
        OpaAttribute{kSa, 0xf3, "InformInfoRecord"},
        OpaAttribute{kPm, 0x01, "ClassPortInfo"},
        OpaAttribute{kPm, 0x40, "PortStatus", {opa_port_status}},
        OpaAttribute{kPm, 0x41, "ClearPortStatus"},
        OpaAttribute{kPm, 0x42, "DataPortCounters"},
        OpaAttribute{kPm, 0x43, "ErrorPortCounters"},
        OpaAttribute{kPm, 0x44, "ErrorInfo"},
    };
}();

inline constexpr std::array kOpaManagementHeaders{
    Header{kind::opa_mad, "opa.mad.header", "Management Datagram, Omni-Path", kOpaMadHeaderLength, kOpaMadFields},
    Header{kind::opa_mad_directed, "opa.mad.directed", "Management Datagram, Omni-Path, Directed Route",
           kOpaMadHeaderLength, kOpaMadDirectedFields},
    Header{kind::opa_smp_lid_routed, "opa.sm.lid", "Subnet Management, Omni-Path, LID Routed", 8,
           kOpaSmpLidRoutedFields},
    Header{kind::opa_smp_directed, "opa.sm.dr", "Subnet Management, Omni-Path, Directed Route", 152,
           kOpaSmpDirectedFields},
    Header{kind::opa_rmpp, "opa.rmpp", "Reliable Multi-Packet Transaction Protocol, Omni-Path", 12, kOpaRmppFields},
    Header{kind::opa_sa, "opa.sa", "Subnet Administration Header, Omni-Path", 20, kOpaSaFields},
    Header{kind::opa_lid_record, "opa.lidrecord", "Record of a LID, Omni-Path", 8, kOpaLidRecordFields},
    Header{kind::opa_node_description, "opa.nodedescription", "NodeDescription, Omni-Path", 64,
           kOpaNodeDescriptionFields},
    Header{kind::opa_node_info, "opa.nodeinfo", "NodeInfo, Omni-Path", 44, kOpaNodeInfoFields},
    Header{kind::opa_port_info, "opa.portinfo", "PortInfo, Omni-Path", 128, kOpaPortInfoFields},
    Header{kind::opa_port_status, "opa.pm.portstatus", "PortStatus, Omni-Path", 216, kOpaPortStatusFields},
};

}  // namespace qps::dissect
