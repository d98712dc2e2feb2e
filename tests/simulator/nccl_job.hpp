// NcclJob: ranks of NCCL that compute, then reduce together, operation after operation, as its network transport does:
// receivers offer slots, senders write when the GPU has the data and the receiver has a slot, a slot is offered again
// when its data was used. It knows when each rank was ready, and so whom the others waited for.
//
// What it leaves out: packets that are lost, links that others use. Times are drawn from a seed, the same in every run.
#pragma once

#include <transport-replay/model/collective_report.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/packet_record.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace qps::tests {

struct NcclPlan {
    bool tree = false;  // a binary tree; else a ring
    unsigned ranks = 4;
    unsigned operations = 10;
    unsigned slices = 2;               // messages of a chunk
    unsigned turns = 1;                // times around the ring; chunks of a tree
    unsigned larger_every = 0;         // every so many operations goes round twice as often; 0: none does
    std::uint32_t bytes = 65536;       // of a message
    std::int64_t latency = 5'000;      // ns, of a link; each has up to as much again
    std::int64_t compute = 2'000'000;  // from the end of an operation to the next; 0: one behind the other
    std::int64_t noise = 100'000;      // of each rank's beginning, mean
    std::int64_t reaction = 5'000;     // of a host that offers or writes, mean
    bool ahead = false;                // hosts queue operations before the GPU has its data
    std::optional<unsigned> late{};    // this rank begins later
    std::int64_t late_by = 0;
    unsigned late_percent = 100;  // of the operations
    unsigned pause_percent = 0;   // operations in which any rank pauses in the middle
    std::int64_t pause = 0;
    std::optional<unsigned> tap{};  // what goes in and out there; else everything, as it is sent
    std::uint64_t seed = 1;
};

struct NcclTruth {
    std::uint32_t last = 0;           // rank that was ready last
    std::int64_t waited = 0;          // behind the one before it, ns
    std::vector<std::int64_t> ready;  // by rank
};

struct NcclRun {
    transport::CollectiveReport report;
    std::vector<NcclTruth> truth;  // by operation
};

// Plays the job into a CollectiveTracker. Rank r has the address host(r + 1) and, as NCCL counts, the number r.
[[nodiscard]] NcclRun play(const NcclPlan& plan);

// A plan of that seed: any size, any shape, with and without a rank that is late.
[[nodiscard]] NcclPlan nccl_plan(std::uint64_t seed);

}  // namespace qps::tests
