// The laws of drawing findings: order, bounds, grouping, and what some of them say.
#include <tests/support/catch.hpp>
#include <tests/support/drawn_findings.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <string>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

// As a chain of text, to compare all of them.
std::string all(const Timeline& timeline) {
    std::string out;
    for (const Finding& finding : timeline.findings) {
        out += std::string(finding.id) + '/' + std::to_string(finding.count) + '/' + finding.summary + '/' +
               finding.advice;
        for (const FrameIndex frame : finding.packets) out += ' ' + std::to_string(std::to_underlying(frame));
        out += '\n';
    }
    return out;
}

// Many connections, each with one duplicate more than the one before.
Timeline many(std::uint32_t connections) {
    Timeline timeline = healthy();
    for (std::uint32_t i = 1; i <= connections; ++i)
        add_connection(timeline, 1, i + 1).ways[0].incidents.made().duplicated = i;
    return timeline;
}

}  // namespace

TEST_CASE("findings come worst first: severity, then count, then the first packet") {
    Timeline timeline = healthy();
    add_recovery(timeline, RecoveryKind::sequence_nak);
    add_recovery(timeline, RecoveryKind::timeout, RecoveryEnd::gave_up);
    for (Way& way : timeline.connections[0].ways) {
        way.requests = 200;
        way.incidents.made().duplicated = 9;
        way.incidents.made().doubled = {.identified = 9, .alone = 9};
    }
    timeline.connections[0].ways[0].incidents.made().note(Oddity::duplicated, FrameIndex{10});
    timeline.connections[0].ways[1].incidents.made().note(Oddity::duplicated, FrameIndex{500});
    timeline.quality.cut = 1000;
    draw_findings(timeline);
    std::vector<std::string_view> ids;
    for (const Finding& finding : timeline.findings) ids.push_back(finding.id);
    CHECK(ids == std::vector<std::string_view>{"transport-retries-exceeded", "duplicated-by-network",
                                               "duplicated-by-network", "go-back-n-loss", "capture-truncated"});
    CHECK(timeline.findings[1].packets < timeline.findings[2].packets);
}

TEST_CASE("findings past the bound are counted, and the worst stay") {
    constexpr std::uint32_t kConnections = 3 * kMaxFindings;
    Timeline timeline = many(kConnections);
    draw_findings(timeline);
    REQUIRE(timeline.findings.size() == kMaxFindings + 1);
    REQUIRE(timeline.left_out.findings.size() == 1);
    CHECK(timeline.left_out.findings[0].count ==
          kConnections - kMaxFindings);  // all of the duplicates, less what stays
    CHECK(timeline.left_out.findings[0].id == timeline.findings.front().id);
    CHECK(timeline.left_out.findings[0].severity == timeline.findings.front().severity);
    CHECK(timeline.findings.front().count == kConnections);
    CHECK(timeline.findings[kMaxFindings - 1].count == kConnections - kMaxFindings + 1);
    const Finding& note = timeline.findings.back();
    CHECK(note.id == "analysis-bounded");  // whatever else there is
    CHECK(note.count == kConnections - kMaxFindings);
    CHECK(says(note.summary, timeline.findings.front().id));
    CHECK(note.summary.find("unnoticed") == std::string::npos);  // all of it was judged
}

TEST_CASE("drawing twice gives the same, whatever was there before") {
    Timeline first = many(200);
    Timeline second = first;
    draw_findings(first);
    second.findings.resize(7);
    second.left_out.findings = {{"ack-timeout", Severity::error, 7}};
    draw_findings(second);
    CHECK(all(first) == all(second));
    draw_findings(second);
    CHECK(all(first) == all(second));
    CHECK(second.left_out.findings.empty());
}

TEST_CASE("the order of equal findings does not depend on the order of what they are drawn from") {
    Timeline timeline = healthy();
    for (unsigned i = 0; i < 20; ++i) {
        CmAttempt attempt = timeline.cm.attempts[0];
        attempt.uid = i + 1;
        attempt.outcome = CmOutcome::no_answer;
        attempt.passive.address = host(30 - i);
        timeline.cm.attempts.push_back(attempt);
    }
    Timeline turned = timeline;
    std::reverse(turned.cm.attempts.begin() + 1, turned.cm.attempts.end());
    draw_findings(timeline);
    draw_findings(turned);
    CHECK(all(timeline) == all(turned));
}

