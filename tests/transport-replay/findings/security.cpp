// Who tries what he was not given, or says he is another: what nearly looks so, by timelines and by packets.
#include <dissect/packet/build.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/drawn_findings.hpp>
#include <tests/support/durations.hpp>
#include <tests/support/reachability_frames.hpp>
#include <tests/support/suspects.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/watch/reachability.hpp>

#include <algorithm>
#include <random>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

bool has(Timeline& timeline, std::string_view id) {
    draw_findings(timeline);
    return std::ranges::count(timeline.findings, id, &Finding::id) != 0;
}

// Packets of 10.0.0.1 to queue pair 17 of 10.0.0.2.
struct RecordedRequests {
    Analysis analysis;
    std::uint64_t frames = 0;
    std::int64_t clock = 0;

    void request(std::uint32_t psn, std::int64_t after = 10 * kMicrosecond, std::uint32_t interface = 0,
                 std::uint16_t vlan = 0) {
        PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
        set(spec, "ip.src", 0x0a000001);
        set(spec, "ip.dst", 0x0a000002);
        set(spec, "infiniband.bth.destqp", 17);
        set(spec, "infiniband.bth.psn", psn & 0xffffffU);
        const std::vector<std::byte> bytes = build(spec);
        Frame frame = frame_of(spec, bytes);
        frame.index = FrameIndex{++frames};
        frame.time = Instant{clock += after};
        frame.interface = InterfaceId{interface};
        Packet packet;
        decode(frame, packet);
        Observation observation;
        observe(packet, observation);
        observation.vlan = vlan;
        analysis.observe(observation);
    }
    [[nodiscard]] std::uint32_t returns() {
        const Timeline timeline = analysis.finish();
        std::uint32_t all = 0;
        for (const Connection& connection : timeline.connections)
            for (const Way& way : connection.ways) all += way.incidents->psn_returns;
        return all;
    }
};

// Answers for host 2, to host 1 where nobody else is named.
struct RecordedAnswers {
    ReachabilityTracker tracker;
    std::uint64_t frames = 0;
    std::uint16_t file = 0;

    void put(const FrameOctets& octets, std::int64_t milliseconds) {
        Frame frame;
        frame.bytes = std::as_bytes(std::span(octets));
        frame.wire_length = static_cast<std::uint32_t>(octets.size());
        frame.link = LinkType::ethernet;
        frame.index = FrameIndex{++frames};
        frame.time = Instant{milliseconds * kMillisecond};
        Packet packet;
        decode(frame, packet);
        Observation observation;
        observe(packet, observation);
        observation.file = file;
        tracker.observe(observation, true);
    }
    void arp(std::uint8_t mac, std::int64_t milliseconds, std::uint64_t asker = 1) {
        FrameOctets frame = arp_frame(2, 0xc0000202, 0xc0000200 + asker);
        frame[11] = frame[27] = mac;
        put(frame, milliseconds);
    }
    void advertise(std::uint8_t mac, std::int64_t milliseconds, bool overrides) {
        FrameOctets frame = discovery_frame(136, 2, 1, 2);
        constexpr std::size_t kFlags = 14 + 40 + 4, kMac = 14 + 40 + 24 + 2;
        frame[kFlags] = overrides ? 0x60 : 0x40;
        frame[kMac + 5] = mac;
        put(frame, milliseconds);
    }
    [[nodiscard]] std::size_t conflicts() { return tracker.finish().conflicts.size(); }
};

}  // namespace

TEST_CASE("R_Keys that were refused at once, or had been right, or were one, were not tried") {
    Timeline timeline = healthy();
    try_keys(timeline, 20);
    SECTION("they were") { CHECK(one(timeline, "keys-tried").count == 20); }
    SECTION("at once: the responder lost its registrations") {
        for (Fatality& fatality : timeline.fatalities)
            fatality.frame = FrameIndex{std::to_underlying(fatality.frame) + 500};
        CHECK(!has(timeline, "keys-tried"));
    }
    SECTION("they had been right") {
        for (Fatality& fatality : timeline.fatalities) fatality.last_good = fatality.request->access;
        CHECK(!has(timeline, "keys-tried"));
    }
    SECTION("one R_Key") {
        for (Fatality& fatality : timeline.fatalities) fatality.request->access->key = Rkey{7};
        CHECK(!has(timeline, "keys-tried"));
    }
    SECTION("requests that were not captured") {
        for (Fatality& fatality : timeline.fatalities) fatality.request.reset();
        CHECK(!has(timeline, "keys-tried"));
    }
}

