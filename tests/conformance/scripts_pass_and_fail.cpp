// Scripts of the catalogue against our own endpoint, which is right: each passes. active_mutants.cpp has those that are
// not.
#include <tests/support/breaking.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/scripts.hpp>
#include <tests/support/stage_world.hpp>
#include <transport-replay/conformance/script/script_writer.hpp>
#include <transport-replay/live/device/pause_frame.hpp>

#include <algorithm>

using namespace qps;
using namespace qps::dissect;
using namespace qps::tests;
using transport::conformance::Verdict;
using transport::conformance::stage::ScriptOutcome;

TEST_CASE("every script passes against our own endpoint, over IPv4 and IPv6") {
    for (const bool ipv6 : {false, true}) {
        StageWorld world({.ipv6 = ipv6});
        for (const std::string& name : script_names()) {
            const auto script = script_named(name);
            if (std::ranges::find(script.needs, ipv6 ? "ipv4" : "ipv6") != script.needs.end()) continue;
            const ScriptOutcome outcome = world.run(script);
            INFO(name << ": " << outcome.reason << '\n' << outcome.detail);
            CHECK(outcome.verdict == Verdict::pass);
            CHECK(outcome.examined > 0);
            CHECK_FALSE(outcome.frames.empty());
        }
    }
}

TEST_CASE("without an agent what needs one is not applicable, a run leaves nothing behind") {
    StageWorld world({.with_agent = false});
    for (const std::string& name : script_names()) {
        const auto script = script_named(name);
        const ScriptOutcome outcome = world.run(script);
        INFO(name << ": " << outcome.reason);
        const bool needs = std::ranges::find(script.needs, "agent") != script.needs.end();
        CHECK((outcome.verdict == Verdict::not_applicable) == needs);
        CHECK((outcome.verdict == Verdict::pass) == !needs);
    }
    CHECK(world.tester.take_claimed().empty());
    CHECK(world.tester.raw_waiting() == 0);
}

TEST_CASE("what fails while pauses hold us back proves nothing of the device") {
    const auto script = script_of(
        "pauses", "qp q rc known dut=0x7777\n> q RC_SEND_ONLY psn=1 ackreq\n< q RC_ACKNOWLEDGE within 50ms\n");
    for (const bool pauses : {false, true}) {
        StageWorld world;
        std::vector<std::byte> pause(transport::live::kPauseFrameBytes);
        transport::live::write_pause({.whole_link = true, .quanta = {0xffff}, .source = 0x0200'0000'0001}, pause);
        world.stage.begin(script, world.tester, world.now);
        for (int turns = 0; !world.stage.done() && turns < 100'000; ++turns) {
            world.turn(world.stage);
            // Once it plays: before, the way to the device is looked for.
            if (pauses && world.tester.counts().raw_sent > 0 && world.tester.pauses().frames() < 3 &&
                world.device.raw_waiting() == 0)
                CHECK(world.device.send_raw(pause));
        }
        const ScriptOutcome outcome = world.stage.take_outcome();
        INFO(outcome.reason);
        CHECK(outcome.verdict == (pauses ? Verdict::inconclusive : Verdict::fail));
        CHECK(outcome.reason.starts_with("PAUSE or PFC frames held back our packets for ") == pauses);
        CHECK(outcome.reason.find("no packet within 50 ms") != std::string::npos);
    }
}

TEST_CASE("what a script does not trust says nothing of the device, and what it measured is told") {
    StageWorld world;
    const auto trusting = [&](const std::string& condition) {
        return world.run(
            script_of("trust", "let took = 3ms\ntrust " + condition + " \"busy\"\nassert 1 == 2 \"it is wrong\"\n"));
    };
    CHECK(trusting("$took > 1ms").verdict == Verdict::fail);
    const ScriptOutcome outcome = trusting("$took > 5ms");
    CHECK(outcome.verdict == Verdict::inconclusive);
    CHECK(outcome.reason == "busy ($took is 3000000)");
}

TEST_CASE("whether CNPs slow a device down is not decided by a tester that is late, on a quiet link it is") {
    const auto script = script_named("cnp-06");
    for (const bool deaf : {false, true})
        for (const bool late : {false, true}) {
            StageWish wish;
            if (deaf) wish.damage = inward(drop(cnps())).damage;
            StageWorld world(std::move(wish));
            world.stage.begin(script, world.tester, world.now);
            for (int turns = 0; !world.stage.done() && turns < 1'000'000; ++turns) {
                world.turn(world.stage);
                if (late) world.now = world.now + transport::microseconds(1500);
            }
            const ScriptOutcome outcome = world.stage.take_outcome();
            INFO((deaf ? "deaf, " : "") << (late ? "late: " : "in time: ") << outcome.reason << '\n' << outcome.detail);
            CHECK(outcome.verdict == (late ? Verdict::inconclusive : deaf ? Verdict::fail : Verdict::pass));
            if (late)
                CHECK(outcome.reason.starts_with(
                    "this machine, the link or the device was too unsteady ($obeyed is 0, "));
        }
}

TEST_CASE("a script made of what was recorded plays the same conversation with fresh queue pairs") {
    for (const std::string name : {"rsp-01", "rsp-05", "req-18", "cm-05", "rsp-09", "rsp-28", "rsp-29", "rsp-30"}) {
        StageWorld first;
        const ScriptOutcome played = first.run(script_named(name));
        REQUIRE(played.verdict == Verdict::pass);
        transport::conformance::script::ScriptWriter writer;
        for (const auto& frame : played.frames) {
            Packet packet = decoded(frame.bytes);
            packet.frame.time = frame.time;
            writer.add(packet);
        }
        CHECK(writer.packets() == played.frames.size());
        const std::string text = writer.finish(name);
        StageWorld second({.seed = 99});
        const auto script = script_of(name + " made of a capture", text);
        const ScriptOutcome outcome = second.run(script);
        INFO(text << outcome.reason << '\n' << outcome.detail);
        CHECK(outcome.verdict == Verdict::pass);
        CHECK(text.find("psn=14") == std::string::npos);  // no number of the machines
    }
}
