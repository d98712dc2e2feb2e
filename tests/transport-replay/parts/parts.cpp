// An analysis in parts says what the whole one says, however many parts there are, however they were joined, and
// through files; and parts that do not belong together, or are no parts any more, are refused. A tenth of the seeds in
// every run, all with QPSCOPE_SHARDS=all.
#include <tests/support/catch.hpp>
#include <tests/support/cluster_traffic.hpp>
#include <tests/support/compared_parts.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/model/timeline.hpp>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include <openssl/evp.h>

using namespace qps::transport;
using namespace qps::dissect;

namespace {

constexpr std::string_view kThis = "1.2.3";
constexpr std::size_t kRoom = std::size_t{256} << 20;
constexpr std::array<std::uint32_t, 4> kCounts{1, 2, 3, 8};

// The same bytes with a checksum that is right.
std::string sealed(std::string file) {
    constexpr std::size_t kDigest = 32;
    file.resize(file.size() - kDigest);
    std::array<unsigned char, kDigest> digest{};
    unsigned length = 0;
    EVP_Digest(file.data(), file.size(), digest.data(), &length, EVP_sha256(), nullptr);
    return file.append(digest.begin(), digest.end());
}

}  // namespace

TEST_CASE("parts make no difference: simulated hosts") {
    constexpr std::uint64_t kClusters = 320;
    const char* wish = std::getenv("QPSCOPE_SHARDS");
    const bool all = wish != nullptr && std::string_view(wish) == "all";
    for (std::uint64_t seed = 0; seed < kClusters; seed += all ? 1 : 10) {
        INFO("seed " << seed);
        compare_parts(cluster_of(seed), seed, kCounts);
    }
}

TEST_CASE("parts make no difference: sample captures") {
    for (const std::string& path : qps::tests::sample_captures()) {
        INFO(path);
        ClusterTraffic traffic;
        qps::tests::for_each_packet(path, [&](const Packet& packet) { traffic.add(packet); });
        compare_parts(traffic, traffic.observations.size(), kCounts);
    }
}

TEST_CASE("parts that do not belong together are not joined") {
    const ClusterTraffic traffic = cluster_of(7);
    ClusterTraffic another = cluster_of(7);
    another.observations.pop_back();
    const auto sentence = [](AnalysisPart a, AnalysisPart b) {
        std::vector<AnalysisPart> parts;
        parts.push_back(std::move(a));
        parts.push_back(std::move(b));
        const auto one = join(std::move(parts));
        return one ? std::string() : one.error().sentence;
    };
    const AnalysisPart first = part_of(traffic, {1, 3}, 1, {});
    CHECK(sentence(first, part_of(traffic, {2, 3}, 1, {})).empty());
    CHECK(sentence(first, first) == "part 1 of 3 is there twice");
    CHECK(sentence(first, part_of(traffic, {2, 4}, 1, {})) == "one of 3 parts, another of 4");
    CHECK(sentence(first, part_of(another, {2, 3}, 1, {})) == "not of the same capture");
    AnalysisPart other = part_of(traffic, {2, 3}, 1, {});
    other.captures.front().origin.settings = "--icrc check\x1b";
    CHECK(sentence(first, other) == "made with other options: 'none' and '--icrc check\\x1b'");
    other = part_of(traffic, {2, 3}, 1, {});
    other.captures.front().origin.inputs = {"other.pcap"};
    CHECK(sentence(first, other) == "not of the same capture");
    CHECK(missing(first.captures.front()) == std::vector<std::uint32_t>{2, 3});
}

TEST_CASE("what is no part, or no longer one, is refused") {
    const AnalysisPart part = part_of(cluster_of(3), {1, 2}, 1, {});
    const std::string file = write_part(part, kThis);
    const auto problem = [](std::string_view bytes) {
        const auto read = read_part(bytes, kThis, kRoom);
        return read ? PartProblem{} : read.error();
    };
    CHECK(problem(file).sentence.empty());
    CHECK(problem("").sentence == "not a part of an analysis: qpscope analyze --part writes them");
    CHECK_FALSE(problem("{}").damaged);
    // Cut anywhere, changed anywhere: a checksum is wrong, or a sentence says more.
    for (std::size_t size = 8; size < file.size(); size += size < 200 ? 1 : 97) {
        INFO("cut at " << size);
        CHECK(problem(std::string_view(file).substr(0, size)).damaged);
    }
    for (std::size_t at = 0; at < file.size(); at += at < 64 ? 1 : 61) {
        std::string changed = file;
        changed[at] = static_cast<char>(changed[at] ^ 0x10);
        INFO("changed at " << at);
        CHECK_FALSE(problem(changed).sentence.empty());
    }
    for (const int other : {-1, 1}) {
        std::string another = file;
        another[9] =
            static_cast<char>(another[9] + other);  // behind the length of the header: the version of the format
        CHECK(problem(sealed(another)).sentence ==
              "written by qpscope 1.2.3, whose parts 1.2.3 cannot read: make it again");
        CHECK_FALSE(problem(sealed(another)).damaged);
    }
    CHECK(problem(file.substr(0, 20) + file).damaged);
    CHECK(read_part(file, kThis, 64).error().sentence.ends_with("raise --memory"));
    // Whatever is inside when the checksum is right.
    const std::string body = part_body(part);
    for (std::size_t at = 0; at < body.size(); at += 1 + body.size() / 3000) {
        std::string changed = body;
        changed[at] = static_cast<char>(changed[at] ^ (1 << at % 7));
        auto read = read_part_body(changed);
        if (!read || !missing(read->captures.front()).empty()) continue;
        static_cast<void>(report_of(conclude(std::move(*read), {})));
    }
}
