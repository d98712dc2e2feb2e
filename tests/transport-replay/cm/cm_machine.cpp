// The tables of the CM conversation, and what hostile messages make of the tracker.
#include <tests/support/catch.hpp>
#include <transport-replay/cm/cm_ladder.hpp>

#include <random>

using namespace qps::dissect;
using namespace qps::transport;

TEST_CASE("every event is possible in some state, and from some side") {
    for (std::size_t event = 0; event < kCmEvents; ++event) {
        const auto one = static_cast<CmEvent>(event);
        bool possible = false;
        for (std::size_t state = 0; state < kCmStates; ++state)
            possible |= step(static_cast<CmState>(state), one).has_value();
        CHECK(possible);
        CHECK((may_come_from(one, true) || may_come_from(one, false)));
    }
    CHECK_FALSE(step(CmState::timewait, CmEvent::rtu));
    CHECK(step(CmState::req_sent, CmEvent::rtu)->gap);
}

TEST_CASE("any messages in any order: nothing breaks and everything is counted") {
    std::mt19937 random(4711);
    std::vector<std::byte> datagram(256);
    CmTracker tracker;
    constexpr std::uint64_t kMessages = 50'000;
    for (std::uint64_t i = 0; i < kMessages; ++i) {
        for (std::byte& byte : datagram) byte = static_cast<std::byte>(random() & 3);  // few values, so that ids meet
        write_bits(datagram, 0, 32, 0x01070203);
        write_bits(datagram, 8 * 16UZ, 16, 0x10 + random() % kCmMessages);
        Observation observation;
        observation.kind = ObservationKind::transport;
        observation.management = random() % 8 != 0;
        observation.frame = FrameIndex{i};
        observation.time =
            Instant{static_cast<std::int64_t>(random() % 64 == 0 ? std::uint64_t{random()} << 32 : i * 1000)};
        observation.flow.source.bits[1] = random() % 3;
        observation.flow.destination.bits[1] = random() % 3;
        write_bits(datagram, 8 * 24UZ, 31, random() % 16);
        write_bits(datagram, 8 * 28UZ, 31, random() % 16);
        observation.payload = Bytes(datagram).first(random() % 4 == 0 ? random() % 257 : 256);
        observation.payload_length = 256;
        tracker.observe(observation);
    }
    const CmReport report = tracker.finish();
    std::uint64_t rungs = 0;
    for (const CmAttempt& attempt : report.attempts) {
        CHECK(attempt.state != CmState::unseen);
        rungs += attempt.ladder.size() + attempt.rungs_dropped;
    }
    CHECK(rungs == report.messages - report.messages_dropped);
    CHECK(report.refusals.size() == kMaxCmRefusals);
    CHECK(tracker.finish().attempts.empty());
}

TEST_CASE("attempts past the bound are counted") {
    std::vector<std::byte> datagram(256);
    write_bits(datagram, 0, 32, 0x01070203);
    write_bits(datagram, 8 * 16UZ, 16, 0x10);
    Observation observation;
    observation.kind = ObservationKind::transport;
    observation.management = true;
    observation.payload = datagram;
    constexpr MemoryBudget kSmall{std::uint64_t{128} << 20};
    constexpr std::size_t kMost = kSmall.items(Share::attempts);
    CmTracker tracker(kSmall);
    for (std::uint64_t id = 1; id <= kMost + 5; ++id) {
        write_bits(datagram, 8 * 24UZ, 32, id);
        tracker.observe(observation);
    }
    const CmReport report = tracker.finish();
    CHECK(report.attempts.size() == kMost);
    CHECK(report.messages_dropped == 5);
}
