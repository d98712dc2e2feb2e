// More connections than there is memory for: those that are over or silent make place, what they were stays in the
// sums, their problems are still found, and what could not be judged is said.
#include <tests/support/analysed_wire.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>

#include <algorithm>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

constexpr MemoryBudget kSmall{std::uint64_t{16} << 20};
constexpr std::size_t kPlaces = kSmall.items(Share::connections);
constexpr std::uint32_t kMany = 12 * kPlaces;

AnalysedWire small_wire() {
    AnalysisSettings settings;
    settings.memory = kSmall;
    return AnalysedWire(std::move(settings));
}

// Some PSN: connections do not begin alike.
std::uint32_t psn_of(std::uint32_t connection) { return static_cast<std::uint32_t>(mix(connection)) & Psn::kMask; }

std::size_t errors(const Timeline& timeline) {
    return static_cast<std::size_t>(std::ranges::count(timeline.findings, Severity::error, &Finding::severity));
}

}  // namespace

TEST_CASE("connections that went well make place for others, and stay in the sums") {
    AnalysedWire wire = small_wire();
    for (std::uint32_t i = 0; i < kMany; ++i) wire.exchange(i, psn_of(i));
    const Timeline timeline = wire.analysis.finish();
    CHECK(timeline.connections.size() <= kPlaces);
    CHECK(timeline.connections.size() + timeline.retired.connections == kMany);
    CHECK(timeline.retired.with_problems == 0);
    CHECK(timeline.totals.messages_of(MessageKind::send) == kMany);
    CHECK(timeline.totals.acks == kMany);
    CHECK(timeline.left_out.packets_of_connections == 0);
    CHECK(judged_all(timeline));
    CHECK(errors(timeline) == 0);
    CHECK(std::ranges::is_sorted(timeline.connections, {}, &Connection::uid));
}

TEST_CASE("a connection that was refused is found whenever that was") {
    AnalysedWire wire = small_wire();
    for (std::uint32_t i = 0; i < kMany; ++i) {
        const bool refused = i == 3 || i == kMany / 2 || i == kMany - 1;
        wire.exchange(i, psn_of(i), refused ? kAccessError : std::uint8_t{0});
    }
    const Timeline timeline = wire.analysis.finish();
    CHECK(timeline.fatalities.size() == 3);
    for (const Fatality& fatality : timeline.fatalities) CHECK(timeline.find(fatality.connection) != nullptr);
    CHECK(errors(timeline) == 3);
    CHECK(timeline.totals.fatal_naks == 3);
    CHECK(judged_all(timeline));
}

TEST_CASE("a connection that is in use keeps its place among those that come and go") {
    AnalysedWire wire = small_wire();
    constexpr std::uint32_t kBusy = 0x40000;
    constexpr std::uint32_t kEach = 16;  // connections between two of its messages
    std::uint32_t psn = 100;
    for (std::uint32_t i = 0; i < kMany; ++i) {
        if (i % kEach == 0) wire.exchange(kBusy, psn++);
        wire.exchange(i, psn_of(i));
    }
    const Timeline timeline = wire.analysis.finish();
    const auto messages = [](const Connection& connection) {
        return connection.way(End::a).messages_of(MessageKind::send);
    };
    CHECK(std::ranges::max(timeline.connections, {}, messages).way(End::a).messages_of(MessageKind::send) == psn - 100);
}

TEST_CASE("what there was no place to judge is said, and what comes is judged all the same") {
    AnalysedWire wire = small_wire();
    for (std::uint32_t i = 0; i < kMany; ++i)
        wire.packet(1, 2, 0x100000 + i, kRcSendOnly, psn_of(i));  // nobody answers
    wire.exchange(kMany, 77, kAccessError);
    const Timeline timeline = wire.analysis.finish();
    CHECK(timeline.fatalities.size() == 1);
    CHECK(errors(timeline) >= 1);
    CHECK(timeline.connections.size() <= kPlaces + kSmall.items(Share::retired));
    CHECK(timeline.retired.with_problems == kMany + 1 - timeline.connections.size());
    CHECK_FALSE(judged_all(timeline));
    CHECK(std::ranges::find(timeline.findings, "analysis-bounded", &Finding::id) != timeline.findings.end());
}

TEST_CASE("the numbers of connections are theirs alone, also where places are used again") {
    AnalysedWire wire = small_wire();
    std::vector<ConnectionId> seen;
    for (std::uint32_t i = 0; i < kMany; ++i) {
        const auto first = wire.packet(1, 2, 0x100000 + i, kRcSendOnly, psn_of(i)).connection;
        const auto answer = wire.packet(2, 1, 0x800000 + i, kRcAcknowledge, psn_of(i)).connection;
        REQUIRE(first);
        CHECK(answer == first);
        seen.push_back(*first);
    }
    CHECK(std::ranges::adjacent_find(seen, std::ranges::greater_equal{}) == seen.end());
}

TEST_CASE(
    "where more connections are in use than there are places, most are followed whole rather than all in pieces") {
    AnalysedWire wire = small_wire();
    constexpr std::uint32_t kInUse = kPlaces + kPlaces / 20;
    constexpr std::uint32_t kRounds = 40;
    for (std::uint32_t round = 0; round < kRounds; ++round)
        for (std::uint32_t i = 0; i < kInUse; ++i) wire.exchange(i, psn_of(i) + round);
    const Timeline timeline = wire.analysis.finish();
    const auto whole = [](const Connection& connection) {
        return connection.way(End::a).messages_of(MessageKind::send) == kRounds;
    };
    CHECK(std::ranges::count_if(timeline.connections, whole) > static_cast<std::ptrdiff_t>(kPlaces) / 2);
    CHECK(timeline.totals.retransmitted_packets == 0);
    CHECK(errors(timeline) == 0);
}
