// What iWARP says in numbers, in words.
#pragma once

#include <transport-replay/model/iwarp_report.hpp>

#include <string>

namespace qps::transport {

// "RDMAP, remote protection error: access rights violation".
[[nodiscard]] std::string terminate_text(const Terminated& terminated);

}  // namespace qps::transport
