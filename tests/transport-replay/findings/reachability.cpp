// Hosts that cannot be reached, from frames to findings.
#include <dissect/packet/build.hpp>
#include <tests/support/announced_links.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/drawn_findings.hpp>
#include <tests/support/durations.hpp>
#include <tests/support/reachability_frames.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/watch/reachability.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

constexpr std::uint64_t kHosts = 0xc0000200;  // 192.0.2.0

// Times are in seconds.
struct RecordedHosts {
    Analysis analysis;
    std::uint64_t frames = 0;
    std::uint16_t file = 0;
    std::uint16_t vlan = 0;
    double later = 0;      // of what is exchanged
    bool swapped = false;  // host 2 asks host 1

    void put(Frame frame, double time) {
        frame.index = FrameIndex{++frames};
        frame.time = Instant{static_cast<std::int64_t>(time * static_cast<double>(kSecond))};
        Packet packet;
        decode(frame, packet);
        Observation observation;
        observe(packet, observation);
        observation.file = file;
        analysis.observe(observation);
    }
    void put(FrameOctets octets, double time) {
        const std::array<std::uint8_t, 4> tag{0x81, 0, static_cast<std::uint8_t>(vlan >> 8U),
                                              static_cast<std::uint8_t>(vlan)};
        if (vlan != 0) octets.insert(octets.begin() + 12, tag.begin(), tag.end());
        Frame frame;
        frame.bytes = std::as_bytes(std::span(octets));
        frame.wire_length = static_cast<std::uint32_t>(octets.size());
        frame.link = LinkType::ethernet;
        put(frame, time);
    }
    void roce(std::uint64_t from, std::uint64_t to, double time, bool version_6 = false) {
        PacketSpec spec = transport_packet(Opcode{0x04}, version_6 ? Network::roce_v2_ipv6 : Network::roce_v2_ipv4);
        if (!version_6) {
            set(spec, "ip.src", kHosts + from);
            set(spec, "ip.dst", kHosts + to);
        }
        set(spec, "infiniband.bth.destqp", 16 + to);
        set(spec, "infiniband.bth.psn", frames);
        const std::vector<std::byte> bytes = build(spec);
        put(frame_of(spec, bytes), time);
    }
    // Requests of host 1 to host 2, or back, each with its answer unless it is the one that is lost.
    void exchange(int count, int lost = -1) {
        for (int i = 0; i < count; ++i) {
            for (const bool answer : {false, true}) {
                if (answer && i == lost) continue;
                PacketSpec spec =
                    transport_packet(Opcode{static_cast<std::uint8_t>(answer ? 0x11 : 0x04)}, Network::roce_v2_ipv4);
                set(spec, "ip.src", kHosts + (answer != swapped ? 2 : 1));
                set(spec, "ip.dst", kHosts + (answer != swapped ? 1 : 2));
                set(spec, "infiniband.bth.destqp", answer != swapped ? 17 : 18);
                set(spec, "infiniband.bth.psn", static_cast<std::uint64_t>(100 + i));
                if (!answer) set(spec, "infiniband.bth.a", 1);
                else
                    set(spec, "infiniband.aeth.syndrome", 0x1f),
                        set(spec, "infiniband.aeth.msn", static_cast<std::uint64_t>(i + 1));
                const std::vector<std::byte> bytes = build(spec);
                put(frame_of(spec, bytes), later + 0.001 * (i + 1) + (answer ? 0.00001 : 0));
            }
        }
    }
    void asks(std::uint64_t from, std::uint64_t target, int times, double since) {
        for (int i = 0; i < times; ++i) put(arp_frame(1, kHosts + from, kHosts + target), since + i);
    }
    // Two others answer it: the capture has what goes to it.
    void hears(std::uint64_t host, double time) {
        for (const std::uint64_t other : {101U, 102U}) put(arp_frame(2, kHosts + other, kHosts + host), time);
    }
    std::optional<Timeline> timeline;
    std::vector<Finding> found(std::string_view id) {
        std::vector<Finding> all;
        if (!timeline) timeline = analysis.finish();
        for (const Finding& finding : timeline->findings)
            if (finding.id == id) all.push_back(finding);
        return all;
    }
};

}  // namespace

