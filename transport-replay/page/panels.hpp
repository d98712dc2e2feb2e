// The findings of a report: a panel for all that has one cause, with the packets of the worst case. Of many connections
// alike it is a list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace qps::transport {

struct Timeline;
enum class Severity : std::uint8_t;

namespace page {

class Collector;

// The class of its colour.
[[nodiscard]] std::string_view style_of(Severity severity);
// What the reader has to know first, in one line: of how many connections the worst finding is, or that nothing was
// found, or judged.
[[nodiscard]] std::string headline(const Collector& collected);
[[nodiscard]] std::string panels(const Collector& collected);

// A row of a list of facts; nothing without a value.
void add_fact(std::string& out, std::string_view name, std::string_view value);

}  // namespace page
}  // namespace qps::transport
