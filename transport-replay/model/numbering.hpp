// Numbers connections at the end of a capture, when it is known which flows are a part of others.
//
// What an attacker could feed: any number of flows. Those given a number past FinalNumbers::kMost keep it.
#pragma once

#include <transport-replay/model/final_numbers.hpp>

#include <vector>

namespace qps::transport {

// dense: connections count from 1 without a hole, in the order of their first packet; those that made place for others
// keep a number, too. kept: the numbers that were given, of who has shown them to somebody and cannot take them back;
// parts have the number of their connection nevertheless.
enum class Numbering : std::uint8_t { dense, kept };

// `parts`: flows that have no number of their own at the end, in any order; those of connection 0 are none, and no
// packet names them. `last`: the highest number that was given.
[[nodiscard]] FinalNumbers number_connections(std::vector<JoinedFlow> parts, ConnectionId last, Numbering numbering);

// The numbers that connections were given, by those that they have at the end, from 0 to `last`.
[[nodiscard]] std::vector<ConnectionId> given_numbers(const FinalNumbers& numbers, ConnectionId last);

}  // namespace qps::transport
