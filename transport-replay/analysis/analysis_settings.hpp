// AnalysisSettings: what an analysis is told before its first packet, and whom it tells of what.
#pragma once

#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/model/capture_traits.hpp>
#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/final_numbers.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/ulp/operation_sink.hpp>
#include <transport-replay/ulp/ulp_hints.hpp>

#include <functional>
#include <vector>

namespace qps::transport {

struct AnalysisSettings {
    // Called with each message when nothing more can happen to it, in that order.
    std::function<void(ConnectionId, End requester, const Message&)> message{};
    // Called with each operation of an upper protocol when it ended.
    OperationSink operation{};
    // Called with each connection of which nothing more will be told, because it made place for others.
    std::function<void(ConnectionId)> retired{};
    // Hints on connections by the user or an earlier pass; they outweigh what their traffic says.
    UlpHints hints{};
    IcrcPolicy icrc = IcrcPolicy::automatic;
    // An earlier pass learned this of the capture as a whole (Timeline::learned).
    CaptureTraits traits{};
    // An earlier pass over the same packets, with the same traits, joined flows so (Timeline::numbers). Without
    // it a packet has the number that its flow had when it passed.
    FinalNumbers numbers{};
    // A log of NCCL names these ranks.
    NcclLog nccl_log{};
    // Hosts whose NICs accept packets out of order, as the user says: nothing on the wire does.
    std::vector<Address> unordered{};
    // Operations of upper protocols are summed up by connection: for who may leave connections out afterwards.
    bool sums_apart = false;
    // The memory that the analysis may use; so_far() needs as much again while it runs.
    MemoryBudget memory{};
};

}  // namespace qps::transport
