// The suite over a simulated link: every active check passes on our own endpoint; a device that dies, comes back, or
// declares what it does; and the scripts that come with the program.
#include <tests/support/catch.hpp>
#include <tests/support/scripts.hpp>
#include <tests/support/suite_world.hpp>
#include <transport-replay/checks/passive/passive_suite.hpp>
#include <transport-replay/checks/report/counts.hpp>
#include <transport-replay/conformance/suite/builtin_scripts.hpp>
#include <transport-replay/conformance/suite/coverage.hpp>

#include <set>

using namespace qps;
using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport::conformance;
using transport::microseconds;

namespace {

std::vector<script::Script> builtins() {
    auto scripts = parse_builtin_scripts();
    INFO((scripts ? std::string{} : explain(scripts.error())));
    REQUIRE(scripts);
    return std::move(*scripts);
}

std::vector<const script::Script*> pointers(const std::vector<script::Script>& scripts) {
    std::vector<const script::Script*> all;
    for (const script::Script& each : scripts) all.push_back(&each);
    return all;
}

std::vector<const CheckRow*> rows(const std::vector<std::string_view>& ids) {
    std::vector<const CheckRow*> found;
    for (const std::string_view id : ids) found.push_back(find_check(id));
    return found;
}

const CheckResult& result_of(const Report& report, std::string_view id) {
    const auto found = std::ranges::find(report.results, find_check(id), &CheckResult::check);
    REQUIRE(found != report.results.end());
    return *found;
}

// What FMT-07 sends and none of the others below.
bool has_a_version(const Packet& packet) {
    return read_bits(packet.bytes_of(*find(packet, LayerKind::bth)), 12, 4) != 0;  // TVer
}

const std::vector<std::string_view> kFour{"FMT-05", "FMT-07", "RSP-01", "RSP-05"};

}  // namespace

TEST_CASE("the scripts in the program are those of the folder, byte for byte, and name checks of the catalogue") {
    std::vector<std::string> names;
    for (const BuiltinScript& each : builtin_scripts()) {
        names.emplace_back(each.name.substr(0, each.name.find('.')));
        CHECK(std::string(each.text) == script_text(script_folder() / std::string(each.name)));
        CHECK(find_builtin_script(each.name) == &each);
        CHECK(find_builtin_script(names.back()) == &each);
    }
    CHECK(names == script_names());
    CHECK(find_builtin_script("rsp-99") == nullptr);
    CHECK(find_builtin_script("") == nullptr);
    bool dangerous = false;
    std::size_t last = 0;
    for (const script::Script& each : builtins()) {
        INFO(each.files.front().name);
        CHECK_FALSE(each.checks.empty());
        CHECK_FALSE(each.title.empty());
        bool now = each.dangerous;
        for (const std::string& id : each.checks) {
            REQUIRE(find_check(id) != nullptr);
            now = now || find_check(id)->dangerous;
        }
        if (now != dangerous) last = 0;
        CHECK((now || !dangerous));
        CHECK(place(*find_check(each.checks.front())) >= last);
        last = place(*find_check(each.checks.front()));
        dangerous = now;
    }
    CHECK(dangerous);
}

TEST_CASE("every check of the catalogue is decided by a script or a capture, or says why nobody decides it") {
    const auto scripts = builtins();
    const auto covered = coverage(scripts);
    CHECK(covered.size() == kCheckCount);
    for (const CoverageRow& row : covered) {
        INFO(row.check->id);
        CHECK(row.accounted_for());
        if (row.check->active() && !row.check->passive() && row.check->exempt.empty())
            CHECK((row.probed || row.probed_nvme || !row.scripts.empty()));
        if (row.probed) CHECK((is_of_iwarp(row.check->family) && row.check->active() && row.scripts.empty()));
        if (row.probed_nvme) CHECK((is_of_storage(row.check->family) && row.check->active() && row.scripts.empty()));
        if (!row.scripts.empty()) CHECK(row.check->active());
        CHECK(row.passive == is_decided_passively(*row.check));
    }
}

TEST_CASE("the suite against our own endpoint: every active check that a script plays passes, twice the same") {
    const auto scripts = builtins();
    std::string first;
    for (int run = 0; run < 2; ++run) {
        std::size_t played = 0;
        SuiteWorld world;
        const Report report =
            world.run({.stage = {}, .scripts = pointers(scripts), .on_event = [&](const SuiteEvent& event) {
                           CHECK(event.kind == SuiteEventKind::played);
                           CHECK(event.number == ++played);
                           CHECK(event.of == scripts.size());
                       }});
        CHECK(played == scripts.size());
        CHECK_FALSE(world.suite->lost());
        CHECK(report.subject == "192.0.2.1");
        CHECK_FALSE(report.facts.empty());
        std::size_t place_before = 0;
        std::set<const CheckRow*> judged;
        std::string verdicts;
        for (const CheckResult& result : report.results) {
            INFO(result.check->id << ": " << result.reason << '\n' << result.detail);
            CHECK((judged.empty() || place(*result.check) > place_before));
            place_before = place(*result.check);
            judged.insert(result.check);
            CHECK((result.verdict == Verdict::pass || result.verdict == Verdict::not_applicable));
            CHECK((result.verdict == Verdict::pass) == result.reason.empty());
            if (result.verdict == Verdict::pass) CHECK(result.examined > 0);
            if (result.verdict == Verdict::pass && !result.check->passive())
                CHECK(result.took);  // a script was played for it
            verdicts += name(result.verdict);
        }
        // Those of iWARP belong to another device, those of storage to what is on top.
        const auto of_roce =
            std::ranges::count_if(checks(), [](const CheckRow& row) { return is_of_roce(row.family); });
        CHECK(std::cmp_equal(judged.size(), of_roce));
        CHECK(count(report)[Verdict::pass] >= 130);
        if (run == 0) first = verdicts;
        CHECK(verdicts == first);
    }
}

