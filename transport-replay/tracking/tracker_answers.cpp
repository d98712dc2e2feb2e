// The half of the tracker that takes answers: whose requests they answer, and what they tell of them.
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/model/instant.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint8_t kSequenceError = 0;       // NAK code
constexpr std::size_t kMaxLone = 64;             // UC flows without partner that are looked at

void count_answer(Way& way, const Observation& answer) {
    const OpcodeRow& row = info(answer.opcode);
    if (row.verb == Verb::read_response) ++way.read_responses;
    if (row.verb == Verb::atomic_acknowledge) ++way.atomic_responses;
    if (!answer.acknowledgment || row.verb != Verb::acknowledge) return;
    switch (static_cast<SyndromeType>(answer.acknowledgment->type())) {
        case SyndromeType::ack: ++way.acks; break;
        case SyndromeType::rnr_nak: ++way.rnr_naks; break;
        case SyndromeType::nak: ++(answer.acknowledgment->code() == kSequenceError ? way.sequence_naks : way.fatal_naks); break;
        case SyndromeType::reserved: break;
    }
}

}  // namespace

void Tracker::take_answer(WayOf where, const Observation& observation, PacketStory& story) {
    Entry& entry = entries_[where.index()];
    Way& way = entry.told.way(where.from());
    const OpcodeRow& row = info(observation.opcode);
    count_answer(way, observation);
    if (row.verb == Verb::read_response && (row.place == Place::first || row.place == Place::middle))
        way.path_mtu = std::max(way.path_mtu, observation.payload_length);
    const End requester = other(where.from());
    if (entry.told.joined_by == JoinedBy::nothing) {
        std::vector<Observation>& answers = unpaired_[where.index()].answers;
        if (answers.size() < kMaxPendingAnswers && pending_answers_ < kMaxPendingAnswersOfAll) {
            ++pending_answers_;
            answers.push_back(observation);
            answers.back().payload = {};
        } else {
            ++way.unmatched;
        }
        story.unmatched = true;
        return;
    }
    apply_answer(entry, requester, observation, story);
}

// An answer of whom is known whose requests it answers.
void Tracker::apply_answer(Entry& entry, End requester, const Observation& observation, PacketStory& story) {
    Half& half = entry.halves[static_cast<std::size_t>(requester)];
    Way& responder = entry.told.way(other(requester));
    if (entry.told.way(requester).requests == 0) {  // the capture has this way only
        ++responder.unmatched;
        story.unmatched = true;
        return;
    }
    const Duration best = half.best_answer;
    if (info(observation.opcode).verb == Verb::acknowledge) {
        if (!observation.acknowledgment) return;
        if (half.requests.waits_for(observation.psn)) ++entry.told.matches;
        apply_acknowledgment(entry, requester, observation);
        return;
    }
    const Psn next = half.requests.next();
    const Responded told = half.requests.respond(observation, path_mtu(entry), done_);
    if (told.matched) {
        ++entry.told.matches;
        apply_acknowledged(entry, requester, told.before, next, observation);
        if (told.skipped != 0) {
            responder.response_gaps.skipped += told.skipped;
            responder.note(Oddity::gap, observation.frame);
            half.watch.overtaken(observation);
        }
        responder.response_gaps.reordered += told.late;
        if (told.late != 0) responder.note(Oddity::late, observation.frame);
        responder.response_gaps.skipped -= std::min<std::uint64_t>(responder.response_gaps.skipped, told.withdrawn);
        half.gaps.acknowledge(half.requests.acknowledged());
    } else {
        ++responder.unmatched;
        story.unmatched = true;
    }
    half.watch.answered(observation, half.requests, told.repeated || !told.matched, best, stories_);
}

void Tracker::apply_acknowledged(Entry& entry, End requester, const Acknowledged& told, Psn next, const Observation& observation) {
    Half& half = entry.halves[static_cast<std::size_t>(requester)];
    half.gaps.skip(next, told.beyond);
    half.gaps.acknowledge(half.requests.acknowledged());
    Gaps& responses = entry.told.way(other(requester)).response_gaps;
    responses.skipped += told.unseen_tail;
    responses.tap += told.unseen_responses;
    if (!told.passed_response) return;
    ++entry.told.way(requester).implied_naks;
    half.watch.overtaken(observation);
}

