// Fuzzer of the reconstruction, deeper: eight bytes are a packet between one of a few pairs of queue pairs, near what
// is due, so that chance finds losses, repetitions, answers to nothing and queue pairs that are connected and begin
// anew.
#include <dissect/packet/build.hpp>
#include <tests/fuzz/followed.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace {

using namespace qps;
using namespace dissect;

constexpr std::size_t kPacketBytes = 8;
constexpr std::size_t kMostPackets = 1024;
constexpr std::size_t kPairs = 4;
constexpr std::uint32_t kMtu = 1024;

// What the bytes of a packet mean.
struct Wish {
    std::span<const std::uint8_t, kPacketBytes> bytes;
    [[nodiscard]] std::uint8_t end() const { return bytes[0] & 1; }  // that sends it
    [[nodiscard]] std::uint8_t pair() const { return bytes[0] >> 1 & 3; }
    [[nodiscard]] bool other_tap() const { return (bytes[0] & 8) != 0; }
    [[nodiscard]] bool same_datagram() const { return (bytes[0] & 16) != 0; }  // IP identification as before
    [[nodiscard]] bool ack_request() const { return (bytes[0] & 32) != 0; }
    [[nodiscard]] bool marked() const { return (bytes[0] & 64) != 0; }
    [[nodiscard]] bool management() const { return bytes[1] >= 0xe0; }  // in place of a manufacturer's opcode
    [[nodiscard]] Opcode opcode() const { return Opcode{bytes[1]}; }
    [[nodiscard]] std::int8_t psn_step() const { return static_cast<std::int8_t>(bytes[2]); }
    [[nodiscard]] std::uint8_t time_step() const { return bytes[3]; }
    [[nodiscard]] std::uint8_t syndrome() const { return bytes[4]; }
    [[nodiscard]] std::uint8_t length() const { return bytes[5]; }
    [[nodiscard]] std::uint8_t key() const { return bytes[6]; }
    [[nodiscard]] bool corrupt() const { return (bytes[7] & 15) == 15; }
    [[nodiscard]] bool cut() const { return bytes[7] >> 4 == 15; }
};

struct Conversation {
    std::array<std::array<Psn, 2>, kPairs> next{};  // of the requests of each end
    std::uint64_t time = 0;
    std::uint64_t frame = 0;
    std::uint16_t ip_id = 0;
};

// Steps of time and lengths from nothing to anything in a byte.
std::uint64_t power(std::uint8_t byte) { return (byte & 63) == 0 ? 0 : std::uint64_t{1} << (byte & 63); }

std::uint32_t queue_pair(const Wish& wish, std::uint8_t end) { return 16U + 2U * wish.pair() + end; }

// PSNs that a request takes: a READ those of its responses.
std::uint32_t span_of(const Wish& wish) {
    constexpr std::uint64_t kMost = 64;
    if (info(wish.opcode()).verb != Verb::read_request) return 1;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(power(wish.length() & 31) / kMtu, 1, kMost));
}

// Near the newest request of whom it concerns; at the ends of the range far from it.
Psn psn_of(const Wish& wish, Conversation& dialogue) {
    constexpr std::uint32_t kHalf = 1 << 23;
    const bool request = info(wish.opcode()).request;
    Psn& next = dialogue.next[wish.pair()][request ? wish.end() : 1 - wish.end()];
    const auto step = wish.psn_step();
    if (step == 127 || step == -128) next = next + (kHalf - static_cast<std::uint32_t>(step));
    const Psn psn = next + static_cast<std::uint32_t>(request ? step : step - 1);
    if (request && !psn.before(next)) next = psn + span_of(wish);
    return psn;
}

