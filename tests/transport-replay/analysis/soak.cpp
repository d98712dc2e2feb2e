// An analysis that does not end: connections come and go, some are refused; memory stays flat, and every verdict is
// exact. As many connections as QPSCOPE_SOAK says (5,000,000 take some minutes), or few. With QPSCOPE_SOAK_SECONDS they
// are spread over that time, and each minute a line says what the heap has.
#include <tests/support/analysed_wire.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sanitized.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>
#include <malloc.h>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

constexpr MemoryBudget kSoaked{std::uint64_t{128} << 20};
constexpr std::uint32_t kAtATime = 512;  // connections that are there at once
constexpr std::uint32_t kMessages = 4;   // of each
constexpr std::uint32_t kRefusedEvery = 9973;

std::uint32_t connections() {
    const char* said = std::getenv("QPSCOPE_SOAK");
    const std::uint64_t number = said == nullptr ? share(80'000) : std::strtoull(said, nullptr, 10);
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(number, 8 * kAtATime) / kAtATime * kAtATime);
}

std::size_t soaked_heap() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// Spreads the work over a time that the user wants, and tells how it goes.
class Pace {
public:
    using Clock = std::chrono::steady_clock;

    explicit Pace(std::uint32_t all) : all_(all) {
        if (const char* said = std::getenv("QPSCOPE_SOAK_SECONDS"))
            wanted_ = std::chrono::seconds(std::strtoull(said, nullptr, 10));
    }
    void wait(std::uint32_t done, std::uint64_t refused, std::size_t heap) {
        if (wanted_ == Clock::duration::zero()) return;
        std::this_thread::sleep_until(start_ +
                                      std::chrono::duration_cast<Clock::duration>(wanted_ * (double(done) / all_)));
        const auto minute = std::chrono::floor<std::chrono::minutes>(Clock::now() - start_).count();
        if (minute == minute_) return;
        minute_ = minute;
        fmt::print(stderr, "minute {}: {} connections, {} refused, heap {} bytes\n", minute, done, refused, heap);
    }

private:
    std::uint32_t all_;
    Clock::time_point start_ = Clock::now();
    Clock::duration wanted_{};
    std::int64_t minute_ = 0;
};

}  // namespace

TEST_CASE("connections that come and go for as long as one likes leave memory flat and verdicts exact") {
    const std::uint32_t all = connections();
    AnalysisSettings settings;
    settings.memory = kSoaked;
    AnalysedWire wire(std::move(settings));
    std::uint64_t refused = 0;
    std::size_t early = 0, late = 0;
    Pace pace(all);
    for (std::uint32_t first = 0; first < all; first += kAtATime) {
        for (std::uint32_t message = 0; message < kMessages; ++message)
            for (std::uint32_t i = first; i < first + kAtATime; ++i) {
                const bool is_refused = message + 1 == kMessages && i % kRefusedEvery == 0;
                refused += is_refused ? 1U : 0U;
                // Queue pair numbers come again after 2^19 connections, as devices do it.
                const std::uint32_t queue_pair = i & 0x7ffff;
                const auto psn = static_cast<std::uint32_t>(mix(i)) + message;
                wire.packet(1, 2, 0x100000 + queue_pair, kRcSendOnly, psn);
                wire.packet(2, 1, 0x800000 + queue_pair, kRcAcknowledge, psn,
                            is_refused ? kAccessError : std::uint8_t{0});
            }
        const std::size_t now = soaked_heap();
        (first < all / 2 ? early : late) = std::max(first < all / 2 ? early : late, now);
        pace.wait(first + kAtATime, refused, now);
    }
    const std::size_t before = soaked_heap();
    CHECK(wire.analysis.so_far().packets == std::uint64_t{all} * kMessages * 2);
    const Timeline timeline = wire.analysis.finish();
    CHECK(timeline.connections.size() + timeline.retired.connections == all);
    CHECK(timeline.totals.messages_of(MessageKind::send) == std::uint64_t{all} * kMessages);
    CHECK(timeline.totals.fatal_naks == refused);
    CHECK(timeline.totals.acks == std::uint64_t{all} * kMessages - refused);
    CHECK(timeline.totals.retransmitted_packets == 0);
    CHECK(timeline.fatalities.size() == std::min<std::uint64_t>(refused, kMaxFatalities));
    const bool room = refused <= kSoaked.items(Share::retired);
    CHECK(judged_all(timeline) == room);
    std::uint64_t errors = 0;
    for (const Finding& finding : timeline.findings) errors += finding.severity == Severity::error ? finding.count : 0;
    if (room) CHECK(errors == refused);
    else CHECK(errors >= kSoaked.items(Share::retired));
    if (kSanitized) return;  // whose heap is another
    INFO("early " << early << ", late " << late << ", at the end " << before);
    CHECK(late <= early + early / 20);
}