TEST_CASE("only the wanted checks are played, and told of") {
    const auto scripts = builtins();
    std::vector<std::string> played;
    SuiteWorld world;
    const Report report =
        world.run({.stage = {},
                   .scripts = pointers(scripts),
                   .only = rows({"RSP-05", "CM-05", "FMT-20", "FMT-01", "ERR-04"}),
                   .on_event = [&](const SuiteEvent& event) { played.push_back(event.script->files.front().name); }});
    CHECK(played == std::vector<std::string>{"rsp-05.script", "cm-05.script"});
    CHECK(report.results.size() == 5);
    CHECK(result_of(report, "FMT-01").verdict == Verdict::pass);  // of what the scripts exchanged
    CHECK(result_of(report, "RSP-05").verdict == Verdict::pass);
    CHECK(result_of(report, "ERR-04").verdict == Verdict::not_applicable);
    CHECK(result_of(report, "ERR-04").reason.find("not checked") == 0);
    CHECK(result_of(report, "FMT-20").reason == "no script exchanged such packets");
}

TEST_CASE("a device that dies: its killer fails, whatever a profile says, and the rest is inconclusive") {
    const auto scripts = builtins();
    auto profile = parse_profile("deviation FMT-07 = it may\n");
    REQUIRE(profile);
    for (const bool agent_too : {true, false}) {
        std::vector<SuiteEventKind> events;
        SuiteWorld world({.agent_too = agent_too, .dies_of = has_a_version});
        const Report report = world.run({.stage = {},
                                         .scripts = pointers(scripts),
                                         .only = rows(kFour),
                                         .profile = *profile,
                                         .comes_back = microseconds(5'000'000),
                                         .on_event = [&](const SuiteEvent& event) { events.push_back(event.kind); }});
        using enum SuiteEventKind;
        CHECK(events == std::vector{played, played, died, given_up});
        CHECK(world.suite->lost());
        CHECK(result_of(report, "FMT-05").verdict == Verdict::pass);
        const CheckResult& killer = result_of(report, "FMT-07");
        INFO(killer.reason << '\n' << killer.detail);
        CHECK(killer.verdict == Verdict::fail);
        CHECK(killer.reason.find("the device no longer answers: alive:") == 0);
        CHECK(killer.detail.find("the script itself: ") == 0);
        CHECK(killer.failures == 1);
        for (const auto* id : {"RSP-01", "RSP-05"}) {
            CHECK(result_of(report, id).verdict == Verdict::inconclusive);
            CHECK(result_of(report, id).reason == "the device did not come back after FMT-07");
        }
        CHECK(world.life->renewed >= (agent_too ? 2 : 0));
    }
}

TEST_CASE("a device that comes back is asked the rest") {
    const auto scripts = builtins();
    std::vector<SuiteEventKind> events;
    SuiteWorld world({.back_after = microseconds(40'000'000), .dies_of = has_a_version});
    const Report report = world.run({.stage = {},
                                     .scripts = pointers(scripts),
                                     .only = rows(kFour),
                                     .comes_back = microseconds(60'000'000),
                                     .on_event = [&](const SuiteEvent& event) { events.push_back(event.kind); }});
    using enum SuiteEventKind;
    CHECK(events == std::vector{played, played, died, came_back, played, played});
    CHECK_FALSE(world.suite->lost());
    const CheckResult& killer = result_of(report, "FMT-07");
    CHECK(killer.verdict == Verdict::fail);
    CHECK(killer.reason.find("; it came back after ") != std::string::npos);
    for (const auto* id : {"FMT-05", "RSP-01", "RSP-05"}) CHECK(result_of(report, id).verdict == Verdict::pass);
}

