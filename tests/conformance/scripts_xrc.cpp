// Scripts of XRC: both halves of a device, packet by packet and by our own adapter; devices that are wrong, and one
// that has no XRC.
#include <tests/support/catch.hpp>
#include <tests/support/scripts.hpp>
#include <tests/support/stage_world.hpp>
#include <transport-replay/conformance/script/script_writer.hpp>

using namespace qps;
using namespace qps::dissect;
using namespace qps::tests;
using transport::conformance::Verdict;
using transport::conformance::stage::ScriptOutcome;
namespace agent = transport::conformance::agent;

namespace {

// A device that serves: two shared queues of one domain, reached through one queue pair.
constexpr std::string_view kServes = R"(needs agent xrc
qp a xrc_recv mtu=1024 recv=3x2048 access=write,read
qp b xrc_recv mtu=1024 recv=1x64 xrcd=$a.xrcd
dut mr m len=4096 access=write,read fill=7
assert $a.srqn != $b.srqn "two queues have one number"
assert $a.xrcd == $b.xrcd "one domain"
> a XRC_SEND_FIRST psn=+0 len=1024 fill=3
> a XRC_SEND_LAST psn=+1 len=100 fill=3 ackreq
< a XRC_ACKNOWLEDGE psn=+1 msn=+1
dut a completion op=recv status=success len=1124
dut memory a.recv 0..1124 is fill 3
> a XRC_SEND_ONLY_WITH_IMMEDIATE psn=+2 len=10 imm=01:02:03:04 srq=$b.srqn ackreq
< a XRC_ACKNOWLEDGE psn=+2 msn=+2
dut b completion op=recv len=10 imm=0x01020304
dut a no completion for 10ms
> a XRC_RDMA_WRITE_ONLY psn=+3 va=$m.va rkey=$m.rkey len=64 fill=8 ackreq
< a XRC_ACKNOWLEDGE psn=+3 msn=+3
dut memory m 0..64 is fill 8
> a XRC_RDMA_READ_REQUEST psn=+4 va=$m.va rkey=$m.rkey dmalen=64
< a XRC_RDMA_READ_RESPONSE_ONLY psn=+4 len=64 fill=8 msn=+4
alive a
dut a recv count=1 len=64
> a XRC_SEND_ONLY psn=+6 len=8 ackreq
< a XRC_ACKNOWLEDGE psn=+6 msn=+6
dut a completion op=recv len=8
free a
alive b
)";

// A device that asks.
constexpr std::string_view kAsks = R"(needs agent xrc
qp a xrc_send mtu=1024 timeout=18
dut a post send len=1500 fill=5
< a XRC_SEND_FIRST psn=+0 srq=$a.srqn len=1024 fill=5
< a XRC_SEND_LAST psn=+1 srq=$a.srqn len=476 fill=5
> a XRC_ACKNOWLEDGE psn=+1 msn=+1
dut a completion op=send status=success
dut a post write len=64 va=0x1000 rkey=0x77 srqn=0x123456
< a XRC_RDMA_WRITE_ONLY psn=+2 srq=0x123456 va=0x1000 rkey=0x77
> a XRC_ACKNOWLEDGE psn=+2 msn=+2
dut a completion op=write status=success
alive a
)";

// Our own adapter at the other end, both ways.
constexpr std::string_view kAdapters = R"(needs agent xrc
qp a xrc_recv verbs mtu=1024 recv=2x4096
us a post send len=3000 fill=4
dut a completion op=recv len=3000
dut memory a.recv 0..3000 is fill 4
us a completion op=send status=success
qp b xrc_send verbs mtu=1024
us b recv count=2 len=4096
dut b post send len=2500 fill=6
us b completion op=recv len=2500
us memory b.recv 0..2500 is fill 6
dut b completion op=send status=success
free a
free b
)";

ScriptOutcome played(std::string_view text, StageWish wish = {}) {
    StageWorld world(std::move(wish));
    return world.run(script_of("xrc", std::string(text)));
}

}  // namespace

