// NCCL by its offers and messages: what a job is, where its operations begin and end, and whom the others waited for.
// What is said to be certain must be: hundreds of jobs whose truth is known.
#include <tests/simulator/nccl_job.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/collective_traffic.hpp>
#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/collectives/nccl_offer.hpp>
#include <transport-replay/report/collectives.hpp>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

struct Score {
    unsigned right = 0, wrong = 0;
    void add(bool good) { ++(good ? right : wrong); }
    [[nodiscard]] unsigned all() const { return right + wrong; }
};

std::uint32_t rank_at(const Collective& job, std::uint32_t place) {
    for (std::uint32_t rank = 0; rank < job.ranks.size() + 16; ++rank)
        if (job.ranks[place].address == host(rank + 1)) return rank;
    return UINT32_MAX;
}

// The operation that a step belongs to, however the job was divided: the latest for which a rank was ready when the
// step began.
const NcclTruth& operation_at(const NcclRun& run, Instant begin) {
    const auto began_later = [&](const NcclTruth& truth) {
        return std::ranges::min(truth.ready) > std::to_underlying(begin);
    };
    const auto later = std::ranges::find_if(run.truth, began_later);
    return later == run.truth.begin() ? run.truth.front() : *std::prev(later);
}

std::vector<std::byte> entry_of(std::size_t length, std::initializer_list<std::pair<std::size_t, unsigned>> fields) {
    std::vector<std::byte> bytes(length);
    for (const auto& [at, value] : fields) bytes[at] = static_cast<std::byte>(value);
    return bytes;
}

}  // namespace

TEST_CASE("nccl: offers of every version, and what is none") {
    const auto old = entry_of(32, {{0, 7}, {10, 16}, {16, 1}, {20, 3}, {24, 9}});
    const auto offer = nccl_offer(old, 32);
    REQUIRE(offer);
    CHECK(offer->address == 7);
    CHECK(offer->size == 1 << 20);
    CHECK(offer->sender == 3);
    CHECK(offer->index == 9);
    const auto two = nccl_offer(entry_of(64, {{0, 7}, {10, 16}, {12, 200}, {20, 1}, {24, 3}, {32, 9}}), 64);
    REQUIRE(two);
    CHECK((two->sender == 3 && two->index == 9 && two->size == 1 << 20));
    const auto four = nccl_offer(entry_of(64, {{0, 7}, {10, 16}, {16, 200}, {20, 90}, {32, 1}, {36, 3}, {40, 9}}), 64);
    REQUIRE(four);
    CHECK((four->sender == 3 && four->index == 9 && four->size == 1 << 20));
    CHECK(nccl_offer(entry_of(64, {{0, 7}, {16, 2}, {20, 3}, {24, 9}}), 64));  // two requests of the old form

    CHECK_FALSE(nccl_offer(entry_of(64, {}), 64));
    CHECK_FALSE(nccl_offer(entry_of(64, {{20, 1}, {24, 3}, {32, 9}}), 64));          // nowhere
    CHECK_FALSE(nccl_offer(entry_of(64, {{0, 7}, {20, 2}, {24, 3}, {32, 9}}), 64));  // two requests in the room of one
    CHECK_FALSE(nccl_offer(entry_of(64, {{0, 7}, {20, 1}, {24, 3}}), 64));           // without a number
    CHECK_FALSE(nccl_offer(std::span(old).first(20), 32));                           // cut by the snap length
    CHECK_FALSE(nccl_offer(entry_of(2048, {{0, 7}, {20, 1}, {32, 9}}), 2048));
}

