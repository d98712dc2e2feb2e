// Conversations of captures, read as everybody has to: once for the connections, once more for what they carried.
#pragma once

#include <dissect/capture/capture_file.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/live/replay/conversation_collector.hpp>
#include <transport-replay/model/timeline.hpp>

#include <expected>
#include <functional>
#include <string>
#include <vector>

namespace qps::tests {

using EachPacket = std::function<void(const dissect::Packet&)>;

// `for_each(each)` calls each(packet) for every packet of the capture, as often as it is called itself.
template <class ForEach>
[[nodiscard]] std::expected<transport::live::RecordedConversation, std::string> conversation_of(
    ForEach&& for_each, transport::ConnectionId uid) {
    transport::Observation observation;
    transport::Analysis first;
    for_each([&](const dissect::Packet& packet) {
        transport::observe(packet, observation);
        first.observe(observation);
    });
    const transport::Timeline timeline = first.finish();
    transport::live::ConversationCollector collector(timeline, uid);
    struct Ended {
        transport::ConnectionId connection{};
        transport::End requester{};
        transport::Message message;
    };
    std::vector<Ended> ended;
    transport::Analysis second(
        {.message = [&](transport::ConnectionId connection, transport::End requester,
                        const transport::Message& message) { ended.push_back({connection, requester, message}); }});
    const auto hand_on = [&] {
        for (const Ended& each : ended) collector.message(each.connection, each.requester, each.message);
        ended.clear();
    };
    for_each([&](const dissect::Packet& packet) {
        transport::observe(packet, observation);
        collector.packet(observation, second.observe(observation));
        hand_on();
    });
    static_cast<void>(second.finish());
    hand_on();
    return collector.finish();
}

}  // namespace qps::tests
