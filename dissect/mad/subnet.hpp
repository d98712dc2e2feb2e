// Field tables of subnet management (chapter 14): the class part of an SMP and the attributes it carries.
//
// An attribute has 64 bytes at offset 64 of the MAD (14.2.1); tables shorter than that leave reserved bytes behind.
#pragma once

#include <dissect/mad/names.hpp>

#include <array>

namespace qps::dissect {

inline constexpr std::size_t kSmpDataLength = 64;  // 14.2.1
inline constexpr std::size_t kSmpPathLength = 64;  // 14.2.1.2: at most 63 hops, entry 0 is unused

// 14.2.1.1: between the common header and the attribute.
inline constexpr std::array kSmpLidRoutedFields{
    row::hex("infiniband.smplid.mkey", "M_Key", at(0), 64),
    row::reserved(at(8), 256),
};
static_assert(tiles(kSmpLidRoutedFields, 40));

// 14.2.1.2; direction, hop pointer and hop count are in the common header. The M_Key has one name in both kinds of SMP.
inline constexpr std::array kSmpDirectedFields{
    row::hex("infiniband.smplid.mkey", "M_Key", at(0), 64),
    row::decimal("infiniband.smpdirected.drslid", "Directed route source LID", at(8), 16),
    row::decimal("infiniband.smpdirected.drdlid", "Directed route destination LID", at(10), 16),
    row::reserved(at(12), 224),
};
static_assert(tiles(kSmpDirectedFields, 40));

// 14.2.1.2: port numbers hop by hop, the first at index 1.
inline constexpr std::array kSmpDirectedPathsFields{
    row::bytes("infiniband.smpdirected.initialpath", "Initial path", at(0), 512),
    row::bytes("infiniband.smpdirected.returnpath", "Return path", at(64), 512),
};
static_assert(tiles(kSmpDirectedPathsFields, 2 * kSmpPathLength));

// 14.2.5.2.
inline constexpr std::array kNodeDescriptionFields{
    row::text("infiniband.nodedescription.nodestring", "Node string", at(0), 512),
};
static_assert(tiles(kNodeDescriptionFields, 64));

// 14.2.5.3.
inline constexpr std::array kNodeInfoFields{
    row::decimal("infiniband.nodeinfo.baseversion", "Base version", at(0), 8),
    row::decimal("infiniband.nodeinfo.classversion", "Class version", at(1), 8),
    row::decimal("infiniband.nodeinfo.nodetype", "Node type", at(2), 8).named(kNodeTypes),
    row::decimal("infiniband.nodeinfo.numports", "Number of ports", at(3), 8),
    row::guid("infiniband.nodeinfo.systemimageguid", "System image GUID", at(4)),
    row::guid("infiniband.nodeinfo.nodeguid", "Node GUID", at(12)),
    row::guid("infiniband.nodeinfo.portguid", "Port GUID", at(20)),
    row::decimal("infiniband.nodeinfo.partitioncap", "Entries of the partition table", at(28), 16),
    row::hex("infiniband.nodeinfo.deviceid", "Device ID", at(30), 16),
    row::hex("infiniband.nodeinfo.revision", "Revision", at(32), 32),
    row::decimal("infiniband.nodeinfo.localportnum", "Local port number", at(36), 8),
    row::hex("infiniband.nodeinfo.vendorid", "Vendor ID", at(37), 24),
};
static_assert(tiles(kNodeInfoFields, 40));

// 14.2.5.4. MulticastFDBTop came with version 1.3.
inline constexpr std::array kSwitchInfoFields{
    row::decimal("infiniband.switchinfo.linearfdbcap", "Entries of the linear forwarding table", at(0), 16),
    row::decimal("infiniband.switchinfo.randomfdbcap", "Entries of the random forwarding table", at(2), 16),
    row::decimal("infiniband.switchinfo.multicastfdbcap", "Entries of the multicast forwarding table", at(4), 16),
    row::decimal("infiniband.switchinfo.linearfdbtop", "Top of the linear forwarding table", at(6), 16),
    row::decimal("infiniband.switchinfo.defaultport", "Default port", at(8), 8),
    row::decimal("infiniband.switchinfo.defaultmulticastprimaryport", "Default multicast primary port", at(9), 8),
    row::decimal("infiniband.switchinfo.defaultmulticastnotprimaryport", "Default multicast not-primary port", at(10),
                 8),
    row::exponent("infiniband.switchinfo.lifetimevalue", "Lifetime of a packet in the switch", at(11), 5),
    row::flag("infiniband.switchinfo.portstatechange", "Port state change", at(11, 5)),
    row::hex("infiniband.switchinfo.optimizedsltovlmappingprogramming", "Optimized SL to VL mapping programming",
             at(11, 6), 2),
    row::decimal("infiniband.switchinfo.lidsperport", "LIDs per port", at(12), 16),
    row::decimal("infiniband.switchinfo.partitionenforcementcap", "Entries of a partition enforcement table", at(14),
                 16),
    row::flag("infiniband.switchinfo.inboundenforcementcap", "Inbound partition enforcement", at(16)),
    row::flag("infiniband.switchinfo.outboundenforcementcap", "Outbound partition enforcement", at(16, 1)),
    row::flag("infiniband.switchinfo.filterrawinboundcap", "Filters raw packets inbound", at(16, 2)),
    row::flag("infiniband.switchinfo.filterrawoutboundcap", "Filters raw packets outbound", at(16, 3)),
    row::flag("infiniband.switchinfo.enhancedportzero", "Enhanced port 0", at(16, 4)),
    row::reserved(at(16, 5), 3),
    row::reserved(at(17), 8),
    row::decimal("infiniband.switchinfo.multicastfdbtop", "Top of the multicast forwarding table", at(18), 16),
};
static_assert(tiles(kSwitchInfoFields, 20));

// 14.2.5.5: a block of eight. Wireshark gives them all one name, under switchinfo.
inline constexpr std::array kGuidInfoFields{
    row::guid("infiniband.switchinfo.guid", "GUID 0 of the block", at(0)),
    row::guid("infiniband.switchinfo.guid", "GUID 1 of the block", at(8)),
    row::guid("infiniband.switchinfo.guid", "GUID 2 of the block", at(16)),
    row::guid("infiniband.switchinfo.guid", "GUID 3 of the block", at(24)),
    row::guid("infiniband.switchinfo.guid", "GUID 4 of the block", at(32)),
    row::guid("infiniband.switchinfo.guid", "GUID 5 of the block", at(40)),
    row::guid("infiniband.switchinfo.guid", "GUID 6 of the block", at(48)),
    row::guid("infiniband.switchinfo.guid", "GUID 7 of the block", at(56)),
};
static_assert(tiles(kGuidInfoFields, 64));

// 14.2.5.6. The M_Key field is the key, infiniband.portinfo.guid is Wireshark's name of the GID prefix. Extended speeds
// (FDR and EDR, later HDR and NDR) are bytes 62 and 63, XDR is in byte 56.
inline constexpr std::array kPortInfoFields{
    row::hex("infiniband.portinfo.m_key", "M_Key", at(0), 64),
    row::hex("infiniband.portinfo.guid", "GID prefix", at(8), 64),
    row::decimal("infiniband.portinfo.lid", "LID", at(16), 16),
    row::decimal("infiniband.portinfo.mastersmlid", "LID of the master SM", at(18), 16),
    row::hex("infiniband.portinfo.capabilitymask", "Capability mask", at(20), 32),
    row::flag("infiniband.portinfo.capabilitymask.hierarchyinfosupported", "HierarchyInfo supported", at(20)).part(),
    row::flag("infiniband.portinfo.capabilitymask.multicastfdbtopsupported", "Multicast FDB top supported", at(20, 1))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.multicastpkeytrapsuppressionsupported",
              "Multicast P_Key trap suppression supported", at(20, 2))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.vendorspecificmadstablesupported",
              "Vendor specific MADs table supported", at(20, 3))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.linkspeedwidthpairstablesupported",
              "Link speed width pairs table supported", at(20, 4))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.otherlocalchangesnoticesupported",
              "Other local changes notice supported", at(20, 5))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.clientregistrationsupported", "Client reregistration supported",
              at(20, 6))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.linkroundtriplatencysupported", "Link round trip latency supported",
              at(20, 7))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.bootmanagementsupported", "Boot management supported", at(21)).part(),
    row::flag("infiniband.portinfo.capabilitymask.capabilitymasknoticesupported", "Capability mask notice supported",
              at(21, 1))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.drnoticesupported", "Directed route notice supported", at(21, 2))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.vendorclasssupported", "Vendor class supported", at(21, 3)).part(),
    row::flag("infiniband.portinfo.capabilitymask.devicemanagementsupported", "Device management supported", at(21, 4))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.reinitsupported", "Reinitialization supported", at(21, 5)).part(),
    row::flag("infiniband.portinfo.capabilitymask.snmptunnelingsupported", "SNMP tunnelling supported", at(21, 6))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.communicationmanagementsupported",
              "Communication management supported", at(21, 7))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.capabilitymask2supported", "Capability mask 2 supported", at(22))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.extendedspeedssupported", "Extended speeds supported", at(22, 1))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.cableinfosupported", "Cable information supported", at(22, 2))
        .part(),  // unverified
    row::flag("infiniband.portinfo.capabilitymask.pkeyswitchexternalporttrapsupported",
              "P_Key switch external port trap supported", at(22, 3))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.systemimageguidsupported", "System image GUID supported", at(22, 4))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.smdisabled", "SM disabled", at(22, 5)).part(),
    row::flag("infiniband.portinfo.capabilitymask.ledinfosupported", "LED information supported", at(22, 6)).part(),
    row::flag("infiniband.portinfo.capabilitymask.pkeynvram", "P_Keys in nonvolatile memory", at(22, 7)).part(),
    row::flag("infiniband.portinfo.capabilitymask.mkeynvram", "M_Key in nonvolatile memory", at(23)).part(),
    row::flag("infiniband.portinfo.capabilitymask.slmappingsupported", "SL mapping supported", at(23, 1)).part(),
    row::flag("infiniband.portinfo.capabilitymask.automaticmigrationsupported", "Automatic migration supported",
              at(23, 2))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.optionalipdsupported", "Optional inter packet delays supported",
              at(23, 3))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask.trapsupported", "Trap supported", at(23, 4)).part(),
    row::flag("infiniband.portinfo.capabilitymask.noticesupported", "Notice supported", at(23, 5)).part(),
    row::flag("infiniband.portinfo.capabilitymask.issm", "Is a subnet manager", at(23, 6)).part(),
    row::hex("infiniband.portinfo.diagcode", "Diagnostic code", at(24), 16),
    row::decimal("infiniband.portinfo.m_keyleaseperiod", "M_Key lease period", at(26), 16).in("s"),
    row::decimal("infiniband.portinfo.localportnum", "Local port number", at(28), 8),
    row::hex("infiniband.portinfo.linkwidthenabled", "Link widths enabled", at(29), 8).named(kLinkWidths),
    row::hex("infiniband.portinfo.linkwidthsupported", "Link widths supported", at(30), 8).named(kLinkWidths),
    row::hex("infiniband.portinfo.linkwidthactive", "Link width active", at(31), 8).named(kLinkWidths),
    row::hex("infiniband.portinfo.linkspeedsupported", "Link speeds supported", at(32), 4).named(kLinkSpeeds),
    row::decimal("infiniband.portinfo.portstate", "Port state", at(32, 4), 4).named(kPortStates),
    row::decimal("infiniband.portinfo.portphysicalstate", "Port physical state", at(33), 4).named(kPortPhysicalStates),
    row::decimal("infiniband.portinfo.linkdowndefaultstate", "Link down default state", at(33, 4), 4)
        .named(kLinkDownDefaultStates),
    row::decimal("infiniband.portinfo.m_keyprotectbits", "M_Key protection level", at(34), 2),
    row::reserved(at(34, 2), 3),
    row::decimal("infiniband.portinfo.lmc", "LID mask count", at(34, 5), 3),
    row::hex("infiniband.portinfo.linkspeedactive", "Link speed active", at(35), 4).named(kLinkSpeeds),
    row::hex("infiniband.portinfo.linkspeedenabled", "Link speeds enabled", at(35, 4), 4).named(kLinkSpeeds),
    row::decimal("infiniband.portinfo.neighbormtu", "MTU of the neighbour", at(36), 4).named(kMtuCodes),
    row::decimal("infiniband.portinfo.mastersmsl", "SL to the master SM", at(36, 4), 4),
    row::decimal("infiniband.portinfo.vlcap", "Virtual lanes supported", at(37), 4).named(kVlCodes),
    row::hex("infiniband.portinfo.inittype", "Initialization type", at(37, 4), 4),
    row::decimal("infiniband.portinfo.vlhighlimit", "Limit of high priority", at(38), 8),
    row::decimal("infiniband.portinfo.vlarbitrationhighcap", "Entries of the high priority VL arbitration table",
                 at(39), 8),
    row::decimal("infiniband.portinfo.vlarbitrationlowcap", "Entries of the low priority VL arbitration table", at(40),
                 8),
    row::hex("infiniband.portinfo.inittypereply", "Initialization type reply", at(41), 4),
    row::decimal("infiniband.portinfo.mtucap", "Largest MTU supported", at(41, 4), 4).named(kMtuCodes),
    row::decimal("infiniband.portinfo.vlstallcount", "Packets dropped until a VL stalls", at(42), 3),
    row::exponent("infiniband.portinfo.hoqlife", "Head of queue lifetime", at(42, 3), 5),
    row::decimal("infiniband.portinfo.operationalvls", "Virtual lanes operational", at(43), 4).named(kVlCodes),
    row::flag("infiniband.portinfo.partitionenforcementinbound", "Partition enforcement inbound", at(43, 4)),
    row::flag("infiniband.portinfo.partitionenforcementoutbound", "Partition enforcement outbound", at(43, 5)),
    row::flag("infiniband.portinfo.filterrawinbound", "Filter raw packets inbound", at(43, 6)),
    row::flag("infiniband.portinfo.filterrawoutbound", "Filter raw packets outbound", at(43, 7)),
    row::decimal("infiniband.portinfo.m_keyviolations", "M_Key violations", at(44), 16),
    row::decimal("infiniband.portinfo.p_keyviolations", "P_Key violations", at(46), 16),
    row::decimal("infiniband.portinfo.q_keyviolations", "Q_Key violations", at(48), 16),
    row::decimal("infiniband.portinfo.guidcap", "Entries of the GUID table", at(50), 8),
    row::flag("infiniband.portinfo.clientreregister", "Client reregister", at(51)),
    row::decimal("infiniband.portinfo.multicastpkeytrapsuppressionenabled", "Multicast P_Key trap suppression enabled",
                 at(51, 1), 2),
    row::exponent("infiniband.portinfo.subnettimeout", "Subnet timeout", at(51, 3), 5),
    row::reserved(at(52), 3),
    row::exponent("infiniband.portinfo.resptimevalue", "Response time", at(52, 3), 5),
    row::decimal("infiniband.portinfo.localphyerrors", "Threshold of local physical errors", at(53), 4),
    row::decimal("infiniband.portinfo.overrunerrors", "Threshold of overrun errors", at(53, 4), 4),
    row::decimal("infiniband.portinfo.maxcredithint", "Maximum credit hint", at(54), 16),
    row::reserved(at(56), 1),
    row::hex("infiniband.portinfo.linkspeedextactive2", "Link speed extended active 2", at(56, 1), 2)
        .named(kLinkSpeedsExt2),
    row::hex("infiniband.portinfo.linkspeedextsupported2", "Link speeds extended supported 2", at(56, 3), 2)
        .named(kLinkSpeedsExt2),
    row::hex("infiniband.portinfo.linkspeedextenabled2", "Link speeds extended enabled 2", at(56, 5), 3)
        .named(kLinkSpeedsExt2),
    row::decimal("infiniband.portinfo.linkroundtriplatency", "Link round trip latency, in 4 ns", at(57), 24),
    row::hex("infiniband.portinfo.capabilitymask2", "Capability mask 2", at(60), 16),
    row::flag("infiniband.portinfo.capabilitymask2.linkspeedndrsupported", "Link speed NDR supported", at(60, 5))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask2.linkspeedhdrsupported", "Link speed HDR supported", at(61, 2))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask2.linkwidth2xsupported", "Link width 2x supported", at(61, 3)).part(),
    row::flag("infiniband.portinfo.capabilitymask2.switchportstatetablesupported", "Switch port state table supported",
              at(61, 4))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask2.virtualizationsupported", "Virtualization supported", at(61, 5))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask2.portinfoextendedsupported", "PortInfoExtended supported", at(61, 6))
        .part(),
    row::flag("infiniband.portinfo.capabilitymask2.setnodedescriptionsupported", "Set of NodeDescription supported",
              at(61, 7))
        .part(),
    row::hex("infiniband.portinfo.linkspeedextactive", "Link speed extended active", at(62), 4)
        .named(kLinkSpeedsExtActive),
    row::hex("infiniband.portinfo.linkspeedextsupported", "Link speeds extended supported", at(62, 4), 4)
        .named(kLinkSpeedsExtActive),
    row::reserved(at(63), 3),
    row::hex("infiniband.portinfo.linkspeedextenabled", "Link speeds extended enabled", at(63, 3), 5)
        .named(kLinkSpeedsExt),
};
static_assert(tiles(kPortInfoFields, 64));