TEST_CASE("a RoCE host asks for a MAC address, and no answer is in the capture") {
    RecordedHosts hosts;
    hosts.roce(2, 1, 0);
    hosts.roce(1, 2, 0.5);
    hosts.hears(1, 0.7);
    hosts.asks(1, 2, 4, 10);
    hosts.asks(7, 1, 1, 20);
    const auto found = hosts.found("neighbour-unanswered");
    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == Severity::note);
    CHECK(found[0].party == Party::undecided);
    CHECK(
        found[0].summary ==
        "192.0.2.1 asked 4 times for the MAC address of 192.0.2.2 by ARP, within 3 s, and no answer is in the capture.");
}

TEST_CASE("a peer that never was is told, too") {
    RecordedHosts hosts;
    hosts.roce(2, 1, 0);
    hosts.asks(1, 9, 3, 1);
    hosts.hears(1, 9);
    CHECK(hosts.found("neighbour-unanswered").size() == 1);
}

TEST_CASE("what came from a peer before says that its answer would be in the capture") {
    RecordedHosts hosts;
    std::size_t expected = 1;
    SECTION("RoCE") {
        hosts.roce(2, 1, 0);
        hosts.roce(1, 2, 0.1);
    }
    SECTION("RoCE to a peer that asks in another network") {
        hosts.roce(2, 1, 0);
        hosts.vlan = 7;
        expected = 0;
    }
    SECTION("RoCE to others only") {
        hosts.roce(2, 3, 0);
        hosts.roce(1, 2, 0.1);
        expected = 0;
    }
    SECTION("an answer to an earlier request") {
        hosts.roce(1, 2, 0);
        hosts.asks(1, 2, 1, 0.1);
        hosts.put(arp_frame(2, kHosts + 2, kHosts + 1), 0.2);
    }
    SECTION("an answer of another one") {
        hosts.roce(1, 2, 0);
        hosts.put(arp_frame(2, kHosts + 3, kHosts + 1), 0.2);
        expected = 0;
    }
    hosts.asks(1, 2, 8, 1);
    hosts.asks(1, 7, 1, 20);
    const auto found = hosts.found("neighbour-unanswered");
    REQUIRE(found.size() == expected);
    if (expected == 1) CHECK(found[0].count == 8);
}

TEST_CASE("requests for a MAC address that prove nothing") {
    RecordedHosts hosts;
    hosts.roce(2, 1, 0);
    hosts.hears(1, 0.5);
    SECTION("answered later") {
        hosts.asks(1, 2, 4, 1);
        hosts.put(arp_frame(2, kHosts + 2, kHosts + 1), 8);
    }
    SECTION("answered by an announcement of its own") {
        hosts.asks(1, 2, 4, 1);
        hosts.put(arp_frame(1, kHosts + 2, kHosts + 2), 8);
    }
    SECTION("it asks for somebody itself") {
        hosts.asks(1, 2, 4, 1);
        hosts.asks(2, 1, 1, 8);
    }
    SECTION("it sends RoCE meanwhile") {
        hosts.asks(1, 2, 4, 1);
        hosts.roce(2, 1, 3);
    }
    SECTION("two requests") { hosts.asks(1, 2, 2, 1); }
    SECTION("one request at the end of the capture") { hosts.asks(1, 2, 1, 1); }
    SECTION("the capture ends with the third") {
        hosts.asks(1, 2, 3, 1);
        CHECK(hosts.found("neighbour-unanswered").empty());
        return;
    }
    SECTION("recorded three times by mirrors") {
        for (int i = 0; i < 3; ++i) hosts.put(arp_frame(1, kHosts + 1, kHosts + 2), 1 + 0.001 * i);
    }
    SECTION("a host without an address asks") {
        for (int i = 0; i < 4; ++i) hosts.put(arp_frame(1, 0, kHosts + 2), 1 + i);
    }
    SECTION("recorded twice by taps whose clocks are apart") {
        for (int i = 0; i < 4; ++i) hosts.put(arp_frame(1, kHosts + 1, kHosts + 2), 1 + 0.5 * i);
    }
    SECTION("neither speaks RoCE") {
        hosts.hears(5, 0.6);
        hosts.asks(5, 6, 5, 1);
    }
    SECTION("another packet of it comes") {
        hosts.asks(1, 2, 4, 1);
        FrameOctets echo = icmp_frame({.reporter = kHosts + 2, .source = kHosts + 1, .destination = kHosts + 9});
        echo[34] = 8;
        hosts.put(echo, 8);
    }
    SECTION("it answered in another network") {
        hosts.asks(1, 2, 4, 1);
        hosts.vlan = 7;
        hosts.put(arp_frame(2, kHosts + 2, kHosts + 1), 8);
    }
    SECTION("what comes to who asks was heard in another network") {
        hosts.vlan = 7;
        hosts.asks(1, 2, 4, 1);
        hosts.put(arp_frame(1, kHosts + 3, kHosts + 4), 20);
    }
    SECTION("the capture goes on in another file only") {
        hosts.asks(1, 2, 4, 1);
        hosts.file = 1;
    }
    SECTION("answered at a later time, in a file that comes before") {
        hosts.put(arp_frame(2, kHosts + 2, kHosts + 1), 20);
        hosts.file = 1;
        hosts.hears(1, 0.5);
        hosts.asks(1, 2, 4, 1);
    }
    hosts.asks(3, 7, 1, 30);
    CHECK(hosts.found("neighbour-unanswered").empty());
}

