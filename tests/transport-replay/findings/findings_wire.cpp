// Findings end to end from packets made to order, for what the simulator does not do: set-up by CM, classes, ports,
// partitions, encapsulations, pauses, bursts. Each has its finding, and what is nearly the same has it not.
#include <dissect/packet/build.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/durations.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <string>

#include <fmt/format.h>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

constexpr std::uint64_t kNet = 0xc0000200;  // 192.0.2.0
using Setting = std::pair<std::string_view, std::uint64_t>;
using Settings = std::vector<Setting>;

// Two hosts and a tap between them. A packet takes a microsecond.
struct Wire {
    Analysis analysis{};
    std::int64_t clock = kSecond;
    std::uint64_t frame = 0;
    BitsPerSecond speed{};

    void put(const PacketSpec& spec) {
        const std::vector<std::byte> bytes = build(spec);
        Frame one = frame_of(spec, bytes);
        one.time = Instant{clock += kMicrosecond};
        one.index = FrameIndex{++frame};
        one.link_speed = speed;
        Packet packet;
        decode(one, packet);
        Observation observation;
        observe(packet, observation);
        analysis.observe(observation);
    }
    void wait(std::int64_t nanoseconds) { clock += nanoseconds; }
    static void apply(PacketSpec& spec, const Settings& settings) {
        for (const auto& [field, value] : settings) REQUIRE(set(spec, field, value));
    }
    void packet(std::uint8_t opcode, unsigned from, unsigned to, const Settings& settings, std::size_t bytes = 0) {
        PacketSpec spec = transport_packet(Opcode{opcode}, Network::roce_v2_ipv4);
        apply(spec, {{"ip.src", kNet + from}, {"ip.dst", kNet + to}});
        apply(spec, settings);
        spec.payload.resize(bytes);
        put(spec);
    }
    // SENDs of one host to queue pair `qp` of another, each acknowledged to queue pair `qp` + 1000, with what differs.
    void dialogue(unsigned a, unsigned b, std::uint64_t qp, unsigned count = 8, const Settings& of_a = {},
                  const Settings& of_b = {}) {
        for (unsigned i = 0; i < count; ++i) {
            const std::uint64_t psn = 1000 * qp + i;
            Settings request{{"infiniband.bth.destqp", qp}, {"infiniband.bth.psn", psn}, {"infiniband.bth.a", 1}};
            Settings answer{{"infiniband.bth.destqp", qp + 1000},
                            {"infiniband.bth.psn", psn},
                            {"infiniband.aeth.syndrome", 0x1f},
                            {"infiniband.aeth.msn", i + 1}};
            request.insert(request.end(), of_a.begin(), of_a.end());
            answer.insert(answer.end(), of_b.begin(), of_b.end());
            packet(0x04, a, b, request, 512);
            packet(0x11, b, a, answer);
        }
    }
    void cm(int message, bool from_active, const Settings& settings) {
        const MadAttribute& attribute =
            *find_attribute(ManagementClass::communication, static_cast<std::uint16_t>(0x10 + message));
        PacketSpec spec = mad_packet(ManagementClass::communication, attribute, Network::roce_v2_ipv4);
        apply(spec, {{"ip.src", kNet + (from_active ? 1 : 2)}, {"ip.dst", kNet + (from_active ? 2 : 1)}});
        apply(spec,
              {{"infiniband.mad.method", 3}, {"infiniband.mad.classversion", 2}, {"infiniband.mad.transactionid", 77}});
        apply(spec, settings);
        put(spec);
    }
    void req(const Settings& more = {}) {
        Settings settings{{"infiniband.cm.req", 0xa1},
                          {"infiniband.cm.req.serviceid", 0x1061c06},
                          {"infiniband.cm.req.localqpn", 1021},
                          {"infiniband.cm.req.startpsn", 21'000},
                          {"infiniband.cm.req.initdepth", 2},
                          {"infiniband.cm.req.pkey", 0xffff},
                          {"infiniband.cm.req.pppmtu", 3},
                          {"infiniband.cm.req.remoteresptout", 14},
                          {"infiniband.cm.req.localresptout", 14}};
        settings.insert(settings.end(), more.begin(), more.end());
        cm(0, true, settings);
    }
    void rej(std::uint64_t reason) {
        cm(2, false, {{"infiniband.cm.rej.remotecommid", 0xa1}, {"infiniband.cm.rej.reason", reason}});
    }
    void rep() {
        cm(3, false,
           {{"infiniband.cm.rep", 0xb2},
            {"infiniband.cm.rep.remotecommid", 0xa1},
            {"infiniband.cm.rep.localqpn", 21},
            {"infiniband.cm.rep.startpsn", 200},
            {"infiniband.cm.rep.respres", 2}});
    }
    void rtu() { cm(4, true, {{"infiniband.cm.rtu.localcommid", 0xa1}, {"infiniband.cm.rtu.remotecommid", 0xb2}}); }
    void connect() {
        req();
        rep();
        rtu();
    }
    // READs without a response, and the NAK of the last of them.
    void reads(unsigned count, std::uint64_t nak) {
        const std::uint64_t first = 21'000;
        for (unsigned i = 0; i < count; ++i)
            packet(0x0c, 1, 2,
                   {{"infiniband.bth.destqp", 21},
                    {"infiniband.bth.psn", first + i},
                    {"infiniband.bth.a", 1},
                    {"infiniband.reth.va", 0x1000 + 64 * i},
                    {"infiniband.reth.r_key", 0x55},
                    {"infiniband.reth.dmalen", 64}});
        packet(0x11, 2, 1,
               {{"infiniband.bth.destqp", 1021},
                {"infiniband.bth.psn", first + count - 1},
                {"infiniband.aeth.syndrome", 0x60 + nak}});
    }
    // The i-th SEND to queue pair 21, and an answer to it.
    void send(unsigned i) {
        packet(0x04, 1, 2, {{"infiniband.bth.destqp", 21}, {"infiniband.bth.psn", 21'000 + i}, {"infiniband.bth.a", 1}},
               512);
    }
    void answer(unsigned i, std::uint64_t syndrome) {
        packet(0x11, 2, 1,
               {{"infiniband.bth.destqp", 1021},
                {"infiniband.bth.psn", 21'000 + i},
                {"infiniband.aeth.syndrome", syndrome}});
    }
    // Refused for 5.12 ms, and sent again after some time.
    void rnr(std::int64_t nanoseconds) {
        dialogue(1, 2, 21, 4);
        send(4);
        answer(4, 0x20 + 18);
        wait(nanoseconds);
        send(4);
        answer(4, 0x1f);
        send(5);
        answer(5, 0x1f);
    }
    // Answers take a millisecond, the next one more than five: it is sent again, and answered some time after that.
    void late(std::int64_t nanoseconds) {
        for (unsigned i = 0; i < 4; ++i) {
            send(i);
            wait(kMillisecond);
            answer(i, 0x1f);
        }
        send(4);
        wait(5 * kMillisecond);
        send(4);
        wait(nanoseconds);
        answer(4, 0x1f);
        wait(kMillisecond);
        send(5);
        wait(kMillisecond);
        answer(5, 0x1f);
    }
    void sends(std::initializer_list<unsigned> order) {
        dialogue(1, 2, 21, 4);
        for (const unsigned i : order) send(i);
        answer(8, 0x1f);
        send(9);
        answer(9, 0x1f);
    }
    // SENDs of UC, which nobody acknowledges.
    void unreliable(std::initializer_list<unsigned> order) {
        for (const unsigned i : order)
            packet(0x24, 1, 2, {{"infiniband.bth.destqp", 21}, {"infiniband.bth.psn", i}}, 64);
    }
    void dreq() {
        cm(5, true,
           {{"infiniband.mad.transactionid", 78},
            {"infiniband.cm.dreq.localcommid", 0xa1},
            {"infiniband.cm.dreq.remotecommid", 0xb2},
            {"infiniband.cm.req.remoteqpneecn", 21}});
    }
    void pfc(std::uint64_t quanta) {
        PacketSpec spec;
        spec.headers = {{LayerKind::ethernet}, {LayerKind::mac_control}, {LayerKind::mac_pfc}};
        apply(spec, {{"macc.cbfc.enbv", 8}, {"macc.cbfc.pause_time.c3", quanta}});
        put(spec);
    }
    void pause_for(std::int64_t nanoseconds) {  // refreshed every millisecond, then ended
        for (std::int64_t i = 0; i * kMillisecond < nanoseconds; ++i, wait(kMillisecond)) pfc(0xffff);
        pfc(0);
    }
    // SENDs of a host that speaks RoCEv1 with IPv4 addresses as GIDs.
    void v1(unsigned from, unsigned to) {
        for (unsigned i = 0; i < 4; ++i) {
            PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v1);
            std::array<std::byte, 16> gid{};
            gid[10] = gid[11] = std::byte{0xff};
            gid[12] = std::byte{0xc0};
            gid[14] = std::byte{0x02};
            gid[15] = static_cast<std::byte>(from);
            REQUIRE(set(spec, "infiniband.grh.sgid", Bytes(gid)));
            gid[15] = static_cast<std::byte>(to);
            REQUIRE(set(spec, "infiniband.grh.dgid", Bytes(gid)));
            apply(spec, {{"infiniband.bth.destqp", 21}, {"infiniband.bth.psn", i}});
            put(spec);
        }
    }
    void v2(unsigned from, unsigned to) {
        for (unsigned i = 0; i < 4; ++i)
            packet(0x04, from, to, {{"infiniband.bth.destqp", 31}, {"infiniband.bth.psn", i}}, 64);
    }
    void burst(unsigned senders) {
        for (unsigned i = 0; i < 64; ++i)
            packet(0x04, 10 + i % senders, 2,
                   {{"infiniband.bth.destqp", 40 + i % senders}, {"infiniband.bth.psn", i / senders}}, 4096);
        wait(10 * kMillisecond);
        v2(1, 2);
    }
    // WRITEs of two packets in both directions, with payloads of the path MTU of each.
    void writes(std::size_t mtu_a, std::size_t mtu_b) {
        dialogue(1, 2, 21, 1);
        for (const bool from_a : {true, false}) {
            const std::size_t mtu = from_a ? mtu_a : mtu_b;
            const std::uint64_t qp = from_a ? 21 : 1021, psn = from_a ? 21'001 : 500;
            const unsigned from = from_a ? 1 : 2, to = from_a ? 2 : 1;
            packet(0x06, from, to,
                   {{"infiniband.bth.destqp", qp}, {"infiniband.bth.psn", psn}, {"infiniband.reth.dmalen", 2 * mtu}},
                   mtu);
            packet(0x08, from, to,
                   {{"infiniband.bth.destqp", qp}, {"infiniband.bth.psn", psn + 1}, {"infiniband.bth.a", 1}}, mtu);
            packet(0x11, to, from,
                   {{"infiniband.bth.destqp", from_a ? 1021 : 21},
                    {"infiniband.bth.psn", psn + 1},
                    {"infiniband.aeth.syndrome", 0x1f}});
        }
    }
};

using Play = void (*)(Wire&);
struct WireProof {
    std::string_view id;
    Play harm;
    Play near_miss;
};

const Settings kDscp26{{"ip.dsfield.dscp", 26}}, kDscp0{{"ip.dsfield.dscp", 0}};
const Settings kLimited{{"infiniband.bth.p_key", 0x7fff}};
using W = Wire&;

const std::array kWireProofs{
    WireProof{"cm-rejected", [](W w) { w.req(), w.rej(8); }, [](W w) { w.connect(); }},
    WireProof{"cm-no-answer", [](W w) { w.req(), w.wait(10 * kSecond), w.v2(1, 3); }, [](W w) { w.req(), w.v2(1, 3); }},
    WireProof{"cm-half-open", [](W w) { w.req(), w.rep(), w.wait(10 * kSecond), w.v2(1, 3); },
              [](W w) { w.req(), w.rep(), w.dialogue(1, 2, 21), w.wait(10 * kSecond), w.v2(1, 3); }},
    WireProof{"cm-retries", [](W w) { w.req(), w.wait(2 * kSecond), w.connect(); }, [](W w) { w.connect(); }},
    WireProof{"cm-unexpected-message",
              [](W w) {
                  w.connect(),
                      w.cm(4, false,
                           {{"infiniband.cm.rtu.localcommid", 0xb2}, {"infiniband.cm.rtu.remotecommid", 0xa1}});
              },
              [](W w) { w.connect(), w.rtu(), w.dreq(), w.rep(), w.rtu(); }},
    WireProof{"spurious-retransmission", [](W w) { w.late(10 * kMicrosecond); }, [](W w) { w.late(kMillisecond); }},
    WireProof{"read-depth-exceeded", [](W w) { w.connect(), w.reads(3, 1); }, [](W w) { w.connect(), w.reads(2, 1); }},
    WireProof{"pkey-mismatch", [](W w) { w.dialogue(1, 2, 21, 8, kLimited, kLimited); },
              [](W w) { w.dialogue(1, 2, 21, 8, kLimited); }},
    WireProof{"dscp-differs", [](W w) { w.dialogue(1, 2, 21, 8, kDscp26, kDscp0); },
              [](W w) { w.dialogue(1, 2, 21, 8, kDscp26, kDscp26); }},
    WireProof{"dscp-changes", [](W w) { w.dialogue(1, 2, 21, 4, kDscp26), w.dialogue(1, 2, 21, 4, kDscp0); },
              [](W w) { w.dialogue(1, 2, 21, 4, kDscp26), w.dialogue(1, 2, 22, 4, kDscp0); }},
    WireProof{"dscp-differs-between-connections",
              [](W w) {
                  w.dialogue(1, 2, 21, 8, kDscp26, kDscp26), w.dialogue(1, 2, 22, 8, kDscp26, kDscp26),
                      w.dialogue(1, 2, 23, 8, kDscp0, kDscp0);
              },
              [](W w) { w.dialogue(1, 2, 21, 8, kDscp26, kDscp26), w.dialogue(1, 3, 23, 8, kDscp0, kDscp0); }},
    WireProof{"udp-port-entropy",
              [](W w) {
                  for (std::uint64_t qp = 21; qp < 29; ++qp)
                      w.dialogue(1, 2, qp, 8, {{"udp.srcport", 49152}}, {{"udp.srcport", 49153}});
              },
              [](W w) {
                  for (std::uint64_t qp = 21; qp < 29; ++qp)
                      w.dialogue(1, 2, qp, 8, {{"udp.srcport", 49152 + qp}}, {{"udp.srcport", 50000 + qp}});
              }},
    WireProof{"path-mtu-differs", [](W w) { w.writes(4096, 1024); }, [](W w) { w.writes(1024, 1024); }},
    WireProof{"roce-version-mismatch", [](W w) { w.v1(1, 2), w.v2(2, 1); }, [](W w) { w.v1(1, 2), w.v2(1, 2); }},
    WireProof{
        "pfc-storm",
        [](W w) { w.speed = BitsPerSecond{1'000'000'000}, w.dialogue(1, 2, 21), w.pause_for(150 * kMillisecond); },
        [](W w) { w.speed = BitsPerSecond{1'000'000'000}, w.dialogue(1, 2, 21), w.pause_for(50 * kMillisecond); }},
    WireProof{"incast", [](W w) { w.burst(8); }, [](W w) { w.burst(2); }},
    WireProof{"cm-disconnect-unanswered", [](W w) { w.connect(), w.dreq(), w.wait(kSecond), w.dreq(); },
              [](W w) { w.connect(), w.dreq(); }},
    WireProof{"unknown-nak", [](W w) { w.reads(2, 7); }, [](W w) { w.reads(2, 3); }},
    WireProof{"remote-operational-error", [](W w) { w.reads(2, 3); }, [](W w) { w.reads(2, 2); }},
    WireProof{"rnr-wait-too-short", [](W w) { w.rnr(kMillisecond); }, [](W w) { w.rnr(6 * kMillisecond); }},
    WireProof{"requests-unanswered", [](W w) { w.dialogue(1, 2, 21), w.send(8), w.wait(2 * kSecond), w.v2(3, 4); },
              [](W w) { w.dialogue(1, 2, 21), w.send(8), w.answer(8, 0x1f), w.wait(2 * kSecond), w.v2(3, 4); }},
    WireProof{"out-of-order-delivery", [](W w) { w.sends({4, 6, 5, 7, 8}); }, [](W w) { w.sends({4, 5, 6, 7, 8}); }},
    WireProof{"gaps-unexplained", [](W w) { w.unreliable({0, 1, 3, 4}); }, [](W w) { w.unreliable({0, 1, 2, 3, 4}); }},
    WireProof{"capture-lost-packets", [](W w) { w.sends({4, 6, 7, 8}); }, [](W w) { w.sends({4, 5, 6, 7, 8}); }},
    WireProof{"clock-backwards", [](W w) { w.dialogue(1, 2, 21), w.wait(-50 * kMicrosecond), w.dialogue(1, 2, 22); },
              [](W w) { w.dialogue(1, 2, 21), w.dialogue(1, 2, 22); }},
};

Timeline played(Play play) {
    Wire wire;
    play(wire);
    return wire.analysis.finish();
}
std::string summaries(const Timeline& timeline) {
    std::string out;
    for (const Finding& finding : timeline.findings)
        out += fmt::format("{} {}: {}\n", kSeverityNames[std::to_underlying(finding.severity)], finding.id,
                           finding.summary);
    return out;
}

}  // namespace

TEST_CASE("who sent again too early is told by an answer that nobody could give so soon") {
    const auto party = [](Play play) {
        const Timeline timeline = played(play);
        INFO(summaries(timeline));
        const auto found = std::ranges::find(timeline.findings, "spurious-retransmission", &Finding::id);
        REQUIRE(found != timeline.findings.end());
        return found->party;
    };
    CHECK(party([](W w) { w.late(10 * kMicrosecond); }) == Party::requester);
    CHECK(party([](W w) { w.late(10 * kMicrosecond), w.answer(5, 0x1f); }) == Party::requester);
    // Answered in time, and once more: late, doubled by the network, or lost at first.
    const Play twice = [](W w) {
        w.dialogue(1, 2, 21, 4);
        w.send(4);
        w.wait(5 * kMillisecond);
        w.send(4);
        w.wait(kMillisecond);
        w.answer(4, 0x1f);
        w.answer(4, 0x1f);
        w.send(5);
        w.answer(5, 0x1f);
    };
    CHECK(party(twice) == Party::undecided);
}

TEST_CASE("what an RNR NAK acknowledges and the network delayed is no retransmission that came too soon") {
    const auto found = [](Play play) {
        const Timeline timeline = played(play);
        INFO(summaries(timeline));
        return std::ranges::count(timeline.findings, "rnr-wait-too-short", &Finding::id);
    };
    const auto refused = [](W w, unsigned straggler) {
        w.dialogue(1, 2, 21, 4);
        for (const unsigned i : {4U, 5U, 6U}) w.send(i);
        w.answer(5, 0x1f);
        w.answer(6, 0x20 + 18);  // 5.12 ms
        w.send(straggler);
        if (straggler != 6) w.wait(6 * kMillisecond), w.send(6);
        w.answer(6, 0x1f);
    };
    static constexpr auto kRefused = refused;
    CHECK(found([](W w) { kRefused(w, 4); }) == 0);
    CHECK(found([](W w) { kRefused(w, 6); }) == 1);
}

TEST_CASE("packets to order have their finding, and those that nearly have it do not") {
    for (const WireProof& proof : kWireProofs) {
        const Timeline harmed = played(proof.harm);
        INFO(proof.id << "\n" << summaries(harmed));
        const auto found = std::ranges::find(harmed.findings, proof.id, &Finding::id);
        CHECK(found != harmed.findings.end());
        const Timeline missed = played(proof.near_miss);
        INFO("near miss\n" << summaries(missed));
        CHECK(std::ranges::count(missed.findings, proof.id, &Finding::id) == 0);
    }
}
