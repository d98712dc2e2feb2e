// Scripts of the catalogue against our own endpoint: right, each passes; with one rule broken, each says what is wrong.
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/scripts.hpp>
#include <tests/support/stage_world.hpp>
#include <transport-replay/conformance/script/script_writer.hpp>

#include <algorithm>

using namespace qps;
using namespace qps::dissect;
using namespace qps::tests;
using transport::conformance::Verdict;
using transport::conformance::stage::ScriptOutcome;

namespace {

using Frames = std::vector<FrameBytes>;

Frames one(FrameBytes frame) {
    Frames frames;
    frames.push_back(std::move(frame));
    return frames;
}

bool is_nak(const Packet& packet, std::uint64_t type) {
    const Layer* aeth = packet.has_transport() ? find(packet, LayerKind::aeth) : nullptr;
    return aeth != nullptr && read_bits(packet.bytes_of(*aeth), 1, 2) == type;
}
constexpr std::uint64_t kAck = 0, kRnr = 1, kNak = 3;

// A field of each packet that the device sends (or gets) and that `which` likes.
Alter change(std::function<bool(const Packet&)> which, LayerKind kind, std::string_view field,
             std::function<std::uint64_t(std::uint64_t)> value) {
    return [=](FrameBytes frame) {
        if (const Packet packet = decoded(frame); packet.has_transport() && which(packet)) rewrite(frame, kind, field, value);
        return one(std::move(frame));
    };
}
Alter twice(std::function<bool(const Packet&)> which) {
    return [=](FrameBytes frame) {
        const Packet packet = decoded(frame);
        Frames frames = one(frame);
        if (packet.has_transport() && which(packet)) frames.push_back(std::move(frame));
        return frames;
    };
}

struct Mutant {
    std::string script;
    std::string what;  // is broken
    std::function<Damage()> damage;
};

std::vector<Mutant> mutants() {
    const auto acks = [](const Packet& packet) { return packet.opcode == Opcode::rc_acknowledge && is_nak(packet, kAck); };
    const auto naks = [](const Packet& packet) { return is_nak(packet, kNak); };
    return {
        {"rsp-01", "the ACK is of the PSN before",
         [=] {
             return Damage{.out =
                               change(acks, LayerKind::bth, "infiniband.bth.psn", [](std::uint64_t psn) { return (psn - 1) & 0xffffff; })};
         }},
        {"rsp-01", "no ACK at all",
         [=] {
             return Damage{.out = [=](FrameBytes frame) {
                 const Packet packet = decoded(frame);
                 return packet.has_transport() && acks(packet) ? Frames{} : one(std::move(frame));
             }};
         }},
        {"rsp-05", "two NAKs", [=] { return Damage{.out = twice(naks)}; }},
        {"rsp-05", "the NAK names the PSN that came",
         [=] {
             return Damage{.out =
                               change(naks, LayerKind::bth, "infiniband.bth.psn", [](std::uint64_t psn) { return (psn + 1) & 0xffffff; })};
         }},
        {"rsp-09", "a duplicate is executed: its PSN looks new",
         [] {
             auto last = std::make_shared<std::optional<std::uint32_t>>();
             auto shift = std::make_shared<std::uint32_t>(0);
             return Damage{.in =
                               [=](FrameBytes frame) {
                                   const Packet packet = decoded(frame);
                                   if (packet.has_transport() && info(packet.opcode).request && packet.dest_qp != kGsiQpn) {
                                       if (*last == packet.psn.value()) ++*shift;
                                       *last = packet.psn.value();
                                       rewrite(frame, LayerKind::bth, "infiniband.bth.psn",
                                               [&](std::uint64_t psn) { return (psn + *shift) & 0xffffff; });
                                   }
                                   return one(std::move(frame));
                               },
                           .out =
                               [=](FrameBytes frame) {
                                   rewrite(frame, LayerKind::bth, "infiniband.bth.psn",
                                           [&](std::uint64_t psn) { return (psn - *shift) & 0xffffff; });
                                   return one(std::move(frame));
                               }};
         }},
        {"rsp-27", "the RNR NAK has another timer",
         [] {
             return Damage{.out = change([](const Packet& packet) { return is_nak(packet, kRnr); }, LayerKind::aeth,
                                         "infiniband.aeth.syndrome.timer", [](std::uint64_t) { return 2; })};
         }},
        {"req-18", "everything is sent again from the beginning",
         [=] {
             return Damage{.in =
                               change(naks, LayerKind::bth, "infiniband.bth.psn", [](std::uint64_t psn) { return (psn - 2) & 0xffffff; })};
         }},
        {"req-18", "other bytes are sent the second time",
         [] {
             auto seen = std::make_shared<std::vector<std::uint32_t>>();
             return Damage{.out = [=](FrameBytes frame) {
                 const Packet packet = decoded(frame);
                 if (packet.has_transport() && packet.payload.captured > 0 && packet.dest_qp != kGsiQpn) {
                     if (std::ranges::find(*seen, packet.psn.value()) != seen->end()) {
                         frame[packet.payload.offset + 5] ^= std::byte{0xff};
                         mend_icrc(frame);
                     }
                     seen->push_back(packet.psn.value());
                 }
                 return one(std::move(frame));
             }};
         }},
        {"req-23", "the time in the RNR NAK is not kept",
         [] {
             return Damage{.in = change([](const Packet& packet) { return is_nak(packet, kRnr); }, LayerKind::aeth,
                                        "infiniband.aeth.syndrome.timer", [](std::uint64_t) { return 1; })};
         }},
        {"cm-05", "another reason",
         [] {
             return Damage{.out = change([](const Packet& packet) { return find(packet, LayerKind::cm_rej) != nullptr; }, LayerKind::cm_rej,
                                         "infiniband.cm.rej.reason", [](std::uint64_t) { return 28; })};
         }},
        {"fmt-07", "the version is not looked at",
         [] {
             return Damage{
                 .in = change([](const Packet&) { return true; }, LayerKind::bth, "infiniband.bth.tver", [](std::uint64_t) { return 0; })};
         }},
    };
}

}  // namespace