PacketSpec cm_message(const Wish& wish, const Conversation& dialogue) {
    const auto first = std::ranges::find(kMadAttributes, MadGroup::communication, &MadAttribute::group);
    constexpr std::uint8_t kMessages = 13;
    PacketSpec spec =
        mad_packet(ManagementClass::communication, *(first + wish.bytes[1] % kMessages), Network::roce_v2_ipv4);
    const auto id = [&](std::uint8_t end) { return queue_pair(wish, end) << 8 | wish.key() >> 6; };
    for (const char* own :
         {"infiniband.cm.req", "infiniband.cm.rep", "infiniband.cm.rtu.localcommid", "infiniband.cm.rej.localcommid",
          "infiniband.cm.dreq.localcommid", "infiniband.cm.drsp.localcommid"})
        set(spec, own, id(wish.end()));
    for (const char* peer :
         {"infiniband.cm.rep.remotecommid", "infiniband.cm.rtu.remotecommid", "infiniband.cm.rej.remotecommid",
          "infiniband.cm.dreq.remotecommid", "infiniband.cm.drsp.remotecommid"})
        set(spec, peer, id(1 - wish.end()));
    for (const char* number : {"infiniband.cm.req.localqpn", "infiniband.cm.rep.localqpn"})
        set(spec, number, queue_pair(wish, wish.end()));
    for (const char* start : {"infiniband.cm.req.startpsn", "infiniband.cm.rep.startpsn"})
        set(spec, start, dialogue.next[wish.pair()][wish.end()].value());
    return spec;
}

PacketSpec message_packet(const Wish& wish, Conversation& dialogue) {
    PacketSpec spec = transport_packet(wish.opcode(), Network::roce_v2_ipv4);
    set(spec, "infiniband.bth.destqp", queue_pair(wish, 1 - wish.end()));
    set(spec, "infiniband.bth.psn", psn_of(wish, dialogue).value());
    set(spec, "infiniband.bth.a", wish.ack_request() ? 1 : 0);
    set(spec, "infiniband.deth.srcqp", queue_pair(wish, wish.end()));
    set(spec, "infiniband.reth.dmalen", power(wish.length() & 31));
    set(spec, "infiniband.reth.va", wish.key());
    set(spec, "infiniband.reth.r_key", wish.key());
    set(spec, "infiniband.aeth.syndrome", wish.syndrome());
    set(spec, "infiniband.aeth.msn", wish.key());
    constexpr std::size_t kLongest = 4096;
    if (info(wish.opcode()).carries_payload)
        spec.payload.resize(std::min<std::size_t>(power(wish.length() & 15), kLongest));
    return spec;
}

void send(fuzz::Followed& followed, const Wish& wish, Conversation& dialogue) {
    constexpr std::uint32_t kNetwork = 0x0a000000;  // 10.0.0.0: two hosts have two of the pairs, two others the rest
    PacketSpec spec = wish.management() ? cm_message(wish, dialogue) : message_packet(wish, dialogue);
    const std::uint32_t hosts = kNetwork + wish.pair() / 2 * 2U;
    set(spec, "ip.src", hosts + wish.end());
    set(spec, "ip.dst", hosts + 1 - wish.end());
    set(spec, "ip.id", wish.same_datagram() ? dialogue.ip_id : ++dialogue.ip_id);
    set(spec, "ip.ttl", wish.other_tap() ? 63 : 64);
    set(spec, "ip.dsfield.ecn", wish.marked() ? 3 : 2);
    if (wish.corrupt()) spec.icrc = 0;
    const std::vector<std::byte> bytes = build(spec);
    Frame frame = frame_of(spec, bytes, wish.cut() ? bytes.size() - wish.length() % 64 : bytes.size());
    dialogue.time += wish.time_step() < 128 ? power(wish.time_step()) : 0 - power(wish.time_step());
    frame.time = Instant{static_cast<std::int64_t>(dialogue.time)};
    frame.index = FrameIndex{++dialogue.frame};
    frame.interface = InterfaceId{wish.other_tap() ? 1U : 0U};
    Packet packet;
    decode(frame, packet);
    transport::Observation observation;
    transport::observe(packet, observation);
    followed.observe(observation);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span bytes(data, std::min(size, kMostPackets * kPacketBytes));
    fuzz::Followed followed;
    Conversation dialogue;
    for (std::size_t at = 0; at + kPacketBytes <= bytes.size(); at += kPacketBytes)
        send(followed, {bytes.subspan(at).first<kPacketBytes>()}, dialogue);
    followed.finish();
    return 0;
}
