// PartReport: what an analysis of some of the pairs of hosts of a capture found, before anything is concluded. A value.
#pragma once

#include <transport-replay/analysis/capture_gate.hpp>
#include <transport-replay/analysis/lane_report.hpp>
#include <transport-replay/analysis/link_watch.hpp>

#include <cstdint>
#include <vector>

namespace qps::transport {

struct PartReport {
    GateReport gate;   // of the whole capture
    LinkReport links;  // likewise
    LaneReport lanes;
    std::vector<std::uint64_t>
        begun;  // of each connection, by its number from 1 on: the packet that began it, counted from 0
};

}  // namespace qps::transport
