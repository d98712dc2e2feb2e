// Attempts at connections: from messages to order, and from the sample captures (their ladders checked by hand with
// tshark).
#include <dissect/capture/capture_file.hpp>
#include <dissect/packet/build.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/durations.hpp>
#include <tests/support/observations.hpp>
#include <transport-replay/cm/cm_ladder.hpp>

#include <algorithm>
#include <string>

#include <fmt/format.h>

using namespace qps::dissect;
using namespace qps::transport;
using qps::tests::kMillisecond;

namespace {

constexpr std::uint64_t kActive = 0xc0000201, kPassive = 0xc0000202;  // 192.0.2.1 and .2

const MadAttribute& attribute(CmMessage message) {
    return *find_attribute(ManagementClass::communication,
                           static_cast<std::uint16_t>(0x10 + static_cast<int>(message)));
}

using Setting = std::pair<std::string_view, std::uint64_t>;

// A conversation between two hosts, a millisecond a packet.
struct Conversation {
    CmTracker tracker;
    std::int64_t clock = 0;
    std::uint64_t frame = 0;

    void packet(PacketSpec spec, bool from_active, std::size_t captured = std::dynamic_extent) {
        set(spec, "ip.src", from_active ? kActive : kPassive);
        set(spec, "ip.dst", from_active ? kPassive : kActive);
        const std::vector<std::byte> bytes = build(spec);
        Frame one = frame_of(spec, bytes, captured);
        one.time = Instant{clock += kMillisecond};
        one.index = FrameIndex{++frame};
        Packet packet;
        decode(one, packet);
        Observation observation;
        observe(packet, observation);
        tracker.observe(observation);
    }
    void send(CmMessage message, bool from_active, std::initializer_list<Setting> settings,
              std::size_t captured = std::dynamic_extent) {
        PacketSpec spec = mad_packet(ManagementClass::communication, attribute(message), Network::roce_v2_ipv4);
        set(spec, "infiniband.mad.method", 3);
        set(spec, "infiniband.mad.classversion", 2);
        set(spec, "infiniband.mad.transactionid", 77);
        for (const auto& [field, value] : settings) REQUIRE(set(spec, field, value));
        packet(std::move(spec), from_active, captured);
    }
    void req(std::uint64_t qpn = 0x21, std::uint64_t id = 0xa1) {
        send(CmMessage::req, true,
             {{"infiniband.cm.req", id},
              {"infiniband.cm.req.serviceid", 0x1061c06},
              {"infiniband.cm.req.localqpn", qpn},
              {"infiniband.cm.req.startpsn", 100},
              {"infiniband.cm.req.pppmtu", 3},
              {"infiniband.cm.req.remoteresptout", 14},  // 67 ms
              {"infiniband.cm.req.localresptout", 14}});
    }
    void mra(std::uint64_t about, bool from_active) {
        send(CmMessage::mra, from_active,
             {{"infiniband.cm.mra.localcommid", from_active ? 0xa1 : 0xb2},
              {"infiniband.cm.mra.remotecommid", from_active ? 0xb2 : 0xa1},
              {"infiniband.cm.mra.msgmra", about}});
    }
    void rep(std::uint64_t active_id = 0xa1, std::uint64_t id = 0xb2) {
        send(CmMessage::rep, false,
             {{"infiniband.cm.rep", id},
              {"infiniband.cm.rep.remotecommid", active_id},
              {"infiniband.cm.rep.localqpn", 0x22},
              {"infiniband.cm.rep.startpsn", 200}});
    }
    void rtu() {
        send(CmMessage::rtu, true, {{"infiniband.cm.rtu.localcommid", 0xa1}, {"infiniband.cm.rtu.remotecommid", 0xb2}});
    }
    void rej(std::uint64_t reason) {
        send(CmMessage::rej, false, {{"infiniband.cm.rej.remotecommid", 0xa1}, {"infiniband.cm.rej.reason", reason}});
    }
    void dreq(bool from_active) {
        send(CmMessage::dreq, from_active,
             {{"infiniband.mad.transactionid", 78},
              {"infiniband.cm.dreq.localcommid", from_active ? 0xa1 : 0xb2},
              {"infiniband.cm.dreq.remotecommid", from_active ? 0xb2 : 0xa1},
              {"infiniband.cm.req.remoteqpneecn", from_active ? 0x22 : 0x21}});
    }
    void drep(bool from_active) {
        send(CmMessage::drep, from_active,
             {{"infiniband.mad.transactionid", 78},
              {"infiniband.cm.drsp.localcommid", from_active ? 0xa1 : 0xb2},
              {"infiniband.cm.drsp.remotecommid", from_active ? 0xb2 : 0xa1}});
    }
    void data(bool from_active) {
        PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
        set(spec, "infiniband.bth.destqp", from_active ? 0x22 : 0x21);
        packet(std::move(spec), from_active);
    }
    // The one attempt there must be.
    CmAttempt only() {
        CmReport report = tracker.finish();
        REQUIRE(report.attempts.size() == 1);
        return report.attempts[0];
    }
};

// "REQ> REP< RTU>", with ' behind repetitions and ! behind what is refused.
std::string ladder(const CmAttempt& attempt) {
    std::string text;
    for (const CmRung& rung : attempt.ladder)
        text += fmt::format("{}{}{}{}{}", text.empty() ? "" : " ", name(rung.message), rung.from_active ? ">" : "<",
                            rung.duplicate ? "'" : "", rung.refused ? "!" : "");
    return text;
}

CmReport read(std::string_view sample) {
    CmTracker tracker;
    qps::tests::for_each_observation(sample, [&](const Observation& observation) { tracker.observe(observation); });
    return tracker.finish();
}

}  // namespace

