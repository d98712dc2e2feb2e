// The probes of iWARP against our own responder: it passes all, twice the same; and each fails for at least two
// responders that neglect its duty in different ways, and for no other's. What was killed is a table of
// docs/mutants.md.
#include <tests/conformance/mutant_table.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/iwarp_service.hpp>
#include <transport-replay/checks/report/counts.hpp>
#include <transport-replay/conformance/iwarp/iwarp_suite.hpp>

#include <algorithm>
#include <map>
#include <set>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::conformance;
using namespace qps::tests;

namespace {

constexpr Address kDevice{{0, 0xffff'0a4d'000b}, AddressSpace::roce_v2};

// All of them, over connections in memory: time goes by only where nobody has anything to say.
Report probed(
    IwarpService service, const std::function<bool(const CheckRow&)>& wanted = [](const CheckRow&) { return true; }) {
    IwarpSuite suite(kDevice, 7174, wanted);
    Instant now{1};
    while (const IwarpProbe* probe = suite.next()) {
        if (!service.accept()) {
            suite.unreachable("connection refused");
            continue;
        }
        IwarpProbeRun run(*probe, suite.flow(), suite.tallies(), now);
        while (!run.over()) {
            bool any = false;
            for (auto said = run.take_output(); !said.empty(); said = run.take_output()) {
                service.process(said);
                any = true;
            }
            if (run.over()) break;
            if (const auto said = service.take_output(); !said.empty()) {
                run.process(said);
                any = true;
            }
            if (service.ended() && !run.over()) run.closed();
            now = now + Duration{any ? 1'000 : 100'000'000};
            run.tick(now);
        }
        service.closed();
        suite.take(run.outcome());
    }
    return suite.report({});
}

const CheckResult& result_of(const Report& report, std::string_view id) {
    const auto found = std::ranges::find(report.results, find_check(id), &CheckResult::check);
    REQUIRE(found != report.results.end());
    return *found;
}

struct ServiceMutant {
    std::string_view id;
    std::string_view what;
    IwarpDuty duty{};
    IwarpLapse lapse{};
};
constexpr auto kGoesOn = IwarpLapse::goes_on, kHangs = IwarpLapse::hangs, kLies = IwarpLapse::lies;
constexpr std::array kServiceMutants{
    ServiceMutant{"MPA-18", "accepts any revision", IwarpDuty::revision, kGoesOn},
    ServiceMutant{"MPA-18", "says nothing", IwarpDuty::revision, kHangs},
    ServiceMutant{"MPA-19", "accepts any key", IwarpDuty::key, kGoesOn},
    ServiceMutant{"MPA-19", "says nothing", IwarpDuty::key, kHangs},
    ServiceMutant{"MPA-20", "accepts any length", IwarpDuty::private_length, kGoesOn},
    ServiceMutant{"MPA-20", "says nothing", IwarpDuty::private_length, kHangs},
    ServiceMutant{"MPA-21", "ends the connection", IwarpDuty::request_in_pieces, kGoesOn},
    ServiceMutant{"MPA-21", "says nothing", IwarpDuty::request_in_pieces, kHangs},
    ServiceMutant{"MPA-22", "does not look at CRCs", IwarpDuty::crc, kGoesOn},
    ServiceMutant{"MPA-22", "hangs", IwarpDuty::crc, kHangs},
    ServiceMutant{"MPA-23", "ends the connection", IwarpDuty::fpdu_in_pieces, kGoesOn},
    ServiceMutant{"MPA-23", "hangs", IwarpDuty::fpdu_in_pieces, kHangs},
    ServiceMutant{"MPA-24", "ends the connection after the first", IwarpDuty::fpdus_together, kGoesOn},
    ServiceMutant{"MPA-24", "hangs after the first", IwarpDuty::fpdus_together, kHangs},
    ServiceMutant{"MPA-24", "answers the first alone", IwarpDuty::fpdus_together, kLies},
    ServiceMutant{"MPA-25", "passes it over", IwarpDuty::length, kGoesOn},
    ServiceMutant{"MPA-25", "hangs", IwarpDuty::length, kHangs},
    ServiceMutant{"MPA-26", "takes no connection any more", IwarpDuty::early_end, kGoesOn},
    ServiceMutant{"MPA-26", "takes connections and says nothing any more", IwarpDuty::early_end, kHangs},
    ServiceMutant{"DDP-11", "takes any version", IwarpDuty::ddp_version, kGoesOn},
    ServiceMutant{"DDP-11", "hangs", IwarpDuty::ddp_version, kHangs},
    ServiceMutant{"DDP-12", "takes any queue", IwarpDuty::queue, kGoesOn},
    ServiceMutant{"DDP-12", "hangs", IwarpDuty::queue, kHangs},
    ServiceMutant{"DDP-13", "takes any MSN", IwarpDuty::msn, kGoesOn},
    ServiceMutant{"DDP-13", "hangs", IwarpDuty::msn, kHangs},
    ServiceMutant{"DDP-14", "takes any offset", IwarpDuty::offset, kGoesOn},
    ServiceMutant{"DDP-14", "hangs", IwarpDuty::offset, kHangs},
    ServiceMutant{"DDP-15", "passes it over", IwarpDuty::write_stag, kGoesOn},
    ServiceMutant{"DDP-15", "hangs", IwarpDuty::write_stag, kHangs},
    ServiceMutant{"RDM-23", "takes any version", IwarpDuty::rdmap_version, kGoesOn},
    ServiceMutant{"RDM-23", "hangs", IwarpDuty::rdmap_version, kHangs},
    ServiceMutant{"RDM-24", "passes it over", IwarpDuty::opcode, kGoesOn},
    ServiceMutant{"RDM-24", "hangs", IwarpDuty::opcode, kHangs},
    ServiceMutant{"RDM-25", "answers it", IwarpDuty::read_stag, kGoesOn},
    ServiceMutant{"RDM-25", "hangs", IwarpDuty::read_stag, kHangs},
    ServiceMutant{"RDM-25", "gives another reason", IwarpDuty::read_stag, kLies},
    ServiceMutant{"RDM-26", "passes it over", IwarpDuty::unasked_response, kGoesOn},
    ServiceMutant{"RDM-26", "hangs", IwarpDuty::unasked_response, kHangs},
    ServiceMutant{"RDM-27", "goes on", IwarpDuty::terminate, kGoesOn},
    ServiceMutant{"RDM-27", "hangs", IwarpDuty::terminate, kHangs},
};

}  // namespace

TEST_CASE("the probes of iWARP against our own responder: all pass, twice the same") {
    std::string first;
    for (int run = 0; run < 2; ++run) {
        const Report report = probed({});
        std::string verdicts;
        for (const CheckResult& result : report.results) {
            INFO(result.check->id << ": " << result.reason);
            CHECK(is_of_iwarp(result.check->family));
            CHECK((result.verdict == Verdict::pass ||
                   (result.verdict == Verdict::not_applicable && result.check->passive())));
            verdicts += name(result.verdict);
        }
        CHECK(count(report)[Verdict::pass] >= 40);
        CHECK(report.subject == "10.77.0.11");
        if (run == 0) first = verdicts;
        CHECK(verdicts == first);
    }
}

TEST_CASE(
    "every probe of iWARP fails for each responder that neglects its duty, no other does, and the manual has the count") {
    std::map<std::string, Killed> killed;
    for (const ServiceMutant& mutant : kServiceMutants) {
        INFO(mutant.id << ": " << mutant.what);
        const Report report = probed({mutant.duty, mutant.lapse});
        const CheckResult& result = result_of(report, mutant.id);
        INFO(name(result.verdict) << ": " << result.reason);
        CHECK(result.verdict == Verdict::fail);
        CHECK_FALSE(result.reason.empty());
        add_mutant(killed[std::string(mutant.id)], mutant.what, result.verdict == Verdict::fail);
        for (const CheckResult& other : report.results) {
            if (other.check->id == mutant.id) continue;
            INFO(other.check->id << ": " << other.reason);
            CHECK(other.verdict != Verdict::fail);
        }
    }
    check_manual(kProbeHead, killed);
}

TEST_CASE("every active check of iWARP is a probe, with two mutants at least") {
    std::map<std::string_view, std::size_t> mutants;
    for (const ServiceMutant& mutant : kServiceMutants) ++mutants[mutant.id];
    std::size_t last = 0;
    for (const IwarpProbe& probe : iwarp_probes()) {
        INFO(probe.check);
        const CheckRow* check = find_check(probe.check);
        REQUIRE(check != nullptr);
        CHECK(place(*check) > last);
        last = place(*check);
        CHECK((check->active() && !check->passive()));
        CHECK_FALSE(probe.title.empty());
        CHECK(mutants[probe.check] >= 2);
    }
    for (const CheckRow& check : checks())
        if (is_of_iwarp(check.family) && check.active()) CHECK(mutants.contains(check.id));
}

TEST_CASE("a device that takes no connection has no verdicts, and one that wants other checks has those") {
    IwarpSuite suite(kDevice, 7174, [](const CheckRow&) { return true; });
    REQUIRE(suite.next() == &iwarp_alive());
    suite.unreachable("cannot connect: Connection refused");
    CHECK(suite.next() == nullptr);
    CHECK(suite.never_answered());
    for (const CheckResult& result : suite.report({}).results) {
        CHECK((result.verdict == Verdict::inconclusive || result.verdict == Verdict::not_applicable));
        CHECK_FALSE(result.reason.empty());
    }
    const Report one = probed({}, [](const CheckRow& check) { return check.id == "MPA-22"; });
    REQUIRE(one.results.size() == 1);
    CHECK(one.results.front().verdict == Verdict::pass);
}
