// A queue pair that is not there and one that answers, from the same host to the same host, both from the same PSN on:
// whose the answers are. Whole sample captures, one behind the other, before it, and among each other.
#include <tests/support/analysed_wire.hpp>
#include <tests/support/recordings.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

constexpr Duration seconds(std::int64_t count) { return Duration{count * 1'000'000'000}; }

Recordings beginning_at(Recordings all, Instant start) {
    const Duration by = start - all.front().time;
    return each(std::move(all), [&](Recording& one) { one.time = one.time + by; });
}

// CM, too, names the queue pairs: what is left has nothing but PSNs.
Recordings transport_alone(Recordings all) {
    std::erase_if(all, [](const Recording& one) { return !is_roce(one) || one.bytes[kIp + 28] == std::byte{100}; });
    return all;
}

// From the first packet of a queue pair on.
Recordings of_queue_pairs(std::string_view sample) { return transport_alone(recordings(sample)); }

const Finding* find(const Timeline& timeline, std::string_view id) {
    const auto found = std::ranges::find(timeline.findings, id, &Finding::id);
    return found == timeline.findings.end() ? nullptr : &*found;
}

struct Refusal {
    const char* sample;
    std::string_view finding;
};
constexpr Refusal kRefusals[]{{"err_rnr", "rnr-retries-exceeded"},
                              {"err_bad_rkey", "remote-access-error"},
                              {"err_no_write_perm", "remote-invalid-request"},
                              {"err_recv_too_small", "remote-operational-error"}};

// What the refusal says is what it says alone, and the queue pair that is not there is the only one that was never
// answered.
void check_told_apart(const Recordings& refused, const Recordings& both) {
    const Timeline timeline = analyse_once(both), alone = analyse_once(refused);
    REQUIRE(!alone.findings.empty());
    const Finding& right = alone.findings.front();
    const Finding* found = find(timeline, right.id);
    INFO(right.summary);
    REQUIRE(found != nullptr);
    CHECK(found->summary == right.summary);
    for (const Finding& finding : timeline.findings) {
        INFO(finding.summary);
        const Connection* connection = finding.connection ? timeline.find(*finding.connection) : nullptr;
        if (finding.id == "transport-retries-exceeded" || finding.id == "ack-timeout") {
            REQUIRE(connection != nullptr);
            CHECK(connection->ends[1].qpn == Qpn{32767});
        }
    }
}

}  // namespace

TEST_CASE("answers behind a queue pair that is not there are those of the one that was asked right before") {
    const Recordings dead = recordings("err_bad_qpn");
    for (const Refusal& refusal : kRefusals)
        for (const std::int64_t later : {1, 6}) {
            INFO(refusal.sample << ", " << later << " s");
            const Recordings asked = recordings(refusal.sample);
            CHECK(find(analyse_once(asked), refusal.finding) != nullptr);
            check_told_apart(asked, merged(dead, beginning_at(asked, dead.back().time + seconds(later))));
            check_told_apart(asked, merged(beginning_at(dead, asked.back().time + seconds(later)), asked));
            const Recordings few = of_queue_pairs(refusal.sample), dead_alone = of_queue_pairs("err_bad_qpn");
            check_told_apart(few, merged(dead_alone, beginning_at(few, dead_alone.back().time + seconds(later))));
        }
}

// Both begin together, at any distance: each answer may be right behind a request of either.
TEST_CASE("answers among the retransmissions of a queue pair that is not there are never taken for its own") {
    const Recordings dead = of_queue_pairs("err_bad_qpn");
    for (const Refusal& refusal : kRefusals) {
        INFO(refusal.sample);
        const Recordings few = of_queue_pairs(refusal.sample);
        const std::string alone(analyse_once(few).findings.front().id);  // which ends with its last NAK
        std::size_t told = 0, cases = 0;
        for (std::int64_t after = -40'000; after <= 60'000; after += 1'700, ++cases) {
            INFO(after << " us");
            const Timeline timeline =
                analyse_once(merged(dead, beginning_at(few, dead.front().time + Duration{after * 1000})));
            for (const Finding& finding : timeline.findings) {
                if (finding.severity != Severity::error) continue;
                INFO(finding.summary);
                const Connection* connection = finding.connection ? timeline.find(*finding.connection) : nullptr;
                REQUIRE(connection != nullptr);
                if (finding.id == "transport-retries-exceeded") CHECK(connection->ends[1].qpn == Qpn{32767});
                else CHECK(connection->ends[1].qpn != Qpn{32767});
            }
            if (find(timeline, refusal.finding) != nullptr || find(timeline, alone) != nullptr) ++told;
        }
        CHECK(told * 2 >= cases);
    }
}

TEST_CASE("who was perhaps answered did not give up, nor was it never answered") {
    AnalysedWire wire;
    constexpr std::uint64_t kMillisecond = 1'000'000;
    // Two queue pairs in lockstep; one of them is told that no receive is posted, as often as either asks.
    for (std::uint64_t time = kMillisecond; time < 60 * kMillisecond; time += 8 * kMillisecond) {
        wire.nanoseconds = time;
        wire.packet(1, 2, 500, kRcSendOnly, 0);
        wire.packet(1, 2, 501, kRcSendOnly, 0);
        wire.nanoseconds = time + 20'000;
        wire.packet(2, 1, 101, kRcAcknowledge, 0, 0x2c);
    }
    wire.nanoseconds = 2'000 * kMillisecond;
    wire.packet(3, 4, 700, kRcSendOnly, 0);
    const Timeline timeline = wire.analysis.finish();
    CHECK(find(timeline, "transport-retries-exceeded") == nullptr);
    CHECK(find(timeline, "ack-timeout") == nullptr);
    CHECK(find(timeline, "rnr-retries-exceeded") == nullptr);
    const Finding* undecided = find(timeline, "retransmission-undecided");
    REQUIRE(undecided != nullptr);
    CHECK(undecided->severity == Severity::note);
    CHECK(undecided->summary.find("for another queue pair with the same PSNs") != std::string::npos);
    CHECK(find(timeline, "rnr-stall") != nullptr);
}

// Nearly the same: the answers have a PSN that the queue pair which is not there never sent.
TEST_CASE("answers of other PSNs excuse nobody who was never answered") {
    AnalysedWire wire;
    constexpr std::uint64_t kMillisecond = 1'000'000;
    wire.packet(1, 2, 501, kRcSendOnly, 7);  // so that it is not the only one
    for (std::uint64_t time = kMillisecond; time < 60 * kMillisecond; time += 8 * kMillisecond) {
        wire.nanoseconds = time;
        wire.packet(1, 2, 500, kRcSendOnly, 0);
        wire.packet(2, 1, 101, kRcAcknowledge, 1, 0x2c);  // of requests that were not captured
    }
    wire.nanoseconds = 2'000 * kMillisecond;
    wire.packet(3, 4, 700, kRcSendOnly, 0);
    const Timeline timeline = wire.analysis.finish();
    const Finding* gave_up = find(timeline, "transport-retries-exceeded");
    REQUIRE(gave_up != nullptr);
    CHECK(gave_up->severity == Severity::error);
}
