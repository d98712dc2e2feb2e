// Findings as tickets: word for word, and what text from outside can do to them.
#include <dissect/filter/filter.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/ticket.hpp>

#include <algorithm>

using namespace qps::transport;
using namespace qps::tests;
using Catch::Matchers::Contains;
using qps::dissect::FrameIndex;

namespace {

const std::vector<std::string> kInputs{"rack_7.pcapng", "rack_8.pcapng"};

std::string ticket_of(const Timeline& timeline, std::string_view id, const std::vector<std::string>& inputs = kInputs) {
    const auto finding = std::ranges::find(timeline.findings, id, &Finding::id);
    REQUIRE(finding != timeline.findings.end());
    std::string out;
    append_ticket(out, timeline, *finding, inputs);
    return out;
}

// A requester that sent again until it gave up.
Timeline broken() {
    Timeline timeline = healthy();
    timeline.connections[0].ways[0].path_mtu = 4096;
    timeline.connections[0].ways[0].incidents.made().retransmitted = 7;
    add_recovery(timeline, RecoveryKind::timeout, RecoveryEnd::gave_up);
    return timeline;
}

}  // namespace

TEST_CASE("a ticket says what happened, to whom, what proves it and what the capture is worth") {
    Timeline timeline = broken();
    timeline.quality.cut = 12;
    timeline.quality.drops.dropped = 1;
    timeline.quality.one_way = {{host(2), host(1), 200, true}, {host(8), host(9), 5, true}};
    draw_findings(timeline);
    check_golden("transport-replay/golden/ticket.md", ticket_of(timeline, "transport-retries-exceeded"));
}

TEST_CASE("a ticket has no doubts where the capture gives no reason for any") {
    Timeline timeline = broken();
    draw_findings(timeline);
    const std::string ticket = ticket_of(timeline, "transport-retries-exceeded", {"one.pcap"});
    CHECK_THAT(ticket, !Contains("truncated") && !Contains("dropped") && !Contains("none in the other direction") &&
                           !Contains("numbered"));
    CHECK_THAT(ticket, Contains("rdma.connection == 1"));
}

TEST_CASE("a ticket of the whole capture has no connection") {
    Timeline timeline = healthy();
    Finding& finding = timeline.findings.emplace_back();
    finding.id = "clock-backwards";
    finding.packets = {FrameIndex{7}};
    finding.clause = kObserved;
    const std::string ticket = ticket_of(timeline, "clock-backwards");
    CHECK_THAT(ticket, Contains("frame 7: `frame.number in {7}`"));
    CHECK_THAT(ticket, !Contains("## Connection") && !Contains("rdma.connection") && !Contains("Reference"));
}

TEST_CASE("names of files cannot write Markdown") {
    Timeline timeline = broken();
    draw_findings(timeline);
    const std::string ticket = ticket_of(timeline, "transport-retries-exceeded",
                                         {"a\n# heading\n<img src=x>[b](c)`d`|e\\&amp;_f_ g_h\x1b[2J\xff.pcap"});
    CHECK_THAT(ticket,
               Contains("- file: a\\\\x0a\\# heading\\\\x0a\\<img src=x>\\[b\\](c)\\`d\\`\\|e\\\\\\&amp;\\_f\\_ g_h"
                        "\\\\x1b\\[2J\\\\xff.pcap\n"));
}

TEST_CASE("the filters of a ticket are filters") {
    Timeline timeline = broken();
    draw_findings(timeline);
    const std::string ticket = ticket_of(timeline, "transport-retries-exceeded");
    std::size_t filters = 0;
    for (std::size_t at = ticket.find("## Evidence"); (at = ticket.find(": `", at)) != std::string::npos; ++filters) {
        at += 3;
        const std::string filter = ticket.substr(at, ticket.find('`', at) - at);
        INFO(filter);
        CHECK(qps::dissect::Filter::compile(filter).has_value());
    }
    CHECK(filters == 2);
}

TEST_CASE("commands in a sentence stay code, and a lone backquote is none") {
    Timeline timeline = healthy();
    Finding& finding = timeline.findings.emplace_back();
    finding.id = "clock-backwards";
    finding.advice = "Run `a_b -c *` and `d_`, not ` *e*";
    CHECK_THAT(ticket_of(timeline, "clock-backwards"), Contains("Run `a_b -c *` and `d_`, not \\` \\*e\\*\n"));
}