TEST_CASE(
    "a device that never lived is nobody's fault, one without an agent is asked what its manager of connections answers") {
    const auto scripts = builtins();
    {
        SuiteWorld world({.alive = false});
        const Report report = world.run({.stage = {}, .scripts = pointers(scripts)});
        CHECK(world.suite->lost());
        CHECK(count(report)[Verdict::fail] == 0);
        CHECK(count(report)[Verdict::pass] == 0);
        CHECK(result_of(report, "RSP-05").reason.find("the device did not answer before the first check: ") == 0);
    }
    SuiteWorld world({}, {.with_agent = false});
    const Report report = world.run({.stage = {}, .scripts = pointers(scripts)});
    CHECK_FALSE(world.suite->lost());
    CHECK(result_of(report, "CM-05").verdict == Verdict::pass);
    CHECK(result_of(report, "RSP-05").verdict == Verdict::not_applicable);
    CHECK(count(report)[Verdict::fail] + count(report)[Verdict::inconclusive] == 0);
}

TEST_CASE("a device whose queue pair 1 falls silent goes on, and the report says since when") {
    const auto scripts = builtins();
    auto deaf = std::make_shared<bool>(false);
    Damage damage{.in = [deaf](FrameBytes frame) {
        Packet packet;
        Frame whole;
        whole.bytes = frame;
        whole.wire_length = static_cast<std::uint32_t>(frame.size());
        decode(whole, packet);
        std::vector<FrameBytes> frames;
        if (packet.has_transport() && packet.dest_qp != kGsiQpn && has_a_version(packet)) *deaf = true;
        if (!packet.has_transport() || packet.dest_qp != kGsiQpn || !*deaf) frames.push_back(std::move(frame));
        return frames;
    }};
    std::vector<std::string> said;
    SuiteWorld world({}, {.damage = damage});
    const Report report = world.run({.stage = {},
                                     .scripts = pointers(scripts),
                                     .only = rows({"FMT-05", "FMT-07", "RSP-05", "CM-05"}),
                                     .on_event = [&](const SuiteEvent& event) {
                                         if (event.kind == SuiteEventKind::deaf)
                                             said.push_back(event.script->checks.front());
                                     }});
    CHECK(said == std::vector<std::string>{"FMT-07"});
    CHECK_FALSE(world.suite->lost());
    for (const auto* id : {"FMT-05", "FMT-07", "RSP-05"}) CHECK(result_of(report, id).verdict == Verdict::pass);
    CHECK(result_of(report, "CM-05").verdict == Verdict::fail);
    const auto fact = std::ranges::find(report.facts, "queue pair 1", &ReportFact::name);
    REQUIRE(fact != report.facts.end());
    CHECK(fact->value == "no answers since FMT-07");
}

TEST_CASE("a failure that the profile declares is a declared deviation") {
    const auto scripts = builtins();
    auto profile = parse_profile("name a deaf one\ndeviation RSP-05 = it never says NAK\n");
    REQUIRE(profile);
    SuiteWorld world;
    std::vector<script::Script> wrong;
    wrong.push_back(script_of("wrong.script", "check RSP-05\ntitle \"never\"\nfail \"it never says NAK\"\n"));
    wrong.push_back(script_of("wrong.script", "check RSP-06\ntitle \"never\"\nfail \"nor here\"\n"));
    const Report report =
        world.run({.stage = {}, .scripts = pointers(wrong), .only = rows({"RSP-05", "RSP-06"}), .profile = *profile});
    CHECK(result_of(report, "RSP-05").verdict == Verdict::deviation);
    CHECK(result_of(report, "RSP-06").verdict == Verdict::fail);
    CHECK(result_of(report, "RSP-06").reason.find("nor here") != std::string::npos);
    CHECK(std::ranges::find(report.facts, "profile", &ReportFact::name)->value == "a deaf one");
}

TEST_CASE("of several scripts of a check the worst counts, what is interrupted stays open") {
    std::vector<script::Script> several;
    several.push_back(script_of("one.script", "check RSP-05\ntitle \"one\"\nrequire 0 \"not here\"\n"));
    several.push_back(script_of("two.script", "check RSP-05 RSP-06\ntitle \"two\"\nalive\n"));
    several.push_back(script_of("three.script", "check RSP-05\ntitle \"three\"\nfail \"no\"\n"));
    several.push_back(script_of("four.script", "check RSP-05 RSP-07\ntitle \"four\"\nalive\n"));
    {
        SuiteWorld world;
        const Report report =
            world.run({.stage = {}, .scripts = pointers(several), .only = rows({"RSP-05", "RSP-06"})});
        CHECK(result_of(report, "RSP-05").verdict == Verdict::fail);
        CHECK(result_of(report, "RSP-05").failures == 1);
        CHECK(result_of(report, "RSP-05").examined == 2);
        CHECK(result_of(report, "RSP-06").verdict == Verdict::pass);
    }
    std::size_t played = 0;
    SuiteWorld world;
    world.stop_when = [&] { return played == 2; };
    const Report report = world.run({.stage = {},
                                     .scripts = pointers(several),
                                     .only = rows({"RSP-05", "RSP-06", "RSP-07"}),
                                     .on_event = [&](const SuiteEvent&) { ++played; }});
    CHECK(result_of(report, "RSP-05").verdict == Verdict::pass);
    CHECK(result_of(report, "RSP-07").verdict == Verdict::inconclusive);
    CHECK(result_of(report, "RSP-07").reason == "interrupted");
}
