// The order of rows by a column: numbers that compare as the cells do, and a stable sort of row numbers by them. Rows
// themselves are never moved or copied: a million messages are sorted in some tenths of a second.
#pragma once

#include <transport-replay/report/table.hpp>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace qps::gui {

// A key for each row: rows compare as their keys do. Absent cells come first.
using SortKeys = std::vector<std::uint64_t>;
[[nodiscard]] SortKeys sortKeys(std::uint32_t rows, const std::function<transport::Cell(std::uint32_t row)>& cell);

// Rows whose keys are equal stay in the order in which they are, also where the greatest come first.
void sortRows(std::vector<std::uint32_t>& rows, const SortKeys& keys, bool greatest_first);

// Texts as people order them: numbers within them by value, "10.0.0.9" before "10.0.0.10"; case does not matter.
[[nodiscard]] bool naturallyLess(std::string_view a, std::string_view b);

}  // namespace qps::gui
