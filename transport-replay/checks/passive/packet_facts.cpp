#include <dissect/base/crc_shift.hpp>
#include <dissect/base/icrc.hpp>
#include <dissect/base/load_be.hpp>
#include <dissect/headers/infiniband.hpp>
#include <dissect/mad/mad.hpp>
#include <transport-replay/checks/passive/packet_facts.hpp>

#include <bit>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr std::uint16_t kLowestPort = 0xc000;    // A17.3.1: the dynamic ports
constexpr std::uint32_t kLongestPayload = 4096;  // the largest path MTU (5.2.7)
constexpr std::uint64_t kGsiQkey = 0x8001'0000;  // 13.5.3
constexpr std::uint32_t kMadLength = 256;        // C13-3
constexpr std::uint32_t kSmallestFrame = 68;     // of Ethernet, with a tag and its FCS: what is shorter is padded
constexpr std::size_t kBthLength = 12;
constexpr std::uint8_t kUcResponses = 0x20, kUdResponses = 0x60;
constexpr std::uint8_t kFirstResponse = 0x0d, kLastResponse = 0x12;  // opcodes of responses, without their service

// The BTH as two words, and its fields by the table.
struct Bth {
    std::uint64_t high = 0;
    std::uint32_t low = 0;
    [[nodiscard]] constexpr std::uint64_t operator[](const Field& field) const {
        if (field.bit < 64) return high << field.bit >> (64 - field.width);
        return low << (field.bit - 64) >> (32 - field.width);
    }
};
constexpr Field kSe = named(kBthFields, "infiniband.bth.se");
constexpr Field kMigReq = named(kBthFields, "infiniband.bth.m");
constexpr Field kPad = named(kBthFields, "infiniband.bth.padcnt");
constexpr Field kTver = named(kBthFields, "infiniband.bth.tver");
constexpr Field kFecn = named(kBthFields, "infiniband.bth.fecn");
constexpr Field kBecn = named(kBthFields, "infiniband.bth.becn");
constexpr Field kResv6 = named(kBthFields, "infiniband.bth.reserved6");
constexpr Field kAckReq = named(kBthFields, "infiniband.bth.a");
constexpr Field kResv7 = named(kBthFields, "infiniband.bth.reserved7");

void is(PacketFacts& facts, PacketTrait trait) { facts.traits |= std::to_underlying(trait); }
void breaks(PacketFacts& facts, Passive check, bool broken) {
    if (broken) facts.wrong |= bit(check);
}

[[nodiscard]] bool all_zero(Bytes bytes) {
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
}

[[nodiscard]] std::uint64_t folded(Bytes bytes) {
    std::uint64_t sum = mix(bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint32_t))
        sum = mix(sum + load_be<std::uint32_t>(bytes, at));
    return sum;
}

// Of a payload and of the headers that belong to it: words, all of them.
[[nodiscard]] std::uint32_t digest_of(std::uint32_t crc, std::uint32_t length, std::uint64_t headers) {
    const std::uint64_t sum = mix(headers + mix(std::uint64_t{length} << 32 | crc));
    const auto digest = static_cast<std::uint32_t>(sum >> 32 ^ sum);
    return digest == 0 ? 1 : digest;
}
[[nodiscard]] bool belongs_to_payload(LayerKind kind) {
    return kind == LayerKind::immdt || kind == LayerKind::ieth || kind == LayerKind::atomiceth;
}

void look_at_ipv4(const Packet& packet, const Layer& layer, PacketFacts& facts) {
    const Bytes bytes = packet.bytes_of(layer);
    constexpr std::size_t kShortest = 20;
    if (bytes.size() < kShortest) return;
    is(facts, PacketTrait::ipv4);
    facts.ecn = static_cast<std::uint8_t>(read_bits(bytes, 14, 2));
    const std::uint64_t header = read_bits(bytes, 4, 4) * 4;
    const bool df = read_bits(bytes, 49, 1) != 0;
    const bool fragment = read_bits(bytes, 50, 14) != 0;
    const auto total = read_be<std::uint16_t>(bytes, 2);
    const Layer* udp = find(packet, LayerKind::udp);
    for (const Layer& each : packet.layers())
        if (each.kind == LayerKind::udp && each.offset > layer.offset) udp = &each;  // behind tunnels
    const bool fits = udp == nullptr || read_be<std::uint16_t>(packet.bytes_of(*udp), 4) + header == total;
    breaks(facts, Passive::fmt_17, header != kShortest || !df || fragment || !fits);
}

