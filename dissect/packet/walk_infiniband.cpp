// The walk over InfiniBand: LRH, GRH, BTH, extended headers, payload, pad, ICRC and VCRC, with both CRCs verified.
#include <dissect/base/icrc.hpp>
#include <dissect/base/walk.hpp>
#include <dissect/headers/infiniband.hpp>
#include <dissect/headers/infiniband_link.hpp>
#include <dissect/mad/mad.hpp>

#include <algorithm>

namespace qps::dissect {

namespace {

constexpr std::size_t kLrhLength = 8;
constexpr std::size_t kGrhLength = 40;
constexpr std::size_t kBthLength = 12;
constexpr std::size_t kIcrcLength = 4;
constexpr std::size_t kVcrcLength = 2;

constexpr Field kLnh = named(kLrhFields, "infiniband.lrh.lnh");
constexpr Field kPktlen = named(kLrhFields, "infiniband.lrh.pktlen");
constexpr Field kPaylen = named(kGrhFields, "infiniband.grh.paylen");
constexpr Field kNxthdr = named(kGrhFields, "infiniband.grh.nxthdr");
constexpr Field kPadcnt = named(kBthFields, "infiniband.bth.padcnt");
constexpr Field kTver = named(kBthFields, "infiniband.bth.tver");
constexpr Field kDestqp = named(kBthFields, "infiniband.bth.destqp");
constexpr Field kAckReq = named(kBthFields, "infiniband.bth.a");
constexpr Field kPsn = named(kBthFields, "infiniband.bth.psn");
constexpr Field kSrcqp = named(kDethFields, "infiniband.deth.srcqp");

CrcVerdict not_checkable(CrcReason reason) { return {CrcStatus::not_checkable, reason, 0, 0}; }

CrcVerdict compare(std::uint32_t found, std::uint32_t expected) {
    return {found == expected ? CrcStatus::good : CrcStatus::bad, CrcReason::none, found, expected};
}

// The coverage that starts with this header.
IcrcCoverage coverage_from(LayerKind network) {
    switch (network) {
        case LayerKind::lrh: return IcrcCoverage::native_local;
        case LayerKind::ipv4: return IcrcCoverage::roce_v2_ipv4;
        case LayerKind::ipv6: return IcrcCoverage::roce_v2_ipv6;
        default: return IcrcCoverage::grh;
    }
}

CrcVerdict verify_icrc(const Walk& walk, std::size_t bth, const Layer& network) {
    if (walk.doubt != CrcReason::none) return not_checkable(walk.doubt);
    const Bytes bytes = walk.packet.frame.bytes;
    if (bytes.size() < walk.end) return not_checkable(CrcReason::cut);
    const IcrcCoverage coverage = coverage_from(network.kind);
    if (bth - network.offset != bth_offset(coverage)) return not_checkable(CrcReason::ip_options);
    const std::size_t icrc = walk.end - kIcrcLength;
    const Bytes covered = slice(bytes, network.offset, icrc - network.offset);
    return compare(read_be<std::uint32_t>(bytes, icrc), invariant_crc(coverage, covered));
}

// Of a native packet that starts at `lrh`, with its VCRC at `vcrc`.
CrcVerdict verify_vcrc(Bytes bytes, std::size_t lrh, std::size_t vcrc) {
    if (bytes.size() < vcrc + kVcrcLength) return not_checkable(CrcReason::cut);
    return compare(read_be<std::uint16_t>(bytes, vcrc), variant_crc(slice(bytes, lrh, vcrc - lrh)));
}

// A datagram from or to one of the management queue pairs (13.5.1).
bool is_management(const Packet& packet) {
    if (packet.opcode != Opcode::ud_send_only) return false;
    if (packet.dest_qp <= kGsiQpn) return true;
    const Layer* deth = find(packet, LayerKind::deth);
    return deth != nullptr && deth->fault == Fault::none &&
           Qpn{static_cast<std::uint32_t>(read(packet.bytes_of(*deth), kSrcqp))} <= kGsiQpn;
}

// Payload, pad and ICRC; the walk stands behind the last extended header.
void walk_body(const Walk& walk, Layer& bth) {
    Packet& packet = walk.packet;
    const std::size_t offset = walk.offset;
    const std::size_t icrc = walk.end - kIcrcLength;
    const std::size_t body = offset < icrc ? icrc - offset : 0;
    auto pad = static_cast<std::uint8_t>(read(packet.bytes_of(bth), kPadcnt));
    if (pad > body) {
        bth.fault = Fault::bad_length;
        pad = static_cast<std::uint8_t>(body);
    }
    const std::size_t captured = packet.frame.bytes.size();
    const std::size_t length = body - pad;
    const std::size_t have = offset < captured ? captured - offset : 0;
    packet.payload = {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(std::min(length, have)),
                      static_cast<std::uint32_t>(length), pad};
    bool readable = packet.layers().back().fault == Fault::none || &packet.layers().back() == &bth;
    if (readable && length > 0) {
        if (is_management(packet)) {
            walk_mad(packet, packet.payload.offset, packet.payload.captured, packet.payload.length);
            readable = length <= have;
        } else {
            readable = add_layer(packet, LayerKind::payload, offset, length, icrc);
        }
    }
    if (readable && pad > 0) readable = add_layer(packet, LayerKind::pad, offset + length, pad, icrc);
    if (readable) add_layer(packet, LayerKind::icrc, icrc, kIcrcLength, walk.end);
}

// A raw packet: no transport of ours inside (7.7.5).
void walk_raw(Walk& walk) {
    constexpr std::size_t kRwhLength = 4;
    const Bytes header = enter(walk, LayerKind::rwh, kRwhLength);
    if (!header.empty()) walk_ethertype(walk, read_be<std::uint16_t>(header, 2));
}

// This is RDMA, but its last header is not whole: no transport, and nothing to check.
void refuse(const Walk& walk, Encapsulation encapsulation, std::uint8_t network_layer) {
    Packet& packet = walk.packet;
    packet.encapsulation = encapsulation;
    packet.network_layer = network_layer;
    switch (packet.layers().back().fault) {
        case Fault::too_short: packet.icrc = not_checkable(CrcReason::bad_length); break;
        case Fault::too_deep: packet.icrc = not_checkable(CrcReason::too_deep); break;
        default: packet.icrc = not_checkable(walk.doubt != CrcReason::none ? walk.doubt : CrcReason::cut);
    }
}

void walk_grh(Walk& walk, Encapsulation encapsulation) {
    const std::uint8_t network_layer = walk.packet.layer_count;
    const Bytes header = enter(walk, LayerKind::grh, kGrhLength);
    if (header.empty()) {
        refuse(walk, encapsulation, network_layer);
        add_layer(walk.packet, LayerKind::rdma, walk.offset, 0, walk.end);
        return;
    }
    const auto length = static_cast<std::size_t>(read(header, kPaylen));
    if (walk.offset + length > walk.end && walk.truncated) {
        lengthen(walk, walk.offset + length);
    } else if (walk.offset + length > walk.end) {
        mark(walk.packet, Fault::bad_length);
        walk.doubt = CrcReason::bad_length;
    } else {
        walk.end = walk.offset + length;
    }
    if (read(header, kNxthdr) != std::to_underlying(IpProtocol::infiniband)) return add_data(walk);
    walk_transport(walk, encapsulation, network_layer);
}

}  // namespace

void walk_transport(Walk& walk, Encapsulation encapsulation, std::uint8_t network_layer) {
    Packet& packet = walk.packet;
    add_layer(packet, LayerKind::rdma, walk.offset, 0, walk.end);
    const std::uint8_t bth_layer = packet.layer_count;
    const std::size_t start = walk.offset;
    const Bytes header = enter(walk, LayerKind::bth, kBthLength);
    if (header.empty()) return refuse(walk, encapsulation, network_layer);
    packet.encapsulation = encapsulation;
    packet.network_layer = network_layer;
    packet.bth_layer = bth_layer;
    Layer& bth = packet.layer_storage[bth_layer];
    packet.opcode = static_cast<Opcode>(header[0]);
    packet.dest_qp = static_cast<Qpn>(read(header, kDestqp));
    packet.psn = Psn(static_cast<std::uint32_t>(read(header, kPsn)));
    packet.ack_request = read(header, kAckReq) != 0;
    if (read(header, kTver) != 0) bth.fault = Fault::bad_version;
    if (walk.left() < kIcrcLength) {
        bth.fault = Fault::bad_length;
        packet.icrc = not_checkable(CrcReason::bad_length);
        return;
    }
    const OpcodeRow& row = info(packet.opcode);
    bool readable = true;
    for (std::size_t i = 0; i < row.header_count; ++i) {
        const std::size_t length = kTransportLengths[static_cast<std::size_t>(row.headers[i])];
        if (readable) readable = add_layer(packet, row.headers[i], walk.offset, length, walk.end - kIcrcLength);
        walk.offset += length;
    }
    walk_body(walk, bth);
    packet.icrc = verify_icrc(walk, start, packet.layer_storage[network_layer]);
}

void walk_lrh(Walk& walk) {
    if (is_flow_control(walk.header(), walk.left())) [[unlikely]]
        return static_cast<void>(enter(walk, kind::flow_control, kFlowControl));
    const std::uint8_t network_layer = walk.packet.layer_count;
    const std::size_t lrh = walk.offset;
    const std::size_t whole = walk.end;
    const Bytes header = enter(walk, LayerKind::lrh, kLrhLength);
    if (header.empty()) {
        refuse(walk, Encapsulation::native, network_layer);
        add_layer(walk.packet, LayerKind::rdma, walk.offset, 0, walk.end);
        walk.packet.vcrc = not_checkable(CrcReason::cut);
        return;
    }
    const std::size_t length = static_cast<std::size_t>(read(header, kPktlen)) * 4;
    if (length < kLrhLength || lrh + length > walk.end) {
        mark(walk.packet, Fault::bad_length);
        walk.doubt = CrcReason::bad_length;
    } else {
        walk.end = lrh + length;
    }
    const std::size_t icrc_end = walk.end;
    const CrcReason doubt = walk.doubt;
    switch (static_cast<LinkNextHeader>(read(header, kLnh))) {
        case LinkNextHeader::transport: walk_transport(walk, Encapsulation::native, network_layer); break;
        case LinkNextHeader::grh: walk_grh(walk, Encapsulation::native); break;
        case LinkNextHeader::ipv6: walk_ip(walk); break;
        case LinkNextHeader::raw: walk_raw(walk); break;
    }
    if (icrc_end + kVcrcLength > whole) {
        walk.packet.vcrc = not_checkable(doubt != CrcReason::none ? doubt : CrcReason::not_captured);
        return;
    }
    add_layer(walk.packet, LayerKind::vcrc, icrc_end, kVcrcLength, icrc_end + kVcrcLength);
    walk.packet.vcrc =
        doubt != CrcReason::none ? not_checkable(doubt) : verify_vcrc(walk.packet.frame.bytes, lrh, icrc_end);
}

void walk_roce1(Walk& walk) { walk_grh(walk, Encapsulation::roce_v1); }

}  // namespace qps::dissect
