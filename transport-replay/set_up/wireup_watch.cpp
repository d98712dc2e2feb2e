#include <transport-replay/iwarp/iwarp_tracker.hpp>
#include <transport-replay/set_up/wireup_watch.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <span>

namespace qps::transport {

using namespace dissect;

namespace {

void tell(const FlowKey& reply_flow, const ucx::WireupMessage& request, const ucx::WireupMessage& reply,
          Tracker& tracker) {
    for (const ucx::LaneEnd& mine : std::span(reply.lanes).first(reply.count)) {
        const auto asked = std::span(request.lanes).first(request.count);
        const auto theirs = std::ranges::find(asked, mine.lane, &ucx::LaneEnd::lane);
        if (theirs == asked.end()) continue;
        const ToldEnd asker{{theirs->gid, AddressSpace::roce_v2}, theirs->qpn, Psn(0)},
            replier{{mine.gid, AddressSpace::roce_v2}, mine.qpn, Psn(0)};
        if (asker.address != reply_flow.destination || replier.address != reply_flow.source) continue;
        tracker.tell(asker, replier, {PairProof::By::wireup, request.source, reply.source});
    }
}

}  // namespace

void WireupWatch::observe(const Observation& observation, Tracker& tracker) {
    if (!observation.datagram || observation.management || observation.icrc == CrcStatus::bad) return;
    if (observation.payload.size() < observation.payload_length) return;  // cut
    const auto message = ucx::read_wireup(observation.payload.first(observation.payload_length));
    if (!message) return;
    const FlowKey& flow = observation.flow;
    if (!message->reply) return ask({flow, message->source, observation.vlan}, {*message, observation.time});
    const auto asked = requests_.find(
        {{flow.destination, flow.source, flow.source_qp, flow.destination_qp}, message->destination, observation.vlan});
    if (asked == requests_.end()) return;
    tell(flow, asked->second.message, *message, tracker);
    requests_.erase(asked);
}

void WireupWatch::ask(const Key& key, const Asked& asked) {
    if (requests_.size() == kMostRequests) {
        boost::unordered::erase_if(requests_, [&](const auto& one) { return asked.time - one.second.time > kLongest; });
        if (requests_.size() == kMostRequests) requests_.clear();
    }
    requests_[key] = asked;
    most_ = std::max(most_, requests_.size());
}

// Of one bound with what else is asked of exchanges (ExchangeWatch).
void WireupWatch::add_peaks(Peaks& peaks) const {
    constexpr std::size_t kEach = kMostRequests / IwarpTracker::kMaxCandidates;
    static_assert(kEach * IwarpTracker::kMaxCandidates == kMostRequests);
    peaks.add(Need::candidates, most_ / kEach, IwarpTracker::kMaxCandidates);
}

}  // namespace qps::transport