TEST_CASE("a connection is set up, used and released") {
    Conversation c;
    c.req();
    c.rep();
    c.rtu();
    c.data(true);
    c.dreq(true);
    c.drep(false);
    const CmAttempt attempt = c.only();
    CHECK(ladder(attempt) == "REQ> REP< RTU> DREQ> DREP<");
    CHECK(attempt.outcome == CmOutcome::disconnected);
    CHECK(attempt.state == CmState::timewait);
    CHECK(attempt.service == CmService::rc);
    CHECK(attempt.path_mtu == 1024U);
    CHECK(attempt.active.qpn == Qpn{0x21});
    CHECK(attempt.passive.qpn == Qpn{0x22});
    CHECK(attempt.active.starting_psn == Psn(100));
    CHECK(attempt.passive.starting_psn == Psn(200));
    CHECK(attempt.setup_time() == Duration{2 * kMillisecond});
    CHECK_FALSE(attempt.incomplete);
    CHECK_FALSE(attempt.data_without_rtu);
    CHECK(attempt.ip->port == 7174);
    CHECK_FALSE(attempt.ip->addressed);
}

TEST_CASE("repeated and delayed messages are counted") {
    Conversation c;
    c.req();
    c.req();
    c.mra(0, false);
    c.req();
    c.rep();
    c.mra(1, true);
    c.rep();
    c.rtu();
    c.rep();
    c.rtu();
    const CmAttempt attempt = c.only();
    CHECK(ladder(attempt) == "REQ> REQ>' MRA< REQ>' REP< MRA> REP<' RTU> REP<' RTU>'");
    CHECK(attempt.repeats_of(CmMessage::req) == 2);
    CHECK(attempt.repeats_of(CmMessage::rep) == 2);
    CHECK(attempt.repeats_of(CmMessage::rtu) == 1);
    CHECK(attempt.outcome == CmOutcome::established);
    CHECK(attempt.refused == 0);
}

TEST_CASE("a REJ has its reason") {
    Conversation c;
    c.req();
    c.rej(28);
    c.req();
    c.rej(28);
    const CmAttempt attempt = c.only();
    CHECK(ladder(attempt) == "REQ> REJ< REQ>' REJ<'");
    CHECK(attempt.outcome == CmOutcome::rejected);
    REQUIRE(attempt.rejection);
    CHECK(reject_reason(attempt.rejection->reason) == "Consumer reject");
    CHECK_FALSE(attempt.rejection->by_active);
    CHECK(reject_reason(34).empty());
}

