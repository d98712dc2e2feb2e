// conclude(): what only the whole capture tells: who was silent and why, what caused retransmissions, whose ICRCs say nothing; findings.
#pragma once

#include <transport-replay/analysis/analysis_settings.hpp>
#include <transport-replay/analysis/capture_gate.hpp>
#include <transport-replay/analysis/lane_report.hpp>
#include <transport-replay/analysis/link_watch.hpp>

namespace qps::transport {

struct Timeline;

// What the gate and the links said at their end, and what all lanes have.
[[nodiscard]] Timeline conclude(const AnalysisSettings& settings, GateReport&& gate, LinkReport&& links, LaneReport&& lanes);

}  // namespace qps::transport
