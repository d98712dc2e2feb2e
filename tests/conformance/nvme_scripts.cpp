// The scripts of NVMe over RDMA against a target of ours: it passes all, twice the same; each fails for at least two
// targets that neglect its rule in different ways, and no other does; and the host breaks no rule but those that a
// script says. What was killed is a table of docs/mutants.md.
#include <tests/conformance/mutant_table.hpp>
#include <tests/support/breaking.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/nvme_world.hpp>
#include <transport-replay/checks/passive/passive_suite.hpp>
#include <transport-replay/checks/report/counts.hpp>
#include <transport-replay/conformance/suite/exchange_check.hpp>

#include <algorithm>
#include <map>
#include <set>

using namespace qps;
using namespace qps::tests;
using namespace qps::transport::conformance;

namespace {

struct TargetMutant {
    std::string_view id;
    std::string_view what;
    NvmeLapse lapse{};
    Broken (*broken)() = nullptr;  // in place of a neglect: of its frames
};
constexpr auto kRegardless = NvmeLapse::goes_on, kMute = NvmeLapse::hangs, kOtherwise = NvmeLapse::lies,
               kAnother = NvmeLapse::twice, kHalf = NvmeLapse::half;
constexpr std::array kTargetMutants{
    TargetMutant{"NVME-09", "accepts any format", kRegardless},
    TargetMutant{"NVME-09", "says nothing", kMute},
    TargetMutant{"NVME-09", "rejects it for its queue", kOtherwise},
    TargetMutant{"NVME-51", "rejects it", kOtherwise},
    TargetMutant{"NVME-51", "says nothing", kMute},
    TargetMutant{"NVME-52", "names controller 0xffff", kRegardless},
    TargetMutant{"NVME-52", "fails", kOtherwise},
    TargetMutant{"NVME-52", "READs its data and says nothing", kMute},
    TargetMutant{"NVME-52", "answers another command", kAnother},
    TargetMutant{"NVME-52", "READs half of its data, and succeeds", kHalf},
    TargetMutant{"NVME-53", "fails for CC", kOtherwise},
    TargetMutant{"NVME-53", "says nothing of CC", kMute},
    TargetMutant{"NVME-53", "answers another command", kAnother},
    TargetMutant{"NVME-54", "takes them for a descriptor", kOtherwise},
    TargetMutant{"NVME-54", "says nothing", kMute},
    TargetMutant{"NVME-55", "says that it is 0", kRegardless},
    TargetMutant{"NVME-55", "says nothing", kMute},
    TargetMutant{"NVME-56", "does not look at the size", kRegardless},
    TargetMutant{"NVME-56", "does not look at the size of VS", kAnother},
    TargetMutant{"NVME-57", "rejects it for its controller ID", kOtherwise},
    TargetMutant{"NVME-57", "says nothing", kMute},
    TargetMutant{"NVME-58", "accepts it, and never answers", kRegardless},
    TargetMutant{"NVME-58", "says nothing", kMute},
    TargetMutant{"NVME-59", "accepts it, and never answers", kRegardless},
    TargetMutant{"NVME-59", "says nothing", kMute},
    TargetMutant{"NVME-60", "answers it", kRegardless},
    TargetMutant{"NVME-60", "says nothing", kMute},
    TargetMutant{"NVME-61", "does not look at it", kRegardless},
    TargetMutant{"NVME-61", "says nothing", kMute},
    TargetMutant{"NVME-61", "calls it an internal error", kOtherwise},
    TargetMutant{"NVME-62", "does not look at it", kRegardless},
    TargetMutant{"NVME-62", "says nothing", kMute},
    TargetMutant{"NVME-63", "does not compare them", kRegardless},
    TargetMutant{"NVME-63", "READs its data and says nothing", kMute},
    TargetMutant{"NVME-64", "has any subsystem", kRegardless},
    TargetMutant{"NVME-64", "READs its data and says nothing", kMute},
    TargetMutant{"NVME-64", "calls it an internal error", kOtherwise},
    TargetMutant{"NVME-65", "has any controller", kRegardless},
    TargetMutant{"NVME-65", "READs its data and says nothing", kMute},
    TargetMutant{"NVME-65", "calls it an internal error", kOtherwise},
    TargetMutant{"NVME-66", "succeeds again", kRegardless},
    TargetMutant{"NVME-66", "says nothing", kMute},
    TargetMutant{"NVME-67", "has any controller", kRegardless},
    TargetMutant{"NVME-67", "READs its data and says nothing", kMute},
    TargetMutant{"NVME-68", "does not look at it", kRegardless},
    TargetMutant{"NVME-68", "says nothing", kMute},
    TargetMutant{"NVME-69", "succeeds without its data", kRegardless},
    TargetMutant{"NVME-69", "says nothing", kMute},
    TargetMutant{"NVME-70", "succeeds without its data", kRegardless},
    TargetMutant{"NVME-70", "says nothing", kMute},
    TargetMutant{"NVME-71", "READs what is there, and succeeds", kRegardless},
    TargetMutant{"NVME-71", "says nothing", kMute},
    TargetMutant{"NVME-72", "succeeds without its data", kRegardless},
    TargetMutant{"NVME-72", "says nothing", kMute},
    TargetMutant{"NVME-73", "takes it from there", kRegardless},
    TargetMutant{"NVME-73", "takes the capsule, and says nothing", kMute},
    TargetMutant{"NVME-74", "succeeds", kRegardless},
    TargetMutant{"NVME-74", "says nothing", kMute},
    TargetMutant{"NVME-75", "takes the rest for zeros", kRegardless},
    TargetMutant{"NVME-75", "passes it over", kMute},
    TargetMutant{"NVME-76", "invalidates another key", kAnother},
    TargetMutant{"NVME-76", "fails", kOtherwise},
    TargetMutant{"NVME-77", "keeps the connection", kMute},
    TargetMutant{"NVME-77", "ends it a minute later", kOtherwise},
    TargetMutant{"NVME-78", "succeeds", kRegardless},
    TargetMutant{"NVME-78", "says nothing", kMute},
    TargetMutant{"NVME-79", "succeeds", kRegardless},
    TargetMutant{"NVME-79", "says nothing", kMute},
    TargetMutant{"NVME-80", "never gets ready", kRegardless},
    TargetMutant{"NVME-80", "fails", kOtherwise},
    TargetMutant{"NVME-80", "says nothing", kMute},
    TargetMutant{"NVME-81", "writes, and fails", kOtherwise},
    TargetMutant{"NVME-81", "writes, and says nothing", kMute},
    TargetMutant{"NVME-81", "answers another command", kAnother},
    TargetMutant{"NVME-82", "succeeds", kRegardless},
    TargetMutant{"NVME-82", "says nothing", kMute},
    TargetMutant{"NVME-83", "keeps the connection", kMute},
    TargetMutant{"NVME-83", "ends it a minute later", kOtherwise},
    TargetMutant{"NVME-84", "answers the first eight", kMute},
    TargetMutant{"NVME-84", "answers the first one over and over", kAnother},
    TargetMutant{"NVME-84", "answers the last twice", kRegardless},
    TargetMutant{
        "NVME-85", "says nothing to the DREQ", {}, [] { return outward(drop(message(dissect::LayerKind::cm_drep))); }},
    TargetMutant{"NVME-85",
                 "its DREP is of another connection",
                 {},
                 [] {
                     return outward(
                         change(message(dissect::LayerKind::cm_drep), "infiniband.cm.drsp.remotecommid", plus(1)));
                 }},
    TargetMutant{"NVME-86", "writes it", kRegardless},
    TargetMutant{"NVME-86", "makes it 0", kOtherwise},
};

std::string id_of(const script::Script& script) {
    return script.checks.empty() ? std::string{} : script.checks.front();
}

}  // namespace