TEST_CASE("retries exceeded: how often, how fast, and whether the peer ever answered") {
    Timeline timeline = healthy();
    Recovery& record = add_recovery(timeline, RecoveryKind::timeout, RecoveryEnd::gave_up);
    record.interval = Duration{70 * kMillisecond};
    SECTION("it had answered before") {
        const Finding& finding = one(timeline, "transport-retries-exceeded");
        CHECK(says(finding.summary, "10.0.0.1 sent PSN 1000 (SEND) 8 times to 10.0.0.2 QP 257"));
        CHECK(says(finding.summary, "intervals of at least 70 ms"));
        CHECK(says(finding.summary, "CM negotiated 14, 67.11 ms"));
        CHECK(says(finding.summary, "had answered on this connection before"));
        CHECK(finding.packets == std::vector{FrameIndex{10}, FrameIndex{11}, FrameIndex{12}, FrameIndex{13}});
        CHECK(finding.connection == ConnectionId{1});
    }
    SECTION("it answers on another connection") {
        timeline.connections[0].ways[1] = {};
        timeline.cm.attempts[0].ladder.clear();
        add_connection(timeline);
        CHECK(one(timeline, "transport-retries-exceeded").party == Party::responder);
        CHECK(says(one(timeline, "transport-retries-exceeded").summary,
                   "never answered on this connection but sends other traffic to 10.0.0.1"));
    }
    SECTION("it answers over another encapsulation") {
        timeline.connections[0].ways[1] = {};
        timeline.cm.attempts[0].ladder.clear();
        Connection& other = add_connection(timeline);
        for (Endpoint& end : other.ends) end.address.space = AddressSpace::roce_v1;
        CHECK(one(timeline, "transport-retries-exceeded").party == Party::responder);
    }
    SECTION("nothing of it was ever captured") {
        timeline.connections[0].ways[1] = {};
        timeline.cm.attempts[0].ladder.clear();
        const Finding& finding = one(timeline, "transport-retries-exceeded");
        CHECK(finding.party == Party::undecided);
        CHECK(says(finding.summary, "no RDMA packet from 10.0.0.2 to 10.0.0.1 was captured"));
    }
    SECTION("everything was answered in the end") {
        timeline.connections[0].ways[0].incidents.made().abandoned = 0;
        draw_findings(timeline);
        CHECK(std::ranges::count(timeline.findings, "transport-retries-exceeded", &Finding::id) == 0);
    }
    SECTION("an answer was on the wire") {
        record.evidence.add(RoundEvidence::answer_passed);
        CHECK(one(timeline, "transport-retries-exceeded").party == Party::fabric);
    }
}

TEST_CASE("RNR: timer 0 is the longest there is and named so, short waits are a note") {
    Timeline timeline = healthy();
    Recovery& record = add_recovery(timeline, RecoveryKind::rnr_nak);
    SECTION("timer 0") {
        record.rnr_timer = 0;
        const Finding& finding = one(timeline, "rnr-stall");
        CHECK(finding.severity == Severity::warning);
        CHECK(says(finding.summary, "655.4 ms (code 0)"));
        CHECK(says(finding.advice, "means 655.36 ms"));
    }
    SECTION("a wait that nobody feels") {
        record.rnr_timer = 12;
        CHECK(one(timeline, "rnr-stall").severity == Severity::note);
    }
    SECTION("more than a percent of the time") {
        record.rnr_timer = 12;
        timeline.connections[0].ways[0].incidents.made().recovery(RecoveryKind::rnr_nak).lost =
            Duration{11 * kMillisecond};
        CHECK(one(timeline, "rnr-stall").severity == Severity::warning);
    }
}

