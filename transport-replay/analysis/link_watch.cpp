#include <transport-replay/analysis/link_watch.hpp>
#include <transport-replay/model/timeline.hpp>

namespace qps::transport {

void LinkWatch::finish(const GateReport& gate, Timeline& timeline) {
    pauses_.finish(gate.now_link, timeline.congestion);
    timeline.management = datagrams_.finish(gate.last.value_or(dissect::Instant{}));
    timeline.totals.management = management_;
}

}  // namespace qps::transport
