// A census in words: what a capture consists of, as names and their numbers, the same in every front end. Names are
// those of the tables of headers, opcodes and verdicts.
#pragma once

#include <dissect/packet/census.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace qps::transport {

struct NamedCount {
    std::string name;
    std::uint64_t count = 0;
    std::uint32_t code = 0;  // its row in the array of the census
};
using NamedCounts = std::vector<NamedCount>;  // none that is zero, but for verdicts

[[nodiscard]] NamedCounts encapsulation_counts(const dissect::Census& census);  // iWARP among them, last
[[nodiscard]] NamedCounts opcode_counts(const dissect::Census& census);         // of InfiniBand's transport
[[nodiscard]] NamedCounts rdmap_counts(const dissect::Census& census);
[[nodiscard]] NamedCounts ultra_ethernet_counts(const dissect::Census& census);           // by type of packet
[[nodiscard]] NamedCounts verdict_counts(const std::array<std::uint64_t, 4>& by_status);  // good, bad, not checkable
[[nodiscard]] NamedCounts unchecked_counts(const dissect::Census& census);  // why an ICRC could not be checked
[[nodiscard]] NamedCounts other_counts(const dissect::Census& census);      // what is no RDMA, by its innermost header
[[nodiscard]] NamedCounts fault_counts(const dissect::Census& census);

[[nodiscard]] std::uint64_t infiniband_packets(const dissect::Census& census);
[[nodiscard]] std::uint64_t rdma_packets(const dissect::Census& census);
[[nodiscard]] std::uint64_t ultra_ethernet_packets(const dissect::Census& census);
[[nodiscard]] dissect::Duration duration_of(const dissect::Census& census);  // 0 where no packet has a time

// "17 good, 0 bad, 2 not checkable (2 truncated)"
[[nodiscard]] std::string crc_text(const std::array<std::uint64_t, 4>& by_status, const NamedCounts& reasons = {});
// "7 packets; CRC 5 good, 2 undecided": of Ultra Ethernet
[[nodiscard]] std::string ultra_ethernet_text(const dissect::Census& census);
// "12 RoCEv2, 3 iWARP"
[[nodiscard]] std::string list_of(const NamedCounts& counts);

}  // namespace qps::transport