TEST_CASE("scripts create both halves of XRC, and play them") {
    for (const std::string_view text : {kServes, kAsks, kAdapters})
        for (const bool ipv6 : {false, true}) {
            const ScriptOutcome outcome = played(text, {.ipv6 = ipv6});
            INFO(text << outcome.reason << '\n' << outcome.detail);
            CHECK(outcome.verdict == Verdict::pass);
            CHECK(outcome.examined > 0);
        }
}

TEST_CASE("a device without XRC is not judged by scripts of XRC") {
    const auto without = [] {
        return StageWish{.lie = {.answered = [](const agent::Request& request, agent::ParsedAnswer& answer) {
                             if (request.verb != agent::Verb::hello) return;
                             agent::Fields fields;
                             for (agent::Field field : answer.fields.all()) {
                                 if (field.key == agent::Key::features)
                                     field.number &= ~agent::bit(agent::Feature::xrc);
                                 fields.add(std::move(field));
                             }
                             answer.fields = std::move(fields);
                         }}};
    };
    for (const std::string_view text : {kServes, kAsks, std::string_view("qp a xrc_recv\nalive a\n"),
                                        std::string_view("qp a xrc_send verbs\nalive\n")}) {
        const ScriptOutcome outcome = played(text, without());
        CHECK(outcome.verdict == Verdict::not_applicable);
        CHECK(outcome.reason == "the device has no XRC");
    }
    CHECK(played("qp a rc recv=1x64\nalive a\n", without()).verdict == Verdict::pass);
    CHECK(played(kServes, {.with_agent = false}).verdict == Verdict::not_applicable);
}

TEST_CASE("a device that takes XRC messages for another queue fails") {
    // What is posted names another queue than it was told.
    const StageWish wrong_number{.lie = {.asked = [](agent::Request& request) {
                                     if (request.verb != agent::Verb::post) return;
                                     agent::Fields fields;
                                     for (agent::Field field : request.fields.all()) {
                                         if (field.key == agent::Key::srqn) field.number ^= 1;
                                         fields.add(std::move(field));
                                     }
                                     request.fields = std::move(fields);
                                 }}};
    const ScriptOutcome asks = played(kAsks, wrong_number);
    CHECK(asks.verdict == Verdict::fail);
    CHECK(asks.detail.find("srq") != std::string::npos);
    // A request for a queue that is none of the domain's.
    const std::string stranger = R"(needs agent xrc
qp a xrc_recv mtu=1024 recv=1x64
> a XRC_SEND_ONLY psn=+0 len=8 srq=$a.srqn+77 ackreq
< a XRC_ACKNOWLEDGE psn=+0 msn=+1
)";
    CHECK(played(stranger).verdict == Verdict::fail);
}

TEST_CASE("a script made of recorded XRC packets plays them again") {
    constexpr std::string_view kText = R"(needs agent xrc
qp a xrc_recv mtu=1024 recv=2x2048
> a XRC_SEND_FIRST psn=+0 len=1024 fill=3
> a XRC_SEND_LAST psn=+1 len=100 fill=3 ackreq
< a XRC_ACKNOWLEDGE psn=+1 msn=+1
)";
    const ScriptOutcome first = played(kText);
    REQUIRE(first.verdict == Verdict::pass);
    transport::conformance::script::ScriptWriter writer;
    for (const auto& frame : first.frames) {
        Packet packet = decoded(frame.bytes);
        packet.frame.time = frame.time;
        writer.add(packet);
    }
    const std::string text = writer.finish("xrc");
    INFO(text);
    CHECK(text.find("xrc_recv") != std::string::npos);
    StageWorld second({.seed = 99});
    const ScriptOutcome again = second.run(script_of("made of a capture", text));
    INFO(again.reason << '\n' << again.detail);
    CHECK(again.verdict == Verdict::pass);
}
