// Which flow of answers belongs to which flow of requests, where only their PSNs tell (pairing.hpp).
#include <dissect/base/types.hpp>
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <functional>
#include <ranges>
#include <span>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

template <class Which> void leave_out(WaitingRequests::Flows& flows, Which which) {
    const auto [from, to] = std::ranges::remove_if(flows, which);
    flows.erase(from, to);
}

}  // namespace

// Whether answers of this flow may be for requests of that connection: it lacks them, and they go to its host.
bool Tracker::may_ask(const Entry& entry, const FlowKey& answers) {
    return !entry.gone && entry.connection.joined_by == JoinedBy::nothing &&
           entry.connection.ends[0].address == answers.destination &&
           entry.connection.ends[1].address == answers.source;
}

// A flow that begins with an answer that only one flow waits for: no connection of its own.
Tracker::WayOf Tracker::adopt(const Observation& observation) {
    if (info(observation.opcode).request || observation.datagram || observation.icrc == CrcStatus::bad) return {};
    const WaitingRequests::Flows possible = askers(observation, kNowhere);
    const auto partner =
        possible.size() == 1 ? place_of(ConnectionId{std::to_underlying(possible.front().id)}) : std::nullopt;
    if (!partner || is_lone_corrupt(entries_[*partner])) return {};
    Entry& entry = entries_[*partner];
    entry.elsewhere[1] = observation.flow.source_qp;
    if (FlowIndex::is_in_network(observation.flow)) entry.connection.ends[0].network = observation.network;
    entry.connection.ends[0].qpn = observation.flow.destination_qp;
    entry.connection.joined_by = JoinedBy::traffic;
    entry.connection.confidence = Confidence::likely;
    index_.set(observation.flow, WayOf(*partner, End::b).word());
    apply_kept_answers(*partner, End::b);
    return WayOf(*partner, End::b);
}

// Whose requests of that PSN it may answer: those of its own virtual network, if there are any. Both ways of a
// connection may have different ones, or a tap that takes the tag off one of them.
WaitingRequests::Flows Tracker::askers(const Observation& observation, Index answers) const {
    WaitingRequests::Flows possible = waiting_.candidates(observation.flow, observation.psn);
    const auto entry_of = [&](const WaitingRequests::Asked& asked) {
        const auto place = place_of(ConnectionId{std::to_underlying(asked.id)});
        return place && *place != answers && may_ask(entries_[*place], observation.flow) ? &entries_[*place] : nullptr;
    };
    leave_out(possible, [&](const WaitingRequests::Asked& asked) { return entry_of(asked) == nullptr; });
    const auto is_here = [&](const WaitingRequests::Asked& asked) {
        return entry_of(asked)->connection.ways[0].network == observation.network;
    };
    if (possible.size() > 1 && std::ranges::any_of(possible, is_here)) leave_out(possible, std::not_fn(is_here));
    return possible;
}

Tracker::WayOf Tracker::find_partner(WayOf answers, const Observation& observation) {
    WaitingRequests::Flows possible = askers(observation, answers.index());
    if (possible.empty()) return {};
    Unpaired& unpaired = unpaired_[answers.index()];
    if (possible.size() > 1)
        leave_out(possible, [&](const WaitingRequests::Asked& asked) {
            return rules_out(entries_[*place_of(ConnectionId{std::to_underlying(asked.id)})], unpaired.answers,
                             observation);
        });
    return take_choice(answers.index(), unpaired.candidates.narrow(possible, observation.time));
}

Tracker::WayOf Tracker::take_choice(Index answers, const std::optional<Candidates::Choice>& choice) {
    const auto place = choice ? place_of(ConnectionId{std::to_underlying(choice->id)}) : std::nullopt;
    if (!place) return {};
    if (is_lone_corrupt(entries_[*place])) {
        entries_[*place].suitor = entries_[answers].connection.uid;
        return {};
    }
    const WayOf requests = join(*place, answers, JoinedBy::traffic);
    entries_[requests.index()].guessed = choice->by_time;
    return WayOf(requests.index(), other(requests.from()));
}

