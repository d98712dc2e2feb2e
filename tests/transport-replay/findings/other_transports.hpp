// Timelines whose connection is iWARP, or Ultra Ethernet.
#pragma once

#include <tests/support/timelines.hpp>
#include <transport-replay/model/timeline.hpp>

namespace qps::tests {

using namespace transport;
using dissect::Duration;
using dissect::Service;

inline IwarpConversation& iwarp(Timeline& timeline) {
    timeline.connections[0].service = Service::iwarp;
    IwarpConversation& conversation = timeline.iwarp.conversations.emplace_back();
    conversation.connection = timeline.connections[0].uid;
    return conversation;
}
inline UetWay& context(Timeline& timeline) {
    timeline.connections[0].service = Service::uet;
    UetConversation& conversation = timeline.uet.conversations.emplace_back();
    conversation.connection = timeline.connections[0].uid;
    return conversation.ways[0];
}
// Four paths of 100 packets, of which the third sends so many again, and takes so long.
inline void paths(Timeline& timeline, std::uint64_t resent, std::int64_t microseconds) {
    UetWay& way = context(timeline);
    for (std::uint16_t entropy = 1; entropy <= 4; ++entropy) {
        UetPath& path = way.paths.emplace_back();
        path.entropy = entropy;
        path.packets = 100;
        path.resent = entropy == 3 ? resent : 1;
        for (int i = 0; i < 40; ++i) path.delay.add(Duration{(entropy == 3 ? microseconds : 20) * kMicrosecond});
    }
}

}  // namespace qps::tests
