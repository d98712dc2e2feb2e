// What holds of devices on an interface alone: tags, filters, overflow, an interface that goes.
#include <dissect/base/packet.hpp>
#include <tests/devices/pair.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/live/device/packet_ring.hpp>
#include <transport-replay/live/device/pcap_device.hpp>
#include <transport-replay/live/device/udp_device.hpp>

using namespace qps::transport::live;
using namespace qps::dissect;
using qps::test::Pair;

namespace {

std::vector<std::byte> tagged(std::vector<std::byte> frame, std::uint16_t protocol, std::uint16_t tag) {
    frame.insert(frame.begin() + 12, 4, std::byte{0});
    write_bits(frame, 12 * 8, 16, protocol);
    write_bits(frame, 14 * 8, 16, tag);
    return frame;
}

Pair rings(const PacketRingSettings& receiver = {.interface = "vb"}) {
    auto a = open_packet_ring({.interface = "va"});
    auto b = open_packet_ring(receiver);
    REQUIRE(a);
    REQUIRE(b);
    return {.a = std::move(*a), .b = std::move(*b)};
}

}  // namespace

TEST_CASE("VLAN tags that the kernel takes off are put back") {
    qps::test::in_namespace([] {
        Pair pair = rings();
        const std::vector<std::vector<std::byte>> frames{
            tagged(pair.frame(1082, 1), 0x8100, 0x6064), pair.frame(1082, 2),
            tagged(pair.frame(318, 3), 0x88a8, 0x0007), tagged(tagged(pair.frame(318, 4), 0x8100, 5), 0x88a8, 6),
            tagged(pair.frame(9014, 5), 0x8100, 0x0fff)};
        for (const auto& frame : frames) pair.send(frame);
        pair.a.flush(pair.now);
        const auto received = pair.receive(frames.size());
        REQUIRE(received.size() == frames.size());
        for (std::size_t i = 0; i < frames.size(); ++i) CHECK(received[i] == frames[i]);
    });
}

TEST_CASE("a filter keeps foreign frames away") {
    qps::test::in_namespace([] {
        Pair pair = rings({.interface = "vb", .filter = "udp port 4791"});
        pair.source_port = pair.destination_port = 53;
        pair.send(pair.frame(318, 1));
        pair.source_port = pair.destination_port = 4791;
        pair.send(tagged(pair.frame(318, 2), 0x8100, 9));
        pair.send(pair.frame(318, 3));
        pair.a.flush(pair.now);
        const auto received = pair.receive(3);
        REQUIRE(received.size() == 2);
        CHECK(received[1] == pair.frame(318, 3));

        const auto wrong = open_packet_ring({.interface = "vb", .filter = "udp sport port"});
        REQUIRE_FALSE(wrong);
        CHECK(wrong.error().sentence.find("udp sport port") != std::string::npos);
        CHECK_FALSE(open_pcap_device("vb", "udp sport port"));
    });
}

TEST_CASE("what does not fit the ring is counted, and the ring works on") {
    qps::test::in_namespace([] {
        Pair pair = rings({.interface = "vb", .ring_bytes = kMinRing});
        constexpr std::size_t kFrames = 1000;  // the ring has about a hundred slots of a jumbo frame
        for (std::size_t i = 0; i < kFrames; ++i) pair.send(pair.frame(318, static_cast<std::uint32_t>(i)));
        pair.a.flush(pair.now);
        const auto received = pair.receive(kFrames);
        CHECK(received.size() > kDeviceBatch);
        CHECK(received.size() < kFrames);
        CHECK(received.front() == pair.frame(318, 0));
        CHECK(received.size() + pair.b.counts().dropped == kFrames);
        CHECK(received.size() + pair.b.counts().dropped == kFrames);  // asking again counts nothing twice
        pair.send(pair.frame(318, 77));
        pair.a.flush(pair.now);
        const auto after = pair.receive(1);
        REQUIRE(after.size() == 1);
        CHECK(after[0] == pair.frame(318, 77));
    });
}

TEST_CASE("frames longer than the interface carries are refused, and those after them go") {
    qps::test::in_namespace([] {
        Pair pair = rings();
        const auto too_long = pair.frame(9022, 1);
        REQUIRE(too_long.size() > 9018);
        pair.send(pair.frame(318, 0));
        pair.send(too_long);
        pair.send(pair.frame(318, 2));
        pair.a.flush(pair.now);
        CHECK(pair.receive(3).size() == 2);
        CHECK(pair.a.counts().refused == 1);
        CHECK(pair.a.counts().sent == 2);
    });
}

