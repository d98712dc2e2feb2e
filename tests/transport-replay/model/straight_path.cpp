// The straight path: of whatever it takes it makes the observation that decode() and observe() make, and it takes what
// RDMA is made of. Samples, packets of every opcode cut at every byte, and packets of which every bit was turned. So
// with the facts that passive checks ask for.
#include <dissect/base/crc_shift.hpp>
#include <dissect/base/icrc.hpp>
#include <dissect/headers/internet.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/mutation.hpp>
#include <tests/support/packets.hpp>
#include <tests/support/same_observation.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/checks/passive/packet_facts.hpp>
#include <transport-replay/model/straight_path.hpp>

#include <map>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::conformance;
using namespace qps::tests;

namespace {

// Whether the frame went the straight way, to the same end as the other.
bool goes_straight(const Frame& frame) {
    static Observation straight, by_layers;  // what a packet before left must not matter
    const auto places = observe_straight(frame, straight);
    if (!places) return false;
    Packet packet;
    decode(frame, packet);
    observe(packet, by_layers);
    INFO("frame " << std::to_underlying(frame.index));
    const std::string_view differs = difference(straight, by_layers);
    if (!differs.empty()) CHECK(differs == "");
    const bool same_places = packet.layer_storage[packet.network_layer].offset == places->network &&
                             packet.layer_storage[packet.bth_layer].offset == places->bth &&
                             packet.payload.offset == places->behind &&
                             (packet.layer_storage[packet.network_layer].kind == LayerKind::ipv6) == places->version_6;
    if (!same_places) CHECK(same_places);
    static CrcShift shift;
    PacketFacts facts, facts_by_layers;
    if (look_at(StraightPacket{frame, straight, *places}, shift, facts)) {
        look_at(packet, facts_by_layers);
        if (!(facts == facts_by_layers)) CHECK(facts.wrong == facts_by_layers.wrong);
        if (!(facts == facts_by_layers)) CHECK(facts.digest == facts_by_layers.digest);
        if (!(facts == facts_by_layers)) CHECK(facts.traits == facts_by_layers.traits);
        if (!(facts == facts_by_layers)) CHECK(facts.ecn == facts_by_layers.ecn);
    } else {
        CHECK((packet.icrc.status == CrcStatus::bad || packet.dest_qp == kGsiQpn));
    }
    return true;
}

Frame frame_of(const std::vector<std::byte>& bytes, std::size_t captured) {
    Frame frame;
    frame.bytes = Bytes(bytes).first(std::min(captured, bytes.size()));
    frame.wire_length = static_cast<std::uint32_t>(bytes.size());
    frame.time = Instant{1};
    return frame;
}

PacketSpec spec_of(Opcode opcode, bool version_6, bool tagged, std::size_t payload) {
    PacketSpec spec = transport_packet(opcode, version_6 ? Network::roce_v2_ipv6 : Network::roce_v2_ipv4);
    for (const char* field : {"infiniband.deth.srcqp", "infiniband.bth.destqp", "infiniband.bth.psn",
                              "infiniband.reth.va", "infiniband.aeth.msn", "infiniband.immdt"})
        set(spec, field, 0x123456);
    if (tagged) {
        HeaderSpec tag{LayerKind::vlan};
        set(tag, "vlan.id", 7);
        set(tag, "vlan.priority", 3);
        insert_before(spec, version_6 ? LayerKind::ipv6 : LayerKind::ipv4, {tag});
    }
    if (info(opcode).carries_payload) spec.payload.assign(payload, std::byte{0x5a});
    return spec;
}

}  // namespace

