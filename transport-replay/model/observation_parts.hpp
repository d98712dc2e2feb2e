// What both ways to an observation share: by layers (observation.cpp) and by known offsets (straight_path.cpp).
// Internal to those two.
#pragma once

#include <dissect/base/load_be.hpp>
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/model/observation.hpp>

namespace qps::transport::observing {

using namespace dissect;

inline constexpr Field kSrcqp = named(kDethFields, "infiniband.deth.srcqp");
inline constexpr Field kVa = named(kRethFields, "infiniband.reth.va");
inline constexpr Field kRkeyField = named(kRethFields, "infiniband.reth.r_key");
inline constexpr Field kDmalen = named(kRethFields, "infiniband.reth.dmalen");
inline constexpr Field kSwap = named(kAtomicethFields, "infiniband.atomiceth.swapdt");
inline constexpr Field kCompare = named(kAtomicethFields, "infiniband.atomiceth.cmpdt");
inline constexpr Field kSyndrome = named(kAethFields, "infiniband.aeth.syndrome");
inline constexpr Field kMsn = named(kAethFields, "infiniband.aeth.msn");
inline constexpr Field kSe = named(kBthFields, "infiniband.bth.se");
inline constexpr Field kPkeyField = named(kBthFields, "infiniband.bth.p_key");
inline constexpr Field kFecn = named(kBthFields, "infiniband.bth.fecn");
inline constexpr Field kBecn = named(kBthFields, "infiniband.bth.becn");

inline constexpr std::uint64_t kMapped = 0xffff'0000'0000;  // ::ffff:0:0/96
inline constexpr std::uint8_t kCongestionExperienced = 3;

inline Address address_at(Bytes bytes, std::size_t offset, AddressSpace space) {
    return {{load_be<std::uint64_t>(bytes, offset), load_be<std::uint64_t>(bytes, offset + 8)}, space};
}

inline void take_frame(const Frame& frame, Observation& observation) {
    observation.frame = frame.index;
    observation.time = frame.time;
    observation.has_time = frame.has_time;
    observation.wire_length = frame.wire_bytes();
    observation.interface = frame.interface;
    observation.link_speed = frame.link_speed;
    observation.cut = frame.cut();
}

// What the last packet left, but for the flow. Member by member: a block of zeros, which `observation = {}` is, costs
// more than all the rest.
inline void clear(Observation& observation) {
    observation.flow_hash = observation.packet_hash = observation.hosts_hash = 0;
    observation.psn = {};
    observation.payload_length = observation.icrc_found = 0;
    observation.ip_id = observation.udp_source_port = 0;
    observation.pkey = {};
    observation.kind = ObservationKind::other;
    observation.fault = Fault::none;
    observation.opcode = {};
    observation.icrc = CrcStatus::not_applicable;
    observation.encapsulation = Encapsulation::none;
    observation.ack_request = observation.solicited = observation.congestion_experienced = observation.becn =
        observation.management = false;
    observation.dscp = observation.hops = 0;
    observation.pcp = kNoPcp;
    observation.vlan = observation.file = 0;
    observation.payload = {};
    observation.network = {};
    observation.datagram = observation.plain_link = observation.about_hosts = observation.has_original = false;
    observation.capture_port = 0;
    observation.link_destination = 0;
    observation.acknowledgment.reset();
    observation.access.reset();
    observation.immediate.reset();
    observation.invalidate.reset();
    observation.atomic.reset();
}

inline void take_tag(std::uint16_t tag, Observation& observation) {
    observation.pcp = static_cast<std::uint8_t>(tag >> 13);
    observation.vlan = tag & 0xfff;
}

// Of RoCEv2.
inline void take_ipv4(Bytes bytes, Observation& observation) {
    observation.flow.source = {{0, kMapped | load_be<std::uint32_t>(bytes, 12)}, AddressSpace::roce_v2};
    observation.flow.destination = {{0, kMapped | load_be<std::uint32_t>(bytes, 16)}, AddressSpace::roce_v2};
    const auto service = load_be<std::uint8_t>(bytes, 1);
    observation.dscp = service >> 2;
    observation.congestion_experienced = (service & 3) == kCongestionExperienced;
    observation.hops = load_be<std::uint8_t>(bytes, 8);
    observation.ip_id = load_be<std::uint16_t>(bytes, 4);
}

// Of IPv6, whose class has a mark in it, and of a GRH.
inline void take_traffic_class(Bytes bytes, bool marks, Observation& observation) {
    const auto traffic_class = static_cast<std::uint8_t>(load_be<std::uint16_t>(bytes, 0) >> 4);
    observation.dscp = traffic_class >> 2;
    observation.congestion_experienced = marks && (traffic_class & 3) == kCongestionExperienced;
    observation.hops = load_be<std::uint8_t>(bytes, 7);
}

// Every packet has one: its first eight bytes at once.
inline void take_bth(Bytes bytes, Observation& observation) {
    const auto word = load_be<std::uint64_t>(bytes, 0);
    const auto part = [&](const Field& field) { return word << field.bit >> (64 - field.width); };
    observation.solicited = part(kSe) != 0;
    observation.pkey = static_cast<Pkey>(part(kPkeyField));
    observation.congestion_experienced |= part(kFecn) != 0;
    observation.becn = part(kBecn) != 0;
}

// A whole header behind the BTH.
inline void take_header(LayerKind kind, Bytes bytes, Observation& observation) {
    switch (kind) {
        case LayerKind::deth:
            observation.datagram = true;
            observation.flow.source_qp = static_cast<Qpn>(read(bytes, kSrcqp));
            break;
        case LayerKind::reth:
            observation.access = {read(bytes, kVa), static_cast<Rkey>(read(bytes, kRkeyField)),
                                  static_cast<std::uint32_t>(read(bytes, kDmalen))};
            break;
        case LayerKind::atomiceth:
            observation.access = {read(bytes, kVa), static_cast<Rkey>(read(bytes, kRkeyField)), 8};
            observation.atomic = {read(bytes, kSwap), read(bytes, kCompare)};
            break;
        case LayerKind::aeth:
            observation.acknowledgment = {static_cast<std::uint8_t>(read(bytes, kSyndrome)),
                                          static_cast<Msn>(read(bytes, kMsn))};
            break;
        case LayerKind::atomicacketh:
            observation.has_original = true;
            observation.original = load_be<std::uint64_t>(bytes, 0);
            break;
        case LayerKind::immdt: observation.immediate = load_be<std::uint32_t>(bytes, 0); break;
        case LayerKind::ieth: observation.invalidate = static_cast<Rkey>(load_be<std::uint32_t>(bytes, 0)); break;
        case LayerKind::mad: observation.management = true; break;
        default: break;
    }
}

inline void take_hashes(Observation& observation) {
    const FlowKey& flow = observation.flow;
    const std::uint64_t source = hash_of(flow.source);
    const std::uint64_t destination = hash_of(flow.destination);
    observation.flow_hash = FlowHash::combine(source, destination, flow);
    observation.hosts_hash = static_cast<std::uint32_t>(source + destination);  // the same both ways
    // All that a copy shares with its original. Not the length of the frame: a tap may see a VLAN tag or a mirror's own
    // headers.
    const std::uint64_t where = std::uint64_t{observation.psn.value()} << 32 | observation.icrc_found;
    const std::uint64_t what =
        std::uint64_t{observation.ip_id} << 48 | std::uint64_t{observation.udp_source_port} << 32 |
        std::uint64_t{std::to_underlying(observation.opcode)} << 24 | (observation.payload_length & 0xffffff);
    observation.packet_hash = mix(observation.flow_hash + mix(where) + 3 * mix(what));
}

}  // namespace qps::transport::observing