// 14.2.5.7: a block of 32 keys, each a membership bit and 15 bits of base; all have the same three names.
inline constexpr std::size_t kPKeysOfBlock = 32;
inline constexpr std::array kMembership{
    ValueName{0, "Limited"},
    ValueName{1, "Full"},
};
inline constexpr auto kPKeyTableFields = [] {
    std::array<Field, 3 * kPKeysOfBlock> rows{};
    for (unsigned key = 0; key < kPKeysOfBlock; ++key) {
        rows[3 * key] = row::hex("infiniband.p_keytable.p_key", "P_Key", at(2 * key), 16);
        rows[3 * key + 1] = row::decimal("infiniband.p_keytable.membershiptype", "Membership type", at(2 * key), 1)
                                .named(kMembership)
                                .part();
        rows[3 * key + 2] = row::hex("infiniband.p_keytable.p_keybase", "P_Key base", at(2 * key, 1), 15).part();
    }
    return rows;
}();
static_assert(tiles(kPKeyTableFields, 64));

// 14.2.5.13.
inline constexpr std::array kSmInfoFields{
    row::guid("infiniband.sminfo.guid", "Port GUID of the SM", at(0)),
    row::hex("infiniband.sminfo.sm_key", "SM_Key", at(8), 64),
    row::decimal("infiniband.sminfo.actcount", "Activity count", at(16), 32),
    row::decimal("infiniband.sminfo.priority", "Priority", at(20), 4),
    row::decimal("infiniband.sminfo.smstate", "State of the SM", at(20, 4), 4).named(kSmStates),
    row::reserved(at(21), 24),
};
static_assert(tiles(kSmInfoFields, 24));