TEST_CASE("queue pairs whose answers the tap may not hear were not tried") {
    Timeline timeline = healthy();
    try_queue_pairs(timeline, 40, false);
    SECTION("it would") { CHECK(one(timeline, "queue-pairs-tried").count == 40); }
    SECTION("nothing of that host is captured") {
        timeline.connections[0].ways[1] = {};
        CHECK(!has(timeline, "queue-pairs-tried"));
    }
    SECTION("one way of some connections") {
        Connection& lone = add_connection(timeline);
        lone.ways[0] = {};  // the ACKs of host 2 alone
        CHECK(!has(timeline, "queue-pairs-tried"));
    }
    SECTION("CM set them up") {
        for (Connection& connection : timeline.connections) connection.cm_attempt = 0;
        CHECK(!has(timeline, "queue-pairs-tried"));
    }
    SECTION("most of them side by side") {
        try_queue_pairs(timeline, 40, true);
        CHECK(!has(timeline, "queue-pairs-tried"));
    }
    SECTION("the capture ends when the answers of most were not due yet") {
        timeline.last = Instant{2 * kSecond + 30 * kMillisecond};
        CHECK(!has(timeline, "queue-pairs-tried"));
    }
    SECTION("it ends when those of enough were") {
        timeline.last = Instant{2 * kSecond + 31 * kMillisecond};
        CHECK(one(timeline, "queue-pairs-tried").count == 32);
    }
    SECTION("datagrams are not answered") {
        for (Connection& connection : timeline.connections) connection.service = Service::ud;
        CHECK(!has(timeline, "queue-pairs-tried"));
    }
}

