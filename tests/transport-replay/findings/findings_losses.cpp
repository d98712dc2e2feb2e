// What findings say of losses and of wrong ICRCs.
#include <tests/support/catch.hpp>
#include <tests/support/drawn_findings.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <string>
#include <utility>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

TEST_CASE("losses: what the tap missed is never called lost by the network") {
    Timeline timeline = healthy();
    timeline.connections[0].ways[0].incidents.made().gaps = {
        .skipped = 9, .reordered = 0, .network = 0, .tap = 9, .undecided = 0};
    timeline.quality.drops = {.known = true, .received = 400, .dropped = 5, .dropped_by_system = 7};
    draw_findings(timeline);
    REQUIRE(timeline.findings.size() == 1);
    CHECK(timeline.findings[0].party == Party::capture);
    CHECK(says(timeline.findings[0].summary, "lacks 9 packets of 1 connection"));
    CHECK(says(timeline.findings[0].summary, "reports 12 drops"));
}

TEST_CASE("losses beside wrong ICRCs are put down to corruption") {
    Timeline timeline = healthy();
    add_recovery(timeline, RecoveryKind::sequence_nak);
    timeline.connections[0].ways[0].incidents.made().gaps = {.skipped = 3, .network = 3};
    timeline.connections[0].ways[0].incidents.made().corrupt = 2;
    const Finding& finding = one(timeline, "go-back-n-loss");
    CHECK(says(finding.summary, "lost 3 packets from 10.0.0.1 (1 event"));
    CHECK(says(finding.summary, "2 packets with a wrong ICRC"));
    CHECK(says(finding.advice, "corrupts packets between"));
    CHECK(one(timeline, "icrc-wrong").connection == ConnectionId{1});
}

TEST_CASE("not all events are losses where some packets were discarded behind one that was lost") {
    Timeline timeline = healthy();
    add_recovery(timeline, RecoveryKind::sequence_nak).cause = NakCause::corrupt;
    add_recovery(timeline, RecoveryKind::sequence_nak).cause = NakCause::corrupt;
    CHECK(says(one(timeline, "go-back-n-loss").summary, "(2 events, all corrupted before this tap"));
    add_recovery(timeline, RecoveryKind::sequence_nak).cause = NakCause::discarded_lost;
    CHECK(says(one(timeline, "go-back-n-loss").summary,
               "(3 events, 2 corrupted before this tap, 1 discarded behind a lost one"));
}

TEST_CASE("of a gap that nothing filled one packet is known to be missing where READs take several PSNs") {
    Timeline timeline = healthy();
    Recovery& episode = add_recovery(timeline, RecoveryKind::sequence_nak);
    episode.lost = 8;
    episode.resent = 20;
    timeline.connections[0].ways[0].incidents.made().gaps = {.skipped = 6, .network = 6, .again = 2};
    CHECK(says(one(timeline, "go-back-n-loss").summary, "lost 8 packets"));
    episode.end = RecoveryEnd::open;
    CHECK(says(one(timeline, "go-back-n-loss").summary, "lost 8 packets"));
    timeline.connections[0].ways[0].messages[static_cast<std::size_t>(MessageKind::read)] = 3;
    CHECK(says(one(timeline, "go-back-n-loss").summary, "lost at least 1 packet from"));
}