TEST_CASE("the scripts of NVMe parse, are those of the active checks, and say what they are") {
    const auto all = nvme::scripts({});
    REQUIRE(all.size() == nvme::scripted_checks().size());
    std::set<std::string_view> decided;
    std::pair<bool, std::size_t> last;  // what brings devices down is last
    for (const script::Script& script : all) {
        INFO(script.files.front().name);
        REQUIRE(script.checks.size() == 1);
        const CheckRow* check = find_check(script.checks.front());
        REQUIRE(check != nullptr);
        CHECK((is_of_storage(check->family) && check->active()));
        CHECK(script.dangerous == check->dangerous);
        const std::pair at(check->dangerous, place(*check));
        CHECK(at > last);
        last = at;
        CHECK_FALSE(script.title.empty());
        decided.insert(check->id);
    }
    for (const CheckRow& check : checks())
        if (is_of_storage(check.family) && check.active()) CHECK(decided.contains(check.id));
    CHECK_FALSE(nvme::sign_of_life({}).body.empty());
    const std::string longest(nvme::kMostNqn, 'n');
    for (const script::Script& script : nvme::scripts({.subsystem = longest, .host = longest}))
        CHECK_FALSE(script.checks.empty());
}

TEST_CASE("the scripts of NVMe against a target of ours: all pass, twice the same") {
    const auto all = nvme::scripts({});
    const auto life = nvme::sign_of_life({});
    std::string first;
    for (int run = 0; run < 2; ++run) {
        NvmeWorld world;
        const Report report = world.run(all, life);
        CHECK(world.suite->silence().empty());
        CHECK_FALSE(world.suite->lost());
        std::string verdicts;
        for (const CheckResult& result : report.results) {
            INFO(result.check->id << ": " << result.reason << '\n' << result.detail);
            CHECK(is_of_storage(result.check->family));
            CHECK((result.verdict == Verdict::pass ||
                   (result.verdict == Verdict::not_applicable && !result.check->active())));
            verdicts += name(result.verdict);
        }
        CHECK(count(report)[Verdict::pass] >= 55);
        if (run == 0) first = verdicts;
        CHECK(verdicts == first);
    }
}

