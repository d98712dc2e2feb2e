// AF_XDP on an interface: which frames come by it and which the system keeps, several queues, overflow, an interface
// that goes, who is there already, and that nothing is left behind.
#include <tests/devices/pair.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/live/device/null_device.hpp>
#include <transport-replay/live/device/packet_ring.hpp>
#include <transport-replay/live/device/xdp_device.hpp>
#include <transport-replay/live/device/xdp_program.hpp>
#include <transport-replay/live/host/addresses.hpp>

#include <algorithm>
#include <array>
#include <csignal>

#include <net/if.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace qps::transport::live;
using namespace qps::dissect;
using qps::test::Pair;
using qps::test::run;

namespace {

using FrameBytes = std::vector<std::byte>;

constexpr auto kOurs = ipv4_address(0x0a4d0002);
constexpr auto kOurWide = ipv6_address(0xfd00'0000'0000'0000, 0x1234'5678'9abc'def0);

// Receives at vb, by AF_XDP; sends at va, by a ring that hears nothing.
Pair to_xdp(Device xdp) {
    auto sender = open_packet_ring({.interface = "va", .receive = false});
    REQUIRE(sender);
    return {.a = std::move(*sender), .b = std::move(xdp)};
}

bool has_program(const char* interface) { return run(std::string("ip -o link show ") + interface + " | grep -q xdp"); }

FrameBytes with_tag(FrameBytes frame, std::uint16_t type) {
    frame.insert(frame.begin() + 12, 4, std::byte{0});
    write_bits(frame, 12 * 8, 16, type);
    write_bits(frame, 14 * 8, 16, 0x0005);
    return frame;
}

FrameBytes with_bits(FrameBytes frame, std::size_t byte, std::size_t bits, std::uint64_t value) {
    write_bits(frame, byte * 8, bits, value);
    return frame;
}

struct Case {
    std::string what;
    FrameBytes frame;
    bool ours;
};

std::vector<Case> cases(const Pair& pair) {
    Pair wide{.a = NullDevice(), .b = NullDevice(), .network = Network::roce_v2_ipv6};
    wide.source = std::string("\xfd", 1) + std::string(14, '\0') + "\x01";
    wide.destination = std::string("\xfd", 1) + std::string(7, '\0') + "\x12\x34\x56\x78\x9a\xbc\xde\xf0";
    const FrameBytes narrow4 = pair.frame(318, 1), wide6 = wide.frame(318, 2);
    // RoCEv1: a GRH is laid out as IPv6 is; the BTH follows at once.
    FrameBytes old = with_bits(with_bits(wide6, 12, 16, 0x8915), 14 + 6, 8, 0x1b);
    FrameBytes mapped = old;
    std::ranges::fill(mapped.begin() + 38, mapped.begin() + 48, std::byte{0});
    write_bits(mapped, 48 * 8, 16, 0xffff);
    write_bits(mapped, 50 * 8, 32, 0x0a4d0002);
    return {{"IPv4", narrow4, true},
            {"IPv4 with a tag", with_tag(narrow4, 0x8100), true},
            {"IPv4 with two tags", with_tag(with_tag(narrow4, 0x8100), 0x88a8), true},
            {"IPv4 with three tags", with_tag(with_tag(with_tag(narrow4, 0x8100), 0x8100), 0x88a8), false},
            {"IPv4 to another", with_bits(narrow4, 33, 8, 3), false},
            {"IPv4, another port", with_bits(narrow4, 36, 16, 4790), false},
            {"IPv4, TCP", with_bits(narrow4, 23, 8, 6), false},
            {"IPv4, first fragment", with_bits(narrow4, 20, 16, 0x2000), false},
            {"IPv4, later fragment", with_bits(narrow4, 20, 16, 0x0010), false},
            {"IPv4 with options", with_bits(narrow4, 14, 8, 0x46), false},
            {"IPv6", wide6, true},
            {"IPv6 with a tag", with_tag(wide6, 0x8100), true},
            {"IPv6 to another", with_bits(wide6, 53, 8, 0xf1), false},
            {"IPv6 to another in its first word", with_bits(wide6, 38, 8, 0xfc), false},
            {"IPv6, another port", with_bits(wide6, 56, 16, 53), false},
            {"IPv6 with an extension header", with_bits(wide6, 20, 8, 0), false},
            {"RoCEv1", old, true},
            {"RoCEv1 with a tag", with_tag(old, 0x8100), true},
            {"RoCEv1 to an IPv4 address as a GID", mapped, true},
            {"RoCEv1 to another", with_bits(old, 53, 8, 0xf1), false},
            {"RoCEv1, no BTH", with_bits(old, 20, 8, 0x3b), false},
            {"ARP", with_bits(narrow4, 12, 16, 0x0806), false}};
}

}  // namespace