TEST_CASE(
    "only a sender that counts its packets proves that somebody else doubled them, and only single ones that no second tap did") {
    Timeline timeline = healthy();
    Way& way = timeline.connections[0].ways[0];
    way.incidents.made().duplicated = 10;
    SECTION("proven") {
        way.incidents.made().doubled = {.identified = 8, .alone = 7};
        const Finding& finding = one(timeline, "duplicated-by-network");
        CHECK(finding.severity == Severity::warning);
        CHECK(finding.party == Party::fabric);
        CHECK(finding.count == 8);
        CHECK(says(
            finding.summary,
            "8 of 200 request packets from 10.0.0.1 to 10.0.0.2 QP 257 (4 %) repeat earlier ones with identical bytes"));
    }
    SECTION("without identification") {
        const Finding& finding = one(timeline, "duplicated-by-network");
        CHECK(finding.severity == Severity::note);
        CHECK(finding.party == Party::undecided);
        CHECK(says(finding.summary, "10 of 200 request packets from 10.0.0.1"));
        CHECK(says(finding.summary, "or 10.0.0.1 retransmitted them is undecided"));
    }
    SECTION("one after the other") {
        way.incidents.made().doubled = {.identified = 10, .alone = 2};
        const Finding& finding = one(timeline, "duplicated-by-network");
        CHECK(finding.severity == Severity::note);
        CHECK(says(finding.summary, "whether the network doubled them or a second tap recorded them is undecided"));
    }
    SECTION("most of them") {
        way.incidents.made().duplicated = 90;
        way.incidents.made().doubled = {.identified = 90, .alone = 90};
        CHECK(one(timeline, "duplicated-by-network").severity == Severity::note);
    }
    SECTION("more copies than packets") {
        way.requests = 3;
        way.incidents.made().duplicated = 2;
        CHECK(says(one(timeline, "duplicated-by-network").summary,
                   "2 of 3 request packets from 10.0.0.1 to 10.0.0.2 QP 257 (66.7 %) repeat earlier ones: whether"));
    }
    SECTION("one") {
        way.incidents.made().duplicated = 1;
        way.incidents.made().doubled = {.identified = 1, .alone = 1};
        CHECK(says(
            one(timeline, "duplicated-by-network").summary,
            "(0.5 %) repeats an earlier one with identical bytes: not 10.0.0.1 but a device on the path duplicated it."));
    }
    SECTION("as the tracker counts them") {
        Doubled doubled;
        for (const std::uint64_t requests : {10U, 11U, 13U, 50U}) doubled.add(requests);
        CHECK(doubled.identified == 4);
        CHECK(doubled.alone == 2);
    }
}

TEST_CASE("PSNs that look as if they were behind may be ahead, where there was time for almost all of them") {
    Timeline timeline = healthy();
    Way& way = timeline.connections[0].ways[0];
    way.requests = 1;
    way.acks = way.read_responses = 0;
    way.first_psn = 100;
    timeline.cm.attempts[0].requested = timeline.cm.attempts[0].answered = Instant{0};
    timeline.cm.attempts[0].passive.starting_psn = Psn(105);
    const auto told = [&](std::int64_t after) {
        way.first_time = Instant{after};
        draw_findings(timeline);
        return std::ranges::count(timeline.findings, "starting-psn-differs", &Finding::id);
    };
    CHECK(told(kSecond) == 0);
    REQUIRE(told(kMillisecond) == 1);
    CHECK(says(one(timeline, "starting-psn-differs").summary, "with PSN 100, although the REP of"));
    CHECK(told(-kMillisecond) == 0);  // of a connection before
    way.incidents.made().gaps.skipped = 5;
    CHECK(told(kMillisecond) == 0);  // the next request has the PSN that was announced, so the first one's is corrupt
    way.incidents.made().gaps.skipped = 0;
    way.incidents.made().corrupt = 1;
    CHECK(told(kMillisecond) == 0);  // only a corrupt request was seen
}

