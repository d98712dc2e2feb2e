// How much memory parts take is known before it is taken, over all of them together, and what nobody would pack is not
// believed.
#include <tests/support/catch.hpp>
#include <tests/support/cluster_traffic.hpp>
#include <tests/support/compared_parts.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/parts/archive.hpp>
#include <transport-replay/parts/part.hpp>

#include <string>
#include <vector>

#include <fmt/format.h>

using namespace qps::transport;
using Catch::Matchers::Contains;

namespace {

constexpr std::string_view kProgram = "1.2.3";
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kPlenty = 1024 * kMebibyte;

std::uint64_t measured(const AnalysisPart& part) {
    const std::string body = part_body(part);
    return parts::Measure(body).of<AnalysisPart>();
}

// The parts of a cluster's traffic, as files.
std::vector<std::string> files_of(std::uint64_t seed, std::uint32_t count) {
    std::vector<std::string> files;
    const ClusterTraffic traffic = cluster_of(seed);
    for (std::uint32_t number = 1; number <= count; ++number)
        files.push_back(write_part(part_of(traffic, {number, count}, 1, {}), kProgram));
    return files;
}

// Reads and joins them in so much memory; the room as it was at the end.
PartRoom read_in(const std::vector<std::string>& files, std::uint64_t most) {
    PartRoom room(most);
    JoinedParts joined;
    for (const std::string& file : files) {
        auto part = read_part(file, kProgram, room);
        if (!part) {
            CHECK(part.error().no_room);
            CHECK_FALSE(part.error().damaged);
            continue;
        }
        CHECK_FALSE(joined.add(std::move(*part)));
        room.keep(joined.built());
    }
    if (!room.exceeded()) CHECK(joined.finish()->captures.front().numbers.size() == files.size());
    return room;
}

// A part of so many connections that say nothing but at which packet each began.
std::string large_part(std::size_t connections, std::uint64_t stride) {
    AnalysisPart part = part_of(cluster_of(3), {1, 1}, 1, {});
    std::vector<std::uint64_t>& begun = part.captures.front().report.begun;
    std::uint64_t at = begun.empty() ? 0 : begun.back();
    for (std::size_t i = 0; i < connections; ++i) begun.push_back(at += stride * (1 + i * i % 977));
    return write_part(part, kProgram);
}

}  // namespace

TEST_CASE("what a part takes is measured exactly, without building it") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        INFO("seed " << seed);
        const AnalysisPart part = part_of(cluster_of(seed), {1, 2}, 1, {});
        CHECK(measured(part) == parts::built_of(part));
    }
    for (const char* name : {"multi_qp", "nvme_rdma", "iwarp_rping", "fabric_sweep", "congestion", "ucmatose"})
        for (const std::string& path : qps::tests::sample_captures()) {
            if (path.find(fmt::format("/{}/", name)) == std::string::npos) continue;
            INFO(path);
            ClusterTraffic traffic;
            qps::tests::for_each_packet(path, [&](const qps::dissect::Packet& packet) { traffic.add(packet); });
            const AnalysisPart part = part_of(traffic, {1, 1}, 1, {});
            CHECK(measured(part) == parts::built_of(part));
        }
}

TEST_CASE("parts together take what they say that they need, and no byte less is enough") {
    const std::vector<std::string> files = files_of(11, 5);
    const PartRoom all = read_in(files, kPlenty);
    CHECK(all.sentence().empty());
    REQUIRE(all.needed() > 10'000);
    CHECK_FALSE(read_in(files, all.needed()).exceeded());
    const PartRoom less = read_in(files, all.needed() - 1);
    CHECK(less.exceeded());
    CHECK_THAT(less.sentence(), Contains("MiB: raise --memory"));
    // What is said is enough, wherever it stopped to build.
    const std::uint64_t said = read_in(files, all.needed() / 2).needed();
    CHECK(said >= all.needed());
    CHECK_FALSE(read_in(files, said).exceeded());
    // One part alone needs less than all.
    CHECK(read_in({files.front()}, kPlenty).needed() < all.needed());
}

TEST_CASE("a small file that would become large is refused, and a large one that says what it needs") {
    constexpr std::size_t kMany = 1'000'000;
    const std::string bomb = large_part(10 * kMany, 0);
    CHECK(bomb.size() < 16 * 1024);
    const auto refused = read_part(bomb, kProgram, kPlenty);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().damaged);
    CHECK(refused.error().sentence == "damaged: its lengths contradict each other");
    const std::string honest = large_part(kMany, 3);
    const auto little = read_part(honest, kProgram, 16 * kMebibyte);
    REQUIRE_FALSE(little);
    CHECK(little.error().no_room);
    CHECK_FALSE(little.error().damaged);
    PartRoom room(kPlenty);
    REQUIRE(read_part(honest, kProgram, room));
    CHECK(little.error().sentence ==
          fmt::format("needs {} MiB: raise --memory", (room.needed() + kMebibyte - 1) / kMebibyte));
    CHECK(read_part(honest, kProgram, room.needed()));
    // Too large to be looked at.
    const auto tiny = read_part(honest, kProgram, kMebibyte);
    REQUIRE_FALSE(tiny);
    CHECK_THAT(tiny.error().sentence, Contains("needs more than ") && Contains("raise --memory"));
}

TEST_CASE("what begins as no part is known by its first bytes") {
    const std::string file = write_part(part_of(cluster_of(3), {1, 1}, 1, {}), kProgram);
    CHECK(begins_as_part(std::string_view(file).substr(0, kMagicBytes)));
    CHECK_FALSE(begins_as_part(std::string_view(file).substr(0, kMagicBytes - 1)));
    CHECK_FALSE(begins_as_part(std::string(kMagicBytes, '\0')));
}