void look_at_grh(const Packet& packet, const Layer& layer, PacketFacts& facts) {
    is(facts, PacketTrait::roce_v1);
    const Bytes bytes = packet.bytes_of(layer);
    constexpr std::size_t kLength = 40;
    if (bytes.size() < kLength) return;
    const std::uint64_t length = read_be<std::uint16_t>(bytes, 4);
    const std::uint64_t end = layer.offset + kLength + length;
    constexpr std::uint64_t kFcs = 4;  // which some taps keep
    const bool fills = end + kFcs >= packet.frame.wire_length || packet.frame.wire_bytes() <= kSmallestFrame;
    const bool right =
        read_bits(bytes, 0, 4) == 6 && read_be<std::uint8_t>(bytes, 6) == 0x1b && length % 4 == 0 && fills;
    breaks(facts, Passive::fmt_19, !right || layer.fault == Fault::bad_length);
}

void look_at_lrh(const Packet& packet, PacketFacts& facts) {
    is(facts, PacketTrait::native);
    const Layer* layer = find(packet, LayerKind::lrh);
    if (layer == nullptr) return;
    const Bytes bytes = packet.bytes_of(*layer);
    if (bytes.size() < 8) return;
    const bool global = find(packet, LayerKind::grh) != nullptr;
    const std::uint64_t next = read_bits(bytes, 14, 2);
    const bool right = read_bits(bytes, 4, 4) == 0 &&
                       next == std::to_underlying(global ? LinkNextHeader::grh : LinkNextHeader::transport);
    breaks(facts, Passive::fmt_20, !right || layer->fault == Fault::bad_length || packet.vcrc.status == CrcStatus::bad);
}

void look_at_network(const Packet& packet, PacketFacts& facts) {
    const Layer& layer = packet.layer_storage[packet.network_layer];
    if (packet.encapsulation == Encapsulation::native) return look_at_lrh(packet, facts);
    if (packet.encapsulation == Encapsulation::roce_v1) return look_at_grh(packet, layer, facts);
    is(facts, PacketTrait::roce_v2);
    if (layer.kind == LayerKind::ipv4) look_at_ipv4(packet, layer, facts);
    else facts.ecn = static_cast<std::uint8_t>(read_bits(packet.bytes_of(layer), 10, 2));
    const Layer* udp = nullptr;
    for (const Layer& each : packet.layers())
        if (each.kind == LayerKind::udp && each.fault == Fault::none) udp = &each;
    if (udp != nullptr) breaks(facts, Passive::fmt_16, read_be<std::uint16_t>(packet.bytes_of(*udp), 0) < kLowestPort);
}

// What a transport packet shows of itself, by whichever way it came.
struct Seen {
    Bth bth;
    Opcode opcode{};
    bool native = false;
    std::uint32_t length = 0;  // of the payload
    Bytes pad;                 // as captured
};

// 9.2.4: headers, payload and pad are words.
void look_at_pad(const Seen& seen, PacketFacts& facts) {
    const std::uint64_t pad = seen.bth[kPad];
    if (seen.length % 4 == 0 && pad == 0) return;
    is(facts, PacketTrait::padded);
    breaks(facts, Passive::fmt_02,
           (seen.length + pad) % 4 != 0 || (pad != 0 && seen.length == 0) || !all_zero(seen.pad));
}

// 9.2.3, oA19-6: SE belongs to what consumes a receive of the responder.
[[nodiscard]] bool may_solicit(const OpcodeRow& row) {
    const bool ends = ends_message(row.place);
    if (!row.request || !ends) return false;
    return row.verb == Verb::send ||
           (row.verb == Verb::write && std::ranges::find(row.headers, LayerKind::immdt) != row.headers.end());
}

void look_at_service(const Seen& seen, const OpcodeRow& row, PacketFacts& facts) {
    const auto code = std::to_underlying(seen.opcode);
    const Bth& bth = seen.bth;
    if (row.service == Service::rc || row.service == Service::xrc) {
        is(facts, PacketTrait::connected);
        breaks(facts, Passive::fmt_08, bth[kMigReq] == 0);
        return;
    }
    if (row.service != Service::uc && row.service != Service::ud) return;
    is(facts, PacketTrait::unreliable);
    breaks(facts, Passive::fmt_09, bth[kAckReq] != 0);
    const auto operation = static_cast<std::uint8_t>(code - (row.service == Service::uc ? kUcResponses : kUdResponses));
    breaks(facts, Passive::rsp_50, operation >= kFirstResponse && operation <= kLastResponse);
    if (row.service != Service::ud) return;
    is(facts, PacketTrait::datagram);
    breaks(facts, Passive::req_35, seen.length > kLongestPayload || (!row.defined && operation < kFirstResponse));
}

