// What holds of every device: frames arrive whole and in order, in batches of any size, up to the limits and not
// beyond.
#include <tests/devices/pair.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/live/device/capture_tap.hpp>
#include <transport-replay/live/device/fault_injector.hpp>
#include <transport-replay/live/device/packet_ring.hpp>
#include <transport-replay/live/device/pcap_device.hpp>
#include <transport-replay/live/device/sim_device.hpp>
#include <transport-replay/live/device/tracer.hpp>
#include <transport-replay/live/device/udp_device.hpp>
#include <transport-replay/live/device/xdp_device.hpp>
#include <transport-replay/live/host/addresses.hpp>

#include <unistd.h>

using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::dissect;
using qps::test::Pair;

namespace {

void goes_through(Pair& pair, const std::vector<std::vector<std::byte>>& frames, std::size_t flush_every) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
        pair.send(frames[i]);
        if ((i + 1) % flush_every == 0) pair.a.flush(pair.now);
    }
    pair.a.flush(pair.now);
    const auto received = pair.receive(frames.size());
    REQUIRE(received.size() == frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        INFO("frame " << i << " of " << frames[i].size() << " bytes");
        REQUIRE(comparable(pair, received[i]) == comparable(pair, frames[i]));
    }
}

// `longest`: what the link below carries, where that is less than the limits say.
void behaves(Pair& pair, std::size_t longest) {
    const DeviceLimits limits = pair.a.limits();
    CHECK(limits.frame_bytes >= longest);
    CHECK(limits.frame_bytes <= kLongestFrame);
    CHECK(pair.b.receive(pair.now).empty());

    std::vector<std::vector<std::byte>> sizes;
    for (const std::size_t bytes : {std::size_t{62}, std::size_t{60}, std::size_t{64}, std::size_t{318},
                                    std::size_t{1082}, std::size_t{1514}, std::size_t{4154}, longest})
        if (bytes <= longest) sizes.push_back(pair.frame(bytes, static_cast<std::uint32_t>(sizes.size())));
    goes_through(pair, sizes, 1);

    // Batches: a few, exactly one, more than one batch's worth.
    for (const std::size_t count : {std::size_t{3}, kDeviceBatch, kDeviceBatch * 3 + 5}) {
        std::vector<std::vector<std::byte>> frames;
        for (std::size_t i = 0; i < count; ++i)
            frames.push_back(pair.frame(256, static_cast<std::uint32_t>(0x800000 + i)));
        goes_through(pair, frames, kDeviceBatch);
    }

    // Counts are of what went through so far.
    const DeviceCounts sent = pair.a.counts(), received = pair.b.counts();
    CHECK(sent.sent == sizes.size() + 3 + kDeviceBatch * 4 + 5);
    CHECK(received.received == sent.sent);
    CHECK(received.received_bytes == sent.sent_bytes);
    CHECK(sent.refused == 0);
    CHECK(received.dropped == 0);

    // Room is as long as the limits say; what would be longer, or is no frame, or was not lent, does not go.
    CHECK(pair.a.reserve(pair.now).size() == limits.frame_bytes);
    pair.a.commit(limits.frame_bytes + 1, pair.now);
    static_cast<void>(pair.a.reserve(pair.now));
    pair.a.commit(kEthernetHeader - 1, pair.now);
    pair.a.commit(100, pair.now);
    pair.a.flush(pair.now);
    CHECK(pair.a.counts().refused == 3);
    CHECK(pair.a.counts().sent == sent.sent);
    // And it works on.
    goes_through(pair, {pair.frame(1082, 9)}, 1);
    CHECK_FALSE(pair.a.problem());
    CHECK_FALSE(pair.b.problem());
}

Pair simulated(const LinkSettings& link = {}) {
    const Instant start{1'700'000'000'000'000'000};
    const auto wire = make_wire(link, {}, start);
    return {.a = open_sim_device(wire, End::a), .b = open_sim_device(wire, End::b), .now = start};
}

std::uint16_t some_port() { return static_cast<std::uint16_t>(20'000 + getpid() % 20'000); }

}  // namespace

TEST_CASE("a device: simulated") {
    LinkSettings link;
    link.speed = BitsPerSecond{0};  // no time to send, so that any number fits at once
    Pair pair = simulated(link);
    CHECK_FALSE(pair.a.poll_at());
    CHECK(pair.a.descriptor() == -1);
    behaves(pair, kLongestFrame);
}

TEST_CASE("a simulated device tells when a frame arrives and when there is room") {
    Pair pair = simulated();  // 25 Gbit/s, 2 us
    std::size_t fitted = 0;
    while (!pair.a.reserve(pair.now).empty()) {
        pair.send(pair.frame(4154, 1));
        pair.a.flush(pair.now);
        ++fitted;
    }
    CHECK(fitted == 8);  // 1337 ns each, until more than 10 us lie ahead
    const auto room_at = pair.a.poll_at();
    REQUIRE(room_at);
    CHECK(*room_at > pair.now);
    const auto arrival = pair.b.poll_at();
    REQUIRE(arrival);
    CHECK(static_cast<std::int64_t>(*arrival) - static_cast<std::int64_t>(pair.now) == 2000 + 1336);
    CHECK(pair.b.receive(*arrival + nanoseconds(-1)).empty());
    CHECK(pair.b.receive(*arrival).size() == 1);
    CHECK_FALSE(pair.a.reserve(pair.now + microseconds(2)).empty());
}

