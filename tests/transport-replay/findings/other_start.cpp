// A responder that counts from another PSN than its requester: nothing was lost, and nothing is missing.
#include <tests/support/analysed_wire.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <string_view>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

constexpr std::uint32_t kStartRequester = 0x800000, kStartResponder = 0x100000;  // queue pairs
constexpr std::uint8_t kNakOfStart = 0x60;
constexpr std::uint64_t kStartOfWire = 1'000'000'000, kStartMillisecond = 1'000'000;

bool says_id(const Timeline& timeline, std::string_view id) {
    return std::ranges::find(timeline.findings, id, &Finding::id) != timeline.findings.end();
}

// Each SEND is acknowledged 3 us later with a PSN that is `ahead`, as a responder does that takes it for a duplicate.
Timeline taken_for_duplicates(std::uint32_t ahead, std::uint64_t between) {
    AnalysedWire wire;
    wire.nanoseconds = kStartOfWire;
    for (std::uint32_t psn = 100; psn < 110; ++psn) {
        wire.packet(1, 2, kStartResponder, kRcSendOnly, psn);
        wire.nanoseconds += 3000;
        wire.packet(2, 1, kStartRequester, kRcAcknowledge, 100 + ahead - 1);
        wire.nanoseconds += between;
    }
    return wire.analysis.finish();
}

}  // namespace

TEST_CASE("PSNs that there was no time to send are not missing, whatever acknowledges them") {
    for (const std::uint32_t ahead : {4096U, 100'000U, 4'000'000U})
        for (const std::uint64_t between : {std::uint64_t{3000}, 67 * kStartMillisecond}) {
            INFO(ahead << " PSNs ahead, " << between << " ns between");
            const Timeline timeline = taken_for_duplicates(ahead, between);
            CHECK_FALSE(says_id(timeline, "capture-lost-packets"));
            CHECK_FALSE(says_id(timeline, "gaps-unexplained"));
        }
}

TEST_CASE("a requester that goes back to its first PSN at once after each NAK begins elsewhere") {
    for (const std::uint32_t at_once : {1U, 5U}) {
        INFO(at_once << " packets each time");
        AnalysedWire wire;
        wire.nanoseconds = kStartOfWire;
        for (int round = 0; round < 8; ++round) {
            for (std::uint32_t psn = 8192; psn < 8192 + at_once; ++psn) {
                wire.packet(1, 2, kStartResponder, kRcSendOnly, psn);
                wire.nanoseconds += 1000;
            }
            wire.packet(2, 1, kStartRequester, kRcAcknowledge, 4096, kNakOfStart);
            wire.nanoseconds += 17'000;
        }
        const Timeline timeline = wire.analysis.finish();
        CHECK(says_id(timeline, "starting-psn-differs"));
        CHECK_FALSE(says_id(timeline, "go-back-n-loss"));
    }
}