TEST_CASE(
    "requests begin ahead of the announced PSN where an ACK shows that none was before, else some may be missing") {
    Timeline timeline = healthy();
    Way& way = timeline.connections[0].ways[0];
    way.requests = std::max<std::uint64_t>(way.requests, 1);
    way.first_psn = 100;
    timeline.cm.attempts[0].passive.starting_psn = Psn(95);
    const auto told = [&] {
        draw_findings(timeline);
        return std::ranges::count(timeline.findings, "starting-psn-differs", &Finding::id);
    };
    CHECK(told() == 0);
    way.incidents.made().begun_ahead = true;
    CHECK(told() == 1);
}

TEST_CASE("malformed packets with the same bytes are said to be so") {
    Timeline timeline = healthy();
    timeline.quality.faulty = 16;
    CHECK(says(one(timeline, "malformed-packets").summary,
               "16 of 400 RDMA packets are malformed: a header breaks a rule of its format."));
    timeline.quality.faulty_again = 8;
    const Finding& finding = one(timeline, "malformed-packets");
    CHECK(finding.count == 8);
    CHECK(says(finding.summary,
               "16 of 400 RDMA packets are malformed, 8 of them different: the others repeat these; a header"));
}

TEST_CASE("what a mirror doubles everywhere says nothing of the network") {
    Timeline timeline = healthy();
    timeline.connections[0].ways[0].incidents.made().duplicated = 5;
    CHECK(one(timeline, "duplicated-by-network").count == 5);
    timeline.quality.same_tap_systematic = true;
    timeline.quality.copies_of_same_tap = 200;
    timeline.quality.most_copy_distance = Duration{kMicrosecond};
    CHECK(one(timeline, "capture-duplicates").count == 200);
    CHECK(timeline.findings.size() == 1);
    CHECK(says(timeline.findings[0].summary, "0 s to 1 us apart"));
    timeline.quality.most_copy_distance = {};  // files that overlap
    CHECK(says(one(timeline, "capture-duplicates").summary, "with the same timestamps."));
    CHECK(says(timeline.findings[0].advice, "files that overlap"));
}

TEST_CASE("reordering is a fault where the receiver complains, else a note") {
    Timeline timeline = healthy();
    timeline.connections[0].ways[0].incidents.made().gaps = {
        .skipped = 4, .reordered = 4, .network = 0, .tap = 0, .undecided = 0};
    CHECK(one(timeline, "out-of-order-delivery").severity == Severity::note);
    add_recovery(timeline, RecoveryKind::sequence_nak).cause = NakCause::late;
    Ordering& ordering = timeline.connections[0].ways[0].incidents.made().ordering.made();
    ordering = {.overtaken = 4, .farthest = 3, .longest = Duration{20 * kMicrosecond}};
    ordering.naks_of(NakCause::late) = 1;
    const Finding& finding = one(timeline, "reordered-not-lost");
    CHECK(finding.severity == Severity::warning);
    CHECK(finding.party == Party::fabric);
    CHECK(says(finding.summary, "4 of 200 requests"));
    CHECK(says(finding.summary, "by up to 3 packets and 20 us"));
    CHECK(std::ranges::count(timeline.findings, "out-of-order-delivery", &Finding::id) == 0);
    CHECK(std::ranges::count(timeline.findings, "go-back-n-loss", &Finding::id) == 0);
}