TEST_CASE("RoCE to our addresses goes to AF_XDP alone, everything else to the system as well") {
    for (const char* mtu : {"1500", "9000"})
        qps::test::in_namespace([&] {
            REQUIRE(run(std::string("ip link set va mtu ") + mtu));
            REQUIRE(run(std::string("ip link set vb mtu ") + mtu));
            auto xdp = open_xdp_device({.interface = "vb", .addresses = {kOurWide, kOurs}});
            if (qps::test::without_xdp(xdp)) return;
            auto witness = open_packet_ring({.interface = "vb"});  // sees what the system sees
            REQUIRE(witness);
            Pair pair = to_xdp(std::move(*xdp));
            for (const Case& each : cases(pair)) {
                INFO(each.what << ", MTU " << mtu);
                pair.send(each.frame);
                pair.a.flush(pair.now);
                const auto received = pair.receive(1);
                REQUIRE(received.size() == 1);
                CHECK(received[0] == each.frame);
                CHECK(witness->receive(pair.now).size() == (each.ours ? 0 : 1));
            }
            CHECK(pair.b.counts().dropped == 0);
        });
}

TEST_CASE("frames cut off anywhere reach us one way or the other") {
    qps::test::in_namespace([] {
        REQUIRE(run("ip link set va mtu 1500"));
        REQUIRE(run("ip link set vb mtu 1500"));
        auto xdp = open_xdp_device({.interface = "vb", .addresses = {kOurs, kOurWide}});
        if (qps::test::without_xdp(xdp)) return;
        Pair pair = to_xdp(std::move(*xdp));
        for (const Case& each : cases(pair))
            for (std::size_t length = kEthernetHeader; length < 90; ++length) {
                INFO(each.what << ", " << length << " bytes");
                const FrameBytes cut(each.frame.begin(), each.frame.begin() + static_cast<std::ptrdiff_t>(length));
                pair.send(cut);
                pair.a.flush(pair.now);
                const auto received = pair.receive(1);
                // The kernel drops what is cut off within a tag or the type behind it (skb_vlan_untag()).
                if (received.empty() && length < kEthernetHeader + 2 * 4 + 2 &&
                    each.what.find("tag") != std::string::npos)
                    continue;
                REQUIRE(received.size() == 1);
                CHECK(received[0] == cut);
            }
    });
}

TEST_CASE("what AF_XDP has no place for is counted, and it works on") {
    qps::test::in_namespace([] {
        auto xdp = open_xdp_device({.interface = "vb", .addresses = {kOurs}, .frames = 1});
        if (qps::test::without_xdp(xdp)) return;
        Pair pair = to_xdp(std::move(*xdp));
        constexpr std::size_t kFrames = 500;
        for (std::size_t i = 0; i < kFrames; ++i) pair.send(pair.frame(318, static_cast<std::uint32_t>(i)));
        pair.a.flush(pair.now);
        const auto received = pair.receive(kFrames);
        CHECK(received.size() == kMinXdpFrames);
        CHECK(received.front() == pair.frame(318, 0));
        CHECK(received.size() + pair.b.counts().dropped == kFrames);
        CHECK(received.size() + pair.b.counts().dropped == kFrames);  // asking again counts nothing twice
        for (std::uint32_t i = 0; i < 300; ++i) {
            pair.send(pair.frame(318, i));
            pair.a.flush(pair.now);
            const auto after = pair.receive(1);
            REQUIRE(after.size() == 1);
            CHECK(after[0] == pair.frame(318, i));
        }
    });
}

