// Whom a finding blames and whom its advice is for: both the one who can do something about it, or nobody.
#include <tests/support/catch.hpp>
#include <tests/support/drawn_findings.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/ulp/credit_wait.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

bool says(Timeline& timeline, std::string_view id) {
    draw_findings(timeline);
    return std::ranges::find(timeline.findings, id, &Finding::id) != timeline.findings.end();
}

Timeline rejected(std::uint16_t reason, bool by_active = false) {
    Timeline timeline = healthy();
    timeline.cm.attempts[0].outcome = CmOutcome::rejected;
    timeline.cm.attempts[0].rejection =
        CmRejection{.reason = reason, .by_active = by_active, .rejected_message = 0, .private_data = {}};
    return timeline;
}

// A WRITE of three packets of 4096 bytes, from PSN 76 on, refused at 77.
Timeline refused_write() {
    Timeline timeline = healthy();
    Fatality& fatality = add_fatality(timeline, 1);
    Message& request = *fatality.request;
    request.first = Psn(76);
    request.last = Psn(78);
    request.starts = request.ends = true;
    request.packets = 3;
    request.bytes = request.access->length = 3 * 4096;
    return timeline;
}

void ask_read_again(Timeline& timeline, std::uint32_t frame) {
    Recovery& episode = timeline.recoveries.emplace_back();
    episode.connection = timeline.connections[0].uid;
    episode.verb = Verb::read_request;
    episode.kind = RecoveryKind::timeout;
    episode.end = RecoveryEnd::recovered;
    episode.resumed = FrameIndex{frame};
}

// End a disconnects at 10 s; the connection has an attempt with its DREQ.
void disconnect(Timeline& timeline, bool by_active, std::int64_t at) {
    CmAttempt& attempt = timeline.cm.attempts[0];
    attempt.ladder.push_back(
        {FrameIndex{900}, Instant{at}, CmMessage::dreq, by_active, false, false, CmState::dreq_sent});
    attempt.outcome = CmOutcome::disconnected;
    attempt.state = CmState::timewait;
    timeline.connections[0].cm_attempt = 0;
    timeline.connections[0].released = true;
    timeline.last = Instant{at + kSecond};
}

void exhaust(Timeline& timeline, std::string_view words, std::uint64_t credits) {
    UlpConversation& conversation = timeline.ulp.conversations.emplace_back();
    conversation.connection = timeline.connections[0].uid;
    conversation.protocol = UlpProtocol::rpc_rdma;
    UlpEvent& event = timeline.ulp.events.emplace_back();
    event.kind = UlpEventKind::credits_exhausted;
    event.protocol = UlpProtocol::rpc_rdma;
    event.connection = conversation.connection;
    event.frame = FrameIndex{7};
    event.by_active = words != kNoCredits;
    event.number = credits;
    event.words = words;
}

}  // namespace

TEST_CASE("who goes back behind an open READ again and again, though answered, sends the wrong packet again") {
    Timeline timeline = healthy();
    const auto resend = [&]() -> Recovery& {
        Recovery& episode = add_recovery(timeline, RecoveryKind::timeout);
        episode.evidence = {RoundEvidence::unasked, RoundEvidence::answer_passed};
        return episode;
    };
    // Whatever was sent, and how often: the capture may lack the response, and a peer that died answers nothing more.
    resend().triggers = 3;
    CHECK(one(timeline, "ack-timeout").party != Party::requester);
    resend();
    CHECK(one(timeline, "ack-timeout").party == Party::requester);
    CHECK(qps::tests::says(one(timeline, "ack-timeout").summary, "went back behind a READ or ATOMIC"));
    timeline.recoveries.back().evidence.add(RoundEvidence::oldest);  // no READ was before it
    CHECK(one(timeline, "ack-timeout").party != Party::requester);
    timeline.recoveries.back().evidence = {RoundEvidence::unasked};  // no answer had passed
    CHECK(one(timeline, "ack-timeout").party != Party::requester);
}

TEST_CASE("a rejection is for the side that can do something about its reason") {
    const auto check = [](std::uint16_t reason, bool by_active, Party party, std::string_view advice) {
        INFO(reason << " " << by_active);
        Timeline timeline = rejected(reason, by_active);
        const Finding& finding = one(timeline, "cm-rejected");
        CHECK(finding.party == party);
        CHECK(says(finding.advice, advice));
    };
    check(10, false, Party::requester, "On 10.0.0.1: Connect with a new queue pair");
    check(10, true, Party::responder, "On 10.0.0.2: Connect with a new queue pair");
    check(8, false, Party::responder, "On 10.0.0.2: Start the service");
    check(26, false, Party::requester, "On 10.0.0.1: Request a path MTU");
    check(4, false, Party::undecided, "On 10.0.0.1: Find out why it did not answer");
    check(28, false, Party::application, "On 10.0.0.2: Check the log");
}

