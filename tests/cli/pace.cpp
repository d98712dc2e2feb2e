// How often a live view shows what is known.
#include <cli/pace.hpp>
#include <tests/support/catch.hpp>

using qps::cli::Pace;
using namespace std::chrono_literals;

namespace {

// How often it is shown in ten seconds of a wire where `packets` come every 100 ms and each look takes `cost`.
int shown(std::uint64_t packets, std::chrono::milliseconds cost) {
    const Pace::Clock::time_point start{};
    Pace pace(start);
    std::uint64_t came = 0;
    int count = 0;
    for (Pace::Clock::time_point now = start; now < start + 10s; now += 100ms) {
        came += packets;
        if (!pace.due(now, came)) continue;
        pace.shown(now, now + cost, came);
        ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("a live view is shown once a second, not at all where nothing comes, and seldom where a look takes long") {
    CHECK(shown(1, 0ms) == 9);
    CHECK(shown(1, 10ms) == 9);
    CHECK(shown(0, 0ms) == 0);
    CHECK(shown(1, 200ms) == 3);  // 4.2 s apart
    CHECK(shown(1, 1000ms) == 1);
}
