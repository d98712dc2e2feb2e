// The one line for who reads no other: the worst finding, and where time without progress went.
#include <tests/support/catch.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/headline.hpp>
#include <transport-replay/model/timeline.hpp>

using namespace qps::transport;
using qps::dissect::Duration;
using qps::dissect::FrameIndex;

namespace {

Finding& add(Timeline& timeline, std::string_view id, Severity severity, std::uint32_t connection,
             std::string summary) {
    Finding& finding = timeline.findings.emplace_back();
    finding.id = id;
    finding.severity = severity;
    finding.connection = ConnectionId{connection};
    finding.summary = std::move(summary);
    finding.packets = {FrameIndex{connection}};
    return finding;
}

}  // namespace

TEST_CASE("the conclusion is the worst finding, and the kind of stall that took most") {
    Timeline timeline;
    CHECK(conclusion_of(timeline) == "");
    add(timeline, "clock-coarse", Severity::note, 1, "Timestamps are coarse.");
    CHECK(conclusion_of(timeline) == "");
    timeline.connections.resize(3);
    Finding& loss =
        add(timeline, "go-back-n-loss", Severity::warning, 1, "B lost 2 packets from A (2 events); stalled 80 ms.");
    loss.facts = {{facts::kStalled, Duration{80'000'000}}};
    CHECK(conclusion_of(timeline) == "B lost 2 packets from A; 80 ms without progress were recovery from losses");
    Finding& timeout = add(timeline, "ack-timeout", Severity::warning, 1, "A hit the ACK timeout.");
    timeout.facts = {{facts::kStalled, Duration{120'000'000}}};
    CHECK(conclusion_of(timeline) == "B lost 2 packets from A; 120 ms of 200 ms without progress were ACK timeouts");
    Finding& ignored = add(timeline, "nak-ignored", Severity::warning, 1, "A ignored NAKs.");
    ignored.facts = {{facts::kTotalWait, Duration{100'000'000}}};
    CHECK(conclusion_of(timeline) ==
          "B lost 2 packets from A; 120 ms of 200 ms without progress were ACK timeouts after ignored NAKs");
    add(timeline, "pfc-storm", Severity::error, 2, "A switch paused priority 3.");
    CHECK_THAT(conclusion_of(timeline), Catch::Matchers::EndsWith("; 1 more problem"));
}

TEST_CASE("what several connections have in common is said of how many they are") {
    Timeline timeline;
    for (const std::uint32_t connection : {1U, 2U})
        add(timeline, "go-back-n-loss", Severity::warning, connection, "B lost packets.");
    FindingGroup group;
    for (const Finding& finding : timeline.findings) group.findings.push_back(&finding);
    CHECK(headline_of(group, 16) == "2 of 16 connections lost packets");
    for (Finding& finding : timeline.findings) finding.id = "pkey-mismatch";
    CHECK(headline_of(group, 2) == "2 of 2 connections: The ends of a connection are not in the same partition");
    for (Finding& finding : timeline.findings) finding.connection.reset();
    CHECK(headline_of(group, 2) == "The ends of a connection are not in the same partition (2 findings)");
}
