// Field tables of subnet administration (chapter 15): the header after RMPP, and its records.
//
// A record starts at offset 56 of the MAD; in a table response records follow one another over all segments, each
// AttributeOffset * 8 bytes after the one before.
#pragma once

#include <dissect/mad/names.hpp>

namespace qps::dissect {

inline constexpr std::size_t kSaHeaderLength = 20;
inline constexpr std::size_t kSaDataLength = 200;  // 15.2.1.1: what the headers leave of 256

namespace mad_computed {
// infiniband.sa.subnetadmindata: the 200 bytes after the SA header, as far as captured.
std::optional<Value> sa_data(const Packet&, const Layer&);
}  // namespace mad_computed

// How many bytes of a segment's data count: all of them but in the last, whose payload length includes the SA header
// (13.6.2.2). At most kSaDataLength, whatever `rmpp`, the RMPP header, says.
[[nodiscard]] std::size_t valid_in_segment(Bytes rmpp);

// 15.2.1.1.
inline constexpr std::array kSaFields{
    row::hex("infiniband.sa.smkey", "SM_Key", at(0), 64),
    row::decimal("infiniband.sa.attributeoffset", "Attribute offset, in 8 bytes", at(8), 16),
    row::reserved(at(10), 16),
    row::hex("infiniband.sa.componentmask", "Component mask", at(12), 64),
    row::computed("infiniband.sa.subnetadmindata", "Subnet administration data", Format::bytes, mad_computed::sa_data),
};
static_assert(tiles(kSaFields, kSaHeaderLength));

// 15.2.5.16; the service ID and the QoS class came with the quality of service annex (A13).
inline constexpr std::array kPathRecordFields{
    row::hex("infiniband.pathrecord.serviceid", "Service ID", at(0), 64),
    row::ipv6("infiniband.pathrecord.dgid", "Destination GID", at(8)),
    row::ipv6("infiniband.pathrecord.sgid", "Source GID", at(24)),
    row::decimal("infiniband.pathrecord.dlid", "Destination LID", at(40), 16),
    row::decimal("infiniband.pathrecord.slid", "Source LID", at(42), 16),
    row::flag("infiniband.pathrecord.rawtraffic", "Raw traffic", at(44)),
    row::reserved(at(44, 1), 3),
    row::hex("infiniband.pathrecord.flowlabel", "Flow label", at(44, 4), 20),
    row::decimal("infiniband.pathrecord.hoplimit", "Hop limit", at(47), 8),
    row::decimal("infiniband.pathrecord.tclass", "Traffic class", at(48), 8),
    row::flag("infiniband.pathrecord.reversible", "Reversible", at(49)),
    row::decimal("infiniband.pathrecord.numbpath", "Number of paths", at(49, 1), 7),
    row::hex("infiniband.pathrecord.p_key", "P_Key", at(50), 16),
    row::decimal("infiniband.pathrecord.qosclass", "QoS class", at(52), 12),
    row::decimal("infiniband.pathrecord.sl", "SL", at(53, 4), 4),
    row::decimal("infiniband.pathrecord.mtuselector", "MTU selector", at(54), 2).named(kSelectors),
    row::decimal("infiniband.pathrecord.mtu", "MTU", at(54, 2), 6).named(kMtuCodes),
    row::decimal("infiniband.pathrecord.rateselector", "Rate selector", at(55), 2).named(kSelectors),
    row::decimal("infiniband.pathrecord.rate", "Rate", at(55, 2), 6).named(kRates),
    row::decimal("infiniband.pathrecord.packetlifetimeselector", "Packet lifetime selector", at(56), 2)
        .named(kSelectors),
    row::exponent("infiniband.pathrecord.packetlifetime", "Packet lifetime", at(56, 2), 6),
    row::decimal("infiniband.pathrecord.preference", "Preference", at(57), 8),
    row::reserved(at(58), 48),
};
static_assert(tiles(kPathRecordFields, 64));

// 15.2.5.17.
inline constexpr std::array kMcMemberRecordFields{
    row::ipv6("infiniband.mcmemberrecord.mgid", "Multicast GID", at(0)),
    row::ipv6("infiniband.mcmemberrecord.portgid", "Port GID", at(16)),
    row::hex("infiniband.mcmemberrecord.q_key", "Q_Key", at(32), 32),
    row::hex("infiniband.mcmemberrecord.mlid", "Multicast LID", at(36), 16),
    row::decimal("infiniband.mcmemberrecord.mtuselector", "MTU selector", at(38), 2).named(kSelectors),
    row::decimal("infiniband.mcmemberrecord.mtu", "MTU", at(38, 2), 6).named(kMtuCodes),
    row::decimal("infiniband.mcmemberrecord.tclass", "Traffic class", at(39), 8),
    row::hex("infiniband.mcmemberrecord.p_key", "P_Key", at(40), 16),
    row::decimal("infiniband.mcmemberrecord.rateselector", "Rate selector", at(42), 2).named(kSelectors),
    row::decimal("infiniband.mcmemberrecord.rate", "Rate", at(42, 2), 6).named(kRates),
    row::decimal("infiniband.mcmemberrecord.packetlifetimeselector", "Packet lifetime selector", at(43), 2)
        .named(kSelectors),
    row::exponent("infiniband.mcmemberrecord.packetlifetime", "Packet lifetime", at(43, 2), 6),
    row::decimal("infiniband.mcmemberrecord.sl", "SL", at(44), 4),
    row::hex("infiniband.mcmemberrecord.flowlabel", "Flow label", at(44, 4), 20),
    row::decimal("infiniband.mcmemberrecord.hoplimit", "Hop limit", at(47), 8),
    row::hex("infiniband.mcmemberrecord.scope", "Scope", at(48), 4),
    row::hex("infiniband.mcmemberrecord.joinstate", "Join state", at(48, 4), 4),
    row::flag("infiniband.mcmemberrecord.joinstate.sendonlyfullmember", "Send-only full member", at(48, 4)).part(),
    row::flag("infiniband.mcmemberrecord.joinstate.sendonlynonmember", "Send-only non-member", at(48, 5)).part(),
    row::flag("infiniband.mcmemberrecord.joinstate.nonmember", "Non-member", at(48, 6)).part(),
    row::flag("infiniband.mcmemberrecord.joinstate.fullmember", "Full member", at(48, 7)).part(),
    row::flag("infiniband.mcmemberrecord.proxyjoin", "Proxy join", at(49)),
    row::reserved(at(49, 1), 7),
    row::reserved(at(50), 16),
};
static_assert(tiles(kMcMemberRecordFields, 52));

// 15.2.5.14. Wireshark files these under linkrecord and shows the name as bytes; it is text.
inline constexpr std::array kServiceRecordFields{
    row::hex("infiniband.linkrecord.serviceid", "Service ID", at(0), 64),
    row::ipv6("infiniband.linkrecord.servicegid", "Service GID", at(8)),
    row::hex("infiniband.linkrecord.servicep_key", "Service P_Key", at(24), 16),
    row::reserved(at(26), 16),
    row::decimal("infiniband.linkrecord.servicelease", "Service lease", at(28), 32).in("s"),
    row::bytes("infiniband.linkrecord.servicekey", "Service key", at(32), 128),
    row::text("infiniband.linkrecord.servicename", "Service name", at(48), 512),
    row::bytes("infiniband.linkrecord.servicedata", "Service data, 16 of 8 bits", at(112), 128),
    row::bytes("infiniband.linkrecord.servicedata", "Service data, 8 of 16 bits", at(128), 128),
    row::bytes("infiniband.linkrecord.servicedata", "Service data, 4 of 32 bits", at(144), 128),
    row::bytes("infiniband.linkrecord.servicedata", "Service data, 2 of 64 bits", at(160), 128),
};
static_assert(tiles(kServiceRecordFields, 176));

// 13.4.8.1: of every class but subnet management.
inline constexpr std::array kClassPortInfoFields{
    row::decimal("infiniband.classportinfo.baseversion", "Base version", at(0), 8),
    row::decimal("infiniband.classportinfo.classversion", "Class version", at(1), 8),
    row::hex("infiniband.classportinfo.capabilitymask", "Capability mask", at(2), 16),
    row::hex("infiniband.classportinfo.capabilitymask2", "Capability mask 2", at(4), 27),
    row::exponent("infiniband.classportinfo.resptimevalue", "Response time", at(7, 3), 5),
    row::ipv6("infiniband.classportinfo.redirectgid", "Redirect GID", at(8)),
    row::decimal("infiniband.classportinfo.redirecttc", "Redirect traffic class", at(24), 8),
    row::decimal("infiniband.classportinfo.redirectsl", "Redirect SL", at(25), 4),
    row::hex("infiniband.classportinfo.redirectfl", "Redirect flow label", at(25, 4), 20),
    row::decimal("infiniband.classportinfo.redirectlid", "Redirect LID", at(28), 16),
    row::hex("infiniband.classportinfo.redirectpkey", "Redirect P_Key", at(30), 16),
    row::hex("infiniband.classportinfo.reserved", "Reserved", at(32), 8),
    row::decimal("infiniband.classportinfo.redirectqp", "Redirect QP", at(33), 24),
    row::hex("infiniband.classportinfo.redirectqkey", "Redirect Q_Key", at(36), 32),
    row::ipv6("infiniband.classportinfo.trapgid", "Trap GID", at(40)),
    row::decimal("infiniband.classportinfo.traptc", "Trap traffic class", at(56), 8),
    row::decimal("infiniband.classportinfo.trapsl", "Trap SL", at(57), 4),
    row::hex("infiniband.classportinfo.trapfl", "Trap flow label", at(57, 4), 20),
    row::decimal("infiniband.classportinfo.traplid", "Trap LID", at(60), 16),
    row::hex("infiniband.classportinfo.trappkey", "Trap P_Key", at(62), 16),
    row::decimal("infiniband.classportinfo.traphl", "Trap hop limit", at(64), 8),
    row::decimal("infiniband.classportinfo.trapqp", "Trap QP", at(65), 24),
    row::hex("infiniband.classportinfo.trapqkey", "Trap Q_Key", at(68), 32),
};
static_assert(tiles(kClassPortInfoFields, 72));

inline constexpr std::array kAdministrationHeaders{
    Header{LayerKind::sa, "infiniband.sa", "Subnet Administration Header", kSaHeaderLength, kSaFields},
    Header{LayerKind::path_record, "infiniband.pathrecord", "PathRecord", 64, kPathRecordFields},
    Header{LayerKind::mc_member_record, "infiniband.mcmemberrecord", "MCMemberRecord", 52, kMcMemberRecordFields},
    Header{LayerKind::service_record, "infiniband.servicerecord", "ServiceRecord", 176, kServiceRecordFields},
    Header{LayerKind::class_port_info, "infiniband.classportinfo", "ClassPortInfo", 72, kClassPortInfoFields},
};

}  // namespace qps::dissect
