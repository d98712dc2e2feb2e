// Field tables of what switches forward by (14.2.5.8 to 14.2.5.12): blocks of equal entries, each entry under one name.
//
// Which block it is says the attribute modifier, or the record that the block is in.
#pragma once

#include <dissect/mad/names.hpp>

#include <array>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind linear_forwarding_table = kind_in(LayerFamily::management, 12);
inline constexpr LayerKind multicast_forwarding_table = kind_in(LayerFamily::management, 13);
inline constexpr LayerKind sl_to_vl_table = kind_in(LayerFamily::management, 14);
inline constexpr LayerKind vl_arbitration_table = kind_in(LayerFamily::management, 15);
}  // namespace kind

inline constexpr std::size_t kPortsOfBlock = 64;      // LIDs of a block of the linear table, each with its port
inline constexpr std::size_t kPortMasksOfBlock = 32;  // multicast LIDs of a block, each with 16 ports
inline constexpr std::uint8_t kNoPort = 0xff;         // of the linear table: there is no way to that LID

inline constexpr auto kLinearForwardingFields = [] {
    std::array<Field, kPortsOfBlock> rows{};
    for (unsigned i = 0; i < rows.size(); ++i)
        rows[i] = row::decimal("infiniband.linearforwardingtable.port", "Port to the LID", at(i), 8);
    return rows;
}();
static_assert(tiles(kLinearForwardingFields, 64));

inline constexpr auto kMulticastForwardingFields = [] {
    std::array<Field, kPortMasksOfBlock> rows{};
    for (unsigned i = 0; i < rows.size(); ++i)
        rows[i] = row::hex("infiniband.multicastforwardingtable.portmask", "Ports of the multicast LID", at(2 * i), 16);
    return rows;
}();
static_assert(tiles(kMulticastForwardingFields, 64));

inline constexpr auto kSlToVlFields = [] {
    constexpr unsigned kSls = 16;
    std::array<Field, kSls> rows{};
    for (unsigned sl = 0; sl < kSls; ++sl)
        rows[sl] =
            sl % 2 == 0
                ? row::decimal("infiniband.sltovlmappingtable.sltovlhighbits", "VL of an even SL", at(sl / 2), 4)
                : row::decimal("infiniband.sltovlmappingtable.sltovllowbits", "VL of an odd SL", at(sl / 2, 4), 4);
    return rows;
}();
static_assert(tiles(kSlToVlFields, 8));

inline constexpr auto kVlArbitrationFields = [] {
    constexpr unsigned kEntries = 32;
    std::array<Field, 3 * kEntries> rows{};
    for (unsigned i = 0; i < kEntries; ++i) {
        rows[3 * i] = row::reserved(at(2 * i), 4);
        rows[3 * i + 1] = row::decimal("infiniband.vlarbitrationtable.vl", "VL", at(2 * i, 4), 4);
        rows[3 * i + 2] = row::decimal("infiniband.vlarbitrationtable.weight", "Weight, in 64 bytes", at(2 * i + 1), 8);
    }
    return rows;
}();
static_assert(tiles(kVlArbitrationFields, 64));

inline constexpr std::array kForwardingHeaders{
    Header{kind::linear_forwarding_table, "infiniband.linearforwardingtable", "LinearForwardingTable", 64,
           kLinearForwardingFields},
    Header{kind::multicast_forwarding_table, "infiniband.multicastforwardingtable", "MulticastForwardingTable", 64,
           kMulticastForwardingFields},
    Header{kind::sl_to_vl_table, "infiniband.sltovlmappingtable", "SLtoVLMappingTable", 8, kSlToVlFields},
    Header{kind::vl_arbitration_table, "infiniband.vlarbitrationtable", "VLArbitrationTable", 64, kVlArbitrationFields},
};

}  // namespace qps::dissect