TEST_CASE("ICRC: all packets of a sender wrong is a sender's fault, or the capture's where they are answered") {
    Timeline timeline = healthy();
    Way& a = timeline.connections[0].ways[0];
    a.incidents.made().corrupt = 200;
    SECTION("answered") { CHECK(one(timeline, "icrc-wrong").party == Party::capture); }
    SECTION("a few that came again") {
        a.incidents.made().corrupt = 3;
        a.incidents.made().corrupt_again = 2;
        CHECK(one(timeline, "icrc-wrong").party == Party::fabric);
        a.incidents.made().corrupt_taken = 1;
        CHECK(says(
            one(timeline, "icrc-wrong").summary,
            ": 2 of them were requested again by a NAK, and so corrupted on the way; 1 of them was acknowledged without a NAK or a retransmission, and so "
            "intact at the receiver."));
    }
    SECTION("a few that were acknowledged as they were") {
        a.incidents.made().corrupt = a.incidents.made().corrupt_taken = 3;
        CHECK(one(timeline, "icrc-wrong").party == Party::capture);
        CHECK(says(
            one(timeline, "icrc-wrong").summary,
            "3 of 200 packets from 10.0.0.1 (1.5 %) have a wrong ICRC, and they were acknowledged without a NAK or a retransmission: intact at the "
            "receiver, and damaged only in the capture, unless both ends compute such ICRCs alike."));
        CHECK(says(one(timeline, "icrc-wrong").advice, "FMT-02"));
        timeline.connections[0].ways[1].incidents.made().unread_answers = 1;  // perhaps NAKs
        CHECK(one(timeline, "icrc-wrong").party == Party::undecided);
    }
    SECTION("a few of which nobody knows what became") {
        a.incidents.made().corrupt = 1;
        CHECK(one(timeline, "icrc-wrong").party == Party::undecided);
        CHECK(says(one(timeline, "icrc-wrong").summary, "is undecided."));
    }
    SECTION("not answered") {
        timeline.connections[0].ways[1] = {};
        const Finding& finding = one(timeline, "icrc-wrong");
        CHECK(finding.severity == Severity::error);
        CHECK(finding.party == Party::requester);
    }
    SECTION("its answers are wrong as well") {
        Way& b = timeline.connections[0].ways[1];
        b = {};
        b.packets = b.incidents.made().corrupt = 50;
        draw_findings(timeline);
        const Finding& finding = *std::ranges::find(timeline.findings, "icrc-wrong", &Finding::id);
        CHECK(finding.severity == Severity::warning);
        CHECK(finding.party == Party::undecided);
        CHECK(says(finding.summary, "and so have 50 packets to it"));
        CHECK(finding.summary.find("nothing is answered") == std::string::npos);
    }
    SECTION("outside of connections") {
        timeline.connections.clear();
        timeline.quality.icrc_bad = 3;
        CHECK(one(timeline, "icrc-wrong").party == Party::undecided);
        timeline.quality.left_out = 100;
        CHECK(says(one(timeline, "icrc-wrong").summary, "or recorded by a tap that is not followed, have"));
    }
    SECTION("none in the capture is right: nothing to judge them by") {
        timeline.quality.icrc_bad = std::exchange(timeline.quality.icrc_good, 0);
        timeline.connections[0].ways[1] = {};
        const Finding& finding = one(timeline, "icrc-wrong");
        CHECK(finding.severity == Severity::note);
        CHECK(finding.party == Party::capture);
        CHECK(finding.count == 400);
        CHECK(says(finding.summary, "wrong in 400 of 400 RDMA packets, and right in none"));
        timeline.quality.icrc_policy = IcrcPolicy::check;
        CHECK(one(timeline, "icrc-wrong").severity == Severity::error);
    }
    SECTION("those that are 0 were never filled in") {
        a.incidents.made().corrupt = 0;
        timeline.quality.icrc_not_judged = timeline.quality.icrc_zero = timeline.quality.icrc_bad = 3;
        const Finding& finding = one(timeline, "icrc-wrong");
        CHECK(finding.severity == Severity::note);
        CHECK(says(finding.summary, "3 of 400 RDMA packets, which have 0 there"));
    }
}

TEST_CASE("what follows from the order of packets is undecided where clocks differ") {
    Timeline timeline = healthy();
    add_recovery(timeline, RecoveryKind::sequence_nak).lost = 3;
    const auto said = [&] { return one(timeline, "go-back-n-loss"); };
    constexpr std::string_view kDoubt = "; undecided, because the clocks of the two directions differ.";
    CHECK(said().severity > Severity::note);
    CHECK_FALSE(said().summary.ends_with(kDoubt));
    Incidents& incidents = timeline.connections[0].ways[1].incidents.made();
    incidents.earliest_answer = Duration{200'000};
    incidents.early_answers = 7;  // another queue may have had them
    CHECK_FALSE(said().summary.ends_with(kDoubt));
    incidents.early_answers = timeline.connections[0].ways[1].acks;
    CHECK(said().severity == Severity::note);
    CHECK(said().party == Party::undecided);
    CHECK(said().summary.ends_with(kDoubt));
    CHECK(one(timeline, "clock-offset").party == Party::capture);
    timeline.quality.vantage.taps = 2;  // which nobody can tell apart
    draw_findings(timeline);
    CHECK(std::ranges::count(timeline.findings, "clock-offset", &Finding::id) == 0);
}