TEST_CASE("reordering is as it should be where the user says that the receiver bears it, until it complains") {
    const auto count = [](const Timeline& timeline, std::string_view id) {
        return std::ranges::count(timeline.findings, id, &Finding::id);
    };
    Timeline timeline = healthy();
    timeline.connections[0].ways[0].incidents.made().gaps = {
        .skipped = 4, .reordered = 4, .network = 0, .tap = 0, .undecided = 0};
    timeline.unordered = {host(1), host(3)};  // the sender, and another
    CHECK(one(timeline, "out-of-order-delivery").severity == Severity::note);
    timeline.unordered = {host(3), host(2)};
    draw_findings(timeline);
    CHECK(timeline.findings.empty());
    // It asks for what was late all the same.
    add_recovery(timeline, RecoveryKind::sequence_nak).cause = NakCause::late;
    Ordering& ordering = timeline.connections[0].ways[0].incidents.made().ordering.made();
    ordering = {.overtaken = 4, .farthest = 3, .longest = Duration{20 * kMicrosecond}};
    ordering.naks_of(NakCause::late) = 1;
    CHECK(one(timeline, "reordered-not-lost").severity == Severity::warning);
    CHECK(says(one(timeline, "reordered-not-lost").advice,
               "Look why 10.0.0.2 does not accept packets out of order, as --out-of-order says"));
    timeline.unordered = {host(1)};
    CHECK(says(one(timeline, "reordered-not-lost").advice, "Disable adaptive routing"));
    CHECK(count(timeline, "out-of-order-delivery") == 0);
    // Responses of READs that were late, and READs for them again.
    Timeline reads = healthy();
    reads.connections[0].ways[1].incidents.made().response_gaps = {
        .skipped = 2, .reordered = 2, .network = 0, .tap = 0, .undecided = 0};
    reads.unordered = {host(1)};
    draw_findings(reads);
    CHECK(count(reads, "out-of-order-delivery") == 0);
    reads.connections[0].ways[0].incidents.made().recovery(RecoveryKind::read_retry).triggers = 1;
    CHECK(says(one(reads, "out-of-order-delivery").advice, "Look why 10.0.0.1 does not accept"));
}

TEST_CASE("what NAKs asked for was lost before the tap, or missed behind it, and advice goes there") {
    Timeline timeline = healthy();
    timeline.connections[0].ways[0].intact = timeline.connections[0].ways[0].packets;
    Recovery& first = add_recovery(timeline, RecoveryKind::sequence_nak);
    CHECK(says(one(timeline, "go-back-n-loss").summary,
               "lost 1 packet from 10.0.0.1 (1 event, lost between 10.0.0.1 and this tap)"));
    CHECK(says(one(timeline, "go-back-n-loss").advice, "Find the drops between 10.0.0.1 and this tap"));
    first.cause = NakCause::lost_behind_tap;
    CHECK(says(one(timeline, "go-back-n-loss").summary,
               "missed at least 1 packet from 10.0.0.1 (1 event, lost or reordered behind this tap)"));
    CHECK(says(one(timeline, "go-back-n-loss").advice, "Find the drops between this tap and 10.0.0.2"));
    add_recovery(timeline, RecoveryKind::sequence_nak);
    CHECK(says(one(timeline, "go-back-n-loss").summary,
               "(2 events, 1 lost between 10.0.0.1 and this tap, 1 lost or reordered behind this tap)"));
    CHECK(says(one(timeline, "go-back-n-loss").advice, "on the way from 10.0.0.1 to 10.0.0.2"));
    timeline.connections[0].ways[0].intact = 0;
    CHECK(says(one(timeline, "go-back-n-loss").summary, "behind this tap, or corrupted before it (ICRC not checked))"));
}

TEST_CASE("where a loss is undecided, what is left is named") {
    Timeline timeline = healthy();
    Recovery& first = add_recovery(timeline, RecoveryKind::sequence_nak);
    first.cause = NakCause::undecided;
    first.left = {PsnDisposition::lost_before_tap, PsnDisposition::late};
    CHECK(says(one(timeline, "go-back-n-loss").summary, "(1 event, lost before this tap or late is undecided)"));
    add_recovery(timeline, RecoveryKind::sequence_nak);
    CHECK(says(one(timeline, "go-back-n-loss").summary,
               "(2 events, 1 lost between 10.0.0.1 and this tap, 1 lost before this tap or late (undecided))"));
    timeline.recoveries[0].left = {PsnDisposition::lost_before_tap, PsnDisposition::late,
                                   PsnDisposition::missed_by_capture};
    CHECK(says(one(timeline, "go-back-n-loss").summary,
               "1 lost before this tap, late or missed by the capture (undecided)"));
    timeline.recoveries[0].left = kAllDispositions;
    CHECK(says(one(timeline, "go-back-n-loss").summary, "1 undecided)"));
}

