// Field tables of the segment routing header of IPv6 (SRv6, RFC 8754): the segments of a path, the last one first, and
// how many of them are left. Which addresses there are is said by Last Entry; type-length-values may follow.
#pragma once

#include <dissect/headers/internet.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind segment_routing = kind_in(LayerFamily::segment_routing, 0);
inline constexpr LayerKind segment_routing_tlvs = kind_in(LayerFamily::segment_routing, 1);
}  // namespace kind

inline constexpr std::uint8_t kSegmentRoutingType = 4;     // of a routing header
inline constexpr unsigned kSegmentsAt = 8, kSegment = 16;  // bytes
inline constexpr unsigned kShownSegments = 16;             // as fields; paths have a few

inline constexpr std::array kSegmentRoutingHead{
    row::decimal("ipv6.routing.nxt", "Next header", at(0), 8).named(kIpProtocols),
    row::decimal("ipv6.routing.len", "Length in units of 8 bytes after the first 8", at(1), 8),
    row::decimal("ipv6.routing.type", "Routing type", at(2), 8),
    row::decimal("ipv6.routing.segleft", "Segments left", at(3), 8),
    row::decimal("ipv6.routing.srh.last_entry", "Last entry of the list", at(4), 8),
    row::hex("ipv6.routing.srh.flags", "Flags", at(5), 8),
    row::bytes("ipv6.routing.srh.tag", "Tag", at(6), 16),
    row::bytes("rdma.srv6.segments", "Segments, the last of the path first", at(kSegmentsAt), kToEnd),
    row::ipv6("rdma.srv6.destination", "Where the path ends", at(kSegmentsAt)).part(),
};
inline constexpr std::array kSegmentFields = [] {
    std::array<Field, kShownSegments> fields{};
    for (unsigned i = 0; i < kShownSegments; ++i)
        fields[i] = row::ipv6("ipv6.routing.srh.addr", "Segment", at(kSegmentsAt + kSegment * i)).part();
    return fields;
}();
inline constexpr std::array kSegmentRoutingFields = joined(kSegmentRoutingHead, kSegmentFields);
static_assert(tiles(kSegmentRoutingFields, kSegmentsAt));

inline constexpr std::array kSegmentTlvTypes{ValueName{0, "PAD1"}, ValueName{4, "PADN"}, ValueName{5, "HMAC"}};
inline constexpr std::array kSegmentTlvFields{
    row::bytes("rdma.srv6.tlvs.bytes", "What follows the segments", at(0), kToEnd),
    row::decimal("rdma.srv6.tlv.type", "Type of the first", at(0), 8).named(kSegmentTlvTypes).part(),
};
static_assert(tiles(kSegmentTlvFields, 0));

inline constexpr std::array kSegmentRoutingHeaders{
    Header{kind::segment_routing, "ipv6.routing", "IPv6 segment routing header", kSegmentsAt, kSegmentRoutingFields},
    Header{kind::segment_routing_tlvs, "rdma.srv6.tlvs", "IPv6 segment routing, type-length-values", 0,
           kSegmentTlvFields},
};

// How long the header and its segments are, where a routing header of that length is a segment routing header whose
// list fits into it and that has not more segments left than the list has (RFC 8754 4.3.1.1); 0 where not.
[[nodiscard]] constexpr std::size_t segments_end(Bytes routing, std::size_t length) {
    if (read_be<std::uint8_t>(routing, 2) != kSegmentRoutingType || routing.size() < kSegmentsAt) return 0;
    const std::size_t entries = std::size_t{read_be<std::uint8_t>(routing, 4)} + 1;
    const std::size_t end = kSegmentsAt + entries * kSegment;
    return end <= length && read_be<std::uint8_t>(routing, 3) <= entries ? end : 0;
}

}  // namespace qps::dissect