void Tracker::apply_acknowledgment(Entry& entry, End requester, const Observation& observation) {
    Half& half = entry.halves[static_cast<std::size_t>(requester)];
    const Duration best = half.best_answer;
    const auto type = static_cast<SyndromeType>(observation.acknowledgment->type());
    if (type == SyndromeType::reserved) return;
    const Psn next = half.requests.next();
    const Psn through = type == SyndromeType::ack ? observation.psn : observation.psn.previous();
    const Acknowledged told = half.requests.acknowledge(through, observation, done_);
    apply_acknowledged(entry, requester, told, next, observation);
    const bool stale = observation.psn.before(half.requests.acknowledged());  // of a NAK: what it asks for was acknowledged since
    if (type == SyndromeType::ack || stale) {
        half.watch.answered(observation, half.requests, told.again, best, stories_);
        return;
    }
    half.watch.answered(observation, half.requests, false, best, stories_);
    if (type == SyndromeType::rnr_nak) {
        half.watch.asked(RecoveryKind::rnr_nak, observation, half.requests, 0, stories_);
    } else if (observation.acknowledgment->code() == kSequenceError) {
        const std::uint32_t lost = std::max<std::uint32_t>(1, half.gaps.ask_for(observation.psn));
        half.watch.asked(RecoveryKind::sequence_nak, observation, half.requests, lost, stories_);
    } else {
        refuse(entry, requester, observation);
    }
}

// A fatal NAK.
void Tracker::refuse(Entry& entry, End requester, const Observation& observation) {
    Half& half = entry.halves[static_cast<std::size_t>(requester)];
    Fatality fatality;
    fatality.connection = entry.told.uid;
    fatality.requester = requester;
    fatality.nak_code = observation.acknowledgment->code();
    fatality.psn = observation.psn;
    fatality.frame = observation.frame;
    fatality.time = observation.time;
    fatality.reads_outstanding = half.requests.reads_open();
    fatality.request = half.requests.fail(observation.psn, observation);
    const bool same_key = fatality.request && fatality.request->access && half.last_good[1].frame != FrameIndex{} &&
                          half.last_good[1].access.key == fatality.request->access->key;
    if (const Good& good = half.last_good[same_key ? 1 : 0]; good.frame != FrameIndex{}) {
        fatality.last_good = good.access;
        fatality.last_good_frame = good.frame;
    }
    half.watch.failed(observation, stories_);
    const bool first = !std::exchange(entry.told.failed, true);
    if (!first) return;  // said again
    if (tracked_.fatalities.size() < kMaxFatalities) tracked_.fatalities.push_back(fatality);
    else ++tracked_.fatalities_left_out;
}

// Whether answers of this flow may be for requests of that connection: it lacks them, and they go to its host.
bool Tracker::may_ask(const Entry& entry, const FlowKey& answers) {
    return !entry.gone && entry.told.joined_by == JoinedBy::nothing && entry.told.ends[0].address == answers.destination &&
           entry.told.ends[1].address == answers.source;
}

// A flow that begins with an answer that only one flow waits for: no connection of its own.
Tracker::WayOf Tracker::adopt(const Observation& observation) {
    if (info(observation.opcode).request || observation.source_qp) return {};
    std::optional<Index> partner;
    for (const WaitingRequests::Asked& asked : waiting_.candidates(observation.flow, observation.psn)) {
        const Entry& entry = entries_[std::to_underlying(asked.id)];
        if (!may_ask(entry, observation.flow)) continue;
        if (partner) return {};
        partner = std::to_underlying(asked.id);
    }
    if (!partner) return {};
    Entry& entry = entries_[*partner];
    entry.told.ends[0].qpn = observation.flow.destination_qp;
    entry.told.joined_by = JoinedBy::traffic;
    entry.told.confidence = Confidence::likely;
    index_.set(observation.flow, WayOf(*partner, End::b).word());
    apply_kept_answers(*partner, End::b);
    return WayOf(*partner, End::b);
}