TEST_CASE("silence is judged by the timeouts of the REQ") {
    Conversation silent;
    silent.req();
    silent.clock += 100 * kMillisecond;
    silent.data(false);
    CHECK(silent.only().outcome == CmOutcome::no_answer);

    Conversation ended;
    ended.req();
    ended.clock += 10 * kMillisecond;
    ended.data(false);
    CHECK(ended.only().outcome == CmOutcome::open);

    Conversation half;
    half.req();
    half.rep();
    half.clock += 100 * kMillisecond;
    half.data(false);
    CHECK(half.only().outcome == CmOutcome::half_open);
}

TEST_CASE("a REP that is repeated for longer than its sender waits was not confirmed, however late the last one is") {
    for (const bool confirmed : {false, true}) {
        Conversation c;
        c.req();
        for (int i = 0; i < 6; ++i) {
            c.rep();
            c.clock += 67 * kMillisecond;
        }
        if (confirmed) c.rtu();
        CHECK(c.only().outcome == (confirmed ? CmOutcome::established : CmOutcome::half_open));
    }
    Conversation early;
    early.req();
    early.rep();
    early.clock += 30 * kMillisecond;
    early.rep();
    CHECK(early.only().outcome == CmOutcome::open);
}

TEST_CASE("an MRA asks for more time") {
    Conversation c;
    c.req();
    c.send(CmMessage::mra, false,
           {{"infiniband.cm.mra.localcommid", 0xb2},
            {"infiniband.cm.mra.remotecommid", 0xa1},
            {"infiniband.cm.mra.servicetimeout", 18}});  // 1.1 s
    c.clock += 500 * kMillisecond;
    c.data(false);
    const CmAttempt attempt = c.only();
    CHECK(attempt.outcome == CmOutcome::open);
    CHECK(attempt.state == CmState::mra_req_sent);
}

TEST_CASE("data in place of an RTU establishes, and an RTU that comes later is no loss") {
    Conversation c;
    c.req();
    c.rep();
    c.data(true);
    SECTION("lost") {
        const CmAttempt attempt = c.only();
        CHECK(attempt.outcome == CmOutcome::established);
        CHECK(attempt.data_without_rtu == FrameIndex{3});
        CHECK(attempt.setup_time() == Duration{2 * kMillisecond});
    }
    SECTION("late") {
        c.rtu();
        CHECK_FALSE(c.only().data_without_rtu);
    }
}

TEST_CASE("the same ids later are another attempt, unless the REQ is the same") {
    Conversation c;
    c.req(0x21);
    c.rej(8);
    c.req(0x31);
    c.rep();
    const CmReport report = c.tracker.finish();
    REQUIRE(report.attempts.size() == 2);
    CHECK(ladder(report.attempts[0]) == "REQ> REJ<");
    CHECK(ladder(report.attempts[1]) == "REQ> REP<");
    CHECK(report.attempts[1].active.qpn == Qpn{0x31});
    CHECK(report.attempts[1].uid == 1);
}

TEST_CASE("a capture that begins in the middle") {
    Conversation c;
    SECTION("with the REP") {
        c.rep();
        c.rtu();
        const CmAttempt attempt = c.only();
        CHECK(ladder(attempt) == "REP< RTU>");
        CHECK(attempt.incomplete);
        CHECK(text(attempt.active.address) == "192.0.2.1");
        CHECK(attempt.outcome == CmOutcome::established);
        CHECK_FALSE(attempt.active.qpn);
        CHECK_FALSE(attempt.setup_time());
    }
    SECTION("with the DREQ, which names one QP") {
        c.dreq(false);
        c.drep(true);
        const CmAttempt attempt = c.only();
        CHECK(attempt.incomplete);
        CHECK(attempt.roles_guessed);
        CHECK(attempt.outcome == CmOutcome::disconnected);
        CHECK(attempt.passive.qpn == Qpn{0x21});  // the guess: who releases is active
    }
    SECTION("REQ and REP the wrong way round") {
        c.rep();
        c.req();
        c.rtu();
        const CmAttempt attempt = c.only();
        CHECK(ladder(attempt) == "REP< REQ> RTU>");
        CHECK(attempt.active.qpn == Qpn{0x21});
    }
}

