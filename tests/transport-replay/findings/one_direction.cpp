// Every sample capture seen from one side: what only one host sent. Half a capture may lose findings; it never has an
// error or a warning that the whole does not have, and a NAK in it is evidence by itself.
#include <tests/simulator/simulation.hpp>
#include <tests/support/analysed.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/observations.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/sanitized.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <set>
#include <string>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

// Of all packets, or of those of one host.
Timeline analysed(const std::string& path, const std::optional<Address>& source) {
    Analysis analysis;
    Observation observation;
    qps::tests::for_each_packet(path, [&](const Packet& packet) {
        observe(packet, observation);
        if (!source || observation.flow.source == *source) analysis.observe(observation);
    });
    return analysis.finish();
}

// A NAK alone says that requests did not arrive, or not in order; with the requests the whole says which.
bool is_same(std::string_view of_half, std::string_view of_whole) {
    if (of_half == of_whole) return true;
    return of_half == "go-back-n-loss" && (of_whole == "selective-repeat" || of_whole == "reordered-not-lost");
}

// Everything that it says above a note, the whole says at least as badly.
void check_half(const Timeline& half, const Timeline& whole) {
    for (const Finding& finding : half.findings) {
        if (finding.severity == Severity::note) continue;
        INFO(finding.id << ": " << finding.summary);
        CHECK(std::ranges::any_of(whole.findings, [&](const Finding& one) {
            return is_same(finding.id, one.id) && one.severity >= finding.severity;
        }));
    }
}

std::set<Address> hosts(const Timeline& timeline) {
    std::set<Address> all;
    for (const Connection& connection : timeline.connections)
        for (const Endpoint& end : connection.ends)
            if (all.size() < 6) all.insert(end.address);
    return all;
}

std::string sample(const std::string& name) {
    const auto paths = qps::tests::sample_captures();
    const auto found = std::ranges::find_if(
        paths, [&](const std::string& path) { return path.find("/" + name + "/") != std::string::npos; });
    REQUIRE(found != paths.end());
    return *found;
}

Timeline from(const std::string& name, End which) {
    const Timeline whole = analysed(sample(name), std::nullopt);
    const auto connection = std::ranges::max_element(whole.connections, {}, &Connection::packets);
    REQUIRE(connection != whole.connections.end());
    return analysed(sample(name), connection->end(which).address);
}

const Finding* find(const Timeline& timeline, std::string_view id) {
    const auto found = std::ranges::find(timeline.findings, id, &Finding::id);
    return found == timeline.findings.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("one direction of a capture has no error and no warning that the whole does not have") {
    for (const std::string& path : qps::tests::sample_captures()) {
        const Timeline whole = analysed(path, std::nullopt);
        for (const Address& host : hosts(whole)) {
            INFO(path << " from " << text(host));
            check_half(analysed(path, host), whole);
        }
    }
}

TEST_CASE("property: one direction of a simulated capture claims no more than the whole") {
    for (std::uint64_t seed = 1; seed <= qps::tests::share(120); ++seed) {
        INFO("seed " << seed);
        Scenario scenario;
        scenario.seed = seed;
        scenario.tap.place = static_cast<TapPlace>(seed % 3);
        const WorkKind kind = seed % 4 == 0 ? WorkKind::read : seed % 4 == 1 ? WorkKind::send : WorkKind::write;
        scenario.messages.assign(30, {.kind = kind, .bytes = 6000});
        scenario.link.a_to_b.loss = scenario.link.b_to_a.loss = static_cast<double>(seed % 7) * 0.02;
        if (seed % 5 == 0) scenario.messages[20].mistake = Mistake::wrong_key;
        if (seed % 6 == 0) scenario.receives = {10, 10, microseconds(500), 14};
        if (seed % 11 == 0) scenario.link.a_to_b.loss = 1;
        const Timeline whole = qps::tests::analysed(simulate(scenario));
        scenario.tap.sees_b_to_a = false;
        const Timeline requests = qps::tests::analysed(simulate(scenario));
        check_half(requests, whole);
        CHECK(std::ranges::all_of(requests.findings,
                                  [](const Finding& finding) { return finding.severity == Severity::note; }));
        scenario.tap.sees_b_to_a = true;
        scenario.tap.sees_a_to_b = false;
        const Timeline answers = qps::tests::analysed(simulate(scenario));
        check_half(answers, whole);
        // A refusal and a loss that the responder spoke of are found in its answers alone.
        const auto has = [](const Timeline& timeline, std::string_view id) { return find(timeline, id) != nullptr; };
        if (whole.totals.fatal_naks != 0)
            CHECK(has(answers, "remote-access-error") == has(whole, "remote-access-error"));
        if (whole.totals.sequence_naks != 0 && whole.totals.rnr_naks == 0) CHECK(has(answers, "go-back-n-loss"));
    }
}

TEST_CASE("requests alone: what was sent again, and nothing about why, or whether anybody gave up") {
    for (const char* name : {"loss_write", "err_rnr", "corrupt_send"}) {
        INFO(name);
        const Timeline half = from(name, End::a);
        CHECK(find(half, "transport-retries-exceeded") == nullptr);
        CHECK(find(half, "ack-timeout") == nullptr);
        const Finding* undecided = find(half, "retransmission-undecided");
        REQUIRE(undecided != nullptr);
        CHECK(undecided->severity == Severity::note);
        CHECK(undecided->summary.find("answers were not captured") != std::string::npos);
        CHECK(half.totals.timeouts == 0);
    }
}

TEST_CASE("answers alone: NAKs are evidence") {
    const Timeline lossy = from("loss_write", End::b);
    const Finding* lost = find(lossy, "go-back-n-loss");
    REQUIRE(lost != nullptr);
    CHECK(lost->severity == Severity::warning);
    CHECK(lost->count == 21);
    CHECK_FALSE(lost->packets.empty());

    const Timeline refused = from("err_bad_rkey", End::b);
    const Finding* access = find(refused, "remote-access-error");
    REQUIRE(access != nullptr);
    CHECK(access->severity == Severity::error);
    CHECK(access->summary.find("a request that was not captured") != std::string::npos);

    const Timeline unready = from("err_rnr", End::b);
    const Finding* stall = find(unready, "rnr-stall");
    REQUIRE(stall != nullptr);
    CHECK(stall->count == unready.totals.rnr_naks);
}

TEST_CASE("answers alone, all positive: no finding of trouble") {
    for (const char* name : {"write_8k", "send_8k", "rc_pingpong"}) {
        const Timeline half = from(name, End::b);
        INFO(name);
        CHECK(std::ranges::all_of(half.findings,
                                  [](const Finding& finding) { return finding.severity == Severity::note; }));
    }
}
