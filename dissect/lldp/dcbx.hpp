// Field tables of Data Center Bridging in LLDP: ETS, PFC and application priorities of IEEE 802.1Qaz and 802.1Qbb, and
// the same of CEE DCBX, which came before. Names are Wireshark's, also where one name serves both.
#pragma once

#include <dissect/lldp/tlvs.hpp>

#include <array>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind dcbx_ets = kind_in(LayerFamily::lldp, 20);
inline constexpr LayerKind dcbx_ets_recommended = kind_in(LayerFamily::lldp, 21);
inline constexpr LayerKind dcbx_pfc = kind_in(LayerFamily::lldp, 22);
inline constexpr LayerKind dcbx_applications = kind_in(LayerFamily::lldp, 23);
inline constexpr LayerKind cee = kind_in(LayerFamily::lldp, 25);
inline constexpr LayerKind cee_control = kind_in(LayerFamily::lldp, 26);
inline constexpr LayerKind cee_groups = kind_in(LayerFamily::lldp, 27);
inline constexpr LayerKind cee_pfc = kind_in(LayerFamily::lldp, 28);
inline constexpr LayerKind cee_applications = kind_in(LayerFamily::lldp, 29);
inline constexpr LayerKind cee_other = kind_in(LayerFamily::lldp, 30);
}  // namespace kind

// More entries than these are bytes.
inline constexpr std::size_t kDcbxApplications = 40;

inline constexpr std::array<std::string_view, 8> kGroupOfPriorityNames{
    "lldp.dcbx.feature.pg.pgid_prio0", "lldp.dcbx.feature.pg.pgid_prio1", "lldp.dcbx.feature.pg.pgid_prio2",
    "lldp.dcbx.feature.pg.pgid_prio3", "lldp.dcbx.feature.pg.pgid_prio4", "lldp.dcbx.feature.pg.pgid_prio5",
    "lldp.dcbx.feature.pg.pgid_prio6", "lldp.dcbx.feature.pg.pgid_prio7"};
inline constexpr std::array<std::string_view, 8> kBandwidthNames{
    "lldp.dcbx.feature.pg.per0", "lldp.dcbx.feature.pg.per1", "lldp.dcbx.feature.pg.per2", "lldp.dcbx.feature.pg.per3",
    "lldp.dcbx.feature.pg.per4", "lldp.dcbx.feature.pg.per5", "lldp.dcbx.feature.pg.per6", "lldp.dcbx.feature.pg.per7"};
inline constexpr std::array<std::string_view, 8> kSelectionNames{
    "lldp.dcbx.ieee.ets.tsa0", "lldp.dcbx.ieee.ets.tsa1", "lldp.dcbx.ieee.ets.tsa2", "lldp.dcbx.ieee.ets.tsa3",
    "lldp.dcbx.ieee.ets.tsa4", "lldp.dcbx.ieee.ets.tsa5", "lldp.dcbx.ieee.ets.tsa6", "lldp.dcbx.ieee.ets.tsa7"};
inline constexpr std::array<std::string_view, 8> kPfcNames{
    "lldp.dcbx.feature.pfc.prio0", "lldp.dcbx.feature.pfc.prio1", "lldp.dcbx.feature.pfc.prio2",
    "lldp.dcbx.feature.pfc.prio3", "lldp.dcbx.feature.pfc.prio4", "lldp.dcbx.feature.pfc.prio5",
    "lldp.dcbx.feature.pfc.prio6", "lldp.dcbx.feature.pfc.prio7"};

inline constexpr std::array kSelectionAlgorithms{
    ValueName{0, "Strict priority"},
    ValueName{1, "Credit-based shaper"},
    ValueName{2, "Enhanced transmission selection"},
    ValueName{255, "Vendor"},
};
inline constexpr std::array kApplicationSelectors{
    ValueName{1, "EtherType"},       ValueName{2, "TCP port"}, ValueName{3, "UDP port"},
    ValueName{4, "TCP or UDP port"}, ValueName{5, "DSCP"},
};

// One row for each of eight, `width` bits each from byte `byte` on.
[[nodiscard]] consteval std::array<Field, 8> eight(const std::array<std::string_view, 8>& names,
                                                   std::string_view meaning, unsigned byte, unsigned width,
                                                   std::span<const ValueName> values = {}, std::string_view unit = {}) {
    std::array<Field, 8> rows{};
    for (unsigned i = 0; i < 8; ++i)
        rows[i] = row::decimal(names[i], meaning, at(byte, i * width), static_cast<std::uint16_t>(width))
                      .named(values)
                      .in(unit);
    return rows;
}

