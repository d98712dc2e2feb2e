#include <transport-replay/analysis/link_watch.hpp>

namespace qps::transport {

LinkReport LinkWatch::finish(const GateReport& gate) {
    LinkReport report;
    pauses_.finish(gate.now_link, report.pauses);
    report.management = datagrams_.finish(gate.last.value_or(dissect::Instant{}));
    report.datagrams = management_;
    report.bridging = bridging_.finish();
    report.reachability = reachability_.finish();
    report.reachability.gids = gids_.finish(report.reachability.left_out);
    report.credits = credits_.finish();
    report.beside = beside_.finish(report.pauses.packets_dropped);
    return report;
}

}  // namespace qps::transport