TEST_CASE("a target may READ the data of a Connect in pieces and in any order, but one in too many is not judged") {
    constexpr std::uint32_t kFew = 100, kTooMany = 25;
    for (const script::Script& script : nvme::scripts({})) {
        NvmeWorld world({.check = {}, .lapse = {}, .piece = kFew});
        const stage::ScriptOutcome outcome = world.run(script);
        INFO(id_of(script) << ": " << outcome.reason << '\n' << outcome.detail);
        CHECK(outcome.verdict == Verdict::pass);
        NvmeWorld slow({.check = {}, .lapse = {}, .piece = kTooMany});
        const stage::ScriptOutcome undecided = slow.run(script);
        INFO(undecided.reason << '\n' << undecided.detail);
        CHECK(undecided.verdict != Verdict::fail);
        if (id_of(script) == "NVME-52") CHECK(undecided.verdict == Verdict::not_applicable);
    }
}

TEST_CASE(
    "every script of NVMe fails for each target that neglects its rule, no other does, and the manual has the count") {
    const auto all = nvme::scripts({});
    std::map<std::string, Killed> killed;
    for (const TargetMutant& mutant : kTargetMutants) {
        INFO(mutant.id << ": " << mutant.what);
        for (const script::Script& script : all) {
            // A world each: what a target does to one host is not to be seen by the next.
            NvmeWorld world({mutant.broken == nullptr ? mutant.id : std::string_view{}, mutant.lapse},
                            mutant.broken == nullptr ? Damage{} : mutant.broken().damage);
            const stage::ScriptOutcome outcome = world.run(script);
            INFO(id_of(script) << ": " << name(outcome.verdict) << ": " << outcome.reason << '\n' << outcome.detail);
            if (id_of(script) != mutant.id) {
                CHECK(outcome.verdict != Verdict::fail);
                if (outcome.verdict == Verdict::inconclusive)
                    CHECK(outcome.reason.starts_with("blocked by " + std::string(mutant.id)));
                continue;
            }
            CHECK(outcome.verdict == Verdict::fail);
            CHECK_FALSE(outcome.reason.empty());
            CHECK_FALSE(outcome.exchange.empty());
            add_mutant(killed[std::string(mutant.id)], mutant.what, outcome.verdict == Verdict::fail);
        }
    }
    check_manual(kTargetHead, killed);
    std::map<std::string_view, std::set<std::string_view>> ways;
    for (const TargetMutant& mutant : kTargetMutants) CHECK(ways[mutant.id].insert(mutant.what).second);
    for (const std::string_view check : nvme::scripted_checks()) {
        INFO(check);
        CHECK(ways[check].size() >= 2);
    }
    CHECK(ways.size() == nvme::scripted_checks().size());
}

TEST_CASE("the host of NVMe keeps the rules but those that a script breaks on purpose") {
    for (const script::Script& script : nvme::scripts({})) {
        NvmeWorld world;
        const stage::ScriptOutcome outcome = world.run(script);
        std::set<std::string> broken;
        std::string why;
        for (const CheckResult& result : check_exchange(outcome, transport::live::ipv4_address(0xc0000202)))
            if (result.verdict == Verdict::fail) {
                broken.emplace(result.check->id);
                why += std::string(result.check->id) + ": " + result.reason + "\n";
            }
        INFO(script.files.front().name << "\n" << why);
        CHECK(broken == std::set<std::string>(script.breaks.begin(), script.breaks.end()));
    }
}

TEST_CASE("where there is no NVMe target, nothing is judged, and a sentence says why") {
    const auto all = nvme::scripts({});
    const auto reason_of = [&](NvmeWorld& world, const nvme::Names& names) {
        const Report report = world.run(all, nvme::sign_of_life(names));
        CHECK(world.suite->lost());
        CHECK(count(report)[Verdict::pass] + count(report)[Verdict::fail] == 0);
        return world.suite->silence();
    };
    NvmeWorld nobody({}, {}, false);
    CHECK_THAT(reason_of(nobody, {}), Catch::Matchers::Contains("is rejected, reason 8 (Invalid service ID)"));
    NvmeWorld mute({}, {.in = {}, .out = [](const FrameBytes&) { return std::vector<FrameBytes>{}; }, .says = {}});
    CHECK_THAT(reason_of(mute, {}), Catch::Matchers::Contains("is not reachable"));
    NvmeWorld silent({}, outward(drop(message(dissect::LayerKind::cm_rep))).damage);
    CHECK_THAT(reason_of(silent, {}), Catch::Matchers::Contains("no answer to the connection request"));
    NvmeWorld other({"NVME-52", NvmeLapse::hangs});
    CHECK_THAT(reason_of(other, {}), Catch::Matchers::Contains("does not answer a Connect of NVMe"));
    NvmeWorld stranger;
    CHECK_THAT(reason_of(stranger, {.subsystem = "nqn.2026-11.org.example:other"}), Catch::Matchers::Contains("--nqn"));
}