// Answers that were kept until it was known whose requests they answer.
void Tracker::apply_kept_answers(Index index, End requester) {
    const auto found = unpaired_.find(index);
    if (found == unpaired_.end()) return;
    const std::vector<Observation> answers = std::move(found->second.answers);
    pending_answers_ -= answers.size();
    unpaired_.erase(found);
    return apply_kept_answers(entries_[index], answers, requester);
}

void Tracker::apply_kept_answers(Entry& entry, const std::vector<Observation>& answers, End requester) {
    for (const Observation& answer : answers) {
        PacketStory story;
        apply_answer(entry, requester, answer, story);
        hand_on(entry, requester);
        tell(entry, requester);
    }
}

Tracker::WayOf Tracker::find_partner(WayOf answers, const Observation& observation) {
    WaitingRequests::Flows possible = waiting_.candidates(observation.flow, observation.psn);
    const auto [from, to] = std::ranges::remove_if(possible, [&](const WaitingRequests::Asked& asked) {
        return std::to_underlying(asked.id) == answers.index() || !may_ask(entries_[std::to_underlying(asked.id)], observation.flow);
    });
    possible.erase(from, to);
    if (possible.empty()) return {};
    const auto choice = unpaired_[answers.index()].candidates.narrow(possible, observation.time);
    if (!choice) return {};
    const WayOf requests = join(std::to_underlying(choice->id), answers.index(), JoinedBy::traffic);
    entries_[requests.index()].guessed = choice->by_time;
    return WayOf(requests.index(), other(requests.from()));
}

// Two flows become one connection, under the number of the older one. Returns the way of flow `one` in it. Answers that
// were kept are applied now.
Tracker::WayOf Tracker::join(Index one, Index two, JoinedBy how) {
    const Index kept = std::min(one, two);
    const Index lost = std::max(one, two);
    Entry& entry = entries_[kept];
    Entry& part = entries_[lost];
    entry.told.ends[0].qpn = part.told.ends[1].qpn;
    entry.told.ways[1] = std::move(part.told.ways[0]);
    entry.halves[1] = std::move(part.halves[0]);
    entry.told.joined_by = how;
    entry.told.confidence = Confidence::likely;
    entry.told.matches += part.told.matches;
    entry.told.failed |= part.told.failed;
    const FlowKey flow{part.told.ends[0].address, part.told.ends[1].address, *part.told.ends[1].qpn, {}};
    index_.set(flow, WayOf(kept, End::b).word());
    part = Entry{};
    part.gone = true;
    std::vector<Observation> answers;  // of the part, which has no entry any more
    if (const auto found = unpaired_.find(lost); found != unpaired_.end()) {
        answers = std::move(found->second.answers);
        pending_answers_ -= answers.size();
        unpaired_.erase(found);
    }
    apply_kept_answers(kept, End::b);
    apply_kept_answers(entry, answers, End::a);
    return WayOf(kept, one == kept ? End::a : End::b);
}

// Nothing answers UC: the only flow the other way is likely the other half.
void Tracker::join_lone_unreliable(Index index) {
    const Connection& told = entries_[index].told;
    std::erase_if(lone_unreliable_, [&](Index i) { return entries_[i].gone || entries_[i].told.joined_by != JoinedBy::nothing; });
    std::optional<Index> partner;
    for (const Index i : lone_unreliable_) {
        const Connection& candidate = entries_[i].told;
        if (candidate.ends[0].address != told.ends[1].address || candidate.ends[1].address != told.ends[0].address) continue;
        if (partner) {
            partner.reset();
            break;
        }
        partner = i;
    }
    if (partner) join(*partner, index, JoinedBy::traffic);
    else if (lone_unreliable_.size() < kMaxLone) lone_unreliable_.push_back(index);
}

