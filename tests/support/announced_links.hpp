// Timelines with a link whose ends announce their configuration by LLDP.
#pragma once

#include <tests/support/durations.hpp>
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

}  // namespace qps::tests
