// What findings say of requests and connections that were refused, and of ports that do not spread connections.
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

TEST_CASE("READ depth: without CM the same NAK is an invalid request, and the advice names the depth") {
    Timeline timeline = healthy();
    timeline.connections[0].cm_attempt.reset();
    add_fatality(timeline, 1, Verb::read_request).reads_outstanding = 9;
    const Finding& finding = one(timeline, "remote-invalid-request");
    CHECK(says(finding.advice, "max_dest_rd_atomic"));
    CHECK(says(finding.advice, "9 were outstanding"));
}

TEST_CASE("a rejection of a consumer tells its private data, and NVMe's in words, attempts alike are one finding") {
    Timeline timeline = healthy();
    CmAttempt& attempt = timeline.cm.attempts[0];
    attempt.outcome = CmOutcome::rejected;
    CmRejection& rejection = attempt.rejection.emplace();
    rejection.reason = 28;
    rejection.private_data.used = 3;
    rejection.private_data.first[2] = std::byte{6};
    for (std::uint32_t i = 1; i < 5; ++i) {
        timeline.cm.attempts.push_back(timeline.cm.attempts[0]);
        timeline.cm.attempts.back().uid = i;
    }
    const Finding& finding = one(timeline, "cm-rejected");
    CHECK(finding.count == 5);
    CHECK(says(finding.summary, "10.0.0.2 rejected"));
    CHECK(says(finding.summary, "port 4420 (and 4 more attempts)"));
    CHECK(says(finding.summary, "private data 000006 (NVMe: no resources)"));
    CHECK(finding.packets == std::vector{FrameIndex{1}, FrameIndex{2}, FrameIndex{3}});
}

TEST_CASE("entropy: an elephant among mice is no fault of the ports") {
    Timeline timeline = healthy();
    for (int i = 0; i < 15; ++i) add_connection(timeline).ways[0].bytes = 100;
    timeline.connections[0].ways[0].bytes = 1ULL << 40;
    for (Connection& connection : timeline.connections) {
        connection.ways[0].udp_ports = {};
        connection.ways[0].udp_ports.add(49152);
    }
    draw_findings(timeline);
    CHECK(std::ranges::count(timeline.findings, "udp-port-entropy", &Finding::id) == 0);
    for (Connection& connection : timeline.connections) connection.ways[0].bytes = 1 << 20;
    const Finding& finding = one(timeline, "udp-port-entropy");
    CHECK(says(finding.summary, "16 connections with 1 UDP source port: 0.0 of 4.0 possible bits of entropy"));
}

TEST_CASE("a refused access is compared with what the upper protocol offered, where that was seen") {
    using Verdict = RefusedAccess::Verdict;
    Timeline timeline = healthy();
    const Fatality& fatality = add_fatality(timeline, 2);
    CHECK(one(timeline, "remote-access-error").summary.find("offered") == std::string::npos);
    RefusedAccess& refused =
        timeline.ulp.refused.emplace_back(RefusedAccess{.connection = fatality.connection,
                                                        .requester = fatality.requester,
                                                        .nak = fatality.frame,
                                                        .verdict = Verdict::other_key,
                                                        .offer = {0x7f00'0000'1000, Rkey{0x1234}, 512},
                                                        .offers = 3});
    CHECK(says(one(timeline, "remote-access-error").summary,
               "None of 3 memory ranges that 10.0.0.2 offered for open operations has this R_Key."));
    refused.verdict = Verdict::outside;
    const Finding& outside = one(timeline, "remote-access-error");
    CHECK(says(
        outside.summary,
        "outside the memory that 10.0.0.2 offered for open operations with this R_Key (512 bytes at 0x7f0000001000 with "
        "R_Key 0x00001234)"));
    CHECK(says(outside.advice, "Compare on 10.0.0.1"));
    refused.verdict = Verdict::inside;
    CHECK(says(one(timeline, "remote-access-error").summary,
               "lies within memory that 10.0.0.2 offered for an open operation"));
    refused.nak = FrameIndex{51};
    CHECK(one(timeline, "remote-access-error").summary.find("offered") == std::string::npos);
}

TEST_CASE("a refused access is shown beside the last good one") {
    Timeline timeline = healthy();
    Fatality& fatality = add_fatality(timeline, 2);
    const Finding& same_key = one(timeline, "remote-access-error");
    CHECK(says(same_key.summary,
               "refused an RDMA WRITE of 4096 bytes at 0x7f0000001000 with R_Key 0x00001234 from 10.0.0.1 at PSN 77"));
    CHECK(says(same_key.summary, "last valid access was 4096 bytes at 0x7f0000000000"));
    CHECK(says(same_key.advice, "The R_Key worked before"));
    CHECK(same_key.packets == std::vector{FrameIndex{40}, FrameIndex{49}, FrameIndex{50}});
    fatality.last_good.reset();
    CHECK(says(one(timeline, "remote-access-error").advice, "Check that R_Key 0x00001234"));
    fatality.request.reset();
    CHECK(says(one(timeline, "remote-access-error").summary, "a request that was not captured"));
}