void look_at_gsi(const Packet& packet, PacketFacts& facts) {
    const Layer* deth = find(packet, LayerKind::deth);
    if (deth == nullptr || deth->fault != Fault::none) return;
    is(facts, PacketTrait::to_gsi);
    const Bytes bytes = packet.bytes_of(*deth);
    breaks(facts, Passive::fmt_22,
           read(bytes, named(kDethFields, "infiniband.deth.q_key")) != kGsiQkey ||
               read(bytes, named(kDethFields, "infiniband.deth.srcqp")) != std::to_underlying(kGsiQpn) ||
               packet.payload.length != kMadLength);
}

// A17.9.3. The P_Key is that of the queue pair, so anything.
void look_at_cnp(const Seen& seen, Psn psn, bool zeros, PacketFacts& facts) {
    is(facts, PacketTrait::cnp);
    const Bth& bth = seen.bth;
    const bool flags =
        bth[kSe] == 0 && bth[kMigReq] == 0 && bth[kPad] == 0 && bth[kFecn] == 0 && bth[kBecn] == 1 && bth[kAckReq] == 0;
    breaks(facts, Passive::cnp_01, !zeros || !flags || psn != Psn{} || seen.length != 0);
}

void take_digest(const Packet& packet, PacketFacts& facts) {
    if (packet.payload.captured != packet.payload.length) return;
    std::uint64_t headers = 0;
    for (const Layer& layer : packet.layers().subspan(packet.bth_layer))
        if (belongs_to_payload(layer.kind)) {
            if (layer.fault != Fault::none) return;
            headers += folded(packet.bytes_of(layer));
        }
    facts.digest = digest_of(crc_of(packet.payload_bytes()), packet.payload.length, headers);
}

// The ICRC was right, so the CRC of the payload is in it.
[[nodiscard]] std::uint32_t crc_of_payload(const StraightPacket& packet, CrcShift& shift) {
    constexpr std::uint32_t kShort = 256;  // bytes: read as fast as the head is
    const Observation& seen = packet.observation;
    const std::size_t head = packet.places.behind - packet.places.network;
    const bool whole = seen.icrc == CrcStatus::good && seen.payload_length > kShort && head <= kMostHead;
    if (whole && (read_be<std::uint8_t>(packet.frame.bytes, packet.places.bth + 1) >> 4 & 3) == 0) {
        const Bytes covered = packet.frame.bytes.subspan(packet.places.network, head + seen.payload_length);
        const IcrcCoverage coverage = packet.places.version_6 ? IcrcCoverage::roce_v2_ipv6 : IcrcCoverage::roce_v2_ipv4;
        const std::uint32_t before = crc_of_head(coverage, covered, head);
        if (const auto crc = shift.end_of(std::byteswap(seen.icrc_found), before, seen.payload_length)) return *crc;
    }
    return crc_of(seen.payload);
}

void take_digest(const StraightPacket& packet, const OpcodeRow& row, CrcShift& shift, PacketFacts& facts) {
    const Observation& seen = packet.observation;
    if (seen.payload.size() != seen.payload_length) return;
    std::uint64_t headers = 0;
    std::size_t at = packet.places.bth + kBthLength;
    for (std::size_t i = 0; i < row.header_count; ++i) {
        const std::size_t length = kTransportLengths[static_cast<std::size_t>(row.headers[i])];
        if (belongs_to_payload(row.headers[i])) headers += folded(packet.frame.bytes.subspan(at, length));
        at += length;
    }
    facts.digest = digest_of(crc_of_payload(packet, shift), seen.payload_length, headers);
}

[[nodiscard]] Bth bth_of(Bytes bytes) { return {load_be<std::uint64_t>(bytes, 0), load_be<std::uint32_t>(bytes, 8)}; }

// What its BTH and its length alone say of any but a CNP.
void look_at_bth(const Seen& seen, const OpcodeRow& row, PacketFacts& facts) {
    look_at_pad(seen, facts);
    if (!seen.native) breaks(facts, Passive::fmt_21, seen.bth[kFecn] != 0 || seen.bth[kBecn] != 0);
    if (seen.bth[kSe] != 0) {
        is(facts, PacketTrait::solicited);
        breaks(facts, Passive::fmt_10, !may_solicit(row));
    }
    look_at_service(seen, row, facts);
}

