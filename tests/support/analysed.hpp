// A simulated capture through the whole analysis, with its findings.
#pragma once

#include <tests/simulator/simulation.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>

namespace qps::tests {

[[nodiscard]] inline transport::Timeline analysed(const transport::Simulated& simulated) {
    transport::Analysis analysis;
    dissect::Packet packet;
    transport::Observation observation;
    std::uint64_t index = 0;
    for (const transport::CapturedFrame& captured : simulated.frames) {
        dissect::Frame frame;
        frame.bytes = captured.bytes;
        frame.wire_length = captured.wire_length;
        frame.link = simulated.link;
        frame.index = dissect::FrameIndex{++index};
        frame.time = captured.time;
        dissect::decode(frame, packet);
        transport::observe(packet, observation);
        analysis.observe(observation);
    }
    return analysis.finish();
}

}  // namespace qps::tests
