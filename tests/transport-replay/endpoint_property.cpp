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

void for_seeds(std::uint64_t first, std::uint64_t count, const WorldWish& wish) {
    for (std::uint64_t seed = first; seed < first + count / kShare; ++seed) {
        INFO("seed " << seed);
        World world(seed, wish);
        const std::string problem = world.run();
        INFO(problem);
        REQUIRE(problem.empty());
    }
}

}  // namespace

TEST_CASE("endpoint property: on a calm wire", "[endpoint]") { for_seeds(100'000, 200, {}); }