TEST_CASE("frames longer than a chunk or the MTU are refused or dropped, and counted") {
    qps::test::in_namespace([] {
        auto a = open_xdp_device({.interface = "va", .addresses = {ipv4_address(0x0a4d0001)}});
        auto b = open_xdp_device({.interface = "vb", .addresses = {kOurs}});
        if (qps::test::without_xdp(a)) return;
        REQUIRE(b);
        CHECK(a->limits().frame_bytes == 3840);
        Pair pair{.a = std::move(*a), .b = std::move(*b)};
        CHECK(pair.a.reserve(pair.now).size() == 3840);
        // What others send, longer: to our address it is dropped by AF_XDP, else by us.
        auto other = open_packet_ring({.interface = "va", .receive = false});
        REQUIRE(other);
        Pair longer{.a = std::move(*other), .b = std::move(pair.b)};
        longer.send(longer.frame(4154, 1));
        longer.source_port = longer.destination_port = 53;
        longer.send(longer.frame(4154, 2));
        longer.send(longer.frame(318, 3));
        longer.a.flush(longer.now);
        const auto received = longer.receive(1);
        REQUIRE(received.size() == 1);
        CHECK(received[0] == longer.frame(318, 3));
        CHECK(longer.b.counts().dropped == 2);
        // Short of a chunk, longer than the MTU: a tag may be added, no more.
        REQUIRE(run("ip link set va mtu 1500"));
        pair.a = NullDevice();
        auto narrow = open_xdp_device({.interface = "va", .addresses = {ipv4_address(0x0a4d0001)}});
        REQUIRE(narrow);
        CHECK(narrow->limits().frame_bytes == 1522);
        pair.a = std::move(*narrow);
        pair.b = std::move(longer.b);
        const FrameBytes whole = pair.frame(1514, 1), tagged = with_tag(pair.frame(1514, 2), 0x8100),
                         twice = with_tag(tagged, 0x88a8);
        const FrameBytes beyond = pair.frame(1518, 3);
        REQUIRE(beyond.size() > 1514);
        for (const FrameBytes& each : {whole, beyond, tagged, twice, pair.frame(318, 4)}) pair.send(each);
        pair.a.flush(pair.now);
        CHECK(pair.a.counts().refused == 1);
        // A veth carries one tag beyond its MTU.
        CHECK(pair.receive(4).size() >= 3);
    });
}

TEST_CASE("several queues have a socket each") {
    qps::test::in_namespace([] {
        REQUIRE(run("ip link add qa numrxqueues 2 numtxqueues 2 type veth peer name qb numrxqueues 2 numtxqueues 2"));
        REQUIRE(run("ip link set qa up"));
        REQUIRE(run("ip link set qb up"));
        XdpMode mode;
        auto xdp = open_xdp_device({.interface = "qb", .addresses = {kOurs}}, &mode);
        if (qps::test::without_xdp(xdp)) return;
        CHECK(mode.queues == 2);
        auto sender = open_packet_ring({.interface = "qa", .receive = false});
        auto witness = open_packet_ring({.interface = "qb"});
        REQUIRE(sender);
        REQUIRE(witness);
        Pair pair{.a = std::move(*sender), .b = std::move(*xdp)};
        // A packet socket sends by the queue of its processor.
        cpu_set_t before;
        REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
        for (std::size_t processor = 0; processor < 2; ++processor) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(processor, &one);
            static_cast<void>(sched_setaffinity(0, sizeof(one), &one));
            for (std::uint32_t i = 0; i < 100; ++i) pair.send(pair.frame(318, i));
            pair.a.flush(pair.now);
            const auto received = pair.receive(100);
            REQUIRE(received.size() == 100);
            for (std::uint32_t i = 0; i < 100; ++i) CHECK(received[i] == pair.frame(318, i));
        }
        static_cast<void>(sched_setaffinity(0, sizeof(before), &before));
        CHECK(witness->receive(pair.now).empty());
    });
}

