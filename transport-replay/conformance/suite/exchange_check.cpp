#include <dissect/packet/notation.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/checks/catalogue.hpp>
#include <transport-replay/checks/passive/passive_suite.hpp>
#include <transport-replay/conformance/suite/exchange_check.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>

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

// The first packet that proves a failure, what was before it, and the further ones.
std::vector<ExchangeStep> exchange_around(const stage::ScriptOutcome& outcome,
                                          const std::vector<FrameIndex>& evidence) {
    constexpr std::uint64_t kBefore = 6;
    std::vector<ExchangeStep> steps;
    Packet packet;
    std::uint64_t shown = 0;
    for (const FrameIndex proof : evidence) {
        const std::uint64_t at = std::to_underlying(proof);
        if (at == 0 || at > outcome.frames.size()) continue;
        for (std::uint64_t number = std::max(shown, at - std::min(at, kBefore)) + 1; number <= at; ++number) {
            if (steps.size() == kMostExchange) return steps;
            const stage::RecordedFrame& recorded = outcome.frames[number - 1];
            decode(frame_of(recorded, number), packet);
            ExchangeStep step{
                .at = recorded.time - outcome.frames.front().time,
                .way = recorded.sender == stage::Sender::us ? ExchangeWay::to_device : ExchangeWay::from_device,
                .wrong = number == at,
                .text = {}};
            append_line(step.text, packet);
            steps.push_back(std::move(step));
        }
        shown = at;
    }
    return steps;
}

}  // namespace

std::vector<CheckResult> check_exchange(const stage::ScriptOutcome& outcome, const Address& device, live::IpPort nvme) {
    PassiveSuite suite;
    suite.judge_only(device);
    suite.has_nvme_at(static_cast<std::uint16_t>(nvme));
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
    const Drops drops{.known = outcome.frames_lost != 0,
                      .received = outcome.frames.size() + outcome.frames_lost,
                      .dropped = outcome.frames_lost};
    std::vector<CheckResult> results = suite.finish(analysis.finish(drops));
    std::erase_if(results, [](const CheckResult& result) {
        return result.check->id.starts_with("TRC") || !is_decided_passively(*result.check);
    });
    for (CheckResult& result : results)
        if (result.verdict == Verdict::fail) result.exchange = exchange_around(outcome, result.evidence);
    return results;
}

}  // namespace qps::transport::conformance
