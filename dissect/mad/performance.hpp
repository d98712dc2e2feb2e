// Field tables of performance management (chapter 16.1).
//
// Attributes lie at offset 64 of the MAD, after 40 reserved bytes. Counters stop at their largest value. Data counters
// count units of 4 bytes.
#pragma once

#include <dissect/mad/names.hpp>

namespace qps::dissect {

// 16.1.3.5. PortXmitWait, CounterSelect2 and QP1Dropped came later; older ports leave them zero.
inline constexpr std::array kPortCountersFields{
    row::reserved(at(0), 8),
    row::decimal("infiniband.portcounters.portselect", "Port select", at(1), 8),
    row::hex("infiniband.portcounters.counterselect", "Counter select", at(2), 16),
    row::decimal("infiniband.portcounters.symbolerrorcounter", "Symbol errors", at(4), 16),
    row::decimal("infiniband.portcounters.linkerrorrecoverycounter", "Link error recoveries", at(6), 8),
    row::decimal("infiniband.portcounters.linkdownedcounter", "Link downed", at(7), 8),
    row::decimal("infiniband.portcounters.portrcverrors", "Packets received with errors", at(8), 16),
    row::decimal("infiniband.portcounters.portrcvremotephysicalerrors", "Packets received marked bad (EBP)", at(10),
                 16),
    row::decimal("infiniband.portcounters.portrcvswitchrelayerrors", "Packets the switch could not relay", at(12), 16),
    row::decimal("infiniband.portcounters.portxmitdiscards", "Outbound packets discarded", at(14), 16),
    row::decimal("infiniband.portcounters.portxmitconstrainterrors", "Outbound packets not sent, constraints", at(16),
                 8),
    row::decimal("infiniband.portcounters.portrcvconstrainterrors", "Inbound packets discarded, constraints", at(17),
                 8),
    row::hex("infiniband.portcounters.counterselect2", "Counter select 2", at(18), 8),
    row::decimal("infiniband.portcounters.locallinkintegrityerrors", "Local link integrity errors", at(19), 4),
    row::decimal("infiniband.portcounters.excessivebufferoverrunerrors", "Excessive buffer overrun errors", at(19, 4),
                 4),
    row::decimal("infiniband.portcounters.qp1dropped", "Packets to QP1 dropped", at(20), 16),
    row::decimal("infiniband.portcounters.vl15dropped", "Packets on VL15 dropped", at(22), 16),
    row::decimal("infiniband.portcounters.portxmitdata", "Data sent, in 4 bytes", at(24), 32),
    row::decimal("infiniband.portcounters.portrcvdata", "Data received, in 4 bytes", at(28), 32),
    row::decimal("infiniband.portcounters.portxmitpkts", "Packets sent", at(32), 32),
    row::decimal("infiniband.portcounters.portrcvpkts", "Packets received", at(36), 32),
    row::decimal("infiniband.portcounters.portxmitwait", "Ticks with data and no credit to send", at(40), 32),
};
static_assert(tiles(kPortCountersFields, 44));

// 16.1.4.11. What follows the multicast counters came later; older ports leave it zero.
inline constexpr std::array kPortCountersExtendedFields{
    row::reserved(at(0), 8),
    row::decimal("infiniband.portcounters_ext.portselect", "Port select", at(1), 8),
    row::hex("infiniband.portcounters_ext.counterselect", "Counter select", at(2), 16),
    row::hex("infiniband.portcounters_ext.counterselect2", "Counter select 2", at(4), 32),
    row::decimal("infiniband.portcounters_ext.portxmitdata", "Data sent, in 4 bytes", at(8), 64),
    row::decimal("infiniband.portcounters_ext.portrcvdata", "Data received, in 4 bytes", at(16), 64),
    row::decimal("infiniband.portcounters_ext.portxmitpkts", "Packets sent", at(24), 64),
    row::decimal("infiniband.portcounters_ext.portrcvpkts", "Packets received", at(32), 64),
    row::decimal("infiniband.portcounters_ext.portunicastxmitpkts", "Unicast packets sent", at(40), 64),
    row::decimal("infiniband.portcounters_ext.portunicastrcvpkts", "Unicast packets received", at(48), 64),
    row::decimal("infiniband.portcounters_ext.portmulticastxmitpkts", "Multicast packets sent", at(56), 64),
    row::decimal("infiniband.portcounters_ext.portmulticastrcvpkts", "Multicast packets received", at(64), 64),
    row::decimal("infiniband.portcounters_ext.symbolerrorcounter", "Symbol errors", at(72), 64),
    row::decimal("infiniband.portcounters_ext.linkerrorrecoverycounter", "Link error recoveries", at(80), 64),
    row::decimal("infiniband.portcounters_ext.linkdownedcounter", "Link downed", at(88), 64),
    row::decimal("infiniband.portcounters_ext.portrcverrors", "Packets received with errors", at(96), 64),
    row::decimal("infiniband.portcounters_ext.portrcvremotephysicalerrors", "Packets received marked bad (EBP)",
                 at(104), 64),
    row::decimal("infiniband.portcounters_ext.portrcvswitchrelayerrors", "Packets the switch could not relay", at(112),
                 64),
    row::decimal("infiniband.portcounters_ext.portxmitdiscards", "Outbound packets discarded", at(120), 64),
    row::decimal("infiniband.portcounters_ext.portxmitconstrainterrors", "Outbound packets not sent, constraints",
                 at(128), 64),
    row::decimal("infiniband.portcounters_ext.portrcvconstrainterrors", "Inbound packets discarded, constraints",
                 at(136), 64),
    row::decimal("infiniband.portcounters_ext.locallinkintegrityerrors", "Local link integrity errors", at(144), 64),
    row::decimal("infiniband.portcounters_ext.excessivebufferoverrunerrors", "Excessive buffer overrun errors", at(152),
                 64),
    row::decimal("infiniband.portcounters_ext.vl15dropped", "Packets on VL15 dropped", at(160), 64),
    row::decimal("infiniband.portcounters_ext.portxmitwait", "Ticks with data and no credit to send", at(168), 64),
    row::decimal("infiniband.portcounters_ext.qp1dropped", "Packets to QP1 dropped", at(176), 64),
};
static_assert(tiles(kPortCountersExtendedFields, 184));

inline constexpr std::array kPerformanceHeaders{
    Header{LayerKind::port_counters, "infiniband.portcounters", "PortCounters", 44, kPortCountersFields},
    Header{LayerKind::port_counters_extended, "infiniband.portcounters_ext", "PortCountersExtended", 184,
           kPortCountersExtendedFields},
};

}  // namespace qps::dissect
