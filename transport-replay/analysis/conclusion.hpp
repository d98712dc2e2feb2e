// conclude(): what only the whole capture tells: who was silent and why, what caused retransmissions, whose ICRCs say nothing; findings.
#pragma once

#include <transport-replay/analysis/analysis_settings.hpp>
#include <transport-replay/analysis/capture_gate.hpp>
#include <transport-replay/analysis/lane_report.hpp>
#include <transport-replay/analysis/link_watch.hpp>

namespace qps::transport {

struct Timeline;

// `gate` and `links` are as they were after the last packet, `report` is what the gate said at its end, `lanes` what all lanes have.
[[nodiscard]] Timeline conclude(const AnalysisSettings& settings, const CaptureGate& gate, GateReport&& report, LinkWatch& links,
                                LaneReport&& lanes);

}  // namespace qps::transport
