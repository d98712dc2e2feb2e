// Field tables of subnet administration's records (15.2.5) that say of which port, block or table they are, before the
// attribute of subnet management that follows in them; and of records of their own: links, several paths, traces.
#pragma once

#include <dissect/mad/names.hpp>

#include <array>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind lid_record = kind_in(LayerFamily::management, 5);
inline constexpr LayerKind port_info_record = kind_in(LayerFamily::management, 6);
inline constexpr LayerKind link_record = kind_in(LayerFamily::management, 7);
inline constexpr LayerKind linear_forwarding_record = kind_in(LayerFamily::management, 8);
inline constexpr LayerKind multicast_forwarding_record = kind_in(LayerFamily::management, 9);
inline constexpr LayerKind guid_info_record = kind_in(LayerFamily::management, 10);
inline constexpr LayerKind p_key_table_record = kind_in(LayerFamily::management, 11);
inline constexpr LayerKind multi_path_record = kind_in(LayerFamily::management, 16);
inline constexpr LayerKind trace_record = kind_in(LayerFamily::management, 17);
}  // namespace kind

// 15.2.5.2 (NodeRecord), 15.2.5.4 (SwitchInfoRecord), 15.2.5.10 (SMInfoRecord): what they are, the layers behind tell.
inline constexpr std::array kLidRecordFields{
    row::decimal("infiniband.sa.lid", "LID", at(0), 16),
    row::reserved(at(2), 16),
};
static_assert(tiles(kLidRecordFields, 4));

// 15.2.5.3.
inline constexpr std::array kPortInfoRecordFields{
    row::decimal("infiniband.sa.endportlid", "LID of the end port", at(0), 16),
    row::decimal("infiniband.sa.portnum", "Port number", at(2), 8),
    row::hex("infiniband.sa.options", "Options", at(3), 8),
};
static_assert(tiles(kPortInfoRecordFields, 4));

// 15.2.5.13.
inline constexpr std::array kLinkRecordFields{
    row::decimal("infiniband.linkrecord.fromlid", "From LID", at(0), 16),
    row::decimal("infiniband.linkrecord.fromport", "From port", at(2), 8),
    row::decimal("infiniband.linkrecord.toport", "To port", at(3), 8),
    row::decimal("infiniband.linkrecord.tolid", "To LID", at(4), 16),
    row::reserved(at(6), 16),
};
static_assert(tiles(kLinkRecordFields, 8));

// 15.2.5.6.
inline constexpr std::array kLinearForwardingRecordFields{
    row::decimal("infiniband.sa.lid", "LID of the switch", at(0), 16),
    row::decimal("infiniband.sa.blocknum_sixteenbit", "Block", at(2), 16),
    row::reserved(at(4), 32),
};
static_assert(tiles(kLinearForwardingRecordFields, 8));

// 15.2.5.8.
inline constexpr std::array kMulticastForwardingRecordFields{
    row::decimal("infiniband.sa.lid", "LID of the switch", at(0), 16),
    row::decimal("infiniband.sa.position", "Position, in 16 ports", at(2), 4),
    row::reserved(at(2, 4), 3),
    row::decimal("infiniband.sa.blocknum_ninebit", "Block", at(2, 7), 9),
    row::reserved(at(4), 32),
};
static_assert(tiles(kMulticastForwardingRecordFields, 8));

// 15.2.5.18.
inline constexpr std::array kGuidInfoRecordFields{
    row::decimal("infiniband.sa.lid", "LID of the port", at(0), 16),
    row::decimal("infiniband.sa.blocknum_eightbit", "Block", at(2), 8),
    row::reserved(at(3), 8),
    row::reserved(at(4), 32),
};
static_assert(tiles(kGuidInfoRecordFields, 8));

// 15.2.5.11.
inline constexpr std::array kPKeyTableRecordFields{
    row::decimal("infiniband.sa.lid", "LID", at(0), 16),
    row::decimal("infiniband.sa.blocknum_sixteenbit", "Block", at(2), 16),
    row::decimal("infiniband.sa.portnum", "Port number", at(4), 8),
    row::reserved(at(5), 24),
};
static_assert(tiles(kPKeyTableRecordFields, 8));