TEST_CASE("who sends with another P_Key than CM agreed on is named, and nobody else") {
    Timeline timeline = healthy();
    timeline.cm.attempts[0].pkey = Pkey{0x8001};
    CHECK(says(one(timeline, "pkey-mismatch").summary,
               "10.0.0.1 and 10.0.0.2 QP 257 send with P_Key 0xffff although CM negotiated 0x8001"));
    timeline.connections[0].ways[0].pkeys = {};
    CHECK(says(one(timeline, "pkey-mismatch").summary,
               "10.0.0.2 QP 257 sends with P_Key 0xffff although CM negotiated 0x8001"));
    CHECK(one(timeline, "pkey-mismatch").summary.find("10.0.0.1") == std::string::npos);
}

TEST_CASE("a requester that sends only what NAKs name repeats selectively") {
    Timeline timeline = healthy();
    Recovery& episode = add_recovery(timeline, RecoveryKind::sequence_nak);
    episode.resent = 1;
    CHECK(says(one(timeline, "selective-repeat").summary, "selective repeat retransmitted"));
    CHECK(std::ranges::count(timeline.findings, "go-back-n-loss", &Finding::id) == 0);
    episode.cause = NakCause::undecided;  // the packet may be the first one, late
    draw_findings(timeline);
    CHECK(std::ranges::count(timeline.findings, "selective-repeat", &Finding::id) == 0);
}

TEST_CASE("a sequence NAK right behind an RNR NAK of the same PSN is no loss") {
    Timeline timeline = healthy();
    const Instant ended = add_recovery(timeline, RecoveryKind::rnr_nak).time.end();
    add_recovery(timeline, RecoveryKind::sequence_nak).time = OrderedSpan{ended};
    draw_findings(timeline);
    CHECK(std::ranges::count(timeline.findings, "go-back-n-loss", &Finding::id) == 0);
    timeline.recoveries[1].psn = Psn(1001);
    CHECK(one(timeline, "go-back-n-loss").party == Party::fabric);
}

TEST_CASE("a NAK that was ignored is a loss, a timeout, and a finding of its own, each number stands once") {
    Timeline timeline = healthy();
    Recovery& heeded = add_recovery(timeline, RecoveryKind::sequence_nak);
    heeded.evidence.add(RoundEvidence::asked);
    Recovery& ignored = add_recovery(timeline, RecoveryKind::timeout);
    ignored.evidence = {RoundEvidence::asked, RoundEvidence::only_nak_tells};
    ignored.rounds = 1;
    ignored.timer_ran = ignored.waited = Duration{68 * kMillisecond};
    const Recovery once = ignored;
    draw_findings(timeline);
    CHECK(std::ranges::count(timeline.findings, "nak-ignored", &Finding::id) == 0);  // once may be chance
    add_recovery(timeline, RecoveryKind::timeout) = once;
    const Finding lost = one(timeline, "go-back-n-loss");
    CHECK(lost.count == 3);
    CHECK(
        says(lost.summary,
             "missed at least 3 packets from 10.0.0.1 (3 events, 1 lost between 10.0.0.1 and this tap, 2 undecided)"));
    CHECK(says(lost.summary, "after 1 of them go-back-N retransmitted 7 packets"));
    CHECK(says(lost.summary, "2 ended in an ACK timeout"));
    CHECK(says(one(timeline, "ack-timeout").summary, "retransmitted 14 packets"));
    const Finding& finding = one(timeline, "nak-ignored");
    CHECK(finding.count == 2);
    CHECK(finding.party == Party::requester);
    CHECK(says(finding.summary, "ignored 2 of 3 sequence NAKs"));
    CHECK(says(finding.summary, "68 ms after the NAK"));
    timeline.recoveries[1].evidence = {RoundEvidence::asked};  // it may never have arrived
    draw_findings(timeline);
    CHECK(std::ranges::count(timeline.findings, "nak-ignored", &Finding::id) == 0);
}

TEST_CASE("an exponent stands on two waits at least") {
    Timeline timeline = healthy();
    timeline.cm.attempts.clear();
    timeline.connections[0].cm_attempt.reset();
    Recovery& record = add_recovery(timeline, RecoveryKind::timeout);
    record.rounds = 1;
    record.interval = record.longest_wait = Duration{70 * kMillisecond};
    CHECK(one(timeline, "ack-timeout").summary.find("exponent") == std::string::npos);
    record.rounds = 3;
    CHECK(says(one(timeline, "ack-timeout").summary, "exponent 12 to 14"));
    timeline.connections[0].ways[0].incidents.made().ack_timer = AckTimer{14, 5};
    CHECK(says(one(timeline, "ack-timeout").summary, "exponent 14, 67.11 ms: 5 waits agree on it"));
}