inline constexpr auto kEtsTables =
    joined(eight(kGroupOfPriorityNames, "Traffic class of the priority", 7, 4),
           eight(kBandwidthNames, "Bandwidth of the traffic class", 11, 8, {}, "%"),
           eight(kSelectionNames, "Transmission selection of the traffic class", 19, 8, kSelectionAlgorithms));
inline constexpr auto kDcbxEtsFields =
    joined(kBridgingStart,
           std::array{
               row::flag("lldp.dcbx.ieee.willing", "Willing to take the peer's configuration", at(6)),
               row::flag("lldp.dcbx.ieee.ets.cbs", "Credit-based shaper supported", at(6, 1)),
               row::reserved(at(6, 2), 3),
               row::decimal("lldp.dcbx.ieee.ets.maxtcs", "Traffic classes, 0: eight", at(6, 5), 3),
           },
           kEtsTables);
static_assert(tiles(kDcbxEtsFields, 27));
inline constexpr auto kDcbxEtsRecommendedFields =
    joined(kBridgingStart, std::array{row::reserved(at(6), 8)}, kEtsTables);
static_assert(tiles(kDcbxEtsRecommendedFields, 27));

inline constexpr auto kDcbxPfcFields =
    joined(kBridgingStart,
           std::array{
               row::flag("lldp.dcbx.ieee.willing", "Willing to take the peer's configuration", at(6)),
               row::flag("lldp.dcbx.ieee.pfc.mbc", "MACsec bypass capability", at(6, 1)),
               row::reserved(at(6, 2), 2),
               row::decimal("lldp.dcbx.ieee.pfc.numtcs", "Traffic classes that may have PFC at once", at(6, 4), 4),
               row::hex("rdma.lldp.pfc.enabled", "Priorities with PFC, a bit each", at(7), 8),
           },
           priority_bits(kPfcNames, "PFC of the priority", 7));
static_assert(tiles(kDcbxPfcFields, 8));

// Entries of three bytes: priority, selector, protocol.
inline constexpr auto kDcbxApplicationsFields =
    joined(kBridgingStart,
           std::array{row::hex("lldp.dcbx.ieee.app.reserved", "Reserved", at(6), 8),
                      row::bytes("rdma.lldp.app.table", "Application priorities, of three bytes each", at(7), kToEnd)},
           [] {
               std::array<Field, 3 * kDcbxApplications> rows{};
               for (unsigned i = 0; i < kDcbxApplications; ++i) {
                   rows[3 * i] =
                       row::decimal("lldp.dcbx.ieee.app.prio", "Priority of the application", at(7 + 3 * i), 3).part();
                   rows[3 * i + 1] =
                       row::decimal("lldp.dcbx.iee.app.sf", "Selector, of what the protocol is", at(7 + 3 * i, 5), 3)
                           .named(kApplicationSelectors)
                           .part();
                   rows[3 * i + 2] = row::hex("lldp.dcbx.feature.app.proto", "Protocol: an EtherType, a port or a DSCP",
                                              at(8 + 3 * i), 16)
                                         .part();
               }
               return rows;
           }());
static_assert(tiles(kDcbxApplicationsFields, 7));

// CEE: one TLV of an organization that has TLVs of its own.
inline constexpr std::array kCeeTypes{
    ValueName{1, "DCBX control"}, ValueName{2, "Priority groups"}, ValueName{3, "PFC"},
    ValueName{4, "Application"},  ValueName{5, "Logical link"},
};
inline constexpr auto kCeeFields =
    joined(kLldpOrganizationStart, std::array{row::hex("lldp.dcbx.proto", "Protocol of DCBX", at(5), 8)});
static_assert(tiles(kCeeFields, 6));
inline constexpr std::array kCeeStart{
    row::decimal("lldp.dcbx.type", "Type in DCBX", at(0), 7).named(kCeeTypes),
    row::decimal("lldp.dcbx.len", "Length in DCBX", at(0, 7), 9).in("bytes"),
};
inline constexpr std::array kCeeVersions{
    row::hex("lldp.dcbx.version", "Operating version", at(2), 8),
    row::hex("lldp.dcbx.max_version", "Highest version", at(3), 8),
};
inline constexpr auto kCeeControlFields =
    joined(kCeeStart, kCeeVersions,
           std::array{
               row::decimal("lldp.dcbx.control.seq", "Sequence number", at(4), 32),
               row::decimal("lldp.dcbx.control.ack", "Acknowledged number", at(8), 32),
           });
