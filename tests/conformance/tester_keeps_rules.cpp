// The tester is a device too: what it sends in a script keeps every rule that a capture shows, but for those that the
// script breaks on purpose and names (`breaks`).
#include <tests/support/catch.hpp>
#include <tests/support/passive_run.hpp>
#include <tests/support/scripts.hpp>
#include <tests/support/stage_world.hpp>

#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace qps;
using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport::conformance;

namespace {

using Names = std::set<std::string, std::less<>>;

RecordedCapture capture_of(const stage::ScriptOutcome& outcome) {
    RecordedCapture capture;
    for (const stage::RecordedFrame& frame : outcome.frames)
        capture.frames.push_back({frame.bytes, LinkType::ethernet, std::to_underlying(frame.time), 0});
    return capture;
}

// Of the capture as such, which is no device's doing: it has but the queue pairs that the script plays itself.
bool is_of_the_capture(const CheckResult& result) { return result.check->id.starts_with("TRC"); }

Names failed(const RecordedCapture& capture, const transport::Address& judged, std::string& why) {
    Names names;
    for (const CheckResult& result : check_capture(capture, judged)) {
        if (result.verdict != Verdict::fail || is_of_the_capture(result)) continue;
        names.insert(std::string(result.check->id));
        why += fmt::format("{}: {}\n", result.check->id, result.reason);
    }
    return names;
}

// Every script is played over IPv4; what `judged` sent in it fails these checks: visit(script, names of them).
void judge_all(std::uint32_t judged,
               const std::function<void(const script::Script& script, const Names& broken)>& visit) {
    StageWorld world;
    std::size_t played = 0;
    for (const std::string& name : script_names()) {
        const auto script = script_named(name);
        if (std::ranges::find(script.needs, "ipv6") != script.needs.end()) continue;
        std::string why;
        const Names broken = failed(capture_of(world.run(script)), transport::live::ipv4_address(judged), why);
        INFO(name << '\n' << why);
        visit(script, broken);
        ++played;
    }
    CHECK(played > 100);
}

}  // namespace

TEST_CASE("what the tester sends in a script breaks the rules that the script names, and no others") {
    judge_all(0xc0000202, [](const script::Script& script, const Names& broken) {
        CHECK(broken == Names(script.breaks.begin(), script.breaks.end()));
    });
}

TEST_CASE("the device in a script keeps every rule that a capture shows, whatever it is sent") {
    judge_all(0xc0000201, [](const script::Script&, const Names& broken) { CHECK(broken.empty()); });
}