TEST_CASE("packets that are sent again but new to the tap are named: the totals count those that passed it before") {
    Timeline timeline = healthy();
    add_recovery(timeline, RecoveryKind::sequence_nak).first_seen = 2;
    timeline.connections[0].ways[0].incidents.made().recovery(RecoveryKind::sequence_nak).first_seen = 2;
    CHECK(says(one(timeline, "go-back-n-loss").summary, "7 packets (6.836 KiB, 2 of them new to the tap)"));
}

TEST_CASE("a second answer blames nobody, unless it was sent again before its time") {
    Timeline timeline = healthy();
    Recovery& record = add_recovery(timeline, RecoveryKind::timeout);
    record.evidence = {RoundEvidence::answered_twice, RoundEvidence::unnamed};
    record.fates = {AnswerFate::answer_lost_before_tap, AnswerFate::late};
    CHECK(one(timeline, "spurious-retransmission").party == Party::undecided);
    CHECK(says(one(timeline, "spurious-retransmission").summary, "more than one answer"));
    timeline.cm.attempts[0].local_ack_timeout = 14;  // 67 ms
    record.interval = Duration{40 * kMillisecond};
    CHECK(one(timeline, "spurious-retransmission").party == Party::undecided);
    record.interval = Duration{20 * kMillisecond};
    CHECK(one(timeline, "spurious-retransmission").party == Party::requester);
    record.interval = Duration{kMillisecond};  // as after a NAK that was not captured
    CHECK(one(timeline, "spurious-retransmission").party == Party::undecided);
}

TEST_CASE("marks without a CNP are the responder's where it never sent one") {
    Timeline timeline = healthy();
    PairCongestion& pair = timeline.congestion.pairs.emplace_back();
    pair.source = host(1);
    pair.destination = host(2);
    pair.packets = pair.marked = pair.unanswered = pair.silences = 8;
    pair.other_way_seen = true;
    pair.unanswered_marks.add({FrameIndex{7}, Instant{kSecond}});
    pair.unanswered_marks.add({FrameIndex{9}, Instant{2 * kSecond}});
    CHECK(one(timeline, "ecn-not-answered").party == Party::responder);
    CHECK(one(timeline, "ecn-not-answered").packets == std::vector{FrameIndex{7}, FrameIndex{9}});
    CHECK(one(timeline, "ecn-not-answered").last == Instant{2 * kSecond});
    pair.notifications = 1;  // it notices marks
    CHECK(one(timeline, "ecn-not-answered").party == Party::undecided);
    CHECK(number_of(one(timeline, "ecn-not-answered").facts, "returned_cnps") == 1);
    pair.answered = 9;
    draw_findings(timeline);
    CHECK(std::ranges::count(timeline.findings, "ecn-not-answered", &Finding::id) == 0);
}

TEST_CASE("a refused CM message is its sender's where the capture has all others") {
    Timeline timeline = healthy();
    timeline.cm.refusals = {{0, CmState::timewait, CmEvent::rtu, true, FrameIndex{9}}};
    CHECK(one(timeline, "cm-unexpected-message").party == Party::requester);
    timeline.cm.attempts[0].incomplete = true;
    CHECK(one(timeline, "cm-unexpected-message").party == Party::undecided);
}

TEST_CASE("a peer that never answered is looked for, not the drops on the way to it") {
    Timeline timeline = healthy();
    timeline.connections[0].ways[1] = {};
    add_connection(timeline);
    add_recovery(timeline, RecoveryKind::timeout, RecoveryEnd::open);
    const Finding& finding = one(timeline, "ack-timeout");
    CHECK(finding.party == Party::responder);
    CHECK(says(finding.summary, "never answered on this connection but sends other traffic to 10.0.0.1"));
}
