// The endpoint against itself: every operation between two of them over a simulated link that loses, doubles, delays and damages
// what it carries. Every byte is right, everything happens once and in order, nothing is left, and the same seed does the same.
#include <tests/support/catch.hpp>
#include <tests/support/endpoint_world.hpp>
#include <transport-replay/live/device/packet_facts.hpp>

using namespace qps;
using namespace qps::transport;
using qps::tests::World;
using qps::tests::WorldWish;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kShare = 10;  // the sanitizers make everything many times slower
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr std::uint64_t kShare = 10;
#else
constexpr std::uint64_t kShare = 1;
#endif
#else
constexpr std::uint64_t kShare = 1;
#endif

constexpr WorldWish kAll{.worst = {.loss = 0.05, .duplication = 0.05, .reordering = 0.1, .corruption = 0.05, .marking = 0.1}};

void for_seeds(std::uint64_t first, std::uint64_t count, const WorldWish& wish) {
    for (std::uint64_t seed = first; seed < first + count / kShare; ++seed) {
        INFO("seed " << seed);
        World world(seed, wish);
        const std::string problem = world.run();
        INFO(problem);
        CHECK(problem.empty());
    }
}

}  // namespace

TEST_CASE("endpoint property: on a calm wire", "[endpoint]") { for_seeds(100'000, 200, {}); }

TEST_CASE("endpoint property: loss", "[endpoint]") { for_seeds(110'000, 250, {.worst = {.loss = 0.1}}); }

TEST_CASE("endpoint property: loss, doubling, overtaking and damage together, first part", "[endpoint]") { for_seeds(120'000, 250, kAll); }
TEST_CASE("endpoint property: loss, doubling, overtaking and damage together, second part", "[endpoint]") { for_seeds(130'000, 250, kAll); }
TEST_CASE("endpoint property: doubling and overtaking alone", "[endpoint]") {
    for_seeds(140'000, 150, {.worst = {.duplication = 0.1, .reordering = 0.1}});
}