TEST_CASE("an interface that is gone is told by AF_XDP, one that is down is waited for") {
    qps::test::in_namespace([] {
        auto a = open_xdp_device({.interface = "va", .addresses = {ipv4_address(0x0a4d0001)}});
        auto b = open_xdp_device({.interface = "vb", .addresses = {kOurs}});
        if (qps::test::without_xdp(a)) return;
        REQUIRE(b);
        Pair pair{.a = std::move(*a), .b = std::move(*b)};
        const auto look = [&] {
            for (int i = 0; i < 10'000; ++i) static_cast<void>(pair.b.receive(pair.now));
        };
        look();
        CHECK_FALSE(pair.b.problem());
        REQUIRE(run("ip link set vb down"));
        REQUIRE(run("ip link set va down"));
        look();
        CHECK_FALSE(pair.b.problem());
        // What cannot go is refused, but for one batch that the system keeps.
        for (std::uint32_t i = 0; i < 2000; ++i) {
            if (pair.a.reserve(pair.now).empty()) break;
            pair.send(pair.frame(318, i));
        }
        pair.a.flush(pair.now);
        CHECK_FALSE(pair.a.problem());
        CHECK(pair.a.counts().sent == 0);
        CHECK(pair.a.counts().refused >= 2000 - kDeviceBatch);
        CHECK(pair.a.poll_at());
        REQUIRE(run("ip link set vb up"));
        REQUIRE(run("ip link set va up"));
        bool arrived = false;
        for (int tries = 0; tries < 30 && !arrived; ++tries) {
            pair.send(pair.frame(318, 4000));
            pair.a.flush(pair.now);
            for (const FrameBytes& each : pair.receive(kDeviceBatch + 1))
                arrived = arrived || each == pair.frame(318, 4000);
        }
        CHECK(arrived);
        REQUIRE(run("ip link del vb"));
        look();
        REQUIRE(pair.b.problem());
        CHECK(pair.b.problem()->device == "vb");
        pair.send(pair.frame(318, 1));
        pair.a.flush(pair.now);
        REQUIRE(pair.a.problem());
        CHECK(pair.a.problem()->sentence == "the interface is gone");
    });
}

TEST_CASE("the XDP program is there as long as its device, however its process ends") {
    qps::test::in_namespace([] {
        {
            auto xdp = open_xdp_device({.interface = "vb", .addresses = {kOurs}});
            if (qps::test::without_xdp(xdp)) return;
            CHECK(has_program("vb"));
            auto sender = open_xdp_device({.interface = "va", .receive = false});
            REQUIRE(sender);
            CHECK_FALSE(has_program("va"));
        }
        CHECK_FALSE(has_program("vb"));

        std::array<int, 2> ready{};
        REQUIRE(pipe(ready.data()) == 0);
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            const auto xdp = open_xdp_device({.interface = "vb", .addresses = {kOurs}});
            const char word = xdp ? 'y' : 'n';
            if (write(ready[1], &word, 1) == 1) pause();
            _exit(1);
        }
        char word = 0;
        CHECK(read(ready[0], &word, 1) == 1);
        CHECK(word == 'y');
        CHECK(has_program("vb"));
        REQUIRE(kill(child, SIGKILL) == 0);
        REQUIRE(waitpid(child, nullptr, 0) == child);
        close(ready[0]);
        close(ready[1]);
        bool left = true;  // sockets and links go when the kernel comes to it
        for (int tries = 0; tries < 100 && left; ++tries) {
            left = has_program("vb");
            if (left) usleep(10'000);
        }
        CHECK_FALSE(left);
        CHECK(open_xdp_device({.interface = "vb", .addresses = {kOurs}}));
    });
}

TEST_CASE("who cannot have AF_XDP on an interface is told why in a sentence") {
    qps::test::in_namespace([] {
        const auto first = open_xdp_device({.interface = "vb", .addresses = {kOurs}});
        if (qps::test::without_xdp(first)) return;
        const auto second = open_xdp_device({.interface = "vb", .addresses = {kOurWide}});
        REQUIRE_FALSE(second);
        CHECK(second.error().device == "vb");
        CHECK(second.error().sentence == "another program has an AF_XDP socket on its queue 0");
        CHECK(has_program("vb"));

        auto alien = XdpProgram::load({});
        REQUIRE(alien);
        REQUIRE(alien->attach(if_nametoindex("va")));
        const auto third = open_xdp_device({.interface = "va", .addresses = {kOurWide}});
        REQUIRE_FALSE(third);
        CHECK(third.error().sentence == "another XDP program is attached to it");
        // To send alone is another matter.
        CHECK(open_xdp_device({.interface = "va", .receive = false}));

        CHECK(open_xdp_device({.interface = "nowhere"}).error().sentence == "no such interface");
        CHECK(open_xdp_device({.interface = std::string(200, 'x')}).error().sentence == "no such interface");
        const auto unfiltered = open_xdp_device({.interface = "vb", .filter = "udp sport port"});
        CHECK(unfiltered.error().sentence.find("udp sport port") != std::string::npos);
        if (run("ip tuntap add dev tun9 mode tun"))
            CHECK(open_xdp_device({.interface = "tun9"}).error().sentence == "not an Ethernet interface");
    });
}

TEST_CASE("more addresses than the program compares: the rest comes by the ring") {
    qps::test::in_namespace([] {
        std::vector<qps::transport::Address> many;
        for (std::uint32_t i = 0; i < 2 * kMaxXdpAddresses; ++i) many.push_back(ipv4_address(0x0a4d0100 + i));
        many.push_back(kOurs);
        auto xdp = open_xdp_device({.interface = "vb", .addresses = many});
        if (qps::test::without_xdp(xdp)) return;
        Pair pair = to_xdp(std::move(*xdp));
        pair.send(pair.frame(318, 1));
        const std::string last = pair.destination;
        pair.destination = {"\x0a\x4d\x01\x00", 4};
        pair.send(pair.frame(318, 2));
        pair.a.flush(pair.now);
        CHECK(pair.receive(2).size() == 2);
    });
}