TEST_CASE("a capture of one side") {
    Conversation c;
    c.req();
    c.rtu();
    c.dreq(true);
    const CmAttempt attempt = c.only();
    CHECK(ladder(attempt) == "REQ> RTU> DREQ>");
    CHECK(attempt.incomplete);
    CHECK(attempt.state == CmState::dreq_sent);
    CHECK(attempt.passive.qpn == Qpn{0x22});
}

TEST_CASE("what cannot be is refused, shown and changes nothing") {
    Conversation c;
    c.req();
    c.rej(8);
    c.rtu();
    const CmReport report = c.tracker.finish();
    REQUIRE(report.refusals.size() == 1);
    CHECK(report.refusals[0].state == CmState::rejected);
    CHECK(report.refusals[0].event == CmEvent::rtu);
    CHECK(report.refusals[0].frame == FrameIndex{3});
    CHECK(ladder(report.attempts[0]) == "REQ> REJ< RTU>!");
    CHECK(report.attempts[0].outcome == CmOutcome::rejected);
}

TEST_CASE("what was said before and comes after the DREQ is late, not refused") {
    Conversation c;
    c.req();
    c.rep();
    c.rtu();  // lost behind the tap
    c.dreq(true);
    c.rep();
    c.rtu();
    c.drep(false);
    c.rep();
    c.req();
    const CmReport report = c.tracker.finish();
    CHECK(report.refusals.empty());
    REQUIRE(report.attempts.size() == 1);
    CHECK(ladder(report.attempts[0]) == "REQ> REP< RTU> DREQ> REP<' RTU>' DREP< REP<' REQ>'");
    CHECK(report.attempts[0].repeats_of(CmMessage::rep) == 2);
    CHECK(report.attempts[0].state == CmState::timewait);
    CHECK_FALSE(report.attempts[0].incomplete);
}

TEST_CASE("another REP after the DREQ is refused, and so is the first RTU") {
    Conversation c;
    c.req();
    c.rep();
    c.data(true);
    c.dreq(true);
    c.send(
        CmMessage::rep, false,
        {{"infiniband.cm.rep", 0xb2}, {"infiniband.cm.rep.remotecommid", 0xa1}, {"infiniband.cm.rep.localqpn", 0x23}});
    c.rtu();
    const CmReport report = c.tracker.finish();
    CHECK(ladder(report.attempts[0]) == "REQ> REP< DREQ> REP<'! RTU>!");
    REQUIRE(report.refusals.size() == 2);
    CHECK(report.refusals[0].event == CmEvent::rep);
    CHECK(report.refusals[1].event == CmEvent::rtu);
    CHECK(report.attempts[0].passive.qpn == Qpn{0x22});
}

TEST_CASE("a datagram service is resolved") {
    Conversation c;
    c.send(CmMessage::sidr_req, true,
           {{"infiniband.cm.sidr_req.requestid", 5}, {"infiniband.cm.sidr_req.serviceid", 0x1111f90}});
    c.send(CmMessage::sidr_rep, false,
           {{"infiniband.cm.sidr_rep.requestid", 5},
            {"infiniband.cm.sidr_rep.qpn", 0x99},
            {"infiniband.cm.sidr_rep.qkey", 0x1234567}});
    c.send(CmMessage::sidr_req, true,
           {{"infiniband.cm.sidr_req.requestid", 6}, {"infiniband.cm.sidr_req.serviceid", 0x1111f91}});
    c.send(CmMessage::sidr_rep, false, {{"infiniband.cm.sidr_rep.requestid", 6}, {"infiniband.cm.sidr_rep.status", 1}});
    const CmReport report = c.tracker.finish();
    REQUIRE(report.attempts.size() == 2);
    CHECK(report.attempts[0].outcome == CmOutcome::resolved);
    CHECK(report.attempts[0].service == CmService::datagram);
    CHECK(report.attempts[0].passive.qpn == Qpn{0x99});
    CHECK(report.attempts[0].sidr_qkey == Qkey{0x1234567});
    CHECK(report.attempts[0].ip->protocol == 17);
    CHECK(report.attempts[1].outcome == CmOutcome::unresolved);
    CHECK(report.attempts[1].sidr_status == 1);
}