TEST_CASE("PSNs that come back to what they left are of two senders, and a queue pair that begins anew has one") {
    RecordedRequests recorded;
    SECTION("two senders") {
        for (std::uint32_t i = 0; i < 20; ++i) {
            recorded.request(1000 + 2 * i);
            recorded.request(0x400000 + 0x80000 * i);
            recorded.request(1001 + 2 * i);
        }
        CHECK(recorded.returns() == 20);
    }
    SECTION("several of the other one in turn") {
        recorded.request(999);
        for (std::uint32_t i = 0; i < 20; ++i) {
            for (std::uint32_t k = 0; k < 3; ++k) recorded.request(0x400000 + 0x80000 * (i + k));
            recorded.request(1000 + i);
        }
        CHECK(recorded.returns() >= 19);
    }
    SECTION("one each in two VLANs, which have the same addresses") {
        for (std::uint32_t i = 0; i < 40; i += 2) {
            recorded.request(1000 + i, 10 * kMicrosecond, 0, 100);
            recorded.request(0x400000 + i, 10 * kMicrosecond, 0, 200);
        }
        CHECK(recorded.returns() == 0);
    }
    SECTION("one sender over two links, whose recorders have clocks of their own") {
        for (std::uint32_t i = 0; i < 40; ++i)
            recorded.request(i % 2 == 0 ? 1000 + i : 0x400000 + i, 10 * kMicrosecond, i % 2);
        CHECK(recorded.returns() == 0);
    }
    SECTION("programs that use the same queue pair one after the other") {
        std::mt19937 draw(7);
        for (int program = 0; program < 200; ++program) {
            const auto first = static_cast<std::uint32_t>(draw());
            for (std::uint32_t i = 0; i < 5; ++i) recorded.request(first + i);
        }
        CHECK(recorded.returns() < 8);
    }
    SECTION("files in the wrong order") {
        for (int file = 0; file < 20; ++file) {
            recorded.clock = file % 2 == 0 ? file * kSecond : (100 - file) * kSecond;
            const auto first = static_cast<std::uint32_t>(recorded.clock / kSecond * 300'000);
            for (std::uint32_t i = 0; i < 5; ++i) recorded.request(first + i);
        }
        CHECK(recorded.returns() < 8);
    }
}

TEST_CASE("a CNP is a stranger's where its queue pair has another peer for sure") {
    Timeline timeline = healthy();
    SECTION("it has") {
        says(one((told_by(timeline, 9), timeline), "cnp-unexpected-source").summary,
             "10.0.0.9 sent 40 CNPs to 10.0.0.1 QP 1");
    }
    SECTION("it is not sure who its peer is") {
        told_by(timeline, 9);
        timeline.connections[0].confidence = Confidence::likely;
        CHECK(!has(timeline, "cnp-unexpected-source"));
    }
    SECTION("datagrams go to many") {
        told_by(timeline, 9);
        timeline.connections[0].service = Service::ud;
        CHECK(!has(timeline, "cnp-unexpected-source"));
    }
    SECTION("the queue pair was used again") {
        told_by(timeline, 9).last_frame = FrameIndex{5000};
        CHECK(!has(timeline, "cnp-unexpected-source"));
    }
    SECTION("it was connected with that one, too") {
        told_by(timeline, 9);
        Connection& other = add_connection(timeline, 1, 9);
        other.ends[0].qpn = Qpn{1};
        CHECK(!has(timeline, "cnp-unexpected-source"));
    }
    SECTION("an address of the other family may be its peer's") {
        told_by(timeline, 9).flow.source = {{0x2001'0db8ULL << 32U, 2}, AddressSpace::roce_v2};
        CHECK(!has(timeline, "cnp-unexpected-source"));
    }
    SECTION("it may have been under way since the peer before this one") {
        told_by(timeline, 9).last_time = Instant{kSecond / 10};
        CHECK(!has(timeline, "cnp-unexpected-source"));
    }
    SECTION("a queue pair that nobody knows") {
        told_by(timeline, 9).flow.destination_qp = Qpn{99};
        CHECK(!has(timeline, "cnp-unexpected-source"));
    }
}

TEST_CASE("connection requests that succeed, or whose answers are not captured, are no flood") {
    Timeline timeline = healthy();
    SECTION("they fail") {
        ask_often(timeline, CmOutcome::no_answer, kMillisecond);
        CHECK(one(timeline, "cm-request-flood").count == 257);
    }
    SECTION("a job that starts") {
        ask_often(timeline, CmOutcome::established, kMillisecond);
        CHECK(!has(timeline, "cm-request-flood"));
    }
    SECTION("most answers are not captured") {
        ask_often(timeline, CmOutcome::no_answer, kMillisecond);
        for (CmAttempt& attempt : timeline.cm.attempts)
            if (attempt.uid % 8 != 0)
                std::erase_if(attempt.ladder, [](const CmRung& rung) { return !rung.from_active; });
        CHECK(!has(timeline, "cm-request-flood"));
    }
    SECTION("the capture ended") {
        ask_often(timeline, CmOutcome::open, kMillisecond);
        CHECK(!has(timeline, "cm-request-flood"));
    }
    SECTION("one way") {
        ask_often(timeline, CmOutcome::no_answer, kMillisecond);
        for (CmAttempt& attempt : timeline.cm.attempts)
            std::erase_if(attempt.ladder, [](const CmRung& rung) { return !rung.from_active; });
        CHECK(!has(timeline, "cm-request-flood"));
    }
    SECTION("as many succeed") {
        ask_often(timeline, CmOutcome::rejected, kMillisecond);
        for (std::uint32_t i = 1; i <= 257; i += 2) timeline.cm.attempts[i].outcome = CmOutcome::established;
        ask_often(timeline, CmOutcome::rejected, kMillisecond);
        CHECK(!has(timeline, "cm-request-flood"));
    }
}

TEST_CASE("two MAC addresses that answer the same request twice conflict, and an address that moves does not") {
    RecordedAnswers answers;
    SECTION("a conflict") {
        for (int i = 0; i < 3; ++i) answers.arp(2, 1000 * i), answers.arp(9, 1000 * i + 1);
        const ReachabilityReport report = answers.tracker.finish();
        REQUIRE(report.conflicts.size() == 1);
        CHECK(report.conflicts[0].requests == 3);
        CHECK(text(report.conflicts[0].macs[1]) == "02:00:00:00:00:09");
    }
    SECTION("of neighbour discovery") {
        for (int i = 0; i < 2; ++i) answers.advertise(2, 1000 * i, true), answers.advertise(9, 1000 * i + 1, true);
        CHECK(answers.conflicts() == 1);
    }
    SECTION("anycast, and proxies: none overrides") {
        for (int i = 0; i < 4; ++i) answers.advertise(2, 1000 * i, true), answers.advertise(9, 1000 * i + 1, false);
        CHECK(answers.conflicts() == 0);
    }
    SECTION("it moves, and back") {
        for (const unsigned mac : {2U, 2U, 9U, 9U, 2U, 2U})
            answers.arp(static_cast<std::uint8_t>(mac), 1000 * static_cast<std::int64_t>(answers.frames));
        answers.arp(9, 5'050);
        CHECK(answers.conflicts() == 0);
    }
    SECTION("a mirror has every answer twice") {
        for (int i = 0; i < 5; ++i) answers.arp(2, 1000 * i), answers.arp(2, 1000 * i);
        CHECK(answers.conflicts() == 0);
    }
    SECTION("a bond that balances by client answers each from one port") {
        for (int i = 0; i < 5; ++i) answers.arp(2, 1000 * i, 1), answers.arp(9, 1000 * i + 1, 3);
        CHECK(answers.conflicts() == 0);
    }
    SECTION("two networks in two files") {
        for (int i = 0; i < 5; ++i) {
            answers.file = 0;
            answers.arp(2, 1000 * i);
            answers.file = 1;
            answers.arp(9, 1000 * i + 1);
        }
        CHECK(answers.conflicts() == 0);
    }
    SECTION("bounded") {
        std::mt19937 draw(3);
        for (int i = 0; i < 20'000; ++i) {
            FrameOctets frame = arp_frame(2, draw(), draw());
            frame[27] = static_cast<std::uint8_t>(draw());
            answers.put(frame, i);
        }
        CHECK(answers.tracker.finish().left_out > 0);
    }
}