TEST_CASE("nccl: a small all-reduce in a ring, of which every tap shows what it can") {
    for (std::optional<unsigned> tap :
         {std::optional<unsigned>{}, std::optional(0U), std::optional(1U), std::optional(2U)}) {
        const NcclRun run =
            play({.ranks = 3, .operations = 2, .bytes = 512, .late = 1, .late_by = 4'000'000, .tap = tap});
        REQUIRE(run.report.collectives.size() == 1);
        const Collective& job = run.report.collectives[0];
        INFO("tap " << (tap ? static_cast<int>(*tap) : -1));
        CHECK(job.made_by == CollectiveLibrary::nccl);
        CHECK(job.pattern == CollectivePattern::ring);
        CHECK(job.operation == CollectiveOperation::all_reduce);
        CHECK(job.protocol == NcclProtocol::simple);
        CHECK(job.members == 3);
        REQUIRE(job.ranks.size() == 3);
        for (std::uint32_t place = 0; place < 3; ++place) CHECK(job.ranks[place].number == rank_at(job, place));
        CHECK(chain_text(job).starts_with("ranks "));
        CHECK(chain_text(job).find("0 -> 1") != std::string::npos);
        REQUIRE(job.steps.size() == 2);
        for (const CollectiveStep& step : job.steps) {
            REQUIRE(step.last);
            CHECK(rank_at(job, *step.last) == 1);
            CHECK(step.certainty >= 90);
            CHECK(step.waited > Duration{1'000'000});
        }
        CHECK_FALSE(job.straggler);  // twice is chance
    }
}