TEST_CASE("a device: UDP over IPv4") {
    const std::uint16_t port = some_port();
    auto a = open_udp_device("127.0.0.1", port);
    auto b = open_udp_device("127.0.0.2", port);
    if (!a || !b) {
        WARN("SKIPPED: no UDP socket on the loopback: " << (a ? b.error().sentence : a.error().sentence));
        return;
    }
    CHECK(a->limits().resolves_addresses);
    CHECK(a->limits().udp_source_port == port);
    Pair pair{.a = std::move(*a),
              .b = std::move(*b),
              .source = {"\x7f\0\0\1", 4},
              .destination = {"\x7f\0\0\2", 4},
              .source_port = port,
              .destination_port = port,
              .keeps_ethernet = false};
    behaves(pair, kLongestFrame);
}

TEST_CASE("a device: UDP over IPv6") {
    const std::uint16_t port = some_port();
    auto a = open_udp_device("::1", port);
    auto b = open_udp_device("::1", static_cast<std::uint16_t>(port + 1));
    if (!a || !b) {
        WARN("SKIPPED: no UDP socket on the IPv6 loopback: " << (a ? b.error().sentence : a.error().sentence));
        return;
    }
    const std::string loopback = std::string(15, '\0') + '\1';
    Pair pair{.a = std::move(*a),
              .b = std::move(*b),
              .network = Network::roce_v2_ipv6,
              .source = loopback,
              .destination = loopback,
              .source_port = port,
              .destination_port = static_cast<std::uint16_t>(port + 1),
              .keeps_ethernet = false};
    behaves(pair, kLongestFrame);
}

TEST_CASE("a device: a ring of raw packets") {
    qps::test::in_namespace([] {
        auto a = open_packet_ring({.interface = "va"});
        auto b = open_packet_ring({.interface = "vb"});
        REQUIRE(a);
        REQUIRE(b);
        Pair pair{.a = std::move(*a), .b = std::move(*b)};
        CHECK(pair.a.limits().mac != 0);
        CHECK(pair.a.limits().mac != pair.b.limits().mac);
        behaves(pair, 9014);
    });
}

// `mtu`: at 3400 the program runs in the driver of the veth, at 9000 before the network stack.
void behaves_by_xdp(const std::string& mtu, bool in_driver, std::size_t longest, const std::vector<Address>& b_has) {
    qps::test::in_namespace([&] {
        REQUIRE(qps::test::run("ip link set va mtu " + mtu));
        REQUIRE(qps::test::run("ip link set vb mtu " + mtu));
        XdpMode of_a, of_b;
        auto a = open_xdp_device({.interface = "va", .addresses = {ipv4_address(0x0a4d0001)}}, &of_a);
        auto b = open_xdp_device({.interface = "vb", .addresses = b_has}, &of_b);
        if (qps::test::without_xdp(a)) return;
        REQUIRE(b);
        CHECK(of_a.in_driver == in_driver);
        CHECK(of_b.in_driver == in_driver);
        Pair pair{.a = std::move(*a), .b = std::move(*b)};
        CHECK(pair.a.limits().mac != 0);
        CHECK(pair.a.limits().mac != pair.b.limits().mac);
        behaves(pair, longest);
    });
}

TEST_CASE("a device: AF_XDP in the driver, frames to our address") {
    behaves_by_xdp("3400", true, 3414, {ipv4_address(0x0a4d0002)});
}

TEST_CASE("a device: AF_XDP in the driver, every frame") { behaves_by_xdp("3400", true, 3414, {}); }

TEST_CASE("a device: AF_XDP before the network stack, frames to our address") {
    behaves_by_xdp("9000", false, 3840, {ipv6_address(0xfd00'0000'0000'0000, 7), ipv4_address(0x0a4d0002)});
}

TEST_CASE("a device: AF_XDP at one end, a ring at the other") {
    qps::test::in_namespace([] {
        for (const bool xdp_sends : {false, true}) {
            auto xdp =
                open_xdp_device({.interface = "vb", .addresses = {ipv4_address(0x0a4d0002), ipv4_address(0x0a4d0001)}});
            auto ring = open_packet_ring({.interface = "va"});
            if (qps::test::without_xdp(xdp)) return;
            REQUIRE(ring);
            Pair pair = xdp_sends ? Pair{.a = std::move(*xdp), .b = std::move(*ring)}
                                  : Pair{.a = std::move(*ring), .b = std::move(*xdp)};
            behaves(pair, 3840);
        }
    });
}

TEST_CASE("a device: libpcap") {
    qps::test::in_namespace([] {
        auto a = open_pcap_device("va", "");
        auto b = open_pcap_device("vb", "");
        REQUIRE(a);
        REQUIRE(b);
        Pair pair{.a = std::move(*a), .b = std::move(*b)};
        behaves(pair, 9014);
    });
}

TEST_CASE("a device: around another") {
    LinkSettings link;
    link.speed = BitsPerSecond{0};
    Pair inner = simulated(link);
    std::uint64_t written = 0, traced = 0;
    const auto write = [&](const Frame&) -> std::expected<void, OutputProblem> {
        ++written;
        return {};
    };
    Pair pair{.a = CaptureTap(inject_faults(std::move(inner.a), {}), write),
              .b = Tracer(inject_faults(std::move(inner.b), {}), [&](Way, Instant, std::string_view) { ++traced; }),
              .now = inner.now};
    behaves(pair, kLongestFrame);
    CHECK(written == pair.a.counts().sent);
    CHECK(traced == pair.b.counts().received);
}
