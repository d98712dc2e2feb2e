// The checks of an open capture, which threads watch side by side, are those of one suite that hears one packet after
// the other.
#include <tests/support/catch.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/checks/passive/passive_suite.hpp>
#include <transport-replay/index/checked_capture.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/memory_amount.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

constexpr MemoryBudget kCheckMemory{std::uint64_t{1} << 30};

// With what was learned, as `check` reads: again where that is anything.
std::vector<conformance::CheckResult> one_after_the_other(const std::string& path, const Drops& drops,
                                                          const MemoryBudget& memory,
                                                          const CaptureTraits& traits = {}) {
    conformance::PassiveSuite suite(memory);
    AnalysisSettings settings{.traits = traits, .memory = beside(memory, conformance::PassiveSuite::memory_of(memory))};
    struct Ended {
        ConnectionId connection{};
        End requester{};
        Message message;
    };
    std::vector<Ended> ended;
    settings.message = [&](ConnectionId connection, End requester, const Message& message) {
        ended.push_back({connection, requester, message});
    };
    const auto tell = [&] {
        for (const Ended& each : ended) suite.message(each.connection, each.requester, each.message);
        ended.clear();
    };
    Analysis analysis(std::move(settings));
    qps::tests::for_each_packet(path, [&](Packet& packet) {
        Observation observation;
        observe(packet, observation);
        const PacketRecord record = analysis.observe(observation);
        if (record.icrc_not_judged) packet.icrc.status = observation.icrc = CrcStatus::not_checkable;
        conformance::PacketFacts facts;
        conformance::look_at(packet, facts);
        suite.observe(observation, facts, record);
        tell();
    });
    Timeline timeline = analysis.finish(drops);
    tell();
    if (!traits.any() && timeline.learned.any()) return one_after_the_other(path, drops, memory, timeline.learned);
    return suite.finish(timeline);
}

void check_same(const std::vector<conformance::CheckResult>& results,
                const std::vector<conformance::CheckResult>& expected) {
    REQUIRE(results.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO(expected[i].check->id);
        CHECK(results[i].check == expected[i].check);
        CHECK(results[i].verdict == expected[i].verdict);
        CHECK(results[i].reason == expected[i].reason);
        CHECK(results[i].examined == expected[i].examined);
        CHECK(results[i].failures == expected[i].failures);
        CHECK(results[i].evidence == expected[i].evidence);
    }
}

}  // namespace

TEST_CASE("checks of an open capture are those of its packets one after the other") {
    const qps::test::TemporaryFolder folder;
    std::ptrdiff_t decided = 0;
    for (const std::string& path : qps::tests::sample_captures()) {
        INFO(path);
        CaptureIndex index;
        const Indexed outcome = build_index(index, {.files = {path}, .jobs = {2}, .spool_folder = folder.path()}, {});
        const auto checked = check(index, index.packets.size(), outcome.timeline, {}, kCheckMemory);
        REQUIRE(checked);
        CHECK(checked->unreadable == 0);
        check_same(checked->results, one_after_the_other(path, outcome.timeline.quality.drops, kCheckMemory));
        decided += std::ranges::count_if(checked->results, [](const auto& result) {
            return result.verdict == conformance::Verdict::pass || result.verdict == conformance::Verdict::fail;
        });
    }
    CHECK(decided > 500);
}

TEST_CASE("checks of an open capture leave out for want of memory what one thread leaves out") {
    const qps::test::TemporaryFolder folder;
    const std::string path = QPSCOPE_SOURCE_DIR "/captures/multi_qp/capture.pcap";
    CaptureIndex index;
    const Indexed outcome = build_index(index, {.files = {path}, .jobs = {2}, .spool_folder = folder.path()}, {});
    std::size_t different = 0;
    const auto all = one_after_the_other(path, outcome.timeline.quality.drops, kCheckMemory);
    for (const std::uint64_t kib : {4U, 8U, 16U, 32U, 64U, 128U}) {
        INFO(kib << " KiB");
        const MemoryBudget memory{kib << 10U};
        const auto expected = one_after_the_other(path, outcome.timeline.quality.drops, memory);
        different += !std::ranges::equal(expected, all, {}, &conformance::CheckResult::examined,
                                         &conformance::CheckResult::examined);
        const auto checked = check(index, index.packets.size(), outcome.timeline, {}, memory);
        REQUIRE(checked);
        check_same(checked->results, expected);
    }
    CHECK(different > 1);  // so that something was left out
}

TEST_CASE("checking an open capture stops when it is told") {
    const qps::test::TemporaryFolder folder;
    CaptureIndex index;
    const Indexed outcome = build_index(
        index,
        {.files = {QPSCOPE_SOURCE_DIR "/captures/loss_write/capture.pcap"}, .jobs = {1}, .spool_folder = folder.path()},
        {});
    CHECK_FALSE(
        check(index, index.packets.size(), outcome.timeline, {}, kCheckMemory, {.stopped = [] { return true; }}));
}
