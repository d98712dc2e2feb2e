// Names groups of hosts that work in steps, their ranks and what they do, in the same words in summaries and findings.
#pragma once

#include <transport-replay/model/collective_report.hpp>

#include <string>

namespace qps::transport {

// "172.30.0.11", "172.30.0.11 (rank 1)" where the number is known.
[[nodiscard]] std::string rank_text(const CollectiveRank& rank);
// "NCCL ring of 8 ranks"; "NCCL ring (2 of 8 ranks seen)".
[[nodiscard]] std::string group_text(const Collective& collective);
// "3 all-reduces", "20 steps".
[[nodiscard]] std::string steps_text(const Collective& collective, std::uint64_t count);
// "24 KiB", "1 byte to 24 KiB": the results of all-reduces, of other steps the data that the capture has of a typical
// one.
[[nodiscard]] std::string step_size_text(const Collective& collective);
// "rank 0 -> 1 -> 2 -> 0"; addresses where a number is not known; nothing where there is no chain.
[[nodiscard]] std::string chain_text(const Collective& collective);

}  // namespace qps::transport
