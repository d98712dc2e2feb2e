#include <transport-replay/management/management_tracker.hpp>

namespace qps::transport {

using namespace dissect;

void ManagementTracker::observe(const Observation& observation) {
    if (observation.icrc == CrcStatus::bad) return;  // nobody took it, and its fields may be others
    const auto datagram = read_management(observation.payload);
    if (!datagram) {
        ++unreadable_;
        return;
    }
    if (datagram->management_class == ManagementClass::communication) return;
    ++datagrams_;
    const RmppStep step = rmpp_.observe(*datagram, observation);
    exchanges_.observe(*datagram, step, observation);
    counters_.observe(*datagram, observation);
    events_.observe(*datagram, observation);
    fabric_.observe(*datagram, step, observation);
}

ManagementReport ManagementTracker::finish(Instant now) {
    ManagementReport report;
    report.datagrams = datagrams_;
    report.unreadable = unreadable_;
    exchanges_.finish(now, report);
    counters_.finish(report);
    events_.finish(report);
    report.fabric = fabric_.finish();
    report.rmpp_dropped = rmpp_.dropped();
    return report;
}

}  // namespace qps::transport