TEST_CASE("every script passes against our own endpoint, over IPv4 and IPv6") {
    for (const bool ipv6 : {false, true}) {
        StageWorld world({.ipv6 = ipv6});
        for (const std::string& name : script_names()) {
            const auto script = script_named(name);
            if (std::ranges::find(script.needs, ipv6 ? "ipv4" : "ipv6") != script.needs.end()) continue;
            const ScriptOutcome outcome = world.run(script);
            INFO(name << ": " << outcome.reason << '\n' << outcome.detail);
            if (name == "rsp-26") {  // our adapter answers one READ before it looks at the next: what is asked cannot come about
                CHECK(outcome.verdict == Verdict::not_applicable);
                continue;
            }
            CHECK(outcome.verdict == Verdict::pass);
            CHECK(outcome.examined > 0);
            CHECK_FALSE(outcome.frames.empty());
        }
    }
}

TEST_CASE("every script fails against a device that breaks its rule, and says how") {
    std::string told;
    for (const Mutant& mutant : mutants()) {
        StageWorld world({.damage = mutant.damage()});
        const auto script = script_named(mutant.script);
        const ScriptOutcome outcome = world.run(script);
        INFO(mutant.script << ", " << mutant.what << ": " << outcome.reason << '\n' << outcome.detail);
        CHECK(outcome.verdict == Verdict::fail);
        CHECK_FALSE(outcome.detail.empty());
        told += fmt::format("== {}: {}\n{}: {}\n{}\n", mutant.script, mutant.what, name(outcome.verdict), outcome.reason, outcome.detail);
    }
    check_golden("conformance/golden/failures.txt", told);
}

TEST_CASE("without an agent what needs one is not applicable; a run leaves nothing behind") {
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

TEST_CASE("a script made of what was recorded plays the same conversation with fresh queue pairs") {
    for (const std::string name : {"rsp-01", "rsp-05", "req-18", "cm-05", "rsp-09"}) {
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
