#include <dissect/headers/infiniband.hpp>
#include <transport-replay/tracker.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint32_t kStrong = 3;  // matching answers

bool is_acknowledged(Service service) { return service == Service::rc || service == Service::xrc || service == Service::rd; }

}  // namespace

Flow* Tracker::flow_of(const Observation& observation, FlowId& id) {
    if (const auto found = index_.find(observation.flow); found != index_.end()) {
        id = found->second;
        return &flows_[std::to_underlying(id)];
    }
    if (flows_.size() == kMaxFlows) {
        ++untracked_;
        return nullptr;
    }
    id = FlowId{static_cast<std::uint32_t>(flows_.size())};
    Flow& flow = flows_.emplace_back();
    flow.key = observation.flow;
    flow.service = service_of(observation.opcode);
    flow.first_time = observation.time;
    flow.first_frame = observation.frame;
    index_.emplace(observation.flow, id);
    return &flow;
}

void Tracker::hand_on(FlowId id, Flow& flow) {
    for (const Message& message : done_) {
        ++flow.counts.messages;
        flow.counts.message_bytes += message.bytes;
        if (sink_) sink_(id, message);
    }
    done_.clear();
}

void Tracker::request(Flow& flow, FlowId id, const Observation& observation) {
    ++flow.counts.requests;
    const Place place = info(observation.opcode).place;
    if (place == Place::first || place == Place::middle) flow.pmtu = std::max(flow.pmtu, observation.payload_length);
    const Arrived arrived = flow.requests.send(observation, flow.pmtu, done_);
    if (arrived.arrival == Arrival::repeated) ++flow.counts.retransmitted;
    if (arrived.arrival == Arrival::late) ++flow.counts.late;
    flow.counts.missing += arrived.missing;
    if (!is_acknowledged(flow.service)) {
        static_cast<void>(flow.requests.acknowledge(observation.psn, observation, done_));  // nobody else will
        for (Message& message : done_) message.outcome = Outcome::sent;
    } else if (!flow.partner) {  // any of its PSNs may be answered, by a NAK at least
        waiting_.expect(flow.key, observation.psn, id);
    }
    hand_on(id, flow);
}

// An AETH for the requests of `requester`.
void Tracker::acknowledged(Flow& requester, const Observation& observation) {
    FlowCounts& counts = requester.counts;
    const auto take = [&](Psn through) {
        const Acknowledged told = requester.requests.acknowledge(through, observation, done_);
        counts.unseen += told.unseen;
        if (told.passed_response) ++counts.implied_naks;
    };
    constexpr std::uint32_t kMinusOne = Psn::kMask;  // modulo 2^24
    switch (static_cast<SyndromeType>(observation.acknowledgment->type())) {
        case SyndromeType::ack:
            ++counts.acks;
            take(observation.psn);
            break;
        case SyndromeType::rnr_nak:
            ++counts.rnr_naks;
            take(observation.psn + kMinusOne);
            break;
        case SyndromeType::nak: {
            constexpr std::uint8_t kSequenceError = 0;
            take(observation.psn + kMinusOne);
            if (observation.acknowledgment->code() == kSequenceError) {
                ++counts.sequence_naks;
            } else {
                ++counts.fatal_naks;
                static_cast<void>(requester.requests.fail(observation.psn, observation, done_));
            }
            break;
        }
        case SyndromeType::reserved: break;
    }
}

void Tracker::answer(Flow& flow, FlowId id, const Observation& observation) {
    ++flow.counts.responses;
    if (!flow.partner) {
        const auto requester = waiting_.answered_by(flow.key, observation.psn);
        if (!requester || flows_[std::to_underlying(*requester)].partner) {
            ++flow.counts.unmatched;
            return;
        }
        flow.partner = requester;
        flows_[std::to_underlying(*requester)].partner = id;
    }
    const FlowId requester_id = *flow.partner;
    Flow& requester = flows_[std::to_underlying(requester_id)];
    const OpcodeRow& row = info(observation.opcode);
    if (row.verb == Verb::read_response && row.place != Place::last && row.place != Place::only)
        requester.pmtu = std::max(requester.pmtu, observation.payload_length);
    const bool fits = requester.requests.waits_for(observation.psn);
    if (fits) ++requester.matches;
    if (row.verb == Verb::acknowledge && observation.acknowledgment) {
        acknowledged(requester, observation);
    } else if (!requester.requests.respond(observation, requester.pmtu, done_)) {
        ++requester.counts.unmatched;
    }
    hand_on(requester_id, requester);
}

void Tracker::observe(const Observation& observation) {
    if (observation.kind != ObservationKind::transport || observation.management) return;
    const OpcodeRow& row = info(observation.opcode);
    if (!row.defined || row.verb == Verb::notify) return;
    FlowId id{};
    Flow* flow = flow_of(observation, id);
    if (flow == nullptr) return;
    ++flow->counts.packets;
    flow->counts.bytes += observation.wire_length;
    flow->last_time = observation.time;
    if (observation.congestion_experienced) ++flow->counts.congestion_experienced;
    if (observation.icrc == CrcStatus::bad) {
        ++flow->counts.bad_icrc;
        return;
    }
    if (row.request) request(*flow, id, observation);
    else answer(*flow, id, observation);
}

void Tracker::finish() {
    for (std::size_t i = 0; i < flows_.size(); ++i) {
        flows_[i].requests.finish(Outcome::open, done_);
        hand_on(FlowId{static_cast<std::uint32_t>(i)}, flows_[i]);
    }
}

Confidence Tracker::confidence(const Flow& flow) const {
    if (!flow.partner) return Confidence::none;
    const Flow& partner = flows_[std::to_underlying(*flow.partner)];
    return flow.matches + partner.matches >= kStrong ? Confidence::strong : Confidence::likely;
}

}  // namespace qps::transport
