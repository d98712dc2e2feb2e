// Field table of InfiniBand's flow control packets (IBTA volume 1, 7.9.4): six bytes from one end of a link to the
// other for each virtual lane, how many blocks were sent and how many the sender will take. They have no LRH.
#pragma once

#include <dissect/headers/derived.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind flow_control = kind_in(LayerFamily::infiniband_link, 0);
}  // namespace kind

inline constexpr std::array kFlowControlOperands{ValueName{0, "NORMAL"}, ValueName{1, "INIT"}};
inline constexpr std::size_t kFlowControl = 6;
inline constexpr std::array kFlowControlFields{
    row::decimal("infiniband_link.op", "Operand", at(0), 4).named(kFlowControlOperands),
    row::decimal("infiniband_link.fctbs", "Flow control total blocks sent, of 64 bytes", at(0, 4), 12),
    row::decimal("infiniband_link.vl", "Virtual lane", at(2), 4),
    row::decimal("infiniband_link.fccl", "Flow control credit limit, in blocks of 64 bytes", at(2, 4), 12),
    row::hex("infiniband_link.lpcrc", "Link packet CRC, which is not checked", at(4), 16),
    annotated<&Annotation::link_credits>(
        "rdma.link.credits",
        "Credits that the other end of the link has left: this limit less what it sent, of captures with both directions",
        Format::decimal)
        .in("blocks"),
};
static_assert(tiles(kFlowControlFields, kFlowControl));

inline constexpr std::array kInfinibandLinkHeaders{
    Header{kind::flow_control, "infiniband_link", "InfiniBand flow control", kFlowControl, kFlowControlFields},
};

// No packet with an LRH is that short, and other operands are reserved.
[[nodiscard]] constexpr bool is_flow_control(Bytes packet, std::size_t length_on_wire) {
    return length_on_wire == kFlowControl && packet.size() == kFlowControl &&
           read_be<std::uint8_t>(packet, 0) >> 4 <= 1;
}

}  // namespace qps::dissect