static_assert(tiles(kCeeControlFields, 12));
inline constexpr auto kCeeFeature =
    joined(kCeeStart, kCeeVersions,
           std::array{
               row::flag("lldp.dcbx.feature.enabled", "Enabled", at(4)),
               row::flag("lldp.dcbx.feature.willing", "Willing to take the peer's configuration", at(4, 1)),
               row::flag("lldp.dcbx.feature.error", "Error: the configurations do not fit", at(4, 2)),
               row::reserved(at(4, 3), 5),
               row::hex("lldp.dcbx.feature.subtype", "Subtype of the feature", at(5), 8),
           });
inline constexpr auto kCeeGroupsFields =
    joined(kCeeFeature, eight(kGroupOfPriorityNames, "Group of the priority, 15: no limit", 6, 4),
           eight(kBandwidthNames, "Bandwidth of the group", 10, 8, {}, "%"),
           std::array{row::hex("lldp.dcbx.feature.pg.numtcs", "Traffic classes supported", at(18), 8)});
static_assert(tiles(kCeeGroupsFields, 19));
inline constexpr auto kCeePfcFields =
    joined(kCeeFeature, std::array{row::hex("rdma.lldp.pfc.enabled", "Priorities with PFC, a bit each", at(6), 8)},
           priority_bits(kPfcNames, "PFC of the priority", 6),
           std::array{row::hex("lldp.dcbx.feature.pfc.numtcs", "Traffic classes that may have PFC at once", at(7), 8)});
static_assert(tiles(kCeePfcFields, 8));
// Entries of six bytes: protocol, organization around the selector, priorities as bits.
inline constexpr auto kCeeApplicationsFields = joined(
    kCeeFeature, std::array{row::bytes("rdma.lldp.cee.app.table", "Applications, of six bytes each", at(6), kToEnd)},
    [] {
        std::array<Field, 3 * kDcbxApplications> rows{};
        for (unsigned i = 0; i < kDcbxApplications; ++i) {
            rows[3 * i] =
                row::hex("lldp.dcbx.feature.app.proto", "Protocol: an EtherType or a port", at(6 + 6 * i), 16).part();
            rows[3 * i + 1] =
                row::decimal("lldp.dcbx.feature.app.sf", "Selector, 0: EtherType, 1: port", at(8 + 6 * i, 6), 2).part();
            rows[3 * i + 2] =
                row::hex("rdma.lldp.cee.app.priorities", "Priorities of the application, a bit each", at(11 + 6 * i), 8)
                    .part();
        }
        return rows;
    }());
static_assert(tiles(kCeeApplicationsFields, 6));
inline constexpr auto kCeeOtherFields =
    joined(kCeeStart, std::array{row::bytes("rdma.lldp.cee.value", "Value", at(2), kToEnd)});
static_assert(tiles(kCeeOtherFields, 2));

inline constexpr std::array kDcbxHeaders{
    Header{kind::dcbx_ets, "lldp", "LLDP: ETS Configuration", 27, kDcbxEtsFields},
    Header{kind::dcbx_ets_recommended, "lldp", "LLDP: ETS Recommendation", 27, kDcbxEtsRecommendedFields},
    Header{kind::dcbx_pfc, "lldp", "LLDP: PFC Configuration", 8, kDcbxPfcFields},
    Header{kind::dcbx_applications, "lldp", "LLDP: Application Priorities", 7, kDcbxApplicationsFields},
    Header{kind::cee, "lldp", "LLDP: CEE DCBX", 6, kCeeFields},
    Header{kind::cee_control, "lldp", "CEE DCBX: Control", 12, kCeeControlFields},
    Header{kind::cee_groups, "lldp", "CEE DCBX: Priority Groups", 19, kCeeGroupsFields},
    Header{kind::cee_pfc, "lldp", "CEE DCBX: PFC", 8, kCeePfcFields},
    Header{kind::cee_applications, "lldp", "CEE DCBX: Applications", 6, kCeeApplicationsFields},
    Header{kind::cee_other, "lldp", "CEE DCBX: another Feature", 2, kCeeOtherFields},
};

}  // namespace qps::dissect
