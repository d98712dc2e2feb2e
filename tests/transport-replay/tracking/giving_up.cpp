// When a requester gave up, and when nobody can know: what is given up is an error, and must be proven by what was
// captured.
#include <tests/support/analysed_wire.hpp>
#include <tests/support/conversation.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

using namespace qps::transport;
using namespace qps::dissect;
using namespace qps::tests;

TEST_CASE("what was sent again sooner than any timer runs is given up only when a timer could have run out") {
    const auto ended = [](Duration silence) {
        Conversation said;
        said.set_up();
        said.send(50);
        said.acknowledge(50);
        said.read(51, 3000);
        said.send(54);
        said.respond(kResponseFirst, 51, 1024);
        said.respond(kResponseLast, 53, 952);  // that of 52 is missing: an implied NAK
        said.read(52, 1976);
        said.wait(silence);
        return said.end();
    };
    CHECK(ended(microseconds(10)) == RecoveryEnd::open);
    CHECK(ended(microseconds(2'000)) == RecoveryEnd::open);
    CHECK(ended(microseconds(1'000'000)) == RecoveryEnd::stopped);
}

TEST_CASE("a requester that was refused a receive gave up for it where nothing before it was missing") {
    const auto ended = [](bool read_is_whole) {
        Conversation said;
        said.attempt().active.rnr_retry_count = said.attempt().passive.rnr_retry_count = 0;
        said.set_up();
        said.send(50);
        said.acknowledge(50);
        said.read(51, 3000);
        said.send(54);
        said.respond(kResponseFirst, 51, 1024);
        if (read_is_whole) said.respond(kResponseMiddle, 52, 1024);
        said.respond(kResponseLast, 53, 952);
        said.refuse_receive(54);
        said.wait(microseconds(1'000'000));
        return said.end();
    };
    CHECK(ended(true) == RecoveryEnd::gave_up);
    CHECK(ended(false) == RecoveryEnd::open);
}

TEST_CASE("who takes a connection down does not wait for timers any more") {
    const auto ended = [](Duration before_it) {
        Conversation said;
        said.set_up();
        said.send(50);
        said.acknowledge(50);
        said.send(51);
        said.wait(microseconds(8'000));
        said.send(51);
        said.wait(before_it);
        said.take_down();
        said.wait(microseconds(1'000'000));
        return said.end();
    };
    CHECK(ended(microseconds(5'000)) == RecoveryEnd::open);
    CHECK(ended(microseconds(20'000)) == RecoveryEnd::stopped);
}

TEST_CASE("who was refused as often as CM says has given up, however soon the connection is taken down") {
    const auto ended = [](std::uint8_t active, std::uint8_t passive) {
        Conversation said;
        said.attempt().active.rnr_retry_count = active;
        said.attempt().passive.rnr_retry_count = passive;
        said.set_up();
        said.send(50);
        said.acknowledge(50);
        for (int i = 0; i < 3; ++i) {
            said.send(51);
            said.refuse_receive(51);
            if (i < 2) said.wait(microseconds(2'000));
        }
        said.take_down();
        said.wait(microseconds(1'000'000));
        return said.end();
    };
    CHECK(ended(2, 1) == RecoveryEnd::gave_up);
    CHECK(ended(2, 3) == RecoveryEnd::open);
    CHECK(ended(7, 7) == RecoveryEnd::open);
}

namespace {

// One packet that is never answered, sent so often; then silence.
RecoveryEnd unanswered(unsigned sends, std::optional<std::uint8_t> retries, std::uint32_t begun_anew_at = 0) {
    Conversation said;
    said.attempt().retry_count = retries;
    said.set_up();
    said.send(50);
    said.acknowledge(50);
    for (unsigned i = 0; i < sends; ++i) {
        said.send(51);
        said.wait(microseconds(4'000));
    }
    if (begun_anew_at != 0) {
        for (std::uint32_t i = 0; i < 4; ++i) {
            said.send(begun_anew_at + i);
            said.acknowledge(begun_anew_at + i);
        }
        const Tracked tracked = said.finish();
        REQUIRE(tracked.recoveries.size() == 1);
        return tracked.recoveries.front().end;
    }
    said.wait(microseconds(1'000'000));
    return said.end();
}

}  // namespace

TEST_CASE("who fell silent gave up where it sent as often as CM says, or else as queue pairs do at most") {
    CHECK(unanswered(8, std::nullopt) == RecoveryEnd::gave_up);
    CHECK(unanswered(7, std::nullopt) == RecoveryEnd::stopped);
    CHECK(unanswered(3, std::uint8_t{7}) == RecoveryEnd::stopped);
    CHECK(unanswered(3, std::uint8_t{2}) == RecoveryEnd::gave_up);
    CHECK(unanswered(2, std::uint8_t{2}) == RecoveryEnd::stopped);
}

TEST_CASE("a queue pair that begins anew with other PSNs had given up before, where its retries were used up") {
    constexpr std::uint32_t kFar = 1U << 20;
    CHECK(unanswered(8, std::nullopt, kFar) == RecoveryEnd::gave_up);
    CHECK(unanswered(4, std::nullopt, kFar) == RecoveryEnd::recovered);
}

TEST_CASE("RNR retries without end are never used up") {
    const auto ended = [](std::uint8_t retries, int naks) {
        Conversation said;
        said.attempt().active.rnr_retry_count = said.attempt().passive.rnr_retry_count = retries;
        said.set_up();
        said.send(50);
        said.acknowledge(50);
        for (int i = 0; i < naks; ++i) {
            said.send(51);
            said.refuse_receive(51);
            said.wait(microseconds(2'000));
        }
        said.wait(microseconds(1'000'000));
        return said.end();
    };
    CHECK(ended(7, 3) == RecoveryEnd::stopped);
    CHECK(ended(7, 9) == RecoveryEnd::stopped);
    CHECK(ended(2, 3) == RecoveryEnd::gave_up);
}

namespace {

constexpr std::uint64_t kMs = 1'000'000;

const Finding* found_in(const Timeline& timeline, std::string_view id) {
    const auto found = std::ranges::find(timeline.findings, id, &Finding::id);
    return found == timeline.findings.end() ? nullptr : &*found;
}

// Other traffic of the two hosts, in both directions, from that time on.
void others(AnalysedWire& wire, std::uint64_t from) {
    for (std::uint32_t i = 0; i < 50; ++i) {
        wire.nanoseconds = from + i * 20 * kMs;
        wire.exchange(7, 100 + i);
    }
}

}  // namespace

TEST_CASE("answers that the tap has may all be lost behind it: eight sendings and silence are giving up") {
    const auto after = [](unsigned sends) {
        AnalysedWire wire;
        wire.exchange(1, 500);
        std::uint64_t time = 10 * kMs;
        for (unsigned i = 0; i < sends; ++i, time += 20 * kMs) {
            wire.nanoseconds = time;
            wire.exchange(1, 501);
        }
        others(wire, time);
        return wire.analysis.finish();
    };
    const Timeline eight = after(8), three = after(3);
    const Finding* gave_up = found_in(eight, "transport-retries-exceeded");
    REQUIRE(gave_up != nullptr);
    CHECK(gave_up->severity == Severity::error);
    CHECK(gave_up->party == Party::fabric);
    CHECK(gave_up->summary.find("8 times") != std::string::npos);
    CHECK(found_in(eight, "ack-timeout") == nullptr);
    CHECK(found_in(three, "transport-retries-exceeded") == nullptr);
    CHECK(found_in(three, "ack-timeout") != nullptr);
}

TEST_CASE("who goes back to a later PSN than its first was answered, whatever of it was captured") {
    const auto after = [](std::uint32_t go_back, unsigned sends) {
        AnalysedWire wire;
        for (std::uint32_t psn = 500; psn < 520; ++psn) wire.packet(1, 2, 0x100001, kRcSendOnly, psn);
        for (unsigned i = 1; i < sends; ++i) {
            wire.nanoseconds = i * 20 * kMs;
            for (std::uint32_t psn = go_back; psn < 520; ++psn) wire.packet(1, 2, 0x100001, kRcSendOnly, psn);
        }
        others(wire, sends * 20 * kMs);
        return wire.analysis.finish();
    };
    for (const unsigned sends : {2U, 5U, 8U}) {
        const Timeline later = after(519, sends);
        CHECK(found_in(later, "transport-retries-exceeded") == nullptr);
        CHECK(found_in(later, "ack-timeout") == nullptr);
        const Finding* undecided = found_in(later, "retransmission-undecided");
        REQUIRE(undecided != nullptr);
        CHECK(undecided->summary.find("answers were not captured") != std::string::npos);
        CHECK(found_in(after(500, sends), "transport-retries-exceeded") != nullptr);
    }
}

TEST_CASE("queue pairs that stop after as many transmissions at different times had no more retries") {
    const auto severity = [](std::uint64_t later, unsigned sends) {
        AnalysedWire wire;
        std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
        for (unsigned i = 0; i < 4; ++i) all.emplace_back(kMs + i * 20 * kMs, 1);
        for (unsigned i = 0; i < sends; ++i) all.emplace_back(kMs + later + i * 20 * kMs, 2);
        std::ranges::sort(all);
        for (const auto& [time, connection] : all) {
            wire.nanoseconds = time;
            wire.packet(1, 2, 0x100000 + connection, kRcSendOnly, 1000 * connection);
        }
        others(wire, all.back().first + 30 * kMs);
        const Timeline timeline = wire.analysis.finish();
        const Finding* found = found_in(timeline, "transport-retries-exceeded");
        REQUIRE(found != nullptr);
        return found->severity;
    };
    CHECK(severity(300 * kMs, 4) == Severity::error);
    CHECK(severity(300 * kMs, 3) == Severity::warning);
    CHECK(severity(5 * kMs, 4) == Severity::warning);  // one event may have ended both
}
