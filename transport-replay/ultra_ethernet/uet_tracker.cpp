#include <transport-replay/ultra_ethernet/uet_tracker.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

// The number of a context, at the host that chose it.
FlowKey key_of(const Address& owner, const Address& peer, std::uint16_t id) { return {owner, peer, Qpn{id}, {}}; }

std::size_t bytes_of(const UetConversation& conversation) {
    std::size_t sum = sizeof(UetConversation) + 2 * kUetFramesKept * sizeof(FrameIndex);
    for (const UetWay& way : conversation.ways)
        sum += way.paths.capacity() * sizeof(UetPath) + (way.nacks.capacity() + way.refusals.capacity()) *
                                                            (sizeof(UetCode) + kUetFramesKept * sizeof(FrameIndex));
    return sum;
}

}  // namespace

void UetTracker::observe(const Observation& observation, Repetition repetition, Tracker& tracker,
                         PacketRecord& record) {
    const auto packet = uet_packet(observation.payload);
    if (!packet) {
        ++report_.unread;
        return;
    }
    const bool names_one = packet->has_context() && (packet->source != 0 || packet->destination != 0);
    if (!names_one) {
        ++(packet->type == PdsType::tss ? report_.secured : report_.datagrams);
        return;
    }
    auto where = find(observation.flow, *packet, tracker);
    if (!where) where = begin(observation.flow, *packet, tracker);
    if (!where) return;
    learn(*where, observation.flow, *packet, tracker);
    context(where->index).observe({observation, *packet, repetition}, where->from, share_, tracker, record);
}

// By the number of who sent it, else by that of who gets it.
std::optional<UetTracker::Where> UetTracker::find(const FlowKey& flow, const UetPacket& packet, Tracker& tracker) {
    std::optional<Where> found;
    if (packet.source != 0)
        if (const auto by_source = ends_.find(key_of(flow.source, flow.destination, packet.source));
            by_source != ends_.end())
            found = by_source->second;
    if (packet.opens) {
        if (!found || context(found->index).may_open(found->from, packet)) return found;
        end(found->index, tracker);  // its number is used anew
        return std::nullopt;
    }
    if (packet.destination == 0) return found;
    const auto by_destination = ends_.find(key_of(flow.destination, flow.source, packet.destination));
    if (by_destination == ends_.end()) {
        if (!found || context(found->index).id(other(found->from)) == 0) return found;
        end(found->index, tracker);
        return std::nullopt;
    }
    const Where to{by_destination->second.index, other(by_destination->second.from)};
    if (found && found->index == to.index) return found;
    // The receiver's context is that of another number of the sender, or of one that is learned now.
    const std::uint16_t known = context(to.index).id(to.from);
    if (packet.source == 0 || known == 0 || known == packet.source) return to;
    // Both have other peers: the numbers are used anew.
    end(to.index, tracker);
    if (found) end(found->index, tracker);
    return std::nullopt;
}

std::optional<UetTracker::Where> UetTracker::begin(const FlowKey& flow, const UetPacket& packet, Tracker& tracker) {
    const auto place = place_for_one(tracker);
    // Who answers was asked.
    const bool turned = packet.is_ack() || packet.is_nack();
    const Endpoint one{.address = flow.source, .qpn = {}, .is_port = false},
        two{.address = flow.destination, .qpn = {}, .is_port = false};
    const auto uid = place ? tracker.begin_stream(turned ? two : one, turned ? one : two, Service::uet) : std::nullopt;
    if (!uid) {
        if (place) free_.push_back(*place);
        tracker.leave_out_packet();
        return std::nullopt;
    }
    contexts_[*place].emplace(*uid);
    return Where{*place, turned ? End::b : End::a};
}

void UetTracker::learn(const Where& where, const FlowKey& flow, const UetPacket& packet, Tracker& tracker) {
    if (packet.source != 0 && context(where.index).id(where.from) == 0)
        name(where, where.from, key_of(flow.source, flow.destination, packet.source), packet.source, tracker);
    if (packet.destination != 0 && context(where.index).id(other(where.from)) == 0)
        name(where, other(where.from), key_of(flow.destination, flow.source, packet.destination), packet.destination,
             tracker);
}

void UetTracker::name(const Where& where, End end_of, const FlowKey& key, std::uint16_t id, Tracker& tracker) {
    if (const auto before = ends_.find(key); before != ends_.end() && before->second.index != where.index)
        end(before->second.index, tracker);
    ends_[key] = {where.index, end_of};
    UetContext& one = context(where.index);
    one.name(end_of, id);
    tracker.stream(one.uid()).ends[static_cast<std::size_t>(end_of)].qpn = Qpn{id};
}

// The context is brought to its end, and its place is free.
void UetTracker::end(Index index, Tracker& tracker) {
    UetContext& one = context(index);
    const ConnectionId uid = one.uid();
    const Connection& connection = tracker.stream(uid);
    for (const End end_of : {End::a, End::b})
        if (one.id(end_of) != 0)
            ends_.erase(key_of(connection.end(end_of).address, connection.end(other(end_of)).address, one.id(end_of)));
    Ended ended{.conversation = one.finish(tracker), .charge = {}};
    contexts_[index].reset();
    free_.push_back(index);
    tracker.end_stream(uid);
    // At most half of the memory is for what is over.
    const std::size_t bytes = bytes_of(ended.conversation);
    if (ended_bytes_ + bytes <= share_.most() / 2 && ended.charge.hold(share_, bytes)) {
        ended_bytes_ += bytes;
        ended_.push_back(std::move(ended));
    } else if (!ended.conversation.is_quiet()) {
        ++report_.left_out;
    }
}

// Where the memory is used up, of a few, drawn from all, that of the context that is silent for longest.
std::optional<UetTracker::Index> UetTracker::place_for_one(Tracker& tracker) {
    if (share_.used() + kOne > share_.most()) {
        constexpr std::size_t kLookedAt = 32;
        std::optional<Index> found;
        Instant least{};
        for (std::size_t i = 0; i < kLookedAt && !contexts_.empty(); ++i) {
            const auto index = static_cast<Index>(mix(++drawn_) % contexts_.size());
            if (!contexts_[index]) continue;
            const Instant last = tracker.stream(contexts_[index]->uid()).last_time();
            if (found && last >= least) continue;
            found = index;
            least = last;
        }
        if (!found) return {};
        end(*found, tracker);
    }
    if (free_.empty()) {
        free_.push_back(static_cast<Index>(contexts_.size()));
        contexts_.emplace_back();
    }
    const Index index = free_.back();
    free_.pop_back();
    return index;
}

UetReport UetTracker::finish(Tracker& tracker) {
    report_.packets_left_out = share_.refused();
    std::vector<UetConversation>& all = report_.conversations;
    for (Ended& one : ended_) all.push_back(std::move(one.conversation));
    ended_.clear();
    std::vector<UetContext*> open;
    for (auto& one : contexts_)
        if (one) open.push_back(&*one);
    std::ranges::sort(open, {}, &UetContext::uid);
    for (UetContext* one : open) all.push_back(one->finish(tracker));
    std::ranges::sort(all, {}, &UetConversation::connection);
    return std::move(report_);
}

}  // namespace qps::transport
