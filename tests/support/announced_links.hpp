// Timelines with a link whose ends announce their configuration by LLDP, or with hosts that cannot be reached.
#pragma once

#include <tests/support/durations.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/model/timeline.hpp>

namespace qps::tests {

// A switch and a NIC that announce themselves for two minutes, every 30 s, until the end of the capture.
inline transport::BridgingLink& announced(transport::Timeline& timeline, transport::PriorityBits of_switch = 0x08,
                                          transport::PriorityBits of_nic = 0x08) {
    using namespace dissect;
    using namespace transport;
    BridgingLink& link = timeline.bridging.links.emplace_back();
    for (const bool is_switch : {true, false}) {
        BridgingEnd& end = link.ends.emplace_back();
        end.sender = {{0, is_switch ? 0x02'00'00'00'00'f1U : 0x02'00'00'00'00'01U}, AddressSpace::ethernet};
        end.announced.whole = end.announced.ieee = true;
        end.announced.bridge = is_switch;
        end.announced.pfc = is_switch ? of_switch : of_nic;
        end.frames = end.same = 5;
        end.repeated = 4;
        end.first = end.since = FrameIndex{1};
        end.last = FrameIndex{9};
        end.since_time = Instant{0};
        end.last_time = Instant{120 * kSecond};
        end.lifetime = Duration{120 * kSecond};
    }
    link.last_time = Instant{121 * kSecond};
    link.last = FrameIndex{10};
    return link;
}

// The others have strict priority.
[[nodiscard]] inline transport::PriorityShares half_for(unsigned priority) {
    using namespace transport;
    PriorityShares shares;
    shares.of[priority] = {TransmissionSelection::enhanced, 50, static_cast<PriorityBits>(1U << priority)};
    return shares;
}

// Host 10.0.0.1, which speaks RoCE, asks for the MAC address of another one.
inline transport::UnansweredNeighbour& asked_in_vain(transport::Timeline& timeline, unsigned target,
                                                     bool heard = true) {
    using namespace dissect;
    transport::UnansweredNeighbour& one = timeline.reachability.neighbours.emplace_back();
    one.asker = host(1);
    one.target = host(target);
    one.requests = 3;
    one.first = FrameIndex{5};
    one.last = FrameIndex{7};
    one.first_time = Instant{2 * kSecond};
    one.last_time = Instant{4 * kSecond};
    one.rest = Duration{5 * kSecond};
    one.answers_are_heard = heard;
    return one;
}
// A router about packets of host 1 to host 2, one of which was sent again.
inline transport::IcmpError& complained(transport::Timeline& timeline, bool too_big) {
    timeline.connections.front().ways[0].incidents.made().retransmitted = 1;
    transport::IcmpError& error = timeline.reachability.errors.emplace_back();
    error.reporter = host(254);
    error.source = host(1);
    error.destination = host(2);
    error.too_big = too_big;
    error.mtu = too_big ? 1500 : 0;
    error.count = 2;
    error.first = error.last = dissect::FrameIndex{5};
    return error;
}

}  // namespace qps::tests
