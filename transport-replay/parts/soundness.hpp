// is_sound(): what must hold of a value beyond its members' own ranges, where the code that uses it counts on it. A
// Reader asks it of everything that it reads; where there is none, any values will do.
#pragma once

#include <transport-replay/analysis/lane_report.hpp>
#include <transport-replay/analysis/link_watch.hpp>
#include <transport-replay/checks/passive/tally.hpp>

#include <algorithm>

namespace qps::transport::parts {

[[nodiscard]] inline bool is_sound(const PrivateData& data) {
    return data.used <= data.room;
}  // more than are kept: bytes() is of those
[[nodiscard]] inline bool is_sound(const PortPath& path) { return path.length <= PortPath::kMost; }
[[nodiscard]] inline bool is_sound(const ClockOffset& offset) { return offset.used <= ClockOffset::kMostParts; }
[[nodiscard]] inline bool is_sound(const OrderedSpan& span) { return span.begin() <= span.end(); }
[[nodiscard]] inline bool is_sound(const OperationFailures& failures) { return !failures.frames.empty(); }
[[nodiscard]] inline bool is_sound(const UetCode& code) { return !code.frames.empty(); }
[[nodiscard]] inline bool is_sound(const PortCounterHistory& port) {
    using dissect::LayerKind;
    return (port.attribute == LayerKind::port_counters || port.attribute == LayerKind::port_counters_extended) &&
           port.counters.size() == counter_fields(port.attribute).size();
}
template <class T, std::size_t kMost> [[nodiscard]] bool is_sound(const FewValues<T, kMost>& values) {
    return values.size() <= kMost && (values.size() != 0 || values.one());
}
[[nodiscard]] inline bool is_sound(const LatencySketch& sketch) { return sketch.is_sound(); }
[[nodiscard]] inline bool is_sound(const BurstList& list) { return list.bursts().size() <= BurstList::kMost; }
[[nodiscard]] inline bool is_sound(const Incidents& incidents) {
    return incidents.recoveries.empty() || incidents.recoveries.size() == kRecoveryKindNames.size();
}
[[nodiscard]] inline bool is_sound(const conformance::Events& events) {
    return events.kept <= events.first.size() &&
           std::ranges::is_sorted(events.first.begin(), events.first.begin() + events.kept);
}

}  // namespace qps::transport::parts