// Whether no responder would have given that answer, behind those `before` it, to the requests of that flow.
bool Tracker::rules_out(const Entry& entry, std::span<const Observation> before, const Observation& answer) {
    constexpr std::uint8_t kAccessRefused = 2;  // NAK code
    const Message* asked = entry.directions[0].requests.covering(answer.psn);
    if (asked == nullptr) return false;
    const Verb verb = info(answer.opcode).verb;
    if (verb == Verb::read_response) return !asked->may_have_response();
    if (verb == Verb::atomic_acknowledge) return !is_atomic(asked->verb);
    if (is_fatal(answer)) {
        if (answer.acknowledgment->code() == kAccessRefused && asked->verb == Verb::send) return true;
        return asked->retransmissions != 0 &&
               asked->last_time - answer.time > kSlowestReaction;  // who is refused stops
    }
    if (!is_rnr_nak(answer)) return false;
    // One for each time that it was sent, unless the network doubled it.
    std::uint32_t refusals = 1;
    Instant last = answer.time;
    for (const Observation& earlier : std::views::reverse(before))
        if (earlier.psn == answer.psn && is_rnr_nak(earlier) && last - earlier.time >= kFastestTimeout) {
            ++refusals;
            last = earlier.time;
        }
    return refusals > asked->retransmissions + 1;
}

// At the end: whom those answers cannot be for. Who is left asked for them; where several are, it is not known whether
// any was answered.
void Tracker::settle_pairs() {
    constexpr int kMostPasses = 4;  // a flow that found its partner is no candidate of the others
    std::vector<Index> order;
    for (const auto& [index, unpaired] : unpaired_) order.push_back(index);
    std::ranges::sort(order);
    bool joined = true;
    for (int pass = 0; joined && pass < kMostPasses; ++pass) {
        joined = false;
        for (const Index answers : order) {
            const auto found = unpaired_.find(answers);
            if (found == unpaired_.end()) continue;
            const FlowKey flow = flow_of(entries_[answers], End::a);
            const std::span<const Observation> given = found->second.answers;
            const auto may = [&](FlowId id) {
                const auto place = place_of(ConnectionId{std::to_underlying(id)});
                if (!place || *place == answers || !may_ask(entries_[*place], flow)) return false;
                for (std::size_t i = 0; i < given.size(); ++i)
                    if (rules_out(entries_[*place], given.first(i), given[i])) return false;
                return true;
            };
            joined |= take_choice(answers, found->second.candidates.narrow_to(may)).known();
        }
    }
}

// What goes the other way of a flow, and fits others too; or what two networks are asked, of which a tap took the tags
// off.
void Tracker::note_ambiguous() {
    for (Index i = 0; i < entries_.size(); ++i) {
        Connection& alone = entries_[i].connection;
        if (entries_[i].gone || alone.joined_by != JoinedBy::nothing || entries_[i].elsewhere[0] == Qpn{}) continue;
        const auto found =
            index_.find({alone.ends[0].address, alone.ends[1].address, alone.ends[1].qpn.value_or(Qpn{}), {}});
        if (!found) continue;
        const Connection& there = entries_[WayOf(*found).index()].connection;
        alone.ambiguous = !there.one_way() && there.ways[0].network != there.ways[1].network;
    }
    for (const auto& [index, unpaired] : unpaired_)
        unpaired.candidates.each([&](FlowId id) {
            const auto place = place_of(ConnectionId{std::to_underlying(id)});
            if (place && entries_[*place].connection.joined_by == JoinedBy::nothing)
                entries_[*place].connection.ambiguous = entries_[index].connection.ambiguous = true;
        });
}

namespace {

// Episodes and refusals of a flow that becomes end b of another connection are of that one from now on.
void take_over(Tracked& tracked, ConnectionId from, ConnectionId to) {
    const auto rename = [&](auto& reported) {
        if (reported.connection != from) return;
        reported.connection = to;
        reported.requester = other(reported.requester);
    };
    std::ranges::for_each(tracked.recoveries, rename);
    std::ranges::for_each(tracked.fatalities, rename);
}

}  // namespace

