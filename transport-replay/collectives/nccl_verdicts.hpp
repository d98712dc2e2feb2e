// Verdicts on operations of NCCL: when each rank began, who was waited for, and what the ranks compute together.
//
// A rank has begun when it sends although nobody made it (no offer, no data of others came just before), or, where it
// only answers, when it first offered. The one that began last was waited for, if all went on from there: a pause
// behind it that is as long has a cause that nobody knows, and takes the certainty away.
#pragma once

#include <transport-replay/collectives/nccl_operations.hpp>
#include <transport-replay/model/collective_report.hpp>

namespace qps::transport {

// The steps of a collective, with who began when and who was waited for.
[[nodiscard]] std::vector<CollectiveStep> nccl_steps(std::span<const NcclFlow> flows,
                                                     std::span<const NcclOperation> operations,
                                                     CollectivePattern pattern, std::uint32_t ranks);

// Numbers of ranks, the order of a ring, the protocol, the operation and how many take part, as far as they can be
// told.
void describe_nccl(Collective& collective, std::span<const NcclFlow> flows, std::span<const NcclOperation> operations);

}  // namespace qps::transport
