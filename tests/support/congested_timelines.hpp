// Timelines with pauses, CNPs and flows that react to them, or do not.
#pragma once

#include <tests/support/durations.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/model/timeline.hpp>

namespace qps::tests {

inline transport::PauseSummary& pause(transport::Timeline& timeline, std::int64_t time) {
    using namespace dissect;
    using namespace transport;
    PauseSummary& summary = timeline.congestion.pauses.emplace_back();
    summary.priority = 3;
    summary.sender = {{0, 0x02'00'00'00'00'09}, AddressSpace::ethernet};
    summary.stops = summary.periods = 1;
    summary.paused = summary.longest = Duration{time};
    summary.longest_frame = FrameIndex{5};
    return summary;
}
inline transport::CnpStream& cnps(transport::Timeline& timeline) {
    using namespace dissect;
    using namespace transport;
    CnpStream& stream = timeline.congestion.notifications.emplace_back();
    stream.count = 1;
    return stream;
}
inline transport::FlowCongestion& reaction(transport::Timeline& timeline, std::uint64_t after) {
    using namespace dissect;
    using namespace transport;
    FlowCongestion& flow = timeline.congestion.flows.emplace_back();
    flow.flow = {host(1), host(2), Qpn{9}, {}};
    flow.marked = 10;
    flow.reaction = {.bursts = 10, .bytes_before = 1000, .bytes_after = after, .bins_before = 10, .bins_after = 10};
    return flow;
}

}  // namespace qps::tests