TEST_CASE("a capture that may not hear what goes to the host that asks tells nothing") {
    RecordedHosts hosts;
    hosts.roce(3, 1, 0);  // captured at host 3
    hosts.roce(2, 3, 0.5);
    hosts.put(arp_frame(2, kHosts + 3, kHosts + 1), 0.7);
    hosts.asks(1, 2, 5, 1);
    hosts.put(arp_frame(2, kHosts + 3, kHosts + 1), 20);
    CHECK(hosts.found("neighbour-unanswered").empty());
}

TEST_CASE("neighbour discovery is told as ARP is") {
    ReachabilityTracker tracker;
    std::uint64_t frame = 0;
    const auto put = [&](const FrameOctets& octets, std::int64_t seconds) {
        Frame one;
        one.bytes = std::as_bytes(std::span(octets));
        one.wire_length = static_cast<std::uint32_t>(octets.size());
        one.link = LinkType::ethernet;
        one.index = FrameIndex{++frame};
        one.time = Instant{seconds * kSecond};
        Packet packet;
        decode(one, packet);
        Observation observation;
        observe(packet, observation);
        REQUIRE(observation.about_hosts);
        tracker.observe(observation, true);
    };
    for (int i = 0; i < 3; ++i) put(discovery_frame(135, 1, 0xff, 2), i);
    for (int i = 0; i < 3; ++i) put(discovery_frame(135, 1, 0xff, 3), 4 + i);
    for (int i = 0; i < 3; ++i) put(discovery_frame(135, 0, 0xff, 4), 8 + i);  // whether an address is free
    put(discovery_frame(136, 3, 1, 3), 20);
    put(discovery_frame(136, 4, 1, 4), 20);
    put(icmp6_frame(2, 0, 1280, 9, 1, 2), 21);
    put(icmp6_frame(1, 3, 0, 9, 1, 2), 22);
    const ReachabilityReport report = tracker.finish();
    REQUIRE(report.neighbours.size() == 1);
    CHECK(report.neighbours[0].requests == 3);
    CHECK(report.neighbours[0].answers_are_heard);
    CHECK(text(report.neighbours[0].target) == "2001:db8::2");
    REQUIRE(report.errors.size() == 2);
    CHECK((report.errors[0].too_big != report.errors[1].too_big));
    for (const IcmpError& error : report.errors) CHECK(error.mtu == (error.too_big ? 1280U : 0U));
}

