#include <dissect/headers/infiniband.hpp>
#include <dissect/mad/mad.hpp>
#include <transport-replay/checks/passive/packet_facts.hpp>

#include <bit>
#include <cstring>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr std::uint16_t kLowestPort = 0xc000;    // A17.3.1: the dynamic ports
constexpr std::uint32_t kLongestPayload = 4096;  // the largest path MTU (5.2.7)
constexpr std::uint64_t kGsiQkey = 0x8001'0000;  // 13.5.3
constexpr std::uint32_t kMadLength = 256;        // C13-3
constexpr std::uint32_t kSmallestFrame = 68;     // of Ethernet, with a tag and its FCS: what is shorter is padded
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

// Four lanes of eight bytes: a payload is read once more, so that must cost little.
[[nodiscard]] std::uint32_t digest_of(Bytes bytes, std::uint64_t seed) {
    constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
    std::array<std::uint64_t, 4> lanes{seed + 1, seed + 2, seed + 3, bytes.size()};
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    const auto take = [](std::uint64_t& lane, const std::byte* from, std::size_t count) {
        std::uint64_t word = 0;
        std::memcpy(&word, from, count);
        lane = std::rotl((lane ^ word) * kOdd, 29);
    };
    for (; left >= 32; left -= 32, at += 32)
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) take(lanes[lane], at + 8 * lane, 8);
    for (std::size_t lane = 0; left > 0; lane = (lane + 1) % lanes.size()) {
        const std::size_t count = std::min<std::size_t>(left, 8);
        take(lanes[lane], at, count);
        at += count;
        left -= count;
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t lane : lanes) sum = std::rotl((sum ^ lane) * kOdd, 31);
    const auto digest = static_cast<std::uint32_t>(sum >> 32 ^ sum);
    return digest == 0 ? 1 : digest;
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

// 9.2.4: headers, payload and pad are words.
void look_at_pad(const Packet& packet, const Bth& bth, PacketFacts& facts) {
    const std::uint64_t pad = bth[kPad];
    if (packet.payload.length % 4 == 0 && pad == 0) return;
    is(facts, PacketTrait::padded);
    const Layer* layer = find(packet, LayerKind::pad);
    breaks(facts, Passive::fmt_02,
           (packet.payload.length + pad) % 4 != 0 || (pad != 0 && packet.payload.length == 0) ||
               (layer != nullptr && !all_zero(packet.bytes_of(*layer))));
}

// 9.2.3, oA19-6: SE belongs to what consumes a receive of the responder.
[[nodiscard]] bool may_solicit(const OpcodeRow& row) {
    const bool ends = ends_message(row.place);
    if (!row.request || !ends) return false;
    return row.verb == Verb::send ||
           (row.verb == Verb::write && std::ranges::find(row.headers, LayerKind::immdt) != row.headers.end());
}

void look_at_service(const Packet& packet, const Bth& bth, const OpcodeRow& row, PacketFacts& facts) {
    const auto code = std::to_underlying(packet.opcode);
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
    breaks(facts, Passive::req_35,
           packet.payload.length > kLongestPayload || (!row.defined && operation < kFirstResponse));
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
void look_at_cnp(const Packet& packet, const Bth& bth, PacketFacts& facts) {
    is(facts, PacketTrait::cnp);
    const Layer* reserved = find(packet, LayerKind::cnp_reserved);
    const bool zeros = reserved != nullptr && (reserved->fault == Fault::cut || reserved->fault == Fault::none) &&
                       all_zero(packet.bytes_of(*reserved));
    const bool flags =
        bth[kSe] == 0 && bth[kMigReq] == 0 && bth[kPad] == 0 && bth[kFecn] == 0 && bth[kBecn] == 1 && bth[kAckReq] == 0;
    breaks(facts, Passive::cnp_01, !zeros || !flags || packet.psn != Psn{} || packet.payload.length != 0);
}

void take_digest(const Packet& packet, PacketFacts& facts) {
    if (packet.payload.captured != packet.payload.length) return;
    std::uint64_t seed = 0;
    for (const Layer& layer : packet.layers().subspan(packet.bth_layer))
        if (layer.kind == LayerKind::immdt || layer.kind == LayerKind::ieth || layer.kind == LayerKind::atomiceth) {
            if (layer.fault != Fault::none) return;
            seed += digest_of(packet.bytes_of(layer), 0);
        }
    facts.digest = digest_of(packet.payload_bytes(), seed);
}

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
    constexpr std::size_t kBthLength = 12;
    if (bytes.size() < kBthLength) return;
    const Bth bth{read_be<std::uint64_t>(bytes, 0), read_be<std::uint32_t>(bytes, 8)};
    const OpcodeRow& row = info(packet.opcode);
    is(facts, PacketTrait::transport);
    if (packet.encapsulation != Encapsulation::native) is(facts, PacketTrait::roce);
    breaks(facts, Passive::fmt_06, bth[kResv6] != 0 || bth[kResv7] != 0 || bth[kTver] != 0);
    look_at_network(packet, facts);
    const bool is_cnp = packet.opcode == Opcode::cnp || packet.opcode == Opcode::cnp_native;
    if (is_cnp) {
        if (packet.encapsulation != Encapsulation::native) look_at_cnp(packet, bth, facts);
        facts.wrong &= ~bit(Passive::fmt_16);
        return;
    }
    look_at_pad(packet, bth, facts);
    if (packet.encapsulation != Encapsulation::native)
        breaks(facts, Passive::fmt_21, bth[kFecn] != 0 || bth[kBecn] != 0);
    if (bth[kSe] != 0) {
        is(facts, PacketTrait::solicited);
        breaks(facts, Passive::fmt_10, !may_solicit(row));
    }
    look_at_service(packet, bth, row, facts);
    if (packet.dest_qp == kGsiQpn && row.service == Service::ud) look_at_gsi(packet, facts);
    else if (row.request && row.defined && row.service != Service::ud) take_digest(packet, facts);
}

}  // namespace qps::transport::conformance
