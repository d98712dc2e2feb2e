// What the tracker of collectives does with NCCL: offers and messages to their channels, channels to the flows of a
// group.
#include <transport-replay/collectives/collective_tracker.hpp>
#include <transport-replay/collectives/nccl_verdicts.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

void CollectiveTracker::follow_acknowledge(const Observation& observation, const PacketRecord& record) {
    const Followed* connection = known(*record.connection);
    if (connection == nullptr) return;
    const std::uint32_t channel = connection->channels[static_cast<std::size_t>(record.from)];
    if (channel != kNone) channels_[channel].channel.acknowledge(observation.psn, observation.time);
}

void CollectiveTracker::follow_nccl(const Observation& observation, End from, Followed& connection) {
    const Place place = info(observation.opcode).place;
    if (place == Place::only && !observation.immediate) {
        if (const auto offer = nccl_offer(observation.payload, observation.payload_length))
            return follow_offer(observation, *offer, from, connection);
    }
    Writing& writing = connection.writing[static_cast<std::size_t>(from)];
    if (begins_message(place) && observation.access) begin_message(observation, from, connection);
    if (writing.message == kNone) return;
    NcclChannel& channel = channels_[writing.channel].channel;
    channel.add(writing.message, observation.payload, observation.payload_length, observation.time);
    if (!observation.immediate) return;
    channel.end(writing.message);
    writing = {};
}

// What one end offers is the channel of the other.
void CollectiveTracker::follow_offer(const Observation& observation, const NcclOffer& offer, End from,
                                     Followed& connection) {
    std::uint32_t& channel = connection.channels[static_cast<std::size_t>(other(from))];
    if (channel == kNone) {
        const std::uint32_t way = way_of(observation.flow.destination, observation.flow.source, observation.frame);
        if (way == kNone || ways_[way].channels.size() == kMostOfWay) {
            ++left_out_;
            return;
        }
        channel = static_cast<std::uint32_t>(channels_.size());
        channels_.push_back({way, observation.frame, {}});
        ways_[way].channels.push_back(channel);
    }
    channels_[channel].channel.offer(offer, observation.time, observation.frame, observation.psn, events_);
}

// A connection may have several queue pairs: offers come on one of them, messages on all.
void CollectiveTracker::begin_message(const Observation& observation, End from, Followed& connection) {
    const std::uint64_t address = observation.access->address;
    Writing& writing = connection.writing[static_cast<std::size_t>(from)];
    std::uint32_t channel = connection.channels[static_cast<std::size_t>(from)];
    if (channel == kNone || !channels_[channel].channel.waits_for(address)) {
        if (writing.message != kNone) return;  // the WRITE that ends it, where data and notification are two
        const auto way = index_.find(FlowKey{observation.flow.source, observation.flow.destination, {}, {}});
        if (way == index_.end()) return;
        const auto& others = ways_[way->second].channels;
        const auto waiting =
            std::ranges::find_if(others, [&](std::uint32_t one) { return channels_[one].channel.waits_for(address); });
        if (waiting != others.end()) channel = *waiting;
    }
    if (channel == kNone) return;
    if (const auto message = channels_[channel].channel.begin(address, observation.time, observation.frame, events_))
        writing = {channel, *message};
}

void CollectiveTracker::mark_nccl() {
    for (const Followed& connection : followed_) {
        if (connection.signature.library() != CollectiveLibrary::nccl) continue;
        for (std::size_t end = 0; end < 2; ++end) {
            if (connection.channels[end] == kNone || !channels_[connection.channels[end]].channel.counted()) continue;
            ways_[channels_[connection.channels[end]].way].nccl = true;
        }
    }
}

std::vector<NcclFlow> CollectiveTracker::nccl_flows(const Collective& collective) const {
    const auto rank_of = [&](const Address& host) -> std::optional<std::uint32_t> {
        const auto found = std::ranges::lower_bound(collective.ranks, host, {}, &CollectiveRank::address);
        if (found == collective.ranks.end() || found->address != host) return std::nullopt;
        return static_cast<std::uint32_t>(found - collective.ranks.begin());
    };
    std::vector<NcclFlow> flows;
    for (const OfWay& one : channels_) {
        if (!ways_[one.way].nccl || !one.channel.counted()) continue;
        const auto source = rank_of(ways_[one.way].hosts.source),
                   destination = rank_of(ways_[one.way].hosts.destination);
        if (source && destination) flows.push_back({{*source, *destination}, &one.channel});
    }
    return flows;
}

void CollectiveTracker::judge_nccl(Collective& collective) const {
    const std::vector<NcclFlow> flows = nccl_flows(collective);
    if (flows.empty()) return;
    std::uint64_t all = 0;
    std::vector<std::uint64_t> sent(collective.ranks.size()), received(collective.ranks.size());
    for (const NcclFlow& flow : flows) {
        for (const NcclOffered& offer : flow.channel->offers())
            collective.first_frame = std::min(collective.first_frame, offer.frame);
        std::uint64_t bytes = 0;
        for (const NcclMessage& message : flow.channel->messages()) bytes += message.bytes;
        all += bytes;
        sent[flow.edge.source] += bytes;
        received[flow.edge.destination] += bytes;
    }
    collective.bytes =
        std::max(collective.bytes, all);  // bursts leave short messages out, channels what is past their bound
    for (std::size_t rank = 0; rank < collective.ranks.size(); ++rank) {
        collective.ranks[rank].sent = std::max(collective.ranks[rank].sent, sent[rank]);
        collective.ranks[rank].received = std::max(collective.ranks[rank].received, received[rank]);
    }
    const std::vector<NcclOperation> operations = nccl_operations(flows, kMaxCollectiveSteps);
    // Where everybody sends to everybody, who waits for whom is another question.
    const bool judged = collective.pattern != CollectivePattern::all_to_all &&
                        collective.pattern != CollectivePattern::recursive_doubling;
    if (judged)
        collective.steps =
            nccl_steps(flows, operations, collective.pattern, static_cast<std::uint32_t>(collective.ranks.size()));
    describe_nccl(collective, flows, operations);
}

}  // namespace qps::transport