TEST_CASE("nccl: who is late again and again is the straggler, whatever pauses divide") {
    // Operations one behind the other: the longest pauses are inside of them.
    const NcclRun run = play(
        {.ranks = 3, .operations = 30, .bytes = 512, .compute = 0, .noise = 20'000, .late = 1, .late_by = 4'000'000});
    REQUIRE(run.report.collectives.size() == 1);
    const Collective& job = run.report.collectives[0];
    CHECK(job.steps.size() == 30);
    REQUIRE(job.straggler);
    CHECK(rank_at(job, job.straggler->rank) == 1);
    CHECK(job.straggler->delay == CollectiveDelay::starts);
    CHECK(job.straggler->confidence >= 80);

    const NcclRun even =
        play({.ranks = 5, .operations = 40, .noise = 300'000, .pause_percent = 100, .pause = 2'000'000});
    REQUIRE(even.report.collectives.size() == 1);
    CHECK_FALSE(even.report.collectives[0].straggler);
}

TEST_CASE("nccl: operations of two lengths are told apart, and none is divided or joined") {
    for (const unsigned every : {2U, 3U, 5U}) {
        INFO("every " << every);
        const NcclRun run = play({.ranks = 4, .operations = 30, .turns = 2, .larger_every = every});
        REQUIRE(run.report.collectives.size() == 1);
        CHECK(run.report.collectives[0].steps.size() == 30);
    }
}

TEST_CASE("nccl: certainties hold over hundreds of jobs") {
    constexpr std::uint64_t kSeeds = 300;
    std::array<Score, 10> waits;
    Score stragglers, none, found, lengths;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const NcclPlan plan = nccl_plan(seed);
        const NcclRun run = play(plan);
        INFO("seed " << seed);
        REQUIRE(run.report.collectives.size() == 1);
        const Collective& job = run.report.collectives[0];
        CHECK(job.made_by == CollectiveLibrary::nccl);
        if (job.operation == CollectiveOperation::all_reduce) {
            CHECK_FALSE(plan.tree);
            CHECK(job.members == plan.ranks);
        }
        for (std::uint32_t place = 0; place < job.ranks.size(); ++place)
            if (job.ranks[place].number) CHECK(*job.ranks[place].number == rank_at(job, place));
        const bool counted = job.steps.size() == plan.operations;
        lengths.add(counted);
        for (const CollectiveStep& step : job.steps) {
            if (step.certainty == 0) continue;
            REQUIRE(step.last);
            waits[step.certainty / 10].add(rank_at(job, *step.last) == operation_at(run, step.begin).last);
        }
        if (!plan.late) none.add(!job.straggler);
        if (job.straggler && job.straggler->confidence >= 90)
            stragglers.add(plan.late && rank_at(job, job.straggler->rank) == *plan.late);
        const bool clear = plan.late && !plan.tap && plan.late_by >= 10 * plan.noise && plan.late_by >= 1'000'000 &&
                           plan.late_percent == 100 && plan.pause_percent == 0 && plan.operations >= 6;
        if (clear) found.add(job.straggler && rank_at(job, job.straggler->rank) == *plan.late);
    }
    for (std::size_t tens = 5; tens < waits.size(); ++tens) {
        INFO(tens * 10 << " %: " << waits[tens].right << " right, " << waits[tens].wrong << " wrong");
        CHECK(waits[tens].all() >= 20);
        CHECK(waits[tens].right * 10 >= waits[tens].all() * tens);
    }
    CHECK(stragglers.wrong * 10 <= stragglers.all());
    CHECK(none.wrong == 0);
    CHECK(lengths.right * 100 >= lengths.all() * 95);
    INFO("clear " << found.right << " of " << found.all());
    CHECK(found.right * 2 >= found.all());
}

TEST_CASE("nccl: a log names ranks by address and by their place in the ring") {
    const std::string text =
        "n0:71:80 [0] NCCL INFO Bootstrap : Using eth0:192.168.0.1<0>\n"
        "n0:71:80 [0] NCCL INFO Channel 00/02 :    0   2   1\n"
        "n0:71:82 [0] NCCL INFO NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 34 mtu 3 GID 1 (0/100000AFFFF0000) fifoRkey=0x1\n"
        "n0:71:80 [0] NCCL INFO 2 coll channels, 0 collnet channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per peer\n"
        "n0:71:80 [0] NCCL INFO comm 0x43dc rank 0 nranks 3 cudaDev 0 busId 80 - Init COMPLETE\r\n"
        "n0:71:80 [0] NCCL INFO comm 0x43dc rank 9 nranks 3 cudaDev 0 busId 80 - Init COMPLETE\n"
        "n0:71:82 [0] NCCL INFO NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 34 mtu 3 GID 1 (0/xyz) fifoRkey=0x1\n"
        "rank 0/3 ok val=3.0\n";
    const NcclLog log = read_nccl_log(text);
    CHECK(log.lines == 7);
    CHECK(log.malformed == 2);
    CHECK(log.members == 3);
    CHECK(log.channels == 2);
    CHECK(log.ring == std::vector<std::uint32_t>{0, 2, 1});
    REQUIRE(log.ranks.size() == 1);
    CHECK(log.ranks[0].rank == 0U);
    REQUIRE(log.ranks[0].addresses.size() == 2);
    CHECK(log.ranks[0].addresses[1].bits == host(1).bits);

    Collective job;
    job.made_by = CollectiveLibrary::nccl;
    job.pattern = CollectivePattern::in_part;
    job.ranks.resize(3);
    for (unsigned i = 0; i < 3; ++i) job.ranks[i].address = host(i + 1);
    job.chain = {1, 2, 0};
    join_log(job, log);
    CHECK(job.members == 3);
    CHECK(job.channels == 2);
    CHECK(job.ranks[0].number == 0U);
    CHECK(job.ranks[1].number == 2U);
    CHECK(job.ranks[2].number == 1U);
    CHECK(chain_text(job) == "ranks 2 -> 1 -> 0");

    Collective other = job;  // the packets say otherwise: the log is of another job
    for (CollectiveRank& rank : other.ranks) rank.number.reset();
    other.ranks[0].number = 2;
    other.channels = 0;
    join_log(other, log);
    CHECK(other.channels == 0);
    CHECK_FALSE(other.ranks[1].number);
    CHECK(read_nccl_log("").lines == 0);
    CHECK(read_nccl_log(std::string(100'000, ' ') + "n:1 [0] NCCL INFO comm\n").lines ==
          0);  // past the bound of a line
}

TEST_CASE("collectives: a pause inside of a step accuses nobody who began before it") {
    CollectiveTraffic
        traffic;  // each step: rank 1 writes a chunk, 4 ms later all go on with theirs; 1 ms to the next step
    for (std::int64_t step = 0; step < 30; ++step) {
        const std::int64_t begin = 1'000'000'000 + step * 5'500'000;
        traffic.write(begin, 1, 2, 65536);
        for (unsigned rank = 1; rank <= 3; ++rank)
            for (std::int64_t round = 0; round < 4; ++round)
                traffic.write(begin + 4'000'000 + round * 20'000 + rank * 500, rank, rank % 3 + 1, 65536);
    }
    const CollectiveReport report = traffic.report();
    for (const Collective& job : report.collectives)
        if (job.straggler) CHECK(job.ranks[job.straggler->rank].address != host(1));
}
