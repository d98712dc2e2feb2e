// From an interface to standard output, as pcapng, until something ends it.
//
// Privileges go between opening the interface and everything else: neither the filter's text nor a packet is looked at
// before. Once the filter's names are looked up, sockets, other programs and writing to other files go too (sandbox/).
// What is on the wire is copied and counted, never decoded.
#pragma once

#include <gui/recorder/order.hpp>

namespace qps::recorder {

// Those of the table in cli/exit_code.hpp that apply here, with its numbers.
enum class ExitCode : int { done = 0, usage = 2, unreadable = 3, output_failed = 5, interrupted = 130 };

// Says on standard error what went wrong.
[[nodiscard]] ExitCode record(const Order& order);

// One line on standard error.
void complain(std::string_view sentence);

}  // namespace qps::recorder