TEST_CASE("ICMP errors about RoCEv2 are told, and those about anything else are not") {
    RecordedHosts hosts;
    hosts.roce(1, 2, 0);
    hosts.put(icmp_frame({.reporter = kHosts + 2, .source = kHosts + 1, .destination = kHosts + 2, .code = 3}), 1);
    hosts.put(
        icmp_frame({.reporter = kHosts + 254, .source = kHosts + 1, .destination = kHosts + 2, .code = 4, .mtu = 1500}),
        2);
    hosts.put(
        icmp_frame({.reporter = kHosts + 254, .source = kHosts + 1, .destination = kHosts + 2, .code = 4, .mtu = 1500}),
        3);
    SECTION("about RoCEv2") {
        const Timeline timeline = hosts.analysis.finish();
        std::vector<std::string> said;
        for (const Finding& finding : timeline.findings)
            if (finding.id == "icmp-unreachable" || finding.id == "path-mtu-exceeded") said.push_back(finding.summary);
        std::ranges::sort(said);
        REQUIRE(said.size() == 2);
        CHECK(said[0] == "192.0.2.2 reported to 192.0.2.1 in 1 ICMP error that it refused its RoCEv2 packets: port "
                         "unreachable; no captured packet was retransmitted.");
        CHECK(
            said[1] ==
            "192.0.2.254 reported to 192.0.2.1 in 2 ICMP errors that its RoCEv2 packets to 192.0.2.2 exceeded an MTU of 1500 bytes on their path and were dropped; "
            "no captured packet was retransmitted.");
    }
    SECTION("about another port, to another host, cut") {
        RecordedHosts others;
        others.roce(1, 2, 0);
        others.put(
            icmp_frame(
                {.reporter = kHosts + 2, .source = kHosts + 1, .destination = kHosts + 2, .code = 3, .port = 53}),
            1);
        FrameOctets cut =
            icmp_frame({.reporter = kHosts + 2, .source = kHosts + 1, .destination = kHosts + 2, .code = 3});
        cut.resize(60);
        others.put(cut, 2);
        FrameOctets other =
            icmp_frame({.reporter = kHosts + 2, .source = kHosts + 1, .destination = kHosts + 2, .code = 3});
        other[33] = 7;  // to whom it is told
        others.put(other, 3);
        FrameOctets fragment =
            icmp_frame({.reporter = kHosts + 2, .source = kHosts + 1, .destination = kHosts + 2, .code = 3});
        fragment[48] = 0x20, fragment[49] = 0x10;  // not the first
        others.put(fragment, 4);
        FrameOctets name =
            icmp_frame({.reporter = kHosts + 2, .source = kHosts + 1, .destination = kHosts + 2, .code = 3});
        name.resize(name.size() + 20, 'x');  // no BTH
        others.put(name, 5);
        others.put(icmp_frame({.reporter = kHosts + 2, .source = kHosts + 1, .destination = kHosts + 8, .code = 3}),
                   6);  // no RoCE between both
        CHECK(others.found("icmp-unreachable").empty());
    }
}

TEST_CASE("an MTU that the packet which is quoted does not exceed proves nothing") {
    const auto told = [](unsigned mtu, unsigned length) {
        RecordedHosts hosts;
        hosts.roce(1, 2, 0);
        hosts.put(icmp_frame({.reporter = kHosts + 254,
                              .source = kHosts + 1,
                              .destination = kHosts + 2,
                              .code = 4,
                              .mtu = mtu,
                              .length = length}),
                  1);
        return hosts.found("path-mtu-exceeded").size();
    };
    CHECK(told(9000, 1100) == 0);
    CHECK(told(1100, 1100) == 0);
    CHECK(told(1099, 1100) == 1);
    CHECK(told(0, 1100) == 1);  // RFC 1191 5: of a router that tells none
    CHECK(told(1500, 0) == 1);  // nobody knows how long it was
}

TEST_CASE("an ICMP error is a warning where packets were retransmitted") {
    RecordedHosts hosts;
    const auto complain = [&] {
        hosts.put(icmp_frame({.reporter = kHosts + 254, .source = kHosts + 1, .destination = kHosts + 2, .code = 1}),
                  1);
        hosts.put(
            icmp_frame(
                {.reporter = kHosts + 254, .source = kHosts + 1, .destination = kHosts + 2, .code = 4, .mtu = 1500}),
            1);
    };
    const auto told = [&](Severity severity, std::string_view end) {
        for (const char* id : {"icmp-unreachable", "path-mtu-exceeded"}) {
            const auto found = hosts.found(id);
            REQUIRE(found.size() == 1);
            CHECK(found[0].severity == severity);
            CHECK_THAT(found[0].summary, Catch::Matchers::EndsWith(std::string(end)));
        }
    };
    constexpr std::string_view kNone = "; no captured packet was retransmitted.";
    SECTION("all were acknowledged") {
        hosts.exchange(12);
        complain();
        told(Severity::note, kNone);
    }
    SECTION("the last one was not, and nobody knows whether it arrived") {
        hosts.exchange(12, 11);
        complain();
        told(Severity::note, kNone);
    }
    SECTION("each was sent twice") {
        hosts.exchange(12);
        hosts.later = 0.02;
        hosts.exchange(12);
        complain();
        told(Severity::warning, "; 192.0.2.1 retransmitted 12 packets to it.");
    }
    SECTION("those of the other one were") {
        hosts.swapped = true;
        hosts.exchange(12);
        hosts.later = 0.02;
        hosts.exchange(12);
        complain();
        told(Severity::note, kNone);
    }
}