// Two flows become one connection, under the number of the older one. Returns the way of flow `one` in it. Answers that
// were kept are applied now.
Tracker::WayOf Tracker::join(Index one, Index two, JoinedBy how) {
    const bool first_older = entries_[one].connection.uid < entries_[two].connection.uid;
    const Index kept = first_older ? one : two;
    const Index lost = first_older ? two : one;
    Entry& entry = entries_[kept];
    Entry& part = entries_[lost];
    entry.connection.ends[0].qpn = part.connection.ends[1].qpn;
    entry.connection.ends[0].network = part.connection.ends[1].network;
    entry.connection.ways[1] = std::move(part.connection.ways[0]);
    entry.directions[1] = std::move(part.directions[0]);
    entry.connection.joined_by = how;
    entry.connection.confidence = Confidence::likely;
    entry.connection.matches += part.connection.matches;
    entry.connection.failed |= part.connection.failed;
    if (part.troubled) take_over(tracked_, part.connection.uid, entry.connection.uid);
    entry.troubled |= part.troubled;
    const FlowKey flow = flow_of(part, End::a);
    entry.elsewhere[1] = part.elsewhere[0];
    index_.set(flow, WayOf(kept, End::b).word());
    if (FinalNumbers::has_room_for(part.connection.uid))
        tracked_.joined.push_back({part.connection.uid, entry.connection.uid});
    places_.forget(part.connection.uid, kNowhere);
    retired_.push_back(part.connection.uid);
    part = Entry{};
    part.gone = true;
    std::vector<Observation> answers;  // of the part, which has no entry any more
    if (const auto found = unpaired_.find(lost); found != unpaired_.end()) {
        answers = std::move(found->second.answers);
        pending_answers_ -= answers.size();
        unpaired_.erase(found);
    }
    apply_kept_answers(kept, End::b);
    apply_kept_answers(kept, answers, End::a);
    return WayOf(kept, one == kept ? End::a : End::b);
}

// Nothing answers UC: the only flow the other way is likely the other direction.
void Tracker::join_lone_unreliable(Index index) {
    const Connection& lone = entries_[index].connection;
    std::erase_if(lone_unreliable_,
                  [&](Index i) { return entries_[i].gone || entries_[i].connection.joined_by != JoinedBy::nothing; });
    std::optional<Index> partner;
    for (const Index i : lone_unreliable_) {
        const Connection& candidate = entries_[i].connection;
        if (candidate.ends[0].address != lone.ends[1].address || candidate.ends[1].address != lone.ends[0].address)
            continue;
        if (partner) {
            partner.reset();
            break;
        }
        partner = i;
    }
    if (partner) join(*partner, index, JoinedBy::traffic);
    else if (lone_unreliable_.size() < kMaxLone) lone_unreliable_.push_back(index);
    most_lone_ = std::max(most_lone_, lone_unreliable_.size());
}

// At the end: where only one flow of requests and one of answers are left between two hosts, they likely belong
// together.
void Tracker::join_what_is_left() {
    struct Left {
        std::optional<Index> index;
        bool several = false;
    };
    boost::unordered_flat_map<FlowKey, Left, FlowHash> left;  // by hosts, queue pair 0
    for (Index i = 0; i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        if (entry.gone || entry.connection.joined_by != JoinedBy::nothing || !entry.connection.reliable()) continue;
        if (is_lone_corrupt(entry)) continue;
        Left& place = left[FlowKey{entry.connection.ends[0].address, entry.connection.ends[1].address, {}, {}}];
        place.several = place.index.has_value();
        place.index = i;
    }
    std::vector<std::pair<Index, Index>> pairs;
    for (const auto& [hosts, place] : left) {
        const auto back = left.find(FlowKey{hosts.destination, hosts.source, {}, {}});
        if (place.several || back == left.end() || back->second.several || *back->second.index <= *place.index)
            continue;
        const Way& there = entries_[*place.index].connection.ways[0];
        const Way& here = entries_[*back->second.index].connection.ways[0];
        const bool one_asks = (there.requests == 0) != (here.requests == 0);
        if (one_asks) pairs.emplace_back(*place.index, *back->second.index);
    }
    std::ranges::sort(pairs);
    for (const auto& [one, two] : pairs) join(one, two, JoinedBy::traffic);
}

void Tracker::judge_confidence(Entry& entry) {
    constexpr std::uint32_t kStrong = 3;  // answers that fitted
    if (entry.connection.joined_by == JoinedBy::traffic)
        entry.connection.confidence =
            entry.connection.matches >= kStrong && !entry.guessed ? Confidence::strong : Confidence::likely;
}

}  // namespace qps::transport
