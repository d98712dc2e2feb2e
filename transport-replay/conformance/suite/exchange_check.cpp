#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/checks/catalogue.hpp>
#include <transport-replay/checks/passive/passive_suite.hpp>
#include <transport-replay/conformance/suite/exchange_check.hpp>
#include <transport-replay/model/timeline.hpp>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

Frame frame_of(const stage::RecordedFrame& recorded, std::size_t number) {
    Frame frame;
    frame.bytes = recorded.bytes;
    frame.wire_length = static_cast<std::uint32_t>(recorded.bytes.size());
    frame.link = LinkType::ethernet;
    frame.index = FrameIndex{number};
    frame.time = recorded.time;
    return frame;
}

}  // namespace

std::vector<CheckResult> check_exchange(const stage::ScriptOutcome& outcome, const Address& device) {
    PassiveSuite suite;
    suite.judge_only(device);
    Analysis analysis({.message = [&](ConnectionId connection, End requester, const Message& message) {
        suite.message(connection, requester, message);
    }});
    Packet packet;
    Observation observation;
    PacketFacts facts;
    std::size_t number = 0;
    for (const stage::RecordedFrame& recorded : outcome.frames) {
        decode(frame_of(recorded, ++number), packet);
        observe(packet, observation);
        look_at(packet, facts);
        suite.observe(observation, facts, analysis.observe(observation));
    }
    // What was not kept is as what a capture dropped: then nothing is concluded from what did not come.
    const Drops drops{.known = outcome.frames_lost != 0, .received = outcome.frames.size() + outcome.frames_lost, .dropped = outcome.frames_lost};
    std::vector<CheckResult> results = suite.finish(analysis.finish(drops));
    std::erase_if(results, [](const CheckResult& result) { return result.check->id.starts_with("TRC") || !is_decided_passively(*result.check); });
    return results;
}

}  // namespace qps::transport::conformance