TEST_CASE("an interface that is gone is told, one that is down is waited for") {
    qps::test::in_namespace([] {
        Pair pair = rings();
        const auto look = [&] {
            for (int i = 0; i < 10'000; ++i) static_cast<void>(pair.b.receive(pair.now));
        };
        look();
        CHECK_FALSE(pair.b.problem());
        REQUIRE(qps::test::run("ip link set vb down"));
        look();
        CHECK_FALSE(pair.b.problem());
        REQUIRE(qps::test::run("ip link set vb up"));
        // The kernel takes a while until it sends again.
        bool arrived = false;
        for (int tries = 0; tries < 30 && !arrived; ++tries) {
            pair.send(pair.frame(318, 1));
            pair.a.flush(pair.now);
            arrived = !pair.receive(1).empty();
        }
        CHECK(arrived);
        const std::uint64_t refused = pair.a.counts().refused;
        REQUIRE(qps::test::run("ip link del vb"));
        look();
        REQUIRE(pair.b.problem());
        CHECK(pair.b.problem()->device == "vb");
        pair.send(pair.frame(318, 1));
        pair.a.flush(pair.now);
        CHECK(pair.a.problem());
        CHECK(pair.a.counts().refused == refused + 1);
    });
}

TEST_CASE("a UDP device carries what its interface does") {
    qps::test::in_namespace([] {
        REQUIRE(qps::test::run("ip link set va mtu 1400"));
        REQUIRE(qps::test::run("ip addr add 10.9.9.1/24 dev va"));
        const auto narrow = open_udp_device("10.9.9.1");
        REQUIRE(narrow);
        CHECK(narrow->limits().frame_bytes == 1414);
        const auto wide = open_udp_device("127.0.0.3");
        REQUIRE(wide);
        CHECK(wide->limits().frame_bytes == kLongestFrame);
        CHECK_FALSE(open_udp_device("10.9.9.2"));
    });
}

TEST_CASE("a UDP device at one end, raw frames at the other: what the kernel puts on is what the device says") {
    qps::test::in_namespace([] {
        REQUIRE(qps::test::run("ip addr add 10.9.9.1/24 dev va"));
        REQUIRE(qps::test::run("ip neigh add 10.9.9.2 lladdr 02:00:00:00:00:22 dev va"));
        auto udp = open_udp_device("10.9.9.1");
        auto raw = open_packet_ring({.interface = "vb", .filter = "udp port 4791"});
        auto peer = open_packet_ring({.interface = "va", .receive = false});
        REQUIRE(udp);
        REQUIRE(raw);
        REQUIRE(peer);
        const auto verdict = [](Bytes bytes) {
            Frame frame;
            frame.bytes = bytes;
            frame.wire_length = static_cast<std::uint32_t>(bytes.size());
            Packet packet;
            decode(frame, packet);
            return packet.icrc.status;
        };
        // Out: with another source port, identification and source address than the socket has.
        Pair out{
            .a = std::move(*udp), .b = std::move(*raw), .destination = {"\x0a\x09\x09\x02", 4}, .source_port = 0xc123};
        const auto sent = out.frame(1082, 5);
        out.send(sent);
        out.a.flush(out.now);
        const auto seen = out.receive(1);
        REQUIRE(seen.size() == 1);
        CHECK(verdict(seen[0]) == CrcStatus::good);
        CHECK(read_be<std::uint32_t>(seen[0], 18) == 0x4000);      // identification 0, "don't fragment"
        CHECK(read_be<std::uint16_t>(seen[0], 34) == 4791);        // source port
        CHECK(read_be<std::uint32_t>(seen[0], 26) == 0x0a090901);  // source address
        CHECK(read_be<std::uint8_t>(seen[0], 15) == 0x6a);
        CHECK(read_be<std::uint8_t>(seen[0], 22) == 33);

        // In: with identifications that the socket does not tell.
        const std::uint64_t mac = peer->limits().mac;
        Pair in{.a = std::move(out.b),
                .b = std::move(out.a),
                .source = {"\x0a\x09\x09\x02", 4},
                .destination = {"\x0a\x09\x09\x01", 4}};
        for (const std::uint16_t identification : std::array<std::uint16_t, 4>{0, 1, 4711, 65'535}) {
            auto frame = in.frame(1082, identification, identification);
            write_bits(frame, 0, 48, mac);
            in.send(frame);
            in.a.flush(in.now);
            const auto received = in.receive(1);
            REQUIRE(received.size() == 1);
            CHECK(read_be<std::uint16_t>(received[0], 18) == identification);
            CHECK(verdict(received[0]) == CrcStatus::good);
            CHECK(std::equal(frame.begin() + 12, frame.end(), received[0].begin() + 12, received[0].end()));
        }
    });
}

TEST_CASE("interfaces that cannot be used say why") {
    qps::test::in_namespace([] {
        CHECK(open_packet_ring({.interface = "nowhere"}).error().sentence == "no such interface");
        CHECK(open_packet_ring({.interface = std::string(200, 'x')}).error().sentence == "no such interface");
        CHECK_FALSE(open_pcap_device("nowhere", ""));
        if (qps::test::run("ip tuntap add dev tun9 mode tun"))
            CHECK(open_packet_ring({.interface = "tun9"}).error().sentence == "not an Ethernet interface");
    });
}
