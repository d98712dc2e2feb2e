// Operations of NCCL: which messages belong to the same collective, by the numbers of the offers and not by pauses:
// between two operations every receiver has what it offered, and offers anew. A rank that pauses in the middle has not,
// or others have not.
#pragma once

#include <transport-replay/collectives/collective_shape.hpp>
#include <transport-replay/collectives/nccl_channel.hpp>

#include <span>
#include <vector>

namespace qps::transport {

struct NcclFlow {
    CollectiveEdge edge;
    const NcclChannel* channel = nullptr;
};

// What an operation has of a flow: places in the lists of its channel.
struct NcclPart {
    std::uint32_t flow = 0;
    std::span<const NcclOffered> offers;
    std::vector<NcclMessage> messages;  // by index
};

struct NcclOperation {
    dissect::Instant begin{};  // first to last packet of data
    dissect::Instant end{};
    dissect::FrameIndex frame{};
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0;  // of each flow; the most, where they differ
    std::vector<NcclPart> parts{};
    bool whole = false;  // no message is missing, and the capture holds its beginning
};

// In order of time; at most `most`.
[[nodiscard]] std::vector<NcclOperation> nccl_operations(std::span<const NcclFlow> flows, std::size_t most);

}  // namespace qps::transport