// 15.2.5.20; the service ID and the QoS class came with annex A13. Eleven GIDs fill the data of a MAD.
inline constexpr auto kMultiPathRecordFields = [] {
    constexpr std::array kFixed{
        row::flag("infiniband.multipathrecord.rawtraffic", "Raw traffic", at(0)),
        row::reserved(at(0, 1), 3),
        row::hex("infiniband.multipathrecord.flowlabel", "Flow label", at(0, 4), 20),
        row::decimal("infiniband.multipathrecord.hoplimit", "Hop limit", at(3), 8),
        row::decimal("infiniband.multipathrecord.tclass", "Traffic class", at(4), 8),
        row::flag("infiniband.multipathrecord.reversible", "Reversible", at(5)),
        row::decimal("infiniband.multipathrecord.numbpath", "Number of paths", at(5, 1), 7),
        row::hex("infiniband.multipathrecord.p_key", "P_Key", at(6), 16),
        row::decimal("infiniband.multipathrecord.qosclass", "QoS class", at(8), 12),
        row::decimal("infiniband.multipathrecord.sl", "SL", at(9, 4), 4),
        row::decimal("infiniband.multipathrecord.mtuselector", "MTU selector", at(10), 2).named(kSelectors),
        row::decimal("infiniband.multipathrecord.mtu", "MTU", at(10, 2), 6).named(kMtuCodes),
        row::decimal("infiniband.multipathrecord.rateselector", "Rate selector", at(11), 2).named(kSelectors),
        row::decimal("infiniband.multipathrecord.rate", "Rate", at(11, 2), 6).named(kRates),
        row::decimal("infiniband.multipathrecord.packetlifetimeselector", "Packet lifetime selector", at(12), 2)
            .named(kSelectors),
        row::exponent("infiniband.multipathrecord.packetlifetime", "Packet lifetime", at(12, 2), 6),
        row::hex("infiniband.multipathrecord.serviceid.high", "Service ID, first 8 bits", at(13), 8),
        row::decimal("infiniband.multipathrecord.independenceselector", "Independence selector", at(14), 2),
        row::decimal("infiniband.multipathrecord.gidscope", "Scope of the GIDs", at(14, 2), 6),
        row::decimal("infiniband.multipathrecord.sgidcount", "Number of source GIDs", at(15), 8),
        row::decimal("infiniband.multipathrecord.dgidcount", "Number of destination GIDs", at(16), 8),
        row::hex("infiniband.multipathrecord.serviceid.low", "Service ID, other 56 bits", at(17), 56),
    };
    constexpr unsigned kGids = 11;
    std::array<Field, kFixed.size() + kGids> all{};
    std::size_t next = 0;
    for (const Field& field : kFixed) all[next++] = field;
    for (unsigned gid = 0; gid < kGids; ++gid)
        all[next++] =
            row::ipv6("infiniband.multipathrecord.sdgid", "Source GIDs, then destination GIDs", at(24 + 16 * gid));
    return all;
}();
static_assert(tiles(kMultiPathRecordFields, 200));

// 15.2.5.19: a hop of a trace.
inline constexpr std::array kTraceRecordFields{
    row::hex("infiniband.tracerecord.gidprefix", "GID prefix", at(0), 64),
    row::decimal("infiniband.tracerecord.idgeneration", "Generation of the IDs", at(8), 16),
    row::reserved(at(10), 8),
    row::decimal("infiniband.tracerecord.nodetype", "Node type", at(11), 8).named(kNodeTypes),
    row::guid("infiniband.tracerecord.nodeid", "Node ID", at(12)),
    row::guid("infiniband.tracerecord.chassisid", "Chassis ID", at(20)),
    row::guid("infiniband.tracerecord.entryportid", "Entry port ID", at(28)),
    row::guid("infiniband.tracerecord.exitportid", "Exit port ID", at(36)),
    row::decimal("infiniband.tracerecord.entryport", "Entry port", at(44), 8),
    row::decimal("infiniband.tracerecord.exitport", "Exit port", at(45), 8),
};
static_assert(tiles(kTraceRecordFields, 46));

inline constexpr std::array kRecordHeaders{
    Header{kind::lid_record, "infiniband.lidrecord", "Record of a LID", 4, kLidRecordFields},
    Header{kind::port_info_record, "infiniband.portinforecord", "PortInfoRecord", 4, kPortInfoRecordFields},
    Header{kind::link_record, "infiniband.linkrecord", "LinkRecord", 8, kLinkRecordFields},
    Header{kind::linear_forwarding_record, "infiniband.linearforwardingtablerecord", "LinearForwardingTableRecord", 8,
           kLinearForwardingRecordFields},
    Header{kind::multicast_forwarding_record, "infiniband.multicastforwardingtablerecord",
           "MulticastForwardingTableRecord", 8, kMulticastForwardingRecordFields},
    Header{kind::guid_info_record, "infiniband.guidinforecord", "GUIDInfoRecord", 8, kGuidInfoRecordFields},
    Header{kind::p_key_table_record, "infiniband.p_keytablerecord", "P_KeyTableRecord", 8, kPKeyTableRecordFields},
    Header{kind::multi_path_record, "infiniband.multipathrecord", "MultiPathRecord", 200, kMultiPathRecordFields},
    Header{kind::trace_record, "infiniband.tracerecord", "TraceRecord", 46, kTraceRecordFields},
};

}  // namespace qps::dissect
