// Parts of a capture add up to what the whole has, and entropy is Shannon's.
#include <tests/support/catch.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/statistics.hpp>

#include <atomic>
#include <chrono>
#include <thread>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::series;

namespace {

std::shared_ptr<const CaptureIndex> index_of(const std::vector<std::string>& samples) {
    auto index = std::make_shared<CaptureIndex>();
    std::vector<std::string> files;
    for (const std::string& sample : samples) files.push_back(std::string(QPSCOPE_SOURCE_DIR) + "/captures/" + sample);
    REQUIRE(build_index(*index, {.files = files, .jobs = {1}, .spool_folder = ""}, {}).problems.empty());
    return index;
}

}  // namespace

TEST_CASE("The entropy of source ports", "[series][statistics]") {
    HostsPorts ports;
    CHECK(ports.entropy() == 0);
    CHECK(ports.greatest_share() == 0);
    ports.packets = {{49152, 100}};
    ports.all = {100, 0};
    CHECK(ports.entropy() == 0);
    CHECK(ports.greatest_share() == 1);
    ports.packets = {{1, 5}, {2, 5}, {3, 5}, {4, 5}};
    ports.all = {20, 0};
    CHECK(ports.entropy() == Catch::Detail::Approx(2));
    CHECK(ports.greatest_share() == Catch::Detail::Approx(0.25));
    ports.packets = {{1, 3}, {2, 1}};
    CHECK(ports.entropy() == Catch::Detail::Approx(0.811278).epsilon(1e-5));
}

TEST_CASE("Every packet is in one class of length, and parts add up", "[series][statistics]") {
    const auto index = index_of({"loss_write/capture.pcap"});
    const std::uint64_t packets = index->packets.size();
    const auto whole = statistics(index, packets, nullptr);
    REQUIRE(whole);
    CHECK(whole->census.packets == packets);
    CHECK(whole->unreadable == 0);
    std::uint64_t in_lengths = 0, bytes = 0;
    for (const series::Share& share : whole->lengths) {
        in_lengths += share.packets;
        bytes += share.bytes;
    }
    CHECK(in_lengths == packets);
    CHECK(bytes == whole->census.bytes);

    RowSet odd, even;
    for (std::uint64_t frame = 1; frame <= packets; ++frame) (frame % 2 == 0 ? even : odd).set(FrameIndex{frame}, true);
    auto sum = statistics(index, packets, &odd);
    auto rest = statistics(index, packets, &even);
    REQUIRE(sum);
    REQUIRE(rest);
    sum->add(std::move(*rest));
    CHECK(sum->census.opcodes == whole->census.opcodes);
    REQUIRE(sum->classes.size() == whole->classes.size());
    for (const auto& [of, share] : whole->classes) CHECK(sum->classes.at(of).packets == share.packets);
    REQUIRE(sum->ports.size() == whole->ports.size());
    for (const auto& [hosts, ports] : whole->ports) {
        CHECK(sum->ports.at(hosts).packets == ports.packets);
        CHECK(sum->ports.at(hosts).queue_pairs == ports.queue_pairs);
    }
}

TEST_CASE("Queue pairs of two hosts are told apart up to a bound, in parts too", "[series][statistics]") {
    constexpr std::uint32_t kOfEach = 3000;
    Statistics sum;
    for (const std::uint32_t first : {0U, kOfEach, 2 * kOfEach}) {
        Statistics part;
        HostsPorts& ports = part.ports[{Address{}, Address{}}];
        for (std::uint32_t i = 0; i < kOfEach; ++i) ports.queue_pairs.insert(Qpn{first + i});
        sum.add(std::move(part));
    }
    CHECK(sum.ports.begin()->second.queue_pairs.size() == HostsPorts::kMostQueuePairs);
}

// Records of one file lie where those of another do: what was read of one is not taken for the other.
TEST_CASE("Statistics of several files are those of each", "[series][statistics]") {
    const std::vector<std::string> samples{"congestion/capture.pcap", "err_rnr/capture.pcap", "multi_qp/capture.pcap",
                                           "rping_v6/capture.pcap"};
    const auto together = index_of(samples);
    const auto all = statistics(together, together->packets.size(), nullptr);
    REQUIRE(all);
    Statistics sum;
    for (const std::string& sample : samples) {
        const auto index = index_of({sample});
        auto one = statistics(index, index->packets.size(), nullptr);
        REQUIRE(one);
        sum.add(std::move(*one));
    }
    CHECK(all->unreadable == 0);
    CHECK(all->census.packets == sum.census.packets);
    CHECK(all->census.bytes == sum.census.bytes);
    CHECK(all->census.opcodes == sum.census.opcodes);
    CHECK(all->census.icrc == sum.census.icrc);
    CHECK(all->ports.size() == sum.ports.size());
}

TEST_CASE("A pass takes its parts in order, whatever is slow, and ends when it is told to", "[series][statistics]") {
    std::vector<std::uint64_t> taken;
    std::atomic<std::uint64_t> done = 0;
    const auto begin = [] {
        return [](std::uint64_t piece) {
            if (piece % 7 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
            return piece * 3;
        };
    };
    CHECK(pass_pieces<std::uint64_t>(200, {{}, &done}, begin, [&](std::uint64_t&& part) { taken.push_back(part); }));
    REQUIRE(taken.size() == 200);
    for (std::size_t i = 0; i < taken.size(); ++i) CHECK(taken[i] == 3 * i);
    CHECK(done == 200);
    taken.clear();
    CHECK(pass_pieces<std::uint64_t>(0, {}, begin, [&](std::uint64_t&& part) { taken.push_back(part); }));
    CHECK(taken.empty());
    const auto stopped = [&] { return taken.size() >= 20; };
    std::atomic<bool> stop = false;
    CHECK_FALSE(
        pass_pieces<std::uint64_t>(100'000, {[&] { return stop.load(); }, nullptr}, begin, [&](std::uint64_t&& part) {
            taken.push_back(part);
            if (stopped()) stop = true;
        }));
    CHECK(taken.size() < 1000);
    const auto exhausted = [] {
        return [](std::uint64_t piece) -> std::uint64_t { return piece == 50 ? throw std::bad_alloc() : piece; };
    };
    CHECK_THROWS_AS(pass_pieces<std::uint64_t>(100, {}, exhausted, [](std::uint64_t&&) {}), std::bad_alloc);
}