TEST_CASE("a part of a capture says no more of an ICMP error than the whole") {
    Timeline timeline = healthy();
    complained(timeline, false);
    const auto said = [&] { return one(timeline, "icmp-unreachable"); };
    CHECK(said().severity == Severity::warning);
    timeline.connections[0].ways[0] = {};
    SECTION("nothing retransmitted") { CHECK(said().severity == Severity::note); }
    SECTION("datagrams, which are never retransmitted") {
        timeline.connections[0].service = Service::ud;
        timeline.cm.attempts.clear();
        CHECK(said().severity == Severity::note);
        CHECK(said().summary.find("retransmitted") == std::string::npos);
    }
    SECTION("a request for a connection was repeated") {
        timeline.cm.attempts[0].repeats[static_cast<std::size_t>(CmMessage::req)] = 2;
        CHECK(said().severity == Severity::warning);
        CHECK_THAT(said().summary, Catch::Matchers::EndsWith("; 10.0.0.1 retransmitted 2 packets to it."));
    }
    SECTION("an answer to one was repeated, which the other one sent") {
        timeline.cm.attempts[0].repeats[static_cast<std::size_t>(CmMessage::rep)] = 2;
        CHECK(said().severity == Severity::note);
    }
    SECTION("only what its receiver was not ready for") {
        Way& way = timeline.connections[0].ways[0];
        way.packets = 20;
        way.incidents.made().retransmitted = 5;
        way.incidents.made().recovery(RecoveryKind::rnr_nak).resent = 5;
        CHECK(said().severity == Severity::note);
        CHECK_THAT(said().summary,
                   Catch::Matchers::EndsWith("; 10.0.0.1 retransmitted packets to it after RNR NAKs only."));
        way.incidents.made().retransmitted = 7;
        CHECK(said().severity == Severity::warning);
        CHECK_THAT(said().summary, Catch::Matchers::EndsWith("; 10.0.0.1 retransmitted 2 packets to it."));
    }
    SECTION("connections that were left out may have been") {
        timeline.retired.connections = 1;
        CHECK(said().severity == Severity::note);
        CHECK(said().summary.find("retransmitted") == std::string::npos);
    }
}

TEST_CASE("hosts that are asked for are followed in bounds, whatever the bytes are") {
    ReachabilityTracker tracker;
    std::mt19937 draw(11);
    Packet packet;
    Observation observation;
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        FrameOctets octets =
            i % 3 == 0   ? arp_frame(1 + draw() % 2, draw(), draw())
            : i % 3 == 1 ? icmp_frame({.reporter = kHosts + 2, .source = draw(), .destination = draw(), .code = 3})
                         : discovery_frame(135 + draw() % 2, draw(), draw(), draw());
        if (i % 7 == 0) octets[14 + draw() % (octets.size() - 14)] = static_cast<std::uint8_t>(draw());
        if (i % 11 == 0) octets.resize(14 + draw() % (octets.size() - 14));
        Frame frame;
        frame.bytes = std::as_bytes(std::span(octets));
        frame.wire_length = static_cast<std::uint32_t>(octets.size());
        frame.link = LinkType::ethernet;
        frame.index = FrameIndex{i + 1};
        frame.time = Instant{i};
        decode(frame, packet);
        observe(packet, observation);
        if (observation.about_hosts) tracker.observe(observation, true);
    }
    const ReachabilityReport report = tracker.finish();
    CHECK(report.errors.size() == kMaxIcmpErrors);
    CHECK(report.left_out > 0);
}
