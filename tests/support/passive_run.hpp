// The passive suite over a capture in memory.
#pragma once

#include <tests/support/mutation.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/checks/passive/passive_suite.hpp>
#include <transport-replay/model/timeline.hpp>

#include <optional>

namespace qps::tests {

// A sample, with what soft RoCE does otherwise (FMT-08, FMT-09) put right.
[[nodiscard]] inline RecordedCapture healed(std::string_view name) {
    RecordedCapture capture = sample(name);
    rewrite(capture, "infiniband.bth.opcode < 0x20", "infiniband.bth.m", 1);
    rewrite(capture, "infiniband.bth.destqp == 1", "infiniband.bth.a", 0);
    return capture;
}

// `judged`: this host alone.
[[nodiscard]] inline std::vector<transport::conformance::CheckResult> check_capture(
    const RecordedCapture& capture, const std::optional<transport::Address>& judged = {}) {
    transport::conformance::PassiveSuite suite;
    if (judged) suite.judge_only(*judged);
    transport::Analysis analysis(
        {.message = [&](transport::ConnectionId connection, transport::End requester,
                        const transport::Message& message) { suite.message(connection, requester, message); }});
    dissect::Packet packet;
    transport::Observation observation;
    transport::conformance::PacketFacts facts;
    for (std::size_t i = 0; i < capture.frames.size(); ++i) {
        dissect::decode(capture.frames[i].frame(i + 1), packet);
        transport::observe(packet, observation);
        transport::conformance::look_at(packet, facts);
        suite.observe(observation, facts, analysis.observe(observation));
    }
    return suite.finish(analysis.finish(capture.drops));
}

}  // namespace qps::tests