TEST_CASE("a legal request that was refused behind its first packet is not the requester's fault") {
    Timeline timeline = refused_write();
    const Finding alone = one(timeline, "remote-invalid-request");
    CHECK(alone.party == Party::undecided);
    CHECK(says(alone.summary,
               "it had taken the first packet at PSN 76, so operation, R_Key, length and path MTU are right."));
    CHECK(alone.advice.find("qp_access_flags") == std::string::npos);

    ask_read_again(timeline, 45);
    const Finding behind = one(timeline, "remote-invalid-request");
    CHECK(behind.party == Party::responder);
    CHECK(says(behind.summary, "behind a READ that was asked for again (frame 45)"));
    timeline.recoveries[0].resumed = FrameIndex{39};  // before the last request that was good
    CHECK(one(timeline, "remote-invalid-request").party == Party::undecided);
}

TEST_CASE("who sends more than its DMA length is at fault, who is refused at the first packet is not known to be") {
    Timeline timeline = refused_write();
    timeline.fatalities[0].request->bytes += 1;
    CHECK(one(timeline, "remote-invalid-request").party == Party::requester);
    timeline = refused_write();
    timeline.fatalities[0].psn = Psn(76);
    CHECK(one(timeline, "remote-invalid-request").party == Party::undecided);
    CHECK(says(one(timeline, "remote-invalid-request").advice, "qp_access_flags"));
}

TEST_CASE("a refused access blames who offered memory that it does not serve, or who asks for another") {
    Timeline timeline = healthy();
    Fatality& fatality = add_fatality(timeline, 2);
    RefusedAccess& access = timeline.ulp.refused.emplace_back();
    access.connection = fatality.connection;
    access.nak = fatality.frame;
    access.verdict = RefusedAccess::Verdict::inside;
    CHECK(one(timeline, "remote-access-error").party == Party::responder);
    CHECK(says(one(timeline, "remote-access-error").advice, "Check on 10.0.0.2"));
    timeline.ulp.refused[0].verdict = RefusedAccess::Verdict::other_key;
    CHECK(one(timeline, "remote-access-error").party == Party::requester);
    CHECK(says(one(timeline, "remote-access-error").advice, "Check on 10.0.0.1"));
}

TEST_CASE("a Terminate of MPA blames the end that did not send what the other expects") {
    for (const End from : {End::a, End::b}) {
        Timeline timeline = healthy();
        timeline.connections[0].service = Service::iwarp;
        IwarpConversation& conversation = timeline.iwarp.conversations.emplace_back();
        conversation.connection = timeline.connections[0].uid;
        constexpr std::uint8_t kMpa = 2, kNoReadyToReceive = 7;
        conversation.terminated = Terminated{from, FrameIndex{7}, {}, kMpa, 0, kNoReadyToReceive};
        const Finding& finding = one(timeline, "iwarp-terminated");
        CHECK(finding.party == (from == End::a ? Party::responder : Party::requester));
        CHECK(says(finding.advice, "IRD, ORD"));
    }
}

TEST_CASE("repeated DREQs say nothing of the set-up") {
    Timeline timeline = healthy();
    CmAttempt& attempt = timeline.cm.attempts[0];
    attempt.outcome = CmOutcome::disconnect_unanswered;
    attempt.state = CmState::dreq_sent;
    attempt.repeats[std::to_underlying(CmMessage::dreq)] = 3;
    CHECK(says(timeline, "cm-disconnect-unanswered"));
    CHECK_FALSE(says(timeline, "cm-retries"));
    attempt.repeats[std::to_underlying(CmMessage::req)] = 1;
    CHECK(one(timeline, "cm-retries").count == 1);
    CHECK(says(one(timeline, "cm-retries").advice, "slow to accept"));
    // Answered in the end, they are retries, and still say nothing of the set-up.
    attempt.outcome = CmOutcome::disconnected;
    attempt.repeats[std::to_underlying(CmMessage::req)] = 0;
    const Finding& finding = one(timeline, "cm-retries");
    CHECK(
        says(finding.summary, "retransmitted 3 CM messages in 1 attempt, all of them of the disconnect (DREQ, DREP)."));
    CHECK(says(finding.advice, "slow to disconnect"));
}