TEST_CASE("straight path: every sample is observed as it is by its layers") {
    std::size_t transport = 0, straight = 0;
    for (const std::string& path : sample_captures()) {
        auto file = CaptureFile::open(path);
        REQUIRE(file.has_value());
        Batch batch;
        Packet packet;
        while (file->read(batch))
            for (const Frame& frame : batch.frames) {
                decode(frame, packet);
                if (packet.encapsulation == Encapsulation::roce_v2 && packet.has_transport()) ++transport;
                if (goes_straight(frame)) ++straight;
            }
    }
    CHECK(transport > 10'000);
    CHECK(straight * 10 > transport * 9);  // tunnels, options and management go the other way
}

TEST_CASE("straight path: every opcode, cut at every byte") {
    for (unsigned code = 0; code < 256; ++code)
        for (const bool version_6 : {false, true})
            for (const bool tagged : {false, true})
                for (const std::size_t payload : {0U, 1U, 64U, 257U}) {
                    const std::vector<std::byte> bytes =
                        build(spec_of(Opcode{static_cast<std::uint8_t>(code)}, version_6, tagged, payload));
                    CAPTURE(code, version_6, tagged, payload);
                    REQUIRE(goes_straight(frame_of(bytes, bytes.size())));
                    for (std::size_t captured = 0; captured < bytes.size(); captured += payload < 64 ? 1 : 13)
                        static_cast<void>(goes_straight(frame_of(bytes, captured)));
                }
}

TEST_CASE("straight path: what stands behind the datagram is no part of it") {
    PacketSpec spec = spec_of(Opcode{0x0a}, false, false, 100);
    spec.trailer.assign(18, std::byte{0xee});
    const std::vector<std::byte> bytes = build(spec);
    CHECK(goes_straight(frame_of(bytes, bytes.size())));
    Frame longer = frame_of(bytes, bytes.size());
    longer.wire_length += 4;  // an FCS that was not captured
    CHECK(goes_straight(longer));
}

TEST_CASE("straight path: the CRC of a payload from that of its packet, of lengths that come often and of others") {
    CrcShift shift;
    std::vector<std::byte> bytes;
    for (unsigned i = 0; i < 5000; ++i) bytes.push_back(static_cast<std::byte>(i * 2654435761U >> 24));
    std::size_t known = 0;
    const auto ask = [&](std::size_t length) {
        constexpr std::size_t kHead = 60;
        const auto crc =
            shift.end_of(crc_of(Bytes(bytes).first(kHead + length)), crc_of(Bytes(bytes).first(kHead)), length);
        if (!crc) return;
        ++known;
        CHECK(*crc == crc_of(Bytes(bytes).subspan(kHead, length)));
    };
    for (std::size_t length = 0; length < 4900; ++length) ask(length);
    CHECK(known == 0);  // each came once
    for (const std::size_t length : {0U, 1U, 256U, 1024U, 1027U, 4096U})
        for (std::size_t round = 0; round < 6; ++round) ask(length);
    CHECK(known == 6 * 3);
}

TEST_CASE("straight path: every bit turned, with the ICRC right again and as it was") {
    std::map<bool, std::size_t> count;
    for (const int code : {0x06, 0x04, 0x0a, 0x11, 0x12, 0x13, 0x16, 0x1c, 0x64, 0x65, 0x81, 0xa6})
        for (const bool version_6 : {false, true})
            for (const bool tagged : {false, true})
                for (const bool sealed : {false, true}) {
                    const std::vector<std::byte> bytes =
                        build(spec_of(static_cast<Opcode>(code), version_6, tagged, 5));
                    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
                        RecordedFrame turned{bytes, LinkType::ethernet};
                        turned.bytes[bit / 8] ^= std::byte{0x80} >> bit % 8;
                        if (sealed) seal_icrc(turned);
                        CAPTURE(code, version_6, tagged, sealed, bit);
                        ++count[goes_straight(turned.frame(1))];
                    }
                }
    CHECK(count[true] > 10'000);
    CHECK(count[false] > 5'000);  // what is wrong with them is for the decoder to say
}

TEST_CASE("straight path: management, other links and what is no transport packet go the other way") {
    const auto refuses = [](const PacketSpec& spec, LinkType link = LinkType::ethernet) {
        const std::vector<std::byte> bytes = build(spec);
        Frame frame = frame_of(bytes, bytes.size());
        frame.link = link;
        return !goes_straight(frame);
    };
    PacketSpec datagram = spec_of(Opcode::ud_send_only, false, false, 256);
    CHECK_FALSE(refuses(datagram));
    CHECK(refuses(datagram, LinkType::raw_ip));
    set(datagram, "infiniband.bth.destqp", 1);
    CHECK(refuses(datagram));
    PacketSpec from_gsi = spec_of(Opcode::ud_send_only, false, false, 256);
    set(from_gsi, "infiniband.deth.srcqp", 1);
    CHECK(refuses(from_gsi));
    CHECK(refuses(transport_packet(Opcode{0x04}, Network::roce_v1)));
    CHECK(refuses(transport_packet(Opcode{0x04}, Network::native_local), LinkType::infiniband));
    PacketSpec options = spec_of(Opcode{0x04}, false, false, 8);
    find(options, LayerKind::ipv4)->tail.assign(4, std::byte{1});
    CHECK(refuses(options));
    PacketSpec other_port = spec_of(Opcode{0x04}, false, false, 8);
    set(other_port, "udp.dstport", 4800);
    CHECK(refuses(other_port));
}
