// TCP and UDP beside RDMA: what shares its class and interval with marks, pauses and losses, and what nearly does.
#include <tests/support/catch.hpp>
#include <tests/support/durations.hpp>
#include <transport-replay/watch/beside.hpp>

#include <array>
#include <random>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

Address address(std::uint64_t last) { return {{0, 0xffff'0a00'0000 + last}, AddressSpace::roce_v2}; }

struct RecordedClasses {
    BesideTracker tracker;
    std::uint64_t frames = 0;
    std::int64_t clock = kSecond;

    Observation packet(ObservationKind kind, std::uint64_t from, std::uint64_t to, std::uint8_t dscp = 26) {
        Observation one;
        one.kind = kind;
        one.frame = FrameIndex{++frames};
        one.time = Instant{clock += kMicrosecond};
        one.flow.source = address(from);
        one.flow.destination = address(to);
        one.link_destination = 0x02'00'00'00'00'00 + to;
        one.dscp = dscp;
        one.wire_length = 1500;
        return one;
    }
    void tcp(std::uint64_t to = 2, std::uint8_t dscp = 26, std::uint32_t length = 1500) {
        Observation one = packet(ObservationKind::stream, 3, to, dscp);
        one.wire_length = length;
        tracker.observe(one);
    }
    void udp() {
        Observation one = packet(ObservationKind::other, 3, 2);
        one.udp_source_port = 5000;
        tracker.observe(one);
    }
    void rdma(bool marked = false, std::uint8_t dscp = 26) {
        Observation one = packet(ObservationKind::transport, 1, 2, dscp);
        one.congestion_experienced = marked;
        tracker.observe(one);
    }
    void nak() {
        Observation one = packet(ObservationKind::transport, 2, 1);
        one.acknowledgment = Acknowledgment{.syndrome = 0x60, .msn = {}};
        tracker.observe(one);
    }
    // `quanta` of 802.3 PAUSE, or of priority 3; of host `from`.
    void pause(bool link, std::uint64_t from, std::uint8_t quanta = 9) {
        std::array<std::byte, 18> parameters{};
        if (!link) parameters[1] = std::byte{8};
        parameters[link ? 1 : 9] = std::byte{quanta};
        Observation one = packet(link ? ObservationKind::pause : ObservationKind::pfc, 0, 0);
        one.flow.source = {{0, 0x02'00'00'00'00'00 + from}, AddressSpace::ethernet};
        one.payload = parameters;
        tracker.observe(one);
    }
    void later() { clock += 2 * kMillisecond; }
    std::vector<LossyBeside> finish() {
        std::uint64_t dropped = 0;
        return tracker.finish(dropped);
    }
};

}  // namespace

TEST_CASE("bytes of TCP and UDP count where their class has marks, losses or pauses") {
    RecordedClasses classes;
    for (int i = 0; i < 10; ++i) {
        classes.tcp();
        classes.udp();
        classes.rdma(i % 2 == 0);
        classes.later();
    }
    SECTION("marks") {
        const auto found = classes.finish();
        REQUIRE(found.size() == 1);
        CHECK(found[0].intervals == 5);
        CHECK(found[0].shared == 5);
        CHECK(found[0].tcp_bytes == 5 * 1500);
        CHECK(found[0].udp_bytes == 5 * 1500);
        CHECK(found[0].rdma_bytes == 5 * 1500);
        CHECK(found[0].marks == 5);
        CHECK(found[0].frames[0] == FrameIndex{3});
        CHECK(found[0].frames[1] == FrameIndex{1});
    }
    SECTION("losses") {
        for (int i = 0; i < 3; ++i) classes.tcp(), classes.rdma(), classes.nak(), classes.later();
        CHECK(classes.finish()[0].naks == 3);
        CHECK(classes.tracker.any());
    }
    SECTION("a pause of the link") {
        classes.tcp();
        classes.pause(true, 2);
        classes.pause(true, 7);     // of another port
        classes.pause(true, 2, 0);  // it resumes
        CHECK(classes.finish()[0].pauses == 1);
    }
    SECTION("a pause of a priority says nothing of what has no tag") {
        classes.tcp();
        classes.pause(false, 2);
        CHECK(classes.finish()[0].pauses == 0);
    }
}

TEST_CASE("TCP in another class, to another host, at another time, or short is not beside RDMA") {
    RecordedClasses classes;
    classes.tcp(9);
    SECTION("class") {
        for (int i = 0; i < 10; ++i) classes.tcp(2, 0), classes.rdma(true), classes.later();
    }
    SECTION("host") {
        for (int i = 0; i < 10; ++i) classes.tcp(9), classes.rdma(true), classes.later();
    }
    SECTION("time") {
        for (int i = 0; i < 10; ++i) classes.tcp(), classes.later(), classes.rdma(true), classes.later();
    }
    SECTION("nothing is marked") {
        for (int i = 0; i < 10; ++i) classes.tcp(), classes.rdma(), classes.later();
    }
    SECTION("too seldom") {
        for (int i = 0; i < 3; ++i) classes.tcp(), classes.rdma(true), classes.later();
    }
    CHECK(classes.finish().empty());
}

TEST_CASE("without large packets of TCP or UDP nothing is counted") {
    RecordedClasses classes;
    for (int i = 0; i < 10; ++i) classes.tcp(2, 26, 66), classes.rdma(true), classes.later();
    CHECK(!classes.tracker.any());
    CHECK(classes.finish().empty());
}

TEST_CASE("hosts and classes that TCP goes to are counted in bounds") {
    RecordedClasses classes;
    std::mt19937 draw(2);
    for (int i = 0; i < 20'000; ++i) classes.tcp(draw(), static_cast<std::uint8_t>(draw() % 64));
    std::uint64_t dropped = 0;
    CHECK(classes.tracker.finish(dropped).empty());
    CHECK(dropped > 0);
}
