// The endpoint against itself: every operation between two of them over a simulated link that loses, doubles, delays
// and damages what it carries. Every byte is right, everything happens once and in order, nothing is left, and the same
// seed does the same.
#include <tests/support/catch.hpp>
#include <tests/support/endpoint_world.hpp>
#include <tests/support/sanitized.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/live/device/packet_facts.hpp>
#include <transport-replay/model/timeline.hpp>

#include <set>

using namespace qps;
using namespace qps::transport;
using qps::tests::World;
using qps::tests::WorldWish;

namespace {

constexpr std::uint64_t kShare = qps::tests::kSanitized ? 10 : 1;  // of the seeds

constexpr WorldWish kAll{
    .worst = {.loss = 0.05, .duplication = 0.05, .reordering = 0.1, .corruption = 0.05, .marking = 0.1}};

void for_seeds(std::uint64_t first, std::uint64_t count, const WorldWish& wish) {
    for (std::uint64_t seed = first; seed < first + count / kShare; ++seed) {
        INFO("seed " << seed);
        World world(seed, wish);
        const std::string problem = world.run();
        INFO(problem);
        CHECK(problem.empty());
    }
}

std::string run(std::uint64_t seed, const WorldWish& wish, std::vector<CapturedFrame>& recording) {
    World world(seed, wish);
    std::string problem = world.run();
    recording = world.take_recording();
    return problem;
}

Timeline analysed(const std::vector<CapturedFrame>& recording) {
    Analysis analysis;
    dissect::Packet packet;
    Observation observation;
    std::uint64_t index = 0;
    for (const CapturedFrame& captured : recording) {
        dissect::Frame frame;
        frame.bytes = captured.bytes;
        frame.wire_length = captured.wire_length;
        frame.index = dissect::FrameIndex{++index};
        frame.time = captured.time;
        decode(frame, packet);
        observe(packet, observation);
        analysis.observe(observation);
    }
    Timeline timeline = analysis.finish();
    draw_findings(timeline);
    return timeline;
}

// Faults to order, out of what went over the calm wire: this packet of this queue pair, when it is sent the first or
// the second time.
std::vector<ExactFault> faults_of(std::uint64_t seed, const std::vector<CapturedFrame>& recording) {
    Draws draws(seed);
    std::vector<ExactFault> faults;
    for (std::uint64_t left = 1 + draws.below(12); left > 0 && !recording.empty(); --left) {
        const CapturedFrame& frame = recording[draws.below(recording.size())];
        const auto packet = live::facts_of(frame.bytes).identity;
        if (!packet || packet->destination_qp == dissect::Qpn{1}) continue;
        const bool from_a = frame.bytes[11] == std::byte{1};  // the last byte of its MAC address
        for (std::uint32_t round = 1; round <= 1 + draws.below(3); ++round)
            faults.push_back({.kind = static_cast<FaultKind>(draws.below(4)),
                              .from = from_a ? End::a : End::b,
                              .psn = packet->psn,
                              .response = packet->response,
                              .transmission = round,
                              .destination_qp = packet->destination_qp});
    }
    return faults;
}

}  // namespace

TEST_CASE("endpoint property: on a calm wire", "[endpoint]") { for_seeds(100'000, 200, {}); }

TEST_CASE("endpoint property: loss", "[endpoint]") { for_seeds(110'000, 400, {.worst = {.loss = 0.1}}); }

TEST_CASE("endpoint property: loss, doubling, overtaking and damage together, first part", "[endpoint]") {
    for_seeds(120'000, 400, kAll);
}
TEST_CASE("endpoint property: loss, doubling, overtaking and damage together, second part", "[endpoint]") {
    for_seeds(130'000, 400, kAll);
}
TEST_CASE("endpoint property: doubling and overtaking alone", "[endpoint]") {
    for_seeds(140'000, 250, {.worst = {.duplication = 0.1, .reordering = 0.1}});
}

TEST_CASE("endpoint property: this packet of this queue pair in this round", "[endpoint]") {
    for (std::uint64_t seed = 150'000; seed < 150'000 + 350 / kShare; ++seed) {
        INFO("seed " << seed);
        std::vector<CapturedFrame> recording;
        CHECK(run(seed, {}, recording).empty());
        CHECK(run(seed, {.exact = faults_of(seed, recording)}, recording) == "");
    }
}

TEST_CASE("endpoint property: the same seed does the same, byte for byte", "[endpoint]") {
    for (std::uint64_t seed = 120'000; seed < 120'000 + 60 / kShare; ++seed) {
        INFO("seed " << seed);
        std::vector<CapturedFrame> once, again;
        CHECK(run(seed, kAll, once).empty());
        CHECK(run(seed, kAll, again).empty());
        CHECK(once == again);
        CHECK(once.size() > 10);
    }
}

TEST_CASE("endpoint property: our own analysis finds nothing in what goes over a calm wire", "[endpoint]") {
    for (std::uint64_t seed = 160'000; seed < 160'000 + 300 / kShare; ++seed) {
        INFO("seed " << seed);
        std::vector<CapturedFrame> recording;
        REQUIRE(run(seed, {.plenty = true}, recording).empty());
        for (const Finding& finding : analysed(recording).findings) {
            INFO(finding.id << ": " << finding.summary);
            CHECK(finding.severity == Severity::note);
        }
    }
}

TEST_CASE("endpoint property: what the network did is blamed on nobody else", "[endpoint]") {
    for (std::uint64_t seed = 170'000; seed < 170'000 + 300 / kShare; ++seed) {
        INFO("seed " << seed);
        std::vector<CapturedFrame> recording;
        WorldWish wish = kAll;
        wish.plenty = true;
        REQUIRE(run(seed, wish, recording).empty());
        for (const Finding& finding : analysed(recording).findings) {
            INFO(finding.id << ": " << finding.summary);
            const bool blames = finding.party == Party::requester || finding.party == Party::responder;
            CHECK(!blames);
        }
    }
}

TEST_CASE("endpoint property: every operation is among what was played", "[endpoint]") {
    std::set<std::uint8_t> played;
    for (std::uint64_t seed = 160'000; seed < 160'060; ++seed) {
        std::vector<CapturedFrame> recording;
        REQUIRE(run(seed, {}, recording).empty());
        for (const CapturedFrame& captured : recording) {
            dissect::Frame frame;
            frame.bytes = captured.bytes;
            frame.wire_length = captured.wire_length;
            dissect::Packet packet;
            decode(frame, packet);
            if (packet.has_transport()) played.insert(static_cast<std::uint8_t>(packet.opcode));
        }
    }
    using dissect::Service;
    for (unsigned code = 0; code < 0x80; ++code) {
        const dissect::OpcodeRow& row = info(dissect::Opcode{static_cast<std::uint8_t>(code)});
        const bool ours = row.service == Service::rc || row.service == Service::uc || row.service == Service::ud;
        if (!row.defined || !ours || code == 0x15) continue;  // RESYNC is of RD
        INFO("opcode " << code);
        const bool plain = code == 0x22 || code == 0x24;  // SENDs of UC bear their number here, as an immediate
        CHECK(played.contains(static_cast<std::uint8_t>(code)) != plain);
    }
}