TEST_CASE("alternate paths are loaded one after another") {
    Conversation c;
    c.req();
    c.rep();
    c.rtu();
    for (const std::uint64_t transaction : {90U, 91U}) {
        c.send(CmMessage::lap, true,
               {{"infiniband.mad.transactionid", transaction},
                {"infiniband.cm.lap.localcommid", 0xa1},
                {"infiniband.cm.lap.remotecommid", 0xb2}});
        c.send(CmMessage::apr, false,
               {{"infiniband.mad.transactionid", transaction},
                {"infiniband.cm.apr.localcommid", 0xb2},
                {"infiniband.cm.apr.remotecommid", 0xa1},
                {"infiniband.cm.apr.status", transaction - 88}});
    }
    const CmAttempt attempt = c.only();
    CHECK(ladder(attempt) == "REQ> REP< RTU> LAP> APR< LAP> APR<");
    CHECK(attempt.alternate_path_status == 3);
    CHECK(attempt.outcome == CmOutcome::established);
}

TEST_CASE("an XRC target has its QPN in place of the EE context") {
    Conversation c;
    c.send(
        CmMessage::req, true,
        {{"infiniband.cm.req", 0xa1}, {"infiniband.cm.req.transpsvctype", 3}, {"infiniband.cm.req.ext_transport", 1}});
    c.send(
        CmMessage::rep, false,
        {{"infiniband.cm.rep", 0xb2}, {"infiniband.cm.rep.remotecommid", 0xa1}, {"infiniband.cm.rep.localeecn", 0x77}});
    const CmAttempt attempt = c.only();
    CHECK(attempt.service == CmService::xrc);
    CHECK(attempt.passive.qpn == Qpn{0x77});
}

TEST_CASE("what the capture cut off is nothing, not zero") {
    Conversation c;
    c.send(CmMessage::req, true, {{"infiniband.cm.req", 0xa1}, {"infiniband.cm.req.localqpn", 0x21}},
           128);  // 42 bytes of the REQ
    const CmAttempt attempt = c.only();
    CHECK(attempt.active.qpn == Qpn{0x21});
    CHECK_FALSE(attempt.active.starting_psn);
    CHECK_FALSE(attempt.path_mtu);
    CHECK_FALSE(attempt.service);

    c.send(CmMessage::rep, false, {}, 90);
    CHECK(c.tracker.finish().messages_unreadable == 1);
}

TEST_CASE("a host joins a multicast group") {
    Conversation c;
    const MadAttribute& record = *std::ranges::find(kMadAttributes, LayerKind::mc_member_record, &MadAttribute::data);
    for (const bool request : {true, false}) {
        PacketSpec spec = mad_packet(ManagementClass::subnet_administration, record, Network::roce_v2_ipv4);
        set(spec, "infiniband.mad.method", request ? 0x02 : 0x81);
        set(spec, "infiniband.mad.transactionid", 5);
        set(spec, "infiniband.mcmemberrecord.joinstate", 1);
        if (!request) set(spec, "infiniband.mcmemberrecord.mlid", 0xc001);
        c.packet(std::move(spec), request);
    }
    const CmReport report = c.tracker.finish();
    REQUIRE(report.joins.size() == 1);
    CHECK(text(report.joins[0].member) == "192.0.2.1");
    CHECK(report.joins[0].join_state == 1);
    CHECK(report.joins[0].status == 0);
    CHECK(report.joins[0].mlid == 0xc001);
    CHECK(report.joins[0].answered_after == Duration{kMillisecond});
}

TEST_CASE("ladders and attempts are bounded, and what is past them is counted") {
    Conversation c;
    for (std::size_t i = 0; i < kMaxCmRungs + 3; ++i) c.req();
    const CmAttempt attempt = c.only();
    CHECK(attempt.ladder.size() == kMaxCmRungs);
    CHECK(attempt.rungs_dropped == 3);
    CHECK(attempt.repeats_of(CmMessage::req) == kMaxCmRungs + 2);
}