TEST_CASE("what took a set-up that never was complete is not told") {
    Timeline timeline = healthy();
    CmAttempt& attempt = timeline.cm.attempts[0];
    attempt.repeats[std::to_underlying(CmMessage::rep)] = 5;
    CHECK(says(one(timeline, "cm-retries").summary, "; setup took up to "));
    attempt.outcome = CmOutcome::open;
    CHECK(one(timeline, "cm-retries").summary.find("setup took") == std::string::npos);
}

TEST_CASE(
    "that one direction was captured is told where the sender went on, else the other end may have said nothing") {
    Timeline timeline = healthy();
    Way& way = timeline.connections[0].ways[0];
    timeline.connections[0].ways[1] = {};
    timeline.cm.attempts[0].ladder.clear();
    timeline.quality.one_way = {{host(1), host(2), way.packets, true}};
    CHECK(says(one(timeline, "one-way-capture").summary, "Only one direction of 1 pair of hosts was captured"));
    way.incidents.made().retransmitted = way.packets - 1;
    const Finding& finding = one(timeline, "one-way-capture");
    CHECK(finding.party == Party::undecided);
    CHECK(
        says(finding.summary, "and all that was sent was retransmitted: 10.0.0.2 was not captured, or sends nothing."));
}

TEST_CASE("messages that were unanswered for a second when their sender disconnected are a finding") {
    Timeline timeline = healthy();
    timeline.connections[0].ways[0].incidents.made().abandoned = 3;
    disconnect(timeline, true, 31 * kSecond);  // its last packet was at 1 s
    CHECK(says(one(timeline, "requests-unanswered").summary,
               "3 messages from 10.0.0.1 to 10.0.0.2 QP 257 had no answer when 10.0.0.1 disconnected, 30 s"));
    timeline.cm.attempts[0].ladder.back().from_active = false;  // the other end disconnected
    CHECK_FALSE(says(timeline, "requests-unanswered"));
    timeline.cm.attempts[0].ladder.back() = {
        FrameIndex{900}, Instant{kSecond + kMillisecond}, CmMessage::dreq, true, false, false, CmState::dreq_sent};
    CHECK_FALSE(says(timeline, "requests-unanswered"));  // at once: it did not wait
}

TEST_CASE("an operation that waited for a second when its requester disconnected is a finding") {
    const auto waiting = [](bool by_active, std::int64_t at) {
        Timeline timeline = healthy();
        disconnect(timeline, by_active, at);
        UlpConversation& conversation = timeline.ulp.conversations.emplace_back();
        conversation.connection = timeline.connections[0].uid;
        conversation.protocol = UlpProtocol::nvme;
        UlpOperation& operation = timeline.ulp.unanswered.emplace_back();
        operation.connection = conversation.connection;
        operation.protocol = UlpProtocol::nvme;
        operation.requester = End::a;
        operation.asked = Instant{kMillisecond};
        operation.asked_frame = FrameIndex{100};
        return timeline;
    };
    Timeline timeline = waiting(true, 60 * kSecond);
    CHECK(says(one(timeline, "operation-unanswered").summary, "before 10.0.0.1 disconnected"));
    Timeline other = waiting(false, 60 * kSecond);
    CHECK_FALSE(says(other, "operation-unanswered"));
    Timeline soon = waiting(true, 500 * kMillisecond);
    CHECK_FALSE(says(soon, "operation-unanswered"));
}

TEST_CASE("credits: who waited, who exceeds its grant, who grants none") {
    const auto said = [](std::string_view words, std::uint64_t credits, auto harm) {
        Timeline timeline = healthy();
        exhaust(timeline, words, credits);
        harm(timeline);
        return one(timeline, "credits-exhausted");
    };
    const auto nothing = [](Timeline&) {};
    CHECK(said(kWaitedForCredits, 2, nothing).party == Party::responder);
    CHECK(says(said(kWaitedForCredits, 2, nothing).summary, "10.0.0.1 used up the 2 credits that 10.0.0.2 grants"));
    CHECK(said(kMoreThanGranted, 2, nothing).party == Party::requester);
    CHECK(says(said(kMoreThanGranted, 2, nothing).summary,
               "10.0.0.1 had more requests of RPC over RDMA outstanding than the 2 credits that 10.0.0.2 granted."));
    const auto lose = [](Timeline& timeline) { timeline.quality.drops.dropped = 1; };
    CHECK(said(kMoreThanGranted, 2, lose).party == Party::undecided);
    CHECK(said(kNoCredits, 0, nothing).party == Party::responder);
    CHECK(says(said(kNoCredits, 0, nothing).summary, "10.0.0.2 granted 10.0.0.1 no credits"));
}
