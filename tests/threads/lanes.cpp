// The analysis on several threads: sample captures through the pipeline, with lanes, for any number of threads the same
// report. A program of its own, so that ThreadSanitizer can watch it without building all other tests (./test.sh
// --tsan).
#include <dissect/base/packet.hpp>
#include <dissect/capture/capture_file.hpp>
#include <dissect/packet/pipeline.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/analysis/lane_suites.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/json.hpp>

#include <atomic>
#include <string>
#include <vector>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

// The report of the capture, read so many times over that every thread has something to do, with all that is told on
// the way, a timeline of the middle, and what the passive checks saw.
std::string report_of(const std::string& path, std::size_t threads, int rounds) {
    std::string said;
    const auto told = [&](ConnectionId connection, End, const Message& message) {
        said += std::to_string(std::to_underlying(connection)) + " " + std::to_string(message.first.value()) + "\n";
    };
    const Jobs jobs{threads};
    LaneSuites suites([] { return conformance::PassiveSuite(); });
    suites.make_room(jobs.slots());
    ShardedAnalysis analysis({.message = told}, threads, true, false, suites.begin(threads));
    std::size_t gated = 0, visited = 0;
    std::vector<ShardedBatch> parts(jobs.slots(), ShardedBatch(analysis.lanes()));
    std::uint64_t frames = 0;
    for (int round = 0; round < rounds; ++round) {
        auto capture = CaptureFile::open(path);
        REQUIRE(capture.has_value());
        const auto read = [&](Batch& batch) {
            if (!capture->read(batch)) return false;
            for (Frame& frame : batch.frames) frame.index = FrameIndex{++frames};
            return true;
        };
        const auto work = [&](std::size_t slot, const Batch& batch) {
            Packet packet;
            parts[slot].clear();
            suites.facts(slot).clear();
            for (const Frame& frame : batch.frames) {
                decode(frame, packet);
                parts[slot].add(packet);
                suites.facts(slot).add(packet);
            }
        };
        const auto consume = [&](std::size_t slot) {
            analysis.visit(parts[slot], [&](const Observation&, const PacketRecord& record, std::size_t) {
                if (record.connection) said += static_cast<char>('a' + std::to_underlying(*record.connection) % 26);
                return true;
            });
            if (visited++ == 1) said += std::to_string(analysis.so_far(parts[slot]).connections.size()) + " so far\n";
            return true;
        };
        run({read,
             work,
             consume,
             [&](std::size_t slot) { analysis.gate(parts[slot], gated++ == 1); },
             [&](std::size_t slot, std::size_t lane) { analysis.follow(parts[slot], lane, slot); },
             analysis.lanes(),
             {},
             {},
             {},
             [&](std::size_t slot, std::size_t sieve) { analysis.sift(parts[slot], sieve); },
             analysis.sieves()},
            jobs);
    }
    const Timeline timeline = analysis.finish();
    write_report(timeline, OutputFormat::json, {}, {}, [&](std::string_view piece) { said += piece; });
    for (std::size_t lane = 0; lane < threads; ++lane) suites.number(lane, analysis.numbers(lane));
    CHECK_FALSE(suites.over());
    for (const auto& result : judge(suites.take(), timeline, {}))
        said += std::to_string(static_cast<int>(result.verdict)) + " " + std::to_string(result.examined) + " " +
                std::to_string(result.failures) + "\n";
    return said;
}

}  // namespace

TEST_CASE("threads make no difference: sample captures") {
    for (const std::string& path : qps::tests::sample_captures()) {
        INFO(path);
        const std::string one = report_of(path, 1, 2);
        for (const std::size_t threads : {2U, 3U, 8U}) {
            INFO(threads);
            CHECK(report_of(path, threads, 2) == one);
        }
    }
}

TEST_CASE("a lane's turn comes batch by batch, the gate's before it, and all sieves' before that") {
    constexpr std::size_t kBatches = 500, kLanes = 3, kSieves = 2;
    const Jobs jobs{4};
    std::vector<std::size_t> batch_of(jobs.slots());
    std::vector<std::atomic<bool>> worked(kBatches), gated(kBatches);
    std::vector<std::size_t> next(kLanes);
    std::vector<std::atomic<std::size_t>> sifted(kSieves);
    std::size_t read = 0, gate = 0, consumed = 0;
    std::atomic<int> wrong = 0;
    Stages stages;
    stages.read = [&](Batch&) {
        if (read == kBatches) return false;
        batch_of[read % jobs.slots()] = read;
        ++read;
        return true;
    };
    stages.work = [&](std::size_t slot, const Batch&) { worked[batch_of[slot]] = true; };
    stages.gate = [&](std::size_t slot) {
        if (batch_of[slot] != gate || !worked[gate]) ++wrong;
        for (const auto& sieve : sifted) wrong += sieve > gate ? 0 : 1;
        gated[gate++] = true;
    };
    stages.follow = [&](std::size_t slot, std::size_t lane) {
        if (batch_of[slot] != next[lane] || !gated[next[lane]]) ++wrong;
        ++next[lane];
    };
    stages.consume = [&](std::size_t slot) {
        if (batch_of[slot] != consumed) ++wrong;
        ++consumed;
        return true;
    };
    stages.lanes = kLanes;
    stages.sift = [&](std::size_t slot, std::size_t sieve) {
        if (batch_of[slot] != sifted[sieve] || !worked[sifted[sieve]]) ++wrong;
        ++sifted[sieve];
    };
    stages.sieves = kSieves;
    run(stages, jobs);
    CHECK(wrong == 0);
    for (const auto& sieve : sifted) CHECK(sieve == kBatches);
    CHECK(consumed == kBatches);
    for (const std::size_t lane : next) CHECK(lane == kBatches);
}

TEST_CASE("what a lane throws comes out of the run") {
    Stages stages;
    std::size_t read = 0;
    stages.read = [&](Batch&) { return read++ < 50; };
    stages.work = [](std::size_t, const Batch&) {};
    stages.gate = [](std::size_t) {};
    stages.follow = [](std::size_t, std::size_t lane) {
        if (lane == 1) throw std::bad_alloc();
    };
    stages.consume = [](std::size_t) { return true; };
    stages.lanes = 2;
    for (const std::size_t count : {1U, 3U}) {
        read = 0;
        CHECK_THROWS_AS(run(stages, Jobs{count}), std::bad_alloc);
    }
}