void begin(const Seen& seen, PacketFacts& facts) {
    is(facts, PacketTrait::transport);
    if (!seen.native) is(facts, PacketTrait::roce);
    breaks(facts, Passive::fmt_06, seen.bth[kResv6] != 0 || seen.bth[kResv7] != 0 || seen.bth[kTver] != 0);
}

[[nodiscard]] bool is_cnp(Opcode opcode) { return opcode == Opcode::cnp || opcode == Opcode::cnp_native; }
[[nodiscard]] bool has_digest(const OpcodeRow& row) { return row.request && row.defined && row.service != Service::ud; }

}  // namespace

void look_at(const Packet& packet, PacketFacts& facts) {
    facts = {};
    if (packet.encapsulation == Encapsulation::none || !packet.has_transport()) return;
    const Bytes bytes = packet.bytes_of(packet.layer_storage[packet.bth_layer]);
    if (packet.icrc.status == CrcStatus::good || packet.icrc.status == CrcStatus::bad) is(facts, PacketTrait::checked);
    if (packet.icrc.status == CrcStatus::bad) {
        breaks(facts, Passive::fmt_01, true);
        return;
    }
    if (bytes.size() < kBthLength) return;
    const Layer* pad = find(packet, LayerKind::pad);
    const Seen seen{.bth = bth_of(bytes),
                    .opcode = packet.opcode,
                    .native = packet.encapsulation == Encapsulation::native,
                    .length = packet.payload.length,
                    .pad = pad == nullptr ? Bytes{} : packet.bytes_of(*pad)};
    const OpcodeRow& row = info(packet.opcode);
    begin(seen, facts);
    look_at_network(packet, facts);
    if (is_cnp(packet.opcode)) {
        const Layer* reserved = find(packet, LayerKind::cnp_reserved);
        const bool zeros = reserved != nullptr && (reserved->fault == Fault::cut || reserved->fault == Fault::none) &&
                           all_zero(packet.bytes_of(*reserved));
        if (!seen.native) look_at_cnp(seen, packet.psn, zeros, facts);
        facts.wrong &= ~bit(Passive::fmt_16);
        return;
    }
    look_at_bth(seen, row, facts);
    if (packet.dest_qp == kGsiQpn && row.service == Service::ud) look_at_gsi(packet, facts);
    else if (has_digest(row)) take_digest(packet, facts);
}

bool look_at(const StraightPacket& packet, CrcShift& shift, PacketFacts& facts) {
    const auto& [frame, observation, places] = packet;
    const OpcodeRow& row = info(observation.opcode);
    const bool to_gsi = observation.flow.destination_qp == kGsiQpn && row.service == Service::ud;
    if (observation.icrc == CrcStatus::bad || to_gsi) return false;
    facts = {};
    if (observation.icrc == CrcStatus::good) is(facts, PacketTrait::checked);
    const Bytes network = frame.bytes.subspan(places.network, places.bth - places.network);
    const std::size_t end = places.behind + observation.payload_length;
    Seen seen{.bth = bth_of(frame.bytes.subspan(places.bth, kBthLength)),
              .opcode = observation.opcode,
              .length = observation.payload_length,
              .pad = {}};
    if (seen.bth[kPad] != 0) seen.pad = slice(frame.bytes, end, seen.bth[kPad]);
    begin(seen, facts);
    is(facts, PacketTrait::roce_v2);
    if (places.version_6) {
        facts.ecn = static_cast<std::uint8_t>(load_be<std::uint16_t>(network, 0) >> 4 & 3);
    } else {  // without options, no fragment, and its lengths agree
        constexpr std::uint16_t kDontFragment = 0x4000;
        is(facts, PacketTrait::ipv4);
        facts.ecn = read_be<std::uint8_t>(network, 1) & 3;
        breaks(facts, Passive::fmt_17, (load_be<std::uint16_t>(network, 6) & kDontFragment) == 0);
    }
    if (is_cnp(observation.opcode)) {
        const Bytes reserved = frame.bytes.subspan(places.bth + kBthLength, places.behind - places.bth - kBthLength);
        look_at_cnp(seen, observation.psn, all_zero(reserved), facts);
        return true;
    }
    breaks(facts, Passive::fmt_16, observation.udp_source_port < kLowestPort);
    look_at_bth(seen, row, facts);
    if (has_digest(row)) take_digest(packet, row, shift, facts);
    return true;
}

}  // namespace qps::transport::conformance
