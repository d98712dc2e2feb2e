// The tables of a report: connections, operations of upper protocols.
#pragma once

#include <string>

namespace qps::transport {

struct Timeline;

namespace page {

class Collector;

// The ones that lost most first; nothing where there are none.
[[nodiscard]] std::string connections(const Collector& collected);
[[nodiscard]] std::string operations(const Timeline& timeline);

}  // namespace page
}  // namespace qps::transport
