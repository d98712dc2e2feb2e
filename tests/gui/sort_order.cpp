// Rows by a column: stable, absent cells first, numbers in texts by value; a million of them in no time.
#include <gui/tables/sort_order.hpp>
#include <tests/gui/application.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sanitized.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::transport::Cell;

namespace {

std::vector<std::uint32_t> sorted(const std::vector<Cell>& cells, bool greatest_first = false) {
    const auto rows = static_cast<std::uint32_t>(cells.size());
    std::vector<std::uint32_t> order(rows);
    std::iota(order.begin(), order.end(), 0U);
    sortRows(order, sortKeys(rows, [&](std::uint32_t row) { return cells[row]; }), greatest_first);
    return order;
}
using Order = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("rows are sorted by what cells are worth, absent ones first") {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    CHECK(sorted({Cell{std::uint64_t{9}}, Cell{}, Cell{std::uint64_t{0}}, Cell{~std::uint64_t{0}}}) ==
          Order{1, 2, 0, 3});
    CHECK(sorted({Cell{std::int64_t{5}}, Cell{std::int64_t{-5}}, Cell{kMost}, Cell{-kMost}, Cell{}}) ==
          Order{4, 3, 1, 0, 2});
    CHECK(sorted({Cell{true}, Cell{false}}) == Order{1, 0});
    CHECK(sorted({Cell{"10.0.0.10:7"}, Cell{"10.0.0.9:7"}, Cell{}, Cell{"10.0.0.9:12"}}) == Order{2, 1, 3, 0});
}

TEST_CASE("rows that are alike keep their order, whichever end comes first") {
    const std::vector<Cell> cells{Cell{std::uint64_t{1}}, Cell{std::uint64_t{2}}, Cell{std::uint64_t{1}},
                                  Cell{std::uint64_t{2}}};
    CHECK(sorted(cells) == Order{0, 2, 1, 3});
    CHECK(sorted(cells, true) == Order{1, 3, 0, 2});
}

TEST_CASE("texts compare as people order them") {
    CHECK(naturallyLess("a9", "a10"));
    CHECK(naturallyLess("Read", "send"));
    CHECK(naturallyLess("", "a"));
    CHECK(naturallyLess("10.0.0.2", "10.0.0.10"));
    CHECK_FALSE(naturallyLess("a07", "a7"));
    CHECK_FALSE(naturallyLess("a7", "a07"));
    CHECK(naturallyLess("x99999999999999999999", "x100000000000000000000"));  // more than an integer holds
}

TEST_CASE("a million rows are sorted well under a second, also by a text") {
    constexpr std::uint32_t kRows = 1'000'000;
    Order order(kRows);
    std::iota(order.begin(), order.end(), 0U);
    const auto start = processorTime();
    const bool texts = GENERATE(false, true);
    std::uint32_t asked = 0;
    const auto cell = [&](std::uint32_t row) {
        ++asked;
        const std::uint64_t mixed = row * 2654435761U % 1000003U;
        return texts ? Cell{"10.0.0." + std::to_string(mixed % 97)} : Cell{mixed};
    };
    const SortKeys keys = sortKeys(kRows, cell);
    sortRows(order, keys, false);
    const std::chrono::duration<double> took = processorTime() - start;
    CHECK(std::ranges::is_sorted(order, {}, [&](std::uint32_t row) { return keys[row]; }));
    CHECK(asked == kRows);                                    // cells are made once, not for each comparison
    CHECK(took.count() < (qps::tests::kSanitized ? 20 : 5));  // of computing, whatever else runs; some tenths optimised
}