inline constexpr std::array kSubnetHeaders{
    Header{LayerKind::smp_lid_routed, "infiniband.smplid", "Subnet Management Packet, LID Routed", 40,
           kSmpLidRoutedFields},
    Header{LayerKind::smp_directed, "infiniband.smpdirected", "Subnet Management Packet, Directed Route", 40,
           kSmpDirectedFields},
    Header{LayerKind::smp_directed_paths, "infiniband.smpdirected.paths", "Directed Route Paths", 128,
           kSmpDirectedPathsFields},
    Header{LayerKind::node_description, "infiniband.nodedescription", "NodeDescription", 64, kNodeDescriptionFields},
    Header{LayerKind::node_info, "infiniband.nodeinfo", "NodeInfo", 40, kNodeInfoFields},
    Header{LayerKind::switch_info, "infiniband.switchinfo", "SwitchInfo", 20, kSwitchInfoFields},
    Header{LayerKind::guid_info, "infiniband.guidinfo", "GUIDInfo", 64, kGuidInfoFields},
    Header{LayerKind::port_info, "infiniband.portinfo", "PortInfo", 64, kPortInfoFields},
    Header{LayerKind::sm_info, "infiniband.sminfo", "SMInfo", 24, kSmInfoFields},
    Header{LayerKind::p_key_table, "infiniband.p_keytable", "P_KeyTable", 64, kPKeyTableFields},
};

}  // namespace qps::dissect
