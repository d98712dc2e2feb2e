// NcclLog: what a log of NCCL (NCCL_DEBUG=INFO) says of a job: which address has which rank, how many there are, the
// order of the ring, the number of channels. Ranks of one log or of several in one text, told apart by host and
// process.
//
// What an attacker could feed: any text. Lines and ranks have bounds; a line that begins as one we know and goes on
// otherwise is counted, everything else is passed over.
#pragma once

#include <transport-replay/model/collective_report.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport {

struct NcclLogRank {
    std::string process;  // "node0:4744"
    std::optional<std::uint32_t> rank{};
    std::vector<Address> addresses{};  // of its ports, at most kMostAddresses; of AddressSpace::none
};

struct NcclLog {
    static constexpr std::size_t kLongestLine = 4096;
    static constexpr std::size_t kMostRanks = 4096;
    static constexpr std::size_t kMostAddresses = 16;  // of a rank: eight ports, before and after they were named

    std::vector<NcclLogRank> ranks;   // by process
    std::vector<std::uint32_t> ring;  // of the first channel, from rank 0 on
    std::uint32_t members = 0;        // 0: not said
    std::uint32_t channels = 0;       // 0: not said
    std::uint64_t lines = 0;          // of NCCL
    std::uint64_t malformed = 0;      // that could not be read, or contradict others
};

[[nodiscard]] NcclLog read_nccl_log(std::string_view text);

// Gives ranks of a job their numbers: by address, and by their place in the ring. What contradicts the packets is left
// as it is.
void join_log(Collective& collective, const NcclLog& log);

}  // namespace qps::transport
