// What an ordinary UDP socket hides of a packet, and what of it is found again.
#include <dissect/base/icrc.hpp>
#include <tests/devices/pair.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/live/device/identification.hpp>
#include <transport-replay/live/device/udp_device.hpp>
#include <transport-replay/live/faults.hpp>

#include <unistd.h>

using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::dissect;
using qps::test::Pair;

namespace {

// Of IPv4 and UDP to any port.
bool icrc_is_right(Bytes frame) {
    const Bytes ip = slice(frame, kEthernetHeader, read_be<std::uint16_t>(frame, 16));
    return invariant_crc(IcrcCoverage::roce_v2_ipv4, ip.first(ip.size() - 4)) ==
           read_be<std::uint32_t>(ip, ip.size() - 4);
}

std::vector<std::byte> write_only(Draws& draws, std::uint16_t identification, bool dont_fragment) {
    PacketSpec spec = transport_packet(Opcode{0x0a}, Network::roce_v2_ipv4);
    set(spec, "ip.id", identification);
    set(spec, "ip.flags.df", dont_fragment ? 1 : 0);
    set(spec, "infiniband.bth.psn", draws.below(1U << 24));
    spec.payload.resize(draws.below(300));
    for (std::byte& byte : spec.payload) byte = static_cast<std::byte>(draws.below(256));
    return build(spec);
}

// As the device has it before it knows: identification 0, "don't fragment".
void forget(MutableBytes ip) {
    ip[4] = ip[5] = std::byte{0};
    ip[6] = std::byte{0x40};
}

}  // namespace

TEST_CASE("the identification follows from the ICRC") {
    Draws draws(1);
    for (int i = 0; i < 2000; ++i) {
        const auto identification =
            static_cast<std::uint16_t>(i < 20 ? static_cast<std::uint64_t>(i) : draws.below(65'536));
        const auto right = write_only(draws, identification, draws.chance(0.5));
        const std::size_t length = read_be<std::uint16_t>(right, 16);
        auto guessed = right;
        const MutableBytes ip = MutableBytes(guessed).subspan(14, length);
        forget(ip);
        REQUIRE(find_identification(ip));
        REQUIRE(guessed == right);
    }
}

TEST_CASE("of a damaged packet no identification is found") {
    Draws draws(2);
    int found = 0;
    for (int i = 0; i < 2000; ++i) {
        auto frame = write_only(draws, static_cast<std::uint16_t>(draws.below(65'536)), true);
        const std::size_t length = read_be<std::uint16_t>(frame, 16);
        const MutableBytes ip = MutableBytes(frame).subspan(14, length);
        forget(ip);
        flip_bit(ip.subspan(36), draws.below((length - 36) * 8));
        const auto before = frame;
        if (find_identification(ip)) ++found;
        else REQUIRE(frame == before);
    }
    CHECK(found <= 2);  // 2^-15 each
    std::array<std::byte, 43> short_one{};
    CHECK_FALSE(find_identification(short_one));
    CHECK_FALSE(find_identification({}));
}

TEST_CASE("a frame that says what the socket does not send has its ICRC corrected by the difference") {
    const auto port = static_cast<std::uint16_t>(20'000 + getpid() % 20'000);
    auto a = open_udp_device("127.0.0.1", port);
    auto b = open_udp_device("127.0.0.2", port);
    if (!a || !b) {
        WARN("SKIPPED: no UDP socket on the loopback");
        return;
    }
    Pair pair{.a = std::move(*a),
              .b = std::move(*b),
              .source = {"\x7f\0\0\1", 4},
              .destination = {"\x7f\0\0\2", 4},
              .source_port = 0xc123,
              .destination_port = port,
              .keeps_ethernet = false};
    auto frame = pair.frame(1082, 5);
    frame.insert(frame.begin() + 12,
                 {std::byte{0x81}, std::byte{0}, std::byte{0}, std::byte{5}});  // a tag, which UDP cannot carry
    auto damaged = frame;
    flip_bit(damaged, 600 * 8 + 3);
    pair.send(frame);
    pair.send(damaged);
    pair.a.flush(pair.now);
    const auto received = pair.receive(2);
    REQUIRE(received.size() == 2);
    for (const auto& each : received) CHECK(read_be<std::uint16_t>(each, 34) == port);
    CHECK(icrc_is_right(received[0]));
    CHECK(std::equal(received[0].begin() + 42, received[0].end() - 4, frame.begin() + 46));
    CHECK_FALSE(icrc_is_right(received[1]));
}

TEST_CASE("what is no UDP datagram of its own family a UDP device refuses") {
    const auto port = static_cast<std::uint16_t>(20'000 + getpid() % 20'000);
    auto opened = open_udp_device("127.0.0.1", port);
    if (!opened) {
        WARN("SKIPPED: no UDP socket on the loopback");
        return;
    }
    auto taken = open_udp_device("127.0.0.1", port);
    REQUIRE_FALSE(taken);
    CHECK(taken.error().sentence.find("is in use") != std::string::npos);

    Pair pair{.a = std::move(*opened), .b = *open_udp_device("127.0.0.2", port)};
    const auto right = pair.frame(318, 1);
    const auto with = [&](std::size_t at, std::uint8_t value) {
        auto frame = right;
        frame[at] = std::byte{value};
        return frame;
    };
    // ARP, IPv6 within IPv4's type, options, a fragment, TCP, a UDP length beyond the frame and one too short.
    std::vector<std::vector<std::byte>> wrong{with(13, 6), with(14, 0x65), with(14, 0x46), with(20, 0x20),
                                              with(23, 6), with(38, 0xff), with(38, 0)};
    write_bits(wrong.back(), 39 * 8, 8, 7);
    for (const auto& frame : wrong) pair.send(frame);
    for (std::size_t length = kEthernetHeader; length < 42; ++length) pair.send(Bytes(right).first(length));
    pair.destination_port = port;
    pair.destination = {"\x7f\0\0\2", 4};
    pair.send(pair.frame(318, 2));
    pair.a.flush(pair.now);
    CHECK(pair.a.counts().refused == wrong.size() + 42 - kEthernetHeader);
    CHECK(pair.receive(2).size() == 1);
}

TEST_CASE("addresses that a UDP device cannot be bound to") {
    CHECK(open_udp_device("nonsense").error().sentence == "not an IPv4 or IPv6 address");
    CHECK(open_udp_device("0.0.0.0", 4000).error().sentence.find("wildcard") != std::string::npos);
    CHECK(open_udp_device("::", 4000).error().sentence.find("wildcard") != std::string::npos);
    CHECK_FALSE(open_udp_device("192.0.2.1", 4000));
}