TEST_CASE("rping over IPv4: one connection") {
    const CmReport report = read("rping_v4");
    REQUIRE(report.attempts.size() == 1);
    const CmAttempt& attempt = report.attempts[0];
    CHECK(ladder(attempt) == "REQ> REP< RTU> DREQ> DREP<");
    CHECK(attempt.outcome == CmOutcome::disconnected);
    CHECK(text(attempt.active.address) == "10.77.0.11");
    CHECK(attempt.active.communication_id == 0x63c0149dU);
    CHECK(attempt.passive.communication_id == 0x566cd62cU);
    CHECK(attempt.passive.qpn == Qpn{0x12});
    CHECK(attempt.passive.starting_psn == Psn(0xe4b85d));
    CHECK(attempt.passive.responder_resources == 1);
    CHECK(attempt.passive.rnr_retry_count == 7);
    CHECK(attempt.target_ack_delay == 15);
    CHECK(attempt.ip->protocol == 6);
    CHECK(attempt.ip->port == 7174);
    CHECK(text(attempt.ip->source) == "10.77.0.11");
    CHECK(text(attempt.ip->destination) == "10.77.0.12");
    CHECK(attempt.setup_time() == Duration{28'280'000});
    CHECK(attempt.last_frame == FrameIndex{70});
}

TEST_CASE("rping over IPv6: one connection") {
    const CmReport report = read("rping_v6");
    REQUIRE(report.attempts.size() == 1);
    const CmAttempt& attempt = report.attempts[0];
    CHECK(ladder(attempt) == "REQ> REP< RTU> DREQ> DREP<");
    CHECK(text(attempt.passive.address) == "fd00::12");
    CHECK(text(attempt.ip->source) == "fd00::11");
    CHECK(text(attempt.ip->destination) == "fd00::12");
    CHECK(attempt.ip->source_port == 0x82aa);
    CHECK(attempt.active.qpn == Qpn{0x13});
    CHECK(attempt.active.starting_psn == Psn(0xc6b503));
    CHECK(attempt.passive.qpn == Qpn{0x13});
}

TEST_CASE("ucmatose: four connections that interleave, released by the passive side") {
    const CmReport report = read("ucmatose");
    REQUIRE(report.attempts.size() == 4);
    for (std::uint32_t i = 0; i < 4; ++i) {
        const CmAttempt& attempt = report.attempts[i];
        CHECK(ladder(attempt) == "REQ> REP< RTU> DREQ< DREP>");
        CHECK(attempt.passive.qpn == Qpn{0x22 + i});
        CHECK(attempt.path_mtu == 4096U);
        CHECK(attempt.retry_count == 5);
        CHECK(attempt.local_ack_timeout == 19);
        CHECK(attempt.remote_response_timeout == 20);
        CHECK(attempt.max_cm_retries == 15);
    }
    CHECK(report.attempts[0].active.starting_psn == Psn(0x4088ba));
    CHECK(report.attempts[3].setup_time() == Duration{26'708'000});
    CHECK(report.refusals.empty());
}

TEST_CASE("nobody listens: rejected with reason 8") {
    for (const auto* sample : {"cm_reject_noport", "cm_timeout_noanswer"}) {
        const CmReport report = read(sample);
        REQUIRE(report.attempts.size() == 1);
        CHECK(ladder(report.attempts[0]) == "REQ> REJ<");
        CHECK(report.attempts[0].outcome == CmOutcome::rejected);
        CHECK(reject_reason(report.attempts[0].rejection->reason) == "Invalid service ID");
    }
}

TEST_CASE("NVMe: a discovery and two queues, with their private data") {
    const CmReport report = read("nvme_rdma");
    REQUIRE(report.attempts.size() == 3);
    for (const CmAttempt& attempt : report.attempts) {
        CHECK(ladder(attempt) == "REQ> REP< RTU> DREQ> DREP<");
        CHECK(attempt.outcome == CmOutcome::disconnected);
        CHECK(attempt.ip->port == 4420);
    }
    CHECK(report.attempts[0].passive.qpn == Qpn{0x3b});
    CHECK(report.attempts[1].last_frame == FrameIndex{416});
    CHECK(report.attempts[2].last_frame == FrameIndex{408});
    CHECK(report.attempts[0].active.private_data.room == 56);
    CHECK(read_le<std::uint16_t>(report.attempts[2].active.private_data.bytes(), 2) == 1);  // queue id
}