// At the end: where only one flow of requests and one of answers are left between two hosts, they likely belong together.
void Tracker::join_what_is_left() {
    struct Left {
        std::optional<Index> index;
        bool several = false;
    };
    boost::unordered_flat_map<FlowKey, Left, FlowHash> left;  // by hosts, queue pair 0
    for (Index i = 0; i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        if (entry.gone || entry.told.joined_by != JoinedBy::nothing || !entry.told.reliable()) continue;
        Left& place = left[FlowKey{entry.told.ends[0].address, entry.told.ends[1].address, {}, {}}];
        place.several = place.index.has_value();
        place.index = i;
    }
    std::vector<std::pair<Index, Index>> pairs;
    for (const auto& [hosts, place] : left) {
        const auto back = left.find(FlowKey{hosts.destination, hosts.source, {}, {}});
        if (place.several || back == left.end() || back->second.several || *back->second.index <= *place.index) continue;
        const Way& there = entries_[*place.index].told.ways[0];
        const Way& here = entries_[*back->second.index].told.ways[0];
        const bool one_asks = (there.requests == 0) != (here.requests == 0);
        if (one_asks) pairs.emplace_back(*place.index, *back->second.index);
    }
    std::ranges::sort(pairs);
    for (const auto& [one, two] : pairs) join(one, two, JoinedBy::traffic);
}

void Tracker::retire(const FlowKey& flow, std::uint32_t attempt) {
    const auto found = index_.find(flow);
    if (!found) return;
    Entry& entry = entries_[WayOf(*found).index()];
    if (entry.told.cm_attempt == attempt) return;
    entry.told.released = true;
    for (const End end : {End::a, End::b}) index_.forget(flow_of(entry, end));
    index_.forget(flow);
}

void Tracker::connect(const CmAttempt& attempt) {
    if (!attempt.active.qpn || !attempt.passive.qpn || attempt.service == CmService::datagram) return;
    const FlowKey there{attempt.active.address, attempt.passive.address, *attempt.passive.qpn, {}};
    const FlowKey back{attempt.passive.address, attempt.active.address, *attempt.active.qpn, {}};
    retire(there, attempt.uid);
    retire(back, attempt.uid);
    if (entries_.size() == kMaxConnections || index_.contains(there) || index_.contains(back)) return;
    const auto index = static_cast<Index>(entries_.size());
    Entry& entry = entries_.emplace_back();
    grown();
    entry.told.uid = ConnectionId{index + 1};
    entry.told.service = attempt.service == CmService::uc ? Service::uc : attempt.service == CmService::xrc ? Service::xrc : Service::rc;
    entry.told.ends = {Endpoint{attempt.active.address, attempt.active.qpn}, Endpoint{attempt.passive.address, attempt.passive.qpn}};
    entry.told.confidence = Confidence::certain;
    entry.told.joined_by = JoinedBy::connection_manager;
    entry.told.cm_attempt = attempt.uid;
    entry.told.cm_path_mtu = attempt.path_mtu;
    if (attempt.retry_count) entry.retries = *attempt.retry_count;
    // A starting PSN is where the other side is to begin (12.7.31).
    if (attempt.passive.starting_psn) entry.halves[0].requests.begin_at(*attempt.passive.starting_psn);
    if (attempt.active.starting_psn) entry.halves[1].requests.begin_at(*attempt.active.starting_psn);
    index_.set(there, WayOf(index, End::a).word());
    index_.set(back, WayOf(index, End::b).word());
}

void Tracker::release(const CmAttempt& attempt) {
    if (!attempt.active.qpn || !attempt.passive.qpn) return;
    for (const FlowKey& flow : {FlowKey{attempt.active.address, attempt.passive.address, *attempt.passive.qpn, {}},
                                FlowKey{attempt.passive.address, attempt.active.address, *attempt.active.qpn, {}}})
        if (const auto found = index_.find(flow)) entries_[WayOf(*found).index()].told.released = true;
}

}  // namespace qps::transport
