// A log under a flood: what is written, and what is summed up.
#include <cli/live/line_limit.hpp>
#include <tests/support/catch.hpp>

#include <fmt/format.h>

using namespace qps::cli;
using qps::dissect::Duration;
using qps::dissect::Instant;

namespace {

constexpr Instant kStart{1'700'000'000'000'000'000};

}  // namespace

TEST_CASE("a flood of lines is written up to a bound, and the rest summed up") {
    LineLimit limit;
    std::uint64_t written = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i)
        written +=
            limit.admit(fmt::format("10.0.{}.{}: refused: out of memory", i >> 8 & 0xff, i & 0xff), kStart) ? 1U : 0U;
    CHECK(written == LineLimit::kBurst);
    CHECK(limit.admit("10.0.0.1: connected", kStart));  // another kind is not silenced
    CHECK(limit.take_sums(kStart + Duration{9'999'999'999}).empty());
    const auto sums = limit.take_sums(kStart + LineLimit::kWindow);
    REQUIRE(sums.size() == 1);
    CHECK(sums.front() == "and 99,900 more like this in 10 s: 10.0.134.159: refused: out of memory");
    CHECK(limit.take_all(kStart + LineLimit::kWindow).empty());  // said once
    CHECK(limit.admit("10.0.0.1: refused: out of memory", kStart + LineLimit::kWindow));
}

TEST_CASE("what a flood left out is said when the program ends within the window") {
    LineLimit limit;
    for (std::uint64_t i = 0; i < LineLimit::kBurst + 1; ++i) (void)limit.admit("no answer", kStart);
    const auto sums = limit.take_all(kStart + Duration{3'500'000'000});
    REQUIRE(sums.size() == 1);
    CHECK(sums.front() == "and 1 more like this in 3 s: no answer");
}

TEST_CASE("lines of ever new kinds share one beyond the bound") {
    LineLimit limit;
    std::uint64_t written = 0;
    for (std::size_t i = 0; i < 10'000; ++i) written += limit.admit(std::string(1 + i, 'x'), kStart) ? 1U : 0U;
    CHECK(written == LineLimit::kMaxKinds + LineLimit::kBurst);
}
